//! People's actions on the machine and on its own server in the middle of the shop's prints.

use serde_json::{Value, json};
use simulator::printer::{Machine, PhysicalEvent};

use super::{Env, FAST, Floor, JUDGE_LATE, KEEP_FILES, PrinterKind, SLOW, attempts, register, words};
use crate::support::{Db, until};

/// Setting that makes a printer offline after a few seconds without firmware.
const OFFLINE_SOON: (&str, &str) = ("PRINTFLOOR_PRINTERS__OFFLINE_SECONDS", "3");

/// Starts a slow print; returns the floor and the IDs of the order and the job.
async fn printing(kind: PrinterKind, env: Env<'_>) -> (Floor, String, String) {
    let floor = Floor::new(kind, 1, SLOW, env).await;
    let (order, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    (floor, order, job)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_serial_port_that_a_person_closes_in_mid_print_ends_it_as_its_server_remembers() {
    let (floor, _, job) = printing(PrinterKind::ServerRest, &[JUDGE_LATE, OFFLINE_SOON]).await;
    floor.sim(0).handle.with(Machine::disconnect);
    let failed = floor.app.job_is(&job, "FAILED").await;
    assert_eq!(attempts(&failed), ["failed"], "{failed}");
    assert!(words(&failed, "error").contains("lost the connection to its firmware"), "{failed}");
    floor.connection_is(0, "firmware_disconnected").await;
    floor.attention(0, "bed_not_cleared", true).await;
    floor.truth().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_serial_port_that_a_person_closes_without_a_trace_leaves_the_print_to_a_person() {
    let (floor, order, job) = printing(PrinterKind::ServerRest, &[JUDGE_LATE, OFFLINE_SOON]).await;
    floor.sim(0).handle.with(|machine| {
        machine.disconnect();
        machine.forget_history();
    });
    let unverified = |job: &Value| job["attempts"][0]["unverified"] == true;
    let doubted = floor.job_until("its end to be doubted", &job, unverified).await;
    assert!(words(&doubted, "waitingReason").contains("lost the connection to its firmware"), "{doubted}");
    floor.attention(0, "unverified", true).await;
    let resolved = floor.app.post(&format!("/api/jobs/{job}/resolve"), &json!({"outcome": "finished"})).await;
    assert_eq!(resolved.expect(200)["state"], "COMPLETED");
    floor.app.order_is(&order, "ready").await;
}

/// Prints the shop's file a second time: Klipper and OctoPrint identify a print by its file alone, so the second one
/// looks like the shop's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_who_prints_our_file_again_at_its_end_prints_their_own() {
    let kinds = [PrinterKind::FwRest, PrinterKind::ServerRest];
    for (kind, cancelled) in kinds.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let (floor, order, job) = printing(kind, &[JUDGE_LATE, KEEP_FILES]).await;
        let sim = &floor.sim(0).handle;
        let ours = sim.with(|machine| machine.job().unwrap().filename.clone());
        if cancelled {
            sim.with(Machine::cancel).unwrap();
        } else {
            sim.set_speed(60_000.0);
        }
        let over =
            |what: &PhysicalEvent| matches!(what, PhysicalEvent::Finished { .. } | PhysicalEvent::Cancelled { .. });
        while floor.count(0, over) == 0 {
            tokio::task::yield_now().await;
        }
        sim.set_speed(SLOW);
        sim.with(|machine| machine.start(&ours)).unwrap();
        if cancelled {
            let failed = floor.app.job_is(&job, "FAILED").await;
            // OctoPrint does not tell a print that failed from one that was cancelled there.
            let is_right = kind == PrinterKind::ServerRest || words(&failed, "error") == "cancelled at the printer";
            assert!(is_right, "{failed}");
        } else {
            floor.app.order_is(&order, "ready").await;
        }
        floor.attention(0, "foreign_print", true).await;
        assert_eq!((floor.started(0), floor.count(0, over)), (2, 1), "theirs goes on, and is not touched");
    }
}

/// Checks printers that keep no history of prints but number each one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_who_cancels_our_print_and_begins_it_again_prints_their_own() {
    for kind in [PrinterKind::PrusaLink, PrinterKind::Sdcp] {
        let (floor, _, job) = printing(kind, &[JUDGE_LATE]).await;
        let sim = &floor.sim(0).handle;
        // Between two looks, however fast they follow each other.
        let again = sim.with(|machine| {
            let ours = machine.job().unwrap().filename.clone();
            machine.cancel().and_then(|_| machine.start(&ours))
        });
        again.unwrap();
        let failed = floor.app.job_is(&job, "FAILED").await;
        assert!(words(&failed, "error").contains("someone printed its file again at the printer"), "{failed}");
        floor.attention(0, "foreign_print", true).await;
        let over =
            |what: &PhysicalEvent| matches!(what, PhysicalEvent::Finished { .. } | PhysicalEvent::Cancelled { .. });
        assert_eq!((floor.started(0), floor.count(0, over)), (2, 1), "theirs goes on, and is not touched");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_who_prints_our_file_again_where_nothing_is_remembered_is_asked_how_ours_ended() {
    for kind in [PrinterKind::PrusaLink, PrinterKind::Sdcp] {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let file = floor.file("short", 100, 10.0).await;
        let sku = floor.app.sku("SHORT", &floor.material, &file, 500).await;
        let order = floor.app.paid_order(&sku, 1).await;
        let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
        floor.app.job_is(&job, "PRINTING").await;
        floor.stands_at(0, 0.993);
        floor.status_until("its end to come near", 0, |status| status["progress"].as_f64() >= Some(99.0)).await;
        // Between two looks, however fast they follow each other. Theirs takes its time.
        let again = floor.sim(0).handle.with(|machine| {
            let ours = machine.job().unwrap().filename.clone();
            machine.set_speed(FAST);
            let end = machine.next_change().unwrap();
            machine.advance(end);
            machine.set_speed(0.1);
            machine.start(&ours)
        });
        again.unwrap();
        let unverified = |job: &Value| job["attempts"][0]["unverified"] == true;
        let doubted = floor.job_until("its end to be doubted", &job, unverified).await;
        assert!(words(&doubted, "waitingReason").contains("printed its file again"), "{doubted}");
        floor.attention(0, "unverified", true).await;
        // What is seen of theirs is not taken for ours.
        floor.wait_for_poll(0).await;
        assert!(unverified(&floor.job(&job).await));
        let resolved = floor.app.post(&format!("/api/jobs/{job}/resolve"), &json!({"outcome": "finished"})).await;
        assert_eq!(resolved.expect(200)["state"], "COMPLETED");
        floor.app.order_is(&order, "ready").await;
        floor.attention(0, "foreign_print", true).await;
        assert_eq!((floor.started(0), floor.finished(0)), (2, 1), "theirs goes on, and is not touched");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_moonraker_that_passes_for_an_octoprint_is_told_by_its_name_when_it_is_registered() {
    let mut floor = Floor::empty(Db::sqlite(), PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
    let sim = floor.sim(0);
    let body = json!({
        "name": "Left", "type": "server_rest", "machineType": "fdm_standard", "baseUrl": sim.base_url, "apiKey": sim.api_key,
    });
    let refused = floor.app.post("/api/printers", &body).await.expect(400);
    assert_eq!(refused["errors"][0]["path"], "type", "{refused}");
    let why = words(&refused["errors"][0], "message");
    assert!(why.contains("must be fw_rest") && why.contains("Moonraker"), "{refused}");
    // One that did not answer then is told when it does.
    floor.faults(0, |faults| faults.disconnect = true);
    let printer = register(&floor.app, floor.sim(0), json!({"type": "server_rest"})).await;
    floor.printers.push(printer);
    floor.faults(0, |faults| faults.disconnect = false);
    let names_the_type = |status: &Value| {
        let message = status["message"].as_str();
        message.is_some_and(|text| text.contains("must be fw_rest")) && status["connection"] == "unreachable"
    };
    let status = floor.status_until("the right type to be named", 0, names_the_type).await;
    assert_eq!(status["state"], "offline", "{status}");
    floor.app.patch(&floor.path(0, ""), &json!({"type": "fw_rest"})).await.expect(200);
    floor.connection_is(0, "connected").await;
    // Nor is it changed back, whatever else the change says.
    let refused = floor.app.patch(&floor.path(0, ""), &json!({"type": "server_rest", "name": "X"})).await.expect(400);
    let why = words(&refused["errors"][0], "message");
    assert!(refused["errors"][0]["path"] == "type" && why.contains("must be fw_rest"), "{refused}");
    let view = floor.app.get(&floor.path(0, "")).await.expect(200);
    assert!(view["type"] == "fw_rest" && view["name"] != "X", "{view}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_moonraker_that_passes_for_an_octoprint_is_told_by_its_name_when_a_printer_is_moved_to_it() {
    let floor = Floor::empty(Db::sqlite(), PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
    let nobody = json!({
        "name": "Left", "type": "server_rest", "machineType": "fdm_standard", "baseUrl": "http://127.0.0.1:9", "apiKey": "",
    });
    let printer = floor.app.post("/api/printers", &nobody).await.expect(201);
    let path = format!("/api/printers/{}", words(&printer, "id"));
    let sim = floor.sim(0);
    let moved = json!({"baseUrl": sim.base_url, "apiKey": sim.api_key});
    let refused = floor.app.patch(&path, &moved).await.expect(400);
    assert_eq!(refused["errors"][0]["path"], "type", "{refused}");
    let right = json!({"type": "fw_rest", "baseUrl": sim.base_url, "apiKey": sim.api_key});
    floor.app.patch(&path, &right).await.expect(200);
}

/// Checks `lastSeenAt` of a printer that responds; the printer's own actor records only the ends of outages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_printer_that_answers_was_seen_just_now() {
    let floor = Floor::new(PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
    let first = words(&floor.status(0).await, "lastSeenAt").to_owned();
    until("it to be seen later", || async {
        let current = words(&floor.status(0).await, "lastSeenAt").to_owned();
        (current > first).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_turns_wrong_in_mid_print_is_told_as_that() {
    let (floor, order, job) = printing(PrinterKind::FwRest, &[JUDGE_LATE]).await;
    floor.faults(0, |faults| faults.wrong_key = true);
    floor.connection_is(0, "wrong_key").await;
    let why = |job: &Value| job["waitingReason"].as_str().is_some_and(|why| why.contains("rejects the API key"));
    let waits = floor.job_until("the job to say why", &job, why).await;
    assert!(waits["state"] == "PRINTING" && !words(&waits, "waitingReason").contains("responded"), "{waits}");
    floor.faults(0, |faults| faults.wrong_key = false);
    floor.hurry(0);
    floor.app.order_is(&order, "ready").await;
}
