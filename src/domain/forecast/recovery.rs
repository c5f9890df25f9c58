//! Search for ways to get orders that are late or at risk ready on time.
//!
//! Each act that a person could perform now for an order's unfinished jobs is tried in a separate forecast, in which
//! only the act's effect differs from the current state. Purchases and combinations of acts are not tried. The search
//! is bounded by its work, not by time, so the same state always gives the same result: the more jobs are waiting, the
//! fewer acts are tried.

mod candidates;
#[cfg(test)]
mod tests;
mod trial;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use self::candidates::{ActAtPrinter, PrinterCandidate, acts_at_printers};
use self::trial::{ActEffect, ActKey, ActTrial, jobs_with, named_job, named_printer, priority_trial, retry_trial};
use super::simulation::{SimulatedEnd, SimulationGoal, expected_end};
use super::{Forecast, PrinterOutlook, ShopKnowledge, is_queued, matters};
use crate::amount::Amount;
use crate::id::Id;
use crate::job::{Block, Job, JobState};
use crate::launch::{LaunchNeeds, Mismatch};
use crate::order::Order;
use crate::printer::{AttemptPhase, Printer};
use crate::remedy::{NamedRecord, OrderRecovery, Remedy, RemedyAct};
use crate::time::Timestamp;
use crate::timing::Timing;

/// Maximum number of orders examined. Those whose deadline is ahead come first, the most urgent first.
const MAX_ORDERS: usize = 20;
/// Maximum number of remedies per order.
const MAX_REMEDIES: usize = 5;
/// Maximum number of different needs among an order's waiting jobs for which acts at printers are tried.
const MAX_NEEDS: usize = 3;
/// Maximum number of printers at which the same kind of act is tried for the same needs, the best first.
const MAX_PRINTERS_PER_ACT: usize = 2;
/// Maximum number of printers examined to find these: some printers still cannot take the jobs after the act.
const MAX_PRINTERS_EXAMINED: usize = 8;
/// Maximum work of all forecasts in one search ([`SimulatedEnd::work`]). A thousand jobs on a hundred printers take
/// about a tenth of it.
const MAX_WORK: usize = 2_000_000;

/// Properties of a material that acts depend on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StockedMaterial {
    /// Display name of the material.
    pub name: String,
    /// Amount that can be reserved, in the material's unit.
    pub available: Amount,
}

/// Returns the ways to get orders ready on time that are late or at risk according to the forecast. An order that is at
/// risk but expected on time is absent if no act gets it ready sooner. An order is also absent if the search is
/// inconclusive: none of the acts that were tried helps, but others were left out. `stocked_material` returns a
/// material, if it exists.
pub fn recoveries(
    forecast: &Forecast,
    orders: &[&Order],
    printers: &[PrinterOutlook<'_>],
    shop: ShopKnowledge<'_>,
    stocked_material: &dyn Fn(Id) -> Option<StockedMaterial>,
) -> HashMap<Id, Arc<OrderRecovery>> {
    recoveries_within(MAX_WORK, forecast, orders, printers, shop, stocked_material)
}

/// Returns the [`recoveries`] found within the given amount of work.
fn recoveries_within(
    max_work: usize,
    forecast: &Forecast,
    orders: &[&Order],
    printers: &[PrinterOutlook<'_>],
    shop: ShopKnowledge<'_>,
    stocked_material: &dyn Fn(Id) -> Option<StockedMaterial>,
) -> HashMap<Id, Arc<OrderRecovery>> {
    let now = forecast.at;
    let urgent_orders = orders.iter().filter_map(|order| {
        let timing = order.timing(forecast.orders.get(&order.id).copied(), now)?;
        (timing != Timing::OnTime).then_some((order.deadline()?, *order))
    });
    let mut urgent_orders: Vec<(Timestamp, &Order)> = urgent_orders.collect();
    if urgent_orders.is_empty() {
        return HashMap::new();
    }
    urgent_orders.sort_by_key(|(deadline, order)| (*deadline < now, *deadline, order.id));
    urgent_orders.truncate(MAX_ORDERS);
    let present = printers.iter().map(|one| one.printer).filter(|printer| !printer.archived);
    let candidates = present.map(|printer| PrinterCandidate::of(printer, forecast, shop)).collect();
    let mut search =
        RecoverySearch { forecast, orders, printers, shop, stocked_material, candidates, work_left: max_work };
    let entries = urgent_orders.into_iter().filter_map(|(deadline, order)| {
        let recovery = search.recovery(order, deadline)?;
        Some((order.id, Arc::new(recovery)))
    });
    entries.collect()
}

/// Returns the job that an order waits for longest: an unfinished one whose end cannot be predicted, else the one that
/// ends last, else the last one that was created. Returns `None` if the order has no jobs.
pub fn last_job<'o>(order: &'o Order, forecast: &Forecast) -> Option<&'o Job> {
    let urgency = |job: &&Arc<Job>| {
        let end = forecast.jobs.get(&job.id).copied().filter(|_| matters(job));
        (matters(job), end.is_none(), end, job.number)
    };
    order.jobs.values().max_by_key(urgency).map(|job| &**job)
}

