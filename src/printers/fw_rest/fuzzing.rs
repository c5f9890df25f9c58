//! Entry of the fuzz target for responses and messages from Moonraker.

use reqwest::Url;
use serde_json::Value;

use super::status::FileFacts;
use super::{files, gates, read, status};
use domain::time::Timestamp;

/// Reads a response as each of those that the adapter requests, and as a change of the printer's objects.
pub(crate) fn parse(answer: &Value, base: &Url) {
    let facts = FileFacts::read(answer);
    for objects in [Ok(answer), status::objects(answer)].into_iter().flatten() {
        let _ = status::read(objects, facts, Timestamp::default());
        let _ = status::telemetry(objects, facts);
        let _ = status::open_file(objects);
        let _ = gates::read(objects);
    }
    let _ = status::klippy_connected(answer);
    let _ = status::firmware_away(answer, Timestamp::default());
    let _ = read::webcams(answer, base);
    let _ = read::moment(answer);
    let _ = files::list(answer);
}
