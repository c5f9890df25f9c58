//! Starts that are repeated, too early, too late, or on the wrong printer.

use serde_json::json;
use sim::{Floor, SimError, attempt_states};

use crate::{LATE, LONG, SLOW, on_every_type, one_uploading};

#[test]
fn story_01_a_start_for_a_busy_printer_does_not_end_the_print_there() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.faults(0, |faults| faults.slow_upload = SLOW);
        floor.serve(async |hall| {
            let (order, job) = one_uploading(hall).await?;
            // A person begins a print while the file is on its way.
            floor.own_print(0);
            hall.job_is(&job, "SLICED").await?;
            assert_eq!((floor.started(0), floor.cancelled(0)), (1, 0), "the person's own");
            hall.order_is(&order, "ready").await?;
            hall.truth().await
        })?;
        assert_eq!((floor.started(0), floor.finished(0)), (2, 2), "one after the other, both to their ends");
        Ok(())
    })
}

#[test]
fn story_02_a_batch_is_dispatched_once() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 3)?;
        (0..3).for_each(|printer| floor.faults(printer, |faults| faults.start_late = LATE));
        let order = floor.serve(async |hall| {
            let order = hall.order(6).await?;
            hall.start_arrived(0).await?;
            Ok(order)
        })?;
        // The next server does not know whether the starts took effect.
        floor.serve(async |hall| {
            hall.order_is(&order, "ready").await?;
            hall.truth().await
        })?;
        assert_eq!(floor.starts().len(), 6, "as many as parts");
        Ok(())
    })
}

#[test]
fn story_03_an_old_finish_is_history_and_no_evidence() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        let (order, job) = floor.serve(async |hall| {
            let (first, _) = hall.one().await?;
            hall.order_is(&first, "ready").await?;
            // Until the next start shows, the printer tells of the print before.
            floor.faults(0, |faults| faults.start_late = LATE);
            let second = hall.one().await?;
            hall.start_arrived(0).await?;
            hall.looks(0).await?;
            assert_eq!(hall.job(&second.1).await?["state"], "DISPATCHING");
            Ok(second)
        })?;
        floor.serve(async |hall| {
            hall.connection_is(0, "connected").await?;
            assert_eq!((&hall.job(&job).await?["state"], floor.started(0)), (&json!("DISPATCHING"), 1));
            hall.order_is(&order, "ready").await?;
            assert_eq!(attempt_states(&hall.job(&job).await?), ["finished"]);
            hall.truth().await
        })?;
        assert_eq!((floor.started(0), floor.finished(0)), (2, 2));
        Ok(())
    })
}

#[test]
fn story_05_a_start_that_came_to_nothing_does_not_print_for_ever() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.faults(0, |faults| faults.accept_but_never_start = true);
        floor.serve(async |hall| {
            let (order, job) = hall.one().await?;
            hall.job_until("the verdict", &job, |job| attempt_states(job).contains(&"not_started")).await?;
            assert_eq!((floor.published("job.printing"), floor.started(0)), (0, 0), "nobody saw it print");
            floor.faults(0, |faults| faults.accept_but_never_start = false);
            hall.clear_attention(0).await?;
            hall.order_is(&order, "ready").await?;
            hall.truth().await
        })?;
        assert_eq!(floor.started(0), 1);
        Ok(())
    })
}

#[test]
fn story_06_an_accepted_command_is_no_evidence() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.faults(0, |faults| faults.start_late = LATE);
        floor.serve(async |hall| {
            let (order, job) = hall.one().await?;
            hall.start_arrived(0).await?;
            hall.looks(0).await?;
            assert_eq!((&hall.job(&job).await?["state"], floor.started(0)), (&json!("DISPATCHING"), 0));
            let printing = hall.job_is(&job, "PRINTING").await?;
            assert!(printing["attempts"][0]["startedAt"].is_string(), "{printing}");
            assert_eq!(floor.started(0), 1, "seen, and not believed");
            hall.order_is(&order, "ready").await?;
            hall.truth().await
        })
    })
}

#[test]
fn story_07_a_job_cancelled_while_it_is_sent_is_not_printed() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.faults(0, |faults| faults.slow_upload = SLOW);
        floor.serve(async |hall| {
            let (_, job) = one_uploading(hall).await?;
            hall.post(&format!("/api/jobs/{job}/cancel"), &json!({}), 200).await?;
            floor.faults(0, |faults| faults.slow_upload = None);
            let cancelled = hall.job_is(&job, "CANCELLED").await?;
            assert!(cancelled["attempts"][0]["startedAt"].is_null(), "{cancelled}");
            hall.free(0).await?;
            let (order, _) = hall.one().await?;
            hall.order_is(&order, "ready").await?;
            hall.truth().await
        })?;
        assert_eq!((floor.started(0), floor.finished(0)), (1, 1), "the other job alone");
        Ok(())
    })
}

#[test]
fn story_07_a_job_cancelled_after_its_start_was_sent_ends_at_the_printer() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.faults(0, |faults| faults.start_late = LATE);
        floor.serve(async |hall| {
            let (_, job) = hall.one().await?;
            hall.start_arrived(0).await?;
            hall.post(&format!("/api/jobs/{job}/cancel"), &json!({}), 200).await?;
            hall.job_is(&job, "CANCELLED").await?;
            hall.pass(LONG).await;
            Ok(())
        })?;
        assert_eq!((floor.started(0), floor.finished(0)), (floor.cancelled(0), 0), "not printed, whenever it began");
        // A person's print is none of ours.
        floor.faults(0, |faults| faults.start_late = None);
        floor.own_print(0);
        floor.serve(async |hall| {
            hall.pass(LONG).await;
            Ok(())
        })?;
        assert_eq!(floor.finished(0), 1);
        Ok(())
    })
}

#[test]
fn story_08_a_job_that_is_being_sent_stays_with_its_printer() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 2)?;
        (0..2).for_each(|printer| floor.faults(printer, |faults| faults.slow_upload = SLOW));
        let busy = floor.serve(async |hall| {
            let (order, job) = one_uploading(hall).await?;
            let printer = hall.job(&job).await?["printerId"].clone();
            let busy = usize::from(printer != floor.printers[0]);
            // Another printer is free, and a higher rank changes nothing.
            hall.patch(&format!("/api/jobs/{job}"), &json!({"priority": 9})).await?;
            hall.looks(1 - busy).await?;
            hall.order_is(&order, "ready").await?;
            hall.truth().await?;
            Ok(busy)
        })?;
        assert_eq!((floor.started(busy), floor.started(1 - busy)), (1, 0));
        assert_eq!((floor.uploaded(busy), floor.uploaded(1 - busy)), (1, 0), "not half on two printers");
        Ok(())
    })
}
