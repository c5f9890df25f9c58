//! API representation of a job.

use api_derive::Response;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::JobHandles;
use crate::production::orders::{self, OrderNumber};
use crate::production::printers::Percent;
use crate::production::sign_off::SignOffView;
use crate::production::{materials, skus};
use domain::amount::Amount;
use domain::dispatch::{SpoolToLoad, Waiting, WaitingCause, WaitingCode, spools_to_load};
use domain::id::Id;
use domain::job::{Attempt, AttemptState, Block, ClaimStatus, Job, JobClaim, JobState};
use domain::time::Timestamp;
use http::openapi::shape::{Shape, text_like};
use http::wire::ToSchema;
use words::Language;

const EXAMPLE_PRINTER: &str = "01890a5d-ac96-774b-bcce-b302099a8069";

/// Job: one plate for an order line.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Job", many = "jobs", example = json!({
    "id": super::EXAMPLE_ID, "number": "JOB-000245", "orderId": orders::EXAMPLE_ID, "orderNumber": "ORD-000123", "line": 0,
    "skuId": skus::EXAMPLE_ID, "materialId": materials::EXAMPLE_ID, "need": 20.5,
    "needs": [{"materialId": materials::EXAMPLE_ID, "need": 20.5, "reserved": true, "consumed": 0}], "reserved": true,
    "state": "PRINTING", "blockedBy": null, "waitingReason": null, "waitingCauses": [], "priority": 5, "dueAt": null,
    "printerId": EXAMPLE_PRINTER,
    "plateParts": 1, "reprint": false, "spareParts": 0, "surplus": false, "awaitsSignOff": false, "progress": 42.5, "remainingSeconds": 3100,
    "expectedAt": "2026-11-02T11:07:40.000Z", "fileId": "01890a5d-ac96-774b-bcce-b302099a8064",
    "plate": 1, "attempts": [{
        "id": "01890a5d-ac96-774b-bcce-b302099a8068", "number": 1, "printerId": EXAMPLE_PRINTER, "state": "confirmed",
        "unverified": false, "reason": null, "startedAt": "2026-11-02T10:16:00.000Z", "endedAt": null, "signOff": null,
        "photoFileId": null,
    }],
    "cancelRequestedAt": null, "error": null, "errorDetails": null, "consumed": 0, "createdAt": "2026-11-02T10:00:00.000Z",
    "updatedAt": "2026-11-02T10:16:00.000Z", "version": 6,
}))]
pub struct JobView {
    /// ID of the job.
    id: Id,
    /// Human-readable number of the job.
    number: JobNumber,
    /// ID of the order that the job belongs to.
    order_id: Id,
    /// Human-readable number of the order.
    order_number: OrderNumber,
    /// Index of the order line, starting at 0.
    line: u32,
    /// ID of the SKU that the job makes.
    sku_id: Id,
    /// ID of the material that the job uses.
    material_id: Id,
    /// Amount of material for one plate, in the material's unit.
    need: Amount,
    /// Amount needed of each material, in the order in which they are reserved; `materialId` and `need` duplicate one
    /// of the entries.
    needs: Vec<NeedView>,
    /// `true` if all the material that the job needs is reserved.
    reserved: bool,
    /// State of the job.
    state: JobState,
    /// Reason the job needs to be reviewed, if it does.
    blocked_by: Option<Block>,
    /// Reason the job is on hold, in plain language; null if it is not on hold.
    waiting_reason: Option<String>,
    /// Causes for which the job is waiting, starting with the one that is resolved most quickly; empty if it is not
    /// waiting.
    waiting_causes: Vec<WaitingCauseView>,
    /// Priority from 0 to 9; jobs with a higher number are printed first.
    priority: u8,
    /// Time by which the job is due.
    due_at: Option<Timestamp>,
    /// ID of the printer that the job is on or was last on; null while no printer has been assigned.
    printer_id: Option<Id>,
    /// Number of parts on the plate.
    plate_parts: u32,
    /// `true` if the job was created automatically to replace rejected parts.
    reprint: bool,
    /// Number of spare parts that a replacement job makes: parts on the plate beyond those that were missing when the
    /// job was created. 0 for all other jobs.
    spare_parts: u32,
    /// `true` if the job was cancelled because its order already has all the parts it needs.
    surplus: bool,
    /// `true` if the job is completed but its parts are not counted until they are signed off.
    awaits_sign_off: bool,
    /// Progress of the print, in percent; for a failed or cancelled job, the progress of its last print.
    progress: Percent,
    /// Remaining print time, in seconds, as estimated by the printer.
    remaining_seconds: Option<i64>,
    /// Expected completion time, based on the whole queue; it changes without a new version. Null if the job is
    /// finished or cannot be forecast.
    expected_at: Option<Timestamp>,
    /// ID of the G-code file, if any.
    file_id: Option<Id>,
    /// Number of the plate in the file, starting at 1.
    plate: u32,
    /// Attempts to print the job, oldest first.
    attempts: Vec<AttemptView>,
    /// Time at which cancellation was requested, if the printer has not confirmed it yet; null otherwise.
    cancel_requested_at: Option<Timestamp>,
    /// Reason the job failed, in one sentence.
    error: Option<String>,
    /// Further details from the printer, if any, as lines that each end with a line feed.
    error_details: Option<String>,
    /// Amount of `materialId` consumed, in the material's unit.
    consumed: Amount,
    /// Time at which the job was created, when its order was paid.
    created_at: Timestamp,
    /// Time at which the job last changed.
    updated_at: Timestamp,
    /// Version number of the job, which is incremented with each change to the job itself.
    version: i64,
}

