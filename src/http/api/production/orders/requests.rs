//! Query parameters and bodies of order requests.

use api_derive::Request;
use serde_json::json;

use super::list::OrderSort;
use super::site::Site;
use domain::bounds::{MAX_CENTS, MAX_QUANTITY};
use domain::id::Id;
use domain::invoice::InvoiceCommand;
use domain::order::{Address, MAX_LINES, OrderCommand, OrderKind, OrderStatus, PICKUP, SentLine, Shipment};
use domain::refusal::Faults;
use domain::time::Timestamp;
use domain::timing::Timing;
use http::page::PageQuery;
use http::wire::{CalendarDay, Filled, ItemsWithin, MaxChars, ONE_LINE, Optional, Within};

/// Range of order and job priorities.
pub const PRIORITY: Within<u8> = Within(0..=9);

/// Maximum index of an order line.
const MAX_LINE: u32 = MAX_LINES as u32 - 1;

/// Query parameters for listing orders.
#[derive(Request, Debug)]
pub struct OrderQuery {
    /// Return only orders with the given status.
    pub(super) status: Option<OrderStatus>,
    /// Return only orders of the given kind.
    pub(super) kind: Option<OrderKind>,
    /// Return only orders that belong to the given site.
    pub(super) site: Option<Site>,
    /// Return only orders with the given flag, such as `refund_due`. For staff only, because customers cannot see
    /// flags.
    #[api(MaxChars(50))]
    pub(super) flag: Option<String>,
    /// `true`: return only orders that need an operator's attention. `false`: return only orders that do not.
    pub(super) flagged: Option<bool>,
    /// Return only orders from the customer with the given email address.
    pub(super) customer_email: Option<String>,
    /// Alias of `customerEmail`, for older clients.
    pub(super) email: Option<String>,
    /// Return only orders with the given number, or whose customer's email address contains the given text.
    pub(super) q: Option<String>,
    /// Return only orders with the given timing.
    pub(super) timing: Option<Timing>,
    /// Sort order of the list.
    pub(super) sort: Option<OrderSort>,
    #[api(flatten)]
    pub(super) page: PageQuery,
}

/// Changes to an order. Omitted fields are left unchanged.
#[derive(Request, Debug)]
#[api(name = "OrderChange", example = json!({
    "priority": 8, "dueAt": "2030-11-20T17:00:00.000Z",
    "shippingAddress": {"line1": "1 Main Street", "city": "Springfield", "postalCode": "62701", "country": "US"},
}))]
pub struct OrderPatch {
    /// Notes visible to the customer.
    #[api(MaxChars(1000))]
    pub(super) notes: Optional<Option<String>>,
    /// Internal notes, not visible to customers.
    #[api(MaxChars(1000))]
    pub(super) internal_notes: Optional<Option<String>>,
    /// Priority; jobs with a higher number are printed first.
    #[api(PRIORITY)]
    pub(super) priority: Optional<u8>,
    /// Time by which the order should be completed.
    pub(super) due_at: Optional<Option<Timestamp>>,
    /// Shipping address; can only be changed before the order is paid.
    pub(super) shipping_address: Optional<Option<Address>>,
}

/// Options for cancelling an order.
#[derive(Request, Debug)]
#[api(example = json!({}))]
pub struct OrderCancellation {
    /// `true` to cancel the order without waiting for printers that do not respond. For staff only; ignored for
    /// customers.
    #[api(default = false)]
    pub(super) force: bool,
}

/// Payment recorded by an operator.
#[derive(Request, Debug)]
#[api(example = json!({"method": "cash"}))]
pub struct ManualPayment {
    /// Amount, in minor units of the order's currency; defaults to the full amount due. If it is smaller, the order
    /// remains unpaid.
    #[api(Within(1..=MAX_CENTS))]
    pub(super) amount_cents: Optional<i64>,
    /// Payment method, such as `cash`. `processor` and `dispute` are reserved for payments reported by
    /// the payment processor.
    #[api(Filled, ONE_LINE, MaxChars(50))]
    pub(super) method: String,
    /// Operator's own reference.
    #[api(ONE_LINE, MaxChars(200))]
    pub(super) reference: Option<String>,
}

impl ManualPayment {
    /// Returns the amount, method and reference.
    pub fn parts(self) -> (Option<i64>, String, Option<String>) {
        (self.amount_cents.present(), self.method, self.reference)
    }
    /// Converts the payment into a command for an order.
    pub fn order_command(self) -> OrderCommand {
        let (amount_cents, method, reference) = self.parts();
        OrderCommand::MarkPaid { amount_cents, method, reference }
    }
}

