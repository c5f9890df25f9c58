//! Operations that send commands to a printer, called by the API's handlers and by the pages.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::time::timeout;

use super::{BareCommand, GcodeCommands, Homing, Maintenance};
use crate::production::printers::acts::PrinterAct;
use crate::production::printers::view::PrinterView;
use crate::production::printers::{PrinterHandles, connection};
use crate::production::sign_off::SignOffRequest;
use domain::id::Id;
use domain::printer::{DirectAction, Printer, PrinterAnswer, PrinterCommand};
use domain::printer_status::{Activity, Status};
use domain::refusal::Refusal;
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget, find_present};
use http::error::ApiError;
use http::reply::Resource;
use http::wire::OptionalBody;
use printers::adapter::PrinterError;
use printers::connections::PrinterConnection;

/// Maximum time to wait for the printer's status before a command that could spoil a print.
const ASK_TIMEOUT: Duration = Duration::from_secs(3);

/// Asks the printer for its status, because the last poll of a printer at rest may be seconds old. Fails if it does not
/// respond in time: it may be printing then.
async fn ask_status(app: &PrinterHandles, printer: &Printer) -> Result<Status, ApiError> {
    let connection = connection(&app.printer_connections, printer.id, printer).await?;
    let asking = async {
        // In turn with the polls, as the adapters expect.
        let _turn = connection.looking.lock().await;
        connection.adapter.status(app.environment.now()).await
    };
    let status = timeout(ASK_TIMEOUT, asking).await.unwrap_or(Err(PrinterError::Timeout));
    // The rules hear of it by the next poll.
    connection.look.notify_one();
    status.map_err(|error| {
        let error = ApiError::from(error);
        if error.status() == StatusCode::GATEWAY_TIMEOUT { unanswered_error() } else { error }
    })
}

/// Returns the error for a command that was not sent because the printer did not report whether it is printing.
fn unanswered_error() -> ApiError {
    let words = "the printer did not respond, so nothing was sent";
    ApiError::new(StatusCode::GATEWAY_TIMEOUT, "printer_timeout", words)
}

/// Rejects an action that may spoil a print if one is running or about to start, or if the printer does not say that
/// none is; unless `force` is set.
async fn must_not_print(app: &PrinterHandles, id: Id, force: bool) -> Result<(), ApiError> {
    let (_, printer) = find_present(&app.printers, id).await?;
    if force {
        return Ok(());
    }
    let obstacle = match printer.print_in_the_way(None) {
        None => {
            let activity = ask_status(app, &printer).await?.stated_activity().ok_or_else(unanswered_error)?;
            printer.print_in_the_way(Some(activity))
        }
        recorded => recorded,
    };
    obstacle.map_or(Ok(()), |(code, words)| Err(ApiError::conflict(code, words)))
}

/// Rejects an action that would end a print if one is running or about to start, or if the printer does not say that
/// none is. Firmware that is away prints nothing.
async fn must_be_idle(app: &PrinterHandles, id: Id) -> Result<(), ApiError> {
    let busy_error = || ApiError::conflict("printer_busy", "the printer is printing or about to print");
    let (_, printer) = find_present(&app.printers, id).await?;
    if printer.has_work_in_hand() || printer.foreign_print() {
        return Err(busy_error());
    }
    let status = ask_status(app, &printer).await?;
    match status.stated_activity() {
        Some(Activity::Printing | Activity::Paused) => Err(busy_error()),
        None if !status.is_firmware_away() => Err(unanswered_error()),
        _ => Ok(()),
    }
}

/// Reconnects a printer, which is monitored and accepts jobs again.
pub async fn connect(
    app: &PrinterHandles,
    id: Id,
    call: &BareCommand,
) -> Result<CommandOutcome<PrinterAnswer>, ApiError> {
    call.read_body()?;
    if let Some(connection) = app.printer_connections.get(id) {
        // Watched already: its serial port may be closed, or it is to be tried at once.
        if let Err(error) = connection.adapter.connect().await {
            tracing::info!(printer = %id, %error, "cannot be connected yet");
        }
        connection.look.notify_one();
    }
    call.ask(&app.printers, CommandTarget::Id(id), PrinterCommand::Connect(true)).await
}

/// Disconnects a printer, which is no longer monitored and accepts no jobs. Returns the printer with its status from
/// before the connection was closed.
pub async fn disconnect(app: &PrinterHandles, id: Id, call: &BareCommand) -> Result<Resource<PrinterView>, ApiError> {
    call.read_body()?;
    let connection = app.printer_connections.get(id);
    let done = call.ask(&app.printers, CommandTarget::Id(id), PrinterCommand::Connect(false)).await?;
    let printer = Resource::after(&done, PrinterView::after(app, &done));
    if let Some(connection) = connection
        && let Err(error) = connection.adapter.disconnect().await
    {
        tracing::info!(printer = %id, %error, "could not be notified that it is disconnected");
    }
    Ok(printer)
}

