//! Printers that hang, disappear, return, or report nonsense.

use std::time::Duration;

use serde_json::{Value, json};
use sim::{Floor, SimError, attempt_states};
use simulator::faults::Echo;

use crate::{LONG, SLOW, on_every_type, one_uploading, printer_of};

#[test]
fn a_printer_that_hangs_holds_up_nobody_else() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 2)?;
        floor.serve(async |hall| {
            let (first, stuck) = hall.one().await?;
            let silent = printer_of(&floor, &hall.job_is(&stuck, "PRINTING").await?);
            floor.faults(silent, |faults| faults.hang = true);
            let (second, other) = hall.one().await?;
            hall.connection_is(silent, "unreachable").await?;
            hall.order_is(&second, "ready").await?;
            assert_eq!(printer_of(&floor, &hall.job(&other).await?), 1 - silent);
            assert_eq!(hall.job(&stuck).await?["state"], "PRINTING", "silence is no evidence");
            floor.faults(silent, |faults| faults.hang = false);
            hall.order_is(&first, "ready").await?;
            hall.connection_is(silent, "connected").await?;
            let counts = (floor.published("printer.offline"), floor.published("printer.online"));
            assert_eq!(counts, (1, 1), "once per outage");
            hall.truth().await
        })?;
        assert_eq!((floor.started(0), floor.started(1)), (1, 1));
        Ok(())
    })
}

#[test]
fn an_idle_printer_is_offline_after_two_lost_requests_and_not_after_one() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.serve(async |hall| {
            // At rest, a printer is asked as seldom as it ever is.
            hall.pass(LONG).await;
            for (lost, outages) in [(1, 0), (2, 1)] {
                floor.faults(0, |faults| faults.lost_requests = lost);
                hall.pass(Duration::from_secs(60)).await;
                assert_eq!(floor.published("printer.offline"), outages, "{lost} requests are lost");
                hall.connection_is(0, "connected").await?;
            }
            hall.truth().await
        })
    })
}

#[test]
fn a_print_goes_on_while_its_printer_is_away() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.serve(async |hall| {
            let (order, job) = hall.one().await?;
            hall.job_is(&job, "PRINTING").await?;
            for is_last in [false, true] {
                floor.faults(0, |faults| faults.disconnect = true);
                hall.connection_is(0, "unreachable").await?;
                if is_last {
                    hall.physically("the end of the print", || floor.finished(0) == 1).await?;
                }
                assert_eq!(hall.job(&job).await?["state"], "PRINTING", "nobody has told us yet");
                floor.faults(0, |faults| faults.disconnect = false);
                hall.connection_is(0, "connected").await?;
            }
            hall.order_is(&order, "ready").await?;
            assert_eq!(floor.published("printer.offline"), 2, "two outages");
            assert_eq!(attempt_states(&hall.job(&job).await?), ["finished"]);
            hall.truth().await
        })?;
        assert_eq!(floor.started(0), 1);
        Ok(())
    })
}

#[test]
fn a_printer_that_falls_silent_in_an_upload_gives_its_print_to_another() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 2)?;
        (0..2).for_each(|printer| floor.faults(printer, |faults| faults.slow_upload = SLOW));
        let silent = floor.serve(async |hall| {
            let (order, job) = one_uploading(hall).await?;
            let silent = printer_of(&floor, &hall.job(&job).await?);
            floor.faults(silent, |faults| faults.hang = true);
            hall.order_is(&order, "ready").await?;
            floor.faults(silent, |faults| faults.hang = false);
            hall.truth().await?;
            Ok(silent)
        })?;
        assert_eq!((floor.uploaded(silent), floor.started(silent), floor.finished(1 - silent)), (0, 0, 1));
        Ok(())
    })
}

#[test]
fn every_second_answer_an_error_does_not_stop_an_order() -> Result<(), SimError> {
    on_every_type(|kind| {
        // Unlucky attempts happen on both; a third printer keeps their refusals from being enough to give a job up.
        let floor = Floor::new(kind, 3)?;
        (0..2).for_each(|printer| floor.faults(printer, |faults| faults.every_second_answer_an_error = true));
        floor.serve(async |hall| {
            let order = hall.order(2).await?;
            hall.order_is(&order, "ready").await?;
            hall.truth().await
        })
    })
}

#[test]
fn an_echo_of_a_finish_is_counted_once() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.faults(0, |faults| faults.duplicate_finish = Some(Echo { after_ms: 60_000, for_ms: 600_000 }));
        floor.serve(async |hall| {
            let (first, job) = hall.one().await?;
            hall.order_is(&first, "ready").await?;
            hall.attention(0, "foreign_print", true).await?;
            floor.faults(0, |faults| faults.duplicate_finish = None);
            hall.attention(0, "foreign_print", false).await?;
            assert_eq!(hall.job(&job).await?["state"], "COMPLETED");
            assert_eq!(floor.published("job.completed"), 1);
            hall.post(&hall.path(0, "/bed-cleared"), &json!({}), 200).await?;
            let (second, _) = hall.one().await?;
            hall.order_is(&second, "ready").await?;
            assert!((hall.used().await? - 20.0).abs() < 0.001, "two parts, consumed once each");
            hall.truth().await
        })?;
        assert_eq!((floor.started(0), floor.finished(0)), (2, 2));
        Ok(())
    })
}

#[test]
fn a_disconnected_printer_is_left_alone_until_it_is_connected() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.serve(async |hall| {
            let act = async |verb: &str, status: u16| hall.post(&hall.path(0, verb), &json!({}), status).await;
            act("/disconnect", 200).await?;
            let is_disconnected = |status: &Value| status["connection"] == "disconnected";
            hall.status_until("no connection", 0, is_disconnected).await?;
            assert_eq!(floor.published("printer.offline"), 0, "on purpose");
            let (order, job) = hall.one().await?;
            hall.waits_for(&job, "is disconnected").await?;
            act("/pause", 409).await?;
            assert_eq!((floor.uploaded(0), floor.started(0)), (0, 0));
            act("/connect", 200).await?;
            hall.order_is(&order, "ready").await?;
            hall.truth().await
        })?;
        assert_eq!(floor.started(0), 1);
        Ok(())
    })
}
