//! A material: stock on hand, what is reserved of it, the ledger of every change, and the line of those who wait.
//!
//! Rules: production spec §1, decisions §4 (stock check, consumption) and §5.

use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

mod alerts;
mod change;
mod decide;
mod line;
mod recall;
#[cfg(test)]
mod tests;

/// Allowed `type` values (decisions §5).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaterialType {
    /// Grams by spool weight.
    Filament,
    /// Millilitres by bottle volume.
    Resin,
    /// Sheets.
    LaserSheet,
    /// Units, counted by hand; never a SKU's material.
    LaserConsumable,
}

impl MaterialType {
    /// The unit its amounts are in.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Filament => "g",
            Self::Resin => "mL",
            Self::LaserSheet => "sheet",
            Self::LaserConsumable => "unit",
        }
    }
}

/// One reservation of one job: the job's `claim` number counts its reservations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ClaimId {
    /// Whose.
    pub job: Id,
    /// Which of its reservations.
    pub number: u32,
}

impl fmt::Display for ClaimId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.job, self.number)
    }
}

/// Where a claim stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimState {
    /// Reserved.
    Held,
    /// In the line: not enough available.
    Short,
    /// In the line: stock on hand is below the reorder point.
    BelowReorderPoint,
}

/// A reservation, or a place in the line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// Whose.
    pub id: ClaimId,
    /// The material.
    pub material_id: Id,
    /// The job's order: told when the claim is held.
    pub order_id: Id,
    /// How much.
    pub need: Amount,
    /// Where it stands.
    pub state: ClaimState,
    /// The order has not acknowledged that it is held.
    pub unheard: bool,
    /// An operator released it past the reorder point.
    pub released: bool,
    /// 0 to 9, higher first.
    pub priority: u8,
    /// Wanted by; earlier first, none last.
    pub due_at: Option<Timestamp>,
    /// The job's age; older first.
    pub since: Timestamp,
    /// When it was reserved: the latest are asked back first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_at: Option<Timestamp>,
    /// Its order is asked to give it up.
    #[serde(default)]
    pub recalled: bool,
    /// Its order was asked and keeps it, because its print is on.
    #[serde(default)]
    pub kept: bool,
}

/// Why stock changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the ledger's words, decisions §5")]
pub enum MovementKind {
    Receive,
    Adjust,
    Reserve,
    Release,
    Consume,
    Sync,
}

/// One line of the append-only ledger; the sums of the deltas equal `quantity` and `reserved`, always.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Movement {
    /// Identifier.
    pub id: Id,
    /// The material.
    pub material_id: Id,
    /// Why.
    pub kind: MovementKind,
    /// Change of stock on hand.
    pub delta_quantity: Amount,
    /// Change of what is reserved.
    pub delta_reserved: Amount,
    /// Stock on hand after it.
    pub quantity: Amount,
    /// Reserved after it.
    pub reserved: Amount,
    /// The job it was for.
    pub job_id: Option<Id>,
    /// In plain words.
    pub reason: Option<String>,
    /// Who did it.
    pub actor: String,
    /// When.
    pub created_at: Timestamp,
}

/// What may be said of a material on create.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MaterialFields {
    /// Shown name.
    pub name: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: MaterialType,
    /// `#rrggbb`.
    pub color: Option<String>,
    /// Maker.
    pub brand: Option<String>,
    /// Low-stock threshold.
    pub reorder_point: Amount,
    /// How much to order then.
    pub reorder_quantity: Amount,
}

