//! An order: what a customer or an operator wants made, from the draft to the parcel.
//!
//! The order is the aggregate that owns its jobs, their attempts and its payments: all of them change in one commit
//! with the order, so that no reader ever sees a paid order without its jobs. The rules are grouped by the stage of
//! its life: `place` (made, confirmed), `shipping` (what has left), `departures` (which prints it came from), `notice`
//! (what the customer is told of it), `money` (what its [ledger](crate::domain::ledger) does to it), `invoiced` (its
//! invoice), `work` (jobs made, cancelled, retried, released), `stock` (material claimed and settled), `slicing`
//! (models made into G-code), `attempt` (printing), `sign_off` (how many parts are good; `parts` counts them), `sold`
//! (orders that another shop sold). `command` and `effect` have the messages, `rules` dispatches them and derives the
//! effects, and `change` collects what one command alters.
//!
//! | from | on | to | event |
//! | --- | --- | --- | --- |
//! | none | made as a draft | draft | `order.draft` |
//! | none | made by an operator, or from an accepted quote | created | `order.created` |
//! | draft | confirmed, or a checkout session is made | created; paid if the total is zero | `order.created` |
//! | draft, created, `payment_failed` | paid in full | paid; the jobs are made in the same commit | `order.paid` |
//! | created | the processor reports a failed payment | `payment_failed` | `order.payment_failed` |
//! | paid | the first job is seen printing | printing | `order.printing` |
//! | printing | no job unfinished, unsigned or failed, at least one completed | ready | `order.ready` |
//! | ready | a completed job is retried, or rejected parts are made again | printing | none |
//! | shipped | parts that left are rejected, so that they are owed again | printing; ready if nothing is made again | none; `order.ready` |
//! | printing, ready | carrier, tracking number and delivery date are given, or `pickup`, and the last of what was ordered leaves; a short one only if that is accepted | shipped | `order.shipped` |
//! | any but shipped, cancelled, refunded | cancelled | cancelled | `order.cancelled` |
//! | paid and later, or cancelled | all that was kept is paid back | refunded; unfinished jobs cancelled | `order.refunded` |
//!
//! A command outside this table is refused with 409 `invalid_transition`. Signed events of the payment processor are
//! never refused, because the money has moved whatever the order's status is. The table of a job is in
//! [`crate::domain::job`].

mod attempt;
mod change;
mod command;
mod departures;
mod effect;
mod invoiced;
mod money;
mod notice;
mod parts;
mod place;
mod promised;
mod report;
mod rules;
mod shipping;
mod sign_off;
mod slicing;
mod sold;
mod stock;
mod work;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::{order_to, shipped_mail};

pub use crate::domain::job::Resolution;
pub use command::{AgreedTerms, NewOrder, OrderAnswer, OrderCommand, PICKUP, SeenPrints, SlicingNews, StockNow};
pub use effect::OrderEffect;
pub use invoiced::{InvoiceTold, OrderCreated, OrderInvoice};
pub use parts::LineParts;
pub use report::Report;
pub use sold::{CHANNEL_METHOD, LeftShipment, NewsThere, SoldElsewhere, SoldOrder};

pub use crate::domain::address::Address;
pub use crate::domain::ledger::{
    AtProcessor, Checkout, CheckoutNews, CheckoutState, LedgerCommand, LedgerEffect, PROCESSOR, Payment, PaymentNews,
    RefundAsked, RefundNews,
};
pub use crate::domain::order_status::{OrderStatus, SentLine, SentShipment, Shipment};

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::domain::amount::Amount;
use crate::domain::file::GcodeForm;
use crate::domain::id::Id;
use crate::domain::job::{Attempt, Job};
use crate::domain::launch::{MaterialNeed, SlicedFor};
use crate::domain::ledger::Payable as _;
use crate::domain::party::Party;
use crate::domain::principal::{Principal, Role};
use crate::domain::promise::Promise;
use crate::domain::slice_source::SliceSource;
use crate::domain::time::Timestamp;

/// How an order came about; fixed when it is made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OrderKind {
    /// Placed from the catalogue: each line names a SKU at its catalogue price.
    Catalog,
    /// Made from a quote that the customer accepted.
    Custom,
    /// Entered by an operator.
    Manual,
}

/// One line of an order. SKU name, price and tax rate are copied when the order is placed and never follow later
/// changes of the SKU.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// The SKU that is made; [`NO_SKU`] for what is not printed, such as design work.
    pub sku_id: Id,
    /// Number of parts ordered, at least 1. The line makes one job for each full or partial plate of them.
    pub quantity: u32,
    /// Net price of one part in minor units of the order's currency, copied from the SKU.
    pub unit_price_cents: i64,
    /// The SKU's name, copied from the SKU.
    pub description: String,
    /// Tax rate of the destination in basis points (1/100 of a percent), set by the rules when the order is made.
    pub tax_rate_bps: i64,
    /// What the line's jobs need to be printed; `None` for a kit, whose parts are lines of their own, and for work.
    #[serde(default)]
    pub make: Option<Make>,
    /// For parts of a kit: index of the kit's line. They cost nothing, because the kit has the price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kit_line: Option<u32>,
    /// For parts of a kit: how many of them one set has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_set: Option<u32>,
}

