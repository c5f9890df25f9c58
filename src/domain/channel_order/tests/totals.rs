//! Tests that the converted amounts of a channel order add up to the total paid by the customer.

use proptest::prelude::*;

use super::super::*;
use super::content;
use crate::invoice::{InvoiceLine, Sums};

/// Returns the total that our calculation gives for the given amounts.
fn total(content: &SoldContent, costs: &SoldAmounts) -> i64 {
    let lines: Vec<InvoiceLine> = content
        .lines
        .iter()
        .zip(&costs.unit_prices)
        .map(|(line, price)| InvoiceLine {
            description: String::new(),
            quantity: line.quantity,
            unit_price_cents: *price,
            tax_rate_bps: line.tax_rate_bps,
        })
        .collect();
    let shipping = (costs.shipping_cents, content.shipping_tax_rate_bps);
    Sums::of(&lines, shipping, costs.discount_cents).unwrap().total_cents + costs.rounding_cents
}

#[test]
fn prices_with_their_tax_in_them_give_what_was_paid() {
    let mut gross = content(1);
    gross.taxes_included = true;
    gross.lines[0].tax_rate_bps = 1900;
    (gross.shipping_cents, gross.shipping_tax_rate_bps) = (0, 1900);
    (gross.lines[0].unit_price_cents, gross.total_cents) = (999, 999);
    let costs = amounts(&gross).unwrap();
    assert_eq!(total(&gross, &costs), 999);
    assert!(costs.rounding_cents.abs() <= 1 && costs.discount_cents == 0, "{costs:?}");
    // A tip has no place in an order: it is a charge beside the shipping.
    let tipped = SoldContent { total_cents: 1499, ..gross.clone() };
    let costs = amounts(&tipped).unwrap();
    assert_eq!(total(&tipped, &costs), 1499);
    assert!(costs.shipping_cents > 0);
    // A discount that was not told is one all the same.
    let less = SoldContent { total_cents: 500, ..gross };
    let costs = amounts(&less).unwrap();
    assert_eq!(total(&less, &costs), 500);
    assert!(costs.discount_cents > 0);
}

proptest! {
    #[test]
    fn the_total_is_what_was_paid_or_nothing_is_made(
        lines in prop::collection::vec((1_u32..30, 0_i64..50_000, prop::sample::select(vec![0, 700, 888, 1900])), 1..8),
        shipping in 0_i64..3_000,
        discount in 0_i64..5_000,
        total_share in 1_i64..200,
        taxes_included: bool,
    ) {
        let mut sold = content(1);
        sold.lines = lines
            .iter()
            .map(|(quantity, cents, bps)| SoldLine {
                quantity: *quantity,
                unit_price_cents: *cents,
                tax_rate_bps: *bps,
                ..sold.lines[0].clone()
            })
            .collect();
        (sold.taxes_included, sold.shipping_cents, sold.discount_cents) = (taxes_included, shipping, discount);
        let gross: i64 = lines.iter().map(|(quantity, cents, _)| i64::from(*quantity) * cents).sum();
        sold.total_cents = gross * total_share / 100;
        if let Some(costs) = amounts(&sold) {
            prop_assert_eq!(total(&sold, &costs), sold.total_cents);
            prop_assert!(costs.rounding_cents.abs() <= lines.len() as i64 + 2 + sold.total_cents / 10_000);
            prop_assert!(costs.shipping_cents >= 0 && costs.discount_cents >= 0);
        }
    }
}
