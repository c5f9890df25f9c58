//! Order by a customer or an operator, from the draft to the shipment.
//!
//! The order is the aggregate that owns its jobs, their attempts and its payments: all of them change in one commit
//! with the order, so that no reader ever sees a paid order without its jobs. The rules are grouped by stage: `place`
//! (creation, confirmation), `shipping` (shipments), `departures` (prints that shipped parts came from), `notice`
//! (shipment emails to the customer), `money` (effects of its [ledger](crate::ledger)), `invoiced` (its invoice),
//! `work` (creating, cancelling, retrying and releasing jobs), `stock` (claiming and settling material), `slicing`
//! (slicing models to G-code), `attempt` (printing), `sign_off` (quality of finished parts; `parts` counts them),
//! `channel_sale` (orders sold by a different shop). `command` and `effect` define the messages, `rules` dispatches
//! them and derives the effects, and `change` collects the changes made by a command.
//!
//! | from | on | to | event |
//! | --- | --- | --- | --- |
//! | none | created as a draft | draft | `order.draft` |
//! | none | created by an operator, or from an accepted quote | created | `order.created` |
//! | draft | confirmed, or a checkout session is created | created; paid if the total is zero | `order.created` |
//! | draft, created, `payment_failed` | paid in full | paid; the jobs are created in the same commit | `order.paid` |
//! | created | the processor reports a failed payment | `payment_failed` | `order.payment_failed` |
//! | paid | the first job is observed printing | printing | `order.printing` |
//! | printing | no job is unfinished, unsigned or failed, and at least one is completed | ready | `order.ready` |
//! | ready | a completed job is retried, or rejected parts are reprinted | printing | none |
//! | shipped | shipped parts are rejected, so that they are owed again | printing; ready if nothing is reprinted | none; `order.ready` |
//! | printing, ready | the last of the ordered parts are shipped, with carrier, tracking number and delivery date, or `pickup`; a short order only if that is accepted | shipped | `order.shipped` |
//! | any but shipped, cancelled, refunded | cancelled | cancelled | `order.cancelled` |
//! | paid and later, or cancelled | the whole balance is refunded | refunded; unfinished jobs cancelled | `order.refunded` |
//!
//! A command outside this table is rejected with 409 `invalid_transition`. Signed events from the payment processor are
//! never rejected, because the money has moved regardless of the order's status. The table for jobs is in
//! [`crate::job`].

mod attempt;
mod change;
mod channel_sale;
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
mod stock;
mod work;

#[cfg(test)]
mod tests;

pub use crate::job::Resolution;
pub use channel_sale::{CHANNEL_METHOD, ChannelOrigin, ChannelShipment, ShopOrderChange, SoldOrder};
pub use command::{
    AgreedTerms, CurrentStock, JobAnswer, JobCommand, JobSlicingOutcome, NewOrder, OrderAnswer, OrderCommand,
    OrderNews, OrderNewsAnswer, PICKUP, PrinterRecords, RecallClaims,
};
pub use effect::OrderEffect;
pub use invoiced::{InvoicedMoney, OrderCreated, OrderInvoice};
pub use parts::LineParts;
pub use report::Report;
pub use shipping::ShipmentSuggestion;

pub use crate::address::Address;
pub use crate::ledger::{
    Checkout, CheckoutResult, CheckoutState, LedgerCommand, LedgerEffect, PROCESSOR, Payment, PaymentUpdate,
    ProcessorRequests, RefundResult, RequestedRefund,
};
pub use crate::order_status::{OrderStatus, SentLine, SentShipment, Shipment};

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::file::GcodeForm;
use crate::id::Id;
use crate::job::{Attempt, Job};
use crate::launch::{MaterialNeed, SlicingTarget};
use crate::ledger::{Ledger, LedgerOwner as _};
use crate::party::Party;
use crate::principal::{Principal, Role};
use crate::promise::Promise;
use crate::slice_source::SliceSource;
use crate::time::Timestamp;
use words::Language;

/// Origin of an order; fixed when it is created.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OrderKind {
    /// Placed from the catalogue: each line refers to a SKU, at its catalogue price.
    Catalog,
    /// Created from a quote accepted by the customer.
    Custom,
    /// Entered by an operator.
    Manual,
}

/// Order line. SKU name, price and tax rate are copied when the order is placed and are not affected by later changes
/// to the SKU.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderLine {
    /// SKU to produce; [`NO_SKU`] for items that are not printed, such as design work.
    pub sku_id: Id,
    /// Number of parts ordered, at least 1. The line creates one job per plate, including a partly filled one.
    pub quantity: u32,
    /// Net price per part, in minor units of the order's currency, copied from the SKU.
    pub unit_price_cents: i64,
    /// Name, copied from the SKU.
    pub description: String,
    /// Tax rate at the destination in basis points (1/100 of a percent), set by the rules when the order is created.
    pub tax_rate_bps: i64,
    /// Print requirements of the line's jobs; `None` for a kit, whose parts are separate lines, and for services.
    #[serde(default)]
    pub make: Option<ProductionData>,
    /// Index of the kit's line, for parts of a kit. The parts themselves are free of charge, because the kit's line has
    /// the price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kit_line: Option<u32>,
    /// Number of these parts per set, for parts of a kit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_set: Option<u32>,
}

