//! A printer: its registration, its last observed state, and the one attempt that it is working on.
//!
//! A part must never be started twice, and a printer's response to a start may be lost. Therefore, the name of the
//! uploaded file contains the attempt's ID, so that anything the printer reports can be attributed to the attempt. The
//! start is recorded in a separate commit before it is sent ([`AttemptPhase::StartSent`]), and sent only once, by the
//! caller whose commit recorded it. Afterwards, its outcome is decided only by evidence from the printer, or by an
//! operator.
//!
//! Telemetry such as temperatures is not stored here (see [`crate::printer_status`]): only changes that matter to the
//! rules are commands. `attempt` has the rules of an attempt, `verdict` judges unconfirmed starts and vanished prints,
//! `observation` processes statuses, `foreign_print` determines what prints outside of jobs leave on the bed, `pause`
//! explains pauses, `readiness` determines which jobs a printer can accept, `safety` blocks the printer after a
//! firmware error, `refusals` pauses it after rejected starts, `manual` starts prints that are not jobs, `registration`
//! contains the fields that operators edit, `sign_off` retains the last print until its parts are signed off, `subject`
//! keeps acts that people meant for one print from affecting the next, `care` counts the printer's work, and
//! `spool_booking` tracks the consumption that the printer's own server records in an outside system.

mod acts;
mod address;
mod alerts;
mod attempt;
mod camera;
mod care;
mod clearing;
mod command;
mod decide;
mod effect;
mod foreign_print;
mod in_hand;
mod leftover;
mod loaded;
mod logged;
mod lost;
mod manual;
mod observation;
mod pause;
mod photo;
mod poll_interval;
mod readiness;
mod refusals;
mod registration;
mod rules;
mod safety;
mod sign_off;
mod slots;
mod spool_booking;
mod subject;
mod unready;
mod used_up;
mod verdict;

#[cfg(test)]
mod tests;

pub use acts::{ActRecord, DirectAction};
pub use address::{MachineAddress, as_web_address, check_base_url, denied_address, denied_host, same_machine};
pub use camera::{CameraFields, check_camera_url, same_camera};
pub use clearing::Clearing;
pub use command::{
    AttemptAnswer, AttemptCommand, Evidence, LogMaintenance, MaintenanceAnswer, ManualPrintAnswer, PrintManually,
    PrinterAnswer, PrinterCommand, PrinterNews, PrinterRow, PrinterUpload, ReminderAnswer, ReminderCommand, TakeAnswer,
    TakeAttempt, UploadAnswer,
};
pub use effect::PrinterEffect;
pub use in_hand::{AttemptPhase, CurrentAttempt};
pub use leftover::is_of_job;
pub use loaded::{FilamentMaterials, Undecided, loaded_materials};
pub use logged::{LoggedAct, LoggedDetail};
pub use manual::{ManualEnd, ManualFailure, ManualPhase, ManualPrint};
pub use pause::{OpenPause, PauseOrigin, PauseReason, PauseRequest};
pub use photo::PhotoDue;
pub use poll_interval::{FailedPolls, MAX_FAILED_POLLS, PollReasons, PollSettings};
pub use readiness::report_of;
pub use refusals::{ConfirmedStart, RefusedStarts, StartFailure};
pub use safety::FirmwareFault;
pub use sign_off::{LastPrint, SignedPrint};
pub use slots::{
    MAX_SLOTS, Slot, SlotReport, SlotSource, Spool, SpoolBalance, SpoolBinding, SpoolOffer, suggest_material,
};
pub use subject::PrintSubject;
pub use unready::Unready;

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::maintenance::{Odometer, Reminder};
use crate::printer_status::{Activity, Connection, SpoolBooking};
use crate::sku::{Dimensions, MachineType};
use crate::time::Timestamp;

/// Nozzle fitted to the hot end. Files are sliced for a particular diameter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Nozzle {
    /// Diameter in millimetres.
    pub diameter: f64,
    /// Free-text description of the nozzle's material: `brass`, `hardened steel`.
    pub kind: Option<String>,
}

/// Position of a printer on its room's floor plan. Rows are counted from the front and columns from the left, both
/// starting at 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RoomPosition {
    /// Row, at most [`MAX_ROOM_PLACE`].
    pub row: u32,
    /// Column, at most [`MAX_ROOM_PLACE`].
    pub column: u32,
}

/// Maximum number of rows and of columns on the plan of a room.
pub const MAX_ROOM_PLACE: u32 = 50;

