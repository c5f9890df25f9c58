//! Rows that lists left out because they cannot be read.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::store::rows::Damaged;

/// Most rows that are remembered; more are counted as this many.
const MAX_REMEMBERED: usize = 1000;

/// The damaged rows that were met and have not been read since. Each is told once in the log.
#[derive(Debug, Default)]
pub struct DamagedRows(Mutex<BTreeMap<(&'static str, String), String>>);

impl DamagedRows {
    /// What was read of a row; `None`, and remembered, when it cannot be read.
    pub(super) fn sort_out<T>(&self, table: &'static str, key: &str, read: Result<T, Damaged>) -> Option<T> {
        match read {
            Ok(read) => {
                let mut known = self.known();
                // Somebody may have mended it.
                if !known.is_empty() {
                    known.remove(&(table, key.to_owned()));
                }
                Some(read)
            }
            Err(damaged) => {
                let mut known = self.known();
                if known.len() < MAX_REMEMBERED && !known.contains_key(&(table, key.to_owned())) {
                    tracing::error!(%damaged, "a row that cannot be read is left out of lists");
                    known.insert((table, key.to_owned()), damaged.to_string());
                }
                None
            }
        }
    }

    /// How many rows are known to be damaged.
    pub fn count(&self) -> usize {
        self.known().len()
    }

    /// What is wrong with each, in the order of tables and keys; at most `most` of them.
    pub fn named(&self, most: usize) -> Vec<String> {
        self.known().values().take(most).cloned().collect()
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<(&'static str, String), String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
