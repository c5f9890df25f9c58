//! Random invoices with their credit notes, for property tests.

#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::invoices::{draft, issued_by};
use super::orders::address_in;
use super::{Bench, id};
use crate::bounds::{MAX_CENTS, MAX_QUANTITY};
use crate::invoice::{DraftInvoice, Invoice, InvoiceCommand, InvoiceLine, IssuedDocument, Party};

/// Generates a line with any quantity, price and tax rate.
pub fn any_line() -> impl Strategy<Value = InvoiceLine> {
    let rate = prop_oneof![Just(0i64), Just(1900), Just(700), Just(725), Just(2100), Just(10_000), 0i64..=10_000];
    let quantity = prop_oneof![1u32..20, Just(MAX_QUANTITY)];
    let price = prop_oneof![0i64..100_000, Just(0), Just(1), Just(MAX_CENTS)];
    // Read once: a text as a strategy is read again for each line.
    let description = prop::string::string_regex("[ -~äß€]{1,30}").unwrap();
    (description, quantity, price, rate).prop_map(|(description, quantity, unit_price_cents, tax_rate_bps)| {
        InvoiceLine { description, quantity, unit_price_cents, tax_rate_bps }
    })
}

/// Generates the documents of a random invoice that was paid in full and refunded in random parts, or voided.
pub fn any_documents() -> impl Strategy<Value = Vec<IssuedDocument>> {
    let lines = prop::collection::vec(any_line(), 1..8);
    let money = (0i64..5_000, 0.0..1.0f64, prop::collection::vec(0.0..1.0f64, 0..4), any::<bool>());
    let parties = (any::<bool>(), any::<bool>(), any::<bool>(), 0u8..3);
    (lines, money, parties).prop_map(|(lines, (shipping, discount, backs, void), parties)| {
        let (exempt, currency, company, registered) = parties;
        // Where anything is taxed, the seller is registered: the settings are doubted otherwise.
        let registered = if lines.iter().any(|line| line.tax_rate_bps > 0) { 0 } else { registered };
        let mut bench = Bench::new();
        bench.rules.invoices.seller = Party {
            name: "Shop & Söhne <GmbH>".to_owned(),
            address: Some(address_in("DE")),
            vat_id: (registered == 0).then(|| "DE123456789".to_owned()),
            tax_number: (registered < 2).then(|| "22/815/08154".to_owned()),
            ..Party::default()
        };
        bench.rules.invoices.zero_rate_reason = exempt.then(|| "small business".to_owned());
        let subtotal: i64 = lines.iter().map(|line| line.amount_cents().unwrap()).sum();
        let new = DraftInvoice {
            buyer: Party {
                name: "Ann".to_owned(),
                address: Some(address_in("FR")),
                // Customers may give a number that is none for value added tax.
                vat_id: company.then(|| if currency { "FR12345678901" } else { "12-3456789" }.to_owned()),
                ..Party::default()
            },
            shipping_cents: shipping,
            discount_cents: (subtotal as f64 * discount) as i64 / 2,
            currency: Some(if currency { "eur" } else { "jpy" }.to_owned()),
            ..draft(lines)
        };
        let (mut invoice, mut issued) = (None::<Invoice>, Vec::new());
        let mut ask = |command: InvoiceCommand| {
            let Ok(decision) = bench.tell(&mut invoice, id(1), &command) else { return 0 };
            issued.extend(issued_by(&decision.rows));
            invoice.as_ref().map_or(0, |invoice| invoice.ledger.kept_cents)
        };
        ask(InvoiceCommand::Create(Box::new(new)));
        ask(InvoiceCommand::Send);
        if void {
            ask(InvoiceCommand::Void);
        } else {
            let mut kept_cents =
                ask(InvoiceCommand::MarkPaid { amount_cents: None, method: "cash".to_owned(), reference: None });
            for share in backs {
                let amount_cents = Some(((kept_cents as f64 * share) as i64).max(1));
                kept_cents = ask(InvoiceCommand::Refund { payment: None, amount_cents, at_processor: false });
            }
        }
        let number = |(n, document): (usize, IssuedDocument)| IssuedDocument { number: n as i64 + 1, ..document };
        issued.into_iter().enumerate().map(number).collect()
    })
}
