//! Assignment of jobs to printers.
//!
//! The [`DispatchIndex`] is an in-memory index over orders and printers, rebuilt from them at startup: it holds no data
//! of its own, so losing it has no consequences. It only proposes pairs. The order then claims the printer, and the
//! printer accepts or rejects the attempt; the order may reject it as well, because the index may be slightly out of
//! date. Jobs are ordered by priority, then due date, then age, so a job is overtaken only if it fits no free printer.
//! Among the printers that fit, the index prefers one that did not reject a start, then one that did not reject this
//! job, then one with the job's materials loaded, then the one whose spools the job uses up best, then the one that has
//! been idle longest.

mod matching;
mod need;
mod obstacles;
mod reason;
mod refused;
mod rehearsal;
mod spools;
mod waiting;
mod waiting_acts;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};

use crate::id::Id;
use crate::job::{AttemptState, Job, JobState};
use crate::order::{Order, OrderStatus};
use crate::printer::Printer;
use crate::sku::MachineType;
use crate::time::Timestamp;
use need::{IndexedPrinter, NeedClass, PrinterRank};
use refused::JobRefusal;

pub use crate::launch::KnownTypes;
pub use matching::{PrinterMatch, match_printers};
pub use reason::{WaitContext, waiting};
pub use refused::RefusedJob;
pub use rehearsal::QueueSimulation;
pub use spools::{SpoolToLoad, spools_to_load};
pub use waiting::{MAX_SENTENCE_CHARS, Waiting, WaitingCause, WaitingCode};
pub use waiting_acts::{
    GatheredAct, SpoolTask, WaitingAct, jobs_waiting_for_bed, spool_tasks, stuck_jobs, waiting_acts,
};

/// Time, in milliseconds, before a rejected job is proposed to the same printer again, unless the printer changes.
const REFUSAL_COOLDOWN_MS: i64 = 10_000;
/// Length, in milliseconds, of the window to which `max_starts_per_minute` applies.
const START_WINDOW_MS: i64 = 60_000;

/// Settings for the dispatch index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DispatchRules {
    /// Maximum number of prints started per minute across all printers, if limited.
    pub max_starts_per_minute: Option<u32>,
    /// Number of printers that must reject a job before the job becomes FAILED.
    pub refusals_until_failed: usize,
    /// Accepted G-code formats for each printer type, and whether the type maps slots.
    pub types: KnownTypes,
}

/// Job paired with a free printer that can print it. The order is then asked to claim the printer for the job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Proposal {
    /// Order that the job belongs to.
    pub order: Id,
    /// Job to print.
    pub job: Id,
    /// Printer to claim.
    pub printer: Id,
}

/// Rank among the ready jobs, lowest first: priority (higher first), due date (jobs without one last), age, and the
/// job's ID as a tie-breaker.
type QueueRank = (Reverse<u8>, Timestamp, Timestamp, Id);

/// Job that is ready to print.
#[derive(Clone, PartialEq, Debug)]
struct ReadyJob {
    order: Id,
    class: NeedClass,
    rank: QueueRank,
    /// Rejections of the job: the last one by each printer.
    refused_by: Vec<JobRefusal>,
}

impl ReadyJob {
    fn was_refused_by(&self, printer: &Id) -> bool {
        self.refused_by.iter().any(|refusal| refusal.printer == *printer)
    }
}

/// Indexed data of one order, used to determine which jobs changed.
#[derive(Default, Debug)]
struct IndexedOrder {
    jobs: HashSet<Id>,
    has: HashSet<Id>,
}

/// Index of ready jobs and printers. Callers pass in every change to an order or a printer, take the
/// [`DispatchIndex::refused_jobs`] and then the [`DispatchIndex::proposals`], and close each entry with
/// [`DispatchIndex::job_settled`] or [`DispatchIndex::settled`]. A job or a printer is in at most one open proposal.
#[derive(Debug)]
pub struct DispatchIndex {
    rules: DispatchRules,
    jobs: HashMap<Id, ReadyJob>,
    classes: BTreeMap<NeedClass, BTreeSet<QueueRank>>,
    /// Ready jobs rejected by at least one printer.
    refused_jobs: BTreeSet<Id>,
    orders: HashMap<Id, IndexedOrder>,
    printers: BTreeMap<Id, IndexedPrinter>,
    /// Number of live attempts on each printer. A printer with a live attempt is not proposed, even if it has not
    /// accepted the attempt yet.
    claimed: HashMap<Id, u32>,
    jobs_in_flight: HashSet<Id>,
    printers_in_flight: HashSet<Id>,
    /// Jobs that each printer did not accept or could not start, with the time.
    refused: HashMap<Id, HashMap<Id, Timestamp>>,
    starts: VecDeque<Timestamp>,
}

