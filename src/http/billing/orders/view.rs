//! An order as its customer sees it: without what is between the staff.

use std::sync::Arc;

use api_derive::Response;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::domain::aggregate::Versioned;
use crate::domain::event::Numbered;
use crate::domain::id::Id;
use crate::domain::order::{Address, Order, OrderKind, OrderStatus};
use crate::domain::time::Timestamp;
use crate::http::access::Caller;
use crate::http::error::ApiError;
use crate::http::openapi::shape::Shape;
use crate::http::production::orders::site::Site;
use crate::http::production::orders::{CUSTOMER_STEPS, Lines, OrderNumber, ShipmentView, StepFor};
use crate::http::wire::{AsView, Components, ToSchema};
use crate::store::queries::{Page, Queries};
use crate::store::rows::LoadError;

/// The id that examples use for an order.
pub const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8065";

/// Most steps of a timeline that one answer shows.
const MAX_STEPS: u64 = 200;

/// An order in a list.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderSummary", example = json!({
    "id": EXAMPLE_ID, "number": "ORD-000123", "kind": "catalog", "status": "draft", "site": "support",
    "totalCents": 2500, "currency": "usd", "itemCount": 2, "createdAt": "2026-11-02T10:00:00.000Z",
    "updatedAt": "2026-11-02T10:00:00.000Z",
}))]
pub(super) struct OrderSummary {
    /// Id of the order.
    id: Id,
    /// The number that people use.
    number: OrderNumber,
    /// How the order came about.
    kind: OrderKind,
    /// How far the order is.
    status: OrderStatus,
    /// The site that it belongs to.
    site: Site,
    /// What is to be paid, in minor units of the currency.
    total_cents: i64,
    /// ISO 4217, in lower case.
    currency: String,
    /// How many pieces were ordered; a kit is one piece.
    item_count: u64,
    /// When it was drafted or placed.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
}

impl OrderSummary {
    /// The order as lists show it.
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

/// How far an order is paid.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderPayment")]
pub(super) struct PaymentState {
    /// What was paid and not given back, in minor units of the order's currency.
    paid_cents: i64,
    /// What is still to be paid; 0 for an order that takes no payment any more.
    due_cents: i64,
    /// When it was paid in full; null before.
    paid_at: Option<Timestamp>,
}

/// An order with all that its customer may know of it.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderDetail", example = json!({
    "id": EXAMPLE_ID, "number": "ORD-000123", "kind": "catalog", "status": "paid", "site": "support",
    "totalCents": 2500, "currency": "usd", "itemCount": 2, "createdAt": "2026-11-02T10:00:00.000Z",
    "updatedAt": "2026-11-02T10:05:00.000Z",
    "lines": [{
        "skuId": crate::http::production::skus::EXAMPLE_ID, "quantity": 2, "unitPriceCents": 1250,
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
    /// What was ordered, with how far each line is.
    lines: OwnLines,
    /// Sum of the lines, in minor units of the currency.
    subtotal_cents: i64,
    /// Charge for shipping.
    shipping_cents: i64,
    /// Tax on lines and shipping.
    tax_cents: i64,
    /// What is taken off, in minor units of the currency.
    discount_cents: i64,
    /// What is paid beyond the other amounts, in minor units: prices that another shop asked with their tax in them are
    /// no whole net amounts. 0 for what is sold here.
    rounding_cents: i64,
    /// How far it is paid.
    payment: PaymentState,
    /// How it travels, once it is shipped.
    shipment: OwnShipment,
    /// Where it goes; null while none is known.
    shipping_address: Option<Address>,
    /// The customer's notes.
    notes: Option<String>,
    /// When all of it is expected to be printed, by the whole queue; null when it is, or nobody can tell.
    expected_at: Option<Timestamp>,
    /// When it was promised to be ready, after its payment; it never moves.
    promised_at: Option<Timestamp>,
    /// What happened to it, oldest first.
    timeline: Vec<AsView<StepFor>>,
}

impl OrderDetail {
    /// The order with when it is expected, and with its steps.
    pub(super) fn new(
        state: Arc<Versioned<Order>>,
        expected_at: Option<Timestamp>,
        timeline: Vec<AsView<StepFor>>,
    ) -> Result<Self, ApiError> {
        let order = state.state.as_ref().ok_or_else(|| ApiError::internal("an order without a state was found"))?;
        Ok(Self {
            summary: OrderSummary::new(order),
            subtotal_cents: order.subtotal_cents,
            shipping_cents: order.shipping_cents,
            tax_cents: order.tax_cents,
            discount_cents: order.discount_cents,
            rounding_cents: order.rounding_cents(),
            payment: PaymentState {
                paid_cents: order.kept_cents,
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

/// The lines of an order that the answer shares with whoever else reads it.
struct OwnLines(Arc<Versioned<Order>>);

impl Serialize for OwnLines {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.state.as_ref().map(Lines).serialize(to)
    }
}

impl ToSchema for OwnLines {
    fn schema() -> Shape {
        Lines::schema()
    }
    fn components(components: &mut Components) {
        Lines::components(components);
    }
}

/// How such an order travels, if it does.
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

/// The steps of an order that its customer sees.
pub(super) async fn timeline(queries: &Queries, id: Id, who: &Caller) -> Result<Vec<AsView<StepFor>>, ApiError> {
    Ok(for_reader(steps(queries, id).await?, who))
}

/// Returns the steps as this reader may see them.
pub(super) fn for_reader(steps: Vec<Numbered>, who: &Caller) -> Vec<AsView<StepFor>> {
    steps.into_iter().map(|step| AsView(StepFor::new(step, who))).collect()
}

/// The events behind them, as they were recorded.
pub(crate) async fn steps(queries: &Queries, id: Id) -> Result<Vec<Numbered>, LoadError> {
    let page = Page { limit: MAX_STEPS, offset: 0 };
    Ok(queries.timeline(id, Some(&CUSTOMER_STEPS[..]), page).await?.0)
}
