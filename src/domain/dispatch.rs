//! Which job goes to which printer.
//!
//! The [`Board`] is an index over orders and printers, kept in memory and rebuilt from them at the start: it owns
//! nothing, and losing it loses nothing. It only proposes pairs. The order then claims the printer, and the printer
//! accepts the attempt or not; both may refuse, because the board may be a moment behind. Jobs go by priority, then
//! due date, then age, so that a job passes another only if the other fits no free printer. Of the printers that fit,
//! the board prefers one with the job's material loaded, then one that this job has not failed on, then the one that
//! is idle longest.

mod reason;

#[cfg(test)]
mod tests;

pub use reason::waiting_reason;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};

use crate::domain::id::Id;
use crate::domain::job::{AttemptState, Job, JobState, Stock};
use crate::domain::order::{Order, OrderStatus};
use crate::domain::printer::Printer;
use crate::domain::sku::{Dimensions, MachineType};
use crate::domain::time::Timestamp;

/// Milliseconds during which a pair of job and printer is not proposed again after the printer refused it, unless the
/// printer changes meanwhile.
const REFUSAL_COOLDOWN_MS: i64 = 10_000;
/// Length in milliseconds of the window that `max_starts_per_minute` counts.
const START_WINDOW_MS: i64 = 60_000;

/// A job and a free printer that fits it. The order is to be asked to claim the printer for the job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Proposal {
    /// The order of the job.
    pub order: Id,
    /// The job to print.
    pub job: Id,
    /// The printer to claim.
    pub printer: Id,
}

/// Rank among the ready jobs, lowest first: priority (higher first), due date (none last), age, and the job's id to
/// tell equals apart.
type QueueRank = (Reverse<u8>, Timestamp, Timestamp, Id);

/// What a job needs of a printer. Jobs of one class fit the same printers, so that only the first of each class has
/// to be compared with the printers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct NeedClass {
    machine: MachineType,
    material: Id,
    /// The bits of x, y and z in millimetres, because floating-point numbers are no hash keys.
    size: Option<[u64; 3]>,
}

impl NeedClass {
    fn of(job: &Job) -> Self {
        let bits = |size: &Dimensions| [size.x, size.y, size.z].map(f64::to_bits);
        Self { machine: job.machine_type, material: job.material_id, size: job.dimensions.as_ref().map(bits) }
    }
    fn size(&self) -> Option<Dimensions> {
        self.size.map(|bits| bits.map(f64::from_bits)).map(|[x, y, z]| Dimensions { x, y, z })
    }
}

/// A job that is ready to print.
#[derive(Clone, PartialEq, Debug)]
struct ReadyJob {
    order: Id,
    class: NeedClass,
    rank: QueueRank,
    tried_on: Vec<Id>,
}

/// A printer that could take a job.
#[derive(Clone, Debug)]
struct FreePrinter {
    machine: MachineType,
    volume: Option<Dimensions>,
    loaded: Option<Id>,
    idle_since: Timestamp,
}

impl FreePrinter {
    fn fits(&self, class: &NeedClass) -> bool {
        let inside = match (class.size(), &self.volume) {
            (Some(size), Some(volume)) => size.fits_in(volume),
            _ => true,
        };
        self.machine == class.machine && inside && self.loaded.is_none_or(|loaded| loaded == class.material)
    }
}

/// What the board has indexed of one order, so that a change can be compared with it.
#[derive(Default, Debug)]
struct IndexedOrder {
    jobs: HashSet<Id>,
    has: HashSet<Id>,
}

