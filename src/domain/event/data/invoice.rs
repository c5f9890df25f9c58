//! Payloads of invoice events.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::{EventData, EventKind, with_members};
use crate::id::Id;
use crate::invoice_status::InvoiceStatus;

/// Data for an invoice event. It does not include the invoice number, which the store assigns when the invoice is
/// written.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceEventData", example = example(json!({})))]
pub struct InvoiceData {
    /// Unique identifier of the invoice.
    pub(crate) invoice_id: Id,
    /// Identifier of the invoiced order; null for an invoice created by an operator.
    pub(crate) order_id: Option<Id>,
    /// Status of the invoice after the event.
    pub(crate) status: InvoiceStatus,
    /// Invoice total, in minor units of the currency.
    pub(crate) total_cents: i64,
    /// Amount still due, in minor units of the currency.
    pub(crate) amount_due_cents: i64,
    /// Three-letter ISO 4217 currency code, in lowercase.
    pub(crate) currency: String,
    /// Email address of the customer; null if unknown.
    pub(crate) customer_email: Option<String>,
}
carried_by! { InvoiceData:
    "invoice.issued", "An invoice was issued and numbered.";
    "invoice.paid", "An invoice was paid in full.";
    "invoice.refunded", "All payments of an invoice were refunded.";
    "invoice.voided", "An invoice without payments was voided.";
    "credit_note.issued", "A credit note was issued that reverses an invoice in full or in part.";
}

fn example(more: serde_json::Value) -> serde_json::Value {
    let example = json!({
        "invoiceId": "01890a5d-ac96-774b-bcce-b302099a8080", "orderId": super::ORDER, "status": "paid",
        "totalCents": 2500, "amountDueCents": 0, "currency": "usd", "customerEmail": "customer@example.org",
    });
    with_members(example, more)
}

/// Data for an event about an invoice whose payment needs an operator's attention.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceFlaggedEventData", example = example(json!({
    "orderId": null, "flag": "refund_due", "message": "money must be refunded",
})))]
pub struct InvoiceFlaggedData {
    #[serde(flatten)]
    pub(crate) invoice: InvoiceData,
    /// Machine-readable code for the problem: `refund_due`, `amount_mismatch`, `refund_failed`, `disputed` or
    /// `dispute_lost`.
    pub(crate) flag: String,
    /// Human-readable description of the problem.
    pub(crate) message: String,
}
carried_by! { InvoiceFlaggedData:
    "invoice.flagged", "The payments of an invoice without an order need an operator's attention.";
}

/// Data for an event about a payment that does not fully pay its invoice.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoicePaymentEventData", example = example(json!({
    "orderId": null, "status": "partially_paid", "amountDueCents": 1500, "amountCents": 1000, "keptCents": 1000,
})))]
pub struct InvoicePaymentData {
    #[serde(flatten)]
    pub(crate) invoice: InvoiceData,
    /// Amount received, in minor units of the currency in which it was paid.
    pub(crate) amount_cents: i64,
    /// Total of the payments retained so far, in minor units of the invoice's currency.
    pub(crate) kept_cents: i64,
}
carried_by! { InvoicePaymentData:
    "invoice.payment_recorded", "A payment with a different amount or currency was made for an invoice without an \
                                 order; it is not paid in full.";
}

/// Data for an event about an invoice whose payment failed.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoicePaymentFailedEventData", example = example(json!({
    "orderId": null, "status": "open", "amountDueCents": 2500, "error": "the card was declined",
})))]
pub struct InvoicePaymentFailedData {
    #[serde(flatten)]
    pub(crate) invoice: InvoiceData,
    /// Error message from the payment processor.
    pub(crate) error: Option<String>,
}
carried_by! { InvoicePaymentFailedData:
    "invoice.payment_failed", "The payment processor reports that a payment of an invoice without an order failed.";
}

/// Data for an event about a refund for an invoice.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceRefundEventData", example = example(json!({"orderId": null, "refundedCents": 500})))]
pub struct InvoiceRefundData {
    #[serde(flatten)]
    pub(crate) invoice: InvoiceData,
    /// Total refunded so far across all payments, in minor units of the currency.
    pub(crate) refunded_cents: i64,
}
carried_by! { InvoiceRefundData:
    "invoice.refund_recorded", "Payments of an invoice without an order were refunded in full or in part.";
}
