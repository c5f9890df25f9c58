//! The shop's forecast: when printers will be free, when the queue will be finished, and which promised times will be
//! missed.

use api_derive::Response;
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::orders::{self, OrderNumber};
use actors::forecaster::Forecaster;
use domain::id::Id;
use domain::order::{Order, OrderStatus};
use domain::principal::Role;
use domain::printer::Printer;
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::error::ApiError;
use http::handles::handles;
use http::reply::Plain;
use http::routes::ResourceRoutes;
use kernel::directory::Directory;

handles! {
    /// Dependencies of the forecast route.
    pub struct ForecastHandles {
        forecaster: Forecaster,
        orders: Directory<Order>,
        printers: Directory<Printer>,
    }
}

/// Returns the forecast route.
pub fn routes() -> ResourceRoutes {
    let about = "Expected completion of jobs, orders and printers.";
    ResourceRoutes::new("Forecast", about, "forecast").get(
        RequiredAccess::Role(Role::Operator),
        "/api/forecast",
        show,
        |op| {
            op.named("getForecast", "Retrieve the forecast").about(
                "Simulates the queue with the rules that assign jobs to printers. The forecast is updated within two \
                 seconds of a change, and becomes more precise with data about files, printers and staff.",
            )
        },
    )
}

/// Forecast for the shop, to the extent that it can be computed.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Forecast", example = json!({
    "at": "2026-11-02T11:00:00.000Z", "doneAt": "2026-11-02T19:30:00.000Z", "untold": 1,
    "printers": [PrinterForecastView::example()], "late": [LateOrder::example()],
}))]
struct ForecastView {
    /// Time at which the forecast was computed.
    at: Timestamp,
    /// Time by which the last job that can be forecast is expected to be completed, if any.
    done_at: Option<Timestamp>,
    /// Number of unfinished jobs in paid orders that cannot be forecast because they are waiting for material, an
    /// operator or a suitable printer.
    untold: usize,
    /// All printers, sorted by name.
    printers: Vec<PrinterForecastView>,
    /// Orders that will miss their promised time, earliest promise first.
    late: Vec<LateOrder>,
}

/// Forecast for one printer's part of the queue.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterOutlook", example = json!({
    "id": "01890a5d-ac96-774b-bcce-b302099a8069", "name": "Left", "freeAt": "2026-11-02T11:50:00.000Z",
}))]
struct PrinterForecastView {
    /// ID of the printer.
    id: Id,
    /// Name of the printer.
    name: String,
    /// Time at which the printer will have printed its part of the queue and its bed will be clear; null while the
    /// printer needs other attention from an operator.
    free_at: Option<Timestamp>,
}

/// Order that will not be ready by the promised time.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "LateOrder", example = json!({
    "id": orders::EXAMPLE_ID, "number": "ORD-000123", "promisedAt": "2026-11-02T18:00:00.000Z",
    "expectedAt": "2026-11-02T19:30:00.000Z",
}))]
struct LateOrder {
    /// ID of the order.
    id: Id,
    /// Human-readable number of the order.
    number: OrderNumber,
    /// Time promised to the customer.
    promised_at: Timestamp,
    /// Time by which the order is now expected to be ready; null if it cannot be forecast.
    expected_at: Option<Timestamp>,
}

async fn show(State(app): State<ForecastHandles>) -> Result<Plain<ForecastView>, ApiError> {
    let forecast = app.forecaster.latest();
    let all = app.printers.all_resident();
    let present = all.iter().filter_map(|(_, state)| state.present());
    let mut printers: Vec<PrinterForecastView> = present
        .map(|printer| PrinterForecastView {
            id: printer.id,
            name: printer.fields.name.clone(),
            free_at: forecast.printers.get(&printer.id).copied().flatten(),
        })
        .collect();
    printers.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
    let all = app.orders.all_resident();
    let open = all.iter().filter_map(|(_, state)| state.state.as_ref());
    let open = open.filter(|order| matches!(order.status, OrderStatus::Paid | OrderStatus::Printing));
    let mut late: Vec<LateOrder> = open
        .filter_map(|order| {
            let promised_at = order.promise.as_ref()?.promised_at;
            let expected_at = forecast.orders.get(&order.id).copied();
            let misses = expected_at.unwrap_or(forecast.at) > promised_at;
            misses.then_some(LateOrder { id: order.id, number: OrderNumber(order.number), promised_at, expected_at })
        })
        .collect();
    late.sort_by_key(|order| (order.promised_at, order.id));
    Ok(Plain(ForecastView { at: forecast.at, done_at: forecast.done_at(), untold: forecast.untold, printers, late }))
}
