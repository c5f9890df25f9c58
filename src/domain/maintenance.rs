//! Care of printers: what a printer has done since ever, what is to be done to it after so much work, and the log of
//! what was done.
//!
//! A printer's [`Odometer`] counts the prints of jobs that ended there, each once, in the commit that ends it. A
//! [`Reminder`] is due when the printer has done as much as one of its intervals says since the work was last done, and
//! stays due until a [`MaintenanceEntry`] of the log resets it. Prints that are no jobs are not counted, because nobody
//! can tell what they took.
//!
//! Not for what an operator says by hand about a printer out of service: that is a note of the printer.

mod suggestions;
#[cfg(test)]
mod tests;

pub use suggestions::suggestions;

use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

use crate::domain::amount::Amount;
use crate::domain::bounds::MAX_PRINT_SECONDS;
use crate::domain::id::Id;
use crate::domain::launch::{ChosenSlot, used_share};
use crate::domain::printer_status::PrintEnd;
use crate::domain::refusal::Refusal;
use crate::domain::time::{HOUR_MS, Timestamp};

/// Most reminders of one printer.
pub const MAX_REMINDERS: usize = 50;
/// Longest interval as a number of prints or failures.
pub const MAX_INTERVAL_COUNT: i64 = 1_000_000_000;

/// What a printer has done, since ever or since some moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Odometer {
    /// Time that it printed, in milliseconds; pauses are part of it.
    #[serde(default)]
    pub printing_ms: i64,
    /// Prints of jobs that began and are over, however they ended.
    #[serde(default)]
    pub prints: i64,
    /// What they used of all materials together: grams of filament, millilitres of resin, sheets.
    #[serde(default)]
    pub grams: Amount,
    /// Prints that failed, and starts that an emergency stop ended.
    #[serde(default)]
    pub failures: i64,
}

impl Odometer {
    /// Nothing was done.
    pub const ZERO: Self = Self { printing_ms: 0, prints: 0, grams: Amount::ZERO, failures: 0 };

    /// Whether nothing was done.
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    /// The printing time in hours, to the thousandth.
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

/// A print of a job that is over, as far as its printer knows.
#[derive(Clone, Debug)]
pub struct EndedPrint<'a> {
    /// How it ended.
    pub end: PrintEnd,
    /// When it was seen printing first, where its end was seen too.
    pub began_at: Option<Timestamp>,
    /// When its end was recorded.
    pub ended_at: Timestamp,
    /// How far it came, 0 to 1.
    pub progress: f64,
    /// Print time of the file in seconds, as the file states it.
    pub estimated_seconds: Option<i64>,
    /// Filament used, as the printer tells it, and the length that the file states, in millimetres.
    pub filament_mm: (Option<f64>, Option<f64>),
    /// What it was to take from each slot.
    pub slots: &'a [ChosenSlot],
}

impl EndedPrint<'_> {
    /// What it adds to the odometer of its printer. Where nobody saw how long it took, its share of the stated time
    /// counts.
    pub fn wear(&self) -> Odometer {
        let seen = self.began_at.map(|began| self.ended_at.since(began));
        let stated = || {
            let share = if self.end == PrintEnd::Finished { 1.0 } else { self.progress.clamp(0.0, 1.0) };
            (self.estimated_seconds.unwrap_or(0) as f64 * 1000.0 * share).round() as i64
        };
        // A clock that was set may make any span of it.
        let printing_ms = seen.unwrap_or_else(stated).clamp(0, MAX_PRINT_SECONDS * 1000);
        let (used_mm, stated_mm) = self.filament_mm;
        let share = used_share(self.end, used_mm, stated_mm, self.progress);
        let grams = self.slots.iter().map(|slot| slot.needed.need.scaled(share)).sum();
        Odometer { printing_ms, prints: 1, grams, failures: i64::from(self.end == PrintEnd::Failed) }
    }
}

/// What an operator says of a reminder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReminderFields {
    /// What is to be done, one line of text.
    pub name: String,
    /// How it is done, for people.
    pub note: Option<String>,
    /// Due after so many hours of printing; `None` does not count.
    pub every_hours: Option<Amount>,
    /// Due after so many prints; `None` does not count.
    pub every_prints: Option<i64>,
    /// Due after so much material, in grams (millilitres, sheets); `None` does not count.
    pub every_grams: Option<Amount>,
    /// Due after so many failed prints; `None` does not count.
    pub every_failures: Option<i64>,
    /// Whether the printer takes no job while it is due.
    pub blocking: bool,
}