/// State of the shop in which acts are tried, and the remaining work budget.
struct RecoverySearch<'a> {
    forecast: &'a Forecast,
    orders: &'a [&'a Order],
    printers: &'a [PrinterOutlook<'a>],
    shop: ShopKnowledge<'a>,
    stocked_material: &'a dyn Fn(Id) -> Option<StockedMaterial>,
    candidates: Vec<PrinterCandidate<'a>>,
    work_left: usize,
}

/// Acts that were tried for one order.
struct OrderTrials<'o> {
    order: &'o Order,
    deadline: Timestamp,
    /// Time by which the order is ready if no one does anything; `None` if it cannot be predicted.
    expected_at: Option<Timestamp>,
    /// Acts after which the order is ready sooner.
    remedies: Vec<Remedy>,
    tried: Vec<ActKey>,
    /// `false` once an act that may help was left out.
    is_complete: bool,
}

impl OrderTrials<'_> {
    /// Returns the ways to get the order ready on time; `None` if the search is inconclusive.
    fn recovery(mut self, now: Timestamp) -> Option<OrderRecovery> {
        self.remedies.sort_by_key(|one| (one.expected_at, one.act, one.printer.as_ref().map(|printer| printer.id)));
        let quickest = self.remedies.first().cloned();
        let earliest_at = quickest.as_ref().map(|one| one.expected_at).into_iter().chain(self.expected_at).min();
        self.remedies.retain(|one| one.expected_at <= self.deadline);
        self.remedies.truncate(MAX_REMEDIES);
        let is_expected_in_time = self.expected_at.is_some_and(|at| at <= self.deadline);
        let is_unknown = earliest_at.is_none() && now <= self.deadline;
        if self.remedies.is_empty() && (is_expected_in_time || is_unknown || !self.is_complete) {
            return None;
        }
        let quickest = quickest.filter(|_| self.remedies.is_empty());
        Some(OrderRecovery { remedies: self.remedies, quickest, earliest_at })
    }
}

impl<'a> RecoverySearch<'a> {
    /// Returns the ways to get an order ready on time; `None` if the search is inconclusive.
    fn recovery(&mut self, order: &Order, deadline: Timestamp) -> Option<OrderRecovery> {
        let now = self.forecast.at;
        let mut trials = OrderTrials {
            order,
            deadline,
            expected_at: self.forecast.orders.get(&order.id).map(|at| (*at).max(now)),
            remedies: self.assumed_remedy(order).into_iter().collect(),
            tried: Vec::new(),
            is_complete: !order.jobs.values().any(|job| has_untried_act(job)),
        };
        self.try_acts(&mut trials);
        trials.recovery(now)
    }

