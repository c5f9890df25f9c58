//! Moonraker's file manager, which lists, describes, stores and deletes printable files.

use axum::{
    extract::{ConnectInfo, FromRequest, Multipart, Path, Request, State},
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{MoonrakerError, MoonrakerHost, answer, history::job_id};
use crate::{
    gcode::GcodeFacts,
    printer::{
        DeleteError, Machine,
        files::{PrinterFile, clean_path},
    },
    wire::{ConnectionGate, MultipartUpload, ranged},
};

/// File extensions that Klipper can print.
const PRINTABLE: &[&str] = &["gcode", "g", "gco", "ufp", "nc"];

/// Converts a time to Moonraker's format: Unix seconds with a fraction.
pub(super) fn unix(at: Timestamp) -> f64 {
    at.as_millisecond() as f64 / 1000.0
}

fn item(path: &str, file: &PrinterFile) -> Value {
    json!({"path": path, "root": "gcodes", "modified": unix(file.modified), "size": file.bytes.len(), "permissions": "rw"})
}

/// Returns the response to `/server/files/list`, which lists all stored files.
pub(super) fn list(machine: &mut Machine) -> Value {
    machine
        .files()
        .iter()
        .map(|(path, file)| json!({"path": path, "modified": unix(file.modified), "size": file.bytes.len(), "permissions": "rw"}))
        .collect()
}

/// Returns the metadata from a file's comments under Moonraker's names; unknown values are omitted.
pub(super) fn facts(facts: &GcodeFacts, size: u64) -> Value {
    let fields = [
        ("slicer", facts.slicer.clone().map(Value::from)),
        ("slicer_version", facts.slicer_version.clone().map(Value::from)),
        ("estimated_time", facts.estimated.then(|| Value::from(facts.seconds))),
        ("filament_total", facts.filament_known.then(|| Value::from(facts.filament_mm))),
        ("filament_weight_total", facts.filament_g.map(Value::from)),
        ("filament_type", facts.filament_type.clone().map(Value::from)),
        ("layer_height", facts.layer_height.map(Value::from)),
        ("first_layer_height", facts.first_layer_height.map(Value::from)),
        ("layer_count", facts.layers.map(Value::from)),
        ("nozzle_diameter", facts.nozzle_diameter.map(Value::from)),
        ("first_layer_extr_temp", Some(facts.nozzle_temp.into())),
        ("first_layer_bed_temp", Some(facts.bed_temp.into())),
        ("size", Some(size.into())),
        ("gcode_start_byte", Some(facts.code.0.into())),
        ("gcode_end_byte", Some(facts.code.1.into())),
    ];
    fields
        .into_iter()
        .filter_map(|(name, value)| value.map(|value| (name.to_owned(), value)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Returns the response to `/server/files/metadata`, which describes one file.
pub(super) fn metadata(machine: &mut Machine, filename: &str) -> Result<Value, MoonrakerError> {
    let filename = filename.trim_start_matches('/');
    let file = machine
        .files()
        .get(filename)
        .ok_or_else(|| MoonrakerError::new(404, format!("Metadata not available for <{filename}>")))?;
    let mut metadata = facts(&file.facts, file.bytes.len() as u64);
    let printed =
        machine.history().iter().rev().find(|record| record.filename == filename && record.started_at >= file.modified);
    metadata["filename"] = json!(filename);
    metadata["modified"] = json!(unix(file.modified));
    metadata["uuid"] = json!(file.uuid);
    metadata["print_start_time"] = json!(printed.map(|record| unix(record.started_at)));
    metadata["job_id"] = json!(printed.map(|record| job_id(record.number)));
    metadata["file_processors"] = json!([]);
    metadata["thumbnails"] = file
        .facts
        .thumbnails
        .iter()
        .map(|picture| {
            json!({"width": picture.width, "height": picture.height, "size": picture.png.len(), "relative_path": thumbnail_path(filename, picture.width, picture.height)})
        })
        .collect();
    Ok(metadata)
}

/// Returns a thumbnail's path, relative to its file's directory.
fn thumbnail_path(filename: &str, width: u32, height: u32) -> String {
    let name = filename.rsplit('/').next().unwrap_or(filename);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    format!(".thumbs/{stem}-{width}x{height}.png")
}

/// Deletes a file. The response has the usual envelope; errors are generic.
pub(super) fn remove(machine: &mut Machine, path: &str) -> Result<Value, MoonrakerError> {
    let path = clean_path(path).ok_or_else(|| MoonrakerError::generic(400, "Invalid path"))?;
    match machine.delete(&path) {
        Ok(()) => Ok(
            json!({"item": {"path": path, "root": "gcodes", "size": 0, "modified": 0, "permissions": ""}, "action": "delete_file"}),
        ),
        Err(DeleteError::InUse) => Err(MoonrakerError::generic(403, "File is loaded, print not completed")),
        Err(DeleteError::NoFile) => Err(MoonrakerError::generic(400, format!("Invalid file path: {path}"))),
    }
}

/// Handles `DELETE /server/files/gcodes/{path}`, which deletes a stored file.
pub(super) async fn delete(State(host): State<MoonrakerHost>, Path(path): Path<String>) -> Response {
    match host.printer.with(|machine| remove(machine, &path)) {
        Ok(result) => answer(StatusCode::OK, &json!({"result": result})),
        Err(error) => error.respond(),
    }
}

/// Handles `GET /server/files/gcodes/{path}`, which returns the raw bytes of a file or of a thumbnail.
pub(super) async fn download(
    State(host): State<MoonrakerHost>,
    Path(path): Path<String>,
    headers: HeaderMap,
) -> Response {
    let content = host.printer.with(|machine| {
        if let Some(file) = machine.files().get(&path) {
            return Some((file.bytes.clone(), "application/octet-stream"));
        }
        machine.files().iter().find_map(|(name, file)| {
            let folder = name.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
            let picture =
                file.facts.thumbnails.iter().find(|picture| {
                    path == format!("{folder}{}", thumbnail_path(name, picture.width, picture.height))
                })?;
            Some((picture.png.clone().into(), "image/png"))
        })
    });
    match content {
        Some((bytes, kind)) => ranged(&headers, bytes, kind),
        None => MoonrakerError::new(404, "Not Found").respond(),
    }
}

/// Handles `POST /server/files/upload`, whose response is the only one without an envelope.
pub(super) async fn upload(
    State(host): State<MoonrakerHost>,
    ConnectInfo(peer): ConnectInfo<ConnectionGate>,
    request: Request,
) -> Response {
    if host.printer.cuts_upload() {
        return peer.hang_up();
    }
    // Read before the file is stored, because a test that sees it arrive may switch the fault off.
    let drops = host.printer.faults().drop_after_upload;
    let stored = match Multipart::from_request(request, &()).await {
        Ok(form) => store(&host, form).await,
        Err(_) => Err(MoonrakerError::generic(400, "not a multipart form")),
    };
    match stored {
        Ok((path, body)) => {
            if drops {
                return peer.hang_up();
            }
            let mut response = answer(StatusCode::CREATED, &body);
            if let Ok(location) = format!("/server/files/gcodes/{path}").parse() {
                response.headers_mut().insert(header::LOCATION, location);
            }
            response
        }
        Err(error) => error.respond(),
    }
}

async fn store(host: &MoonrakerHost, form: Multipart) -> Result<(String, Value), MoonrakerError> {
    let upload = MultipartUpload::receive(&host.printer, form)
        .await
        .map_err(|error| MoonrakerError::generic(500, error.body_text()))?;
    if upload.field("root").is_some_and(|root| root != "gcodes") {
        return Err(MoonrakerError::generic(400, "Invalid root"));
    }
    let file =
        upload.file.as_ref().ok_or_else(|| MoonrakerError::generic(400, "No file name specified in upload form"))?;
    let path = clean_path(&format!("{}/{}", upload.field("path").unwrap_or_default(), file.name))
        .ok_or_else(|| MoonrakerError::generic(400, "Invalid path"))?;
    if upload.field("checksum").is_some_and(|checksum| !checksum.eq_ignore_ascii_case(&upload.sha256)) {
        return Err(MoonrakerError::generic(422, "File checksum mismatch"));
    }
    let printable = path
        .rsplit_once('.')
        .is_some_and(|(_, extension)| PRINTABLE.iter().any(|candidate| candidate.eq_ignore_ascii_case(extension)));
    host.printer.with(|machine| {
        if machine.faults().disk_full {
            return Err(MoonrakerError::new(500, "[Errno 28] No space left on device"));
        }
        if machine.in_use(&path) {
            return Err(MoonrakerError::generic(403, "File is loaded, upload not permitted"));
        }
        let file = machine.store(&path, file.bytes.clone(), file.facts.clone());
        let mut body = json!({"item": item(&path, &file), "action": "create_file"});
        if printable {
            // The upload succeeds even if the start fails, which only the flag shows. It never replaces a paused
            // print.
            let started = upload.is_true("print") && machine.job().is_none() && machine.start(&path).is_ok();
            body["print_started"] = json!(started);
            body["print_queued"] = json!(false);
        }
        Ok((path.clone(), body))
    })
}
