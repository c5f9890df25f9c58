//! Acts for an order, with the state of the shop after each of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::StockedMaterial;
use crate::amount::Amount;
use crate::forecast::{is_queued, matters};
use crate::id::Id;
use crate::job::{Job, JobState};
use crate::order::Order;
use crate::printer::Printer;
use crate::remedy::{MAX_PRIORITY, NamedRecord, Remedy, RemedyAct};
use crate::time::Timestamp;

/// Act to be tried, with the state of the shop after it.
pub(super) struct ActTrial {
    act: RemedyAct,
    printer: Option<NamedRecord>,
    materials: Vec<NamedRecord>,
    jobs: Vec<NamedRecord>,
    /// Effect of the act on the input of a forecast.
    pub(super) effect: ActEffect,
}

/// Effect of an act on the input of a forecast.
pub(super) enum ActEffect {
    /// Order as it would be.
    Order(Box<Order>),
    /// Printer as it would be.
    Printer(Box<Printer>),
}

/// Kind, printer and materials of an act, which identify it.
pub(super) type ActKey = (RemedyAct, Option<NamedRecord>, Vec<NamedRecord>);

impl ActTrial {
    /// Creates a trial of an act that does not concern a printer or materials.
    fn of_order(act: RemedyAct, jobs: Vec<NamedRecord>, after: Order) -> Self {
        let effect = ActEffect::Order(Box::new(after));
        Self { act, printer: None, materials: Vec::new(), jobs, effect }
    }

    /// Creates a trial of an act at a printer, with the materials to load and the printer after it.
    pub(super) fn at_printer(act: RemedyAct, materials: Vec<NamedRecord>, printer: &Printer, after: Printer) -> Self {
        let effect = ActEffect::Printer(Box::new(after));
        Self { act, printer: Some(named_printer(printer)), materials, jobs: Vec::new(), effect }
    }

    /// Returns the key that identifies the act.
    pub(super) fn key(&self) -> ActKey {
        (self.act, self.printer.clone(), self.materials.clone())
    }

    /// Returns the act as a remedy, with the time by which the order is ready after it.
    pub(super) fn remedy(self, expected_at: Timestamp) -> Remedy {
        let Self { act, printer, materials, jobs, .. } = self;
        Remedy { act, printer, materials, jobs, expected_at }
    }
}

/// Returns the trial of giving the order the highest priority; `None` if none of its jobs would gain from it.
pub(super) fn priority_trial(order: &Order) -> Option<ActTrial> {
    let can_gain = |job: &Job| is_queued(job) && job.priority < MAX_PRIORITY;
    let after = with_jobs(order, can_gain, |job| job.priority = MAX_PRIORITY)?;
    Some(ActTrial::of_order(RemedyAct::RaisePriority, Vec::new(), after))
}

/// Returns the trial of retrying the order's failed jobs, which then claim their materials again; `None` if there are
/// none, or if less is available than they need.
pub(super) fn retry_trial(order: &Order, stocked_material: &dyn Fn(Id) -> Option<StockedMaterial>) -> Option<ActTrial> {
    let is_failed = |job: &Job| job.state == JobState::Failed && job.file_id.is_some() && matters(job);
    let after = with_jobs(order, is_failed, |job| {
        (job.state, job.attempt_id) = (JobState::Sliced, None);
        job.tried_on.clear();
    })?;
    let mut needs: BTreeMap<Id, Amount> = BTreeMap::new();
    for needed in order.jobs.values().filter(|job| is_failed(job)).flat_map(|job| job.material_needs()) {
        *needs.entry(needed.material_id).or_default() += needed.need;
    }
    let is_available = |(id, need): (&Id, &Amount)| stocked_material(*id).is_some_and(|one| one.available >= *need);
    let is_in_stock = needs.iter().all(is_available);
    is_in_stock.then(|| ActTrial::of_order(RemedyAct::Retry, jobs_with(order, is_failed), after))
}

/// Returns the order with some of its jobs changed; `None` if there are none.
pub(super) fn with_jobs(order: &Order, is_meant: impl Fn(&Job) -> bool, change: impl Fn(&mut Job)) -> Option<Order> {
    let meant: Vec<&Arc<Job>> = order.jobs.values().filter(|job| is_meant(job)).collect();
    if meant.is_empty() {
        return None;
    }
    let mut after = order.clone();
    for job in meant {
        let mut changed = Job::clone(job);
        change(&mut changed);
        after.jobs.insert_mut(changed.id, Arc::new(changed));
    }
    Some(after)
}

/// Returns the order's jobs that meet a condition, by number.
pub(super) fn jobs_with(order: &Order, condition: impl Fn(&Job) -> bool) -> Vec<NamedRecord> {
    let mut jobs: Vec<&Arc<Job>> = order.jobs.values().filter(|job| condition(job)).collect();
    jobs.sort_by_key(|job| job.number);
    jobs.into_iter().map(|job| named_job(job)).collect()
}

/// Returns a job with its number.
pub(super) fn named_job(job: &Job) -> NamedRecord {
    NamedRecord { id: job.id, name: job.number_text() }
}

/// Returns a printer with its name.
pub(super) fn named_printer(printer: &Printer) -> NamedRecord {
    NamedRecord { id: printer.id, name: printer.fields.name.clone() }
}
