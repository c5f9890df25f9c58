//! Messages of an order: commands and answers.

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

/// Data of a new order. The caller has already looked up SKUs, materials and files, because the rules do no lookups.
#[derive(Clone, Debug)]
pub struct NewOrder {
    /// Origin of the order.
    pub kind: OrderKind,
    /// Site; `None` selects the configured default.
    pub site: Option<String>,
    /// API key or user that creates the order.
    pub made_by: Option<Id>,
    /// Customer's record, if known.
    pub customer_id: Option<Id>,
    /// Customer's e-mail address; a key that belongs to one customer fills it in and rejects another one.
    pub customer_email: Option<String>,
    /// Buyer to name on the invoice; `None` if only the e-mail address is known.
    pub buyer: Option<Party>,
    /// Lines, at least one; their `tax_rate_bps` is ignored and set by the rules.
    pub lines: Vec<OrderLine>,
    /// ISO 4217 code common to all SKUs; the caller has refused mixed currencies with 400.
    pub currency: String,
    /// Notes of the customer, or of the user who places the order for them.
    pub notes: Option<String>,
    /// Internal notes of the staff; not visible to customers.
    pub internal_notes: Option<String>,
    /// Shipping address; determines the tax rate.
    pub shipping_address: Option<Address>,
    /// Priority 0 to 9; `None` selects the default, 5.
    pub priority: Option<u8>,
    /// Requested completion time.
    pub due_at: Option<Timestamp>,
    /// `true` creates a draft that the customer's checkout confirms later; `false` places the order at once.
    pub draft: bool,
    /// `true` if the shop produces for its own use: nothing is shipped, and an order that then costs nothing is paid at
    /// once.
    pub own_use: bool,
}

/// Terms that a customer agreed to before the order was created; the order adopts them instead of computing its own.
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
    /// G-code is available. The make is the SKU's with that file: its needs correct the reservations.
    Done(Box<ProductionData>),
    /// The slicer failed, with its error message.
    Failed(String),
    /// Slicing waits for something, such as a slicer that is not installed, and continues by itself; with the
    /// human-readable reason.
    Waits(String),
}

/// Carrier name of an order that its customer picks up.
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

/// Printers' records of live attempts, by attempt id. An attempt that its printer does not have is absent.
pub type PrinterRecords = BTreeMap<Id, PrinterRecord>;

