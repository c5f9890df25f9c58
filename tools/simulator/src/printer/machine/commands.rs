//! Commands that a machine executes.

use std::sync::Arc;

use super::{Controller, Duration, Machine, PhysicalEvent, PrintOutcome, PrintPhase, SHUTDOWN_BY_M112, ScheduledEvent};
use crate::gcode::{GcodeFacts, is_known};

/// Reason why a command was not executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The controller is not ready.
    #[error("printer is not ready")]
    NotReady,
    /// A print is in progress.
    #[error("a print is in progress")]
    Busy,
    /// The storage has no file with the given name.
    #[error("no such file")]
    NoFile,
    /// The command was rejected because of the `refuse_start` fault.
    #[error("start rejected")]
    Refused,
}

/// Reason why a file was not deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeleteError {
    /// A print is reading the file.
    #[error("file is in use")]
    InUse,
    /// The storage has no file with the given name.
    #[error("no such file")]
    NoFile,
}

impl Machine {
    /// Starts a print. A paused print is abandoned in favour of the new one, as in Klipper; hosts that do not allow
    /// this check for it beforehand.
    pub fn start(&mut self, path: &str) -> Result<(), CommandError> {
        self.start_after(path, Duration::ZERO)
    }

    /// Accepts a start that is executed after a delay in real time, provided that the file still exists then and
    /// nothing else is being printed.
    pub fn start_after(&mut self, path: &str, delay: Duration) -> Result<(), CommandError> {
        self.require_ready()?;
        if self.job.as_ref().is_some_and(|job| job.phase != PrintPhase::Paused) {
            return Err(CommandError::Busy);
        }
        let filename = self.files.resolve(path).ok_or(CommandError::NoFile)?;
        self.say(format!("SDCARD_PRINT_FILE FILENAME=\"{filename}\""));
        if self.faults.refuse_start {
            return Err(CommandError::Refused);
        }
        let late = self.faults.start_late.map(|delay| Duration::from_millis(delay.after_ms));
        self.withheld_starts += u64::from(late.is_some() || self.faults.accept_but_never_start);
        if std::mem::take(&mut self.faults.disconnect_at_start) {
            self.faults.disconnect = true;
            self.touch();
        }
        if self.faults.accept_but_never_start {
            return Ok(());
        }
        if late.is_some() || !delay.is_zero() {
            self.later(late.unwrap_or_default().max(delay), ScheduledEvent::LateStart { filename });
            return Ok(());
        }
        self.end(PrintOutcome::Cancelled);
        self.begin(filename);
        Ok(())
    }

    /// Selects the content of a stored file to print, such as one plate of a package.
    pub fn choose(&mut self, path: &str, facts: Arc<GcodeFacts>) {
        self.files.choose(path, facts);
    }

    /// Sets the slots that feed a file's tools in its next print.
    pub fn feed(&mut self, path: &str, slots: Vec<(u32, i64)>) {
        self.feed = Some((path.to_owned(), slots));
    }

    /// Pauses the print; returns `Ok(false)` if no print was running.
    pub fn pause(&mut self) -> Result<bool, CommandError> {
        self.require_ready()?;
        Ok(self.turn(&[PrintPhase::Printing, PrintPhase::Resuming], PrintPhase::Pausing))
    }

    /// Resumes the print; returns `Ok(false)` if no print was paused.
    pub fn resume(&mut self) -> Result<bool, CommandError> {
        self.require_ready()?;
        Ok(self.turn(&[PrintPhase::Paused, PrintPhase::Pausing], PrintPhase::Resuming))
    }

    /// Cancels the print; returns `Ok(false)` if no print was in progress.
    pub fn cancel(&mut self) -> Result<bool, CommandError> {
        self.cancels += 1;
        self.require_ready()?;
        Ok(self.turn(
            &[PrintPhase::Printing, PrintPhase::Pausing, PrintPhase::Paused, PrintPhase::Resuming],
            PrintPhase::Cancelling,
        ))
    }

    fn turn(&mut self, from: &[PrintPhase], into: PrintPhase) -> bool {
        let delay = self.faults.slow_commands;
        let Some(job) = self.job.as_mut().filter(|job| from.contains(&job.phase)) else {
            return false;
        };
        job.phase = into;
        let number = job.number;
        match delay {
            Some(delay) => {
                self.later(
                    Duration::from_millis(delay.after_ms),
                    ScheduledEvent::PhaseEnds { job: number, phase: into },
                );
            }
            None => self.settle(into),
        }
        true
    }

