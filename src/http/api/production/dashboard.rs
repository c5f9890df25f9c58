//! Key figures of the shop for a wall display.

use std::collections::BTreeMap;
use std::sync::Arc;

use api_derive::Response;
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use domain::endpoint::DeliveryState;
use domain::event::data::LowStockData;
use domain::id::Id;
use domain::job::JobState;
use domain::material::Material;
use domain::printer::{Attention, Printer};
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::error::ApiError;
use http::handles::handles;
use http::reply::Plain;
use http::routes::ResourceRoutes;
use kernel::directory::Directory;
use kernel::environment::Environment;
use printers::connections::PrinterConnections;
use store::queries::Queries;

handles! {
    /// Dependencies of the dashboard route.
    pub struct DashboardHandles {
        queries: Queries,
        printers: Directory<Printer>,
        materials: Directory<Material>,
        printer_connections: Arc<PrinterConnections>,
        environment: Arc<Environment>,
    }
}

/// Returns the dashboard route.
pub fn routes() -> ResourceRoutes {
    ResourceRoutes::new("Dashboard", "Overview of the shop.", "dashboard").get(
        RequiredAccess::Session,
        "/api/dashboard",
        show,
        |op| op.named("getDashboard", "Retrieve the dashboard"),
    )
}

type CountsByName = BTreeMap<String, u64>;

/// Number of orders per status.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderCounts", example = json!({"byStatus": {"paid": 2, "printing": 1}}))]
struct OrderCounts {
    /// Number of orders, by status.
    by_status: CountsByName,
}

/// Number of jobs per state.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "JobCounts", example = json!({"byState": {"SLICED": 3, "PRINTING": 1}}))]
struct JobCounts {
    /// Number of jobs, by state.
    by_state: CountsByName,
}

/// Number of printers, by state, and the printers that need attention.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterCounts", example = json!({
    "total": 2, "byState": {"idle": 1, "printing": 1}, "attention": [PrinterInTrouble::example()],
}))]
struct PrinterCounts {
    /// Total number of printers.
    total: usize,
    /// Number of printers, by state.
    by_state: CountsByName,
    /// Printers that need an operator's attention.
    attention: Vec<PrinterInTrouble>,
}

/// Printer that needs an operator's attention.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterInTrouble", example = json!({
    "id": "01890a5d-ac96-774b-bcce-b302099a8069", "name": "Left", "attention": ["bed_not_cleared"],
}))]
struct PrinterInTrouble {
    /// ID of the printer.
    id: Id,
    /// Name of the printer.
    name: String,
    /// Conditions that keep the printer from starting its next job.
    attention: Vec<Attention>,
}

/// Number of webhook deliveries that have not succeeded, by state.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "DeliveryCounts", example = json!({"pending": 0, "failed": 0}))]
struct DeliveryCounts {
    /// Number of deliveries waiting for their first or next attempt.
    pending: u64,
    /// Number of deliveries that failed after their last retry.
    failed: u64,
}

/// State of the shop at one point in time.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Dashboard", example = json!({
    "orders": OrderCounts::example(), "jobs": JobCounts::example(), "printers": PrinterCounts::example(),
    "lowStock": [LowStockData::example()], "deliveries": DeliveryCounts::example(), "queueLength": 3,
    "nextFreeAt": "2026-11-02T11:50:00.000Z", "at": "2026-11-02T11:00:00.000Z",
}))]
struct Dashboard {
    /// Number of orders, by status.
    orders: OrderCounts,
    /// Number of jobs, by state.
    jobs: JobCounts,
    /// Number of printers, by state.
    printers: PrinterCounts,
    /// Materials below their reorder point.
    low_stock: Vec<LowStockData>,
    /// Number of webhook deliveries that have not succeeded.
    deliveries: DeliveryCounts,
    /// Number of jobs waiting for material or a printer.
    queue_length: u64,
    /// Time at which the next printer will be free for a job, as estimated by the printers; null if unknown.
    next_free_at: Option<Timestamp>,
    /// Time at which the figures were computed.
    at: Timestamp,
}

async fn show(State(app): State<DashboardHandles>) -> Result<Plain<Dashboard>, ApiError> {
    let (queries, now) = (&app.queries, app.environment.now());
    let orders = queries.orders_by_status().await?;
    let jobs = queries.jobs_by_state().await?;
    let deliveries = queries.undelivered_by_state().await?;
    let queued = |state: &JobState| {
        use JobState as S;
        matches!(state, S::Created | S::Validated | S::AwaitingManualReview | S::Sliced)
    };
    let of = |delivery_state: DeliveryState| {
        deliveries.iter().find(|(state, _)| *state == delivery_state).map_or(0, |(_, n)| *n)
    };
    Ok(Plain(Dashboard {
        orders: OrderCounts { by_status: by_word(&orders) },
        queue_length: jobs.iter().filter(|(state, _)| queued(state)).map(|(_, count)| count).sum(),
        jobs: JobCounts { by_state: by_word(&jobs) },
        printers: printers(&app),
        low_stock: low_stock(&app),
        deliveries: DeliveryCounts { pending: of(DeliveryState::Pending), failed: of(DeliveryState::Failed) },
        next_free_at: next_free_at(&app, now),
        at: now,
    }))
}

/// Returns the API name of an enumeration value.
fn word(value: &impl Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}

fn by_word<W: Serialize>(counts: &[(W, u64)]) -> CountsByName {
    counts.iter().map(|(state, count)| (word(state), *count)).collect()
}

fn present_printers(app: &DashboardHandles) -> Vec<Printer> {
    app.printers.all_present().iter().filter_map(|state| state.present().cloned()).collect()
}

fn printers(app: &DashboardHandles) -> PrinterCounts {
    let all = present_printers(app);
    let mut by_state = CountsByName::new();
    for printer in &all {
        *by_state.entry(word(&printer.activity)).or_default() += 1;
    }
    let in_trouble = all.iter().map(|printer| PrinterInTrouble {
        id: printer.id,
        name: printer.fields.name.clone(),
        attention: printer.attention(),
    });
    let attention = in_trouble.filter(|printer| !printer.attention.is_empty()).collect();
    PrinterCounts { total: all.len(), by_state, attention }
}

fn low_stock(app: &DashboardHandles) -> Vec<LowStockData> {
    let all = app.materials.all_resident();
    let low = |material: &&Material| !material.archived && material.available() < material.fields.reorder_point;
    let mut low: Vec<&Material> = all.iter().filter_map(|(_, state)| state.state.as_ref()).filter(low).collect();
    low.sort_by(|a, b| a.fields.name.cmp(&b.fields.name));
    low.into_iter().map(LowStockData::from).collect()
}

/// Returns the time at which the next printer will be free for a job; `None` if unknown.
fn next_free_at(app: &DashboardHandles, now: Timestamp) -> Option<Timestamp> {
    present_printers(app).iter().filter_map(|printer| free_at(printer, &app.printer_connections, now)).min()
}

/// Returns the time at which a printer will be free for a job: now, or the end of its current print as estimated by the
/// printer; `None` if unknown.
pub fn free_at(printer: &Printer, connections: &PrinterConnections, now: Timestamp) -> Option<Timestamp> {
    if printer.free().is_ok() {
        return Some(now);
    }
    let left = connections.status(printer.id)?.remaining_seconds?;
    Some(now.plus_ms(left.max(0).saturating_mul(1000)))
}
