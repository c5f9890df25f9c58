//! File operations on an `OctoPrint` server, and its records of each file's prints.

use reqwest::multipart::Form;
use serde_json::Value;

use super::read::{IN_USE_STATUS, moment};
use crate::adapter::{PrinterError, RemoteFile, Source};
use crate::stored_copy;
use crate::upload::{self, UploadLimits};
use crate::wire::{PrinterHttpClient, file_name};
use domain::printer_status::{PastPrint, PrintEnd};

/// Returns the resource path of an uploaded file.
pub(super) fn resource(name: &str) -> Result<String, PrinterError> {
    Ok(format!("api/files/local/{}", file_name(name)?))
}

/// Stores a file, whose name `OctoPrint` may change, and compares the stored copy with the data sent. Plug-ins (file
/// pre-processors) may rewrite files silently; a rewritten file is recognised by its first line, which names the print,
/// and its last line.
pub(super) async fn upload(wire: &PrinterHttpClient, name: &str, source: &Source) -> Result<String, PrinterError> {
    let name = file_name(name)?;
    wire.declared.takes(name)?;
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    let mut form = Form::new().text("select", "false").text("print", "false");
    if !folder.is_empty() {
        form = form.text("path", folder.to_owned());
    }
    let stored = match wire.upload("api/files/local", form, file, source).await {
        Ok(stored) => stored,
        Err(error) => return Err(upload::cause(error.or_in_use(IN_USE_STATUS, name), source, || limits(wire)).await),
    };
    let path = stored.pointer("/files/local/path").or_else(|| stored.pointer("/file/path")).and_then(Value::as_str);
    let path =
        path.ok_or_else(|| PrinterError::BadAnswer("the response to the upload contains no file name".into()))?;
    match compare(wire, path, source).await {
        Err(altered @ PrinterError::Altered(_)) => {
            tracing::warn!(file = path, error = %altered, "deleted an altered file from the printer");
            let _ = wire.delete(&resource(path)?).await;
            Err(altered)
        }
        Err(error) if upload::is_kept_back(&error) => Ok(path.to_owned()),
        compared => compared.map(|()| path.to_owned()),
    }
}

/// Returns the limits on uploads: the free space on the server's storage.
async fn limits(wire: &PrinterHttpClient) -> Result<UploadLimits, PrinterError> {
    let free = wire.get("api/files/local", &[]).await?.get("free").and_then(Value::as_u64);
    Ok(UploadLimits { free, size: None })
}

async fn compare(wire: &PrinterHttpClient, path: &str, source: &Source) -> Result<(), PrinterError> {
    let download = wire.url(&format!("downloads/files/local/{path}"));
    match stored_copy::compare(wire, &download, source).await {
        Err(PrinterError::Altered(_)) if stored_copy::rewritten(wire, &download, source).await? => {
            tracing::debug!(file = path, "a plug-in rewrote the stored file");
            Ok(())
        }
        compared => compared,
    }
}

/// Lists all files recursively.
pub(super) fn list(answer: &Value) -> Result<Vec<RemoteFile>, PrinterError> {
    let mut waiting: Vec<&Value> = answer
        .get("files")
        .and_then(Value::as_array)
        .ok_or_else(|| PrinterError::BadAnswer("no list of files".into()))?
        .iter()
        .rev()
        .collect();
    let mut files = Vec::new();
    while let Some(entry) = waiting.pop() {
        if let Some(children) = entry.get("children").and_then(Value::as_array) {
            waiting.extend(children.iter().rev());
        } else if let Some(path) = entry
            .get("path")
            .and_then(Value::as_str)
            .filter(|_| entry.get("type").and_then(Value::as_str) != Some("folder"))
        {
            files.push(RemoteFile {
                path: path.to_owned(),
                size: entry.get("size").and_then(Value::as_u64),
                modified_at: entry.get("date").and_then(moment),
            });
        }
    }
    Ok(files)
}

/// Returns the number of ended prints in a file's record. Deleting the file deletes the record.
pub(super) async fn ended_prints(wire: &PrinterHttpClient, name: &str) -> Result<u32, PrinterError> {
    let file = wire.get(&resource(name)?, &[]).await?;
    let count = |member: &str| file.pointer(member).and_then(Value::as_u64).unwrap_or_default();
    let ended = count("/prints/success").saturating_add(count("/prints/failure"));
    Ok(u32::try_from(ended).unwrap_or(u32::MAX))
}

/// Returns the last ended print of a file from the file's record: `prints: {success, failure, last: {date, success}}`,
/// which is written when a print ends. An unsuccessful print was cancelled or failed; the record does not say which.
pub(super) async fn history(wire: &PrinterHttpClient, name: &str) -> Result<Vec<PastPrint>, PrinterError> {
    let file = wire.get(&resource(name)?, &[]).await?;
    let Some(last) = file.pointer("/prints/last") else {
        return Ok(Vec::new());
    };
    let ended_at = last.get("date").and_then(moment);
    let seconds = last.get("printTime").and_then(Value::as_f64);
    Ok(vec![PastPrint {
        file: name.to_owned(),
        ended: last
            .get("success")
            .and_then(Value::as_bool)
            .map(|success| if success { PrintEnd::Finished } else { PrintEnd::Failed }),
        cut_off: false,
        filament_mm: None,
        started_at: ended_at.zip(seconds).map(|(end, seconds)| end.plus_ms((seconds * -1000.0) as i64)),
        ended_at,
        booked_on: Vec::new(),
    }])
}
