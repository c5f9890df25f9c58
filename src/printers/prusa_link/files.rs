//! File operations on a printer with `PrusaLink`.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::multipart::Form;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::adapter::{PrinterError, RemoteFile, Source};
use crate::stored_copy;
use crate::upload::{self, UploadLimits};
use crate::wire::PrinterHttpClient;
use domain::bounds::unix_seconds;

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
    let until = Instant::now() + wire.settings.upload_wait;
    let had_to_wait = wait_until_free(wire, until).await;
    let mut stored = send(wire, storage, name, source).await;
    let is_worth_repeating = match &stored {
        // Another upload may have begun or ended just then, or the challenge may have been replaced since the query
        // that precedes the file.
        Err(PrinterError::Refused { status: 409, .. } | PrinterError::WrongKey(_)) => true,
        // The response that rejects an upload because of another one may be lost.
        Err(PrinterError::Lost(_)) => had_to_wait || current_transfer(wire).await.is_some(),
        _ => false,
    };
    if is_worth_repeating {
        wait_until_free(wire, until).await;
        stored = send(wire, storage, name, source).await;
    }
    if let Err(error) = stored {
        return Err(cause(wire, storage, name, source, error).await);
    }
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
        Some(url) => stored_copy::compare(wire, &url, source).await,
        None => Ok(()),
    }
}

/// Waits until no other upload is in progress, and at most until `until`: a printer that rejects an upload closes the
/// connection while the file is being sent. Returns whether another upload was in progress.
async fn wait_until_free(wire: &PrinterHttpClient, until: Instant) -> bool {
    let mut has_waited = false;
    while Instant::now() < until && current_transfer(wire).await.is_some() {
        has_waited = true;
        sleep(TRANSFER_INTERVAL).await;
    }
    has_waited
}

/// Returns the reason why an upload failed, as far as the printer reports it.
async fn cause(
    wire: &PrinterHttpClient,
    storage: &str,
    name: &str,
    source: &Source,
    error: PrinterError,
) -> PrinterError {
    let message: &str = match &error {
        PrinterError::Refused { status: 409, message } => message,
        PrinterError::Lost(_) => "the printer closed the connection during the upload",
        _ => return error,
    };
    match current_transfer(wire).await {
        // An aborted upload of our own file may linger, and occupy space: it is not the reason.
        Some(transfer) if matches!(error, PrinterError::Lost(_)) && transfer.is_of(name) => error,
        Some(transfer) => PrinterError::Refused { status: 409, message: format!("{message} ({transfer})") },
        None => upload::cause(error, source, || limits(wire, storage)).await,
    }
}

/// Returns the limits on uploads: the free space on a storage device.
async fn limits(wire: &PrinterHttpClient, storage: &str) -> Result<UploadLimits, PrinterError> {
    let answer = wire.get("api/v1/storage", &[]).await?;
    let mut list = answer.get("storage_list").and_then(Value::as_array).into_iter().flatten();
    let is_ours = |path: &str| path.trim_matches('/') == storage;
    let ours = list.find(|one| one.get("path").and_then(Value::as_str).is_some_and(is_ours));
    Ok(UploadLimits { free: ours.and_then(|one| one.get("free_space")?.as_u64()), size: None })
}

/// Uploads a file. The header that would start the print is omitted, because some firmware interprets any value as yes.
/// The query for the version also renews an expired authentication challenge, which the upload itself cannot answer,
/// because a streamed body cannot be sent again.
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

/// Upload in progress on a printer.
struct OngoingTransfer {
    file: Option<String>,
    percent: f64,
}

impl OngoingTransfer {
    /// Returns whether the file with the given name is being uploaded.
    fn is_of(&self, name: &str) -> bool {
        let base = |path: &str| path.rsplit('/').next().map(str::to_owned);
        self.file.as_deref().and_then(base) == base(name)
    }
}

impl fmt::Display for OngoingTransfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.as_deref().unwrap_or("unknown file");
        write!(f, "another upload is in progress: {file}, {:.0}%", self.percent)
    }
}

/// Returns the upload in progress, which blocks a new one; `None` if there is none. A printer accepts one upload at a
/// time, and an aborted upload may linger.
async fn current_transfer(wire: &PrinterHttpClient) -> Option<OngoingTransfer> {
    let transfer = wire.get("api/v1/transfer", &[]).await.ok().filter(Value::is_object)?;
    let file = ["display_name", "display_path", "path"].into_iter().find_map(|member| transfer.get(member)?.as_str());
    let percent = transfer.get("progress").and_then(Value::as_f64).unwrap_or(0.0);
    Some(OngoingTransfer { file: file.map(str::to_owned), percent })
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
