//! Signed events of the payment processor: verified over the raw bytes, then applied, or kept until their order is there.

use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::payment_events::matching::{Outcome, apply};
use crate::config::Config;
use crate::domain::id::Id;
use crate::domain::kept_payment_event::InboundCommand;
use crate::domain::payment_event::{parse, verify};
use crate::domain::principal::Principal;
use crate::http::AppState;
use crate::http::access::RequiredAccess;
use crate::http::command_request::CommandRequest;
use crate::http::error::ApiError;
use crate::http::openapi::operation::Operation;
use crate::http::openapi::shape::{open_object, text};
use crate::http::reply::Plain;
use crate::http::routes::ResourceRoutes;
use api_derive::Response;
use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

/// The routes of payment events. Both paths are the same; the second is what older settings of the processor name.
pub fn routes() -> ResourceRoutes {
    let open = RequiredAccess::Open;
    ResourceRoutes::new("Payment events", "Signed events that the payment processor sends.", "event")
        .post(open, "/webhooks/payments", receive, |op| described(op, "receivePaymentEvent"))
        .post(open, "/api/v1/webhooks/payments", receive, |op| described(op, "receivePaymentEventV1"))
}

/// The body is the processor's: it is described as an open object, and read by hand once its signature is verified.
fn described(operation: Operation, id: &'static str) -> Operation {
    operation
        .named(id, "Receive a signed event of the payment processor")
        .about("200 for everything that is signed, also for what is not used; a 5xx makes the processor send it again.")
        .header(
            &Config::default().payments.signature_header,
            text(),
            "`t=...,v1=...` over `t.body`, with the secret of the endpoint there. The settings may give the header another name.",
        )
        .takes(
            open_object(),
            json!({"id": "evt_1", "type": "checkout.session.completed", "created": 1_793_613_600, "data": {"object": {"id": "cs_1"}}}),
        )
        .no(400, "invalid_signature", "The signature is missing, wrong or too old.")
        .no(400, "malformed_event", "The body is no event.")
        .no(503, "payments_not_configured", "The server has no secret to check signatures with.")
}

/// The event was received.
#[derive(Response, Serialize)]
#[api(name = "EventReceipt", example = json!({"received": true}))]
struct Receipt {
    /// Always true.
    received: bool,
}

async fn receive(State(app): State<AppState>, call: CommandRequest) -> Result<Plain<Receipt>, ApiError> {
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
    if apply(&app.app, &event).await? == Outcome::Unmatched {
        let body = String::from_utf8(call.body.to_vec()).map_err(ApiError::internal)?;
        keep(&app, event.id, body).await?;
    }
    Ok(Plain(Receipt { received: true }))
}

/// Keeps an event that matches no order yet. Its id is made from the processor's, so that a repeat is the same one.
async fn keep(app: &AppState, event_id: String, body: String) -> Result<(), ApiError> {
    let id = Id(Uuid::new_v5(&Uuid::NAMESPACE_OID, event_id.as_bytes()));
    let command = InboundCommand::Keep { event_id, body };
    let (inbound, caller) = (&app.inbound, CommandOrigin::new(Principal::Processor));
    if inbound.find(id).await?.is_some() {
        inbound.ask(id, caller, command).await?;
    } else {
        inbound.create_as(id, caller, command).await?;
    }
    Ok(())
}
