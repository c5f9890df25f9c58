//! Interpretation of a printer's status: its connection and state, and the evidence about the attempt in hand.
//!
//! Statuses arrive in the order in which they were read, because each connection performs one read at a time. When a
//! status must be newer than a recorded time, a recorded time in the future is ignored: if the clock was set back in
//! between, the times cannot be compared, and must not block anything.

use super::{AttemptPhase, CurrentAttempt, Printer};
use crate::id::Id;
use crate::job::PrinterRecord;
use crate::printer_status::{Activity, Connection, PrintEnd, Status};
use crate::time::Timestamp;

/// End reason for a print that was replaced by a different file on a reachable printer.
pub(super) const UNKNOWN_REASON: &str = "the printer no longer knows the file";
/// End reason for a print after which a reachable printer shows no file at all.
pub(super) const CLEARED_REASON: &str =
    "the printer responded again without the print: it or its server was restarted, or someone cleared the print";
/// End reason for a print whose file was printed again at the printer.
pub(super) const AGAIN_REASON: &str = "someone printed its file again at the printer";
/// End reason for a print that stopped before it was complete.
const STOPPED_EARLY_REASON: &str = "the print stopped early";
/// End reason for a print whose printer reports an error without a message.
const ERROR_REASON: &str = "the printer reports an error";

/// Evidence that a status provides about an attempt.
pub(super) enum Observation {
    /// The status proves nothing about the attempt, so the attempt's phase is left unchanged.
    Nothing,
    /// The attempt's file is printing.
    Printing,
    /// The attempt's file is paused.
    Paused,
    /// The attempt's file is being or was printed again, so the attempt's own print is over.
    Again,
    /// The attempt's print is over. Contains its result and the printer's message, if any.
    Ended(PrintEnd, Option<String>),
    /// The attempt's print is over, but the status does not show how it ended. Contains a human-readable guess.
    Gone(String),
}

/// Returns whether a status read at `looked` is older than a recorded time. A recorded time later than `now` predates a
/// clock change and is ignored.
fn outdated(looked: Timestamp, recorded: Timestamp, now: Timestamp) -> bool {
    looked < recorded && recorded <= now
}

/// Interprets a status as evidence. An idle printer proves nothing about a start that was just sent, because the
/// printer may be slow. Once the file has been observed printing, an idle printer proves that the print is over.
fn observation(in_hand: &CurrentAttempt, status: &Status, now: Timestamp) -> Observation {
    if in_hand.over() || status.state == Activity::Offline {
        return Observation::Nothing;
    }
    let began = in_hand.began();
    // A status from before the print was first seen, delivered late, proves nothing about its end.
    let proves_end = began.is_some_and(|at| !outdated(status.updated_at, at, now));
    let words = |default: &str| status.message.clone().unwrap_or_else(|| default.to_owned());
    // A printer that takes no commands shows its print all the same.
    if !matches!(status.connection, Connection::Connected | Connection::ReadOnly) {
        // The host is there but its firmware was lost to an error: whatever was printing is over.
        let lost = status.connection == Connection::FirmwareDisconnected && status.state == Activity::Error;
        return if lost && proves_end { Observation::Gone(words(ERROR_REASON)) } else { Observation::Nothing };
    }
    let ours = status.file.as_deref().is_some_and(|file| in_hand.is_ours(file));
    match (status.state, status.ended) {
        _ if ours && status.prints_again() => Observation::Again,
        (Activity::Printing, _) if ours => Observation::Printing,
        (Activity::Paused, _) if ours => Observation::Paused,
        // Only a failure comes with a reason; on other ends the printer's message is about its state, not the print.
        (_, Some(end)) if ours => Observation::Ended(end, status.message.clone().filter(|_| end == PrintEnd::Failed)),
        _ if !proves_end => Observation::Nothing,
        // A status without a file name does not contradict a print that was seen.
        (Activity::Printing, _) if status.file.is_none() => Observation::Printing,
        (Activity::Paused, _) if status.file.is_none() => Observation::Paused,
        (Activity::Error, _) => Observation::Gone(words(ERROR_REASON)),
        (Activity::Idle, _) if ours && status.progress >= 100.0 => Observation::Ended(PrintEnd::Finished, None),
        (Activity::Idle, _) if ours => Observation::Gone(STOPPED_EARLY_REASON.to_owned()),
        _ if status.file.is_none() => Observation::Gone(CLEARED_REASON.to_owned()),
        _ => Observation::Gone(UNKNOWN_REASON.to_owned()),
    }
}

