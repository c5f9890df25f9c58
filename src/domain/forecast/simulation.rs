//! Simulation of the queue, the basis of forecasts: the whole queue, or until the jobs of one order have started.
//!
//! The work of a simulation is counted, not timed, so that it can be bounded without making results depend on the
//! machine.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::{
    Forecast, PrinterOutlook, QueuedJob, ShopKnowledge, WaitingJob, clearing_ms, is_open, is_queued, matters, present,
    print_ms,
};
use crate::dispatch::QueueSimulation;
use crate::id::Id;
use crate::job::Job;
use crate::order::Order;
use crate::time::Timestamp;

/// Maximum number of schedule steps per job: the start and end of the print, and the delays caused by a start limit.
const STEPS_PER_JOB: usize = 8;
/// Maximum number of waiting jobs that are named in the order in which they are expected to start.
const MAX_WAITING_NAMED: usize = 3;
/// Work of indexing a job. One unit is the work of examining a printer, or the jobs with the same needs, in one step.
const JOB_WORK: usize = 10;

/// Order whose end is simulated alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimulationGoal {
    /// Identifier of the order.
    pub(super) order: Id,
    /// Maximum work, as in [`Simulation::work`].
    pub(super) max_work: usize,
}

/// End of an order that was simulated alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SimulatedEnd {
    /// Time by which all jobs of the order are expected to be printed; `None` if it cannot be predicted.
    pub(super) at: Option<Timestamp>,
    /// Work done to simulate it.
    pub(super) work: usize,
    /// `true` if the permitted work did not suffice.
    pub(super) is_cut_off: bool,
}

/// Result of a simulation.
pub(super) struct Simulation {
    /// Forecast; if there is a goal, nothing after it is included.
    pub(super) forecast: Forecast,
    /// Work done: each job is indexed, and each step examines all printers and all different job needs.
    work: usize,
    /// `true` if the permitted work did not suffice.
    is_cut_off: bool,
}

/// Limits for the assignment of jobs.
struct PlayLimits {
    /// Jobs after whose start the assignment ends; `None` to assign all jobs.
    goals: Option<Vec<Id>>,
    /// Maximum number of steps.
    max_steps: usize,
}

/// Returns the time by which all jobs of one order are expected to be printed, like [`super::forecast`], but stops
/// simulating once the last of these jobs has started.
pub(super) fn expected_end<'a>(
    now: Timestamp,
    orders: impl IntoIterator<Item = &'a Order>,
    printers: &[PrinterOutlook<'_>],
    shop: ShopKnowledge<'_>,
    goal: SimulationGoal,
) -> SimulatedEnd {
    let Simulation { forecast, work, is_cut_off } = simulate(now, orders, printers, shop, Some(goal));
    SimulatedEnd { at: forecast.orders.get(&goal.order).copied(), work, is_cut_off }
}

/// Simulates the queue from `now` on: all of it or, if there is a goal, until the jobs of its order have started.
pub(super) fn simulate<'a>(
    now: Timestamp,
    orders: impl IntoIterator<Item = &'a Order>,
    printers: &[PrinterOutlook<'_>],
    shop: ShopKnowledge<'_>,
    goal: Option<SimulationGoal>,
) -> Simulation {
    let mut forecast = Forecast { at: now, ..Forecast::default() };
    let orders: Vec<&Order> = orders.into_iter().filter(|order| is_open(order)).collect();
    let max_work = goal.map_or(usize::MAX, |goal| goal.max_work);
    let mut work = orders.iter().map(|order| order.jobs.size()).sum::<usize>() * JOB_WORK + printers.len();
    if work > max_work {
        return Simulation { forecast, work: 0, is_cut_off: true };
    }
    let mut is_cut_off = false;
    let all = orders.iter().flat_map(|order| order.jobs.values()).map(|job| (job.id, &**job));
    let all: HashMap<Id, &Job> = all.collect();
    let free = present(now, printers, &all, shop, &mut forecast);
    let queued: Vec<(Id, &Job)> = all.values().filter(|job| is_queued(job)).map(|job| (job.order_id, *job)).collect();
    // The queue is empty most of the time, and then there is nothing to simulate.
    if !queued.is_empty() {
        let goals =
            goal.map(|goal| queued.iter().filter(|(order, _)| *order == goal.order).map(|(_, job)| job.id).collect());
        let mut rehearsal = QueueSimulation::new(shop.rules.clone(), queued, printers.iter().map(|one| one.printer));
        forecast.waiting = rehearsal.waiting();
        let step_work = printers.len() + rehearsal.different_needs();
        let max_steps = (max_work - work) / step_work;
        let limits = PlayLimits { goals, max_steps };
        let steps = play(&mut rehearsal, free, printers, &all, shop, limits, &mut forecast);
        (work, is_cut_off) = (work + steps * step_work, steps == max_steps);
        let unassigned = rehearsal.first_waiting(MAX_WAITING_NAMED.saturating_sub(forecast.first_waiting.len()));
        forecast.first_waiting.extend(unassigned.into_iter().map(|(order, job)| WaitingJob { job, order }));
    }
    add_order_ends(&orders, &mut forecast);
    Simulation { forecast, work, is_cut_off }
}

