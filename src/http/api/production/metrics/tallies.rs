//! Counts of orders, jobs and deliveries by state. The database is queried at most once every few seconds, no matter
//! how often `/metrics` is requested.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use api_schema::words::words_of;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::word;
use actors::app::App;
use config::Config;
use domain::endpoint::DeliveryState;
use http::resource_state::ResourceState;
use store::queries::Queries;
use store::rows::LoadError;

/// Maximum age of counts that are returned without a new query.
const MAX_COUNT_AGE: Duration = Duration::from_secs(15);
/// Query timeout. If the database takes longer, counts are skipped, so that monitoring does not have to wait for it.
const COUNT_TIMEOUT: Duration = Duration::from_secs(3);

/// Counts by status, flag or state.
#[derive(Debug, Default)]
pub struct DatabaseCounts {
    /// Number of orders by status.
    pub orders: Vec<(String, i64)>,
    /// Number of orders by flag.
    pub flags: Vec<(String, i64)>,
    /// Number of jobs by state.
    pub jobs: Vec<(String, i64)>,
    /// Number of deliveries by state, excluding those that succeeded.
    pub deliveries: Vec<(String, i64)>,
}

/// Last counts and the time at which they were queried.
#[derive(Debug, Default)]
pub struct Tallies(Mutex<Option<(Instant, Option<Arc<DatabaseCounts>>)>>);

impl ResourceState for Tallies {
    fn create(_: &App, _: &Config) -> Self {
        Self::default()
    }
}

impl Tallies {
    /// Returns counts that are at most a few seconds old or, if the query fails, the most recent ones available.
    pub async fn recent(&self, queries: &Queries) -> Option<Arc<DatabaseCounts>> {
        let mut cached = self.0.lock().await;
        if let Some((at, counts)) = &*cached
            && at.elapsed() < MAX_COUNT_AGE
        {
            return counts.clone();
        }
        let last = cached.take().and_then(|(_, counts)| counts);
        let counts = match timeout(COUNT_TIMEOUT, count(queries)).await {
            Ok(Ok(counts)) => Some(Arc::new(counts)),
            Ok(Err(error)) => {
                tracing::debug!(%error, "cannot count orders and jobs");
                last
            }
            Err(_) => last,
        };
        *cached = Some((Instant::now(), counts.clone()));
        counts
    }
}

async fn count(queries: &Queries) -> Result<DatabaseCounts, LoadError> {
    let mut deliveries = words(queries.undelivered_by_state().await?);
    let delivered = word(&DeliveryState::Delivered);
    deliveries.retain(|(state, _)| *state != delivered);
    Ok(DatabaseCounts {
        orders: words(queries.orders_by_status().await?),
        flags: queries.orders_by_flag().await?.into_iter().map(|(flag, count)| (flag, count as i64)).collect(),
        jobs: words(queries.jobs_by_state().await?),
        deliveries,
    })
}

fn words<W: Serialize + DeserializeOwned>(counts: Vec<(W, u64)>) -> Vec<(String, i64)> {
    let mut all = zeros::<W>();
    all.extend(counts.into_iter().map(|(state, count)| (word(&state), count as i64)));
    all.into_iter().collect()
}

/// Returns 0 for each value of an enumeration. Graphs and alerts need a state that nothing is in, too: without it, a
/// count that falls to 0 would vanish instead.
pub(super) fn zeros<W: DeserializeOwned>() -> BTreeMap<String, i64> {
    words_of::<W>().into_iter().map(|word| (word.to_owned(), 0)).collect()
}
