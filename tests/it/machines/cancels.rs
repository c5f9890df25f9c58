//! Cancellations that wait for a printer: they cancel the shop's print exactly once, and never another one.

use printfloor::printers::adapter::Operation;
use serde_json::{Value, json};
use simulator::faults::Delay;
use simulator::printer::PhysicalEvent;

use super::{FAST, Floor, IMPATIENT, JUDGE_LATE, OWN, PrinterKind, SLOW, can, words};
use crate::store::takeover::{END_SESSIONS, signal};
use crate::support::{App, Db, until};

fn cancelled(what: &PhysicalEvent) -> bool {
    matches!(what, PhysicalEvent::Cancelled { .. })
}

/// Cancels a print while the network is cut; meanwhile the print finishes, and a person starts one of their own.
/// Returns the floor and the ID of the job.
async fn waiting_cancel(kind: PrinterKind) -> (Floor, String) {
    waiting_cancel_on(Db::sqlite(), kind).await
}

async fn waiting_cancel_on(db: Db, kind: PrinterKind) -> (Floor, String) {
    let floor = Floor::on(db, kind, 1, SLOW, &[JUDGE_LATE, IMPATIENT]).await;
    let (_, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    floor.faults(0, |faults| faults.disconnect = true);
    floor.connection_is(0, "unreachable").await;
    let waits = floor.app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
    assert!(waits["cancelRequestedAt"].is_string(), "{waits}");
    let silent = |job: &Value| {
        job["waitingReason"].as_str().is_some_and(|why| why.contains("confirm") && why.contains("not responded since"))
    };
    floor.job_until("the job to say whom it waits for", &job, silent).await;
    floor.hurry(0);
    floor.physically("the part to be done", 0, |what| matches!(what, PhysicalEvent::Finished { .. })).await;
    floor.own_print(0);
    (floor, job)
}

/// Checks that the job has ended and that the person's print was not touched.
async fn left_alone(floor: &Floor, kind: PrinterKind, job: &str) {
    floor.faults(0, |faults| faults.disconnect = false);
    if can(kind, Operation::History) {
        // The part was done before the cancel could be: completion wins.
        let done = floor.app.job_is(job, "COMPLETED").await;
        assert!(done["cancelRequestedAt"].is_null(), "{done}");
    } else {
        // Nothing tells of it any more.
        let over = |job: &Value| matches!(words(job, "state"), "CANCELLED" | "FAILED");
        floor.job_until("the job to be over", job, over).await;
    }
    floor.free(0).await;
    floor.attention(0, "foreign_print", true).await;
    own_print_goes_on(floor).await;
}

/// Checks that no cancellation was sent to the printer and that the person's print finishes.
async fn own_print_goes_on(floor: &Floor) {
    assert_eq!(floor.count(0, cancelled), 0, "a person's print goes on");
    assert_eq!(floor.sim(0).handle.with(|machine| machine.cancels()), 0, "no cancel was even sent");
    floor.sim(0).handle.set_speed(FAST);
    let own = |what: &PhysicalEvent| matches!(what, PhysicalEvent::Finished { filename } if filename == OWN);
    floor.physically("the person's print to be done", 0, own).await;
}

each_kind! {
    #[drawn]
    async fn a_persons_own_print_survives_a_cancel_that_waited(kind: PrinterKind) {
        let (floor, job) = waiting_cancel(kind).await;
        left_alone(&floor, kind, &job).await;
    }

    #[long]
    async fn a_persons_own_print_survives_a_cancel_that_waited_over_a_kill(kind: PrinterKind) {
        let (mut floor, job) = waiting_cancel(kind).await;
        floor.app.kill_9();
        floor.app.start().await;
        left_alone(&floor, kind, &job).await;
    }

    async fn a_cancel_is_sent_once_for_each_look_that_shows_our_print(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.faults(0, |faults| faults.slow_commands = Some(Delay { after_ms: 1_500 }));
        floor.app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
        floor.app.job_is(&job, "CANCELLED").await;
        floor.faults(0, |faults| faults.slow_commands = None);
        floor.app.act(&floor.path(0, "/bed-cleared")).await.expect(200);
        let (next, other) = floor.one().await;
        floor.app.job_is(&other, "PRINTING").await;
        assert_eq!(floor.sim(0).handle.with(|machine| machine.cancels()), 1, "once, and not the next job");
        floor.hurry(0);
        floor.app.order_is(&next, "ready").await;
        assert_eq!(floor.count(0, cancelled), 1);
        floor.truth().await;
    }
}

/// Freezes a server while its cancellation waits. Another server takes over the database and sees how the print ended;
/// the first one resumes while the person's print is running.
async fn survives_a_takeover(kind: PrinterKind) {
    let Some(db) = Db::postgres_with_shop().await else { return };
    let url = db.url().unwrap();
    let (mut floor, job) = waiting_cancel_on(db, kind).await;
    signal(&floor.app, "STOP");
    floor.app.db.execute(&floor.app, END_SESSIONS).await;
    let (late, impatient) = (JUDGE_LATE, IMPATIENT);
    let second = App::on(Db::sqlite())
        .env("DATABASE_URL", url)
        .env(late.0, late.1)
        .env(impatient.0, impatient.1)
        .secrets_of(&floor.app)
        .start()
        .await;
    floor.faults(0, |faults| faults.disconnect = false);
    second.job_is(&job, "COMPLETED").await;
    signal(&floor.app, "CONT");
    assert!(!floor.app.ended().await, "being taken over is an error");
    until("the person's print to be known", || async {
        let status = second.get(&floor.path(0, "/status")).await.expect(200);
        status["attention"].as_array()?.iter().any(|word| word == "foreign_print").then_some(())
    })
    .await;
    own_print_goes_on(&floor).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_persons_own_print_survives_a_cancel_that_waited_over_a_takeover_fw_rest() {
    survives_a_takeover(PrinterKind::FwRest).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_persons_own_print_survives_a_cancel_that_waited_over_a_takeover_server_rest() {
    survives_a_takeover(PrinterKind::ServerRest).await;
}

/// Kills a server while a cancellation is in progress: after the restart it cancels the same print, if that is still
/// running.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_is_carried_out_after_a_kill() {
    let mut floor = Floor::on(Db::sqlite(), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE, IMPATIENT]).await;
    let (_, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    floor.faults(0, |faults| faults.disconnect = true);
    floor.app.post(&format!("/api/jobs/{job}/cancel"), &json!({})).await.expect(200);
    floor.app.kill_9();
    floor.faults(0, |faults| faults.disconnect = false);
    floor.app.start().await;
    floor.app.job_is(&job, "CANCELLED").await;
    until("the print to be cancelled", || async { (floor.count(0, cancelled) == 1).then_some(()) }).await;
}
