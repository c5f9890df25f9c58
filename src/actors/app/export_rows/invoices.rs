//! Export rows for invoices: amounts invoiced and paid, and the buyer.

use std::collections::HashMap;

use crate::exports::{ExportCell, ExportPage};
use domain::currency;
use domain::export::ExportCursor;
use domain::id::Id;
use domain::invoice::{Invoice, InvoiceStatus};
use domain::time::Timestamp;
use store::queries::{ExportRange, Queries};
use store::rows::LoadError;

/// Column names in the invoice export.
pub(super) const COLUMNS: &[&str] = &[
    "number",
    "status",
    "issuedAt",
    "dueAt",
    "paidAt",
    "customerName",
    "customerEmail",
    "orderNumber",
    "site",
    "currency",
    "subtotal",
    "shipping",
    "discount",
    "tax",
    "total",
    "paid",
    "due",
    "credited",
    "id",
];

/// Returns the next page of invoices.
pub(super) async fn page(
    queries: &Queries,
    range: &ExportRange<InvoiceStatus>,
    after: Option<ExportCursor>,
    limit: u64,
) -> Result<ExportPage, LoadError> {
    let some = queries.invoices_of_range(range, after, limit).await?;
    let last = some.last().map(|(cursor, _)| *cursor).filter(|_| some.len() as u64 >= limit);
    let invoices: Vec<Invoice> = some.into_iter().filter_map(|(_, invoice)| invoice).collect();
    let issued: Vec<Id> = invoices.iter().filter_map(|one| one.issued().map(|head| head.id)).collect();
    let numbers = queries.document_numbers(&issued).await?;
    Ok(ExportPage { rows: invoices.iter().map(|invoice| row(invoice, range.upto, &numbers)).collect(), after: last })
}

fn row(invoice: &Invoice, now: Timestamp, numbers: &HashMap<Id, String>) -> Vec<ExportCell> {
    let content = &invoice.content;
    let sums = &content.sums;
    let amount = |cents: i64| ExportCell::Number(currency::plain(cents, &content.currency));
    let time = |at: Option<Timestamp>| ExportCell::words(at.map(|at| at.to_string()));
    let number = invoice.issued().and_then(|head| numbers.get(&head.id));
    vec![
        ExportCell::words(number.cloned()),
        ExportCell::Text(invoice.shown_status(now).to_string()),
        time(invoice.issued_at),
        time(invoice.due_at),
        time(invoice.paid_at),
        ExportCell::Text(content.buyer.name.clone()),
        ExportCell::words(invoice.customer_email.clone()),
        ExportCell::words(invoice.order_number.clone()),
        ExportCell::Text(invoice.site.clone()),
        ExportCell::Text(content.currency.to_uppercase()),
        amount(sums.subtotal_cents),
        amount(sums.shipping_cents),
        amount(sums.discount_cents),
        amount(sums.tax_cents),
        amount(sums.payable_cents()),
        amount(invoice.ledger.kept_cents),
        amount(invoice.due_cents()),
        amount(invoice.credited_cents()),
        ExportCell::Text(invoice.id.to_string()),
    ]
}
