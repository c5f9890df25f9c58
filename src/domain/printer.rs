//! A printer: its registration, what it was last seen doing, and the one attempt that it works on.
//!
//! A part must never be started twice, and a printer's answer to a start may get lost. Therefore: the name of the
//! uploaded file contains the attempt's id, so that whatever the printer shows can be tied to the attempt; the start
//! is recorded in a commit of its own before it is sent ([`Phase::StartSent`]) and sent only once, by the caller
//! whose commit recorded it; afterwards only evidence of the printer, or an operator, decides what became of it.
//!
//! Telemetry such as temperatures is not stored here (see [`crate::domain::printer_status`]): only changes that
//! matter to the rules are commands. `attempt` has the rules of an attempt, `verdict` judges starts that nobody
//! confirmed and prints that are gone, `seen` reads statuses, `readiness` says what a printer can take on, `safety`
//! holds it after a firmware fault, `refusals` lets it rest, `manual` starts prints that are no jobs, `registration` is
//! what operators edit, `sign_off` keeps the last print until its parts are judged, `care` counts its work,
//! `spool_booking` knows what its own server books elsewhere.

mod acts;
mod address;
mod alerts;
mod attempt;
mod camera;
mod care;
mod clearing;
mod command;
mod decide;
mod in_hand;
mod leftover;
mod loaded;
mod lost;
mod manual;
mod photo;
mod readiness;
mod refusals;
mod registration;
mod rules;
mod safety;
mod seen;
mod sign_off;
mod slots;
mod spool_booking;
mod used_up;
mod verdict;

#[cfg(test)]
mod tests;

pub use acts::{Act, ActRecord};
pub use address::{MachineAddress, as_web_address, check_base_url, denied_address, denied_host, same_machine};
pub use camera::{CameraFields, check_camera_url, same_camera};
pub use clearing::Clearing;
pub use command::{Evidence, PrinterAnswer, PrinterCommand, PrinterEffect, PrinterRow};
pub use in_hand::{InHand, Phase};
pub use leftover::is_of_job;
pub use loaded::{FilamentMaterials, Undecided, loaded_materials};
pub use manual::{Manual, ManualEnd, ManualFailure, ManualPhase};
pub use photo::PhotoDue;
pub use readiness::report_of;
pub use refusals::{ConfirmedStart, Refusals, StartFailure};
pub use safety::FirmwareFault;
pub use sign_off::{LastPrint, SignedPrint};
pub use slots::{MAX_SLOTS, Slot, SlotSource, Spool, SpoolBinding, SpoolLeft, SpoolOffer};

use serde::{Deserialize, Serialize};

use crate::domain::id::Id;
use crate::domain::maintenance::{Odometer, Reminder};
use crate::domain::printer_status::{Activity, Connection, SpoolBooking};
use crate::domain::sku::{Dimensions, MachineType};
use crate::domain::time::Timestamp;

/// What is screwed into the hot end: files are sliced for a diameter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Nozzle {
    /// Diameter in millimetres.
    pub diameter: f64,
    /// What it is made of, in words for people: `brass`, `hardened steel`.
    pub kind: Option<String>,
}

/// Where a printer stands on the plan of its room. Rows count from the front, columns from the left, both from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RoomPosition {
    /// At most [`MAX_ROOM_PLACE`].
    pub row: u32,
    /// Counted like the rows.
    pub column: u32,
}

/// The last row and the last column of a room's plan.
pub const MAX_ROOM_PLACE: u32 = 50;

/// The registration of a printer, which an operator edits as a whole.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PrinterFields {
    /// Name by which people know the printer, one line of text.
    pub name: String,
    /// The type of the adapter that speaks to it: `fw_rest`, `server_rest`, …; the edge has checked that it exists.
    #[serde(rename = "type")]
    pub kind: String,
    /// The type of machine, which decides the jobs that it can make.
    pub machine_type: MachineType,
    /// The model, in the words of slicers; `None` is unknown.
    #[serde(default)]
    pub model: Option<String>,
    /// Address of the printer's API, with scheme and port.
    pub base_url: String,
    /// The printer's API key, encrypted with `SECRETS_KEY`; empty if it needs none. No answer of the API contains it.
    pub encrypted_api_key: String,
    /// Serial number, for adapter types that address printers by it.
    pub serial: Option<String>,
    /// Inner dimensions in millimetres; `None` takes prints of every size.
    pub build_volume: Option<Dimensions>,
    /// Whether the printer clears its bed by itself, so that it takes the next job without `bed-cleared`.
    pub auto_clear: bool,
    /// The material that is loaded, which is that of the first slot; `None` is unknown.
    pub loaded_material_id: Option<Id>,
    /// The nozzle that is fitted; `None` is unknown.
    #[serde(default)]
    pub nozzle: Option<Nozzle>,
    /// The build plate that is on it, in the words of the slicer; `None` is unknown.
    #[serde(default)]
    pub plate_type: Option<String>,
    /// Where the printer stands, in words for people.
    pub location: Option<String>,
    /// Where in that place it stands; `None` where nobody drew a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<RoomPosition>,
    /// Free labels for filtering.
    pub tags: Vec<String>,
    /// The camera that looks at it; `None`: the one that the printer tells of, if it does.
    #[serde(default)]
    pub camera: Option<CameraFields>,
}

