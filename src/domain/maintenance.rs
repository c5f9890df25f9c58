//! Printer maintenance: lifetime counters, reminders that fall due after a set amount of work, and the log of completed
//! work.
//!
//! A printer's [`Odometer`] counts the prints of jobs that ended on that printer, each once, in the commit that ends
//! the print. A [`Reminder`] becomes due when the work done since the last maintenance reaches one of its intervals,
//! and stays due until a [`MaintenanceEntry`] in the log resets it. Prints that are not jobs are not counted, because
//! their consumption is unknown.
//!
//! An operator's remark about a printer that is out of service is a note on the printer rather than maintenance.

mod suggestions;
#[cfg(test)]
mod tests;

pub use suggestions::suggestions;

use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::bounds::MAX_PRINT_SECONDS;
use crate::id::Id;
use crate::launch::{ChosenSlot, used_share};
use crate::notation;
use crate::printer_status::PrintEnd;
use crate::refusal::Refusal;
use crate::time::{HOUR_MS, Timestamp};
use words::Language;
use words::staff::alerts as texts;

/// Maximum number of reminders per printer.
pub const MAX_REMINDERS: usize = 50;
/// Longest interval, as a number of prints or failures.
pub const MAX_INTERVAL_COUNT: i64 = 1_000_000_000;

/// Work counters of a printer, over its lifetime or since a given moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Odometer {
    /// Total printing time, in milliseconds, including pauses.
    #[serde(default)]
    pub printing_ms: i64,
    /// Number of job prints that started and have ended, regardless of outcome.
    #[serde(default)]
    pub prints: i64,
    /// Total material consumption: grams of filament, millilitres of resin, sheets.
    #[serde(default)]
    pub grams: Amount,
    /// Number of failed prints, including starts ended by an emergency stop.
    #[serde(default)]
    pub failures: i64,
}

impl Odometer {
    /// All counters at zero.
    pub const ZERO: Self = Self { printing_ms: 0, prints: 0, grams: Amount::ZERO, failures: 0 };

    /// Returns whether all counters are zero.
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    /// Returns the printing time in hours, rounded to a thousandth.
    pub fn hours(&self) -> Amount {
        Amount((i128::from(self.printing_ms) * 1000 / i128::from(HOUR_MS)) as i64)
    }
}

impl Add for Odometer {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            printing_ms: self.printing_ms.saturating_add(other.printing_ms),
            prints: self.prints.saturating_add(other.prints),
            grams: self.grams + other.grams,
            failures: self.failures.saturating_add(other.failures),
        }
    }
}

impl Sub for Odometer {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            printing_ms: self.printing_ms.saturating_sub(other.printing_ms),
            prints: self.prints.saturating_sub(other.prints),
            grams: self.grams - other.grams,
            failures: self.failures.saturating_sub(other.failures),
        }
    }
}

/// Finished print of a job, with the printer's data about it.
#[derive(Clone, Debug)]
pub struct EndedPrint<'a> {
    /// Outcome of the print.
    pub end: PrintEnd,
    /// Time at which the print was first observed printing; `None` unless its end was observed as well.
    pub began_at: Option<Timestamp>,
    /// Time at which the end of the print was recorded.
    pub ended_at: Timestamp,
    /// Final progress, from 0 to 1.
    pub progress: f64,
    /// Print time in seconds, as stated in the file.
    pub estimated_seconds: Option<i64>,
    /// Filament length used, as reported by the printer, and the length stated in the file, both in millimetres.
    pub filament_mm: (Option<f64>, Option<f64>),
    /// Planned consumption from each slot.
    pub slots: &'a [ChosenSlot],
}

impl EndedPrint<'_> {
    /// Returns the print's contribution to its printer's odometer. If its duration was not observed, the stated print
    /// time multiplied by the printed fraction is used.
    pub fn wear(&self) -> Odometer {
        let observed = self.began_at.map(|began| self.ended_at.since(began));
        let stated = || {
            let share = if self.end == PrintEnd::Finished { 1.0 } else { self.progress.clamp(0.0, 1.0) };
            (self.estimated_seconds.unwrap_or(0) as f64 * 1000.0 * share).round() as i64
        };
        // A clock that was set may make any span of it.
        let printing_ms = observed.unwrap_or_else(stated).clamp(0, MAX_PRINT_SECONDS * 1000);
        let (used_mm, stated_mm) = self.filament_mm;
        let share = used_share(self.end, used_mm, stated_mm, self.progress);
        let grams = self.slots.iter().map(|slot| slot.needed.need.scaled(share)).sum();
        Odometer { printing_ms, prints: 1, grams, failures: i64::from(self.end == PrintEnd::Failed) }
    }
}

/// Operator-defined fields of a reminder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReminderFields {
    /// Work to do, as one line of text.
    pub name: String,
    /// Instructions for the operator.
    pub note: Option<String>,
    /// Printing hours between services; `None` if the task is not scheduled by hours.
    pub every_hours: Option<Amount>,
    /// Number of prints between services; `None` if the task is not scheduled by print count.
    pub every_prints: Option<i64>,
    /// Material consumption between services, in grams (millilitres, sheets); `None` if the task is not scheduled by
    /// consumption.
    pub every_grams: Option<Amount>,
    /// Number of failed prints between services; `None` if the task is not scheduled by failures.
    pub every_failures: Option<i64>,
    /// `true` if the printer accepts no jobs while the reminder is due.
    pub blocking: bool,
}