/// Sends the printer a simple command that has no result.
async fn execute<F>(
    app: &PrinterHandles,
    id: Id,
    call: &BareCommand,
    act: DirectAction,
    wire: impl FnOnce(Arc<PrinterConnection>) -> F,
) -> Result<(), ApiError>
where
    F: Future<Output = Result<(), PrinterError>> + Send + 'static,
{
    call.read_body()?;
    let act = PrinterAct { printer: id, origin: call.origin(), act, detail: None };
    act.carry_out(&app.printers, &app.printer_connections, wire).await
}

/// Pauses a printer's current print.
pub async fn pause(app: &PrinterHandles, id: Id, call: &BareCommand) -> Result<(), ApiError> {
    execute(app, id, call, DirectAction::Pause, |connection| async move { connection.adapter.pause().await }).await
}

/// Resumes a printer's paused print.
pub async fn resume(app: &PrinterHandles, id: Id, call: &BareCommand) -> Result<(), ApiError> {
    execute(app, id, call, DirectAction::Resume, |connection| async move { connection.adapter.resume().await }).await
}

/// Cancels a printer's current print.
pub async fn cancel(app: &PrinterHandles, id: Id, call: &BareCommand) -> Result<(), ApiError> {
    execute(app, id, call, DirectAction::Cancel, |connection| async move { connection.adapter.cancel().await }).await
}

/// Restarts a printer's firmware. The printer must be idle.
pub async fn restart_firmware(app: &PrinterHandles, id: Id, call: &BareCommand) -> Result<(), ApiError> {
    call.read_body()?;
    must_be_idle(app, id).await?;
    execute(app, id, call, DirectAction::RestartFirmware, |connection| async move {
        connection.adapter.restart_firmware().await
    })
    .await
}

/// Homes all axes of a printer.
pub async fn home(
    app: &PrinterHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<Homing>>,
) -> Result<CommandOutcome<PrinterAnswer>, ApiError> {
    let Homing { force } = call.read_body()?;
    must_not_print(app, id, force).await?;
    let act = PrinterAct { printer: id, origin: call.origin(), act: DirectAction::Home, detail: None };
    let wire = |connection: Arc<PrinterConnection>| async move { connection.adapter.home().await };
    act.carry_out(&app.printers, &app.printer_connections, wire).await?;
    call.ask(&app.printers, CommandTarget::Id(id), PrinterCommand::Homed).await
}

/// Runs G-code on a printer, and returns the console output while it ran.
pub async fn run_gcode(
    app: &PrinterHandles,
    id: Id,
    call: &CommandRequest<GcodeCommands>,
) -> Result<Vec<String>, ApiError> {
    let GcodeCommands { commands, force } = call.read_body()?;
    must_not_print(app, id, force).await?;
    let detail = Some(commands.join("\n"));
    let act = PrinterAct { printer: id, origin: call.origin(), act: DirectAction::Gcode, detail };
    let wire = |connection: Arc<PrinterConnection>| async move { connection.adapter.run_gcode(&commands).await };
    act.carry_out(&app.printers, &app.printer_connections, wire).await
}

/// Marks a printer's bed as clear, and signs off the parts of its last print.
pub async fn clear_bed(
    app: &PrinterHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<SignOffRequest>>,
) -> Result<CommandOutcome<PrinterAnswer>, ApiError> {
    let command = async {
        let inspection = call.read_body()?.read(&app.files).await?;
        if let Some(good) = inspection.good_count {
            check_count(app, id, good).await?;
        }
        Ok(PrinterCommand::BedCleared(inspection))
    };
    call.ask_with(&app.printers, CommandTarget::Id(id), command).await
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

/// Confirms that a printer was checked after a firmware error or rejected starts: those with the given mark, or any if
/// it is `None`.
pub async fn clear_attention(
    app: &PrinterHandles,
    id: Id,
    mark: Option<String>,
    call: &BareCommand,
) -> Result<CommandOutcome<PrinterAnswer>, ApiError> {
    call.read_body()?;
    call.ask(&app.printers, CommandTarget::Id(id), PrinterCommand::ClearAttention(mark)).await
}

/// Takes a printer out of service, or returns it to service.
pub async fn set_maintenance(
    app: &PrinterHandles,
    id: Id,
    call: &CommandRequest<Maintenance>,
) -> Result<CommandOutcome<PrinterAnswer>, ApiError> {
    let command = async {
        let Maintenance { on, note } = call.read_body()?;
        Ok(PrinterCommand::Maintenance { on, note })
    };
    call.ask_with(&app.printers, CommandTarget::Id(id), command).await
}
