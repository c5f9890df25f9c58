//! Printers that refuse or ignore starts.

use serde_json::{Value, json};
use sim::{Floor, SimError, attempt_states, has_words};
use simulator::printer::PhysicalEvent;

use crate::{SLOW, on_every_type, one_uploading, printer_of};

#[test]
fn an_accepted_start_that_never_comes_is_revoked_and_the_job_goes_elsewhere() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 2)?;
        (0..2).for_each(|printer| floor.faults(printer, |faults| faults.slow_upload = SLOW));
        let deaf = floor.serve(async |hall| {
            let (order, job) = one_uploading(hall).await?;
            let deaf = printer_of(&floor, &hall.job(&job).await?);
            floor.faults(deaf, |faults| faults.accept_but_never_start = true);
            hall.order_is(&order, "ready").await?;
            let job = hall.job(&job).await?;
            assert_eq!(attempt_states(&job), ["not_started", "finished"], "{job}");
            assert!(has_words(&job["attempts"][0]["reason"], "removed"), "{job}");
            assert_ne!(job["attempts"][0]["printerId"], job["attempts"][1]["printerId"], "{job}");
            hall.truth().await?;
            Ok(deaf)
        })?;
        assert_eq!((floor.started(deaf), floor.started(1 - deaf)), (0, 1));
        let removals = floor.count(deaf, |what| matches!(what, PhysicalEvent::Deleted { .. }));
        assert_eq!(removals, 1, "a start that came later would find no file");
        Ok(())
    })
}

#[test]
fn the_only_printer_that_fits_is_waited_for_and_the_job_says_why() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.faults(0, |faults| faults.refuse_start = true);
        floor.serve(async |hall| {
            let (order, job) = hall.one().await?;
            let waits = hall.waits_for(&job, "is rejecting print starts").await?;
            assert_eq!(attempt_states(&waits), ["not_started"], "{waits}");
            for words in ["rejected the job: ", "(next attempt in "] {
                assert!(has_words(&waits["waitingReason"], words), "{words}: {waits}");
            }
            // Nothing else waits: the same job is tried again after a while.
            hall.attention(0, "start_refused", true).await?;
            let is_twice = |job: &Value| job["state"] == "SLICED" && attempt_states(job).len() == 2;
            hall.job_until("a second refusal", &job, is_twice).await?;
            floor.faults(0, |faults| faults.refuse_start = false);
            hall.post(&hall.path(0, "/clear-attention"), &json!({}), 200).await?;
            hall.order_is(&order, "ready").await?;
            hall.attention(0, "start_refused", false).await?;
            hall.truth().await
        })?;
        assert_eq!(floor.started(0), 1);
        Ok(())
    })
}
