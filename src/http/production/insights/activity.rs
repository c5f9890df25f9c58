//! What was printed and ordered in a time, as the insights tell it.

use std::collections::BTreeMap;

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::InsightHandles;
use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::insights::{
    LEAD_STEPS_MS, LeadTimes, PrintTally, PromiseTally, day_text, days_between, lead_ms, share,
};
use crate::domain::time::Timestamp;
use crate::http::error::ApiError;
use crate::http::production::printers::FailureReason;
use crate::store::queries::ActivityBy;

/// Most printers of one answer.
const MAX_PRINTERS_SHOWN: usize = 1000;
/// Most materials of one answer.
const MAX_MATERIALS_SHOWN: usize = 200;

/// How some prints ended.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrintNumbers", example = numbers_example(json!({})))]
pub(crate) struct PrintNumbers {
    /// Prints that began and are over, however they ended.
    pub(crate) prints: i64,
    /// Prints that ran to their end.
    pub(crate) finished: i64,
    /// Prints that failed, or were given up.
    pub(crate) failed: i64,
    /// Prints that were cancelled after they began.
    pub(crate) cancelled: i64,
    /// The share of failed prints among those that finished or failed, from 0 to 1; null without such prints.
    pub(crate) failure_rate: Option<f64>,
    /// How long was printed, as far as beginnings and ends were seen.
    pub(crate) print_seconds: i64,
}

/// What a printer did.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterUse", example = numbers_example(json!({
    "printerId": crate::http::production::printers::EXAMPLE_ID, "name": "Left", "utilisation": 0.62,
})))]
pub(crate) struct PrinterUse {
    /// The printer that was given these prints.
    pub(crate) printer_id: Id,
    /// Its name; null if it is not known any more.
    pub(crate) name: Option<String>,
    /// The share of the time that it printed, from 0 to 1, since it was registered; null if it was not there.
    pub(crate) utilisation: Option<f64>,
    #[serde(flatten)]
    pub(crate) numbers: PrintNumbers,
}

/// What was printed on a day.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "DayPrints", example = numbers_example(json!({"day": "2026-11-02"})))]
pub(crate) struct DayPrints {
    /// The day, UTC, on which the prints were given to printers: `2026-11-02`.
    pub(crate) day: String,
    #[serde(flatten)]
    pub(crate) numbers: PrintNumbers,
}

/// What prints used of a material.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "UsedMaterial", example = json!({
    "materialId": crate::http::production::materials::EXAMPLE_ID, "name": "PLA black", "unit": "g", "amount": 1840.5,
}))]
pub(crate) struct UsedMaterial {
    /// The material that was used.
    pub(crate) material_id: Id,
    /// Its name; null if it is not known any more.
    pub(crate) name: Option<String>,
    /// Unit of the amount: `g`, `mL`, `sheet` or `unit`.
    pub(crate) unit: &'static str,
    /// How much prints used, whatever became of their parts.
    pub(crate) amount: Amount,
}

/// How many orders took how long.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "LeadTimeGroup", example = json!({"atMostSeconds": 86_400, "orders": 12}))]
pub(crate) struct LeadTimeGroup {
    /// The longest time of this group, which begins where the one before ends; null in the group of all longer ones.
    pub(crate) at_most_seconds: Option<i64>,
    /// Orders that took so long.
    pub(crate) orders: i64,
}

/// How long orders took from being paid until they were ready.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "LeadTime", example = json!({
    "orders": 12, "medianSeconds": 30_000, "mostSeconds": 80_000, "spread": [LeadTimeGroup::example()],
}))]
pub(crate) struct LeadTimeView {
    /// Orders that are ready, of the newest 2,000 that were placed in this time.
    pub(crate) orders: i64,
    /// Half of the orders took no longer; null without orders.
    pub(crate) median_seconds: Option<i64>,
    /// Four of five orders took no longer; null without orders.
    pub(crate) most_seconds: Option<i64>,
    /// Groups of orders, the shortest time first.
    pub(crate) spread: Vec<LeadTimeGroup>,
}

/// How promises to customers came out, of the newest 2,000 orders that were placed in this time.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PromiseNumbers", example = json!({"kept": 9, "late": 3, "keptShare": 0.75}))]
pub(crate) struct PromiseNumbers {
    /// Orders that were ready when it was promised.
    pub(crate) kept: i64,
    /// Orders that were ready later, or are not ready although their promise has passed.
    pub(crate) late: i64,
    /// The share of kept promises, from 0 to 1; null without promises.
    pub(crate) kept_share: Option<f64>,
}

