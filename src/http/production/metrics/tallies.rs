//! Orders, jobs and deliveries by where they stand: counted by the database at most every few seconds, whoever asks how
//! often.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::word;
use crate::store::queries::Queries;
use crate::store::rows::LoadError;

/// Counts younger than this are answered again without a query.
const MAX_COUNT_AGE: Duration = Duration::from_secs(15);
/// A database that takes longer is passed over: monitoring must not wait for it.
const COUNT_TIMEOUT: Duration = Duration::from_secs(3);

/// How many there are of each word.
#[derive(Debug, Default)]
pub struct Counts {
    /// How many orders have each status.
    pub orders: Vec<(String, i64)>,
    /// How many orders have each flag.
    pub flags: Vec<(String, i64)>,
    /// How many jobs are in each state.
    pub jobs: Vec<(String, i64)>,
    /// Deliveries by state, but those that arrived.
    pub deliveries: Vec<(String, i64)>,
}

/// The last counts, and when they were asked for.
#[derive(Debug, Default)]
pub struct Tallies(Mutex<Option<(Instant, Option<Arc<Counts>>)>>);

impl Tallies {
    /// Counts that are not older than a few seconds, or the last ones that could be had.
    pub async fn recent(&self, queries: &Queries) -> Option<Arc<Counts>> {
        let mut kept = self.0.lock().await;
        if let Some((at, counts)) = &*kept
            && at.elapsed() < MAX_COUNT_AGE
        {
            return counts.clone();
        }
        let last = kept.take().and_then(|(_, counts)| counts);
        let counts = match timeout(COUNT_TIMEOUT, count(queries)).await {
            Ok(Ok(counts)) => Some(Arc::new(counts)),
            Ok(Err(error)) => {
                tracing::debug!(%error, "orders and jobs are not counted");
                last
            }
            Err(_) => last,
        };
        *kept = Some((Instant::now(), counts.clone()));
        counts
    }
}

async fn count(queries: &Queries) -> Result<Counts, LoadError> {
    Ok(Counts {
        orders: words(queries.orders_by_status().await?),
        flags: queries.orders_by_flag().await?.into_iter().map(|(flag, count)| (flag, count as i64)).collect(),
        jobs: words(queries.jobs_by_state().await?),
        deliveries: words(queries.undelivered_by_state().await?),
    })
}

fn words<W: Serialize>(counts: Vec<(W, u64)>) -> Vec<(String, i64)> {
    counts.into_iter().map(|(state, count)| (word(&state), count as i64)).collect()
}
