//! Parsing of `OctoPrint` responses other than the print state. Pure.

use reqwest::Url;
use serde_json::Value;

use crate::adapter::{PrinterError, Webcam};
use domain::bounds::unix_seconds;
use domain::time::Timestamp;

/// Status of the response to an attempt to store or delete a file that is printing or paused.
pub(super) const IN_USE_STATUS: u16 = 409;

/// State of the serial port that connects to the firmware.
pub(super) enum Port {
    /// The port is open and the firmware responds.
    Open,
    /// The port is being opened; the firmware has not responded yet.
    Opening,
    /// The port is closed; contains the server's message.
    Closed(String),
}

/// Parses the state of the serial port from `OctoPrint`'s state text; any state other than closed or opening is treated
/// as open.
pub(super) fn port(connection: &Value) -> Result<Port, PrinterError> {
    let state = connection
        .pointer("/current/state")
        .and_then(Value::as_str)
        .ok_or_else(|| PrinterError::BadAnswer("no connection state".into()))?;
    Ok(if ["Closed", "Offline", "Error"].iter().any(|word| state.starts_with(word)) {
        Port::Closed(state.to_owned())
    } else if ["Opening", "Detecting", "Connecting"].iter().any(|word| state.starts_with(word)) {
        Port::Opening
    } else {
        Port::Open
    })
}

/// Returns the camera from the settings; its URLs may be relative to the server.
pub(super) fn webcams(settings: &Value, base: &Url) -> Vec<Webcam> {
    let Some(webcam) = settings.get("webcam") else {
        return Vec::new();
    };
    let absolute = |field: &str| {
        let text = webcam.get(field)?.as_str().filter(|text| !text.is_empty())?;
        base.join(text).ok().map(String::from)
    };
    let cam = Webcam {
        name: "webcam".to_owned(),
        stream_url: absolute("streamUrl"),
        snapshot_url: absolute("snapshotUrl"),
        enabled: webcam.get("webcamEnabled").and_then(Value::as_bool).unwrap_or(true),
    };
    if cam.stream_url.is_none() && cam.snapshot_url.is_none() { Vec::new() } else { vec![cam] }
}

/// Parses a Unix time in seconds.
pub(super) fn moment(value: &Value) -> Option<Timestamp> {
    value.as_f64().and_then(unix_seconds)
}

/// Converts an unsuccessful status code to an error. For a missing or wrong key the code is 403, never 401.
pub(super) fn judge(status: u16, message: String) -> PrinterError {
    match status {
        401 | 403 => PrinterError::WrongKey(message),
        404 => PrinterError::NotFound(message),
        _ => PrinterError::Refused { status, message },
    }
}
