//! List of payments for orders and invoices.

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::super::orders::site::{Site, SiteHeader};
use super::PaymentHandles;
use domain::id::Id;
use domain::time::Timestamp;
use http::error::ApiError;
use http::page::{PageQuery, Query};
use http::reply::ListPage;
use store::queries::{ListedPayment, PaymentFilter};

/// Query parameters for listing payments.
#[derive(Request, Debug)]
pub struct PaymentQuery {
    /// Return only payments by the customer with the given email address.
    customer_email: Option<String>,
    /// Return only payments for the given order.
    order_id: Option<Id>,
    /// Return only payments for the given invoice. Payments for an order's invoice belong to the order.
    invoice_id: Option<Id>,
    /// Return only payments that belong to the given site.
    site: Option<Site>,
    #[api(flatten)]
    page: PageQuery,
}

/// Payment or refund, with the order or invoice that it is for.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PaymentRecord", many = "payments", example = json!({
    "id": "01890a5d-ac96-774b-bcce-b302099a8066", "orderId": "01890a5d-ac96-774b-bcce-b302099a8065",
    "invoiceId": "01890a5d-ac96-774b-bcce-b302099a8080", "customerEmail": "ann@example.org", "amountCents": 12000,
    "currency": "usd", "method": "processor", "status": "succeeded", "paidAt": "2026-11-03T10:00:00.000Z",
    "reference": "pi_1",
}))]
pub struct PaymentRecord {
    /// ID of the payment.
    id: Id,
    /// ID of the order that the payment is for; null for a payment of an invoice without an order.
    order_id: Option<Id>,
    /// ID of the invoice that the payment is for; null for a payment of an order without an invoice.
    invoice_id: Option<Id>,
    /// Customer's email address, if known.
    customer_email: Option<String>,
    /// Amount, in minor units of the currency; negative for a refund.
    amount_cents: i64,
    /// Three-letter ISO 4217 currency code, in lowercase.
    currency: String,
    /// `processor`, `dispute` for an amount reclaimed by the customer's bank, or the payment or refund method entered
    /// by an operator.
    method: String,
    /// `succeeded`, `refunded` for money paid back, or `failed` for an unsuccessful refund.
    status: &'static str,
    /// Time at which the payment was recorded.
    paid_at: Timestamp,
    /// Payment intent at the processor, or the operator's reference; null for customers.
    reference: Option<String>,
}

impl PaymentRecord {
    /// Builds the record for staff or for the payment's customer. The processor's IDs and the operators' references are
    /// for staff only.
    pub fn new(listed: ListedPayment, staff: bool) -> Self {
        let ListedPayment { payment, order_id, invoice_id, customer_email } = listed;
        let (amount_cents, status) = payment.listed();
        Self {
            id: payment.id,
            order_id,
            invoice_id,
            customer_email,
            amount_cents,
            currency: payment.currency,
            method: payment.method,
            status,
            paid_at: payment.created_at,
            reference: payment.reference.filter(|_| staff),
        }
    }
}

/// Lists payments and refunds, newest first.
pub(super) async fn list(
    State(app): State<PaymentHandles>,
    Query(query): Query<PaymentQuery>,
    SiteHeader(site): SiteHeader,
) -> Result<ListPage<PaymentRecord>, ApiError> {
    let page = query.page.into();
    let filter = PaymentFilter {
        customer_email: query.customer_email.map(|email| email.trim().to_lowercase()),
        order_id: query.order_id,
        invoice_id: query.invoice_id,
        site: query.site.or(site).map(|site| site.0),
    };
    let (some, total) = app.queries.payments(&filter, page).await?;
    Ok(ListPage::new(page, some.into_iter().map(|one| PaymentRecord::new(one, true)), total))
}
