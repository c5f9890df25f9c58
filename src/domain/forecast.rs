//! Forecast of when jobs, orders and printers will be done, by simulating the queue with the dispatcher's own rules.
//!
//! [`forecast`] is a list schedule over a [`crate::dispatch::QueueSimulation`]. Whenever a printer is free, the
//! dispatcher's rules choose its next job; the print takes the time stated in its file, corrected by how long the same
//! file and the same printer took before ([`Paces`]); then the bed is cleared, by an operator during opening hours
//! ([`ShopHours`]) or by the printer itself. Jobs that wait for stock, for a retry, for a spool change or for a
//! suitable printer are unpredictable: neither they nor their orders get a time.
//!
//! The forecast makes no decisions: it is not stored, and it does not commit any job to a printer.

mod ahead;
mod pace;
mod recovery;
mod simulation;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use self::simulation::simulate;
use crate::dispatch::DispatchRules;
use crate::id::Id;
use crate::job::{Job, JobState};
use crate::order::{Order, OrderStatus};
use crate::printer::{AttemptPhase, Clearing, CurrentAttempt, Printer};
use crate::remedy::OrderRecovery;
use crate::shop_hours::ShopHours;
use crate::time::Timestamp;

pub use ahead::{BedAhead, OrderAhead, SpoolAhead, end_of_next_hours};
pub use pace::{ObservedPrint, Paces};
pub use recovery::{StockedMaterial, last_job, recoveries};

/// Divisor applied to the expected time of an overdue print to estimate its remaining time.
const OVERDUE_SHARE: i64 = 20;
/// Minimum remaining time of any print that may still be running, in milliseconds, unless prints start faster than
/// that.
const LEAST_LEFT_MS: i64 = 60_000;

/// Time within opening hours, in milliseconds, that is assumed to pass until an operator clears a bed, used for
/// printers without observed clearings.
const ASSUMED_CLEARING_MS: i64 = 15 * 60_000;
/// Weight of the assumed clearing time, as a number of observed clearings.
const ASSUMED_CLEARINGS: i64 = 2;

/// Printer with the remaining time of its current print.
#[derive(Clone, Copy, Debug)]
pub struct PrinterOutlook<'a> {
    /// Printer as of its last commit.
    pub printer: &'a Printer,
    /// Remaining time of the current print as reported by the printer, in milliseconds; `None` if not reported.
    pub left_ms: Option<i64>,
}

/// Settings and observations of the shop that a forecast is based on.
#[derive(Clone, Copy, Debug)]
pub struct ShopKnowledge<'a> {
    /// Settings for the dispatcher.
    pub rules: &'a DispatchRules,
    /// Observed paces of files and printers.
    pub paces: &'a Paces,
    /// Hours during which operators clear beds.
    pub hours: &'a ShopHours,
    /// Time from choosing a printer to the start of printing, for upload, start and heating, in milliseconds.
    pub starting_ms: i64,
}

impl ShopKnowledge<'_> {
    /// Returns the minimum remaining time of any print that may still be running, in milliseconds.
    fn least_left_ms(&self) -> i64 {
        self.starting_ms.min(LEAST_LEFT_MS)
    }
}

/// Job that is expected to be assigned to a printer. The assignment is not binding: a different printer may become free
/// sooner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueuedJob {
    /// Identifier of the job.
    pub job: Id,
    /// Order that the job belongs to.
    pub order: Id,
    /// Expected print time on the printer, in milliseconds.
    pub print_ms: i64,
    /// Expected end of the print.
    pub done_at: Timestamp,
}

/// Job that waits for a printer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitingJob {
    /// Identifier of the job.
    pub job: Id,
    /// Order that the job belongs to.
    pub order: Id,
}

