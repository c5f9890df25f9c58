//! What is told of an invoice.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::{EventData, EventKind};
use crate::domain::id::Id;
use crate::domain::invoice_status::InvoiceStatus;

/// What is told of an invoice. Its number is not told: the store gives it out when the invoice is written.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceEventData", example = example(json!({})))]
pub struct InvoiceData {
    /// Id of the invoice.
    pub(crate) invoice_id: Id,
    /// Id of the order that it follows; null for one that an operator made.
    pub(crate) order_id: Option<Id>,
    /// The status after the event.
    pub(crate) status: InvoiceStatus,
    /// In minor units of the currency.
    pub(crate) total_cents: i64,
    /// What is still to be paid, in minor units of the currency.
    pub(crate) amount_due_cents: i64,
    /// ISO 4217, in lower case.
    pub(crate) currency: String,
    /// Address of the customer; null where none was given.
    pub(crate) customer_email: Option<String>,
}
carried_by! { InvoiceData:
    "invoice.issued", "An invoice was issued, and has a number.";
    "invoice.paid", "An invoice was paid in full.";
    "invoice.refunded", "All that was paid for an invoice went back.";
    "invoice.voided", "An invoice was given up before anything was paid for it.";
    "credit_note.issued", "A credit note was issued, which takes back an invoice or a part of it.";
}

fn example(more: serde_json::Value) -> serde_json::Value {
    let mut example = json!({
        "invoiceId": "01890a5d-ac96-774b-bcce-b302099a8080", "orderId": super::ORDER, "status": "paid",
        "totalCents": 2500, "amountDueCents": 0, "currency": "usd", "customerEmail": "customer@example.org",
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        example[name] = value.clone();
    }
    example
}

/// What is told of an invoice whose money a person must look at.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceFlaggedEventData", example = example(json!({
    "orderId": null, "flag": "refund_due", "message": "money has to go back",
})))]
pub struct InvoiceFlaggedData {
    #[serde(flatten)]
    pub(crate) invoice: InvoiceData,
    /// A word for programs: `refund_due`, `amount_mismatch`, `refund_failed`, `disputed` or `dispute_lost`.
    pub(crate) flag: String,
    /// The problem in words for people.
    pub(crate) message: String,
}
carried_by! { InvoiceFlaggedData: "invoice.flagged", "A person must look at the money of an invoice without an order."; }

/// What is told of money that came for an invoice and does not pay it.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoicePaymentEventData", example = example(json!({
    "orderId": null, "status": "partially_paid", "amountDueCents": 1500, "amountCents": 1000, "keptCents": 1000,
})))]
pub struct InvoicePaymentData {
    #[serde(flatten)]
    pub(crate) invoice: InvoiceData,
    /// What came, in minor units of the currency that it came in.
    pub(crate) amount_cents: i64,
    /// All that is kept so far, in minor units of the invoice's currency.
    pub(crate) kept_cents: i64,
}
carried_by! { InvoicePaymentData:
    "invoice.payment_recorded", "A part of an invoice without an order was paid, or another amount or currency; it is not paid yet.";
}

/// What is told of an invoice that somebody tried to pay.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoicePaymentFailedEventData", example = example(json!({
    "orderId": null, "status": "open", "amountDueCents": 2500, "error": "the card was declined",
})))]
pub struct InvoicePaymentFailedData {
    #[serde(flatten)]
    pub(crate) invoice: InvoiceData,
    /// As the payment processor says it.
    pub(crate) error: Option<String>,
}
carried_by! { InvoicePaymentFailedData:
    "invoice.payment_failed", "The payment processor reports that a payment of an invoice without an order failed.";
}

/// What is told of a refund.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceRefundEventData", example = example(json!({"orderId": null, "refundedCents": 500})))]
pub struct InvoiceRefundData {
    #[serde(flatten)]
    pub(crate) invoice: InvoiceData,
    /// Paid back so far of all payments, in minor units of the currency.
    pub(crate) refunded_cents: i64,
}
carried_by! { InvoiceRefundData: "invoice.refund_recorded", "A part or the whole of what was paid for an invoice without an order went back."; }
