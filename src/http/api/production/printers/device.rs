//! Queries to the printer itself: its identity, its print history and its cameras.

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};

use super::{ON_PRINTER, PrinterHandles, connection};
use domain::failure_detection::keeps_secret;
use domain::id::Id;
use domain::principal::Role;
use domain::printer_status::{PastPrint, PrintEnd};
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::command_request::find_present;
use http::error::ApiError;
use http::openapi::shape::{Shape, anything, open_object};
use http::page::Query;
use http::path_id::PathId;
use http::reply::Plain;
use http::routes::ResourceRoutes;
use http::wire::{Response, ToSchema};
use printers::adapter::Webcam;
use printers::connections::PrinterConnection;

/// Adds the routes that query the printer itself.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    to.get_long(operator, "/api/printers/{id}/info", info, |op| {
        op.named("getPrinterInfo", "Retrieve a printer's own information")
            .about("Information from the printer's server and firmware, to the extent that its type provides it.")
            .errors(&ON_PRINTER)
    })
    .get_long(operator, "/api/printers/{id}/history", history, |op| {
        op.named("getPrinterHistory", "List a printer's own history of a file").errors(&ON_PRINTER)
    })
    .get_long(operator, "/api/printers/{id}/webcams", webcams, |op| {
        op.named("listWebcams", "List the cameras of a printer").errors(&ON_PRINTER)
    })
    .get_long(operator, "/api/printers/{id}/system-info", system_info, |op| {
        op.named("getSystemInfo", "Retrieve a printer's host information")
            .about("Returns the printer's response unchanged.")
            .errors(&ON_PRINTER)
    })
}

/// JSON from the printer's own server; its content depends on the printer.
#[derive(Serialize)]
struct OpenJson(Value);

impl ToSchema for OpenJson {
    fn schema() -> Shape {
        anything()
    }
}

/// Information that a printer provides about itself.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterInfo", example = json!({
    "server": {"klippy_connected": true}, "printer": {"state": "ready"},
}))]
struct InfoView {
    /// Information from the printer's server; null if the server provides none.
    server: OpenJson,
    /// Information from the printer's firmware; null if the firmware provides none.
    printer: OpenJson,
}

/// Information about the computer that the printer runs on.
#[derive(Serialize)]
struct SystemInfo(Value);

impl ToSchema for SystemInfo {
    const NAME: Option<&'static str> = Some("PrinterSystemInfo");
    fn schema() -> Shape {
        open_object().about("Information that the printer provides about its host computer.")
    }
    fn example() -> Value {
        json!({"cpu_info": {"cpu_count": 4}})
    }
}
impl Response for SystemInfo {}

/// Query parameters for a file's print history.
#[derive(Request, Debug)]
struct HistoryQuery {
    /// Name of a file on the printer; defaults to the file that the printer printed last.
    file: Option<String>,
}

/// Print in the printer's history.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PastPrint", example = past_example())]
struct PastPrintView {
    /// Name of the file on the printer.
    file: String,
    /// Outcome of the print; null while the print is running, or if the printer does not report the outcome.
    ended: Option<PrintEnd>,
    /// Filament used, in millimetres.
    filament_mm: Option<f64>,
    /// Time at which the print started; null if the printer does not report the time.
    started_at: Option<Timestamp>,
    /// Time at which the print ended; null while the print is running, or if the printer does not report the time.
    ended_at: Option<Timestamp>,
}

impl From<PastPrint> for PastPrintView {
    fn from(PastPrint { file, ended, filament_mm, started_at, ended_at, .. }: PastPrint) -> Self {
        Self { file, ended, filament_mm, started_at, ended_at }
    }
}

fn past_example() -> Value {
    json!({
        "file": "vase.gcode", "ended": "finished", "filamentMm": 6765.3, "startedAt": "2026-11-01T09:00:00.000Z",
        "endedAt": "2026-11-01T10:31:00.000Z",
    })
}

/// History of a file's prints, as stored by the printer.
#[derive(Response, Serialize)]
#[api(name = "PrintHistory", example = json!({"history": [past_example()]}))]
struct HistoryView {
    /// Prints of the file in the printer's history, newest first.
    history: Vec<PastPrintView>,
}

/// Camera of a printer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Webcam", example = webcam_example())]
struct WebcamView {
    /// Name of the camera, as reported by the printer.
    name: String,
    /// URL of the camera's live stream; null if there is none, or if the URL contains a key or password.
    stream_url: Option<String>,
    /// URL of a single image; null if there is none, or if the URL contains a key or password.
    snapshot_url: Option<String>,
    /// `true` if the camera is switched on.
    enabled: bool,
}

impl From<Webcam> for WebcamView {
    fn from(Webcam { name, stream_url, snapshot_url, enabled }: Webcam) -> Self {
        let open = |url: Option<String>| url.filter(|url| keeps_secret(url).is_none());
        Self { name, stream_url: open(stream_url), snapshot_url: open(snapshot_url), enabled }
    }
}

fn webcam_example() -> Value {
    json!({
        "name": "bed", "streamUrl": "http://192.168.1.20/webcam/?action=stream",
        "snapshotUrl": "http://192.168.1.20/webcam/?action=snapshot", "enabled": true,
    })
}

/// Cameras of a printer.
#[derive(Response, Serialize)]
#[api(name = "Webcams", example = json!({"webcams": [webcam_example()]}))]
struct WebcamsView {
    /// One entry for each camera.
    webcams: Vec<WebcamView>,
}

/// Returns the connection to a printer; fails with 404 if the printer does not exist.
pub(super) async fn reach(app: &PrinterHandles, id: Id) -> Result<Arc<PrinterConnection>, ApiError> {
    let (_, printer) = find_present(&app.printers, id).await?;
    connection(&app.printer_connections, id, &printer).await
}

async fn info(State(app): State<PrinterHandles>, PathId(id): PathId) -> Result<Plain<InfoView>, ApiError> {
    let connection = reach(&app, id).await?;
    let server = connection.adapter.server_info().await;
    let printer = connection.adapter.printer_info().await;
    if let (Err(error), Err(_)) = (&server, &printer) {
        return Err(error.clone().into());
    }
    let [server, printer] = [server, printer].map(|answer| OpenJson(answer.unwrap_or(Value::Null)));
    Ok(Plain(InfoView { server, printer }))
}

async fn history(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    Query(query): Query<HistoryQuery>,
) -> Result<Plain<HistoryView>, ApiError> {
    let connection = reach(&app, id).await?;
    let last = connection.status.borrow().file.clone();
    let prints = match query.file.or(last) {
        Some(file) => connection.adapter.history(&file).await?,
        None => Vec::new(),
    };
    Ok(Plain(HistoryView { history: prints.into_iter().map(Into::into).collect() }))
}

async fn webcams(State(app): State<PrinterHandles>, PathId(id): PathId) -> Result<Plain<WebcamsView>, ApiError> {
    let webcams = reach(&app, id).await?.adapter.webcams().await?;
    Ok(Plain(WebcamsView { webcams: webcams.into_iter().map(Into::into).collect() }))
}

async fn system_info(State(app): State<PrinterHandles>, PathId(id): PathId) -> Result<Plain<SystemInfo>, ApiError> {
    Ok(Plain(SystemInfo(reach(&app, id).await?.adapter.system_info().await?)))
}
