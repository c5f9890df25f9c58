//! Wrong starts and lost prints that users of farm software reported, each told once on every protocol: what must not happen is held
//! against the machines' own log. Further tests of this folder go into the corners of several of them.

use std::collections::BTreeSet;

use printfloor::domain::file::GcodeForm;
use serde_json::{Value, json};
use simulator::faults::{Delay, SlowUpload};
use simulator::printer::What;

use super::slots::{fed, fit_changer, load, reported, reports_slots};
use super::{
    FAST, Floor, JUDGE_LATE, JUDGE_SOON, KEEP_FILES, PrinterKind, SECONDS, SLOW, attempts, keyless, maps_slots, prints,
    register, words,
};
use crate::support::Db;

fn uploaded(what: &What) -> bool {
    matches!(what, What::Uploaded { .. })
}

/// Jobs of one order for a file that takes the printers a while to receive: (order, jobs).
async fn slow_uploads(floor: &Floor, quantity: u32) -> (String, Vec<Value>) {
    let file = floor.big_file("big", 200_000).await;
    let sku = floor.app.sku("BIG", &floor.material, file["id"].as_str().unwrap(), 900).await;
    let order = floor.app.paid_order(&sku, quantity).await;
    let jobs = floor.app.jobs(&order).await;
    (order, jobs)
}

