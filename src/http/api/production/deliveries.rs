//! Webhook deliveries: log, test events, redelivery and replay.

use api_derive::{Request, Response};
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::endpoints::{self, EndpointHandles};
use domain::endpoint::envelope::envelope;
use domain::endpoint::{
    Delivery, DeliveryAnswer, DeliveryCommand, DeliveryState, DueEvent, Endpoint, EndpointState, ReplayAnswer,
    ReplayEvents,
};
use domain::event::data::TestData;
use domain::event::{Event, RETENTION_DAYS, TEST};
use domain::id::Id;
use domain::principal::Role;
use domain::refusal::Refusal;
use domain::time::{DAY_MS, Timestamp};
use http::access::RequiredAccess;
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget, find_present};
use http::error::ApiError;
use http::page::{PageQuery, Query};
use http::path_id::PathId;
use http::reply::{Created, ListPage, Resource};
use http::routes::ResourceRoutes;
use http::wire::{AnyJson, EmptyBody, OptionalBody, enumeration};
use store::queries::DeliveryFilter;

/// Returns the delivery routes.
pub fn routes() -> ResourceRoutes {
    let [operator, admin] = [Role::Operator, Role::Admin].map(RequiredAccess::Role);
    ResourceRoutes::new(endpoints::TAG, endpoints::ABOUT, "endpoint")
        .post(admin, "/api/webhooks/endpoints/{id}/test", test, |op| op.named("testEndpoint", "Send a test event"))
        .post(admin, "/api/webhooks/endpoints/{id}/replay", replay, |op| {
            op.named("replayDeliveries", "Replay events")
                .about("Resends each event since the given time, in the background.")
                .error(409, "replay_running", "Another replay is still in progress.")
        })
        .get(operator, "/api/webhooks/endpoints/{id}/deliveries", list, |op| {
            op.named("listDeliveries", "List deliveries of an endpoint")
                .about("Deliveries are kept for 30 days, even after the endpoint has been removed.")
        })
        .post(admin, "/api/webhooks/deliveries/{id}/redeliver", redeliver, |op| {
            op.named("redeliver", "Redeliver an event")
                .of("delivery")
                .error(404, "endpoint_not_found", "The endpoint was removed.")
                .error(409, "delivery_pending", "The delivery is still pending.")
        })
}

enumeration! {
    /// State of a delivery; it is `sending` while an attempt is due or in progress.
    DeliveryStatus,
}

/// State of a delivery. It is `sending` while an attempt is due or in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DeliveryStatus {
    Pending,
    Delivered,
    Failed,
    Cancelled,
    Sending,
}

impl From<DeliveryState> for DeliveryStatus {
    fn from(state: DeliveryState) -> Self {
        match state {
            DeliveryState::Pending => Self::Pending,
            DeliveryState::Delivered => Self::Delivered,
            DeliveryState::Failed => Self::Failed,
            DeliveryState::Cancelled => Self::Cancelled,
        }
    }
}

/// Filter for the delivery log.
#[derive(Request, Debug)]
pub struct DeliveryQuery {
    /// Return only deliveries in the given state.
    state: Option<DeliveryState>,
    /// Return only deliveries of events of the given type.
    event: Option<String>,
    #[api(flatten)]
    page: PageQuery,
}

/// Period whose events are sent again.
#[derive(Request, Clone, Debug)]
#[api(example = json!({"since": "2026-11-01T00:00:00.000Z"}))]
pub struct Replay {
    /// Start of the period; at most 30 days ago.
    since: Timestamp,
}

/// Result of starting a replay.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ReplayStarted", example = json!({"replayed": 17}))]
struct ReplayStarted {
    /// Number of events that will be resent.
    replayed: u32,
}

/// Delivery of an event to an endpoint, with the result of the last attempt.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Delivery", many = "deliveries", example = json!({
    "id": "01890a5d-ac96-774b-bcce-b302099a8071", "endpointId": endpoints::EXAMPLE_ID,
    "eventId": super::events::EXAMPLE_ID, "event": "order.paid", "replay": 0, "state": "delivered", "attempts": 1,
    "nextAt": null, "lastStatus": 204, "lastError": null, "lastExcerpt": null, "lastDurationMs": 38,
    "createdAt": "2026-11-02T10:00:00.000Z", "attemptedAt": "2026-11-02T10:00:00.040Z",
    "payload": {
        "id": super::events::EXAMPLE_ID, "event": "order.paid", "timestamp": "2026-11-02T10:00:00.000Z",
        "data": super::events::example_data(),
    },
}))]
struct DeliveryView {
    /// ID of the delivery, sent as `X-Service-Delivery`; the same on every attempt.
    id: Id,
    /// ID of the endpoint that receives the delivery.
    endpoint_id: Id,
    /// ID of the event, sent as `webhook-id` and as `id` in the payload.
    event_id: Id,
    /// Event type, such as `order.paid` or `job.failed`.
    event: String,
    /// Replay number: 0 for the first delivery, incremented by each redelivery or replay.
    replay: u32,
    /// State of the delivery; `sending` while an attempt is due or in progress.
    state: DeliveryStatus,
    /// Number of attempts since the delivery was created, or since its endpoint was enabled.
    attempts: u32,
    /// Time of the next attempt. Null if it is due now, while the endpoint is disabled, and when the delivery is
    /// finished.
    next_at: Option<Timestamp>,
    /// HTTP status of the last response.
    last_status: Option<u16>,
    /// Reason the last attempt failed.
    last_error: Option<String>,
    /// Excerpt of the last response's body, at most 1 KiB.
    last_excerpt: Option<String>,
    /// Duration of the last attempt, in milliseconds.
    last_duration_ms: Option<i64>,
    /// Time at which the delivery was created.
    created_at: Timestamp,
    /// Time at which the last attempt ended; null before the first attempt.
    attempted_at: Option<Timestamp>,
    /// Request body, the same on every attempt.
    payload: AnyJson,
}

