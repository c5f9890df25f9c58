//! Search for what would have orders ready in time that are late or at risk.
//!
//! Each act that a person could perform now for an order's unfinished jobs is tried in a forecast of its own, in which
//! only the act's effect differs from the present. What the shop would have to buy, and several acts together, are not
//! tried. The search is bounded by its work, not by time, so the same state always gives the same result: the more jobs
//! wait, the fewer acts are tried.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use super::{Forecast, PrinterOutlook, ShopKnowledge, expected_end, is_queued, matters};
use crate::id::Id;
use crate::job::{Job, JobState};
use crate::launch::{LaunchFacts, LaunchNeeds, Mismatch, fit};
use crate::order::Order;
use crate::printer::{AttemptPhase, Printer, Unready};
use crate::remedy::{MAX_PRIORITY, NamedRecord, OrderRecovery, Remedy, RemedyAct};
use crate::time::Timestamp;
use crate::timing::Timing;

/// Maximum number of orders examined. Those whose deadline is ahead come first, the most urgent first.
const MAX_ORDERS: usize = 20;
/// Maximum number of remedies per order.
const MAX_REMEDIES: usize = 5;
/// Maximum number of different needs of an order's waiting jobs for which acts at printers are tried.
const MAX_NEEDS: usize = 3;
/// Maximum number of printers at which the same kind of act is tried for the same needs, the best first.
const MAX_PRINTERS_PER_ACT: usize = 2;
/// Maximum number of jobs and printers simulated in all forecasts of one search.
const MAX_WORK: usize = 10_000;

/// Returns the ways to have the orders ready in time that are late or at risk according to the forecast. Orders that
/// are at risk and expected in time are absent if no act makes them ready sooner, and so are those that there was no
/// work left for. `material_name` returns the name of a material, if it exists.
pub fn recoveries(
    forecast: &Forecast,
    orders: &[&Order],
    printers: &[PrinterOutlook<'_>],
    shop: ShopKnowledge<'_>,
    material_name: &dyn Fn(Id) -> Option<String>,
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
    let mut search = RecoverySearch::new(forecast, orders, printers, shop, material_name);
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

/// State of the shop in which acts are tried, and the number of forecasts that may still be made.
struct RecoverySearch<'a> {
    forecast: &'a Forecast,
    orders: &'a [&'a Order],
    printers: &'a [PrinterOutlook<'a>],
    shop: ShopKnowledge<'a>,
    material_name: &'a dyn Fn(Id) -> Option<String>,
    candidates: Vec<PrinterCandidate<'a>>,
    runs_left: usize,
}

/// Printer, with what determines whether it could take a job.
struct PrinterCandidate<'a> {
    printer: &'a Printer,
    facts: LaunchFacts,
    /// Reason why the printer takes no job now; `None` if it can take a job.
    busy: Option<Unready>,
}

/// Act to be tried, with the state of the shop after it.
struct ActTrial {
    act: RemedyAct,
    printer: Option<NamedRecord>,
    materials: Vec<NamedRecord>,
    jobs: Vec<NamedRecord>,
    effect: ActEffect,
}

/// Effect of an act on the input of a forecast.
enum ActEffect {
    /// No effect: the forecast assumes that the act is performed.
    Assumed,
    /// Order as it would be.
    Order(Box<Order>),
    /// Printer as it would be.
    Printer(Box<Printer>),
}

impl ActTrial {
    /// Creates a trial of an act that does not concern a printer or materials.
    fn of_jobs(act: RemedyAct, jobs: Vec<NamedRecord>, effect: ActEffect) -> Self {
        Self { act, printer: None, materials: Vec::new(), jobs, effect }
    }

    /// Creates a trial of an act at a printer, with the printer after it.
    fn at_printer(act: RemedyAct, printer: &Printer, after: Printer) -> Self {
        let effect = ActEffect::Printer(Box::new(after));
        Self { printer: Some(named_printer(printer)), ..Self::of_jobs(act, Vec::new(), effect) }
    }

    /// Returns whether both are the same act.
    fn is_same(&self, other: &Self) -> bool {
        (self.act, &self.printer, &self.materials) == (other.act, &other.printer, &other.materials)
    }
}

