//! Statistics for a time span: part quality and scrap cost, printer utilisation, failed prints, and order lead times.

mod activity;
mod table;

pub use activity::{LeadTimeView, PrintNumbers, PromiseNumbers};

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use self::activity::{ShopActivity, order_numbers, print_total, shop_activity};
use domain::amount::Amount;
use domain::id::Id;
use domain::insights::share;
use domain::material::Material;
use domain::principal::Role;
use domain::printer::Printer;
use domain::refusal::Refusal;
use domain::shop_clock::ShopClock;
use domain::sku::Sku;
use domain::time::{DAY_MS, Timestamp};
use domain::time_span::{SpanEnd, SpanStart};
use http::access::RequiredAccess;
use http::error::ApiError;
use http::handles::handles;
use http::page::Query;
use http::reply::{Media, Plain};
use http::routes::ResourceRoutes;
use kernel::directory::Directory;
use kernel::environment::Environment;
use store::queries::{QualityCounts, QualityGrouping, Queries};

/// Default time span: 30 days.
const USUAL_SPAN_MS: i64 = 30 * DAY_MS;

handles! {
    /// Dependencies of the insight routes.
    pub struct InsightHandles {
        queries: Queries,
        skus: Directory<Sku>,
        printers: Directory<Printer>,
        materials: Directory<Material>,
        environment: Arc<Environment>,
    }
}

/// Returns the insight routes.
pub fn routes() -> ResourceRoutes {
    let about = "Statistics for a time span, such as part quality and utilisation.";
    let operator = RequiredAccess::Role(Role::Operator);
    ResourceRoutes::new("Insights", about, "insights")
        .get(operator, "/api/insights", show, |op| {
            op.named("getInsights", "Retrieve insights").about(
                "`quality` covers prints that ended in this time span and whose parts were signed off, either manually \
                 or automatically at the end of the print. A later sign-off changes the numbers. `activity` covers \
                 prints that started and orders that were placed during it.",
            )
        })
        .get(operator, "/api/insights.csv", show_table, |op| {
            op.named("getInsightsTable", "Download insights as CSV").about(
                "The same numbers as comma-separated values, one row per group. Names that a spreadsheet would treat \
                 as a formula start with an apostrophe.",
            )
        })
}

/// Time span that the statistics cover.
#[derive(Request, Debug)]
pub struct InsightQuery {
    /// Include only prints that ended at or after the given time. Defaults to 30 days before `to`.
    from: Option<SpanStart>,
    /// Include only prints that ended before the given time. Defaults to now.
    to: Option<SpanEnd>,
}

impl InsightQuery {
    fn start(&self) -> Option<Timestamp> {
        self.from.map(|start| start.0)
    }

    fn end(&self) -> Option<Timestamp> {
        self.to.map(|end| end.0)
    }
}

/// Amount of material lost in rejected parts.
#[derive(Response, Serialize)]
#[api(name = "LostMaterial", example = json!({"unit": "g", "amount": 41.5}))]
pub struct LostMaterial {
    /// Unit of the amount: `g`, `mL`, `sheet` or `unit`.
    pub unit: &'static str,
    /// Amount used for rejected parts.
    pub amount: Amount,
}

/// Part quality across a set of prints.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "QualityNumbers", example = quality_example(json!({})))]
pub struct QualityNumbers {
    /// Number of prints that ended and whose parts were counted.
    pub prints: i64,
    /// Number of parts on the plates of these prints.
    pub parts: i64,
    /// Number of good parts.
    pub good: i64,
    /// Number of rejected parts.
    pub scrap: i64,
    /// Fraction of good parts among first prints (prints that do not replace rejected parts), from 0 to 1; null if
    /// there were none.
    pub first_pass_yield: Option<f64>,
    /// Print time spent on rejected parts, in seconds.
    pub scrap_seconds: i64,
    /// Material lost in rejected parts, by unit.
    pub scrap_material: Vec<LostMaterial>,
    /// Cost of the material lost in rejected parts, at current prices, in the smallest unit of the shop's currency.
    /// Only materials with a `unitCostCents` are included; null if none of them has one.
    pub scrap_cost_cents: Option<i64>,
}