impl ReminderFields {
    /// Rejects a reminder that would never be due.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let Self { every_hours, every_prints, every_grams, every_failures, .. } = self;
        if every_hours.is_none() && every_prints.is_none() && every_grams.is_none() && every_failures.is_none() {
            let words = "at least one of everyHours, everyPrints, everyGrams and everyFailures is required";
            return Err(Refusal::field("everyHours", words));
        }
        Ok(())
    }

    /// Describes the intervals that the given amount of work has reached; empty if it has reached none.
    fn reached(&self, language: Language, work: &Odometer) -> Vec<String> {
        let amount = |done: Amount, every: Option<Amount>, text: fn(Language, &str, &str) -> String| {
            let every = every.filter(|every| done >= *every)?;
            Some(text(language, &notation::decimal(language, done), &notation::decimal(language, every)))
        };
        let count = |done: i64, every: Option<i64>, text: fn(Language, &str, &str) -> String| {
            let every = every.filter(|every| done >= *every)?;
            Some(text(language, &done.to_string(), &every.to_string()))
        };
        [
            amount(work.hours(), self.every_hours, texts::hours_reached),
            count(work.prints, self.every_prints, texts::prints_reached),
            amount(work.grams, self.every_grams, texts::grams_reached),
            count(work.failures, self.every_failures, texts::failures_reached),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Recurring maintenance of a printer, due after a set amount of work.
///
/// Invariant: it is due from the commit in which its first interval is reached, until a log entry resets it or its
/// intervals are changed so that none has been reached.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reminder {
    /// Identifier of the reminder.
    pub id: Id,
    /// Printer to maintain.
    pub printer_id: Id,
    /// Operator-defined fields.
    #[serde(flatten)]
    pub fields: ReminderFields,
    /// The printer's odometer when the work was last done, or when the reminder was created.
    pub since: Odometer,
    /// Time at which the work was last done; `None` if it has not been done since the reminder was created.
    pub done_at: Option<Timestamp>,
    /// Time since which the reminder has been due; `None` if it is not due.
    pub due_at: Option<Timestamp>,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time at which a user last changed the reminder or did the work.
    pub updated_at: Timestamp,
}

impl Reminder {
    /// Returns the printer's work since the last maintenance.
    pub fn work(&self, odometer: &Odometer) -> Odometer {
        *odometer - self.since
    }

    /// Describes the interval that has been reached, if any, in English.
    pub fn reason(&self, odometer: &Odometer) -> Option<String> {
        self.reason_in(Language::English, odometer)
    }

    /// Describes the interval that has been reached, if any.
    pub fn reason_in(&self, language: Language, odometer: &Odometer) -> Option<String> {
        let reached = self.fields.reached(language, &self.work(odometer));
        (!reached.is_empty()).then(|| reached.join(", "))
    }

    /// Updates whether the reminder is due. Returns `true` if it has just become due, which must be reported once.
    pub(super) fn note_due(&mut self, odometer: &Odometer, now: Timestamp) -> bool {
        let newly = self.due_at.is_none() && self.reason(odometer).is_some();
        if newly {
            self.due_at = Some(now);
        }
        newly
    }

    /// Records that the work was done, which restarts all intervals.
    pub(super) fn reset(&mut self, odometer: &Odometer, now: Timestamp) {
        (self.since, self.done_at, self.due_at, self.updated_at) = (*odometer, Some(now), None, now);
    }

    /// Changes the name, note or intervals, and re-evaluates which intervals have been reached.
    pub(super) fn change(&mut self, fields: &ReminderFields, odometer: &Odometer, now: Timestamp) {
        if self.fields == *fields {
            return;
        }
        self.fields.clone_from(fields);
        self.updated_at = now;
        if self.reason(odometer).is_none() {
            self.due_at = None;
        }
    }
}

/// Operator-entered fields of completed maintenance.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntryFields {
    /// Work done, as one line of text.
    pub done: String,
    /// Additional remarks.
    pub note: Option<String>,
    /// Replaced or consumed parts, as free text.
    pub parts: Vec<String>,
    /// Cost in the smallest unit of the shop's currency, if known.
    pub cost_cents: Option<i64>,
}

/// Maintenance log entry of a printer. Entries are immutable.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MaintenanceEntry {
    /// Identifier of the entry.
    pub id: Id,
    /// Maintained printer.
    pub printer_id: Id,
    /// Operator-entered fields.
    #[serde(flatten)]
    pub fields: EntryFields,
    /// Time at which the work was done.
    pub done_at: Timestamp,
    /// Reminders that the entry reset: their IDs, and their names at the time when the entry was created.
    pub resets: Vec<(Id, String)>,
    /// The printer's odometer when the entry was created.
    pub odometer: Odometer,
    /// Principal who created the entry, as text.
    pub by: String,
    /// Creation time.
    pub created_at: Timestamp,
}
