//! A printer's temperature history over the last day.

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::PrinterHandles;
use domain::principal::Role;
use domain::temperature_history::{HeatSpan, HeaterCourse};
use domain::time::{HOUR_MS, Timestamp};
use http::access::RequiredAccess;
use http::command_request::find_present;
use http::error::ApiError;
use http::page::Query;
use http::path_id::PathId;
use http::reply::Plain;
use http::routes::ResourceRoutes;
use http::wire::Within;

/// Default time span, in milliseconds.
const DEFAULT_SPAN_MS: i64 = HOUR_MS / 2;
/// Default number of points per heater.
const DEFAULT_POINTS: u32 = 200;
/// Maximum number of points per heater.
const MAX_POINTS: u32 = 1_000;

/// Adds the temperature route.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    to.get(RequiredAccess::Role(Role::Operator), "/api/printers/{id}/temperatures", temperatures, |op| {
        op.named("getPrinterTemperatures", "Retrieve a printer's temperature history").about(
            "Measured and target temperatures of each heater that the printer reports. Kept in steps of ten seconds \
             for the last half hour and of five minutes for the last day, in memory only; a restart of the server \
             discards them. If fewer points are requested, the lowest and highest values are kept, so that no peak is \
             lost.",
        )
    })
}

/// Query parameters for the temperature history.
#[derive(Request, Debug)]
struct TemperatureQuery {
    /// Start of the time range, at most a day ago; defaults to half an hour ago.
    since: Option<Timestamp>,
    /// Maximum number of points per heater.
    #[api(Within(1..=MAX_POINTS), default = DEFAULT_POINTS)]
    points: u32,
}

/// Temperature history of a printer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "TemperatureHistory", example = json!({
    "since": "2026-11-02T10:30:00.000Z", "until": "2026-11-02T11:00:00.000Z",
    "heaters": [{"heater": "tool0", "points": [HeatPointView::example()]}],
}))]
struct PastTemperaturesView {
    /// Start of the time range.
    since: Timestamp,
    /// End of the time range, which is the time of the response.
    until: Timestamp,
    /// Heaters with at least one measurement: tools, bed, chamber.
    heaters: Vec<HeaterView>,
}

/// Temperature history of one heater.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "HeaterHistory", example = json!({"heater": "tool0", "points": [HeatPointView::example()]}))]
struct HeaterView {
    /// Name of the heater: `tool0` and further tools, `bed`, `chamber`.
    heater: String,
    /// Measurements, oldest first. Times at which the printer reported no measurement are omitted.
    points: Vec<HeatPointView>,
}

/// Measurements of a heater over a short time span, in degrees Celsius.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "HeatPoint", example = json!({"at": "2026-11-02T10:30:00.000Z", "min": 209.5, "max": 214.8, "target": 215}))]
struct HeatPointView {
    /// Start of the span.
    at: Timestamp,
    /// Lowest measurement.
    min: f64,
    /// Highest measurement.
    max: f64,
    /// Target temperature at the end of the span; 0 if the heater was off, null if the printer does not report it.
    target: Option<f64>,
}

impl From<HeatSpan> for HeatPointView {
    fn from(HeatSpan { at, lowest, highest, target }: HeatSpan) -> Self {
        let celsius = |tenths: i16| f64::from(tenths) / 10.0;
        Self { at, min: celsius(lowest), max: celsius(highest), target: target.map(celsius) }
    }
}

impl From<HeaterCourse> for HeaterView {
    fn from(HeaterCourse { heater, spans }: HeaterCourse) -> Self {
        Self { heater, points: spans.into_iter().map(Into::into).collect() }
    }
}

async fn temperatures(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    Query(TemperatureQuery { since, points }): Query<TemperatureQuery>,
) -> Result<Plain<PastTemperaturesView>, ApiError> {
    find_present(&app.printers, id).await?;
    let until = app.environment.now();
    let since = since.unwrap_or_else(|| until.plus_ms(-DEFAULT_SPAN_MS));
    let courses = app.printer_connections.temperatures.courses(id, since, until, points as usize);
    Ok(Plain(PastTemperaturesView { since, until, heaters: courses.into_iter().map(Into::into).collect() }))
}
