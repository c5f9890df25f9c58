//! A restore of a backup: its time, the numbers skipped because of it, and its review by an operator.
//!
//! Between the backup and its restore, the former shop continued to run: it assigned numbers, published events and
//! started prints unknown to the restored shop. Until an operator has reviewed the restore, nothing is started
//! automatically. Numbers that may have been assigned are skipped, and each gap is recorded with its reason; an
//! operator may change the next number of each series.

pub mod numbers;

use std::convert::Infallible;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use self::numbers::{NumberGap, RestoredSeries, SeriesUse, series_since};
use crate::aggregate::{Aggregate, Command, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::event::Event;
use crate::event::data::restore::ShopRestoredData;
use crate::id::Id;
use crate::principal::Principal;
use crate::refusal::{Faults, Refusal};
use crate::requirement::Requirement;
use crate::time::Timestamp;

/// Number of event numbers to skip: more than a shop can have published between a backup and its restore, so that a
/// cursor of the former shop is never mistaken for one of the restored shop.
const EVENT_MARGIN: i64 = 1_000_000_000;

/// Restore of a backup.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Restore {
    /// Identifier of the restore, derived from the backup.
    pub id: Id,
    /// Time of the backup, which contains nothing newer.
    pub backup_made_at: Timestamp,
    /// Time of the restore.
    pub restored_at: Timestamp,
    /// Number of the latest event in the backup.
    pub last_event: i64,
    /// Number of the event that reports the restore. Events of the former shop may have used the numbers between
    /// `last_event` and this one.
    pub first_event: i64,
    /// Next number of each series.
    pub series: Vec<RestoredSeries>,
    /// Review by an operator, if any; until then, nothing is started automatically.
    #[serde(default)]
    pub review: Option<RestoreReview>,
}

/// An operator's confirmation that the shop may resume.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoreReview {
    /// Time of the review.
    pub at: Timestamp,
    /// Principal who reviewed the restore, as text.
    pub by: String,
    /// The reviewer's note.
    pub note: Option<String>,
}

/// Facts about a restore, collected when it is performed.
#[derive(Clone, Debug)]
pub struct RestoreFacts {
    /// SHA-256 of the backup's manifest, in hexadecimal.
    pub backup: String,
    /// Time of the backup.
    pub backup_made_at: Timestamp,
    /// Current time.
    pub now: Timestamp,
    /// Number of the latest event in the backup.
    pub last_event: i64,
    /// Usage of every number series in the backup.
    pub used: Vec<SeriesUse>,
}

/// Change to the rows that record the gaps of a restore.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RestoreRow {
    /// Gap of skipped numbers to insert.
    Gap(NumberGap),
    /// Gap to delete, because its series no longer skips numbers.
    NoGap(Id),
}

/// Command that an operator issues for a restore.
#[derive(Clone, Debug)]
pub enum RestoreCommand {
    /// Confirms that an operator has reviewed the shop, which then resumes.
    Review {
        /// Next numbers to set for some series; all other series are left unchanged.
        next: Vec<(String, i64)>,
        /// Internal note for staff.
        note: Option<String>,
    },
}

impl Restore {
    /// Returns the identifier for restoring the backup with the given manifest. Restoring the same backup again yields
    /// the same identifier.
    pub fn id_of(backup: &str) -> Id {
        Id(Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("restore:{backup}").as_bytes()))
    }

    /// Creates a restore at the current time, with the rows for its gaps and the event that reports it, whose number is
    /// [`Restore::first_event`].
    pub fn begin(facts: &RestoreFacts) -> (Self, Vec<RestoreRow>, Event) {
        let id = Self::id_of(&facts.backup);
        let elapsed_ms = facts.now.since(facts.backup_made_at).max(0);
        let series = series_since(&facts.used, facts.backup_made_at, facts.now).into_iter();
        let series = series.map(|used| RestoredSeries::after(id, &used, elapsed_ms)).collect();
        let this = Self {
            id,
            backup_made_at: facts.backup_made_at,
            restored_at: facts.now,
            last_event: facts.last_event,
            first_event: facts.last_event.saturating_add(EVENT_MARGIN),
            series,
            review: None,
        };
        let rows = this.series.iter().map(|series| series.row(&this)).collect();
        // The same backup may be restored again and again, and each time it is another event.
        let event_id = Id(Uuid::new_v5(&id.0, facts.now.to_string().as_bytes()));
        let event = Event {
            id: event_id,
            event: ShopRestoredData::RESTORED.to_owned(),
            timestamp: facts.now,
            subject_kind: Self::KIND.to_owned(),
            subject_id: id,
            order_id: None,
            actor: Principal::Machine.to_string(),
            data: serde_json::to_value(ShopRestoredData::from(&this)).unwrap_or_default(),
        };
        (this, rows, event)
    }

    /// Returns the reviewed restore, with the requirements for the numbers set by the review.
    fn review(
        &self,
        cx: &DecisionContext<'_>,
        next: &[(String, i64)],
        note: Option<&str>,
    ) -> Result<(Self, Vec<Requirement>), Refusal> {
        if self.review.is_some() {
            return Err(Refusal::conflict("already_reviewed", "this restore has already been reviewed"));
        }
        let (mut reviewed, mut faults, mut requirements) = (self.clone(), Faults::default(), Vec::new());
        for (name, number) in next {
            let path = format!("next.{name}");
            match reviewed.series.iter_mut().find(|series| series.series == *name) {
                None => faults.note(&path, "is not a number series of this restore"),
                Some(series) => match series.moved_to(*number) {
                    Ok(moved) => {
                        requirements.extend(series.requirement(&moved, self.id, path));
                        *series = moved;
                    }
                    Err(words) => faults.note(&path, words),
                },
            }
        }
        faults.refuse()?;
        reviewed.review = Some(RestoreReview { at: cx.now, by: cx.by.to_string(), note: note.map(str::to_owned) });
        Ok((reviewed, requirements))
    }
}

impl Aggregate for Restore {
    const KIND: &'static str = "restore";
    type Row = RestoreRow;
    type Created = Infallible;
    type Effect = Infallible;

    fn at_rest(&self) -> bool {
        self.review.is_some()
    }
}

impl Command<Restore> for RestoreCommand {
    /// State of the restore after the command.
    type Answer = Box<Restore>;

    fn decide(&self, this: Option<&Restore>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Restore, Self::Answer> {
        let this = this.ok_or_else(|| Refusal::not_found(Restore::KIND))?;
        let RestoreCommand::Review { next, note } = self;
        let (reviewed, requirements) = this.review(cx, next, note.as_deref())?;
        let rows: Vec<_> = reviewed.series.iter().map(|series| series.row(&reviewed)).collect();
        let data = ShopRestoredData::from(&reviewed);
        let event = Event::new(cx, ShopRestoredData::REVIEWED, (Restore::KIND, this.id), None, &data);
        let decision = Decision::to(reviewed.clone(), Box::new(reviewed)).requires(requirements);
        Ok(decision.rows(rows).events([event]))
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            RestoreCommand::Review { .. } => AuditedAct::RestoreReview,
        }
    }
}

impl From<&Restore> for ShopRestoredData {
    fn from(restore: &Restore) -> Self {
        let &Restore { id, backup_made_at, restored_at, last_event, first_event, .. } = restore;
        Self { restore_id: id, backup_made_at, restored_at, last_event, first_event }
    }
}

#[cfg(test)]
mod tests;
