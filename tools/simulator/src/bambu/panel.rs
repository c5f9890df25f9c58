//! State of a printer besides its machine: setup, last project, and errors.

use tokio::time::Instant;

use super::{BambuHost, Setup};
use crate::printer::{Controller, Machine, PhysicalEvent, PrintJob};

/// State of a printer besides its machine.
#[derive(Debug)]
pub(super) struct BambuState {
    pub(super) setup: Setup,
    pub(super) project: Option<Project>,
    pub(super) rejected: Option<Rejected>,
    /// Error that remains until it is cleared or the next start is accepted; 0 for none.
    pub(super) error: u32,
    /// `true` if a command was rejected because developer mode is off.
    pub(super) refused: bool,
    /// Number of the failed print whose error has been cleared.
    pub(super) cleared: Option<u64>,
    /// Chamber light mode.
    pub(super) light: String,
    /// Speed level, 1 (silent) to 4 (ludicrous).
    pub(super) speed_level: u8,
}

impl Default for BambuState {
    fn default() -> Self {
        Self {
            setup: Setup::default(),
            project: None,
            rejected: None,
            error: 0,
            refused: false,
            cleared: None,
            light: "on".to_owned(),
            speed_level: 2,
        }
    }
}

/// Accepted request to start a print.
#[derive(Clone, Debug)]
pub(super) struct Project {
    /// Package path, relative to the root.
    pub(super) filename: String,
    /// Path of the plate's G-code within the package.
    pub(super) plate: String,
    pub(super) subtask_name: String,
    pub(super) subtask_id: String,
    pub(super) task_id: String,
    /// ID of the project in the manufacturer's cloud; 0 for a project that was never in the cloud.
    pub(super) cloud_id: String,
    /// Number of the last print before the project's own; 0 if that was the first.
    pub(super) after: u64,
    pub(super) use_ams: bool,
    /// Tray for each filament; −1 if unresolved.
    pub(super) mapping: Vec<i64>,
    /// Filaments used by the plate, numbered from 1; empty if the package does not specify them.
    pub(super) filaments: Vec<usize>,
}

/// Project that failed during preparation, so that nothing was printed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rejected {
    /// Time at which the preparation ends.
    pub(super) until: Instant,
    /// Error that made the preparation fail.
    pub(super) error: u32,
}

/// Number of the external spool in a mapping and in `tray_now`.
pub(super) const EXTERNAL: i64 = 254;
/// Error number for an AMS that cannot serve a mapping; the second byte contains the number of the AMS.
const WRONG_MAPPING: u32 = 0x0700_8012;

impl BambuState {
    /// Returns the project that the reports describe; `None` if a different print has been started at the printer
    /// since.
    pub(super) fn reported(&self, shown_job: Option<&PrintJob>) -> Option<&Project> {
        let own = |project: &&Project| {
            shown_job.is_none_or(|job| job.number <= project.after || job.filename == project.filename)
        };
        self.project.as_ref().filter(own)
    }

    /// Returns the error shown when the printer pauses because the spools do not match the project; `None` if they
    /// match.
    pub(super) fn unfit(&self, project: &Project) -> Option<u32> {
        if !project.use_ams {
            return self.setup.external.is_none().then_some(WRONG_MAPPING | 0x00FF_0000);
        }
        let tray = |filament: usize| project.mapping.get(filament - 1).copied().unwrap_or(-1);
        let needed: Vec<i64> = if project.filaments.is_empty() {
            project.mapping.iter().copied().filter(|tray| *tray != -1).collect()
        } else {
            project.filaments.iter().map(|filament| tray(*filament)).collect()
        };
        if needed.is_empty() {
            return Some(WRONG_MAPPING);
        }
        needed.into_iter().find_map(|tray| self.misses(tray))
    }

    /// Returns the error for a tray that cannot supply filament; `None` if it can.
    fn misses(&self, tray: i64) -> Option<u32> {
        let Ok(number) = usize::try_from(tray) else { return Some(WRONG_MAPPING) };
        if tray == EXTERNAL || tray == EXTERNAL + 1 {
            return self.setup.external.is_none().then_some(WRONG_MAPPING | 0x00FF_0000);
        }
        let loaded = self.setup.ams.get(number / 4).is_some_and(|ams| ams.trays[number % 4].is_some());
        (!loaded).then_some(WRONG_MAPPING | ((number / 4) as u32 & 0xF) << 16)
    }

    /// Applies the machine's new events: pauses a print whose spools do not match, resets volatile state after a power
    /// loss, and then starts a package left on the storage, if the setup specifies it.
    fn take_in(&mut self, machine: &mut Machine, fresh: &[PhysicalEvent], power_was_cut: &mut bool) {
        for what in fresh {
            match what {
                PhysicalEvent::Started { filename } => {
                    let project = self.project.as_ref().filter(|project| project.filename == *filename);
                    if let Some(error) = project.and_then(|project| self.unfit(project))
                        && machine.pause().is_ok()
                    {
                        self.error = error;
                    }
                }
                PhysicalEvent::Rebooted => {
                    *self = Self { setup: std::mem::take(&mut self.setup), ..Self::default() };
                    *power_was_cut = true;
                }
                _ => {}
            }
        }
        if *power_was_cut && *machine.controller() == Controller::Ready {
            *power_was_cut = false;
            let left = |path: &&String| !path.contains('/') && path.to_ascii_lowercase().ends_with(".gcode.3mf");
            let left = machine.files().iter().map(|(path, _)| path).find(left).cloned();
            if let Some(path) = left.filter(|_| self.setup.starts_left_files) {
                // A print that is on already keeps the file from starting.
                let _ = machine.start(&path);
            }
        }
    }
}

/// Keeps the panel in sync with the machine until aborted.
pub(super) async fn keep_up(host: BambuHost) {
    let (mut seen_entries, mut power_was_cut) = (0, false);
    let mut revised = host.printer.revisions();
    loop {
        revised.borrow_and_update();
        host.bambu.panel(|panel| {
            host.printer.with(|machine| {
                let fresh: Vec<PhysicalEvent> =
                    machine.log()[seen_entries..].iter().map(|entry| entry.what.clone()).collect();
                seen_entries += fresh.len();
                panel.take_in(machine, &fresh, &mut power_was_cut);
            });
        });
        if revised.changed().await.is_err() {
            break;
        }
    }
}
