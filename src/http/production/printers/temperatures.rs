//! How warm a printer was over the last day.

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::{PrinterHandles, present};
use crate::domain::principal::Role;
use crate::domain::temperature_history::{HeatSpan, HeaterCourse};
use crate::domain::time::{HOUR_MS, Timestamp};
use crate::http::access::RequiredAccess;
use crate::http::error::ApiError;
use crate::http::page::Query;
use crate::http::path_id::PathId;
use crate::http::reply::Plain;
use crate::http::routes::ResourceRoutes;
use crate::http::wire::Within;

/// How far back is shown when nothing is said.
const DEFAULT_SPAN_MS: i64 = HOUR_MS / 2;
/// Points of each heater when nothing is said.
const DEFAULT_POINTS: u32 = 200;
/// Most points of each heater.
const MAX_POINTS: u32 = 1_000;

/// Adds the route of temperatures.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    to.get(RequiredAccess::Role(Role::Operator), "/api/printers/{id}/temperatures", temperatures, |op| {
        op.named("getPrinterTemperatures", "Show how warm a printer was").about(
            "Of each heater that the printer tells of: measured and wanted. The last half hour is kept in steps of ten \
             seconds, the last day in steps of five minutes, in memory alone: a restart of the server forgets it. Fewer \
             points keep lowest and highest, so that no peak is lost.",
        )
    })
}

/// Which part of the course is asked for.
#[derive(Request, Debug)]
struct TemperatureQuery {
    /// From when on, at most a day ago; when absent, the last half hour.
    since: Option<Timestamp>,
    /// Most points of each heater.
    #[api(Within(1..=MAX_POINTS), default = DEFAULT_POINTS)]
    points: u32,
}

/// The course of a printer's temperatures.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "TemperatureHistory", example = json!({
    "since": "2026-11-02T10:30:00.000Z", "until": "2026-11-02T11:00:00.000Z",
    "heaters": [{"heater": "tool0", "points": [HeatPointView::example()]}],
}))]
struct PastTemperaturesView {
    /// From when on.
    since: Timestamp,
    /// Until when: now.
    until: Timestamp,
    /// One entry for each heater of which something was measured: tools, bed, chamber.
    heaters: Vec<HeaterView>,
}

/// The course of one heater.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "HeaterHistory", example = json!({"heater": "tool0", "points": [HeatPointView::example()]}))]
struct HeaterView {
    /// Which one: `tool0` and further tools, `bed`, `chamber`.
    heater: String,
    /// Oldest first; none for times in which the printer told nothing.
    points: Vec<HeatPointView>,
}

/// What a heater showed in a span of time, in degrees Celsius.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "HeatPoint", example = json!({"at": "2026-11-02T10:30:00.000Z", "min": 209.5, "max": 214.8, "target": 215}))]
struct HeatPointView {
    /// When the span begins.
    at: Timestamp,
    /// The lowest that was measured.
    min: f64,
    /// The highest that was measured.
    max: f64,
    /// What was wanted at its end, 0 while it was off; null where the printer does not tell.
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
    present(&app, id).await?;
    let until = app.environment.now();
    let since = since.unwrap_or_else(|| until.plus_ms(-DEFAULT_SPAN_MS));
    let courses = app.printer_connections.temperatures.courses(id, since, until, points as usize);
    Ok(Plain(PastTemperaturesView { since, until, heaters: courses.into_iter().map(Into::into).collect() }))
}
