//! A subscription as its customer sees it.

use api_derive::Response;
use serde::Serialize;
use serde_json::{Value, json};

use crate::domain::time::Timestamp;
use crate::http::billing::profile::PaymentMethodView;
use crate::http::wire::ToSchema;
use crate::services::payments::{Subscription, SubscriptionInvoice, SubscriptionItem};

/// A subscription in a list.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Subscription", example = json!({
    "id": "sub_1", "status": "active", "productName": "Filament box", "priceId": "price_1", "amountCents": 2500,
    "currency": "usd", "interval": "month", "currentPeriodStart": "2026-11-02T10:00:00.000Z",
    "currentPeriodEnd": "2026-12-02T10:00:00.000Z", "cancelAtPeriodEnd": false, "createdAt": "2026-11-02T10:00:00.000Z",
}))]
pub(super) struct SubscriptionView {
    /// The processor's id of it.
    id: String,
    /// The processor's own word: `active`, `past_due`, `canceled`, ...
    status: String,
    /// What people call it; empty where the processor does not say it.
    product_name: String,
    /// The processor's id of its first price.
    price_id: String,
    /// What each period costs in all, in minor units of the currency.
    amount_cents: i64,
    /// ISO 4217, in lower case.
    currency: String,
    /// How long a period is: `day`, `week`, `month`, `year`.
    interval: String,
    /// When the period under way began; null where the processor does not say it.
    current_period_start: Option<Timestamp>,
    /// When the period under way ends; null where the processor does not say it.
    current_period_end: Option<Timestamp>,
    /// Whether it ends with its period.
    cancel_at_period_end: bool,
    /// When it was begun.
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

/// A part of a subscription.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SubscriptionItem")]
struct ItemView {
    /// The processor's id of it.
    id: String,
    /// The processor's id of its price.
    price_id: String,
    /// What people call it; empty where the processor does not say it.
    product_name: String,
    /// For one, in minor units of the currency.
    amount_cents: i64,
    /// How many.
    quantity: u32,
    /// How long a period is.
    interval: String,
}

/// The invoice of the last period, which the processor makes.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SubscriptionInvoice")]
struct InvoiceView {
    /// The processor's id of it.
    id: String,
    /// Its number there; null while it has none.
    number: Option<String>,
    /// The processor's own word: `paid`, `open`, ...
    status: String,
    /// In minor units of the currency.
    total_cents: i64,
    /// The processor's page of it.
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

/// A subscription with what it is made of.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SubscriptionDetail", example = detail_example())]
pub(super) struct SubscriptionDetail {
    #[serde(flatten)]
    summary: SubscriptionView,
    /// What it is made of.
    items: Vec<ItemView>,
    /// The invoice of the last period; null before the first.
    latest_invoice: Option<InvoiceView>,
    /// What it is paid with; null where it is the customer's default.
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
        let invoice = |one: &SubscriptionInvoice| InvoiceView {
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
