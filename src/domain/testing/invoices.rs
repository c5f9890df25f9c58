//! Invoices and documents shared by the tests of several rules.

#![expect(clippy::unwrap_used, reason = "tests")]

use super::id;
use crate::invoice::{
    DocumentKind, DraftInvoice, InvoiceContent, InvoiceLine, InvoiceRow, IssuedDocument, Party, Sums,
};
use crate::time::Timestamp;

/// Builds a line with the given quantity, price and rate.
pub fn line(quantity: u32, unit_price_cents: i64, tax_rate_bps: i64) -> InvoiceLine {
    InvoiceLine { description: "Design, one hour".to_owned(), quantity, unit_price_cents, tax_rate_bps }
}

/// Returns the documents that the given rows issue.
pub fn issued_by(rows: &[InvoiceRow]) -> impl Iterator<Item = IssuedDocument> + '_ {
    rows.iter().filter_map(|row| match row {
        InvoiceRow::Issued(document) => Some((**document).clone()),
        InvoiceRow::Payment(_) => None,
    })
}

/// Builds a draft with the given lines.
pub fn draft(lines: Vec<InvoiceLine>) -> DraftInvoice {
    DraftInvoice {
        buyer: Party { name: "Ann Example".to_owned(), ..Party::default() },
        customer_email: Some(" Ann@Example.org ".to_owned()),
        lines: lines.into_iter().map(|line| (line, true)).collect(),
        ..DraftInvoice::default()
    }
}

/// Builds an invoice with the given lines (price, quantity, rate), shipping and discount.
pub fn document(lines: &[(i64, u32, i64)], shipping_cents: i64, discount_cents: i64) -> IssuedDocument {
    let line = |(at, one): (usize, &(i64, u32, i64))| InvoiceLine {
        description: format!("part {at}"),
        quantity: one.1,
        unit_price_cents: one.0,
        tax_rate_bps: one.2,
    };
    let lines: Vec<InvoiceLine> = lines.iter().enumerate().map(line).collect();
    let sums = Sums::of(&lines, (shipping_cents, 1900), discount_cents).unwrap();
    let buyer =
        Party { name: "Ann <Example>".to_owned(), email: Some("Ann@Example.org".to_owned()), ..Party::default() };
    IssuedDocument {
        id: id(7),
        invoice_id: id(8),
        kind: DocumentKind::Invoice,
        number: 12,
        issued_at: Timestamp(1_700_000_000_000),
        due_at: None,
        supplied_at: None,
        ship_to: None,
        content: InvoiceContent {
            lines,
            shipping_cents,
            shipping_tax_rate_bps: 1900,
            discount_cents,
            sums,
            currency: "eur".to_owned(),
            buyer,
            notes: None,
        },
        rounding_cents: 0,
        paid_cents: 0,
        seller: Party::default(),
        zero_rate_reason: None,
        order_number: Some("ORD-000001".to_owned()),
        preceding: None,
    }
}
