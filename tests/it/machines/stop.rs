//! Emergency stop: sent immediately, ahead of everything else; and the recovery before the next print.

use std::time::{Duration, Instant};

use printfloor::printers::adapter::Operation;
use simulator::faults::{Delay, SlowUpload};
use simulator::printer::PhysicalEvent;

use super::{Floor, JUDGE_LATE, PrinterKind, SLOW, attempts, can, supported, words};

/// Maximum duration of a stop during an upload, which takes 15 s.
const MAX_STOP: Duration = Duration::from_secs(4);

/// Returns whether the event is an emergency stop, or a normal cancellation on types that have no emergency stop.
fn stopped(what: &PhysicalEvent) -> bool {
    matches!(what, PhysicalEvent::EmergencyStop | PhysicalEvent::Cancelled { .. })
}

/// Restores the firmware after an emergency stop.
async fn recover(floor: &Floor, kind: PrinterKind) {
    let path = if can(kind, Operation::RestartFirmware) { "/restart-firmware" } else { "/connect" };
    floor.free(0).await;
    floor.app.act(&floor.path(0, path)).await.expect(200);
    floor.status_until("the firmware to be ready", 0, |s| s["state"] == "idle" && s["connection"] == "connected").await;
}

each_kind! {
    async fn a_stopped_print_fails_and_the_printer_must_be_homed_and_cleared(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        let answer = floor.app.act(&floor.path(0, "/emergency-stop")).await.expect(200);
        assert!(answer["recorded"].is_boolean(), "{answer}");
        assert_eq!(floor.count(0, stopped), 1, "on the wire before the answer");
        let failed = floor.app.job_is(&job, "FAILED").await;
        assert_eq!(words(&failed, "error"), "emergency stop", "{failed}");
        floor.attention(0, "bed_not_cleared", true).await;
        if can(kind, Operation::EmergencyStop) {
            floor.attention(0, "needs_home", true).await;
            floor.status_until("the printer to say so", 0, |status| status["state"] == "error").await;
        }

        floor.app.act(&format!("/api/jobs/{job}/retry")).await.expect(200);
        let waits = |what: &'static str| {
            let (floor, job) = (&floor, &job);
            async move {
                let why = |job: &serde_json::Value| job["waitingReason"].as_str().unwrap_or_default().contains(what);
                floor.job_until(what, job, why).await;
            }
        };
        floor.app.job_is(&job, "SLICED").await;
        floor.sim(0).handle.set_speed(50.0);
        recover(&floor, kind).await;
        if can(kind, Operation::Home) {
            waits("is not homed").await;
            floor.app.act(&floor.path(0, "/home")).await.expect(200);
        }
        floor.attention(0, "needs_home", false).await;
        waits("needs its bed cleared").await;
        assert_eq!(floor.started(0), 1, "nothing yet");
        floor.app.act(&floor.path(0, "/bed-cleared")).await.expect(200);
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.started(0), 2);
        floor.truth().await;
    }

    async fn what_the_printer_says_of_a_stop_before_it_answers_is_the_stop(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.faults(0, |faults| faults.stop_answers_late = Some(Delay { after_ms: 2_500 }));
        floor.app.act(&floor.path(0, "/emergency-stop")).await.expect(200);
        let failed = floor.app.job_is(&job, "FAILED").await;
        assert_eq!(words(&failed, "error"), "emergency stop", "{failed}");
        floor.attention(0, "bed_not_cleared", true).await;
    }

    async fn a_stop_overtakes_a_slow_upload_and_nothing_starts(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let file = floor.big_file("big", 300_000).await;
        let sku = floor.app.sku("BIG", &floor.material, file["id"].as_str().unwrap(), 900).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 20_000 }));
        let order = floor.app.paid_order(&sku, 1).await;
        let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
        floor.attempt_is(&job, "uploading").await;
        let began = Instant::now();
        let can = can(kind, Operation::EmergencyStop);
        supported(can, floor.app.act(&floor.path(0, "/emergency-stop")).await);
        if !can {
            // Nothing printed that it could end, and it says so at once.
            assert!(began.elapsed() < MAX_STOP, "{:?}", began.elapsed());
            return;
        }
        assert!(began.elapsed() < MAX_STOP, "{:?}", began.elapsed());
        assert_eq!(floor.count(0, stopped), 1);
        assert_eq!(floor.count(0, |what| matches!(what, PhysicalEvent::Uploaded { .. })), 0, "the file was still on its way");
        let failed = floor.app.job_is(&job, "FAILED").await;
        assert_eq!(words(&failed, "error"), "emergency stop", "{failed}");
        assert_eq!(attempts(&failed), ["failed"], "{failed}");
        assert!(failed["attempts"][0]["startedAt"].is_null(), "no start was sent: {failed}");
        assert_eq!(floor.events("job.failed").await.len(), 1);
        assert!(floor.events("job.printing").await.is_empty(), "nothing printed");
        floor.faults(0, |faults| faults.slow_upload = None);
        floor.attention(0, "needs_home", true).await;
        floor.sim(0).handle.set_speed(50.0);
        recover(&floor, kind).await;
        floor.app.act(&floor.path(0, "/home")).await.expect(200);
        floor.hurry(0);
        assert_eq!(floor.job(&job).await["state"], "FAILED", "not tried again by itself");
        assert_eq!(floor.started(0), 0);
        floor.app.act(&format!("/api/jobs/{job}/retry")).await.expect(200);
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.started(0), 1);
        floor.truth().await;
    }

    #[drawn]
    async fn an_idle_or_disconnected_printer_is_stopped_all_the_same(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        if kind == PrinterKind::FwRest {
            floor.app.act(&floor.path(0, "/disconnect")).await.expect(200);
            floor.connection_is(0, "disconnected").await;
        }
        let can = can(kind, Operation::EmergencyStop);
        supported(can, floor.app.act(&floor.path(0, "/emergency-stop")).await);
        assert_eq!(floor.count(0, stopped), usize::from(can));
        floor.attention(0, "needs_home", can).await;
    }
}

#[tokio::test]
async fn a_stop_that_is_none_at_once_says_so_of_a_disconnected_printer_too() {
    let floor = Floor::new(PrinterKind::PrusaLink, 1, SLOW, &[]).await;
    floor.app.act(&floor.path(0, "/disconnect")).await.expect(200);
    floor.connection_is(0, "disconnected").await;
    floor.own_print(0);
    let answer = floor.app.act(&floor.path(0, "/emergency-stop")).await.expect(200);
    assert_eq!(floor.count(0, stopped), 1);
    assert!(words(&answer, "message").contains("no emergency stop"), "{answer}");
}
