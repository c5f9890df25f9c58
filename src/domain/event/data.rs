//! The `data` of each event: one struct for the events that say the same, with when each of them is sent. Events are
//! made from these structs, and the API's description and the pages at `/docs/events` are made from them too.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::order_status::{OrderStatus, Shipment};
use crate::domain::time::Timestamp;

/// A kind of event and when it is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventKind {
    /// Its name, such as `order.paid`.
    pub name: &'static str,
    /// When it is sent, in a sentence for people.
    pub when: &'static str,
}

/// Implemented by each struct that is the `data` of some kinds of event.
pub trait EventData: Serialize {
    /// The kinds of event that carry it.
    const KINDS: &'static [EventKind];
}

/// Names the kinds of event that carry a struct, each with when it is sent.
macro_rules! carried_by {
    ($data:ident: $($name:literal, $when:literal;)+) => {
        impl EventData for $data {
            const KINDS: &'static [EventKind] = &[$(EventKind { name: $name, when: $when },)+];
        }
    };
}

const ORDER: &str = "01890a5d-ac96-774b-bcce-b302099a8065";
const JOB: &str = "01890a5d-ac96-774b-bcce-b302099a8067";
const PRINTER: &str = "01890a5d-ac96-774b-bcce-b302099a8069";
const MATERIAL: &str = "01890a5d-ac96-774b-bcce-b302099a8061";
const ENDPOINT: &str = "01890a5d-ac96-774b-bcce-b302099a8070";

/// What is told of an order.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderEventData", example = order_example(json!({})))]
pub struct OrderData {
    /// Id of the order.
    pub(crate) order_id: Id,
    /// The number that people see: `ORD-000123`.
    pub(crate) number: String,
    /// The status after the event.
    pub(crate) status: OrderStatus,
    /// In minor units of the currency.
    pub(crate) total_cents: i64,
    /// ISO 4217, in lower case.
    pub(crate) currency: String,
    /// Address of the customer; null where none was given.
    pub(crate) customer_email: Option<String>,
}
carried_by! { OrderData:
    "order.draft", "An order was placed as a draft.";
    "order.created", "An order was placed, or a draft was confirmed.";
    "order.paid", "An order was paid in full; its jobs are made.";
    "order.printing", "The first job of an order has started to print.";
    "order.ready", "All jobs of an order are done, and it can be shipped.";
    "order.cancelled", "An order was cancelled.";
    "order.refunded", "All that was kept of an order's payments was paid back.";
}

fn order_example(more: serde_json::Value) -> serde_json::Value {
    let mut example = json!({
        "orderId": ORDER, "number": "ORD-000123", "status": "paid", "totalCents": 2500, "currency": "usd",
        "customerEmail": "customer@example.org",
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        example[name] = value.clone();
    }
    example
}

/// What is told of an order that was shipped.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderShippedEventData", example = order_example(json!({
    "status": "shipped", "trackingNumber": "1Z999", "carrier": "UPS", "estimatedDelivery": "2026-11-05",
})))]
pub struct OrderShippedData {
    #[serde(flatten)]
    order: OrderData,
    /// Number under which the carrier tracks it; empty where it is picked up.
    tracking_number: String,
    /// Who carries it: `dhl`, `ups`, `pickup`, ...
    carrier: String,
    /// The day of arrival as `YYYY-MM-DD`.
    estimated_delivery: String,
}
carried_by! { OrderShippedData: "order.shipped", "An order was handed to a carrier."; }

impl OrderShippedData {
    /// What is told of this shipment.
    pub fn new(order: OrderData, shipment: &Shipment) -> Self {
        let Shipment { tracking_number, carrier, estimated_delivery, .. } = shipment.clone();
        Self { order, tracking_number, carrier, estimated_delivery }
    }
}

/// What is told of an order that a person must look at.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderFlaggedEventData", example = order_example(json!({
    "flag": "all_jobs_cancelled", "message": "all its jobs were cancelled, so nothing will be made",
})))]
pub struct OrderFlaggedData {
    #[serde(flatten)]
    pub(crate) order: OrderData,
    /// A word for programs.
    pub(crate) flag: String,
    /// The problem in words for people.
    pub(crate) message: String,
}
carried_by! { OrderFlaggedData: "order.flagged", "A person must look at an order."; }

/// What is told of an order whose payment failed.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderPaymentFailedEventData", example = order_example(json!({
    "status": "payment_failed", "error": "the card was declined",
})))]
pub struct OrderPaymentFailedData {
    #[serde(flatten)]
    pub(crate) order: OrderData,
    /// As the payment processor says it.
    pub(crate) error: Option<String>,
}
carried_by! { OrderPaymentFailedData: "order.payment_failed", "The payment processor reports that a payment failed."; }

