//! Webhook endpoints: registered, changed, enabled, their secrets (production spec §2, decisions §8).

use super::keys::withheld;
use crate::actors::kernel::environment::secret_bytes;
use crate::domain::endpoint::{Endpoint, EndpointAnswer, EndpointCommand};
use crate::domain::event::OUTBOUND;
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;
use crate::domain::signing::{SecretStrength, check_secret, generate_secret};
use crate::domain::target;
use crate::http::AppState;
use crate::http::body::{Fields, sure};
use crate::http::command_request::{CommandOutcome, CommandRequest, CommandTarget, found, state_of};
use crate::http::error::{Answer, ApiError};
use crate::http::page::{Params, body};
use crate::http::path_id::PathId;
use crate::http::reply;
use axum::extract::State;
use serde_json::{Value, json};

fn view(endpoint: &Endpoint, version: i64) -> Value {
    json!({
        "id": endpoint.id, "url": endpoint.url, "events": endpoint.events, "state": endpoint.state,
        "disabledReason": endpoint.disabled_reason,
        "formerSecretUntil": endpoint.former.as_ref().map(|(_, until)| until),
        "createdAt": endpoint.created_at, "updatedAt": endpoint.updated_at, "version": version,
    })
}

fn shown(done: &CommandOutcome<EndpointAnswer>) -> Result<Value, ApiError> {
    match &done.answer {
        EndpointAnswer::Endpoint(endpoint) => Ok(view(endpoint, done.version)),
        other => Err(ApiError::internal(format!("an endpoint answered {other:?}"))),
    }
}

/// An endpoint that is not deleted.
pub async fn present(app: &AppState, id: Id) -> Result<(i64, Endpoint), ApiError> {
    let (version, state) = found(&app.endpoints, id).await?;
    let endpoint = state_of(&state)?;
    if endpoint.archived { Err(Refusal::not_found("endpoint").into()) } else { Ok((version, endpoint.clone())) }
}

/// `GET /api/webhooks/endpoints`
pub async fn list(State(app): State<AppState>, params: Params) -> Answer {
    let page = params.page()?;
    let (some, total) = app.queries.endpoints(page).await?;
    let items = some.iter().filter_map(|found| Some(view(found.state.as_ref()?, found.version))).collect();
    reply::ok(body(page, "endpoints", items, total))
}

/// `GET /api/webhooks/endpoints/{id}`
pub async fn one(State(app): State<AppState>, PathId(id): PathId) -> Answer {
    let (version, endpoint) = present(&app, id).await?;
    reply::resource(version, &view(&endpoint, version))
}

/// `GET /api/webhooks/event-types`
pub async fn event_types() -> Answer {
    reply::ok(json!({ "eventTypes": OUTBOUND }))
}

fn check_url(app: &AppState, fields: &mut Fields, url: Option<&String>) {
    if let Some(url) = url {
        fields.judge("url", target::check(url, app.config.webhooks.allow_private_targets));
    }
}

/// A secret that the caller chose, or one of our making.
struct Chosen {
    secret: String,
    ours: bool,
    warning: Option<&'static str>,
}

impl Chosen {
    fn read(fields: &mut Fields) -> Self {
        let given: Option<String> = fields.nullable("secret").flatten();
        let Some(secret) = given else {
            return Self { secret: generate_secret(secret_bytes()), ours: true, warning: None };
        };
        let weak = fields.judge("secret", check_secret(&secret)) == Some(SecretStrength::Weak);
        Self { secret, ours: false, warning: weak.then_some("the secret is short; 24 bytes or more are advised") }
    }

    /// The answer, with the secret when it is ours: this once.
    fn told(&self, mut shown: Value, replayed: bool) -> Result<Value, ApiError> {
        if self.ours {
            if replayed {
                return Err(withheld());
            }
            shown["secret"] = json!(self.secret);
        }
        if let Some(warning) = self.warning {
            shown["warnings"] = json!([warning]);
        }
        Ok(shown)
    }
}

/// `POST /api/webhooks/endpoints {url, events, secret?}`
pub async fn create(State(app): State<AppState>, call: CommandRequest) -> Answer {
    let mut fields = call.fields()?;
    let url: Option<String> = fields.need("url");
    check_url(&app, &mut fields, url.as_ref());
    let events: Option<Vec<String>> = fields.need("events");
    let chosen = Chosen::read(&mut fields);
    fields.finish()?;
    let cursor = *app.outbox.last().borrow();
    let encrypted_secret = app.seal(&chosen.secret);
    let command = EndpointCommand::Create { url: sure(url)?, events: sure(events)?, encrypted_secret, cursor };
    let done = call.ask(&app.endpoints, CommandTarget::New, command).await?;
    let shown = chosen.told(shown(&done)?, done.replayed)?;
    reply::created(&done, &format!("/api/webhooks/endpoints/{}", done.id), shown)
}

/// `PATCH /api/webhooks/endpoints/{id} {url?, events?}`
pub async fn update(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let mut fields = call.fields()?;
    let url: Option<String> = fields.opt("url");
    check_url(&app, &mut fields, url.as_ref());
    let events: Option<Vec<String>> = fields.opt("events");
    fields.finish()?;
    let change = EndpointCommand::Update { if_version: call.if_match(), url, events };
    let done = call.ask(&app.endpoints, CommandTarget::Id(id), change).await?;
    reply::changed(&done, shown(&done)?)
}

/// `DELETE /api/webhooks/endpoints/{id}`: pending deliveries are cancelled, the log stays.
pub async fn remove(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.ask(&app.endpoints, CommandTarget::Id(id), EndpointCommand::Archive).await?;
    reply::no_content()
}

/// `POST /api/webhooks/endpoints/{id}/enable`: sends what was held.
pub async fn enable(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.optional_fields()?.finish()?;
    let done = call.ask(&app.endpoints, CommandTarget::Id(id), EndpointCommand::Enable).await?;
    reply::changed(&done, shown(&done)?)
}

/// `POST /api/webhooks/endpoints/{id}/rotate-secret {secret?}`: the old one signs beside it for 24 h.
pub async fn rotate(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let mut fields = call.optional_fields()?;
    let chosen = Chosen::read(&mut fields);
    fields.finish()?;
    let command = EndpointCommand::Rotate { encrypted_secret: app.seal(&chosen.secret) };
    let done = call.ask(&app.endpoints, CommandTarget::Id(id), command).await?;
    let shown = chosen.told(shown(&done)?, done.replayed)?;
    reply::changed(&done, shown)
}
