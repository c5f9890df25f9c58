//! API representation of invoices.

use std::collections::HashMap;

use api_derive::Response;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::orders::{OrderReader, PendingRefund, site::Site};
use super::EXAMPLE_ID;
use domain::id::Id;
use domain::invoice::{DocumentHead, DocumentKind, Invoice, InvoiceLine, InvoiceStatus, Payment};
use domain::order::Address;
use domain::restore::numbers::NumberGap;
use domain::time::Timestamp;
use store::queries::NumberingSeries;

fn summary_example() -> Value {
    json!({
        "id": EXAMPLE_ID, "number": "INV-2026-000123", "status": "paid", "site": "industries",
        "customerEmail": "ann@example.org", "customerName": "Ann Example", "currency": "usd", "subtotalCents": 12000,
        "shippingCents": 0, "taxCents": 0, "discountCents": 0, "roundingCents": 0, "totalCents": 12000, "amountPaidCents": 12000,
        "amountDueCents": 0, "issuedAt": "2026-11-02T10:00:00.000Z", "dueAt": "2026-11-16T10:00:00.000Z",
        "paidAt": "2026-11-03T10:00:00.000Z", "orderId": null, "notes": null, "createdAt": "2026-11-02T09:55:00.000Z",
        "updatedAt": "2026-11-03T10:00:00.000Z", "version": 3,
    })
}

fn whole_example() -> Value {
    let mut example = summary_example();
    example["billingAddress"] = Value::Null;
    example["customerVatId"] = Value::Null;
    example["lineItems"] = json!([{
        "description": "Design, one hour", "quantity": 2, "unitPriceCents": 6000, "taxRateBps": 0, "amountCents": 12000,
    }]);
    example["payments"] = json!([{
        "id": "01890a5d-ac96-774b-bcce-b302099a8066", "amountCents": 12000, "currency": "usd", "method": "bank_transfer",
        "status": "succeeded", "paidAt": "2026-11-03T10:00:00.000Z", "reference": null,
    }]);
    example["documents"] = json!([{
        "id": "01890a5d-ac96-774b-bcce-b302099a8081", "kind": "invoice", "number": "INV-2026-000123",
        "totalCents": 12000, "issuedAt": "2026-11-02T10:00:00.000Z",
    }]);
    example["pdfUrl"] = Value::Null;
    example["payUrl"] = Value::Null;
    example["payUrlExpiresAt"] = Value::Null;
    example
}

/// Amounts of an invoice, and the times at which it was issued, is due and was paid.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InvoiceAmounts {
    /// Three-letter ISO 4217 currency code of all amounts, in lowercase.
    currency: String,
    /// Sum of the line amounts, in the currency's smallest unit.
    subtotal_cents: i64,
    /// Shipping charge, in the currency's smallest unit.
    shipping_cents: i64,
    /// Tax on lines and shipping, in the currency's smallest unit; rounded once per tax rate.
    tax_cents: i64,
    /// Discount on the lines, in the currency's smallest unit.
    discount_cents: i64,
    /// Rounding difference included in the total, in the currency's smallest unit. Occurs when another shop's prices
    /// include tax and do not convert to whole net amounts; 0 for the shop's own sales.
    rounding_cents: i64,
    /// Total amount, in the currency's smallest unit.
    total_cents: i64,
    /// Payments in the invoice's currency, less refunds.
    amount_paid_cents: i64,
    /// Amount still due.
    amount_due_cents: i64,
    /// Time at which the invoice was issued; null for a draft.
    issued_at: Option<Timestamp>,
    /// Time by which the invoice must be paid.
    due_at: Option<Timestamp>,
    /// Time at which the invoice was paid in full; null until then.
    paid_at: Option<Timestamp>,
}

impl From<&Invoice> for InvoiceAmounts {
    fn from(invoice: &Invoice) -> Self {
        let sums = &invoice.content.sums;
        Self {
            currency: invoice.content.currency.clone(),
            subtotal_cents: sums.subtotal_cents,
            shipping_cents: sums.shipping_cents,
            tax_cents: sums.tax_cents,
            discount_cents: sums.discount_cents,
            rounding_cents: sums.rounding_cents,
            total_cents: sums.payable_cents(),
            amount_paid_cents: invoice.ledger.kept_cents,
            amount_due_cents: invoice.due_cents(),
            issued_at: invoice.issued_at,
            due_at: invoice.due_at,
            paid_at: invoice.paid_at,
        }
    }
}

