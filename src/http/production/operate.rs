//! Operations of a printer that go straight to the wire, and those of its actor (decisions §6, §7).
//!
//! What the printer answers is told as it is: refused 502 with its words, no answer 504, not of its type 409.

use super::printers::{present, shown};
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::handle::AskError;
use crate::domain::file::{File, FileKind};
use crate::domain::id::Id;
use crate::domain::printer::{ManualFailure, Printer, PrinterAnswer, PrinterCommand};
use crate::domain::refusal::Refusal;
use crate::http::AppState;
use crate::http::access::Caller;
use crate::http::body::sure;
use crate::http::command_request::{CommandRequest, CommandTarget, found, state_of};
use crate::http::error::{Answer, ApiError};
use crate::http::page::Params;
use crate::http::path_id::PathId;
use crate::http::reply;
use crate::printers::adapter::{Deleted, Source};
use crate::printers::connections::PrinterConnection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// Most commands of one request.
pub const GCODE_MOST: usize = 200;
/// Longest line of G-code, in bytes.
pub const GCODE_LONGEST: usize = 1000;
/// Longest name of a file on a printer, in characters.
pub const NAME_LONGEST: usize = 255;
/// So long a caller waits for a manual print to begin; the upload of a large file lasts longer.
const PRINT_WITHIN: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// The connection of a printer that is being watched; 409 when an operator disconnected it.
pub fn link(app: &AppState, id: Id) -> Result<Arc<PrinterConnection>, ApiError> {
    let away = || ApiError::conflict("printer_disconnected", "the printer is disconnected; connect it first");
    app.printer_connections.link(id).ok_or_else(away)
}

/// The connection of a printer that exists.
async fn reach(app: &AppState, id: Id) -> Result<Arc<PrinterConnection>, ApiError> {
    present(app, id).await?;
    link(app, id)
}

fn done() -> Answer {
    reply::ok(json!({"ok": true}))
}

/// `GET /api/printers/{id}/info`: what its server and its firmware say of themselves, as far as the type tells.
pub async fn info(State(app): State<AppState>, PathId(id): PathId) -> Answer {
    let link = reach(&app, id).await?;
    let server = link.adapter.server_info().await;
    let printer = link.adapter.printer_info().await;
    match (server, printer) {
        (Err(error), Err(_)) => Err(error.into()),
        (server, printer) => reply::ok(json!({
            "server": server.unwrap_or(Value::Null), "printer": printer.unwrap_or(Value::Null),
        })),
    }
}

/// `GET /api/printers/{id}/history?file=`: what the printer remembers of prints of a file; without one, of the last shown.
pub async fn history(State(app): State<AppState>, PathId(id): PathId, params: Params) -> Answer {
    let link = reach(&app, id).await?;
    let last = link.status.borrow().file.clone();
    let Some(file) = params.text("file").map(str::to_owned).or(last) else { return reply::ok(json!({"history": []})) };
    let prints = link.adapter.history(&file).await?;
    reply::ok(json!({ "history": prints }))
}

/// `GET /api/printers/{id}/webcams`
pub async fn webcams(State(app): State<AppState>, PathId(id): PathId) -> Answer {
    let webcams = reach(&app, id).await?.adapter.webcams().await?;
    reply::ok(json!({ "webcams": webcams }))
}

/// `GET /api/printers/{id}/system-info`
pub async fn system_info(State(app): State<AppState>, PathId(id): PathId) -> Answer {
    reply::ok(reach(&app, id).await?.adapter.system_info().await?)
}

/// `GET /api/printers/{id}/files`
pub async fn files(State(app): State<AppState>, PathId(id): PathId) -> Answer {
    let files = reach(&app, id).await?.adapter.list_files().await?;
    reply::ok(json!({ "files": files }))
}

/// `DELETE /api/printers/{id}/files/{name}`: not the file of the job in hand (409).
pub async fn delete_file(
    State(app): State<AppState>,
    PathId(id): PathId,
    Path((_, name)): Path<(String, String)>,
) -> Answer {
    let (_, printer) = present(&app, id).await?;
    if printer.in_hand.as_ref().is_some_and(|in_hand| in_hand.is_ours(&name)) {
        return Err(ApiError::conflict("printer_in_use", "this is the file of the job that the printer has in hand"));
    }
    match link(&app, id)?.adapter.delete_file(&name).await? {
        Deleted::Gone => reply::no_content(),
        Deleted::NotFound => Err(Refusal::not_found("printer_file").into()),
    }
}

async fn tell(app: &AppState, call: &CommandRequest, id: Id, command: PrinterCommand) -> Answer {
    let done = call.ask(&app.printers, CommandTarget::Id(id), command).await?;
    reply::changed(&done, shown(app, &done)?)
}

/// `POST /api/printers/{id}/connect`: it is watched again.
pub async fn connect(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.optional_fields()?.finish()?;
    if let Some(link) = app.printer_connections.link(id) {
        // Watched already: its serial port may be closed, or it is to be tried at once.
        if let Err(error) = link.adapter.connect().await {
            tracing::info!(printer = %id, %error, "does not connect yet");
        }
        link.look.notify_one();
    }
    tell(&app, &call, id, PrinterCommand::Connect(true)).await
}

