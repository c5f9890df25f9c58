//! The audit log: every change and sign-in, and a sample of what was refused (decisions §2).

use super::events::subject;
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;
use crate::http::AppState;
use crate::http::error::Answer;
use crate::http::page::{Params, body};
use crate::http::reply;
use crate::store::queries::AuditFilter;
use crate::store::rows::Audit;
use axum::extract::State;
use serde_json::{Value, json};

fn view(line: &Audit) -> Value {
    let subject = (line.subject_id != Id::ONLY).then_some(line.subject_id);
    let detail = line.detail.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    json!({
        "id": line.id, "at": line.at, "actor": line.actor, "action": line.action,
        "subject": {"kind": line.subject_kind, "id": subject}, "requestId": line.request_id,
        "outcome": line.outcome, "detail": detail,
    })
}

/// `GET /api/audit-log?actor=&action=&subject=&from=&to=`: newest first; `subject` is `kind:id`, an id or a kind, `from` is
/// in, `to` is out.
pub async fn list(State(app): State<AppState>, params: Params) -> Answer {
    let page = params.page()?;
    let text = |name| params.text(name).map(str::to_owned);
    let (subject_kind, subject_id) = subject(params.text("subject"))?;
    let (from, to) = (params.parsed("from", "a time (RFC 3339)")?, params.parsed("to", "a time (RFC 3339)")?);
    if from.zip(to).is_some_and(|(from, to)| from > to) {
        return Err(Refusal::field("to", "must not be before from").into());
    }
    let filter = AuditFilter { actor: text("actor"), action: text("action"), subject_kind, subject_id, from, to };
    let (some, total) = app.queries.audit(&filter, page).await?;
    reply::ok(body(page, "entries", some.iter().map(view).collect(), total))
}
