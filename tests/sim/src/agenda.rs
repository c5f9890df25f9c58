//! Schedule for checking many things: the time at which each is due for its next check.

use std::collections::BTreeMap;

/// Things by ID, each with its last check.
pub struct Agenda {
    every_ms: i64,
    looks: BTreeMap<String, Look>,
}

/// Check of a thing.
#[derive(Clone, Copy)]
struct Look {
    /// Time of the next check, in milliseconds since the start of the simulation.
    next_ms: i64,
    /// Mark of the thing at the time of the check; it changes whenever something happens to the thing.
    mark: i64,
}

impl Agenda {
    /// Creates an agenda whose owner checks each thing at least this often, in milliseconds.
    pub fn new(every_ms: i64) -> Self {
        Self { every_ms, looks: BTreeMap::new() }
    }

    /// Returns whether a thing is due for a check, or its mark has changed because something has happened to it.
    pub fn is_due(&self, thing: &str, now: i64, mark: i64) -> bool {
        self.looks.get(thing).is_none_or(|look| now >= look.next_ms || mark != look.mark)
    }

    /// Records a check of a thing with this mark.
    pub fn look(&mut self, thing: &str, now: i64, mark: i64) {
        self.looks.insert(thing.to_owned(), Look { next_ms: now + self.every_ms, mark });
    }

    /// Reschedules the next check of a thing for this time, unless it is due earlier.
    pub fn wake(&mut self, thing: &str, at: i64) {
        if let Some(look) = self.looks.get_mut(thing) {
            look.next_ms = look.next_ms.min(at);
        }
    }
}