impl ReminderFields {
    /// Refuses a reminder that would never be due.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let Self { every_hours, every_prints, every_grams, every_failures, .. } = self;
        if every_hours.is_none() && every_prints.is_none() && every_grams.is_none() && every_failures.is_none() {
            let words = "at least one of everyHours, everyPrints, everyGrams and everyFailures must be given";
            return Err(Refusal::field("everyHours", words));
        }
        Ok(())
    }

    /// The intervals that this much work has reached, in words for people; empty while none is.
    fn reached(&self, work: &Odometer) -> Vec<String> {
        let amount = |done: Amount, every: Option<Amount>, unit: &str| {
            let every = every.filter(|every| done >= *every)?;
            Some(format!("{done} of {every} {unit}"))
        };
        let count = |done: i64, every: Option<i64>, unit: &str| {
            let every = every.filter(|every| done >= *every)?;
            Some(format!("{done} of {every} {unit}"))
        };
        [
            amount(work.hours(), self.every_hours, "hours of printing"),
            count(work.prints, self.every_prints, "prints"),
            amount(work.grams, self.every_grams, "grams of material"),
            count(work.failures, self.every_failures, "failed prints"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Something that is to be done to a printer again and again, after so much work.
///
/// Invariant: it is due from the commit in which the first of its intervals is reached until an entry of the log resets
/// it, or its intervals are changed so that none is reached.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reminder {
    /// Identifier of the reminder.
    pub id: Id,
    /// The printer that it is about.
    pub printer_id: Id,
    /// What operators say of it.
    #[serde(flatten)]
    pub fields: ReminderFields,
    /// What the printer had done when the work was last done, or when the reminder was made.
    pub since: Odometer,
    /// When the work was last done; `None` if never since the reminder was made.
    pub done_at: Option<Timestamp>,
    /// Since when it is due; `None` while it is not.
    pub due_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When a person last changed it or did the work.
    pub updated_at: Timestamp,
}

impl Reminder {
    /// What the printer has done since the work was last done.
    pub fn work(&self, odometer: &Odometer) -> Odometer {
        *odometer - self.since
    }

    /// Which interval is reached, in words for people; `None` while none is.
    pub fn reason(&self, odometer: &Odometer) -> Option<String> {
        let reached = self.fields.reached(&self.work(odometer));
        (!reached.is_empty()).then(|| reached.join(", "))
    }

    /// Notes whether it is due now. True when it has just become due, of which people are told once.
    pub(super) fn note_due(&mut self, odometer: &Odometer, now: Timestamp) -> bool {
        let newly = self.due_at.is_none() && self.reason(odometer).is_some();
        if newly {
            self.due_at = Some(now);
        }
        newly
    }

    /// The work was done: everything counts from now on.
    pub(super) fn reset(&mut self, odometer: &Odometer, now: Timestamp) {
        (self.since, self.done_at, self.due_at, self.updated_at) = (*odometer, Some(now), None, now);
    }

    /// Other words or intervals. Which of them are reached is judged anew.
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

/// What an operator says of work that was done.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntryFields {
    /// What was done, one line of text.
    pub done: String,
    /// More about it, for people.
    pub note: Option<String>,
    /// The parts that were used, in words for people.
    pub parts: Vec<String>,
    /// What it cost, in the smallest unit of the shop's currency; `None` is unknown.
    pub cost_cents: Option<i64>,
}

/// A line of a printer's maintenance log. Lines are never changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MaintenanceEntry {
    /// Identifier of the entry.
    pub id: Id,
    /// The printer that it is about.
    pub printer_id: Id,
    /// What was done.
    #[serde(flatten)]
    pub fields: EntryFields,
    /// When it was done.
    pub done_at: Timestamp,
    /// The reminders that it reset: their ids, and their names as they were.
    pub resets: Vec<(Id, String)>,
    /// What the printer had done when the entry was made.
    pub odometer: Odometer,
    /// The principal who made the entry, as text.
    pub by: String,
    /// When the entry was made.
    pub created_at: Timestamp,
}

/// What is asked of a printer about its care.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CareCommand {
    /// A further reminder.
    Remind(ReminderFields),
    /// Another name or other intervals of a reminder.
    Change {
        /// The reminder.
        id: Id,
        /// The version of the printer that the caller read; refused with 412 if it has changed since.
        if_version: Option<i64>,
        /// All that is said of it from now on.
        fields: ReminderFields,
    },
    /// A reminder that is no longer wanted. The log is kept.
    Forget(Id),
    /// Work was done.
    Log {
        /// What was done.
        fields: EntryFields,
        /// When; `None` is now.
        done_at: Option<Timestamp>,
        /// The reminders whose work it was.
        resets: Vec<Id>,
    },
}
