//! `kill -9` in each phase of an attempt: no part is started twice, whatever the server had recorded.

use simulator::faults::SlowUpload;
use simulator::printer::PhysicalEvent;

use super::delays::HELD;
use super::{FAST, Floor, JUDGE_CALMLY, JUDGE_SOON, KEEP_FILES, PrinterKind, SLOW, attempts};
use crate::support::{Db, on_drawn, until};

/// Types of printers in these tests. If a test uses only one of them in a run, its database selects the type.
const BOTH: [PrinterKind; 2] = [PrinterKind::FwRest, PrinterKind::ServerRest];
/// Setting that makes the server resolve an unconfirmed start soon after it is restarted.
const JUDGE_WHEN_BACK: (&str, &str) = (JUDGE_CALMLY.0, "3");

async fn while_uploading(db: Db, kind: PrinterKind) {
    let mut floor = Floor::on(db, kind, 1, FAST, &[JUDGE_SOON]).await;
    let file = floor.big_file("big", 200_000).await;
    let sku = floor.app.sku("BIG", &floor.material, file["id"].as_str().unwrap(), 900).await;
    floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 50_000 }));
    let order = floor.app.paid_order(&sku, 1).await;
    let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
    floor.attempt_is(&job, "uploading").await;
    floor.app.kill_9();
    floor.faults(0, |faults| faults.slow_upload = None);
    floor.app.start().await;
    floor.app.order_is(&order, "ready").await;
    assert_eq!(floor.started(0), 1);
    assert_eq!(attempts(&floor.job(&job).await), ["finished"], "the same attempt, uploaded again");
    floor.truth().await;
}

/// Kills the server after the start was sent and before it has any effect.
async fn while_the_start_is_on_its_way(db: Db, kind: PrinterKind) {
    let mut floor = Floor::on(db, kind, 1, FAST, &[JUDGE_CALMLY]).await;
    floor.faults(0, |faults| faults.start_late = HELD);
    let (order, job) = floor.one().await;
    floor.start_arrived(0).await;
    floor.app.kill_9();
    floor.end_delays(0);
    floor
        .physically("the start to come", 0, |what| {
            matches!(what, PhysicalEvent::Started { .. } | PhysicalEvent::LateStartFellThrough { .. })
        })
        .await;
    floor.app.start().await;
    floor.app.order_is(&order, "ready").await;
    assert_eq!(attempts(&floor.job(&job).await), ["finished"], "found printing, or printed");
    assert_eq!(floor.started(0), 1);
    floor.truth().await;
}

/// Kills the server after a start that the printer ignored: the file is deleted on the printer before anything else is
/// tried.
async fn after_a_start_that_was_swallowed(db: Db, kind: PrinterKind) {
    let mut floor = Floor::on(db, kind, 1, FAST, &[JUDGE_WHEN_BACK, KEEP_FILES]).await;
    // Until it is killed, the server cannot tell that the print did not start, on a busy machine either.
    floor.faults(0, |faults| (faults.accept_but_never_start, faults.disconnect_at_start) = (true, true));
    let (order, job) = floor.one().await;
    // One that is still on its way would be carried out once the fault is over.
    floor.start_arrived(0).await;
    floor.app.kill_9();
    floor.faults(0, |faults| (faults.accept_but_never_start, faults.disconnect) = (false, false));
    floor.app.start().await;
    floor.job_until("the verdict", &job, |job| attempts(job)[0] == "not_started").await;
    floor.end_rest(0).await;
    floor.app.order_is(&order, "ready").await;
    assert_eq!(attempts(&floor.job(&job).await), ["not_started", "finished"]);
    assert_eq!(floor.count(0, |what| matches!(what, PhysicalEvent::Deleted { .. })), 1);
    assert_eq!(floor.started(0), 1);
    floor.truth().await;
}

async fn while_printing(db: Db, kind: PrinterKind) {
    let mut floor = Floor::on(db, kind, 2, SLOW, &[JUDGE_SOON]).await;
    let order = floor.order(2).await;
    until("both to print", || async {
        let jobs = floor.app.jobs(&order).await;
        jobs.iter().all(|job| job["state"] == "PRINTING").then_some(())
    })
    .await;
    floor.app.kill_9();
    // One is done while nobody looks, the other goes on.
    floor.hurry(0);
    floor.physically("the first to be done", 0, |what| matches!(what, PhysicalEvent::Finished { .. })).await;
    floor.app.start().await;
    until("the first to be heard of", || async {
        let jobs = floor.app.jobs(&order).await;
        (jobs.iter().filter(|job| job["state"] == "COMPLETED").count() == 1).then_some(())
    })
    .await;
    floor.hurry(1);
    floor.app.order_is(&order, "ready").await;
    assert_eq!((floor.started(0), floor.started(1)), (1, 1));
    floor.truth().await;
}

on_drawn! {
    async fn killed_while_uploading(db: Db) {
        while_uploading(db, BOTH[0]).await;
    }

    async fn killed_while_the_start_is_on_its_way(db: Db) {
        while_the_start_is_on_its_way(db, BOTH[1]).await;
    }

    async fn killed_on_the_other_kind_while_uploading(db: Db) {
        while_uploading(db, BOTH[1]).await;
    }

    async fn killed_on_the_other_kind_while_the_start_is_on_its_way(db: Db) {
        while_the_start_is_on_its_way(db, BOTH[0]).await;
    }

    async fn killed_after_a_start_that_was_swallowed(db: Db) {
        after_a_start_that_was_swallowed(db, BOTH[0]).await;
    }

    async fn killed_while_printing(db: Db) {
        while_printing(db, BOTH[1]).await;
    }

    async fn killed_on_the_other_kind_after_a_start_that_was_swallowed(db: Db) {
        after_a_start_that_was_swallowed(db, BOTH[1]).await;
    }

    async fn killed_on_the_other_kind_while_printing(db: Db) {
        while_printing(db, BOTH[0]).await;
    }
}