/// Placeholder SKU ID of lines that are not printed.
pub const NO_SKU: Id = Id::ONLY;

/// Maximum number of lines per order, including kit parts. The limit exists because an order is held in memory and
/// written as a whole.
pub const MAX_LINES: usize = 300;

/// Production data of a part, from its SKU and the G-code file. Rules perform no lookups: the data is read for a line
/// when the order is placed, and again for a job before the job becomes VALIDATED, which freezes the data for that job.
/// In the line's own copy, only `units_per_plate` is binding, because it determines the number of jobs; the rest
/// records the state at the time of ordering.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProductionData {
    /// Parts per plate; 0 is treated as 1.
    pub units_per_plate: u32,
    /// Primary material of the parts.
    pub material_id: Id,
    /// Amount of the primary material per plate, in the material's unit: the weight stated in the G-code file, if any,
    /// otherwise the SKU's estimate.
    pub need: Amount,
    /// Amounts of additional materials needed per plate; each material appears once.
    #[serde(default)]
    pub further: Vec<MaterialNeed>,
    /// Machine type that can print the part.
    pub machine_type: crate::sku::MachineType,
    /// Size of the print in millimetres; if `None`, the print fits every build volume.
    pub dimensions: Option<crate::sku::Dimensions>,
    /// G-code file. If there is neither a file nor a source, the job stays CREATED, because there is nothing to print.
    pub file_id: Option<Id>,
    /// Model and settings to slice the G-code from, if there is no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SliceSource>,
    /// Format of the G-code file, which determines the file extension on the printer.
    #[serde(default)]
    pub file_form: GcodeForm,
    /// Plate number within the file, and the machine that the file was sliced for.
    #[serde(default)]
    pub sliced_for: SlicingTarget,
    /// Filament length per plate in millimetres, as stated in the G-code file.
    pub file_filament_mm: Option<f64>,
    /// Print time per plate in seconds, as stated in the G-code file.
    pub estimated_seconds: Option<i64>,
}

impl ProductionData {
    /// Returns the IDs of all required materials.
    pub fn materials(&self) -> impl Iterator<Item = Id> + use<> {
        let further: Vec<Id> = self.further.iter().map(|one| one.material_id).collect();
        std::iter::once(self.material_id).chain(further)
    }
}

