//! Signed events of the payment processor: verified over the raw bytes, then applied or kept.

use std::sync::Arc;

use api_derive::Response;
use axum::extract::{FromRequest, Request, State};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::agent;
use crate::actors::kernel::directory::Directory;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::environment::Environment;
use crate::actors::payment_events::matching::{PaymentMatch, PaymentMatcher};
use crate::config::Config;
use crate::domain::id::Id;
use crate::domain::kept_payment_event::{KeptPaymentEvent, KeptPaymentEventCommand};
use crate::domain::payment_event::{parse, verify};
use crate::domain::principal::Principal;
use crate::http::AppState;
use crate::http::access::RequiredAccess;
use crate::http::command_request::CommandRequest;
use crate::http::error::ApiError;
use crate::http::handles::handles;
use crate::http::openapi::operation::{Operation, RequestBody};
use crate::http::openapi::shape::{Shape, open_object, text};
use crate::http::reply::Plain;
use crate::http::routes::ResourceRoutes;
use crate::http::wire::{Argument, Components, ToSchema, schema_of};

handles! {
    /// What the routes of payment events use.
    pub(crate) struct PaymentHandles {
        payments: PaymentMatcher,
        inbound: Directory<KeptPaymentEvent>,
        environment: Arc<Environment>,
        config: Arc<Config>,
    }
}

/// The routes of payment events: one path as the processor knows it, and one for processors that were set up earlier.
pub fn routes() -> ResourceRoutes {
    ResourceRoutes::new(agent::TAG, agent::ABOUT, "event")
        .post(RequiredAccess::Open, "/webhooks/payments", receive, |op| words(op, "receivePaymentEvent"))
        .post(RequiredAccess::Open, "/api/v1/webhooks/payments", receive, |op| words(op, "receivePaymentEventV1"))
}

fn words(operation: Operation, id: &'static str) -> Operation {
    operation
        .named(id, "Receive a signed event of the payment processor")
        .about("200 for everything that is signed, also for what is not used; a 5xx makes the processor send it again.")
        .header(
            &Config::default().payments.signature_header,
            text(),
            "`t=...,v1=...` over `t.body`, with the secret of the endpoint there. The settings may give the header another name.",
        )
        .no(400, "invalid_signature", "The signature is missing, wrong or too old.")
        .no(400, "malformed_event", "The body is no event.")
        .no(503, "payments_not_configured", "The server has no secret to check signatures with.")
}

/// A body that is verified and read as raw bytes.
struct SignedEvent(CommandRequest);

impl FromRequest<AppState> for SignedEvent {
    type Rejection = ApiError;
    async fn from_request(request: Request, app: &AppState) -> Result<Self, ApiError> {
        CommandRequest::from_request(request, app).await.map(Self)
    }
}

impl Argument for SignedEvent {
    fn describe(operation: &mut Operation, components: &mut Components) {
        components.add::<PaymentEventBody>();
        operation.body = Some(RequestBody {
            media: "application/json",
            shape: schema_of::<PaymentEventBody>(),
            example: Some(PaymentEventBody::example()),
            optional: false,
        });
    }
}

/// How the description names what the processor sends.
struct PaymentEventBody;

impl ToSchema for PaymentEventBody {
    const NAME: Option<&'static str> = Some("PaymentEvent");
    fn schema() -> Shape {
        open_object().about("An event as the payment processor sends it.")
    }
    fn example() -> Value {
        json!({
            "id": "evt_1", "type": "checkout.session.completed", "created": 1_793_613_600,
            "data": {"object": {"id": "cs_1"}},
        })
    }
}

#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PaymentEventReceived", example = json!({"received": true}))]
struct Received {
    /// Always true.
    received: bool,
}

/// 200 for everything that the processor signed; a 5xx makes it send the event again.
async fn receive(
    State(app): State<PaymentHandles>,
    SignedEvent(call): SignedEvent,
) -> Result<Plain<Received>, ApiError> {
    let settings = &app.config.payments;
    if settings.webhook_secret.is_empty() {
        return Err(ApiError::unavailable("payments_not_configured", "PAYMENT_WEBHOOK_SECRET is not set", 300));
    }
    let unsigned = |why: String| ApiError::bad_request("invalid_signature", why);
    let header = call.headers.get(settings.signature_header.as_str()).and_then(|value| value.to_str().ok());
    let header = header.ok_or_else(|| unsigned(format!("the header {} is missing", settings.signature_header)))?;
    let (now, tolerance) = (app.environment.now().0 / 1000, settings.signature_tolerance_seconds.duration().as_secs());
    verify(header, &call.body, settings.webhook_secret.expose(), now, tolerance)
        .map_err(|error| unsigned(error.to_string()))?;
    let event = parse(&call.body).map_err(|error| ApiError::bad_request("malformed_event", error.to_string()))?;
    if app.payments.apply(&event).await? == PaymentMatch::Unmatched {
        let body = String::from_utf8(call.body.to_vec()).map_err(ApiError::internal)?;
        keep(&app, event.id, body).await?;
    }
    Ok(Plain(Received { received: true }))
}

/// Keeps an event that matches no order yet. Its id is made from the processor's, so that a repeat is the same thing.
async fn keep(app: &PaymentHandles, event_id: String, body: String) -> Result<(), ApiError> {
    let id = Id(Uuid::new_v5(&Uuid::NAMESPACE_OID, event_id.as_bytes()));
    let command = KeptPaymentEventCommand::Keep { event_id, body };
    let (inbound, caller) = (&app.inbound, CommandOrigin::new(Principal::Processor));
    if inbound.find(id).await?.is_some() {
        inbound.ask(id, caller, command).await?;
    } else {
        inbound.create_as(id, caller, command).await?;
    }
    Ok(())
}