impl CurrentAttempt {
    /// Returns the time at which the attempt's file was first observed printing, if it has been.
    pub(super) fn began(&self) -> Option<Timestamp> {
        match self.phase {
            AttemptPhase::Printing { at } | AttemptPhase::Paused { at } => Some(at),
            _ => self.began_at,
        }
    }
}

impl Printer {
    /// Returns whether the status changes any recorded data, in which case the monitor should send
    /// [`super::PrinterNews::Seen`].
    pub fn matters(&self, status: &Status, now: Timestamp) -> bool {
        self.after(status, now).is_some()
    }

    /// Returns whether the status shows that the attempt's own file (matched by name) is printing or paused.
    pub fn shows_attempt(in_hand: &CurrentAttempt, status: &Status) -> bool {
        status.connection == Connection::Connected
            && matches!(status.state, Activity::Printing | Activity::Paused)
            && !status.prints_again()
            && status.file.as_deref().is_some_and(|file| in_hand.is_ours(file))
    }

    /// Returns the printer's record of an attempt that an operator wants to resolve.
    pub fn seen_print(&self, attempt: Id) -> PrinterRecord {
        let Some(in_hand) = self.in_hand.as_ref().filter(|in_hand| in_hand.attempt == attempt) else {
            return PrinterRecord::default();
        };
        PrinterRecord {
            shown_now: self.shows_own(),
            began: in_hand.began().is_some(),
            progress: in_hand.progress,
            booked_on: in_hand.booked_on.clone(),
        }
    }

    /// Returns whether a start was sent whose outcome is still unknown.
    pub fn awaits_start(&self) -> bool {
        let phase = self.in_hand.as_ref().map(|in_hand| &in_hand.phase);
        matches!(phase, Some(AttemptPhase::StartSent { .. } | AttemptPhase::Unverified { .. }))
    }

    /// Returns the same record as [`Self::seen_print`], but with the progress from the printer's latest status. Returns
    /// `None` if the attempt is not in hand.
    pub fn seen_print_now(&self, attempt: Id, status: Option<&Status>) -> Option<PrinterRecord> {
        let in_hand = self.in_hand.as_ref().filter(|in_hand| in_hand.attempt == attempt)?;
        let progress = self.progress_of(in_hand.job, status)?;
        Some(PrinterRecord { progress, ..self.seen_print(attempt) })
    }

    /// Returns whether the printer is connected and was last observed printing or pausing the file of the attempt in
    /// hand.
    pub(super) fn shows_own(&self) -> bool {
        let ours = |file: &str| self.in_hand.as_ref().is_some_and(|hand| hand.gone.is_none() && hand.is_ours(file));
        self.connection == Connection::Connected && self.shows.as_deref().is_some_and(ours)
    }

    /// Returns the progress of the given job, from 0 to 1: the progress in the status if the status shows the job's own
    /// file and is ahead of the recorded progress, otherwise the recorded progress. Returns `None` if the job is not in
    /// hand.
    pub fn progress_of(&self, job: Id, status: Option<&Status>) -> Option<f64> {
        let in_hand = self.in_hand.as_ref().filter(|in_hand| in_hand.job == job)?;
        let ours = |status: &&Status| status.file.as_deref().is_some_and(|file| in_hand.is_ours(file));
        let current_status = status.filter(ours).filter(|status| !status.prints_again());
        Some(current_status.map_or(0.0, |status| status.progress / 100.0).max(in_hand.progress))
    }

    /// Returns the printer's state after the given status. Returns `None` if no recorded data changes.
    pub(super) fn after(&self, status: &Status, now: Timestamp) -> Option<Self> {
        let silent =
            matches!(status.connection, Connection::Unreachable | Connection::Connecting | Connection::Disconnected);
        if self.disconnected || self.archived || silent {
            return None; // The monitor sends `Silent` once the silence has lasted.
        }
        let mut next = self.clone();
        next.connection = status.connection;
        if status.connection.is_answering() {
            next.outage = false;
        }
        next.activity = status.state;
        let active = matches!(status.state, Activity::Printing | Activity::Paused);
        next.shows = status.file.clone().filter(|_| active);
        next.pause_seen(status, now);
        if self.activity != Activity::Idle && next.activity == Activity::Idle {
            next.idle_since = now;
        }
        let ready = status.connection == Connection::Connected && status.state == Activity::Idle;
        if self.needs_home
            && ready
            && status.homed == Some(true)
            && self.unhomed_since().is_none_or(|at| status.updated_at > at || at > now)
        {
            next.needs_home = false;
        }
        next.firmware_seen(self, status, now);
        next.booking_seen(status);
        next.evidence(status, now);
        next.manual_seen(status, now);
        next.foreign_print_seen(self, status, now);
        if next == *self {
            return None;
        }
        // While only its server answers, the printer itself is not heard.
        if status.connection.is_answering() || self.connection.is_answering() {
            next.last_seen_at = Some(status.updated_at);
        }
        next.updated_at = now;
        Some(next)
    }

