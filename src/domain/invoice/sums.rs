//! Invoice totals, calculated with integers: net amounts are exact, and the tax is rounded half up once per rate.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::InvoiceLine;
use crate::tax::tax_of;

/// Taxable amounts at one tax rate, and the tax on them, in minor units.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Category {
    /// Tax rate in basis points (1/100 of a percent).
    pub rate_bps: i64,
    /// Line total at this rate.
    pub lines_cents: i64,
    /// Shipping charge at this rate.
    pub shipping_cents: i64,
    /// Part of the discount that applies to the lines at this rate.
    pub discount_cents: i64,
    /// Taxable amount: lines and shipping, minus the discount.
    pub net_cents: i64,
    /// Tax amount, rounded once.
    pub tax_cents: i64,
}

/// Totals of an invoice or credit note, in minor units.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sums {
    /// Line total without tax.
    pub subtotal_cents: i64,
    /// Shipping charge without tax.
    pub shipping_cents: i64,
    /// Discount without tax.
    pub discount_cents: i64,
    /// Total tax at all rates.
    pub tax_cents: i64,
    /// Grand total: subtotal and shipping, minus the discount, plus tax.
    pub total_cents: i64,
    /// Categories by rate, lowest first.
    pub categories: Vec<Category>,
    /// Difference between the total and the payable amount. It arises because tax-inclusive prices from a different
    /// shop may not match any whole net amount; 0 for direct sales.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rounding_cents: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a reference")]
fn is_zero(cents: &i64) -> bool {
    *cents == 0
}

impl Sums {
    /// Returns the payable amount.
    pub fn payable_cents(&self) -> i64 {
        self.total_cents.saturating_add(self.rounding_cents)
    }

    /// Calculates the totals for the given lines with shipping and discount. Returns `None` if an amount overflows, or
    /// if the discount is larger than the line total.
    pub fn of(lines: &[InvoiceLine], shipping: (i64, i64), discount_cents: i64) -> Option<Self> {
        let (shipping_cents, shipping_bps) = shipping;
        let mut by_rate: BTreeMap<i64, Category> = BTreeMap::new();
        let mut subtotal = 0i64;
        for line in lines {
            let amount = line.amount_cents()?;
            subtotal = subtotal.checked_add(amount)?;
            let category = by_rate.entry(line.tax_rate_bps).or_default();
            category.lines_cents = category.lines_cents.checked_add(amount)?;
        }
        if shipping_cents != 0 {
            by_rate.entry(shipping_bps).or_default().shipping_cents = shipping_cents;
        }
        if !(0..=subtotal).contains(&discount_cents) {
            return None;
        }
        let shares: Vec<i64> = by_rate.values().map(|category| category.lines_cents).collect();
        let mut sums = Self { subtotal_cents: subtotal, shipping_cents, discount_cents, ..Self::default() };
        for ((rate_bps, category), discount) in by_rate.into_iter().zip(spread(discount_cents, &shares)) {
            let net = category.lines_cents.checked_sub(discount)?.checked_add(category.shipping_cents)?;
            let tax = tax_of(net, rate_bps)?;
            sums.tax_cents = sums.tax_cents.checked_add(tax)?;
            sums.total_cents = sums.total_cents.checked_add(net)?.checked_add(tax)?;
            sums.categories.push(Category {
                rate_bps,
                discount_cents: discount,
                net_cents: net,
                tax_cents: tax,
                ..category
            });
        }
        Some(sums)
    }
}

/// Divides an amount in proportion to the given weights: each part is rounded down, and the remainder goes to the part
/// with the largest weight. The parts add up to exactly the amount; if all weights are zero, everything goes to the
/// first part.
pub(super) fn spread(amount: i64, shares: &[i64]) -> Vec<i64> {
    let whole: i128 = shares.iter().map(|share| i128::from(*share)).sum();
    let part = |share: &i64| {
        if whole == 0 { 0 } else { (i128::from(amount) * i128::from(*share)).div_euclid(whole) as i64 }
    };
    let mut parts: Vec<i64> = shares.iter().map(part).collect();
    let left = amount - parts.iter().sum::<i64>();
    let largest = (0..shares.len()).rev().max_by_key(|n| shares[*n]);
    if let Some(part) = largest.and_then(|n| parts.get_mut(n)) {
        *part += left;
    }
    parts
}
