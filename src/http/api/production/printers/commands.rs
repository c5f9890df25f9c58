//! Commands to a printer: connect, pause, resume, cancel, restart, home, run G-code; and operators' reports about it.
//!
//! The printer's response is passed on: a rejection results in a 502 with the printer's message, a missing response in
//! a 504, and a command that the printer's type does not support in a 409.

pub(super) mod operations;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::view::PrinterView;
use super::{BUSY, ON_PRINTER, PRINTING, PrinterHandles};
use crate::production::sign_off::{NOTHING, SignOffRequest};
use domain::principal::Role;
use http::access::RequiredAccess;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::openapi::shape::{Shape, list_of, text_of};
use http::path_id::PathId;
use http::reply::{Plain, Resource};
use http::routes::ResourceRoutes;
use http::wire::{EmptyBody, MaxChars, ONE_LINE, OptionalBody, Rule};

/// Adds the routes for printer commands.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    to.post_long(operator, "/api/printers/{id}/connect", connect, |op| {
        op.named("connectPrinter", "Reconnect a printer").about("The printer is monitored and accepts jobs again.")
    })
    .post_long(operator, "/api/printers/{id}/disconnect", disconnect, |op| {
        op.named("disconnectPrinter", "Disconnect a printer")
            .about("The printer is no longer monitored, receives no commands and accepts no jobs.")
            .errors(&[BUSY])
    })
    .post_long(operator, "/api/printers/{id}/pause", pause, |op| {
        op.named("pausePrinter", "Pause a printer's current print").unkeyed().errors(&ON_PRINTER)
    })
    .post_long(operator, "/api/printers/{id}/resume", resume, |op| {
        op.named("resumePrinter", "Resume a printer's paused print").unkeyed().errors(&ON_PRINTER)
    })
    .post_long(operator, "/api/printers/{id}/cancel", cancel, |op| {
        op.named("cancelPrint", "Cancel a printer's current print")
            .about("If the print belongs to a job, the job is recorded as cancelled at the printer.")
            .unkeyed()
            .errors(&ON_PRINTER)
    })
    .post_long(operator, "/api/printers/{id}/restart-firmware", restart_firmware, |op| {
        op.named("restartFirmware", "Restart a printer's firmware").unkeyed().errors(&ON_PRINTER).errors(&[BUSY])
    })
    .post_long(operator, "/api/printers/{id}/home", home, |op| {
        op.named("homePrinter", "Home all axes of a printer").errors(&ON_PRINTER).errors(&[BUSY, PRINTING])
    })
    .post_long(operator, "/api/printers/{id}/gcode", gcode, |op| {
        op.named("runGcode", "Run G-code on a printer").unkeyed().errors(&ON_PRINTER).errors(&[BUSY, PRINTING])
    })
    .post(operator, "/api/printers/{id}/bed-cleared", bed_cleared, |op| {
        op.named("bedCleared", "Confirm that a printer's bed is clear")
            .about(
                "Also signs off the last print of a job: without a body, all parts of a finished print are recorded as \
                 good, and all parts of any other print as rejected. A manual print has nothing to sign off.",
            )
            .error(409, NOTHING, "The request includes a sign-off, but this printer has no print awaiting sign-off.")
            .error(409, "sign_offs_waiting", "Earlier sign-offs have not reached their orders yet; try again.")
    })
    .post(operator, "/api/printers/{id}/clear-attention", clear_attention, |op| {
        op.named("clearAttention", "Confirm that a printer was checked")
            .about(
                "Clears a firmware error or rejected starts, which keep the printer on hold until somebody has checked \
                 it. Clearing the bed or homing does not clear them.",
            )
            .error(
                409,
                "printer_in_error",
                "The firmware still reports an error; restart it or reconnect the printer first.",
            )
    })
    .post(operator, "/api/printers/{id}/maintenance", maintenance, |op| {
        op.named("setMaintenance", "Take a printer out of service, or return it to service")
    })
}

/// Acknowledgement of a command by the printer.
#[derive(Response, Serialize)]
#[api(name = "PrinterAcknowledgement", example = json!({"ok": true}))]
struct Acknowledgement {
    /// Always `true`; failures are returned as errors.
    ok: bool,
}

const DONE: Plain<Acknowledgement> = Plain(Acknowledgement { ok: true });

/// Lines of G-code: at least one and at most a fixed number, none of them empty or too long. A schema can only limit
/// the number of characters; it cannot express limits on bytes, blanks and line breaks.
struct GcodeLines {
    max_lines: usize,
    max_bytes: usize,
}

const GCODE: GcodeLines = GcodeLines { max_lines: 200, max_bytes: 1000 };

