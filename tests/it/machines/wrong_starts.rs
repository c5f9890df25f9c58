//! Wrong starts and lost prints that users of farm software have reported, each reproduced on every protocol and
//! checked against the machines' own logs. Further tests in this folder cover the edge cases of some of them.

mod ends;
mod files;

use serde_json::{Value, json};
use simulator::faults::{Delay, SlowUpload};
use simulator::printer::PhysicalEvent;

use super::delays::HELD;
use super::slots::{fed, fit_changer, load, reported, reports_slots};
use super::{
    FAST, Floor, JUDGE_LATE, JUDGE_SOON, PrinterKind, SLOW, attempts, maps_slots, register, slot_label, words,
};
use crate::support::Db;

/// Power-cycles the printer for a second or two; its later prints take a while.
fn reboot(floor: &Floor) {
    floor.sim(0).handle.with(|machine| {
        machine.set_speed(20.0 * SLOW);
        machine.reboot(false);
        machine.set_speed(SLOW);
    });
}

fn uploaded(what: &PhysicalEvent) -> bool {
    matches!(what, PhysicalEvent::Uploaded { .. })
}

/// Orders parts whose file takes the printers a while to receive; returns the order's ID and its jobs.
async fn slow_uploads(floor: &Floor, quantity: u32) -> (String, Vec<Value>) {
    let file = floor.big_file("big", 200_000).await;
    let sku = floor.app.sku("BIG", &floor.material, file["id"].as_str().unwrap(), 900).await;
    let order = floor.app.paid_order(&sku, quantity).await;
    let jobs = floor.app.jobs(&order).await;
    (order, jobs)
}

each_kind! {
    #[long]
    async fn story_01_a_start_for_a_busy_printer_does_not_end_the_print_there(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 10_000 }));
        let (order, jobs) = slow_uploads(&floor, 1).await;
        let job = jobs[0]["id"].as_str().unwrap();
        floor.attempt_is(job, "uploading").await;
        // A person begins a print while the file is on its way.
        floor.own_print(0);
        floor.status_until("the person's print to be seen", 0, |status| status["state"] == "printing").await;
        floor.faults(0, |faults| faults.slow_upload = None);
        floor.job_until("the job to wait again", job, |job| job["state"] == "SLICED").await;
        assert_eq!(floor.started(0), 1, "the person's own");
        assert_eq!(floor.count(0, |what| matches!(what, PhysicalEvent::Cancelled { .. })), 0);
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        assert_eq!((floor.started(0), floor.finished(0)), (2, 2), "one after the other, both to their ends");
    }

    #[long]
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
        floor.faults(0, |faults| faults.start_late = HELD);
        let (second, job) = floor.one().await;
        floor.start_arrived(0).await;
        floor.wait_for_poll(0).await;
        assert_eq!(floor.job(&job).await["state"], "DISPATCHING");
        floor.end_delays(0);
        floor.app.order_is(&second, "ready").await;
        assert_eq!(attempts(&floor.job(&job).await), ["finished"]);
        assert_eq!(floor.started(0), 2);
        floor.truth().await;
    }

    #[long]
    async fn story_05_a_start_that_came_to_nothing_does_not_print_for_ever(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_SOON]).await;
        floor.faults(0, |faults| faults.accept_but_never_start = true);
        let (order, job) = floor.one().await;
        floor.job_until("the verdict", &job, |job| attempts(job).contains(&"not_started")).await;
        assert!(floor.events("job.printing").await.is_empty(), "nobody saw it print");
        floor.faults(0, |faults| faults.accept_but_never_start = false);
        floor.end_rest(0).await;
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.started(0), 1);
        floor.truth().await;
    }

    #[long]
    async fn story_06_an_accepted_command_is_no_evidence(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.start_late = HELD);
        let (order, job) = floor.one().await;
        floor.start_arrived(0).await;
        floor.wait_for_poll(0).await;
        assert_eq!(floor.job(&job).await["state"], "DISPATCHING", "accepted, and not seen");
        floor.end_delays(0);
        let printing = floor.app.job_is(&job, "PRINTING").await;
        assert!(printing["attempts"][0]["startedAt"].is_string(), "{printing}");
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        floor.truth().await;
    }

    #[long]
    async fn story_07_a_job_cancelled_while_it_is_sent_is_not_printed(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 10_000 }));
        let (_, jobs) = slow_uploads(&floor, 1).await;
        let job = jobs[0]["id"].as_str().unwrap();
        floor.attempt_is(job, "uploading").await;
        floor.app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
        floor.faults(0, |faults| faults.slow_upload = None);
        let cancelled = floor.app.job_is(job, "CANCELLED").await;
        assert!(cancelled["attempts"][0]["startedAt"].is_null(), "{cancelled}");
        floor.free(0).await;
        let (order, _) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.started(0), 1, "the other job alone");
        floor.truth().await;
    }

    #[long]
    async fn story_08_a_job_that_is_being_sent_stays_with_its_printer(kind: PrinterKind) {
        let floor = Floor::new(kind, 2, FAST, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 10_000 }));
        let (order, jobs) = slow_uploads(&floor, 1).await;
        let job = jobs[0]["id"].as_str().unwrap();
        floor.attempt_is(job, "uploading").await;
        // Another printer is free, and a higher rank changes nothing.
        floor.app.patch(&format!("/api/jobs/{job}"), &json!({"priority": 9})).await.expect(200);
        floor.wait_for_poll(1).await;
        floor.faults(0, |faults| faults.slow_upload = None);
        floor.app.order_is(&order, "ready").await;
        assert_eq!((floor.started(0), floor.started(1)), (1, 0));
        assert_eq!(floor.count(1, uploaded), 0, "not half on two printers");
        floor.truth().await;
    }

    #[long]
    async fn story_09_nothing_is_printed_onto_a_bed_that_nobody_cleared(kind: PrinterKind) {
        let mut floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
        floor.app.job_is(&job, "CANCELLED").await;
        // It is remembered over a restart of either side.
        floor.app.kill_9();
        floor.app.start().await;
        reboot(&floor);
        let (next, waiting) = floor.one().await;
        let why = |job: &Value| job["waitingReason"].as_str().unwrap_or_default().contains("needs its bed cleared");
        floor.job_until("the next to wait for the bed", &waiting, why).await;
        assert_eq!(floor.started(0), 1);
        floor.clear_bed(0).await;
        floor.hurry(0);
        floor.app.order_is(&next, "ready").await;
        assert_eq!(floor.started(0), 2);
    }

    #[long]
    async fn story_10_a_slow_upload_is_waited_for_and_sent_once(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 120_000 }));
        let (order, _) = slow_uploads(&floor, 2).await;
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.count(0, uploaded), 2, "one for each job, one after the other");
        floor.truth().await;
    }

    #[long]
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
        assert!(words(&waits, "waitingReason").contains("PLA black loaded"), "{waits}");
        assert_eq!((floor.count(0, uploaded), floor.count(1, uploaded)), (0, 0));
        // The file prints with its first tool, which takes the second slot only where the start can say so.
        let material = json!({"materialId": floor.material});
        load(&floor, 1, 1, material.clone()).await;
        if !maps_slots(kind) {
            let needs = format!("PLA black in slot {}", slot_label(kind, 0));
            let why = |job: &Value| job["waitingReason"].as_str().unwrap_or_default().contains(&needs);
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

}
