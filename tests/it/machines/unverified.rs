//! Unconfirmed starts: the job and the printer both wait and state the reason, and evidence or a person resolves them.

use serde_json::{Value, json};
use simulator::printer::PhysicalEvent;

use super::delays::HELD;
use super::{FAST, Floor, JUDGE_SOON, PrinterKind, SLOW, attempts, words};

fn started(what: &PhysicalEvent) -> bool {
    matches!(what, PhysicalEvent::Started { .. })
}

fn finished(what: &PhysicalEvent) -> bool {
    matches!(what, PhysicalEvent::Finished { .. })
}

/// Fate of a start that a printer accepts but does not execute while the server can reach it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StartFate {
    /// Executed once the printer has become unreachable.
    Late,
    /// Never executed.
    Lost,
}

/// Starts a print on a single printer, which accepts the start and becomes unreachable. Returns the floor and the IDs
/// of the order and the job.
async fn doubt(kind: PrinterKind, start: StartFate) -> (Floor, String, String) {
    doubt_at(FAST, kind, start).await
}

async fn doubt_at(speed: f64, kind: PrinterKind, start: StartFate) -> (Floor, String, String) {
    let floor = Floor::new(kind, 1, speed, &[JUDGE_SOON]).await;
    floor.faults(0, |faults| {
        // No look at the printer comes after its start, on a busy machine either.
        faults.disconnect_at_start = true;
        match start {
            StartFate::Late => faults.start_late = HELD,
            StartFate::Lost => faults.accept_but_never_start = true,
        }
    });
    let (order, job) = floor.one().await;
    floor.start_arrived(0).await;
    let doubted =
        floor.job_until("the start to be doubted", &job, |job| job["attempts"][0]["unverified"] == true).await;
    assert_eq!(doubted["state"], "DISPATCHING", "{doubted}");
    assert!(words(&doubted, "waitingReason").contains("an operator must resolve it"), "{doubted}");
    assert!(!words(&doubted["attempts"][0], "reason").is_empty());
    floor.attention(0, "unverified", true).await;
    if start == StartFate::Late {
        floor.end_delays(0);
    }
    (floor, order, job)
}

async fn resolve(floor: &Floor, job: &str, outcome: &str) -> Value {
    floor.app.post(&format!("/api/jobs/{job}/resolve"), &json!({"outcome": outcome})).await.expect(200)
}

