//! A material: the stock on hand, the claims of jobs on it, and the ledger of all movements.
//!
//! A job's need is reserved before it goes to a printer, so that two jobs never count on the same spool. A claim that
//! cannot be served waits in a line, and is held as soon as stock comes in or a reservation is freed. A claim passes
//! another in the line only if the other does not fit. At the job's end the claim is settled: the consumption leaves
//! the stock, the rest of the reservation becomes available.
//!
//! `decide` has the rules, `claims` those of claims, `change` collects the changes of one command, `line` indexes the
//! claims, `recall` recalls reservations when less is on hand than is reserved, `alerts` reports low stock and
//! discrepancies, `links` synchronizes stock with other systems.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::id::Id;
use crate::parts_sync::{StockLink, StockSystem};
use crate::time::Timestamp;

mod alerts;
mod change;
mod claims;
mod decide;
mod line;
mod links;
mod recall;
#[cfg(test)]
mod tests;

pub use claims::{ClaimNews, ClaimStates, ClaimStock};
pub use links::{LinkAnswer, UnlinkStock};

/// Type of a material; it determines the unit.
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
    /// Returns the unit of the material's amounts for display.
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
    /// Job that needs the material.
    pub job: Id,
    /// Number of the claim within the job, from 1.
    pub number: u32,
}

impl fmt::Display for ClaimId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.job, self.number)
    }
}

/// Reservation of a claim, or the reason it waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimState {
    /// The need is reserved.
    Held,
    /// Waiting: less is available than is needed.
    Short,
    /// Waiting: the stock on hand is below the reorder point, and the rules block in that case.
    BelowReorderPoint,
}

/// Claim of a job on a material: a reservation, or a place in the waiting line. The claim exists until its order
/// settles it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// Identifier of the claim.
    pub id: ClaimId,
    /// Material whose stock is claimed.
    pub material_id: Id,
    /// Order of the job, which is notified when the claim is held or recalled.
    pub order_id: Id,
    /// Needed amount, in the material's unit.
    pub need: Amount,
    /// State of the claim.
    pub state: ClaimState,
    /// `true` until the order acknowledges that the claim is held.
    pub unheard: bool,
    /// `true` if an operator released the job past the reorder point.
    pub released: bool,
    /// Priority, 0 to 9; higher values are served first.
    pub priority: u8,
    /// Due time of the job; earlier ones are served first, `None` last.
    pub due_at: Option<Timestamp>,
    /// Creation time of the job; older ones are served first.
    pub since: Timestamp,
    /// Time of the reservation; the latest reservations are recalled first. `None` while the claim waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_at: Option<Timestamp>,
    /// `true` while the order is requested to give the reservation up.
    #[serde(default)]
    pub recalled: bool,
    /// `true` if the order was requested to give the reservation up and retains it because an attempt is live. Cleared
    /// by the next stock-take.
    #[serde(default, rename = "kept")]
    pub is_retained: bool,
}

/// Reason for a change of the stock on hand or of the reserved amount.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MovementKind {
    /// A delivery, or the initial stock of a new material.
    Receive,
    /// A correction or a stock-take.
    Adjust,
    /// A claim became held.
    Reserve,
    /// The unused rest of a settled claim became available.
    Release,
    /// A print consumed it.
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
    /// Material that moved.
    pub material_id: Id,
    /// Kind of change.
    pub kind: MovementKind,
    /// Change of the stock on hand.
    pub delta_quantity: Amount,
    /// Change of the reserved amount.
    pub delta_reserved: Amount,
    /// Stock on hand after the movement.
    pub quantity: Amount,
    /// Reserved amount after the movement.
    pub reserved: Amount,
    /// Job that caused the movement; `None` for deliveries and stock-takes.
    pub job_id: Option<Id>,
    /// Human-readable reason, if there is one.
    pub reason: Option<String>,
    /// Actor that caused it: a user, an API key or the system.
    pub actor: String,
    /// Time at which it was recorded.
    pub created_at: Timestamp,
}

/// Description of a material, which an operator edits as a whole.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MaterialFields {
    /// Display name, one line of text.
    pub name: String,
    /// Type of the material, which determines the unit.
    #[serde(rename = "type")]
    pub kind: MaterialType,
    /// Colour as `#rrggbb`; `None` if it is not specified.
    pub color: Option<String>,
    /// Manufacturer, free text.
    pub brand: Option<String>,
    /// Distinguishing property among materials of the same name, free text: `matte`, `carbon fibre`.
    #[serde(default)]
    pub variant: Option<String>,
    /// Vendor's code of its spools, as printers report it.
    #[serde(default)]
    pub vendor_code: Option<String>,
    /// Storage location as labelled on the shelf or bin, free text: `Shelf A3`.
    #[serde(default)]
    pub location: Option<String>,
    /// Cost of one unit in the smallest unit of the shop's currency; `None` is unknown. Used to price the loss from bad
    /// parts.
    #[serde(default)]
    pub unit_cost_cents: Option<Amount>,
    /// Threshold of the low-stock alert, in the material's unit; below it new jobs may be blocked.
    pub reorder_point: Amount,
    /// Amount to order when stock is low, in the material's unit.
    pub reorder_quantity: Amount,
}