/// What is told of money that came for an order and does not pay it.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderPaymentEventData", example = order_example(json!({
    "status": "created", "amountCents": 1000, "keptCents": 1000,
})))]
pub struct OrderPaymentData {
    #[serde(flatten)]
    pub(crate) order: OrderData,
    /// What came, in minor units of the currency that it came in.
    pub(crate) amount_cents: i64,
    /// All that is kept so far, in minor units of the order's currency.
    pub(crate) kept_cents: i64,
}
carried_by! { OrderPaymentData:
    "order.payment_recorded", "A part of what is due was paid, or another amount or currency; the order is not paid yet.";
}

/// What is told of a refund.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderRefundEventData", example = order_example(json!({"refundedCents": 500})))]
pub struct OrderRefundData {
    #[serde(flatten)]
    pub(crate) order: OrderData,
    /// Paid back so far of all payments, in minor units of the currency.
    pub(crate) refunded_cents: i64,
}
carried_by! { OrderRefundData: "order.refund_recorded", "The payment processor reports a refund of a part or the whole."; }

/// What is told of a job.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "JobEventData", example = json!({
    "jobId": JOB, "orderId": ORDER, "skuId": "01890a5d-ac96-774b-bcce-b302099a8063", "printerId": PRINTER,
    "error": "the printer stopped: nozzle too hot",
}))]
pub struct JobData {
    /// Id of the job.
    pub(crate) job_id: Id,
    pub(crate) order_id: Id,
    /// Id of the SKU that the job makes.
    pub(crate) sku_id: Id,
    /// The printer that the job is on.
    pub(crate) printer_id: Option<Id>,
    /// Why it failed, waits or did not start.
    pub(crate) error: Option<String>,
}
carried_by! { JobData:
    "job.created", "A job was made that has no file to print yet.";
    "job.validated", "A job can be printed and waits for material.";
    "job.sliced", "Material is reserved for a job; it waits for a printer.";
    "job.blocked", "A job cannot be printed now; `error` says why.";
    "job.dispatching", "A job is being sent to a printer.";
    "job.not_started", "A printer did not start a job; it waits again.";
    "job.printing", "A printer has started a job.";
    "job.paused", "A printer has paused a job.";
    "job.resumed", "A printer goes on with a job.";
    "job.unverified", "Whether a printer still works on a job cannot be told; a person must look.";
    "job.completed", "A job was printed.";
    "job.failed", "A job failed; `error` says why.";
    "job.cancelled", "A job was cancelled.";
    "job.added", "A job was made by itself for parts that were rejected.";
    "job.retried", "An operator had a failed job printed again.";
    "job.released", "An operator released a job that awaited review.";
}

mod custom_request;
pub mod invoice;
mod maintenance;
mod payment;
pub mod quote;
pub mod restore;
mod shipping;
mod sign_off;
mod suspected;
pub use custom_request::CustomRequestData;
pub use maintenance::{PrinterMaintenanceDueData, PrinterMaintenanceLoggedData};
pub use payment::PaymentUnmatchedData;
pub use shipping::OrderPartShippedData;
pub use sign_off::JobSignedOffData;
pub use suspected::PrinterFailureSuspectedData;

/// What is told of a material that runs low.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "LowStock", example = json!({
    "materialId": MATERIAL, "name": "PLA black", "available": 120.5, "reorderPoint": 500, "reorderQuantity": 2000,
    "unit": "g",
}))]
pub struct LowStockData {
    pub(crate) material_id: Id,
    pub(crate) name: String,
    /// What is left for new jobs.
    pub(crate) available: Amount,
    /// Below it the material runs low.
    pub(crate) reorder_point: Amount,
    /// How much to order.
    pub(crate) reorder_quantity: Amount,
    /// Unit of all amounts: `g`, `mL`, `sheet` or `unit`.
    pub(crate) unit: &'static str,
}
carried_by! { LowStockData:
    "inventory.low", "What is available of a material has fallen below its reorder point.";
    "LOW_STOCK", "Together with `inventory.low`, for workflow automation.";
}

/// What is told of a material whose stock cannot be right.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "DiscrepancyEventData", example = json!({
    "materialId": MATERIAL, "name": "PLA black", "quantity": 0, "reserved": 20, "consumedBeyondStock": 12.5, "unit": "g",
}))]
pub struct DiscrepancyData {
    pub(crate) material_id: Id,
    pub(crate) name: String,
    /// Stock on hand after the event.
    pub(crate) quantity: Amount,
    /// What jobs have reserved of it.
    pub(crate) reserved: Amount,
    /// What prints used more than was on hand; 0 when the stock only no longer covers what is reserved.
    pub(crate) consumed_beyond_stock: Amount,
    /// Unit of all amounts: `g`, `mL`, `sheet` or `unit`.
    pub(crate) unit: &'static str,
}
carried_by! { DiscrepancyData: "inventory.discrepancy", "The stock on hand of a material is not what was counted on."; }

