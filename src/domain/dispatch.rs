//! Which job goes to which printer: an index that is rebuilt from orders and printers and owns nothing.
//!
//! It proposes pairs; the order and the printer may both refuse (decisions §4, dispatch). Not for asking them.

mod reason;

#[cfg(test)]
mod tests;

pub use reason::waiting_reason;

use crate::domain::id::Id;
use crate::domain::job::{AttemptState, Job, JobState, Stock};
use crate::domain::order::{Order, OrderStatus};
use crate::domain::printer::Printer;
use crate::domain::sku::{Dimensions, MachineType};
use crate::domain::time::Timestamp;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};

/// Milliseconds during which a pair that the printer refused is not proposed again, unless the printer changes.
const COOL_MS: i64 = 10_000;
/// Milliseconds of the window of `max_starts_per_minute`.
const MINUTE_MS: i64 = 60_000;

/// A pair that fits. The order is asked to claim the printer for the job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Proposal {
    /// The job's order.
    pub order: Id,
    /// The job.
    pub job: Id,
    /// The printer.
    pub printer: Id,
}

/// A place among the ready jobs: priority (higher first), wanted by (none last), age, then the job itself.
type Place = (Reverse<u8>, Timestamp, Timestamp, Id);

/// What a job needs of a printer. Jobs of one class fit the same printers, so they are looked at together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Class {
    machine: MachineType,
    material: Id,
    /// Bits of x, y, z, so that it can be a key.
    size: Option<[u64; 3]>,
}

impl Class {
    fn of(job: &Job) -> Self {
        let bits = |size: &Dimensions| [size.x, size.y, size.z].map(f64::to_bits);
        Self { machine: job.machine_type, material: job.material_id, size: job.dimensions.as_ref().map(bits) }
    }
    fn size(&self) -> Option<Dimensions> {
        self.size.map(|bits| bits.map(f64::from_bits)).map(|[x, y, z]| Dimensions { x, y, z })
    }
}

/// What is known of a job that is ready.
#[derive(Clone, PartialEq, Debug)]
struct Ready {
    order: Id,
    class: Class,
    place: Place,
    tried_on: Vec<Id>,
}

/// What is known of a printer that is free.
#[derive(Clone, Debug)]
struct Free {
    machine: MachineType,
    volume: Option<Dimensions>,
    loaded: Option<Id>,
    idle_since: Timestamp,
}

impl Free {
    fn fits(&self, class: &Class) -> bool {
        let inside = match (class.size(), &self.volume) {
            (Some(size), Some(volume)) => size.fits_in(volume),
            _ => true,
        };
        self.machine == class.machine && inside && self.loaded.is_none_or(|loaded| loaded == class.material)
    }
}

/// What the dispatcher keeps of an order: its ready jobs, and the printers that its attempts have.
#[derive(Default, Debug)]
struct Known {
    jobs: HashSet<Id>,
    has: HashSet<Id>,
}

/// The ready jobs and the free printers.
#[derive(Default, Debug)]
pub struct Board {
    jobs: HashMap<Id, Ready>,
    classes: BTreeMap<Class, BTreeSet<Place>>,
    orders: HashMap<Id, Known>,
    free: BTreeMap<Id, Free>,
    /// How many live attempts the orders have on a printer: it has not taken them yet, or is busy with one.
    claimed: HashMap<Id, u32>,
    jobs_in_flight: HashSet<Id>,
    printers_in_flight: HashSet<Id>,
    /// Pairs that the printer refused, and when.
    cool: HashMap<Id, HashMap<Id, Timestamp>>,
    max_starts_per_minute: Option<u32>,
    starts: VecDeque<Timestamp>,
}

impl Board {
    /// An empty board; `max_starts_per_minute` is the setting `dispatch.max_starts_per_minute`.
    pub fn new(max_starts_per_minute: Option<u32>) -> Self {
        Self { max_starts_per_minute, ..Self::default() }
    }

    /// Jobs that wait for a printer.
    pub fn waiting(&self) -> usize {
        self.jobs.len()
    }

