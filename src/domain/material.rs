//! A material: the stock on hand, the claims of jobs on it, and the ledger of all movements.
//!
//! A job's need is reserved before it goes to a printer, so that two jobs never count on the same spool. A claim that
//! cannot be served waits in a line, and is held as soon as stock comes in or a reservation is freed. A claim passes
//! another in the line only if the other does not fit. On the job's end the claim is settled: what was used leaves
//! the stock, the rest of the reservation becomes available.
//!
//! `decide` has the rules, `change` collects what one command alters, `line` indexes the claims, `recall` asks
//! reservations back when less is on hand than is reserved, `alerts` has low stock and discrepancies, `links` keeps
//! stock in step with other systems.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::parts_sync::{LinkCommand, StockLink, StockSystem};
use crate::domain::time::Timestamp;

mod alerts;
mod change;
mod decide;
mod line;
mod links;
mod recall;
#[cfg(test)]
mod tests;

/// The type of a material; decides its unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaterialType {
    /// Filament, whose amounts are in grams.
    Filament,
    /// Resin, whose amounts are in millilitres.
    Resin,
    /// Sheets for a laser cutter, in sheets.
    LaserSheet,
    /// Wearing parts of a laser cutter, in units. Counted by hand, and never the material of a SKU.
    LaserConsumable,
}

impl MaterialType {
    /// The unit of its amounts, for people.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Filament => "g",
            Self::Resin => "mL",
            Self::LaserSheet => "sheet",
            Self::LaserConsumable => "unit",
        }
    }
}

/// Identifier of a claim: a job has a new claim with the next number for each reservation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ClaimId {
    /// The job that needs the material.
    pub job: Id,
    /// Number of the claim within the job, from 1.
    pub number: u32,
}

impl fmt::Display for ClaimId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.job, self.number)
    }
}

/// How a claim stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimState {
    /// The need is reserved.
    Held,
    /// Waits, because less is available than is needed.
    Short,
    /// Waits, because the stock on hand is below the reorder point and the rules then block.
    BelowReorderPoint,
}

/// A job's claim on a material: a reservation, or a place in the waiting line. The claim exists until its order
/// settles it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// Identifier of the claim.
    pub id: ClaimId,
    /// The material whose stock it claims.
    pub material_id: Id,
    /// The job's order, which is told when the claim is held or asked back.
    pub order_id: Id,
    /// How much is needed, in the material's unit.
    pub need: Amount,
    /// How the claim stands.
    pub state: ClaimState,
    /// Whether the order still has to acknowledge that the claim is held.
    pub unheard: bool,
    /// Whether an operator released the job past the reorder point.
    pub released: bool,
    /// Priority, 0 to 9; the higher one is served first.
    pub priority: u8,
    /// When the job should be done; the earlier one is served first, `None` last.
    pub due_at: Option<Timestamp>,
    /// When the job was made; the older one is served first.
    pub since: Timestamp,
    /// When it was reserved, by which the latest reservations are asked back first; `None` while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_at: Option<Timestamp>,
    /// Whether the order is asked to give the reservation up.
    #[serde(default)]
    pub recalled: bool,
    /// Whether the order was asked and keeps the reservation, because an attempt is live. Cleared when stock is
    /// counted anew.
    #[serde(default)]
    pub kept: bool,
}

/// Why stock on hand or what is reserved of it changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MovementKind {
    /// A delivery, or the stock that a material was made with.
    Receive,
    /// A correction or a stock-take.
    Adjust,
    /// A claim was held.
    Reserve,
    /// What a settled claim did not use became available.
    Release,
    /// A print used it.
    Consume,
    /// A change in another system that the material is linked to.
    Sync,
}

