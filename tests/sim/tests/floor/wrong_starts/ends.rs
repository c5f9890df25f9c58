//! Prints that end unobserved or are not cleaned up, and printers that fall silent or refuse everything.

use serde_json::{Value, json};
use sim::{Floor, SimError, has_words};
use simulator::faults::{FailAt, RebootAt};
use simulator::printer::PhysicalEvent;

use crate::{LATE, LONG, on_every_type};
use printers::adapter::Operation;

#[test]
fn story_09_nothing_is_printed_onto_a_bed_that_nobody_cleared() -> Result<(), SimError> {
    on_every_type(|kind| {
        for is_cancelled in [true, false] {
            let floor = Floor::new(kind, 1)?;
            floor.serve(async |hall| {
                let (_, job) = hall.one().await?;
                hall.job_is(&job, "PRINTING").await?;
                if is_cancelled {
                    hall.post(&format!("/api/jobs/{job}/cancel"), &json!({}), 200).await?;
                    hall.job_is(&job, "CANCELLED").await.map(drop)
                } else {
                    floor.faults(0, |faults| faults.fail_at = Some(FailAt { progress: 0.5 }));
                    hall.job_is(&job, "FAILED").await.map(drop)
                }
            })?;
            floor.faults(0, |faults| faults.fail_at = None);
            // It is remembered over a restart of either side.
            floor.serve(async |hall| {
                hall.power_cycle(0).await?;
                let (next, waiting) = hall.one().await?;
                hall.waits_for(&waiting, "needs its bed cleared").await?;
                hall.pass(LONG).await;
                assert_eq!((floor.started(0), floor.uploaded(0)), (1, 1));
                hall.clear_bed(0).await?;
                hall.clear_attention(0).await?;
                hall.order_is(&next, "ready").await.map(drop)
            })?;
            assert_eq!((floor.started(0), floor.finished(0)), (2, 1));
        }
        Ok(())
    })
}

#[test]
fn story_09_nothing_is_printed_onto_what_a_power_cycle_left() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.faults(0, |faults| faults.reboot_at = Some(RebootAt { progress: 0.5, forget: false }));
        floor.serve(async |hall| {
            let (_, job) = hall.one().await?;
            hall.job_is(&job, "PRINTING").await?;
            let is_cut = || floor.count(0, |what| matches!(what, PhysicalEvent::Interrupted { .. })) > 0;
            hall.physically("the loss of power", is_cut).await?;
            hall.one().await.map(drop)
        })?;
        floor.serve(async |hall| {
            hall.pass(LONG).await;
            Ok(())
        })?;
        assert_eq!((floor.started(0), floor.uploaded(0)), (1, 1), "nobody has cleared the bed");
        Ok(())
    })
}

#[test]
fn story_14_a_wrong_key_and_a_silent_printer_are_named_once() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 2)?;
        // Where no key is required, none can be wrong.
        let has_key = !floor.declared.keyless;
        floor.faults(0, |faults| (faults.wrong_key, faults.disconnect) = (has_key, !has_key));
        floor.faults(1, |faults| faults.disconnect = true);
        floor.serve(async |hall| {
            hall.attention(0, if has_key { "wrong_key" } else { "unreachable" }, true).await?;
            hall.attention(1, "unreachable", true).await?;
            let (order, job) = hall.one().await?;
            if has_key {
                hall.waits_for(&job, "is rejecting the API key").await?;
                hall.waits_for(&job, "is offline").await?;
            } else {
                hall.waits_for(&job, "2 printers are offline").await?;
            }
            // Tried on and on, and not published again.
            hall.pass(4 * LONG).await;
            assert_eq!(floor.published("printer.offline"), 2, "once for each");
            assert_eq!((floor.uploaded(0), floor.uploaded(1)), (0, 0), "nothing was sent to either");
            (0..2).for_each(|printer| floor.faults(printer, |faults| *faults = <_>::default()));
            hall.order_is(&order, "ready").await?;
            hall.connection_is(0, "connected").await?;
            hall.connection_is(1, "connected").await?;
            hall.truth().await
        })?;
        assert_eq!(floor.starts().len(), 1);
        Ok(())
    })
}

#[test]
fn story_15_a_printer_that_refuses_everything_is_taken_out_and_says_so() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.faults(0, |faults| faults.refuse_start = true);
        floor.serve(async |hall| {
            let order = hall.order(2).await?;
            hall.attention(0, "start_refused", true).await?;
            let status = hall.status(0).await?;
            assert!(has_words(&status["attentionReason"], "rejected 2 print starts in a row"), "{status}");
            // No job is lost to it.
            for job in hall.jobs(&order).await? {
                hall.waits_for(&job, "is rejecting print starts").await?;
            }
            assert_eq!(floor.started(0), 0);
            floor.faults(0, |faults| faults.refuse_start = false);
            hall.clear_attention(0).await?;
            // Nor when one of them has started after the clearing: it was the printer's fault that both were refused.
            hall.order_is(&order, "ready").await?;
            hall.truth().await
        })?;
        assert_eq!((floor.started(0), floor.finished(0)), (2, 2));
        Ok(())
    })
}

#[test]
fn story_16_a_finish_that_was_missed_counts_and_nothing_is_invented() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.serve(async |hall| {
            let (order, job) = hall.one().await?;
            hall.job_is(&job, "PRINTING").await?;
            floor.faults(0, |faults| faults.disconnect = true);
            hall.connection_is(0, "unreachable").await?;
            hall.physically("the end of the print", || floor.finished(0) == 1).await?;
            assert_eq!(hall.job(&job).await?["state"], "PRINTING", "nobody knows yet");
            floor.faults(0, |faults| faults.disconnect = false);
            hall.order_is(&order, "ready").await?;
            assert!((hall.used().await? - 10.0).abs() < 0.001, "what the file and the printer say");
            // How long it took nobody saw, and the outage was no printing.
            let bad = json!({"goodCount": 0, "reason": "warping"});
            hall.post(&format!("/api/jobs/{job}/sign-off"), &bad, 200).await?;
            assert!(floor.attempts()[0].unseen, "{:?}", floor.attempts());
            hall.order_is(&order, "ready").await?;
            hall.truth().await
        })?;
        assert_eq!((floor.started(0), floor.finished(0)), (2, 2), "the part is made again");
        Ok(())
    })
}

#[test]
fn story_16_a_print_that_nobody_saw_has_no_beginning() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.faults(0, |faults| faults.start_late = LATE);
        floor.serve(async |hall| {
            let (_, job) = hall.one().await?;
            hall.start_arrived(0).await?;
            floor.faults(0, |faults| faults.disconnect = true);
            hall.physically("the end of the print", || floor.finished(0) == 1).await?;
            floor.faults(0, |faults| faults.disconnect = false);
            hall.connection_is(0, "connected").await?;
            // Without a history, a person may have to be asked.
            let has_history = !floor.declared.lacks.contains(&Operation::History);
            let is_over = |job: &Value| job["attempts"][0]["state"] == "finished";
            let is_judged = |job: &Value| is_over(job) || (!has_history && job["attempts"][0]["unverified"] == true);
            let judged = hall.job_until("the verdict", &job, is_judged).await?;
            hall.pass(LONG).await;
            assert_eq!(hall.job(&job).await?["attempts"][0]["startedAt"], Value::Null, "{judged}");
            Ok(())
        })?;
        assert_eq!((floor.started(0), floor.finished(0)), (1, 1), "and it is not started again");
        Ok(())
    })
}
