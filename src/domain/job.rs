//! Production job: prints one plate for one order line, and records every attempt.
//!
//! Jobs are part of their [`crate::order::Order`] and change only with its commits. A job first claims its materials
//! one after the other, then waits in the queue for a printer, and is then attempted until a print succeeds or too many
//! attempts have failed.
//!
//! | from | on | to |
//! | --- | --- | --- |
//! | none | the order is paid | CREATED |
//! | CREATED | SKU and G-code file (or model) were read; immediately, or when the SKU gets a file | VALIDATED |
//! | VALIDATED | all materials are reserved, and it has G-code | SLICED |
//! | VALIDATED | its model was sliced and the materials have reserved what the G-code needs | SLICED |
//! | VALIDATED | the slicer failed: all reservations are released | `awaiting_manual_review` |
//! | VALIDATED | material is short, or on hand below its reorder point | `awaiting_manual_review` |
//! | `awaiting_manual_review` | the material reserves the need after all | SLICED; VALIDATED while another claim is pending |
//! | `awaiting_manual_review` | an operator releases it past the reorder point, or to be sliced again | VALIDATED |
//! | SLICED | the dispatcher claims a printer | DISPATCHING |
//! | SLICED | the material recalls the reservation after a stocktake | `awaiting_manual_review` |
//! | DISPATCHING | the printer reports that it is printing the attempt's file | PRINTING |
//! | DISPATCHING | nothing was or will be printed, with certainty | SLICED |
//! | SLICED | all capable printers rejected it | FAILED |
//! | DISPATCHING | emergency stop | FAILED |
//! | PRINTING, PAUSED | the printer pauses or resumes | PAUSED, PRINTING |
//! | DISPATCHING, PRINTING, PAUSED | the print ended, or an operator resolves it | COMPLETED, FAILED or CANCELLED |
//! | any but COMPLETED, CANCELLED | cancelled; waits for the printer while an attempt is live | CANCELLED |
//! | FAILED, COMPLETED, CANCELLED | an operator retries | VALIDATED, with a new claim |
//! | CANCELLED before it had a file | an operator retries | CREATED |
//!
//! A part is never started twice: a job leaves DISPATCHING for SLICED only if no start was sent, or if it is proven
//! that the start had no effect. Until one of these is certain, the attempt is `unverified` and the job's state does
//! not change.

mod attempt;
mod claims;
mod source;
mod state;
#[cfg(test)]
mod tests;

pub use attempt::{Attempt, AttemptState, Departure};
pub use claims::{FurtherNeed, JobClaim, JobClaimMut};
pub use state::{Block, JobState};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::file::GcodeForm;
use crate::id::Id;
use crate::launch::{LaunchNeeds, SlicingTarget, used_share};
use crate::printer_status::PrintEnd;
use crate::sku::{Dimensions, MachineType};
use crate::slice_source::SliceSource;
use crate::time::Timestamp;

/// Reason why a job with nothing to print stays CREATED, shown as `waitingReason` in the API.
pub(crate) const NO_FILE_REASON: &str = "its SKU has neither a G-code file nor a model with a slicer profile";
/// Reason why a job is still CREATED although its SKU had something to print when the order was placed.
pub(crate) const BEING_READ_REASON: &str = "reading its SKU and file";

/// An operator's resolution of a live attempt whose start or outcome is unknown, or whose printer does not respond.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// Nothing was printed; the job is queued for a printer again.
    NotStarted,
    /// The print ran to completion, as reported by the printer itself.
    Finished,
    /// The print started and failed. Consumption is based on the last observed progress, or on the entire need if the
    /// print was never observed.
    Failed,
}

/// The printer's own record of a live attempt at the time when an operator resolves it. The order does not hold this
/// data, so the command includes it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PrinterRecord {
    /// `true` if the printer is connected and reports that the attempt's file is printing or paused.
    pub shown_now: bool,
    /// `true` if the attempt's file was ever observed printing.
    pub began: bool,
    /// Latest observed progress, from 0 to 1.
    pub progress: f64,
    /// IDs of the spools from which the printer itself deducted the consumption in the external spool inventory.
    pub booked_on: Vec<i64>,
}

