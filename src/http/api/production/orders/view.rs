//! Orders as shown in responses. They are borrowed and serialized directly, because orders are read more often than
//! anything else. Staff-only fields are omitted for customers.

use std::borrow::Borrow;
use std::sync::Arc;

use api_derive::Response;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::OrderHandles;
use super::lines::OrderLines;
use super::packing::SentView;
use super::recovery::{RecoveryView, heap_bytes};
use super::site::Site;
use actors::forecaster::Forecaster;
use domain::aggregate::Versioned;
use domain::forecast::Forecast;
use domain::id::Id;
use domain::order::{Address, Order, OrderKind, OrderStatus, Payment, RequestedRefund, Shipment};
use domain::remedy::OrderRecovery;
use domain::time::Timestamp;
use domain::timing::Timing;
use http::access::Caller;
use http::openapi::shape::{Shape, date, list, text_like};
use http::wire::{Components, ToSchema, Viewed, schema_of};
use http::written_answers::AnswerDetails;
use kernel::environment::Environment;

/// Order. Its lines keep the names and prices that applied when it was placed.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Order", many = "orders", example = json!({
    "id": super::EXAMPLE_ID, "number": "ORD-000123", "kind": "manual", "status": "paid", "site": "support",
    "customerId": null, "customerEmail": "buyer@example.org",
    "lines": [{
        "skuId": crate::production::skus::EXAMPLE_ID, "quantity": 2, "unitPriceCents": 1250, "description": "Vase",
        "taxRateBps": 0, "kitLine": null, "shipped": 0, "jobs": {"total": 2, "completed": 1}, "good": 1, "running": 1, "missing": 0, "cancelled": 0,
    }],
    "currency": "usd", "subtotalCents": 2500, "shippingCents": 0, "taxCents": 0, "discountCents": 0, "roundingCents": 0,
    "totalCents": 2500,
    "keptCents": 2500, "payments": [{
        "id": "01890a5d-ac96-774b-bcce-b302099a8066", "amountCents": 2500, "currency": "usd", "method": "cash",
        "status": "succeeded", "reference": null, "createdAt": "2026-11-02T10:00:00.000Z",
    }],
    "shipment": null, "shipments": [], "flags": [], "shippingAddress": null, "priority": 5, "dueAt": null,
    "expectedAt": "2026-11-02T12:10:00.000Z", "promisedAt": "2026-11-02T12:40:00.000Z", "timing": "on_time",
    "notes": null, "internalNotes": "calls back on Monday", "pendingRefunds": [], "paidAt": "2026-11-02T10:00:00.000Z", "createdAt": "2026-11-02T09:55:00.000Z",
    "updatedAt": "2026-11-02T10:00:00.000Z", "version": 3,
}))]
pub struct OrderView<'a> {
    /// ID of the order.
    id: Id,
    /// Human-readable number.
    number: OrderNumber,
    /// Origin of the order.
    kind: OrderKind,
    /// Status of the order.
    status: OrderStatus,
    /// Site of the shop that the order belongs to.
    site: Site<&'a str>,
    /// ID of the customer record that the order belongs to, if any.
    customer_id: Option<Id>,
    /// Customer's email address, if known.
    customer_email: Option<&'a str>,
    /// Ordered items, one line for each SKU.
    lines: OrderLines<'a>,
    /// Three-letter ISO 4217 currency code of all amounts, in lowercase.
    currency: &'a str,
    /// Sum of the line amounts, in minor units of the currency.
    subtotal_cents: i64,
    /// Shipping charge, in minor units of the currency.
    shipping_cents: i64,
    /// Tax on lines and shipping, in minor units of the currency.
    tax_cents: i64,
    /// Discount, in minor units of the currency.
    discount_cents: i64,
    /// Rounding difference included in the total, in minor units. Occurs when another shop's prices include tax and do
    /// not convert to whole net amounts; 0 for the shop's own sales.
    rounding_cents: i64,
    /// Total amount, in minor units of the currency.
    total_cents: i64,
    /// Payments in the order's currency, less refunds; the order is paid when they reach `totalCents`.
    kept_cents: i64,
    /// Payments and refunds, oldest first; empty in lists.
    payments: OrderPayments<'a>,
    /// Refunds requested from the payment processor that are not yet listed as payments. For staff only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending_refunds: Option<Vec<PendingRefund>>,
    /// Latest shipment of the order, if any.
    shipment: Option<ShipmentView<'a>>,
    /// Shipments of the order, oldest first.
    shipments: Vec<SentView<'a>>,
    /// Issues that need an operator's attention: `refund_due`, `amount_mismatch`, `job_failed`, `all_jobs_cancelled`,
    /// `short`, `needs_attention`, `rejected_after_shipping`, `surplus`, `refund_failed`, `disputed`, `dispute_lost`,
    /// `seller_incomplete`. For staff only.
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<&'a [String]>,
    /// Shipping address; null if unknown.
    shipping_address: Option<&'a Address>,
    /// Priority from 0 to 9; jobs with a higher number are printed first.
    priority: u8,
    /// Time by which the order should be completed.
    due_at: Option<Timestamp>,
    /// Time by which all jobs of the order are expected to be printed, forecast from the whole queue; it changes
    /// without a new version. Null once all jobs are printed, if no forecast is possible, and in the response to a
    /// change.
    expected_at: Option<Timestamp>,
    /// Promised completion time, from the first forecast after payment; it never changes. Promises are calculated so
    /// that four out of five are met.
    promised_at: Option<Timestamp>,
    /// Timing of the order, which changes without a new version. Null before a promise is made, once all parts are made
    /// or the order is cancelled or refunded, and in the response to a change.
    timing: Option<Timing>,
    /// Ways to get the order ready on time, forecast as `expectedAt`. Omitted unless the order is late, or is at risk
    /// and an action would help; if many orders are late, also omitted for the least urgent ones. For staff only.
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery: Option<RecoveryView>,
    /// Notes from the customer; visible to the customer.
    notes: Option<&'a str>,
    /// Internal notes, if any; omitted for customers.
    #[serde(skip_serializing_if = "Option::is_none")]
    internal_notes: Option<&'a str>,
    /// Time at which the order was paid in full; null until then.
    paid_at: Option<Timestamp>,
    /// Time at which the order was placed.
    created_at: Timestamp,
    /// Time of the last change.
    updated_at: Timestamp,
    /// Version number: starts at 1 and increases with each change by a user; also the `ETag`.
    version: i64,
}

