//! Entry of the fuzz target for the data that a Bambu Lab printer sends.

use std::str::from_utf8;

use serde_json::Value;
use tokio::time::Instant;

use super::certificate::Certificate;
use super::report::PrinterKnowledge;
use super::{ftps, recognition};
use domain::time::Timestamp;

/// Reads a report for each line of the input, and the whole as each of the other things that the printer sends.
pub(crate) fn parse(data: &[u8]) {
    let mut knowledge = PrinterKnowledge::default();
    for line in data.split(|byte| *byte == b'\n') {
        let Ok(Value::Object(mut message)) = bounded_json::read(line, bounded_json::REQUEST) else { continue };
        let Some(Value::Object(report)) = message.remove("print") else { continue };
        if knowledge.hear(report, Instant::now()).is_err() {
            // The adapter closes the connection.
            knowledge.begin();
        }
        let _ = knowledge.status(Timestamp::default());
        let _ = knowledge.trouble();
        let _ = knowledge.busy();
        let _ = knowledge.changer();
        let _ = knowledge.print_error();
        let _ = knowledge.cancels(Instant::now());
    }
    let _ = Certificate::read(data);
    let _ = recognition::read(data);
    if let Ok(text) = from_utf8(data) {
        ftps::parse(text);
    }
}