/// Material in stock. `claims` and `links` are not part of the serialized material: each is a row under its version,
/// and [`Material::hydrate`] restores them after a load.
///
/// Invariant: `reserved` is the sum of the held claims' needs. It may exceed `quantity` only after a stock-take or
/// unexpected consumption, until reservations are returned.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Material {
    /// Identifier of the material.
    pub id: Id,
    /// Number of user changes, from 1; exposed as the material's version and compared with `If-Match`.
    #[serde(default)]
    pub revision: i64,
    /// Operator-defined fields: name, type, colour, reorder point.
    #[serde(flatten)]
    pub fields: MaterialFields,
    /// Stock on hand including the reserved amount, in the material's unit.
    pub quantity: Amount,
    /// Amount reserved by held claims, in the material's unit.
    pub reserved: Amount,
    /// `true` once the low-stock alert was sent; reset when the available amount is at the reorder point again.
    pub alerted: bool,
    /// `true` once the alert was sent that a claim needs more than is available; reset when no claim waits.
    #[serde(default)]
    pub shortage_told: bool,
    /// `true` if the material was deleted; the record stays for the ledger.
    pub archived: bool,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// All claims, held and waiting.
    #[serde(skip)]
    pub claims: rpds::RedBlackTreeMapSync<ClaimId, Claim>,
    /// Links to entries in other systems, at most one in each.
    #[serde(skip)]
    pub links: rpds::RedBlackTreeMapSync<StockSystem, StockLink>,
    /// Waiting claims by rank.
    #[serde(skip)]
    line: rpds::RedBlackTreeSetSync<line::WaitingRank>,
    /// Held claims that their orders have not acknowledged, by order.
    #[serde(skip)]
    unheard: rpds::RedBlackTreeSetSync<(Id, ClaimId)>,
    /// Held claims that their orders are requested to give up, by order.
    #[serde(skip)]
    recalled: rpds::RedBlackTreeSetSync<(Id, ClaimId)>,
}

impl Material {
    /// Returns the amount that can be reserved: `quantity` less `reserved`, never negative.
    pub fn available(&self) -> Amount {
        (self.quantity - self.reserved).max(Amount::ZERO)
    }
}

/// Claim as an order sends it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ClaimRequest {
    /// Identifier of the claim.
    pub id: ClaimId,
    /// Needed amount, in the material's unit.
    pub need: Amount,
    /// `true` if an operator released the job past the reorder point.
    pub released: bool,
    /// Priority, 0 to 9.
    pub priority: u8,
    /// Due time of the job.
    pub due_at: Option<Timestamp>,
    /// Creation time of the job.
    pub since: Timestamp,
}

/// Claim that its order has finished with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SettledClaim {
    /// Identifier of the claim.
    pub id: ClaimId,
    /// Consumption, in the material's unit.
    pub consumed: Amount,
    /// Spools on which the printer itself booked the consumption in the external spool inventory; empty if it did not.
    pub booked_on: Vec<i64>,
}

/// Changes that operators make to a material; answered with the material.
#[derive(Clone, Debug)]
pub enum MaterialCommand {
    /// Adds a material with its initial stock.
    Create {
        /// Operator-defined fields.
        fields: Box<MaterialFields>,
        /// Stock on hand, in the material's unit.
        quantity: Amount,
    },
    /// Edits the description, or records a stock-take; `None` leaves a field unchanged.
    Update {
        /// Version that the caller read; refused with 412 if the material has changed since.
        if_version: Option<i64>,
        /// Complete new description.
        fields: Option<Box<MaterialFields>>,
        /// Counted stock on hand (absolute), in the material's unit.
        quantity: Option<Amount>,
    },
    /// Changes the stock on hand by a relative amount; refused if it would fall below zero.
    Adjust {
        /// Change in the material's unit, not zero.
        delta: Amount,
        /// Human-readable reason. A positive change is a delivery (`receive` in the ledger), a negative one a
        /// correction (`adjust`).
        reason: String,
    },
    /// Deletes the material. The caller has verified that no SKU refers to it; claims on it are a conflict.
    Archive,
}

/// Answer to a [`MaterialCommand`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MaterialAnswer {
    /// Material after the change; serialized without its claims.
    #[serde(rename = "Material")]
    pub material: Box<Material>,
}

/// Messages to orders that the material's state requires, one per order. Each is repeated, also after a restart, until
/// the order has acknowledged it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum MaterialEffect {
    /// Notifies an order that claims are held.
    TellHeld {
        /// Receiving order.
        order: Id,
        /// Held claims.
        claims: Vec<ClaimId>,
    },
    /// Requests an order to give reservations up, until it has settled or retained them.
    AskBack {
        /// Receiving order.
        order: Id,
        /// Recalled claims.
        claims: Vec<ClaimId>,
    },
}

/// Row that a commit of a material writes besides the material itself.
#[derive(Clone, Debug)]
pub enum MaterialRow {
    /// Movement of the ledger (insert).
    Movement(Movement),
    /// Current state of a claim (insert or replace).
    Claim(Claim),
    /// Settled claim (delete).
    ClaimGone(ClaimId),
    /// Current state of a link to another system (insert or replace).
    Link(Box<StockLink>),
    /// Removed link, by its id (delete).
    LinkGone(Id),
}
