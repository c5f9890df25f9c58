//! File operations on a Moonraker server.

use reqwest::multipart::Form;
use serde_json::Value;

use super::read::{IN_USE_STATUS, moment};
use crate::adapter::{PrinterError, RemoteFile, Source};
use crate::stored_copy;
use crate::upload::{self, UploadLimits};
use crate::wire::{PrinterHttpClient, file_name};

/// Stores a file. Moonraker checks the SHA-256 of the data it receives, so it never stores a truncated file. This
/// function additionally compares the *stored* file, because Moonraker names unfinished uploads by the second, so
/// several instances on one computer can mix them up.
pub(super) async fn upload(wire: &PrinterHttpClient, name: &str, source: &Source) -> Result<String, PrinterError> {
    let name = file_name(name)?;
    wire.declared.takes(name)?;
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    let mut form =
        Form::new().text("root", "gcodes").text("print", "false").text("checksum", upload::sha256(source).await?);
    if !folder.is_empty() {
        form = form.text("path", folder.to_owned());
    }
    let _turn = wire.upload_turn().await;
    // Not in the usual envelope.
    let stored = match wire.upload("server/files/upload", form, file, source).await {
        Ok(stored) => stored,
        Err(error) => return Err(upload::cause(error.or_in_use(IN_USE_STATUS, name), source, || limits(wire)).await),
    };
    let path = stored.pointer("/item/path").and_then(Value::as_str);
    let path =
        path.ok_or_else(|| PrinterError::BadAnswer("the response to the upload contains no file name".into()))?;
    let size = stored.pointer("/item/size").and_then(Value::as_u64);
    match compare(wire, path, size, source).await {
        Err(altered @ PrinterError::Altered(_)) if !rewrites(wire, path).await => {
            tracing::warn!(file = path, error = %altered, "deleted an altered file from the printer");
            let _ = wire.delete(&resource(path)).await;
            Err(altered)
        }
        Ok(()) | Err(PrinterError::Altered(_)) => Ok(path.to_owned()),
        Err(error) => Err(error),
    }
}

/// Returns the limits on uploads: the free space for G-code files, and the size from the server's configuration.
async fn limits(wire: &PrinterHttpClient) -> Result<UploadLimits, PrinterError> {
    let directory = wire.get("server/files/directory", &[("path", "gcodes")]).await?;
    let free = directory.pointer("/result/disk_usage/free").and_then(Value::as_u64);
    let config = wire.get("server/config", &[]).await.unwrap_or_default();
    let mebibytes = config.pointer("/result/config/server/max_upload_size").and_then(Value::as_u64);
    Ok(UploadLimits { free, size: mebibytes.map(|size| size.saturating_mul(1024 * 1024)) })
}

/// Returns the resource path of a stored file.
fn resource(path: &str) -> String {
    format!("server/files/gcodes/{path}")
}

async fn compare(wire: &PrinterHttpClient, path: &str, size: Option<u64>, source: &Source) -> Result<(), PrinterError> {
    let sent = source.sent_bytes();
    if let Some(size) = size.filter(|size| *size != sent) {
        return Err(PrinterError::Altered(format!("{size} of {sent} bytes")));
    }
    match stored_copy::compare(wire, &wire.url(&resource(path)), source).await {
        Err(error) if upload::is_kept_back(&error) => Ok(()),
        other => other,
    }
}

/// Returns whether this Moonraker rewrites files when it stores them (`file_processors` in the file's metadata).
/// Rewritten files cannot be compared.
async fn rewrites(wire: &PrinterHttpClient, path: &str) -> bool {
    let metadata = wire.get("server/files/metadata", &[("filename", path)]).await;
    let processors = metadata.ok().and_then(|body| body.pointer("/result/file_processors")?.as_array().cloned());
    processors.is_some_and(|processors| !processors.is_empty())
}

/// Parses Moonraker's list of stored G-code files.
pub(super) fn list(files: &Value) -> Result<Vec<RemoteFile>, PrinterError> {
    let files = files.as_array().ok_or_else(|| PrinterError::BadAnswer("no list of files".into()))?;
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
