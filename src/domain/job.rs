//! A production job: the printing of one plate of one line of an order, and the record of every attempt at it.
//!
//! Jobs live inside their [`crate::domain::order::Order`] and change only with its commits. A job first claims its
//! materials one after the other, then waits for a printer, then is attempted until a print succeeds or too many
//! attempts failed.
//!
//! | from | on | to |
//! | --- | --- | --- |
//! | none | the order is paid | CREATED |
//! | CREATED | SKU and G-code file (or model) were read; at once, or when the SKU gets a file | VALIDATED |
//! | VALIDATED | all its materials have reserved the needs, and it has G-code | SLICED |
//! | VALIDATED | its model was sliced and the materials have reserved what the G-code needs | SLICED |
//! | VALIDATED | the slicer failed: all reservations are given up | `awaiting_manual_review` |
//! | VALIDATED | material is short, or on hand below its reorder point | `awaiting_manual_review` |
//! | `awaiting_manual_review` | the material reserves the need after all | SLICED; VALIDATED while another is asked |
//! | `awaiting_manual_review` | an operator releases it past the reorder point, or to be sliced again | VALIDATED |
//! | SLICED | the dispatcher claims a printer | DISPATCHING |
//! | SLICED | the material asks the reservation back after a stock-take | `awaiting_manual_review` |
//! | DISPATCHING | the printer shows that it prints the attempt's file | PRINTING |
//! | DISPATCHING | it is certain that nothing was and will be printed | SLICED |
//! | SLICED | the printers that could make it refused it | FAILED |
//! | DISPATCHING | emergency stop | FAILED |
//! | PRINTING, PAUSED | the printer pauses or resumes | PAUSED, PRINTING |
//! | DISPATCHING, PRINTING, PAUSED | the print ended, or an operator resolves it | COMPLETED, FAILED or CANCELLED |
//! | any but COMPLETED, CANCELLED | cancelled; waits for the printer while an attempt is live | CANCELLED |
//! | FAILED, COMPLETED, CANCELLED | an operator retries | VALIDATED, with a new claim |
//! | CANCELLED before it had a file | an operator retries | CREATED |
//!
//! A part is never started twice: a job leaves DISPATCHING for SLICED only when no start was sent, or when it is
//! proven that the start had no effect. While that is uncertain, the attempt is `unverified` and the job stays where
//! it is.

mod attempt;
mod claims;
mod source;
mod state;

pub use attempt::{Attempt, AttemptState, Departure};
pub use claims::{FurtherNeed, JobClaim, JobClaimMut};
pub use state::{Block, JobState};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::amount::Amount;
use crate::domain::file::GcodeForm;
use crate::domain::id::Id;
use crate::domain::launch::{LaunchNeeds, SlicedFor, used_share};
use crate::domain::printer_status::PrintEnd;
use crate::domain::sku::{Dimensions, MachineType};
use crate::domain::slice_source::SliceSource;
use crate::domain::time::Timestamp;

/// An operator's decision on an attempt that lives: of which nobody can tell whether it started or how it ended, or
/// whose printer does not answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// Nothing was printed; the job waits for a printer again.
    NotStarted,
    /// The print came to its end by the printer's own word.
    Finished,
    /// The print began and failed. What was seen of its progress counts as used; of a print that was never seen, the
    /// whole need.
    Failed,
}

/// What the printer's own record says of a live attempt at the moment when an operator resolves it. The order does not
/// know it, so it comes with the command.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SeenPrint {
    /// The printer is connected and shows the attempt's file printing or paused.
    pub shown_now: bool,
    /// The attempt's file was seen printing at some time.
    pub began: bool,
    /// The latest progress seen, 0 to 1.
    pub progress: f64,
    /// The spools on which the printer itself booked it in the system that knows spools.
    pub booked_on: Vec<i64>,
}

/// The state of the job's current claim on its material, identified by the job and [`Job::claim`]. It is the order's
/// view; the material has its own, and messages between the two bring them together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stock {
    /// There is no claim: the job has no G-code yet, or its claim is settled.
    #[default]
    None,
    /// The claim is to be sent, or sent and not answered.
    Asked,
    /// The material cannot serve the claim yet and keeps it in its waiting line.
    InLine,
    /// The need is reserved for the job.
    Held,
    /// The job is done with the claim; the material is told until it has settled it.
    Settling {
        /// What the print used, in the material's unit; the rest of the reservation becomes available again.
        consumed: Amount,
    },
}

