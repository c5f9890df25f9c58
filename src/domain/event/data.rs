//! `data` payload of each event. Events with the same payload use the same struct, which states when each of them is
//! sent. The events, the OpenAPI document and the pages at `/docs/events` are all built from these structs.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use crate::amount::Amount;
use crate::id::Id;
use crate::order_status::{OrderStatus, Shipment};
use crate::time::Timestamp;

/// Event name with a description of when it is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventKind {
    /// Name of the event, such as `order.paid`.
    pub name: &'static str,
    /// Trigger of the event, as a sentence for the documentation.
    pub when: &'static str,
}

/// Payload struct used by one or more kinds of events.
pub trait EventData: Serialize {
    /// Kinds of events that have this payload.
    const KINDS: &'static [EventKind];
}

/// Declares the kinds of events that use a payload struct, each with its trigger.
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

/// Data for an order event.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderEventData", example = order_example(json!({})))]
pub struct OrderData {
    /// Unique identifier of the order.
    pub(crate) order_id: Id,
    /// Human-readable order number, such as `ORD-000123`.
    pub(crate) number: String,
    /// Status of the order after the event.
    pub(crate) status: OrderStatus,
    /// Order total, in minor units of the currency.
    pub(crate) total_cents: i64,
    /// Three-letter ISO 4217 currency code, in lowercase.
    pub(crate) currency: String,
    /// Email address of the customer; null if unknown.
    pub(crate) customer_email: Option<String>,
}
carried_by! { OrderData:
    "order.draft", "A draft order was created.";
    "order.created", "An order was placed, or a draft was confirmed.";
    "order.paid", "An order was paid in full; its jobs are created.";
    "order.printing", "The first job of an order started printing.";
    "order.ready", "All jobs of an order are done and it can be shipped.";
    "order.cancelled", "An order was cancelled.";
    "order.refunded", "All remaining payments of an order were refunded.";
}

/// Adds members to an example, in place of those with the same names.
fn with_members(mut example: serde_json::Value, more: serde_json::Value) -> serde_json::Value {
    for (name, value) in more.as_object().into_iter().flatten() {
        example[name] = value.clone();
    }
    example
}

fn order_example(more: serde_json::Value) -> serde_json::Value {
    let example = json!({
        "orderId": ORDER, "number": "ORD-000123", "status": "paid", "totalCents": 2500, "currency": "usd",
        "customerEmail": "customer@example.org",
    });
    with_members(example, more)
}

/// Data for an event about an order's shipment.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderShippedEventData", example = order_example(json!({
    "status": "shipped", "trackingNumber": "1Z999", "carrier": "UPS", "estimatedDelivery": "2026-11-05",
})))]
pub struct OrderShippedData {
    #[serde(flatten)]
    order: OrderData,
    /// Tracking number assigned by the carrier; empty for a pickup.
    tracking_number: String,
    /// Carrier of the shipment: `dhl`, `ups`, `pickup`, ...
    carrier: String,
    /// Estimated day of arrival as `YYYY-MM-DD`.
    estimated_delivery: String,
}
carried_by! { OrderShippedData: "order.shipped", "An order was handed to a carrier."; }

impl OrderShippedData {
    /// Creates the payload for the given shipment.
    pub fn new(order: OrderData, shipment: &Shipment) -> Self {
        let Shipment { tracking_number, carrier, estimated_delivery, .. } = shipment.clone();
        Self { order, tracking_number, carrier, estimated_delivery }
    }
}

/// Data for an event about an order that needs an operator's attention.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderFlaggedEventData", example = order_example(json!({
    "flag": "all_jobs_cancelled", "message": "all of its jobs were cancelled, so nothing will be produced",
})))]
pub struct OrderFlaggedData {
    #[serde(flatten)]
    pub(crate) order: OrderData,
    /// Machine-readable code for the problem.
    pub(crate) flag: String,
    /// Human-readable description of the problem.
    pub(crate) message: String,
}
carried_by! { OrderFlaggedData: "order.flagged", "An order needs an operator's attention."; }

/// Data for an event about an order whose payment failed.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderPaymentFailedEventData", example = order_example(json!({
    "status": "payment_failed", "error": "the card was declined",
})))]
pub struct OrderPaymentFailedData {
    #[serde(flatten)]
    pub(crate) order: OrderData,
    /// Error message from the payment processor.
    pub(crate) error: Option<String>,
}
carried_by! { OrderPaymentFailedData: "order.payment_failed", "The payment processor reports that a payment failed."; }

