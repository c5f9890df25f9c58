//! Starts that are refused, ignored, late or unconfirmed.

use serde_json::json;
use simulator::faults::Delay;
use simulator::printer::PhysicalEvent;

use super::delays::HELD;
use super::{FAST, Floor, JUDGE_LATE, JUDGE_SOON, KEEP_FILES, PrinterKind, attempts, words};

each_kind! {
    async fn a_refused_start_sends_the_job_to_another_printer(kind: PrinterKind) {
        let floor = Floor::new(kind, 2, FAST, &[JUDGE_SOON, KEEP_FILES]).await;
        floor.faults(0, |faults| faults.refuse_start = true);
        let (order, job) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        let job = floor.job(&job).await;
        assert_eq!(job["attempts"][0]["printerId"], floor.printers[0], "the longest idle first: {job}");
        assert_eq!(attempts(&job), ["not_started", "finished"], "{job}");
        let reason = words(&job["attempts"][0], "reason");
        assert!(["rejected", "refused"].iter().any(|word| reason.contains(word)), "its own words: {reason}");
        assert!(reason.len() > "the printer rejected the request: ".len(), "its own words: {reason}");
        assert_eq!(job["attempts"][1]["printerId"], floor.printers[1], "another printer is preferred");
        assert_eq!((floor.started(0), floor.started(1)), (0, 1));
        assert_eq!(floor.count(0, |what| matches!(what, PhysicalEvent::Deleted { .. })), 1, "a late start would find no file");
        floor.truth().await;
    }

    #[drawn]
    async fn three_refusals_fail_the_job_and_a_retry_begins_anew(kind: PrinterKind) {
        let floor = Floor::new(kind, 3, FAST, &[JUDGE_SOON]).await;
        for n in 0..3 {
            floor.faults(n, |faults| faults.refuse_start = true);
        }
        let (order, job) = floor.one().await;
        let failed = floor.app.job_is(&job, "FAILED").await;
        assert_eq!(attempts(&failed), ["not_started", "not_started", "not_started"], "{failed}");
        assert!(words(&failed, "error").contains("refused by 3 printers"), "{failed}");
        let tried: std::collections::BTreeSet<_> =
            failed["attempts"].as_array().unwrap().iter().map(|a| a["printerId"].as_str().unwrap()).collect();
        assert_eq!(tried.len(), 3, "each on another printer: {failed}");
        let events = floor.events("job.failed").await;
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(events[0]["data"]["jobId"], json!(job));
        assert_eq!(events[0]["data"]["error"], failed["error"]);
        assert!((0..3).all(|n| floor.started(n) == 0));

        for n in 0..3 {
            floor.faults(n, |faults| faults.refuse_start = false);
            floor.end_rest(n).await;
        }
        floor.app.act(&format!("/api/jobs/{job}/retry")).await.expect(200);
        floor.app.order_is(&order, "ready").await;
        floor.truth().await;
        assert!((floor.used().await - 10.0).abs() < 0.001, "paid for once");
    }

    #[drawn]
    async fn an_accepted_start_that_never_comes_is_revoked_and_the_job_goes_elsewhere(kind: PrinterKind) {
        let floor = Floor::new(kind, 2, FAST, &[JUDGE_SOON, KEEP_FILES]).await;
        floor.faults(0, |faults| faults.accept_but_never_start = true);
        let (order, job) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        let job = floor.job(&job).await;
        assert_eq!(attempts(&job), ["not_started", "finished"], "{job}");
        assert!(words(&job["attempts"][0], "reason").contains("removed"), "{job}");
        assert_eq!((floor.started(0), floor.started(1)), (0, 1));
        assert_eq!(floor.count(0, |what| matches!(what, PhysicalEvent::Deleted { .. })), 1);
        floor.truth().await;
    }

    #[drawn]
    async fn a_start_that_comes_after_it_was_revoked_finds_no_file(kind: PrinterKind) {
        let floor = Floor::new(kind, 2, FAST, &[JUDGE_SOON]).await;
        floor.faults(0, |faults| faults.start_late = HELD);
        let (order, job) = floor.one().await;
        floor.job_until("the start to be revoked", &job, |job| attempts(job).first() == Some(&"not_started"))
            .await;
        floor.end_delays(0);
        floor.physically("the late start to come", 0, |what| matches!(what, PhysicalEvent::LateStartFellThrough { .. })).await;
        floor.app.order_is(&order, "ready").await;
        assert_eq!((floor.started(0), floor.started(1)), (0, 1));
        floor.truth().await;
    }

    #[drawn]
    async fn a_start_that_comes_late_but_in_time_is_confirmed(kind: PrinterKind) {
        let floor = Floor::new(kind, 2, FAST, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.start_late = Some(Delay { after_ms: 1_000 }));
        let (order, job) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        assert_eq!(attempts(&floor.job(&job).await), ["finished"]);
        assert_eq!((floor.started(0), floor.started(1)), (1, 0));
        floor.truth().await;
    }

    #[drawn]
    async fn a_print_that_began_and_ended_unseen_is_counted_with_all_its_events(kind: PrinterKind) {
        // Looks that come too seldom to see it print.
        let seldom = ("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "3");
        let floor = Floor::new(kind, 1, 100_000.0, &[JUDGE_SOON, seldom]).await;
        let order = floor.order(2).await;
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.started(0), 2);
        for event in ["job.printing", "job.completed"] {
            assert_eq!(floor.events(event).await.len(), 2, "{event}");
        }
        assert_eq!(floor.events("order.printing").await.len(), 1);
        floor.truth().await;
    }

    async fn a_connection_that_drops_after_the_upload_costs_nothing_but_another_upload(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_SOON]).await;
        floor.faults(0, |faults| faults.drop_after_upload = true);
        let (order, job) = floor.one().await;
        floor.physically("the upload to arrive", 0, |what| matches!(what, PhysicalEvent::Uploaded { .. })).await;
        floor.faults(0, |faults| faults.drop_after_upload = false);
        floor.app.order_is(&order, "ready").await;
        let uploads = floor.sim(0).handle.log().into_iter().filter_map(|entry| match entry.what {
            PhysicalEvent::Uploaded { filename, .. } => Some(filename),
            _ => None,
        });
        let names: Vec<String> = uploads.collect();
        let job = floor.job(&job).await;
        let different: std::collections::BTreeSet<_> = names.iter().collect();
        // One that can be asked for the size of what it stored is not sent the same again.
        assert!(names.len() > 1 || kind == PrinterKind::MqttLan, "uploaded again: {names:?}");
        assert_eq!(different.len(), attempts(&job).len(), "an attempt always uploads under its own name: {names:?}");
        floor.truth().await;
    }

    #[drawn]
    async fn every_second_answer_an_error_does_not_stop_an_order(kind: PrinterKind) {
        // Unlucky attempts happen on both; a third printer keeps their refusals from being enough to give a job up.
        let floor = Floor::new(kind, 3, FAST, &[JUDGE_SOON]).await;
        floor.faults(0, |faults| faults.every_second_answer_an_error = true);
        floor.faults(1, |faults| faults.every_second_answer_an_error = true);
        let order = floor.order(2).await;
        floor.app.order_is(&order, "ready").await;
        floor.truth().await;
    }

    #[drawn]
    async fn an_echo_of_a_finish_is_counted_once(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| {
            faults.duplicate_finish = Some(simulator::faults::Echo { after_ms: 500, for_ms: 600_000 });
        });
        let (first, job) = floor.one().await;
        floor.app.order_is(&first, "ready").await;
        floor.attention(0, "foreign_print", true).await;
        floor.faults(0, |faults| faults.duplicate_finish = None);
        floor.end_delays(0);
        floor.attention(0, "foreign_print", false).await;
        assert_eq!(floor.job(&job).await["state"], "COMPLETED");
        assert_eq!(floor.events("job.completed").await.len(), 1);
        if kind == PrinterKind::ServerRest {
            // Its file is deleted, so OctoPrint cannot say how that other print ended: a person looks.
            floor.clear_bed(0).await;
        }
        let (second, _) = floor.one().await;
        floor.app.order_is(&second, "ready").await;
        floor.truth().await;
        assert!((floor.used().await - 20.0).abs() < 0.001, "two parts, consumed once each");
    }

    async fn a_print_that_fails_at_the_printer_fails_the_job_and_is_paid_for_in_part(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, 300.0, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.fail_at = Some(simulator::faults::FailAt { progress: 0.5 }));
        let (order, job) = floor.one().await;
        let failed = floor.app.job_is(&job, "FAILED").await;
        assert!(!words(&failed, "error").is_empty(), "{failed}");
        if kind == PrinterKind::FwRest {
            // OctoPrint does not tell a print that failed from one that was cancelled there.
            floor.attention(0, "print_failed", true).await;
        }
        floor.clear_bed(0).await;
        floor.hurry(0);
        floor.app.act(&format!("/api/jobs/{job}/retry")).await.expect(200);
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.started(0), 2);
        floor.truth().await;
        let used = floor.used().await;
        assert!((10.0..=15.5).contains(&used), "one part and up to half of another: {used}");
        assert_eq!(floor.sim(0).handle.faults(), simulator::faults::PrinterFaults::default());
    }
}