    /// Switches off motors and heaters immediately. Works whenever the controller is reachable.
    pub fn emergency_stop(&mut self, message: &str) -> Result<(), CommandError> {
        match self.controller {
            Controller::Away(_) | Controller::Closed => Err(CommandError::NotReady),
            Controller::Halted { .. } => Ok(()),
            Controller::Ready | Controller::Starting => {
                self.halt(message, PhysicalEvent::EmergencyStop);
                Ok(())
            }
        }
    }

    /// Deletes a file that is not being read by a print. An accepted start that has not been executed yet does not
    /// protect the file.
    pub fn delete(&mut self, path: &str) -> Result<(), DeleteError> {
        if self.in_use(path) {
            return Err(DeleteError::InUse);
        }
        self.files.remove(path).ok_or(DeleteError::NoFile)?;
        if self.selected.as_deref() == Some(path) {
            self.selected = None;
        }
        self.write(PhysicalEvent::Deleted { filename: path.to_owned() });
        Ok(())
    }

    /// Selects the file that will be printed by a start without a name.
    pub fn select(&mut self, path: &str) -> Result<(), CommandError> {
        self.require_ready()?;
        if self.job.is_some() {
            return Err(CommandError::Busy);
        }
        let filename = self.files.resolve(path).ok_or(CommandError::NoFile)?;
        if self.selected.as_deref() != Some(&filename) {
            // The result of the last print belongs to the file that was selected before.
            self.ended = None;
        }
        self.selected = Some(filename);
        self.touch();
        Ok(())
    }

    /// Runs one line of G-code or one macro. Unknown commands have no effect, as on real printers.
    pub fn gcode(&mut self, line: &str) -> Result<(), CommandError> {
        self.require_ready()?;
        let line = line.split(';').next().unwrap_or_default().trim();
        if line.is_empty() {
            return Ok(());
        }
        self.write(PhysicalEvent::Gcode { line: line.to_owned() });
        self.say(line.to_owned());
        if !is_known(line) {
            self.say(format!("// Unknown command:\"{line}\""));
        }
        let mut words = line.split_whitespace();
        let command = words.next().unwrap_or_default().to_ascii_uppercase();
        let arguments: Vec<&str> = words.collect();
        match command.as_str() {
            "G28" => self.home(&arguments),
            "M104" | "M109" => {
                if let Some(target) = number('S', &arguments) {
                    self.nozzle.set(target);
                }
            }
            "M140" | "M190" => {
                if let Some(target) = number('S', &arguments) {
                    self.bed.set(target);
                }
            }
            "M105" => {
                let report = self.temperatures().report();
                self.say(report);
            }
            "M84" | "M18" => {
                self.homed.clear();
                self.touch();
            }
            "M112" => self.emergency_stop(SHUTDOWN_BY_M112)?,
            "PAUSE" | "M25" => {
                self.pause()?;
            }
            "RESUME" | "M24" => {
                self.resume()?;
            }
            "CANCEL_PRINT" => {
                self.cancel()?;
            }
            "SDCARD_PRINT_FILE" => {
                let filename = arguments.join(" ");
                let filename = filename.split_once('=').map(|(_, name)| name.trim().trim_matches('"').to_owned());
                self.start(&filename.ok_or(CommandError::NoFile)?)?;
            }
            "SDCARD_RESET_FILE" => {
                if self.job.is_some() {
                    return Err(CommandError::Busy);
                }
                self.ended = None;
                self.touch();
            }
            "RESTART" | "FIRMWARE_RESTART" => self.restart()?,
            _ => {}
        }
        Ok(())
    }

    /// Returns whether an axis is being homed.
    pub fn is_homing(&self) -> bool {
        self.upcoming.iter().any(|(_, upcoming)| matches!(upcoming, ScheduledEvent::Homed { .. }))
    }

    /// Homes the specified axes, or all of them.
    fn home(&mut self, arguments: &[&str]) {
        let named: String = arguments
            .iter()
            .filter_map(|word| word.chars().next())
            .map(|axis| axis.to_ascii_lowercase())
            .filter(|axis| "xyz".contains(*axis))
            .collect();
        let axes = if named.is_empty() { "xyz".to_owned() } else { named };
        let time = self.real(self.temper.homing * axes.len() as f64 / 3.0);
        self.later(time, ScheduledEvent::Homed { axes });
    }

    fn require_ready(&self) -> Result<(), CommandError> {
        if self.controller == Controller::Ready { Ok(()) } else { Err(CommandError::NotReady) }
    }
}

/// Returns the number after a letter in arguments such as `S210`.
fn number(letter: char, arguments: &[&str]) -> Option<f64> {
    arguments
        .iter()
        .find_map(|word| word.to_ascii_uppercase().strip_prefix(letter).and_then(|value| value.parse().ok()))
}
