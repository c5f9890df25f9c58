//! What requests about an order say.

use api_derive::Request;
use serde_json::json;

use super::site::Site;
use crate::domain::bounds::{MAX_CENTS, MAX_QUANTITY};
use crate::domain::id::Id;
use crate::domain::invoice::InvoiceCommand;
use crate::domain::order::{Address, MAX_LINES, OrderCommand, OrderKind, OrderStatus, PICKUP, SentLine, Shipment};
use crate::domain::refusal::Faults;
use crate::domain::time::Timestamp;
use crate::http::page::PageQuery;
use crate::http::wire::{CalendarDay, Filled, ItemsWithin, MaxChars, ONE_LINE, Optional, Within};

/// Priorities of orders and jobs.
pub const PRIORITY: Within<u8> = Within(0..=9);

/// Highest index of a line.
const MAX_LINE: u32 = MAX_LINES as u32 - 1;

/// Which orders are listed.
#[derive(Request, Debug)]
pub struct OrderQuery {
    /// Only orders with this status.
    pub(super) status: Option<OrderStatus>,
    /// Only orders of this kind.
    pub(super) kind: Option<OrderKind>,
    /// Only orders of this site.
    pub(super) site: Option<Site>,
    /// Orders with this flag, such as `refund_due`. Of staff only; customers' orders show none.
    #[api(MaxChars(50))]
    pub(super) flag: Option<String>,
    /// `true`: only orders that a person must look at. `false`: only the others.
    pub(super) flagged: Option<bool>,
    /// Only orders of the customer with this e-mail address.
    pub(super) customer_email: Option<String>,
    /// Other name of `customerEmail`, for older clients.
    pub(super) email: Option<String>,
    /// Only orders with this number, or with this text in the customer's e-mail address.
    pub(super) q: Option<String>,
    #[api(flatten)]
    pub(super) page: PageQuery,
}

/// Members that are left out stay as they are.
#[derive(Request, Debug)]
#[api(name = "OrderChange", example = json!({
    "priority": 8, "dueAt": "2030-11-20T17:00:00.000Z",
    "shippingAddress": {"line1": "1 Main Street", "city": "Springfield", "postalCode": "62701", "country": "US"},
}))]
pub struct OrderPatch {
    /// Notes that the customer reads.
    #[api(MaxChars(1000))]
    pub(super) notes: Optional<Option<String>>,
    /// Notes of the staff, which customers do not read.
    #[api(MaxChars(1000))]
    pub(super) internal_notes: Optional<Option<String>>,
    /// Jobs with a higher number are printed first.
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
    /// In minor units of the order's currency; all that is due when absent. Less leaves the order unpaid.
    #[api(Within(1..=MAX_CENTS))]
    pub(super) amount_cents: Optional<i64>,
    /// A word for how it was paid, such as `cash`; `processor` and `dispute` are kept for what the payment processor
    /// reports.
    #[api(Filled, ONE_LINE, MaxChars(50))]
    pub(super) method: String,
    /// The operator's own reference.
    #[api(ONE_LINE, MaxChars(200))]
    pub(super) reference: Option<String>,
}

impl ManualPayment {
    /// Amount, method and reference.
    pub fn parts(self) -> (Option<i64>, String, Option<String>) {
        (self.amount_cents.present(), self.method, self.reference)
    }
    /// What it asks of an order.
    pub fn order_command(self) -> OrderCommand {
        let (amount_cents, method, reference) = self.parts();
        OrderCommand::MarkPaid { amount_cents, method, reference }
    }
}

/// Money that an operator gives back.
#[derive(Request, Debug)]
#[api(example = json!({"paymentId": "01890a5d-ac96-774b-bcce-b302099a8066"}))]
pub struct ManualRefund {
    /// The payment that goes back; required for one that was recorded by hand.
    pub(super) payment_id: Optional<Id>,
    /// In minor units of the payment's currency; all that is left when absent.
    #[api(Within(1..=MAX_CENTS))]
    pub(super) amount_cents: Optional<i64>,
    /// A word for how it was given back, such as `bank_transfer`, where that is not how it came. Of a payment by the
    /// payment processor only what came back of a refund that failed, or that it refused; nothing is asked of it then.
    #[api(Filled, ONE_LINE, MaxChars(50))]
    pub(super) method: Optional<String>,
}

impl ManualRefund {
    /// What it asks of an order.
    pub fn order_command(self, at_processor: bool) -> OrderCommand {
        let (payment, amount_cents) = (self.payment_id.present(), self.amount_cents.present());
        match self.method.present() {
            Some(method) => OrderCommand::RefundOtherwise { payment, amount_cents, method },
            None => OrderCommand::Refund { payment, amount_cents, at_processor },
        }
    }
    /// What it asks of an invoice without an order.
    pub fn invoice_command(self, at_processor: bool) -> InvoiceCommand {
        let (payment, amount_cents) = (self.payment_id.present(), self.amount_cents.present());
        match self.method.present() {
            Some(method) => InvoiceCommand::RefundOtherwise { payment, amount_cents, method },
            None => InvoiceCommand::Refund { payment, amount_cents, at_processor },
        }
    }
}

/// Parts of a line that leave.
#[derive(Request, Debug, Clone)]
#[api(example = json!({"line": 0, "quantity": 2}))]
pub struct ShippedLine {
    /// Index of the order's line, from 0.
    #[api(Within(0..=MAX_LINE))]
    line: u32,
    /// How many good parts of it leave.
    #[api(Within(1..=MAX_QUANTITY))]
    quantity: u32,
}

/// How an order is shipped.
#[derive(Request, Debug)]
#[api(partial = GivenShipment, check = check_shipment, example = json!({
    "carrier": "DHL", "trackingNumber": "00340434292135100186", "estimatedDelivery": "2026-11-24",
}))]
pub struct NewShipment {
    /// `pickup` when the customer comes for it.
    #[api(Filled, ONE_LINE, MaxChars(100))]
    carrier: String,
    /// Required, unless it is picked up.
    #[api(ONE_LINE, MaxChars(100))]
    tracking_number: Optional<String>,
    /// Required, unless it is picked up, which is today.
    #[api(CalendarDay)]
    estimated_delivery: Optional<String>,
    /// What leaves; all that is good and has not left when absent, which only a ready order allows.
    #[api(ItemsWithin(1..=MAX_LINES))]
    lines: Optional<Vec<ShippedLine>>,
    /// The customer takes fewer parts than were ordered.
    #[api(default = false)]
    accept_short: bool,
}

/// What a carrier takes needs a number and a date; what is picked up needs neither.
fn check_shipment(given: &GivenShipment, faults: &mut Faults) {
    if matches!(&given.carrier, Optional::Present(carrier) if carrier.trim().eq_ignore_ascii_case(PICKUP)) {
        return;
    }
    let missing = [
        ("trackingNumber", given.tracking_number.is_present()),
        ("estimatedDelivery", given.estimated_delivery.is_present()),
    ];
    for (path, present) in missing {
        let known = present || faults.names(path);
        faults.check(known, path, "is required, unless the carrier is pickup");
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