/// Stands in lines that are not printed, where others name their SKU.
pub const NO_SKU: Id = Id::ONLY;

/// Most lines of one order, with the parts of its kits: an order is kept in memory and written as a whole.
pub const MAX_LINES: usize = 300;

/// What a part is made from and with, as its SKU and the G-code file say. Rules do no look-ups: it is read for a line
/// when the order is placed, and once more for a job before it is VALIDATED, which freezes it for that job. Of the
/// line's own copy `units_per_plate` counts, which fixes the number of jobs; the rest is what was known at that time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Make {
    /// Parts that one plate makes; 0 counts as 1.
    pub units_per_plate: u32,
    /// The material that the parts are made of.
    pub material_id: Id,
    /// Material for one plate, in the material's unit: the weight stated in the G-code file if there is one, else the
    /// SKU's estimate.
    pub need: Amount,
    /// What one plate takes of further materials; none of them twice.
    #[serde(default)]
    pub further: Vec<MaterialNeed>,
    /// The type of machine that can make it.
    pub machine_type: crate::domain::sku::MachineType,
    /// Size of the print in millimetres; `None` fits every build volume.
    pub dimensions: Option<crate::domain::sku::Dimensions>,
    /// The G-code file; `None` without a source leaves a job in CREATED, because there is nothing to print.
    pub file_id: Option<Id>,
    /// What the G-code is sliced from, where there is no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SliceSource>,
    /// The format of the G-code file, which decides the file name's extension on the printer.
    #[serde(default)]
    pub file_form: GcodeForm,
    /// The plate of the file, and the machine that it was sliced for.
    #[serde(default)]
    pub sliced_for: SlicedFor,
    /// Length of filament for one plate in millimetres, as the G-code file states it.
    pub file_filament_mm: Option<f64>,
    /// Print time of one plate in seconds, as the G-code file states it.
    pub estimated_seconds: Option<i64>,
}

impl Make {
    /// All materials that it is made of.
    pub fn materials(&self) -> impl Iterator<Item = Id> + use<> {
        let further: Vec<Id> = self.further.iter().map(|one| one.material_id).collect();
        std::iter::once(self.material_id).chain(further)
    }
}