/// Order with its jobs and payments.
///
/// Invariants: prices, tax and total are frozen when the order is created; jobs exist only once the order has been
/// paid, and are never removed; payments are only ever added. Jobs and payments are not part of the serialized order:
/// each is a separate row under the order's version, so that a change to one job does not rewrite all of them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// Identifier of the order.
    pub id: Id,
    /// Sequential number, displayed as `ORD-000123`; numbers may have gaps.
    pub number: i64,
    /// Number of changes made by users, starting at 1; exposed as the order's version and compared with `If-Match`.
    #[serde(default)]
    pub revision: i64,
    /// Origin of the order.
    pub kind: OrderKind,
    /// Current status.
    pub status: OrderStatus,
    /// Site that the order belongs to, which is one of the configured sites.
    pub site: String,
    /// API key or user that created the order; an API key with the role `customer` sees the orders it created. `None`
    /// if the order was created by the server.
    pub made_by: Option<Id>,
    /// Customer record, if any.
    pub customer_id: Option<Id>,
    /// The customer's email address, trimmed and in lowercase; links the order to the customer's account.
    pub customer_email: Option<String>,
    /// Buyer to name on the invoice, taken from the customer's profile when the order was created or its checkout
    /// began; `None` if only the email address is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buyer: Option<Party>,
    /// Ordered items, at least one line; fixed when the order is created.
    pub lines: Vec<OrderLine>,
    /// Currency of all amounts as a lowercase ISO 4217 code.
    pub currency: String,
    /// Line total without tax, in minor units.
    pub subtotal_cents: i64,
    /// Flat shipping charge in minor units.
    pub shipping_cents: i64,
    /// Tax on lines and shipping, in minor units: rounded half up once per rate, then added up.
    pub tax_cents: i64,
    /// Discount in minor units; always 0, because no rule grants one yet.
    pub discount_cents: i64,
    /// Amount due, in minor units: subtotal, tax and shipping, minus the discount.
    pub total_cents: i64,
    /// Notes by the customer, or by the user who placed the order for them; visible to the customer.
    pub notes: Option<String>,
    /// Internal staff notes; not visible to customers.
    #[serde(default)]
    pub internal_notes: Option<String>,
    /// Shipping address, if already known.
    pub shipping_address: Option<Address>,
    /// Priority of the order's jobs, from 0 to 9; jobs with higher values are printed first, 5 is the default.
    pub priority: u8,
    /// Requested completion time; jobs without one rank behind all jobs of the same priority that have one.
    pub due_at: Option<Timestamp>,
    /// Promised completion time; `None` until a forecast covers all of the order's jobs.
    #[serde(default)]
    pub promise: Option<Promise>,
    /// Time at which `order.late` was published for the current delay; `None` if the order is not late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_since: Option<Timestamp>,
    /// Details of the final shipment; set when the whole order has been shipped.
    pub shipment: Option<Shipment>,
    /// Shipments sent so far, oldest first; empty for orders shipped before shipments were recorded.
    #[serde(default)]
    pub shipments: Vec<SentShipment>,
    /// Reasons why an operator must look at the order, each at most once: `refund_due` (money must be refunded),
    /// `amount_mismatch` (an amount or currency was received that differs from what was due), `job_failed`,
    /// `all_jobs_cancelled`, `short` (ready with fewer good parts than ordered), `needs_attention` (rejected parts are
    /// not replaced by any job), `rejected_after_shipping` (shipped parts were rejected and not all have been replaced;
    /// on a shipped order, an operator has to act), `surplus` (a printer has a job created for rejected parts that are
    /// no longer needed), `refund_failed` (the processor rejected a refund, or accepted it and it failed later, and the
    /// amount has not been refunded by other means), `disputed` (the customer's bank is reclaiming a payment),
    /// `dispute_lost` (the bank has reclaimed a payment, and the loss has not been recorded yet) and
    /// `seller_incomplete` (the invoice is on hold until the shop's name and address are configured). Each flag is
    /// removed when its reason no longer applies.
    pub flags: Vec<String>,
    /// Payments and refunds, and the pending requests to the payment processor.
    #[serde(flatten, with = "money::OrderLedger")]
    pub ledger: Ledger,
    /// Invoice for the order and the payment state that it was last notified of; `None` before the first payment, and
    /// for orders paid before the shop issued invoices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invoice: Option<OrderInvoice>,
    /// `true` if the invoice is due but on hold until the seller is configured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub invoice_waits: bool,
    /// Origin of the order in the shop that sold it, which is notified of the shipments; `None` for direct sales.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sold: Option<ChannelOrigin>,
    /// Time at which the order was created, as a draft or placed.
    pub created_at: Timestamp,
    /// Time at which the order was paid, if it has been; a later refund does not clear it.
    pub paid_at: Option<Timestamp>,
    /// Time of the last change to the order or one of its jobs.
    pub updated_at: Timestamp,
    /// Jobs of the order, by ID.
    #[serde(skip)]
    pub jobs: rpds::RedBlackTreeMapSync<Id, Arc<Job>>,
    /// `true` if departures were traced to prints when the order was loaded, but have not been stored yet.
    #[serde(skip)]
    pub has_traced_departures: bool,
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
    /// Returns whether a payment is expected, that is, the order is unpaid and neither cancelled nor refunded.
    fn payable(self) -> bool {
        matches!(self, Self::Draft | Self::Created | Self::PaymentFailed)
    }
}

impl Order {
    /// Returns the language of emails to the customer, as recorded with the buyer.
    pub fn language(&self) -> Language {
        self.buyer.as_ref().map(|buyer| buyer.language).unwrap_or_default()
    }

    /// Returns the order number in its display form, `ORD-000123`.
    pub fn number_text(&self) -> String {
        format!("ORD-{:06}", self.number)
    }

    /// Returns whether the given principal may read the order. Staff may read every order, a signed-in customer those
    /// with their email address. An API key with the role `customer` may read the orders of the customer whose email
    /// address it is associated with or, if it has no email address, those that it created itself.
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

    /// Returns whether the shop can no longer change the order: it is cancelled or refunded, everything paid has been
    /// refunded, and no printer has a job of the order. A shipped order is not over, because its parts may later be
    /// rejected or refunded.
    pub fn is_over(&self) -> bool {
        let is_ended = match self.status {
            OrderStatus::Refunded => true,
            OrderStatus::Cancelled => self.ledger.kept_cents == 0,
            _ => false,
        };
        is_ended && self.jobs.values().all(|job| job.over())
    }

    /// Returns the amount still due, in minor units; 0 once the order is paid.
    pub fn due_cents(&self) -> i64 {
        self.ledger.to_pay(&self.terms())
    }

    /// Returns whether the price is not binding yet, which is the case for a draft without agreed terms, payments or an
    /// invoice.
    pub fn is_unpriced(&self) -> bool {
        let agreed = self.kind == OrderKind::Custom || self.sold.is_some();
        self.status == OrderStatus::Draft && !agreed && self.ledger.payments.is_empty() && self.invoice.is_none()
    }
}

/// Row that an order commit writes in addition to the order itself.
#[derive(Clone, Debug)]
pub enum OrderRow {
    /// Job to insert or replace.
    Job(Arc<Job>),
    /// Attempt to insert or replace.
    Attempt(Attempt),
    /// Payment to insert or replace.
    Payment(Payment),
}
