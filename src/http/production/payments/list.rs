//! Payments of orders and invoices together.

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::super::orders::site::{Site, SiteHeader};
use super::PaymentHandles;
use crate::domain::id::Id;
use crate::domain::time::Timestamp;
use crate::http::error::ApiError;
use crate::http::page::{PageQuery, Query};
use crate::http::reply::Listed;
use crate::store::queries::{ListedPayment, PaymentFilter};

/// Which payments are listed.
#[derive(Request, Debug)]
pub struct PaymentQuery {
    /// Only payments of the customer with this e-mail address.
    customer_email: Option<String>,
    /// Only payments of this order.
    order_id: Option<Id>,
    /// Only payments of this invoice; those of an order's invoice are the order's.
    invoice_id: Option<Id>,
    /// Only payments for this site.
    site: Option<Site>,
    #[api(flatten)]
    page: PageQuery,
}

/// A payment or refund with what it is for.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PaymentRecord", many = "payments", example = json!({
    "id": "01890a5d-ac96-774b-bcce-b302099a8066", "orderId": "01890a5d-ac96-774b-bcce-b302099a8065",
    "invoiceId": "01890a5d-ac96-774b-bcce-b302099a8080", "customerEmail": "ann@example.org", "amountCents": 12000,
    "currency": "usd", "method": "processor", "status": "succeeded", "paidAt": "2026-11-03T10:00:00.000Z",
    "reference": "pi_1",
}))]
pub struct PaymentRecord {
    /// Id of the payment.
    id: Id,
    /// The order that it is for; null for a payment of an invoice without one.
    order_id: Option<Id>,
    /// The invoice that it is for; null for an order that has none.
    invoice_id: Option<Id>,
    /// Address of the customer; null where none was given.
    customer_email: Option<String>,
    /// In minor units; negative for a refund.
    amount_cents: i64,
    /// ISO 4217, in lower case.
    currency: String,
    /// `processor`, `dispute` for what the customer's bank took back, or the word that an operator gave for how it was
    /// paid or given back.
    method: String,
    /// `succeeded`, `refunded` for money that went back, or `failed` for money that went back and did not arrive.
    status: &'static str,
    /// When it was recorded.
    paid_at: Timestamp,
    /// The processor's payment intent, or what the operator noted; null for customers.
    reference: Option<String>,
}

impl PaymentRecord {
    /// As staff see it, or its customer: ids of the processor and notes of operators are between the staff.
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

/// Payments and refunds, newest first.
pub(super) async fn list(
    State(app): State<PaymentHandles>,
    Query(query): Query<PaymentQuery>,
    SiteHeader(site): SiteHeader,
) -> Result<Listed<PaymentRecord>, ApiError> {
    let page = query.page.into();
    let filter = PaymentFilter {
        customer_email: query.customer_email.map(|email| email.trim().to_lowercase()),
        order_id: query.order_id,
        invoice_id: query.invoice_id,
        site: query.site.or(site).map(|site| site.0),
    };
    let (some, total) = app.queries.payments(&filter, page).await?;
    Ok(Listed { page, items: some.into_iter().map(|one| PaymentRecord::new(one, true)).collect(), total })
}
