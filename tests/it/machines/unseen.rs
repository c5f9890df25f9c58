//! Prints that start or end unobserved: the printer's history decides or, if it has none, a person. No part is printed
//! again automatically.

use printfloor::printers::adapter::Operation;
use serde_json::{Value, json};
use simulator::printer::PhysicalEvent;

use super::delays::HELD;
use super::{
    FAST, Floor, GRAMS, IMPATIENT, JUDGE_LATE, JUDGE_SOON, OWN, PrinterKind, SLOW, STILL, attempts, can, words,
};
use crate::api::NOTHING;
use crate::billing::pages::{send, token};
use crate::staff::{operator, print_on};

/// Print time, in seconds, so short that the print could have run between its start and the time at which it is
/// considered unconfirmed.
const SHORT_SECONDS: u64 = 1;

fn finished(what: &PhysicalEvent) -> bool {
    matches!(what, PhysicalEvent::Finished { filename } if filename != OWN)
}

/// Starts a print that continues while the network is cut. Returns the floor and the IDs of the order and the job.
async fn out_of_sight(kind: PrinterKind) -> (Floor, String, String) {
    let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE, IMPATIENT]).await;
    let (order, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    floor.faults(0, |faults| faults.disconnect = true);
    floor.connection_is(0, "unreachable").await;
    (floor, order, job)
}

/// Clears Klipper's display of the last print, as a person does. `OctoPrint` has no equivalent; there, another file is
/// selected.
fn clear(floor: &Floor, kind: PrinterKind) {
    floor.sim(0).handle.with(|machine| {
        if kind == PrinterKind::FwRest {
            machine.gcode("SDCARD_RESET_FILE").unwrap();
        }
    });
}

/// Restarts the printer's server. If that server is the printer itself, the print is lost. The printer is fast
/// afterwards.
fn restart(floor: &Floor, kind: PrinterKind, forget: bool) {
    floor.sim(0).handle.with(|machine| {
        machine.set_speed(FAST);
        if can(kind, Operation::History) {
            machine.restart_server(forget);
        } else {
            machine.reboot(forget);
        }
    });
}

fn unverified(job: &Value) -> bool {
    job["attempts"][0]["unverified"] == true
}

