//! Reading a printer's status: its connection and state, and what it proves about the attempt in hand.

use super::{InHand, Phase, Printer};
use crate::domain::printer_status::{Activity, Connection, PrintEnd, Status};
use crate::domain::time::Timestamp;

/// Reason of a print that a reachable printer no longer shows.
const UNKNOWN_REASON: &str = "printer no longer knows the file";

/// What a status proves about an attempt.
pub(super) enum Observation {
    /// Nothing that decides.
    Nothing,
    /// The attempt's file is printing.
    Printing,
    /// The attempt's file is paused.
    Paused,
    /// The attempt's print is over: how it ended, and the printer's own words if it gave any.
    Ended(PrintEnd, Option<String>),
}

/// Reads a status as evidence. A printer that is idle proves nothing about a start that was just sent, because it may
/// be slow; once the file was seen printing, it proves that the print is over.
pub(super) fn shown(in_hand: &InHand, status: &Status) -> Observation {
    if in_hand.over() || status.state == Activity::Offline {
        return Observation::Nothing;
    }
    let since = match in_hand.phase {
        Phase::Printing { at } | Phase::Paused { at } => Some(at),
        _ => None,
    };
    let began = since.is_some();
    // A status from before the print was first seen, delivered late, proves nothing about its end.
    let fresh = since.is_none_or(|at| status.updated_at >= at);
    if status.connection != Connection::Connected {
        // The host is there but its firmware was lost to an error: whatever was printing is over.
        let lost = status.connection == Connection::FirmwareDisconnected && status.state == Activity::Error;
        let over = lost && began && fresh;
        return if over { Observation::Ended(PrintEnd::Failed, status.message.clone()) } else { Observation::Nothing };
    }
    let ours = status.file.as_deref().is_some_and(|file| in_hand.is_ours(file));
    // A status without a file name does not contradict a print that was seen.
    let unnamed = status.file.is_none() && began;
    match (status.state, status.ended) {
        (Activity::Printing, _) if ours => Observation::Printing,
        (Activity::Paused, _) if ours => Observation::Paused,
        // Only a failure comes with a reason; on other ends the printer's message is about its state, not the print.
        (_, Some(end)) if ours => Observation::Ended(end, status.message.clone().filter(|_| end == PrintEnd::Failed)),
        _ if !fresh => Observation::Nothing,
        (Activity::Printing, _) if unnamed => Observation::Printing,
        (Activity::Paused, _) if unnamed => Observation::Paused,
        (Activity::Error, _) if began => Observation::Ended(PrintEnd::Failed, status.message.clone()),
        (Activity::Idle, _) if began && ours && status.progress >= 100.0 => {
            Observation::Ended(PrintEnd::Finished, None)
        }
        (Activity::Idle, _) if began && ours => {
            Observation::Ended(PrintEnd::Failed, Some("the print stopped before its end".to_owned()))
        }
        _ if began => Observation::Ended(PrintEnd::Failed, Some(UNKNOWN_REASON.to_owned())),
        _ => Observation::Nothing,
    }
}

impl Printer {
    /// Whether this status changes anything that is recorded, so that the monitor should send
    /// [`super::PrinterCommand::Seen`].
    pub fn matters(&self, status: &Status) -> bool {
        self.after(status, status.updated_at).is_some()
    }

    /// The printer as it is after this status; `None` if nothing that is recorded changes.
    pub(super) fn after(&self, status: &Status, now: Timestamp) -> Option<Self> {
        let silent =
            matches!(status.connection, Connection::Unreachable | Connection::Connecting | Connection::Disconnected);
        if self.disconnected || self.archived || silent {
            return None; // The monitor sends `Silent` once the silence has lasted.
        }
        let mut next = self.clone();
        next.connection = status.connection;
        if status.connection == Connection::Connected {
            next.outage = false;
        }
        next.activity = status.state;
        let active = matches!(status.state, Activity::Printing | Activity::Paused);
        next.shows = status.file.clone().filter(|_| active);
        if self.activity != Activity::Idle && next.activity == Activity::Idle {
            next.idle_since = now;
        }
        let ready = status.connection == Connection::Connected && status.state == Activity::Idle;
        if self.needs_home
            && ready
            && status.homed == Some(true)
            && self.unhomed_since().is_none_or(|at| status.updated_at > at)
        {
            next.needs_home = false;
        }
        next.firmware_seen(self, status);
        next.evidence(status, now);
        next.manual_seen(status);
        // A print that is no job leaves a part on the bed all the same.
        let at_rest = status.connection == Connection::Connected && !active;
        if self.foreign_print() && at_rest {
            next.bed_not_cleared |= !(next.fields.auto_clear && status.ended == Some(PrintEnd::Finished));
        }
        if next == *self {
            return None;
        }
        next.last_seen_at = Some(status.updated_at);
        next.updated_at = now;
        Some(next)
    }

    /// Moves the attempt in hand as far as the status proves.
    pub(super) fn evidence(&mut self, status: &Status, now: Timestamp) {
        let auto_clear = self.fields.auto_clear;
        let Some(in_hand) = &mut self.in_hand else {
            return;
        };
        let ours = status.file.as_deref().is_some_and(|file| in_hand.is_ours(file));
        let shown = shown(in_hand, status);
        let began = match in_hand.phase {
            Phase::Printing { at } | Phase::Paused { at } => Some(at),
            _ => None,
        };
        let seen_now = began.is_none() && !matches!(shown, Observation::Nothing);
        if ours && !matches!(shown, Observation::Nothing) {
            let told = (status.progress / 100.0).clamp(0.0, 1.0);
            let over = matches!(shown, Observation::Ended(..));
            // Progress is recorded at each tenth and at the end. It never goes down, because some printers reset it
            // when a print ends.
            if (told * 10.0).floor() > (in_hand.progress * 10.0).floor() || (over && told > in_hand.progress) {
                in_hand.progress = told;
            }
        }
        let job = in_hand.job;
        match shown {
            Observation::Nothing => {}
            Observation::Printing if matches!(in_hand.phase, Phase::Printing { .. }) => {}
            Observation::Printing => in_hand.enter(Phase::Printing { at: began.unwrap_or(now) }),
            Observation::Paused if matches!(in_hand.phase, Phase::Paused { .. }) => {}
            Observation::Paused => in_hand.enter(Phase::Paused { at: began.unwrap_or(now) }),
            Observation::Ended(end, reason) => {
                let filament_mm = status.filament_mm.filter(|_| ours);
                let progress = if end == PrintEnd::Finished { 1.0 } else { in_hand.progress };
                in_hand.enter(Phase::Ended { end, filament_mm, progress, reason });
                self.print_over(end, auto_clear);
            }
        }
        if seen_now {
            self.start_confirmed(job, now);
        }
    }

    /// A print of ours has ended: something lies on the bed, unless it finished and the printer clears its bed by
    /// itself. What failed or was cancelled may stick to the bed or the nozzle, so a person looks.
    pub(super) fn print_over(&mut self, end: PrintEnd, auto_clear: bool) {
        self.bed_not_cleared |= !(auto_clear && end == PrintEnd::Finished);
        self.print_failed |= end == PrintEnd::Failed;
    }
}
