//! Printers as shown in responses.

use api_derive::Response;
use serde::Serialize;
use serde_json::{Value, json};

use super::camera::CameraView;
use super::care::{self, DueView, OdometerView};
use super::fields::PrinterDetails;
use super::slots::SlotView;
use super::view_inputs::ViewInputs;
use super::{EXAMPLE_ID, PrinterHandles};
use domain::id::Id;
use domain::printer::{Attention, LastPrint, Printer, PrinterAnswer};
use domain::printer_status::{Activity, Connection};
use domain::time::Timestamp;
use http::command_request::CommandOutcome;
use http::openapi::shape::{Shape, number};
use http::wire::ToSchema;
use printers::BUILT_IN;
use printers::connections::PrinterConnections;
use printers::status_reading::StatusReading;
use words::Language;

/// Job ID used in examples for the job that a printer is working on.
const EXAMPLE_JOB_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8068";

/// Progress of a print, in percent.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Percent(pub f64);

impl ToSchema for Percent {
    fn schema() -> Shape {
        number(0.0..=100.0)
    }
}

/// Last measured temperatures of the printer, in degrees Celsius.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterTemperatures", example = json!({"nozzle": 214.8, "bed": 60}))]
pub struct TemperaturesView {
    /// Temperature of the first nozzle, in degrees Celsius; 0 if unknown.
    nozzle: f64,
    /// Temperature of the heated bed, in degrees Celsius; 0 if unknown.
    bed: f64,
}

/// State of a printer and of the server's connection to it.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterStatus", example = status_example())]
pub struct StatusView {
    /// State of the printer; `offline` while it does not respond.
    state: Activity,
    /// Progress of the print, in percent.
    progress: Percent,
    /// Last measured temperatures, in degrees Celsius.
    temperatures: TemperaturesView,
    /// State of the server's connection to the printer.
    connection: Connection,
    /// File that is being printed or was printed last.
    file: Option<String>,
    /// Remaining print time, in seconds, as estimated by the printer.
    remaining_seconds: Option<i64>,
    /// The printer's own message about its state or error.
    message: Option<String>,
    /// Time of the last status update; null before the first one.
    updated_at: Option<Timestamp>,
    /// Time of the printer's last response.
    last_seen_at: Option<Timestamp>,
    /// Issues that keep the printer from accepting its next job.
    attention: Vec<Attention>,
    /// Human-readable explanation of `attention`; null if `attention` is empty.
    attention_reason: Option<String>,
    /// File name of a manual print that is about to start, if any.
    manual_print: Option<String>,
    /// ID of the job that the printer is working on.
    job_id: Option<Id>,
}

impl StatusView {
    /// Builds the status of a printer from its last observation.
    pub fn of(app: &PrinterHandles, printer: &Printer) -> Self {
        Self::new(printer, app.printer_connections.reading(printer.id))
    }

    /// Builds the status of a printer from what was last read of it.
    pub(super) fn new(printer: &Printer, reading: StatusReading) -> Self {
        let StatusReading { state, connection, file, progress, remaining_seconds, nozzle, bed, message, updated_at } =
            reading;
        let (state, connection) = state_of(printer, (state, connection));
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
            attention_reason: printer.attention_words(Language::English),
            manual_print: printer.manual.as_ref().map(|manual| manual.file_name.clone()),
            job_id: printer.in_hand.as_ref().map(|in_hand| in_hand.job),
        }
    }
}

/// Returns the state of a printer and of its connection, given the ones in its last status. The last commit of the
/// printer's actor decides whether the printer is offline, because telemetry may be one poll older or newer.
fn state_of(printer: &Printer, (state, connection): (Activity, Connection)) -> (Activity, Connection) {
    let offline = printer.disconnected || printer.activity == Activity::Offline && state == Activity::Offline;
    if offline { (Activity::Offline, printer.connection) } else { (state, connection) }
}

/// Returns the time of a printer's last response: for a connected printer, the last poll or push; otherwise, the last
/// response before the outage, because the printer's actor records only the start and the end of an outage.
fn last_seen(printer: &Printer, connection: Connection, updated_at: Timestamp) -> Option<Timestamp> {
    let live = connection.is_answering() && updated_at.0 > 0;
    if live { Some(updated_at) } else { printer.last_seen_at }
}

