//! Oracle of stock: every ledger adds up to the amount of its material, contains each delivery once, and prints have
//! consumed what their files state.

use std::collections::BTreeMap;

use serde_json::Value;

use super::demand;
use crate::day::Ending;
use crate::error::SimError;
use crate::people::People;
use crate::prints::{PhysicalPrint, physical_print};
use crate::world::World;
use domain::amount::Amount;
use domain::id::Id;
use domain::job::{Attempt, AttemptState};
use domain::material::MovementKind;
use store::memory::Tables;

/// Thousandths of a gram in a gram.
const THOUSANDTHS: f64 = 1000.0;
/// Difference by which the consumption of a print may deviate from its file because of rounding, in thousandths of a
/// gram.
const ROUNDING: i64 = 1;

/// Sums of a material's ledger.
#[derive(Default)]
struct LedgerSum {
    quantity: i64,
    reserved: i64,
    delivered: i64,
    /// Consumption by job, in thousandths of a gram.
    used: BTreeMap<Id, i64>,
    /// `true` if the stock was 0 at some time, when a print may have consumed more than there was.
    is_drained: bool,
}

/// Checks that the ledgers of all materials add up, and that the jobs of all orders have consumed what the ledgers
/// contain.
pub fn adds_up(world: &World, tables: &Tables, people: &People, ending: &Ending) -> Result<(), SimError> {
    let mut ledgers = BTreeMap::new();
    for (place, (id, material)) in people.catalogue.materials.iter().zip(&ending.materials).enumerate() {
        let ledger = sum(tables, id)?;
        let amount = |member: &str| (material[member].as_f64().unwrap_or(f64::NAN) * THOUSANDTHS).round() as i64;
        let (quantity, reserved) = (amount("quantity"), amount("reserved"));
        let words = || format!("the ledger sums up to {} and {}: {material}", ledger.quantity, ledger.reserved);
        demand((ledger.quantity, ledger.reserved) == (quantity, reserved), words)?;
        demand(reserved == 0, || format!("reserved for nothing: {material}"))?;
        let delivered = people.staff.office.records.deliveries.get(&place).copied().unwrap_or_default();
        let expected = people.catalogue.first_stock(place) + delivered;
        let words = || format!("{expected} were delivered, and {} received: {material}", ledger.delivered);
        demand(ledger.delivered == expected, words)?;
        ledgers.insert(id.as_str(), ledger);
    }
    let mut attempts: BTreeMap<String, Vec<&Attempt>> = BTreeMap::new();
    for attempt in tables.attempts() {
        attempts.entry(attempt.job_id.to_string()).or_default().push(attempt);
    }
    for (order, jobs) in ending.orders.iter().chain(ending.sales.iter().map(|sale| &sale.ours)) {
        for job in jobs {
            let of_job = attempts.get(job["id"].as_str().unwrap_or_default());
            let of_job = of_job.map(Vec::as_slice).unwrap_or_default();
            has_used_its_need(world, people, &ledgers, (order, job), of_job)?;
        }
    }
    Ok(())
}

/// Sums the ledger of a material, and checks that each entry follows from the previous one.
fn sum(tables: &Tables, material: &str) -> Result<LedgerSum, SimError> {
    let id = material.parse::<Id>().map_err(|_| SimError::Broken(format!("no ID: {material}")))?;
    let mut sum = LedgerSum::default();
    for movement in tables.movements(id) {
        sum.quantity += movement.delta_quantity.0;
        sum.reserved += movement.delta_reserved.0;
        let is_sum = (sum.quantity, sum.reserved) == (movement.quantity.0, movement.reserved.0);
        demand(is_sum, || format!("{} and {} before {movement:?}", sum.quantity, sum.reserved))?;
        sum.is_drained |= sum.quantity == 0;
        match (movement.kind, movement.job_id) {
            (MovementKind::Receive, _) => sum.delivered += movement.delta_quantity.0,
            (MovementKind::Consume, Some(job)) => *sum.used.entry(job).or_default() -= movement.delta_quantity.0,
            _ => {}
        }
    }
    Ok(sum)
}

/// Checks that finished prints of a job consumed what their file states, that other prints did not consume more, and
/// that the ledgers contain exactly this.
fn has_used_its_need(
    world: &World,
    people: &People,
    ledgers: &BTreeMap<&str, LedgerSum>,
    (order, job): (&Value, &Value),
    attempts: &[&Attempt],
) -> Result<(), SimError> {
    let needs = people.catalogue.needs(job["skuId"].as_str().unwrap_or_default()).unwrap_or_default();
    let is_counted = job["state"] == "COMPLETED" && order["status"] == "ready";
    for (material, need) in needs {
        let Some(ledger) = ledgers.get(material) else { continue };
        let mut used_by_prints = 0;
        for attempt in attempts {
            let used = used_of(attempt, material);
            used_by_prints += used;
            let print = physical_print(world, &attempt.id.to_string());
            let is_whole = attempt.state == AttemptState::Finished || (is_counted && print == PhysicalPrint::Finished);
            let most = if print == PhysicalPrint::NotStarted { 0 } else { need + ROUNDING };
            let words = || format!("{print:?} with {used} of {need}: {attempt:?}");
            demand((0..=most).contains(&used) && (!is_whole || used >= need - ROUNDING), words)?;
        }
        let used = attempts.first().and_then(|attempt| ledger.used.get(&attempt.job_id)).copied().unwrap_or_default();
        let is_same = used == used_by_prints || (ledger.is_drained && used < used_by_prints);
        demand(is_same, || format!("prints have used {used_by_prints}, and the ledger has {used}: {job}"))?;
    }
    Ok(())
}

/// Returns how much of a material an attempt's print consumed, in thousandths of a gram.
fn used_of(attempt: &Attempt, material: &str) -> i64 {
    let of_it = attempt.used_of.iter().filter(|(id, _)| id.to_string() == material);
    of_it.map(|(_, Amount(thousandths))| thousandths).sum()
}
