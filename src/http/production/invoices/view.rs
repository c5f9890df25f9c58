//! An invoice as it is shown.

use std::collections::HashMap;

use api_derive::Response;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::orders::{OrderReader, PendingRefund, site::Site};
use super::EXAMPLE_ID;
use crate::domain::id::Id;
use crate::domain::invoice::{DocumentHead, DocumentKind, Invoice, InvoiceLine, InvoiceStatus, Payment};
use crate::domain::order::Address;
use crate::domain::restore::numbers::NumberGap;
use crate::domain::time::Timestamp;
use crate::http::wire::readable;
use crate::store::queries::NumberingSeries;

readable!(InvoiceStatus);
readable!(DocumentKind);

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

/// An invoice in a list.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceSummary", many = "invoices", example = summary_example())]
pub struct InvoiceSummary {
    /// Id of the invoice.
    id: Id,
    /// Its number; null for a draft, and for one that was voided as a draft.
    number: Option<String>,
    /// Where it stands now.
    status: InvoiceStatus,
    /// The site of the business that it belongs to.
    site: Site<String>,
    /// Address of the customer; null where none was given.
    customer_email: Option<String>,
    /// Whom it is for.
    customer_name: String,
    /// Currency of all amounts: ISO 4217, in lower case.
    currency: String,
    /// Sum of the lines, in minor units.
    subtotal_cents: i64,
    /// Charge for shipping, in minor units.
    shipping_cents: i64,
    /// Tax on lines and shipping, in minor units: rounded once for each rate.
    tax_cents: i64,
    /// Discount on the lines, in minor units.
    discount_cents: i64,
    /// What is paid beyond the other amounts, in minor units: prices that another shop asked with their tax in them are
    /// no whole net amounts. 0 for what is sold here.
    rounding_cents: i64,
    /// What is to be paid in all.
    total_cents: i64,
    /// Payments in this currency less their refunds.
    amount_paid_cents: i64,
    /// What is still to be paid.
    amount_due_cents: i64,
    /// When it was issued; null for a draft.
    issued_at: Option<Timestamp>,
    /// When it is to be paid.
    due_at: Option<Timestamp>,
    /// When it was paid in full.
    paid_at: Option<Timestamp>,
    /// The order that it follows; null for one that was made by hand.
    order_id: Option<Id>,
    /// Notes that the customer reads.
    notes: Option<String>,
    /// When it was made.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
    /// Counts the changes that people made, from 1; also its `ETag`.
    version: i64,
}

/// An invoice with its lines, its payments and what was issued.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Invoice", example = whole_example())]
pub struct InvoiceView {
    #[serde(flatten)]
    summary: InvoiceSummary,
    /// Where the customer is; null where nobody said.
    billing_address: Option<Address>,
    /// The customer's identifier for value added tax.
    customer_vat_id: Option<String>,
    /// What is invoiced.
    line_items: Vec<LineView>,
    /// Payments and refunds, oldest first.
    payments: Vec<PaymentView>,
    /// What was issued: the invoice, and credit notes, oldest first.
    documents: Vec<DocumentView>,
    /// Public address of the PDF, once it was stored and while the invoice is as it shows; null otherwise.
    pdf_url: Option<String>,
    /// Address at which whoever has it can pay it; null while there is none.
    pay_url: Option<String>,
    /// When that address ends by itself; null for one that does not.
    pay_url_expires_at: Option<Timestamp>,
    /// What a person must look at: `refund_due`, `amount_mismatch`, `refund_failed`, `disputed`, `dispute_lost`. For
    /// staff only.
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<Vec<String>>,
    /// Refunds that the payment processor was asked for and has not answered, or has refused. For staff only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending_refunds: Option<Vec<PendingRefund>>,
}

/// A line of an invoice.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceLine")]
pub struct LineView {
    /// What is invoiced.
    description: String,
    /// How many.
    quantity: u32,
    /// Net price of one, in minor units.
    unit_price_cents: i64,
    /// Tax rate in basis points.
    tax_rate_bps: i64,
    /// Net amount of the line, in minor units.
    amount_cents: i64,
}

