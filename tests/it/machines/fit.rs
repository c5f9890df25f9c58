//! Selection of a printer for a job, and the reasons why no printer takes a job.

use serde_json::{Value, json};
use simulator::faults::SlowUpload;

use super::{FAST, Floor, JUDGE_LATE, OWN, PrinterKind, SLOW, elsewhere, register, words};
use crate::support::{Db, until};

each_kind! {
    #[drawn]
    async fn the_bed_is_cleared_by_hand_unless_it_clears_itself(kind: PrinterKind) {
        let mut floor = Floor::empty(Db::sqlite(), kind, 1, FAST, &[JUDGE_LATE]).await;
        let printer = register(&floor.app, floor.sim(0), json!({"autoClear": false})).await;
        floor.printers.push(printer);
        floor.connection_is(0, "connected").await;
        let (first, _) = floor.one().await;
        floor.app.order_is(&first, "ready").await;
        floor.attention(0, "bed_not_cleared", true).await;
        floor.free(0).await;
        let (second, job) = floor.one().await;
        let waits = floor.app.job_is(&job, "SLICED").await;
        assert!(words(&waits, "waitingReason").contains("needs its bed cleared"), "{waits}");
        let cause = &waits["waitingCauses"][0];
        let expected = (&json!("bed_not_cleared"), &json!([floor.printers[0]]), &json!(1));
        assert_eq!((&cause["code"], &cause["printerIds"], &cause["printerCount"]), expected, "{waits}");
        assert_eq!(floor.started(0), 1);
        floor.app.act(&floor.path(0, "/bed-cleared")).await.expect(200);
        floor.app.order_is(&second, "ready").await;
        floor.truth().await;
    }

    #[drawn]
    async fn a_printer_in_maintenance_takes_nothing(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        let on = json!({"on": true, "note": "new nozzle"});
        let printer = floor.app.post(&floor.path(0, "/maintenance"), &on).await.expect(200);
        assert_eq!(printer["maintenance"], "new nozzle", "{printer}");
        floor.attention(0, "maintenance", true).await;
        let (order, job) = floor.one().await;
        let waits = floor.app.job_is(&job, "SLICED").await;
        assert!(words(&waits, "waitingReason").contains("is out of service"), "{waits}");
        let print = floor.app.post(&floor.path(0, "/print"), &json!({"filename": "x.gcode"})).await;
        assert_eq!(print.error(409), "printer_busy");
        floor.app.post(&floor.path(0, "/maintenance"), &json!({"on": false})).await.expect(200);
        floor.app.order_is(&order, "ready").await;
        floor.truth().await;
    }

    #[drawn]
    async fn machine_type_size_and_loaded_material_are_respected(kind: PrinterKind, db: Db) {
        let mut floor = Floor::empty(db, kind, 5, FAST, &[JUDGE_LATE]).await;
        let app = &floor.app;
        let other = app.material("PETG white", 1000.0).await;
        let kinds = [
            json!({"machineType": "fdm_large"}),
            json!({"buildVolume": {"x": 100, "y": 220, "z": 250}}),
            json!({"loadedMaterialId": other}),
            json!({}),
            json!({"loadedMaterialId": floor.material}),
        ];
        let mut printers = Vec::new();
        for (n, fields) in kinds.iter().enumerate() {
            let printer = register(app, floor.sim(n), fields.clone()).await;
            app.connected(&printer).await;
            printers.push(printer);
        }
        floor.printers = printers;
        for n in 0..5 {
            floor.recorded(n).await;
        }
        let size = json!({"dimensions": {"x": 150, "y": 10, "z": 10}});
        floor.app.patch(&format!("/api/skus/{}", floor.sku), &size).await.expect(200);
        let order = floor.order(3).await;
        floor.app.order_is(&order, "ready").await;
        let started: Vec<usize> = (0..5).map(|n| floor.started(n)).collect();
        assert_eq!(&started[..3], [0, 0, 0], "another machine, too small, loaded with another material");
        assert_eq!(started[3] + started[4], 3, "{started:?}");
        assert!(started[4] >= 1, "the one with the material loaded is preferred: {started:?}");
        floor.truth().await;
        // One at a time: always the one that has it loaded.
        for _ in 0..2 {
            let before = floor.started(4);
            floor.status_until("the preferred one to be free", 4, |s| s["state"] == "idle" && s["jobId"].is_null()).await;
            // Its own rules may be a look behind what is shown.
            floor.wait_for_poll(4).await;
            let (order, _) = floor.one().await;
            floor.app.order_is(&order, "ready").await;
            assert_eq!(floor.started(4), before + 1);
        }
        let nothing = json!({"machineType": "resin_large"});
        floor.app.patch(&format!("/api/skus/{}", floor.sku), &nothing).await.expect(200);
        let (_, job) = floor.one().await;
        let waits = floor.app.job_is(&job, "SLICED").await;
        assert_eq!(words(&waits, "waitingReason"), "No large resin printer has been added.");
    }

    async fn a_print_that_someone_began_there_is_shown_and_left_alone(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let sim = &floor.sim(0).handle;
        sim.put_file("vase.gcode", simulator::gcode::gcode("vase", 600, 1.0, 300.0));
        sim.with(|machine| machine.start("vase.gcode")).unwrap();
        floor.attention(0, "foreign_print", true).await;
        let status = floor.status(0).await;
        assert_eq!((&status["state"], &status["file"]), (&json!("printing"), &json!("vase.gcode")), "{status}");
        let (order, job) = floor.one().await;
        let waits = floor.app.job_is(&job, "SLICED").await;
        assert!(words(&waits, "waitingReason").contains("is printing something else"), "{waits}");
        assert_eq!(floor.app.act(&floor.path(0, "/home")).await.error(409), "printing");
        assert_eq!(floor.app.act(&floor.path(0, "/restart-firmware")).await.error(409), "printer_busy");
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        floor.attention(0, "foreign_print", false).await;
        assert_eq!((floor.started(0), floor.finished(0)), (2, 2), "both, to their ends");
    }

    async fn a_print_that_somebody_begins_during_the_upload_is_not_disturbed(kind: PrinterKind) {
        // Of a printer that pushes nothing, nobody would know before the start.
        let seldom = ("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "30");
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE, seldom]).await;
        let file = floor.big_file("big", 200_000).await;
        let sku = floor.app.sku("BIG", &floor.material, file["id"].as_str().unwrap(), 900).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 60_000 }));
        let order = floor.app.paid_order(&sku, 1).await;
        let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
        let sim = &floor.sim(0).handle;
        until("the upload to be under way", || async { (sim.uploads_begun() == 1).then_some(()) }).await;
        sim.put_file(OWN, simulator::gcode::gcode("vase", 600, 1.0, 300.0));
        sim.with(|machine| machine.start(OWN)).unwrap();
        // The rest need not last.
        floor.faults(0, |faults| faults.slow_upload = None);
        let given_back = |job: &Value| job["attempts"][0]["endedAt"].is_string();
        let back = floor.job_until("the attempt to be given back", &job, given_back).await;
        let why = words(&back["attempts"][0], "reason");
        assert!(why.contains("printing something else") || why.contains("in use by a print"), "{back}");
        assert_eq!((floor.started(0), sim.starts_of(OWN)), (1, 1), "the person's print alone");
    }

    #[drawn]
    async fn a_printer_with_a_job_in_hand_is_not_moved_deleted_or_disconnected(kind: PrinterKind) {
        let floor = Floor::new(kind, 2, SLOW, &[JUDGE_LATE]).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        let here = floor.path(0, "");
        assert_eq!(floor.app.delete(&here).await.error(409), "printer_busy");
        assert_eq!(floor.app.patch(&here, &json!({"baseUrl": elsewhere(kind)})).await.error(409), "printer_busy");
        let other = if kind == PrinterKind::FwRest { "server_rest" } else { "fw_rest" };
        let retyped = json!({"type": other, "baseUrl": "http://127.0.0.1:9"});
        assert_eq!(floor.app.patch(&here, &retyped).await.error(409), "printer_busy");
        assert_eq!(floor.app.act(&floor.path(0, "/disconnect")).await.error(409), "printer_busy");
        assert_eq!(floor.app.patch(&here, &json!({"name": "The slow one"})).await.expect(200)["name"], "The slow one");
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        floor.status_until("it to be free", 0, |status| status["jobId"].is_null()).await;
        floor.app.delete(&here).await.expect(204);
        assert_eq!(floor.app.get(&here).await.error(404), "printer_not_found");
        let job = floor.job(&job).await;
        assert_eq!(job["printerId"], floor.printers[0], "history stays");
        floor.hurry(1);
        let (next, _) = floor.one().await;
        floor.app.order_is(&next, "ready").await;
        assert_eq!(floor.started(1), 1);
        floor.truth().await;
    }

    #[drawn]
    async fn a_disconnected_printer_is_left_alone_until_it_is_connected(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        floor.app.act(&floor.path(0, "/disconnect")).await.expect(200);
        floor.connection_is(0, "disconnected").await;
        assert_eq!(floor.events("printer.offline").await.len(), 0, "on purpose");
        let (order, job) = floor.one().await;
        let waits = floor.app.job_is(&job, "SLICED").await;
        assert!(words(&waits, "waitingReason").contains("is disconnected"), "{waits}");
        assert_eq!(floor.app.act(&floor.path(0, "/pause")).await.error(409), "printer_disconnected");
        floor.app.act(&floor.path(0, "/connect")).await.expect(200);
        floor.app.order_is(&order, "ready").await;
        floor.truth().await;
    }
}
