//! Queries for the audit log and idempotency keys.
//!
//! A list with its total ([`Queries::audit`]) counts all entries, which are kept for ever. What people look at is read
//! in stretches of bounded length instead ([`Queries::audit_stretch`]).

use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select};

use super::{Page, Queries};
use crate::rows::{Audit, IdempotentAnswer, LoadError, read_audit, read_idempotency};
use domain::id::Id;
use domain::time::Timestamp;
use entities::{audit, idempotency};

/// Filter for audit log entries; absent fields match all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AuditFilter {
    /// Caller, as text (`user:…`, `key:…`, `machine`).
    pub actor: Option<String>,
    /// Name of the command, such as `order.cancel`.
    pub action: Option<String>,
    /// Start of the command's name, such as `job.`.
    pub action_prefix: Option<&'static str>,
    /// Kind of the aggregate, or of the part of one, that the entry is about.
    pub subject_kind: Option<String>,
    /// ID of the subject of the entry.
    pub subject_id: Option<Id>,
    /// Earliest time of the entry, inclusive.
    pub from: Option<Timestamp>,
    /// Latest time of the entry, exclusive.
    pub to: Option<Timestamp>,
}

/// Maximum number of entries that are read for one stretch.
const STRETCH_ENTRIES: u64 = 500;

/// Place of an entry in the log, which is ordered by time and ID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AuditPlace {
    /// Time of the entry.
    pub at: Timestamp,
    /// ID of the entry.
    pub id: Id,
}

/// Stretch of the audit log, newest entry first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AuditStretch {
    /// Entries that match the filter.
    pub entries: Vec<Audit>,
    /// Place before which the log goes on; `None` if this is its end. There may be none that match beyond it.
    pub next: Option<AuditPlace>,
}

impl AuditPlace {
    fn of(entry: &Audit) -> Self {
        Self { at: entry.at, id: entry.id }
    }

    /// Returns the place of a row that may be damaged. If its ID cannot be read, it is the start of its millisecond.
    fn of_row(row: &audit::Model) -> Self {
        Self { at: Timestamp(row.at), id: row.id.parse().unwrap_or(Id::ONLY) }
    }
}

impl AuditFilter {
    /// Selects the entries by the one criterion that narrows them most and has an index with the time, and by time.
    /// Also returns whether these are all criteria, so that every selected entry matches.
    fn select_narrowest(&self) -> (Select<audit::Entity>, bool) {
        use audit::Column as C;
        let all = audit::Entity::find();
        let (some, selected) =
            match (self.subject_kind.as_deref(), self.subject_id, self.actor.as_deref(), self.action.as_deref()) {
                (Some(kind), Some(id), ..) => {
                    (all.filter(C::SubjectKind.eq(kind)).filter(C::SubjectId.eq(id.to_string())), 2)
                }
                (.., Some(action)) => (all.filter(C::Action.eq(action)), 1),
                (_, _, Some(actor), None) => (all.filter(C::Actor.eq(actor)), 1),
                (Some(kind), None, None, None) => (all.filter(C::SubjectKind.eq(kind)), 1),
                (None, _, None, None) => (all, 0),
            };
        let some = some
            .apply_if(self.from, |some, from| some.filter(C::At.gte(from.0)))
            .apply_if(self.to, |some, to| some.filter(C::At.lt(to.0)));
        (some, self.criteria() == selected)
    }

    /// Returns the number of criteria, apart from the time.
    fn criteria(&self) -> usize {
        let texts = [&self.actor, &self.action, &self.subject_kind].into_iter().flatten().count();
        texts + usize::from(self.action_prefix.is_some()) + usize::from(self.subject_id.is_some())
    }

