//! Status and shipping details of an order, as reported by events.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Status of an order; the transition table is in [`crate::order`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderStatus {
    /// Draft by a customer: not placed, and no event has been sent except `order.draft`.
    Draft,
    /// Placed and waiting for payment.
    Created,
    /// Placed; the last payment failed, but a further attempt may succeed.
    PaymentFailed,
    /// Paid; its jobs have been created, but none has been observed printing yet.
    Paid,
    /// At least one job has been observed printing.
    Printing,
    /// Production is complete: every job is finished, and none has failed.
    Ready,
    /// Handed to the carrier.
    Shipped,
    /// Cancelled; its jobs are cancelled or waiting for their printers to confirm.
    Cancelled,
    /// All payments have been refunded.
    Refunded,
}

/// Shipping details.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shipment {
    /// Name of the carrier.
    pub carrier: String,
    /// The carrier's tracking number.
    pub tracking_number: String,
    /// Expected delivery date, `YYYY-MM-DD`.
    pub estimated_delivery: String,
}

/// Parts of an order line in a shipment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SentLine {
    /// Index of the order line, starting at 0.
    pub line: u32,
    /// Number of parts from the line in the shipment, at least 1.
    pub quantity: u32,
}

/// Shipment that has been sent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SentShipment {
    /// Sequence number within the order, starting at 1.
    pub number: u32,
    /// Carrier, tracking number and estimated delivery date.
    #[serde(flatten)]
    pub shipment: Shipment,
    /// Contents of the shipment.
    pub lines: Vec<SentLine>,
    /// Time at which staff recorded that the shipment was sent.
    pub shipped_at: Timestamp,
}
