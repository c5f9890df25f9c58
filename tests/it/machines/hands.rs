//! Operations on prints: pause, resume, cancel, force.

use serde_json::json;
use simulator::printer::PhysicalEvent;

use super::delays::HELD;
use super::{Floor, IMPATIENT, JUDGE_LATE, PrinterKind, SLOW, attempts, words};

each_kind! {
    async fn pause_and_resume_by_job_and_by_printer(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        let act = |verb: &str| format!("/api/jobs/{job}/{verb}");
        assert_eq!(floor.app.act(&act("resume")).await.error(409), "invalid_transition");
        floor.app.act(&act("pause")).await.expect(200);
        let paused = floor.app.job_is(&job, "PAUSED").await;
        assert!(words(&paused, "waitingReason").contains("Paused"), "{paused}");
        assert_eq!(floor.status(0).await["state"], "paused");
        assert_eq!(floor.app.act(&act("pause")).await.error(409), "invalid_transition");
        floor.app.act(&floor.path(0, "/resume")).await.expect(200);
        floor.app.job_is(&job, "PRINTING").await;
        floor.app.act(&floor.path(0, "/pause")).await.expect(200);
        floor.app.job_is(&job, "PAUSED").await;
        floor.app.act(&act("resume")).await.expect(200);
        floor.app.job_is(&job, "PRINTING").await;
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.count(0, |what| matches!(what, PhysicalEvent::Paused { .. })), 2);
        assert_eq!(floor.count(0, |what| matches!(what, PhysicalEvent::Resumed { .. })), 2);
        assert_eq!((floor.events("job.paused").await.len(), floor.events("job.resumed").await.len()), (2, 2));
        floor.truth().await;
    }

    #[drawn]
    async fn a_cancelled_order_waits_for_its_printers_word(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let order = floor.order(2).await;
        let jobs = floor.app.jobs(&order).await;
        let on = crate::support::until("one to print", || async {
            floor.app.jobs(&order).await.into_iter().find(|job| job["state"] == "PRINTING")
        }).await;
        floor.faults(0, |faults| faults.slow_commands = HELD);
        let cancelled = floor.app.act(&format!("/api/orders/{order}/cancel")).await.expect(200);
        assert_eq!(cancelled["status"], "cancelled", "at once: {cancelled}");
        let id = on["id"].as_str().unwrap();
        let waits = floor.job(id).await;
        assert_eq!(waits["state"], "PRINTING", "{waits}");
        assert!(waits["cancelRequestedAt"].is_string(), "{waits}");
        assert!(words(&waits, "waitingReason").contains("confirm"), "{waits}");
        floor.end_delays(0);
        for job in &jobs {
            floor.app.job_is(job["id"].as_str().unwrap(), "CANCELLED").await;
        }
        floor.physically("the print to be cancelled", 0, |what| matches!(what, PhysicalEvent::Cancelled { .. })).await;
        assert_eq!(floor.count(0, |what| matches!(what, PhysicalEvent::Cancelled { .. })), 1, "once");
        assert_eq!(floor.started(0), 1);
        floor.truth().await;
        assert!(floor.used().await < 10.0, "only what was printed");
        assert_eq!(floor.app.act(&format!("/api/jobs/{id}/retry")).await.error(409), "invalid_transition");
    }

    #[drawn]
    async fn a_job_cancelled_while_it_prints_frees_its_printer(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
        let over = floor.app.job_is(&job, "CANCELLED").await;
        assert_eq!(attempts(&over), ["cancelled"], "{over}");
        assert_eq!(floor.app.act(&format!("/api/jobs/{job}/cancel")).await.error(409), "invalid_transition");
        floor.clear_bed(0).await;
        let (next, _) = floor.one().await;
        floor.hurry(0);
        floor.app.order_is(&next, "ready").await;
        floor.truth().await;
    }

    #[drawn]
    async fn a_part_that_is_done_before_its_cancel_is_done(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE, IMPATIENT]).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.faults(0, |faults| faults.disconnect = true);
        floor.connection_is(0, "unreachable").await;
        let cancelled = floor.app.act(&format!("/api/orders/{order}/cancel")).await.expect(200);
        assert_eq!(cancelled["status"], "cancelled");
        floor.hurry(0);
        floor.physically("the part to be done", 0, |what| matches!(what, PhysicalEvent::Finished { .. })).await;
        let waits = floor.job(&job).await;
        assert_eq!(waits["state"], "PRINTING", "an unreachable printer holds the job: {waits}");
        floor.faults(0, |faults| faults.disconnect = false);
        let done = floor.app.job_is(&job, "COMPLETED").await;
        assert!(done["cancelRequestedAt"].is_null(), "{done}");
        floor.truth().await;
    }

    #[drawn]
    async fn an_operator_need_not_wait_for_a_printer_that_is_gone(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE, IMPATIENT]).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.faults(0, |faults| faults.disconnect = true);
        floor.connection_is(0, "unreachable").await;
        floor.app.act(&format!("/api/orders/{order}/cancel")).await.expect(200);
        assert_eq!(floor.job(&job).await["state"], "PRINTING");
        let forced = floor.app.post(&format!("/api/jobs/{job}/cancel"), &json!({"force": true})).await.expect(200);
        assert_eq!(forced["state"], "CANCELLED", "{forced}");
        assert_eq!(attempts(&forced), ["abandoned"], "{forced}");
        // What nobody waits for is not overridden when it is back either: the next job waits until it is over.
        let (next, waiting) = floor.one().await;
        floor.faults(0, |faults| faults.disconnect = false);
        floor.connection_is(0, "connected").await;
        floor.app.job_is(&waiting, "SLICED").await;
        assert_eq!(floor.started(0), 1);
        floor.attention(0, "foreign_print", true).await;
        floor.app.act(&floor.path(0, "/cancel")).await.expect(200);
        floor.attention(0, "foreign_print", false).await;
        floor.clear_bed(0).await;
        floor.hurry(0);
        floor.app.order_is(&next, "ready").await;
        floor.truth().await;
    }

    async fn a_print_cancelled_at_the_printer_fails_the_job(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.app.act(&floor.path(0, "/cancel")).await.expect(200);
        let failed = floor.app.job_is(&job, "FAILED").await;
        assert_eq!(words(&failed, "error"), "cancelled at the printer", "{failed}");
        floor.clear_bed(0).await;
        floor.app.act(&format!("/api/jobs/{job}/retry")).await.expect(200);
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        floor.truth().await;
    }
}