/// One entry of the append-only ledger. Invariant: the sums of the two deltas over all entries equal the material's
/// `quantity` and `reserved`. Amounts are in the material's unit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Movement {
    /// Identifier of the entry.
    pub id: Id,
    /// The material that moved.
    pub material_id: Id,
    /// Which kind of change it was.
    pub kind: MovementKind,
    /// Change of the stock on hand.
    pub delta_quantity: Amount,
    /// Change of what is reserved.
    pub delta_reserved: Amount,
    /// Stock on hand after the movement.
    pub quantity: Amount,
    /// Reserved after the movement.
    pub reserved: Amount,
    /// The job that it was for; `None` for deliveries and stock-takes.
    pub job_id: Option<Id>,
    /// The reason in words for people, if there is one.
    pub reason: Option<String>,
    /// Who caused it: a user, an API key or the system.
    pub actor: String,
    /// When it was recorded.
    pub created_at: Timestamp,
}

/// The description of a material, which an operator edits as a whole.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MaterialFields {
    /// Name for people, one line of text.
    pub name: String,
    /// Its type, which decides the unit.
    #[serde(rename = "type")]
    pub kind: MaterialType,
    /// Colour as `#rrggbb`; `None` where nobody stated it.
    pub color: Option<String>,
    /// Name of the manufacturer, free text.
    pub brand: Option<String>,
    /// What tells it from others of its name, free text: `matte`, `carbon fibre`.
    #[serde(default)]
    pub variant: Option<String>,
    /// The vendor's code of its spools, as printers report it.
    #[serde(default)]
    pub vendor_code: Option<String>,
    /// Where it is kept, as a label on a shelf or bin says it, free text: `Shelf A3`.
    #[serde(default)]
    pub location: Option<String>,
    /// What one unit of it costs, in the smallest unit of the shop's currency; `None` is unknown. It prices what is
    /// lost with bad parts.
    #[serde(default)]
    pub unit_cost_cents: Option<Amount>,
    /// Threshold of the low-stock alert, in the material's unit; below it new jobs may be blocked.
    pub reorder_point: Amount,
    /// How much to order when stock is low, in the material's unit.
    pub reorder_quantity: Amount,
}

/// A material. `claims` and `links` are not part of the serialized material: each is a row under its version, and
/// [`Material::hydrate`] puts them back after a load.
///
/// Invariant: `reserved` is the sum of the held claims' needs. It may exceed `quantity` only after a stock-take or
/// unexpected consumption, until reservations are given back.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Material {
    /// Identifier of the material.
    pub id: Id,
    /// Counts the changes that people made, from 1; shown as the material's version and compared with `If-Match`.
    #[serde(default)]
    pub revision: i64,
    /// What operators say of it: name, type, colour, reorder point.
    #[serde(flatten)]
    pub fields: MaterialFields,
    /// Stock on hand, in the material's unit, including what is reserved.
    pub quantity: Amount,
    /// Reserved by held claims, in the material's unit.
    pub reserved: Amount,
    /// Whether it was told that the material runs low; set back when what is available is at the reorder point again.
    pub alerted: bool,
    /// Whether it was told that a claim needs more than is available; set back when no claim waits.
    #[serde(default)]
    pub shortage_told: bool,
    /// Whether it was deleted; the record stays for the ledger.
    pub archived: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// All claims, held and waiting.
    #[serde(skip)]
    pub claims: rpds::RedBlackTreeMapSync<ClaimId, Claim>,
    /// What it is linked to in other systems, at most one entry in each.
    #[serde(skip)]
    pub links: rpds::RedBlackTreeMapSync<StockSystem, StockLink>,
    /// The waiting claims by rank.
    #[serde(skip)]
    line: rpds::RedBlackTreeSetSync<line::WaitingRank>,
    /// The held claims that their orders have not acknowledged, by order.
    #[serde(skip)]
    unheard: rpds::RedBlackTreeSetSync<(Id, ClaimId)>,
    /// The held claims that their orders are asked to give up, by order.
    #[serde(skip)]
    recalled: rpds::RedBlackTreeSetSync<(Id, ClaimId)>,
}