impl<'a> RecoverySearch<'a> {
    fn new(
        forecast: &'a Forecast,
        orders: &'a [&'a Order],
        printers: &'a [PrinterOutlook<'a>],
        shop: ShopKnowledge<'a>,
        material_name: &'a dyn Fn(Id) -> Option<String>,
    ) -> Self {
        let present = printers.iter().map(|one| one.printer).filter(|printer| !printer.archived);
        let candidates = present.map(|printer| PrinterCandidate {
            printer,
            facts: printer.launch_facts(&shop.rules.types),
            busy: printer.takes_jobs(forecast.at).err(),
        });
        let candidates = candidates.collect();
        let runs_left = MAX_WORK / (forecast.waiting + printers.len() + 1);
        Self { forecast, orders, printers, shop, material_name, candidates, runs_left }
    }

    /// Returns what would have an order ready in time; `None` if nothing can be said.
    fn recovery(&mut self, order: &Order, deadline: Timestamp) -> Option<OrderRecovery> {
        let now = self.forecast.at;
        let expected_at = self.forecast.orders.get(&order.id).map(|at| (*at).max(now));
        let mut is_complete = true;
        let mut remedies = Vec::new();
        for trial in self.trials(order, deadline) {
            let is_assumed = matches!(trial.effect, ActEffect::Assumed);
            if !is_assumed && self.runs_left == 0 {
                is_complete = false;
                continue;
            }
            let helps = |at: &Timestamp| is_assumed || expected_at.is_none_or(|expected_at| *at < expected_at);
            if let Some(at) = self.end_after(order, &trial.effect).map(|at| at.max(now)).filter(helps) {
                let ActTrial { act, printer, materials, jobs, .. } = trial;
                remedies.push(Remedy { act, printer, materials, jobs, expected_at: at });
            }
        }
        remedies.sort_by_key(|one| (one.expected_at, one.act, one.printer.as_ref().map(|printer| printer.id)));
        let quickest = remedies.first().cloned();
        let earliest_at = quickest.as_ref().map(|one| one.expected_at).into_iter().chain(expected_at).min();
        remedies.retain(|one| one.expected_at <= deadline);
        remedies.truncate(MAX_REMEDIES);
        let is_expected_in_time = expected_at.is_some_and(|at| at <= deadline);
        if remedies.is_empty() && (is_expected_in_time || !is_complete) {
            return None;
        }
        let quickest = quickest.filter(|_| remedies.is_empty());
        Some(OrderRecovery { remedies, quickest, earliest_at })
    }

    /// Returns the time by which an order is ready after an act; `None` if it cannot be predicted.
    fn end_after(&mut self, order: &Order, effect: &ActEffect) -> Option<Timestamp> {
        let now = self.forecast.at;
        match effect {
            ActEffect::Assumed => {
                let unfinished = order.jobs.values().filter(|job| matters(job));
                let ends: Option<Vec<Timestamp>> =
                    unfinished.map(|job| self.forecast.jobs.get(&job.id).copied()).collect();
                Some(ends?.into_iter().max().unwrap_or(now))
            }
            ActEffect::Order(after) => {
                self.runs_left -= 1;
                let orders = self.orders.iter().map(|one| if one.id == after.id { &**after } else { *one });
                expected_end(now, orders, self.printers, self.shop, order.id)
            }
            ActEffect::Printer(after) => {
                self.runs_left -= 1;
                let with_act = self.printers.iter().map(|one| {
                    let printer = if one.printer.id == after.id { &**after } else { one.printer };
                    PrinterOutlook { printer, left_ms: one.left_ms }
                });
                let printers: Vec<PrinterOutlook<'_>> = with_act.collect();
                expected_end(now, self.orders.iter().copied(), &printers, self.shop, order.id)
            }
        }
    }

    /// Returns the acts to try for an order, each once.
    fn trials(&self, order: &Order, deadline: Timestamp) -> Vec<ActTrial> {
        let mut trials: Vec<ActTrial> = self.assumed_act(order).into_iter().collect();
        trials.extend(priority_trial(order));
        trials.extend(retry_trial(order));
        for needs in self.waiting_needs(order, deadline) {
            for trial in self.acts_at_printers(&needs) {
                if !trials.iter().any(|one| one.is_same(&trial)) {
                    trials.push(trial);
                }
            }
        }
        trials
    }

    /// Returns the act that the forecast assumes to be performed: signing off the printed parts, or resuming the
    /// paused print. If both are necessary, or several prints are paused, a single act does not suffice.
    fn assumed_act(&self, order: &Order) -> Option<ActTrial> {
        let unsigned: Vec<NamedRecord> = jobs_with(order, |job| job.state == JobState::Completed && job.unsigned);
        let mut paused = order.jobs.values().filter_map(|job| Some((job, self.paused_on(job)?)));
        match (paused.next(), paused.next()) {
            (None, _) if !unsigned.is_empty() => {
                Some(ActTrial::of_jobs(RemedyAct::SignOff, unsigned, ActEffect::Assumed))
            }
            (Some((job, printer)), None) if unsigned.is_empty() => Some(ActTrial {
                printer: Some(named_printer(printer)),
                ..ActTrial::of_jobs(RemedyAct::Resume, vec![named_job(job)], ActEffect::Assumed)
            }),
            _ => None,
        }
    }

    /// Returns the printer on which the print of a job is paused, if a person can resume it.
    fn paused_on(&self, job: &Job) -> Option<&'a Printer> {
        let attempt = job.live().filter(|_| matters(job))?;
        let printer = self.candidates.iter().map(|one| one.printer).find(|one| one.id == attempt.printer_id)?;
        let in_hand = printer.in_hand.as_ref().filter(|in_hand| in_hand.attempt == attempt.id)?;
        let is_paused = matches!(in_hand.phase, AttemptPhase::Paused { .. }) && printer.open_pause(None).is_some();
        is_paused.then_some(printer)
    }

    /// Returns the different needs of the order's jobs that wait for a printer and delay the order: those that are not
    /// expected by the deadline, and the last one.
    fn waiting_needs(&self, order: &Order, deadline: Timestamp) -> Vec<LaunchNeeds> {
        let last = order.jobs.keys().filter_map(|job| self.forecast.jobs.get(job)).max();
        let delays = |job: &Job| {
            let end = self.forecast.jobs.get(&job.id);
            end.is_none_or(|end| *end > deadline || Some(end) == last)
        };
        let mut all: Vec<LaunchNeeds> = Vec::new();
        for job in order.jobs.values().filter(|job| is_queued(job) && delays(job)) {
            let needs = job.launch_needs();
            if all.len() < MAX_NEEDS && !all.contains(&needs) {
                all.push(needs);
            }
        }
        all
    }

    /// Returns the acts after which a printer could take a job with the given needs, or could take it sooner. Printers
    /// that can take it now need no act, and those that a person disconnected may be in any state.
    fn acts_at_printers(&self, needs: &LaunchNeeds) -> Vec<ActTrial> {
        let mut ranking = Vec::new();
        for one in self.candidates.iter().filter(|one| one.facts.machine_type() == needs.machine_type) {
            let fit = fit(needs, &one.facts);
            let act = match (&one.busy, fit.fits()) {
                (Some(Unready::BedNotCleared), true) => RemedyAct::ClearBed,
                (Some(Unready::Maintenance), true) => RemedyAct::ReturnToService,
                (_, false) if one.printer.goes_on() => RemedyAct::Load,
                _ => continue,
            };
            let rank = (act, one.busy.is_some(), fit.rank(), one.printer.idle_since, one.printer.id);
            ranking.push((rank, one.printer, fit.missing));
        }
        ranking.sort_by_key(|(rank, ..)| *rank);
        let mut trials: Vec<ActTrial> = Vec::new();
        for ((act, ..), printer, missing) in ranking {
            if trials.iter().filter(|trial| trial.act == act).count() < MAX_PRINTERS_PER_ACT {
                trials.extend(self.act_at_printer(act, printer, &missing, needs));
            }
        }
        trials
    }

    /// Returns the act at a printer; `None` if the printer could not take a job with the given needs after it.
    /// `missing` is what it lacks for them.
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
            let named = |id: Id| Some(NamedRecord { id, name: (self.material_name)(id)? });
            let materials: Option<Vec<NamedRecord>> = materials.into_iter().map(named).collect();
            return Some(ActTrial { materials: materials?, ..ActTrial::at_printer(act, printer, after) });
        }
        let mut after = printer.clone();
        if act == RemedyAct::ReturnToService {
            after.maintenance = None;
        } else {
            (after.bed_not_cleared, after.bed_since, after.print_failed) = (false, None, false);
        }
        after.goes_on().then(|| ActTrial::at_printer(act, printer, after))
    }
}

