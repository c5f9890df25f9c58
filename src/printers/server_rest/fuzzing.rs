//! Entry of the fuzz target for responses and messages from `OctoPrint`.

use reqwest::Url;
use serde_json::Value;

use super::push::StateFilter;
use super::{files, read, status};
use domain::time::Timestamp;

/// Reads a response as each of those that the adapter requests, and as a message about the printer's state.
pub(crate) fn parse(answer: &Value, base: &Url) {
    let _ = status::read(&answer["printer"], &answer["job"], Timestamp::default());
    let _ = status::port_closed(answer, Timestamp::default());
    let _ = status::telemetry(answer);
    let _ = StateFilter::default().read(answer);
    let _ = read::port(answer).is_ok();
    let _ = read::webcams(answer, base);
    let _ = read::moment(answer);
    let _ = files::list(answer);
}
