//! Deliveries of webhook endpoints: the log, tests, redelivery and replay (decisions §8).

use super::endpoints::present;
use crate::domain::endpoint::envelope::envelope;
use crate::domain::endpoint::{Delivery, DeliveryState, Due, Endpoint, EndpointAnswer, EndpointCommand, EndpointState};
use crate::domain::event::{Event, TEST};
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use crate::http::AppState;
use crate::http::body::sure;
use crate::http::command_request::{CommandOutcome, CommandRequest, CommandTarget};
use crate::http::error::{Answer, ApiError};
use crate::http::page::{Params, body};
use crate::http::path_id::PathId;
use crate::http::reply;
use crate::store::queries::DeliveryFilter;
use axum::extract::State;
use serde_json::{Value, json};

/// A replay reaches back this far, in milliseconds: the log is kept for 30 days.
const REPLAY_MS: i64 = 30 * 24 * 3_600_000;

fn view(delivery: &Delivery, endpoint: Option<&Endpoint>, now: Timestamp) -> Value {
    let active = endpoint
        .is_some_and(|endpoint| endpoint.state == EndpointState::Active && endpoint.window.get(&delivery.id).is_some());
    let pending = delivery.state == DeliveryState::Pending;
    let state = if pending && active && delivery.next_at <= now { json!("sending") } else { json!(delivery.state) };
    json!({
        "id": delivery.id, "endpointId": delivery.endpoint_id, "eventId": delivery.event_id, "event": delivery.event,
        "replay": delivery.replay, "state": state, "attempts": delivery.attempts,
        "nextAt": pending.then_some(delivery.next_at), "lastStatus": delivery.last_status,
        "lastError": delivery.last_error, "lastExcerpt": delivery.last_excerpt,
        "lastDurationMs": delivery.last_duration_ms, "createdAt": delivery.created_at,
        "attemptedAt": delivery.attempted_at,
        "payload": serde_json::from_str::<Value>(&delivery.body).unwrap_or(Value::Null),
    })
}

/// `GET /api/webhooks/endpoints/{id}/deliveries?state=&event=`: newest first; the log of a deleted endpoint stays.
pub async fn list(State(app): State<AppState>, PathId(id): PathId, params: Params) -> Answer {
    let page = params.page()?;
    let filter = DeliveryFilter { state: params.word("state")?, event: params.text("event").map(str::to_owned) };
    let found = app.endpoints.read(id).await?.ok_or_else(|| Refusal::not_found("endpoint"))?;
    let (some, total) = app.queries.deliveries(id, &filter, page).await?;
    let now = app.environment.now();
    let items = some.iter().map(|delivery| view(delivery, found.state.as_ref(), now)).collect();
    reply::ok(body(page, "deliveries", items, total))
}

fn made(app: &AppState, done: &CommandOutcome<EndpointAnswer>) -> Answer {
    let EndpointAnswer::Delivery(delivery) = &done.answer else {
        return Err(ApiError::internal(format!("an endpoint answered {:?}", done.answer)));
    };
    let shown = view(delivery, None, app.environment.now());
    // The tag of a list's member would be that of its endpoint: none is given.
    reply::made(done.replayed, &format!("/api/webhooks/endpoints/{}/deliveries", delivery.endpoint_id), shown)
}

/// `POST /api/webhooks/endpoints/{id}/test`: 201 with the delivery of a `webhook.test`.
pub async fn test(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.optional_fields()?.finish()?;
    let environment = &app.environment;
    let event = Event {
        id: environment.id(),
        event: TEST.to_owned(),
        timestamp: environment.now(),
        subject_kind: "endpoint".to_owned(),
        subject_id: id,
        order_id: None,
        actor: call.who.by.to_string(),
        data: json!({"endpointId": id, "message": "this is a test"}),
    };
    let due = Due { event_id: event.id, seq: 0, event: TEST.to_owned(), body: envelope(&event) };
    let done = call.ask(&app.endpoints, CommandTarget::Id(id), EndpointCommand::Test(due)).await?;
    made(&app, &done)
}

/// `POST /api/webhooks/deliveries/{id}/redeliver`: 201 with a new delivery of the same event.
pub async fn redeliver(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.optional_fields()?.finish()?;
    let past = app.queries.delivery(id).await?.ok_or_else(|| Refusal::not_found("delivery"))?;
    let command = EndpointCommand::Redeliver(Box::new(past.clone()));
    let done = call.ask(&app.endpoints, CommandTarget::Id(past.endpoint_id), command).await?;
    made(&app, &done)
}

/// `POST /api/webhooks/endpoints/{id}/replay {since}`: 200 with how many events are sent again: those whose first delivery was made
/// since then, each once. They are taken from the log in parts, in the background; 409 while a replay before is not through.
pub async fn replay(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let command = async {
        let mut fields = call.fields()?;
        let since: Option<Timestamp> = fields.need("since");
        let earliest = app.environment.now().plus_ms(-REPLAY_MS);
        fields.check(since.is_none_or(|since| since >= earliest), "since", "must be within the last 30 days");
        fields.finish()?;
        present(&app, id).await?;
        let since = sure(since)?;
        let count = app.queries.count_past_deliveries(id, since).await?;
        Ok(EndpointCommand::Replay { since, count: u32::try_from(count).unwrap_or(u32::MAX) })
    };
    let done = call.ask_with(&app.endpoints, CommandTarget::Id(id), command).await?;
    match &done.answer {
        EndpointAnswer::Count(count) => reply::changed(&done, json!({ "replayed": count })),
        other => Err(ApiError::internal(format!("an endpoint answered {other:?}"))),
    }
}
