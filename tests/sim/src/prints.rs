//! Physical course of each attempt's print, according to its printer's log.

use std::collections::BTreeMap;

use simulator::printer::PhysicalEvent;

use crate::world::World;

/// Physical course of an attempt's print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PhysicalPrint {
    /// Not started.
    NotStarted,
    /// In progress.
    Running,
    /// Ended before its last layer.
    Failed,
    /// Completed.
    Finished,
}

impl PhysicalPrint {
    /// Returns the outcome that a person records for the attempt; `None` while it is printing.
    pub const fn outcome(self) -> Option<&'static str> {
        match self {
            Self::NotStarted => Some("not_started"),
            Self::Running => None,
            Self::Failed => Some("failed"),
            Self::Finished => Some("finished"),
        }
    }
}

/// Prints of one printer by attempt. The index is extended with the printer's log, so that the log is read only once.
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

    /// Returns the course of an attempt's print on this printer; `None` if it did not start here.
    pub fn of(&self, attempt: &str) -> Option<PhysicalPrint> {
        self.0.get(attempt).copied()
    }
}

/// Returns the ID of the attempt that a file belongs to, which is part of its name: `JOB-000123_<attempt>.gcode`.
/// `None` for people's own files.
fn attempt_of(file: &str) -> Option<&str> {
    let (_, rest) = file.rsplit_once('_')?;
    rest.split('.').next()
}

/// Returns what the printers physically did with an attempt.
pub fn physical_print(world: &World, attempt: &str) -> PhysicalPrint {
    world.machines.values().find_map(|machine| machine.print_of(attempt)).unwrap_or(PhysicalPrint::NotStarted)
}
