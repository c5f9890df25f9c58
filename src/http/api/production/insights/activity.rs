//! Prints and orders in a time span, as part of the insights.

use std::collections::BTreeMap;

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::InsightHandles;
use crate::production::printers::FailureReason;
use domain::amount::Amount;
use domain::id::Id;
use domain::insights::{LEAD_STEPS_MS, LeadTimes, PrintTally, PromiseTally, day_text, days_between, lead_ms, share};
use domain::shop_clock::ShopClock;
use domain::time::Timestamp;
use http::error::ApiError;
use store::queries::ActivityGrouping;

/// Maximum number of printers in a response.
const MAX_PRINTERS_SHOWN: usize = 1000;
/// Maximum number of materials in a response.
const MAX_MATERIALS_SHOWN: usize = 200;

/// Number of prints by outcome.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrintNumbers", example = numbers_example(json!({})))]
pub struct PrintNumbers {
    /// Number of prints that started and ended, regardless of their outcome.
    pub prints: i64,
    /// Number of prints that ran to completion.
    pub finished: i64,
    /// Number of prints that failed or were abandoned.
    pub failed: i64,
    /// Number of prints that were cancelled after they had started.
    pub cancelled: i64,
    /// Fraction of prints that failed, among those that finished or failed, from 0 to 1; null if there were none.
    pub failure_rate: Option<f64>,
    /// Total print time, in seconds. Only prints whose start and end were observed are included.
    pub print_seconds: i64,
}

/// Usage of a printer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterUse", example = numbers_example(json!({
    "printerId": crate::production::printers::EXAMPLE_ID, "name": "Left", "utilisation": 0.62,
})))]
pub struct PrinterUse {
    /// ID of the printer to which the prints were dispatched.
    pub printer_id: Id,
    /// Name of the printer; null if it no longer exists.
    pub name: Option<String>,
    /// Fraction of the time span during which the printer was printing, from 0 to 1. Time before the printer's
    /// registration is excluded; null if the printer was not registered during the time span.
    pub utilisation: Option<f64>,
    #[serde(flatten)]
    pub numbers: PrintNumbers,
}

/// Number of prints dispatched on a day, by outcome.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "DayPrints", example = numbers_example(json!({"day": "2026-11-02"})))]
pub struct DayPrints {
    /// UTC day on which the prints were dispatched: `2026-11-02`.
    pub day: String,
    #[serde(flatten)]
    pub numbers: PrintNumbers,
}

/// Amount of a material consumed by prints.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "UsedMaterial", example = json!({
    "materialId": crate::production::materials::EXAMPLE_ID, "name": "PLA black", "unit": "g", "amount": 1840.5,
}))]
pub struct UsedMaterial {
    /// ID of the consumed material.
    pub material_id: Id,
    /// Name of the material; null if it no longer exists.
    pub name: Option<String>,
    /// Unit of the amount: `g`, `mL`, `sheet` or `unit`.
    pub unit: &'static str,
    /// Amount consumed by prints, whether or not their parts were good.
    pub amount: Amount,
}

/// Number of orders in a range of lead times.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "LeadTimeGroup", example = json!({"atMostSeconds": 86_400, "orders": 12}))]
pub struct LeadTimeGroup {
    /// Upper limit of the range, in seconds; each range starts where the previous one ends. Null for the last range,
    /// which has no limit.
    pub at_most_seconds: Option<i64>,
    /// Number of orders in the range.
    pub orders: i64,
}

/// Order lead times, from payment until ready.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "LeadTime", example = json!({
    "orders": 12, "medianSeconds": 30_000, "mostSeconds": 80_000, "spread": [LeadTimeGroup::example()],
}))]
pub struct LeadTimeView {
    /// Number of orders that became ready, among the newest 2,000 placed in the time span.
    pub orders: i64,
    /// Median lead time, in seconds; null if there were no orders.
    pub median_seconds: Option<i64>,
    /// 80th percentile of the lead times, in seconds; null if there were no orders.
    pub most_seconds: Option<i64>,
    /// Number of orders by lead time, shortest first.
    pub spread: Vec<LeadTimeGroup>,
}

