//! Payload of partial shipment events.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::{EventData, EventKind, OrderData, order_example};
use crate::order_status::SentShipment;

/// Data for an event about a shipment that leaves part of the order unshipped.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderPartShippedEventData", example = order_example(json!({
    "status": "printing", "shipmentNumber": 1, "trackingNumber": "1Z999", "carrier": "UPS",
    "estimatedDelivery": "2026-11-05", "parts": 3,
})))]
pub struct OrderPartShippedData {
    #[serde(flatten)]
    order: OrderData,
    /// Shipment number, starting at 1 within the order.
    shipment_number: u32,
    tracking_number: String,
    carrier: String,
    /// Estimated day of arrival as `YYYY-MM-DD`.
    estimated_delivery: String,
    /// Number of parts in the shipment.
    parts: u64,
}
carried_by! { OrderPartShippedData: "order.part_shipped", "Some parts of an order were shipped, but not all."; }

impl OrderPartShippedData {
    /// Creates the payload for the given shipment.
    pub fn new(order: OrderData, sent: &SentShipment) -> Self {
        let SentShipment { number, shipment, lines, .. } = sent.clone();
        Self {
            order,
            shipment_number: number,
            tracking_number: shipment.tracking_number,
            carrier: shipment.carrier,
            estimated_delivery: shipment.estimated_delivery,
            parts: lines.iter().map(|line| u64::from(line.quantity)).sum(),
        }
    }
}
