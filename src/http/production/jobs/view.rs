//! A job as it is shown.

use api_derive::Response;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::JobHandles;
use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::job::{Attempt, AttemptState, Block, Job, JobClaim, JobState, Stock};
use crate::domain::time::Timestamp;
use crate::http::openapi::shape::{Shape, text_like};
use crate::http::production::orders::{self, OrderNumber};
use crate::http::production::printers::Percent;
use crate::http::production::sign_off::SignOffView;
use crate::http::production::{materials, skus};
use crate::http::wire::{ToSchema, readable};

readable!(AttemptState, Block, JobState);

const EXAMPLE_PRINTER: &str = "01890a5d-ac96-774b-bcce-b302099a8069";

/// One plate of one line of an order.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Job", many = "jobs", example = json!({
    "id": super::EXAMPLE_ID, "number": "JOB-000245", "orderId": orders::EXAMPLE_ID, "orderNumber": "ORD-000123", "line": 0,
    "skuId": skus::EXAMPLE_ID, "materialId": materials::EXAMPLE_ID, "need": 20.5,
    "needs": [{"materialId": materials::EXAMPLE_ID, "need": 20.5, "reserved": true, "consumed": 0}], "reserved": true,
    "state": "PRINTING", "blockedBy": null, "waitingReason": null, "priority": 5, "dueAt": null, "printerId": EXAMPLE_PRINTER,
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
    /// Id of the job.
    id: Id,
    /// The number that people use.
    number: JobNumber,
    /// Id of the order that it belongs to.
    order_id: Id,
    /// The number of that order that people use.
    order_number: OrderNumber,
    /// Index of the order's line, from 0.
    line: u32,
    /// Id of the SKU that it makes.
    sku_id: Id,
    /// Id of the material that it is made of.
    material_id: Id,
    /// Material that one plate takes, in the material's unit.
    need: Amount,
    /// What it takes of each material, in the order in which they are reserved; `materialId` and `need` are one of
    /// them.
    needs: Vec<NeedView>,
    /// All that it needs is reserved.
    reserved: bool,
    /// How far the job is.
    state: JobState,
    /// Why it awaits review; null while it does not.
    blocked_by: Option<Block>,
    /// Why it waits, in plain words; null while it does not.
    waiting_reason: Option<String>,
    /// From 0 to 9; jobs with a higher number are printed first.
    priority: u8,
    /// When it is wanted.
    due_at: Option<Timestamp>,
    /// The printer that has the job in hand, or had it last; null while the job waits for one.
    printer_id: Option<Id>,
    /// How many parts its plate makes.
    plate_parts: u32,
    /// It was made by itself for parts that were rejected.
    reprint: bool,
    /// For such a job, parts of its plate that were not missing when it was made: they become spares. 0 for all others.
    spare_parts: u32,
    /// It was cancelled because its order has all its parts without it.
    surplus: bool,
    /// It is completed, and its parts count once somebody has signed them off.
    awaits_sign_off: bool,
    /// How much of the print is done, in percent; of a job that failed or was cancelled, how far its last print came.
    progress: Percent,
    /// Seconds until the print ends, as the printer estimates.
    remaining_seconds: Option<i64>,
    /// When it is expected to be printed, by the whole queue; it moves without a new version. Null when it is over, or
    /// nobody can tell.
    expected_at: Option<Timestamp>,
    /// The G-code file that is printed; null until one is known.
    file_id: Option<Id>,
    /// The plate of the file, from 1.
    plate: u32,
    /// Its attempts to print, oldest first.
    attempts: Vec<AttemptView>,
    /// A cancel waits for the printer since then.
    cancel_requested_at: Option<Timestamp>,
    /// Why the job failed, in one sentence.
    error: Option<String>,
    /// What the printer said besides; lines end with a line feed. Null where it said no more.
    error_details: Option<String>,
    /// What it used up of `materialId`, in the material's unit.
    consumed: Amount,
    /// When it was made, with the payment of its order.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
    /// Counts the job's own changes.
    version: i64,
}

/// What a job takes of one material.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "JobNeed")]
struct NeedView {
    /// The material that is used up.
    material_id: Id,
    /// In the material's unit.
    need: Amount,
    /// Whether this need is reserved in the stock.
    reserved: bool,
    /// What was used up so far, in the material's unit.
    consumed: Amount,
}

impl NeedView {
    fn new(claim: &JobClaim<'_>) -> Self {
        let JobClaim { material_id, need, consumed, .. } = *claim;
        Self { material_id, need, reserved: claim.stock == Stock::Held, consumed }
    }
}

/// One try of a job on one printer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Attempt")]
struct AttemptView {
    /// Also part of the file's name on the printer.
    id: Id,
    /// Counts from 1 within the job.
    number: u32,
    /// The printer that was to print it.
    printer_id: Id,
    /// How far the attempt is, or how it ended.
    state: AttemptState,
    /// Nobody can say whether the start happened.
    unverified: bool,
    /// Why it ended, in plain words.
    reason: Option<String>,
    /// When the printer showed the file.
    started_at: Option<Timestamp>,
    /// When it ended; null while it goes on.
    ended_at: Option<Timestamp>,
    /// How its parts were judged; null before its end, and while a person still has to judge them.
    sign_off: Option<SignOffView>,
    /// The picture that the server took when it ended; null where its printer has no camera, and once it was deleted.
    photo_file_id: Option<Id>,
}

/// The number of a job, written as `JOB-000245`.
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
    /// The view of a job, with what its printer and the dispatcher say of it at the moment.
    pub(crate) fn new(app: &JobHandles, job: &Job) -> Self {
        let printing = matches!(job.state, JobState::Printing | JobState::Paused);
        let status = job.printer_id.filter(|_| printing).and_then(|printer| app.printer_connections.status(printer));
        let known = job.printer_id.filter(|_| printing).and_then(|printer| app.printers.resident(printer));
        let known = known.and_then(|printer| printer.read().state.as_ref()?.progress_of(job.id, status.as_ref()));
        let progress = match job.state {
            JobState::Completed => 100.0,
            JobState::Failed | JobState::Cancelled => came_to(job) * 100.0,
            _ => known.unwrap_or(0.0) * 100.0,
        };
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
            waiting_reason: waiting_reason(app, job),
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

/// Returns how far the last print of a job came that ended unfinished, 0 to 1. Attempts that never printed say nothing.
fn came_to(job: &Job) -> f64 {
    job.attempts.iter().rev().find_map(|attempt| attempt.progress).unwrap_or(0.0)
}

pub(super) fn waiting_reason(app: &JobHandles, job: &Job) -> Option<String> {
    if job.over() {
        return None;
    }
    app.dispatcher.waiting_reason(job).or_else(|| job.block_reason.clone())
}