/// `POST /api/printers/{id}/disconnect`: it is left alone; not while it has a job in hand (409).
pub async fn disconnect(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.optional_fields()?.finish()?;
    let link = app.printer_connections.link(id);
    let answer = tell(&app, &call, id, PrinterCommand::Connect(false)).await?;
    if let Some(link) = link
        && let Err(error) = link.adapter.disconnect().await
    {
        tracing::info!(printer = %id, %error, "was not told that we let go of it");
    }
    Ok(answer)
}

/// `POST /api/printers/{id}/pause`: whatever it prints.
pub async fn pause(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.optional_fields()?.finish()?;
    let link = reach(&app, id).await?;
    link.adapter.pause().await?;
    link.look.notify_one();
    done()
}

/// `POST /api/printers/{id}/resume`
pub async fn resume(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.optional_fields()?.finish()?;
    let link = reach(&app, id).await?;
    link.adapter.resume().await?;
    link.look.notify_one();
    done()
}

/// `POST /api/printers/{id}/cancel`: whatever it prints; a job of ours ends as cancelled at the printer.
pub async fn cancel(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.optional_fields()?.finish()?;
    let link = reach(&app, id).await?;
    link.adapter.cancel().await?;
    link.look.notify_one();
    done()
}

/// `POST /api/printers/{id}/emergency-stop`: to the wire first, past everything, and recorded after; without a database
/// it is not recorded, and stops all the same. A disconnected printer is reached through an adapter of its own.
pub async fn emergency_stop(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let recorded = stop_now(&app, id, &call.who).await?;
    reply::ok(json!({"ok": true, "recorded": recorded}))
}