/// An order with all that belongs to it.
///
/// Invariants: prices, tax and total are frozen when the order is made; jobs exist only once it was paid, and are
/// never removed; payments are only added. `jobs` and `payments` are not part of the serialized order: each is a row
/// of its own under the order's version, so that a change of one job does not write all of them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// Identifier of the order.
    pub id: Id,
    /// Sequential number for people, shown as `ORD-000123`; numbers may have gaps.
    pub number: i64,
    /// Counts the changes that people made, from 1; shown as the order's version and compared with `If-Match`.
    #[serde(default)]
    pub revision: i64,
    /// How the order came about.
    pub kind: OrderKind,
    /// Where the order stands in its life.
    pub status: OrderStatus,
    /// The site that the order belongs to, one of the configured ones.
    pub site: String,
    /// The API key or user that made the order; an API key of role `customer` sees the orders it made. `None` if the
    /// system made it.
    pub made_by: Option<Id>,
    /// The customer's record; `None` if there is none.
    pub customer_id: Option<Id>,
    /// The customer's e-mail address, trimmed and in lower case; it links the order to the customer's account.
    pub customer_email: Option<String>,
    /// Who is named on its invoice, as the customer's profile said when the order was made or its checkout began;
    /// `None` where nothing is known but the e-mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buyer: Option<Party>,
    /// What is ordered, at least one line; fixed when the order is made.
    pub lines: Vec<Line>,
    /// Currency of all amounts as ISO 4217 code in lower case.
    pub currency: String,
    /// Sum of the lines without tax, in minor units.
    pub subtotal_cents: i64,
    /// Flat shipping charge in minor units.
    pub shipping_cents: i64,
    /// Tax in minor units on lines and shipping: rounded half up once for each rate, then added.
    pub tax_cents: i64,
    /// Discount in minor units; no rule grants one yet, so it is 0.
    pub discount_cents: i64,
    /// Amount due in minor units: subtotal, tax and shipping, less the discount.
    pub total_cents: i64,
    /// Free text of the customer, or of whoever placed the order for them; they read it.
    pub notes: Option<String>,
    /// Free text of the staff, which customers do not read.
    #[serde(default)]
    pub internal_notes: Option<String>,
    /// Where the order is shipped to; `None` until it is known.
    pub shipping_address: Option<Address>,
    /// Priority of the order's jobs, 0 to 9; the higher one is printed first, 5 is the default.
    pub priority: u8,
    /// When the order should be done; `None` ranks behind every date of the same priority.
    pub due_at: Option<Timestamp>,
    /// When the order was promised to be ready; `None` until a forecast covers all of its jobs.
    #[serde(default)]
    pub promise: Option<Promise>,
    /// How the order travels; set when it is shipped, with the last of its shipments.
    pub shipment: Option<Shipment>,
    /// What has left, oldest first; none in orders that were shipped before shipments were recorded.
    #[serde(default)]
    pub shipments: Vec<SentShipment>,
    /// Reasons for which a person must look at the order, each at most once: `refund_due` (money has to go back),
    /// `amount_mismatch` (another amount or currency came than was due), `job_failed`, `all_jobs_cancelled`, `short`
    /// (ready with fewer good parts than were ordered), `needs_attention` (rejected parts that nothing makes again),
    /// `rejected_after_shipping` (parts that left were rejected, and as many were not sent since), `surplus` (a printer
    /// has a job that was made for rejected parts, and nothing needs its parts any more),
    /// `refund_failed` (the processor refused a refund, or took it and it failed later, and as much was not given back
    /// since), `disputed` (the customer's bank takes a payment back), `dispute_lost` (it has, and the books do not
    /// say so yet) and `seller_incomplete` (its invoice waits for the shop's name and address). A flag goes when its
    /// reason is gone.
    pub flags: Vec<String>,
    /// The processor's checkout session for this order, if one is known; cleared when the session expires.
    pub payment_session: Option<String>,
    /// What is under way at the payment processor.
    #[serde(default, skip_serializing_if = "AtProcessor::is_idle")]
    pub at_processor: AtProcessor,
    /// Payments in the order's currency less their refunds, in minor units; follows from `payments`, and is kept here
    /// for lists, which do not read them.
    #[serde(default)]
    pub kept_cents: i64,
    /// The order's invoice and what it was told; `None` before the first payment, and for orders that were paid before
    /// there were invoices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invoice: Option<OrderInvoice>,
    /// Whether its invoice is due and waits until the settings name the seller; it is issued then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub invoice_waits: bool,
    /// Where it was sold, when another shop did; it is told of the shipments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sold: Option<SoldElsewhere>,
    /// When the order was made, as draft or placed.
    pub created_at: Timestamp,
    /// When the order was paid; `None` until then. A later refund keeps it.
    pub paid_at: Option<Timestamp>,
    /// When the order or one of its jobs last changed.
    pub updated_at: Timestamp,
    /// The order's jobs by id.
    #[serde(skip)]
    pub jobs: rpds::RedBlackTreeMapSync<Id, Arc<Job>>,
    /// Payments and refunds, oldest first.
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
    /// Whether a payment is still to come: unpaid, and neither cancelled nor refunded.
    fn payable(self) -> bool {
        matches!(self, Self::Draft | Self::Created | Self::PaymentFailed)
    }
}

impl Order {
    /// The order number as people see it: `ORD-000123`.
    pub fn number_text(&self) -> String {
        format!("ORD-{:06}", self.number)
    }

    /// Whether this principal may read the order. Staff read every order, a signed-in customer those of their address.
    /// An API key of role `customer` reads those of the customer whose e-mail address it carries or, if it carries
    /// none, those that it made itself.
    pub fn visible_to(&self, by: &Principal) -> bool {
        match by {
            Principal::Customer { email, .. }
            | Principal::Key { role: Role::Customer, customer_email: Some(email), .. } => {
                self.customer_email.as_deref() == Some(email)
            }
            Principal::Key { role: Role::Customer, id, .. } => self.made_by == Some(*id),
            _ => by.role().is_some_and(|role| role >= Role::Operator),
        }
    }

    /// What is still to be paid, in minor units; 0 once it is paid.
    pub fn due_cents(&self) -> i64 {
        self.to_pay()
    }

    /// Whether its price stands for nobody yet: a draft whose terms were not agreed on and of which nothing is paid.
    pub(crate) fn is_unpriced(&self) -> bool {
        let agreed = self.kind == OrderKind::Custom || self.sold.is_some();
        self.status == OrderStatus::Draft && !agreed && self.payments.is_empty() && self.invoice.is_none()
    }
}

/// What a commit of an order writes besides the order itself.
#[derive(Clone, Debug)]
pub enum OrderRow {
    /// A job as it is now (insert or replace).
    Job(Arc<Job>),
    /// An attempt as it is now (insert or replace).
    Attempt(Attempt),
    /// A payment as it is now (insert or replace).
    Payment(Payment),
}
