//! The simulated machines, which act on what arrives, whatever the records say.

use super::*;

/// A machine with its own memory.
#[derive(Default)]
pub(super) struct Machine {
    pub(super) files: BTreeSet<String>,
    pub(super) on: Option<(String, bool)>,
    pub(super) last: Option<String>,
    pub(super) past: BTreeMap<String, PrintEnd>,
    pub(super) starts: BTreeMap<String, u32>,
    /// Start requests that were sent and may arrive at any later time.
    pub(super) wire: Vec<String>,
    pub(super) away: bool,
}

impl Machine {
    pub(super) fn status(&self, world: &Bench) -> Status {
        let (state, file, ended) = match &self.on {
            Some((file, true)) => (Activity::Paused, Some(file.clone()), None),
            Some((file, false)) => (Activity::Printing, Some(file.clone()), None),
            None => (Activity::Idle, self.last.clone(), self.last.as_ref().and_then(|one| self.past.get(one).copied())),
        };
        let progress = if self.on.is_some() { 50.0 } else { 0.0 };
        let connection = Connection::Connected;
        Status { state, connection, file, ended, progress, updated_at: world.now, ..Status::default() }
    }
    pub(super) fn start(&mut self, name: &str) {
        if self.files.contains(name) && self.on.is_none() {
            self.on = Some((name.to_owned(), false));
            *self.starts.entry(name.to_owned()).or_default() += 1;
        }
    }
    pub(super) fn end(&mut self, how: PrintEnd) {
        if let Some((name, _)) = self.on.take() {
            self.past.insert(name.clone(), how);
            self.last = Some(name);
        }
    }
}