/// State of the job's current claim on a material, identified by the job and [`Job::claim`]. This is the order's view
/// of the claim; the material has its own, and messages reconcile them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimStatus {
    /// There is no claim: the job has no G-code yet, or its claim is settled.
    #[default]
    None,
    /// The claim is about to be sent, or was sent and has not received a response.
    Asked,
    /// The material cannot fulfil the claim yet and holds it in its queue.
    InLine,
    /// The need is reserved for the job.
    Held,
    /// The job is done with the claim; the settlement is resent until the material confirms it.
    Settling {
        /// Amount that the print consumed, in the material's unit; the rest of the reservation becomes available again.
        consumed: Amount,
    },
}

/// One build plate for one order line.
///
/// The production data (material, need, file, machine, dimensions) is read from the SKU when the job becomes VALIDATED
/// and never follows later changes to the SKU. Invariants: at most one attempt is live, and `attempt_id` identifies it;
/// an attempt is created only while the stock is [`ClaimStatus::Held`]; each requested claim is settled exactly once,
/// even if the job was retried or cancelled in the meantime.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Identifier of the job.
    pub id: Id,
    /// Sequential number, displayed as `JOB-000123`; numbers may have gaps.
    pub number: i64,
    /// Number of user commands that changed the job, starting at 1; compared with `If-Match` when the job is edited.
    pub version: i64,
    /// Order that the job belongs to.
    pub order_id: Id,
    /// Number of the job's order, duplicated so that a job can be displayed without its order.
    pub order_number: i64,
    /// Index of the order line, starting at 0.
    pub line: u32,
    /// SKU produced by the plate.
    pub sku_id: Id,
    /// Name of the SKU, copied when the order was placed.
    pub sku_name: String,
    /// Primary material required by the SKU.
    pub material_id: Id,
    /// Amount of [`Job::material_id`] that the plate needs, in the material's unit.
    pub need: Amount,
    /// Amounts of additional materials that the plate needs, with their claims.
    #[serde(default)]
    pub further: Vec<FurtherNeed>,
    /// Machine type that can print the job.
    pub machine_type: MachineType,
    /// Size of the print in millimetres; if `None`, the print fits every build volume.
    pub dimensions: Option<Dimensions>,
    /// G-code file; `None` while the job is CREATED or has not been sliced yet, or if it was cancelled in one of those
    /// states.
    pub file_id: Option<Id>,
    /// Model and settings to slice the file from, if the SKU has a model and no G-code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SliceSource>,
    /// Format of the G-code file.
    #[serde(default)]
    pub file_form: GcodeForm,
    /// Plate number within the file, and the machine that the file was sliced for.
    #[serde(default)]
    pub sliced_for: SlicingTarget,
    /// Filament length for the plate, in millimetres, as stated in the file; used to correct the consumption.
    pub file_filament_mm: Option<f64>,
    /// Print time in seconds, as stated in the file.
    pub estimated_seconds: Option<i64>,
    /// Number of parts on the plate; 0 in jobs created before this field existed.
    #[serde(default)]
    pub plate_parts: u32,
    /// `true` if the job was created automatically to replace rejected parts.
    #[serde(default)]
    pub reprint: bool,
    /// Number of parts on the plate in excess of the missing ones, if the job replaces rejected parts; they become
    /// spares. 0 for the order's original jobs.
    #[serde(default)]
    pub spare_parts: u32,
    /// `true` if the job was cancelled because its parts are no longer needed, rather than because the order gave up on
    /// them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub surplus: bool,
    /// `true` if the job is COMPLETED but its parts are counted only after an operator signs them off.
    #[serde(default)]
    pub unsigned: bool,
    /// Current state.
    pub state: JobState,
    /// Reason why the job awaits review; `None` in every other state.
    pub blocked_by: Option<Block>,
    /// Human-readable reason for the block, as reported by the material; used for the API's `waitingReason`.
    pub block_reason: Option<String>,
    /// State of the current claim on [`Job::material_id`]; [`Job::claims`] covers all materials.
    pub stock: ClaimStatus,
    /// Number of the current claim on [`Job::material_id`], starting at 1. Each new reservation gets a number that no
    /// earlier claim of the job has had, so that a late response to an earlier claim is recognised.
    pub claim: u32,
    /// Earlier claims that the material has not settled yet: claim number and consumption.
    #[serde(default)]
    pub settling: Vec<(u32, Amount)>,
    /// Spools from which the printer itself deducted the consumption, by claim number, for claims not settled yet.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub booked_on: BTreeMap<u32, Vec<i64>>,
    /// `true` if the material recalled the reservation while an attempt was live; the job returns the reservation if
    /// the attempt prints nothing.
    #[serde(default)]
    pub recalled: bool,
    /// `true` if an operator released the job past the reorder point; sent with the claim.
    pub released: bool,
    /// Dispatch priority, from 0 to 9; jobs with higher values are printed first.
    pub priority: u8,
    /// Due time; a job without one ranks behind all jobs of the same priority that have one.
    pub due_at: Option<Timestamp>,
    /// Printer of the live attempt or, after it has ended, of the last attempt; `None` while the job is queued for a
    /// printer.
    pub printer_id: Option<Id>,
    /// ID of the live attempt, if a printer is claimed.
    pub attempt_id: Option<Id>,
    /// Printers that rejected the job, or definitely did not start it, since it last became VALIDATED, without
    /// duplicates. The dispatcher prefers other printers, and fails the job once every capable printer is listed,
    /// unless a person has cleared the printer since ([`crate::printer::Printer::forgiven_at`]) or removed it.
    pub tried_on: Vec<Id>,
    /// All attempts, oldest first.
    pub attempts: Vec<Attempt>,
    /// Time of a cancellation request that still awaits the printer's confirmation, if any.
    pub cancel_requested_at: Option<Timestamp>,
    /// Human-readable reason why the job is FAILED, as a single sentence; cleared by a retry.
    pub error: Option<String>,
    /// Rest of the printer's error message after the first sentence, which is in [`Job::error`]; cleared by a retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_details: Option<String>,
    /// Total consumption of [`Job::material_id`] across all claims, in the material's unit.
    pub consumed: Amount,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

