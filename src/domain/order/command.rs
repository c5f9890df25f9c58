//! What is asked of an order, what it answers, and the outside work it calls for.

use super::{Address, Line, Order, OrderKind, Shipment};
use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::job::Job;
use crate::domain::material::{ClaimAsk, ClaimId, ClaimState};
use crate::domain::printer_status::PrintEnd;
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a new order says; the edge has looked up SKUs, materials and files.
#[derive(Clone, Debug)]
pub struct NewOrder {
    /// Where it comes from.
    pub kind: OrderKind,
    /// One of the five sites; `None` = the configured one.
    pub site: Option<String>,
    /// The key or user that makes it.
    pub made_by: Option<Id>,
    /// Whose it is.
    pub customer_email: Option<String>,
    /// SKU, quantity, frozen facts; `tax_rate_bps` is filled by the rules.
    pub lines: Vec<Line>,
    /// Currency of all the SKUs (mixed ones are refused by the edge with 400).
    pub currency: String,
    /// Words for people.
    pub notes: Option<String>,
    /// Destination.
    pub shipping_address: Option<Address>,
    /// 0 to 9.
    pub priority: Option<u8>,
    /// Wanted by.
    pub due_at: Option<Timestamp>,
    /// Stays a draft (customer's checkout follows) instead of being placed.
    pub draft: bool,
}

/// How far a printer came with an attempt, as it reports until the order has heard.
#[derive(Clone, PartialEq, Debug)]
pub enum Report {
    /// It took the job and uploads.
    Uploading,
    /// The start is about to go out.
    StartSent,
    /// It shows our file as printing.
    Printing,
    /// Paused.
    Paused,
    /// Nobody can say whether it began; words for people.
    Unverified(String),
    /// It began and ended; what was used where the printer tells (mm of filament, and progress 0 to 1).
    Ended {
        /// How.
        end: PrintEnd,
        /// Filament used, mm.
        filament_mm: Option<f64>,
        /// 0 to 1.
        progress: f64,
        /// Words of the printer.
        reason: Option<String>,
    },
    /// It certainly did not and cannot start: refused, upload failed, or revoked.
    NotStarted {
        /// `false`: no start was ever sent; nothing was tried at the machine.
        start_sent: bool,
        /// Whether it counts as one of the tries (an upload began).
        counts: bool,
        /// In plain words.
        reason: String,
    },
    /// An emergency stop before it was seen to print: nothing of it prints, and it is not tried again by itself.
    Stopped {
        /// In plain words.
        reason: String,
    },
    /// Cancelled before anything began.
    CancelledBeforeStart,
}

/// An operator's word on an attempt that nobody can verify (`resolve`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words of decisions §7")]
pub enum Resolution {
    NotStarted,
    Finished,
    Failed,
}

/// What a signed payment event says (never refused for the state, decisions §3).
#[derive(Clone, PartialEq, Debug)]
pub enum PaymentNews {
    /// Paid.
    Paid {
        /// Minor units, where the event says them.
        amount_cents: Option<i64>,
        /// ISO 4217, where the event says it.
        currency: Option<String>,
        /// Checkout session.
        session: Option<String>,
        /// Payment intent.
        intent: Option<String>,
    },
    /// A payment failed.
    Failed {
        /// Words of the processor.
        reason: Option<String>,
        /// Payment intent.
        intent: Option<String>,
    },
    /// Refunded; the amount is cumulative.
    Refunded {
        /// Minor units, cumulative.
        amount_cents: Option<i64>,
        /// All of it.
        whole: bool,
        /// Payment intent.
        intent: Option<String>,
    },
    /// The checkout session ended unpaid.
    SessionExpired {
        /// Which.
        session: Option<String>,
    },
}