/// Forecast for all jobs, orders and printers that can be predicted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Forecast {
    /// Time of the forecast.
    pub at: Timestamp,
    /// Expected end of each unfinished job of a paid order; jobs whose end cannot be predicted are absent.
    pub jobs: HashMap<Id, Timestamp>,
    /// Expected end of the last job of each order; orders whose end cannot be predicted are absent.
    pub orders: HashMap<Id, Timestamp>,
    /// Time at which each printer has finished its queued jobs and its bed is clear; `None` if it depends on anything
    /// other than time and bed clearing.
    pub printers: BTreeMap<Id, Option<Timestamp>>,
    /// Jobs that each printer is expected to print after its current job, in order; printers without such jobs are
    /// absent.
    pub queues: BTreeMap<Id, Vec<QueuedJob>>,
    /// Number of unfinished jobs of paid orders whose end cannot be predicted.
    pub untold: usize,
    /// First few of the jobs that wait for a printer: in the order in which they are expected to start, followed by
    /// those that no printer is expected to take, the most urgent first.
    pub first_waiting: Vec<WaitingJob>,
    /// Number of jobs that wait for a printer.
    pub waiting: usize,
    /// Ways to get orders that are late or at risk ready on time. [`forecast`] leaves this empty; the caller adds the
    /// [`recoveries`].
    pub recoveries: HashMap<Id, Arc<OrderRecovery>>,
}

impl Forecast {
    /// Returns the expected end of the last predictable job, if any.
    pub fn done_at(&self) -> Option<Timestamp> {
        self.jobs.values().max().copied()
    }
}

/// Simulates the queue from `now` on.
pub fn forecast<'a>(
    now: Timestamp,
    orders: impl IntoIterator<Item = &'a Order>,
    printers: &[PrinterOutlook<'_>],
    shop: ShopKnowledge<'_>,
) -> Forecast {
    simulate(now, orders, printers, shop, None).forecast
}

/// Returns the time within opening hours that is expected to pass until the printer's bed is cleared, in milliseconds:
/// the mean of its observed clearings.
fn clearing_ms(clearings: &[Clearing], hours: &ShopHours) -> i64 {
    let open: i64 = clearings.iter().map(|one| hours.open_ms(one.from, one.to)).sum();
    (open + ASSUMED_CLEARING_MS * ASSUMED_CLEARINGS) / (clearings.len() as i64 + ASSUMED_CLEARINGS)
}

/// Returns whether the order still has jobs to print.
fn is_open(order: &Order) -> bool {
    matches!(order.status, OrderStatus::Paid | OrderStatus::Printing)
}

/// Returns whether the order's completion depends on the job.
fn matters(job: &Job) -> bool {
    !matches!(job.state, JobState::Completed | JobState::Cancelled) && job.cancel_requested_at.is_none()
}

/// Returns whether the job is waiting for a printer, or will be as soon as its stock has been checked.
fn is_queued(job: &Job) -> bool {
    matches!(job.state, JobState::Validated | JobState::Sliced)
        && job.file_id.is_some()
        && job.attempt_id.is_none()
        && job.cancel_requested_at.is_none()
}

/// Returns the expected print time of the given job on the given printer, in milliseconds.
fn print_ms(job: &Job, printer: Id, paces: &Paces) -> i64 {
    paces.expected_ms(job.file_id, printer, job.estimated_seconds)
}