impl DeliveryView {
    fn new(delivery: &Delivery, endpoint: Option<&Endpoint>, now: Timestamp) -> Self {
        let due = |endpoint: &Endpoint| {
            endpoint.state == EndpointState::Active
                && endpoint.window.get(&delivery.id).is_some()
                && delivery.next_at <= now
        };
        let pending = delivery.state == DeliveryState::Pending;
        let held = endpoint.is_some_and(|endpoint| endpoint.state == EndpointState::Disabled);
        let sending = pending && endpoint.is_some_and(due);
        Self {
            id: delivery.id,
            endpoint_id: delivery.endpoint_id,
            event_id: delivery.event_id,
            event: delivery.event.clone(),
            replay: delivery.replay,
            state: if sending { DeliveryStatus::Sending } else { delivery.state.into() },
            attempts: delivery.attempts,
            next_at: (pending && !held && delivery.next_at > now).then_some(delivery.next_at),
            last_status: delivery.last_status,
            last_error: delivery.last_error.clone(),
            last_excerpt: delivery.last_excerpt.clone(),
            last_duration_ms: delivery.last_duration_ms,
            created_at: delivery.created_at,
            attempted_at: delivery.attempted_at,
            payload: AnyJson(serde_json::from_str(&delivery.body).unwrap_or_default()),
        }
    }
}

/// Lists the deliveries of an endpoint, newest first. The log of a deleted endpoint remains available.
async fn list(
    State(app): State<EndpointHandles>,
    PathId(id): PathId,
    Query(query): Query<DeliveryQuery>,
) -> Result<ListPage<DeliveryView>, ApiError> {
    let page = query.page.into();
    let filter = DeliveryFilter { state: query.state, event: query.event };
    let endpoint = app.endpoints.read(id).await?.ok_or_else(|| Refusal::not_found("endpoint"))?;
    let (some, total) = app.queries.deliveries(id, &filter, page).await?;
    let now = app.environment.now();
    let items = some.iter().map(|delivery| DeliveryView::new(delivery, endpoint.state.as_ref(), now));
    Ok(ListPage::new(page, items, total))
}

fn created_reply(app: &EndpointHandles, done: &CommandOutcome<DeliveryAnswer>) -> Created<DeliveryView> {
    let delivery = &done.answer.delivery;
    let view = DeliveryView::new(delivery, None, app.environment.now());
    // The version would be that of the endpoint, not of the delivery: none is given.
    let location = format!("/api/webhooks/endpoints/{}/deliveries", delivery.endpoint_id);
    Created::unversioned(location, done, view)
}

/// Sends a test event to an endpoint.
pub async fn send_test(
    app: &EndpointHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<CommandOutcome<DeliveryAnswer>, ApiError> {
    let command = async {
        call.read_body()?;
        let environment = &app.environment;
        let data = TestData::new(id);
        let event = Event {
            id: environment.id(),
            event: TEST.to_owned(),
            timestamp: environment.now(),
            subject_kind: "endpoint".to_owned(),
            subject_id: id,
            order_id: None,
            actor: call.who.by.to_string(),
            data: serde_json::to_value(data).map_err(ApiError::internal)?,
        };
        let due = DueEvent { event_id: event.id, seq: 0, event: TEST.to_owned(), body: envelope(&event) };
        Ok(DeliveryCommand::Test(due))
    };
    call.ask_with(&app.endpoints, CommandTarget::Id(id), command).await
}

async fn test(
    State(app): State<EndpointHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Created<DeliveryView>, ApiError> {
    let done = send_test(&app, id, &call).await?;
    Ok(created_reply(&app, &done))
}

/// Sends the event of a past delivery again, as a new delivery.
pub async fn send_again(
    app: &EndpointHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<CommandOutcome<DeliveryAnswer>, ApiError> {
    call.read_body()?;
    let past = app.queries.delivery(id).await?.ok_or_else(|| Refusal::not_found("delivery"))?;
    let endpoint = CommandTarget::Id(past.endpoint_id);
    call.ask(&app.endpoints, endpoint, DeliveryCommand::Redeliver(Box::new(past))).await
}

async fn redeliver(
    State(app): State<EndpointHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Created<DeliveryView>, ApiError> {
    let done = send_again(&app, id, &call).await?;
    Ok(created_reply(&app, &done))
}

/// Replays the events whose first delivery was created at or after the given time, once each. The events are read from
/// the log page by page, in the background. Fails with 409 while an earlier replay is still running.
pub async fn start_replay(
    app: &EndpointHandles,
    id: Id,
    call: &CommandRequest<Replay>,
) -> Result<CommandOutcome<ReplayAnswer>, ApiError> {
    let command = async {
        let Replay { since } = call.read_body()?;
        if since < app.environment.now().plus_ms(-RETENTION_DAYS * DAY_MS) {
            let message = format!("must be within the last {RETENTION_DAYS} days");
            return Err(Refusal::field("since", message).into());
        }
        find_present(&app.endpoints, id).await?;
        let count = app.queries.count_past_deliveries(id, since).await?;
        Ok(ReplayEvents { since, count: u32::try_from(count).unwrap_or(u32::MAX) })
    };
    call.ask_with(&app.endpoints, CommandTarget::Id(id), command).await
}

async fn replay(
    State(app): State<EndpointHandles>,
    PathId(id): PathId,
    call: CommandRequest<Replay>,
) -> Result<Resource<ReplayStarted>, ApiError> {
    let done = start_replay(&app, id, &call).await?;
    Ok(Resource::after(&done, ReplayStarted { replayed: done.answer.count }))
}