impl DispatchIndex {
    /// Creates an index without orders and printers.
    pub fn new(rules: DispatchRules) -> Self {
        Self {
            rules,
            jobs: HashMap::new(),
            classes: BTreeMap::new(),
            refused_jobs: BTreeSet::new(),
            orders: HashMap::new(),
            printers: BTreeMap::new(),
            claimed: HashMap::new(),
            jobs_in_flight: HashSet::new(),
            printers_in_flight: HashSet::new(),
            refused: HashMap::new(),
            starts: VecDeque::new(),
        }
    }

    /// Returns the number of jobs waiting for a printer.
    pub fn waiting(&self) -> usize {
        self.jobs.len()
    }

    /// Indexes the current state of an order.
    pub fn order_changed(&mut self, order: &Order) {
        let open = matches!(order.status, OrderStatus::Paid | OrderStatus::Printing);
        let mut now = IndexedOrder::default();
        for job in order.jobs.values() {
            if let Some(attempt) = job.live() {
                now.has.insert(attempt.printer_id);
            } else if open && is_ready(job) {
                now.jobs.insert(job.id);
                self.enqueue(order.id, job);
                if let Some(last) = job.attempts.last().filter(|last| last.state == AttemptState::Refused) {
                    let at = last.ended_at.unwrap_or(last.created_at);
                    self.refused.entry(last.printer_id).or_default().insert(job.id, at);
                }
            }
        }
        let before = self.orders.remove(&order.id).unwrap_or_default();
        for gone in before.jobs.difference(&now.jobs) {
            self.take_out(gone);
        }
        for printer in now.has.difference(&before.has) {
            *self.claimed.entry(*printer).or_default() += 1;
        }
        for printer in before.has.difference(&now.has) {
            if let Some(count) = self.claimed.get_mut(printer) {
                *count -= 1;
                if *count == 0 {
                    self.claimed.remove(printer);
                }
            }
        }
        if !now.jobs.is_empty() || !now.has.is_empty() {
            self.orders.insert(order.id, now);
        }
    }

    /// Indexes the current state of a printer, and clears the cooldowns of the jobs that the printer did not accept.
    pub fn printer_changed(&mut self, printer: &Printer) {
        self.refused.remove(&printer.id);
        if printer.archived {
            self.printers.remove(&printer.id);
        } else {
            self.printers.insert(printer.id, IndexedPrinter::of(printer, &self.rules.types));
        }
    }

    /// Returns the jobs that must become FAILED because the printers that could make them rejected them. Each job stays
    /// open until [`DispatchIndex::job_settled`] is called with it.
    pub fn refused_jobs(&mut self) -> Vec<RefusedJob> {
        let most = self.rules.refusals_until_failed;
        let mut failed_jobs = Vec::new();
        for id in self.refused_jobs.iter().filter(|id| !self.jobs_in_flight.contains(id)) {
            let Some(job) = self.jobs.get(id) else { continue };
            if let Some(printers) = refused::given_up(*id, job, &self.printers, most) {
                failed_jobs.push(RefusedJob { order: job.order, job: *id, printers });
            }
        }
        self.jobs_in_flight.extend(failed_jobs.iter().map(|one| one.job));
        failed_jobs
    }

    /// Closes a job returned by [`DispatchIndex::refused_jobs`], after the order has responded.
    pub fn job_settled(&mut self, job: &Id) {
        self.jobs_in_flight.remove(job);
    }

