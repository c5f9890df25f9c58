//! What `PrusaLink`'s answers mean, beside those of a print's state. Pure.

use reqwest::Url;
use serde_json::Value;

use crate::printers::adapter::{PrinterError, Webcam};

/// The number of a job, where one is shown.
pub(super) fn number(job: &Value) -> Option<u64> {
    job.get("id")?.as_u64()
}

/// The camera that the status names; there is one picture of it at a time.
pub(super) fn webcams(told: &Value, base: &Url) -> Vec<Webcam> {
    let Some(camera) = told.get("camera").filter(|camera| camera.is_object()) else { return Vec::new() };
    let name = camera.get("id").and_then(Value::as_str).unwrap_or("camera").to_owned();
    let snapshot_url = base.join("api/v1/cameras/snap").ok().map(String::from);
    vec![Webcam { name, stream_url: None, snapshot_url, enabled: true }]
}

/// What a status code other than success means. 503 is a server that is starting up.
pub(super) fn judge(status: u16, message: String) -> PrinterError {
    match status {
        401 | 403 => PrinterError::WrongKey(message),
        404 => PrinterError::NotFound(message),
        // It gives a slow transfer up itself.
        408 => PrinterError::Timeout,
        503 => PrinterError::FirmwareDisconnected(message),
        _ => PrinterError::Refused { status, message },
    }
}

/// Deleting answers 409 for the file that is printing or paused.
pub(super) fn in_use(error: PrinterError, name: &str) -> PrinterError {
    match error {
        PrinterError::Refused { status: 409, .. } => PrinterError::InUse(name.to_owned()),
        other => other,
    }
}
