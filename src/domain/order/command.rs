//! Messages to an order: commands and answers.

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
    /// Customer's record, if known.
    pub customer_id: Option<Id>,
    /// Customer's email address; a key that belongs to one customer supplies it and rejects any other.
    pub customer_email: Option<String>,
    /// Buyer to name on the invoice; `None` if only the email address is known.
    pub buyer: Option<Party>,
    /// Order lines, at least one; their `tax_rate_bps` is ignored, because the rules set it.
    pub lines: Vec<OrderLine>,
    /// ISO 4217 code shared by all SKUs; the caller has rejected mixed currencies with 400.
    pub currency: String,
    /// Notes by the customer, or by the user placing the order for them.
    pub notes: Option<String>,
    /// Internal staff notes; not visible to customers.
    pub internal_notes: Option<String>,
    /// Shipping address; determines the tax rate.
    pub shipping_address: Option<Address>,
    /// Priority 0 to 9; `None` selects the default, 5.
    pub priority: Option<u8>,
    /// Requested completion time.
    pub due_at: Option<Timestamp>,
    /// `true` creates a draft that the customer's checkout confirms later; `false` places the order immediately.
    pub draft: bool,
    /// `true` if the shop produces for its own use: nothing is shipped, and an order whose total is therefore zero is
    /// paid immediately.
    pub own_use: bool,
}

/// Terms that a customer agreed to before the order was created; the order adopts them instead of calculating its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AgreedTerms {
    /// Tax rate of all lines and of shipping, in basis points.
    pub tax_rate_bps: i64,
    /// Shipping charge in minor units.
    pub shipping_cents: i64,
}

