//! Agenda of somebody who looks after many things: when each of them is to be looked at again.

use std::collections::BTreeMap;

/// Things by their IDs, each with the last look at it.
pub struct Agenda {
    every_ms: i64,
    looks: BTreeMap<String, Look>,
}

/// Look at a thing.
#[derive(Clone, Copy)]
struct Look {
    /// Time of the next look, in milliseconds since the beginning.
    next_ms: i64,
    /// Mark of the thing at this look.
    mark: i64,
}

impl Agenda {
    /// Creates an agenda of somebody who looks at each thing at least this often, in milliseconds.
    pub fn new(every_ms: i64) -> Self {
        Self { every_ms, looks: BTreeMap::new() }
    }

    /// Returns whether a thing is to be looked at: it is due, or its mark has changed, as that of everything does to
    /// which something happened.
    pub fn is_due(&self, thing: &str, now: i64, mark: i64) -> bool {
        self.looks.get(thing).is_none_or(|look| now >= look.next_ms || mark != look.mark)
    }

    /// Notes a look at a thing with this mark.
    pub fn look(&mut self, thing: &str, now: i64, mark: i64) {
        self.looks.insert(thing.to_owned(), Look { next_ms: now + self.every_ms, mark });
    }

    /// Lets a thing be looked at again at this time, if that is not due earlier.
    pub fn wake(&mut self, thing: &str, at: i64) {
        if let Some(look) = self.looks.get_mut(thing) {
            look.next_ms = look.next_ms.min(at);
        }
    }
}
