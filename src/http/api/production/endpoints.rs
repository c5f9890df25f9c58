//! Webhook endpoints: registering, changing and enabling them, and their signing secrets.

mod by_page;

pub use by_page::{EndpointDisclosure, act_by_page, change_by_page, create_by_page, rotate_by_page};

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::keys::withheld;
use config::Config;
use domain::endpoint::{Endpoint, EndpointAnswer, EndpointCommand, EndpointState};
use domain::event::OutboundEvent;
use domain::id::Id;
use domain::principal::Role;
use domain::refusal::Refusal;
use domain::signing::{SECRET_MAX_BYTES, SecretStrength, check_secret, generate_secret};
use domain::target;
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget, find_present};
use http::error::ApiError;
use http::handles::handles;
use http::openapi::operation::DescribedError;
use http::openapi::shape::{Shape, secret, url};
use http::openapi::tags;
use http::page::{PageQuery, Query};
use http::path_id::PathId;
use http::reply::{Created, ListPage, NoContent, Plain, Resource};
use http::routes::ResourceRoutes;
use http::wire::{EmptyBody, OneOrMoreDistinct, Optional, OptionalBody, Rule};
use kernel::directory::Directory;
use kernel::environment::Environment;
use platform::secrets::encryption::SecretCipher;
use platform::secrets::random::secret_bytes;
use store::outbox::Outbox;
use store::queries::Queries;

const PATH: &str = "/api/webhooks/endpoints";
/// OpenAPI tag for operations on endpoints and deliveries.
pub const TAG: &str = tags::WEBHOOKS;
/// OpenAPI description of [`TAG`].
pub const ABOUT: &str = "Webhook endpoints that receive events. Each delivery is signed in `X-Service-Signature` \
                         (`sha256=`, HMAC of the raw body) and as specified by Standard Webhooks. Failed deliveries \
                         are retried after the delays in the setting `webhooks.retry_schedule_seconds`. The payloads \
                         are described under `webhooks` and at `/docs/events`.";
/// Example ID of an endpoint.
pub(super) const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8070";
const WITHHELD: DescribedError = (
    409,
    "answer_withheld",
    "The first response for this `Idempotency-Key` contained a secret, which is returned only once.",
);

handles! {
    /// Dependencies of the endpoint and delivery routes.
    pub struct EndpointHandles {
        endpoints: Directory<Endpoint>,
        queries: Queries,
        outbox: Arc<Outbox>,
        cipher: Arc<SecretCipher>,
        environment: Arc<Environment>,
        config: Arc<Config>,
    }
}

/// Returns the endpoint routes.
pub fn routes() -> ResourceRoutes {
    let [operator, admin] = [Role::Operator, Role::Admin].map(RequiredAccess::Role);
    ResourceRoutes::new(TAG, ABOUT, "endpoint")
        .get(operator, PATH, list, |op| op.named("listEndpoints", "List webhook endpoints"))
        .post(admin, PATH, create, |op| {
            op.named("createEndpoint", "Create a webhook endpoint")
                .about(
                    "From now on, events are sent to the endpoint. A generated secret is returned only in this \
                     response.",
                )
                .errors(&[WITHHELD])
        })
        .get(operator, "/api/webhooks/endpoints/{id}", one, |op| op.named("getEndpoint", "Retrieve a webhook endpoint"))
        .patch(admin, "/api/webhooks/endpoints/{id}", update, |op| {
            op.named("updateEndpoint", "Update a webhook endpoint")
        })
        .delete(admin, "/api/webhooks/endpoints/{id}", remove, |op| {
            op.named("deleteEndpoint", "Remove a webhook endpoint")
                .about("Pending deliveries are cancelled; the delivery log is kept.")
        })
        .post(admin, "/api/webhooks/endpoints/{id}/enable", enable, |op| {
            op.named("enableEndpoint", "Enable a webhook endpoint")
                .about("Sends the events that were held back and resets the failure count.")
        })
        .post(admin, "/api/webhooks/endpoints/{id}/disable", disable, |op| {
            op.named("disableEndpoint", "Pause a webhook endpoint")
                .about("Events for the endpoint are kept until it is enabled again.")
        })
        .post(admin, "/api/webhooks/endpoints/{id}/rotate-secret", rotate, |op| {
            op.named("rotateSecret", "Rotate the signing secret of an endpoint")
                .about("For 24 hours, `webhook-signature` also contains signatures with the previous secret.")
                .errors(&[WITHHELD])
        })
        .get(operator, "/api/webhooks/event-types", event_types, |op| op.named("listEventTypes", "List event types"))
}

