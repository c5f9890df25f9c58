//! The numbers on the wall, health, and how the server's actors fare.

use super::operation::{Resource, get};
use super::shape::{
    Member, Shape, amount, has, id, list, map, may, object, open_object, text, time, whole, word, yes_no,
};
use crate::http::production::materials;
use serde_json::{Value, json};

pub(super) fn resource() -> Resource {
    Resource {
        tag: "System",
        about: "The dashboard, health, the server's own actors, this description.",
        thing: "thing",
        shapes: Vec::new(),
        operations: vec![
            get("/api/dashboard", "getDashboard", "Show the numbers on the wall").answers(dashboard(), dashboard_example()),
            get("/api/system/actors", "listActors", "Show how each thing in memory fares")
                .answers(object([has("actors", list(actor()))]), json!({"actors": [actor_example()]})),
            get("/healthz", "healthz", "Is the process alive?")
                .answers(object([has("status", word(["ok"]))]), json!({"status": "ok"})),
            get("/readyz", "readyz", "Can it work?")
                .about(
                    "The database takes writes and answers reads, and every component stands. Reads, streams and emergency stop go on \
                     when they do not. What fares badly and stops nobody is said under `degraded`.",
                )
                .answers(readiness([has("status", word(["ready", "degraded"]))]), ready_example("ready", json!({})))
                .or(
                    503,
                    "It cannot work: an error with the same facts.",
                    readiness([
                        has("status", word(["unavailable"])),
                        has("success", yes_no()),
                        has("message", text()),
                        has("code", text()),
                    ]),
                    ready_example(
                        "unavailable",
                        json!({"success": false, "message": "the database does not answer", "code": "unavailable"}),
                    ),
                ),
            get("/metrics", "getMetrics", "Show the server's numbers")
                .about("As OpenMetrics, for Prometheus. Open to everybody where the settings say so.")
                .sends("application/openmetrics-text", Some("# TYPE printfloor_orders gauge\n# EOF\n")),
            get("/api/openapi.json", "getDescription", "Show this description")
                .answers(open_object(), json!({"openapi": "3.1.0"})),
        ],
    }
}

fn readiness(first: impl IntoIterator<Item = Member>) -> Shape {
    let part = object([has("state", word(["up", "parked", "down"])), has("falls", whole(0..))]);
    let facts = [
        has("database", word(["ok", "away", "disk_full", "read_only"])),
        may("redis", word(["ok", "away"]).about("Where one is used.")),
        has("parts", map(part).about("Each component of the server.")),
        has("degraded", list(text()).about("In plain words, what fares badly and stops nobody.")),
    ];
    object(first.into_iter().chain(facts))
}

fn ready_example(status: &str, error: Value) -> Value {
    let mut example = json!({
        "status": status, "database": if status == "ready" { "ok" } else { "away" },
        "parts": {"writer": {"state": "up", "falls": 0}}, "degraded": [],
    });
    for (name, value) in error.as_object().into_iter().flatten() {
        example[name] = value.clone();
    }
    example
}

fn dashboard() -> Shape {
    let counts = || map(whole(0..));
    let attention = object([has("id", id()), has("name", text()), has("attention", list(text()))]);
    let low = object([
        has("materialId", id()),
        has("name", text()),
        has("available", amount()),
        has("reorderPoint", amount()),
        has("reorderQuantity", amount()),
        has("unit", text()),
    ]);
    object([
        has("orders", object([has("byStatus", counts())])),
        has("jobs", object([has("byState", counts())])),
        has(
            "printers",
            object([has("total", whole(0..)), has("byState", counts()), has("attention", list(attention))]),
        ),
        has("lowStock", list(low)),
        has("deliveries", object([has("pending", whole(0..)), has("failed", whole(0..))])),
        has("queueLength", whole(0..).about("Jobs that wait for stock or a printer.")),
        has("nextFreeAt", time().or_null().about("When the next printer can take a job, as the printers say.")),
        has("at", time()),
    ])
}

fn dashboard_example() -> Value {
    json!({
        "orders": {"byStatus": {"paid": 2, "printing": 1}}, "jobs": {"byState": {"SLICED": 3, "PRINTING": 1}},
        "printers": {
            "total": 2, "byState": {"idle": 1, "printing": 1},
            "attention": [{"id": crate::http::production::printers::EXAMPLE_ID, "name": "Left", "attention": ["bed_not_cleared"]}],
        },
        "lowStock": [{
            "materialId": materials::EXAMPLE_ID, "name": "PLA black", "available": 120.5, "reorderPoint": 500,
            "reorderQuantity": 2000, "unit": "g",
        }],
        "deliveries": {"pending": 0, "failed": 0}, "queueLength": 3, "nextFreeAt": "2026-11-02T11:50:00.000Z",
        "at": "2026-11-02T11:00:00.000Z",
    })
}

fn actor() -> Shape {
    object([
        has("kind", text().about("`order`, `material`, `printer`, ...")),
        has("id", id()),
        has("place", text().about("`starting`, `running`, `resting`, `parked`.")),
        has("generation", whole(0..).about("Counts its lives.")),
        has("restarts", whole(0..).about("How often it fell.")),
        has("waiting", whole(0..).about("Commands that wait or are under way.")),
        has("lastError", text().or_null()),
    ])
}

fn actor_example() -> Value {
    json!({
        "kind": "order", "id": crate::http::production::orders::EXAMPLE_ID, "place": "running", "generation": 1, "restarts": 0, "waiting": 0,
        "lastError": null,
    })
}
