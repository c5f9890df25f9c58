//! What a printer's state means: for the dispatcher, for people, and for the order of the attempt in hand.

use super::{Attention, InHand, Phase, Printer};
use crate::domain::id::Id;
use crate::domain::order::Report;
use crate::domain::printer_status::{Activity, Connection};
use crate::domain::sku::{Dimensions, MachineType};

/// Attempts that are remembered as over.
const REMEMBERED: usize = 32;

/// What the order hears of an attempt in hand.
pub fn report_of(in_hand: &InHand) -> Report {
    match &in_hand.phase {
        Phase::Taken => Report::Uploading,
        Phase::StartSent { .. } => Report::StartSent,
        Phase::Unverified { reason } => Report::Unverified(reason.clone()),
        Phase::Printing { .. } => Report::Printing,
        Phase::Paused { .. } => Report::Paused,
        Phase::Ended { end, filament_mm, progress, reason } => {
            Report::Ended { end: *end, filament_mm: *filament_mm, progress: *progress, reason: reason.clone() }
        }
        Phase::Stopped { reason } => Report::Stopped { reason: reason.clone() },
        Phase::NotStarted { start_sent: false, counts: false, .. } if in_hand.cancel => Report::CancelledBeforeStart,
        Phase::NotStarted { start_sent, counts, reason } => {
            Report::NotStarted { start_sent: *start_sent, counts: *counts, reason: reason.clone() }
        }
    }
}

impl InHand {
    /// The end is known.
    pub fn over(&self) -> bool {
        matches!(self.phase, Phase::Ended { .. } | Phase::NotStarted { .. } | Phase::Stopped { .. })
    }

    /// Whether a path that the printer names is our file: the name it told at the upload, or our own, which is unique to
    /// the attempt, in whatever folder.
    pub fn is_ours(&self, path: &str) -> bool {
        let path = path.trim_start_matches('/');
        let name = path.rsplit('/').next().unwrap_or(path);
        self.remote_name.as_deref().is_some_and(|remote| remote.trim_start_matches('/') == path)
            || name == self.file_name
    }

    /// Goes into another phase, which the order will hear of.
    pub(super) fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.step += 1;
    }
}

impl Printer {
    /// A print that is not ours is on.
    pub fn foreign_print(&self) -> bool {
        self.shows.as_deref().is_some_and(|file| !self.in_hand.as_ref().is_some_and(|in_hand| in_hand.is_ours(file)))
            || (matches!(self.activity, Activity::Printing | Activity::Paused)
                && self.shows.is_none()
                && self.in_hand.is_none())
    }

    /// What keeps it from the next job, beyond its own state (decisions §6).
    pub fn attention(&self) -> Vec<Attention> {
        let away = !self.disconnected
            && (self.outage || matches!(self.connection, Connection::Unreachable | Connection::FirmwareDisconnected));
        let unverified = self.in_hand.as_ref().is_some_and(|in_hand| matches!(in_hand.phase, Phase::Unverified { .. }));
        [
            (self.bed_not_cleared, Attention::BedNotCleared),
            (self.needs_home, Attention::NeedsHome),
            (self.maintenance.is_some(), Attention::Maintenance),
            (self.print_failed, Attention::PrintFailed),
            (away && self.connection != Connection::WrongKey, Attention::Unreachable),
            (self.connection == Connection::WrongKey, Attention::WrongKey),
            (unverified, Attention::Unverified),
            (self.foreign_print(), Attention::ForeignPrint),
        ]
        .into_iter()
        .filter_map(|(is, attention)| is.then_some(attention))
        .collect()
    }

    /// Whether it can take a job now; else why not, in two or three plain words.
    pub fn free(&self) -> Result<(), String> {
        if self.manual.is_some() {
            return Err("starting a manual print".to_owned());
        }
        match &self.in_hand {
            Some(in_hand) if matches!(in_hand.phase, Phase::Unverified { .. }) => Err("unverified".to_owned()),
            Some(in_hand) if matches!(in_hand.phase, Phase::Paused { .. }) => Err("paused".to_owned()),
            Some(in_hand) if matches!(in_hand.phase, Phase::Taken | Phase::StartSent { .. }) => {
                Err("starting".to_owned())
            }
            Some(in_hand) if matches!(in_hand.phase, Phase::Printing { .. }) => Err("printing".to_owned()),
            _ => self.could_start().and_then(|()| match self.in_hand {
                Some(_) => Err("finishing".to_owned()),
                None => Ok(()),
            }),
        }
    }

    /// Whether a start may go out now, whatever is in hand; else why not.
    pub(super) fn could_start(&self) -> Result<(), String> {
        let no = |words: &str| Err(words.to_owned());
        if self.archived {
            return no("deleted");
        }
        if self.disconnected {
            return no("disconnected");
        }
        match self.connection {
            Connection::Connected => {}
            Connection::WrongKey => return no("refusing our key"),
            Connection::Connecting => return no("connecting"),
            _ => return no("offline"),
        }
        if self.maintenance.is_some() {
            return no("in maintenance");
        }
        match self.activity {
            Activity::Printing if self.foreign_print() => return no("printing something else"),
            Activity::Printing => return no("printing"),
            Activity::Paused => return no("paused"),
            Activity::Error => return no("in error"),
            Activity::Offline => return no("offline"),
            Activity::Idle => {}
        }
        if self.needs_home {
            return no("not homed");
        }
        if self.bed_not_cleared {
            return no("bed not cleared");
        }
        Ok(())
    }

    /// Whether it could make such a job at all, whatever it does now (decisions §4, dispatch); else why not.
    pub fn fits(&self, machine: MachineType, size: Option<&Dimensions>, material: Id) -> Result<(), String> {
        if self.fields.machine_type != machine {
            return Err(format!("it is of type {}, not {}", self.fields.machine_type.word(), machine.word()));
        }
        if let (Some(size), Some(volume)) = (size, &self.fields.build_volume)
            && !size.fits_in(volume)
        {
            return Err("the part does not fit its build volume".to_owned());
        }
        if self.fields.loaded_material_id.is_some_and(|loaded| loaded != material) {
            return Err("another material is loaded".to_owned());
        }
        Ok(())
    }

    /// Lays the attempt down: it is never taken again.
    pub(super) fn forget(&mut self, attempt: Id) {
        if !self.past.contains(&attempt) {
            self.past.push(attempt);
            let many = self.past.len().saturating_sub(REMEMBERED);
            self.past.drain(..many);
        }
    }
}