each_kind! {
    async fn story_01_a_start_for_a_busy_printer_does_not_end_the_print_there(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 40_000 }));
        let (order, jobs) = slow_uploads(&floor, 1).await;
        let job = jobs[0]["id"].as_str().unwrap();
        floor.attempt_is(job, "uploading").await;
        // A person begins a print while the file is on its way.
        floor.own_print(0);
        floor.job_until("the job to wait again", job, |job| job["state"] == "SLICED").await;
        assert_eq!(floor.started(0), 1, "the person's own");
        assert_eq!(floor.count(0, |what| matches!(what, What::Cancelled { .. })), 0);
        floor.faults(0, |faults| faults.slow_upload = None);
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        assert_eq!((floor.started(0), floor.finished(0)), (2, 2), "one after the other, both to their ends");
    }

    async fn story_02_a_batch_is_dispatched_once(kind: PrinterKind) {
        let floor = Floor::new(kind, 3, FAST, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.start_late = Some(Delay { after_ms: 700 }));
        let order = floor.order(6).await;
        floor.app.order_is(&order, "ready").await;
        let starts: usize = (0..3).map(|n| floor.started(n)).sum();
        assert_eq!(starts, 6, "as many as parts");
        floor.truth().await;
    }

    async fn story_03_an_old_finish_is_history_and_no_evidence(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        let (first, _) = floor.one().await;
        floor.app.order_is(&first, "ready").await;
        // The next start takes long to show: until then the printer tells of the print before.
        floor.faults(0, |faults| faults.start_late = Some(Delay { after_ms: 2_000 }));
        let (second, job) = floor.one().await;
        floor.start_arrived(0).await;
        floor.looked_at(0).await;
        assert_eq!(floor.job(&job).await["state"], "DISPATCHING");
        floor.app.order_is(&second, "ready").await;
        assert_eq!(attempts(&floor.job(&job).await), ["finished"]);
        assert_eq!(floor.started(0), 2);
        floor.truth().await;
    }

    async fn story_04_a_file_of_ours_that_starts_by_itself_is_foreign_and_counts_for_nothing(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE, KEEP_FILES]).await;
        let (order, job) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        floor.free(0).await;
        let job = floor.job(&job).await;
        let left = format!("{}_{}.gcode", job["number"].as_str().unwrap(), job["attempts"][0]["id"].as_str().unwrap());
        floor.sim(0).handle.set_speed(SLOW);
        floor.sim(0).handle.put_file(&left, simulator::gcode::gcode("left", SECONDS, 1.0, 300.0));
        floor.sim(0).handle.with(|machine| machine.start(&left)).unwrap();
        floor.attention(0, "foreign_print", true).await;
        let (next, waiting) = floor.one().await;
        let why = |job: &Value| job["waitingReason"].as_str().unwrap_or_default().contains("1 printing something else");
        floor.job_until("the next to wait", &waiting, why).await;
        assert_eq!(floor.events("job.completed").await.len(), 1);
        floor.hurry(0);
        floor.attention(0, "foreign_print", false).await;
        floor.app.act(&floor.path(0, "/bed-cleared")).await.expect(200);
        floor.app.order_is(&next, "ready").await;
        assert_eq!(floor.events("job.completed").await.len(), 2, "the two that were ordered");
        assert!((floor.used().await - 20.0).abs() < 0.001);
    }

    async fn story_05_a_start_that_came_to_nothing_does_not_print_for_ever(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_SOON]).await;
        floor.faults(0, |faults| faults.accept_but_never_start = true);
        let (order, job) = floor.one().await;
        floor.job_until("the verdict", &job, |job| attempts(job).contains(&"not_started")).await;
        assert!(floor.events("job.printing").await.is_empty(), "nobody saw it print");
        floor.faults(0, |faults| faults.accept_but_never_start = false);
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.started(0), 1);
        floor.truth().await;
    }

    async fn story_06_an_accepted_command_is_no_evidence(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.start_late = Some(Delay { after_ms: 2_000 }));
        let (order, job) = floor.one().await;
        floor.start_arrived(0).await;
        floor.looked_at(0).await;
        assert_eq!(floor.job(&job).await["state"], "DISPATCHING", "accepted, and not seen");
        let printing = floor.app.job_is(&job, "PRINTING").await;
        assert!(printing["attempts"][0]["startedAt"].is_string(), "{printing}");
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        floor.truth().await;
    }

    async fn story_07_a_job_cancelled_while_it_is_sent_is_not_printed(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 40_000 }));
        let (_, jobs) = slow_uploads(&floor, 1).await;
        let job = jobs[0]["id"].as_str().unwrap();
        floor.attempt_is(job, "uploading").await;
        floor.app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
        let cancelled = floor.app.job_is(job, "CANCELLED").await;
        assert!(cancelled["attempts"][0]["startedAt"].is_null(), "{cancelled}");
        floor.free(0).await;
        floor.faults(0, |faults| faults.slow_upload = None);
        let (order, _) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.started(0), 1, "the other job alone");
        floor.truth().await;
    }

    async fn story_08_a_job_that_is_being_sent_stays_with_its_printer(kind: PrinterKind) {
        let floor = Floor::new(kind, 2, FAST, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 40_000 }));
        let (order, jobs) = slow_uploads(&floor, 1).await;
        let job = jobs[0]["id"].as_str().unwrap();
        floor.attempt_is(job, "uploading").await;
        // Another printer is free, and a higher rank changes nothing.
        floor.app.patch(&format!("/api/jobs/{job}"), &json!({"priority": 9})).await.expect(200);
        floor.looked_at(1).await;
        floor.app.order_is(&order, "ready").await;
        assert_eq!((floor.started(0), floor.started(1)), (1, 0));
        assert_eq!(floor.count(1, uploaded), 0, "not half on two printers");
        floor.truth().await;
    }

    async fn story_09_nothing_is_printed_onto_a_bed_that_nobody_cleared(kind: PrinterKind) {
        let mut floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
        floor.app.job_is(&job, "CANCELLED").await;
        // It is remembered over a restart of either side.
        floor.app.kill_9();
        floor.app.start().await;
        floor.sim(0).handle.reboot(false);
        let (next, waiting) = floor.one().await;
        let why = |job: &Value| job["waitingReason"].as_str().unwrap_or_default().contains("1 bed not cleared");
        floor.job_until("the next to wait for the bed", &waiting, why).await;
        assert_eq!(floor.started(0), 1);
        floor.clear_bed(0).await;
        floor.hurry(0);
        floor.app.order_is(&next, "ready").await;
        assert_eq!(floor.started(0), 2);
    }

    async fn story_10_a_slow_upload_is_waited_for_and_sent_once(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 60_000 }));
        let (order, _) = slow_uploads(&floor, 2).await;
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.count(0, uploaded), 2, "one for each job, one after the other");
        floor.truth().await;
    }

    async fn story_11_an_upload_that_was_cut_off_is_not_started(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 40_000 }));
        let (order, jobs) = slow_uploads(&floor, 1).await;
        floor.attempt_is(jobs[0]["id"].as_str().unwrap(), "uploading").await;
        floor.faults(0, |faults| faults.disconnect = true);
        floor.connection_is(0, "unreachable").await;
        assert_eq!(floor.started(0), 0);
        floor.faults(0, |faults| (faults.disconnect, faults.slow_upload) = (false, None));
        floor.app.order_is(&order, "ready").await;
        let size = floor.app.get("/api/files?q=big.gcode").await.expect(200)["files"][0]["size"].clone();
        let log = floor.sim(0).handle.log();
        let sizes = log.into_iter().filter_map(|entry| match entry.what {
            What::Uploaded { bytes, .. } => Some(bytes),
            _ => None,
        });
        let sizes: BTreeSet<u64> = sizes.collect();
        // Its name on the printer stands in it, too.
        assert_eq!(sizes.len(), 1, "whole, or not there: {sizes:?}");
        assert!(sizes.iter().all(|bytes| *bytes >= size.as_u64().unwrap()), "{sizes:?}");
        assert_eq!(floor.started(0), 1);
        floor.truth().await;
    }

    async fn story_12_a_printer_is_never_sent_a_form_of_file_that_it_does_not_print(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        // Its name lies; its content tells.
        let file = floor.app.upload("vase.gcode", crate::machines::sick::binary_gcode()).await.expect(201);
        let sku = floor.app.sku("BINARY", &floor.material, file["id"].as_str().unwrap(), 900).await;
        let order = floor.app.paid_order(&sku, 1).await;
        let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
        if prints(kind, GcodeForm::Binary) {
            // Sent as it is, under a name that tells its form.
            floor.app.order_is(&order, "ready").await;
            let named = |what: &What| matches!(what, What::Started { filename } if filename.ends_with(".bgcode"));
            assert_eq!(floor.count(0, named), 1);
            return;
        }
        let waits = floor.app.job_is(&job, "SLICED").await;
        assert!(words(&waits, "waitingReason").contains(".bgcode files"), "{waits}");
        let (other, _) = floor.one().await;
        floor.app.order_is(&other, "ready").await;
        assert_eq!((floor.count(0, uploaded), floor.started(0)), (1, 1), "the other job alone");
    }

    async fn story_13_the_spool_decides_and_nobody_knows_is_no_spool(kind: PrinterKind) {
        let mut floor = Floor::empty(Db::sqlite(), kind, 2, FAST, &[JUDGE_LATE]).await;
        let matte = json!({"name": "PLA black", "type": "filament", "variant": "matte", "quantity": 500, "unit": "g"});
        let matte = floor.app.post("/api/inventory/materials", &matte).await.expect(201);
        for n in 0..2 {
            fit_changer(&floor, n, 2);
            let printer = register(&floor.app, floor.sim(n), json!({})).await;
            floor.app.connected(&printer).await;
            floor.printers.push(printer);
        }
        // The same name and colour in another variant, and slots of which nobody knows what they hold.
        let spools = [json!({"materialId": matte["id"]}), json!({"materialId": null})];
        for (n, spool) in spools.iter().enumerate() {
            for slot in 0..2 {
                reported(&floor, n, slot).await;
                load(&floor, n, slot, spool.clone()).await;
            }
        }
        let (order, job) = floor.one().await;
        let waits = floor.app.job_is(&job, "SLICED").await;
        assert!(words(&waits, "waitingReason").starts_with("no fdm_standard printer fits it"), "{waits}");
        assert_eq!((floor.count(0, uploaded), floor.count(1, uploaded)), (0, 0));
        // The file prints with its first tool, which takes the second slot only where the start can say so.
        let material = json!({"materialId": floor.material});
        load(&floor, 1, 1, material.clone()).await;
        if !maps_slots(kind) {
            let why = |job: &Value| job["waitingReason"].as_str().unwrap_or_default().contains("PLA black is not in slot 0");
            floor.job_until("it to say which slot is the right one", &job, why).await;
            assert_eq!((floor.count(0, uploaded), floor.count(1, uploaded)), (0, 0));
            load(&floor, 1, 0, material).await;
        }
        floor.app.order_is(&order, "ready").await;
        assert_eq!((floor.started(0), floor.started(1)), (0, 1));
        if reports_slots(kind) {
            assert_eq!(fed(&floor, 1), [[(0, i64::from(maps_slots(kind)))]]);
        }
        floor.truth().await;
    }

    async fn story_14_a_wrong_key_and_a_silent_printer_are_said_by_name_and_once(kind: PrinterKind) {
        if keyless(kind) {
            return;
        }
        let floor = Floor::new(kind, 2, FAST, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.wrong_key = true);
        floor.faults(1, |faults| faults.disconnect = true);
        floor.attention(0, "wrong_key", true).await;
        floor.attention(1, "unreachable", true).await;
        let (order, job) = floor.one().await;
        let waits = floor.app.job_is(&job, "SLICED").await;
        let reason = words(&waits, "waitingReason");
        assert!(reason.contains("1 refusing our key") && reason.contains("1 offline"), "{reason}");
        assert_eq!(floor.events("printer.offline").await.len(), 2, "once for each");
        floor.faults(0, |faults| faults.wrong_key = false);
        floor.faults(1, |faults| faults.disconnect = false);
        floor.app.order_is(&order, "ready").await;
        floor.truth().await;
    }

    async fn story_15_a_printer_that_refuses_everything_is_taken_out_and_says_so(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_SOON]).await;
        floor.faults(0, |faults| faults.refuse_start = true);
        let order = floor.order(2).await;
        floor.attention(0, "start_refused", true).await;
        let status = floor.status(0).await;
        assert!(words(&status, "attentionReason").contains("refused 2 starts in a row"), "{status}");
        // No job is lost to it.
        let waits = |job: &Value| {
            let why = job["waitingReason"].as_str();
            job["state"] == "SLICED" && why.is_some_and(|why| why.contains("1 refusing starts"))
        };
        crate::support::until("both jobs to wait and say why", || async {
            floor.app.jobs(&order).await.iter().all(waits).then_some(())
        })
        .await;
        assert_eq!(floor.started(0), 0);
        floor.faults(0, |faults| faults.refuse_start = false);
        floor.app.act(&floor.path(0, "/clear-attention")).await.expect(200);
        floor.physically("a part to be made", 0, |what| matches!(what, What::Finished { .. })).await;
    }

    async fn story_16_a_finish_that_was_missed_is_found_and_nothing_is_invented(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.faults(0, |faults| faults.disconnect = true);
        floor.connection_is(0, "unreachable").await;
        floor.hurry(0);
        floor.physically("the part to be done", 0, |what| matches!(what, What::Finished { .. })).await;
        assert_eq!(floor.job(&job).await["state"], "PRINTING", "nobody knows yet");
        floor.faults(0, |faults| faults.disconnect = false);
        floor.app.order_is(&order, "ready").await;
        assert!((floor.used().await - 10.0).abs() < 0.001, "what the file and the printer say");
        floor.truth().await;
    }
}
