//! Departures: records of the prints that the parts in a shipment came from.
//!
//! A shipped part that is rejected afterwards is owed again. Each shipment is therefore recorded on the prints, with
//! the number of parts taken from each, oldest print first. If only some parts of a plate were shipped, the rejected
//! parts are assumed to be among those that were not, as far as possible: an operator who knows better ships one part
//! fewer.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::change::{OrderChange, REJECTED_AFTER_SHIPPING};
use super::parts::good_parts;
use super::{LineParts, Order, OrderLine, OrderNewsAnswer, OrderStatus, SentLine};
use crate::aggregate::Decision;
use crate::id::Id;
use crate::job::{Attempt, Departure, Job};
use crate::time::Timestamp;

/// Shipment number that no shipment uses; it means "no shipment yet".
const NO_SHIPMENT: u32 = 0;

/// Parts picked from one print for a shipment.
#[derive(Clone, Copy)]
struct PickedParts {
    job: Id,
    attempt: Id,
    departure: Departure,
}

impl Order {
    /// Returns how many of a print's parts were sent in the order's current shipments.
    fn departed(&self, attempt: &Attempt) -> u32 {
        let last = self.shipments.last().map_or(NO_SHIPMENT, |sent| sent.number);
        let departures = attempt.departures.iter().filter(|departure| departure.shipment <= last);
        departures.fold(0, |sum, departure| sum.saturating_add(departure.quantity))
    }

    /// Returns how many of a job's parts were shipped and are no longer good.
    pub(super) fn rejected_departures(&self, job: &Job) -> u64 {
        let plate = self.plate_of(job);
        let rejected = |attempt: &Attempt| self.departed(attempt).saturating_sub(good_parts(job, attempt, plate));
        job.attempts.iter().map(|attempt| u64::from(rejected(attempt))).sum()
    }

    /// Returns the number of shipped parts that were rejected and must still be replaced for the customer; `parts`
    /// holds the part counts per line.
    pub(super) fn owed_again(&self, parts: &[LineParts]) -> u64 {
        if parts.iter().all(|line| line.rejected_after_shipping == 0) {
            return 0;
        }
        let lines = self.lines.iter().zip(parts).zip(self.shipped_parts());
        let owed = |line: &OrderLine, shipped: u64| u64::from(line.quantity).saturating_sub(shipped);
        lines.map(|((line, parts), shipped)| parts.rejected_after_shipping.min(owed(line, shipped))).sum()
    }

    /// Describes how many shipped parts are owed again, and how to proceed.
    pub(super) fn rejected_in_words(&self, owed: u64) -> String {
        let done = if self.status == OrderStatus::Shipped {
            "they are not replaced automatically: sign off their jobs again to continue the order, or refund it"
        } else {
            "ship replacements once they are good"
        };
        format!("{owed} shipped parts were rejected and must be replaced; {done}")
    }

    /// Returns the jobs of a line, oldest first.
    fn jobs_of_line(&self, line: u32) -> Vec<&Arc<Job>> {
        let mut jobs: Vec<&Arc<Job>> = self.jobs.values().filter(|job| job.line == line).collect();
        jobs.sort_by_key(|job| job.number);
        jobs
    }

    /// Picks the requested number of a line's parts from its prints, oldest first; `there` returns how many parts a
    /// print has available. Picks fewer parts if there are not enough.
    fn pick(&self, shipment: u32, sent: SentLine, there: impl Fn(&Job, &Attempt) -> u32) -> Vec<PickedParts> {
        let mut remaining = sent.quantity;
        let mut picks = Vec::new();
        for job in self.jobs_of_line(sent.line) {
            for attempt in &job.attempts {
                let quantity = there(job, attempt).min(remaining);
                if quantity > 0 {
                    remaining -= quantity;
                    let departure = Departure { shipment, quantity };
                    picks.push(PickedParts { job: job.id, attempt: attempt.id, departure });
                }
            }
        }
        picks
    }

    /// Picks good parts of a line that have not been shipped.
    fn pick_good(&self, shipment: u32, sent: SentLine) -> Vec<PickedParts> {
        self.pick(shipment, sent, |job, attempt| {
            good_parts(job, attempt, self.plate_of(job)).saturating_sub(self.departed(attempt))
        })
    }

    /// Reconstructs, for shipments older than this record, which prints their parts came from. Shipped parts were good
    /// when they were shipped; if too few parts of the prints finished by then are good today, the missing ones were
    /// rejected afterwards.
    ///
    /// Runs when the order is loaded; `OrderChange::keep_departures` stores the result. Until then, each load reaches
    /// the same result, because any change to a print's parts also writes the print's departures.
    pub fn trace_departures(&mut self) {
        if self.shipments.is_empty() {
            return;
        }
        let noted = self.noted();
        for sent in self.shipments.clone() {
            for line in &sent.lines {
                let noted = noted.get(&(sent.number, line.line)).copied().unwrap_or_default();
                let rest = SentLine { quantity: line.quantity.saturating_sub(noted), ..*line };
                self.has_traced_departures |= rest.quantity > 0;
                self.trace(sent.number, sent.shipped_at, rest);
            }
        }
    }

    /// Returns whether the order is still marked as shipped although shipped parts were rejected. An older release,
    /// which did not record departures, left it in this state, and no operator has dealt with it since.
    pub(super) fn waits_as_shipped(&self) -> bool {
        self.status == OrderStatus::Shipped && self.flags.iter().any(|flag| flag == REJECTED_AFTER_SHIPPING)
    }