    /// Tries the acts for an order, each once, as long as there is work left.
    fn try_acts(&mut self, trials: &mut OrderTrials<'_>) {
        if self.work_left == 0 {
            trials.is_complete = false;
            return;
        }
        if let Some(trial) = priority_trial(trials.order) {
            self.try_act(trial, trials);
        }
        if let Some(trial) = retry_trial(trials.order, self.stocked_material) {
            self.try_act(trial, trials);
        }
        for needs in self.waiting_needs(trials) {
            self.try_printers(&needs, trials);
        }
    }

    /// Tries acts at printers for jobs with the given needs.
    fn try_printers(&mut self, needs: &LaunchNeeds, trials: &mut OrderTrials<'_>) {
        if self.work_left == 0 {
            trials.is_complete = false;
            return;
        }
        let acts = acts_at_printers(needs, &self.candidates);
        self.work_left = self.work_left.saturating_sub(self.candidates.len());
        trials.is_complete &= !acts.has_untried;
        // Numbers of printers examined and of acts tried at them, by kind.
        let mut counts: BTreeMap<RemedyAct, (usize, usize)> = BTreeMap::new();
        for ActAtPrinter { act, printer, missing } in acts.ranking {
            let (examined, tried) = counts.entry(act).or_default();
            if *tried == MAX_PRINTERS_PER_ACT || *examined == MAX_PRINTERS_EXAMINED || self.work_left == 0 {
                trials.is_complete = false;
                continue;
            }
            *examined += 1;
            if let Some(trial) = self.act_at_printer(act, printer, &missing, needs) {
                *tried += 1;
                self.try_act(trial, trials);
            }
        }
    }

    /// Tries an act, unless it was tried before.
    fn try_act(&mut self, trial: ActTrial, trials: &mut OrderTrials<'_>) {
        let key = trial.key();
        if trials.tried.contains(&key) {
            return;
        }
        trials.tried.push(key);
        let end = self.end_after(trials.order.id, &trial.effect);
        self.work_left = if end.is_cut_off { 0 } else { self.work_left.saturating_sub(end.work) };
        trials.is_complete &= !end.is_cut_off;
        let at = end.at.map(|at| at.max(self.forecast.at));
        if let Some(at) = at.filter(|at| trials.expected_at.is_none_or(|expected_at| *at < expected_at)) {
            trials.remedies.push(trial.remedy(at));
        }
    }

    /// Simulates the end of an order after an act.
    fn end_after(&self, order: Id, effect: &ActEffect) -> SimulatedEnd {
        let (now, goal) = (self.forecast.at, SimulationGoal { order, max_work: self.work_left });
        match effect {
            ActEffect::Order(after) => {
                let orders = self.orders.iter().map(|one| if one.id == after.id { &**after } else { *one });
                expected_end(now, orders, self.printers, self.shop, goal)
            }
            ActEffect::Printer(after) => {
                let with_act = self.printers.iter().map(|one| {
                    let printer = if one.printer.id == after.id { &**after } else { one.printer };
                    PrinterOutlook { printer, left_ms: one.left_ms }
                });
                let printers: Vec<PrinterOutlook<'_>> = with_act.collect();
                expected_end(now, self.orders.iter().copied(), &printers, self.shop, goal)
            }
        }
    }

    /// Returns the act that the forecast assumes to be performed: signing off the printed parts, or resuming the
    /// paused print. If both are necessary, or several prints are paused, a single act does not suffice.
    fn assumed_remedy(&self, order: &Order) -> Option<Remedy> {
        let now = self.forecast.at;
        let unfinished = order.jobs.values().filter(|job| matters(job));
        let ends: Option<Vec<Timestamp>> = unfinished.map(|job| self.forecast.jobs.get(&job.id).copied()).collect();
        let expected_at = ends?.into_iter().max().unwrap_or(now).max(now);
        let unsigned: Vec<NamedRecord> = jobs_with(order, |job| job.state == JobState::Completed && job.unsigned);
        let mut paused = order.jobs.values().filter_map(|job| Some((job, self.paused_on(job)?)));
        let (act, printer, jobs) = match (paused.next(), paused.next()) {
            (None, _) if !unsigned.is_empty() => (RemedyAct::SignOff, None, unsigned),
            (Some((job, printer)), None) if unsigned.is_empty() => {
                (RemedyAct::Resume, Some(named_printer(printer)), vec![named_job(job)])
            }
            _ => return None,
        };
        Some(Remedy { act, printer, materials: Vec::new(), jobs, expected_at })
    }

