//! Counts the prints of the currently shown file in Moonraker's history.
//!
//! Klipper identifies a print only by its file. If the same file is printed twice in a row, the two prints look like
//! one; only the history, which has an entry for each, distinguishes them.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{FwRest, components};

/// Time for which the count is reused while a print is in progress.
const COUNT_LIFETIME: Duration = Duration::from_secs(5);
/// Number of history entries to read, newest first; repeated prints of a file are adjacent in the history.
const ENTRIES: &str = "3";

/// Cache for the last count.
#[derive(Debug, Default)]
pub(super) struct RunCountCache(Mutex<Option<RunCount>>);

#[derive(Clone, Debug)]
struct RunCount {
    file: String,
    state: String,
    /// Seconds since the print started; a smaller number indicates a different print.
    seconds: f64,
    runs: u32,
    at: Instant,
}

impl RunCount {
    /// Returns whether the count is still valid for the state that Klipper now shows.
    fn is_valid_for(&self, file: &str, state: &str, seconds: f64) -> bool {
        let same = self.file == file && self.state == state && seconds >= self.seconds;
        // The entries of a print that is over change only when another begins.
        same && (self.at.elapsed() < COUNT_LIFETIME || !["printing", "paused"].contains(&state))
    }
}

/// Returns the number of prints of the currently shown file in the history; `None` if no file is shown or there is no
/// history.
pub(super) async fn of(printer: &FwRest, objects: &Value) -> Option<u32> {
    let stats = objects.get("print_stats")?;
    let text = |name: &str| stats.get(name).and_then(Value::as_str);
    let (file, state) = (text("filename")?.trim_start_matches('/'), text("state")?);
    if file.is_empty() || state == "standby" {
        return None;
    }
    let seconds = stats.get("total_duration").and_then(Value::as_f64).unwrap_or_default();
    let last = printer.runs.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let last = last.filter(|last| last.file == file);
    if let Some(last) = last.as_ref().filter(|last| last.is_valid_for(file, state, seconds)) {
        return Some(last.runs);
    }
    if components::has(printer, "history").await != Some(true) {
        return None;
    }
    let Ok(answer) = printer.get("server/history/list", &[("limit", ENTRIES), ("order", "desc")]).await else {
        return last.map(|last| last.runs);
    };
    let jobs = answer.get("jobs").and_then(Value::as_array).into_iter().flatten();
    let of_file =
        |job: &&Value| job.get("filename").and_then(Value::as_str).map(|n| n.trim_start_matches('/')) == Some(file);
    // What was counted once does not become less when other prints follow.
    let runs = u32::try_from(jobs.filter(of_file).count()).unwrap_or(u32::MAX).max(last.map_or(0, |last| last.runs));
    let count = RunCount { file: file.to_owned(), state: state.to_owned(), seconds, runs, at: Instant::now() };
    *printer.runs.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(count);
    Some(runs)
}
