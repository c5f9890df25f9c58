//! Oracle of shipments: an order has exactly the acknowledged shipments, with good parts in them, and everything is in
//! them once it is shipped.

use std::collections::BTreeMap;

use serde_json::Value;

use super::demand;
use super::parts::LineCount;
use crate::catalogue::ExpectedLine;
use crate::customers::SimCustomer;
use crate::error::SimError;
use crate::parcels::Parcel;
use crate::people::People;

/// Numbers of parts by line.
type ParcelContents = BTreeMap<usize, u64>;

/// Checks that the shipments of an order are the acknowledged ones, that they contain no more parts of a line than were
/// good, and that they contain everything if the order is shipped.
pub fn is_as_packed(
    people: &People,
    customer: &SimCustomer,
    order: &Value,
    counts: &[LineCount],
) -> Result<(), SimError> {
    let parcels = people.staff.parcels.parcels_of(customer.plan.number);
    let shipments = order["shipments"].as_array().map(Vec::as_slice).unwrap_or_default();
    demand(shipments.len() == parcels.len(), || format!("{} parcels were acknowledged: {order}", parcels.len()))?;
    let expected = people.catalogue.lines(&customer.plan.lines);
    let mut sent = ParcelContents::new();
    for (shipment, parcel) in shipments.iter().zip(parcels) {
        let contents = contents_of(shipment);
        let is_same = shipment["carrier"] == parcel.carrier && shipment["trackingNumber"] == parcel.tracking.as_str();
        let is_full = packed(parcel, &expected).is_none_or(|packed| packed == contents);
        demand(is_same && is_full, || format!("{parcel:?} was acknowledged, but {shipment}"))?;
        contents.into_iter().for_each(|(line, quantity)| *sent.entry(line).or_default() += quantity);
    }
    for (number, (line, count)) in expected.iter().zip(counts).enumerate().filter(|(_, (line, _))| !line.is_kit) {
        let parts = sent.get(&number).copied().unwrap_or_default();
        let words = || format!("line {number}: {parts} parts were sent, {count:?}; {order}");
        demand(parts <= count.most, words)?;
        if order["status"] == "shipped" {
            demand(parts >= line.quantity, words)?;
            demand(order["lines"][number]["shipped"].as_u64() == Some(line.quantity), words)?;
        }
    }
    Ok(())
}

/// Returns the numbers of parts in a shipment.
fn contents_of(shipment: &Value) -> ParcelContents {
    let mut contents = ParcelContents::new();
    for line in shipment["lines"].as_array().into_iter().flatten() {
        let place = usize::try_from(line["line"].as_u64().unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        *contents.entry(place).or_default() += line["quantity"].as_u64().unwrap_or_default();
    }
    contents
}

/// Returns the numbers of parts packed for a shipment, with kits resolved into parts; `None` for a shipment of
/// everything available.
fn packed(parcel: &Parcel, expected: &[ExpectedLine]) -> Option<ParcelContents> {
    let mut contents = ParcelContents::new();
    for (place, quantity) in parcel.lines.as_ref()? {
        if !expected.get(*place).is_some_and(|line| line.is_kit) {
            *contents.entry(*place).or_default() += quantity;
            continue;
        }
        for (part, line) in expected.iter().enumerate() {
            if let Some((_, in_set)) = line.of_kit.filter(|(kit, _)| kit == place) {
                *contents.entry(part).or_default() += quantity * in_set;
            }
        }
    }
    Some(contents)
}