/// Outcome of slicing a model.
#[derive(Clone, PartialEq, Debug)]
pub enum JobSlicingOutcome {
    /// G-code is available. The production data is that of the SKU with the sliced file; its material needs correct the
    /// reservations.
    Done(Box<ProductionData>),
    /// The slicer failed, with its error message.
    Failed(String),
    /// Slicing is on hold, for example because no slicer is installed, and continues automatically; with the
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

/// Printers' records of live attempts, by attempt ID. An attempt unknown to its printer is absent.
pub type PrinterRecords = BTreeMap<Id, PrinterRecord>;

/// Commands on an order as a whole; each returns the order.
#[derive(Clone, Debug)]
pub enum OrderCommand {
    /// Places the order, or creates it as a draft.
    Create(Box<NewOrder>),
    /// Creates an order sold by another shop: paid there, at that shop's prices.
    CreateSold(Box<SoldOrder>),
    /// Applies changes made in the shop that sold the order.
    There(ShopOrderChange),
    /// Creates an order whose tax and shipping were agreed beforehand, for example in a quote.
    CreateAgreed {
        /// Order, at the agreed prices.
        new: Box<NewOrder>,
        /// Further agreed terms.
        agreed: AgreedTerms,
    },
    /// Edits notes, priority, due date and address; `None` leaves a field unchanged. The address can change only before
    /// payment, and only to a destination with the same tax rate; a draft without an address accepts any, and its tax
    /// is recalculated.
    Update {
        /// Version that the caller read; rejected with 412 if the order has changed since.
        if_version: Option<i64>,
        /// New notes; `Some(None)` clears them.
        notes: Option<Option<String>>,
        /// New internal notes; `Some(None)` clears them.
        internal_notes: Option<Option<String>>,
        /// New priority, 0 to 9; unfinished jobs adopt it.
        priority: Option<u8>,
        /// New due date; `Some(None)` clears it; unfinished jobs adopt it.
        due_at: Option<Option<Timestamp>>,
        /// New shipping address; `Some(None)` clears it.
        shipping_address: Option<Option<Address>>,
    },
    /// Sets the buyer on the invoice from the customer's current profile; no effect once there is an invoice.
    NameBuyer(Box<Party>),
    /// Places a draft: draft → created, or → paid if the total is zero.
    Confirm,
    /// Records a payment that an operator received by means other than the processor.
    MarkPaid {
        /// Amount in minor units; `None` means the amount due. A smaller amount leaves the order unpaid; a larger one
        /// is rejected with 400.
        amount_cents: Option<i64>,
        /// Payment method, such as `cash` or `bank_transfer`; must not be empty.
        method: String,
        /// Operator's own reference, free text.
        reference: Option<String>,
    },
    /// Refunds money on behalf of an operator: records a refund of a manual payment, or has the processor refund its
    /// own payments.
    Refund {
        /// Payment to refund; `None` refunds the processor's payments, newest first.
        payment: Option<Id>,
        /// Amount in minor units; `None` refunds everything that remains.
        amount_cents: Option<i64>,
        /// `true` if the processor can be called.
        at_processor: bool,
    },
    /// Records a refund made by means other than the original payment: a refund of a manual payment, or of the amount
    /// returned by a failed processor refund.
    RefundOtherwise {
        /// Payment that was refunded; required.
        payment: Option<Id>,
        /// Amount in minor units; `None` means the whole outstanding amount.
        amount_cents: Option<i64>,
        /// Name of the refund method.
        method: String,
    },
    /// Applies a command about checkouts, refunds and the processor's payments.
    Ledger(LedgerCommand),
    /// Cancels the order and its jobs. A customer may do so only while the order is unpaid.
    Cancel {
        /// Abandons attempts on printers that do not respond instead of waiting for them.
        force: bool,
        /// Printers' records of the live attempts; used only with `force`.
        prints: PrinterRecords,
    },
    /// Ships parts of the order, which becomes shipped when the last of them are shipped.
    Ship {
        /// Shipping details. For [`PICKUP`] the tracking number and the date may be empty.
        shipment: Shipment,
        /// Parts to ship; `None` ships all good parts that have not been shipped, once the order is ready.
        lines: Option<Vec<SentLine>>,
        /// `true` if the customer accepts fewer parts than ordered; otherwise a short order is rejected.
        accept_short: bool,
    },
}

/// Answer to an [`OrderCommand`].
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

/// Commands on one of an order's jobs; each returns the job.
#[derive(Clone, Debug)]
pub enum JobCommand {
    /// Claims the printer that the dispatcher proposes for a job.
    Dispatch {
        /// Job to print.
        job: Id,
        /// Printer to claim.
        printer: Id,
    },
    /// Fails a job that is waiting for a printer, because the given printers refused it and no other could print it.
    /// Sent by the dispatcher.
    FailRefused {
        /// Job refused by the printers.
        job: Id,
        /// Printers that refused it.
        printers: Vec<Id>,
    },
    /// Edits the rank of a job; `None` leaves a field unchanged.
    Update {
        /// Job to edit.
        job: Id,
        /// Job version that the caller read; rejected with 412 if it has changed since.
        if_version: Option<i64>,
        /// New priority, 0 to 9.
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
        /// Printer's record of the live attempt; used only with `force`.
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
    /// `awaiting_manual_review` → VALIDATED. Does not override a shortage of material.
    Release {
        /// Job to release.
        job: Id,
        /// Current stock of the material that the job is waiting for, used to answer the operator immediately. The
        /// claim that follows makes the decision.
        stock: CurrentStock,
    },
    /// Resolves a live attempt by an operator's decision; the printer is notified by an effect.
    Resolve {
        /// Job whose live attempt is resolved.
        job: Id,
        /// Operator's resolution.
        outcome: Resolution,
        /// Printer's record of the attempt.
        print: PrinterRecord,
    },
}

/// Answer to a [`JobCommand`].
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
        /// Production data that was read; without a file nothing changes.
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
    /// Applies a material's answer to claims: the material, and the state of each claim, with the human-readable reason
    /// if the claim is queued.
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
    /// Records the promised completion time from the first forecast that covers all jobs. Later forecasts change
    /// nothing.
    Promise(Promise),
    /// Judges, with the latest forecast, whether the order has become late, or is on time again.
    Timing {
        /// Expected completion of printing; `None` if it cannot be forecast.
        expected_at: Option<Timestamp>,
    },
    /// Records the inspection that was entered at a printer when its bed was cleared. The printer reports each
    /// attempt's inspection, and repeats the report until the order has answered.
    SignedAtPrinter {
        /// Job that was printed.
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
    /// Records that a photo of the end of a print was stored, or has been deleted at the end of its retention period.
    Photographed {
        /// Job that was printed.
        job: Id,
        /// Attempt that ended.
        attempt: Id,
        /// Photo file; `None` to delete it, which is rejected while a sign-off refers to it.
        file: Option<Id>,
    },
    /// Records that the order's invoice was notified of the order's money state.
    InvoiceTold {
        /// Invoice that was notified.
        invoice: Id,
        /// Money state that the invoice was notified of.
        money: InvoicedMoney,
        /// `true` if the invoice is void, so that the remaining balance needs another invoice.
        void: bool,
    },
    /// Issues the invoice that was on hold, if the seller's name and address are now configured.
    IssueInvoice,
    /// Stores the departures that were traced when the order was loaded, and raises flags for parts that turn out to be
    /// owed again.
    KeepDepartures,
}

/// Answer to an [`OrderNews`], which confirms that the message was processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OrderNewsAnswer {
    /// For a printer's report: `false` if the order has ended or abandoned the attempt, so that the printer may discard
    /// it once it is sure that nothing is printing. For an invoice issued late: `true` if it is still on hold.
    pub is_wanted: bool,
}

/// Command that recalls reservations of a material because less is in stock than is reserved; with the human-readable
/// reason. The answer lists the reservations that the order keeps because an attempt is live.
#[derive(Clone, Debug)]
pub struct RecallClaims(pub Vec<ClaimId>, pub String);
