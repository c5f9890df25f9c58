//! Size of a server: everything that could grow without bound while it runs.

use std::collections::BTreeMap;

use tokio::runtime::Handle;

use crate::shop::Shop;
use crate::world::World;

/// Size of a server and its data at one point in time.
pub struct ServerSize {
    /// Number of async tasks; each timer of an actor is one.
    pub tasks: usize,
    /// Number of aggregates in memory, of each kind.
    pub actors: BTreeMap<&'static str, u64>,
    /// Number of commands that are queued or being executed.
    pub waiting: u64,
    /// Number of endpoints that follow the events, and the number of events that the slowest of them has not read yet.
    pub followers: (u64, i64),
    /// Number of rows of each table.
    pub rows: BTreeMap<&'static str, usize>,
}

impl ServerSize {
    /// Measures the server of a shop.
    pub fn now(world: &World, shop: &Shop) -> Self {
        let (kinds, tables) = (shop.kinds.summaries(), world.disk.tables());
        Self {
            tasks: Handle::current().metrics().num_alive_tasks(),
            actors: kinds.iter().map(|kind| (kind.kind, kind.statuses.values().sum())).collect(),
            waiting: kinds.iter().map(|kind| kind.waiting).sum(),
            followers: shop.outbox.followers.of("endpoint", tables.last_seq()),
            rows: tables.row_counts(),
        }
    }
}
