//! Shipments as shown in responses, and the packing list of a shipment: the contents and destination of the parcel.

use api_derive::Response;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use serde::Serialize;
use serde_json::json;

use super::view::{OrderNumber, ShipmentView};
use super::{OrderHandles, visible};
use crate::production::jobs::JobNumber;
use domain::id::Id;
use domain::order::{Address, Order, SentLine, SentShipment, Shipment};
use domain::refusal::Refusal;
use domain::time::Timestamp;
use http::access::Caller;
use http::error::ApiError;
use http::handler::Argument;
use http::path_id::PathId;
use http::reply::Plain;

/// Shipment of an order.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SentShipment", example = json!({
    "number": 1, "carrier": "UPS", "trackingNumber": "1Z999", "estimatedDelivery": "2026-11-24",
    "shippedAt": "2026-11-20T15:00:00.000Z", "lines": [SentLineView::example()],
}))]
pub(super) struct SentView<'a> {
    /// Number of the shipment within the order, starting at 1.
    number: u32,
    #[serde(flatten)]
    shipment: ShipmentView<'a>,
    /// Time at which staff recorded the shipment.
    shipped_at: Timestamp,
    /// Parts in the shipment, by order line.
    lines: Vec<SentLineView>,
}

/// Parts of one order line in a shipment.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SentLine", example = json!({
    "line": 0, "skuId": crate::production::skus::EXAMPLE_ID, "description": "Vase", "quantity": 2,
}))]
struct SentLineView {
    /// Index of the order line, starting at 0.
    line: u32,
    /// SKU ID of the parts.
    sku_id: Id,
    /// Name of the product at the time of the order.
    description: String,
    /// Number of parts in the shipment that belong to the order line.
    quantity: u32,
}

/// Packing list of a shipment.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PackingList", example = json!({
    "orderId": super::EXAMPLE_ID, "orderNumber": "ORD-000123", "customerEmail": "buyer@example.org",
    "shippingAddress": {"line1": "1 Main Street", "city": "Springfield", "postalCode": "62701", "country": "US"},
    "notes": null, "number": 1, "carrier": "UPS", "trackingNumber": "1Z999", "estimatedDelivery": "2026-11-24",
    "shippedAt": "2026-11-20T15:00:00.000Z", "lines": [SentLineView::example()], "prints": [PackedPrint::example()],
    "complete": true,
}))]
pub(super) struct PackingList {
    /// Order that the shipment belongs to.
    order_id: Id,
    /// Human-readable number of the order.
    order_number: OrderNumber,
    /// Customer's email address, if known.
    customer_email: Option<String>,
    /// Destination of the parcel; null for an order without an address.
    shipping_address: Option<Address>,
    /// Notes written by the customer.
    notes: Option<String>,
    /// Number of the shipment within the order, starting at 1.
    number: u32,
    /// Carrier; `pickup` if the customer collects the parcel.
    carrier: String,
    /// Carrier's tracking number.
    tracking_number: String,
    /// Estimated delivery date, as `YYYY-MM-DD`.
    estimated_delivery: String,
    /// Time at which staff recorded the shipment.
    shipped_at: Timestamp,
    /// Parts in the shipment, by order line.
    lines: Vec<SentLineView>,
    /// Jobs that printed the parts, oldest first.
    prints: Vec<PackedPrint>,
    /// `true` if this shipment completed the order. Becomes `false` again if shipped parts are rejected.
    complete: bool,
}

/// Parts from one job in a shipment.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(example = json!({
    "jobId": crate::production::jobs::EXAMPLE_ID, "jobNumber": "JOB-000245", "line": 0, "quantity": 2,
}))]
struct PackedPrint {
    /// Job that printed the parts.
    job_id: Id,
    /// Human-readable number of the job.
    job_number: JobNumber,
    /// Index of the order line, starting at 0.
    line: u32,
    /// Number of parts from the job in the shipment.
    quantity: u32,
}

fn lines(order: &Order, sent: &SentShipment) -> Vec<SentLineView> {
    let views = sent.lines.iter().filter_map(|SentLine { line, quantity }| {
        let of_line = order.lines.get(*line as usize)?;
        let (sku_id, description) = (of_line.sku_id, of_line.description.clone());
        Some(SentLineView { line: *line, sku_id, description, quantity: *quantity })
    });
    views.collect()
}

fn prints(order: &Order, shipment: u32) -> Vec<PackedPrint> {
    let views = order.prints_in(shipment).into_iter().map(|(job, quantity)| PackedPrint {
        job_id: job.id,
        job_number: JobNumber(job.number),
        line: job.line,
        quantity,
    });
    views.collect()
}

impl<'a> SentView<'a> {
    /// Builds the view of a shipment of the given order.
    pub(super) fn new(order: &'a Order, sent: &'a SentShipment) -> Self {
        Self {
            number: sent.number,
            shipment: ShipmentView::new(&sent.shipment),
            shipped_at: sent.shipped_at,
            lines: lines(order, sent),
        }
    }
}

/// Number of a shipment, from the request path.
pub(super) struct ShipmentNumber(u32);

impl<S: Send + Sync> FromRequestParts<S> for ShipmentNumber {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let numbers = Path::<(String, u32)>::from_request_parts(parts, state).await;
        let Path((_, number)) = numbers.map_err(|_| Refusal::not_found("shipment"))?;
        Ok(Self(number))
    }
}

impl Argument for ShipmentNumber {}

/// Handles `GET /api/orders/{id}/shipments/{number}/packing-list`: returns a shipment's packing list.
pub(super) async fn show(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    ShipmentNumber(number): ShipmentNumber,
    who: Caller,
) -> Result<Plain<PackingList>, ApiError> {
    let state = visible(&app.orders, &who, id).await?;
    let order = state.state.as_ref().ok_or_else(|| Refusal::not_found("order"))?;
    let at = order.shipments.iter().position(|sent| sent.number == number);
    let at = at.ok_or_else(|| Refusal::not_found("shipment"))?;
    let sent = &order.shipments[at];
    let Shipment { carrier, tracking_number, estimated_delivery } = sent.shipment.clone();
    // As it was when this shipment left, whatever was sent later.
    let then = Order { shipments: order.shipments[..=at].to_vec(), ..order.clone() };
    let mut owed = order.lines.iter().zip(then.shipped_parts());
    Ok(Plain(PackingList {
        order_id: order.id,
        order_number: OrderNumber(order.number),
        customer_email: order.customer_email.clone(),
        shipping_address: order.shipping_address.clone(),
        notes: order.notes.clone(),
        number,
        carrier,
        tracking_number,
        estimated_delivery,
        shipped_at: sent.shipped_at,
        lines: lines(order, sent),
        prints: prints(order, number),
        complete: owed.all(|(line, left)| left >= u64::from(line.quantity)),
    }))
}