/// A payment of an invoice, or a refund.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoicePayment")]
struct PaymentView {
    /// Id of the payment.
    id: Id,
    /// In minor units; negative for a refund.
    amount_cents: i64,
    /// ISO 4217, in lower case.
    currency: String,
    /// How it was paid, in a word.
    method: String,
    /// `succeeded`, `refunded` for money that went back, or `failed` for money that went back and did not arrive.
    status: &'static str,
    /// When it was recorded.
    paid_at: Timestamp,
    /// The reference of whoever recorded it; customers read only that of a payment by card.
    reference: Option<String>,
}

/// What was issued.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceDocument")]
struct DocumentView {
    /// Id of the document.
    id: Id,
    /// Invoice or credit note.
    kind: DocumentKind,
    /// Its number, without gaps in its year.
    number: Option<String>,
    /// What it is over, in minor units.
    total_cents: i64,
    /// When it was issued.
    issued_at: Timestamp,
}

impl InvoiceSummary {
    /// As it is at this time; `numbers` are those of the documents that were issued.
    pub fn new(invoice: &Invoice, now: Timestamp, numbers: &HashMap<Id, String>) -> Self {
        let (content, sums) = (&invoice.content, &invoice.content.sums);
        Self {
            id: invoice.id,
            number: invoice.issued().and_then(|one| numbers.get(&one.id).cloned()),
            status: invoice.shown_status(now),
            site: Site(invoice.site.clone()),
            customer_email: invoice.customer_email.clone(),
            customer_name: content.buyer.name.clone(),
            currency: content.currency.clone(),
            subtotal_cents: sums.subtotal_cents,
            shipping_cents: sums.shipping_cents,
            tax_cents: sums.tax_cents,
            discount_cents: sums.discount_cents,
            rounding_cents: sums.rounding_cents,
            total_cents: sums.payable_cents(),
            amount_paid_cents: invoice.kept_cents,
            amount_due_cents: invoice.due_cents(),
            issued_at: invoice.issued_at,
            due_at: invoice.due_at,
            paid_at: invoice.paid_at,
            order_id: invoice.order_id,
            notes: content.notes.clone(),
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
            payments: invoice.payments.iter().map(|payment| PaymentView::new(payment, staff)).collect(),
            documents: invoice.documents.iter().map(document).collect(),
            pdf_url,
            pay_url,
            pay_url_expires_at: expires_at,
            flags: staff.then(|| invoice.flags.clone()),
            pending_refunds: staff.then(|| invoice.at_processor.refunds.iter().map(PendingRefund::new).collect()),
        }
    }
}

impl From<&InvoiceLine> for LineView {
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

impl PaymentView {
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

/// How the numbers of what was issued stand.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceNumbering", example = json!({
    "gapless": true, "series": [{"series": "INV-2026", "count": 123, "first": 1, "last": 123, "missing": [], "gaps": []}],
}))]
pub struct Numbering {
    /// Whether no number of any series is missing, but for those that were left out on purpose.
    gapless: bool,
    /// One for each kind and year.
    series: Vec<SeriesView>,
}

/// The numbers of one kind and year.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceNumberSeries")]
struct SeriesView {
    /// `INV-2026`, `CN-2026`.
    series: String,
    /// How many documents it has.
    count: i64,
    /// The lowest number.
    first: i64,
    /// The highest number.
    last: i64,
    /// Numbers that no document has and for which there is no reason, at most a hundred of them.
    missing: Vec<i64>,
    /// Numbers that were left out on purpose, with the reason.
    gaps: Vec<GapView>,
}

/// Numbers that were left out on purpose.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "InvoiceNumberGap", example = json!({
    "first": 124, "last": 223, "notedAt": "2026-11-02T10:00:00.000Z",
    "reason": "restored on 2026-11-02 from a backup of 2026-11-01: these numbers may have been given out in between",
}))]
struct GapView {
    /// The first number that is left out.
    first: i64,
    /// The last number that is left out.
    last: i64,
    /// Why, in words for people.
    reason: String,
    /// When it was noted.
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
            SeriesView { series, count, first, last, missing, gaps: gaps.into_iter().map(gap).collect() }
        };
        Self { gapless, series: all.into_iter().map(view).collect() }
    }
}
