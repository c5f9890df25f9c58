//! An order as it is shown: borrowed and written at once, since orders are read most. What is the staff's own is left
//! out for customers.

use std::borrow::Borrow;

use api_derive::Response;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::lines::Lines;
use super::packing::SentView;
use super::site::Site;
use crate::domain::aggregate::Versioned;
use crate::domain::id::Id;
use crate::domain::order::{Address, Order, OrderKind, OrderStatus, Payment, RefundAsked, Shipment};
use crate::domain::time::Timestamp;
use crate::http::access::Caller;
use crate::http::openapi::shape::{Shape, date, list, text_like};
use crate::http::wire::{Components, ToSchema, Viewed, readable, schema_of};

readable!(OrderKind);
readable!(OrderStatus);

/// An order. What was ordered keeps the names and prices of that moment.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Order", many = "orders", example = json!({
    "id": super::EXAMPLE_ID, "number": "ORD-000123", "kind": "manual", "status": "paid", "site": "support",
    "customerId": null, "customerEmail": "buyer@example.org",
    "lines": [{
        "skuId": crate::http::production::skus::EXAMPLE_ID, "quantity": 2, "unitPriceCents": 1250, "description": "Vase",
        "taxRateBps": 0, "kitLine": null, "shipped": 0, "jobs": {"total": 2, "completed": 1}, "good": 1, "running": 1, "missing": 0, "cancelled": 0,
    }],
    "currency": "usd", "subtotalCents": 2500, "shippingCents": 0, "taxCents": 0, "discountCents": 0, "roundingCents": 0,
    "totalCents": 2500,
    "keptCents": 2500, "payments": [{
        "id": "01890a5d-ac96-774b-bcce-b302099a8066", "amountCents": 2500, "currency": "usd", "method": "cash",
        "status": "succeeded", "reference": null, "createdAt": "2026-11-02T10:00:00.000Z",
    }],
    "shipment": null, "shipments": [], "flags": [], "shippingAddress": null, "priority": 5, "dueAt": null,
    "expectedAt": "2026-11-02T12:10:00.000Z", "promisedAt": "2026-11-02T12:40:00.000Z", "notes": null,
    "internalNotes": "calls back on Monday", "pendingRefunds": [], "paidAt": "2026-11-02T10:00:00.000Z", "createdAt": "2026-11-02T09:55:00.000Z",
    "updatedAt": "2026-11-02T10:00:00.000Z", "version": 3,
}))]
pub struct OrderView<'a> {
    /// Id of the order.
    id: Id,
    /// The number that people use.
    number: OrderNumber,
    /// How the order came about.
    kind: OrderKind,
    /// How far the order is.
    status: OrderStatus,
    /// The site of the business that it belongs to.
    site: Site<&'a str>,
    /// Id of the customer's record; null where there is none.
    customer_id: Option<Id>,
    /// Address of the customer; null where none was given.
    customer_email: Option<&'a str>,
    /// What was ordered, one line for each SKU.
    lines: Lines<'a>,
    /// Currency of all amounts: ISO 4217, in lower case.
    currency: &'a str,
    /// Sum of the lines, in minor units of the currency.
    subtotal_cents: i64,
    /// Charge for shipping, in minor units of the currency.
    shipping_cents: i64,
    /// Tax on lines and shipping, in minor units of the currency.
    tax_cents: i64,
    /// Discount, in minor units of the currency.
    discount_cents: i64,
    /// What is paid beyond the other amounts, in minor units: prices that another shop asked with their tax in them are
    /// no whole net amounts. 0 for what is sold here.
    rounding_cents: i64,
    /// What is to be paid.
    total_cents: i64,
    /// Payments in this currency less their refunds; the order is paid when this reaches `totalCents`.
    kept_cents: i64,
    /// Payments and refunds, oldest first; empty in lists.
    payments: Payments<'a>,
    /// Refunds that the payment processor was asked for and that are not among the payments yet. For staff only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending_refunds: Option<Vec<PendingRefund>>,
    /// How it travels, once it is shipped: the last of its shipments.
    shipment: Option<ShipmentView<'a>>,
    /// What has left, oldest first.
    shipments: Vec<SentView<'a>>,
    /// What a person must look at: `refund_due`, `amount_mismatch`, `job_failed`, `all_jobs_cancelled`, `short`,
    /// `needs_attention`, `rejected_after_shipping`, `surplus`, `refund_failed`, `disputed`, `dispute_lost`,
    /// `seller_incomplete`. For staff only.
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<&'a [String]>,
    /// Where it goes; null while none is known.
    shipping_address: Option<&'a Address>,
    /// From 0 to 9; jobs with a higher number are printed first.
    priority: u8,
    /// When it is wanted.
    due_at: Option<Timestamp>,
    /// When all its jobs are expected to be printed, by the whole queue; it moves without a new version. Null when they
    /// are, when nobody can tell, and in the answer to a change.
    expected_at: Option<Timestamp>,
    /// When it was promised to be ready, by the first forecast after its payment; it never moves. Four of five promises
    /// are meant to be kept.
    promised_at: Option<Timestamp>,
    /// Notes that the customer wrote and reads.
    notes: Option<&'a str>,
    /// Notes of the staff; absent for customers, and while there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    internal_notes: Option<&'a str>,
    /// When it was paid in full; null before.
    paid_at: Option<Timestamp>,
    /// When it was placed.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
    /// Counts the changes that people made, from 1; also its `ETag`.
    version: i64,
}