/// Reader of an order, who determines the fields shown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OrderReader {
    /// Customer, for whom staff-only fields are omitted.
    Customer,
    /// Staff, who see all fields.
    Staff,
}

impl From<&Caller> for OrderReader {
    fn from(who: &Caller) -> Self {
        if who.is_customer() { Self::Customer } else { Self::Staff }
    }
}

/// Order, its reader, and its outlook.
pub struct OrderFor<T>(pub T, pub OrderReader, pub OrderOutlook);

/// Fields of an order that depend on the forecast and the current time and not on the order's version.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OrderOutlook {
    /// Time by which all jobs of the order are expected to be printed; `None` if it cannot be forecast.
    pub expected_at: Option<Timestamp>,
    /// Timing of the order; `None` if no promise is outstanding.
    pub timing: Option<Timing>,
    /// Ways to get the order ready on time; `None` unless it is late or at risk.
    pub recovery: Option<Arc<OrderRecovery>>,
}

impl AnswerDetails for OrderOutlook {
    fn heap_bytes(&self) -> usize {
        self.recovery.as_deref().map_or(0, heap_bytes)
    }
}

impl OrderHandles {
    /// Returns the order's current outlook.
    pub fn outlook(&self, order: &Order) -> OrderOutlook {
        OrderOutlook::at_present(order, &self.forecaster, &self.environment)
    }
}

impl OrderOutlook {
    /// Returns the current outlook of an order.
    pub(super) fn at_present(order: &Order, forecaster: &Forecaster, environment: &Environment) -> Self {
        Self::of(order, &forecaster.latest(), environment.now())
    }

    /// Returns the outlook of an order according to a forecast. Later changes to the order take precedence: an order
    /// that is on time by now needs no remedy.
    pub fn of(order: &Order, forecast: &Forecast, now: Timestamp) -> Self {
        let expected_at = forecast.orders.get(&order.id).copied();
        let timing = order.timing(expected_at, now);
        let is_urgent = timing.is_some_and(|timing| timing != Timing::OnTime);
        let recovery = forecast.recoveries.get(&order.id).filter(|_| is_urgent).cloned();
        Self { expected_at, timing, recovery }
    }
}

/// Human-readable order number, formatted as `ORD-000123`.
#[derive(Clone, Copy, Debug)]
pub struct OrderNumber(pub i64);

impl Serialize for OrderNumber {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("ORD-{:06}", self.0))
    }
}

impl ToSchema for OrderNumber {
    fn schema() -> Shape {
        text_like("^ORD-[0-9]{6,}$")
    }
}

/// Payment or refund.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Payment")]
struct OrderPaymentView<'a> {
    /// ID of the payment.
    id: Id,
    /// Amount, in minor units of the currency; negative for refunds.
    amount_cents: i64,
    /// Three-letter ISO 4217 currency code of the amount, in lowercase.
    currency: &'a str,
    /// `processor`, or the payment method entered by an operator.
    method: &'a str,
    /// `succeeded`, `refunded` for money paid back, or `failed` for an unsuccessful refund.
    status: &'static str,
    /// Payment intent at the processor, or the operator's reference; null for customers.
    reference: Option<&'a str>,
    /// Time at which the payment was recorded.
    created_at: Timestamp,
}