/// Data for an event about a payment that does not fully pay its order.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderPaymentEventData", example = order_example(json!({
    "status": "created", "amountCents": 1000, "keptCents": 1000,
})))]
pub struct OrderPaymentData {
    #[serde(flatten)]
    pub(crate) order: OrderData,
    /// Amount received, in minor units of the currency in which it was paid.
    pub(crate) amount_cents: i64,
    /// Total of the payments retained so far, in minor units of the order's currency.
    pub(crate) kept_cents: i64,
}
carried_by! { OrderPaymentData:
    "order.payment_recorded", "A payment with a different amount or currency was made; the order is not paid in full.";
}

/// Data for an event about a refund for an order.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "OrderRefundEventData", example = order_example(json!({"refundedCents": 500})))]
pub struct OrderRefundData {
    #[serde(flatten)]
    pub(crate) order: OrderData,
    /// Total refunded so far across all payments, in minor units of the currency.
    pub(crate) refunded_cents: i64,
}
carried_by! { OrderRefundData:
    "order.refund_recorded", "The payment processor reports a full or partial refund of an order.";
}

/// Data for a job event.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "JobEventData", example = json!({
    "jobId": JOB, "orderId": ORDER, "skuId": "01890a5d-ac96-774b-bcce-b302099a8063", "printerId": PRINTER,
    "error": "the printer stopped: nozzle too hot",
}))]
pub struct JobData {
    /// Unique identifier of the job.
    pub(crate) job_id: Id,
    pub(crate) order_id: Id,
    /// Identifier of the SKU that the job produces.
    pub(crate) sku_id: Id,
    /// Identifier of the printer assigned to the job.
    pub(crate) printer_id: Option<Id>,
    /// Reason why the job failed, is waiting or did not start.
    pub(crate) error: Option<String>,
}
carried_by! { JobData:
    "job.created", "A job was created; it has no file to print yet.";
    "job.validated", "A job can be printed and is waiting for material.";
    "job.sliced", "Material is reserved for a job; the job is waiting for a printer.";
    "job.blocked", "A job cannot be printed at the moment; `error` gives the reason.";
    "job.dispatching", "A job is being sent to a printer.";
    "job.not_started", "A printer did not start a job; the job is waiting again.";
    "job.printing", "A printer started a job.";
    "job.paused", "A printer paused a job.";
    "job.resumed", "A printer resumed a job.";
    "job.unverified", "It is unknown whether a printer is still working on a job; an operator must check it.";
    "job.completed", "A job was printed.";
    "job.failed", "A job failed; `error` gives the reason.";
    "job.cancelled", "A job was cancelled.";
    "job.added", "A job was created automatically to replace rejected parts.";
    "job.retried", "An operator retried a job.";
    "job.released", "An operator released a job that awaited review.";
}

mod custom_request;
pub mod invoice;
pub mod late;
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

/// Data for an event about a material that is running low.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "LowStock", example = json!({
    "materialId": MATERIAL, "name": "PLA black", "available": 120.5, "reorderPoint": 500, "reorderQuantity": 2000,
    "unit": "g",
}))]
pub struct LowStockData {
    pub(crate) material_id: Id,
    pub(crate) name: String,
    /// Amount available for new jobs.
    pub(crate) available: Amount,
    /// Threshold below which the material is considered low.
    pub(crate) reorder_point: Amount,
    /// Suggested amount to reorder.
    pub(crate) reorder_quantity: Amount,
    /// Unit of all amounts: `g`, `mL`, `sheet` or `unit`.
    pub(crate) unit: &'static str,
}
carried_by! { LowStockData:
    "inventory.low", "The available stock of a material fell below its reorder point.";
    "LOW_STOCK", "Sent together with `inventory.low`, for workflow automation.";
}

/// Data for an event about a material whose recorded stock cannot be correct.
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
    /// Amount reserved by jobs.
    pub(crate) reserved: Amount,
    /// Amount that prints consumed beyond the stock on hand; 0 if the stock merely no longer covers the reservations.
    pub(crate) consumed_beyond_stock: Amount,
    /// Unit of all amounts: `g`, `mL`, `sheet` or `unit`.
    pub(crate) unit: &'static str,
}
carried_by! { DiscrepancyData: "inventory.discrepancy", "The stock of a material differs from what was expected."; }