/// Registration of a printer, which an operator edits as a whole.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PrinterFields {
    /// Display name of the printer, as one line of text.
    pub name: String,
    /// Name of the adapter type that communicates with the printer: `fw_rest`, `server_rest`, …; the API has checked
    /// that the type exists.
    #[serde(rename = "type")]
    pub kind: String,
    /// Machine type, which determines the jobs that the printer can make.
    pub machine_type: MachineType,
    /// Model, as named by slicers, if known.
    #[serde(default)]
    pub model: Option<String>,
    /// Base URL of the printer's API, with scheme and port.
    pub base_url: String,
    /// The printer's API key, encrypted with `SECRETS_KEY`; empty if the printer needs none. Never part of an API
    /// response.
    pub encrypted_api_key: String,
    /// Serial number, for adapter types that address printers by it.
    pub serial: Option<String>,
    /// Inner dimensions in millimetres; `None` if prints of any size are accepted.
    pub build_volume: Option<Dimensions>,
    /// `true` if the printer clears its bed automatically, so that it accepts the next job without `bed-cleared`.
    pub auto_clear: bool,
    /// Loaded material, which is the one in the first slot, if known.
    pub loaded_material_id: Option<Id>,
    /// Fitted nozzle, if known.
    #[serde(default)]
    pub nozzle: Option<Nozzle>,
    /// Mounted build plate, as named by the slicer, if known.
    #[serde(default)]
    pub plate_type: Option<String>,
    /// Free-text location of the printer.
    pub location: Option<String>,
    /// Position within the printer's location, if specified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<RoomPosition>,
    /// Free-text labels for filtering.
    pub tags: Vec<String>,
    /// Camera that films the printer; `None` to use the camera reported by the printer, if any.
    #[serde(default)]
    pub camera: Option<CameraFields>,
}

impl PrinterFields {
    /// Returns the registration of a printer without an API key or further restrictions, which accepts every job for
    /// its machine type.
    pub fn bare(name: &str, kind: &str, machine_type: MachineType, base_url: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: kind.to_owned(),
            machine_type,
            model: None,
            base_url: base_url.to_owned(),
            encrypted_api_key: String::new(),
            serial: None,
            build_volume: None,
            auto_clear: false,
            loaded_material_id: None,
            nozzle: None,
            plate_type: None,
            location: None,
            position: None,
            tags: Vec::new(),
            camera: None,
        }
    }
}

/// Condition, in addition to the printer's own state, that requires an operator before the next job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attention {
    /// Something may be lying on the bed; an operator must clear it.
    BedNotCleared,
    /// The axes must be homed after an emergency stop.
    NeedsHome,
    /// An operator took the printer out of service.
    Maintenance,
    /// Maintenance is due and blocks jobs.
    MaintenanceDue,
    /// The last print failed; cleared together with the bed.
    PrintFailed,
    /// The firmware reported an error or shut down; acknowledged only by `clear-attention`.
    FirmwareError,
    /// The printer rejected several starts in a row.
    StartRefused,
    /// The printer has no storage left for files.
    DiskFull,
    /// The printer or its firmware does not respond.
    Unreachable,
    /// The printer rejected the stored API key.
    WrongKey,
    /// The printer can be read but accepts no commands.
    ReadOnly,
    /// It is unknown whether an attempt's print started, or how it ended; an operator may have to decide.
    Unverified,
    /// A print that does not belong to a job is running or paused.
    ForeignPrint,
}

