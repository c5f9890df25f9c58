//! Queries for the audit log and idempotency keys.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QueryTrait};

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
    /// Kind of the aggregate, or of the part of one, that the entry is about.
    pub subject_kind: Option<String>,
    /// ID of the subject of the entry.
    pub subject_id: Option<Id>,
    /// Earliest time of the entry, inclusive.
    pub from: Option<Timestamp>,
    /// Latest time of the entry, exclusive.
    pub to: Option<Timestamp>,
}

impl Queries {
    /// Returns audit log entries, newest first, and their total number.
    pub async fn audit(&self, filter: &AuditFilter, page: Page) -> Result<(Vec<Audit>, u64), LoadError> {
        use audit::Column as C;
        let select = audit::Entity::find()
            .apply_if(filter.actor.as_deref(), |all, actor| all.filter(C::Actor.eq(actor)))
            .apply_if(filter.action.as_deref(), |all, action| all.filter(C::Action.eq(action)))
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