    /// Returns the pairs to try now, best job first. Each pair stays open until [`DispatchIndex::settled`] is called
    /// with it.
    ///
    /// A printer that rejected a start is the last choice. After its cooldown, it is tried with one job: preferably one
    /// that it did not reject, otherwise any except the one it rejected last, which is tried only if no other waits.
    pub fn proposals(&mut self, now: Timestamp) -> Vec<Proposal> {
        let mut left = self.starts_left(now);
        let usable = |id: &Id| !self.printers_in_flight.contains(id) && !self.claimed.contains_key(id);
        let mut free: HashMap<MachineType, Vec<(Id, &IndexedPrinter)>> = HashMap::new();
        for (id, one) in self.printers.iter().filter(|(id, one)| one.free && usable(id) && one.rests_for(now).is_none())
        {
            free.entry(one.machine()).or_default().push((*id, one));
        }
        let mut proposals = Vec::new();
        if free.is_empty() || left == 0 {
            return proposals;
        }
        for jobs in self.refused.values_mut() {
            jobs.retain(|_, at| (0..REFUSAL_COOLDOWN_MS).contains(&now.since(*at)));
        }
        self.refused.retain(|_, jobs| !jobs.is_empty());
        // The first job of each class. The best of these is served first, then the next of its class follows.
        let mut heads: BinaryHeap<Reverse<(QueueRank, usize)>> = BinaryHeap::new();
        let classes: Vec<NeedClass> = self.classes.keys().cloned().collect();
        for (n, class) in classes.iter().enumerate() {
            if let Some(rank) = self.next_rank(class, None) {
                heads.push(Reverse((rank, n)));
            }
        }
        // Jobs that got no printer because those left had refused them, best first.
        let mut deferred: Vec<Id> = Vec::new();
        while let Some(Reverse((rank, n))) = heads.pop() {
            if left == 0 {
                break;
            }
            let (Some(class), Some(job)) = (classes.get(n), self.jobs.get(&rank.3)) else { continue };
            let Some(printers) = free.get_mut(&class.machine()) else { continue };
            if !printers.iter().any(|(_, one)| one.fits(class)) {
                continue; // No other job of the class fits either.
            }
            match self.best(&rank.3, job, printers, Probe::Fresh) {
                Some(at) => {
                    let (printer, _) = printers.swap_remove(at);
                    proposals.push(Proposal { order: job.order, job: rank.3, printer });
                    left -= 1;
                }
                None => deferred.push(rank.3),
            }
            if let Some(following) = self.next_rank(class, Some(&rank)) {
                heads.push(Reverse((following, n)));
            }
        }
        for probe in [Probe::NotLast, Probe::Any] {
            for id in &deferred {
                if free.values().all(Vec::is_empty) {
                    break;
                }
                let Some(job) = self.jobs.get(id).filter(|_| left > 0) else { continue };
                let Some(printers) = free.get_mut(&job.class.machine()) else { continue };
                let is_proposed = proposals.iter().any(|one: &Proposal| one.job == *id);
                if let Some(at) = self.best(id, job, printers, probe).filter(|_| !is_proposed) {
                    let (printer, _) = printers.swap_remove(at);
                    proposals.push(Proposal { order: job.order, job: *id, printer });
                    left -= 1;
                }
            }
        }
        self.open(&proposals, now);
        proposals
    }

    /// Returns the rank of the best job of a class that comes after the given rank and is not in an open proposal.
    fn next_rank(&self, class: &NeedClass, after: Option<&QueueRank>) -> Option<QueueRank> {
        let ranks = self.classes.get(class)?;
        let mut rest = match after {
            None => ranks.range(..),
            Some(after) => ranks.range((std::ops::Bound::Excluded(*after), std::ops::Bound::Unbounded)),
        };
        rest.find(|rank| !self.jobs_in_flight.contains(&rank.3)).copied()
    }

    /// Marks the jobs and printers of the given proposals as in flight, and records the starts for the rate limit.
    fn open(&mut self, proposals: &[Proposal], now: Timestamp) {
        for proposal in proposals {
            self.jobs_in_flight.insert(proposal.job);
            self.printers_in_flight.insert(proposal.printer);
            if self.rules.max_starts_per_minute.is_some() {
                self.starts.push_back(now);
            }
        }
    }