impl Rule<Vec<String>> for GcodeLines {
    fn judge(&self, lines: &Vec<String>) -> Result<(), String> {
        let Self { max_lines, max_bytes } = self;
        let fits = |line: &String| !line.trim().is_empty() && line.len() <= *max_bytes && !line.contains(['\n', '\r']);
        if (1..=*max_lines).contains(&lines.len()) && lines.iter().all(fits) {
            return Ok(());
        }
        Err(format!("must be 1 to {max_lines} single lines of at most {max_bytes} bytes"))
    }
    fn mark(&self, _: Shape) -> Shape {
        list_of(text_of(1..=self.max_bytes), 1..=self.max_lines)
    }
}

/// Lines of G-code for the printer to run.
#[derive(Request, Clone, Debug)]
#[api(example = json!({"commands": ["M117 hello"]}))]
pub struct GcodeCommands {
    /// Lines of G-code, one per entry, run in the given order.
    #[api(GCODE)]
    commands: Vec<String>,
    /// `true` to run the lines even while the printer is printing, which can spoil the print.
    #[api(default = false)]
    force: bool,
}

/// Options for homing a printer.
#[derive(Request, Clone, Debug)]
#[api(example = json!({}))]
pub struct Homing {
    /// `true` to home the printer even while it is printing, which spoils the print.
    #[api(default = false)]
    force: bool,
}

/// Result of running G-code.
#[derive(Response, Serialize)]
#[api(name = "GcodeOutcome", example = json!({"ok": true, "console": ["Unknown command:\"FOO\""]}))]
struct GcodeOutcome {
    /// Always `true`: the printer accepted the commands. The console output shows whether the printer recognised them.
    ok: bool,
    /// Console output of the printer while the commands ran, oldest line first; empty if there was none or it could not
    /// be read.
    console: Vec<String>,
}

/// New service state of a printer.
#[derive(Request, Clone, Debug)]
#[api(example = json!({"on": true, "note": "new nozzle"}))]
pub struct Maintenance {
    /// `true` to take the printer out of service; `false` to return it to service.
    on: bool,
    /// Note for staff on why the printer is out of service.
    #[api(ONE_LINE, MaxChars(500))]
    note: Option<String>,
}

/// Command with an empty request body.
type BareCommand = CommandRequest<OptionalBody<EmptyBody>>;

async fn connect(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: BareCommand,
) -> Result<Resource<PrinterView>, ApiError> {
    let done = operations::connect(&app, id, &call).await?;
    Ok(Resource::after(&done, PrinterView::after(&app, &done)))
}

async fn disconnect(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: BareCommand,
) -> Result<Resource<PrinterView>, ApiError> {
    operations::disconnect(&app, id, &call).await
}

async fn pause(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: BareCommand,
) -> Result<Plain<Acknowledgement>, ApiError> {
    operations::pause(&app, id, &call).await?;
    Ok(DONE)
}

async fn resume(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: BareCommand,
) -> Result<Plain<Acknowledgement>, ApiError> {
    operations::resume(&app, id, &call).await?;
    Ok(DONE)
}

async fn cancel(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: BareCommand,
) -> Result<Plain<Acknowledgement>, ApiError> {
    operations::cancel(&app, id, &call).await?;
    Ok(DONE)
}

async fn restart_firmware(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: BareCommand,
) -> Result<Plain<Acknowledgement>, ApiError> {
    operations::restart_firmware(&app, id, &call).await?;
    Ok(DONE)
}

async fn home(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<Homing>>,
) -> Result<Resource<PrinterView>, ApiError> {
    let done = operations::home(&app, id, &call).await?;
    Ok(Resource::after(&done, PrinterView::after(&app, &done)))
}

async fn gcode(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest<GcodeCommands>,
) -> Result<Plain<GcodeOutcome>, ApiError> {
    let console = operations::run_gcode(&app, id, &call).await?;
    Ok(Plain(GcodeOutcome { ok: true, console }))
}

async fn bed_cleared(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<SignOffRequest>>,
) -> Result<Resource<PrinterView>, ApiError> {
    let done = operations::clear_bed(&app, id, &call).await?;
    Ok(Resource::after(&done, PrinterView::after(&app, &done)))
}

async fn clear_attention(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: BareCommand,
) -> Result<Resource<PrinterView>, ApiError> {
    let done = operations::clear_attention(&app, id, None, &call).await?;
    Ok(Resource::after(&done, PrinterView::after(&app, &done)))
}

async fn maintenance(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest<Maintenance>,
) -> Result<Resource<PrinterView>, ApiError> {
    let done = operations::set_maintenance(&app, id, &call).await?;
    Ok(Resource::after(&done, PrinterView::after(&app, &done)))
}