each_kind! {
    async fn a_print_that_ended_out_of_sight_is_completed_with_what_it_used(kind: PrinterKind) {
        let (floor, order, job) = out_of_sight(kind).await;
        floor.hurry(0);
        floor.physically("the part to be done", 0, finished).await;
        floor.own_print(0);
        floor.hurry(0);
        floor.physically("another print after it", 0, |what| matches!(what, PhysicalEvent::Finished { filename } if filename == OWN)).await;
        clear(&floor, kind);
        floor.faults(0, |faults| faults.disconnect = false);
        if !can(kind, Operation::History) {
            // Nothing is known of it any more, and the part may be there: a person tells with one word.
            let doubted = floor.job_until("its end to be doubted", &job, unverified).await;
            assert!(words(&doubted, "waitingReason").contains("printer no longer knows the file"), "{doubted}");
            assert!(words(&doubted, "waitingReason").contains("its end was not observed"), "{doubted}");
            floor.attention(0, "unverified", true).await;
            assert_eq!(floor.started(0), 2, "ours, and the person's own");
            let path = format!("/api/jobs/{job}/resolve");
            floor.app.post(&path, &json!({"outcome": "finished"})).await.expect(200);
        }
        floor.app.order_is(&order, "ready").await;
        let done = floor.job(&job).await;
        assert_eq!((done["state"].as_str(), attempts(&done)), (Some("COMPLETED"), vec!["finished"]), "{done}");
        assert!((floor.used().await - GRAMS).abs() < 0.001, "{} g used", floor.used().await);
    }

    async fn a_server_that_was_restarted_during_the_print_does_not_make_it_a_failure(kind: PrinterKind) {
        let (floor, order, job) = out_of_sight(kind).await;
        restart(&floor, kind, false);
        if kind != PrinterKind::FwRest {
            // The server itself feeds the printer: with it the print is lost, and the words say so.
            floor.faults(0, |faults| faults.disconnect = false);
            let failed = floor.app.job_is(&job, "FAILED").await;
            let error = words(&failed, "error");
            // One that tells no two runs of its server apart says what may have been.
            let restarted = if can(kind, Operation::History) {
                "the printer's server restarted during the print"
            } else {
                "the printer responded again without the print"
            };
            assert!(error.contains(restarted), "{failed}");
            assert_eq!(floor.started(0), 1, "not made again by itself");
            return;
        }
        floor.physically("the part to be done", 0, finished).await;
        clear(&floor, kind);
        floor.faults(0, |faults| faults.disconnect = false);
        let doubted = floor.job_until("its end to be doubted", &job, unverified).await;
        assert_eq!(doubted["state"], "PRINTING", "{doubted}");
        assert!(words(&doubted, "waitingReason").contains("how the print ended"), "{doubted}");
        floor.attention(0, "unverified", true).await;
        let path = format!("/api/jobs/{job}/resolve");
        assert_eq!(floor.app.post(&path, &json!({"outcome": "not_started"})).await.error(409), "invalid_transition");
        let resolved = floor.app.post(&path, &json!({"outcome": "finished"})).await.expect(200);
        assert_eq!(resolved["state"], "COMPLETED", "{resolved}");
        floor.app.order_is(&order, "ready").await;
        floor.attention(0, "bed_not_cleared", true).await;
        floor.truth().await;
    }

    #[drawn]
    async fn a_start_that_may_have_printed_unseen_is_not_made_again(kind: PrinterKind) {
        let floor = Floor::new(kind, 2, SLOW, &[JUDGE_SOON, IMPATIENT]).await;
        let file = floor.file("short", SHORT_SECONDS, GRAMS).await;
        let sku = floor.app.sku("SHORT", &floor.material, &file, 500).await;
        floor.faults(0, |faults| (faults.start_late, faults.disconnect_at_start) = (HELD, true));
        let order = floor.app.paid_order(&sku, 1).await;
        let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
        floor.start_arrived(0).await;
        floor.sim(0).handle.set_speed(STILL);
        floor.end_delays(0);
        floor.physically("the print to begin unseen", 0, |what| matches!(what, PhysicalEvent::Started { .. })).await;
        // The server is killed at that moment, so that its history has nothing.
        restart(&floor, kind, true);
        if kind == PrinterKind::FwRest {
            floor.physically("the part to be done unseen", 0, finished).await;
        }
        clear(&floor, kind);
        // It is out of sight at least until then.
        floor.job_until("the start to be doubted", &job, unverified).await;
        floor.faults(0, |faults| faults.disconnect = false);
        floor.connection_is(0, "connected").await;
        let doubt = if can(kind, Operation::History) { "restarted" } else { "long enough for the whole print" };
        let why = |job: &Value| job["attempts"][0]["reason"].as_str().is_some_and(|why| why.contains(doubt));
        let doubted = floor.job_until("a person to be asked", &job, why).await;
        assert!(unverified(&doubted) && doubted["state"] == "DISPATCHING", "{doubted}");
        assert!(words(&doubted, "waitingReason").contains("an operator must resolve it"), "{doubted}");
        floor.attention(0, "unverified", true).await;
        assert_eq!((floor.started(0), floor.started(1)), (1, 0), "the other printer does not make it again");
        let (outcome, state) = match kind {
            PrinterKind::FwRest => ("finished", "COMPLETED"),
            _ => ("failed", "FAILED"),
        };
        let path = format!("/api/jobs/{job}/resolve");
        let resolved = floor.app.post(&path, &json!({ "outcome": outcome })).await.expect(200);
        assert_eq!(resolved["state"], state, "{resolved}");
        floor.attention(0, "unverified", false).await;
        floor.truth().await;
    }

    #[drawn]
    async fn a_server_that_was_not_restarted_knows_that_nothing_was_printed(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_SOON, IMPATIENT]).await;
        let file = floor.file("short", SHORT_SECONDS, GRAMS).await;
        let sku = floor.app.sku("SHORT", &floor.material, &file, 500).await;
        floor.faults(0, |faults| (faults.accept_but_never_start, faults.disconnect_at_start) = (true, true));
        let order = floor.app.paid_order(&sku, 1).await;
        let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
        floor.start_arrived(0).await;
        floor.job_until("the start to be doubted", &job, unverified).await;
        floor.connection_is(0, "unreachable").await;
        floor.faults(0, |faults| (faults.disconnect, faults.accept_but_never_start) = (false, false));
        if !can(kind, Operation::History) {
            // It could have run, and nothing would tell of it: a person does.
            let why = |job: &Value| job["attempts"][0]["reason"].as_str().is_some_and(|why| why.contains("long enough"));
            floor.job_until("the reason of the doubt", &job, |job| unverified(job) && why(job)).await;
            let resolved = floor.app.post(&format!("/api/jobs/{job}/resolve"), &json!({"outcome": "not_started"})).await;
            assert_eq!(resolved.expect(200)["state"], "SLICED");
        }
        floor.job_until("the verdict", &job, |job| attempts(job)[0] == "not_started").await;
        floor.attention(0, "unverified", false).await;
        floor.end_rest(0).await;
        floor.app.order_is(&order, "ready").await;
        assert_eq!(attempts(&floor.job(&job).await), ["not_started", "finished"]);
        floor.truth().await;
    }
}

