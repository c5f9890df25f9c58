//! Outbound webhooks: endpoints and their deliveries (production spec §6, decisions §8).

use super::operation::{Named, No, Resource, delete, get, patch, post};
use super::shape::{
    Shape, anything, has, id, list, list_of, may, object, secret, taken, text, text_like, time, url, whole, word,
};
use super::words::{word_of, words_of};
use crate::domain::endpoint::{DeliveryState, EndpointState};
use crate::domain::event::OUTBOUND;
use crate::domain::signing::SECRET_MAX_BYTES;
use serde_json::{Value, json};

const EXAMPLE: &str = "01890a5d-ac96-774b-bcce-b302099a8070";
const WITHHELD: No = (409, "answer_withheld", "The first answer to this `Idempotency-Key` carried a secret.");

pub(super) fn resource() -> Resource {
    Resource {
        tag: "Webhooks",
        about: "Programs that are told what happens. Each delivery is signed in `X-Service-Signature` (`sha256=`, HMAC of the raw \
                body) and as Standard Webhooks; it is tried again after 1 min, 5 min, 25 min, 2 h and 10 h.",
        thing: "endpoint",
        shapes: vec![
            Named { name: "Endpoint", shape: object(endpoint()), example: example() },
            Named { name: "EndpointWithSecret", shape: with_secret(), example: with_secret_example() },
            Named { name: "Delivery", shape: delivery(), example: delivery_example() },
        ],
        operations: vec![
            get("/api/webhooks/endpoints", "listEndpoints", "List endpoints").lists("endpoints", "Endpoint"),
            post("/api/webhooks/endpoints", "createEndpoint", "Register an endpoint")
                .about("It hears of what happens from now on. Without a secret one is made, and shown this once.")
                .takes(
                    taken([has("url", target()), has("events", events()), may("secret", own_secret())]),
                    json!({"url": "https://example.org/hooks", "events": ["order.paid", "order.shipped"]}),
                )
                .creates("EndpointWithSecret")
                .nos(&[WITHHELD]),
            get("/api/webhooks/endpoints/{id}", "getEndpoint", "Show an endpoint").shows("Endpoint"),
            patch("/api/webhooks/endpoints/{id}", "updateEndpoint", "Change an endpoint")
                .takes(taken([may("url", target()), may("events", events())]), json!({"events": ["order.paid"]}))
                .shows("Endpoint"),
            delete("/api/webhooks/endpoints/{id}", "deleteEndpoint", "Remove an endpoint")
                .about("What is still to be sent is cancelled; the log stays."),
            post("/api/webhooks/endpoints/{id}/enable", "enableEndpoint", "Send to an endpoint again")
                .about("After it was disabled: what was held is sent, and the count of failures starts anew.")
                .takes_nothing()
                .shows("Endpoint"),
            post("/api/webhooks/endpoints/{id}/rotate-secret", "rotateSecret", "Change an endpoint's secret")
                .about("For 24 hours `webhook-signature` carries signatures of the old one too.")
                .may_take(taken([may("secret", own_secret())]), json!({}))
                .shows("EndpointWithSecret")
                .nos(&[WITHHELD]),
            post("/api/webhooks/endpoints/{id}/test", "testEndpoint", "Send a test event")
                .takes_nothing()
                .creates("Delivery"),
            post("/api/webhooks/endpoints/{id}/replay", "replayDeliveries", "Send again what was sent since then")
                .about("Each event once, in the background.")
                .takes(
                    taken([has("since", time().about("Within the last 30 days."))]),
                    json!({"since": "2026-11-01T00:00:00.000Z"}),
                )
                .answers(
                    object([has("replayed", whole(0..).about("How many are sent again."))]),
                    json!({"replayed": 17}),
                )
                .no(409, "replay_running", "The replay before is not through yet."),
            get("/api/webhooks/endpoints/{id}/deliveries", "listDeliveries", "Show what an endpoint was sent")
                .about("Kept for 30 days; also of an endpoint that was removed.")
                .query("state", word_of::<DeliveryState>(), "That stand so.")
                .query("event", text(), "Of this kind of event.")
                .lists("deliveries", "Delivery"),
            post("/api/webhooks/deliveries/{id}/redeliver", "redeliver", "Send one delivery again")
                .takes_nothing()
                .creates("Delivery")
                .of("delivery")
                .no(404, "endpoint_not_found", "Its endpoint was removed.")
                .no(409, "delivery_pending", "It is still to be sent."),
            get("/api/webhooks/event-types", "listEventTypes", "List what can be subscribed to")
                .answers(object([has("eventTypes", list(word(OUTBOUND)))]), json!({ "eventTypes": OUTBOUND })),
        ],
    }
}