/// Amount of a material needed by a job.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "JobNeed")]
struct NeedView {
    /// ID of the required material.
    material_id: Id,
    /// Amount needed, in the material's unit.
    need: Amount,
    /// `true` if this amount is reserved in stock.
    reserved: bool,
    /// Amount consumed so far, in the material's unit.
    consumed: Amount,
}

impl NeedView {
    fn new(claim: &JobClaim<'_>) -> Self {
        let JobClaim { material_id, need, consumed, .. } = *claim;
        Self { material_id, need, reserved: claim.stock == ClaimStatus::Held, consumed }
    }
}

/// Cause for which a job is waiting.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "WaitingCause")]
struct WaitingCauseView {
    /// Kind of the cause.
    code: WaitingCode,
    /// Cause in plain language, with the names of its printers.
    message: String,
    /// IDs of the materials that are missing.
    material_ids: Vec<Id>,
    /// IDs of the affected printers, in the dispatcher's order of preference; at most 10.
    printer_ids: Vec<Id>,
    /// Number of affected printers, including those that are not listed.
    printer_count: u64,
    /// Time at which the cause is expected to end by itself; null if it depends on more than time.
    ends_at: Option<Timestamp>,
}

impl WaitingCauseView {
    fn new(cause: &WaitingCause) -> Self {
        Self {
            code: cause.code,
            message: cause.message(),
            material_ids: cause.materials.clone(),
            printer_ids: cause.printers.iter().map(|(id, _)| *id).collect(),
            printer_count: cause.printer_count as u64,
            ends_at: cause.ends_at,
        }
    }
}

/// Attempt to print a job on a printer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Attempt")]
struct AttemptView {
    /// ID of the attempt, also part of the file name on the printer.
    id: Id,
    /// Number of the attempt within the job, starting at 1.
    number: u32,
    /// ID of the printer assigned to the attempt.
    printer_id: Id,
    /// State of the attempt, or its outcome.
    state: AttemptState,
    /// `true` if it is unknown whether the print started.
    unverified: bool,
    /// Reason the attempt ended, in plain language.
    reason: Option<String>,
    /// Time at which the printer reported the file as being printed.
    started_at: Option<Timestamp>,
    /// Time at which the attempt ended; null while it is in progress.
    ended_at: Option<Timestamp>,
    /// Sign-off of the parts; null until the attempt has ended and the parts are signed off.
    sign_off: Option<SignOffView>,
    /// ID of the photo taken by the server at the end of the print; null if the printer has no camera or the photo was
    /// deleted.
    photo_file_id: Option<Id>,
}

/// Human-readable number of a job, formatted as `JOB-000245`.
pub struct JobNumber(pub i64);

