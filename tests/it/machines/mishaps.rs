//! Firmware that shuts down, and printer servers that lose their printer: nothing happens without a person.

use printfloor::printers::adapter::Operation;
use serde_json::{Value, json};
use simulator::faults::HostDisconnect;
use simulator::printer::{Controller, PhysicalEvent};

use super::{Floor, JUDGE_LATE, PrinterKind, SLOW, can, supported, words};

/// Returns whether the connection between the printer's own server and its firmware is closed.
fn closed(floor: &Floor) -> bool {
    floor.sim(0).handle.with(|machine| *machine.controller() == Controller::Closed)
}

/// Restores the firmware after a fault, as a person does on a printer of this type.
async fn recovered(floor: &Floor, kind: PrinterKind) {
    floor.sim(0).handle.set_speed(50.0);
    match kind {
        PrinterKind::ServerRest => {
            floor.app.act(&floor.path(0, "/connect")).await.expect(200);
        }
        _ => floor.sim(0).handle.with(simulator::printer::Machine::restart).unwrap(),
    }
    floor.status_until("the firmware to be ready", 0, |s| s["state"] == "idle" && s["connection"] == "connected").await;
}

each_kind! {
    async fn a_print_that_ended_in_a_firmware_fault_is_never_followed_by_another_by_itself(kind: PrinterKind) {
        // The printer clears its bed by itself, which holds for finished prints only.
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let order = floor.order(2).await;
        let first = crate::support::until("one to print", || async {
            floor.app.jobs(&order).await.into_iter().find(|job| job["state"] == "PRINTING")
        }).await;
        let first = first["id"].as_str().unwrap();
        let jobs = floor.app.jobs(&order).await;
        let second = jobs.iter().find_map(|job| job["id"].as_str().filter(|id| *id != first)).unwrap();
        floor.faults(0, |faults| faults.firmware_shutdown = true);
        let failed = floor.app.job_is(first, "FAILED").await;
        // Some say it with a number.
        let error = match kind {
            PrinterKind::Sdcp => "error 19",
            PrinterKind::MqttLan => "HMS 0300-0100-0001-0001",
            _ => "Timer too close",
        };
        assert!(words(&failed, "error").contains(error), "the printer's own words: {failed}");
        for attention in ["firmware_error", "needs_home", "bed_not_cleared", "print_failed"] {
            floor.attention(0, attention, true).await;
        }
        let status = floor.status_until("the printer to say so", 0, |status| status["state"] == "error").await;
        assert!(words(&status, "attentionReason").contains(error), "{status}");
        let events = floor.events("printer.firmware_error").await;
        assert_eq!(events.len(), 1, "{events:?}");
        assert!(words(&events[0]["data"], "error").contains(error), "{events:?}");
        assert_eq!(floor.app.act(&floor.path(0, "/clear-attention")).await.error(409), "printer_in_error");

        floor.free(0).await;
        floor.faults(0, |faults| faults.firmware_shutdown = false);
        floor.wait_for_poll(0).await;
        assert_eq!(floor.count(0, |what| matches!(what, PhysicalEvent::Restarted)), 0, "nobody brings it back by itself");
        recovered(&floor, kind).await;
        let waits = |what: &'static str| {
            let why = move |job: &Value| job["waitingReason"].as_str().unwrap_or_default().contains(what);
            floor.job_until(what, second, why)
        };
        waits("is on hold after a firmware error").await;
        supported(can(kind, Operation::Home), floor.app.act(&floor.path(0, "/home")).await);
        floor.clear_bed(0).await;
        floor.attention(0, "needs_home", false).await;
        waits("is on hold after a firmware error").await;
        assert_eq!(floor.started(0), 1, "nothing yet");
        floor.hurry(0);
        floor.app.act(&floor.path(0, "/clear-attention")).await.expect(200);
        floor.app.job_is(second, "COMPLETED").await;
        floor.app.act(&format!("/api/jobs/{first}/retry")).await.expect(200);
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.started(0), 3);
        floor.truth().await;
    }

    #[drawn]
    async fn a_fault_without_a_job_is_an_attention_and_an_event(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.firmware_shutdown = true);
        floor.attention(0, "firmware_error", true).await;
        floor.attention(0, "needs_home", true).await;
        floor.wait_for_poll(0).await;
        assert_eq!(floor.events("printer.firmware_error").await.len(), 1, "told once");
    }

    #[drawn]
    async fn a_print_that_was_cancelled_leaves_the_bed_to_a_person(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
        floor.app.job_is(&job, "CANCELLED").await;
        let (next, waiting) = floor.one().await;
        let why = |job: &Value| job["waitingReason"].as_str().unwrap_or_default().contains("needs its bed cleared");
        floor.job_until("the next to wait for the bed", &waiting, why).await;
        floor.clear_bed(0).await;
        floor.hurry(0);
        floor.app.order_is(&next, "ready").await;
        floor.attention(0, "bed_not_cleared", false).await;
        floor.truth().await;
    }

    async fn a_host_that_loses_its_printer_loses_the_print(kind: PrinterKind) {
        if kind == PrinterKind::Sdcp {
            return; // host and firmware are one program
        }
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.sim(0).handle.set_speed(50.0);
        floor.faults(0, |faults| faults.away = Some(HostDisconnect::Disconnected));
        floor.connection_is(0, "firmware_disconnected").await;
        floor.faults(0, |faults| faults.away = None);
        floor.app.job_is(&job, "FAILED").await;
        if kind == PrinterKind::ServerRest {
            // The serial port was closed on an error: a person opens it and says that the printer is well.
            floor.wait_for_poll(0).await;
            assert!(closed(&floor), "not opened by itself");
            floor.app.act(&floor.path(0, "/connect")).await.expect(200);
            floor.connection_is(0, "connected").await;
            floor.app.act(&floor.path(0, "/clear-attention")).await.expect(200);
            floor.app.act(&floor.path(0, "/home")).await.expect(200);
        }
        floor.connection_is(0, "connected").await;
        floor.clear_bed(0).await;
        floor.app.act(&format!("/api/jobs/{job}/retry")).await.expect(200);
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        floor.truth().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_a_person_closed_by_hand_is_opened_by_a_person() {
    let floor = Floor::new(PrinterKind::ServerRest, 1, SLOW, &[JUDGE_LATE]).await;
    floor.sim(0).handle.with(simulator::printer::Machine::disconnect);
    floor.connection_is(0, "firmware_disconnected").await;
    floor.wait_for_poll(0).await;
    assert!(closed(&floor), "not opened by itself");
    assert_eq!(floor.events("printer.firmware_error").await.len(), 0, "closed on purpose");
    let lines = json!({"commands": ["G28"]});
    assert_eq!(floor.app.post(&floor.path(0, "/gcode"), &lines).await.error(504), "printer_timeout", "nothing is sent");
    assert_eq!(floor.app.act(&floor.path(0, "/home")).await.error(504), "printer_timeout");
    floor.sim(0).handle.set_speed(50.0);
    floor.app.act(&floor.path(0, "/connect")).await.expect(200);
    floor.connection_is(0, "connected").await;
}
