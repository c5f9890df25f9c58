//! Changes to a machine over time, and the start and end of prints.

use std::sync::Arc;

use super::{
    Controller, Duration, Instant, Machine, PhysicalEvent, PrintJob, PrintOutcome, PrintPhase, Record, SHUTDOWN_BY_MCU,
    ScheduledEvent, commands::CommandError,
};
use crate::faults::{HostDisconnect, PrinterFaults};

/// Next point that a print in progress will reach.
#[derive(Clone, Copy, PartialEq)]
enum Milestone {
    End,
    Failure,
    PowerLoss,
}

impl Machine {
    /// Processes everything that is scheduled up to `now`, in order.
    pub fn advance(&mut self, now: Instant) {
        while let Some(at) = self.next_change().filter(|at| *at <= now) {
            self.pass(at);
            // Scheduled events come before what the print reaches, so that a cancel that is due now is not overtaken
            // by the end.
            if let Some(index) = self.earliest_upcoming().filter(|index| self.upcoming[*index].0 <= at) {
                let (_, what) = self.upcoming.swap_remove(index);
                self.happen(what);
            } else if let Some((_, milestone)) = self.milestone() {
                self.reach(milestone);
            }
        }
        self.pass(now);
    }

    /// Lets everything happen now that faults have delayed: starts, commands, and the end of a false report.
    pub fn end_delays(&mut self) {
        for (at, what) in &mut self.upcoming {
            if matches!(
                what,
                ScheduledEvent::LateStart { .. } | ScheduledEvent::PhaseEnds { .. } | ScheduledEvent::EchoEnds
            ) {
                *at = self.now;
            }
        }
        self.touch();
    }

    /// Returns the time of the next scheduled change.
    pub fn next_change(&self) -> Option<Instant> {
        let upcoming = self.earliest_upcoming().map(|index| self.upcoming[index].0);
        let milestone = self.milestone().map(|(at, _)| at);
        upcoming.into_iter().chain(milestone).min()
    }

    fn earliest_upcoming(&self) -> Option<usize> {
        // The first of equals, so that what was scheduled earlier happens earlier.
        (0..self.upcoming.len()).min_by_key(|index| self.upcoming[*index].0)
    }

    fn milestone(&self) -> Option<(Instant, Milestone)> {
        let job = self.job.as_ref().filter(|job| job.phase == PrintPhase::Printing)?;
        let total = job.facts.seconds;
        let mut first = (total, Milestone::End);
        if let Some(at) = self.faults.fail_at.filter(|at| at.progress * total < first.0) {
            first = (at.progress * total, Milestone::Failure);
        }
        if let Some(at) = self.faults.reboot_at.filter(|at| at.progress * total < first.0) {
            first = (at.progress * total, Milestone::PowerLoss);
        }
        // One nanosecond more, so that rounding never stops short of the point.
        Some((self.now + self.real(first.0 - job.done) + Duration::from_nanos(1), first.1))
    }

    fn pass(&mut self, to: Instant) {
        let passed = to.saturating_duration_since(self.now);
        if passed.is_zero() {
            return;
        }
        let gcode_seconds = passed.as_secs_f64() * self.speed;
        if let Some(job) = self.job.as_mut().filter(|job| job.phase == PrintPhase::Printing) {
            job.done = f64::min(job.done + gcode_seconds, job.facts.seconds);
            job.printing += passed;
        }
        self.nozzle.pass(gcode_seconds);
        self.bed.pass(gcode_seconds);
        self.now = to;
    }

    fn reach(&mut self, milestone: Milestone) {
        match milestone {
            Milestone::End => self.end(PrintOutcome::Completed),
            Milestone::Failure => {
                self.faults.fail_at = None;
                self.end(PrintOutcome::Failed("Extrude below minimum temp".to_owned()));
            }
            Milestone::PowerLoss => {
                let forget = self.faults.reboot_at.take().is_some_and(|at| at.forget);
                self.reboot(forget);
            }
        }
    }

    fn happen(&mut self, what: ScheduledEvent) {
        match what {
            ScheduledEvent::LateStart { filename } => {
                if self.job.is_some() || self.files.get(&filename).is_none() {
                    self.write(PhysicalEvent::LateStartFellThrough { filename });
                } else {
                    self.begin(filename);
                }
            }
            ScheduledEvent::Homed { axes } => {
                for axis in axes.chars() {
                    if !self.homed.contains(axis) {
                        self.homed.push(axis);
                    }
                }
                self.write(PhysicalEvent::Homed { axes });
            }
            ScheduledEvent::PhaseEnds { job, phase } => {
                if self.job.as_ref().is_some_and(|now| now.number == job && now.phase == phase) {
                    self.settle(phase);
                }
            }
            ScheduledEvent::ControllerReady => self.controller_ready(),
            ScheduledEvent::PowerBack => {
                self.powered = true;
                self.controller_ready();
            }
            ScheduledEvent::EchoBegins { job } => {
                if let Some(delay) = self.faults.duplicate_finish
                    && self.job.is_none()
                    && self.ended.as_ref().is_some_and(|ended| ended.number == job)
                {
                    self.echo = true;
                    self.later(Duration::from_millis(delay.for_ms), ScheduledEvent::EchoEnds);
                }
            }
            ScheduledEvent::EchoEnds => {
                self.echo = false;
                self.touch();
            }
        }
    }