/// The ready jobs and the free printers. Callers hand it every change of an order and of a printer, take
/// [`Board::proposals`], and give each back with [`Board::settled`]. A job or a printer is in one open proposal at
/// most.
#[derive(Default, Debug)]
pub struct Board {
    jobs: HashMap<Id, ReadyJob>,
    classes: BTreeMap<NeedClass, BTreeSet<QueueRank>>,
    orders: HashMap<Id, IndexedOrder>,
    free: BTreeMap<Id, FreePrinter>,
    /// Number of live attempts that orders have on each printer; a printer with one is not proposed, even if it has
    /// not accepted the attempt yet.
    claimed: HashMap<Id, u32>,
    jobs_in_flight: HashSet<Id>,
    printers_in_flight: HashSet<Id>,
    /// Jobs that a printer refused, and when, by printer.
    refused: HashMap<Id, HashMap<Id, Timestamp>>,
    max_starts_per_minute: Option<u32>,
    starts: VecDeque<Timestamp>,
}

impl Board {
    /// An empty board; `max_starts_per_minute` is the setting of that name, `None` for no limit.
    pub fn new(max_starts_per_minute: Option<u32>) -> Self {
        Self { max_starts_per_minute, ..Self::default() }
    }

    /// Number of jobs that wait for a printer.
    pub fn waiting(&self) -> usize {
        self.jobs.len()
    }