/// Who reads an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OrderReader {
    /// A customer's key: what is between the staff is left out.
    Customer,
    /// Staff, who read everything.
    Staff,
}

impl From<&Caller> for OrderReader {
    fn from(who: &Caller) -> Self {
        if who.is_customer() { Self::Customer } else { Self::Staff }
    }
}

/// An order, who reads it, and when it is expected to be printed.
pub struct OrderFor<T>(pub T, pub OrderReader, pub Option<Timestamp>);

/// The number of an order, written as `ORD-000123`.
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

/// A payment, or a refund.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Payment")]
struct PaymentView<'a> {
    /// Id of the payment.
    id: Id,
    /// In minor units of the currency; negative for refunds.
    amount_cents: i64,
    /// Currency of the sum: ISO 4217, in lower case.
    currency: &'a str,
    /// `processor`, or the word that an operator gave for how it was paid.
    method: &'a str,
    /// `succeeded`, `refunded` for money that went back, or `failed` for money that went back and did not arrive.
    status: &'static str,
    /// The processor's payment intent, or the operator's reference; null for customers.
    reference: Option<&'a str>,
    /// When it was recorded.
    created_at: Timestamp,
}

/// A refund that the payment processor was asked for.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PendingRefund")]
pub struct PendingRefund {
    /// Id of the refund while it is under way.
    id: Id,
    /// The payment that goes back.
    payment_id: Id,
    /// In minor units of the payment's currency.
    amount_cents: i64,
    /// When it was asked for.
    asked_at: Timestamp,
    /// Why the processor refused it; null while it has not answered. It is not tried again by itself.
    error: Option<String>,
}

impl PendingRefund {
    /// As an order or invoice shows it.
    pub fn new(asked: &RefundAsked) -> Self {
        let RefundAsked { id, payment_id, amount_cents, asked_at, error, .. } = asked.clone();
        Self { id, payment_id, amount_cents, asked_at, error }
    }
}

/// How an order was shipped.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Shipment")]
pub struct ShipmentView<'a> {
    /// Who carries it; `pickup` if the customer fetches it.
    carrier: &'a str,
    /// Number under which the carrier tracks it.
    tracking_number: &'a str,
    /// The day on which it should arrive.
    estimated_delivery: Day<'a>,
}

/// A day without a time, written `YYYY-MM-DD`.
#[derive(Serialize)]
#[serde(transparent)]
struct Day<'a>(&'a str);

impl ToSchema for Day<'_> {
    fn schema() -> Shape {
        date()
    }
}

impl<'a> OrderView<'a> {
    /// What this reader may see of an order, without what is expected of it.
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
            lines: Lines(order),
            currency: &order.currency,
            subtotal_cents: order.subtotal_cents,
            shipping_cents: order.shipping_cents,
            tax_cents: order.tax_cents,
            discount_cents: order.discount_cents,
            rounding_cents: order.rounding_cents(),
            total_cents: order.total_cents,
            kept_cents: order.kept_cents,
            payments: Payments(payments, reader),
            pending_refunds: staff.then(|| order.at_processor.refunds.iter().map(PendingRefund::new).collect()),
            shipment: order.shipment.as_ref().map(ShipmentView::new),
            shipments: order.shipments.iter().map(|sent| SentView::new(order, sent)).collect(),
            flags: staff.then_some(&order.flags),
            shipping_address: order.shipping_address.as_ref(),
            priority: order.priority,
            due_at: order.due_at,
            expected_at: None,
            promised_at: order.promise.map(|promise| promise.promised_at),
            notes: order.notes.as_deref(),
            internal_notes: order.internal_notes.as_deref().filter(|_| staff),
            paid_at: order.paid_at,
            created_at: order.created_at,
            updated_at: order.updated_at,
            version,
        }
    }
}

/// Payments as an order shows them.
struct Payments<'a>(&'a [Payment], OrderReader);

impl Serialize for Payments<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(|payment| {
            let (amount_cents, status) = payment.listed();
            PaymentView {
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

impl ToSchema for Payments<'_> {
    fn schema() -> Shape {
        list(schema_of::<PaymentView<'_>>())
    }
    fn components(components: &mut Components) {
        components.add::<PaymentView<'_>>();
    }
}

impl<'a> ShipmentView<'a> {
    /// How this shipment travels.
    pub fn new(shipment: &'a Shipment) -> Self {
        let Shipment { carrier, tracking_number, estimated_delivery } = shipment;
        Self { carrier, tracking_number, estimated_delivery: Day(estimated_delivery) }
    }
}

/// An order that was read for this answer, or one that its last commit shares with whoever else reads it.
impl<T: Borrow<Versioned<Order>> + 'static> Viewed for OrderFor<T> {
    type View<'a> = OrderView<'a>;
    fn view(&self) -> Option<OrderView<'_>> {
        let found = self.0.borrow();
        let order = found.state.as_ref()?;
        let view = OrderView::new(order, &order.payments, found.revision(), self.1);
        Some(OrderView { expected_at: self.2, ..view })
    }
}