/// Refund requested from the payment processor.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PendingRefund")]
pub struct PendingRefund {
    /// ID of the refund while it is pending.
    id: Id,
    /// ID of the payment to refund.
    payment_id: Id,
    /// Amount, in minor units of the payment's currency.
    amount_cents: i64,
    /// Time at which the refund was requested.
    asked_at: Timestamp,
    /// Reason the processor rejected the refund; null while it has not responded. A rejected refund is not retried
    /// automatically.
    error: Option<String>,
}

impl PendingRefund {
    /// Builds the view of a refund for an order or invoice.
    pub fn new(refund: &RequestedRefund) -> Self {
        let RequestedRefund { id, payment_id, amount_cents, asked_at, error, .. } = refund.clone();
        Self { id, payment_id, amount_cents, asked_at, error }
    }
}

/// Shipping details of an order.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Shipment")]
pub struct ShipmentView<'a> {
    /// Carrier; `pickup` if the customer collects the order.
    carrier: &'a str,
    /// Carrier's tracking number.
    tracking_number: &'a str,
    /// Estimated delivery date.
    estimated_delivery: Day<'a>,
}

/// Date formatted as `YYYY-MM-DD`.
#[derive(Serialize)]
#[serde(transparent)]
struct Day<'a>(&'a str);

impl ToSchema for Day<'_> {
    fn schema() -> Shape {
        date()
    }
}

impl<'a> OrderView<'a> {
    /// Builds the view of an order for the given reader, without its forecast.
    pub fn new(order: &'a Order, payments: &'a [Payment], version: i64, reader: OrderReader) -> Self {
        let staff = reader == OrderReader::Staff;
        Self {
            id: order.id,
            number: OrderNumber(order.number),
            kind: order.kind,
            status: order.status,
            site: Site(&order.site),
            customer_id: order.customer_id,
            customer_email: order.customer_email.as_deref(),
            lines: OrderLines(order),
            currency: &order.currency,
            subtotal_cents: order.subtotal_cents,
            shipping_cents: order.shipping_cents,
            tax_cents: order.tax_cents,
            discount_cents: order.discount_cents,
            rounding_cents: order.rounding_cents(),
            total_cents: order.total_cents,
            kept_cents: order.ledger.kept_cents,
            payments: OrderPayments(payments, reader),
            pending_refunds: staff.then(|| order.ledger.at_processor.refunds.iter().map(PendingRefund::new).collect()),
            shipment: order.shipment.as_ref().map(ShipmentView::new),
            shipments: order.shipments.iter().map(|sent| SentView::new(order, sent)).collect(),
            flags: staff.then_some(&order.flags),
            shipping_address: order.shipping_address.as_ref(),
            priority: order.priority,
            due_at: order.due_at,
            expected_at: None,
            promised_at: order.promise.map(|promise| promise.promised_at),
            timing: None,
            recovery: None,
            notes: order.notes.as_deref(),
            internal_notes: order.internal_notes.as_deref().filter(|_| staff),
            paid_at: order.paid_at,
            created_at: order.created_at,
            updated_at: order.updated_at,
            version,
        }
    }
}

/// Payments of an order, filtered for its reader.
struct OrderPayments<'a>(&'a [Payment], OrderReader);

impl Serialize for OrderPayments<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(|payment| {
            let (amount_cents, status) = payment.listed();
            OrderPaymentView {
                id: payment.id,
                amount_cents,
                currency: &payment.currency,
                method: &payment.method,
                status,
                reference: payment.reference.as_deref().filter(|_| self.1 == OrderReader::Staff),
                created_at: payment.created_at,
            }
        }))
    }
}

impl ToSchema for OrderPayments<'_> {
    fn schema() -> Shape {
        list(schema_of::<OrderPaymentView<'_>>())
    }
    fn components(components: &mut Components) {
        components.add::<OrderPaymentView<'_>>();
    }
}

impl<'a> ShipmentView<'a> {
    /// Builds the view of a shipment's shipping details.
    pub fn new(shipment: &'a Shipment) -> Self {
        let Shipment { carrier, tracking_number, estimated_delivery } = shipment;
        Self { carrier, tracking_number, estimated_delivery: Day(estimated_delivery) }
    }
}

/// Response that contains an order read for this response only, or one shared with the order's last commit and other
/// readers.
impl<T: Borrow<Versioned<Order>> + 'static> Viewed for OrderFor<T> {
    type View<'a> = OrderView<'a>;
    fn view(&self) -> Option<OrderView<'_>> {
        let versioned = self.0.borrow();
        let order = versioned.state.as_ref()?;
        let view = OrderView::new(order, &order.ledger.payments, versioned.revision(), self.1);
        let OrderOutlook { expected_at, timing, recovery } = &self.2;
        let recovery = recovery.as_deref().filter(|_| self.1 == OrderReader::Staff).map(RecoveryView::new);
        Some(OrderView { expected_at: *expected_at, timing: *timing, recovery, ..view })
    }
}
