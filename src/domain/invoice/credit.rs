//! Credit note amounts: either the full invoice, or an exact amount distributed over its tax rates.
//!
//! Each partial note covers the cumulative amount of all notes so far, minus the amount of the earlier notes. The notes
//! for an invoice refunded in parts therefore add up to the invoice, net and tax, at each rate. As a result, the tax on
//! a single note may differ by the smallest currency unit from the tax on the note's own net amount, which EN 16931
//! allows if the difference is less than one major unit.

use super::sums::Sums;
use super::{Category, InvoiceContent, InvoiceLine};
use crate::currency::has_decimals;
use crate::tax::tax_of;

/// Returns the content of a partial credit note and its rounding, in minor units. `before` holds the amounts of earlier
/// notes, oldest first. In a currency without decimals, each note is calculated on its own, because EN 16931 does not
/// allow a difference of the smallest unit in that case.
pub(super) fn part_of(content: &InvoiceContent, before: &[i64], amount_cents: i64) -> Option<(InvoiceContent, i64)> {
    let mut back = CreditedTotals::nothing_of(content);
    if has_decimals(&content.currency) {
        for amount in before {
            back.take(*amount)?;
        }
    }
    let shares = back.take(amount_cents)?;
    let mut lines: Vec<InvoiceLine> =
        shares.iter().filter(|one| one.net > 0).map(|one| line(one.net, one.rate_bps)).collect();
    if lines.is_empty() {
        lines.push(line(0, shares.first().map_or(0, |one| one.rate_bps)));
    }
    let mut sums = Sums::of(&lines, (0, 0), 0)?;
    for category in &mut sums.categories {
        let of_rate = shares.iter().find(|one| one.rate_bps == category.rate_bps);
        category.tax_cents = of_rate.map_or(0, |one| one.tax);
    }
    sums.tax_cents = sums.categories.iter().try_fold(0i64, |sum, one| sum.checked_add(one.tax_cents))?;
    sums.total_cents = sums.subtotal_cents.checked_add(sums.tax_cents)?;
    let rounding_cents = amount_cents.checked_sub(sums.total_cents)?;
    let part = InvoiceContent {
        lines,
        shipping_cents: 0,
        shipping_tax_rate_bps: 0,
        discount_cents: 0,
        sums,
        currency: content.currency.clone(),
        buyer: content.buyer.clone(),
        notes: None,
    };
    Some((part, rounding_cents))
}

/// Portion of a credit note at one tax rate, in minor units.
struct CreditedShare {
    rate_bps: i64,
    net: i64,
    tax: i64,
}

/// Totals of all credit notes for an invoice so far, by tax rate.
struct CreditedTotals<'a> {
    /// Tax categories, highest rate first: lower rates absorb the rounding remainder of higher ones, and a zero rate
    /// absorbs it exactly.
    categories: Vec<&'a Category>,
    /// Net amount per category.
    nets: Vec<i64>,
    /// Total including tax.
    sum: i64,
    /// Payable amount of the invoice.
    payable: i64,
}

impl<'a> CreditedTotals<'a> {
    fn nothing_of(content: &'a InvoiceContent) -> Self {
        let mut categories: Vec<_> = content.sums.categories.iter().filter(|one| one.net_cents > 0).collect();
        categories.sort_by_key(|one| std::cmp::Reverse(one.rate_bps));
        let nets = vec![0; categories.len()];
        Self { categories, nets, sum: 0, payable: content.sums.payable_cents() }
    }

    /// Adds the given amount. Returns `None` if an amount overflows.
    fn take(&mut self, amount_cents: i64) -> Option<Vec<CreditedShare>> {
        self.sum = self.sum.checked_add(amount_cents)?;
        let (all, sum) = (self.sum >= self.payable, i128::from(self.sum));
        let gross = |one: &&Category| i128::from(one.net_cents) + i128::from(one.tax_cents);
        let whole: i128 = self.categories.iter().map(gross).sum();
        // Of this category and those before it: what they are over in the invoice, and what is taken back of them.
        let (mut over, mut taken_cents) = (0i128, 0i64);
        let mut notes = Vec::with_capacity(self.categories.len());
        for (category, net) in self.categories.iter().zip(&mut self.nets) {
            let (rate_bps, before) = (category.rate_bps, *net);
            over += gross(category);
            let share = i64::try_from(sum * over / whole.max(1)).ok()?.checked_sub(taken_cents)?;
            *net = if all { category.net_cents } else { net_of(share, rate_bps)?.clamp(before, category.net_cents) };
            let tax = tax_of(*net, rate_bps)?;
            taken_cents = taken_cents.checked_add(*net)?.checked_add(tax)?;
            notes.push(CreditedShare { rate_bps, net: *net - before, tax: tax - tax_of(before, rate_bps)? });
        }
        Some(notes)
    }
}

fn line(net: i64, rate_bps: i64) -> InvoiceLine {
    let description = "Amount given back".to_owned();
    InvoiceLine { description, quantity: 1, unit_price_cents: net, tax_rate_bps: rate_bps }
}

/// Returns the largest net amount whose gross is at most `gross`; 0 if `gross` is negative.
fn net_of(gross: i64, rate_bps: i64) -> Option<i64> {
    let near = i128::from(gross.max(0)) * 10_000 / (10_000 + i128::from(rate_bps));
    let mut net = i64::try_from(near).ok()?.checked_add(1)?;
    while net > 0 && net.checked_add(tax_of(net, rate_bps)?)? > gross {
        net -= 1;
    }
    Some(net)
}
