//! Printers that are read again and again: no answer is older than the one before it, although readers share them.

use std::cell::{Cell, RefCell};

use serde_json::{Value, json};

use super::{Floor, IMPATIENT, JUDGE_LATE, PrinterKind, SLOW};
use crate::support::until;

const OFFLINE_SOON: (&str, &str) = ("PRINTFLOOR_PRINTERS__OFFLINE_SECONDS", "3");

/// Temperature, in °C, that a nozzle has only after it was heated for some seconds.
const WARM: f64 = 40.0;

/// Returns a printer's item of the list of printers.
async fn item(floor: &Floor, printer: usize) -> Value {
    let list = floor.app.get("/api/printers?limit=200").await.expect(200);
    let is_it = |item: &&Value| item["id"] == floor.printers[printer].as_str();
    list["printers"].as_array().unwrap().iter().find(is_it).unwrap().clone()
}

/// Returns the status of a printer, read one after another with the printer, in the list, and alone.
async fn statuses(floor: &Floor, printer: usize) -> [Value; 3] {
    let with_printer = floor.app.get(&floor.path(printer, "")).await.expect(200)["status"].clone();
    let in_list = item(floor, printer).await["status"].clone();
    [with_printer, in_list, floor.status(printer).await]
}

/// Waits until a printer's status meets a condition wherever it is read.
async fn is_everywhere(floor: &Floor, printer: usize, what: &str, condition: impl Fn(&Value) -> bool) {
    until(what, || async { statuses(floor, printer).await.iter().all(&condition).then_some(()) }).await;
}

async fn follows(kind: PrinterKind) {
    let floor = Floor::new(kind, 2, SLOW, &[JUDGE_LATE, IMPATIENT, OFFLINE_SOON]).await;
    let (_, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    let printing = usize::from(floor.started(0) == 0);
    let idle = 1 - printing;
    let (before, changes) = (RefCell::new(String::new()), Cell::new(0));
    until("the status to change some times", || async {
        for status in statuses(&floor, printing).await {
            let read_at = status["updatedAt"].as_str().unwrap().to_owned();
            let before = before.replace(read_at.clone());
            assert!(read_at >= before, "{read_at} after {before}");
            changes.set(changes.get() + usize::from(read_at > before));
        }
        (changes.get() > 5).then_some(())
    })
    .await;
    is_everywhere(&floor, printing, "a warm nozzle", |status| {
        status["temperatures"]["nozzle"].as_f64().unwrap() > WARM
    })
    .await;
    // What is said of one printer does not reach the other.
    let maintenance = json!({"on": true, "note": "new belt"});
    floor.app.post(&floor.path(idle, "/maintenance"), &maintenance).await.expect(200);
    let notes = [item(&floor, printing).await, item(&floor, idle).await].map(|item| item["maintenance"].clone());
    assert_eq!(notes, [Value::Null, json!("new belt")]);
    floor.faults(printing, |faults| faults.hang = true);
    is_everywhere(&floor, printing, "an outage", |status| status["connection"] == "unreachable").await;
    floor.faults(printing, |faults| faults.hang = false);
    is_everywhere(&floor, printing, "the printer to be back", |status| status["connection"] == "connected").await;
    is_everywhere(&floor, idle, "the other printer to be cold", |status| {
        status["temperatures"]["nozzle"].as_f64().unwrap() < WARM && status["jobId"].is_null()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_printer_that_pushes_is_read_as_it_is_now_however_often_it_was_read_before() {
    follows(PrinterKind::FwRest).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_printer_that_is_polled_is_read_as_it_is_now_however_often_it_was_read_before() {
    follows(PrinterKind::PrusaLink).await;
}