/// What was printed and ordered in a time.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ShopActivity", example = json!({
    "total": PrintNumbers::example(), "byPrinter": [PrinterUse::example()], "byDay": [DayPrints::example()],
    "failuresByReason": [FailureReason::example()], "materialUsed": [UsedMaterial::example()],
    "leadTime": LeadTimeView::example(), "promises": PromiseNumbers::example(),
}))]
pub(crate) struct ShopActivity {
    /// All prints together.
    pub(crate) total: PrintNumbers,
    /// Every printer of the shop, and those that were deleted if they printed: the busiest first, at most 1,000.
    pub(crate) by_printer: Vec<PrinterUse>,
    /// Every day of the time, oldest first: the last 367 of them.
    pub(crate) by_day: Vec<DayPrints>,
    /// Why prints failed, most first, of the last thousand: at most 20 reasons, and the others together.
    pub(crate) failures_by_reason: Vec<FailureReason>,
    /// What prints used, most first, at most 200 materials.
    pub(crate) material_used: Vec<UsedMaterial>,
    /// From being paid until ready.
    pub(crate) lead_time: LeadTimeView,
    /// Whether orders were ready when it was promised.
    pub(crate) promises: PromiseNumbers,
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

/// Reads what was printed and ordered from `from` on and before `to`.
pub(super) async fn shop_activity(
    app: &InsightHandles,
    from: Timestamp,
    to: Timestamp,
) -> Result<ShopActivity, ApiError> {
    let now = app.environment.now();
    let by_day = app.queries.activity(ActivityBy::Day, from, to).await?;
    let total = by_day.values().fold(PrintTally::default(), |all, day| all.with(*day));
    let failures = app.queries.failure_reasons(None, from, to).await?;
    let orders = app.queries.orders_placed(from, to).await?;
    let mut promises = PromiseTally::default();
    orders.iter().for_each(|order| promises.add(order, now));
    let lead_time = LeadTimes::of(orders.iter().filter_map(lead_ms).collect());
    let days = days_between(from, to).map(|day| {
        let tally = by_day.get(&day.to_string()).copied().unwrap_or_default();
        DayPrints { day: day_text(day), numbers: tally.into() }
    });
    Ok(ShopActivity {
        total: total.into(),
        by_printer: printers(app, from, to.min(now)).await?,
        by_day: days.collect(),
        failures_by_reason: failures.into_iter().map(|(reason, count)| FailureReason { reason, count }).collect(),
        material_used: materials(app, from, to).await?,
        lead_time: lead_time.into(),
        promises: PromiseNumbers {
            kept: promises.kept,
            late: promises.late,
            kept_share: share(promises.kept, promises.kept + promises.late),
        },
    })
}

async fn printers(app: &InsightHandles, from: Timestamp, to: Timestamp) -> Result<Vec<PrinterUse>, ApiError> {
    let mut tallies: BTreeMap<Id, PrintTally> = BTreeMap::new();
    for (_, known) in app.printers.all_resident() {
        if let Some(printer) = known.state.as_ref().filter(|printer| !printer.archived) {
            tallies.insert(printer.id, PrintTally::default());
        }
    }
    for (key, tally) in app.queries.activity(ActivityBy::Printer, from, to).await? {
        if let Ok(id) = key.parse() {
            tallies.insert(id, tally);
        }
    }
    let mut all: Vec<(Id, PrintTally)> = tallies.into_iter().collect();
    all.sort_by(|(one, a), (other, b)| b.print_ms.cmp(&a.print_ms).then_with(|| one.cmp(other)));
    all.truncate(MAX_PRINTERS_SHOWN);
    let mut used = Vec::with_capacity(all.len());
    for (printer_id, tally) in all {
        let known = app.printers.read(printer_id).await?;
        let printer = known.as_ref().and_then(|known| known.state.as_ref());
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
        let known = app.materials.read(material_id).await?;
        let material = known.as_ref().and_then(|known| known.state.as_ref());
        used.push(UsedMaterial {
            material_id,
            name: material.map(|material| material.fields.name.clone()),
            unit: material.map_or("unit", |material| material.fields.kind.unit()),
            amount,
        });
    }
    Ok(used)
}