/// Lets a print end unobserved and its history be lost, by a person at the printer or by its server: the part may still
/// be on the bed. Returns the floor and the IDs of the order and the job.
async fn doubted_after(kind: PrinterKind, forget: impl FnOnce(&Floor, &str)) -> (Floor, String, String) {
    let (floor, order, job) = out_of_sight(kind).await;
    let ours = floor.sim(0).handle.with(|machine| machine.job().unwrap().filename.clone());
    floor.hurry(0);
    floor.physically("the part to be done", 0, finished).await;
    forget(&floor, &ours);
    floor.faults(0, |faults| faults.disconnect = false);
    let doubted = floor.job_until("its end to be doubted", &job, unverified).await;
    assert_eq!(doubted["state"], "PRINTING", "{doubted}");
    floor.attention(0, "unverified", true).await;
    (floor, order, job)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_that_a_person_emptied_does_not_make_a_print_a_failure() {
    let (floor, order, job) = doubted_after(PrinterKind::FwRest, |floor, _| {
        clear(floor, PrinterKind::FwRest);
        floor.sim(0).handle.with(simulator::printer::Machine::forget_history);
    })
    .await;
    // On the page the answer is one press, which says what it books.
    let sam = operator(&floor.app).await;
    let page = sam.get("/to-do").await;
    assert!(page.text.contains("Did the print succeed?") && page.text.contains("Mark as finished"), "{}", page.text);
    assert!(!page.text.contains("Mark as not started"), "it was seen: {}", page.text);
    let (path, own) = (format!("/shop/jobs/{job}/resolve"), token(&page));
    let form = [("form_token", &*own), ("back", "/to-do"), ("outcome", "finished")];
    let old = send(&sam, &path, &[&form[..], &[("print", NOTHING)]].concat()).await;
    assert_eq!(old.status, 409, "an answer about another attempt: {}", old.text);
    let print = print_on(&page, &path);
    let done = send(&sam, &path, &[&form[..], &[("print", &*print)]].concat()).await;
    assert_eq!(done.status, 200, "{}", done.text);
    floor.app.order_is(&order, "ready").await;
    assert!((floor.used().await - GRAMS).abs() < 0.001, "{} g used", floor.used().await);
    floor.truth().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_a_person_deleted_with_its_history_does_not_make_a_print_a_failure() {
    let (floor, order, job) = doubted_after(PrinterKind::ServerRest, |floor, ours| {
        floor.own_print(0);
        floor.sim(0).handle.with(|machine| machine.delete(ours)).unwrap();
    })
    .await;
    assert!(words(&floor.job(&job).await, "waitingReason").contains("how the print ended"));
    let path = format!("/api/jobs/{job}/resolve");
    let resolved = floor.app.post(&path, &json!({"outcome": "finished"})).await.expect(200);
    assert_eq!(resolved["state"], "COMPLETED", "{resolved}");
    floor.app.order_is(&order, "ready").await;
    assert!((floor.used().await - GRAMS).abs() < 0.001, "{} g used", floor.used().await);
}
