//! Commands to a printer: connect, pause, resume, cancel, restart, home, run G-code; and operators' reports about it.
//!
//! The printer's response is passed on: a rejection results in a 502 with the printer's message, a missing response in
//! a 504, and a command that the printer's type does not support in a 409.

mod by_page;

pub use by_page::act_by_page;

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::acts::PrinterAct;
use super::view::PrinterView;
use super::{BUSY, ON_PRINTER, PRINTING, PrinterHandles};
use crate::production::sign_off::{NOTHING, SignOffRequest};
use domain::id::Id;
use domain::principal::Role;
use domain::printer::{DirectAction, PrinterCommand};
use domain::refusal::Refusal;
use http::access::RequiredAccess;
use http::command_request::{CommandRequest, CommandTarget, find_present};
use http::error::ApiError;
use http::openapi::shape::{Shape, list_of, text_of};
use http::path_id::PathId;
use http::reply::{Plain, Resource};
use http::routes::ResourceRoutes;
use http::wire::{EmptyBody, MaxChars, ONE_LINE, OptionalBody, Rule};
use printers::adapter::PrinterError;
use printers::connections::PrinterConnection;

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
struct GcodeCommands {
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
struct Homing {
    /// `true` to home the printer even while it is printing, which spoils the print.
    #[api(default = false)]
    force: bool,
}

/// Result of running G-code.
#[derive(Response, Serialize)]
#[api(name = "GcodeOutcome", example = json!({"ok": true, "console": ["Unknown command:\"FOO\""]}))]
struct GcodeOutcome {
    /// Always `true`: the printer accepted the commands. The console output shows whether the printer recognized them.
    ok: bool,
    /// Console output of the printer while the commands ran, oldest line first; empty if there was none or it could not
    /// be read.
    console: Vec<String>,
}

/// New service state of a printer.
#[derive(Request, Clone, Debug)]
#[api(example = json!({"on": true, "note": "new nozzle"}))]
struct Maintenance {
    /// `true` to take the printer out of service; `false` to return it to service.
    on: bool,
    /// Note for staff on why the printer is out of service.
    #[api(ONE_LINE, MaxChars(500))]
    note: Option<String>,
}

/// Command with an empty request body.
type BareCommand = CommandRequest<OptionalBody<EmptyBody>>;

/// Sends a command to the printer's actor.
async fn ask<B>(
    app: &PrinterHandles,
    call: &CommandRequest<B>,
    id: Id,
    command: PrinterCommand,
) -> Result<Resource<PrinterView>, ApiError> {
    let done = call.ask(&app.printers, CommandTarget::Id(id), command).await?;
    Ok(Resource::after(&done, PrinterView::after(app, &done)))
}

/// Rejects an action that may spoil a print if one is running or about to start, unless `force` is set.
async fn must_not_print(app: &PrinterHandles, id: Id, force: bool) -> Result<(), ApiError> {
    let (_, printer) = find_present(&app.printers, id).await?;
    match printer.print_in_the_way() {
        Some((code, words)) if !force => Err(ApiError::conflict(code, words)),
        _ => Ok(()),
    }
}

/// Rejects an action that would end a print if one is running or about to start.
async fn must_be_idle(app: &PrinterHandles, id: Id) -> Result<(), ApiError> {
    let (_, printer) = find_present(&app.printers, id).await?;
    if printer.in_hand.is_some() || printer.manual.is_some() || printer.foreign_print() {
        return Err(ApiError::conflict("printer_busy", "the printer is printing or about to print"));
    }
    Ok(())
}

async fn connect(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: BareCommand,
) -> Result<Resource<PrinterView>, ApiError> {
    call.read_body()?;
    if let Some(connection) = app.printer_connections.get(id) {
        // Watched already: its serial port may be closed, or it is to be tried at once.
        if let Err(error) = connection.adapter.connect().await {
            tracing::info!(printer = %id, %error, "cannot be connected yet");
        }
        connection.look.notify_one();
    }
    ask(&app, &call, id, PrinterCommand::Connect(true)).await
}

async fn disconnect(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: BareCommand,
) -> Result<Resource<PrinterView>, ApiError> {
    call.read_body()?;
    let connection = app.printer_connections.get(id);
    let answer = ask(&app, &call, id, PrinterCommand::Connect(false)).await?;
    if let Some(connection) = connection
        && let Err(error) = connection.adapter.disconnect().await
    {
        tracing::info!(printer = %id, %error, "could not be notified that it is disconnected");
    }
    Ok(answer)
}

/// Sends the printer a simple command that has no result.
async fn execute<F>(
    app: &PrinterHandles,
    id: Id,
    call: &BareCommand,
    act: DirectAction,
    wire: impl FnOnce(Arc<PrinterConnection>) -> F,
) -> Result<Plain<Acknowledgement>, ApiError>
where
    F: Future<Output = Result<(), PrinterError>> + Send + 'static,
{
    call.read_body()?;
    let act = PrinterAct { printer: id, origin: call.origin(), act, detail: None };
    act.carry_out(&app.printers, &app.printer_connections, wire).await?;
    Ok(DONE)
}

async fn pause(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: BareCommand,
) -> Result<Plain<Acknowledgement>, ApiError> {
    execute(&app, id, &call, DirectAction::Pause, |connection| async move { connection.adapter.pause().await }).await
}

async fn resume(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: BareCommand,
) -> Result<Plain<Acknowledgement>, ApiError> {
    execute(&app, id, &call, DirectAction::Resume, |connection| async move { connection.adapter.resume().await }).await
}

async fn cancel(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: BareCommand,
) -> Result<Plain<Acknowledgement>, ApiError> {
    execute(&app, id, &call, DirectAction::Cancel, |connection| async move { connection.adapter.cancel().await }).await
}

async fn restart_firmware(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: BareCommand,
) -> Result<Plain<Acknowledgement>, ApiError> {
    call.read_body()?;
    must_be_idle(&app, id).await?;
    execute(&app, id, &call, DirectAction::RestartFirmware, |connection| async move {
        connection.adapter.restart_firmware().await
    })
    .await
}

async fn home(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<Homing>>,
) -> Result<Resource<PrinterView>, ApiError> {
    let Homing { force } = call.read_body()?;
    must_not_print(&app, id, force).await?;
    let act = PrinterAct { printer: id, origin: call.origin(), act: DirectAction::Home, detail: None };
    let wire = |connection: Arc<PrinterConnection>| async move { connection.adapter.home().await };
    act.carry_out(&app.printers, &app.printer_connections, wire).await?;
    ask(&app, &call, id, PrinterCommand::Homed).await
}

async fn gcode(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest<GcodeCommands>,
) -> Result<Plain<GcodeOutcome>, ApiError> {
    let GcodeCommands { commands, force } = call.read_body()?;
    must_not_print(&app, id, force).await?;
    let detail = Some(commands.join("\n"));
    let act = PrinterAct { printer: id, origin: call.origin(), act: DirectAction::Gcode, detail };
    let wire = |connection: Arc<PrinterConnection>| async move { connection.adapter.run_gcode(&commands).await };
    let console = act.carry_out(&app.printers, &app.printer_connections, wire).await?;
    Ok(Plain(GcodeOutcome { ok: true, console }))
}

async fn bed_cleared(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<SignOffRequest>>,
) -> Result<Resource<PrinterView>, ApiError> {
    let command = async {
        let inspection = call.read_body()?.read(&app.files).await?;
        if let Some(good) = inspection.good_count {
            check_count(&app, id, good).await?;
        }
        Ok(PrinterCommand::BedCleared(inspection))
    };
    let done = call.ask_with(&app.printers, CommandTarget::Id(id), command).await?;
    Ok(Resource::after(&done, PrinterView::after(&app, &done)))
}

/// Checks that the number of parts reported as good does not exceed the number of parts on the plate of the last print.
/// The check is made here because the plate is known only to the order, not to the printer's actor.
async fn check_count(app: &PrinterHandles, id: Id, good: u32) -> Result<(), ApiError> {
    let (_, printer) = find_present(&app.printers, id).await?;
    let Some(last) = printer.last_print else { return Ok(()) };
    let order = app.orders.read(last.order).await?;
    let order = order.as_ref().and_then(|state| state.state.as_ref());
    let plate = order.and_then(|order| Some(order.plate_of(order.jobs.get(&last.job)?)));
    match plate {
        Some(plate) if good > plate => {
            Err(Refusal::field("goodCount", format!("must be at most {plate}, the number of parts on the plate"))
                .into())
        }
        _ => Ok(()),
    }
}

async fn clear_attention(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: BareCommand,
) -> Result<Resource<PrinterView>, ApiError> {
    call.read_body()?;
    ask(&app, &call, id, PrinterCommand::ClearAttention).await
}

async fn maintenance(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest<Maintenance>,
) -> Result<Resource<PrinterView>, ApiError> {
    let command = async {
        let Maintenance { on, note } = call.read_body()?;
        Ok(PrinterCommand::Maintenance { on, note })
    };
    let done = call.ask_with(&app.printers, CommandTarget::Id(id), command).await?;
    Ok(Resource::after(&done, PrinterView::after(&app, &done)))
}
