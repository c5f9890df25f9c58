//! The wall clock set an hour forward or back in the middle of everything: nothing stalls, no timeout fires early, and
//! nothing is printed twice. The monotonic clock is unaffected.

use futures::future::join_all;
use serde_json::{Value, json};
use simulator::printer::PhysicalEvent;
use simulator::sink::{Sink, SinkMode};

use super::delays::HELD;
use super::{FAST, Floor, IMPATIENT, JUDGE_LATE, JUDGE_SOON, OWN, PrinterKind, SLOW, attempts};
use crate::support::clock::HOUR;
use crate::support::waiting::LONG;
use crate::support::{Clock, until};

/// Steps of the clock, in milliseconds, each with its own server and printers.
const STEPS: [i64; 2] = [HOUR, -HOUR];

each_kind! {
    #[drawn]
    async fn a_step_in_mid_print_is_not_noticed(kind: PrinterKind) {
        let both = STEPS.map(|step| async move {
            let clock = Clock::new();
            let mut floor = Floor::at(&clock, kind, 1, SLOW, &[JUDGE_LATE]).await;
            let (order, job) = floor.one().await;
            floor.app.job_is(&job, "PRINTING").await;
            clock.set(step);
            floor.wait_for_poll(0).await;
            assert_eq!(floor.job(&job).await["state"], "PRINTING");
            // What the printer shows is followed: by the order of the looks, not by the clock.
            for (state, act) in [("PAUSED", "pause"), ("PRINTING", "resume")] {
                floor.app.act(&format!("/api/jobs/{job}/{act}")).await.expect(200);
                floor.app.job_is(&job, state).await;
            }
            // Back again, and a start of the server in the middle.
            clock.set(0);
            floor.app.kill_9();
            floor.app.start().await;
            floor.wait_for_poll(0).await;
            clock.set(-step);
            floor.hurry(0);
            floor.app.order_is(&order, "ready").await;
            let (next, _) = floor.one().await;
            floor.app.order_is(&next, "ready").await;
            assert!(floor.events("printer.offline").await.is_empty(), "nobody took it for lost");
            assert_eq!(attempts(&floor.job(&job).await), ["finished"]);
            floor.truth().await;
        });
        join_all(both).await;
    }

    #[drawn]
    async fn a_start_is_judged_after_its_own_time_whatever_the_clock_says(kind: PrinterKind) {
        let both = STEPS.map(|step| async move {
            let clock = Clock::new();
            let floor = Floor::at(&clock, kind, 1, FAST, &[JUDGE_SOON]).await;
            floor.faults(0, |faults| faults.accept_but_never_start = true);
            let (order, job) = floor.one().await;
            floor.attempt_is(&job, "start_sent").await;
            clock.set(step);
            // Set back, the moment of the verdict seems an hour away.
            floor.job_until("the verdict", &job, |job| attempts(job)[0] == "not_started").await;
            // The printer rests after it; that is not prolonged either.
            clock.set(2 * step);
            floor.faults(0, |faults| faults.accept_but_never_start = false);
            floor.app.order_is(&order, "ready").await;
            floor.truth().await;
        });
        join_all(both).await;
    }

    #[drawn]
    async fn a_start_on_its_way_is_not_judged_early(kind: PrinterKind) {
        let both = STEPS.map(|step| async move {
            let clock = Clock::new();
            let mut floor = Floor::at(&clock, kind, 2, SLOW, &[JUDGE_LATE]).await;
            floor.faults(0, |faults| faults.start_late = HELD);
            let (order, job) = floor.one().await;
            // A start is recorded before it is sent. The record is not asked for: it may be confirmed by then.
            floor.start_arrived(0).await;
            clock.set(step);
            if step < 0 {
                // A server that starts in what seems to be the past of its own records.
                floor.app.kill_9();
                floor.app.start().await;
            }
            floor.end_delays(0);
            floor.app.job_is(&job, "PRINTING").await;
            floor.hurry(0);
            floor.app.order_is(&order, "ready").await;
            assert_eq!(attempts(&floor.job(&job).await), ["finished"], "step {step}");
            assert_eq!((floor.started(0), floor.started(1)), (1, 0));
            floor.truth().await;
        });
        join_all(both).await;
    }

    #[drawn]
    async fn a_cancel_that_waits_over_a_step_ends_our_print_only(kind: PrinterKind) {
        let both = STEPS.map(|step| async move {
            let clock = Clock::new();
            let floor = Floor::at(&clock, kind, 1, SLOW, &[JUDGE_LATE, IMPATIENT]).await;
            let (_, job) = floor.one().await;
            floor.app.job_is(&job, "PRINTING").await;
            floor.faults(0, |faults| faults.disconnect = true);
            floor.connection_is(0, "unreachable").await;
            floor.app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
            clock.set(step);
            floor.faults(0, |faults| faults.disconnect = false);
            floor.app.job_is(&job, "CANCELLED").await;
            floor.clear_bed(0).await;
            floor.own_print(0);
            floor.attention(0, "foreign_print", true).await;
            floor.hurry(0);
            let own = |what: &PhysicalEvent| matches!(what, PhysicalEvent::Finished { filename } if filename == OWN);
            floor.physically("the person's print to be done", 0, own).await;
        });
        join_all(both).await;
    }
}

/// Retries a delivery to a receiver that fails twice before it accepts the event, with a clock that jumps by this step.
async fn retried(step: i64, restart: bool) {
    let clock = Clock::new();
    let schedule = ("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", "[2, 2, 2, 2]");
    let mut floor = Floor::at(&clock, PrinterKind::FwRest, 0, FAST, &[schedule]).await;
    let sink = Sink::start().await.unwrap();
    sink.set_mode(SinkMode::FailFirst(2));
    let endpoint = json!({"url": sink.url(), "events": ["order.created"], "secret": "a-secret-of-the-test-0123456789"});
    let endpoint = floor.app.post("/api/webhooks/endpoints", &endpoint).await.expect(201)["id"].clone();
    let log = format!("/api/webhooks/endpoints/{}/deliveries", endpoint.as_str().unwrap());
    floor.app.order(&floor.sku, 1).await;
    sink.wait_until(|all| !all.is_empty(), LONG).await.expect("the first try");
    clock.set(step);
    if restart {
        // The next try is an hour away by what is stored.
        floor.app.kill_9();
        floor.app.start().await;
    }
    sink.wait_until(|all| all.len() >= 3, LONG).await.expect("both retries");
    let delivered = |delivery: &Value| delivery["state"] == "delivered";
    until("the delivery to be over", || async {
        let all = floor.app.get(&log).await.expect(200);
        all["deliveries"].as_array()?.iter().all(delivered).then_some(())
    })
    .await;
    let ids: std::collections::BTreeSet<_> =
        sink.received().iter().map(|got| got.header("webhook-id").unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 1, "one event");
    // What comes after it is sent at once.
    let before = sink.received().len();
    floor.app.order(&floor.sku, 1).await;
    sink.wait_until(|all| all.len() > before, LONG).await.expect("the next event");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retries_keep_their_schedule_over_a_step_back() {
    retried(-HOUR, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retries_keep_their_schedule_over_a_step_back_and_a_kill() {
    retried(-HOUR, true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retries_keep_their_schedule_over_a_step_forward() {
    retried(HOUR, false).await;
}
