//! The audit log (decisions §2).

use super::operation::{Named, Resource, get};
use super::shape::{Shape, anything, has, id, object, text, time};
use serde_json::{Value, json};

pub(super) fn resource() -> Resource {
    Resource {
        tag: "Audit log",
        about: "Every change and sign-in, and a sample of what was refused.",
        thing: "entry",
        shapes: vec![Named { name: "AuditEntry", shape: shape(), example: example() }],
        operations: vec![
            get("/api/audit-log", "listAuditLog", "Read the audit log")
                .query("actor", text(), "By them: `user:...`, `key:...`, `machine`.")
                .query("action", text(), "Of this kind, such as `order.cancel`.")
                .query("subject", text(), "About this thing: `kind:id`, an id, or a kind.")
                .query("from", time(), "Not before.")
                .query("to", time(), "Before.")
                .lists("entries", "AuditEntry"),
        ],
    }
}

fn shape() -> Shape {
    object([
        has("id", id()),
        has("at", time()),
        has("actor", text()),
        has("action", text()),
        has("subject", object([has("kind", text()), has("id", id().or_null())])),
        has("requestId", text().or_null()),
        has("outcome", text().about("`done`, the code of a refusal, or `counted` for many of those.")),
        has("detail", anything()),
    ])
}

fn example() -> Value {
    json!({
        "id": "01890a5d-ac96-774b-bcce-b302099a8073", "at": "2026-11-02T10:00:00.000Z", "actor": "machine",
        "action": "order.mark_paid", "subject": {"kind": "order", "id": crate::http::production::orders::EXAMPLE_ID},
        "requestId": "01890a5d-ac96-774b-bcce-b302099a8074", "outcome": "done", "detail": null,
    })
}
