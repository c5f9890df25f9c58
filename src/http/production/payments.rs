//! Signed events of the payment processor (decisions §9): verified over the raw bytes, then applied or kept.

use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::payment_events::matching::Outcome;
use crate::domain::id::Id;
use crate::domain::kept_payment_event::KeptPaymentEventCommand;
use crate::domain::payment_event::{parse, verify};
use crate::domain::principal::Principal;
use crate::http::AppState;
use crate::http::command_request::CommandRequest;
use crate::http::error::{Answer, ApiError};
use crate::http::reply;
use axum::extract::State;
use serde_json::json;
use uuid::Uuid;

/// `POST /webhooks/payments`: 200 for everything that is theirs; a 5xx makes the processor send it again.
pub async fn receive(State(app): State<AppState>, call: CommandRequest) -> Answer {
    let settings = &app.config.payments;
    if settings.webhook_secret.is_empty() {
        return Err(ApiError::unavailable("payments_not_configured", "PAYMENT_WEBHOOK_SECRET is not set", 300));
    }
    let unsigned = |why: String| ApiError::bad_request("invalid_signature", why);
    let header = call.headers.get(settings.signature_header.as_str()).and_then(|value| value.to_str().ok());
    let header = header.ok_or_else(|| unsigned(format!("the header {} is missing", settings.signature_header)))?;
    let (now, tolerance) = (app.environment.now().0 / 1000, settings.tolerance_seconds.duration().as_secs());
    verify(header, &call.body, settings.webhook_secret.expose(), now, tolerance)
        .map_err(|error| unsigned(error.to_string()))?;
    let event = parse(&call.body).map_err(|error| ApiError::bad_request("malformed_event", error.to_string()))?;
    if app.payments.apply(&event).await? == Outcome::Unmatched {
        let body = String::from_utf8(call.body.to_vec()).map_err(ApiError::internal)?;
        keep(&app, event.id, body).await?;
    }
    reply::ok(json!({"received": true}))
}

/// Keeps an event that matches no order yet. Its id is made from the processor's, so that a repeat is the same thing.
async fn keep(app: &AppState, event_id: String, body: String) -> Result<(), ApiError> {
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
