//! Printers that push changes: they are hardly polled, and their status is current all the same.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use printfloor::printers::adapter::Operation;
use serde_json::{Value, json};
use simulator::printer::PhysicalEvent;

use super::{FAST, Floor, JUDGE_LATE, PrinterKind, SLOW, can};
use crate::support::until;

/// Default poll interval; the tests use a shorter one.
const AS_SHIPPED: (&str, &str) = ("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "2");

/// Poll interval at which a printer without push would be polled ten times in [`WATCHED_MS`].
const EACH_HALF_SECOND: (&str, &str) = ("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "0.5");
/// Period during which requests are counted, in milliseconds.
const WATCHED_MS: i64 = 5_000;

/// Period in which a printer without push would be polled four times.
const QUIET: Duration = Duration::from_secs(2);

/// Poll interval at which a printer in use is polled at least three times in [`QUIET_AT_REST`].
const EACH_FIFTH_SECOND: (&str, &str) = ("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "0.2");
/// Period in which a printer that has been idle for a few seconds receives no request.
const QUIET_AT_REST: Duration = Duration::from_millis(700);

/// Poll interval that exceeds the duration of the test.
const HARDLY_EVER: (&str, &str) = ("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "600");

/// Maximum age of the displayed heater temperatures: pushes arrive every second, polls every other second.
const OLDEST: Duration = Duration::from_secs(4);
/// Period for which the nozzle warms up, at a few °C per second: twice as long as readings may be old.
const WARMING: Duration = Duration::from_secs(8);
/// Maximum difference between two readings of the same sensor, in °C.
const NOISE: f64 = 1.0;

/// Returns the time at which a status was read, in milliseconds.
fn read_at(status: &Value) -> i64 {
    let text = status["updatedAt"].as_str().unwrap();
    text.parse::<printfloor::domain::time::Timestamp>().unwrap().0
}

/// Waits until the printer has received no requests for longer than the poll interval of [`EACH_HALF_SECOND`], which
/// means that its push connection is open.
async fn push_is_open(floor: &Floor) {
    asked_nothing_for(floor, QUIET).await;
}

/// Waits until the printer has received no requests for the duration `quiet`.
async fn asked_nothing_for(floor: &Floor, quiet: Duration) {
    let request_count = || floor.sim(0).handle.requests();
    let last = Cell::new((request_count(), Instant::now()));
    until("the printer to be left alone", || async {
        let (before, since) = last.get();
        let now = request_count();
        if now != before {
            last.set((now, Instant::now()));
        }
        (now == before && since.elapsed() > quiet).then_some(())
    })
    .await;
}

each_kind! {
    async fn a_printer_that_pushes_is_hardly_asked_and_shown_as_it_is(kind: PrinterKind) {
        if kind == PrinterKind::PrusaLink {
            return; // it has no push
        }
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE, EACH_HALF_SECOND]).await;
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        // Some tell whole percents: one more is to be seen in the time.
        let speed = match kind {
            PrinterKind::MqttLan => 10.0,
            PrinterKind::Sdcp => 3.0,
            _ => SLOW,
        };
        floor.sim(0).handle.set_speed(speed);
        push_is_open(&floor).await;
        let first = floor.status_until("some progress", 0, |s| s["progress"].as_f64().unwrap() > 0.0).await;
        let before = floor.sim(0).handle.requests();
        let last = floor.status_until("the time to be over", 0, |s| read_at(s) > read_at(&first) + WATCHED_MS).await;
        let requests = floor.sim(0).handle.requests() - before;
        assert!(requests <= 4, "{requests} requests in {WATCHED_MS} ms");
        assert!(last["progress"].as_f64() > first["progress"].as_f64(), "{first} then {last}");
        assert_ne!(last["temperatures"], first["temperatures"], "heaters warm up");
        // A change of state is seen at once, not at the next look.
        floor.hurry(0);
        floor.app.job_is(&job, "COMPLETED").await;
    }

    async fn the_end_of_a_print_is_seen_before_the_next_poll_and_the_next_part_begins(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE, HARDLY_EVER]).await;
        // The printer says that no more than a minute is left.
        let file = floor.file("short", 60, 10.0).await;
        let sku = floor.app.sku("SHORT", &floor.material, &file, 500).await;
        let order = floor.app.paid_order(&sku, 2).await;
        floor.physically("the first part to begin", 0, |what| matches!(what, PhysicalEvent::Started { .. })).await;
        floor.status_until("the print to be seen", 0, |status| status["state"] == "printing").await;
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        assert_eq!((floor.started(0), floor.finished(0)), (2, 2));
    }

    async fn heaters_are_shown_as_they_are_now_while_they_change(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE, AS_SHIPPED]).await;
        let gcode = async |line: &str| floor.app.post(&floor.path(0, "/gcode"), &json!({"commands": [line]})).await;
        let nozzle = || floor.sim(0).handle.with(|machine| machine.temperatures().nozzle);
        let cold = nozzle();
        if can(kind, Operation::RunGcode) {
            gcode("M104 S250").await.expect(200);
        } else {
            floor.one().await;
        }
        // What it was at each moment, and how old what is shown was at most.
        let (was, oldest) = (RefCell::new(vec![(Instant::now(), cold)]), Cell::new(Duration::ZERO));
        until("the nozzle to warm up for a while", || async {
            let now = Instant::now();
            was.borrow_mut().push((now, nozzle()));
            let status = floor.app.get(&floor.path(0, "/status")).await.expect(200);
            let reading = status["temperatures"]["nozzle"].as_f64().unwrap();
            // Sensors are a little noisy. What happened between two looks is not held against the server.
            let was = was.borrow();
            let warmer = was.iter().rev().take_while(|(_, actual)| *actual > reading + NOISE).last();
            oldest.set(oldest.get().max(warmer.map_or(Duration::ZERO, |(then, _)| now - *then)));
            let warm = was.iter().find(|(_, actual)| *actual > cold + NOISE);
            let warming = warm.map_or(Duration::ZERO, |(since, _)| now - *since);
            (warming > WARMING).then_some(())
        })
        .await;
        let oldest = oldest.get();
        assert!(oldest < OLDEST, "{oldest:?} old");
        // Who asks the printer hears what it measures now.
        if can(kind, Operation::RunGcode) && kind != PrinterKind::MqttLan {
            let (before, temperature) = until("the temperatures to be told", || async {
                let before = nozzle();
                let answer = gcode("M105").await.expect(200);
                let lines = answer["console"].as_array().unwrap().iter().filter_map(Value::as_str);
                let line = lines.into_iter().find_map(|line| line.strip_prefix("T:").map(str::to_owned))?;
                Some((before, line.split(' ').next()?.parse::<f64>().ok()?))
            })
            .await;
            let after = nozzle();
            let near = temperature > before - 15.0 && temperature < after + 15.0;
            assert!(near, "{temperature} of {before} to {after}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_printer_without_a_push_is_asked_seldom_while_nothing_prints_and_prints_at_once_all_the_same() {
    let floor = Floor::new(PrinterKind::PrusaLink, 1, FAST, &[JUDGE_LATE, EACH_FIFTH_SECOND]).await;
    asked_nothing_for(&floor, QUIET_AT_REST).await;
    let (order, _) = floor.one().await;
    floor.app.order_is(&order, "ready").await;
    floor.truth().await;
}
