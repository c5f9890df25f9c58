//! Queries for the audit log and idempotency keys.
//!
//! A list with its total ([`Queries::audit`]) counts all entries, which are kept forever. The pages that staff view
//! read one bounded stretch at a time instead ([`Queries::audit_stretch`]).

use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select};

use super::{Page, Queries};
use crate::rows::{Audit, IdempotentAnswer, LoadError, read_audit, read_idempotency};
use domain::id::Id;
use domain::time::Timestamp;
use entities::{audit, idempotency};

/// Filter for audit log entries; absent fields match all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AuditFilter {
    /// Caller, in text form (`user:…`, `key:…`, `machine`).
    pub actor: Option<String>,
    /// Name of the command, such as `order.cancel`.
    pub action: Option<String>,
    /// Prefix of the command name, such as `job.`.
    pub action_prefix: Option<&'static str>,
    /// Kind of aggregate, or of an aggregate's part, that the entry is about.
    pub subject_kind: Option<String>,
    /// ID of the entry's subject.
    pub subject_id: Option<Id>,
    /// Start of the time range, inclusive.
    pub from: Option<Timestamp>,
    /// End of the time range, exclusive.
    pub to: Option<Timestamp>,
}

/// Maximum number of entries read per stretch.
const STRETCH_ENTRIES: u64 = 500;

/// Position of an entry in the log, which is ordered by time and ID.
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
    /// Position to continue reading from; `None` at the end of the log. There may be no further matching entries.
    pub next: Option<AuditPlace>,
}

impl AuditPlace {
    fn of(entry: &Audit) -> Self {
        Self { at: entry.at, id: entry.id }
    }

    /// Returns the position of a row that may be damaged. If the ID cannot be read, the position is the start of the
    /// row's millisecond.
    fn of_row(row: &audit::Model) -> Self {
        Self { at: Timestamp(row.at), id: row.id.parse().unwrap_or(Id::ONLY) }
    }
}

impl AuditFilter {
    /// Selects entries by time and by the most selective criterion that is indexed together with the time. Also returns
    /// whether no criteria remain, so that every selected entry matches.
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

    /// Returns the number of criteria, excluding the time range.
    fn criteria(&self) -> usize {
        let texts = [&self.actor, &self.action, &self.subject_kind].into_iter().flatten().count();
        texts + usize::from(self.action_prefix.is_some()) + usize::from(self.subject_id.is_some())
    }

    /// Returns whether an entry matches, regardless of its time.
    fn matches(&self, entry: &Audit) -> bool {
        self.actor.as_ref().is_none_or(|actor| *actor == entry.actor)
            && self.action.as_ref().is_none_or(|action| *action == entry.action)
            && self.action_prefix.is_none_or(|prefix| entry.action.starts_with(prefix))
            && self.subject_kind.as_ref().is_none_or(|kind| *kind == entry.subject_kind)
            && self.subject_id.is_none_or(|id| id == entry.subject_id)
    }
}

impl Queries {
    /// Returns up to `limit` entries before a position in the audit log, newest first. Reads a bounded number of
    /// entries through an index, however long the log is, so a stretch may have fewer entries than the limit although
    /// the log continues. If the index covers the whole filter, reads one entry more than the limit, which shows
    /// whether the log continues.
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
        let last = rows.last().map(AuditPlace::of_row);
        let mut matching: Vec<Audit> = self.audit_entries(rows).filter(|entry| filter.matches(entry)).collect();
        if matching.len() > limit {
            matching.truncate(limit);
            let next = matching.last().map(AuditPlace::of);
            return Ok(AuditStretch { entries: matching, next });
        }
        Ok(AuditStretch { entries: matching, next: last.filter(|_| !is_end) })
    }

    /// Returns a page of audit log entries, newest first, and their total number.
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
        if let Some(total) = self.audit_total(filter).await? {
            let rows = select.clone().limit(page.limit).offset(page.offset).all(&self.db).await?;
            if page.fits(rows.len() as u64, total) {
                return Ok((self.audit_entries(rows).collect(), total));
            }
        }
        let (rows, total) = self.page(select, page).await?;
        Ok((self.audit_entries(rows).collect(), total))
    }

    /// Returns the total number of entries that match a filter, if it is known without counting them.
    async fn audit_total(&self, filter: &AuditFilter) -> Result<Option<u64>, LoadError> {
        let counted = AuditFilter {
            action: filter.action.clone(),
            action_prefix: filter.action_prefix,
            subject_kind: filter.subject_kind.clone(),
            ..AuditFilter::default()
        };
        if *filter != counted {
            return Ok(None);
        }
        let matches = |key: &str| {
            let (kind, action) = key.split_once(' ').unwrap_or((key, ""));
            filter.subject_kind.as_deref().is_none_or(|own| own == kind)
                && filter.action.as_deref().is_none_or(|own| own == action)
                && filter.action_prefix.is_none_or(|prefix| action.starts_with(prefix))
        };
        Ok(Some(self.row_total("audit", matches).await?))
    }

    /// Parses audit log rows; damaged ones are reported and omitted.
    fn audit_entries(&self, rows: Vec<audit::Model>) -> impl Iterator<Item = Audit> {
        rows.into_iter().filter_map(|row| {
            let key = row.id.clone();
            self.damaged.sort_out("audit", &key, read_audit(row))
        })
    }

    /// Returns the response stored for an idempotency key. The retention period may have ended even though the row has
    /// not been deleted yet.
    pub async fn idempotency(&self, key: &str) -> Result<Option<IdempotentAnswer>, LoadError> {
        if let Some(memory) = &self.memory {
            return Ok(memory.tables().idempotent_answer(key).cloned());
        }
        if let Some(answer) = self.idempotent_answers.get(key).await {
            return Ok(answer);
        }
        let row = idempotency::Entity::find_by_id(key).one(&self.db).await?;
        Ok(row.map(read_idempotency).transpose()?)
    }
}