    /// Returns the number of shipped parts recorded on the prints, by shipment and line.
    fn noted(&self) -> BTreeMap<(u32, u32), u32> {
        let mut noted: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for job in self.jobs.values() {
            for departure in job.attempts.iter().flat_map(|attempt| &attempt.departures) {
                *noted.entry((departure.shipment, job.line)).or_default() += departure.quantity;
            }
        }
        noted
    }

    /// Records the parts of a line that were shipped at the given time, starting with parts that are good today.
    fn trace(&mut self, shipment: u32, at: Timestamp, sent: SentLine) {
        if sent.quantity == 0 {
            return;
        }
        let over = |attempt: &Attempt| attempt.printed() && attempt.ended_at.is_none_or(|ended| ended <= at);
        let all = |attempt: &Attempt| attempt.departures.iter().map(|departure| departure.quantity).sum::<u32>();
        let good = self.pick(shipment, sent, |job, attempt| {
            let good = if over(attempt) { good_parts(job, attempt, self.plate_of(job)) } else { 0 };
            good.saturating_sub(all(attempt))
        });
        self.note(&good);
        let quantity = good.iter().fold(sent.quantity, |rest, pick| rest - pick.departure.quantity);
        let others = self.pick(shipment, SentLine { quantity, ..sent }, |job, attempt| {
            let parts = if over(attempt) { self.plate_of(job) } else { 0 };
            parts.saturating_sub(all(attempt))
        });
        self.note(&others);
    }

    /// Records the picked parts on their prints.
    fn note(&mut self, picks: &[PickedParts]) {
        for pick in picks {
            let Some(job) = self.jobs.get(&pick.job) else { continue };
            let mut job = (**job).clone();
            if let Some(attempt) = job.attempts.iter_mut().find(|one| one.id == pick.attempt) {
                depart(attempt, pick.departure);
            }
            self.jobs.insert_mut(job.id, Arc::new(job));
        }
    }

    /// Returns the jobs with parts in the given shipment, oldest first, each with its number of parts.
    pub fn prints_in(&self, shipment: u32) -> Vec<(&Job, u32)> {
        let of_job = |job: &Job| {
            let departures = job.attempts.iter().flat_map(|attempt| &attempt.departures);
            departures.filter(|departure| departure.shipment == shipment).map(|departure| departure.quantity).sum()
        };
        let mut jobs: Vec<(&Job, u32)> = self.jobs.values().map(|job| (&**job, of_job(job))).collect();
        jobs.retain(|(_, quantity)| *quantity > 0);
        jobs.sort_by_key(|(job, _)| job.number);
        jobs
    }

    /// Returns the number of parts sent in all shipments, per line, including parts that were rejected later; 0 for
    /// kits and services.
    pub(super) fn departed_parts(&self) -> Vec<u64> {
        let mut departed = vec![0; self.lines.len()];
        for SentLine { line, quantity } in self.shipments.iter().flat_map(|shipment| &shipment.lines) {
            if let Some(departed) = departed.get_mut(*line as usize) {
                *departed += u64::from(*quantity);
            }
        }
        departed
    }

    /// Replaces the counts for kits with the number of complete sets, and treats services as complete, because nothing
    /// is shipped for them.
    pub(super) fn with_sets(&self, mut departed: Vec<u64>) -> Vec<u64> {
        for (n, line) in self.lines.iter().enumerate() {
            departed[n] = match line {
                kit if kit.is_kit() => {
                    let sets = self.parts_of_kit(n).map(|(part, in_one_set)| departed[part] / in_one_set);
                    sets.min().unwrap_or(0).min(u64::from(kit.quantity))
                }
                work if work.is_service() => u64::from(work.quantity),
                OrderLine { quantity, .. } => departed[n].min(u64::from(*quantity)),
            };
        }
        departed
    }
}

/// Adds a departure to a print.
fn depart(attempt: &mut Attempt, departure: Departure) {
    match attempt.departures.iter_mut().find(|existing| existing.shipment == departure.shipment) {
        Some(existing) => existing.quantity = existing.quantity.saturating_add(departure.quantity),
        None => attempt.departures.push(departure),
    }
}

impl OrderChange<'_> {
    /// Records on the prints which of their parts are sent in the given shipment.
    pub(super) fn note_departures(&mut self, shipment: u32, lines: &[SentLine]) {
        let picks: Vec<PickedParts> = lines.iter().flat_map(|sent| self.order.pick_good(shipment, *sent)).collect();
        for PickedParts { job, attempt, departure } in picks {
            self.edit_attempt(job, attempt, |attempt| depart(attempt, departure));
        }
    }

    /// Stores the traced departures. A shipped order with parts that turn out to be owed again is flagged but not
    /// reopened, because an old order must not be printed automatically. An operator resumes it by signing the parts
    /// off again.
    pub(super) fn keep_departures(mut self) -> Decision<Order, OrderNewsAnswer> {
        if !self.order.has_traced_departures {
            return self.acknowledge(false);
        }
        self.head().has_traced_departures = false;
        let attempts = self.order.jobs.values().flat_map(|job| &job.attempts);
        let prints = attempts.filter(|one| !one.departures.is_empty()).map(|one| (one.job_id, one.id));
        for (job, attempt) in prints.collect::<Vec<_>>() {
            // Its row is written as it is.
            self.edit_attempt(job, attempt, |_| {});
        }
        let owed = self.order.owed_again(&self.order.parts());
        if self.order.status == OrderStatus::Shipped && owed > 0 {
            self.flag(REJECTED_AFTER_SHIPPING, &self.order.rejected_in_words(owed));
        }
        self.acknowledge(false)
    }
}