    /// An order as it is now.
    pub fn order_changed(&mut self, order: &Order) {
        let open = matches!(order.status, OrderStatus::Paid | OrderStatus::Printing);
        let mut now = Known::default();
        for job in order.jobs.values() {
            if let Some(attempt) = job.live() {
                now.has.insert(attempt.printer_id);
            } else if open && is_ready(job) {
                now.jobs.insert(job.id);
                self.put(order.id, job);
                if let Some(last) = job.attempts.last().filter(|last| last.state == AttemptState::Refused) {
                    let at = last.ended_at.unwrap_or(last.created_at);
                    self.cool.entry(last.printer_id).or_default().insert(job.id, at);
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

    /// A printer as it is now.
    pub fn printer_changed(&mut self, printer: &Printer) {
        self.cool.remove(&printer.id);
        if printer.free().is_ok() {
            let free = Free {
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

    /// Pairs to be asked for now, best job first; they are in flight until [`Board::settled`].
    pub fn proposals(&mut self, now: Timestamp) -> Vec<Proposal> {
        let mut left = self.starts_left(now);
        let usable = |id: &Id| !self.printers_in_flight.contains(id) && !self.claimed.contains_key(id);
        let mut free: HashMap<MachineType, Vec<(Id, Free)>> = HashMap::new();
        for (id, one) in self.free.iter().filter(|(id, _)| usable(id)) {
            free.entry(one.machine).or_default().push((*id, one.clone()));
        }
        let mut made = Vec::new();
        if free.is_empty() || left == 0 {
            return made;
        }
        for cooling in self.cool.values_mut() {
            cooling.retain(|_, at| now.since(*at) < COOL_MS);
        }
        self.cool.retain(|_, cooling| !cooling.is_empty());
        let next = |class: &Class, after: Option<&Place>| {
            let places = self.classes.get(class)?;
            let mut rest = match after {
                None => places.range(..),
                Some(after) => places.range((std::ops::Bound::Excluded(*after), std::ops::Bound::Unbounded)),
            };
            rest.find(|place| !self.jobs_in_flight.contains(&place.3)).copied()
        };
        // The first of each class; the best of them is looked at first, then the next of its class comes up.
        let mut heads: BinaryHeap<Reverse<(Place, usize)>> = BinaryHeap::new();
        let classes: Vec<Class> = self.classes.keys().copied().collect();
        for (n, class) in classes.iter().enumerate() {
            if let Some(place) = next(class, None) {
                heads.push(Reverse((place, n)));
            }
        }
        while let Some(Reverse((place, n))) = heads.pop() {
            if left == 0 {
                break;
            }
            let (Some(class), Some(job)) = (classes.get(n), self.jobs.get(&place.3)) else { continue };
            let Some(printers) = free.get_mut(&class.machine) else { continue };
            if !printers.iter().any(|(_, one)| one.fits(class)) {
                continue; // Nor for any other of the class.
            }
            let cools = |printer: &Id| self.cool.get(printer).is_some_and(|jobs| jobs.contains_key(&place.3));
            let best = printers
                .iter()
                .enumerate()
                .filter(|(_, (id, one))| one.fits(class) && !cools(id))
                .min_by_key(|(_, (id, one))| {
                    (one.loaded != Some(class.material), job.tried_on.contains(id), one.idle_since, *id)
                })
                .map(|(at, _)| at);
            if let Some(at) = best {
                let (printer, _) = printers.swap_remove(at);
                made.push(Proposal { order: job.order, job: place.3, printer });
                left -= 1;
            }
            if let Some(following) = next(class, Some(&place)) {
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

    /// The order has answered a proposal. Hand its new state to [`Board::order_changed`] first, so that the printer counts
    /// as claimed. A refused one (`claimed: false`) gives back its start.
    pub fn settled(&mut self, proposal: &Proposal, claimed: bool) {
        let known = self.jobs_in_flight.remove(&proposal.job);
        self.printers_in_flight.remove(&proposal.printer);
        if known && !claimed {
            self.starts.pop_back();
        }
    }

    /// When time alone makes new proposals possible: a start is free again, or a refused pair may be tried again.
    pub fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        if self.jobs.is_empty() {
            return None;
        }
        let full = self.max_starts_per_minute.is_some_and(|most| self.starts.len() >= most as usize);
        let start = self.starts.front().filter(|_| full).map(|at| at.plus_ms(MINUTE_MS));
        let cooled = self.cool.values().flat_map(HashMap::values).map(|at| at.plus_ms(COOL_MS));
        cooled.chain(start).filter(|at| *at > now).min()
    }

    fn starts_left(&mut self, now: Timestamp) -> usize {
        let Some(most) = self.max_starts_per_minute else { return usize::MAX };
        while self.starts.front().is_some_and(|at| now.since(*at) >= MINUTE_MS) {
            self.starts.pop_front();
        }
        (most as usize).saturating_sub(self.starts.len())
    }

    fn put(&mut self, order: Id, job: &Job) {
        let place = (Reverse(job.priority), job.due_at.unwrap_or(Timestamp(i64::MAX)), job.created_at, job.id);
        let ready = Ready { order, class: Class::of(job), place, tried_on: job.tried_on.clone() };
        if self.jobs.get(&job.id) == Some(&ready) {
            return;
        }
        self.take_out(&job.id);
        self.classes.entry(ready.class).or_default().insert(place);
        self.jobs.insert(job.id, ready);
    }

    fn take_out(&mut self, job: &Id) {
        let Some(old) = self.jobs.remove(job) else { return };
        if let Some(places) = self.classes.get_mut(&old.class) {
            places.remove(&old.place);
            if places.is_empty() {
                self.classes.remove(&old.class);
            }
        }
    }
}

/// Waits for a printer and for nothing else.
fn is_ready(job: &Job) -> bool {
    job.state == JobState::Sliced
        && job.stock == Stock::Held
        && job.file_id.is_some()
        && job.attempt_id.is_none()
        && job.cancel_requested_at.is_none()
}
