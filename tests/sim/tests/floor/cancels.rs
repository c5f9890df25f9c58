//! Cancellations that wait for a printer end the shop's print, and no other one.

use serde_json::{Value, json};
use sim::{Floor, Hall, SimError, has_words};
use simulator::gcode::{GcodeFacts, gcode};

use crate::on_every_type;
use printers::adapter::Operation;

/// File of a person's own print; its name begins as the names of all such files do.
const OWN: &str = "vase-own-person.gcode";

/// Starts a person's print at a printer that is out of the server's sight; returns whether the printer started it.
fn print_out_of_sight(floor: &Floor) -> bool {
    let code = gcode("vase", 600, 1.0, 330.0).into_bytes();
    let facts = GcodeFacts::read(&code).into();
    floor.with(0, |machine| {
        machine.store(OWN, code.into(), facts);
        machine.start(OWN).is_ok()
    })
}

/// Cancels a job while the network is cut; meanwhile its print finishes, and a person starts one of their own. Returns
/// the ID of the job.
async fn cancel_out_of_sight(floor: &Floor, hall: &Hall<'_>) -> Result<String, SimError> {
    let (_, job) = hall.one().await?;
    hall.job_is(&job, "PRINTING").await?;
    floor.faults(0, |faults| faults.disconnect = true);
    hall.connection_is(0, "unreachable").await?;
    let waits = hall.post(&format!("/api/jobs/{job}/cancel"), &json!({}), 200).await?;
    assert!(waits["cancelRequestedAt"].is_string(), "{waits}");
    let says_why =
        |job: &Value| ["confirm", "not responded since"].iter().all(|words| has_words(&job["waitingReason"], words));
    hall.job_until("whom the cancellation waits for", &job, says_why).await?;
    hall.physically("the end of the part", || floor.finished(0) == 1).await?;
    assert!(print_out_of_sight(floor));
    Ok(job)
}

/// Restores the network, and checks that the job ends and that the person's print does not.
async fn leave_alone(floor: &Floor, hall: &Hall<'_>, job: &str) -> Result<(), SimError> {
    floor.faults(0, |faults| faults.disconnect = false);
    if floor.declared.lacks.contains(&Operation::History) {
        // Nothing tells of the part any more.
        let is_over = |job: &Value| job["state"] == "CANCELLED" || job["state"] == "FAILED";
        hall.job_until("the end of the job", job, is_over).await?;
    } else {
        // The part was done before the cancellation could be: completion wins.
        let done = hall.job_is(job, "COMPLETED").await?;
        assert!(done["cancelRequestedAt"].is_null(), "{done}");
    }
    hall.free(0).await?;
    hall.attention(0, "foreign_print", true).await?;
    hall.physically("the end of the person's print", || floor.finished(0) == 2).await?;
    assert_eq!(floor.with(0, |machine| machine.cancels()), 0, "no cancellation was even sent");
    Ok(())
}

#[test]
fn a_persons_own_print_survives_a_cancel_that_waited() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.serve(async |hall| {
            let job = cancel_out_of_sight(&floor, hall).await?;
            leave_alone(&floor, hall, &job).await
        })
    })
}

#[test]
fn a_persons_own_print_survives_a_cancel_that_waited_over_a_kill() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        let job = floor.serve(async |hall| cancel_out_of_sight(&floor, hall).await)?;
        floor.serve(async |hall| leave_alone(&floor, hall, &job).await)
    })
}