/// Stops a printer in an emergency; whether that is recorded already. A stop that went out and could not be recorded is
/// recorded as soon as that is possible.
pub async fn stop_now(app: &AppState, id: Id, who: &Caller) -> Result<bool, ApiError> {
    let link = app.printer_connections.link(id);
    let adapter = match &link {
        Some(link) => link.adapter.clone(),
        None => make_adapter(app, &present(app, id).await?.1)?,
    };
    let caller = CommandOrigin { by: who.by.clone(), request_id: who.request_id.clone(), key: None };
    let (shop, (said, heard)) = (app.clone(), oneshot::channel());
    // The caller may hang up: the stop goes out and is recorded all the same.
    tokio::spawn(async move {
        let stopping = link.as_ref().map(PrinterConnection::stop);
        if let Err(error) = adapter.emergency_stop().await {
            let _ = said.send(Err(error));
            return;
        }
        let mut said = Some(said);
        let mut pause = Duration::from_millis(100);
        loop {
            let recorded = shop.printers.ask(id, caller.clone(), PrinterCommand::EmergencyStopped).await;
            if let Some(said) = said.take() {
                let _ = said.send(Ok(recorded.is_ok()));
            }
            match recorded {
                Ok(_) | Err(AskError::Refused(_) | AskError::Closed) => break,
                Err(error) => {
                    tracing::warn!(printer = %id, %error, "an emergency stop went out and is not recorded yet");
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(5));
        }
        drop(stopping);
    });
    Ok(heard.await.map_err(ApiError::internal)??)
}

fn make_adapter(app: &AppState, printer: &Printer) -> Result<Arc<dyn crate::printers::adapter::Adapter>, ApiError> {
    let fields = &printer.fields;
    let api_key = match fields.encrypted_api_key.as_str() {
        "" => String::new(),
        sealed => app.cipher.open(sealed).map_err(ApiError::internal)?,
    };
    let serial = fields.serial.clone().unwrap_or_default();
    let address = crate::printers::registry::PrinterAddress { base_url: fields.base_url.clone(), api_key, serial };
    app.printer_connections.registry.make(&fields.kind, &address).map_err(ApiError::internal)
}

/// `POST /api/printers/{id}/restart-firmware`: not during a print of ours (409).
pub async fn restart_firmware(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.optional_fields()?.finish()?;
    idle(&app, id).await?;
    let link = link(&app, id)?;
    link.adapter.restart_firmware().await?;
    link.look.notify_one();
    done()
}

/// What would spoil a print is refused while one is on or about to begin.
async fn idle(app: &AppState, id: Id) -> Result<(), ApiError> {
    let (_, printer) = present(app, id).await?;
    if printer.in_hand.is_some() || printer.manual.is_some() || printer.foreign_print() {
        return Err(ApiError::conflict("printer_busy", "the printer prints, or is about to"));
    }
    Ok(())
}

/// `POST /api/printers/{id}/home`
pub async fn home(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.optional_fields()?.finish()?;
    idle(&app, id).await?;
    link(&app, id)?.adapter.home().await?;
    tell(&app, &call, id, PrinterCommand::Homed).await
}

/// `POST /api/printers/{id}/gcode {commands[]}`
pub async fn gcode(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let mut body = call.fields()?;
    let commands: Option<Vec<String>> = body.need("commands");
    let fits = |commands: &Vec<String>| {
        (1..=GCODE_MOST).contains(&commands.len())
            && commands
                .iter()
                .all(|line| !line.trim().is_empty() && line.len() <= GCODE_LONGEST && !line.contains(['\n', '\r']))
    };
    let fit = commands.as_ref().is_none_or(fits);
    body.check(fit, "commands", format!("must be 1 to {GCODE_MOST} single lines of at most {GCODE_LONGEST} bytes"));
    body.finish()?;
    reach(&app, id).await?.adapter.run_gcode(&sure(commands)?).await?;
    done()
}

/// `POST /api/printers/{id}/print {fileId}` or `{filename}`: prints a file that is no job. The printer must be able to take
/// a job; meanwhile it takes none. Answered when the printer has taken the start; 202 when that lasts too long.
pub async fn print(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let mut body = call.fields()?;
    let file: Option<Id> = body.opt("fileId");
    let name = body.opt_text("filename", NAME_LONGEST);
    body.check(file.is_some() != name.is_some(), "fileId", "say either fileId or filename");
    body.finish()?;
    present(&app, id).await?;
    let print = app.environment.id();
    let mut heard = app.printer_connections.await_manual(print);
    let command = async {
        let file_name = match (file, name) {
            (Some(file), _) => gcode_file(&app, file).await?.name,
            (None, name) => sure(name)?,
        };
        // A disconnected printer says so in the words of the others.
        link(&app, id)?;
        Ok(PrinterCommand::PrintManually { id: print, file_id: file, file_name })
    };
    let done = call.ask_with(&app.printers, CommandTarget::Id(id), command).await?;
    let PrinterAnswer::Manual(asked) = done.answer else {
        return Err(ApiError::internal(format!("a printer answered {:?}", done.answer)));
    };
    let begun = |name: &str| json!({"ok": true, "filename": name});
    let until = tokio::time::Instant::now() + PRINT_WITHIN;
    loop {
        // The printer's own words, where they come; its state tells what comes without words (an emergency stop).
        let look = tokio::time::sleep(LOOK_AGAIN);
        tokio::select! {
            biased; // the printer's own answer before the next look
            outcome = &mut heard, if asked == print && !heard.is_terminated() => if let Ok(outcome) = outcome {
                return reply::ok(begun(&outcome?));
            },
            () = look => {}
        }
        let (_, printer) = present(&app, id).await?;
        match (printer.last_manual, printer.manual) {
            (Some(last), _) if last.id == asked => {
                return match last.error {
                    None => reply::ok(begun(&last.file_name)),
                    Some(ManualFailure::Busy(why)) => Err(ApiError::conflict("printer_busy", why)),
                    Some(ManualFailure::Refused(why)) => {
                        Err(ApiError::new(StatusCode::BAD_GATEWAY, "printer_refused", why))
                    }
                    Some(ManualFailure::Unclear(why)) => {
                        Err(ApiError::new(StatusCode::GATEWAY_TIMEOUT, "printer_timeout", why))
                    }
                };
            }
            (_, Some(manual)) if manual.id == asked => {
                if tokio::time::Instant::now() >= until {
                    return reply::with_status(StatusCode::ACCEPTED, begun(&manual.file_name));
                }
            }
            // It was taken once, and another one since.
            _ => return reply::with_status(StatusCode::ACCEPTED, json!({"ok": true})),
        }
    }
}

/// A stored G-code file that a body names as `fileId`.
async fn gcode_file(app: &AppState, id: Id) -> Result<File, ApiError> {
    let (_, state) = found(&app.files, id).await.map_err(|_| Refusal::field("fileId", "no such file"))?;
    let file = state_of(&state)?;
    if file.archived || file.kind != FileKind::Gcode {
        return Err(Refusal::field("fileId", "must be a G-code file").into());
    }
    Ok(file.clone())
}

/// `POST /api/printers/{id}/files {fileId}`: puts a stored file on the printer; nothing is started.
pub async fn upload(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let mut body = call.fields()?;
    let file: Option<Id> = body.need("fileId");
    body.finish()?;
    let link = reach(&app, id).await?;
    let file = gcode_file(&app, sure(file)?).await?;
    let size = u64::try_from(file.size).map_err(ApiError::internal)?;
    let source = Source { path: app.blobs.path(&file.sha256), size, sha256: Some(file.sha256.clone()) };
    let name = link.adapter.upload(&file.name, &source).await?;
    reply::with_status(StatusCode::CREATED, json!({"ok": true, "filename": name}))
}

/// `POST /api/printers/{id}/bed-cleared`
pub async fn bed_cleared(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.optional_fields()?.finish()?;
    tell(&app, &call, id, PrinterCommand::BedCleared).await
}

/// `POST /api/printers/{id}/maintenance {on, note?}`
pub async fn maintenance(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let mut body = call.fields()?;
    let on: Option<bool> = body.need("on");
    let note = body.nullable_text("note", 500).flatten();
    body.finish()?;
    tell(&app, &call, id, PrinterCommand::Maintenance { on: sure(on)?, note }).await
}
