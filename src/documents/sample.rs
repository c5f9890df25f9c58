//! Sample invoice for testing the configured logo and fonts.

use domain::id::Id;
use domain::invoice::{DocumentKind, InvoiceContent, InvoiceLine, IssuedDocument, Party, Sums};
use domain::time::Timestamp;

/// Builds an invoice whose only line has the given text.
pub(super) fn document(words: String) -> IssuedDocument {
    let line = InvoiceLine { description: words, quantity: 1, unit_price_cents: 100, tax_rate_bps: 0 };
    let lines = vec![line];
    let content = InvoiceContent {
        sums: Sums::of(&lines, (0, 0), 0).unwrap_or_default(),
        lines,
        shipping_cents: 0,
        shipping_tax_rate_bps: 0,
        discount_cents: 0,
        currency: "eur".to_owned(),
        buyer: Party { name: "Sample".to_owned(), ..Party::default() },
        notes: None,
    };
    IssuedDocument {
        id: Id::ONLY,
        invoice_id: Id::ONLY,
        kind: DocumentKind::Invoice,
        number: 1,
        issued_at: Timestamp(0),
        due_at: None,
        supplied_at: None,
        ship_to: None,
        content,
        rounding_cents: 0,
        paid_cents: 0,
        seller: Party { name: "Sample".to_owned(), ..Party::default() },
        zero_rate_reason: None,
        order_number: None,
        preceding: None,
    }
}
