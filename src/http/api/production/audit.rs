//! The audit log: every change and sign-in, and a sample of rejected requests.

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};

use domain::id::Id;
use domain::principal::Role;
use domain::refusal::{Faults, Refusal};
use domain::time::Timestamp;
use domain::time_span::{SpanEnd, SpanStart};
use http::access::RequiredAccess;
use http::error::ApiError;
use http::handles::handles;
use http::openapi::shape::{Shape, anything, text};
use http::page::{PageQuery, Query};
use http::reply::ListPage;
use http::routes::ResourceRoutes;
use http::wire::{FromJson, ToSchema, ValuePath};
use store::queries::{AuditFilter, Queries};
use store::rows::Audit;

handles! {
    /// Dependencies of the audit log route.
    pub struct AuditLogHandles {
        queries: Queries,
    }
}

/// Returns the route of the audit log.
pub fn routes() -> ResourceRoutes {
    let about = "Every change and sign-in, and a sample of rejected requests.";
    ResourceRoutes::new("Audit log", about, "entry").get(
        RequiredAccess::Role(Role::Admin),
        "/api/audit-log",
        list,
        |op| op.named("listAuditLog", "List the audit log"),
    )
}

/// Filter by the subject of the entries: a kind, an identifier, or both.
#[derive(Clone, Default, Debug)]
struct SubjectFilter {
    kind: Option<String>,
    id: Option<Id>,
}

impl ToSchema for SubjectFilter {
    fn schema() -> Shape {
        text()
    }
}

impl FromJson for SubjectFilter {
    type Inner = Self;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        let text = String::from_json(value, place, faults)?;
        match text.split_once(':') {
            Some((kind, id)) => match id.parse() {
                Ok(id) => Some(Self { kind: Some(kind.to_owned()), id: Some(id) }),
                Err(_) => place.fault(faults, "must be kind:id, an ID or a kind"),
            },
            None => Some(match text.parse() {
                Ok(id) => Self { kind: None, id: Some(id) },
                Err(_) => Self { kind: Some(text), id: None },
            }),
        }
    }
    fn inner(&self) -> Option<&Self> {
        Some(self)
    }
}

/// Filter for the audit log.
#[derive(Request, Debug)]
pub struct AuditQuery {
    /// Return only entries of the given actor: `user:...` or `key:...` with an identifier, or `machine`.
    actor: Option<String>,
    /// Return only entries of the given action, such as `order.cancel`.
    action: Option<String>,
    /// Return only entries about the given subject: `kind:id`, an identifier alone, or a kind alone.
    subject: Option<SubjectFilter>,
    /// Return only entries from the given time or day on.
    from: Option<SpanStart>,
    /// Return only entries before the given time, or up to the end of the given day.
    to: Option<SpanEnd>,
    #[api(flatten)]
    page: PageQuery,
}

/// Audit log entry: a change or a rejected request.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "AuditEntry", many = "entries", example = json!({
    "id": "01890a5d-ac96-774b-bcce-b302099a8073", "at": "2026-11-02T10:00:00.000Z", "actor": "machine",
    "action": "order.mark_paid", "subject": {"kind": "order", "id": "01890a5d-ac96-774b-bcce-b302099a8065"},
    "requestId": "01890a5d-ac96-774b-bcce-b302099a8074", "outcome": "done", "detail": null,
}))]
struct AuditEntryView {
    /// ID of the entry.
    id: Id,
    /// Time at which the change was made or the request was rejected.
    at: Timestamp,
    /// Actor: `user:...` or `key:...` with an identifier, `machine`, or `system`.
    actor: String,
    /// Attempted action: the name of a command such as `order.cancel`, or the method and path of a rejected request.
    action: String,
    /// Subject of the entry.
    subject: AuditSubject,
    /// ID of the request, as returned in the `X-Request-Id` response header.
    request_id: Option<String>,
    /// `done`, the error code of the rejection, or `counted` for an entry that summarizes many rejected requests.
    outcome: String,
    /// Further details, which depend on the action.
    detail: AuditDetail,
}

/// Subject of an audit log entry.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(example = json!({"kind": "order", "id": "01890a5d-ac96-774b-bcce-b302099a8065"}))]
struct AuditSubject {
    /// Kind of the subject, such as `order`.
    kind: String,
    /// ID of the subject; null if there is only one of its kind.
    id: Option<Id>,
}

/// Further details of the command or the rejected request, as arbitrary JSON.
#[derive(Serialize)]
#[serde(transparent)]
struct AuditDetail(Option<Value>);

impl ToSchema for AuditDetail {
    fn schema() -> Shape {
        anything()
    }
}

impl From<Audit> for AuditEntryView {
    fn from(line: Audit) -> Self {
        let Audit { id, at, actor, action, subject_kind, subject_id, request_id, outcome, detail, .. } = line;
        let subject = AuditSubject { kind: subject_kind, id: (subject_id != Id::ONLY).then_some(subject_id) };
        let detail = AuditDetail(detail.and_then(|text| serde_json::from_str(&text).ok()));
        Self { id, at, actor, action, subject, request_id, outcome, detail }
    }
}

async fn list(
    State(app): State<AuditLogHandles>,
    Query(query): Query<AuditQuery>,
) -> Result<ListPage<AuditEntryView>, ApiError> {
    let AuditQuery { actor, action, subject, from, to, page } = query;
    let (from, to) = (from.map(|start| start.0), to.map(|end| end.0));
    if from.zip(to).is_some_and(|(from, to)| from > to) {
        return Err(Refusal::field("to", "must not be before `from`").into());
    }
    let (page, subject) = (page.into(), subject.unwrap_or_default());
    let (subject_kind, subject_id) = (subject.kind, subject.id);
    let filter = AuditFilter { actor, action, subject_kind, subject_id, from, to, ..AuditFilter::default() };
    let (some, total) = app.queries.audit(&filter, page).await?;
    Ok(ListPage::new(page, some.into_iter().map(Into::into), total))
}