    /// Takes over the present state of an order.
    pub fn order_changed(&mut self, order: &Order) {
        let open = matches!(order.status, OrderStatus::Paid | OrderStatus::Printing);
        let mut now = IndexedOrder::default();
        for job in order.jobs.values() {
            if let Some(attempt) = job.live() {
                now.has.insert(attempt.printer_id);
            } else if open && is_ready(job) {
                now.jobs.insert(job.id);
                self.put(order.id, job);
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

    /// Takes over the present state of a printer, and forgets what it refused.
    pub fn printer_changed(&mut self, printer: &Printer) {
        self.refused.remove(&printer.id);
        if printer.free().is_ok() {
            let free = FreePrinter {
                machine: printer.fields.machine_type,
                volume: printer.fields.build_volume,
                loaded: printer.fields.loaded_material_id,
                idle_since: printer.idle_since,
            };
            self.free.insert(printer.id, free);
        } else {
            self.free.remove(&printer.id);
        }
    }

    /// The pairs to be asked for now, best job first. Each is open until [`Board::settled`] is called with it.
    pub fn proposals(&mut self, now: Timestamp) -> Vec<Proposal> {
        let mut left = self.starts_left(now);
        let usable = |id: &Id| !self.printers_in_flight.contains(id) && !self.claimed.contains_key(id);
        let mut free: HashMap<MachineType, Vec<(Id, FreePrinter)>> = HashMap::new();
        for (id, one) in self.free.iter().filter(|(id, _)| usable(id)) {
            free.entry(one.machine).or_default().push((*id, one.clone()));
        }
        let mut made = Vec::new();
        if free.is_empty() || left == 0 {
            return made;
        }
        for jobs in self.refused.values_mut() {
            jobs.retain(|_, at| now.since(*at) < REFUSAL_COOLDOWN_MS);
        }
        self.refused.retain(|_, jobs| !jobs.is_empty());
        let next = |class: &NeedClass, after: Option<&QueueRank>| {
            let ranks = self.classes.get(class)?;
            let mut rest = match after {
                None => ranks.range(..),
                Some(after) => ranks.range((std::ops::Bound::Excluded(*after), std::ops::Bound::Unbounded)),
            };
            rest.find(|rank| !self.jobs_in_flight.contains(&rank.3)).copied()
        };
        // The first job of each class. The best of these is served first, then the next of its class follows.
        let mut heads: BinaryHeap<Reverse<(QueueRank, usize)>> = BinaryHeap::new();
        let classes: Vec<NeedClass> = self.classes.keys().copied().collect();
        for (n, class) in classes.iter().enumerate() {
            if let Some(rank) = next(class, None) {
                heads.push(Reverse((rank, n)));
            }
        }
        while let Some(Reverse((rank, n))) = heads.pop() {
            if left == 0 {
                break;
            }
            let (Some(class), Some(job)) = (classes.get(n), self.jobs.get(&rank.3)) else { continue };
            let Some(printers) = free.get_mut(&class.machine) else { continue };
            if !printers.iter().any(|(_, one)| one.fits(class)) {
                continue; // No other job of the class fits either.
            }
            let was_refused = |printer: &Id| self.refused.get(printer).is_some_and(|jobs| jobs.contains_key(&rank.3));
            let best = printers
                .iter()
                .enumerate()
                .filter(|(_, (id, one))| one.fits(class) && !was_refused(id))
                .min_by_key(|(_, (id, one))| {
                    (one.loaded != Some(class.material), job.tried_on.contains(id), one.idle_since, *id)
                })
                .map(|(at, _)| at);
            if let Some(at) = best {
                let (printer, _) = printers.swap_remove(at);
                made.push(Proposal { order: job.order, job: rank.3, printer });
                left -= 1;
            }
            if let Some(following) = next(class, Some(&rank)) {
                heads.push(Reverse((following, n)));
            }
        }
        for proposal in &made {
            self.jobs_in_flight.insert(proposal.job);
            self.printers_in_flight.insert(proposal.printer);
            if self.max_starts_per_minute.is_some() {
                self.starts.push_back(now);
            }
        }
        made
    }

    /// Closes a proposal after the order has answered. Call [`Board::order_changed`] with the order's new state
    /// before, so that the printer counts as claimed and is not proposed again. `claimed: false` gives the start back
    /// to the limit.
    pub fn settled(&mut self, proposal: &Proposal, claimed: bool) {
        let known = self.jobs_in_flight.remove(&proposal.job);
        self.printers_in_flight.remove(&proposal.printer);
        if known && !claimed {
            self.starts.pop_back();
        }
    }

    /// When new proposals become possible without any change: the limit on starts allows one again, or a refused pair
    /// may be tried again. `None` if nothing waits for time.
    pub fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        if self.jobs.is_empty() {
            return None;
        }
        let full = self.max_starts_per_minute.is_some_and(|most| self.starts.len() >= most as usize);
        let start = self.starts.front().filter(|_| full).map(|at| at.plus_ms(START_WINDOW_MS));
        let retriable = self.refused.values().flat_map(HashMap::values).map(|at| at.plus_ms(REFUSAL_COOLDOWN_MS));
        retriable.chain(start).filter(|at| *at > now).min()
    }

    fn starts_left(&mut self, now: Timestamp) -> usize {
        let Some(most) = self.max_starts_per_minute else { return usize::MAX };
        while self.starts.front().is_some_and(|at| now.since(*at) >= START_WINDOW_MS) {
            self.starts.pop_front();
        }
        (most as usize).saturating_sub(self.starts.len())
    }

    fn put(&mut self, order: Id, job: &Job) {
        let rank = (Reverse(job.priority), job.due_at.unwrap_or(Timestamp(i64::MAX)), job.created_at, job.id);
        let ready = ReadyJob { order, class: NeedClass::of(job), rank, tried_on: job.tried_on.clone() };
        if self.jobs.get(&job.id) == Some(&ready) {
            return;
        }
        self.take_out(&job.id);
        self.classes.entry(ready.class).or_default().insert(rank);
        self.jobs.insert(job.id, ready);
    }

    fn take_out(&mut self, job: &Id) {
        let Some(old) = self.jobs.remove(job) else { return };
        if let Some(ranks) = self.classes.get_mut(&old.class) {
            ranks.remove(&old.rank);
            if ranks.is_empty() {
                self.classes.remove(&old.class);
            }
        }
    }
}

/// Whether the job waits for a printer and nothing else.
fn is_ready(job: &Job) -> bool {
    job.state == JobState::Sliced
        && job.stock == Stock::Held
        && job.file_id.is_some()
        && job.attempt_id.is_none()
        && job.cancel_requested_at.is_none()
}
