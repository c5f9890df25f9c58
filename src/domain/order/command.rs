//! Messages to an order: commands and their responses.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    Address, InvoicedMoney, LedgerCommand, Order, OrderKind, OrderLine, ProductionData, Report, SentLine, Shipment,
    ShopOrderChange, SoldOrder,
};
use crate::amount::Amount;
use crate::id::Id;
use crate::job::{Job, PrinterRecord, Resolution};
use crate::material::{ClaimId, ClaimState};
use crate::party::Party;
use crate::promise::Promise;
use crate::remedy::OrderRecovery;
use crate::sign_off::Inspection;
use crate::slice_source::SliceSource;
use crate::time::Timestamp;

/// Data for a new order. The caller has already looked up SKUs, materials and files, because the rules perform no
/// lookups.
#[derive(Clone, Debug)]
pub struct NewOrder {
    /// Origin of the order.
    pub kind: OrderKind,
    /// Site; `None` selects the configured default.
    pub site: Option<String>,
    /// API key or user creating the order.
    pub made_by: Option<Id>,
    /// Customer record, if known.
    pub customer_id: Option<Id>,
    /// The customer's email address; an API key that belongs to one customer supplies it and rejects any other.
    pub customer_email: Option<String>,
    /// Buyer to appear on the invoice; `None` if only the email address is known.
    pub buyer: Option<Party>,
    /// Order lines, at least one; their `tax_rate_bps` is ignored, because it is set by the rules.
    pub lines: Vec<OrderLine>,
    /// ISO 4217 code of the currency of all SKUs; the caller has rejected mixed currencies with 400.
    pub currency: String,
    /// Notes by the customer, or by the user placing the order for them.
    pub notes: Option<String>,
    /// Internal staff notes; not visible to customers.
    pub internal_notes: Option<String>,
    /// Shipping address; determines the tax rate.
    pub shipping_address: Option<Address>,
    /// Priority, from 0 to 9; `None` selects the default, 5.
    pub priority: Option<u8>,
    /// Requested completion time.
    pub due_at: Option<Timestamp>,
    /// `true` creates a draft that the customer's checkout confirms later; `false` places the order immediately.
    pub draft: bool,
    /// `true` if the shop produces for its own use: nothing is shipped, and if the total is therefore zero, the order
    /// is paid immediately.
    pub own_use: bool,
}

/// Terms that a customer agreed to before the order was created; the order adopts them instead of calculating its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AgreedTerms {
    /// Tax rate for all lines and shipping, in basis points.
    pub tax_rate_bps: i64,
    /// Shipping charge in minor units.
    pub shipping_cents: i64,
}

/// Outcome of slicing a model.
#[derive(Clone, PartialEq, Debug)]
pub enum JobSlicingOutcome {
    /// G-code is available. The production data comes from the SKU, with the sliced file; the material amounts stated
    /// in the file correct the reservations.
    Done(Box<ProductionData>),
    /// The slicer failed, with its error message.
    Failed(String),
    /// Slicing is on hold, for example because no slicer is installed, and continues automatically. Contains the
    /// human-readable reason.
    Waits(String),
}

/// Carrier name used when the customer picks up the order.
pub const PICKUP: &str = "pickup";

/// Available stock of a material.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CurrentStock {
    /// Amount that can be reserved, in the material's unit.
    pub available: Amount,
    /// Unit of `available`: `g`, `mL`, `sheet` or `unit`.
    pub unit: &'static str,
    /// Name of the material.
    pub name: String,
}

/// Printer records of live attempts, by attempt ID. Attempts unknown to their printer are absent.
pub type PrinterRecords = BTreeMap<Id, PrinterRecord>;

