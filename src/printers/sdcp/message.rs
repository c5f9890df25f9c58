//! Messages on an SDCP socket: requests to the printer, and messages received from it. Pure.

use serde_json::{Value, json};

use crate::adapter::PrinterError;

/// Request to a printer. Only these requests may be sent, because an unknown command crashes the firmware and ends any
/// print.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum PrinterRequest {
    /// Request for the status, which arrives as a separate message.
    Status,
    /// Request for the printer's attributes, which arrive as a separate message.
    Attributes,
    /// Command to print an uploaded file.
    Start(String),
    Pause,
    Stop,
    Resume,
    /// Request for the files in the printer's own storage.
    Files,
    /// Command to delete a file from the printer's own storage.
    Delete(String),
}

impl PrinterRequest {
    fn command(&self) -> u16 {
        match self {
            Self::Status => 0,
            Self::Attributes => 1,
            Self::Start(_) => 128,
            Self::Pause => 129,
            Self::Stop => 130,
            Self::Resume => 131,
            Self::Files => 258,
            Self::Delete(_) => 259,
        }
    }

    /// Builds the parameters, including every field that the firmware reads, because it crashes if one is missing.
    fn data(&self) -> Value {
        match self {
            Self::Start(name) => json!({
                "Filename": path_of(name), "StartLayer": 0, "Calibration_switch": 0, "PrintPlatformType": 0, "Tlp_Switch": 0,
                "slot_map": [],
            }),
            Self::Files => json!({"Url": "/local"}),
            Self::Delete(name) => json!({"FileList": [path_of(name)]}),
            Self::Status | Self::Attributes | Self::Pause | Self::Stop | Self::Resume => json!({}),
        }
    }

    /// Builds the request message. The printer's ID may be empty while unknown; the printer only echoes the time.
    pub(super) fn message(&self, id: &str, board: &str, at_ms: i64) -> String {
        json!({
            "Id": board,
            "Data": {
                "Cmd": self.command(), "Data": self.data(), "RequestID": id, "MainboardID": board, "TimeStamp": at_ms, "From": 1,
            },
            "Topic": format!("sdcp/request/{board}"),
        })
        .to_string()
    }

    /// Converts the code in the printer's acknowledgement to a result; 0 means success.
    pub(super) fn judge(&self, acknowledged: i64) -> Result<(), PrinterError> {
        let refused = |status: u16, words: &str| Err(PrinterError::Refused { status, message: words.to_owned() });
        match (self, acknowledged) {
            (_, 0) => Ok(()),
            (Self::Start(name), 2) => Err(PrinterError::NotFound(name.clone())),
            (Self::Start(_), 1) => refused(409, "the printer is busy"),
            (Self::Start(_), 3) => refused(422, "the file on the printer is damaged"),
            (Self::Start(_), 4) => refused(422, "the printer cannot read the file"),
            (Self::Start(_), 5..=7) => refused(422, "the file was not made for this printer"),
            (Self::Pause | Self::Resume | Self::Stop, 1) => refused(409, "no print is running"),
            (_, other) => refused(409, &format!("error number {other}")),
        }
    }
}

/// Returns the path of an uploaded file.
pub(super) fn path_of(name: &str) -> String {
    format!("/local/{name}")
}

/// Returns the display name of a file, without its storage.
pub(super) fn name_of(path: &str) -> &str {
    let path = path.trim_start_matches('/');
    path.strip_prefix("local/").unwrap_or(path)
}

/// Message from the printer.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum PrinterMessage {
    /// Acknowledgement of a request, with its data.
    Answer {
        id: String,
        acknowledged: i64,
        data: Value,
    },
    Status(Value),
    Attributes(Value),
    /// A heartbeat, a notice, or an unknown message.
    Other,
}

/// Parses a message. Also returns the printer's ID if the message contains it.
pub(super) fn read(text: &str) -> (PrinterMessage, Option<String>) {
    let Ok(mut message) = bounded_json::read(text.as_bytes(), bounded_json::ANSWER) else {
        return (PrinterMessage::Other, None);
    };
    let board = message.get("MainboardID").or_else(|| message.pointer("/Data/MainboardID")).and_then(Value::as_str);
    let board = board.filter(|board| !board.is_empty()).map(str::to_owned);
    let parsed = if let Some(status) = message.get_mut("Status").filter(|status| status.is_object()) {
        PrinterMessage::Status(status.take())
    } else if let Some(attributes) = message.get_mut("Attributes").filter(|attributes| attributes.is_object()) {
        PrinterMessage::Attributes(attributes.take())
    } else if let Some(id) = message.pointer("/Data/RequestID").and_then(Value::as_str).map(str::to_owned) {
        let data = message.pointer_mut("/Data/Data").map(Value::take).unwrap_or_default();
        PrinterMessage::Answer { id, acknowledged: data.get("Ack").and_then(Value::as_i64).unwrap_or(0), data }
    } else {
        PrinterMessage::Other
    };
    (parsed, board)
}