each_kind! {
    #[drawn]
    async fn a_printer_in_doubt_takes_no_other_job(kind: PrinterKind) {
        let (floor, _, job) = doubt(kind, StartFate::Lost).await;
        let (_, other) = floor.one().await;
        let waits = floor.app.job_is(&other, "SLICED").await;
        assert!(words(&waits, "waitingReason").contains("is waiting to be checked"), "{waits}");
        let path = format!("/api/jobs/{job}/resolve");
        assert_eq!(floor.app.post(&path, &json!({"outcome": "perhaps"})).await.error(400), "validation_failed");
        let other = format!("/api/jobs/{other}/resolve");
        assert_eq!(floor.app.post(&other, &json!({"outcome": "failed"})).await.error(409), "invalid_transition");
        assert_eq!(floor.app.delete(&floor.path(0, "")).await.error(409), "printer_busy");
        assert_eq!(floor.started(0), 0);
    }

    #[drawn]
    async fn a_printer_that_comes_back_with_the_print_decides(kind: PrinterKind) {
        let (floor, order, job) = doubt_at(SLOW, kind, StartFate::Late).await;
        floor.physically("the late start", 0, started).await;
        floor.faults(0, |faults| faults.disconnect = false);
        floor.app.job_is(&job, "PRINTING").await;
        floor.attention(0, "unverified", false).await;
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        assert_eq!(attempts(&floor.job(&job).await), ["finished"]);
        assert_eq!(floor.started(0), 1);
        floor.truth().await;
    }

    async fn a_printer_that_comes_back_after_the_print_decides_if_it_can_tell(kind: PrinterKind) {
        let (mut floor, order, job) = doubt(kind, StartFate::Late).await;
        floor.physically("the part to be done", 0, finished).await;
        floor.faults(0, |faults| faults.disconnect = false);
        if kind == PrinterKind::MqttLan {
            // The end of a print before it would be shown in the same words, so a person looks, also after a restart.
            let why = |job: &Value| words(&job["attempts"][0], "reason").contains("names the file as its last print");
            floor.job_until("the doubt to be told", &job, why).await;
            floor.app.kill_9();
            floor.app.start().await;
            floor.wait_for_poll(0).await;
            let doubted = floor.job_until("the doubt to stay", &job, why).await;
            assert_eq!((doubted["state"].as_str(), floor.started(0)), (Some("DISPATCHING"), 1), "{doubted}");
            assert_eq!(resolve(&floor, &job, "finished").await["state"], "COMPLETED");
        }
        floor.app.order_is(&order, "ready").await;
        assert_eq!(attempts(&floor.job(&job).await), ["finished"]);
        assert_eq!(floor.started(0), 1, "not made again");
        floor.truth().await;
    }

    #[long]
    async fn a_printer_that_comes_back_knowing_nothing_is_given_another_start(kind: PrinterKind) {
        let (floor, order, job) = doubt(kind, StartFate::Lost).await;
        floor.faults(0, |faults| (faults.disconnect, faults.accept_but_never_start) = (false, false));
        floor.app.order_is(&order, "ready").await;
        assert_eq!(attempts(&floor.job(&job).await), ["not_started", "finished"]);
        assert_eq!(floor.started(0), 1);
        floor.truth().await;
    }

    #[long]
    async fn an_operator_says_that_it_did_not_start(kind: PrinterKind) {
        let (floor, order, job) = doubt(kind, StartFate::Lost).await;
        // Until that is known the job would be sent there again, in vain.
        floor.attention(0, "unreachable", true).await;
        let resolved = resolve(&floor, &job, "not_started").await;
        assert_eq!(resolved["state"], "SLICED", "{resolved}");
        floor.attention(0, "unverified", false).await;
        let again = floor.app.post(&format!("/api/jobs/{job}/resolve"), &json!({"outcome": "finished"})).await;
        assert_eq!(again.error(409), "invalid_transition");
        floor.end_rest(0).await;
        floor.faults(0, |faults| (faults.disconnect, faults.accept_but_never_start) = (false, false));
        floor.app.order_is(&order, "ready").await;
        assert_eq!(attempts(&floor.job(&job).await), ["not_started", "finished"]);
        assert_eq!(floor.started(0), 1);
        floor.truth().await;
    }

    #[long]
    async fn an_operator_says_that_it_failed(kind: PrinterKind) {
        let (floor, order, job) = doubt(kind, StartFate::Lost).await;
        let resolved = resolve(&floor, &job, "failed").await;
        assert_eq!(resolved["state"], "FAILED", "{resolved}");
        assert!(words(&resolved, "error").contains("operator"), "{resolved}");
        floor.attention(0, "unverified", false).await;
        floor.attention(0, "print_failed", true).await;
        assert_eq!(floor.events("job.failed").await.len(), 1);
        floor.faults(0, |faults| (faults.disconnect, faults.accept_but_never_start) = (false, false));
        floor.clear_bed(0).await;
        floor.app.act(&format!("/api/jobs/{job}/retry")).await.expect(200);
        floor.app.order_is(&order, "ready").await;
        floor.truth().await;
    }

    #[long]
    async fn an_operator_says_that_it_finished(kind: PrinterKind) {
        // It really did, and the printer is gone for good.
        let (floor, order, job) = doubt(kind, StartFate::Late).await;
        floor.physically("the part to be done", 0, finished).await;
        let resolved = resolve(&floor, &job, "finished").await;
        assert_eq!(resolved["state"], "COMPLETED", "{resolved}");
        floor.app.order_is(&order, "ready").await;
        floor.attention(0, "unverified", false).await;
        floor.truth().await;
        floor.free(0).await;
        floor.app.delete(&floor.path(0, "")).await.expect(204);
    }
}
