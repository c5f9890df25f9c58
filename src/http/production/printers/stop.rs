//! Emergency stop: to the printer first, past everything that is queued, and recorded after.

use api_derive::Response;
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::acts::PrinterAct;
use super::{ON_PRINTER, PrinterHandles, present};
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::printers::{StopRoute, emergency_stop};
use crate::domain::id::Id;
use crate::domain::principal::Role;
use crate::domain::printer::Act;
use crate::http::access::{Caller, RequiredAccess};
use crate::http::command_request::CommandRequest;
use crate::http::error::ApiError;
use crate::http::path_id::PathId;
use crate::http::reply::Plain;
use crate::http::routes::ResourceRoutes;
use crate::http::wire::{EmptyBody, OptionalBody};

/// Adds the route of the emergency stop.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    to.post_long(operator, "/api/printers/{id}/emergency-stop", stop, |op| {
        op.named("emergencyStop", "Cut the motors and heaters of a printer at once")
            .about("It goes past everything that is queued. Afterwards the printer must be homed, and its bed cleared.")
            .unkeyed()
            // The printer refused, or did not answer: nothing else keeps a stop from going out.
            .nos(&ON_PRINTER[3..])
    })
}

/// An emergency stop that went out.
#[derive(Response, Serialize)]
#[api(name = "EmergencyStopped", example = json!({"ok": true, "recorded": true}))]
struct StoppedView {
    /// Always true: the printer took the stop.
    ok: bool,
    /// Whether the stop is recorded already. If not, it is as soon as the database answers.
    recorded: bool,
}

/// The body is not read: whatever is in it, the printer stops. Without a database it stops all the same.
async fn stop(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Plain<StoppedView>, ApiError> {
    let recorded = stop_now(&app, id, &call.who).await?;
    Ok(Plain(StoppedView { ok: true, recorded }))
}

/// Stops a printer in an emergency. Answers whether that is recorded already; if not, it is as soon as that is possible.
pub(crate) async fn stop_now(app: &PrinterHandles, id: Id, who: &Caller) -> Result<bool, ApiError> {
    let route = match app.printer_connections.get(id) {
        Some(connection) => StopRoute::Watched(connection),
        None => {
            let fields = present(app, id).await?.1.fields;
            StopRoute::unwatched(&app.printer_connections, &app.cipher, &fields).map_err(ApiError::internal)?
        }
    };
    let origin = CommandOrigin { by: who.by.clone(), request_id: who.request_id.clone(), key: None };
    let stopped = emergency_stop(app.printers.clone(), id, route, origin.clone()).await;
    let stopped = stopped.ok_or_else(|| ApiError::internal("an emergency stop was not carried out"))?;
    if let Err(error) = &stopped
        && let Ok((_, printer)) = present(app, id).await
    {
        let act = PrinterAct { printer: id, origin, act: Act::EmergencyStop, detail: None };
        act.record(&app.printers, &printer, Some(error)).await;
    }
    Ok(stopped?)
}
