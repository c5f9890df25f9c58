//! The messages of an order: commands and answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    Address, InvoiceTold, LedgerCommand, Line, Make, NewsThere, Order, OrderKind, Report, SentLine, Shipment, SoldOrder,
};
use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::job::{Job, Resolution, SeenPrint};
use crate::domain::material::{ClaimId, ClaimState};
use crate::domain::party::Party;
use crate::domain::promise::Promise;
use crate::domain::sign_off::Inspection;
use crate::domain::slice_source::SliceSource;
use crate::domain::time::Timestamp;

/// A new order. The edge has looked up SKUs, materials and files before, because the rules do no look-ups.
#[derive(Clone, Debug)]
pub struct NewOrder {
    /// How the order came about.
    pub kind: OrderKind,
    /// The site; `None` takes the configured default.
    pub site: Option<String>,
    /// The API key or user that makes the order.
    pub made_by: Option<Id>,
    /// The customer's record, where it is known.
    pub customer_id: Option<Id>,
    /// The customer's e-mail address; a key that belongs to one customer fills it in and refuses another one.
    pub customer_email: Option<String>,
    /// Who is named on its invoice; `None` where nothing is known but the e-mail address.
    pub buyer: Option<Party>,
    /// The lines, at least one; their `tax_rate_bps` is ignored and set by the rules.
    pub lines: Vec<Line>,
    /// ISO 4217 code common to all SKUs; the edge refuses mixed currencies with 400.
    pub currency: String,
    /// Free text of the customer, or of whoever places the order for them.
    pub notes: Option<String>,
    /// Free text of the staff, which customers do not read.
    pub internal_notes: Option<String>,
    /// Where the order is shipped to; decides the tax rate.
    pub shipping_address: Option<Address>,
    /// Priority 0 to 9; `None` takes the default, 5.
    pub priority: Option<u8>,
    /// When the order should be done.
    pub due_at: Option<Timestamp>,
    /// `true` makes a draft that the customer's checkout confirms later; `false` places the order at once.
    pub draft: bool,
    /// Whether the shop makes it for itself: nothing is shipped, and an order that then costs nothing is paid at once.
    pub own_use: bool,
}

/// What a customer agreed to before the order was made; the order takes it over and computes neither anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AgreedTerms {
    /// Tax rate of all lines and of shipping, in basis points.
    pub tax_rate_bps: i64,
    /// Charge for shipping in minor units.
    pub shipping_cents: i64,
}

/// What came of slicing a model.
#[derive(Clone, PartialEq, Debug)]
pub enum SlicingNews {
    /// There is G-code. The make is the SKU's with that file: what it needs corrects the reservations.
    Done(Box<Make>),
    /// The slicer failed, with its own words.
    Failed(String),
    /// It waits for something, such as a slicer that is not installed, and goes on by itself; the reason in words for
    /// people.
    Waits(String),
}

/// The carrier of an order that its customer picks up.
pub const PICKUP: &str = "pickup";

/// How much of a material is free.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StockNow {
    /// Free to be reserved, in the material's unit.
    pub available: Amount,
    /// Unit of `available`: `g`, `mL`, `sheet` or `unit`.
    pub unit: &'static str,
    /// Name of the material.
    pub name: String,
}

/// What printers' records say of live attempts, by the attempt's id. An attempt that its printer does not have in hand
/// is not in it.
pub type SeenPrints = BTreeMap<Id, SeenPrint>;

