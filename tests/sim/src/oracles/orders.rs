//! Oracles of orders: their money, their end, their events, and what another server reads of them.

use serde_json::Value;

use super::demand;
use crate::customers::Customer;
use crate::error::SimError;
use store::memory::Tables;

/// Demands that an order keeps exactly the money that its customer paid and did not get back.
pub fn money_adds_up(customer: &Customer, order: &Value) -> Result<(), SimError> {
    if customer.plan.remainder().is_some() {
        return Ok(()); // `books` compares it with what the processor has.
    }
    let (expected, actual) = (customer.kept_cents(), order["keptCents"].as_i64());
    demand(actual == Some(expected), || format!("{expected} cents are paid for {order}"))?;
    let amounts = order["payments"].as_array().into_iter().flatten().map(|payment| payment["amountCents"].as_i64());
    let sum: i64 = amounts.map(Option::unwrap_or_default).sum();
    demand(sum == expected, || format!("the payments are {sum} cents instead of {expected}: {order}"))
}

/// Demands that an order ended as its customer wanted.
pub fn is_as_planned(customer: &Customer, order: &Value) -> Result<(), SimError> {
    let status = order["status"].as_str().unwrap_or_default();
    let is_cancelled = customer.plan.is_cancelled();
    demand((status != "ready") == is_cancelled, || format!("cancelled: {is_cancelled}, but {order}"))
}

/// Demands that the disk has one event for each step of an order and its jobs. There may be none of a payment for an
/// order that is perhaps never paid.
pub fn each_step_is_published(
    tables: &Tables,
    may_stay_unpaid: bool,
    order: &Value,
    jobs: &[Value],
) -> Result<(), SimError> {
    let count = |event: &str, subject: &Value| {
        let subject = subject.as_str().unwrap_or_default();
        let events = tables.events_after(0).map(|numbered| numbered.event);
        events.filter(|one| one.event == event && one.subject_id.to_string() == subject).count()
    };
    for (event, is_perhaps) in [("order.created", false), ("order.paid", may_stay_unpaid)] {
        let count = count(event, &order["id"]);
        let is_right = count == 1 || (count == 0 && is_perhaps);
        demand(is_right, || format!("{event} was published {count} times: {order}"))?;
    }
    if order["status"] == "ready" {
        let (count, reprints) = (count("order.ready", &order["id"]), jobs.iter().filter(|job| job["reprint"] == true));
        let most = 1 + reprints.count();
        demand((1..=most).contains(&count), || format!("order.ready was published {count} times: {order}"))?;
    }
    for job in jobs.iter().filter(|job| job["state"] == "COMPLETED") {
        let count = count("job.completed", &job["id"]);
        demand(count == 1, || format!("job.completed was published {count} times: {job}"))?;
    }
    Ok(())
}

/// Demands that another server reads the same of an order and its jobs.
pub fn is_read_back(then: &(Value, Vec<Value>), now: &(Value, Vec<Value>)) -> Result<(), SimError> {
    let facts =
        |order: &Value| ["id", "number", "status", "keptCents", "lines", "payments"].map(|name| order[name].clone());
    let (before, after) = (facts(&then.0), facts(&now.0));
    demand(before == after, || format!("{before:?} became {after:?}"))?;
    let facts = |jobs: &[Value]| -> Vec<_> {
        jobs.iter().map(|job| ["id", "number", "state", "attempts"].map(|name| job[name].clone())).collect()
    };
    let (before, after) = (facts(&then.1), facts(&now.1));
    demand(before == after, || format!("{before:?} became {after:?}"))
}