/// Invoice in a list.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceSummary", many = "invoices", example = summary_example())]
pub struct InvoiceSummary {
    /// ID of the invoice.
    id: Id,
    /// Invoice number; null for drafts and for drafts that were voided.
    number: Option<String>,
    /// Current status.
    status: InvoiceStatus,
    /// Site that the invoice belongs to.
    site: Site<String>,
    /// Email address of the customer; null if none was specified.
    customer_email: Option<String>,
    /// Name of the customer: a person or a company.
    customer_name: String,
    #[serde(flatten)]
    amounts: InvoiceAmounts,
    /// ID of the order that the invoice belongs to; null for an invoice drafted manually.
    order_id: Option<Id>,
    /// Notes shown to the customer.
    notes: Option<String>,
    /// Time at which the invoice was created.
    created_at: Timestamp,
    /// Time at which the invoice last changed.
    updated_at: Timestamp,
    /// Version number of the invoice: starts at 1 and increases with each manual change; also its `ETag`.
    version: i64,
}

/// Invoice with its lines, payments and issued documents.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Invoice", example = whole_example())]
pub struct InvoiceView {
    #[serde(flatten)]
    summary: InvoiceSummary,
    /// Billing address; null if none was specified.
    billing_address: Option<Address>,
    /// VAT ID of the customer's business.
    customer_vat_id: Option<String>,
    /// Lines of the invoice.
    line_items: Vec<InvoiceLineView>,
    /// Payments and refunds, oldest first.
    payments: Vec<InvoicePaymentView>,
    /// Issued documents: the invoice and its credit notes, oldest first.
    documents: Vec<DocumentView>,
    /// Public URL of the PDF; null unless it is stored and still matches the invoice.
    pdf_url: Option<String>,
    /// Payment link for the invoice, if any. Anyone who has the link can pay the invoice.
    pay_url: Option<String>,
    /// Time at which the payment link expires; null if it does not expire.
    pay_url_expires_at: Option<Timestamp>,
    /// Conditions that need an operator's attention: `refund_due`, `amount_mismatch`, `refund_failed`, `disputed`,
    /// `dispute_lost`. For staff only.
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<Vec<String>>,
    /// Refunds requested from the payment processor that it has not responded to yet or has rejected. For staff only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending_refunds: Option<Vec<PendingRefund>>,
}

/// Product or service on an invoice, with its quantity and price.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceLine")]
pub struct InvoiceLineView {
    /// Description of the product or service.
    description: String,
    /// Number of units.
    quantity: u32,
    /// Net unit price, in the currency's smallest unit.
    unit_price_cents: i64,
    /// Tax rate, in basis points.
    tax_rate_bps: i64,
    /// Net amount of the line, in the currency's smallest unit.
    amount_cents: i64,
}

/// Payment or refund of an invoice.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoicePayment")]
struct InvoicePaymentView {
    /// ID of the payment.
    id: Id,
    /// Amount in the currency's smallest unit; negative for a refund.
    amount_cents: i64,
    /// Three-letter ISO 4217 currency code, in lowercase.
    currency: String,
    /// Payment method.
    method: String,
    /// `succeeded`, `refunded` for money returned, or `failed` for an unsuccessful refund.
    status: &'static str,
    /// Time at which the payment was recorded.
    paid_at: Timestamp,
    /// Reference entered when the payment was recorded; customers can see it only for card payments.
    reference: Option<String>,
}

/// Issued document.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceDocument")]
struct DocumentView {
    /// ID of the document.
    id: Id,
    /// Type of the document: invoice or credit note.
    kind: DocumentKind,
    /// Document number. Numbers have no gaps within a year.
    number: Option<String>,
    /// Total of the document, in the currency's smallest unit.
    total_cents: i64,
    /// Time at which the document was issued.
    issued_at: Timestamp,
}

impl InvoiceSummary {
    /// Builds the summary of an invoice at the given time; `numbers` contains the numbers of its issued documents.
    pub fn new(invoice: &Invoice, now: Timestamp, numbers: &HashMap<Id, String>) -> Self {
        Self {
            id: invoice.id,
            number: invoice.issued().and_then(|one| numbers.get(&one.id).cloned()),
            status: invoice.shown_status(now),
            site: Site(invoice.site.clone()),
            customer_email: invoice.customer_email.clone(),
            customer_name: invoice.content.buyer.name.clone(),
            amounts: invoice.into(),
            order_id: invoice.order_id,
            notes: invoice.content.notes.clone(),
            created_at: invoice.created_at,
            updated_at: invoice.updated_at,
            version: invoice.revision,
        }
    }
}

