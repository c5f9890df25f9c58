//! Emergency stop, which is sent to the printer immediately, ahead of all queued commands, and recorded afterwards.

use api_derive::Response;
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::acts::PrinterAct;
use super::{ON_PRINTER, PrinterHandles};
use actors::printers::{StopRoute, emergency_stop};
use domain::id::Id;
use domain::principal::Role;
use domain::printer::DirectAction;
use http::access::{Caller, RequiredAccess};
use http::command_request::{CommandRequest, find_present};
use http::error::ApiError;
use http::path_id::PathId;
use http::reply::Plain;
use http::routes::ResourceRoutes;
use http::wire::{EmptyBody, OptionalBody};
use kernel::envelope::CommandOrigin;
use printers::PrinterType;
use printers::adapter::Operation;

/// Adds the emergency stop route.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    to.post_long(operator, "/api/printers/{id}/emergency-stop", stop, |op| {
        op.named("emergencyStop", "Emergency stop")
            .about(
                "Switches off motors and heaters immediately, ahead of all queued commands. Afterwards, the printer \
                 must be homed and its bed cleared. On a printer without an emergency stop, the current print is ended \
                 in the fastest way possible.",
            )
            .unkeyed()
            // The printer has none, refused, or did not answer: nothing else keeps a stop from going out.
            .errors(&ON_PRINTER[1..2])
            .errors(&ON_PRINTER[3..])
    })
}

/// Emergency stop that was sent.
#[derive(Response, Serialize)]
#[api(name = "EmergencyStopped", example = json!({"ok": true, "recorded": true, "message": null}))]
struct StoppedView {
    /// Always `true`: the printer accepted the stop.
    ok: bool,
    /// `true` if the stop has been recorded; if `false`, it will be recorded as soon as possible.
    recorded: bool,
    /// Action taken instead, for printer types without an emergency stop; `null` if motors and heaters were switched
    /// off.
    message: Option<String>,
}

/// Message for printer types without an emergency stop.
pub const GENTLE: &str = "printers of this type have no emergency stop that software can trigger: the print has been \
                          ended as fast as possible, and the heaters are switched off if the printer allows it. In \
                          an emergency, switch the printer off or unplug it";

/// Returns whether a printer has no emergency stop. Works even if the printer is not connected.
pub fn gentle(app: &PrinterHandles, id: Id) -> bool {
    let watched = app.printer_connections.get(id).map(|connection| connection.adapter.declared());
    let registered = || {
        let state = app.printers.resident(id)?.read();
        PrinterType::of_word(&state.state.as_ref()?.fields.kind)
    };
    watched.or_else(registered).is_some_and(|declared| declared.lacks.contains(&Operation::EmergencyStop))
}

/// Handles the emergency stop. The body is not read, so that nothing in it can prevent the stop, which works even
/// without the database.
async fn stop(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Plain<StoppedView>, ApiError> {
    let recorded = stop_now(&app, id, &call.who).await?;
    let message = gentle(&app, id).then(|| GENTLE.to_owned());
    Ok(Plain(StoppedView { ok: true, recorded, message }))
}

/// Stops a printer in an emergency. Returns whether the stop has been recorded; if not, it will be recorded as soon as
/// possible.
pub async fn stop_now(app: &PrinterHandles, id: Id, who: &Caller) -> Result<bool, ApiError> {
    let route = match app.printer_connections.get(id) {
        Some(connection) => StopRoute::Watched(connection),
        None => {
            let (_, printer) = find_present(&app.printers, id).await?;
            StopRoute::unwatched(&app.printer_connections, &app.cipher, &printer).map_err(ApiError::internal)?
        }
    };
    let origin = CommandOrigin { by: who.by.clone(), request_id: who.request_id.clone(), key: None };
    let stopped = emergency_stop(app.printers.clone(), id, route, origin.clone()).await;
    let stopped = stopped.ok_or_else(|| ApiError::internal("an emergency stop could not be carried out"))?;
    if let Err(error) = &stopped
        && let Ok((_, printer)) = find_present(&app.printers, id).await
    {
        let act = PrinterAct { printer: id, origin, act: DirectAction::EmergencyStop, detail: None };
        act.record(&app.printers, &printer, Some(error)).await;
    }
    Ok(stopped?)
}
