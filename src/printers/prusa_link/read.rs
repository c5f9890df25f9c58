//! Parsing of `PrusaLink` responses other than the print state. Pure.

use reqwest::Url;
use serde_json::Value;

use crate::adapter::{PrinterError, Webcam};

/// Returns the number of a job; `None` if no job is reported.
pub(super) fn number(job: &Value) -> Option<u64> {
    job.get("id")?.as_u64()
}

/// Returns the camera named in the status; it provides only still images.
pub(super) fn webcams(info: &Value, base: &Url) -> Vec<Webcam> {
    let Some(camera) = info.get("camera").filter(|camera| camera.is_object()) else { return Vec::new() };
    let name = camera.get("id").and_then(Value::as_str).unwrap_or("camera").to_owned();
    let snapshot_url = base.join("api/v1/cameras/snap").ok().map(String::from);
    vec![Webcam { name, stream_url: None, snapshot_url, enabled: true }]
}

/// Converts an unsuccessful status code to an error. 503 means that the server is starting up.
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
