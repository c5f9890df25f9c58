//! An order's life, top to bottom: drafted or placed, paid, made, ready, shipped; cancelled or refunded.
//!
//! State tables: decisions §3 (orders) and §4 (jobs). The order owns its jobs, their attempts and its payments.

<<<<<<< HEAD
use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::job::Job;
use crate::domain::material::{ClaimAsk, ClaimId, ClaimState};
use crate::domain::telemetry::PrintEnd;
=======
mod attempt;
mod change;
mod command;
mod money;
mod place;
mod rules;
mod stock;
mod work;

#[cfg(test)]
mod tests;

pub use command::{
    NewOrder, OrderAnswer, OrderCommand, OrderWant, PaymentNews, Report, Resolution,
};

use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::job::Job;
use crate::domain::principal::{Principal, Role};
>>>>>>> floor
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Where an order comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OrderKind {
    /// Lines name SKUs; placed by a customer.
    Catalog,
    /// From an accepted quote.
    Custom,
    /// An operator's.
    Manual,
}

/// Where an order stands (decisions §3).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words of the table in decisions §3")]
pub enum OrderStatus {
    Draft,
    Created,
    PaymentFailed,
    Paid,
    Printing,
    Ready,
    Shipped,
    Cancelled,
    Refunded,
}

/// What a line's jobs are made from: the SKU as it was when the order was placed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// What.
    pub sku_id: Id,
    /// How many parts.
    pub quantity: u32,
    /// From the SKU, frozen; minor units.
    pub unit_price_cents: i64,
    /// The SKU's name, frozen.
    pub description: String,
    /// Tax of the destination, basis points, frozen.
    pub tax_rate_bps: i64,
    /// What jobs will need.
    pub make: Make,
}

/// Facts for the jobs of a line, gathered by the edge when the order is placed (file metadata included).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Make {
    /// Parts per plate.
    pub units_per_plate: u32,
    /// Required material.
    pub material_id: Id,
    /// Need of one plate: the G-code's own grams where it says them, else the SKU's estimate.
    pub need: Amount,
    /// Which machines.
    pub machine_type: crate::domain::sku::MachineType,
    /// Size of the plate, mm.
    pub dimensions: Option<crate::domain::sku::Dimensions>,
    /// The G-code.
    pub file_id: Option<Id>,
    /// Filament length the file says, mm.
    pub file_filament_mm: Option<f64>,
    /// Print time, seconds.
    pub estimated_seconds: Option<i64>,
}

/// A payment, or a refund (negative); a row under the order's version.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    /// Identifier.
    pub id: Id,
    /// Its order.
    pub order_id: Id,
    /// Minor units; negative for refunds.
    pub amount_cents: i64,
    /// ISO 4217, lower case.
    pub currency: String,
    /// `processor`, or the word of `mark-paid`.
    pub method: String,
    /// The processor's payment intent or the operator's reference.
    pub reference: Option<String>,
    /// When.
    pub created_at: Timestamp,
}

/// Where it went.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shipment {
    /// Who carries it.
    pub carrier: String,
    /// Their number.
    pub tracking_number: String,
    /// `YYYY-MM-DD`.
    pub estimated_delivery: String,
}

/// A postal address (the same members as an address of a customer, decisions §10).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "the words say it")]
pub struct Address {
    pub line1: String,
    #[serde(default)]
    pub line2: Option<String>,
    pub city: String,
    #[serde(default)]
    pub region: Option<String>,
    pub postal_code: String,
    /// ISO 3166-1 alpha-2.
    pub country: String,
}