/// What is told of a printer.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterEventData", example = printer_example(json!({})))]
pub struct PrinterData {
    pub(crate) printer_id: Id,
    /// Name of the printer.
    pub(crate) name: String,
    /// When it last answered; only for `printer.offline` and `printer.online`.
    pub(crate) last_seen_at: Option<Timestamp>,
    /// The job that it has in hand.
    pub(crate) job_id: Option<Id>,
}
carried_by! { PrinterData:
    "printer.created", "A printer was added.";
    "printer.online", "A printer answers again after it was offline.";
}

fn printer_example(more: serde_json::Value) -> serde_json::Value {
    let mut example =
        json!({"printerId": PRINTER, "name": "Left", "lastSeenAt": "2026-11-02T10:15:00.000Z", "jobId": JOB});
    for (name, value) in more.as_object().into_iter().flatten() {
        example[name] = value.clone();
    }
    example
}

/// What is told of a printer that cannot be reached.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterOfflineEventData", example = printer_example(json!({"error": "the printer does not answer"})))]
pub struct PrinterOfflineData {
    #[serde(flatten)]
    pub(crate) printer: PrinterData,
    /// Why it cannot be reached, in words for people.
    pub(crate) error: String,
}
carried_by! { PrinterOfflineData: "printer.offline", "A printer cannot be reached; told once for each outage."; }

/// What is told of a printer whose firmware fell into an error.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterFaultEventData", example = printer_example(json!({"error": "Thermal Runaway, system stopped!"})))]
pub struct PrinterFaultData {
    #[serde(flatten)]
    pub(crate) printer: PrinterData,
    /// The printer's own words.
    pub(crate) error: String,
}
carried_by! { PrinterFaultData:
    "printer.firmware_error", "The firmware of a printer reports an error or shut down; a person must look.";
}

/// What is told of a printer on which an operator acted.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterActEventData", example = printer_example(json!({"lastSeenAt": null, "jobId": null, "note": "new nozzle"})))]
pub struct PrinterActData {
    #[serde(flatten)]
    pub(crate) printer: PrinterData,
    /// The note on its maintenance, while it is under maintenance.
    pub(crate) note: Option<String>,
}
carried_by! { PrinterActData:
    "printer.updated", "The settings of a printer were changed.";
    "printer.deleted", "A printer was removed.";
    "printer.connected", "An operator connected a printer.";
    "printer.disconnected", "An operator disconnected a printer.";
    "printer.emergency_stopped", "A printer was stopped in an emergency.";
    "printer.bed_cleared", "An operator said that a printer's bed is clear.";
    "printer.attention_cleared", "An operator has looked at a printer that had a firmware error or refused starts.";
    "printer.homed", "A printer was homed.";
    "printer.maintenance", "Maintenance of a printer began or ended.";
}

/// What is told of something that a person had a printer do.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterCommandEventData", example = printer_example(json!({
    "lastSeenAt": null, "command": "gcode", "outcome": "done", "error": null, "detail": "M104 S200",
})))]
pub struct PrinterCommandData {
    #[serde(flatten)]
    pub(crate) printer: PrinterData,
    /// `pause`, `resume`, `cancel`, `gcode`, `put_file`, `delete_file`, `restart_firmware`, `home` or `emergency_stop`.
    pub(crate) command: String,
    /// `done`, or the code of the error.
    pub(crate) outcome: String,
    /// The printer's own words, if it did not do it.
    pub(crate) error: Option<String>,
    /// The lines of G-code, the name of the file.
    pub(crate) detail: Option<String>,
}
carried_by! { PrinterCommandData: "printer.commanded", "An operator had a printer do something; `outcome` says what came of it."; }

/// What is told of an endpoint that was disabled.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "EndpointDisabledEventData", example = json!({
    "endpointId": ENDPOINT, "url": "https://example.org/hooks", "reason": "order.paid was tried 6 times: it answered 500",
    "deliveryId": "01890a5d-ac96-774b-bcce-b302099a8071",
}))]
pub struct EndpointDisabledData {
    pub(crate) endpoint_id: Id,
    pub(crate) url: String,
    /// Why it was disabled, in words for people.
    pub(crate) reason: String,
    /// The delivery whose last retry failed.
    pub(crate) delivery_id: Id,
}
carried_by! { EndpointDisabledData:
    "endpoint.disabled", "Nothing more is sent to an endpoint, because all retries of a delivery failed.";
}

/// What is told for a test.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "TestEventData", example = json!({"endpointId": ENDPOINT, "message": "this is a test"}))]
pub struct TestData {
    pub(crate) endpoint_id: Id,
    pub(crate) message: &'static str,
}
carried_by! { TestData: "webhook.test", "An admin asked for a test of the endpoint; no subscription is needed."; }
