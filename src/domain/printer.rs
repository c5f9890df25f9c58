//! A printer: what is said of it, how we stand with it, and the one attempt it has in hand.
//!
//! The start verdict (decisions §4, "a part is never started twice"): the attempt id is the file name, `start_sent`
//! is durable before the start goes out, and afterwards only evidence or a person decides. Telemetry is not kept
//! here ([`crate::domain::telemetry`]); only changes that matter are commands.

use crate::domain::id::Id;
use crate::domain::order::Resolution;
use crate::domain::sku::{Dimensions, MachineType};
use crate::domain::telemetry::{Activity, Connection, PastPrint, PrintEnd, Status};
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What may be said of a printer (production spec §2, decisions §6, §7).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PrinterFields {
    /// Shown name.
    pub name: String,
    /// Adapter type: `fw_rest`, `server_rest`, …; the edge has checked it against the registry.
    #[serde(rename = "type")]
    pub kind: String,
    /// Which machine.
    pub machine_type: MachineType,
    /// Base URL including port.
    pub base_url: String,
    /// Sealed; empty when none. Never returned.
    pub sealed_api_key: String,
    /// For types that need one.
    pub serial: Option<String>,
    /// mm.
    pub build_volume: Option<Dimensions>,
    /// The bed clears itself: no `bed-cleared` is waited for.
    pub auto_clear: bool,
    /// What is loaded; `None` takes any.
    pub loaded_material_id: Option<Id>,
    /// Where it stands.
    pub location: Option<String>,
    /// Free words.
    pub tags: Vec<String>,
}

/// How far the attempt in hand is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    /// Taken from the order; the upload is wanted. A crash here uploads again (same unique name).
    Taken,
    /// Durable before the start goes out; never sent again. The verdict is wanted.
    StartSent {
        /// When it was written.
        at: Timestamp,
    },
    /// Nobody can say whether it began; the printer takes no other. Evidence or an operator decides.
    Unverified {
        /// In plain words.
        reason: String,
    },
    /// The printer shows our file.
    Printing {
        /// Since.
        at: Timestamp,
    },
    /// Paused at the printer.
    Paused {
        /// The print began.
        at: Timestamp,
    },
    /// It began and is over; the order has not heard.
    Ended {
        /// How.
        end: PrintEnd,
        /// Filament used, mm.
        filament_mm: Option<f64>,
        /// 0 to 1.
        progress: f64,
        /// Words of the printer.
        reason: Option<String>,
    },
    /// It certainly did not and cannot start; the order has not heard.
    NotStarted {
        /// A start had been sent.
        start_sent: bool,
        /// It counts as a try.
        counts: bool,
        /// In plain words.
        reason: String,
    },
}

/// The one attempt a printer has in hand.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InHand {
    /// The attempt.
    pub attempt: Id,
    /// Its job.
    pub job: Id,
    /// Its order.
    pub order: Id,
    /// The file that is uploaded.
    pub file_id: Id,
    /// Its name on the printer, as we asked for it; unique to the attempt.
    pub file_name: String,
    /// The name the printer really uses (told by the upload).
    pub remote_name: Option<String>,
    /// How far.
    #[serde(flatten)]
    pub phase: Phase,
    /// Counts phase changes; the order acknowledges one by this number.
    pub step: u32,
    /// The last step that the order has heard of.
    pub heard: u32,
    /// A cancel is asked for.
    pub cancel: bool,
    /// When it was taken.
    pub taken_at: Timestamp,
}

/// What keeps a printer from the next job, beyond its own state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words of decisions §6")]
pub enum Attention {
    BedNotCleared,
    NeedsHome,
    Maintenance,
    PrintFailed,
    Unreachable,
    WrongKey,
    Unverified,
    ForeignPrint,
}

/// A printer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Printer {
    /// Identifier.
    pub id: Id,
    /// What is said of it.
    #[serde(flatten)]
    pub fields: PrinterFields,
    /// The attempt in hand.
    pub in_hand: Option<InHand>,
    /// After a print, until it is cleared.
    pub bed_not_cleared: bool,
    /// After an emergency stop, until homed.
    pub needs_home: bool,
    /// Taken out of service, with a note.
    pub maintenance: Option<String>,
    /// The last print failed; cleared with the bed.
    pub print_failed: bool,
    /// An operator disconnected it.
    pub disconnected: bool,
    /// The last state that was told: what the dispatcher and the alerts go by.
    pub activity: Activity,
    /// How we stand with it.
    pub connection: Connection,
    /// The file it shows, ours or not.
    pub shows: Option<String>,
    /// It is in an outage that was announced (`printer.offline` once per outage).
    pub outage: bool,
    /// Last word from it.
    pub last_seen_at: Option<Timestamp>,
    /// Idle since; the longest idle is preferred.
    pub idle_since: Timestamp,
    /// Deleted: kept for history.
    pub archived: bool,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

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
    /// No word for too long.
    Silent(Connection, String),
    /// An order gives an attempt. Refused when the printer cannot take it (the refusal's words become the attempt's reason).
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
    /// Done, or already done.
    Done,
}

/// Outside work of a printer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PrinterWant {
    /// Hold the connection and watch; keyed by address so that a change reconnects.
    Watch {
        /// Adapter type.
        kind: String,
        /// Base URL.
        base_url: String,
        /// Sealed key.
        sealed_api_key: String,
        /// Serial.
        serial: Option<String>,
    },
    /// Bring the attempt to a start or a verdict: upload (phase Taken), then start once, then judge when not confirmed in time
    /// (phases `StartSent`, `Unverified`: judge only). The same want through these phases, so the task that wrote `start_sent` sends it.
    Run {
        /// Which attempt.
        attempt: Id,
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
