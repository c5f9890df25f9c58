//! JSON schemas for domain values that appear in events.

mod records;
mod words;

use api_schema::ToSchema;
use api_schema::shape::{Shape, date, either, id, number, time};
use api_schema::words::word_of;

use crate::amount::{Amount, MAX_AMOUNT};
use crate::custom_request_status::CustomRequestStatus;
use crate::id::Id;
use crate::invoice_status::InvoiceStatus;
use crate::order_status::OrderStatus;
use crate::quote_status::QuoteStatus;
use crate::time::Timestamp;
use crate::time_span::{SpanEnd, SpanStart};

impl ToSchema for Id {
    fn schema() -> Shape {
        id()
    }
}

impl ToSchema for Timestamp {
    fn schema() -> Shape {
        time()
    }
}

impl ToSchema for SpanStart {
    fn schema() -> Shape {
        either([time(), date()]).about("A date without a time means 00:00 UTC on that day.")
    }
}

impl ToSchema for SpanEnd {
    fn schema() -> Shape {
        either([time(), date()]).about("A date without a time includes that whole day, in UTC.")
    }
}

impl ToSchema for Amount {
    fn schema() -> Shape {
        let most = MAX_AMOUNT.0 as f64 / 1000.0;
        number(-most..=most).about("At most three decimals.")
    }
}

impl ToSchema for OrderStatus {
    const NAME: Option<&'static str> = Some("OrderStatus");
    fn schema() -> Shape {
        word_of::<Self>().about("Status of an order, from its placement to its shipment or cancellation.")
    }
}

impl ToSchema for CustomRequestStatus {
    const NAME: Option<&'static str> = Some("CustomRequestStatus");
    fn schema() -> Shape {
        word_of::<Self>().about("Status of a custom request, from its receipt to the decision on its quote.")
    }
}

impl ToSchema for InvoiceStatus {
    const NAME: Option<&'static str> = Some("InvoiceStatus");
    fn schema() -> Shape {
        word_of::<Self>()
            .about("Status of an invoice. `overdue` replaces `open` and `partially_paid` after the due date.")
    }
}

impl ToSchema for QuoteStatus {
    const NAME: Option<&'static str> = Some("QuoteStatus");
    fn schema() -> Shape {
        word_of::<Self>()
            .about("Status of a quote. `expired` replaces `sent` once the quote can no longer be accepted.")
    }
}
