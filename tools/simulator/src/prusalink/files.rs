//! `/api/v1/files`: files on the USB drive, which is the only storage.

use axum::{
    Json,
    extract::{ConnectInfo, Path, Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use super::{PrusalinkHost, done, error, outcome};
use crate::{
    printer::{
        CommandError, DeleteError, Machine,
        files::{PrinterFile, clean_path},
    },
    wire::{ConnectionGate, UploadedPart},
};

/// Accepted file extensions.
const PRINTABLE: &[&str] = &["gcode", "bgcode", "gco", "g"];

/// Splits a path into its directory and name.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Shortens a name as a FAT file system does: 8 characters, a dot and 3 characters.
pub(super) fn short(name: &str) -> String {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let plain = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_uppercase();
    let (stem, ending): (String, String) = (plain(stem), plain(ending).chars().take(3).collect());
    let stem = if stem.len() > 8 { format!("{}~1", &stem[..6]) } else { stem };
    if ending.is_empty() { stem } else { format!("{stem}.{ending}") }
}

/// Returns the path of a directory on the drive, with shortened names.
pub(super) fn short_folder(folder: &str) -> String {
    folder
        .split('/')
        .filter(|part| !part.is_empty())
        .fold("/usb".to_owned(), |path, part| format!("{path}/{}", short(part)))
}

fn entry(path: &str, file: &PrinterFile) -> Value {
    let name = split(path).1;
    json!({
        "name": short(name), "display_name": name, "type": "PRINT_FILE", "ro": false, "size": file.bytes.len(),
        "m_timestamp": file.modified.as_second(), "refs": {"download": format!("/usb/{path}")},
    })
}

/// Lists the direct children of a directory; `None` if it does not exist.
fn folder(machine: &Machine, path: &str) -> Option<Value> {
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    let (mut children, mut last) = (Vec::new(), "");
    for (path, file) in machine.files().iter() {
        let Some(rest) = path.strip_prefix(&prefix) else { continue };
        match rest.split_once('/') {
            None => children.push(entry(path, file)),
            Some((folder, _)) if folder == last => {}
            Some((folder, _)) => {
                last = folder;
                children.push(json!({"name": short(folder), "display_name": folder, "type": "FOLDER", "ro": false}));
            }
        }
    }
    (path.is_empty() || !children.is_empty())
        .then(|| json!({"type": "FOLDER", "name": split(path).1, "ro": false, "children": children}))
}

pub(super) async fn storages(State(host): State<PrusalinkHost>) -> Response {
    Json(json!({"storage_list": [{
        "type": "USB", "path": "/usb", "name": "usb", "available": true, "read_only": false,
        "free_space": host.printer.free_space(), "total_space": 32_000_000_000_u64,
    }]}))
    .into_response()
}

pub(super) async fn root(State(host): State<PrusalinkHost>) -> Response {
    Json(host.printer.with(|machine| folder(machine, ""))).into_response()
}

fn missing() -> Response {
    error(StatusCode::NOT_FOUND, "File was not found")
}

pub(super) async fn show(State(host): State<PrusalinkHost>, Path(path): Path<String>) -> Response {
    let path = path.trim_end_matches('/');
    let listing = host.printer.with(|machine| match machine.files().get(path) {
        Some(file) => Some(entry(path, file)),
        None => folder(machine, path),
    });
    listing.map_or_else(missing, |listing| Json(listing).into_response())
}

/// Returns the entire file, because printers do not support range requests.
pub(super) async fn download(State(host): State<PrusalinkHost>, Path(path): Path<String>) -> Response {
    match host.printer.with(|machine| machine.files().get(&path).map(|file| file.bytes.clone())) {
        Some(bytes) => ([(header::CONTENT_TYPE, "text/x.gcode")], bytes).into_response(),
        None => missing(),
    }
}

/// Starts printing a file.
pub(super) async fn start(State(host): State<PrusalinkHost>, Path(path): Path<String>) -> Response {
    host.printer.with(|machine| match machine.files().get(&path) {
        None => missing(),
        Some(_) if machine.job().is_some() => outcome(Err(CommandError::Busy)),
        Some(_) => outcome(machine.start(&path)),
    })
}

pub(super) async fn delete(State(host): State<PrusalinkHost>, Path(path): Path<String>) -> Response {
    host.printer.with(|machine| match machine.delete(&path) {
        Ok(()) => done(),
        Err(DeleteError::InUse) => error(StatusCode::CONFLICT, "File is currently being printed"),
        Err(DeleteError::NoFile) => missing(),
    })
}

/// Returns whether a header is present. Its value should be the structured boolean for true, but as in some firmware,
/// any value is accepted.
fn says_yes(request: &Request, name: &str) -> bool {
    request.headers().contains_key(name)
}

pub(super) async fn upload(
    State(host): State<PrusalinkHost>,
    Path(path): Path<String>,
    ConnectInfo(peer): ConnectInfo<ConnectionGate>,
    request: Request,
) -> Response {
    if host.printer.cuts_upload() {
        return peer.hang_up();
    }
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let Some(length) = length else { return error(StatusCode::LENGTH_REQUIRED, "Content-Length is missing") };
    let Some(path) = clean_path(&path) else { return error(StatusCode::BAD_REQUEST, "Invalid path") };
    let printable = path
        .rsplit_once('.')
        .is_some_and(|(_, extension)| PRINTABLE.iter().any(|candidate| candidate.eq_ignore_ascii_case(extension)));
    if !printable {
        return error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "File type is not supported");
    }
    let (print, overwrite) = (says_yes(&request, "print-after-upload"), says_yes(&request, "overwrite"));
    if host.printer.faults().disk_full {
        return error(StatusCode::INSUFFICIENT_STORAGE, "No space left on device");
    }
    let there = host.printer.with(|machine| (machine.files().get(&path).is_some(), machine.in_use(&path)));
    match there {
        (_, true) => return error(StatusCode::CONFLICT, "File is currently being printed"),
        (true, _) if !overwrite => return error(StatusCode::CONFLICT, "File already exists"),
        _ => {}
    }
    let Some(_under_way) = host.begin_transfer(&path, length) else {
        return error(StatusCode::CONFLICT, "Already in transfer process");
    };
    // Read before the file is stored, because a test that sees it arrive may switch the fault off.
    let drops = host.printer.faults().drop_after_upload;
    let received = UploadedPart::receive(&host.printer, &path, request.into_body()).await;
    let Ok(file) = received else { return error(StatusCode::REQUEST_TIMEOUT, "The transfer was interrupted") };
    let stored = host.printer.with(|machine| {
        if machine.in_use(&path) {
            return None;
        }
        let stored = machine.store(&path, file.bytes.clone(), file.facts.clone());
        if print {
            let _ = machine.start(&path);
        }
        Some(entry(&path, &stored))
    });
    match stored {
        None => error(StatusCode::CONFLICT, "File is currently being printed"),
        Some(_) if drops => peer.hang_up(),
        Some(entry) => (StatusCode::CREATED, Json(entry)).into_response(),
    }
}