/// An order. `jobs` and `payments` are skipped by serde: rows under its version.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// Identifier.
    pub id: Id,
    /// `ORD-000123`.
    pub number: i64,
    /// Where it comes from.
    pub kind: OrderKind,
    /// Where it stands.
    pub status: OrderStatus,
    /// One of the five sites.
    pub site: String,
    /// The key or user that made it: a `customer` key sees its own.
    pub made_by: Option<Id>,
    /// The customer record, when there is one.
    pub customer_id: Option<Id>,
    /// Trimmed, lower-cased.
    pub customer_email: Option<String>,
    /// What is ordered.
    pub lines: Vec<Line>,
    /// ISO 4217, lower case.
    pub currency: String,
    /// Sum of the lines.
    pub subtotal_cents: i64,
    /// Flat shipping.
    pub shipping_cents: i64,
    /// Tax, half-up per line.
    pub tax_cents: i64,
    /// Taken off.
    pub discount_cents: i64,
    /// What is to be paid.
    pub total_cents: i64,
    /// Words for people.
    pub notes: Option<String>,
    /// Destination.
    pub shipping_address: Option<Address>,
    /// 0 to 9, higher first; default 5.
    pub priority: u8,
    /// Wanted by.
    pub due_at: Option<Timestamp>,
    /// Where it went.
    pub shipment: Option<Shipment>,
    /// What a person must look at (`refund_due`, `amount_mismatch`, `all_jobs_cancelled`, …).
    pub flags: Vec<String>,
    /// The processor's checkout session and payment intent, where known.
    pub payment_session: Option<String>,
    /// The processor's payment intent, where known.
    pub payment_intent: Option<String>,
    /// Refunded by the processor so far (cumulative), even when seen before the payment.
    pub refunded_cents: i64,
    /// The whole of it was refunded.
    pub refunded_whole: bool,
    /// When it was placed.
    pub created_at: Timestamp,
    /// When it was paid.
    pub paid_at: Option<Timestamp>,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Its jobs.
    #[serde(skip)]
    pub jobs: rpds::RedBlackTreeMapSync<Id, Arc<Job>>,
    /// Its payments and refunds, oldest first.
    #[serde(skip)]
    pub payments: Vec<Payment>,
}

impl fmt::Display for OrderStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Draft => "draft",
            Self::Created => "created",
            Self::PaymentFailed => "payment_failed",
            Self::Paid => "paid",
            Self::Printing => "printing",
            Self::Ready => "ready",
            Self::Shipped => "shipped",
            Self::Cancelled => "cancelled",
            Self::Refunded => "refunded",
        })
    }
}

impl OrderStatus {
    /// Nothing was paid yet, and it may still be.
    pub fn payable(self) -> bool {
        matches!(self, Self::Draft | Self::Created | Self::PaymentFailed)
    }
}

impl Order {
    /// `ORD-000123`.
    pub fn number_text(&self) -> String {
        format!("ORD-{:06}", self.number)
    }

    /// Whether they may see it: staff see all, a `customer` key its own orders, or those of its customer (decisions §2).
    pub fn visible_to(&self, by: &Principal) -> bool {
        match by {
            Principal::Key {
                role: Role::Customer,
                customer_email: Some(email),
                ..
            } => self.customer_email.as_deref() == Some(email),
            Principal::Key {
                role: Role::Customer,
                id,
                ..
            } => self.made_by == Some(*id),
            _ => by.role().is_some_and(|role| role >= Role::Operator),
        }
    }

<<<<<<< HEAD
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
    /// Cancels; a customer only while unpaid (the edge says who asks through `Cx::by`).
    Cancel {
        /// Do not wait for printers that do not answer.
        force: bool,
    },
    /// ready → shipped.
    Ship(Shipment),
    /// A material answers how claims stand.
    Stock(Vec<(ClaimId, ClaimState, Option<String>)>),
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
    /// To a printer or a material: heard. For an attempt: whether the order still wants it.
    Heard {
        /// `false`: the attempt is over for the order; the printer may forget it (after making sure that it does not print).
        wanted: bool,
    },
}

/// Outside work of an order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum OrderWant {
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
    /// Ask the printer to cancel an attempt (until it reports the end).
    CancelAt {
        /// Which attempt.
        attempt: Id,
        /// Which printer.
        printer: Id,
    },
    /// Tell the printer an operator's word on an attempt (until it acknowledges, see `Order::resolutions`).
    TellResolution {
        /// Which attempt.
        attempt: Id,
        /// Which printer.
        printer: Id,
        /// Their word.
        outcome: Resolution,
    },
=======
    /// Paid less refunded, in minor units, as the payments say.
    pub fn received_cents(&self) -> i64 {
        self.payments
            .iter()
            .map(|payment| payment.amount_cents)
            .sum()
    }
>>>>>>> floor
}
