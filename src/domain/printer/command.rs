//! What is asked of a printer, what it answers, and the outside work it calls for.

use super::{Printer, PrinterFields};
use crate::domain::id::Id;
use crate::domain::order::Resolution;
use crate::domain::printer_status::{Connection, PastPrint, Status};
use crate::domain::sku::{Dimensions, MachineType};
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What the verdict saw when a start was not confirmed in time: the printer's state, its history, and what deleting the file said.
#[derive(Clone, PartialEq, Debug)]
pub enum Evidence {
    /// The printer shows our file (status).
    Shows(Status),
    /// The printer's history has our file.
    Remembers(PastPrint),
    /// Reachable, neither state nor history has our file, and deleting it succeeded or it was not there: a late start finds nothing.
    Revoked,
    /// Anything else, in plain words.
    Unclear(String),
}

/// What is asked of a printer.
#[derive(Clone, Debug)]
pub enum PrinterCommand {
    /// Registers it.
    Create(Box<PrinterFields>),
    /// Changes what is said of it; `kind` and `base_url` not while an attempt is in hand (409).
    Update {
        /// Refused as stale when the version differs.
        if_version: Option<i64>,
        /// All fields as they shall be.
        fields: Box<PrinterFields>,
    },
    /// Deletes it; not while an attempt is in hand (409).
    Archive,
    /// An operator connects or disconnects it.
    Connect(bool),
    /// The monitor saw something that differs from what is known (state, connection, file, end of our print, homed).
    Seen(Box<Status>),
    /// No word for too long: how we stand with it, why in plain words, and when it last said something.
    Silent(Connection, String, Option<Timestamp>),
    /// An order gives an attempt. When the printer cannot take it, it answers `NotTaken` with the words that become the
    /// attempt's reason, and never takes it later.
    Take {
        /// The attempt.
        attempt: Id,
        /// Its job.
        job: Id,
        /// Its order.
        order: Id,
        /// What to upload.
        file_id: Id,
        /// The name on the printer.
        file_name: String,
        /// When the order claimed the printer: an emergency stop since then stops the job too.
        claimed_at: Timestamp,
        /// What it needs loaded.
        material_id: Id,
        /// Which machine.
        machine_type: MachineType,
        /// Size of the plate.
        dimensions: Option<Dimensions>,
    },
    /// The upload is done: `start_sent` becomes durable now; the caller sends the start when this is answered with `Go`.
    Uploaded {
        /// Which attempt.
        attempt: Id,
        /// The name the printer really uses.
        remote_name: String,
    },
    /// The upload failed for good (or too often), or never began.
    UploadFailed {
        /// Which attempt.
        attempt: Id,
        /// In plain words.
        reason: String,
    },
    /// The printer refused the start with certainty (its own words).
    StartRefused {
        /// Which attempt.
        attempt: Id,
        /// In plain words.
        reason: String,
    },
    /// The verdict on an unconfirmed start.
    Judged {
        /// Which attempt.
        attempt: Id,
        /// What was seen.
        evidence: Box<Evidence>,
    },
    /// The order wants an attempt cancelled.
    CancelAttempt(Id),
    /// An operator's word on an unverified attempt.
    Resolved {
        /// Which attempt.
        attempt: Id,
        /// Their word.
        outcome: Resolution,
    },
    /// The order has heard of this step; `wanted: false` ends the attempt here.
    Heard {
        /// Which attempt.
        attempt: Id,
        /// Which step.
        step: u32,
        /// The order still wants it.
        wanted: bool,
    },
    /// An operator prints a file that is no job; refused (409) unless it could take a job.
    PrintManually {
        /// Which print: made by the edge.
        id: Id,
        /// What to upload; `None`: the file is on the printer.
        file_id: Option<Id>,
        /// Its name on the printer.
        file_name: String,
    },
    /// The file of a manual print is there: as `Uploaded`.
    ManualUploaded {
        /// Which print.
        id: Id,
        /// The name the printer really uses.
        remote_name: String,
    },
    /// The printer took the start of a manual print, or it certainly did not begin.
    ManualOver {
        /// Which print.
        id: Id,
        /// Why it did not begin.
        error: Option<String>,
    },
    /// The start of a manual print was not confirmed in time.
    ManualUnclear(Id),
    /// Emergency stop went out on the wire (recorded after).
    EmergencyStopped,
    /// The bed was cleared.
    BedCleared,
    /// All axes were homed through us.
    Homed,
    /// Into or out of maintenance.
    Maintenance {
        /// In or out.
        on: bool,
        /// Why.
        note: Option<String>,
    },
}

/// What a printer answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum PrinterAnswer {
    /// The printer after the change.
    Printer(Box<Printer>),
    /// To the upload task: send the start now (exactly the caller whose `Uploaded` made `start_sent` durable hears this).
    Go,
    /// To an operator: this manual print is taken.
    Manual(Id),
    /// To an order that gives an attempt: why it was not taken. It never will be.
    NotTaken(String),
    /// To an order that gives an attempt that it claimed before an emergency stop: it is stopped, in these words.
    Stopped(String),
    /// To an order that cancels or resolves: the attempt is not in hand, and will never be taken.
    NotInHand,
    /// Done, or already done.
    Done,
}

/// Outside work of a printer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PrinterEffect {
    /// Hold the connection and watch; keyed by address so that a change reconnects.
    Watch {
        /// Adapter type.
        kind: String,
        /// Base URL.
        base_url: String,
        /// Sealed key.
        encrypted_api_key: String,
        /// Serial.
        serial: Option<String>,
    },
    /// Bring the attempt to a start or a verdict: upload (phase Taken), then start once, then judge when not confirmed in time
    /// (phases `StartSent`, `Unverified`: judge only). The same want through these phases, so the task that wrote `start_sent` sends it.
    Run {
        /// Which attempt.
        attempt: Id,
    },
    /// Bring a manual print to its start: upload, then start once; a start that was sent is only waited for.
    Manual {
        /// Which print.
        id: Id,
    },
    /// Cancel the print of this attempt at the printer, until it ends.
    CancelPrint {
        /// Which attempt.
        attempt: Id,
    },
    /// Tell the order how far the attempt is, until it has heard this step.
    Report {
        /// Which attempt.
        attempt: Id,
        /// Which step.
        step: u32,
    },
}