impl PrinterFields {
    /// A printer without a key of which nothing else is known: it takes every job of its type of machine.
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

/// What needs a person before the printer takes the next job, besides its own state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attention {
    /// Something may lie on the bed; an operator has to clear it.
    BedNotCleared,
    /// The axes must be homed after an emergency stop.
    NeedsHome,
    /// An operator took the printer out of service.
    Maintenance,
    /// Maintenance is due that the printer takes no job before.
    MaintenanceDue,
    /// The last print failed; acknowledged together with the bed.
    PrintFailed,
    /// The firmware reported an error or shut down; only `clear-attention` acknowledges it.
    FirmwareError,
    /// The printer refused several starts in a row.
    StartRefused,
    /// The printer has no room for files.
    DiskFull,
    /// The printer or its firmware does not answer.
    Unreachable,
    /// The printer refuses the stored API key.
    WrongKey,
    /// The printer lets itself be read and takes no commands.
    ReadOnly,
    /// It is unknown whether an attempt's print began, or how it ended; an operator may have to decide.
    Unverified,
    /// A print runs or is paused that is no job of ours.
    ForeignPrint,
}

/// A printer.
///
/// Invariants: at most one attempt is in hand, and no manual print besides it; an attempt in `past` is never accepted
/// again; while the bed is not cleared, the axes are not homed after an emergency stop, or nobody has cleared a
/// firmware fault, nothing is started.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Printer {
    /// Identifier of the printer.
    pub id: Id,
    /// Counts the changes that people made, from 1; shown as the printer's version and compared with `If-Match`.
    #[serde(default)]
    pub revision: i64,
    /// What operators registered and edit.
    #[serde(flatten)]
    pub fields: PrinterFields,
    /// The slots by their numbers; empty where nobody said more than which material is loaded (see [`Printer::slots`]).
    #[serde(default)]
    pub(in crate::domain) slots: Vec<Slot>,
    /// To which materials reported spools belong, as operators said here; the newest last.
    #[serde(default)]
    pub(in crate::domain) bindings: Vec<SpoolBinding>,
    /// Where its own server books what it prints, as it last told; `None` if it does not.
    #[serde(default)]
    pub books_on: Option<SpoolBooking>,
    /// The attempt in hand; `None` when no order uses the printer.
    pub in_hand: Option<InHand>,
    /// A print that is no job, while it is uploaded and started; `None` once the printer has taken the start.
    #[serde(default)]
    pub manual: Option<Manual>,
    /// How the last manual print's start came out.
    #[serde(default)]
    pub last_manual: Option<ManualEnd>,
    /// Something may lie on the bed: set after a print, cleared by an operator.
    pub bed_not_cleared: bool,
    /// Since when something may lie on the bed; `None` while it is clear.
    #[serde(default)]
    pub bed_since: Option<Timestamp>,
    /// The last times that the bed was cleared, oldest first.
    #[serde(default)]
    pub clearings: Vec<Clearing>,
    /// Set by an emergency stop and by a firmware fault, cleared once the axes are homed.
    pub needs_home: bool,
    /// A fault of the firmware that no person has cleared yet; nothing is started meanwhile.
    #[serde(default)]
    pub fault: Option<FirmwareFault>,
    /// The connection between the printer's own server and its firmware was closed by an error, by an emergency stop or
    /// by a person there; only a person opens it again.
    #[serde(default)]
    pub kept_closed: bool,
    /// The starts that it refused since it last confirmed one; `None` after a confirmed start.
    #[serde(default)]
    pub refusals: Option<Refusals>,
    /// The start that it confirmed last.
    #[serde(default)]
    pub last_start: Option<ConfirmedStart>,
    /// The last print of a job that is over here and whose parts nobody has signed off. The next print takes its place,
    /// also one that is no job.
    #[serde(default)]
    pub last_print: Option<LastPrint>,
    /// Prints whose parts were signed off here, until their orders have heard of it; oldest first.
    #[serde(default)]
    pub signed_prints: Vec<SignedPrint>,
    /// The ended print of which a picture is to be taken.
    #[serde(default)]
    pub photo_due: Option<PhotoDue>,
    /// The printer told that it has no camera; nobody knows before a first picture is wanted.
    #[serde(default)]
    pub camera_absent: bool,
    /// The operator's note while the printer is out of service; `None` when it is in service.
    pub maintenance: Option<String>,
    /// What it has done, by the prints of jobs that ended here since this is counted.
    #[serde(default, skip_serializing_if = "Odometer::is_zero")]
    pub odometer: Odometer,
    /// What is to be done to it after so much work, by id. Not part of the serialized printer: each is a row under its
    /// version.
    #[serde(skip)]
    pub reminders: rpds::RedBlackTreeMapSync<Id, Reminder>,
    /// Whether the last print failed; cleared together with the bed.
    pub print_failed: bool,
    /// Whether an operator disconnected it; it is then neither watched nor used.
    pub disconnected: bool,
    /// The state that was last recorded, by which the dispatcher and the alerts go.
    pub activity: Activity,
    /// Whether and how the printer is reachable.
    pub connection: Connection,
    /// The file that it prints or has paused, of an attempt or not; `None` when it does neither.
    pub shows: Option<String>,
    /// Digest of the key by which it showed who it is; from then on it must show the same. `None` before the first
    /// connection, for types that do not encrypt, and once an operator disconnects it.
    #[serde(default)]
    pub known_key: Option<String>,
    /// The last attempts that are over here, newest last. A late message that offers one of them is refused.
    #[serde(default)]
    pub past: Vec<Id>,
    /// When we last stopped it in an emergency; `None` again after a fault of its own. A status from before does not
    /// prove that the axes are homed.
    #[serde(default)]
    pub stopped_at: Option<Timestamp>,
    /// Whether it is in an outage that was announced; `printer.offline` is published once per outage.
    pub outage: bool,
    /// When the printer last answered, as last recorded; `None` if it never did.
    pub last_seen_at: Option<Timestamp>,
    /// When it last became idle; of two equal printers the dispatcher takes the one that is idle longer.
    pub idle_since: Timestamp,
    /// Whether it was deleted; the record stays for the history of its jobs.
    pub archived: bool,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}
