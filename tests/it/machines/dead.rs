//! Printers that die during a print: the part is not lost with them, and the observed progress is kept.

use serde_json::{Value, json};
use simulator::faults::HostDisconnect;

use super::{FAST, Floor, GRAMS, IMPATIENT, JUDGE_LATE, PrinterKind, SLOW, attempts};
use crate::support::until;

/// Timeout that is short for tests, but longer than the delays of a busy machine.
const OFFLINE_SOON: (&str, &str) = ("PRINTFLOOR_PRINTERS__OFFLINE_SECONDS", "6");
/// Simulation speed at which a part takes ten seconds.
const BRISK: f64 = 60.0;
/// Progress from 0 to 1 that is not a multiple of a tenth. Types that report whole percent show it as well.
const PROGRESS: f64 = 0.343;

/// Starts a print that makes no progress, and waits until the server has seen its progress. Returns the floor and the
/// IDs of the order and the job.
async fn frozen(kind: PrinterKind, printers: usize) -> (Floor, String, String) {
    let floor = Floor::new(kind, printers, SLOW, &[JUDGE_LATE, IMPATIENT, OFFLINE_SOON]).await;
    let (order, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    floor.stands_at(0, PROGRESS);
    floor.status_until("the progress to be shown", 0, shows).await;
    (floor, order, job)
}

fn silent(job: &Value) -> bool {
    job["waitingReason"].as_str().is_some_and(|why| why.contains("printer has not responded since 20"))
}

/// Returns whether a job or a printer's status shows [`PROGRESS`].
fn shows(of: &Value) -> bool {
    (of["progress"].as_f64().unwrap() / 100.0 - PROGRESS).abs() < 0.005
}

each_kind! {
    #[drawn]
    async fn a_part_on_a_dead_printer_is_made_by_another(kind: PrinterKind) {
        let (mut floor, order, job) = frozen(kind, 2).await;
        let path = format!("/api/jobs/{job}/resolve");
        let body = |outcome: &'static str| json!({ "outcome": outcome });
        assert_eq!(floor.app.post(&path, &body("failed")).await.error(409), "printing", "the printer shows the print");
        floor.faults(0, |faults| faults.disconnect = true);
        floor.attention(0, "unreachable", true).await;
        let waits = floor.job_until("the job to say why", &job, silent).await;
        assert!(waits["state"] == "PRINTING" && shows(&waits), "as last seen: {waits}");
        assert!(shows(&floor.status(0).await));
        floor.app.kill_9();
        floor.app.start().await;
        floor.attention(0, "unreachable", true).await;
        assert_eq!(floor.app.post(&path, &body("not_started")).await.error(409), "invalid_transition");
        let resolved = floor.app.post(&path, &body("failed")).await.expect(200);
        assert_eq!(resolved["state"], "FAILED", "{resolved}");
        floor.free(0).await;
        floor.app.act(&format!("/api/jobs/{job}/retry")).await.expect(200);
        floor.hurry(1);
        floor.app.order_is(&order, "ready").await;
        let done = floor.job(&job).await;
        assert_eq!(attempts(&done), ["failed", "finished"], "{done}");
        assert_eq!(done["printerId"], floor.printers[1], "{done}");

        // It comes back without the print: whatever lies on its bed, a person clears it before another print.
        floor.sim(0).handle.with(|machine| {
            machine.set_speed(FAST);
            machine.reboot(true);
        });
        floor.faults(0, |faults| faults.disconnect = false);
        floor.connection_is(0, "connected").await;
        floor.attention(0, "bed_not_cleared", true).await;
        floor.app.act(&floor.path(0, "/bed-cleared")).await.expect(200);
        floor.attention(0, "bed_not_cleared", false).await;
        floor.truth().await;
    }

    #[drawn]
    async fn a_stopped_print_uses_what_was_seen_of_it(kind: PrinterKind) {
        let (floor, _, job) = frozen(kind, 1).await;
        floor.app.act(&floor.path(0, "/emergency-stop")).await.expect(200);
        let failed = floor.app.job_is(&job, "FAILED").await;
        assert!((failed["consumed"].as_f64().unwrap() - GRAMS * PROGRESS).abs() < 0.1, "{failed}");
        floor.truth().await;
    }

    async fn a_cancelled_print_uses_what_was_seen_of_it(kind: PrinterKind) {
        let (floor, _, job) = frozen(kind, 1).await;
        floor.app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
        let over = floor.app.job_is(&job, "CANCELLED").await;
        assert!((over["consumed"].as_f64().unwrap() - GRAMS * PROGRESS).abs() < 0.1, "{over}");
        floor.truth().await;
    }
}

/// Kills Klipper during a print while Moonraker still responds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_firmware_that_dies_in_mid_print_is_an_outage_that_says_since_when() {
    let (floor, _, job) = frozen(PrinterKind::FwRest, 1).await;
    let other = floor.one().await.1;
    floor.faults(0, |faults| faults.away = Some(HostDisconnect::Disconnected));
    floor.connection_is(0, "firmware_disconnected").await;
    let waits = floor.job_until("the job to say why", &job, silent).await;
    assert!(waits["state"] == "PRINTING" && shows(&waits), "as last seen: {waits}");
    until("the outage to be told", || async { (!floor.events("printer.offline").await.is_empty()).then_some(()) })
        .await;
    let events = floor.events("printer.offline").await;
    assert!(events.len() == 1 && events[0]["data"]["jobId"] == json!(job), "once: {events:?}");
    let offline = |job: &Value| {
        let why = job["waitingReason"].as_str().unwrap_or_default();
        why.starts_with("Waiting for a printer") && why.contains("is offline")
    };
    floor.job_until("the next job to say that the printer is offline", &other, offline).await;
    floor.sim(0).handle.set_speed(BRISK);
    floor.faults(0, |faults| faults.away = None);
    let failed = floor.app.job_is(&job, "FAILED").await;
    assert!((failed["consumed"].as_f64().unwrap() - GRAMS * PROGRESS).abs() < 0.1, "{failed}");
    assert_eq!(floor.events("printer.offline").await.len(), 1);
    assert_eq!(floor.events("printer.online").await.len(), 1);
}
