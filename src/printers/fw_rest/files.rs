//! Files on a Moonraker.

use reqwest::multipart::Form;
use serde_json::Value;

use super::read::{in_use, moment};
use crate::printers::adapter::{PrinterError, RemoteFile, Source};
use crate::printers::upload;
use crate::printers::wire::{Wire, file_name};

/// Stores a file. The printer compares its SHA-256, so a file cut short is never kept.
pub(super) async fn upload(wire: &Wire, name: &str, source: &Source) -> Result<String, PrinterError> {
    let name = file_name(name)?;
    wire.declared.takes(name)?;
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    let mut form =
        Form::new().text("root", "gcodes").text("print", "false").text("checksum", upload::sha256(source).await?);
    if !folder.is_empty() {
        form = form.text("path", folder.to_owned());
    }
    let form = upload::with_file(form, file, source).await?;
    let timeout = wire.settings.upload_timeout(source.size);
    // Not in the usual envelope.
    let stored = wire.post_form("server/files/upload", form, timeout).await.map_err(|error| in_use(error, name))?;
    let path = stored.pointer("/item/path").and_then(Value::as_str);
    path.map(str::to_owned).ok_or_else(|| PrinterError::BadAnswer("the upload's answer names no file".into()))
}

/// All G-code files.
pub(super) fn list(files: &Value) -> Result<Vec<RemoteFile>, PrinterError> {
    let files = files.as_array().ok_or_else(|| PrinterError::BadAnswer("the file list is no list".into()))?;
    Ok(files
        .iter()
        .filter_map(|file| {
            Some(RemoteFile {
                path: file.get("path")?.as_str()?.to_owned(),
                size: file.get("size").and_then(Value::as_u64),
                modified_at: file.get("modified").and_then(moment),
            })
        })
        .collect())
}
