//! Webhooks that other programs send to the server: payment events, and commands of an agent gateway.

use super::operation::{Operation, Resource, post};
use super::shape::{anything, has, may, object, open_object, text, word, yes_no};
use crate::config::Config;
use crate::domain::agent::Skill;
use serde_json::json;

pub(super) fn resource() -> Resource {
    Resource {
        tag: "KeptPaymentEvent webhooks",
        about: "What other programs tell the shop.",
        thing: "event",
        shapes: Vec::new(),
        operations: vec![
            agent(),
            payments("/webhooks/payments", "receivePaymentEvent"),
            payments("/api/v1/webhooks/payments", "receivePaymentEventV1"),
        ],
    }
}

fn agent() -> Operation {
    let skills = Skill::ALL.iter().map(|skill| skill.word());
    post("/webhooks/agent", "receiveAgentCommand", "Carry out a command of the agent gateway")
        .about("With the gateway's token. Unknown members are ignored. Every command is in the audit log.")
        .by_token()
        .takes(
            object([
                has("skill", word(skills)),
                may("params", open_object().or_null().about("Such as `jobId`, `printerId`, `orderId`, `materialId`.")),
                may("userId", text().about("Caller asks, with the channel in front: `telegram:123`.")),
            ]),
            json!({"skill": "pause-print", "params": {"jobId": super::jobs::EXAMPLE}, "userId": "telegram:123"}),
        )
        .answers(
            object([has("ok", yes_no()), has("message", text().about("For the chat.")), has("data", anything())]),
            json!({"ok": true, "message": "JOB-000245 is being paused", "data": {"printerId": crate::http::production::printers::EXAMPLE_ID}}),
        )
        .no(401, "unauthorized", "The token is missing or wrong.")
        .no(403, "user_not_allowed", "This user may not give commands.")
        .no(404, "not_found", "What the parameters name is not there.")
        .no(409, "invalid_transition", "It does not stand so that this can be done; other codes say more.")
        .no(502, "printer_refused", "The printer refused, in its own words.")
        .no(503, "agent_not_configured", "The server has no token to compare with.")
        .no(504, "printer_timeout", "The printer did not answer in time, or cannot be reached.")
}

fn payments(path: &'static str, id: &'static str) -> Operation {
    post(path, id, "Receive a signed event of the payment processor")
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
        .answers(object([has("received", yes_no())]), json!({"received": true}))
        .no(400, "invalid_signature", "The signature is missing, wrong or too old.")
        .no(400, "malformed_event", "The body is no event.")
        .no(503, "payments_not_configured", "The server has no secret to check signatures with.")
}
