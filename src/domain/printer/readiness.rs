//! Readiness of a printer: whether it can accept a job, the conditions that need an operator, and the attempt's report
//! to its order.

use super::{AttemptPhase, Attention, CurrentAttempt, Printer, RefusedStarts, Unready};
use crate::id::Id;
use crate::order::Report;
use crate::printer_status::{Activity, Connection};
use words::Language;
use words::staff::cards;

/// Number of ended attempts that a printer remembers in order to reject them; larger than the number of messages that
/// can be in flight.
const MAX_PAST_ATTEMPTS: usize = 32;

/// Returns the report to the order that corresponds to the attempt's phase.
pub fn report_of(in_hand: &CurrentAttempt) -> Report {
    match &in_hand.phase {
        AttemptPhase::Taken => Report::Uploading,
        AttemptPhase::StartSent { .. } => Report::StartSent,
        AttemptPhase::Unverified { reason } => Report::Unverified(reason.clone()),
        AttemptPhase::Printing { .. } => Report::Printing,
        AttemptPhase::Paused { .. } => Report::Paused,
        AttemptPhase::Ended { end, filament_mm, progress, reason, unseen } => Report::Ended {
            end: *end,
            filament_mm: *filament_mm,
            progress: *progress,
            reason: reason.clone(),
            began_at: in_hand.began(),
            unseen: *unseen,
            booked_on: in_hand.booked_on.clone(),
        },
        AttemptPhase::Stopped { reason } => Report::Stopped { reason: reason.clone() },
        AttemptPhase::NotStarted { start_sent: false, counts: false, .. } if in_hand.cancel => {
            Report::CancelledBeforeStart
        }
        AttemptPhase::NotStarted { start_sent, counts, reason } => Report::NotStarted {
            start_sent: *start_sent,
            counts: *counts,
            pardons: in_hand.pardons,
            reason: reason.clone(),
        },
    }
}

impl CurrentAttempt {
    /// Returns whether the attempt has ended on the printer and is only waiting for the order's acknowledgement.
    pub fn over(&self) -> bool {
        matches!(
            self.phase,
            AttemptPhase::Ended { .. } | AttemptPhase::NotStarted { .. } | AttemptPhase::Stopped { .. }
        )
    }

    /// Returns whether the attempt's start was sent, so that it may be printing.
    pub(super) fn may_print(&self) -> bool {
        !matches!(self.phase, AttemptPhase::Taken) && !self.over()
    }

    /// Returns whether a path reported by the printer refers to this attempt's file: either the name assigned at the
    /// upload, or the server's own unique name in any directory, because printers move and prefix files.
    pub fn is_ours(&self, path: &str) -> bool {
        let path = path.trim_start_matches('/');
        let name = path.rsplit('/').next().unwrap_or(path);
        self.remote_name.as_deref().is_some_and(|remote| remote.trim_start_matches('/') == path)
            || name == self.file_name
    }

    /// Enters a new phase, of which the order will be notified.
    pub(super) fn enter(&mut self, phase: AttemptPhase) {
        self.phase = phase;
        self.step += 1;
    }
}

impl Printer {
    /// Returns whether the printer is printing, or has paused, a file that does not belong to the attempt. Such a print
    /// is displayed but never interfered with.
    pub fn foreign_print(&self) -> bool {
        self.shows.as_deref().is_some_and(|file| !self.in_hand.as_ref().is_some_and(|in_hand| in_hand.is_ours(file)))
            || (matches!(self.activity, Activity::Printing | Activity::Paused)
                && self.shows.is_none()
                && self.in_hand.is_none())
    }

    /// Returns the conditions that need an operator before the next job: `attention` in the API.
    pub fn attention(&self) -> Vec<Attention> {
        let unreachable = !self.disconnected
            && (self.outage || matches!(self.connection, Connection::Unreachable | Connection::FirmwareDisconnected));
        let unverified =
            self.in_hand.as_ref().is_some_and(|in_hand| matches!(in_hand.phase, AttemptPhase::Unverified { .. }));
        [
            (self.bed_not_cleared, Attention::BedNotCleared),
            (self.needs_home, Attention::NeedsHome),
            (self.maintenance.is_some(), Attention::Maintenance),
            (self.is_blocked_by_care(), Attention::MaintenanceDue),
            (self.print_failed, Attention::PrintFailed),
            (self.fault.is_some(), Attention::FirmwareError),
            (self.refusals.as_ref().is_some_and(RefusedStarts::needs_attention), Attention::StartRefused),
            (self.refusals.as_ref().is_some_and(|refusals| refusals.disk_full), Attention::DiskFull),
            (unreachable && self.connection != Connection::WrongKey, Attention::Unreachable),
            (self.connection == Connection::WrongKey, Attention::WrongKey),
            (self.connection == Connection::ReadOnly, Attention::ReadOnly),
            (unverified, Attention::Unverified),
            (self.foreign_print(), Attention::ForeignPrint),
        ]
        .into_iter()
        .filter_map(|(is, attention)| is.then_some(attention))
        .collect()
    }

