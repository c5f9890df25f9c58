//! Wrong starts and lost prints that users of farm software reported, each told for the printers of every type, on
//! virtual time: what must not happen is held against the printers' physical log. The printers speak no protocol here:
//! types differ by what they lack, what they print and how they number slots. `tests/it` tells the same on the wire.

mod ends;
mod files;
mod starts;

use std::time::Duration;

use sim::{Hall, SimError};
use simulator::PrinterKind;
use simulator::faults::{Delay, SlowUpload};

/// Upload that takes a while.
const SLOW: Option<SlowUpload> = Some(SlowUpload { bytes_per_second: 50 });
/// Start that is executed late, and before anybody doubts it.
const LATE: Option<Delay> = Some(Delay { after_ms: 40_000 });
/// Half an hour.
const LONG: Duration = Duration::from_secs(1_800);

/// Tells a story with the printers of every type. The output of a story that fails ends with its type.
fn on_every_type(story: impl Fn(PrinterKind) -> Result<(), SimError>) -> Result<(), SimError> {
    for kind in PrinterKind::ALL {
        println!("{}", kind.as_str());
        story(*kind)?;
    }
    Ok(())
}

/// Places an order for one part, and waits until its file is on its way. Returns the order and its job.
async fn one_uploading(hall: &Hall<'_>) -> Result<(String, String), SimError> {
    let (order, job) = hall.one().await?;
    hall.attempt_is(&job, "uploading").await?;
    Ok((order, job))
}
