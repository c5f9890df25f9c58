//! Rows that a command writes in addition to its decision: the audit log entry, and the response stored for the
//! idempotency key.

use super::{CommandOrigin, IdempotencyKey};
use domain::aggregate::{Aggregate, Command, DecisionContext};
use domain::id::Id;
use domain::refusal::{Class, Refusal};
use store::rows::{Audit, IdempotentAnswer};

/// Builds the audit log entry for a change; `None` for the server's own changes.
pub(super) fn audit<T: Aggregate, C: Command<T>>(
    command: &C,
    caller: &CommandOrigin,
    id: Id,
    cx: &DecisionContext<'_>,
    answer: &C::Answer,
) -> Option<Audit> {
    if !cx.by.audited() {
        return None;
    }
    let (subject_kind, subject_id) = command.subject(answer).unwrap_or((T::KIND, id));
    let facts = command.audit_facts();
    Some(Audit {
        id: cx.ids.id(),
        at: cx.now,
        actor: cx.by.to_string(),
        action: command.audited_act().name().to_owned(),
        subject_kind: subject_kind.to_owned(),
        subject_id,
        request_id: caller.request_id.as_deref().map(str::to_owned),
        outcome: facts.outcome,
        detail: facts.detail,
    })
}

/// Returns whether a result is stored for the idempotency key. Results that depend on the state are stored; a command
/// that was itself invalid or that the caller was not permitted to send is decided again on a retry.
pub(super) fn is_kept<A>(verdict: &Result<A, Refusal>) -> bool {
    match verdict {
        Ok(_) => true,
        Err(refusal) => match refusal.class {
            Class::Conflict | Class::Unprocessable | Class::Stale | Class::Gone => true,
            Class::Invalid | Class::NotFound | Class::Forbidden => false,
        },
    }
}

/// Builds the row that stores a serialised response or rejection for the idempotency key.
pub(super) fn stored_answer(
    kind: &str,
    key: &IdempotencyKey,
    id: Id,
    version: i64,
    verdict: String,
    cx: &DecisionContext<'_>,
) -> IdempotentAnswer {
    IdempotentAnswer {
        key: key.key.clone(),
        body_hash: key.body_hash.clone(),
        kind: kind.to_owned(),
        aggregate_id: id,
        version,
        answer: verdict,
        created_at: cx.now,
        expires_at: key.expires_at,
    }
}
