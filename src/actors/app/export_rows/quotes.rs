//! Export rows for quotes: the offer, the customer and the outcome.

use crate::exports::{ExportCell, ExportPage};
use domain::currency;
use domain::export::ExportCursor;
use domain::quote::{Quote, QuoteStatus};
use domain::time::Timestamp;
use store::queries::{ExportRange, Queries};
use store::rows::LoadError;

/// Column names in the quote export.
pub(super) const COLUMNS: &[&str] = &[
    "number",
    "status",
    "createdAt",
    "sentAt",
    "validUntil",
    "answeredAt",
    "customerEmail",
    "site",
    "currency",
    "subtotal",
    "shipping",
    "tax",
    "total",
    "orderId",
    "id",
];

/// Returns the next page of quotes.
pub(super) async fn page(
    queries: &Queries,
    range: &ExportRange<QuoteStatus>,
    after: Option<ExportCursor>,
    limit: u64,
) -> Result<ExportPage, LoadError> {
    let some = queries.quotes_of_range(range, after, limit).await?;
    let last = some.last().map(|(cursor, _)| *cursor).filter(|_| some.len() as u64 >= limit);
    let rows = some.iter().filter_map(|(_, quote)| Some(row(quote.as_ref()?, range.upto))).collect();
    Ok(ExportPage { rows, after: last })
}

fn row(quote: &Quote, now: Timestamp) -> Vec<ExportCell> {
    let amount = |cents: i64| ExportCell::Number(currency::plain(cents, &quote.currency));
    let time = |at: Option<Timestamp>| ExportCell::words(at.map(|at| at.to_string()));
    vec![
        ExportCell::Text(quote.number_text()),
        ExportCell::Text(quote.shown_status(now).to_string()),
        time(Some(quote.created_at)),
        time(quote.sent_at),
        time(quote.valid_until),
        time(quote.answered_at),
        ExportCell::words(quote.customer_email.clone()),
        ExportCell::Text(quote.site.clone()),
        ExportCell::Text(quote.currency.to_uppercase()),
        amount(quote.subtotal_cents),
        amount(quote.shipping_cents),
        amount(quote.tax_cents),
        amount(quote.total_cents),
        ExportCell::words(quote.order_id.map(|id| id.to_string())),
        ExportCell::Text(quote.id.to_string()),
    ]
}