/// Number of promised times that were met or missed, among the newest 2,000 orders placed in the time span.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PromiseNumbers", example = json!({"kept": 9, "late": 3, "keptShare": 0.75}))]
pub struct PromiseNumbers {
    /// Number of orders that were ready by the promised time.
    #[serde(rename = "kept")]
    pub on_time: i64,
    /// Number of orders that became ready after the promised time, or have passed it and are not ready.
    pub late: i64,
    /// Fraction of promised times that were met, from 0 to 1; null if there were no promises.
    pub kept_share: Option<f64>,
}

/// Prints and orders in a time span.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ShopActivity", example = json!({
    "total": PrintNumbers::example(), "byPrinter": [PrinterUse::example()], "byDay": [DayPrints::example()],
    "failuresByReason": [FailureReason::example()], "materialUsed": [UsedMaterial::example()],
    "leadTime": LeadTimeView::example(), "promises": PromiseNumbers::example(),
}))]
pub struct ShopActivity {
    /// Totals of all prints.
    pub total: PrintNumbers,
    /// All of the shop's printers, and deleted ones that printed during the time span; busiest first, at most 1,000.
    pub by_printer: Vec<PrinterUse>,
    /// Days in the time span, oldest first; at most the last 367.
    pub by_day: Vec<DayPrints>,
    /// Failure reasons of the last 1,000 failed prints, most frequent first; at most 20, with the rest combined.
    pub failures_by_reason: Vec<FailureReason>,
    /// Material consumption, largest amounts first; at most 200 materials.
    pub material_used: Vec<UsedMaterial>,
    /// Order lead times, from payment until ready.
    pub lead_time: LeadTimeView,
    /// Number of promised times that were met or missed.
    pub promises: PromiseNumbers,
}