/// Records when the current prints end; returns the time from which each printer can take its next job.
fn present(
    now: Timestamp,
    printers: &[PrinterOutlook<'_>],
    jobs: &HashMap<Id, &Job>,
    shop: ShopKnowledge<'_>,
    forecast: &mut Forecast,
) -> Vec<(Timestamp, Id)> {
    let mut free = Vec::new();
    for outlook in printers {
        let printer = outlook.printer;
        let over = print_over(now, outlook, jobs, shop);
        if let (Some(in_hand), Some(at)) = (&printer.in_hand, over)
            && !in_hand.over()
            && jobs.get(&in_hand.job).is_some_and(|job| matters(job))
        {
            forecast.jobs.insert(in_hand.job, at);
        }
        let at = over.filter(|_| printer.goes_on()).and_then(|over| {
            if printer.is_free() {
                return Some(now);
            }
            let prints = printer.in_hand.as_ref().is_some_and(|hand| !hand.over()) || printer.foreign_print();
            let wait = clearing_ms(&printer.clearings, shop.hours);
            match (prints, printer.bed_not_cleared) {
                (true, _) if printer.fields.auto_clear => Some(over),
                (true, _) => shop.hours.after(over, wait),
                // Nobody came in the usual time: taken as if somebody were about to.
                (false, true) => {
                    let since = printer.bed_since.unwrap_or(now).min(now);
                    shop.hours.after(since, wait)?.max(shop.hours.after(now, shop.least_left_ms())?).into()
                }
                (false, false) => Some(now),
            }
        });
        forecast.printers.insert(printer.id, at);
        free.extend(at.map(|at| (at, printer.id)));
    }
    // Attempts that their printers have not heard of yet.
    let unheard = jobs.values().filter(|job| matters(job) && !forecast.jobs.contains_key(&job.id));
    for job in unheard.copied().collect::<Vec<_>>() {
        if let Some(attempt) = job.live().filter(|attempt| !attempt.unverified) {
            let knows = |one: &&PrinterOutlook<'_>| one.printer.id == attempt.printer_id;
            if printers.iter().find(knows).is_some_and(|one| one.printer.in_hand.is_none()) {
                let at = now.plus_ms(shop.starting_ms + print_ms(job, attempt.printer_id, shop.paces));
                forecast.jobs.insert(job.id, at);
                free.retain(|(_, printer)| *printer != attempt.printer_id);
                let wait = wait_for_bed(attempt.printer_id, at, printers, shop);
                free.extend(wait.map(|at| (at, attempt.printer_id)));
                forecast.printers.insert(attempt.printer_id, wait);
            }
        }
    }
    free
}

/// Returns the time at which the printer's current print ends: now if it is idle, `None` if unpredictable.
fn print_over(
    now: Timestamp,
    outlook: &PrinterOutlook<'_>,
    jobs: &HashMap<Id, &Job>,
    shop: ShopKnowledge<'_>,
) -> Option<Timestamp> {
    let printer = outlook.printer;
    let Some(in_hand) = &printer.in_hand else {
        return if printer.foreign_print() || printer.manual.is_some() {
            outlook.left_ms.map(|left| now.plus_ms(left.max(shop.least_left_ms())))
        } else {
            Some(now)
        };
    };
    let job = jobs.get(&in_hand.job);
    let total = match job {
        Some(job) => print_ms(job, printer.id, shop.paces),
        None => shop.paces.expected_ms(Some(in_hand.file_id), printer.id, in_hand.estimated_seconds),
    };
    match &in_hand.phase {
        AttemptPhase::Taken | AttemptPhase::StartSent { .. } => Some(now.plus_ms(shop.starting_ms + total)),
        AttemptPhase::Printing { at } | AttemptPhase::Paused { at } => {
            let left = left_of(in_hand, *at, now, total, outlook);
            Some(now.plus_ms(left.max(shop.least_left_ms())))
        }
        AttemptPhase::Unverified { .. } => None,
        AttemptPhase::Ended { .. } | AttemptPhase::Stopped { .. } | AttemptPhase::NotStarted { .. } => Some(now),
    }
}

/// Returns the remaining time of a print that started at `began` and was expected to take `total` milliseconds. The
/// printer's own report is used once a tenth of the print is complete; before that, printers merely report the file's
/// estimate.
fn left_of(
    in_hand: &CurrentAttempt,
    began: Timestamp,
    now: Timestamp,
    total: i64,
    outlook: &PrinterOutlook<'_>,
) -> i64 {
    let by_clock = total - now.since(began).max(0);
    let by_printer = outlook.left_ms.filter(|_| in_hand.progress >= 0.1);
    by_printer.unwrap_or(by_clock).max(total / OVERDUE_SHARE)
}

/// Returns the time at which a printer's bed is clear after a print that ends at `over`.
fn wait_for_bed(
    printer: Id,
    over: Timestamp,
    printers: &[PrinterOutlook<'_>],
    shop: ShopKnowledge<'_>,
) -> Option<Timestamp> {
    let printer = printers.iter().find(|one| one.printer.id == printer)?.printer;
    if printer.fields.auto_clear {
        return Some(over);
    }
    shop.hours.after(over, clearing_ms(&printer.clearings, shop.hours))
}