/// Part quality of a SKU.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SkuQuality", example = quality_example(json!({"skuId": super::skus::EXAMPLE_ID, "name": "Vase"})))]
pub struct SkuQuality {
    /// SKU whose prints are counted.
    pub sku_id: Id,
    /// Name of the SKU; null if it no longer exists.
    pub name: Option<String>,
    /// Part quality of the SKU.
    #[serde(flatten)]
    pub numbers: QualityNumbers,
}

/// Part quality of a printer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterQuality", example = quality_example(json!({"printerId": super::printers::EXAMPLE_ID, "name": "Left"})))]
pub struct PrinterQuality {
    /// Printer whose prints are counted.
    pub printer_id: Id,
    /// Name of the printer; null if it no longer exists.
    pub name: Option<String>,
    /// Part quality of the printer.
    #[serde(flatten)]
    pub numbers: QualityNumbers,
}

/// Losses for one rejection reason.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ReasonQuality", example = quality_example(json!({"reason": "adhesion"})))]
pub struct ReasonQuality {
    /// Rejection reason; null if none was entered.
    pub reason: Option<String>,
    /// Part quality of prints with the rejection reason.
    #[serde(flatten)]
    pub numbers: QualityNumbers,
}

/// Part quality of all prints in a time span. Each list is sorted by the number of rejected parts, highest first.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Quality", example = json!({
    "total": QualityNumbers::example(), "bySku": [SkuQuality::example()], "byPrinter": [PrinterQuality::example()],
    "byReason": [ReasonQuality::example()],
}))]
pub struct QualityView {
    /// Totals of all prints.
    pub total: QualityNumbers,
    /// Quality by SKU: at most 200 entries, most rejected parts first.
    pub by_sku: Vec<SkuQuality>,
    /// Quality by printer: at most 200 entries, most rejected parts first.
    pub by_printer: Vec<PrinterQuality>,
    /// Losses by rejection reason, for prints with rejected parts.
    pub by_reason: Vec<ReasonQuality>,
}

/// Statistics for the shop over a time span.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Insights", example = json!({
    "from": "2026-10-03T11:00:00.000Z", "to": "2026-11-02T11:00:00.000Z", "quality": QualityView::example(),
    "activity": ShopActivity::example(),
}))]
pub struct Insights {
    /// Start of the time span: prints that ended at or after this time are included.
    pub from: Timestamp,
    /// End of the time span: prints that ended before this time are included.
    pub to: Timestamp,
    /// Good and rejected parts, in total and by SKU, printer and reason.
    pub quality: QualityView,
    /// Prints and orders in the time span.
    pub activity: ShopActivity,
}

