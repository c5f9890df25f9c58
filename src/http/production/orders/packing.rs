//! Shipments as they are shown, and the packing list of one: what a person puts into the parcel, and where it goes.

use api_derive::Response;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use serde::Serialize;
use serde_json::json;

use super::view::{OrderNumber, ShipmentView};
use super::{OrderHandles, visible};
use crate::domain::id::Id;
use crate::domain::order::{Address, Order, SentLine, SentShipment, Shipment};
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use crate::http::access::Caller;
use crate::http::error::ApiError;
use crate::http::path_id::PathId;
use crate::http::production::jobs::JobNumber;
use crate::http::reply::Plain;
use crate::http::wire::Argument;

/// A shipment that has left.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SentShipment", example = json!({
    "number": 1, "carrier": "UPS", "trackingNumber": "1Z999", "estimatedDelivery": "2026-11-24",
    "shippedAt": "2026-11-20T15:00:00.000Z", "lines": [SentLineView::example()],
}))]
pub(super) struct SentView<'a> {
    /// Counts from 1 within the order.
    number: u32,
    #[serde(flatten)]
    shipment: ShipmentView<'a>,
    /// When staff recorded that it left.
    shipped_at: Timestamp,
    /// The parts in it, by line of the order.
    lines: Vec<SentLineView>,
}

/// Parts of a line in a shipment.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SentLine", example = json!({
    "line": 0, "skuId": crate::http::production::skus::EXAMPLE_ID, "description": "Vase", "quantity": 2,
}))]
struct SentLineView {
    /// Index of the order's line, from 0.
    line: u32,
    /// Id of the SKU of these parts.
    sku_id: Id,
    /// The product's name when it was ordered.
    description: String,
    /// How many parts of the line are in the shipment.
    quantity: u32,
}

/// What is packed into a shipment.
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
    /// The order that the shipment belongs to.
    order_id: Id,
    /// The number of the order that people use.
    order_number: OrderNumber,
    /// Address of the customer; null where none was given.
    customer_email: Option<String>,
    /// Where the parcel goes; null for orders without an address.
    shipping_address: Option<Address>,
    /// Notes that the customer wrote.
    notes: Option<String>,
    /// Number of the shipment; counts from 1 within the order.
    number: u32,
    /// Who carries it; `pickup` if the customer fetches it.
    carrier: String,
    /// Number under which the carrier tracks it.
    tracking_number: String,
    /// The day of arrival as `YYYY-MM-DD`.
    estimated_delivery: String,
    /// When staff recorded that it left.
    shipped_at: Timestamp,
    /// The parts in it, by line of the order.
    lines: Vec<SentLineView>,
    /// The jobs whose prints the parts came from, oldest first.
    prints: Vec<PackedPrint>,
    /// With this shipment all that was ordered has left; false once parts of it were rejected afterwards.
    complete: bool,
}

/// Parts of a job in a shipment.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(example = json!({
    "jobId": crate::http::production::jobs::EXAMPLE_ID, "jobNumber": "JOB-000245", "line": 0, "quantity": 2,
}))]
struct PackedPrint {
    /// The job whose print the parts came from.
    job_id: Id,
    /// The number of the job that people use.
    job_number: JobNumber,
    /// Index of the order's line, from 0.
    line: u32,
    /// How many of its parts are in the shipment.
    quantity: u32,
}

fn lines(order: &Order, sent: &SentShipment) -> Vec<SentLineView> {
    let shown = sent.lines.iter().filter_map(|SentLine { line, quantity }| {
        let of_line = order.lines.get(*line as usize)?;
        let (sku_id, description) = (of_line.sku_id, of_line.description.clone());
        Some(SentLineView { line: *line, sku_id, description, quantity: *quantity })
    });
    shown.collect()
}

fn prints(order: &Order, shipment: u32) -> Vec<PackedPrint> {
    let shown = order.prints_in(shipment).into_iter().map(|(job, quantity)| PackedPrint {
        job_id: job.id,
        job_number: JobNumber(job.number),
        line: job.line,
        quantity,
    });
    shown.collect()
}

impl<'a> SentView<'a> {
    /// A shipment of this order.
    pub(super) fn new(order: &'a Order, sent: &'a SentShipment) -> Self {
        Self {
            number: sent.number,
            shipment: ShipmentView::new(&sent.shipment),
            shipped_at: sent.shipped_at,
            lines: lines(order, sent),
        }
    }
}

/// The number of a shipment, from the path.
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

/// Answers `GET /api/orders/{id}/shipments/{number}/packing-list`: what is in one shipment.
pub(super) async fn show(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    ShipmentNumber(number): ShipmentNumber,
    who: Caller,
) -> Result<Plain<PackingList>, ApiError> {
    let state = visible(&app, &who, id).await?;
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