impl Job {
    /// Returns the job number in its display form, `JOB-000123`.
    pub fn number_text(&self) -> String {
        format!("JOB-{:06}", self.number)
    }
    /// Returns whether the job is COMPLETED, FAILED or CANCELLED; it then changes only through a user's action.
    pub fn over(&self) -> bool {
        matches!(self.state, JobState::Completed | JobState::Failed | JobState::Cancelled)
    }
    /// Returns the live attempt, if a printer is claimed.
    pub fn live(&self) -> Option<&Attempt> {
        self.attempt_id.and_then(|id| self.attempts.iter().find(|a| a.id == id))
    }
    /// Returns the last attempt that has ended and printed something, if any.
    pub fn last_print(&self) -> Option<&Attempt> {
        self.attempts.iter().rev().find(|attempt| attempt.printed())
    }
    /// Returns the name of an attempt's file on the printer. It contains the attempt's ID, so it is unique and never
    /// reused.
    pub fn file_name(&self, attempt: Id) -> String {
        format!("{}_{attempt}.{}", self.number_text(), self.file_form.ending())
    }
    /// Returns the fraction of the job's need that a print consumed, where 1 is the entire need (see [`used_share`]).
    pub fn used(&self, end: PrintEnd, filament_mm: Option<f64>, progress: f64) -> f64 {
        used_share(end, filament_mm, self.file_filament_mm, progress)
    }
    /// Returns the requirements that a printer must meet to print the job.
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
