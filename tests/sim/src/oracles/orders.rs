//! Oracles of orders: their payments, their final state, their events, and what another server reads.

use std::collections::BTreeMap;

use serde_json::Value;

use super::demand;
use crate::clock::WorldClock;
use crate::customers::SimCustomer;
use crate::error::SimError;
use crate::people::People;
use store::memory::Tables;

/// Events on the disk by name and subject, each with its times in milliseconds since the start of the simulation.
pub struct PublishedEvents(BTreeMap<(String, String), Vec<i64>>);

impl PublishedEvents {
    /// Reads all events, each once.
    pub fn read(tables: &Tables) -> Self {
        let mut events: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for event in tables.events_after(0).map(|numbered| numbered.event) {
            let times = events.entry((event.event, event.subject_id.to_string())).or_default();
            times.push(WorldClock::ms_of(event.timestamp));
        }
        Self(events)
    }

    /// Returns the times at which an event about a subject was published, in milliseconds since the start of the
    /// simulation.
    pub fn times(&self, event: &str, subject: &str) -> &[i64] {
        self.0.get(&(event.to_owned(), subject.to_owned())).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Checks that an order keeps exactly what its customer paid minus what was refunded.
pub fn money_adds_up(customer: &SimCustomer, order: &Value) -> Result<(), SimError> {
    if customer.plan.remainder().is_some() {
        return Ok(()); // `books` compares it with what the processor has.
    }
    let (expected, actual) = (customer.kept_cents(), order["keptCents"].as_i64());
    demand(actual == Some(expected), || format!("{expected} cents are paid for {order}"))?;
    let amounts = order["payments"].as_array().into_iter().flatten().map(|payment| payment["amountCents"].as_i64());
    let sum: i64 = amounts.map(Option::unwrap_or_default).sum();
    demand(sum == expected, || format!("the payments are {sum} cents instead of {expected}: {order}"))
}

/// Checks that an order ended as its customer and the staff had planned.
pub fn is_as_planned(people: &People, customer: &SimCustomer, order: &Value) -> Result<(), SimError> {
    let status = order["status"].as_str().unwrap_or_default();
    let is_cancelled = customer.plan.is_cancelled();
    let end = if people.staff.parcels.ships(customer.plan.number) { "shipped" } else { "ready" };
    demand((status != end) == is_cancelled, || format!("cancelled: {is_cancelled}, otherwise {end}, but {order}"))
}

/// Returns how often an order may have become ready or been shipped: once, and again whenever one of its parts had to
/// be printed again, because it was signed off twice or a print was repeated.
fn most_ends(people: &People, customer: Option<&SimCustomer>, jobs: &[Value]) -> usize {
    let reprints = jobs.iter().filter(|job| job["reprint"] == true).count();
    let number = customer.map(|customer| customer.plan.number);
    let remakes = people.staff.office.records.remakes.values().filter(|order| Some(**order) == number).count();
    let attempts = jobs.iter().flat_map(|job| job["attempts"].as_array().into_iter().flatten());
    let verdict = |attempt: &Value| people.staff.inspections.of(attempt["id"].as_str().unwrap_or_default());
    let is_judged_twice = |attempt: &&Value| verdict(attempt).is_some_and(|verdict| verdict.count > 1);
    1 + reprints + remakes + attempts.filter(is_judged_twice).count()
}

/// Checks that the disk has one event for each step of an order and its jobs. The event for a payment may be missing if
/// the customer may never pay. `customer` is `None` for an order from another shop.
pub fn each_step_is_published(
    published: &PublishedEvents,
    people: &People,
    customer: Option<&SimCustomer>,
    (order, jobs): (&Value, &[Value]),
) -> Result<(), SimError> {
    let count = |event: &str, subject: &Value| published.times(event, subject.as_str().unwrap_or_default()).len();
    let may_stay_unpaid = customer.is_some_and(|customer| customer.plan.may_stay_unpaid());
    for (event, is_perhaps) in [("order.created", false), ("order.paid", may_stay_unpaid)] {
        let count = count(event, &order["id"]);
        let is_right = count == 1 || (count == 0 && is_perhaps);
        demand(is_right, || format!("{event} was published {count} times: {order}"))?;
    }
    let ends: &[&str] = match order["status"].as_str() {
        Some("ready") => &["order.ready"],
        Some("shipped") => &["order.ready", "order.shipped"],
        _ => &[],
    };
    let most = most_ends(people, customer, jobs);
    for event in ends {
        let count = count(event, &order["id"]);
        demand((1..=most).contains(&count), || format!("{event} was published {count} times: {order}"))?;
    }
    for job in jobs.iter().filter(|job| job["state"] == "COMPLETED") {
        let attempts = job["attempts"].as_array().into_iter().flatten();
        let finished = attempts.filter(|attempt| attempt["state"] == "finished").count();
        let count = count("job.completed", &job["id"]);
        demand(count == finished, || format!("job.completed was published {count} times: {job}"))?;
    }
    Ok(())
}

/// Checks that another server reads the same state of an order and its jobs.
pub fn is_read_back(then: &(Value, Vec<Value>), now: &(Value, Vec<Value>)) -> Result<(), SimError> {
    let facts = |order: &Value| {
        ["id", "number", "status", "keptCents", "lines", "payments", "shipments", "priority", "dueAt"]
            .map(|name| order[name].clone())
    };
    let (before, after) = (facts(&then.0), facts(&now.0));
    demand(before == after, || format!("{before:?} became {after:?}"))?;
    let facts = |jobs: &[Value]| -> Vec<_> {
        jobs.iter().map(|job| ["id", "number", "state", "attempts"].map(|name| job[name].clone())).collect()
    };
    let (before, after) = (facts(&then.1), facts(&now.1));
    demand(before == after, || format!("{before:?} became {after:?}"))
}