    /// Returns a human-readable explanation of the current attention conditions, if they need one.
    pub fn attention_words(&self, language: Language) -> Option<String> {
        let fault = self.fault.as_ref().map(|fault| cards::firmware_reason(language, &fault.words));
        let refusals = self.refusals.as_ref().filter(|refusals| refusals.needs_attention() || refusals.disk_full);
        let refusals = refusals.map(|RefusedStarts { disk_full, count, words, .. }| {
            if *disk_full {
                cards::disk_reason(language, words)
            } else {
                cards::refusals_reason(language, *count, words)
            }
        });
        let words: Vec<String> = fault.into_iter().chain(refusals).chain(self.blocked_by_care(language)).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// Checks that the printer can accept a job now. The error is the reason, phrased to follow "the printer is".
    pub fn free(&self) -> Result<(), String> {
        self.check_free().map_err(|why| why.to_string())
    }

    /// Returns whether the printer can accept a job now, without the words that [`Self::free`] writes for each printer
    /// that cannot.
    pub fn is_free(&self) -> bool {
        self.check_free().is_ok()
    }

    /// Checks that the printer can accept a job now. The error is the reason in the given language
    /// ([`Unready::words`]).
    pub fn free_in(&self, language: Language) -> Result<(), String> {
        self.check_free().map_err(|why| why.words(language))
    }

    /// Checks that the printer can accept a job now, regardless of rejected starts.
    pub(super) fn check_free(&self) -> Result<(), Unready> {
        if self.manual.is_some() {
            return Err(Unready::ManualStart);
        }
        match &self.in_hand {
            Some(in_hand) if matches!(in_hand.phase, AttemptPhase::Unverified { .. }) => Err(Unready::Unverified),
            // What it does meanwhile nobody can tell, whatever it was seen doing last.
            Some(_) if self.outage => self.check_start().and(Err(Unready::Finishing)),
            Some(in_hand) if matches!(in_hand.phase, AttemptPhase::Paused { .. }) => Err(Unready::Paused),
            Some(in_hand) if matches!(in_hand.phase, AttemptPhase::Taken | AttemptPhase::StartSent { .. }) => {
                Err(Unready::Starting)
            }
            Some(in_hand) if matches!(in_hand.phase, AttemptPhase::Printing { .. }) => Err(Unready::Printing),
            Some(_) => self.check_start().and(Err(Unready::Finishing)),
            None => self.check_start(),
        }
    }

    /// Returns whether the printer could accept a job once its current print is over and the bed is cleared, without
    /// further work by an operator: it is connected, in service and free of errors.
    pub fn goes_on(&self) -> bool {
        self.check_service().is_ok()
            && !matches!(self.activity, Activity::Error | Activity::Offline)
            && self.fault.is_none()
            && !self.needs_home
    }

    /// Checks that a start may be sent now, regardless of any attempt in hand. The error is the reason, phrased to
    /// follow "the printer is".
    pub fn could_start(&self) -> Result<(), String> {
        self.check_start().map_err(|why| why.to_string())
    }

    /// Checks that the printer is connected, in service and not due for maintenance that blocks it, regardless of what
    /// it is doing.
    fn check_service(&self) -> Result<(), Unready> {
        if self.archived {
            return Err(Unready::Deleted);
        }
        if self.disconnected {
            return Err(Unready::Disconnected);
        }
        match self.connection {
            Connection::Connected => {}
            Connection::WrongKey => return Err(Unready::WrongKey),
            Connection::ReadOnly => return Err(Unready::ReadOnly),
            Connection::Connecting => return Err(Unready::Connecting),
            _ => return Err(Unready::Offline),
        }
        if self.maintenance.is_some() {
            return Err(Unready::Maintenance);
        }
        if let Some((names, more)) = self.blocking_care() {
            return Err(Unready::MaintenanceDue(names, more));
        }
        Ok(())
    }

    /// Checks that a start may be sent now, regardless of any attempt in hand.
    fn check_start(&self) -> Result<(), Unready> {
        self.check_service()?;
        match self.activity {
            Activity::Printing if self.foreign_print() => return Err(Unready::OtherPrint),
            Activity::Printing => return Err(Unready::Printing),
            Activity::Paused => return Err(Unready::Paused),
            Activity::Error => return Err(Unready::Error),
            Activity::Offline => return Err(Unready::Offline),
            Activity::Idle => {}
        }
        if self.fault.is_some() {
            return Err(Unready::Fault);
        }
        if self.needs_home {
            return Err(Unready::NotHomed);
        }
        if self.bed_not_cleared {
            return Err(Unready::BedNotCleared);
        }
        Ok(())
    }

    /// Records that the attempt is over on this printer, so that it is never accepted again.
    pub(super) fn forget(&mut self, attempt: Id) {
        if !self.past.contains(&attempt) {
            self.past.push(attempt);
            let many = self.past.len().saturating_sub(MAX_PAST_ATTEMPTS);
            self.past.drain(..many);
        }
    }
}
