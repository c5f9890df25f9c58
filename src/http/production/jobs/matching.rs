//! The match of a job with every printer: where it could go now, and what is missing elsewhere.

use api_derive::Response;
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::{JobHandles, find};
use crate::domain::amount::Amount;
use crate::domain::dispatch::{PrinterMatch, match_printers, waiting_reason};
use crate::domain::id::Id;
use crate::domain::job::{Job, JobState};
use crate::domain::launch::ChosenSlot;
use crate::http::error::ApiError;
use crate::http::path_id::PathId;
use crate::http::production::materials;
use crate::http::reply::Plain;

const EXAMPLE_PRINTER: &str = "01890a5d-ac96-774b-bcce-b302099a8069";

/// Where a job could be printed.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "JobMatch", example = json!({
    "jobId": super::EXAMPLE_ID, "state": "SLICED", "possible": true, "waitingReason": "waits for its turn",
    "printers": [{
        "printerId": EXAMPLE_PRINTER, "name": "Left", "possible": true, "fits": true, "ready": true, "missing": [],
        "slots": [{"materialId": materials::EXAMPLE_ID, "need": 20.5, "slot": 0, "remaining": 950, "loaded": true}],
    }],
}))]
pub struct JobMatch {
    /// The one that was asked about.
    job_id: Id,
    /// How far the job is.
    state: JobState,
    /// A printer could take it now.
    possible: bool,
    /// Why it waits, in plain words.
    waiting_reason: Option<String>,
    /// All printers, in the order in which the job would be given to them.
    pub(crate) printers: Vec<PrinterMatchView>,
}

/// How a job goes together with a printer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterMatch")]
pub(crate) struct PrinterMatchView {
    /// Which one it is about.
    pub(crate) printer_id: Id,
    /// The printer's name.
    pub(crate) name: String,
    /// It fits and is ready.
    pub(crate) possible: bool,
    /// Nothing is missing for good: form of file, machine type, model, volume, nozzle, plate, materials in slots, what
    /// is left there.
    pub(crate) fits: bool,
    /// The printer could take a job now.
    pub(crate) ready: bool,
    /// What is missing, in plain words.
    pub(crate) missing: Vec<String>,
    /// The slots that the job would be printed from.
    pub(crate) slots: Vec<SlotMatchView>,
}

/// The slot that a material would come from.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SlotMatch")]
pub(crate) struct SlotMatchView {
    /// What would be taken from the slot.
    pub(crate) material_id: Id,
    /// What the job needs of it, in the material's unit.
    pub(crate) need: Amount,
    /// Number of the slot.
    pub(crate) slot: u32,
    /// What is left there, in the material's unit; null: nobody knows.
    remaining: Option<Amount>,
    /// Whether the material is known to be in the slot; false where it is not known what is in it.
    pub(crate) loaded: bool,
}

impl PrinterMatchView {
    fn new(one: &PrinterMatch<'_>) -> Self {
        let slot = |chosen: &ChosenSlot| SlotMatchView {
            material_id: chosen.needed.material_id,
            need: chosen.needed.need,
            slot: chosen.slot,
            remaining: chosen.remaining,
            loaded: chosen.loaded,
        };
        let busy = one.busy.as_ref().map(|why| format!("the printer is {why}"));
        Self {
            printer_id: one.printer.id,
            name: one.printer.fields.name.clone(),
            possible: one.is_possible(),
            fits: one.fit.fits(),
            ready: one.busy.is_none(),
            missing: one.missing.iter().cloned().chain(busy).collect(),
            slots: one.fit.slots.iter().map(slot).collect(),
        }
    }
}

/// `GET /api/jobs/{id}/match`
pub(super) async fn matching(State(app): State<JobHandles>, PathId(id): PathId) -> Result<Plain<JobMatch>, ApiError> {
    let job = find(&app, id).await?;
    Ok(Plain(of(&app, &job)))
}

/// How a job goes together with every printer now.
pub(super) fn of(app: &JobHandles, job: &Job) -> JobMatch {
    app.dispatcher.around(job, |around| {
        let printers: Vec<PrinterMatchView> = match_printers(job, around).iter().map(PrinterMatchView::new).collect();
        let possible = printers.iter().any(|one| one.possible);
        let waiting_reason = waiting_reason(job, around);
        JobMatch { job_id: job.id, state: job.state, possible, waiting_reason, printers }
    })
}