/// URL to which webhooks may be sent. Private addresses are checked separately, because a setting may allow them.
struct WebTarget;

impl Rule<String> for WebTarget {
    fn judge(&self, text: &String) -> Result<(), String> {
        target::check(text, true).map(drop).map_err(|error| error.to_string())
    }
    fn mark(&self, _: Shape) -> Shape {
        url()
    }
}

/// Validation rule for signing secrets. The schema limits the number of characters; this rule limits the number of
/// bytes.
struct SigningSecret;

impl Rule<String> for SigningSecret {
    fn judge(&self, text: &String) -> Result<(), String> {
        check_secret(text).map(drop).map_err(|error| error.to_string())
    }
    fn mark(&self, _: Shape) -> Shape {
        secret(1..=SECRET_MAX_BYTES)
    }
}

/// New endpoint to register.
#[derive(Request, Clone, Debug)]
#[api(example = json!({"url": "https://example.org/hooks", "events": ["order.paid", "order.shipped"]}))]
pub struct NewEndpoint {
    /// URL of the endpoint: `http` or `https`, without credentials. Private addresses are rejected unless the server
    /// allows them.
    #[api(WebTarget)]
    url: String,
    /// Event types to send; at least one, without duplicates.
    #[api(OneOrMoreDistinct("event"))]
    events: Vec<OutboundEvent>,
    /// Signing secret, at most 256 bytes; at least 24 bytes are recommended. Generated by the server if omitted.
    #[api(SigningSecret)]
    secret: Option<String>,
}

/// Changes to an endpoint. Omitted fields are left unchanged.
#[derive(Request, Clone, Debug)]
#[api(example = json!({"events": ["order.paid"]}))]
pub struct EndpointChange {
    /// URL of the endpoint: `http` or `https`, without credentials. Private addresses are rejected unless the server
    /// allows them.
    #[api(WebTarget)]
    url: Optional<String>,
    /// Event types to send; at least one, without duplicates.
    #[api(OneOrMoreDistinct("event"))]
    events: Optional<Vec<OutboundEvent>>,
}

/// New signing secret; generated by the server if omitted.
#[derive(Request, Clone, Debug)]
#[api(example = json!({}))]
pub struct SecretRotation {
    /// Signing secret, at most 256 bytes; at least 24 bytes are recommended.
    #[api(SigningSecret)]
    secret: Option<String>,
}

/// Webhook endpoint, to which events are sent.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Endpoint", many = "endpoints", example = example())]
struct EndpointView {
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
    fn new(endpoint: &Endpoint, version: i64) -> Self {
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

    fn after(done: &CommandOutcome<EndpointAnswer>) -> Self {
        Self::new(&done.answer.endpoint, done.version)
    }
}

/// Webhook endpoint with its signing secret.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "EndpointWithSecret", example = example_with_secret())]
struct EndpointWithSecret {
    #[serde(flatten)]
    endpoint: EndpointView,
    /// Signing secret, returned only once and only if the server generated it.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    /// Human-readable warnings about permitted but discouraged values.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
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
struct EventTypes {
    /// All available event types.
    event_types: Vec<OutboundEvent>,
}

/// Signing secret, supplied by the caller or generated by the server.
struct SigningSecretSource {
    secret: String,
    made_here: bool,
    weak: bool,
}

impl SigningSecretSource {
    fn new(requested: Option<String>) -> Self {
        let made_here = requested.is_none();
        let secret = requested.unwrap_or_else(|| generate_secret(secret_bytes()));
        let weak = check_secret(&secret) == Ok(SecretStrength::Weak);
        Self { secret, made_here, weak }
    }

