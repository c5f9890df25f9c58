//! What requests about an order say.

use api_derive::Request;
use serde_json::json;

use super::site::Site;
use crate::domain::bounds::MAX_CENTS;
use crate::domain::order::{Address, OrderKind, OrderStatus, Shipment};
use crate::domain::time::Timestamp;
use crate::http::page::PageQuery;
use crate::http::wire::{CalendarDay, Filled, MaxChars, Optional, Within};

/// Priorities of orders and jobs.
pub const PRIORITY: Within<u8> = Within(0..=9);

/// Which orders are listed.
#[derive(Request, Debug)]
pub struct OrderQuery {
    /// Orders that stand so.
    pub(super) status: Option<OrderStatus>,
    /// Orders of this kind.
    pub(super) kind: Option<OrderKind>,
    /// Orders of this site.
    pub(super) site: Option<Site>,
    /// Orders of the customer with this e-mail address.
    pub(super) customer_email: Option<String>,
    /// As `customerEmail`.
    pub(super) email: Option<String>,
    /// Orders with this number, or with this in the customer's e-mail address.
    pub(super) q: Option<String>,
    #[api(flatten)]
    pub(super) page: PageQuery,
}

/// Members that are left out stay as they are.
#[derive(Request, Debug)]
#[api(example = json!({
    "priority": 8, "dueAt": "2026-11-20T17:00:00.000Z",
    "shippingAddress": {"line1": "1 Main Street", "city": "Springfield", "postalCode": "62701", "country": "US"},
}))]
pub struct OrderChange {
    #[api(MaxChars(1000))]
    pub(super) notes: Optional<Option<String>>,
    /// Higher first.
    #[api(PRIORITY)]
    pub(super) priority: Optional<u8>,
    /// When it is wanted.
    pub(super) due_at: Optional<Option<Timestamp>>,
    /// Where it is sent to; only before it is paid.
    pub(super) shipping_address: Optional<Option<Address>>,
}

/// How an order is cancelled.
#[derive(Request, Debug)]
#[api(example = json!({}))]
pub struct OrderCancellation {
    /// Gives up printers that do not answer. Of staff only; from customers it has no effect.
    #[api(default = false)]
    pub(super) force: bool,
}

/// A payment that an operator records.
#[derive(Request, Debug)]
#[api(example = json!({"method": "cash"}))]
pub struct ManualPayment {
    /// In minor units of the order's currency; all that is due when absent.
    #[api(Within(1..=MAX_CENTS))]
    pub(super) amount_cents: Optional<i64>,
    /// A word for how it was paid.
    #[api(Filled, MaxChars(50))]
    pub(super) method: String,
    /// The operator's own reference.
    #[api(MaxChars(200))]
    pub(super) reference: Option<String>,
}

/// How an order is shipped.
#[derive(Request, Debug)]
#[api(fields = Shipment, example = json!({
    "carrier": "DHL", "trackingNumber": "00340434292135100186", "estimatedDelivery": "2026-11-24",
}))]
pub struct NewShipment {
    #[api(Filled, MaxChars(100))]
    carrier: String,
    #[api(Filled, MaxChars(100))]
    tracking_number: String,
    #[api(CalendarDay)]
    estimated_delivery: String,
}
