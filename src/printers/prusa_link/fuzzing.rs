//! Entry of the fuzz target for responses from `PrusaLink`.

use reqwest::Url;
use serde_json::Value;

use super::{files, read, status};
use domain::time::Timestamp;

/// Reads a response as each of those that the adapter requests.
pub(crate) fn parse(answer: &Value, base: &Url) {
    let (state, job) = (&answer["status"], &answer["job"]);
    let _ = status::read(state, job, read::number(job), Timestamp::default());
    let _ = status::printer_away(state);
    let _ = status::may_show_job(state);
    let _ = status::is_on(job);
    let _ = read::webcams(answer, base);
    let _ = files::storage(answer);
    let _ = files::name_of(answer);
}
