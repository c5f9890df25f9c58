//! What a printer says of itself: its connection, its state, and the evidence on the attempt in hand.

use super::{InHand, Phase, Printer};
use crate::domain::printer_status::{Activity, Connection, PrintEnd, Status};
use crate::domain::time::Timestamp;

/// The printer's words when our print is gone.
const UNKNOWN: &str = "printer no longer knows the file";

/// What a status says about an attempt.
pub(super) enum Shown {
    /// Nothing that decides.
    Nothing,
    /// Our file prints.
    Printing,
    /// Our file is paused.
    Paused,
    /// Our print is over.
    Ended(PrintEnd, Option<String>),
}

/// Reads a status as evidence. A reachable printer at rest says nothing about a start that was just sent; once our file was
/// seen printing, it says that the print is over.
pub(super) fn shown(in_hand: &InHand, status: &Status) -> Shown {
    if in_hand.over() || status.state == Activity::Offline {
        return Shown::Nothing;
    }
    let since = match in_hand.phase {
        Phase::Printing { at } | Phase::Paused { at } => Some(at),
        _ => None,
    };
    let began = since.is_some();
    // A look from before the print was seen, delivered late, says nothing about its end.
    let fresh = since.is_none_or(|at| status.updated_at >= at);
    if status.connection != Connection::Connected {
        // A host that lost its firmware to an error says that whatever it printed is over.
        let lost = status.connection == Connection::FirmwareDisconnected && status.state == Activity::Error;
        let over = lost && began && fresh;
        return if over { Shown::Ended(PrintEnd::Failed, status.message.clone()) } else { Shown::Nothing };
    }
    let ours = status.file.as_deref().is_some_and(|file| in_hand.is_ours(file));
    // Telemetry that names no file does not contradict what we saw.
    let unnamed = status.file.is_none() && began;
    match (status.state, status.ended) {
        (Activity::Printing, _) if ours => Shown::Printing,
        (Activity::Paused, _) if ours => Shown::Paused,
        // Only a failure has words of its own: of other ends the printer says no more than that it is ready.
        (_, Some(end)) if ours => Shown::Ended(end, status.message.clone().filter(|_| end == PrintEnd::Failed)),
        _ if !fresh => Shown::Nothing,
        (Activity::Printing, _) if unnamed => Shown::Printing,
        (Activity::Paused, _) if unnamed => Shown::Paused,
        (Activity::Error, _) if began => Shown::Ended(PrintEnd::Failed, status.message.clone()),
        (Activity::Idle, _) if began && ours && status.progress >= 100.0 => Shown::Ended(PrintEnd::Finished, None),
        (Activity::Idle, _) if began && ours => {
            Shown::Ended(PrintEnd::Failed, Some("the print stopped before its end".to_owned()))
        }
        _ if began => Shown::Ended(PrintEnd::Failed, Some(UNKNOWN.to_owned())),
        _ => Shown::Nothing,
    }
}

impl Printer {
    /// Whether the monitor should tell this status ([`super::PrinterCommand::Seen`]): only when it changes something.
    pub fn matters(&self, status: &Status) -> bool {
        self.after(status, status.updated_at).is_some()
    }

    /// The printer after a look at it; `None` when nothing that is kept changes.
    pub(super) fn after(&self, status: &Status, now: Timestamp) -> Option<Self> {
        let silent =
            matches!(status.connection, Connection::Unreachable | Connection::Connecting | Connection::Disconnected);
        if self.disconnected || self.archived || silent {
            return None; // Silence is told as such, when it has lasted.
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
            && self.stopped_at.is_none_or(|at| status.updated_at > at)
        {
            next.needs_home = false;
        }
        next.evidence(status, now);
        next.manual_seen(status);
        // A print that is no job of ours leaves its part on the bed all the same.
        let at_rest = status.connection == Connection::Connected && !active;
        if self.foreign_print() && at_rest {
            next.bed_not_cleared |= !next.fields.auto_clear;
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
        if ours && !matches!(shown, Shown::Nothing) {
            let told = (status.progress / 100.0).clamp(0.0, 1.0);
            let over = matches!(shown, Shown::Ended(..));
            // Each tenth is written, and the last word. A printer that resets its progress at the end takes nothing back.
            if (told * 10.0).floor() > (in_hand.progress * 10.0).floor() || (over && told > in_hand.progress) {
                in_hand.progress = told;
            }
        }
        match shown {
            Shown::Nothing => {}
            Shown::Printing if matches!(in_hand.phase, Phase::Printing { .. }) => {}
            Shown::Printing => in_hand.enter(Phase::Printing { at: began.unwrap_or(now) }),
            Shown::Paused if matches!(in_hand.phase, Phase::Paused { .. }) => {}
            Shown::Paused => in_hand.enter(Phase::Paused { at: began.unwrap_or(now) }),
            Shown::Ended(end, reason) => {
                let filament_mm = status.filament_mm.filter(|_| ours);
                let progress = if end == PrintEnd::Finished { 1.0 } else { in_hand.progress };
                in_hand.enter(Phase::Ended { end, filament_mm, progress, reason });
                self.print_over(end, auto_clear);
            }
        }
    }

    /// After a print of ours: something lies on the bed.
    pub(super) fn print_over(&mut self, end: PrintEnd, auto_clear: bool) {
        self.bed_not_cleared |= !auto_clear;
        self.print_failed |= end == PrintEnd::Failed;
    }
}
