//! Story of a run in plain sentences, each with its virtual time. Two runs of a seed are compared by their stories, so
//! a story contains nothing random except what the seed determines.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::WorldClock;
use domain::id::Id;

/// Story of a run so far.
pub struct Story {
    clock: Arc<WorldClock>,
    state: Mutex<StoryState>,
}

#[derive(Default)]
struct StoryState {
    text: String,
    /// Names for things with an ID, such as `order 1`.
    names: BTreeMap<Id, String>,
    /// Number of names of each kind.
    counts: BTreeMap<String, usize>,
}

impl Story {
    /// Creates an empty story.
    pub fn new(clock: Arc<WorldClock>) -> Self {
        Self { clock, state: Mutex::default() }
    }

    /// Appends a sentence with the current virtual time.
    pub fn tell(&self, sentence: impl fmt::Display) {
        let ms = self.clock.elapsed_ms();
        let (seconds, ms) = (ms / 1000, ms % 1000);
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        // Writing to a string cannot fail.
        let _ = writeln!(self.state().text, "{hours:03}:{minutes:02}:{seconds:02}.{ms:03}  {sentence}");
    }

    /// Returns the name of a thing, such as `order 1`. Things are numbered in the order in which they are first named.
    pub fn name_of(&self, kind: &str, id: Id) -> String {
        let mut state = self.state();
        if let Some(name) = state.names.get(&id) {
            return name.clone();
        }
        let count = state.counts.entry(kind.to_owned()).or_default();
        *count += 1;
        let name = format!("{kind} {count}");
        state.names.insert(id, name.clone());
        name
    }

    /// Returns all sentences so far.
    pub fn text(&self) -> String {
        self.state().text.clone()
    }

    fn state(&self) -> MutexGuard<'_, StoryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
