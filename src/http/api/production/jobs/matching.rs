//! Comparison of a job with every printer: the printers that can print it now, and the obstacles at the remaining ones.

use api_derive::Response;
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::{JobHandles, find};
use crate::production::materials;
use domain::amount::Amount;
use domain::dispatch::{PrinterMatch, WaitContext, Waiting, match_printers, waiting};
use domain::id::Id;
use domain::job::{Job, JobState};
use domain::launch::ChosenSlot;
use http::error::ApiError;
use http::path_id::PathId;
use http::reply::Plain;
use words::Language;
use words::staff::waiting as texts;

const EXAMPLE_PRINTER: &str = "01890a5d-ac96-774b-bcce-b302099a8069";

/// All printers, and whether each of them could print a job.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "JobMatch", example = json!({
    "jobId": super::EXAMPLE_ID, "state": "SLICED", "possible": true, "waitingReason": "Waiting for its turn.",
    "printers": [{
        "printerId": EXAMPLE_PRINTER, "name": "Left", "possible": true, "fits": true, "ready": true, "missing": [],
        "slots": [{"materialId": materials::EXAMPLE_ID, "need": 20.5, "slot": 0, "remaining": 950, "loaded": true}],
    }],
}))]
pub struct JobMatch {
    /// ID of the job to print.
    job_id: Id,
    /// State of the job.
    state: JobState,
    /// `true` if at least one printer could take the job now.
    possible: bool,
    /// Reason the job is on hold, in plain language.
    waiting_reason: Option<String>,
    /// All printers, in the order in which the dispatcher would choose them.
    pub printers: Vec<PrinterMatchView>,
}

/// Result of comparing a printer with a job.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterMatch")]
pub struct PrinterMatchView {
    /// ID of the printer compared with the job.
    pub printer_id: Id,
    /// Name of the printer.
    pub name: String,
    /// `true` if the printer is suitable for the job and ready.
    pub possible: bool,
    /// `true` if the printer is suitable for the job in every respect that does not change by itself: file format,
    /// machine type, model, volume, nozzle, build plate, materials in slots, and their remaining amounts.
    pub fits: bool,
    /// `true` if the printer could take a job now.
    pub ready: bool,
    /// Obstacles, in plain language.
    pub missing: Vec<String>,
    /// Slots from which the job would be printed.
    pub slots: Vec<SlotMatchView>,
}

/// Slot that would supply a material.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SlotMatch")]
pub struct SlotMatchView {
    /// ID of the material in the slot.
    pub material_id: Id,
    /// Amount that the job needs, in the material's unit.
    pub need: Amount,
    /// Number of the slot.
    pub slot: u32,
    /// Amount remaining in the slot, in the material's unit; null if unknown.
    remaining: Option<Amount>,
    /// `true` if the material is known to be in the slot; `false` if the slot's contents are unknown.
    pub loaded: bool,
}

impl PrinterMatchView {
    fn new(one: &PrinterMatch<'_>, around: &WaitContext<'_>) -> Self {
        let slot = |chosen: &ChosenSlot| SlotMatchView {
            material_id: chosen.needed.material_id,
            need: chosen.needed.need,
            slot: chosen.slot,
            remaining: chosen.remaining,
            loaded: chosen.loaded,
        };
        let language = around.language;
        let busy = one.busy.as_ref().map(|why| texts::printer_is(language, &why.words(language)));
        Self {
            printer_id: one.printer.id,
            name: one.printer.fields.name.clone(),
            possible: one.is_possible(),
            fits: one.fit.fits(),
            ready: one.busy.is_none(),
            missing: one.missing_words(around).into_iter().chain(busy).collect(),
            slots: one.fit.slots.iter().map(slot).collect(),
        }
    }
}

/// Serves `GET /api/jobs/{id}/match`.
pub(super) async fn matching(State(app): State<JobHandles>, PathId(id): PathId) -> Result<Plain<JobMatch>, ApiError> {
    let job = find(&app, id).await?;
    Ok(Plain(app.compare_printers(Language::English, &job)))
}

impl JobHandles {
    /// Compares a job with every printer in its current state. What is missing is described in the given language.
    pub fn compare_printers(&self, language: Language, job: &Job) -> JobMatch {
        let forecast = self.forecaster.latest();
        self.dispatcher.around(language, job, Some(&forecast.jobs), |around| {
            let matches = match_printers(job, around);
            let printers: Vec<PrinterMatchView> =
                matches.iter().map(|one| PrinterMatchView::new(one, around)).collect();
            let possible = printers.iter().any(|one| one.possible);
            let waiting_reason = waiting(job, around).as_ref().map(Waiting::sentence);
            JobMatch { job_id: job.id, state: job.state, possible, waiting_reason, printers }
        })
    }
}
