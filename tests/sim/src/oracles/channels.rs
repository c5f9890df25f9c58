//! Oracle of sales channels: each order of another shop is created once, with the amount paid there, and each shipment
//! is reported back once.

use super::orders::PublishedEvents;
use super::{demand, orders, parts};
use crate::error::SimError;
use crate::people::People;
use crate::sellers::{Sale, SaleEnding, Seller};
use crate::world::World;
use store::memory::Tables;

/// Checks the orders from other shops.
pub fn are_made_once(
    world: &World,
    people: &People,
    sales: &[SaleEnding],
    (tables, published): (&Tables, &PublishedEvents),
) -> Result<(), SimError> {
    let of_sellers = people.sellers.iter().flat_map(|seller| seller.sales.iter().map(move |sale| (seller, sale)));
    for ((seller, sale), ending) in of_sellers.zip(sales) {
        let SaleEnding { record, ours: (order, jobs) } = ending;
        let id = sale.plan.id.to_string();
        demand(record["externalId"] == id.as_str(), || format!("the record of order {id} is {record}"))?;
        is_as_sold(sale, ending)?;
        if !order.is_null() {
            let lines = sale.plan.lines.iter().map(|(product, quantity, _)| (*product, u64::from(*quantity)));
            let (ordered, ours): (Vec<_>, _) = (lines.collect(), (order, jobs.as_slice()));
            orders::each_step_is_published(published, people, None, ours)?;
            parts::are_as_ordered(world, people, &ordered, ours)?;
        }
        is_reported_once(world, seller, sale, ending)?;
    }
    let rows = tables.row_counts();
    let count = |table: &str| rows.get(table).copied().unwrap_or_default();
    let most = people.orders().len() + sales.iter().filter(|sale| !sale.ours.0.is_null()).count();
    demand(count("orders") <= most, || format!("{} orders, of which {most} were placed or sold", count("orders")))?;
    demand(count("channel_orders") == sales.len(), || {
        format!("{} records of {} orders that other shops sold", count("channel_orders"), sales.len())
    })
}

/// Checks that the order here has the total paid in the other shop, keeps what was not refunded, and was not created
/// needlessly.
fn is_as_sold(sale: &Sale, ending: &SaleEnding) -> Result<(), SimError> {
    let SaleEnding { record, ours: (order, _) } = ending;
    let total = sale.plan.total_cents();
    let back = if sale.plan.is_cancelled { total } else { 0 };
    demand(record["refundedCents"] == back, || format!("{back} cents went back there: {record}"))?;
    if order.is_null() {
        return demand(sale.plan.is_cancelled, || format!("there is no order for {record}"));
    }
    demand(order["totalCents"] == total, || format!("{total} cents were paid there for {order}"))?;
    demand(order["keptCents"] == total - back, || format!("{} cents are kept there for {order}", total - back))?;
    let is_over = order["status"] != "shipped";
    demand(!is_over || sale.plan.is_cancelled, || format!("nobody cancelled {order}"))?;
    for ((_, quantity, _), line) in sale.plan.lines.iter().zip(order["lines"].as_array().into_iter().flatten()) {
        demand(line["quantity"] == *quantity, || format!("{quantity} were sold: {order}"))?;
    }
    Ok(())
}

/// Checks that the other shop has exactly one fulfillment for everything that was shipped, and none for what was not.
/// Replacements for parts rejected after shipping are not reported.
fn is_reported_once(world: &World, seller: &Seller, sale: &Sale, ending: &SaleEnding) -> Result<(), SimError> {
    let SaleEnding { record, ours: (order, _) } = ending;
    let fulfillments = world.other_shops.fulfillments(seller.plan.number, sale.plan.id);
    let items = || fulfillments.iter().flat_map(|one| one["line_items"].as_array().into_iter().flatten());
    let count: u64 = items().filter_map(|item| item["quantity"].as_u64()).sum();
    let sold: u64 = sale.plan.lines.iter().map(|(_, quantity, _)| u64::from(*quantity)).sum();
    let is_shipped = record["shipments"].as_array().is_some_and(|shipments| !shipments.is_empty());
    demand(is_shipped || order["status"] != "shipped", || format!("nothing was to be reported of {order}: {record}"))?;
    let (expected, most) = if is_shipped { (sold, 1) } else { (0, 0) };
    demand(count == expected && fulfillments.len() == most, || {
        format!("{expected} units were shipped, and the other shop has {fulfillments:?} of {order}")
    })
}
