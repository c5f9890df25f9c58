//! File operations on a printer with `PrusaLink`.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::multipart::Form;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::adapter::{PrinterError, RemoteFile, Source};
use crate::upload;
use crate::wire::PrinterHttpClient;
use domain::bounds::unix_seconds;

/// Maximum time for which an upload waits for an ongoing upload to the printer to finish. It takes the printer a while
/// to notice that an upload has been aborted.
const TRANSFER_WAIT: Duration = Duration::from_secs(20);
/// Interval between attempts while waiting for an ongoing upload.
const TRANSFER_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of directories listed per storage device.
const MAX_FOLDERS: usize = 100;

/// Returns the resource path of an uploaded file.
pub(super) fn resource(storage: &str, name: &str) -> String {
    format!("api/v1/files/{storage}/{name}")
}

/// Returns the name of the storage for uploads, without slashes: the first one that is available and writable.
pub(super) fn storage(answer: &Value) -> Result<String, PrinterError> {
    let list = answer.get("storage_list").and_then(Value::as_array);
    let list = list.ok_or_else(|| PrinterError::BadAnswer("no list of storage devices".into()))?;
    let is = |one: &Value, member: &str| one.get(member).and_then(Value::as_bool);
    let usable = list.iter().filter(|one| is(one, "available") != Some(false) && is(one, "read_only") != Some(true));
    let path = usable.filter_map(|one| one.get("path")?.as_str()).map(|path| path.trim_matches('/')).next();
    path.filter(|path| !path.is_empty()).map(str::to_owned).ok_or_else(|| PrinterError::Refused {
        status: 409,
        message: "no writable storage: is a USB drive plugged in?".into(),
    })
}

/// Returns the name of a file, as a path below its storage. The printer shortens names to the 8.3 format and also
/// reports the original name.
pub(super) fn name_of(file: &Value) -> Option<String> {
    let text = |member: &str| file.get(member).and_then(Value::as_str).filter(|text| !text.is_empty());
    let name = text("display_name").or_else(|| text("name"))?;
    let folder = text("display_path").or_else(|| text("path")).unwrap_or_default();
    // The first part is the storage. Some versions put the file itself at the end.
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).skip(1).collect();
    if parts.last().is_some_and(|last| *last == name || Some(*last) == text("name")) {
        parts.pop();
    }
    parts.push(name);
    Some(parts.join("/"))
}

/// Stores a file and compares the stored copy with the data sent.
pub(super) async fn upload(
    wire: &PrinterHttpClient,
    storage: &str,
    name: &str,
    source: &Source,
) -> Result<String, PrinterError> {
    let path = resource(storage, name);
    let until = Instant::now() + TRANSFER_WAIT;
    let mut stored = send_when_free(wire, storage, name, source, until).await;
    if let Err(PrinterError::Refused { status: 409, .. }) = &stored {
        // Another upload may have begun or ended just then.
        stored = send_when_free(wire, storage, name, source, until).await;
    }
    if let Err(PrinterError::Refused { status: 409, message }) = &stored {
        let other = current_transfer(wire).await;
        return Err(PrinterError::Refused { status: 409, message: format!("{message}{other}") });
    }
    stored?;
    match compare(wire, &wire.get(&path, &[]).await?, source).await {
        Err(altered @ PrinterError::Altered(_)) => {
            tracing::warn!(file = name, error = %altered, "deleted an altered file from the printer");
            let _ = wire.delete(&path).await;
            Err(altered)
        }
        Err(error) if upload::is_kept_back(&error) => Ok(name.to_owned()),
        compared => compared.map(|()| name.to_owned()),
    }
}

/// Compares the size in a file's entry, and the bytes at its download address, with the data sent. Printers send only
/// whole files, so only the beginning is read.
async fn compare(wire: &PrinterHttpClient, entry: &Value, source: &Source) -> Result<(), PrinterError> {
    let (size, sent) = (entry.get("size").and_then(Value::as_u64), source.sent_bytes());
    if let Some(size) = size.filter(|size| *size != sent) {
        return Err(PrinterError::Altered(format!("{size} of {sent} bytes")));
    }
    let download = entry.pointer("/refs/download").and_then(Value::as_str);
    match download.and_then(|path| wire.resolve(path)) {
        Some(url) => upload::compare(wire, &url, source).await,
        None => Ok(()),
    }
}

/// Uploads a file as soon as no other upload is in progress, and in any case at `until`. A printer that rejects an
/// upload closes the connection while the file is being sent, so that its response may be lost.
async fn send_when_free(
    wire: &PrinterHttpClient,
    storage: &str,
    name: &str,
    source: &Source,
    until: Instant,
) -> Result<Value, PrinterError> {
    while Instant::now() < until && !current_transfer(wire).await.is_empty() {
        sleep(TRANSFER_INTERVAL).await;
    }
    send(wire, storage, name, source).await
}

/// Uploads a file. The header that would start the print is omitted, because some firmware interprets any value as yes.
async fn send(wire: &PrinterHttpClient, storage: &str, name: &str, source: &Source) -> Result<Value, PrinterError> {
    let version = wire.get("api/version", &[]).await?;
    if version.pointer("/capabilities/upload-by-put") == Some(&Value::Bool(true)) {
        let headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
            // The same attempt may upload again after its connection broke.
            (HeaderName::from_static("overwrite"), HeaderValue::from_static("?1")),
        ]);
        wire.put_file(&resource(storage, name), headers, source).await
    } else {
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        let form = Form::new().text("path", folder.to_owned()).text("print", "false");
        let place = if storage == "local" { "local" } else { "sdcard" };
        wire.upload(&format!("api/files/{place}"), form, file, source).await
    }
}

/// Describes the ongoing upload that blocks a new one; returns an empty string if no upload is in progress. A printer
/// accepts one upload at a time, and an aborted upload may linger.
async fn current_transfer(wire: &PrinterHttpClient) -> String {
    let Ok(transfer @ Value::Object(_)) = wire.get("api/v1/transfer", &[]).await else { return String::new() };
    let file = ["display_name", "display_path", "path"].into_iter().find_map(|member| transfer.get(member)?.as_str());
    let progress = transfer.get("progress").and_then(Value::as_f64).unwrap_or(0.0);
    format!(" (another upload is in progress: {}, {progress:.0} %)", file.unwrap_or("unknown file"))
}

/// Lists all files on a storage device recursively, with one request per directory.
pub(super) async fn list(wire: &PrinterHttpClient, storage: &str) -> Result<Vec<RemoteFile>, PrinterError> {
    let mut waiting = VecDeque::from([String::new()]);
    let (mut files, mut requests) = (Vec::new(), 0);
    while let Some(folder) = waiting.pop_front() {
        requests += 1;
        let listing = wire.get(&format!("api/v1/files/{storage}/{folder}"), &[]).await?;
        let Some(children) = listing.get("children").and_then(Value::as_array) else {
            // An empty directory may be told without them.
            continue;
        };
        for child in children {
            let text = |member: &str| child.get(member).and_then(Value::as_str).filter(|text| !text.is_empty());
            let Some(name) = text("display_name").or_else(|| text("name")) else { continue };
            let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            match text("type") {
                Some("FOLDER") if requests + waiting.len() < MAX_FOLDERS => waiting.push_back(path),
                Some("FOLDER") => {}
                _ => files.push(RemoteFile {
                    path,
                    size: child.get("size").and_then(Value::as_u64),
                    modified_at: child.get("m_timestamp").and_then(Value::as_f64).and_then(unix_seconds),
                }),
            }
        }
    }
    Ok(files)
}
