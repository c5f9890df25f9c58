//! The audit log, idempotency keys and payment events that matched no order.

use super::{Page, Queries};
use crate::domain::aggregate::Versioned;
use crate::domain::id::Id;
use crate::domain::kept_payment_event::KeptPaymentEvent;
use crate::domain::time::Timestamp;
use crate::entities::{audit, idempotency, inbound};
use crate::store::rows::{Audit, Idempotency, LoadError, read_audit, read_idempotency};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QueryTrait};

/// Which lines of the audit log; absent members take all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AuditFilter {
    /// Who asked, as text (`user:…`, `key:…`, `machine`).
    pub actor: Option<String>,
    /// For what (`order.cancel`).
    pub action: Option<String>,
    /// Of this kind of thing.
    pub subject_kind: Option<String>,
    /// Of this thing.
    pub subject_id: Option<Id>,
    /// Not before.
    pub from: Option<Timestamp>,
    /// Before.
    pub to: Option<Timestamp>,
}

impl Queries {
    /// Lines of the audit log, newest first, and how many there are.
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
        Ok((rows.into_iter().map(read_audit).collect::<Result<_, _>>()?, total))
    }

    /// What a key was answered; its time may be over and the row not yet purged.
    pub async fn idempotency(&self, key: &str) -> Result<Option<Idempotency>, LoadError> {
        if let Some(answer) = self.kept.answer(key).await {
            return Ok(answer);
        }
        let row = idempotency::Entity::find_by_id(key).one(&self.db).await?;
        Ok(row.map(read_idempotency).transpose()?)
    }

    /// Payment events that still look for their order, oldest first.
    pub async fn unmatched_inbound(&self) -> Result<Vec<Versioned<KeptPaymentEvent>>, LoadError> {
        use inbound::Column as C;
        let select = inbound::Entity::find().filter(C::Done.eq(false)).order_by_asc(C::CreatedAt).order_by_asc(C::Id);
        Ok(select.all(&self.db).await?.iter().map(super::versioned).collect::<Result<_, _>>()?)
    }
}