/// Returns the time of a printer's last response, if any.
pub fn last_answer(app: &PrinterHandles, printer: &Printer) -> Option<Timestamp> {
    app.printer_connections.read_status(printer.id, |status, updated_at| {
        let (_, connection) = state_of(printer, (status.state, status.connection));
        last_seen(printer, connection, updated_at)
    })
}

/// Returns the state of a printer as shown in responses.
pub fn activity(app: &PrinterHandles, printer: &Printer) -> Activity {
    current_activity(&app.printer_connections, printer)
}

/// Returns the state of a printer as shown in responses, given the connections to all printers.
pub(super) fn current_activity(connections: &PrinterConnections, printer: &Printer) -> Activity {
    connections.read_status(printer.id, |status, _| state_of(printer, (status.state, status.connection)).0)
}

/// Latest print, whose parts can be signed off at the printer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "LastPrint", example = json!({
    "jobId": EXAMPLE_JOB_ID, "attemptId": "01890a5d-ac96-774b-bcce-b302099a8070",
    "orderId": "01890a5d-ac96-774b-bcce-b302099a8065",
}))]
#[expect(clippy::struct_field_names, reason = "the API uses these names")]
pub struct LastPrintView {
    /// ID of the printed job.
    job_id: Id,
    /// ID of the attempt whose parts are to be signed off.
    attempt_id: Id,
    /// ID of the job's order.
    order_id: Id,
}

/// Printer. The printer's API key is never returned.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Printer", many = "printers", example = printer_example())]
pub struct PrinterView {
    /// ID of the printer.
    id: Id,
    #[serde(flatten)]
    details: PrinterDetails,
    /// Spool slots, sorted by number; at least one.
    slots: Vec<SlotView>,
    /// `true` if an API key is stored for the printer.
    has_api_key: bool,
    /// Camera configured for the printer. If null, none is configured, but the printer may report one.
    camera: Option<CameraView>,
    /// Current status.
    status: StatusView,
    /// Reason the printer is out of service; null while it is in service.
    maintenance: Option<String>,
    /// Due maintenance, longest overdue first.
    maintenance_due: Vec<DueView>,
    /// Total usage of the printer, from the prints of jobs that ended on it.
    odometer: OdometerView,
    /// ID of the job that the printer is working on.
    job_id: Option<Id>,
    /// Last print; null once its parts are signed off or another print follows. Clearing the bed signs off the parts.
    last_print: Option<LastPrintView>,
    /// Time at which the printer was registered.
    created_at: Timestamp,
    /// Time at which the printer's registration last changed.
    updated_at: Timestamp,
    /// Version number: starts at 1 and increases with each change; also the `ETag`.
    version: i64,
}

impl PrinterView {
    /// Builds the view of a printer at the given version. Besides the printer itself, it depends on nothing but the
    /// inputs.
    pub fn new(printer: &Printer, version: i64, inputs: &ViewInputs) -> Self {
        let slots = printer.slots().into_iter().enumerate();
        Self {
            id: printer.id,
            details: printer.fields.clone().into(),
            slots: slots
                .map(|(at, slot)| SlotView::new(printer, inputs.spool_warning(printer, (at, &slot)), slot))
                .collect(),
            has_api_key: !printer.fields.encrypted_api_key.is_empty(),
            camera: printer.fields.camera.as_ref().map(Into::into),
            status: StatusView::new(printer, inputs.status.clone()),
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

    /// Builds the view of a printer from the result of a command.
    pub fn after(app: &PrinterHandles, done: &CommandOutcome<PrinterAnswer>) -> Self {
        let printer = &done.answer.printer;
        let mut view = Self::new(printer, done.version, &ViewInputs::read(&app.into(), printer));
        // An answer that was kept is without the reminders, which are rows of their own.
        if done.replayed {
            let live = app.printers.resident(printer.id);
            let due = live.and_then(|live| live.read().state.as_ref().map(care::due));
            view.maintenance_due = due.unwrap_or_default();
        }
        view
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
