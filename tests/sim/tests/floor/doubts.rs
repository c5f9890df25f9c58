//! Starts that may or may not have taken effect: the printer's evidence decides, or an operator does.

use serde_json::{Value, json};
use sim::{Floor, Hall, SimError, attempt_states, has_words};
use simulator::PrinterKind;

use crate::{LATE, on_every_type};
use printers::adapter::Operation;

/// Creates a floor whose only printer executes a start late, after the network has been cut.
fn late_floor(kind: PrinterKind) -> Result<Floor, SimError> {
    let floor = Floor::new(kind, 1)?;
    floor.faults(0, |faults| (faults.start_late, faults.disconnect_at_start) = (LATE, true));
    Ok(floor)
}

/// Creates a floor whose only printer accepts a start that it never executes, before the network is cut.
fn lost_floor(kind: PrinterKind) -> Result<Floor, SimError> {
    let floor = Floor::new(kind, 1)?;
    floor.faults(0, |faults| (faults.accept_but_never_start, faults.disconnect_at_start) = (true, true));
    Ok(floor)
}

/// Places an order for one part, and waits until its start is doubted. Returns the IDs of the order and its job.
async fn one_in_doubt(hall: &Hall<'_>) -> Result<(String, String), SimError> {
    let (order, job) = hall.one().await?;
    hall.start_arrived(0).await?;
    let is_doubted = |job: &Value| job["attempts"][0]["unverified"] == true;
    let doubted = hall.job_until("a doubt about the start", &job, is_doubted).await?;
    assert_eq!(doubted["state"], "DISPATCHING", "{doubted}");
    assert!(has_words(&doubted["waitingReason"], "an operator must resolve it"), "{doubted}");
    hall.attention(0, "unverified", true).await?;
    Ok((order, job))
}

/// Reports what an operator has found at the printer; returns the answer, which must have this status.
async fn resolve(hall: &Hall<'_>, job: &str, outcome: &str, status: u16) -> Result<Value, SimError> {
    hall.post(&format!("/api/jobs/{job}/resolve"), &json!({"outcome": outcome}), status).await
}

#[test]
fn a_printer_that_comes_back_with_the_print_decides() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = late_floor(kind)?;
        floor.serve(async |hall| {
            let (order, job) = one_in_doubt(hall).await?;
            hall.physically("the late start", || floor.started(0) == 1).await?;
            floor.faults(0, |faults| faults.disconnect = false);
            hall.job_is(&job, "PRINTING").await?;
            hall.attention(0, "unverified", false).await?;
            hall.order_is(&order, "ready").await?;
            assert_eq!(attempt_states(&hall.job(&job).await?), ["finished"]);
            hall.truth().await
        })?;
        assert_eq!(floor.started(0), 1);
        Ok(())
    })
}

#[test]
fn a_printer_that_comes_back_knowing_nothing_is_given_another_start() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = lost_floor(kind)?;
        let has_history = !floor.declared.lacks.contains(&Operation::History);
        floor.serve(async |hall| {
            let (order, job) = one_in_doubt(hall).await?;
            floor.faults(0, |faults| *faults = <_>::default());
            // Without a history, it may have printed while it was out of sight for so long; then a person is asked.
            let may_have_run = |job: &Value| !has_history && has_words(&job["attempts"][0]["reason"], "long enough");
            let is_over = |job: &Value| attempt_states(job).first() == Some(&"not_started") || may_have_run(job);
            let over = hall.job_until("the verdict", &job, is_over).await?;
            if may_have_run(&over) {
                resolve(hall, &job, "not_started", 200).await?;
            }
            hall.attention(0, "unverified", false).await?;
            hall.order_is(&order, "ready").await?;
            assert_eq!(attempt_states(&hall.job(&job).await?), ["not_started", "finished"]);
            hall.truth().await
        })?;
        assert_eq!(floor.started(0), 1);
        Ok(())
    })
}

#[test]
fn an_operator_says_that_it_did_not_start() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = lost_floor(kind)?;
        floor.serve(async |hall| {
            let (order, job) = one_in_doubt(hall).await?;
            // Until that is known the job would be sent there again, in vain.
            hall.attention(0, "unreachable", true).await?;
            let resolved = resolve(hall, &job, "not_started", 200).await?;
            assert_eq!(resolved["state"], "SLICED", "{resolved}");
            hall.attention(0, "unverified", false).await?;
            resolve(hall, &job, "finished", 409).await?;
            hall.clear_attention(0).await?;
            floor.faults(0, |faults| *faults = <_>::default());
            hall.order_is(&order, "ready").await?;
            assert_eq!(attempt_states(&hall.job(&job).await?), ["not_started", "finished"]);
            hall.truth().await
        })?;
        assert_eq!(floor.started(0), 1);
        Ok(())
    })
}

#[test]
fn an_operator_says_that_it_failed() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = lost_floor(kind)?;
        floor.serve(async |hall| {
            let (order, job) = one_in_doubt(hall).await?;
            let resolved = resolve(hall, &job, "failed", 200).await?;
            assert_eq!(resolved["state"], "FAILED", "{resolved}");
            assert!(has_words(&resolved["error"], "operator"), "{resolved}");
            hall.attention(0, "unverified", false).await?;
            hall.attention(0, "print_failed", true).await?;
            assert_eq!(floor.published("job.failed"), 1);
            floor.faults(0, |faults| *faults = <_>::default());
            hall.clear_bed(0).await?;
            hall.post(&format!("/api/jobs/{job}/retry"), &json!({}), 200).await?;
            hall.order_is(&order, "ready").await?;
            hall.truth().await
        })?;
        assert_eq!(floor.started(0), 1);
        Ok(())
    })
}

#[test]
fn an_operator_says_that_it_finished() -> Result<(), SimError> {
    on_every_type(|kind| {
        // It really did, and the printer is gone for good.
        let floor = late_floor(kind)?;
        floor.serve(async |hall| {
            let (order, job) = one_in_doubt(hall).await?;
            hall.physically("the end of the print", || floor.finished(0) == 1).await?;
            let resolved = resolve(hall, &job, "finished", 200).await?;
            assert_eq!(resolved["state"], "COMPLETED", "{resolved}");
            hall.order_is(&order, "ready").await?;
            hall.attention(0, "unverified", false).await?;
            hall.free(0).await?;
            hall.truth().await
        })
    })
}
