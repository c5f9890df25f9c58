#![expect(clippy::unwrap_used, reason = "tests")]

mod channel_sale;
mod checkout;
mod claims;
mod departed;
mod departures;
mod doubts;
mod ends;
mod examples;
mod facts;
mod flags;
mod gone_back;
mod invoicing;
mod kits;
mod limits;
mod model;
mod money;
mod money_stories;
mod older_departures;
mod parts;
mod placing;
mod preparing;
mod random;
mod reports;
mod shipping;
mod signing;
mod slicing;
mod timing;
mod updates;

use super::*;
use crate::aggregate::{Aggregate, Command, Decision};
use crate::amount::Amount;
use crate::job::{Attempt, JobState};
use crate::material::{ClaimId, ClaimState};
use crate::refusal::Refusal;
use crate::sku::MachineType;
use crate::testing::orders::{
    MATERIAL_ID, ORDER_ID, OrderDecider, PRINTER_ID, line, mails, new_order, order_to, pair, print, ship,
};
use crate::testing::{Bench, id};

/// Builds a need for the given number of units of a material.
pub(super) fn need(material: u32, units: i64) -> MaterialNeed {
    MaterialNeed { material_id: id(material), need: Amount::units(units) }
}

/// Builds the stock of a material with the given number of available grams.
pub(super) fn free(units: i64) -> CurrentStock {
    CurrentStock { available: Amount::units(units), unit: "g", name: "PLA black".to_owned() }
}

/// Returns the names of the events, except those of the order's invoice.
pub(super) fn names<A>(decision: &Decision<Order, A>) -> Vec<&str> {
    let own = decision.events.iter().filter(|event| event.subject_kind != "invoice");
    own.map(|event| event.event.as_str()).collect()
}

/// Asserts that automatic reprints produce less than one plate more than was missing, and no more than the settings
/// allow.
pub(super) fn makes_no_more_than_missing(bench: &Bench, before: &Order, after: &Order) {
    let quality = &bench.rules.quality;
    for (n, (line, parts)) in after.lines.iter().zip(after.parts()).enumerate() {
        let of_line = |order: &Order| order.jobs.values().filter(|job| job.line as usize == n).count();
        let new_jobs = of_line(after).saturating_sub(of_line(before));
        if new_jobs == 0 || before.jobs.is_empty() {
            continue;
        }
        let (all, plate) = (parts.good + parts.running + parts.cancelled, u64::from(super::parts::plate_parts(line)));
        assert!(quality.reprint_missing && parts.reprints <= quality.max_reprints, "{parts:?}");
        assert!(all < u64::from(line.quantity) + plate, "{parts:?} of {}", line.quantity);
        assert!(!matches!(before.status, OrderStatus::Cancelled | OrderStatus::Refunded));
        assert!(matches!(after.status, OrderStatus::Paid | OrderStatus::Printing));
    }
}

/// Asserts that no job with attempts gets another material or SKU: the store keeps sums of prints by both.
pub(super) fn keeps_what_prints_are_summed_by(before: &Order, after: &Order) {
    for job in before.jobs.values().filter(|job| !job.attempts.is_empty()) {
        let now = after.jobs.get(&job.id).unwrap();
        assert_eq!((now.material_id, now.sku_id), (job.material_id, job.sku_id), "{now:#?}");
    }
}

pub(super) fn code<T: Aggregate, A: std::fmt::Debug>(refused: Result<Decision<T, A>, Refusal>) -> String {
    refused.unwrap_err().code
}