    fn controller_ready(&mut self) {
        if let Some(away) = self.faults.away {
            self.controller = Controller::Away(away);
            self.touch();
        } else if self.faults.firmware_shutdown {
            self.halt(SHUTDOWN_BY_MCU, PhysicalEvent::FirmwareShutdown);
        } else {
            self.controller = Controller::Ready;
            self.write(PhysicalEvent::Restarted);
        }
    }

    /// Completes a transition of the print in progress.
    pub(super) fn settle(&mut self, phase: PrintPhase) {
        let Some(job) = &mut self.job else { return };
        let filename = job.filename.clone();
        match phase {
            PrintPhase::Pausing => {
                job.phase = PrintPhase::Paused;
                self.write(PhysicalEvent::Paused { filename });
            }
            PrintPhase::Resuming => {
                job.phase = PrintPhase::Printing;
                self.write(PhysicalEvent::Resumed { filename });
            }
            PrintPhase::Cancelling => self.end(PrintOutcome::Cancelled),
            PrintPhase::Printing | PrintPhase::Paused => {}
        }
    }

    /// Starts a print physically. The file must exist, and no other print may be in progress.
    pub(super) fn begin(&mut self, filename: String) {
        let Some(file) = self.files.get(&filename).cloned() else {
            return;
        };
        let number = self.next_job;
        self.next_job += 1;
        let job = PrintJob {
            number,
            filename: filename.clone(),
            size: file.bytes.len() as u64,
            facts: Arc::clone(&file.facts),
            done: 0.0,
            printing: Duration::ZERO,
            started: self.now,
            started_at: self.now_at(),
            ended: None,
            phase: PrintPhase::Printing,
            outcome: None,
        };
        self.history.push(record(&job, self.now));
        self.nozzle.set(file.facts.nozzle_temp);
        self.bed.set(file.facts.bed_temp);
        "xyz".clone_into(&mut self.homed);
        self.selected = Some(filename.clone());
        self.ended = None;
        self.echo = false;
        self.job = Some(job);
        self.write(PhysicalEvent::Started { filename: filename.clone() });
        // Without a word of the start each tool takes the gate of its own number.
        let own = || file.facts.tools.iter().map(|tool| (*tool, i64::from(*tool))).collect();
        let fed_slots = self.feed.take().filter(|(path, _)| *path == filename).map(|(_, slots)| slots);
        if let Some(slots) = fed_slots.or_else(|| (!self.gates.is_empty()).then(own)) {
            self.write(PhysicalEvent::Fed { filename, slots });
        }
    }

    /// Ends the print in progress, if any.
    pub(super) fn end(&mut self, outcome: PrintOutcome) {
        let Some(mut job) = self.job.take() else {
            return;
        };
        job.ended = Some(self.now);
        if outcome == PrintOutcome::Completed {
            job.done = job.facts.seconds;
        }
        job.outcome = Some(outcome.clone());
        self.nozzle.set(0.0);
        self.bed.set(0.0);
        let ended_at = Some(self.now_at());
        if self.unrecorded == Some(job.number) {
            self.unrecorded = None;
        } else if let Some(entry) = self.history.iter_mut().find(|entry| entry.number == job.number) {
            *entry = Record { ended_at, ..record(&job, self.now) };
        }
        let filename = job.filename.clone();
        let number = job.number;
        self.ended = Some(job);
        let finished = outcome == PrintOutcome::Completed;
        self.write(match outcome {
            PrintOutcome::Completed => PhysicalEvent::Finished { filename },
            PrintOutcome::Cancelled => PhysicalEvent::Cancelled { filename },
            PrintOutcome::Failed(reason) | PrintOutcome::Halted(reason) => PhysicalEvent::Failed { filename, reason },
            PrintOutcome::Interrupted | PrintOutcome::ControllerLost => PhysicalEvent::Interrupted { filename },
        });
        if let Some(echo) = self.faults.duplicate_finish.filter(|_| finished) {
            self.later(Duration::from_millis(echo.after_ms), ScheduledEvent::EchoBegins { job: number });
        }
    }

    /// Switches off motors and heaters until a restart.
    pub(super) fn halt(&mut self, message: &str, what: PhysicalEvent) {
        self.upcoming.retain(|(_, upcoming)| matches!(upcoming, ScheduledEvent::PowerBack));
        self.controller = Controller::Halted { message: message.to_owned() };
        self.write(what);
        self.end(PrintOutcome::Halted(message.to_owned()));
        self.nozzle.set(0.0);
        self.bed.set(0.0);
        self.selected = None;
        self.homed.clear();
        self.echo = false;
    }

