//! Conversion of the other shop's prices to ours: net prices and one tax amount per rate, with the exact total that was
//! paid.
//!
//! The shop's prices may include tax, so that no whole net price matches them; a shop may also add charges that have no
//! equivalent in our orders. A small difference becomes a rounding amount, a larger one an additional shipping charge
//! or a discount. The total always equals what was paid, because the accounts depend on it.

use super::SoldContent;
use crate::bounds::MAX_CENTS;
use crate::invoice::{InvoiceLine, Sums};

/// Maximum number of times a difference is moved to shipping or discount before the conversion fails.
const MAX_STEPS: usize = 8;
/// Order total, in minor units, per minor unit of difference that is still treated as rounding. Differences arise
/// because tax rates with two decimals of a percent are approximations of more precise ones.
const TOTAL_PER_ROUNDING_CENT: i64 = 10_000;

/// Amounts of a channel order converted to net amounts, in minor units.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SoldAmounts {
    /// Net unit price of each line.
    pub unit_prices: Vec<i64>,
    /// Net charge for shipping and any other charges.
    pub shipping_cents: i64,
    /// Net discount applied to the lines.
    pub discount_cents: i64,
    /// Amount paid beyond the sum of the other amounts.
    pub rounding_cents: i64,
}

/// Returns the net part of an amount that includes tax.
fn net_of(gross: i64, bps: i64) -> i64 {
    let (gross, whole) = (i128::from(gross), i128::from(10_000 + bps));
    i64::try_from((gross * 10_000 + whole / 2).div_euclid(whole)).unwrap_or(gross as i64)
}

/// Converts the amounts of a channel order to ours. Returns `None` if no combination adds up to the order's total.
pub fn amounts(content: &SoldContent) -> Option<SoldAmounts> {
    let in_bounds = |cents: i64| (0..=MAX_CENTS).contains(&cents);
    let all_cents = content.lines.iter().map(|line| line.unit_price_cents);
    let mut all_cents = all_cents.chain([content.shipping_cents, content.discount_cents, content.total_cents]);
    let rates = content.lines.iter().map(|line| line.tax_rate_bps).chain([content.shipping_tax_rate_bps]);
    if !all_cents.all(in_bounds) || !rates.into_iter().all(|bps| (0..=10_000).contains(&bps)) {
        return None;
    }
    let net = |cents: i64, bps: i64| if content.taxes_included { net_of(cents, bps) } else { cents };
    let lines: Vec<InvoiceLine> = content
        .lines
        .iter()
        .map(|line| InvoiceLine {
            description: line.title.clone(),
            quantity: line.quantity,
            unit_price_cents: net(line.unit_price_cents, line.tax_rate_bps),
            tax_rate_bps: line.tax_rate_bps,
        })
        .collect();
    let shipping_bps = content.shipping_tax_rate_bps;
    let highest_bps = content.lines.iter().map(|line| line.tax_rate_bps).max().unwrap_or(0);
    let mut shipping = net(content.shipping_cents, shipping_bps);
    let subtotal = lines.iter().try_fold(0i64, |sum, line| sum.checked_add(line.amount_cents()?))?;
    let mut discount = net(content.discount_cents, highest_bps).min(subtotal);
    let rounds_to = content.lines.len() as i64 + 2 + content.total_cents / TOTAL_PER_ROUNDING_CENT;
    for _ in 0..MAX_STEPS {
        let sums = Sums::of(&lines, (shipping, shipping_bps), discount)?;
        let short = content.total_cents.checked_sub(sums.total_cents)?;
        if short.abs() <= rounds_to {
            let unit_prices = lines.iter().map(|line| line.unit_price_cents).collect();
            let (shipping_cents, discount_cents) = (shipping, discount);
            return Some(SoldAmounts { unit_prices, shipping_cents, discount_cents, rounding_cents: short });
        }
        if short > 0 {
            // More was paid than this: less discount than was told, or a charge of its own.
            let back = net_of(short, highest_bps).clamp(0, discount);
            discount -= back;
            if back == 0 {
                shipping = shipping.checked_add(net_of(short, shipping_bps))?;
            }
        } else {
            let off = net_of(-short, highest_bps).max(1);
            let room = subtotal - discount;
            discount += off.min(room);
            if room == 0 {
                shipping = (shipping - net_of(-short, shipping_bps).max(1)).max(0);
            }
        }
    }
    None
}