/// What can be asked of an order.
#[derive(Clone, Debug)]
pub enum OrderCommand {
    /// Places the order, or makes it as a draft.
    Create(Box<NewOrder>),
    /// Makes an order that another shop sold: paid there, at the prices there.
    CreateSold(Box<SoldOrder>),
    /// What happened to it in the shop that sold it.
    There(NewsThere),
    /// The shop that sold it will be told of so many shipments, and of whether there are more.
    ShopTold {
        /// How many of the order's shipments it is.
        shipments: u32,
        /// Whether nothing more leaves.
        last: bool,
    },
    /// Makes an order whose tax and shipping were agreed on before, such as by a quote.
    CreateAgreed {
        /// The order, at the agreed prices.
        new: Box<NewOrder>,
        /// What else was agreed.
        agreed: AgreedTerms,
    },
    /// Edits notes, priority, due date and address; `None` leaves a member as it is. The address changes only before
    /// payment, and only to a destination of the same tax rate; a draft without one takes any, and is taxed anew.
    Update {
        /// The version that the caller read; refused with 412 if the order has changed since.
        if_version: Option<i64>,
        /// New notes; `Some(None)` clears them.
        notes: Option<Option<String>>,
        /// New notes of the staff; `Some(None)` clears them.
        internal_notes: Option<Option<String>>,
        /// New priority, 0 to 9; unfinished jobs take it over.
        priority: Option<u8>,
        /// New due date; `Some(None)` clears it; unfinished jobs take it over.
        due_at: Option<Option<Timestamp>>,
        /// New destination; `Some(None)` clears it.
        shipping_address: Option<Option<Address>>,
    },
    /// Who is named on the invoice, as the customer's profile says now; once there is an invoice nothing changes.
    NameBuyer(Box<Party>),
    /// Places a draft: draft → created, or → paid if the total is zero.
    Confirm,
    /// An operator has received money by other means than the processor.
    MarkPaid {
        /// Amount in minor units; `None` is the amount due. Less leaves the order unpaid; more is refused with 400.
        amount_cents: Option<i64>,
        /// How it was paid: `cash`, `bank_transfer`, …; must not be empty.
        method: String,
        /// The operator's own reference, free text.
        reference: Option<String>,
    },
    /// An operator gives money back: records what was given by hand, or has the processor pay back what it took.
    Refund {
        /// The payment that goes back; `None`: those of the processor, the newest first.
        payment: Option<Id>,
        /// Amount in minor units; `None` is all that is left.
        amount_cents: Option<i64>,
        /// Whether the processor can be asked for it.
        at_processor: bool,
    },
    /// An operator gave money back by other means than it came: of what was recorded by hand, or what came back of a
    /// refund of the processor that failed.
    RefundOtherwise {
        /// The payment that goes back; must be named.
        payment: Option<Id>,
        /// Amount in minor units; `None` is all that waits.
        amount_cents: Option<i64>,
        /// How it was given back, in a word.
        method: String,
    },
    /// What concerns its checkouts, refunds and payments at the processor.
    Ledger(LedgerCommand),
    /// Cancels the order and its jobs. A customer may do so only while the order is unpaid.
    Cancel {
        /// Gives up on printers that do not answer instead of waiting for them.
        force: bool,
        /// What the printers' records say of the live attempts; only `force` asks for it.
        seen: SeenPrints,
    },
    /// Ships parts of the order; with the last of them it is shipped.
    Ship {
        /// How they travel. For [`PICKUP`] the tracking number and the date may be empty.
        shipment: Shipment,
        /// What leaves; `None` is all that is good and has not left, once the order is ready.
        lines: Option<Vec<SentLine>>,
        /// Whether the customer takes fewer parts than were ordered; without it a short order is refused.
        accept_short: bool,
    },
    /// What the CREATED jobs of a SKU are made from and with, as SKU and file say now.
    Prepared {
        /// The SKU that was read.
        sku: Id,
        /// What it says; without a file nothing changes.
        make: Box<Make>,
    },
    /// What came of slicing for the jobs of a SKU that wait for G-code from a source.
    Slicing {
        /// The SKU that is made.
        sku: Id,
        /// What the G-code was to be made from.
        source: SliceSource,
        /// How it went.
        news: SlicingNews,
    },
    /// A material's answer to claims: which material, and for each claim how it stands and, if it waits, why in words
    /// for people.
    Stock(Id, Vec<(ClaimId, ClaimState, Option<String>)>),
    /// A material asks reservations back because less is on hand than is reserved; with the reason in words for
    /// people. The answer lists those that are kept.
    Recall(Vec<ClaimId>, String),
    /// A material has settled these claims.
    Settled(Vec<ClaimId>),
    /// The dispatcher proposes a printer for a job.
    Dispatch {
        /// The job to be printed.
        job: Id,
        /// The printer to be claimed.
        printer: Id,
    },
    /// The dispatcher gives up a job that waits for a printer: these printers refused it, and no other could make it.
    FailRefused {
        /// The job that nobody takes.
        job: Id,
        /// The printers that refused it.
        printers: Vec<Id>,
    },
    /// A printer's report on an attempt.
    Attempt {
        /// The job that is attempted.
        job: Id,
        /// Which try of the job is meant.
        attempt: Id,
        /// How far it came.
        report: Report,
    },
    /// The first forecast that covers all jobs: when the order is promised to be ready. A later one changes nothing.
    Promise(Promise),
    /// Edits the rank of a job; `None` leaves a member as it is.
    UpdateJob {
        /// The job to edit.
        job: Id,
        /// The job's version that the caller read; refused with 412 if it has changed since.
        if_version: Option<i64>,
        /// New priority, 0 to 9.
        priority: Option<u8>,
        /// New due date; `Some(None)` clears it.
        due_at: Option<Option<Timestamp>>,
    },
    /// Cancels a job. One with a live attempt becomes CANCELLED when its printer confirms, unless forced.
    CancelJob {
        /// The job to cancel.
        job: Id,
        /// Gives up on the printer instead of waiting for it.
        force: bool,
        /// What the printer's record says of the live attempt; only `force` asks for it.
        seen: SeenPrints,
    },
    /// Prints a job again that is FAILED, COMPLETED or CANCELLED: → VALIDATED, with a new claim on the material.
    RetryJob(Id),
    /// A person says how many parts of a job's last print are good, for the first time or once more.
    SignOff {
        /// The job whose parts they are.
        job: Id,
        /// What the person says.
        said: Inspection,
    },
    /// A printer tells what a person said when they cleared its bed. It tells so of each attempt once, and repeats it
    /// until the order has answered.
    SignedAtPrinter {
        /// The job that was printed.
        job: Id,
        /// The attempt whose parts were judged.
        attempt: Id,
        /// What the person said.
        said: Inspection,
        /// The principal who judged the parts, as text.
        by: String,
        /// When they said it.
        at: Timestamp,
    },
    /// A picture of a print's end was taken and kept, or its time is over and it is deleted.
    Photographed {
        /// The job that was printed.
        job: Id,
        /// The attempt that ended.
        attempt: Id,
        /// The file that is the picture; `None` when it is deleted, which is refused while a sign-off names it.
        file: Option<Id>,
    },
    /// Releases a job past the reorder point, or one that could not be sliced to be sliced again:
    /// `awaiting_manual_review` → VALIDATED. Not past a shortage of material.
    ReleaseJob {
        /// The job to release.
        job: Id,
        /// The stock now of the material that the job waits for. The claim that follows decides; this only tells the
        /// operator at once.
        stock: StockNow,
    },
    /// The order's invoice has heard of its money.
    InvoiceTold {
        /// The invoice that heard it.
        invoice: Id,
        /// What it was told.
        told: InvoiceTold,
        /// Whether it is void, so that money which is kept needs another one.
        void: bool,
    },
    /// Issues the invoice that waited for the seller's name and address, if the settings give them now.
    IssueInvoice,
    /// An operator decides an attempt that lives; the printer is told by an effect.
    Resolve {
        /// The job whose live attempt is decided.
        job: Id,
        /// What the operator saw.
        outcome: Resolution,
        /// What the printer's record says of the attempt.
        seen: SeenPrint,
    },
}

/// An order's answer to a command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum OrderAnswer {
    /// The order after the change; serialized without its jobs.
    Order(Box<Order>),
    /// The job after the change.
    Job(Arc<Job>),
    /// To the dispatcher: the attempt that claims the printer.
    Claimed(Id),
    /// To a material that asks reservations back: the claims that stay reserved, because an attempt is live.
    Kept(Vec<ClaimId>),
    /// To a printer or a material: the message was processed.
    Heard {
        /// For a report: `false` means that the order has ended or given up the attempt, and the printer may drop it
        /// once it is sure that nothing prints.
        wanted: bool,
    },
}
