//! Webhook endpoints and event types as the API returns them.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::{EXAMPLE_ID, EndpointDisclosure};
use domain::endpoint::{Endpoint, EndpointAnswer, EndpointState};
use domain::event::OutboundEvent;
use domain::id::Id;
use domain::time::Timestamp;
use http::command_request::CommandOutcome;

/// Webhook endpoint, to which events are sent.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Endpoint", many = "endpoints", example = example())]
pub(super) struct EndpointView {
    /// ID of the endpoint.
    id: Id,
    /// URL to which events are sent.
    url: String,
    /// Event types sent to the endpoint.
    events: Vec<OutboundEvent>,
    /// State of the endpoint. Events are sent to it only while it is enabled.
    state: EndpointState,
    /// Reason the endpoint is disabled.
    disabled_reason: Option<String>,
    /// Time until which payloads are also signed with the previous secret.
    former_secret_until: Option<Timestamp>,
    /// Time at which the endpoint was registered.
    created_at: Timestamp,
    /// Time at which the endpoint last changed.
    updated_at: Timestamp,
    /// Version number of the endpoint: starts at 1 and increases with each change; also its `ETag`.
    version: i64,
}

fn example() -> serde_json::Value {
    json!({
        "id": EXAMPLE_ID, "url": "https://example.org/hooks", "events": ["order.paid", "order.shipped"],
        "state": "active", "disabledReason": null, "formerSecretUntil": null, "createdAt": "2026-11-01T08:00:00.000Z",
        "updatedAt": "2026-11-01T08:00:00.000Z", "version": 1,
    })
}

impl EndpointView {
    pub(super) fn new(endpoint: &Endpoint, version: i64) -> Self {
        Self {
            id: endpoint.id,
            url: endpoint.url.clone(),
            events: endpoint.events.iter().filter_map(|word| OutboundEvent::of(word)).collect(),
            state: endpoint.state,
            disabled_reason: endpoint.disabled_reason.clone(),
            former_secret_until: endpoint.former.as_ref().map(|(_, until)| *until),
            created_at: endpoint.created_at,
            updated_at: endpoint.updated_at,
            version,
        }
    }

    pub(super) fn after(done: &CommandOutcome<EndpointAnswer>) -> Self {
        Self::new(&done.answer.endpoint, done.version)
    }
}

/// Webhook endpoint with its signing secret.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "EndpointWithSecret", example = example_with_secret())]
pub(super) struct EndpointWithSecret {
    #[serde(flatten)]
    endpoint: EndpointView,
    /// Signing secret, returned only once and only if the server generated it.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    /// Human-readable warnings about permitted but discouraged values.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
}

impl EndpointWithSecret {
    pub(super) fn after(done: &EndpointDisclosure) -> Self {
        let (endpoint, secret) = (EndpointView::after(&done.outcome), done.secret.clone());
        Self { endpoint, secret, warnings: done.warning.map(|warning| vec![warning.to_owned()]) }
    }
}

fn example_with_secret() -> serde_json::Value {
    let mut example = example();
    example["secret"] = json!("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDH2f0lVB+7lY=");
    example
}

/// Event types to which endpoints can subscribe.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "EventTypes", example = json!({"eventTypes": OutboundEvent::ALL}))]
pub(super) struct EventTypes {
    /// All available event types.
    pub(super) event_types: Vec<OutboundEvent>,
}