/// Refund recorded by an operator.
#[derive(Request, Debug)]
#[api(example = json!({"paymentId": "01890a5d-ac96-774b-bcce-b302099a8066"}))]
pub struct ManualRefund {
    /// ID of the payment to refund; required for a payment that was recorded manually.
    pub(super) payment_id: Optional<Id>,
    /// Amount, in minor units of the payment's currency; defaults to the amount not yet refunded.
    #[api(Within(1..=MAX_CENTS))]
    pub(super) amount_cents: Optional<i64>,
    /// Refund method, such as `bank_transfer`, if it differs from the payment method. For a payment made through the
    /// payment processor, set it only if the processor's refund failed or was rejected and the money was returned by
    /// other means; the processor is then not called.
    #[api(Filled, ONE_LINE, MaxChars(50))]
    pub(super) method: Optional<String>,
}

impl ManualRefund {
    /// Converts the refund into a command for an order.
    pub fn order_command(self, at_processor: bool) -> OrderCommand {
        let (payment, amount_cents) = (self.payment_id.present(), self.amount_cents.present());
        match self.method.present() {
            Some(method) => OrderCommand::RefundOtherwise { payment, amount_cents, method },
            None => OrderCommand::Refund { payment, amount_cents, at_processor },
        }
    }
    /// Converts the refund into a command for an invoice without an order.
    pub fn invoice_command(self, at_processor: bool) -> InvoiceCommand {
        let (payment, amount_cents) = (self.payment_id.present(), self.amount_cents.present());
        match self.method.present() {
            Some(method) => InvoiceCommand::RefundOtherwise { payment, amount_cents, method },
            None => InvoiceCommand::Refund { payment, amount_cents, at_processor },
        }
    }
}

/// Parts of an order line to ship.
#[derive(Request, Debug, Clone)]
#[api(example = json!({"line": 0, "quantity": 2}))]
pub struct ShippedLine {
    /// Index of the order line, starting at 0.
    #[api(Within(0..=MAX_LINE))]
    line: u32,
    /// Number of good parts to ship.
    #[api(Within(1..=MAX_QUANTITY))]
    quantity: u32,
}

/// Shipment to record.
#[derive(Request, Debug)]
#[api(partial = GivenShipment, check = check_shipment, example = json!({
    "carrier": "DHL", "trackingNumber": "00340434292135100186", "estimatedDelivery": "2026-11-24",
}))]
pub struct NewShipment {
    /// Carrier; `pickup` if the customer collects the order.
    #[api(Filled, ONE_LINE, MaxChars(100))]
    carrier: String,
    /// Carrier's tracking number. Required unless the carrier is `pickup`.
    #[api(ONE_LINE, MaxChars(100))]
    tracking_number: Optional<String>,
    /// Estimated delivery date. Required unless the carrier is `pickup`, for which it is always today.
    #[api(CalendarDay)]
    estimated_delivery: Optional<String>,
    /// Parts to ship. Defaults to all good parts that have not been shipped; only a ready order can be shipped without
    /// a list of parts.
    #[api(ItemsWithin(1..=MAX_LINES))]
    lines: Optional<Vec<ShippedLine>>,
    /// `true` if the customer accepts fewer parts than were ordered.
    #[api(default = false)]
    accept_short: bool,
}

/// Checks that a shipment by a carrier has a tracking number and a delivery date; a pickup needs neither.
fn check_shipment(shipment: &GivenShipment, faults: &mut Faults) {
    if matches!(&shipment.carrier, Optional::Present(carrier) if carrier.trim().eq_ignore_ascii_case(PICKUP)) {
        return;
    }
    let missing = [
        ("trackingNumber", shipment.tracking_number.is_present()),
        ("estimatedDelivery", shipment.estimated_delivery.is_present()),
    ];
    for (path, present) in missing {
        let is_named = present || faults.names(path);
        faults.check(is_named, path, "is required, unless the carrier is pickup");
    }
}

impl From<NewShipment> for OrderCommand {
    fn from(new: NewShipment) -> Self {
        let NewShipment { carrier, tracking_number, estimated_delivery, lines, accept_short } = new;
        let [tracking_number, estimated_delivery] =
            [tracking_number, estimated_delivery].map(|text| text.present().unwrap_or_default());
        let shipment = Shipment { carrier, tracking_number, estimated_delivery };
        let sent = |ShippedLine { line, quantity }| SentLine { line, quantity };
        Self::Ship { shipment, lines: lines.present().map(|lines| lines.into_iter().map(sent).collect()), accept_short }
    }
}