/// Commands that change an order as a whole; each returns the order.
#[derive(Clone, Debug)]
pub enum OrderCommand {
    /// Places the order, or creates it as a draft.
    Create(Box<NewOrder>),
    /// Creates an order sold by a different shop: paid there, at that shop's prices.
    CreateSold(Box<SoldOrder>),
    /// Applies changes made in the shop that sold the order.
    There(ShopOrderChange),
    /// Creates an order whose tax and shipping were agreed beforehand, for example in a quote.
    CreateAgreed {
        /// Order, at the agreed prices.
        new: Box<NewOrder>,
        /// Other agreed terms.
        agreed: AgreedTerms,
    },
    /// Edits notes, priority, due date and address; `None` leaves a field unchanged. The address can be changed only
    /// before payment, and only to a destination with the same tax rate. A draft without an address accepts any
    /// address, and its tax is recalculated.
    Update {
        /// Version that the caller read; rejected with 412 if the order has changed since.
        if_version: Option<i64>,
        /// New notes; `Some(None)` clears them.
        notes: Option<Option<String>>,
        /// New internal notes; `Some(None)` clears them.
        internal_notes: Option<Option<String>>,
        /// New priority, from 0 to 9; unfinished jobs adopt it.
        priority: Option<u8>,
        /// New due date, which unfinished jobs adopt; `Some(None)` clears it.
        due_at: Option<Option<Timestamp>>,
        /// New shipping address; `Some(None)` clears it.
        shipping_address: Option<Option<Address>>,
    },
    /// Sets the buyer on the invoice from the customer's current profile; has no effect once there is an invoice.
    NameBuyer(Box<Party>),
    /// Places a draft: draft → created, or → paid if the total is zero.
    Confirm,
    /// Records a payment that an operator received by means other than the processor.
    MarkPaid {
        /// Amount in minor units; `None` means the amount due. A smaller amount leaves the order unpaid; a larger
        /// amount is rejected with 400.
        amount_cents: Option<i64>,
        /// Payment method, such as `cash` or `bank_transfer`; must not be empty.
        method: String,
        /// The operator's own reference, as free text.
        reference: Option<String>,
    },
    /// Refunds money on behalf of an operator: records a refund of a manual payment, or has the processor refund its
    /// own payments.
    Refund {
        /// Payment to refund; `None` refunds the processor's payments, newest first.
        payment: Option<Id>,
        /// Amount in minor units; `None` refunds the full remaining amount.
        amount_cents: Option<i64>,
        /// `true` if the processor can be called.
        at_processor: bool,
    },
    /// Records a refund made by means other than the original payment: a refund of a manual payment, or of the amount
    /// returned by a failed processor refund.
    RefundOtherwise {
        /// Refunded payment; required.
        payment: Option<Id>,
        /// Amount in minor units; `None` means the full outstanding amount.
        amount_cents: Option<i64>,
        /// Name of the refund method.
        method: String,
    },
    /// Applies a command concerning checkouts, refunds or the processor's payments.
    Ledger(LedgerCommand),
    /// Cancels the order and its jobs. A customer may do so only while the order is unpaid.
    Cancel {
        /// Abandons attempts on printers that do not respond instead of waiting for them.
        force: bool,
        /// Printer records of the live attempts; used only with `force`.
        prints: PrinterRecords,
    },
    /// Ships parts of the order; the order becomes shipped when its last parts are shipped.
    Ship {
        /// Shipping details. For [`PICKUP`], the tracking number and the date may be empty.
        shipment: Shipment,
        /// Parts to ship; `None` ships all good parts that have not been shipped, once the order is ready.
        lines: Option<Vec<SentLine>>,
        /// `true` if the customer accepts fewer parts than ordered; otherwise a short order is rejected.
        accept_short: bool,
    },
}

/// Response to an [`OrderCommand`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OrderAnswer {
    /// Order after the change; serialized without its jobs.
    #[serde(rename = "Order")]
    pub order: Box<Order>,
}

impl AsRef<Order> for OrderAnswer {
    fn as_ref(&self) -> &Order {
        &self.order
    }
}

/// Commands that change one of an order's jobs; each returns the job.
#[derive(Clone, Debug)]
pub enum JobCommand {
    /// Claims the printer that the dispatcher proposes for a job.
    Dispatch {
        /// Job to print.
        job: Id,
        /// Printer to claim.
        printer: Id,
    },
    /// Fails a job waiting for a printer, because the given printers rejected it and no other printer could print it.
    /// Sent by the dispatcher.
    FailRefused {
        /// Job that the printers rejected.
        job: Id,
        /// Printers that rejected the job.
        printers: Vec<Id>,
    },
    /// Changes the priority or due date of a job; `None` leaves a field unchanged.
    Update {
        /// Job to edit.
        job: Id,
        /// Job version that the caller read; rejected with 412 if the job has changed since.
        if_version: Option<i64>,
        /// New priority, from 0 to 9.
        priority: Option<u8>,
        /// New due date; `Some(None)` clears it.
        due_at: Option<Option<Timestamp>>,
    },
    /// Cancels a job. A job with a live attempt becomes CANCELLED when its printer confirms, unless forced.
    Cancel {
        /// Job to cancel.
        job: Id,
        /// Abandons the attempt without waiting for the printer.
        force: bool,
        /// Printer record of the live attempt; used only with `force`.
        prints: PrinterRecords,
    },
    /// Prints a FAILED, COMPLETED or CANCELLED job again: → VALIDATED, with a new claim on the material.
    Retry(Id),
    /// Signs off the last print of a job with the number of good parts, either for the first time or as a correction.
    SignOff {
        /// Job whose parts were inspected.
        job: Id,
        /// Result of the inspection.
        inspection: Inspection,
    },
    /// Releases a job that is past the reorder point, or allows a job that could not be sliced to be sliced again:
    /// `awaiting_manual_review` → VALIDATED. Does not override a material shortage.
    Release {
        /// Job to release.
        job: Id,
        /// Current stock of the material that the job is waiting for, used to respond to the operator immediately. The
        /// decision is made by the claim that follows.
        stock: CurrentStock,
    },
    /// Resolves a live attempt according to an operator's decision; an effect notifies the printer.
    Resolve {
        /// Job whose live attempt is resolved.
        job: Id,
        /// The operator's resolution.
        outcome: Resolution,
        /// Printer record of the attempt.
        print: PrinterRecord,
    },
}

