//! How far an order is, and how it travels: what events tell of it.

use serde::{Deserialize, Serialize};

use crate::domain::time::Timestamp;

/// The status of an order; the table of transitions is in [`crate::domain::order`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderStatus {
    /// A customer's draft: not placed, no event sent but `order.draft`.
    Draft,
    /// Placed and waiting for payment.
    Created,
    /// Placed; the last payment failed, another may succeed.
    PaymentFailed,
    /// Paid; its jobs are made and none was seen printing yet.
    Paid,
    /// At least one job was seen printing.
    Printing,
    /// Made: no job is unfinished or failed.
    Ready,
    /// Handed to the carrier.
    Shipped,
    /// Cancelled; its jobs are cancelled or wait for their printers to confirm.
    Cancelled,
    /// The whole payment was given back.
    Refunded,
}

/// How a shipment travels.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shipment {
    /// Name of the carrier.
    pub carrier: String,
    /// The carrier's tracking number.
    pub tracking_number: String,
    /// Expected day of delivery, `YYYY-MM-DD`.
    pub estimated_delivery: String,
}

/// Parts of one line in a shipment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SentLine {
    /// Index of the order's line, from 0.
    pub line: u32,
    /// Number of its parts, at least 1.
    pub quantity: u32,
}

/// A shipment that has left.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SentShipment {
    /// Counts from 1 within the order.
    pub number: u32,
    /// Carrier, tracking number and estimated day of delivery.
    #[serde(flatten)]
    pub shipment: Shipment,
    /// What is in it.
    pub lines: Vec<SentLine>,
    /// When staff recorded that it left.
    pub shipped_at: Timestamp,
}
