//! Ways to get an order ready on time, as shown to staff.

use api_derive::Response;
use serde::Serialize;

use domain::id::Id;
use domain::remedy::{NamedRecord, OrderRecovery, Remedy, RemedyAct};
use domain::time::Timestamp;
use words::Language;

/// Ways to get an order that is late or at risk ready on time.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderRecovery")]
pub struct RecoveryView {
    /// Actions each of which would get the order ready by its deadline, soonest first; at most 5. If there are none, no
    /// single action is known to do so.
    remedies: Vec<RemedyView>,
    /// Action after which the order would be ready soonest, although late; null if there is a remedy, or if no action
    /// helps.
    quickest: Option<RemedyView>,
    /// Earliest time at which the order can be ready, with one action or with none; null if it cannot be forecast.
    earliest_at: Option<Timestamp>,
}

/// Action by staff, and the time by which the order is expected to be ready after it.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderRemedy")]
pub struct RemedyView {
    /// Kind of the action.
    act: RemedyAct,
    /// Action in plain language, with the names of printers, materials and jobs.
    message: String,
    /// ID of the printer at which to perform it; null if it does not concern a printer.
    printer_id: Option<Id>,
    /// IDs of the materials to load; empty for other actions.
    material_ids: Vec<Id>,
    /// IDs of the jobs to sign off, resume or retry; empty for other actions.
    job_ids: Vec<Id>,
    /// Time by which the order is expected to be ready if only this action is performed, and performed now.
    expected_at: Timestamp,
}

impl RecoveryView {
    /// Builds the view of the ways to get an order ready on time.
    pub(super) fn new(recovery: &OrderRecovery) -> Self {
        Self {
            remedies: recovery.remedies.iter().map(RemedyView::new).collect(),
            quickest: recovery.quickest.as_ref().map(RemedyView::new),
            earliest_at: recovery.earliest_at,
        }
    }
}

impl RemedyView {
    fn new(remedy: &Remedy) -> Self {
        let ids = |records: &[NamedRecord]| records.iter().map(|one| one.id).collect();
        Self {
            act: remedy.act,
            message: remedy.request(Language::English),
            printer_id: remedy.printer.as_ref().map(|printer| printer.id),
            material_ids: ids(&remedy.materials),
            job_ids: ids(&remedy.jobs),
            expected_at: remedy.expected_at,
        }
    }
}

/// Returns the number of bytes on the heap that the ways to get an order ready on time use.
pub(super) fn heap_bytes(recovery: &OrderRecovery) -> usize {
    let of_records = |records: &[NamedRecord]| -> usize {
        records.iter().map(|record| size_of::<NamedRecord>() + record.name.len()).sum()
    };
    let of_remedy = |remedy: &Remedy| {
        let printer = remedy.printer.as_ref().map_or(0, |printer| printer.name.len());
        size_of::<Remedy>() + printer + of_records(&remedy.materials) + of_records(&remedy.jobs)
    };
    let remedies: usize = recovery.remedies.iter().chain(&recovery.quickest).map(of_remedy).sum();
    size_of::<OrderRecovery>() + remedies
}
