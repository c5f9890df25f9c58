//! Inbound webhooks (production spec §6, decisions §9).

use super::operation::{Operation, Resource, post};
use super::shape::{has, object, open_object, text, yes_no};
use serde_json::json;

pub(super) fn resource() -> Resource {
    Resource {
        tag: "Inbound webhooks",
        about: "What other programs tell the shop.",
        thing: "event",
        shapes: Vec::new(),
        operations: vec![
            payments("/webhooks/payments", "receivePaymentEvent"),
            payments("/api/v1/webhooks/payments", "receivePaymentEventV1"),
        ],
    }
}

fn payments(path: &'static str, id: &'static str) -> Operation {
    post(path, id, "Receive a signed event of the payment processor")
        .about("200 for everything that is signed, also for what is not used; a 5xx makes the processor send it again.")
        .header("Stripe-Signature", text(), "`t=...,v1=...` over `t.body`, with the secret of the endpoint there.")
        .takes(
            open_object(),
            json!({"id": "evt_1", "type": "checkout.session.completed", "created": 1_793_613_600, "data": {"object": {"id": "cs_1"}}}),
        )
        .answers(object([has("received", yes_no())]), json!({"received": true}))
        .no(400, "invalid_signature", "The signature is missing, wrong or too old.")
        .no(400, "malformed_event", "The body is no event.")
        .no(503, "payments_not_configured", "The server has no secret to check signatures with.")
}