/// What is asked of an order.
#[derive(Clone, Debug)]
pub enum OrderCommand {
    /// Makes it.
    Create(Box<NewOrder>),
    /// Changes notes, priority, due date, address (address only before paid).
    Update {
        /// Refused as stale when the version differs.
        if_version: Option<i64>,
        /// Absent = stays; `Some(None)` = cleared.
        notes: Option<Option<String>>,
        /// 0 to 9; unfinished jobs follow.
        priority: Option<u8>,
        /// Unfinished jobs follow.
        due_at: Option<Option<Timestamp>>,
        /// Destination.
        shipping_address: Option<Option<Address>>,
    },
    /// draft → created (a zero total: → paid).
    Confirm,
    /// An operator takes the money: the full amount.
    MarkPaid {
        /// Default: the amount due; less is refused for now (400), more is 400.
        amount_cents: Option<i64>,
        /// `cash`, `bank_transfer`, …
        method: String,
        /// Free.
        reference: Option<String>,
    },
    /// A signed event of the payment processor.
    Payment(PaymentNews),
    /// Cancels; a customer only while unpaid (the edge says who asks through `DecisionContext::by`).
    Cancel {
        /// Do not wait for printers that do not answer.
        force: bool,
    },
    /// ready → shipped.
    Ship(Shipment),
    /// A material answers how claims stand.
    Stock(Vec<(ClaimId, ClaimState, Option<String>)>),
    /// A material asks these reservations back, with the words for people; those that are kept are answered.
    Recall(Vec<ClaimId>, String),
    /// A material has settled these claims.
    Settled(Vec<ClaimId>),
    /// The dispatcher proposes: claims the printer for the job.
    Dispatch {
        /// Which job.
        job: Id,
        /// On which printer.
        printer: Id,
    },
    /// A printer reports on an attempt.
    Attempt {
        /// Which job.
        job: Id,
        /// Which attempt.
        attempt: Id,
        /// How far.
        report: Report,
    },
    /// Changes a job.
    UpdateJob {
        /// Which.
        job: Id,
        /// Refused as stale when the job's version differs.
        if_version: Option<i64>,
        /// 0 to 9.
        priority: Option<u8>,
        /// Wanted by.
        due_at: Option<Option<Timestamp>>,
    },
    /// Cancels a job; one on a printer waits for the printer unless forced.
    CancelJob {
        /// Which.
        job: Id,
        /// Do not wait for the printer.
        force: bool,
    },
    /// FAILED, COMPLETED → VALIDATED with a new reservation.
    RetryJob(Id),
    /// `awaiting_manual_review` → VALIDATED, past the reorder point.
    ReleaseJob(Id),
    /// An operator decides what nobody can verify. The printer hears it through its attempt.
    Resolve {
        /// Which job.
        job: Id,
        /// Their word.
        outcome: Resolution,
    },
}

/// What an order answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum OrderAnswer {
    /// The order after the change (jobs are not part of an answer).
    Order(Box<Order>),
    /// The job after the change.
    Job(Arc<Job>),
    /// To the dispatcher: the attempt that was claimed.
    Claimed(Id),
    /// To a material that asks reservations back: those that stay, because a print is on.
    Kept(Vec<ClaimId>),
    /// To a printer or a material: heard. For an attempt: whether the order still wants it.
    Heard {
        /// `false`: the attempt is over for the order; the printer may forget it (after making sure that it does not print).
        wanted: bool,
    },
}

/// Outside work of an order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum OrderEffect {
    /// Ask a material for stock; answers come back as [`OrderCommand::Stock`].
    Claim {
        /// Which material.
        material: Id,
        /// For which jobs.
        asks: Vec<ClaimAsk>,
    },
    /// Tell a material that claims are done with; then [`OrderCommand::Settled`].
    Settle {
        /// Which material.
        material: Id,
        /// Claims and what was used up.
        claims: Vec<(ClaimId, Amount)>,
    },
    /// Give a claimed attempt to its printer (until the printer reports); a refusal comes back as an attempt report.
    Give {
        /// Which job.
        job: Id,
        /// Which attempt.
        attempt: Id,
        /// Which printer.
        printer: Id,
    },
    /// Ask the printer to cancel an attempt (until it reports the end); when it answers that it does not have it in hand, it
    /// never will: report `CancelledBeforeStart`.
    CancelAt {
        /// Which attempt.
        attempt: Id,
        /// Which printer.
        printer: Id,
    },
    /// Tell the printer an operator's word on an attempt (`resolve`, or a forced cancel), until a final report of the attempt
    /// comes back; when the printer answers that it does not have it in hand, report `CancelledBeforeStart`.
    TellResolution {
        /// Which attempt.
        attempt: Id,
        /// Which printer.
        printer: Id,
        /// Their word.
        outcome: Resolution,
    },
}
