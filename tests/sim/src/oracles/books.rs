//! Oracle of money: the server's ledger of each order and invoice is that of the payment processor.

use std::collections::BTreeMap;

use serde_json::Value;

use super::demand;
use crate::customers::Customer;
use crate::error::SimError;
use crate::processor::Charge;
use crate::till::cents_by_hand;
use crate::world::World;

/// Money of one payment: what came, and what went back, in minor units.
type Money = (i64, i64);

/// Demands that the ledgers of an order are equal, that no refund is left to do, and that an order that was paid at the
/// checkout keeps what it should.
pub fn agree(world: &World, customer: &Customer, order: &Value) -> Result<(), SimError> {
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

/// Demands that an order or invoice has the charges and refunds of the processor and no others, that nothing was
/// refunded twice, and that no page of it can be paid.
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

/// Returns what the processor took and gave back, by payment intent.
fn books_of_processor(charges: &BTreeMap<String, Charge>) -> BTreeMap<String, Money> {
    charges.iter().map(|(intent, charge)| (intent.clone(), (charge.cents, charge.refunded_cents()))).collect()
}

/// Returns what came by the processor and went back, as the server's ledger has it, by payment intent.
fn books_of_server(owner: &Value) -> BTreeMap<String, Money> {
    let mut books: BTreeMap<String, Money> = BTreeMap::new();
    let payments = owner["payments"].as_array().into_iter().flatten();
    for payment in payments.filter(|payment| payment["method"] == "processor") {
        let cents = payment["amountCents"].as_i64().unwrap_or_default();
        let money = books.entry(payment["reference"].as_str().unwrap_or_default().to_owned()).or_default();
        if cents > 0 {
            money.0 += cents;
        } else {
            money.1 -= cents;
        }
    }
    books
}

/// Demands that the processor has each refund that the server asked for once at most.
fn refunds_are_single(intent: &str, charge: &Charge) -> Result<(), SimError> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for id in charge.refunds.iter().filter_map(|refund| refund.our_id.as_deref()) {
        *counts.entry(id).or_default() += 1;
    }
    let twice = counts.iter().find(|(_, count)| **count > 1);
    demand(twice.is_none(), || format!("refunded more than once of {intent}: {twice:?}"))
}
