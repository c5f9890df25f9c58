//! Counts the prints of the currently selected file, from the file's own record.
//!
//! `OctoPrint` identifies a print only by its file. If the same file is printed twice in a row, the two prints look
//! like one; only the record, which counts each print when it ends, distinguishes them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{ServerRest, files};
use domain::printer_status::{Activity, Connection, Status};

/// Time after which the count is read again if a new print seemed to have started when it was read, because `OctoPrint`
/// counts a print only a moment after it has ended.
const RECHECK_AFTER: Duration = Duration::from_secs(5);
/// Elapsed print time, in seconds, below which the elapsed time cannot show that a new print has started. If the push
/// connection does not report ends, a count read within this time is read again later.
const BEGINNING_SECONDS: f64 = 5.0;

/// Last count, and the number of prints reported as ended.
#[derive(Debug, Default)]
pub(super) struct RecordedRuns {
    last: Mutex<Option<RecordCount>>,
    pub(super) ends: Arc<ReportedEnds>,
}

/// Number of prints whose end the push connection may have reported. Each new connection is counted as one, because
/// ends are missed while there is no connection.
#[derive(Debug, Default)]
pub(super) struct ReportedEnds(AtomicU64);

impl ReportedEnds {
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[derive(Clone, Debug)]
struct RecordCount {
    file: String,
    /// `true` if a print was in progress when the count was read.
    active: bool,
    /// Seconds since the print started; a smaller number indicates a different print.
    seconds: f64,
    runs: u32,
    /// Number of prints reported as ended before the count was read.
    ends: u64,
    /// Time at which the count was read; `None` if it does not need to be read again.
    provisional_since: Option<Instant>,
}

impl RecordCount {
    /// Returns whether a newer print has replaced, or may have replaced, the one that was counted.
    fn is_over(&self, seconds: f64, ends: u64) -> bool {
        self.active && (seconds < self.seconds || ends != self.ends)
    }

    /// Returns whether the count is still valid for the state that `OctoPrint` now shows.
    fn is_valid_for(&self, active: bool, seconds: f64, ends: u64) -> bool {
        // The record of a file that is not printing changes only when another print of it begins.
        let is_settled = self.provisional_since.is_none_or(|since| since.elapsed() < RECHECK_AFTER);
        self.active == active && (!active || is_settled && !self.is_over(seconds, ends))
    }
}

/// Returns the number of prints of the selected file, including the current one; `None` if no file is selected or it
/// has no record.
pub(super) async fn of(printer: &ServerRest, status: &Status, job: &Value) -> Option<u32> {
    let file = status.file.as_deref().filter(|_| status.connection == Connection::Connected)?;
    let active = matches!(status.state, Activity::Printing | Activity::Paused);
    let seconds = job.pointer("/progress/printTime").and_then(Value::as_f64).unwrap_or_default();
    let ends = printer.runs.ends.0.load(Ordering::Relaxed);
    let last = printer.runs.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let last = last.filter(|last| last.file == file);
    if let Some(last) = last.as_ref().filter(|last| last.is_valid_for(active, seconds, ends)) {
        return Some(last.runs);
    }
    let Ok(ended) = files::ended_prints(&printer.wire, file).await else {
        return last.map(|last| last.runs);
    };
    let runs = ended.saturating_add(u32::from(active));
    let seems_another = last.is_some_and(|last| last.is_over(seconds, ends));
    let is_beginning = ends == 0 && seconds < BEGINNING_SECONDS;
    let provisional_since = (active && (seems_another || is_beginning)).then(Instant::now);
    let count = RecordCount { file: file.to_owned(), active, seconds, runs, ends, provisional_since };
    *printer.runs.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(count);
    Some(runs)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    use axum::{Json, Router, routing::get};
    use serde_json::json;

    use crate::tests::{adapter, serve};
    use domain::time::Timestamp;

    #[tokio::test]
    async fn a_second_print_of_a_file_is_told_by_the_record_which_is_not_read_at_every_poll() {
        let (seconds, ended) = (Arc::new(AtomicU64::new(60)), Arc::new(AtomicU64::new(0)));
        let reads = Arc::new(AtomicUsize::new(0));
        let (of_job, of_record, counted) = (seconds.clone(), ended.clone(), reads.clone());
        let flags = json!({"operational": true, "printing": true});
        let printer = json!({"state": {"text": "Printing", "flags": flags}});
        let job = move || {
            let seconds = of_job.load(Ordering::SeqCst);
            let progress = json!({"completion": 1.0, "printTime": seconds, "printTimeLeft": 100});
            let body = json!({"job": {"file": {"path": "a.gcode"}}, "progress": progress, "state": "Printing"});
            async move { Json(body) }
        };
        let record = move || {
            counted.fetch_add(1, Ordering::SeqCst);
            let body =
                json!({"path": "a.gcode", "prints": {"success": of_record.load(Ordering::SeqCst), "failure": 0}});
            async move { Json(body) }
        };
        let router = Router::new()
            .route("/api/printer", get(move || async move { Json(printer) }))
            .route("/api/job", get(job))
            .route("/api/files/local/a.gcode", get(record));
        let printer = adapter("server_rest", &serve(router).await);
        let look = async || {
            let status = printer.status(Timestamp(0)).await.unwrap();
            (status.runs, status.prints_again())
        };
        for _ in 0..3 {
            assert_eq!(look().await, (Some(1), false));
        }
        assert_eq!(reads.load(Ordering::SeqCst), 1, "as long as the print goes on");
        ended.store(1, Ordering::SeqCst);
        seconds.store(2, Ordering::SeqCst);
        assert_eq!(look().await, (Some(2), true), "the time went back");
        assert_eq!(reads.load(Ordering::SeqCst), 2);
    }
}