fn numbers_example(more: serde_json::Value) -> serde_json::Value {
    let mut example = json!({
        "prints": 40, "finished": 37, "failed": 2, "cancelled": 1, "failureRate": 0.0513, "printSeconds": 144_000,
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        example[name] = value.clone();
    }
    example
}

impl From<PrintTally> for PrintNumbers {
    fn from(tally: PrintTally) -> Self {
        Self {
            prints: tally.prints(),
            finished: tally.finished,
            failed: tally.failed,
            cancelled: tally.cancelled,
            failure_rate: tally.failure_rate(),
            print_seconds: tally.print_ms / 1000,
        }
    }
}

impl From<LeadTimes> for LeadTimeView {
    fn from(times: LeadTimes) -> Self {
        let steps = LEAD_STEPS_MS.iter().map(|step| Some(step / 1000)).chain([None]);
        let spread = steps.zip(times.spread).map(|(at_most_seconds, orders)| LeadTimeGroup { at_most_seconds, orders });
        Self {
            orders: times.orders,
            median_seconds: times.median_ms.map(|ms| ms / 1000),
            most_seconds: times.most_ms.map(|ms| ms / 1000),
            spread: spread.collect(),
        }
    }
}

/// Reads the prints and orders in a time span, from `from`, inclusive, to `to`, exclusive.
pub(super) async fn shop_activity(
    app: &InsightHandles,
    from: Timestamp,
    to: Timestamp,
    clock: &ShopClock,
) -> Result<ShopActivity, ApiError> {
    let now = app.environment.now();
    let (lead_time, promises) = order_numbers(app, from, to).await?;
    let mut by_day: BTreeMap<String, PrintTally> = BTreeMap::new();
    for (start, end, ahead_ms) in clock.offsets(from, to) {
        for (day, tally) in app.queries.activity(ActivityGrouping::Day(ahead_ms), start, end).await? {
            let whole = by_day.entry(day).or_default();
            *whole = whole.with(tally);
        }
    }
    let total = by_day.values().fold(PrintTally::default(), |all, day| all.with(*day));
    let failures = app.queries.failure_reasons(None, from, to).await?;
    let days = days_between(from, to, clock).map(|day| {
        let tally = by_day.get(&day.to_string()).copied().unwrap_or_default();
        DayPrints { day: day_text(day), numbers: tally.into() }
    });
    Ok(ShopActivity {
        total: total.into(),
        by_printer: printers(app, from, to.min(now)).await?,
        by_day: days.collect(),
        failures_by_reason: failures.into_iter().map(|(reason, count)| FailureReason { reason, count }).collect(),
        material_used: materials(app, from, to).await?,
        lead_time,
        promises,
    })
}

/// Reads the lead times and promised times of the orders placed in a time span.
pub(super) async fn order_numbers(
    app: &InsightHandles,
    from: Timestamp,
    to: Timestamp,
) -> Result<(LeadTimeView, PromiseNumbers), ApiError> {
    let now = app.environment.now();
    let orders = app.queries.orders_placed(from, to).await?;
    let mut promises = PromiseTally::default();
    orders.iter().for_each(|order| promises.add(order, now));
    let lead_time = LeadTimes::of(orders.iter().filter_map(lead_ms).collect());
    let kept_share = share(promises.on_time, promises.on_time + promises.late);
    Ok((lead_time.into(), PromiseNumbers { on_time: promises.on_time, late: promises.late, kept_share }))
}

/// Reads the outcomes of all prints in a time span.
pub(super) async fn print_total(
    app: &InsightHandles,
    from: Timestamp,
    to: Timestamp,
) -> Result<PrintNumbers, ApiError> {
    let by_printer = app.queries.activity(ActivityGrouping::Printer, from, to).await?;
    Ok(by_printer.into_values().fold(PrintTally::default(), PrintTally::with).into())
}

async fn printers(app: &InsightHandles, from: Timestamp, to: Timestamp) -> Result<Vec<PrinterUse>, ApiError> {
    let mut tallies: BTreeMap<Id, PrintTally> = BTreeMap::new();
    for (_, versioned) in app.printers.all_resident() {
        if let Some(printer) = versioned.present() {
            tallies.insert(printer.id, PrintTally::default());
        }
    }
    for (key, tally) in app.queries.activity(ActivityGrouping::Printer, from, to).await? {
        if let Ok(id) = key.parse() {
            tallies.insert(id, tally);
        }
    }
    let mut all: Vec<(Id, PrintTally)> = tallies.into_iter().collect();
    all.sort_by(|(one, a), (other, b)| b.print_ms.cmp(&a.print_ms).then_with(|| one.cmp(other)));
    all.truncate(MAX_PRINTERS_SHOWN);
    let mut used = Vec::with_capacity(all.len());
    for (printer_id, tally) in all {
        let record = app.printers.read(printer_id).await?;
        let printer = record.as_ref().and_then(|versioned| versioned.state.as_ref());
        used.push(PrinterUse {
            printer_id,
            name: printer.map(|printer| printer.fields.name.clone()),
            utilisation: printer.and_then(|printer| tally.utilisation(printer.created_at, from, to)),
            numbers: tally.into(),
        });
    }
    Ok(used)
}

async fn materials(app: &InsightHandles, from: Timestamp, to: Timestamp) -> Result<Vec<UsedMaterial>, ApiError> {
    let mut used = Vec::new();
    for (material_id, amount) in app.queries.material_used(from, to).await?.into_iter().take(MAX_MATERIALS_SHOWN) {
        let record = app.materials.read(material_id).await?;
        let material = record.as_ref().and_then(|versioned| versioned.state.as_ref());
        used.push(UsedMaterial {
            material_id,
            name: material.map(|material| material.fields.name.clone()),
            unit: material.map_or("unit", |material| material.fields.kind.unit()),
            amount,
        });
    }
    Ok(used)
}
