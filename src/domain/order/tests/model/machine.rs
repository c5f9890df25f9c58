//! Simulated machines, which act on the commands that arrive, regardless of the records.

use super::*;

/// File of a user's own print.
const OWN: &str = "vase.gcode";

/// Machine with its own memory.
#[derive(Default)]
pub(super) struct Machine {
    pub(super) files: BTreeSet<String>,
    pub(super) on: Option<(String, bool)>,
    pub(super) last: Option<String>,
    /// Actual outcomes of prints.
    pub(super) past: BTreeMap<String, PrintEnd>,
    /// Outcomes remembered by the machine's server; `None` for a record cut off by a restart.
    pub(super) memory: BTreeMap<String, Option<PrintEnd>>,
    /// Print whose end the server will miss, because it was restarted during the print.
    unrecorded: Option<String>,
    /// Number of restarts of the machine's server.
    pub(super) restarts: u32,
    /// Number of users' own prints cancelled on our behalf.
    pub(super) wronged: u32,
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
            if self.unrecorded.take().as_ref() != Some(&name) {
                self.memory.insert(name.clone(), Some(how));
            }
            self.last = Some(name);
        }
    }
    /// Restarts the server while the machine continues. The history is cut off or, with `forget`, loses the print.
    pub(super) fn restart_server(&mut self, forget: bool) {
        self.restarts += 1;
        self.unrecorded = self.on.as_ref().map(|on| on.0.clone());
        if let Some(name) = self.unrecorded.clone().filter(|_| !forget) {
            self.memory.insert(name, None);
        }
    }
    /// Clears the display of the last print.
    pub(super) fn clear(&mut self) {
        self.last = None;
    }
    /// Starts a user's own print.
    pub(super) fn print_own(&mut self) {
        if self.on.is_none() {
            self.on = Some((OWN.to_owned(), false));
        }
    }
    /// Cancels the current print, regardless of who started it, as real machines do.
    pub(super) fn cancel(&mut self) {
        self.wronged += u32::from(self.on.as_ref().is_some_and(|on| on.0 == OWN));
        self.end(PrintEnd::Cancelled);
    }
}