/// Returns the trial of giving the order the highest priority; `None` if none of its jobs would gain from it.
fn priority_trial(order: &Order) -> Option<ActTrial> {
    let can_gain = |job: &Job| is_queued(job) && job.priority < MAX_PRIORITY;
    let after = with_jobs(order, can_gain, |job| job.priority = MAX_PRIORITY)?;
    Some(ActTrial::of_jobs(RemedyAct::RaisePriority, Vec::new(), ActEffect::Order(Box::new(after))))
}

/// Returns the trial of retrying the order's failed jobs; `None` if there are none.
fn retry_trial(order: &Order) -> Option<ActTrial> {
    let is_failed = |job: &Job| job.state == JobState::Failed && job.file_id.is_some() && matters(job);
    let after = with_jobs(order, is_failed, |job| {
        (job.state, job.attempt_id) = (JobState::Sliced, None);
        job.tried_on.clear();
    })?;
    let jobs = jobs_with(order, is_failed);
    Some(ActTrial::of_jobs(RemedyAct::Retry, jobs, ActEffect::Order(Box::new(after))))
}

/// Returns the order with some of its jobs changed; `None` if there are none.
fn with_jobs(order: &Order, is_meant: impl Fn(&Job) -> bool, change: impl Fn(&mut Job)) -> Option<Order> {
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
fn jobs_with(order: &Order, condition: impl Fn(&Job) -> bool) -> Vec<NamedRecord> {
    let mut jobs: Vec<&Arc<Job>> = order.jobs.values().filter(|job| condition(job)).collect();
    jobs.sort_by_key(|job| job.number);
    jobs.into_iter().map(|job| named_job(job)).collect()
}

fn named_job(job: &Job) -> NamedRecord {
    NamedRecord { id: job.id, name: job.number_text() }
}

fn named_printer(printer: &Printer) -> NamedRecord {
    NamedRecord { id: printer.id, name: printer.fields.name.clone() }
}
