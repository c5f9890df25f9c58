//! Customer's view of an order, without information that is internal to staff.

use std::sync::Arc;

use api_derive::Response;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::production::orders::site::Site;
use crate::production::orders::{CUSTOMER_STEPS, OrderLines, OrderNumber, ShipmentView, StepFor};
use domain::aggregate::Versioned;
use domain::event::NumberedEvent;
use domain::id::Id;
use domain::order::{Address, Order, OrderKind, OrderStatus};
use domain::time::Timestamp;
use http::access::Caller;
use http::error::ApiError;
use http::openapi::shape::Shape;
use http::wire::{AsView, Components, ToSchema};
use store::queries::{Page, Queries};
use store::rows::LoadError;

/// Order ID used in examples.
pub const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8065";

/// Maximum number of timeline steps in a response.
const MAX_STEPS: u64 = 200;

/// Order in a list.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderSummary", many = "orders", example = json!({
    "id": EXAMPLE_ID, "number": "ORD-000123", "kind": "catalog", "status": "draft", "site": "support",
    "totalCents": 2500, "currency": "usd", "itemCount": 2, "createdAt": "2026-11-02T10:00:00.000Z",
    "updatedAt": "2026-11-02T10:00:00.000Z",
}))]
pub(super) struct OrderSummary {
    /// ID of the order.
    id: Id,
    /// Human-readable order number.
    number: OrderNumber,
    /// Origin of the order.
    kind: OrderKind,
    /// Status of the order.
    status: OrderStatus,
    /// Site that the order belongs to.
    site: Site,
    /// Total amount, in minor units of the currency.
    total_cents: i64,
    /// Three-letter ISO 4217 currency code, in lowercase.
    currency: String,
    /// Number of items ordered. A kit counts as one item.
    item_count: u64,
    /// Time at which the order was drafted or placed.
    created_at: Timestamp,
    /// Time of the last change.
    updated_at: Timestamp,
}

impl OrderSummary {
    /// Builds the list entry of an order.
    pub(super) fn new(order: &Order) -> Self {
        let ordered = order.lines.iter().filter(|line| line.kit_line.is_none());
        Self {
            id: order.id,
            number: OrderNumber(order.number),
            kind: order.kind,
            status: order.status,
            site: Site(order.site.clone()),
            total_cents: order.total_cents,
            currency: order.currency.clone(),
            item_count: ordered.map(|line| u64::from(line.quantity)).sum(),
            created_at: order.created_at,
            updated_at: order.updated_at,
        }
    }
}

/// Payment state of an order.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderPayment")]
pub(super) struct PaymentState {
    /// Amount paid and not refunded, in minor units of the order's currency.
    paid_cents: i64,
    /// Amount still due; 0 for an order that no longer accepts payments.
    due_cents: i64,
    /// Time at which the order was paid in full; null until then.
    paid_at: Option<Timestamp>,
}

/// Order with all details that its customer can see.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderDetail", example = json!({
    "id": EXAMPLE_ID, "number": "ORD-000123", "kind": "catalog", "status": "paid", "site": "support",
    "totalCents": 2500, "currency": "usd", "itemCount": 2, "createdAt": "2026-11-02T10:00:00.000Z",
    "updatedAt": "2026-11-02T10:05:00.000Z",
    "lines": [{
        "skuId": crate::production::skus::EXAMPLE_ID, "quantity": 2, "unitPriceCents": 1250,
        "description": "Vase", "taxRateBps": 0, "kitLine": null, "shipped": 0,
        "jobs": {"total": 2, "completed": 1}, "good": 1, "running": 1, "missing": 0, "cancelled": 0,
    }],
    "subtotalCents": 2500, "shippingCents": 0, "taxCents": 0, "discountCents": 0, "roundingCents": 0,
    "payment": {"paidCents": 2500, "dueCents": 0, "paidAt": "2026-11-02T10:05:00.000Z"}, "shipment": null,
    "shippingAddress": null, "notes": null, "expectedAt": "2026-11-02T12:10:00.000Z",
    "promisedAt": "2026-11-02T12:40:00.000Z", "timeline": [],
}))]
pub(super) struct OrderDetail {
    #[serde(flatten)]
    summary: OrderSummary,
    /// Order lines, with the progress of each.
    lines: OwnLines,
    /// Sum of all line amounts, in minor units of the currency.
    subtotal_cents: i64,
    /// Shipping charge, in minor units of the currency.
    shipping_cents: i64,
    /// Tax on lines and shipping, in minor units of the currency.
    tax_cents: i64,
    /// Discount, in minor units of the currency.
    discount_cents: i64,
    /// Rounding difference included in the total, in minor units. Occurs when another shop's prices include tax and do
    /// not convert to whole net amounts; 0 for direct sales.
    rounding_cents: i64,
    /// Payment state of the order.
    payment: PaymentState,
    /// Shipment of the order; null until the order is shipped.
    shipment: OwnShipment,
    /// Shipping address; null if unknown.
    shipping_address: Option<Address>,
    /// Notes from the customer.
    notes: Option<String>,
    /// Time by which the whole order is expected to be printed, given the current queue. Null if it is already printed
    /// or there is no forecast.
    expected_at: Option<Timestamp>,
    /// Time by which the order was promised to be ready; set on payment and never changed.
    promised_at: Option<Timestamp>,
    /// History of the order, oldest first.
    timeline: Vec<AsView<StepFor>>,
}