/// Adds the end of each order whose unfinished jobs all have a predicted end, and counts the jobs without one.
fn add_order_ends(orders: &[&Order], forecast: &mut Forecast) {
    for order in orders {
        let mut last = None;
        let mut is_known = true;
        for job in order.jobs.values().filter(|job| matters(job)) {
            match forecast.jobs.get(&job.id) {
                Some(at) => last = last.max(Some(*at)),
                None => (is_known, forecast.untold) = (false, forecast.untold + 1),
            }
        }
        if let Some(at) = last.filter(|_| is_known) {
            forecast.orders.insert(order.id, at);
        }
    }
}

/// Assigns the queued jobs to the printers as they become free: all of them or, if there are goals, until these have
/// started. Returns the number of steps, which is the maximum if they did not suffice.
fn play(
    rehearsal: &mut QueueSimulation,
    free: Vec<(Timestamp, Id)>,
    printers: &[PrinterOutlook<'_>],
    jobs: &HashMap<Id, &Job>,
    shop: ShopKnowledge<'_>,
    PlayLimits { mut goals, max_steps }: PlayLimits,
    forecast: &mut Forecast,
) -> usize {
    let clearing = |outlook: &PrinterOutlook<'_>| {
        let waits = !outlook.printer.fields.auto_clear;
        waits.then(|| clearing_ms(&outlook.printer.clearings, shop.hours))
    };
    let clearing: HashMap<Id, Option<i64>> = printers.iter().map(|one| (one.printer.id, clearing(one))).collect();
    // Moments at which a printer becomes free, or (without a printer) at which time alone allows another start.
    let mut moments: BinaryHeap<Reverse<(Timestamp, Option<Id>)>> =
        free.into_iter().map(|(at, printer)| Reverse((at, Some(printer)))).collect();
    let most = ((jobs.len() + printers.len()) * STEPS_PER_JOB).min(max_steps);
    let mut again = None;
    for step in 0..most {
        if let Some(goals) = &mut goals {
            while goals.last().is_some_and(|job| forecast.jobs.contains_key(job)) {
                goals.pop();
            }
            if goals.is_empty() {
                return step;
            }
        }
        let Some(Reverse((now, first))) = moments.pop().filter(|_| rehearsal.waiting() > 0) else { return step };
        first.into_iter().for_each(|printer| rehearsal.free(printer, now));
        while let Some(Reverse((_, more))) = moments.peek().filter(|Reverse((at, _))| *at == now).copied() {
            moments.pop();
            more.into_iter().for_each(|printer| rehearsal.free(printer, now));
        }
        for start in rehearsal.starts(now) {
            let Some(job) = jobs.get(&start.job) else { continue };
            let print_ms = print_ms(job, start.printer, shop.paces);
            let over = now.plus_ms(shop.starting_ms + print_ms);
            forecast.jobs.insert(start.job, over);
            let queued = QueuedJob { job: start.job, order: job.order_id, print_ms, done_at: over };
            forecast.queues.entry(start.printer).or_default().push(queued);
            if forecast.first_waiting.len() < MAX_WAITING_NAMED {
                forecast.first_waiting.push(WaitingJob { job: start.job, order: job.order_id });
            }
            let clear = match clearing.get(&start.printer).copied().flatten() {
                Some(wait) => shop.hours.after(over, wait),
                None => Some(over),
            };
            forecast.printers.insert(start.printer, clear);
            moments.extend(clear.map(|at| Reverse((at, Some(start.printer)))));
        }
        if let Some(at) = rehearsal.next_at(now).filter(|at| again != Some(*at)) {
            again = Some(at);
            moments.push(Reverse((at, None)));
        }
    }
    most
}