    /// Returns whether an entry matches, apart from its time.
    fn matches(&self, entry: &Audit) -> bool {
        self.actor.as_ref().is_none_or(|actor| *actor == entry.actor)
            && self.action.as_ref().is_none_or(|action| *action == entry.action)
            && self.action_prefix.is_none_or(|prefix| entry.action.starts_with(prefix))
            && self.subject_kind.as_ref().is_none_or(|kind| *kind == entry.subject_kind)
            && self.subject_id.is_none_or(|id| id == entry.subject_id)
    }
}

impl Queries {
    /// Returns up to `limit` entries before a place of the audit log, newest first. Reads a bounded number of entries
    /// through an index, however long the log is, so that a stretch may have fewer entries than the limit although the
    /// log goes on. If the index covers the whole filter, reads one entry more than the limit, which shows whether the
    /// log goes on.
    pub async fn audit_stretch(
        &self,
        filter: &AuditFilter,
        before: Option<AuditPlace>,
        limit: usize,
    ) -> Result<AuditStretch, LoadError> {
        use audit::Column as C;
        let (some, is_exact) = filter.select_narrowest();
        let most = if is_exact { (limit as u64).saturating_add(1).min(STRETCH_ENTRIES) } else { STRETCH_ENTRIES };
        let rows = some
            .apply_if(before, |some, AuditPlace { at, id }| {
                let earlier = Condition::any().add(C::At.lt(at.0)).add(C::Id.lt(id.to_string()));
                some.filter(C::At.lte(at.0)).filter(earlier)
            })
            .order_by_desc(C::At)
            .order_by_desc(C::Id)
            .limit(most)
            .all(&self.db)
            .await?;
        let is_end = (rows.len() as u64) < most;
        let read = |row: audit::Model| {
            let key = row.id.clone();
            self.damaged.sort_out("audit", &key, read_audit(row))
        };
        let last = rows.last().map(AuditPlace::of_row);
        let entries = rows.into_iter().filter_map(read);
        let mut matching: Vec<Audit> = entries.filter(|entry| filter.matches(entry)).collect();
        if matching.len() > limit {
            matching.truncate(limit);
            let next = matching.last().map(AuditPlace::of);
            return Ok(AuditStretch { entries: matching, next });
        }
        Ok(AuditStretch { entries: matching, next: last.filter(|_| !is_end) })
    }

    /// Returns audit log entries, newest first, and their total number.
    pub async fn audit(&self, filter: &AuditFilter, page: Page) -> Result<(Vec<Audit>, u64), LoadError> {
        use audit::Column as C;
        let select = audit::Entity::find()
            .apply_if(filter.actor.as_deref(), |all, actor| all.filter(C::Actor.eq(actor)))
            .apply_if(filter.action.as_deref(), |all, action| all.filter(C::Action.eq(action)))
            .apply_if(filter.action_prefix, |all, prefix| all.filter(C::Action.starts_with(prefix)))
            .apply_if(filter.subject_kind.as_deref(), |all, kind| all.filter(C::SubjectKind.eq(kind)))
            .apply_if(filter.subject_id, |all, id| all.filter(C::SubjectId.eq(id.to_string())))
            .apply_if(filter.from, |all, from| all.filter(C::At.gte(from.0)))
            .apply_if(filter.to, |all, to| all.filter(C::At.lt(to.0)))
            .order_by_desc(C::At)
            .order_by_desc(C::Id);
        let (rows, total) = self.page(select, page).await?;
        let read = |row: audit::Model| {
            let key = row.id.clone();
            self.damaged.sort_out("audit", &key, read_audit(row))
        };
        Ok((rows.into_iter().filter_map(read).collect(), total))
    }

    /// Returns the answer stored for an idempotency key. The retention period may have ended without the row being
    /// deleted yet.
    pub async fn idempotency(&self, key: &str) -> Result<Option<IdempotentAnswer>, LoadError> {
        if let Some(answer) = self.idempotent_answers.get(key).await {
            return Ok(answer);
        }
        let row = idempotency::Entity::find_by_id(key).one(&self.db).await?;
        Ok(row.map(read_idempotency).transpose()?)
    }
}
