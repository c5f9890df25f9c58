//! Entry of the fuzz target for messages over SDCP.

use std::str::from_utf8;

use super::message::{PrinterMessage, name_of, read};
use super::{files, status};
use domain::time::Timestamp;

/// Reads a message, and what it contains.
pub(crate) fn parse(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    let (message, _board) = read(text);
    match message {
        PrinterMessage::Status(payload) => {
            let _ = status::read(&payload, Timestamp::default());
            let _ = status::telemetry(&payload);
            let _ = status::essence(&payload);
            let _ = status::task(&payload).map(name_of);
        }
        PrinterMessage::Answer { data, .. } => {
            let _ = files::list(&data);
        }
        PrinterMessage::Attributes(_) | PrinterMessage::Other => {}
    }
}
