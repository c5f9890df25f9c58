//! Rows inserted once and never changed: events, audit log entries, and responses for idempotency keys.

use crate::rows::{DamagedRow, WriteError};
use domain::audit::chain::{ChainHead, ChainLine};
use domain::event::{Event, NumberedEvent};
use domain::id::Id;
use domain::time::Timestamp;
use entities::{audit, events, idempotency};

/// Audit log entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Audit {
    /// ID of the entry.
    pub id: Id,
    /// Time of the command.
    pub at: Timestamp,
    /// Caller ([`domain::principal::Principal`]), in text form.
    pub actor: String,
    /// Command name ([`domain::aggregate::Command::audited_act`]).
    pub action: String,
    /// Kind of aggregate, or of an aggregate's part, that the command was about.
    pub subject_kind: String,
    /// ID of the subject; [`Id::ONLY`] if there is only one of its kind.
    pub subject_id: Id,
    /// ID of the HTTP request.
    pub request_id: Option<String>,
    /// `done`, or the rejection code.
    pub outcome: String,
    /// Additional facts, as JSON.
    pub detail: Option<String>,
}

/// Response stored for an idempotency key, so that a retry of the request gets the same response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdempotentAnswer {
    /// Hash of the caller, route and key, as computed by the HTTP layer.
    pub key: String,
    /// Hash of the request body. A request with the same key but a different body is rejected.
    pub body_hash: String,
    /// Kind of aggregate that responded.
    pub kind: String,
    /// ID of the aggregate that responded.
    pub aggregate_id: Id,
    /// Aggregate version after the commit.
    pub version: i64,
    /// `Result<Answer, Refusal>` as JSON.
    pub answer: String,
    /// Time of the response.
    pub created_at: Timestamp,
    /// Time at which the stored response expires; a retry before that gets it.
    pub expires_at: Timestamp,
}

/// Builds the row for an event with the given number.
pub fn event_row(seq: i64, event: &Event) -> Result<events::Model, WriteError> {
    Ok(events::Model {
        seq,
        id: event.id.to_string(),
        event: event.event.clone(),
        subject_kind: event.subject_kind.clone(),
        subject_id: event.subject_id.to_string(),
        order_id: event.order_id.map(|id| id.to_string()),
        actor: event.actor.clone(),
        data: serde_json::to_string(&event.data)?,
        created_at: event.timestamp.0,
    })
}

/// Parses the event from a row.
pub fn read_event(row: events::Model) -> Result<NumberedEvent, DamagedRow> {
    let damaged = |reason: String| DamagedRow { table: "events", id: row.seq.to_string(), schema: 1, reason };
    let id = |text: &str| text.parse::<Id>().map_err(|error| damaged(error.to_string()));
    let event = Event {
        id: id(&row.id)?,
        subject_id: id(&row.subject_id)?,
        order_id: row.order_id.as_deref().map(id).transpose()?,
        data: serde_json::from_str(&row.data).map_err(|error| damaged(error.to_string()))?,
        timestamp: Timestamp(row.created_at),
        event: row.event,
        subject_kind: row.subject_kind,
        actor: row.actor,
    };
    Ok(NumberedEvent { seq: row.seq, event })
}

/// Builds the row for the audit log entry that follows `head`, and makes it the head.
pub fn audit_row(line: Audit, head: &mut ChainHead) -> audit::Model {
    let mut row = audit::Model {
        id: line.id.to_string(),
        at: line.at.0,
        actor: line.actor,
        action: line.action,
        subject_kind: line.subject_kind,
        subject_id: line.subject_id.to_string(),
        request_id: line.request_id,
        outcome: line.outcome,
        detail: line.detail,
        number: 0,
        chain: String::new(),
    };
    *head = head.append(&chain_line(&row));
    row.number = head.number;
    row.chain.clone_from(&head.hash);
    row
}

/// Returns the part of an audit log row that its hash covers.
pub fn chain_line(row: &audit::Model) -> ChainLine<'_> {
    ChainLine {
        id: &row.id,
        at: row.at,
        actor: &row.actor,
        action: &row.action,
        subject_kind: &row.subject_kind,
        subject_id: &row.subject_id,
        request_id: row.request_id.as_deref(),
        outcome: &row.outcome,
        detail: row.detail.as_deref(),
    }
}

/// Parses the audit log entry from a row.
pub fn read_audit(row: audit::Model) -> Result<Audit, DamagedRow> {
    let id = |text: &str| {
        text.parse().map_err(|error: uuid::Error| DamagedRow {
            table: "audit",
            id: row.id.clone(),
            schema: 1,
            reason: error.to_string(),
        })
    };
    Ok(Audit {
        id: id(&row.id)?,
        subject_id: id(&row.subject_id)?,
        at: Timestamp(row.at),
        actor: row.actor,
        action: row.action,
        subject_kind: row.subject_kind,
        request_id: row.request_id,
        outcome: row.outcome,
        detail: row.detail,
    })
}

/// Builds the row for an idempotency key's response.
pub fn idempotency_row(answered: IdempotentAnswer) -> idempotency::Model {
    idempotency::Model {
        key: answered.key,
        body_hash: answered.body_hash,
        kind: answered.kind,
        aggregate_id: answered.aggregate_id.to_string(),
        version: answered.version,
        answer: answered.answer,
        created_at: answered.created_at.0,
        expires_at: answered.expires_at.0,
    }
}

/// Parses an idempotency key's response from a row.
pub fn read_idempotency(row: idempotency::Model) -> Result<IdempotentAnswer, DamagedRow> {
    let aggregate_id = row.aggregate_id.parse().map_err(|error: uuid::Error| DamagedRow {
        table: "idempotency",
        id: row.key.clone(),
        schema: 1,
        reason: error.to_string(),
    })?;
    Ok(IdempotentAnswer {
        key: row.key,
        body_hash: row.body_hash,
        kind: row.kind,
        aggregate_id,
        version: row.version,
        answer: row.answer,
        created_at: Timestamp(row.created_at),
        expires_at: Timestamp(row.expires_at),
    })
}
