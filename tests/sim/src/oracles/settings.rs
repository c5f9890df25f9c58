//! Oracle of decisions by the staff and the owner: priorities and due dates are as acknowledged, and parts count
//! according to the house rules.

use serde_json::{Value, json};

use super::demand;
use super::orders::PublishedEvents;
use crate::clock::WorldClock;
use crate::customers::SimCustomer;
use crate::error::SimError;
use crate::people::People;
use crate::world::World;
use domain::job::{Attempt, AttemptState};
use store::memory::Tables;

/// Default priority of an order.
const USUAL_PRIORITY: u8 = 5;

/// Checks that an order has the last acknowledged priority and due date.
pub fn are_as_acknowledged(people: &People, customer: &SimCustomer, order: &Value) -> Result<(), SimError> {
    let plan = &customer.plan;
    let rank = people.staff.office.records.ranks.get(&plan.number).copied().or(plan.priority).unwrap_or(USUAL_PRIORITY);
    demand(order["priority"] == rank, || format!("priority {rank} was acknowledged: {order}"))?;
    let due = json!(plan.due_ms.map(WorldClock::at));
    demand(order["dueAt"] == due, || format!("due at {due} was acknowledged: {order}"))
}

/// Checks that prints counted without a sign-off only while the house did not require one: otherwise no sign-off was
/// recorded automatically, and no order became ready before its prints were signed off.
pub fn sign_offs_are_required(
    world: &World,
    people: &People,
    tables: &Tables,
    published: &PublishedEvents,
) -> Result<(), SimError> {
    let is_finished = |attempt: &&Attempt| attempt.state == AttemptState::Finished;
    for attempt in tables.attempts().filter(is_finished) {
        let Some(ended) = attempt.ended_at.map(WorldClock::ms_of) else { continue };
        let is_automatic = attempt.sign_off.as_ref().is_some_and(|sign_off| sign_off.automatic);
        if !world.house_rules.was_sign_off_required(ended) {
            let words = || format!("parts count by themselves, but nothing was recorded of {attempt:?}");
            demand(attempt.sign_off.is_some(), words)?;
            continue;
        }
        demand(!is_automatic, || format!("parts count once they are signed off, but not those of {attempt:?}"))?;
        let look = people.staff.inspections.first_look(&attempt.id.to_string()).unwrap_or(i64::MAX);
        let ready = published.times("order.ready", &attempt.order_id.to_string());
        let early = ready.iter().find(|at| (ended..look).contains(*at));
        demand(early.is_none(), || format!("ready at {early:?} ms, and judged at {look} ms: {attempt:?}"))?;
    }
    Ok(())
}
