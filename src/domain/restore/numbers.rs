//! Continuation of number series after a restore, beyond every number that the former shop may have assigned since the
//! backup.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Restore, RestoreRow};
use crate::aggregate::NumberSeries;
use crate::id::Id;
use crate::invoice::{DocumentKind, series_of};
use crate::requirement::Requirement;
use crate::time::{DAY_MS, Timestamp};

/// Number of days before a backup over which the growth of a series is measured.
pub const PACE_DAYS: i64 = 30;
/// Safety factor by which a series may have grown faster since the backup than before it.
const PACE_FACTOR: i64 = 3;
/// Minimum number of skipped numbers.
const MIN_MARGIN: i64 = 100;
/// Step size of margins. Margins are whole multiples of it, so that operators recognise them.
const MARGIN_STEP: i64 = 100;
/// Highest number that an operator may set.
const MAX_NUMBER: i64 = 999_999_999;
/// Maximum number of years between a backup and its restore for which invoice series are considered.
const MAX_YEARS: i64 = 5;

/// Usage of a series at the time of the backup.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeriesUse {
    /// Name of the series: `INV-2026`, `ORD`, …
    pub series: String,
    /// Highest number in use, or 0 if the series has no numbers.
    pub last: i64,
    /// Number of numbers assigned in the [`PACE_DAYS`] before the backup.
    pub recent: i64,
}

/// Continuation of a series after a restore.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoredSeries {
    /// Identifier of the row that records the gap.
    pub gap_id: Id,
    /// Name of the series: `INV-2026`, `ORD`, …
    pub series: String,
    /// Highest number in the backup, or 0 if there is none.
    pub restored: i64,
    /// Lowest number that may be assigned from now on.
    pub next: i64,
}

/// Range of skipped numbers in a series, with the reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NumberGap {
    /// Identifier of the gap.
    pub id: Id,
    /// Restore that caused the gap.
    pub restore_id: Id,
    /// Name of the series: `INV-2026`, `ORD`, …
    pub series: String,
    /// First skipped number.
    pub first: i64,
    /// Last skipped number.
    pub last: i64,
    /// Human-readable reason, for operators and auditors.
    pub reason: String,
    /// Time at which the gap was recorded.
    pub noted_at: Timestamp,
}

impl RestoredSeries {
    /// Continues a series with a safety margin beyond its last known number.
    pub(super) fn after(restore: Id, used: &SeriesUse, elapsed_ms: i64) -> Self {
        Self {
            gap_id: Id(Uuid::new_v5(&restore.0, used.series.as_bytes())),
            series: used.series.clone(),
            restored: used.last,
            next: used.last.saturating_add(margin(used.recent, elapsed_ms)).saturating_add(1),
        }
    }

    /// Returns the series with a different next number. The error is the human-readable reason why the number is not
    /// allowed. In-memory counters can only increase; document numbers are derived from the stored documents.
    pub(super) fn moved_to(&self, next: i64) -> Result<Self, String> {
        let lowest = if self.is_counted() { self.next } else { self.restored.saturating_add(1) };
        if next < lowest {
            return Err(if self.is_counted() {
                format!("must be at least {lowest}, because lower numbers may have been issued since the restore")
            } else {
                format!("must be at least {lowest}, because the backup has documents up to {}", self.restored)
            });
        }
        if next > MAX_NUMBER {
            return Err(format!("must be {MAX_NUMBER} or less"));
        }
        Ok(Self { next, ..self.clone() })
    }

    /// Returns the condition that the stored documents must meet to continue the series at a different number, given in
    /// the request field `member`. Returns `None` if the number is unchanged, or if the series is counted in memory and
    /// may have gaps.
    ///
    /// The gap extends from the last number in the backup to the number before the next one. Every number issued since,
    /// or skipped by a different restore, must therefore lie within the gap: a higher number would be preceded by
    /// numbers missing without a reason.
    pub(super) fn requirement(&self, moved: &Self, restore: Id, member: String) -> Option<Requirement> {
        let is_moved = moved.next != self.next && !self.is_counted();
        is_moved.then(|| Requirement::Unissued { series: self.series.clone(), next: moved.next, restore, member })
    }

    /// Returns whether the series gets its numbers from an in-memory counter.
    fn is_counted(&self) -> bool {
        NumberSeries::ALL.iter().any(|series| series.prefix() == self.series)
    }

    /// Returns the row that records the gap of the series.
    pub(super) fn row(&self, restore: &Restore) -> RestoreRow {
        let (first, last) = (self.restored.saturating_add(1), self.next.saturating_sub(1));
        if last < first {
            return RestoreRow::NoGap(self.gap_id);
        }
        let made_at = restore.backup_made_at.to_string();
        let restored_at = restore.restored_at.to_string();
        RestoreRow::Gap(NumberGap {
            id: self.gap_id,
            restore_id: restore.id,
            series: self.series.clone(),
            first,
            last,
            reason: format!(
                "restored on {} from a backup of {}: these numbers may have been issued in between",
                restored_at.get(..10).unwrap_or_default(),
                made_at.get(..10).unwrap_or_default()
            ),
            noted_at: restore.review.as_ref().map_or(restore.restored_at, |review| review.at),
        })
    }
}

/// Returns the number of numbers to skip in a series that grew by `recent` numbers in the [`PACE_DAYS`] before the
/// backup: several times its projected growth since then.
fn margin(recent: i64, elapsed_ms: i64) -> i64 {
    let days = elapsed_ms / DAY_MS + 1;
    let expected = recent.max(0).saturating_mul(days) / PACE_DAYS;
    let least = expected.saturating_mul(PACE_FACTOR).saturating_add(MIN_MARGIN).min(MAX_NUMBER / 2);
    (least + MARGIN_STEP - 1) / MARGIN_STEP * MARGIN_STEP
}

/// Returns every series that may have been used between a backup and now: the counters, and the invoices and credit
/// notes of each year in between, which may have been started since the backup. The growth rate of each type of
/// document is assumed not to depend on the year.
pub(super) fn series_since(used: &[SeriesUse], backup_made_at: Timestamp, now: Timestamp) -> Vec<SeriesUse> {
    let counters = NumberSeries::ALL.iter().map(|series| series.prefix().to_owned());
    let (from, to) = (year(backup_made_at), year(now));
    let years = from.max(to.saturating_sub(MAX_YEARS - 1))..=to.max(from);
    let kinds = [DocumentKind::Invoice, DocumentKind::CreditNote];
    let documents = years.flat_map(|year| kinds.map(|kind| series_of(kind, &format!("{year:04}"))));
    let use_of = |series: String| {
        let kind = |name: &str| name.split('-').next().unwrap_or_default().to_owned();
        let last = used.iter().find(|one| one.series == series).map_or(0, |one| one.last);
        let recent = used.iter().filter(|one| kind(&one.series) == kind(&series)).map(|one| one.recent).sum();
        SeriesUse { series, last, recent }
    };
    counters.chain(documents).map(use_of).collect()
}

/// Returns the year of the given time, in UTC.
fn year(at: Timestamp) -> i64 {
    at.to_string().get(..4).and_then(|text| text.parse().ok()).unwrap_or(1970)
}
