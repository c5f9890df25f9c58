//! Commands that an agent gateway sends to the server.

use super::operation::{Operation, Resource, post};
use super::shape::{anything, has, may, object, open_object, text, word, yes_no};
use crate::domain::agent::Skill;
use serde_json::json;

pub(super) fn resource() -> Resource {
    Resource {
        tag: "Inbound webhooks",
        about: "What other programs tell the shop.",
        thing: "event",
        shapes: Vec::new(),
        operations: vec![agent()],
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
            json!({"skill": "pause-print", "params": {"jobId": crate::http::production::jobs::EXAMPLE_ID}, "userId": "telegram:123"}),
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
