//! Customer's view of a subscription.

use api_derive::Response;
use serde::Serialize;
use serde_json::{Value, json};

use crate::billing::profile::PaymentMethodView;
use domain::time::Timestamp;
use http::wire::ToSchema;
use services::payments::{Subscription, SubscriptionInvoice, SubscriptionItem};

/// Subscription in a list.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Subscription", example = json!({
    "id": "sub_1", "status": "active", "productName": "Filament box", "priceId": "price_1", "amountCents": 2500,
    "currency": "usd", "interval": "month", "currentPeriodStart": "2026-11-02T10:00:00.000Z",
    "currentPeriodEnd": "2026-12-02T10:00:00.000Z", "cancelAtPeriodEnd": false, "createdAt": "2026-11-02T10:00:00.000Z",
}))]
pub(super) struct SubscriptionView {
    /// ID of the subscription at the payment processor.
    id: String,
    /// Status, as named by the payment processor: `active`, `past_due`, `canceled`, ...
    status: String,
    /// Name of the product; empty if the processor does not return it.
    product_name: String,
    /// ID of the subscription's first price at the payment processor.
    price_id: String,
    /// Total price per period, in minor units of the currency.
    amount_cents: i64,
    /// Three-letter ISO 4217 currency code, in lowercase.
    currency: String,
    /// Length of a period: `day`, `week`, `month` or `year`.
    interval: String,
    /// Start of the current period; null if the processor does not return it.
    current_period_start: Option<Timestamp>,
    /// End of the current period; null if the processor does not return it.
    current_period_end: Option<Timestamp>,
    /// `true` if the subscription is set to cancel at the end of the current period.
    cancel_at_period_end: bool,
    /// Time at which the subscription was created.
    created_at: Timestamp,
}

impl SubscriptionView {
    pub(super) fn new(of: &Subscription) -> Self {
        let first = of.items.first();
        let word = |read: fn(&SubscriptionItem) -> &String| first.map(read).cloned().unwrap_or_default();
        let cost = |one: &SubscriptionItem| one.amount_cents.saturating_mul(i64::from(one.quantity));
        let period = first.and_then(|one| one.period);
        Self {
            id: of.id.clone(),
            status: of.status.clone(),
            product_name: word(|one| &one.product_name),
            price_id: word(|one| &one.price_id),
            amount_cents: of.items.iter().fold(0, |sum: i64, one| sum.saturating_add(cost(one))),
            currency: of.currency.clone(),
            interval: word(|one| &one.interval),
            current_period_start: period.map(|(from, _)| from),
            current_period_end: period.map(|(_, to)| to),
            cancel_at_period_end: of.cancel_at_period_end,
            created_at: of.created_at,
        }
    }
}

/// Item of a subscription.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SubscriptionItem")]
struct ItemView {
    /// ID of the item at the payment processor.
    id: String,
    /// ID of the item's price at the payment processor.
    price_id: String,
    /// Name of the product; empty if the processor does not return it.
    product_name: String,
    /// Unit price, in minor units of the currency.
    amount_cents: i64,
    /// Number of units.
    quantity: u32,
    /// Length of a period: `day`, `week`, `month` or `year`.
    interval: String,
}

/// Invoice for the last period, issued by the payment processor.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SubscriptionInvoice")]
struct SubscriptionInvoiceView {
    /// ID of the invoice at the payment processor.
    id: String,
    /// Invoice number assigned by the processor; null until it is assigned.
    number: Option<String>,
    /// Status, as named by the payment processor: `paid`, `open`, ...
    status: String,
    /// Total amount, in minor units of the currency.
    total_cents: i64,
    /// URL of the invoice page at the processor.
    url: Option<String>,
}

fn detail_example() -> Value {
    let mut example = SubscriptionView::example();
    example["items"] = json!([{
        "id": "si_1", "priceId": "price_1", "productName": "Filament box", "amountCents": 2500, "quantity": 1,
        "interval": "month",
    }]);
    example["latestInvoice"] = json!({
        "id": "in_1", "number": "A-0001", "status": "paid", "totalCents": 2500, "url": "https://pay.example/i/in_1",
    });
    example["defaultPaymentMethod"] = json!({
        "id": "pm_1", "brand": "visa", "last4": "4242", "expMonth": 12, "expYear": 2031, "isDefault": true,
    });
    example
}

/// Subscription with its items.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SubscriptionDetail", example = detail_example())]
pub(super) struct SubscriptionDetail {
    #[serde(flatten)]
    summary: SubscriptionView,
    /// Items of the subscription.
    items: Vec<ItemView>,
    /// Invoice for the last period; null before the first one.
    latest_invoice: Option<SubscriptionInvoiceView>,
    /// Payment method of the subscription; null if it uses the customer's default payment method.
    default_payment_method: Option<PaymentMethodView>,
}

impl SubscriptionDetail {
    pub(super) fn new(of: &Subscription) -> Self {
        let item = |one: &SubscriptionItem| ItemView {
            id: one.id.clone(),
            price_id: one.price_id.clone(),
            product_name: one.product_name.clone(),
            amount_cents: one.amount_cents,
            quantity: one.quantity,
            interval: one.interval.clone(),
        };
        let invoice = |one: &SubscriptionInvoice| SubscriptionInvoiceView {
            id: one.id.clone(),
            number: one.number.clone(),
            status: one.status.clone(),
            total_cents: one.total_cents,
            url: one.url.clone(),
        };
        Self {
            summary: SubscriptionView::new(of),
            items: of.items.iter().map(item).collect(),
            latest_invoice: of.latest_invoice.as_ref().map(invoice),
            default_payment_method: of
                .default_payment_method
                .as_ref()
                .and_then(|card| PaymentMethodView::of(card, true)),
        }
    }
}
