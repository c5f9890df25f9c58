//! Parsing of Moonraker's responses other than the print state. Pure.

use reqwest::Url;
use serde_json::Value;

use crate::adapter::{PrinterError, Webcam};
use domain::bounds::unix_seconds;
use domain::time::Timestamp;

/// Status of the response to an attempt to store or delete a file that is printing or paused.
pub(super) const IN_USE_STATUS: u16 = 403;

/// Extracts the result from the envelope of a successful response.
pub(super) fn result(mut answer: Value) -> Result<Value, PrinterError> {
    answer.get_mut("result").map(Value::take).ok_or_else(|| PrinterError::BadAnswer("no result".into()))
}

/// Parses a Unix time in seconds, which may have a fraction.
pub(super) fn moment(value: &Value) -> Option<Timestamp> {
    value.as_f64().and_then(unix_seconds)
}

/// Parses the list of cameras and makes their URLs absolute. A URL without a host refers to the web front end on port
/// 80 of Moonraker's host.
pub(super) fn webcams(list: &Value, base: &Url) -> Result<Vec<Webcam>, PrinterError> {
    let cams = list
        .get("webcams")
        .and_then(Value::as_array)
        .ok_or_else(|| PrinterError::BadAnswer("no list of webcams".into()))?;
    let mut front = base.clone();
    front.set_path("/");
    // Cannot fail: the base is http or https with a host.
    let _ = front.set_port(None);
    let absolute = |cam: &Value, field: &str| {
        let text = cam.get(field)?.as_str().filter(|text| !text.is_empty())?;
        front.join(text).ok().map(String::from)
    };
    Ok(cams
        .iter()
        .map(|cam| Webcam {
            name: cam.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
            stream_url: absolute(cam, "stream_url"),
            snapshot_url: absolute(cam, "snapshot_url"),
            enabled: cam.get("enabled").and_then(Value::as_bool).unwrap_or(true),
        })
        .collect())
}

/// Converts an unsuccessful status code to an error.
pub(super) fn judge(status: u16, message: String) -> PrinterError {
    match status {
        401 => PrinterError::WrongKey(message),
        404 => PrinterError::NotFound(message),
        503 => PrinterError::FirmwareDisconnected(message),
        _ => PrinterError::Refused { status, message },
    }
}

/// Converts a 404 response from a firmware route. Firmware routes exist only once the firmware has connected for the
/// first time, so 404 means that it never has.
pub(super) fn no_route(error: PrinterError) -> PrinterError {
    match error {
        PrinterError::NotFound(message) => PrinterError::FirmwareDisconnected(message),
        other => other,
    }
}
