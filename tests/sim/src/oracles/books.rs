//! Oracle of money: the server's ledger of each order and invoice equals that of the payment processor.

use std::collections::BTreeMap;

use serde_json::Value;

use super::demand;
use crate::customers::SimCustomer;
use crate::error::SimError;
use crate::processor::Charge;
use crate::till::{LOST_CLAIM, cents_by_hand};
use crate::world::World;

/// Money of one payment in minor units: what came, what went back, and what the customer's bank took.
type Money = (i64, i64, i64);

/// Checks that the ledgers of an order are equal, that no refund is pending, and that an order paid through the
/// checkout keeps the planned amount.
pub fn agree(world: &World, customer: &SimCustomer, order: &Value) -> Result<(), SimError> {
    let id = order["id"].as_str().unwrap_or_default();
    ledgers_are_equal(world, id, order)?;
    let pending = &order["pendingRefunds"];
    demand(pending.as_array().is_some_and(Vec::is_empty), || format!("refunds are not done: {order}"))?;
    let Some(remainder) = customer.plan.remainder() else { return Ok(()) };
    let expected = remainder.cents(order["totalCents"].as_i64().unwrap_or_default());
    let balance = world.processor.balance_cents(id) + cents_by_hand(order);
    demand(balance == expected, || format!("the shop has {balance} cents instead of {expected}: {order}"))?;
    let actual = order["keptCents"].as_i64();
    demand(actual == Some(expected), || format!("{actual:?} cents are left instead of {expected}: {order}"))
}

/// Demands that an order or invoice has the charges, refunds and lost claims of the processor and no others, that
/// nothing was refunded twice, and that no page of it can be paid.
pub fn ledgers_are_equal(world: &World, id: &str, owner: &Value) -> Result<(), SimError> {
    let charges = world.processor.charges_of(id);
    let (theirs, ours) = (books_of_processor(&charges), books_of_server(owner));
    demand(theirs == ours, || format!("the processor's books say {theirs:?}, those of the server {ours:?}: {owner}"))?;
    for (intent, charge) in &charges {
        refunds_are_single(intent, charge)?;
    }
    let page = world.processor.open_page(id);
    demand(page.is_none(), || format!("the page {page:?} can still be paid: {owner}"))
}

/// Returns what the processor took, gave back and lost, by payment intent.
fn books_of_processor(charges: &BTreeMap<String, Charge>) -> BTreeMap<String, Money> {
    let money = |charge: &Charge| (charge.cents, charge.refunded_cents(), charge.lost_cents());
    charges.iter().map(|(intent, charge)| (intent.clone(), money(charge))).collect()
}

/// Returns what came by the processor, went back and was lost, as the server's ledger has it, by payment intent.
fn books_of_server(owner: &Value) -> BTreeMap<String, Money> {
    let mut books: BTreeMap<String, Money> = BTreeMap::new();
    let payments = owner["payments"].as_array().into_iter().flatten();
    for payment in payments {
        let cents = payment["amountCents"].as_i64().unwrap_or_default();
        let reference = payment["reference"].as_str().unwrap_or_default();
        match payment["method"].as_str() {
            Some("processor") if cents > 0 => books.entry(reference.to_owned()).or_default().0 += cents,
            Some("processor") => books.entry(reference.to_owned()).or_default().1 -= cents,
            // A claim has the ID of the payment with another beginning.
            Some(LOST_CLAIM) => books.entry(reference.replacen("dp_", "pi_", 1)).or_default().2 -= cents,
            _ => {}
        }
    }
    books
}

/// Checks that the processor has executed each of the server's refunds at most once.
fn refunds_are_single(intent: &str, charge: &Charge) -> Result<(), SimError> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for id in charge.refunds.iter().filter_map(|refund| refund.our_id.as_deref()) {
        *counts.entry(id).or_default() += 1;
    }
    let twice = counts.iter().find(|(_, count)| **count > 1);
    demand(twice.is_none(), || format!("refunded more than once of {intent}: {twice:?}"))
}
