//! Stories of a shop floor, told for printers of every type in virtual time, and checked against the printers' physical
//! log. The printers use no protocol here: types differ in what they lack, which formats they print and how they number
//! slots. `tests/it/machines` has the stories that depend on a protocol.

mod cancels;
mod doubts;
mod leftovers;
mod outages;
mod refusals;
mod wrong_starts;

use std::time::Duration;

use serde_json::Value;
use sim::{Floor, Hall, SimError};
use simulator::PrinterKind;
use simulator::faults::{Delay, SlowUpload};

/// Upload that takes a while.
const SLOW: Option<SlowUpload> = Some(SlowUpload { bytes_per_second: 50 });
/// Start that is executed late, but before it is considered unconfirmed.
const LATE: Option<Delay> = Some(Delay { after_ms: 40_000 });
/// Period of half an hour.
const LONG: Duration = Duration::from_secs(1_800);

/// Runs a test with printers of every type. The last line of output names the type that failed.
fn on_every_type(story: impl Fn(PrinterKind) -> Result<(), SimError>) -> Result<(), SimError> {
    for kind in PrinterKind::ALL {
        println!("{}", kind.as_str());
        story(*kind)?;
    }
    Ok(())
}

/// Places an order for one part, and waits until its file is being uploaded. Returns the IDs of the order and its job.
async fn one_uploading(hall: &Hall<'_>) -> Result<(String, String), SimError> {
    let (order, job) = hall.one().await?;
    hall.attempt_is(&job, "uploading").await?;
    Ok((order, job))
}

/// Returns which of two printers has a job.
fn printer_of(floor: &Floor, job: &Value) -> usize {
    usize::from(job["printerId"] != floor.printers[0])
}