impl Material {
    /// What is free to be reserved: `quantity` less `reserved`, never negative.
    pub fn available(&self) -> Amount {
        (self.quantity - self.reserved).max(Amount::ZERO)
    }
}

/// A claim as an order sends it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ClaimAsk {
    /// Identifier of the claim.
    pub id: ClaimId,
    /// How much is needed, in the material's unit.
    pub need: Amount,
    /// Whether an operator released the job past the reorder point.
    pub released: bool,
    /// Priority, 0 to 9.
    pub priority: u8,
    /// When the job should be done.
    pub due_at: Option<Timestamp>,
    /// When the job was made.
    pub since: Timestamp,
}

/// A claim that its order is done with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SettledClaim {
    /// Identifier of the claim.
    pub id: ClaimId,
    /// What was consumed of it, in the material's unit.
    pub consumed: Amount,
    /// The spools on which the printer itself booked that in the system that knows spools; empty if it did not.
    pub booked_on: Vec<i64>,
}

/// What can be asked of a material.
#[derive(Clone, Debug)]
pub enum MaterialCommand {
    /// Adds a material with its first stock.
    Create {
        /// What operators say of it.
        fields: Box<MaterialFields>,
        /// Stock on hand, in the material's unit.
        quantity: Amount,
    },
    /// Edits the description, or records a stock-take; `None` leaves a member as it is.
    Update {
        /// The version that the caller read; refused with 412 if the material has changed since.
        if_version: Option<i64>,
        /// The whole new description.
        fields: Option<Box<MaterialFields>>,
        /// The counted stock on hand (absolute), in the material's unit.
        quantity: Option<Amount>,
    },
    /// Changes the stock on hand by a relative amount; refused if it would fall below zero.
    Adjust {
        /// The change in the material's unit, not zero.
        delta: Amount,
        /// The reason for people. A positive change is a delivery (`receive` in the ledger), a negative one a
        /// correction (`adjust`).
        reason: String,
    },
    /// Deletes the material. The edge has made sure that no SKU names it; claims on it are a conflict.
    Archive,
    /// An order claims stock for its jobs. A repeated claim is answered with how it stands now.
    Claim {
        /// The order that claims.
        order: Id,
        /// One claim for each job.
        asks: Vec<ClaimAsk>,
    },
    /// An order is done with claims. A claim that is unknown was settled before, which is no error.
    Settle {
        /// The claims, with what was consumed of each; the rest becomes available.
        claims: Vec<SettledClaim>,
    },
    /// An order acknowledges that claims are held.
    Heard {
        /// The claims of which the order knows that they are held.
        claims: Vec<ClaimId>,
    },
    /// An order that was asked to give reservations up keeps these.
    Kept {
        /// The claims that stay reserved.
        claims: Vec<ClaimId>,
    },
    /// Something about its links to other systems.
    Link(LinkCommand),
}

/// A material's answer to a command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum MaterialAnswer {
    /// The material after the change; serialized without its claims.
    Material(Box<Material>),
    /// The material after the change, with the link that the command was about.
    Linked(Box<Material>, Box<StockLink>),
    /// How each claim stands and, if it waits, why in words for people ("needs 120 g of PLA black, 80 g free").
    Claims(Vec<(ClaimId, ClaimState, Option<String>)>),
    /// Done now, or done before.
    Done,
}

/// Messages to orders that the material's state calls for, one per order. Each is repeated, also after a restart,
/// until the order has acknowledged it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum MaterialEffect {
    /// Tell an order that claims are held.
    TellHeld {
        /// The order to tell.
        order: Id,
        /// The claims that are held.
        claims: Vec<ClaimId>,
    },
    /// Ask an order to give reservations up, until it has settled or kept them.
    AskBack {
        /// The order to ask.
        order: Id,
        /// The claims that are asked back.
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
    /// A link to another system as it is now (insert or replace).
    Link(Box<StockLink>),
    /// A link that was removed (delete), by its id.
    LinkGone(Id),
}
