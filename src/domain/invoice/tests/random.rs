//! Tests with random invoices and credit notes, whose sums must be consistent as EN 16931 requires.

use proptest::prelude::*;

use super::super::sums::spread;
use super::super::*;
use super::{draft, id, issued_by};
use crate::currency::has_decimals;
use crate::tax::tax_of;
use crate::testing::Bench;
use crate::testing::random_invoices::{any_documents, any_line};

/// Maximum rounding of one partial note, with at most eight rates.
const MAX_ROUNDING_CENTS: i64 = 10;

/// Checks those rules of EN 16931 on sums that can be calculated from a document.
pub(super) fn adds_up(document: &IssuedDocument) {
    let (content, sums) = (&document.content, &document.content.sums);
    let of = |pick: fn(&Category) -> i64| sums.categories.iter().map(pick).sum::<i64>();
    let lines: i64 = content.lines.iter().map(|line| line.amount_cents().unwrap()).sum();
    assert_eq!(sums.subtotal_cents, lines, "BR-CO-10: sum of the lines");
    assert_eq!(sums.discount_cents, of(|one| one.discount_cents), "BR-CO-11: sum of the allowances");
    assert_eq!(sums.shipping_cents, of(|one| one.shipping_cents), "BR-CO-12: sum of the charges");
    let net = lines - sums.discount_cents + sums.shipping_cents;
    assert_eq!(of(|one| one.net_cents), net, "BR-CO-13: total without tax");
    assert_eq!(sums.tax_cents, of(|one| one.tax_cents), "BR-CO-14: sum of the taxes");
    assert_eq!(sums.total_cents, net + sums.tax_cents, "BR-CO-15: total with tax");
    assert_eq!(document.payable_cents(), sums.total_cents + document.rounding_cents, "BR-CO-16: what is to be paid");
    let of_parts = document.kind == DocumentKind::CreditNote && has_decimals(&content.currency);
    for one in &sums.categories {
        // A note over a part may differ by the smallest unit, so that all of them are what the invoice was.
        let may_differ = u64::from(of_parts);
        let tax = tax_of(one.net_cents, one.rate_bps).unwrap();
        assert!(one.tax_cents.abs_diff(tax) <= may_differ, "BR-CO-17: tax of a rate, rounded once: {one:?}");
        let of_rate = content.lines.iter().filter(|line| line.tax_rate_bps == one.rate_bps);
        let of_rate: i64 = of_rate.map(|line| line.amount_cents().unwrap()).sum();
        assert_eq!(one.net_cents, of_rate - one.discount_cents + one.shipping_cents, "BR-S-08: what a rate applies to");
        assert!(one.net_cents >= 0 && (one.rate_bps > 0 || one.tax_cents == 0), "BR-Z-09: {one:?}");
    }
    let rates: std::collections::BTreeSet<i64> = sums.categories.iter().map(|one| one.rate_bps).collect();
    assert_eq!(rates.len(), sums.categories.len(), "each rate is there once");
    assert!(content.lines.iter().all(|line| rates.contains(&line.tax_rate_bps)), "BR-S-01");
    assert!((0..=document.payable_cents()).contains(&document.paid_cents), "{document:?}");
    let may_be_rounded = if of_parts { MAX_ROUNDING_CENTS } else { 1 };
    assert!(document.rounding_cents.abs() <= may_be_rounded, "{document:?}");
}

crate::drawn_cases! {
    1_000 of 10_000;
    #[test]
    fn the_sums_of_random_documents_agree(documents in any_documents()) {
        documents.iter().for_each(adds_up);
        let total = documents.first().map_or(0, IssuedDocument::payable_cents);
        let credited: i64 = documents.iter().skip(1).map(IssuedDocument::payable_cents).sum();
        prop_assert!((0..=total).contains(&credited), "credit notes are never over more than the invoice");
        prop_assert!(documents.iter().skip(1).all(|one| one.kind == DocumentKind::CreditNote && one.preceding.is_some()));
    }

    #[test]
    fn a_discount_is_spread_to_the_cent(amount in 0i64..1_000_000_000_000, shares in prop::collection::vec(0i64..1_000_000_000, 1..9)) {
        let parts = spread(amount, &shares);
        prop_assert_eq!(parts.iter().sum::<i64>(), amount);
        prop_assert!(parts.iter().all(|part| *part >= 0));
    }
}

crate::drawn_cases! {
    200 of 1_000 in whole_refunds;
    #[test]
    fn the_notes_of_a_whole_refund_take_back_what_each_rate_was(
        lines in prop::collection::vec(any_line(), 1..8), shipping in 0i64..5_000, cuts in prop::collection::vec(0.0..1.0f64, 0..6),
    ) {
        let (bench, mut invoice, mut issued) = (Bench::new(), None::<Invoice>, Vec::new());
        let mut ask = |command: InvoiceCommand| {
            let Ok(decision) = bench.tell(&mut invoice, id(1), &command) else { return 0 };
            issued.extend(issued_by(&decision.rows));
            invoice.as_ref().map_or(0, |invoice| invoice.ledger.kept_cents)
        };
        let new = DraftInvoice { shipping_cents: shipping, currency: Some("eur".to_owned()), ..draft(lines) };
        ask(InvoiceCommand::Create(Box::new(new)));
        ask(InvoiceCommand::Send);
        let mut balance = ask(InvoiceCommand::MarkPaid { amount_cents: None, method: "cash".to_owned(), reference: None });
        prop_assume!(balance > 0);
        for share in cuts {
            let amount_cents = Some(((balance as f64 * share) as i64).max(1));
            balance = ask(InvoiceCommand::Refund { payment: None, amount_cents, at_processor: false });
        }
        let left = ask(InvoiceCommand::Refund { payment: None, amount_cents: None, at_processor: false });
        prop_assert_eq!(left, 0);
        let of_rates = |documents: &[IssuedDocument]| {
            let mut rates = std::collections::BTreeMap::<i64, (i64, i64)>::new();
            for one in documents.iter().flat_map(|one| &one.content.sums.categories).filter(|one| one.net_cents > 0) {
                let sum = rates.entry(one.rate_bps).or_default();
                *sum = (sum.0 + one.net_cents, sum.1 + one.tax_cents);
            }
            rates
        };
        prop_assert_eq!(of_rates(&issued[..1]), of_rates(&issued[1..]));
        let rounded: i64 = issued[1..].iter().map(|one: &IssuedDocument| one.rounding_cents).sum();
        prop_assert_eq!(rounded, 0, "and so is what was rounded");
    }
}
