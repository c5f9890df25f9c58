//! Webhook endpoints: registering, changing and enabling them, and their signing secrets.

mod view;

use std::sync::Arc;

use api_derive::Request;
use axum::extract::State;
use serde_json::json;

use self::view::{EndpointView, EndpointWithSecret, EventTypes};
use super::keys::withheld;
use config::Config;
use domain::endpoint::{Endpoint, EndpointAnswer, EndpointCommand};
use domain::event::OutboundEvent;
use domain::id::Id;
use domain::principal::Role;
use domain::refusal::Refusal;
use domain::signing::{SECRET_MAX_BYTES, SecretStrength, check_secret, generate_secret};
use domain::target;
use http::access::RequiredAccess;
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget, find_present};
use http::error::ApiError;
use http::handles::handles;
use http::openapi::shape::{Shape, secret, url};
use http::openapi::tags;
use http::operation::DescribedError;
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
const WEAK_SECRET: &str = "the secret is short; at least 24 bytes are recommended";

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
            op.named("disableEndpoint", "Disable a webhook endpoint")
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

    /// Adds the secret to the endpoint if the server generated it. Fails for a replayed request, because a generated
    /// secret is shown only once.
    fn disclose(self, outcome: CommandOutcome<EndpointAnswer>) -> Result<EndpointDisclosure, ApiError> {
        if self.made_here && outcome.replayed {
            return Err(withheld());
        }
        let secret = self.made_here.then_some(self.secret);
        Ok(EndpointDisclosure { outcome, secret, warning: self.weak.then_some(WEAK_SECRET) })
    }
}

/// Endpoint after a command that sets its signing secret.
pub struct EndpointDisclosure {
    /// Endpoint and its version.
    pub outcome: CommandOutcome<EndpointAnswer>,
    /// Signing secret generated by the server, which is shown only once; `None` if the caller supplied it.
    pub secret: Option<String>,
    /// Warning about a permitted but discouraged secret.
    pub warning: Option<&'static str>,
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

/// Registers the endpoint described by the request.
pub async fn add(app: &EndpointHandles, call: &CommandRequest<NewEndpoint>) -> Result<EndpointDisclosure, ApiError> {
    let new = call.read_body();
    let chosen = SigningSecretSource::new(new.as_ref().ok().and_then(|new| new.secret.clone()));
    let command = async {
        let NewEndpoint { url, events, .. } = new?;
        check_url(app, &url)?;
        let (events, encrypted_secret) = (words(&events), app.cipher.encrypt_or_empty(&chosen.secret));
        Ok(EndpointCommand::Create { url, events, encrypted_secret, cursor: *app.outbox.last().borrow() })
    };
    let outcome = call.ask_with(&app.endpoints, CommandTarget::New, command).await?;
    chosen.disclose(outcome)
}

async fn create(
    State(app): State<EndpointHandles>,
    call: CommandRequest<NewEndpoint>,
) -> Result<Created<EndpointWithSecret>, ApiError> {
    let done = add(&app, &call).await?;
    Ok(Created::under(PATH, &done.outcome, EndpointWithSecret::after(&done)))
}

/// Changes an endpoint's URL or event types.
pub async fn change(
    app: &EndpointHandles,
    id: Id,
    call: &CommandRequest<EndpointChange>,
) -> Result<CommandOutcome<EndpointAnswer>, ApiError> {
    let command = async {
        let change = call.read_body()?;
        let (url, events) = (change.url.present(), change.events.present());
        url.as_deref().map_or(Ok(()), |url| check_url(app, url))?;
        let (events, newest) = (events.map(|events| words(&events)), *app.outbox.last().borrow());
        Ok(EndpointCommand::Update { if_version: call.if_match(), url, events, newest })
    };
    call.ask_with(&app.endpoints, CommandTarget::Id(id), command).await
}

async fn update(
    State(app): State<EndpointHandles>,
    PathId(id): PathId,
    call: CommandRequest<EndpointChange>,
) -> Result<Resource<EndpointView>, ApiError> {
    let done = change(&app, id, &call).await?;
    Ok(Resource::after(&done, EndpointView::after(&done)))
}

/// Removes an endpoint and cancels its pending deliveries.
pub async fn delete(
    app: &EndpointHandles,
    id: Id,
    call: &CommandRequest,
) -> Result<CommandOutcome<EndpointAnswer>, ApiError> {
    call.ask(&app.endpoints, CommandTarget::Id(id), EndpointCommand::Archive).await
}

async fn remove(
    State(app): State<EndpointHandles>,
    PathId(id): PathId,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    delete(&app, id, &call).await?;
    Ok(NoContent)
}

/// Sends a command without parameters to an endpoint.
pub async fn execute(
    app: &EndpointHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
    command: EndpointCommand,
) -> Result<CommandOutcome<EndpointAnswer>, ApiError> {
    let command = async { call.read_body().map(|_| command) };
    call.ask_with(&app.endpoints, CommandTarget::Id(id), command).await
}

async fn enable(
    State(app): State<EndpointHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<EndpointView>, ApiError> {
    let done = execute(&app, id, &call, EndpointCommand::Enable).await?;
    Ok(Resource::after(&done, EndpointView::after(&done)))
}

async fn disable(
    State(app): State<EndpointHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<EndpointView>, ApiError> {
    let done = execute(&app, id, &call, EndpointCommand::Disable).await?;
    Ok(Resource::after(&done, EndpointView::after(&done)))
}

/// Replaces an endpoint's signing secret.
pub async fn rotate_secret(
    app: &EndpointHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<SecretRotation>>,
) -> Result<EndpointDisclosure, ApiError> {
    let rotation = call.read_body();
    let chosen = SigningSecretSource::new(rotation.as_ref().ok().and_then(|rotation| rotation.secret.clone()));
    let command = async {
        rotation?;
        Ok(EndpointCommand::Rotate { encrypted_secret: app.cipher.encrypt_or_empty(&chosen.secret) })
    };
    let outcome = call.ask_with(&app.endpoints, CommandTarget::Id(id), command).await?;
    chosen.disclose(outcome)
}

async fn rotate(
    State(app): State<EndpointHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<SecretRotation>>,
) -> Result<Resource<EndpointWithSecret>, ApiError> {
    let done = rotate_secret(&app, id, &call).await?;
    Ok(Resource::after(&done.outcome, EndpointWithSecret::after(&done)))
}