/// A printer.
///
/// Invariants: at most one attempt is in hand, and no manual print at the same time; an attempt in `past` is never
/// accepted again; nothing is started while the bed is not cleared, the axes are not homed after an emergency stop, or
/// a firmware error is not acknowledged.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Printer {
    /// Identifier of the printer.
    pub id: Id,
    /// Number of changes made by users, starting at 1; exposed as the printer's version and compared with `If-Match`.
    #[serde(default)]
    pub revision: i64,
    /// Registration that operators edit.
    #[serde(flatten)]
    pub fields: PrinterFields,
    /// Slots by number; empty if only the loaded material is known (see [`Printer::slots`]).
    #[serde(default)]
    pub(crate) slots: Vec<Slot>,
    /// Materials that operators assigned to the spools reported by the printer, newest last.
    #[serde(default)]
    pub(crate) bindings: Vec<SpoolBinding>,
    /// Spools from which the printer's own server deducts its prints, as last reported; `None` if it does not deduct
    /// prints.
    #[serde(default)]
    pub books_on: Option<SpoolBooking>,
    /// Attempt in hand; `None` if the printer is not in use by an order.
    pub in_hand: Option<CurrentAttempt>,
    /// Manual print being uploaded and started; `None` once the printer has accepted the start.
    #[serde(default)]
    pub manual: Option<ManualPrint>,
    /// Outcome of the most recent start of a manual print.
    #[serde(default)]
    pub last_manual: Option<ManualEnd>,
    /// `true` if something may be lying on the bed: set after a print, cleared by an operator.
    pub bed_not_cleared: bool,
    /// Time since which something may have been lying on the bed: the end of the first print since the bed was last
    /// clear, or of the last print started at the printer; `None` if the bed is clear.
    #[serde(default)]
    pub bed_since: Option<Timestamp>,
    /// File of a print outside of jobs that went out of sight, if that is the only reason why the bed counts as
    /// occupied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unseen_print: Option<String>,
    /// Number of prints of its file that the printer counted when it last showed a print outside of jobs; `None` if it
    /// does not count them, or once the print is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) foreign_runs: Option<u32>,
    /// Most recent times that it took to clear the bed, oldest first.
    #[serde(default)]
    pub clearings: Vec<Clearing>,
    /// `true` if the axes must be homed: set by an emergency stop or a firmware error, cleared by homing.
    pub needs_home: bool,
    /// Firmware error that no operator has acknowledged yet; nothing is started until then.
    #[serde(default)]
    pub fault: Option<FirmwareFault>,
    /// `true` if the connection between the printer's own server and its firmware was closed by an error, an emergency
    /// stop or a user at the printer; only a person can reopen it.
    #[serde(default)]
    pub kept_closed: bool,
    /// Starts rejected since the last confirmed start; `None` after a confirmed start.
    #[serde(default)]
    pub refusals: Option<RefusedStarts>,
    /// Most recent time at which an operator cleared the printer's attention or gave it another address or key. What
    /// the printer rejected until then was the printer's fault, so it does not count against the jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgiven_at: Option<Timestamp>,
    /// Number of times that [`Self::forgiven_at`] was set. An attempt has the number at the time at which the printer
    /// accepted it, which says whether it came before or after, whatever the clock says.
    #[serde(default)]
    pub pardons: u32,
    /// Most recent start confirmed by the printer.
    #[serde(default)]
    pub last_start: Option<ConfirmedStart>,
    /// Last finished print of a job, until its parts are signed off. The next print replaces it, even if it is a manual
    /// one.
    #[serde(default)]
    pub last_print: Option<LastPrint>,
    /// Prints whose sign-off has not been acknowledged by their orders yet, oldest first.
    #[serde(default)]
    pub signed_prints: Vec<SignedPrint>,
    /// Finished print to be photographed.
    #[serde(default)]
    pub photo_due: Option<PhotoDue>,
    /// `true` if the printer reported that it has no camera; `false` until the first image is needed.
    #[serde(default)]
    pub camera_absent: bool,
    /// The operator's note while the printer is out of service; `None` if the printer is in service.
    pub maintenance: Option<String>,
    /// Work done since counting began, from job prints that ended on this printer.
    #[serde(default, skip_serializing_if = "Odometer::is_zero")]
    pub odometer: Odometer,
    /// Maintenance reminders by ID. Not part of the serialised printer: each is stored as a separate row.
    #[serde(skip)]
    pub reminders: rpds::RedBlackTreeMapSync<Id, Reminder>,
    /// `true` if the last print failed; cleared together with the bed.
    pub print_failed: bool,
    /// `true` if an operator disconnected the printer; it is then neither monitored nor used.
    pub disconnected: bool,
    /// Last recorded state, used by the dispatcher and the alerts.
    pub activity: Activity,
    /// Reachability of the printer.
    pub connection: Connection,
    /// File that the printer is printing or has paused, regardless of whether it belongs to an attempt; `None` if the
    /// printer is doing neither.
    pub shows: Option<String>,
    /// Time since which the printer has been observed paused; `None` while it is not paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_since: Option<Timestamp>,
    /// Pause requested through the server; `None` once the print has resumed or ended after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_request: Option<PauseRequest>,
    /// Digest of the key that the printer identified itself with; the printer must present the same key from then on.
    /// `None` before the first connection, for types without encryption, and after an operator disconnects the printer.
    #[serde(default)]
    pub known_key: Option<String>,
    /// Most recent attempts that have ended on this printer, newest last. A late message that offers one of them is
    /// rejected.
    #[serde(default)]
    pub past: Vec<Id>,
    /// Time of the most recent emergency stop by the server; reset to `None` by a firmware error. A status from before
    /// that time does not prove that the axes are homed.
    #[serde(default)]
    pub stopped_at: Option<Timestamp>,
    /// `true` during an outage that has been reported; `printer.offline` is published once per outage.
    pub outage: bool,
    /// Last recorded time at which the printer responded, if it ever has.
    pub last_seen_at: Option<Timestamp>,
    /// Time at which the printer last became idle. If two printers are otherwise equal, the dispatcher chooses the one
    /// that has been idle longer.
    pub idle_since: Timestamp,
    /// `true` if the printer was deleted; the record remains for the history of its jobs.
    pub archived: bool,
    /// Time of registration.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}