impl InvoiceView {
    pub(super) fn new(
        invoice: &Invoice,
        now: Timestamp,
        numbers: &HashMap<Id, String>,
        (pdf_url, pay_url): (Option<String>, Option<String>),
        reader: OrderReader,
    ) -> Self {
        let staff = reader == OrderReader::Staff;
        let expires_at = invoice.pay_link.as_ref().and_then(|link| link.expires_at).filter(|_| pay_url.is_some());
        let content = &invoice.content;
        let document = |head: &DocumentHead| DocumentView {
            id: head.id,
            kind: head.kind,
            number: numbers.get(&head.id).cloned(),
            total_cents: head.payable_cents,
            issued_at: head.issued_at,
        };
        Self {
            summary: InvoiceSummary::new(invoice, now, numbers),
            billing_address: content.buyer.address.clone(),
            customer_vat_id: content.buyer.vat_id.clone(),
            line_items: content.lines.iter().map(Into::into).collect(),
            payments: invoice.ledger.payments.iter().map(|payment| InvoicePaymentView::new(payment, staff)).collect(),
            documents: invoice.documents.iter().map(document).collect(),
            pdf_url,
            pay_url,
            pay_url_expires_at: expires_at,
            flags: staff.then(|| invoice.flags.clone()),
            pending_refunds: staff
                .then(|| invoice.ledger.at_processor.refunds.iter().map(PendingRefund::new).collect()),
        }
    }
}

impl From<&InvoiceLine> for InvoiceLineView {
    fn from(line: &InvoiceLine) -> Self {
        Self {
            description: line.description.clone(),
            quantity: line.quantity,
            unit_price_cents: line.unit_price_cents,
            tax_rate_bps: line.tax_rate_bps,
            amount_cents: line.amount_cents().unwrap_or(i64::MAX),
        }
    }
}

impl InvoicePaymentView {
    fn new(payment: &Payment, staff: bool) -> Self {
        let reference = if staff { payment.reference.as_deref() } else { payment.shown_reference() };
        let (amount_cents, status) = payment.listed();
        Self {
            id: payment.id,
            amount_cents,
            currency: payment.currency.clone(),
            method: payment.method.clone(),
            status,
            paid_at: payment.created_at,
            reference: reference.map(str::to_owned),
        }
    }
}

/// State of the document numbering.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceNumbering", example = json!({
    "gapless": true, "series": [{"series": "INV-2026", "count": 123, "first": 1, "last": 123, "missing": [], "gaps": []}],
}))]
pub struct Numbering {
    /// `true` if no series is missing any numbers, except those skipped on purpose.
    gapless: bool,
    /// Number series, one per document type and year.
    series: Vec<InvoiceSeriesView>,
}

/// Number series for one document type and year.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceNumberSeries")]
struct InvoiceSeriesView {
    /// Name of the series, such as `INV-2026` or `CN-2026`.
    series: String,
    /// Number of documents in the series.
    count: i64,
    /// Lowest number in the series.
    first: i64,
    /// Highest number in the series.
    last: i64,
    /// Numbers without a document and without a recorded reason, at most 100.
    missing: Vec<i64>,
    /// Numbers skipped on purpose, with the reason.
    gaps: Vec<GapView>,
}

/// Range of numbers skipped on purpose.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceNumberGap", example = json!({
    "first": 124, "last": 223, "notedAt": "2026-11-02T10:00:00.000Z",
    "reason": "restored on 2026-11-02 from a backup of 2026-11-01: these numbers may have been issued in between",
}))]
struct GapView {
    /// First number skipped.
    first: i64,
    /// Last number skipped.
    last: i64,
    /// Human-readable reason.
    reason: String,
    /// Time at which the gap was recorded.
    noted_at: Timestamp,
}

impl From<Vec<NumberingSeries>> for Numbering {
    fn from(all: Vec<NumberingSeries>) -> Self {
        let gapless = all.iter().all(NumberingSeries::is_gapless);
        let view = |one: NumberingSeries| {
            let NumberingSeries { series, count, first, last, missing, gaps } = one;
            let gap = |gap: NumberGap| GapView {
                first: gap.first,
                last: gap.last,
                reason: gap.reason,
                noted_at: gap.noted_at,
            };
            InvoiceSeriesView { series, count, first, last, missing, gaps: gaps.into_iter().map(gap).collect() }
        };
        Self { gapless, series: all.into_iter().map(view).collect() }
    }
}
