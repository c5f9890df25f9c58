//! The numbers on the wall (production spec §4, decisions §7).

use crate::domain::endpoint::DeliveryState;
use crate::domain::job::JobState;
use crate::domain::material::Material;
use crate::domain::printer::Printer;
use crate::domain::time::Timestamp;
use crate::http::AppState;
use crate::http::error::Answer;
use crate::http::reply;
use axum::extract::State;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// `GET /api/dashboard`
pub async fn show(State(app): State<AppState>) -> Answer {
    let (queries, now) = (&app.queries, app.environment.now());
    let orders = queries.orders_by_status().await?;
    let jobs = queries.jobs_by_state().await?;
    let deliveries = queries.undelivered_by_state().await?;
    let queued = |state: &JobState| {
        use JobState as S;
        matches!(state, S::Created | S::Validated | S::AwaitingManualReview | S::Sliced)
    };
    let queue_length: u64 = jobs.iter().filter(|(state, _)| queued(state)).map(|(_, count)| count).sum();
    let of = |wanted: DeliveryState| deliveries.iter().find(|(state, _)| *state == wanted).map_or(0, |(_, n)| *n);
    reply::ok(json!({
        "orders": {"byStatus": by_word(&orders)},
        "jobs": {"byState": by_word(&jobs)},
        "printers": printers(&app),
        "lowStock": low_stock(&app),
        "deliveries": {"pending": of(DeliveryState::Pending), "failed": of(DeliveryState::Failed)},
        "queueLength": queue_length,
        "nextFreeAt": next_free_at(&app, now),
        "at": now,
    }))
}

fn by_word<W: Serialize>(counts: &[(W, u64)]) -> Value {
    let word = |word: &W| json!(word).as_str().unwrap_or_default().to_owned();
    Value::Object(counts.iter().map(|(state, count)| (word(state), json!(count))).collect::<Map<_, _>>())
}

fn present(app: &AppState) -> Vec<Printer> {
    let all = app.printers.all_resident();
    all.iter().filter_map(|(_, state)| state.state.clone()).filter(|printer| !printer.archived).collect()
}

fn printers(app: &AppState) -> Value {
    let all = present(app);
    let mut by_state = BTreeMap::<String, u64>::new();
    for printer in &all {
        let word = json!(printer.activity).as_str().unwrap_or_default().to_owned();
        *by_state.entry(word).or_default() += 1;
    }
    let attention = all.iter().filter(|printer| !printer.attention().is_empty());
    let attention: Vec<Value> = attention
        .map(|printer| json!({"id": printer.id, "name": printer.fields.name, "attention": printer.attention()}))
        .collect();
    json!({"total": all.len(), "byState": by_state, "attention": attention})
}

fn low_stock(app: &AppState) -> Vec<Value> {
    let all = app.materials.all_resident();
    let low = |material: &&Material| !material.archived && material.available() < material.fields.reorder_point;
    let mut low: Vec<&Material> = all.iter().filter_map(|(_, state)| state.state.as_ref()).filter(low).collect();
    low.sort_by(|a, b| a.fields.name.cmp(&b.fields.name));
    let view = |material: &Material| {
        let fields = &material.fields;
        json!({
            "materialId": material.id, "name": fields.name, "available": material.available(),
            "reorderPoint": fields.reorder_point, "reorderQuantity": fields.reorder_quantity, "unit": fields.kind.unit(),
        })
    };
    low.into_iter().map(view).collect()
}

/// When the next printer can take a job: now, or when the first print is over as its printer says; unknown is null.
fn next_free_at(app: &AppState, now: Timestamp) -> Option<Timestamp> {
    let free = |printer: &Printer| {
        if printer.free().is_ok() {
            return Some(now);
        }
        let left = app.printer_connections.status(printer.id)?.remaining_seconds?;
        Some(now.plus_ms(left.max(0).saturating_mul(1000)))
    };
    present(app).iter().filter_map(free).min()
}
