//! Printers that hang, disappear, return, or reject the shop's key.

use std::time::{Duration, Instant};

use serde_json::json;
use simulator::faults::{RebootAt, SlowUpload};
use simulator::printer::PhysicalEvent;

use super::{FAST, Floor, IMPATIENT, JUDGE_LATE, PrinterKind, SLOW, attempts, keyless, register, words};
use crate::support::{Db, until};

each_kind! {
    #[long]
    async fn a_printer_that_hangs_holds_up_nobody_else(kind: PrinterKind) {
        let silence = ("PRINTFLOOR_PRINTERS__OFFLINE_SECONDS", "8");
        let floor = Floor::new(kind, 2, SLOW, &[JUDGE_LATE, IMPATIENT, silence]).await;
        let (first, stuck) = floor.one().await;
        floor.app.job_is(&stuck, "PRINTING").await;
        floor.faults(0, |faults| faults.hang = true);
        floor.hurry(1);
        let (second, other) = floor.one().await;
        floor.app.order_is(&second, "ready").await;
        assert_eq!(floor.job(&other).await["printerId"], floor.printers[1]);
        floor.connection_is(0, "unreachable").await;
        floor.attention(0, "unreachable", true).await;
        assert_eq!(floor.job(&stuck).await["state"], "PRINTING", "silence is no evidence");

        floor.faults(0, |faults| faults.hang = false);
        floor.hurry(0);
        floor.app.order_is(&first, "ready").await;
        floor.connection_is(0, "connected").await;
        let offline = floor.events("printer.offline").await;
        assert_eq!(offline.len(), 1, "once per outage: {offline:?}");
        assert_eq!(offline[0]["data"]["printerId"], json!(floor.printers[0]));
        assert_eq!(offline[0]["data"]["jobId"], json!(stuck));
        assert!(offline[0]["data"]["lastSeenAt"].is_string() && offline[0]["data"]["name"].is_string(), "{offline:?}");
        assert_eq!(floor.events("printer.online").await.len(), 1);
        floor.truth().await;
    }

    async fn silence_is_noticed_in_its_own_time_however_long_an_answer_may_take(kind: PrinterKind) {
        let silence = ("PRINTFLOOR_PRINTERS__OFFLINE_SECONDS", "3");
        let floor = Floor::new(kind, 1, FAST, &[silence]).await;
        let began = Instant::now();
        floor.faults(0, |faults| faults.hang = true);
        floor.connection_is(0, "unreachable").await;
        assert!(began.elapsed() < Duration::from_secs(12), "noticed after {:?}", began.elapsed());
        floor.faults(0, |faults| faults.hang = false);
        floor.connection_is(0, "connected").await;
        assert_eq!(floor.events("printer.offline").await.len(), 1);
    }

    #[drawn]
    async fn a_slow_upload_keeps_nobody_waiting(kind: PrinterKind) {
        let floor = Floor::new(kind, 3, FAST, &[JUDGE_LATE]).await;
        let file = floor.big_file("big", 600_000).await;
        let sku = floor.app.sku("BIG", &floor.material, file["id"].as_str().unwrap(), 900).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 10_000 }));
        let order = floor.app.paid_order(&sku, 3).await;
        let uploaded = |n: usize| floor.count(n, |what| matches!(what, PhysicalEvent::Uploaded { .. }));
        until("the two others to be done", || async { (floor.finished(1) > 0 && floor.finished(2) > 0).then_some(()) }).await;
        assert_eq!(uploaded(0), 0, "the slow one still takes the file in");
        floor.faults(0, |faults| faults.slow_upload = None);
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.started(0), 1, "and prints it then");
        floor.truth().await;
    }

    #[long]
    async fn a_print_goes_on_while_its_printer_is_away(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.faults(0, |faults| faults.disconnect = true);
        floor.connection_is(0, "unreachable").await;
        assert_eq!(floor.job(&job).await["state"], "PRINTING");
        floor.faults(0, |faults| faults.disconnect = false);
        floor.connection_is(0, "connected").await;
        assert_eq!(floor.job(&job).await["state"], "PRINTING");

        floor.faults(0, |faults| faults.disconnect = true);
        floor.connection_is(0, "unreachable").await;
        floor.hurry(0);
        floor.physically("the part to be done", 0, |what| matches!(what, PhysicalEvent::Finished { .. })).await;
        assert_eq!(floor.job(&job).await["state"], "PRINTING", "nobody has told us yet");
        floor.faults(0, |faults| faults.disconnect = false);
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.events("printer.offline").await.len(), 2, "two outages");
        assert_eq!(attempts(&floor.job(&job).await), ["finished"]);
        floor.truth().await;
    }

    async fn a_printer_that_lost_its_print_to_a_reboot_fails_the_job(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.stands_at(0, 0.29);
        floor.faults(0, |faults| faults.reboot_at = Some(RebootAt { progress: 0.3, forget: true }));
        // So soon back that it was not out of sight: nobody can have taken the part.
        floor.sim(0).handle.set_speed(100.0);
        let failed = floor.app.job_is(&job, "FAILED").await;
        assert!(words(&failed, "error").contains("responded again without the print"), "{failed}");
        floor.clear_bed(0).await;
        floor.app.act(&format!("/api/jobs/{job}/retry")).await.expect(200);
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.started(0), 2, "one for each attempt");
        floor.truth().await;
    }

    async fn a_changed_key_is_said_and_a_new_one_mends_it(kind: PrinterKind) {
        if keyless(kind) {
            return;
        }
        let mut floor = Floor::empty(Db::sqlite(), kind, 1, SLOW, &[JUDGE_LATE]).await;
        let printer = register(&floor.app, floor.sim(0), json!({"apiKey": "not-the-key"})).await;
        floor.printers.push(printer);
        floor.connection_is(0, "wrong_key").await;
        floor.attention(0, "wrong_key", true).await;
        let (order, job) = floor.one().await;
        let sliced = floor.app.job_is(&job, "SLICED").await;
        assert!(words(&sliced, "waitingReason").contains("is rejecting the API key"), "{sliced}");
        let right = json!({"apiKey": floor.sim(0).api_key});
        let changed = floor.app.patch(&floor.path(0, ""), &right).await.expect(200);
        assert!(changed.get("apiKey").is_none() && changed["hasApiKey"] == true, "{changed}");
        floor.app.job_is(&job, "PRINTING").await;

        // And in the middle of a print.
        floor.faults(0, |faults| faults.wrong_key = true);
        floor.connection_is(0, "wrong_key").await;
        assert_eq!(floor.job(&job).await["state"], "PRINTING");
        floor.faults(0, |faults| faults.wrong_key = false);
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        floor.truth().await;
    }
}
