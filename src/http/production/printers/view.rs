//! What answers show of a printer.

use api_derive::Response;
use serde::Serialize;
use serde_json::{Value, json};

use super::camera::CameraView;
use super::care::{self, DueView, OdometerView};
use super::fields::PrinterDetails;
use super::slots::SlotView;
use super::{EXAMPLE_ID, PrinterHandles};
use crate::domain::id::Id;
use crate::domain::printer::{Attention, LastPrint, Printer, PrinterAnswer};
use crate::domain::printer_status::{Activity, Connection, Status};
use crate::domain::time::Timestamp;
use crate::http::command_request::CommandOutcome;
use crate::http::error::ApiError;
use crate::http::openapi::shape::{Shape, number};
use crate::http::wire::{ToSchema, readable};
use crate::printers::BUILT_IN;

readable!(Activity, Connection, Attention);

/// The id that examples use for the job that a printer has in hand.
const EXAMPLE_JOB_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8068";

/// How far a print is, in percent.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Percent(pub f64);

impl ToSchema for Percent {
    fn schema() -> Shape {
        number(0.0..=100.0)
    }
}

/// The temperatures that the printer measured last, in °C.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterTemperatures", example = json!({"nozzle": 214.8, "bed": 60}))]
pub struct TemperaturesView {
    /// Of the first nozzle, in degrees Celsius; 0 when unknown.
    nozzle: f64,
    /// Of the heated bed, in degrees Celsius; 0 when unknown.
    bed: f64,
}

/// What a printer does, and how the server is connected with it.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterStatus", example = status_example())]
pub struct StatusView {
    /// What the printer does; `offline` while it does not answer.
    state: Activity,
    /// How far the print is, in percent.
    progress: Percent,
    /// What the printer measured last, in °C.
    temperatures: TemperaturesView,
    /// How the server is connected with the printer.
    connection: Connection,
    /// The file that is being printed, or was printed last.
    file: Option<String>,
    /// Seconds until the print ends, as the printer estimates.
    remaining_seconds: Option<i64>,
    /// The printer's own words on its state or error.
    message: Option<String>,
    /// When the printer was last looked at; null until then.
    updated_at: Option<Timestamp>,
    /// When the printer last answered.
    last_seen_at: Option<Timestamp>,
    /// What keeps the printer from taking the next job.
    attention: Vec<Attention>,
    /// What a person should know about it, in words; null where there is nothing to add.
    attention_reason: Option<String>,
    /// The file of a print that is no job and is about to begin.
    manual_print: Option<String>,
    /// The job that the printer has in hand.
    job_id: Option<Id>,
}

impl StatusView {
    /// Of this printer, as it was seen last.
    pub(crate) fn of(app: &PrinterHandles, printer: &Printer) -> Self {
        let seen = app.printer_connections.status(printer.id).unwrap_or_default();
        let (state, connection) = state_of(printer, &seen);
        let Status { progress, nozzle, bed, file, remaining_seconds, message, updated_at, .. } = seen;
        Self {
            state,
            progress: Percent(progress),
            temperatures: TemperaturesView { nozzle, bed },
            connection,
            file,
            remaining_seconds,
            message,
            updated_at: (updated_at.0 > 0).then_some(updated_at),
            last_seen_at: last_seen(printer, connection, updated_at),
            attention: printer.attention(),
            attention_reason: printer.attention_words(),
            manual_print: printer.manual.as_ref().map(|manual| manual.file_name.clone()),
            job_id: printer.in_hand.as_ref().map(|in_hand| in_hand.job),
        }
    }
}

/// What a printer does, and how the server is connected with it. Whether it is offline is decided by what the printer's
/// own actor committed: telemetry may be a look older or newer.
fn state_of(printer: &Printer, seen: &Status) -> (Activity, Connection) {
    let offline = printer.disconnected || printer.activity == Activity::Offline && seen.state == Activity::Offline;
    if offline { (Activity::Offline, printer.connection) } else { (seen.state, seen.connection) }
}

/// Returns when a printer last answered: while it is connected, when it was last looked at or pushed something; its own
/// actor records no more than the beginning and the end of an outage.
fn last_seen(printer: &Printer, connection: Connection, updated_at: Timestamp) -> Option<Timestamp> {
    let live = connection.is_answering() && updated_at.0 > 0;
    if live { Some(updated_at) } else { printer.last_seen_at }
}

/// Returns when a printer last answered; `None` if it never did.
pub fn last_answer(app: &PrinterHandles, printer: &Printer) -> Option<Timestamp> {
    let seen = app.printer_connections.status(printer.id).unwrap_or_default();
    last_seen(printer, state_of(printer, &seen).1, seen.updated_at)
}

/// What a printer does, as it is shown.
pub fn activity(app: &PrinterHandles, printer: &Printer) -> Activity {
    state_of(printer, &app.printer_connections.status(printer.id).unwrap_or_default()).0
}