    /// Builds the response, which contains the secret if the server generated it. Fails for a replayed request, because
    /// a generated secret is shown only once.
    fn into_answer(self, endpoint: EndpointView, replayed: bool) -> Result<EndpointWithSecret, ApiError> {
        if self.made_here && replayed {
            return Err(withheld());
        }
        let warning = || vec!["the secret is short; at least 24 bytes are recommended".to_owned()];
        let secret = self.made_here.then_some(self.secret);
        Ok(EndpointWithSecret { endpoint, secret, warnings: self.weak.then(warning) })
    }
}

fn check_url(app: &EndpointHandles, url: &str) -> Result<(), ApiError> {
    let checked = target::check(url, app.config.webhooks.allow_private_targets);
    Ok(checked.map(drop).map_err(|error| Refusal::field("url", error.to_string()))?)
}

fn words(events: &[OutboundEvent]) -> Vec<String> {
    events.iter().map(|event| event.word().to_owned()).collect()
}

async fn list(
    State(app): State<EndpointHandles>,
    Query(page): Query<PageQuery>,
) -> Result<ListPage<EndpointView>, ApiError> {
    let page = page.into();
    let (some, total) = app.queries.endpoints(page).await?;
    let items =
        some.iter().filter_map(|versioned| Some(EndpointView::new(versioned.state.as_ref()?, versioned.revision())));
    Ok(ListPage::new(page, items, total))
}

async fn one(State(app): State<EndpointHandles>, PathId(id): PathId) -> Result<Resource<EndpointView>, ApiError> {
    let (version, endpoint) = find_present(&app.endpoints, id).await?;
    Ok(Resource::new(version, EndpointView::new(&endpoint, version)))
}

async fn event_types() -> Result<Plain<EventTypes>, ApiError> {
    Ok(Plain(EventTypes { event_types: OutboundEvent::ALL.to_vec() }))
}

async fn create(
    State(app): State<EndpointHandles>,
    call: CommandRequest<NewEndpoint>,
) -> Result<Created<EndpointWithSecret>, ApiError> {
    let new = call.read_body();
    let chosen = SigningSecretSource::new(new.as_ref().ok().and_then(|new| new.secret.clone()));
    let command = async {
        let NewEndpoint { url, events, .. } = new?;
        check_url(&app, &url)?;
        let (events, encrypted_secret) = (words(&events), app.cipher.encrypt_or_empty(&chosen.secret));
        Ok(EndpointCommand::Create { url, events, encrypted_secret, cursor: *app.outbox.last().borrow() })
    };
    let done = call.ask_with(&app.endpoints, CommandTarget::New, command).await?;
    Ok(Created::under(PATH, &done, chosen.into_answer(EndpointView::after(&done), done.replayed)?))
}

async fn update(
    State(app): State<EndpointHandles>,
    PathId(id): PathId,
    call: CommandRequest<EndpointChange>,
) -> Result<Resource<EndpointView>, ApiError> {
    let command = async {
        let change = call.read_body()?;
        let (url, events) = (change.url.present(), change.events.present());
        url.as_deref().map_or(Ok(()), |url| check_url(&app, url))?;
        Ok(EndpointCommand::Update { if_version: call.if_match(), url, events: events.map(|events| words(&events)) })
    };
    let done = call.ask_with(&app.endpoints, CommandTarget::Id(id), command).await?;
    Ok(Resource::after(&done, EndpointView::after(&done)))
}

async fn remove(
    State(app): State<EndpointHandles>,
    PathId(id): PathId,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    call.ask(&app.endpoints, CommandTarget::Id(id), EndpointCommand::Archive).await?;
    Ok(NoContent)
}

async fn enable(
    State(app): State<EndpointHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<EndpointView>, ApiError> {
    execute(&app, id, &call, EndpointCommand::Enable).await
}

async fn disable(
    State(app): State<EndpointHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<EndpointView>, ApiError> {
    execute(&app, id, &call, EndpointCommand::Disable).await
}

async fn execute(
    app: &EndpointHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
    command: EndpointCommand,
) -> Result<Resource<EndpointView>, ApiError> {
    let command = async { call.read_body().map(|_| command) };
    let done = call.ask_with(&app.endpoints, CommandTarget::Id(id), command).await?;
    Ok(Resource::after(&done, EndpointView::after(&done)))
}

async fn rotate(
    State(app): State<EndpointHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<SecretRotation>>,
) -> Result<Resource<EndpointWithSecret>, ApiError> {
    let rotation = call.read_body();
    let chosen = SigningSecretSource::new(rotation.as_ref().ok().and_then(|rotation| rotation.secret.clone()));
    let command = async {
        rotation?;
        Ok(EndpointCommand::Rotate { encrypted_secret: app.cipher.encrypt_or_empty(&chosen.secret) })
    };
    let done = call.ask_with(&app.endpoints, CommandTarget::Id(id), command).await?;
    let answer = chosen.into_answer(EndpointView::after(&done), done.replayed)?;
    Ok(Resource::after(&done, answer))
}