/// Data for a printer event.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterEventData", example = printer_example(json!({})))]
pub struct PrinterData {
    pub(crate) printer_id: Id,
    /// Name of the printer.
    pub(crate) name: String,
    /// Time of the printer's last response; only for `printer.offline` and `printer.online`.
    pub(crate) last_seen_at: Option<Timestamp>,
    /// Identifier of the printer's current job.
    pub(crate) job_id: Option<Id>,
}
carried_by! { PrinterData:
    "printer.created", "A printer was added.";
    "printer.online", "A printer responds again after it was offline.";
}

fn printer_example(more: serde_json::Value) -> serde_json::Value {
    let example = json!({"printerId": PRINTER, "name": "Left", "lastSeenAt": "2026-11-02T10:15:00.000Z", "jobId": JOB});
    with_members(example, more)
}

/// Data for an event about a printer that cannot be reached.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterOfflineEventData", example = printer_example(json!({"error": "the printer does not respond"})))]
pub struct PrinterOfflineData {
    #[serde(flatten)]
    pub(crate) printer: PrinterData,
    /// Human-readable reason why the printer cannot be reached.
    pub(crate) error: String,
}
carried_by! { PrinterOfflineData: "printer.offline", "A printer cannot be reached; sent once per outage."; }

/// Data for an event about a printer whose firmware reported an error.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterFaultEventData", example = printer_example(json!({"error": "Thermal Runaway, system stopped!"})))]
pub struct PrinterFaultData {
    #[serde(flatten)]
    pub(crate) printer: PrinterData,
    /// Error message from the printer.
    pub(crate) error: String,
}
carried_by! { PrinterFaultData:
    "printer.firmware_error", "The firmware of a printer reported an error or shut down; an operator must check it.";
}

/// Data for an event about an operator's action on a printer.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterActEventData", example = printer_example(json!({"lastSeenAt": null, "jobId": null, "note": "new nozzle"})))]
pub struct PrinterActData {
    #[serde(flatten)]
    pub(crate) printer: PrinterData,
    /// Note on why the printer is out of service; null while it is in service.
    pub(crate) note: Option<String>,
}
carried_by! { PrinterActData:
    "printer.updated", "The settings of a printer were changed.";
    "printer.deleted", "A printer was removed.";
    "printer.connected", "An operator connected a printer.";
    "printer.disconnected", "An operator disconnected a printer.";
    "printer.emergency_stopped", "An emergency stop was sent to a printer.";
    "printer.bed_cleared", "An operator confirmed that a printer's bed is clear.";
    "printer.attention_cleared", "An operator checked a printer that had a firmware error or rejected print starts.";
    "printer.homed", "A printer was homed.";
    "printer.maintenance", "Maintenance of a printer started or ended.";
}

/// Data for an event about a manual command sent to a printer.
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
    /// Outcome of the command: `done`, or an error code.
    pub(crate) outcome: String,
    /// Error message from the printer, if the command failed.
    pub(crate) error: Option<String>,
    /// Command argument: the G-code lines or the file name.
    pub(crate) detail: Option<String>,
}
carried_by! { PrinterCommandData:
    "printer.commanded", "An operator sent a command to a printer; `outcome` gives the result.";
}

/// Data for an event about a webhook endpoint that was disabled.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "EndpointDisabledEventData", example = json!({
    "endpointId": ENDPOINT, "url": "https://example.org/hooks", "reason": "order.paid was attempted 6 times: it responded with 500",
    "deliveryId": "01890a5d-ac96-774b-bcce-b302099a8071",
}))]
pub struct EndpointDisabledData {
    pub(crate) endpoint_id: Id,
    pub(crate) url: String,
    /// Human-readable reason why the endpoint was disabled.
    pub(crate) reason: String,
    /// Identifier of the delivery whose last retry failed.
    pub(crate) delivery_id: Id,
}
carried_by! { EndpointDisabledData:
    "endpoint.disabled", "An endpoint was disabled because all retries of a delivery failed.";
}

/// Data for a test event.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "TestEventData", example = json!({"endpointId": ENDPOINT, "message": "this is a test"}))]
pub struct TestData {
    pub(crate) endpoint_id: Id,
    pub(crate) message: &'static str,
}

impl TestData {
    /// Creates the payload for a test of the given endpoint.
    pub fn new(endpoint_id: Id) -> Self {
        Self { endpoint_id, message: "this is a test" }
    }
}
carried_by! { TestData: "webhook.test", "An admin tested the endpoint; sent without a subscription."; }
