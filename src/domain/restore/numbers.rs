//! Where series of numbers go on after a restore: behind all that the former shop may have given out since the
//! backup.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Restore, RestoreRow};
use crate::domain::aggregate::NumberSeries;
use crate::domain::id::Id;
use crate::domain::invoice::{DocumentKind, series_of};
use crate::domain::requirement::Requirement;
use crate::domain::time::{DAY_MS, Timestamp};

/// The days before a backup whose numbers tell how fast a series grows.
pub const PACE_DAYS: i64 = 30;
/// How many times as fast as before the backup a series may have grown since.
const PACE_FACTOR: i64 = 3;
/// Fewest numbers that are left out.
const MIN_MARGIN: i64 = 100;
/// Margins are whole multiples of this, so that people see what they are.
const MARGIN_STEP: i64 = 100;
/// The highest number that a person may set.
const MAX_NUMBER: i64 = 999_999_999;
/// Most years between a backup and its restore whose series of invoices are looked after.
const MAX_YEARS: i64 = 5;

/// How far a series was used when the backup was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeriesUse {
    /// `INV-2026`, `ORD`, …
    pub series: String,
    /// The highest number; 0 for a series without any.
    pub last: i64,
    /// How many numbers were given out in the [`PACE_DAYS`] before the backup.
    pub recent: i64,
}

/// Where a series goes on after a restore.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoredSeries {
    /// Identifier of the gap's row.
    pub gap_id: Id,
    /// `INV-2026`, `ORD`, …
    pub series: String,
    /// The highest number of the backup; 0 where it has none.
    pub restored: i64,
    /// The lowest number that is given out from now on.
    pub next: i64,
}

/// Numbers of a series that are left out, and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NumberGap {
    /// Identifier of the gap.
    pub id: Id,
    /// The restore that it is for.
    pub restore_id: Id,
    /// `INV-2026`, `ORD`, …
    pub series: String,
    /// The first number that is left out.
    pub first: i64,
    /// The last number that is left out.
    pub last: i64,
    /// Why, in words for people and auditors.
    pub reason: String,
    /// When it was noted.
    pub noted_at: Timestamp,
}

impl RestoredSeries {
    /// A series that goes on a margin behind what it was used up to.
    pub(super) fn after(restore: Id, used: &SeriesUse, elapsed_ms: i64) -> Self {
        Self {
            gap_id: Id(Uuid::new_v5(&restore.0, used.series.as_bytes())),
            series: used.series.clone(),
            restored: used.last,
            next: used.last.saturating_add(margin(used.recent, elapsed_ms)).saturating_add(1),
        }
    }

    /// The series with another next number; why that cannot be, in words for people. Counters in memory only go up;
    /// the numbers of documents are counted from what is stored.
    pub(super) fn moved_to(&self, next: i64) -> Result<Self, String> {
        let lowest = if self.is_counted() { self.next } else { self.restored.saturating_add(1) };
        if next < lowest {
            return Err(if self.is_counted() {
                format!("must be {lowest} or more, since lower numbers may have been given out since the restore")
            } else {
                format!("must be {lowest} or more, since the backup has documents up to {}", self.restored)
            });
        }
        if next > MAX_NUMBER {
            return Err(format!("must be {MAX_NUMBER} or less"));
        }
        Ok(Self { next, ..self.clone() })
    }

    /// Returns what must hold of the stored documents when the series goes on at another number, which `member` of the
    /// request names; `None` where it stays, or counts in memory, where numbers may be left out.
    ///
    /// The gap reaches from the last number of the backup to the one before the next. So every number that was issued
    /// since, or that another restore leaves out, must be within it: a higher one would have numbers before it that
    /// are missing without a reason.
    pub(super) fn requirement(&self, moved: &Self, restore: Id, member: String) -> Option<Requirement> {
        let is_moved = moved.next != self.next && !self.is_counted();
        is_moved.then(|| Requirement::Unissued { series: self.series.clone(), next: moved.next, restore, member })
    }

    /// Whether its numbers come from a counter in memory.
    fn is_counted(&self) -> bool {
        NumberSeries::ALL.iter().any(|series| series.prefix() == self.series)
    }

    /// The row of its gap.
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
                "restored on {} from a backup of {}: these numbers may have been given out in between",
                restored_at.get(..10).unwrap_or_default(),
                made_at.get(..10).unwrap_or_default()
            ),
            noted_at: restore.review.as_ref().map_or(restore.restored_at, |review| review.at),
        })
    }
}

/// How many numbers are left out of a series that grew by `recent` numbers in the [`PACE_DAYS`] before the backup:
/// what it may have grown by since, several times over.
fn margin(recent: i64, elapsed_ms: i64) -> i64 {
    let days = elapsed_ms / DAY_MS + 1;
    let expected = recent.max(0).saturating_mul(days) / PACE_DAYS;
    let least = expected.saturating_mul(PACE_FACTOR).saturating_add(MIN_MARGIN).min(MAX_NUMBER / 2);
    (least + MARGIN_STEP - 1) / MARGIN_STEP * MARGIN_STEP
}

/// Every series that may have been used between a backup and now: the counters, and the invoices and credit notes of
/// each year in between, which may have begun since. How fast a kind of document grows does not depend on the year.
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

/// The year of a moment, in UTC.
fn year(at: Timestamp) -> i64 {
    at.to_string().get(..4).and_then(|text| text.parse().ok()).unwrap_or(1970)
}