/// A print whose parts can be signed off at its printer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "LastPrint", example = json!({
    "jobId": EXAMPLE_JOB_ID, "attemptId": "01890a5d-ac96-774b-bcce-b302099a8070",
    "orderId": "01890a5d-ac96-774b-bcce-b302099a8065",
}))]
#[expect(clippy::struct_field_names, reason = "the names of the API")]
pub struct LastPrintView {
    /// The job that was printed.
    job_id: Id,
    /// The attempt of the job, which a sign-off names.
    attempt_id: Id,
    /// The order of the job.
    order_id: Id,
}

/// A printer. Its API key is never shown.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Printer", many = "printers", example = printer_example())]
pub struct PrinterView {
    /// Id of the printer.
    id: Id,
    #[serde(flatten)]
    details: PrinterDetails,
    /// Its places for spools, by their numbers; one at least.
    slots: Vec<SlotView>,
    /// Whether an API key is kept for the printer.
    has_api_key: bool,
    /// The camera that was set for it; null where none was: the printer may tell of one.
    camera: Option<CameraView>,
    /// What the printer does at present.
    status: StatusView,
    /// Why the printer is out of service; null while it is in service.
    maintenance: Option<String>,
    /// The maintenance that is due, the one that is due longest first.
    maintenance_due: Vec<DueView>,
    /// What the printer has done since this is counted.
    odometer: OdometerView,
    /// The job that the printer has in hand.
    job_id: Option<Id>,
    /// The last print, as long as nobody has signed it off and nothing else was printed; clearing the bed signs it off.
    last_print: Option<LastPrintView>,
    /// When it was registered.
    created_at: Timestamp,
    /// When its registration was last changed.
    updated_at: Timestamp,
    /// Counts the changes from 1; also its `ETag`.
    version: i64,
}

impl PrinterView {
    /// A printer at a version.
    pub fn new(app: &PrinterHandles, printer: &Printer, version: i64) -> Self {
        Self {
            id: printer.id,
            details: printer.fields.clone().into(),
            slots: printer.slots().into_iter().map(|slot| SlotView::of(app, printer, slot)).collect(),
            has_api_key: !printer.fields.encrypted_api_key.is_empty(),
            camera: printer.fields.camera.as_ref().map(Into::into),
            status: StatusView::of(app, printer),
            maintenance: printer.maintenance.clone(),
            maintenance_due: care::due(printer),
            odometer: printer.odometer.into(),
            job_id: printer.in_hand.as_ref().map(|in_hand| in_hand.job),
            last_print: printer.last_print.map(|LastPrint { attempt, job, order }| LastPrintView {
                job_id: job,
                attempt_id: attempt,
                order_id: order,
            }),
            created_at: printer.created_at,
            updated_at: printer.updated_at,
            version,
        }
    }

    /// The printer as a command left it.
    pub fn after(app: &PrinterHandles, done: &CommandOutcome<PrinterAnswer>) -> Result<Self, ApiError> {
        match &done.answer {
            PrinterAnswer::Printer(printer) => {
                let mut view = Self::new(app, printer, done.version);
                // An answer that was kept is without the reminders, which are rows of their own.
                if done.replayed {
                    let live = app.printers.resident(printer.id);
                    let due = live.and_then(|live| live.read().state.as_ref().map(care::due));
                    view.maintenance_due = due.unwrap_or_default();
                }
                Ok(view)
            }
            other => Err(ApiError::internal(format!("a printer answered {other:?}"))),
        }
    }
}

fn printer_example() -> Value {
    json!({
        "id": EXAMPLE_ID, "name": "Left", "type": BUILT_IN[0], "machineType": "fdm_standard", "model": "MK4",
        "baseUrl": "http://192.168.1.20:7125", "hasApiKey": false, "camera": null, "serial": null,
        "buildVolume": {"x": 220, "y": 220, "z": 250}, "autoClear": false, "loadedMaterialId": null,
        "nozzle": {"diameter": 0.4, "kind": "brass"}, "plateType": null, "location": null,
        "position": {"row": 1, "column": 3}, "tags": [],
        "slots": [<SlotView as ToSchema>::example()], "status": status_example(), "maintenance": null,
        "maintenanceDue": [], "odometer": <OdometerView as ToSchema>::example(), "jobId": EXAMPLE_JOB_ID,
        "lastPrint": null,
        "createdAt": "2026-11-01T08:00:00.000Z", "updatedAt": "2026-11-02T10:16:00.000Z", "version": 12,
    })
}

fn status_example() -> Value {
    json!({
        "state": "printing", "progress": 42.5, "temperatures": {"nozzle": 214.8, "bed": 60}, "connection": "connected",
        "file": "JOB-000245_01890a5d-ac96-774b-bcce-b302099a8068.gcode", "remainingSeconds": 3100, "message": null,
        "updatedAt": "2026-11-02T10:59:58.000Z", "lastSeenAt": "2026-11-02T10:59:58.000Z", "attention": [],
        "attentionReason": null,
        "manualPrint": null, "jobId": EXAMPLE_JOB_ID,
    })
}
