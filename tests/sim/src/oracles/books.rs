//! Oracle of money: the server's ledger of each order and invoice equals that of the payment processor.

use std::collections::BTreeMap;

use serde_json::Value;

use super::demand;
use crate::customers::Customer;
use crate::error::SimError;
use crate::processor::Charge;
use crate::till::cents_by_hand;
use crate::world::World;

/// Paid and refunded amount of one payment, in minor units.
type Money = (i64, i64);

/// Checks that the ledgers of an order are equal, that no refund is pending, and that an order paid through the
/// checkout keeps the planned amount.
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

/// Checks that an order or invoice has exactly the processor's charges and refunds, that nothing was refunded twice,
/// and that none of its payment pages can still be paid.
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

/// Returns the processor's paid and refunded amounts by payment intent.
fn books_of_processor(charges: &BTreeMap<String, Charge>) -> BTreeMap<String, Money> {
    charges.iter().map(|(intent, charge)| (intent.clone(), (charge.cents, charge.refunded_cents()))).collect()
}

/// Returns the amounts paid and refunded through the processor by payment intent, according to the server's ledger.
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

/// Checks that the processor has executed each of the server's refunds at most once.
fn refunds_are_single(intent: &str, charge: &Charge) -> Result<(), SimError> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for id in charge.refunds.iter().filter_map(|refund| refund.our_id.as_deref()) {
        *counts.entry(id).or_default() += 1;
    }
    let twice = counts.iter().find(|(_, count)| **count > 1);
    demand(twice.is_none(), || format!("refunded more than once of {intent}: {twice:?}"))
}