/// A material. `claims` is skipped by serde: rows under its version; a load calls [`Material::hydrate`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Material {
    /// Identifier.
    pub id: Id,
    /// What is said of it.
    #[serde(flatten)]
    pub fields: MaterialFields,
    /// Stock on hand.
    pub quantity: Amount,
    /// Held by claims; the sum of the held ones.
    pub reserved: Amount,
    /// The low-stock alert went out and is not armed again.
    pub alerted: bool,
    /// Deleted: kept for history.
    pub archived: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Reservations and the line.
    #[serde(skip)]
    pub claims: rpds::RedBlackTreeMapSync<ClaimId, Claim>,
    /// The claims that wait, first in line first.
    #[serde(skip)]
    line: rpds::RedBlackTreeSetSync<line::Place>,
    /// The held claims that their orders have not acknowledged.
    #[serde(skip)]
    unheard: rpds::RedBlackTreeSetSync<(Id, ClaimId)>,
    /// The held claims that are asked back.
    #[serde(skip)]
    recalled: rpds::RedBlackTreeSetSync<(Id, ClaimId)>,
}

impl Material {
    /// `max(0, quantity − reserved)`.
    pub fn available(&self) -> Amount {
        (self.quantity - self.reserved).max(Amount::ZERO)
    }
}

/// A job's wish for stock, in an order's message.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ClaimAsk {
    /// Whose.
    pub id: ClaimId,
    /// How much.
    pub need: Amount,
    /// An operator released it past the reorder point.
    pub released: bool,
    /// 0 to 9, higher first.
    pub priority: u8,
    /// Wanted by.
    pub due_at: Option<Timestamp>,
    /// The job's age.
    pub since: Timestamp,
}

/// What is asked of a material.
#[derive(Clone, Debug)]
pub enum MaterialCommand {
    /// Makes it, with stock.
    Create {
        /// What is said of it.
        fields: Box<MaterialFields>,
        /// Stock on hand.
        quantity: Amount,
    },
    /// Changes what is said of it; `quantity` is a stock-take (absolute). Absent members stay.
    Update {
        /// Refused as stale when the version differs ("If-Match").
        if_version: Option<i64>,
        /// All fields as they shall be, when any is given.
        fields: Option<Box<MaterialFields>>,
        /// Counted stock on hand.
        quantity: Option<Amount>,
    },
    /// A relative change; below zero is refused.
    Adjust {
        /// More or less.
        delta: Amount,
        /// Why. A positive change is a delivery (`receive` in the ledger), a negative one an `adjust`.
        reason: String,
    },
    /// Deletes it; the edge has made sure that no SKU or unfinished job names it.
    Archive,
    /// An order asks for stock for jobs. Repeats are answered with how each claim stands now.
    Claim {
        /// Who asks.
        order: Id,
        /// For which jobs.
        asks: Vec<ClaimAsk>,
    },
    /// An order is done with claims: this much was consumed of each, the rest goes back. Unknown ones are "already".
    Settle {
        /// Claims and what was used up.
        claims: Vec<(ClaimId, Amount)>,
    },
    /// An order has heard that these are held.
    Heard {
        /// Which.
        claims: Vec<ClaimId>,
    },
    /// An order that was asked to give these up keeps them.
    Kept {
        /// Which.
        claims: Vec<ClaimId>,
    },
}

/// What a material answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum MaterialAnswer {
    /// The material after the change (its claims are not part of an answer).
    Material(Box<Material>),
    /// How each asked claim stands, with the words of a waiting one ("needs 120 g of PLA black, 80 g free").
    Claims(Vec<(ClaimId, ClaimState, Option<String>)>),
    /// Done, or already done.
    Done,
}

/// Outside work of a material: tell orders how their claims stand.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum MaterialEffect {
    /// These are held, until the order acknowledges.
    TellHeld {
        /// Whom.
        order: Id,
        /// Which claims.
        claims: Vec<ClaimId>,
    },
    /// These are asked back, until the order has settled them or keeps them.
    AskBack {
        /// Whom.
        order: Id,
        /// Which claims.
        claims: Vec<ClaimId>,
    },
}

/// What a commit of a material writes besides the material itself.
#[derive(Clone, Debug)]
pub enum MaterialRow {
    /// A movement of the ledger (insert).
    Movement(Movement),
    /// A claim as it is now (insert or replace).
    Claim(Claim),
    /// A claim that is settled (delete).
    ClaimGone(ClaimId),
}
