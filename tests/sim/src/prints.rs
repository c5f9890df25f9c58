//! Physical course of the print of each attempt, as the log of its printer tells it.

use std::collections::BTreeMap;

use simulator::printer::PhysicalEvent;

use crate::world::World;

/// Physical course of an attempt's print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PhysicalPrint {
    /// It did not begin.
    NotStarted,
    /// It is under way.
    Running,
    /// It ended before its last layer.
    Failed,
    /// It came to its end.
    Finished,
}

impl PhysicalPrint {
    /// Returns the outcome with which a person resolves the attempt; `None` while it is printed.
    pub const fn outcome(self) -> Option<&'static str> {
        match self {
            Self::NotStarted => Some("not_started"),
            Self::Running => None,
            Self::Failed => Some("failed"),
            Self::Finished => Some("finished"),
        }
    }
}

/// Prints of one printer by their attempts. It grows with the printer's log, so that nobody reads the log again.
#[derive(Default)]
pub struct PrintIndex(BTreeMap<String, PhysicalPrint>);

impl PrintIndex {
    /// Adds an entry of the printer's log.
    pub fn add(&mut self, event: &PhysicalEvent) {
        let print = match event {
            PhysicalEvent::Started { .. } => PhysicalPrint::Running,
            PhysicalEvent::Finished { .. } => PhysicalPrint::Finished,
            PhysicalEvent::Cancelled { .. } | PhysicalEvent::Failed { .. } | PhysicalEvent::Interrupted { .. } => {
                PhysicalPrint::Failed
            }
            _ => return,
        };
        if let Some(attempt) = event.filename().and_then(attempt_of) {
            self.0.insert(attempt.to_owned(), print);
        }
    }

    /// Returns the course of an attempt's print at this printer; `None` if it did not begin here.
    pub fn of(&self, attempt: &str) -> Option<PhysicalPrint> {
        self.0.get(attempt).copied()
    }
}

/// Returns the ID of the attempt that a file is printed for, which its name contains: `JOB-000123_<attempt>.gcode`.
/// `None` for files that people print on their own.
fn attempt_of(file: &str) -> Option<&str> {
    let (_, rest) = file.rsplit_once('_')?;
    rest.split('.').next()
}

/// Returns what the printers physically did with an attempt.
pub fn physical_print(world: &World, attempt: &str) -> PhysicalPrint {
    world.machines.values().find_map(|machine| machine.print_of(attempt)).unwrap_or(PhysicalPrint::NotStarted)
}
