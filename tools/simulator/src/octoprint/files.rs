//! `/api/files`: the stored files. The only storage is `local`.

use axum::{
    Json,
    extract::{ConnectInfo, FromRequest, Multipart, Path, Query, Request, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{OctoprintHost, done, error, outcome};
use crate::{
    gcode::GcodeFacts,
    printer::{
        DeleteError, Machine, PrintOutcome,
        files::{PrinterFile, clean_path},
    },
    wire::{ConnectionGate, JsonBody, MultipartUpload, ranged},
};

/// Accepted file extensions.
const PRINTABLE: &[&str] = &["gcode", "gco", "g"];

/// Returns the last part of a path.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns each tool's filament in millimetres and cubic centimetres.
pub(super) fn filament(facts: &GcodeFacts) -> Value {
    // Filament of 1.75 mm has a cross-section of 2.405 mm².
    let volume = facts.filament_cm3.unwrap_or(facts.filament_mm * 2.405 / 1000.0);
    json!({"tool0": {"length": facts.filament_mm, "volume": volume}})
}

/// Returns the sanitised name under which the server stores a file; clients have to use the name from the response.
fn harmless(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-_.()[]".contains(c) { c } else { '_' }).collect()
}

fn refs(path: &str) -> Value {
    let path = percent_encoded(path);
    json!({"resource": format!("/api/files/local/{path}"), "download": format!("/downloads/files/local/{path}")})
}

/// Percent-encodes a path, except for unreserved characters and slashes.
fn percent_encoded(path: &str) -> String {
    use std::fmt::Write as _;
    path.bytes().fold(String::with_capacity(path.len()), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

fn entry(machine: &Machine, path: &str, file: &PrinterFile) -> Value {
    let prints: Vec<_> = machine
        .history()
        .iter()
        .filter(|record| record.filename == path && record.started_at >= file.modified && record.outcome.is_some())
        .collect();
    let won = prints.iter().filter(|record| record.outcome == Some(PrintOutcome::Completed)).count();
    let mut entry = json!({
        "name": name_of(path),
        "path": path,
        "display": name_of(path),
        "origin": "local",
        "type": "machinecode",
        "typePath": ["machinecode", "gcode"],
        "hash": hex::encode(&Sha256::digest(&file.bytes)[..20]),
        "size": file.bytes.len(),
        "date": file.modified.as_second(),
        "refs": refs(path),
        "gcodeAnalysis": {"estimatedPrintTime": file.facts.seconds, "filament": filament(&file.facts)},
    });
    if let Some(last) = prints.last() {
        entry["prints"] = json!({
            "success": won,
            "failure": prints.len() - won,
            "last": {
                "date": last.ended_at.map(|at| at.as_millisecond() as f64 / 1000.0),
                "success": last.outcome == Some(PrintOutcome::Completed),
                "printTime": last.print_seconds,
            },
        });
    }
    entry
}

/// Returns the files and directories directly below `prefix`, which is empty or ends with a slash. With `deep`,
/// directories include their children.
fn below(machine: &Machine, prefix: &str, deep: bool) -> Vec<Value> {
    let mut entries = Vec::new();
    let mut last_folder = String::new();
    for (path, file) in machine.files().iter() {
        let Some(rest) = path.strip_prefix(prefix) else {
            continue;
        };
        match rest.split_once('/') {
            None => entries.push(entry(machine, path, file)),
            Some((folder, _)) if folder == last_folder => {}
            Some((folder, _)) => {
                folder.clone_into(&mut last_folder);
                let path = format!("{prefix}{folder}");
                let mut listed = json!({"name": folder, "path": path, "display": folder, "origin": "local", "type": "folder", "typePath": ["folder"], "refs": {"resource": format!("/api/files/local/{}", percent_encoded(&path))}});
                if deep {
                    listed["children"] = json!(below(machine, &format!("{path}/"), true));
                }
                entries.push(listed);
            }
        }
    }
    entries
}

pub(super) async fn list(State(host): State<OctoprintHost>, Query(query): Query<Vec<(String, String)>>) -> Response {
    let deep = query.iter().any(|(name, value)| name == "recursive" && value == "true");
    let files = host.printer.with(|machine| below(machine, "", deep));
    Json(json!({"files": files, "free": host.printer.free_space(), "total": 32_000_000_000_u64})).into_response()
}

fn missing() -> Response {
    error(StatusCode::NOT_FOUND, "File not found on storage local")
}

pub(super) async fn show(State(host): State<OctoprintHost>, Path(path): Path<String>) -> Response {
    host.printer.with(|machine| match machine.files().get(&path) {
        Some(file) => Json(entry(machine, &path, file)).into_response(),
        None => missing(),
    })
}

pub(super) async fn download(
    State(host): State<OctoprintHost>,
    Path(path): Path<String>,
    headers: HeaderMap,
) -> Response {
    match host.printer.with(|machine| machine.files().get(&path).map(|file| file.bytes.clone())) {
        Some(bytes) => ranged(&headers, bytes, "application/octet-stream"),
        None => missing(),
    }
}

pub(super) async fn command(
    State(host): State<OctoprintHost>,
    Path(path): Path<String>,
    JsonBody(body): JsonBody,
) -> Response {
    if body["command"] != "select" {
        return error(StatusCode::BAD_REQUEST, "Unknown command");
    }
    host.printer.with(|machine| {
        if machine.files().get(&path).is_none() {
            return missing();
        }
        let print = body["print"] == json!(true);
        outcome(machine.select(&path).and_then(|()| if print { machine.start(&path) } else { Ok(()) }))
    })
}

pub(super) async fn delete(State(host): State<OctoprintHost>, Path(path): Path<String>) -> Response {
    match host.printer.with(|machine| machine.delete(&path)) {
        Ok(()) => done(),
        Err(DeleteError::InUse) => error(StatusCode::CONFLICT, "Trying to delete a file that is currently in use"),
        Err(DeleteError::NoFile) => missing(),
    }
}

pub(super) async fn upload(
    State(host): State<OctoprintHost>,
    ConnectInfo(peer): ConnectInfo<ConnectionGate>,
    request: Request,
) -> Response {
    if host.printer.cuts_upload() {
        return peer.hang_up();
    }
    let Ok(form) = Multipart::from_request(request, &()).await else {
        return error(StatusCode::BAD_REQUEST, "No file to upload and no folder to create");
    };
    let upload = match MultipartUpload::receive(&host.printer, form).await {
        Ok(upload) => upload,
        Err(failure) => return error(StatusCode::BAD_REQUEST, &failure.body_text()),
    };
    let Some(file) = &upload.file else {
        // Directories exist only by the files in them.
        return error(StatusCode::BAD_REQUEST, "No file to upload");
    };
    let folder = upload.field("path").unwrap_or_default();
    let Some(path) = clean_path(&format!("{folder}/{}", harmless(&file.name))) else {
        return error(StatusCode::BAD_REQUEST, "Invalid path");
    };
    if !path
        .rsplit_once('.')
        .is_some_and(|(_, extension)| PRINTABLE.iter().any(|candidate| candidate.eq_ignore_ascii_case(extension)))
    {
        return error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Could not upload file, invalid type");
    }
    if host.printer.faults().disk_full {
        let message = "Could not upload the file: [Errno 28] No space left on device";
        return error(StatusCode::INTERNAL_SERVER_ERROR, message);
    }
    // Read before the file is stored, because a test that sees it arrive may switch the fault off.
    let drops = host.printer.faults().drop_after_upload;
    let stored = host.printer.with(|machine| {
        if machine.in_use(&path) {
            return None;
        }
        machine.store(&path, file.bytes.clone(), file.facts.clone());
        // The upload succeeds even if selecting or printing fails, which only the flags of the answer show.
        let print = upload.is_true("print") && machine.job().is_none() && machine.start(&path).is_ok();
        let select = upload.is_true("select") && machine.select(&path).is_ok();
        Some(json!({
            "files": {"local": {"name": name_of(&path), "path": path, "display": name_of(&path), "origin": "local", "refs": refs(&path)}},
            "done": true,
            "effectiveSelect": select,
            "effectivePrint": print,
        }))
    });
    let Some(body) = stored else {
        return error(StatusCode::CONFLICT, "Trying to overwrite file that is currently being printed");
    };
    if drops {
        return peer.hang_up();
    }
    (StatusCode::CREATED, [(header::LOCATION, format!("/api/files/local/{}", percent_encoded(&path)))], Json(body))
        .into_response()
}