/// Response to a [`JobCommand`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JobAnswer {
    /// Job after the change.
    #[serde(rename = "Job")]
    pub job: Arc<Job>,
}

/// Messages that an order receives from related aggregates and from its own effects.
#[derive(Clone, Debug)]
pub enum OrderNews {
    /// Records that the selling shop will be notified of the given number of shipments, and whether more follow.
    ShopTold {
        /// Number of the order's shipments covered by the notification.
        shipments: u32,
        /// `true` if no further shipment will follow.
        last: bool,
    },
    /// Sets the production data of the CREATED jobs of a SKU, as just read from the SKU and its file.
    Prepared {
        /// SKU that was read.
        sku: Id,
        /// Production data that was read; without a file, nothing changes.
        make: Box<ProductionData>,
    },
    /// Records the outcome of slicing for the jobs of a SKU that wait for G-code from the given source.
    Slicing {
        /// SKU that is produced.
        sku: Id,
        /// Source of the G-code.
        source: SliceSource,
        /// Outcome of slicing.
        news: JobSlicingOutcome,
    },
    /// Applies a material's response to claims: the material's ID, and the state of each claim, with the human-readable
    /// reason if the claim is queued.
    Stock(Id, Vec<(ClaimId, ClaimState, Option<String>)>),
    /// Records that a material has settled the given claims.
    Settled(Vec<ClaimId>),
    /// Applies a printer's report on an attempt.
    Attempt {
        /// Job being attempted.
        job: Id,
        /// Attempt that the report is about.
        attempt: Id,
        /// Printer's report.
        report: Report,
    },
    /// Records the promised completion time from the first forecast that covers all jobs. Later forecasts have no
    /// effect.
    Promise(Promise),
    /// Uses the latest forecast to determine whether the order has become late, or is on time again.
    Timing {
        /// Expected completion of printing, if it can be forecast.
        expected_at: Option<Timestamp>,
        /// Ways to get the order ready on time, if they were searched for.
        recovery: Option<Arc<OrderRecovery>>,
    },
    /// Records the inspection that was entered at a printer when its bed was cleared. The printer reports the
    /// inspection of each attempt, and resends the report until the order has responded.
    SignedAtPrinter {
        /// Printed job.
        job: Id,
        /// Attempt whose parts were inspected.
        attempt: Id,
        /// Result of the inspection.
        inspection: Inspection,
        /// Principal who inspected the parts, as text.
        by: String,
        /// Time of the inspection.
        at: Timestamp,
    },
    /// Records that a photo of the end of a print was stored, or was deleted at the end of its retention period.
    Photographed {
        /// Printed job.
        job: Id,
        /// Attempt that ended.
        attempt: Id,
        /// Photo file; `None` to delete the photo, which is rejected while a sign-off refers to it.
        file: Option<Id>,
    },
    /// Records that the order's invoice was notified of the order's payment state.
    InvoiceTold {
        /// Notified invoice.
        invoice: Id,
        /// Payment state that the invoice was notified of.
        money: InvoicedMoney,
        /// `true` if the invoice is void, so that the remaining balance needs a new invoice.
        void: bool,
    },
    /// Issues the invoice that was on hold, if the seller's name and address are now configured.
    IssueInvoice,
    /// Stores the departures that were traced when the order was loaded, and sets flags for parts that turn out to be
    /// owed again.
    KeepDepartures,
}

/// Response to an [`OrderNews`], which confirms that the message was processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OrderNewsAnswer {
    /// For a printer report: `false` if the order has ended or abandoned the attempt, so that the printer may discard
    /// it once it is sure that nothing is printing. For an invoice issued late: `true` if it is still on hold.
    pub is_wanted: bool,
}

/// Command that recalls the given material reservations because less is in stock than is reserved, with the
/// human-readable reason. The response lists the reservations that the order retains because an attempt is live.
#[derive(Clone, Debug)]
pub struct RecallClaims(pub Vec<ClaimId>, pub String);