    /// Returns the printer on which the print of a job is paused, if a person can resume it.
    fn paused_on(&self, job: &Job) -> Option<&'a Printer> {
        let attempt = job.live().filter(|_| matters(job))?;
        let printer = self.candidates.iter().map(|one| one.printer).find(|one| one.id == attempt.printer_id)?;
        let in_hand = printer.in_hand.as_ref().filter(|in_hand| in_hand.attempt == attempt.id)?;
        let is_paused = matches!(in_hand.phase, AttemptPhase::Paused { .. }) && printer.open_pause(None).is_some();
        is_paused.then_some(printer)
    }

    /// Returns the first few different needs among the order's jobs that wait for a printer and delay the order: those
    /// that are not expected by the deadline, and the last one.
    fn waiting_needs(&self, trials: &mut OrderTrials<'_>) -> Vec<LaunchNeeds> {
        let (order, deadline) = (trials.order, trials.deadline);
        let last = order.jobs.keys().filter_map(|job| self.forecast.jobs.get(job)).max();
        let delays = |job: &Job| {
            let end = self.forecast.jobs.get(&job.id);
            end.is_none_or(|end| *end > deadline || Some(end) == last)
        };
        let mut different: Vec<&Job> = Vec::new();
        for job in order.jobs.values().filter(|job| is_queued(job) && delays(job)) {
            if different.iter().any(|one| has_same_needs(one, job)) {
                continue;
            }
            if different.len() == MAX_NEEDS {
                trials.is_complete = false;
                break;
            }
            different.push(job);
        }
        different.into_iter().map(Job::launch_needs).collect()
    }

    /// Returns the act at a printer; `None` if the printer could not take a job with the given needs after it.
    /// `missing` lists what the printer lacks for them.
    fn act_at_printer(
        &self,
        act: RemedyAct,
        printer: &Printer,
        missing: &[Mismatch],
        needs: &LaunchNeeds,
    ) -> Option<ActTrial> {
        if act == RemedyAct::Load {
            let after = printer.loaded_for(needs, &self.shop.rules.types)?;
            let mut materials: Vec<Id> = missing.iter().filter_map(Mismatch::spool).collect();
            materials.sort_unstable();
            materials.dedup();
            let named = |id: Id| Some(NamedRecord { id, name: (self.stocked_material)(id)?.name });
            let materials: Option<Vec<NamedRecord>> = materials.into_iter().map(named).collect();
            return Some(ActTrial::at_printer(act, materials?, printer, after));
        }
        let mut after = printer.clone();
        if act == RemedyAct::ReturnToService {
            after.maintenance = None;
        } else {
            (after.bed_not_cleared, after.bed_since, after.print_failed) = (false, None, false);
        }
        after.goes_on().then(|| ActTrial::at_printer(act, Vec::new(), printer, after))
    }
}

/// Returns whether a job waits for an act that is not tried: its release below the reorder point, a decision on whether
/// it printed, or an upload of its G-code.
fn has_untried_act(job: &Job) -> bool {
    let is_to_be_released = job.blocked_by == Some(Block::ReorderPoint);
    let is_unverified = job.live().is_some_and(|attempt| attempt.unverified);
    matters(job) && (is_to_be_released || is_unverified || job.file_id.is_none())
}

/// Returns whether two jobs have the same needs, without building them.
fn has_same_needs(one: &Job, other: &Job) -> bool {
    let further = |job: &Job| job.further.iter().map(|need| (need.material_id, need.need)).collect::<Vec<_>>();
    (one.machine_type, one.file_form, one.material_id, one.need)
        == (other.machine_type, other.file_form, other.material_id, other.need)
        && (&one.dimensions, &one.sliced_for) == (&other.dimensions, &other.sliced_for)
        && further(one) == further(other)
}