/// One plate of one line of an order.
///
/// What is to be made (material, need, file, machine, dimensions) is read from the SKU when the job becomes VALIDATED
/// and never follows later changes of the SKU. Invariants: at most one attempt is live, and `attempt_id` names it; an
/// attempt is made only while the stock is [`Stock::Held`]; each claim that was asked for is settled exactly once, also
/// when the job was retried or cancelled meanwhile.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Identifier of the job.
    pub id: Id,
    /// Sequential number for people, shown as `JOB-000123`; numbers may have gaps.
    pub number: i64,
    /// Counts the commands of people that changed this job, from 1; compared with `If-Match` when the job is edited.
    pub version: i64,
    /// The order that the job belongs to.
    pub order_id: Id,
    /// Number of that order, kept here so that a job can be shown without its order.
    pub order_number: i64,
    /// Index of its line in the order, from 0.
    pub line: u32,
    /// The SKU that is made.
    pub sku_id: Id,
    /// The SKU's name, copied when the order was placed.
    pub sku_name: String,
    /// The material it is made of.
    pub material_id: Id,
    /// Material for the plate, in the material's unit.
    pub need: Amount,
    /// What the plate takes of further materials.
    #[serde(default)]
    pub further: Vec<FurtherNeed>,
    /// The type of machine that can make it.
    pub machine_type: MachineType,
    /// Size of the print in millimetres; `None` fits every build volume.
    pub dimensions: Option<Dimensions>,
    /// The G-code file; `None` while the job is CREATED, while it is to be sliced, or if it was cancelled then.
    pub file_id: Option<Id>,
    /// What the file is sliced from, where the SKU names a model and no G-code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SliceSource>,
    /// The format of the G-code file.
    #[serde(default)]
    pub file_form: GcodeForm,
    /// The plate of the file, and the machine that it was sliced for.
    #[serde(default)]
    pub sliced_for: SlicedFor,
    /// Length of filament for the plate in millimetres, as the file states it; used to correct the consumption.
    pub file_filament_mm: Option<f64>,
    /// Print time in seconds, as the file states it.
    pub estimated_seconds: Option<i64>,
    /// Number of parts that the plate makes; 0 in jobs that were made before it was kept here.
    #[serde(default)]
    pub plate_parts: u32,
    /// The job was made by itself for parts that were rejected.
    #[serde(default)]
    pub reprint: bool,
    /// Parts of the plate that were not missing when the job was made for rejected parts; they become spares. 0 for
    /// jobs of the order itself.
    #[serde(default)]
    pub spare_parts: u32,
    /// Nothing needs its parts any more, which is why it was cancelled: nobody gave these parts up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub surplus: bool,
    /// It is COMPLETED, and its parts count only once a person has signed them off.
    #[serde(default)]
    pub unsigned: bool,
    /// Where the job stands.
    pub state: JobState,
    /// Why the job awaits review; `None` in every other state.
    pub blocked_by: Option<Block>,
    /// The reason of the block in words for people, as the material gave it; the base of the API's `waitingReason`.
    pub block_reason: Option<String>,
    /// The state of the current claim on [`Job::material_id`]. [`Job::claims`] has those on all materials.
    pub stock: Stock,
    /// Number of that claim, from 1. Each new reservation takes a number that no other claim of the job had, so that a
    /// late answer to an earlier claim is recognised.
    pub claim: u32,
    /// Earlier claims that the material has not settled yet: their numbers and what was consumed of each.
    #[serde(default)]
    pub settling: Vec<(u32, Amount)>,
    /// For claims that are not settled yet, by their numbers: the spools on which the printer itself booked what was
    /// consumed of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub booked_on: BTreeMap<u32, Vec<i64>>,
    /// The material asked the reservation back while an attempt was live; the job gives it up if the attempt prints
    /// nothing.
    #[serde(default)]
    pub recalled: bool,
    /// An operator released the job past the reorder point; sent with the claim.
    pub released: bool,
    /// Rank among the jobs, 0 to 9; the higher one is printed first.
    pub priority: u8,
    /// When the job should be done; `None` ranks behind every date of the same priority.
    pub due_at: Option<Timestamp>,
    /// The printer of the live attempt or, after its end, the printer of the last one; `None` while the job waits.
    pub printer_id: Option<Id>,
    /// The live attempt; `None` when no printer is claimed.
    pub attempt_id: Option<Id>,
    /// Printers that refused the job, or certainly did not start it, since it was last VALIDATED; each counts once. The
    /// dispatcher prefers others, and gives the job up when all that could make it are here.
    pub tried_on: Vec<Id>,
    /// All attempts, oldest first.
    pub attempts: Vec<Attempt>,
    /// When a cancel was asked for that still waits for the printer to confirm; `None` otherwise.
    pub cancel_requested_at: Option<Timestamp>,
    /// Why the job is FAILED, in one sentence for people; cleared by a retry.
    pub error: Option<String>,
    /// What the printer said besides the first sentence, which is [`Job::error`]; cleared by a retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_details: Option<String>,
    /// Consumed so far of [`Job::material_id`] over all claims, in the material's unit.
    pub consumed: Amount,
    /// When the job was made.
    pub created_at: Timestamp,
    /// When the job last changed.
    pub updated_at: Timestamp,
}

impl Job {
    /// The job number as people see it: `JOB-000123`.
    pub fn number_text(&self) -> String {
        format!("JOB-{:06}", self.number)
    }
    /// Whether the job is COMPLETED, FAILED or CANCELLED: nothing happens to it unless a person acts.
    pub fn over(&self) -> bool {
        matches!(self.state, JobState::Completed | JobState::Failed | JobState::Cancelled)
    }
    /// The live attempt, if a printer is claimed.
    pub fn live(&self) -> Option<&Attempt> {
        self.attempt_id.and_then(|id| self.attempts.iter().find(|a| a.id == id))
    }
    /// The last attempt that printed something and is over.
    pub fn last_print(&self) -> Option<&Attempt> {
        self.attempts.iter().rev().find(|attempt| attempt.printed())
    }
    /// The name of an attempt's file on the printer. It contains the attempt's id, so it is unique and never used
    /// again.
    pub fn file_name(&self, attempt: Id) -> String {
        format!("{}_{attempt}.{}", self.number_text(), self.file_form.ending())
    }
    /// How much of its need a print used, as its share: 1 is all of it (see [`used_share`]).
    pub fn used(&self, end: PrintEnd, filament_mm: Option<f64>, progress: f64) -> f64 {
        used_share(end, filament_mm, self.file_filament_mm, progress)
    }
    /// What it needs of a printer.
    pub fn launch_needs(&self) -> LaunchNeeds {
        LaunchNeeds {
            machine_type: self.machine_type,
            dimensions: self.dimensions,
            form: self.file_form,
            sliced_for: self.sliced_for.clone(),
            materials: self.material_needs(),
        }
    }
}