impl OrderDetail {
    /// Builds the detailed view of an order with its forecast and timeline.
    pub(super) fn new(
        state: Arc<Versioned<Order>>,
        expected_at: Option<Timestamp>,
        timeline: Vec<AsView<StepFor>>,
    ) -> Result<Self, ApiError> {
        let order = state.state.as_ref().ok_or_else(|| ApiError::internal("found an order without a state"))?;
        Ok(Self {
            summary: OrderSummary::new(order),
            subtotal_cents: order.subtotal_cents,
            shipping_cents: order.shipping_cents,
            tax_cents: order.tax_cents,
            discount_cents: order.discount_cents,
            rounding_cents: order.rounding_cents(),
            payment: PaymentState {
                paid_cents: order.ledger.kept_cents,
                due_cents: order.due_cents(),
                paid_at: order.paid_at,
            },
            shipping_address: order.shipping_address.clone(),
            notes: order.notes.clone(),
            expected_at,
            promised_at: order.promise.map(|promise| promise.promised_at),
            shipment: OwnShipment(state.clone()),
            lines: OwnLines(state),
            timeline,
        })
    }
}

/// Lines of an order, serialized from its shared state without a copy.
struct OwnLines(Arc<Versioned<Order>>);

impl Serialize for OwnLines {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.state.as_ref().map(OrderLines).serialize(to)
    }
}

impl ToSchema for OwnLines {
    fn schema() -> Shape {
        OrderLines::schema()
    }
    fn components(components: &mut Components) {
        OrderLines::components(components);
    }
}

/// Shipment of an order, serialized from its shared state; null if not shipped.
struct OwnShipment(Arc<Versioned<Order>>);

impl Serialize for OwnShipment {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let shipment = self.0.state.as_ref().and_then(|order| order.shipment.as_ref());
        shipment.map(ShipmentView::new).serialize(to)
    }
}

impl ToSchema for OwnShipment {
    fn schema() -> Shape {
        Option::<ShipmentView<'static>>::schema()
    }
    fn components(components: &mut Components) {
        components.add::<ShipmentView<'static>>();
    }
}

/// Returns an order's timeline as its customer sees it.
pub(super) async fn timeline(queries: &Queries, id: Id, who: &Caller) -> Result<Vec<AsView<StepFor>>, ApiError> {
    Ok(for_reader(steps(queries, id).await?, who))
}

/// Returns the steps in the form visible to the given reader.
pub(super) fn for_reader(steps: Vec<NumberedEvent>, who: &Caller) -> Vec<AsView<StepFor>> {
    steps.into_iter().map(|step| AsView(StepFor::new(step, who))).collect()
}

/// Returns the recorded events behind the customer's timeline.
pub async fn steps(queries: &Queries, id: Id) -> Result<Vec<NumberedEvent>, LoadError> {
    let page = Page { limit: MAX_STEPS, offset: 0 };
    Ok(queries.timeline(id, Some(&CUSTOMER_STEPS[..]), page).await?.0)
}
