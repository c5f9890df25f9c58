//! Registry of rows that are omitted from lists because they cannot be read.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::rows::DamagedRow;

/// Maximum number of damaged rows recorded, and therefore counted.
const MAX_REMEMBERED: usize = 1000;

/// Registry of damaged rows that have not become readable since they were first encountered. Each row is logged once.
#[derive(Debug, Default)]
pub struct DamagedRows(Mutex<BTreeMap<(&'static str, String), String>>);

impl DamagedRows {
    /// Returns the value read from a row. If the row cannot be read, registers it and returns `None`.
    pub(super) fn sort_out<T>(&self, table: &'static str, key: &str, read: Result<T, DamagedRow>) -> Option<T> {
        match read {
            Ok(read) => {
                let mut remembered = self.remembered();
                // Somebody may have mended it.
                if !remembered.is_empty() {
                    remembered.remove(&(table, key.to_owned()));
                }
                Some(read)
            }
            Err(damaged) => {
                let mut remembered = self.remembered();
                if remembered.len() < MAX_REMEMBERED && !remembered.contains_key(&(table, key.to_owned())) {
                    tracing::error!(%damaged, "an unreadable row is missing from lists");
                    remembered.insert((table, key.to_owned()), damaged.to_string());
                }
                None
            }
        }
    }

    /// Returns the number of rows known to be damaged.
    pub fn count(&self) -> usize {
        self.remembered().len()
    }

    /// Describes up to `most` damaged rows, ordered by table and key.
    pub fn named(&self, most: usize) -> Vec<String> {
        self.remembered().values().take(most).cloned().collect()
    }

    fn remembered(&self) -> MutexGuard<'_, BTreeMap<(&'static str, String), String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
