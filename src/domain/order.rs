//! An order's life, top to bottom: drafted or placed, paid, made, ready, shipped; cancelled or refunded.
//!
//! State tables: decisions §3 (orders) and §4 (jobs). The order owns its jobs, their attempts and its payments.

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

pub use command::{NewOrder, OrderAnswer, OrderCommand, OrderEffect, PaymentNews, Report, Resolution};

use crate::domain::amount::Amount;
use crate::domain::file::GcodeForm;
use crate::domain::id::Id;
use crate::domain::job::{Attempt, Job};
use crate::domain::principal::{Principal, Role};
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
    /// In which form it is.
    #[serde(default)]
    pub file_form: GcodeForm,
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
            Principal::Key { role: Role::Customer, customer_email: Some(email), .. } => {
                self.customer_email.as_deref() == Some(email)
            }
            Principal::Key { role: Role::Customer, id, .. } => self.made_by == Some(*id),
            _ => by.role().is_some_and(|role| role >= Role::Operator),
        }
    }

    /// Paid less refunded, in minor units, as the payments say.
    pub fn received_cents(&self) -> i64 {
        self.payments.iter().map(|payment| payment.amount_cents).sum()
    }
}

/// What a commit of an order writes besides the order itself.
#[derive(Clone, Debug)]
pub enum OrderRow {
    /// A job as it is now (insert or replace).
    Job(Arc<Job>),
    /// An attempt as it is now (insert or replace).
    Attempt(Attempt),
    /// A payment (insert).
    Payment(Payment),
}