fn target() -> Shape {
    url().about("`http` or `https`, without credentials; private addresses are refused unless the server allows them.")
}

fn events() -> Shape {
    list_of(word(OUTBOUND), 1..).unlike_each_other()
}

fn own_secret() -> Shape {
    secret(1..=SECRET_MAX_BYTES).or_null().about("At most 256 bytes; 24 or more are advised.")
}

fn endpoint() -> Vec<super::shape::Member> {
    vec![
        has("id", id()),
        has("url", text()),
        has("events", list(word(OUTBOUND))),
        has("state", word_of::<EndpointState>()),
        has("disabledReason", text().or_null()),
        has("formerSecretUntil", time().or_null().about("So long the secret before this one signs too.")),
        has("createdAt", time()),
        has("updatedAt", time()),
        has("version", whole(1..)),
    ]
}

fn with_secret() -> Shape {
    let mut members = endpoint();
    members.push(may("secret", text().about("Only when the server made it: shown this once.")));
    members.push(may("warnings", list(text())));
    object(members)
}

fn example() -> Value {
    json!({
        "id": EXAMPLE, "url": "https://example.org/hooks", "events": ["order.paid", "order.shipped"], "state": "active",
        "disabledReason": null, "formerSecretUntil": null, "createdAt": "2026-11-01T08:00:00.000Z",
        "updatedAt": "2026-11-01T08:00:00.000Z", "version": 1,
    })
}

fn with_secret_example() -> Value {
    let mut example = example();
    example["secret"] = json!("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDH2f0lVB+7lY=");
    example
}

fn delivery() -> Shape {
    let states = words_of::<DeliveryState>().into_iter().chain(["sending"]);
    object([
        has("id", id().about("`X-Service-Delivery`, the same on every attempt.")),
        has("endpointId", id()),
        has("eventId", id().about("`webhook-id`, and the `id` of what is sent.")),
        has("event", text_like("^[a-z]+\\.[a-z_]+$")),
        has("replay", whole(0..).about("0 the first time; redeliveries and replays count up.")),
        has("state", word(states)),
        has("attempts", whole(0..)),
        has("nextAt", time().or_null()),
        has("lastStatus", whole(100..=999).or_null()),
        has("lastError", text().or_null()),
        has("lastExcerpt", text().or_null().about("At most 1 KiB of the last answer.")),
        has("lastDurationMs", whole(0..).or_null()),
        has("createdAt", time()),
        has("attemptedAt", time().or_null()),
        has("payload", anything().about("What is sent.")),
    ])
}

fn delivery_example() -> Value {
    let order = crate::http::production::orders::EXAMPLE_ID;
    json!({
        "id": "01890a5d-ac96-774b-bcce-b302099a8071", "endpointId": EXAMPLE, "eventId": super::events::EXAMPLE,
        "event": "order.paid", "replay": 0, "state": "delivered", "attempts": 1, "nextAt": null, "lastStatus": 204,
        "lastError": null, "lastExcerpt": null, "lastDurationMs": 38, "createdAt": "2026-11-02T10:00:00.000Z",
        "attemptedAt": "2026-11-02T10:00:00.040Z",
        "payload": {
            "id": super::events::EXAMPLE, "event": "order.paid", "timestamp": "2026-11-02T10:00:00.000Z",
            "data": {"orderId": order, "number": "ORD-000123", "status": "paid", "totalCents": 2500, "currency": "usd"},
        },
    })
}
