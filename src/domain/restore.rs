//! A restore of a backup: what was put back, which numbers are left out since, and who has looked at it.
//!
//! Between the backup and its restore the former shop went on: it gave out numbers, told events and started prints
//! that nobody here knows of. Until a person has reviewed the restore, nothing is started by itself. Numbers that may
//! have been given out are left out, as gaps with their reason; a person may move the next number of each series.

pub mod numbers;

use std::convert::Infallible;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use self::numbers::{NumberGap, RestoredSeries, SeriesUse, series_since};
use crate::domain::aggregate::{Aggregate, Decision, DecisionContext};
use crate::domain::event::Event;
use crate::domain::event::data::restore::ShopRestoredData;
use crate::domain::id::Id;
use crate::domain::principal::Principal;
use crate::domain::refusal::{Faults, Refusal};
use crate::domain::requirement::Requirement;
use crate::domain::time::Timestamp;

/// Numbers of events that are left out: more than a shop can have told between a backup and its restore. So a cursor
/// of the former shop is never taken for one of this shop.
const EVENT_MARGIN: i64 = 1_000_000_000;

/// A restore of a backup.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Restore {
    /// Identifier of the restore; follows from the backup.
    pub id: Id,
    /// When the backup was made: what is newer is not in it.
    pub backup_made_at: Timestamp,
    /// When it was put back.
    pub restored_at: Timestamp,
    /// Number of the newest event of the backup.
    pub last_event: i64,
    /// Number of the event that tells of the restore. Events of the former shop may have had the numbers in between.
    pub first_event: i64,
    /// Where each series of numbers goes on.
    pub series: Vec<RestoredSeries>,
    /// Who has looked at it; `None`: nobody yet, and nothing is started by itself.
    #[serde(default)]
    pub review: Option<RestoreReview>,
}

/// A person's word that the shop may go on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoreReview {
    /// When it was given.
    pub at: Timestamp,
    /// The principal who gave it, as text.
    pub by: String,
    /// What they noted.
    pub note: Option<String>,
}

/// The facts of a restore, as they are found when it is done.
#[derive(Clone, Debug)]
pub struct RestoreFacts {
    /// SHA-256 of the backup's manifest, in hex.
    pub backup: String,
    /// When the backup was made.
    pub backup_made_at: Timestamp,
    /// The present time.
    pub now: Timestamp,
    /// Number of the newest event of the backup.
    pub last_event: i64,
    /// Every series of numbers of the backup.
    pub used: Vec<SeriesUse>,
}

/// A change of what is noted with a restore.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RestoreRow {
    /// Numbers are left out.
    Gap(NumberGap),
    /// No number of this series is left out any more.
    NoGap(Id),
}

/// What can be asked of a restore.
#[derive(Clone, Debug)]
pub enum RestoreCommand {
    /// A person has looked at the shop: it goes on.
    Review {
        /// The next number of some series; the others stay as they are.
        next: Vec<(String, i64)>,
        /// A note for the staff.
        note: Option<String>,
    },
}

impl Restore {
    /// Identifier of the restore of the backup with this manifest. Restoring the same backup once more gives the same
    /// one.
    pub fn id_of(backup: &str) -> Id {
        Id(Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("restore:{backup}").as_bytes()))
    }

    /// A restore of now, the rows of its gaps and the event that tells of it, whose number is
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

    /// Returns the restore with its review, and what the numbers that it sets rely on.
    fn review(
        &self,
        cx: &DecisionContext<'_>,
        next: &[(String, i64)],
        note: Option<&str>,
    ) -> Result<(Self, Vec<Requirement>), Refusal> {
        if self.review.is_some() {
            return Err(Refusal::conflict("already_reviewed", "this restore was reviewed already"));
        }
        let (mut reviewed, mut faults, mut requirements) = (self.clone(), Faults::default(), Vec::new());
        for (name, number) in next {
            let path = format!("next.{name}");
            match reviewed.series.iter_mut().find(|series| series.series == *name) {
                None => faults.note(&path, "is not a series of numbers of this restore"),
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
    type Command = RestoreCommand;
    /// The restore after the command.
    type Answer = Box<Self>;
    type Row = RestoreRow;
    type Created = Infallible;
    type Effect = Infallible;

    fn decide(
        this: Option<&Self>,
        _: Id,
        cx: &DecisionContext<'_>,
        command: &RestoreCommand,
    ) -> Result<Decision<Self>, Refusal> {
        let this = this.ok_or_else(|| Refusal::not_found(Self::KIND))?;
        let RestoreCommand::Review { next, note } = command;
        let (reviewed, requirements) = this.review(cx, next, note.as_deref())?;
        let rows: Vec<_> = reviewed.series.iter().map(|series| series.row(&reviewed)).collect();
        let data = ShopRestoredData::from(&reviewed);
        let event = Event::new(cx, ShopRestoredData::REVIEWED, (Self::KIND, this.id), None, &data);
        let decision = Decision::to(reviewed.clone(), Box::new(reviewed)).requires(requirements);
        Ok(decision.rows(rows).events([event]))
    }

    fn name(command: &RestoreCommand) -> &'static str {
        match command {
            RestoreCommand::Review { .. } => "restore.review",
        }
    }

    fn effects(&self) -> Vec<Infallible> {
        Vec::new()
    }

    fn at_rest(&self) -> bool {
        self.review.is_some()
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
