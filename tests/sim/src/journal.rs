//! Index of the events on the disk, used for lookups. Each event is read once, so that the cost of a day is
//! proportional to its number of events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use store::memory::Tables;

/// Index of the events read so far.
#[derive(Default)]
pub struct Journal(Mutex<JournalState>);

#[derive(Default)]
struct JournalState {
    /// Number of the last event read.
    last: i64,
    /// Jobs by their orders.
    jobs: BTreeMap<String, BTreeSet<String>>,
    /// Number of the last event about each subject. Events about a job also count for its order.
    changes: BTreeMap<String, i64>,
}

impl Journal {
    /// Reads the events since the last call.
    pub fn read(&self, tables: &Tables) {
        let mut state = self.state();
        if tables.last_seq() < state.last {
            // A planted fault took events back.
            *state = JournalState::default();
        }
        for numbered in tables.events_after(state.last) {
            let (seq, event) = (numbered.seq, numbered.event);
            let subject = event.subject_id.to_string();
            if let Some(order) = event.order_id.map(|order| order.to_string()) {
                state.changes.insert(order.clone(), seq);
                if event.subject_kind == "job" {
                    state.jobs.entry(order).or_default().insert(subject.clone());
                }
            }
            state.changes.insert(subject, seq);
            state.last = seq;
        }
    }

    /// Returns the jobs of an order, oldest first.
    pub fn jobs_of(&self, order: &str) -> Vec<String> {
        self.state().jobs.get(order).into_iter().flatten().cloned().collect()
    }

    /// Returns the number of the last event about an order, a job or a printer; 0 if there is none.
    pub fn last_event(&self, subject: &str) -> i64 {
        self.state().changes.get(subject).copied().unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, JournalState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