    /// Clears the controller's state and all scheduled events, except the boot of a printer that has lost power.
    pub(super) fn reset(&mut self, outcome: PrintOutcome) {
        self.upcoming.retain(|(_, upcoming)| matches!(upcoming, ScheduledEvent::PowerBack));
        self.end(outcome);
        self.ended = None;
        self.echo = false;
        self.homed.clear();
        self.nozzle.set(0.0);
        self.bed.set(0.0);
        self.touch();
    }

    /// Simulates a power loss: for a while, the printer does not respond, and then it comes back idle. Files and
    /// history are kept; `forget` removes the print in progress from the history.
    pub fn reboot(&mut self, forget: bool) {
        let running = self.job.as_ref().map(|job| job.number);
        self.write(PhysicalEvent::Rebooted);
        self.reset(PrintOutcome::Interrupted);
        self.selected = None;
        if forget {
            self.history.retain(|entry| Some(entry.number) != running);
        }
        self.controller = Controller::Starting;
        self.powered = false;
        self.upcoming.clear();
        let boot = self.real(self.temper.boot);
        self.later(boot, ScheduledEvent::PowerBack);
    }

    /// Clears the printer's list of past prints, as a user would at the printer. A print in progress continues, but is
    /// no longer in the list.
    pub fn forget_history(&mut self) {
        self.history.clear();
        self.touch();
    }

    /// Restarts the printer's server but not its controller. State that the server held only in memory is lost.
    ///
    /// If the controller prints on its own (Klipper), a print in progress continues; the history lists it as
    /// interrupted, without an end time, or omits it if `forget` is set. If the server feeds the controller
    /// (`OctoPrint`), a print in progress is lost and not recorded anywhere.
    pub fn restart_server(&mut self, forget: bool) {
        self.server_started_at = self.now_at();
        self.console.clear();
        let running = self.job.as_ref().map(|job| job.number);
        if forget || !self.reconnects {
            self.history.retain(|entry| Some(entry.number) != running);
        } else if let Some(entry) = self.history.iter_mut().find(|entry| Some(entry.number) == running) {
            entry.outcome = Some(PrintOutcome::Interrupted);
        }
        self.unrecorded = running;
        if !self.reconnects {
            self.reset(PrintOutcome::ControllerLost);
            self.selected = None;
            self.find_controller();
        }
        self.touch();
    }

    /// Restarts host and controller; a print in progress is lost.
    pub fn restart(&mut self) -> Result<(), CommandError> {
        if matches!(self.controller, Controller::Away(_)) {
            return Err(CommandError::NotReady);
        }
        self.reset(PrintOutcome::ControllerLost);
        self.controller = Controller::Starting;
        let restart = self.real(self.temper.restart);
        self.later(restart, ScheduledEvent::ControllerReady);
        Ok(())
    }

    /// Applies new faults. Those that are states of the controller take effect immediately.
    pub fn set_faults(&mut self, faults: PrinterFaults) {
        let before = std::mem::replace(&mut self.faults, faults);
        self.touch();
        if self.faults.firmware_shutdown
            && !before.firmware_shutdown
            && !matches!(self.controller, Controller::Away(_) | Controller::Closed)
        {
            self.halt(SHUTDOWN_BY_MCU, PhysicalEvent::FirmwareShutdown);
        }
        match (before.away, self.faults.away) {
            (before, Some(away)) if before != Some(away) => self.lose_controller(away),
            (Some(_), None) if self.reconnects => self.find_controller(),
            (Some(_), None) => self.controller = Controller::Closed,
            _ => {}
        }
    }

    fn lose_controller(&mut self, away: HostDisconnect) {
        self.write(PhysicalEvent::Disconnected);
        self.reset(PrintOutcome::ControllerLost);
        self.controller = Controller::Away(away);
    }

    fn find_controller(&mut self) {
        self.controller = Controller::Starting;
        self.write(PhysicalEvent::Connected);
        let restart = self.real(self.temper.restart);
        self.later(restart, ScheduledEvent::ControllerReady);
    }

    /// Opens the connection to the controller, which becomes ready a little later.
    pub fn connect(&mut self) {
        if matches!(self.controller, Controller::Closed | Controller::Halted { .. } | Controller::Away(_)) {
            self.upcoming.retain(|(_, upcoming)| !matches!(upcoming, ScheduledEvent::ControllerReady));
            self.find_controller();
        }
    }

    /// Closes the connection to the controller; a print in progress is lost.
    pub fn disconnect(&mut self) {
        if !matches!(self.controller, Controller::Closed) {
            self.write(PhysicalEvent::Disconnected);
            self.reset(PrintOutcome::ControllerLost);
            self.selected = None;
            self.controller = Controller::Closed;
        }
    }
}

fn record(job: &PrintJob, now: Instant) -> Record {
    Record {
        number: job.number,
        filename: job.filename.clone(),
        facts: Arc::clone(&job.facts),
        size: job.size,
        started_at: job.started_at,
        ended_at: None,
        outcome: job.outcome.clone(),
        print_seconds: job.printing.as_secs_f64(),
        total_seconds: job.total(now).as_secs_f64(),
        filament_mm: job.filament_mm(),
    }
}