fn quality_example(more: serde_json::Value) -> serde_json::Value {
    let mut example = json!({
        "prints": 40, "parts": 80, "good": 77, "scrap": 3, "firstPassYield": 0.9625, "scrapSeconds": 5400,
        "scrapMaterial": [{"unit": "g", "amount": 41.5}], "scrapCostCents": 104,
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        example[name] = value.clone();
    }
    example
}

impl From<&QualityCounts> for QualityNumbers {
    fn from(counts: &QualityCounts) -> Self {
        Self {
            prints: counts.prints,
            parts: counts.parts,
            good: counts.good,
            scrap: counts.parts - counts.good,
            first_pass_yield: share(counts.first_good, counts.first_parts),
            scrap_seconds: counts.lost_ms / 1000,
            scrap_material: counts
                .lost_material
                .iter()
                .map(|(unit, amount)| LostMaterial { unit, amount: *amount })
                .collect(),
            scrap_cost_cents: counts.lost_cents,
        }
    }
}

/// Parses the ID that identifies a group; returns `None` if it is invalid.
fn key(counts: &QualityCounts) -> Option<Id> {
    counts.key.as_deref()?.parse().ok()
}

/// Returns the quality counts for a time span without prints.
fn nothing() -> QualityCounts {
    QualityCounts { lost_cents: Some(0), ..QualityCounts::default() }
}

async fn show(
    State(app): State<InsightHandles>,
    Query(query): Query<InsightQuery>,
) -> Result<Plain<Insights>, ApiError> {
    Ok(Plain(insights(&app, query.start(), query.end(), &ShopClock::default()).await?))
}

async fn show_table(
    State(app): State<InsightHandles>,
    Query(query): Query<InsightQuery>,
) -> Result<Media<table::InsightTable>, ApiError> {
    Ok(table::download(&insights(&app, query.start(), query.end(), &ShopClock::default()).await?))
}

/// Computes the statistics for a time span: from `from` (default: 30 days before the end), inclusive, to `to` (default:
/// now), exclusive.
pub async fn insights(
    app: &InsightHandles,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    clock: &ShopClock,
) -> Result<Insights, ApiError> {
    let to = to.unwrap_or_else(|| app.environment.now());
    let from = from.unwrap_or_else(|| to.plus_ms(-USUAL_SPAN_MS));
    if from >= to {
        return Err(Refusal::field("from", "must be before `to`").into());
    }
    let read = |by| app.queries.quality(by, from, to);
    let total = read(QualityGrouping::All).await?;
    let mut by_sku = Vec::new();
    for counts in read(QualityGrouping::Sku).await? {
        let Some(sku_id) = key(&counts) else { continue };
        let state = app.skus.read(sku_id).await?;
        let name = state.as_ref().and_then(|state| Some(state.state.as_ref()?.fields.name.clone()));
        by_sku.push(SkuQuality { sku_id, name, numbers: (&counts).into() });
    }
    let mut by_printer = Vec::new();
    for counts in read(QualityGrouping::Printer).await? {
        let Some(printer_id) = key(&counts) else { continue };
        let state = app.printers.read(printer_id).await?;
        let name = state.as_ref().and_then(|state| Some(state.state.as_ref()?.fields.name.clone()));
        by_printer.push(PrinterQuality { printer_id, name, numbers: (&counts).into() });
    }
    let by_reason = reasons(&read(QualityGrouping::Reason).await?);
    Ok(Insights {
        from,
        to,
        quality: QualityView {
            total: (&total.first().cloned().unwrap_or_else(nothing)).into(),
            by_sku,
            by_printer,
            by_reason,
        },
        activity: shop_activity(app, from, to, clock).await?,
    })
}

/// Totals for a time span, with which those of a later time span are compared.
pub struct InsightTotals {
    /// Outcomes of all prints.
    pub prints: PrintNumbers,
    /// Part quality of all prints.
    pub quality: QualityNumbers,
    /// Losses by rejection reason.
    pub by_reason: Vec<ReasonQuality>,
    /// Order lead times.
    pub lead_time: LeadTimeView,
    /// Number of promised times that were met or missed.
    pub promises: PromiseNumbers,
}

/// Computes the totals for a time span, from `from`, inclusive, to `to`, exclusive. Only the database is queried; the
/// names of printers, SKUs and materials are not looked up.
pub async fn insight_totals(app: &InsightHandles, from: Timestamp, to: Timestamp) -> Result<InsightTotals, ApiError> {
    let total = app.queries.quality(QualityGrouping::All, from, to).await?;
    let (lead_time, promises) = order_numbers(app, from, to).await?;
    Ok(InsightTotals {
        prints: print_total(app, from, to).await?,
        quality: (&total.first().cloned().unwrap_or_else(nothing)).into(),
        by_reason: reasons(&app.queries.quality(QualityGrouping::Reason, from, to).await?),
        lead_time,
        promises,
    })
}

fn reasons(counts: &[QualityCounts]) -> Vec<ReasonQuality> {
    counts.iter().map(|counts| ReasonQuality { reason: counts.key.clone(), numbers: counts.into() }).collect()
}