/// Changes of an order as a whole; answered with the order.
#[derive(Clone, Debug)]
pub enum OrderCommand {
    /// Places the order, or creates it as a draft.
    Create(Box<NewOrder>),
    /// Creates an order that another shop sold: paid there, at the prices there.
    CreateSold(Box<SoldOrder>),
    /// Applies changes that happened in the shop that sold the order.
    There(ShopOrderChange),
    /// Creates an order whose tax and shipping were agreed on before, such as by a quote.
    CreateAgreed {
        /// Order, at the agreed prices.
        new: Box<NewOrder>,
        /// Further agreed terms.
        agreed: AgreedTerms,
    },
    /// Edits notes, priority, due date and address; `None` leaves a field unchanged. The address changes only before
    /// payment, and only to a destination of the same tax rate; a draft without one accepts any, and its tax is
    /// recomputed.
    Update {
        /// Version that the caller read; refused with 412 if the order has changed since.
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
    /// Records a payment that an operator received by other means than the processor.
    MarkPaid {
        /// Amount in minor units; `None` is the amount due. Less leaves the order unpaid; more is refused with 400.
        amount_cents: Option<i64>,
        /// Payment method: `cash`, `bank_transfer`, …; must not be empty.
        method: String,
        /// Operator's own reference, free text.
        reference: Option<String>,
    },
    /// Refunds money for an operator: records a refund of a manual payment, or has the processor refund its own
    /// payments.
    Refund {
        /// Payment to refund; `None`: those of the processor, the newest first.
        payment: Option<Id>,
        /// Amount in minor units; `None` is all that is left.
        amount_cents: Option<i64>,
        /// `true` if the processor can be called.
        at_processor: bool,
    },
    /// Records a refund by other means than the payment: of a manual payment, or of the amount that a failed processor
    /// refund returned.
    RefundOtherwise {
        /// Payment that was refunded; required.
        payment: Option<Id>,
        /// Amount in minor units; `None` is the whole amount that waits.
        amount_cents: Option<i64>,
        /// Refund method, in a word.
        method: String,
    },
    /// Applies a command about checkouts, refunds and payments at the processor.
    Ledger(LedgerCommand),
    /// Cancels the order and its jobs. A customer may do so only while the order is unpaid.
    Cancel {
        /// Abandons attempts on printers that do not answer instead of waiting for them.
        force: bool,
        /// Printers' records of the live attempts; used only with `force`.
        prints: PrinterRecords,
    },
    /// Ships parts of the order; the order becomes shipped when the last of them leave.
    Ship {
        /// Shipping details. For [`PICKUP`] the tracking number and the date may be empty.
        shipment: Shipment,
        /// Parts to ship; `None` is all good parts that have not left, once the order is ready.
        lines: Option<Vec<SentLine>>,
        /// `true` if the customer accepts fewer parts than ordered; otherwise a short order is refused.
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

/// Changes of one of an order's jobs; answered with the job.
#[derive(Clone, Debug)]
pub enum JobCommand {
    /// Claims the printer that the dispatcher proposes for a job.
    Dispatch {
        /// Job to print.
        job: Id,
        /// Printer to claim.
        printer: Id,
    },
    /// Gives up a job that waits for a printer: these printers refused it, and no other could print it. Sent by the
    /// dispatcher.
    FailRefused {
        /// Job that no printer accepts.
        job: Id,
        /// Printers that refused it.
        printers: Vec<Id>,
    },
    /// Edits the rank of a job; `None` leaves a field unchanged.
    Update {
        /// Job to edit.
        job: Id,
        /// Job version that the caller read; refused with 412 if it has changed since.
        if_version: Option<i64>,
        /// New priority, 0 to 9.
        priority: Option<u8>,
        /// New due date; `Some(None)` clears it.
        due_at: Option<Option<Timestamp>>,
    },
    /// Cancels a job. One with a live attempt becomes CANCELLED when its printer confirms, unless forced.
    Cancel {
        /// Job to cancel.
        job: Id,
        /// Abandons the attempt instead of waiting for the printer.
        force: bool,
        /// Printer's record of the live attempt; used only with `force`.
        prints: PrinterRecords,
    },
    /// Prints a job again that is FAILED, COMPLETED or CANCELLED: → VALIDATED, with a new claim on the material.
    Retry(Id),
    /// Signs off the last print of a job with the number of good parts, for the first time or as a correction.
    SignOff {
        /// Job whose parts were inspected.
        job: Id,
        /// Result of the inspection.
        inspection: Inspection,
    },
    /// Releases a job past the reorder point, or one that could not be sliced to be sliced again:
    /// `awaiting_manual_review` → VALIDATED. Does not override a shortage of material.
    Release {
        /// Job to release.
        job: Id,
        /// Current stock of the material that the job waits for. The claim that follows decides; this only gives the
        /// operator an immediate answer.
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

/// Reports from aggregates that the order works with, and from its own effects.
#[derive(Clone, Debug)]
pub enum OrderNews {
    /// Records that the selling shop will be notified of this many shipments, and of whether more follow.
    ShopTold {
        /// Number of the order's shipments covered.
        shipments: u32,
        /// `true` if nothing more leaves.
        last: bool,
    },
    /// Sets the production data of the CREATED jobs of a SKU, as just read from SKU and file.
    Prepared {
        /// SKU that was read.
        sku: Id,
        /// Production data that was read; without a file nothing changes.
        make: Box<ProductionData>,
    },
    /// Records the outcome of slicing, for the jobs of a SKU that wait for G-code from a source.
    Slicing {
        /// SKU that is produced.
        sku: Id,
        /// Source of the G-code.
        source: SliceSource,
        /// Outcome of slicing.
        news: JobSlicingOutcome,
    },
    /// Applies a material's answer to claims: the material, and the state of each claim with the human-readable reason
    /// if it waits.
    Stock(Id, Vec<(ClaimId, ClaimState, Option<String>)>),
    /// Records that a material has settled these claims.
    Settled(Vec<ClaimId>),
    /// Applies a printer's report on an attempt.
    Attempt {
        /// Job that is attempted.
        job: Id,
        /// Attempt that is reported on.
        attempt: Id,
        /// Report of the printer.
        report: Report,
    },
    /// Records the promised completion time from the first forecast that covers all jobs. A later one changes nothing.
    Promise(Promise),
    /// Records the inspection that was entered at a printer when its bed was cleared. The printer reports it once per
    /// attempt, and repeats it until the order has answered.
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
    /// Records that a photo of a print's end was stored, or is deleted because its retention period is over.
    Photographed {
        /// Job that was printed.
        job: Id,
        /// Attempt that ended.
        attempt: Id,
        /// Photo file; `None` to delete it, which is refused while a sign-off refers to it.
        file: Option<Id>,
    },
    /// Records that the order's invoice was notified of its money.
    InvoiceTold {
        /// Invoice that was notified.
        invoice: Id,
        /// Money state that it was notified of.
        money: InvoicedMoney,
        /// `true` if the invoice is void, so that the remaining balance needs another one.
        void: bool,
    },
    /// Issues the invoice that waited for the seller's name and address, if the settings name them now.
    IssueInvoice,
    /// Stores the departures that were traced when the order was loaded, and flags what they show to be owed again.
    KeepDepartures,
}

/// Answer to an [`OrderNews`]: the report was processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OrderNewsAnswer {
    /// For the report of a printer: `false` means that the order has ended or given up the attempt, and the printer may
    /// drop it once it is sure that nothing prints. For an invoice that is issued late: `true` means that it still
    /// waits.
    pub is_wanted: bool,
}

/// Recall of reservations for a material because less is on hand than is reserved; with the human-readable reason.
/// Answered with the reservations that the order retains, because an attempt is live.
#[derive(Clone, Debug)]
pub struct RecallClaims(pub Vec<ClaimId>, pub String);