    /// Advances the attempt in hand as far as proven by the status.
    pub(super) fn evidence(&mut self, status: &Status, now: Timestamp) {
        let auto_clear = self.fields.auto_clear;
        let Some(in_hand) = &mut self.in_hand else {
            return;
        };
        let ours = status.file.as_deref().is_some_and(|file| in_hand.is_ours(file));
        let observation = observation(in_hand, status, now);
        let seen_now = in_hand.began().is_none() && !matches!(observation, Observation::Nothing);
        if ours && !matches!(observation, Observation::Nothing | Observation::Again) {
            let progress = (status.progress / 100.0).clamp(0.0, 1.0);
            let over = matches!(observation, Observation::Ended(..) | Observation::Gone(_));
            // Progress is recorded at each tenth and at the end. It never goes down, because some printers reset it
            // when a print ends.
            if (progress * 10.0).floor() > (in_hand.progress * 10.0).floor() || (over && progress > in_hand.progress) {
                in_hand.progress = progress;
            }
        }
        let job = in_hand.job;
        match observation {
            Observation::Printing | Observation::Paused => {
                (in_hand.gone, in_hand.out_of_sight) = (None, false);
                let at = in_hand.began().unwrap_or(now);
                in_hand.began_at = Some(at);
                let paused = matches!(observation, Observation::Paused);
                match in_hand.phase {
                    AttemptPhase::Printing { .. } | AttemptPhase::Paused { .. }
                        if paused == matches!(in_hand.phase, AttemptPhase::Paused { .. }) => {}
                    _ if paused => in_hand.enter(AttemptPhase::Paused { at }),
                    _ => in_hand.enter(AttemptPhase::Printing { at }),
                }
            }
            // A person is asked already how it ended: as long as its file is printed again, nothing more is known.
            Observation::Again
                if in_hand.gone.is_some() && matches!(in_hand.phase, AttemptPhase::Unverified { .. }) => {}
            // It did begin, and is over: the history, if the printer keeps one, tells how the first one ended.
            Observation::Again => {
                let at = in_hand.began().unwrap_or(now);
                in_hand.began_at = Some(at);
                if !matches!(in_hand.phase, AttemptPhase::Printing { .. } | AttemptPhase::Paused { .. }) {
                    in_hand.enter(AttemptPhase::Printing { at });
                }
                in_hand.gone.get_or_insert_with(|| AGAIN_REASON.to_owned());
            }
            Observation::Ended(end, reason) => {
                let filament_mm = status.filament_mm.filter(|_| ours);
                let progress = if end == PrintEnd::Finished { 1.0 } else { in_hand.progress };
                let unseen = in_hand.out_of_sight;
                in_hand.enter(AttemptPhase::Ended { end, filament_mm, progress, reason, unseen });
                self.print_over(end, auto_clear);
            }
            // What it looks like may change while the history is asked; the first impression stays.
            Observation::Gone(reason)
                if matches!(in_hand.phase, AttemptPhase::Printing { .. } | AttemptPhase::Paused { .. }) =>
            {
                in_hand.gone.get_or_insert(reason);
            }
            Observation::Nothing | Observation::Gone(_) => {}
        }
        if seen_now {
            self.start_confirmed(job, now);
        }
    }

    /// Marks the bed as occupied after the end of a print started by the server, unless the print finished and the
    /// printer clears its bed automatically. A failed or cancelled print may stick to the bed or the nozzle, so an
    /// operator must inspect it. The same applies if a printer with a firmware error reports the print as finished.
    pub(super) fn print_over(&mut self, end: PrintEnd, auto_clear: bool) {
        if !(auto_clear && end == PrintEnd::Finished && self.fault.is_none()) {
            self.occupy_bed();
        }
        self.print_failed |= end == PrintEnd::Failed;
    }
}