impl Serialize for JobNumber {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("JOB-{:06}", self.0))
    }
}

impl ToSchema for JobNumber {
    fn schema() -> Shape {
        text_like("^JOB-[0-9]{6,}$")
    }
}

impl JobView {
    /// Builds the view of a job, including its current state according to its printer and the dispatcher.
    pub fn new(app: &JobHandles, job: &Job) -> Self {
        let printing = matches!(job.state, JobState::Printing | JobState::Paused);
        let status = job.printer_id.filter(|_| printing).and_then(|printer| app.printer_connections.status(printer));
        let resident = job.printer_id.filter(|_| printing).and_then(|printer| app.printers.resident(printer));
        let current_progress =
            resident.and_then(|printer| printer.read().state.as_ref()?.progress_of(job.id, status.as_ref()));
        let progress = match job.state {
            JobState::Completed => 100.0,
            JobState::Failed | JobState::Cancelled => came_to(job) * 100.0,
            _ => current_progress.unwrap_or(0.0) * 100.0,
        };
        let waiting = app.waiting(Language::English, job);
        Self {
            id: job.id,
            number: JobNumber(job.number),
            order_id: job.order_id,
            order_number: OrderNumber(job.order_number),
            line: job.line,
            sku_id: job.sku_id,
            material_id: job.material_id,
            need: job.need,
            needs: job.claims().iter().map(NeedView::new).collect(),
            reserved: job.holds_all(),
            state: job.state,
            blocked_by: job.blocked_by,
            waiting_reason: waiting.as_ref().map(Waiting::sentence),
            waiting_causes: waiting.iter().flat_map(|waiting| &waiting.causes).map(WaitingCauseView::new).collect(),
            priority: job.priority,
            due_at: job.due_at,
            printer_id: job.printer_id,
            plate_parts: job.plate_parts.max(1),
            reprint: job.reprint,
            spare_parts: job.spare_parts,
            surplus: job.surplus && job.state == JobState::Cancelled,
            awaits_sign_off: job.unsigned,
            progress: Percent(progress),
            remaining_seconds: status.and_then(|status| status.remaining_seconds),
            expected_at: app.forecaster.latest().jobs.get(&job.id).copied().filter(|_| !job.over()),
            file_id: job.file_id,
            plate: job.sliced_for.plate,
            attempts: job.attempts.iter().map(AttemptView::new).collect(),
            cancel_requested_at: job.cancel_requested_at,
            error: job.error.clone(),
            error_details: job.error_details.clone(),
            consumed: job.consumed,
            created_at: job.created_at,
            updated_at: job.updated_at,
            version: job.version,
        }
    }
}

impl AttemptView {
    fn new(attempt: &Attempt) -> Self {
        Self {
            id: attempt.id,
            number: attempt.number,
            printer_id: attempt.printer_id,
            state: attempt.state,
            unverified: attempt.unverified,
            reason: attempt.reason.clone(),
            started_at: attempt.started_at,
            ended_at: attempt.ended_at,
            sign_off: attempt.sign_off.as_ref().map(SignOffView::from),
            photo_file_id: attempt.photo_file_id,
        }
    }
}

/// Returns the progress, from 0 to 1, that the job's last print had reached when it ended. Attempts that printed
/// nothing are skipped.
fn came_to(job: &Job) -> f64 {
    job.attempts.iter().rev().find_map(|attempt| attempt.progress).unwrap_or(0.0)
}

impl JobHandles {
    /// Returns the reason a job is on hold, as a sentence in the given language; `None` if it is not on hold.
    pub fn waiting_reason(&self, language: Language, job: &Job) -> Option<String> {
        self.waiting(language, job).as_ref().map(Waiting::sentence)
    }

    /// Returns why a job is waiting, with all causes; `None` if it is not waiting.
    pub fn waiting(&self, language: Language, job: &Job) -> Option<Waiting> {
        self.dispatcher.waiting(language, job, &self.forecaster.latest().jobs)
    }

    /// Returns the spools to load so that a job on hold can be printed.
    pub fn spools_to_load(&self, job: &Job) -> Vec<SpoolToLoad> {
        self.dispatcher.around(Language::English, job, None, |around| spools_to_load(job, around))
    }
}