    /// Returns the index in `printers` of the best printer for the given job. Printers without rejected starts come
    /// first, then those that did not reject this job, then those that fit best ([`crate::launch::Fit::rank`]), then
    /// those idle longest.
    fn best(&self, id: &Id, job: &ReadyJob, printers: &[(Id, &IndexedPrinter)], probe: Probe) -> Option<usize> {
        let usable = |printer: &Id, one: &IndexedPrinter| {
            !self.refused.get(printer).is_some_and(|jobs| jobs.contains_key(id))
                && match (&one.refusals, probe) {
                    (None, _) | (_, Probe::Any) => true,
                    (Some(refusals), Probe::NotLast) => refusals.job != *id,
                    (Some(_), Probe::Fresh) => !job.was_refused_by(printer),
                }
        };
        let rank = |printer: &Id, one: &IndexedPrinter| -> Option<PrinterRank> {
            let fit = one.fit(&job.class);
            let refused = (one.refusals.is_some(), job.was_refused_by(printer));
            fit.fits().then(|| (refused, fit.rank(), one.idle_since, *printer))
        };
        let fitting = printers.iter().enumerate().filter(|(_, (printer, one))| usable(printer, one));
        let ranked = fitting.filter_map(|(at, (printer, one))| Some((rank(printer, one)?, at)));
        ranked.min().map(|(_, at)| at)
    }

    /// Closes a proposal after the order has responded. Call [`DispatchIndex::order_changed`] with the order's new
    /// state first, so that the printer is marked as claimed and is not proposed again. If `claimed` is `false`, the
    /// start no longer counts against the rate limit.
    pub fn settled(&mut self, proposal: &Proposal, claimed: bool) {
        let was_in_flight = self.jobs_in_flight.remove(&proposal.job);
        self.printers_in_flight.remove(&proposal.printer);
        if was_in_flight && !claimed {
            self.starts.pop_back();
        }
    }

    /// Returns the time at which new proposals become possible without any change: when the start limit allows one more
    /// start, a printer's cooldown has ended, or a rejected pair may be tried again. `None` if nothing depends on time.
    pub fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        if self.jobs.is_empty() {
            return None;
        }
        let full = self.rules.max_starts_per_minute.is_some_and(|most| self.starts.len() >= most as usize);
        let start = self.starts.front().filter(|_| full).map(|at| at.plus_ms(START_WINDOW_MS));
        let retriable = self.refused.values().flat_map(HashMap::values).map(|at| at.plus_ms(REFUSAL_COOLDOWN_MS));
        let rested = self.printers.values().filter(|one| one.free).filter_map(|one| one.rests_for(now));
        retriable.chain(start).chain(rested.map(|ms| now.plus_ms(ms))).filter(|at| *at > now).min()
    }

    fn starts_left(&mut self, now: Timestamp) -> usize {
        let Some(most) = self.rules.max_starts_per_minute else { return usize::MAX };
        while self.starts.front().is_some_and(|at| now.since(*at) >= START_WINDOW_MS) {
            self.starts.pop_front();
        }
        (most as usize).saturating_sub(self.starts.len())
    }

    fn enqueue(&mut self, order: Id, job: &Job) {
        let rank = (Reverse(job.priority), job.due_at.unwrap_or(Timestamp(i64::MAX)), job.created_at, job.id);
        let ready = ReadyJob { order, class: NeedClass::of(job), rank, refused_by: refused::refusals_of(job) };
        if self.jobs.get(&job.id) == Some(&ready) {
            return;
        }
        self.take_out(&job.id);
        self.classes.entry(ready.class.clone()).or_default().insert(rank);
        if !ready.refused_by.is_empty() {
            self.refused_jobs.insert(job.id);
        }
        self.jobs.insert(job.id, ready);
    }

    fn take_out(&mut self, job: &Id) {
        let Some(old) = self.jobs.remove(job) else { return };
        self.refused_jobs.remove(job);
        if let Some(ranks) = self.classes.get_mut(&old.class) {
            ranks.remove(&old.rank);
            if ranks.is_empty() {
                self.classes.remove(&old.class);
            }
        }
    }
}

/// Jobs that a printer may be tried with after it rejected a start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Probe {
    /// Jobs that the printer did not reject.
    Fresh,
    /// Any job except the one that the printer rejected last.
    NotLast,
    /// Any job, because no other job is waiting for the printer.
    Any,
}

/// Returns whether the job is waiting only for a printer.
pub(super) fn is_ready(job: &Job) -> bool {
    let is_untaken = job.attempt_id.is_none() && job.cancel_requested_at.is_none();
    job.state == JobState::Sliced && job.holds_all() && job.file_id.is_some() && is_untaken
}
