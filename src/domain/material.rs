//! A material: the stock on hand, the jobs' claims on it, and the ledger of all movements.
//!
//! A job's need is reserved before the job goes to a printer, so that two jobs never rely on the same spool. A claim
//! that cannot be served is queued, and is held as soon as stock comes in or a reservation is freed. A claim is
//! overtaken in the queue only if it does not fit. When the job ends, the claim is settled: the consumption is deducted
//! from the stock, and the rest of the reservation becomes available.
//!
//! `decide` has the rules, `claims` those for claims, `change` collects the changes made by a command, `line` indexes
//! the claims, `recall` recalls reservations when less is on hand than is reserved, `alerts` reports low stock and
//! discrepancies, `links` synchronises stock with outside systems, `reason` has the reasons of
//! movements, `unit` writes amounts with their units, and `color` chooses the colour in which a material is drawn.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::id::Id;
use crate::parts_sync::{StockLink, StockSystem};
use crate::time::Timestamp;

mod alerts;
mod change;
mod claims;
pub(crate) mod color;
mod decide;
mod line;
mod links;
mod reason;
mod recall;
#[cfg(test)]
mod tests;
mod unit;

pub use claims::{ClaimNews, ClaimStates, ClaimStock};
pub use color::shown_color;
pub use links::{LinkAnswer, UnlinkStock};
pub use reason::{DELIVERY, retirement_reason};
pub use unit::{ColumnUnit, column_amount, exact_stock_amount, stock_amount, unit};

/// Type of a material; it determines the unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaterialType {
    /// Filament, measured in grams.
    Filament,
    /// Resin, measured in millilitres.
    Resin,
    /// Laser cutter sheets, measured in sheets.
    LaserSheet,
    /// Laser cutter consumables, measured in units. Counted manually; never used as the material of a SKU.
    LaserConsumable,
}

impl MaterialType {
    /// Returns the unit in which the material's amounts are displayed.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Filament => "g",
            Self::Resin => "mL",
            Self::LaserSheet => "sheet",
            Self::LaserConsumable => "unit",
        }
    }
}

/// Identifier of a claim. A job makes a new claim, with the next number, for each reservation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ClaimId {
    /// Job that needs the material.
    pub job: Id,
    /// Number of the claim within the job, starting at 1.
    pub number: u32,
}

impl fmt::Display for ClaimId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.job, self.number)
    }
}

/// State of a claim: reserved, or the reason why it is queued.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimState {
    /// The needed amount is reserved.
    Held,
    /// Queued: less is available than needed.
    Short,
    /// Queued: the stock on hand is below the reorder point, and the settings block claims in that case.
    BelowReorderPoint,
}

/// A job's claim on a material: a reservation, or a position in the queue. The claim exists until its order settles it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// Identifier of the claim.
    pub id: ClaimId,
    /// Material whose stock is claimed.
    pub material_id: Id,
    /// Order of the job; it is notified when the claim is held or recalled.
    pub order_id: Id,
    /// Amount needed, in the material's unit.
    pub need: Amount,
    /// State of the claim.
    pub state: ClaimState,
    /// `true` until the order acknowledges that the claim is held.
    pub unheard: bool,
    /// `true` if an operator released the job although the stock is below the reorder point.
    pub released: bool,
    /// Priority, from 0 to 9; higher values are served first.
    pub priority: u8,
    /// Due time of the job. Earlier due times are served first, jobs without one last.
    pub due_at: Option<Timestamp>,
    /// Creation time of the job; older jobs are served first.
    pub since: Timestamp,
    /// Time of the reservation; the latest reservations are recalled first. `None` while the claim is queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_at: Option<Timestamp>,
    /// `true` while the order is being asked to return the reservation.
    #[serde(default)]
    pub recalled: bool,
    /// `true` if the order was asked to return the reservation and keeps it because an attempt is live. Cleared by the
    /// next stocktake.
    #[serde(default, rename = "kept")]
    pub is_retained: bool,
}

/// Reason for a change in the stock on hand or the reserved amount.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MovementKind {
    /// A delivery arrived, or the material was added with its initial stock.
    Receive,
    /// A correction was made, or a stocktake was recorded.
    Adjust,
    /// A claim became held.
    Reserve,
    /// The unused rest of a settled claim became available.
    Release,
    /// A print consumed material.
    Consume,
    /// A linked entry in an outside system changed.
    Sync,
}

/// Entry in the append-only ledger. Invariant: the sums of the two deltas over all entries equal the material's
/// `quantity` and `reserved`. Amounts are in the material's unit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Movement {
    /// Identifier of the entry.
    pub id: Id,
    /// Material whose stock changed.
    pub material_id: Id,
    /// Kind of change.
    pub kind: MovementKind,
    /// Change in the stock on hand.
    pub delta_quantity: Amount,
    /// Change in the reserved amount.
    pub delta_reserved: Amount,
    /// Stock on hand after the movement.
    pub quantity: Amount,
    /// Reserved amount after the movement.
    pub reserved: Amount,
    /// Job that caused the movement; `None` for deliveries and stocktakes.
    pub job_id: Option<Id>,
    /// Human-readable reason, if any.
    pub reason: Option<String>,
    /// Actor that caused the movement: a user, an API key or the system.
    pub actor: String,
    /// Time at which the movement was recorded.
    pub created_at: Timestamp,
}

/// Description of a material, which an operator edits as a whole.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MaterialFields {
    /// Display name, as one line of text.
    pub name: String,
    /// Type of the material, which determines the unit.
    #[serde(rename = "type")]
    pub kind: MaterialType,
    /// Colour as `#rrggbb`, if specified.
    pub color: Option<String>,
    /// Manufacturer, as free text.
    pub brand: Option<String>,
    /// Property that distinguishes materials with the same name, as free text: `matte`, `carbon fibre`.
    #[serde(default)]
    pub variant: Option<String>,
    /// The vendor's code for its spools, as reported by printers.
    #[serde(default)]
    pub vendor_code: Option<String>,
    /// Storage location as labelled on the shelf or bin, as free text: `Shelf A3`.
    #[serde(default)]
    pub location: Option<String>,
    /// Cost per unit in the smallest unit of the shop's currency, if known. Used to calculate the cost of rejected
    /// parts.
    #[serde(default)]
    pub unit_cost_cents: Option<Amount>,
    /// Threshold for the low-stock alert, in the material's unit; below it, new jobs may be blocked.
    pub reorder_point: Amount,
    /// Amount to order when stock is low, in the material's unit.
    pub reorder_quantity: Amount,
}

/// Material in stock. `claims` and `links` are not part of the serialised material: each is stored as a separate row,
/// and [`Material::hydrate`] restores them after loading.
///
/// Invariant: `reserved` is the sum of the held claims' needs. It may exceed `quantity` only after a stocktake or
/// unexpected consumption, until reservations are returned.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Material {
    /// Identifier of the material.
    pub id: Id,
    /// Number of changes made by users, starting at 1; exposed as the material's version and compared with `If-Match`.
    #[serde(default)]
    pub revision: i64,
    /// Operator-defined fields: name, type, colour, reorder point.
    #[serde(flatten)]
    pub fields: MaterialFields,
    /// Stock on hand including the reserved amount, in the material's unit.
    pub quantity: Amount,
    /// Amount reserved by held claims, in the material's unit.
    pub reserved: Amount,
    /// `true` once the low-stock alert was sent; reset when the available amount reaches the reorder point again.
    pub alerted: bool,
    /// `true` once the operators were alerted that a claim needs more than is available; reset when no claim is queued.
    #[serde(default)]
    pub shortage_told: bool,
    /// `true` if the material was deleted; the record remains for the ledger.
    pub archived: bool,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// All claims, held and queued.
    #[serde(skip)]
    pub claims: rpds::RedBlackTreeMapSync<ClaimId, Claim>,
    /// Links to entries in outside systems, at most one per system.
    #[serde(skip)]
    pub links: rpds::RedBlackTreeMapSync<StockSystem, StockLink>,
    /// Queued claims by rank.
    #[serde(skip)]
    line: rpds::RedBlackTreeSetSync<line::WaitingRank>,
    /// Held claims that their orders have not acknowledged yet, by order.
    #[serde(skip)]
    unheard: rpds::RedBlackTreeSetSync<(Id, ClaimId)>,
    /// Held claims that their orders are being asked to return, by order.
    #[serde(skip)]
    recalled: rpds::RedBlackTreeSetSync<(Id, ClaimId)>,
}

impl Material {
    /// Returns the amount that can be reserved: `quantity` minus `reserved`, but never negative.
    pub fn available(&self) -> Amount {
        (self.quantity - self.reserved).max(Amount::ZERO)
    }
}

/// Claim as submitted by an order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ClaimRequest {
    /// Identifier of the claim.
    pub id: ClaimId,
    /// Amount needed, in the material's unit.
    pub need: Amount,
    /// `true` if an operator released the job although the stock is below the reorder point.
    pub released: bool,
    /// Priority, from 0 to 9.
    pub priority: u8,
    /// Due time of the job.
    pub due_at: Option<Timestamp>,
    /// Creation time of the job.
    pub since: Timestamp,
}

/// Claim that its order no longer needs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SettledClaim {
    /// Identifier of the claim.
    pub id: ClaimId,
    /// Amount consumed, in the material's unit.
    pub consumed: Amount,
    /// Spools from which the printer itself deducted the consumption in the external spool inventory; empty if it
    /// deducted nothing.
    pub booked_on: Vec<i64>,
}

/// Command that an operator uses to change a material; returns the material.
#[derive(Clone, Debug)]
pub enum MaterialCommand {
    /// Adds a material with its initial stock.
    Create {
        /// Operator-defined fields.
        fields: Box<MaterialFields>,
        /// Stock on hand, in the material's unit.
        quantity: Amount,
    },
    /// Edits the description, or records a stocktake; `None` leaves a field unchanged.
    Update {
        /// Version that the caller read; rejected with 412 if the material has changed since.
        if_version: Option<i64>,
        /// Complete new description.
        fields: Option<Box<MaterialFields>>,
        /// Stock on hand as counted, in the material's unit.
        quantity: Option<Amount>,
    },
    /// Changes the stock on hand by a relative amount; rejected if it would fall below zero.
    Adjust {
        /// Change in the material's unit; must not be zero.
        delta: Amount,
        /// Human-readable reason. A positive change is a delivery (`receive` in the ledger), a negative change a
        /// correction (`adjust`).
        reason: String,
    },
    /// Deletes the material. The caller has verified that no SKU refers to it; rejected with a conflict if there are
    /// claims on it.
    Archive,
}

/// Response to a [`MaterialCommand`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MaterialAnswer {
    /// Material after the change; serialised without its claims.
    #[serde(rename = "Material")]
    pub material: Box<Material>,
}

/// Messages to orders that the material's state requires, one per order. Each is resent, even after a restart, until
/// the order has acknowledged it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum MaterialEffect {
    /// Notifies an order that its claims are held.
    TellHeld {
        /// Order to notify.
        order: Id,
        /// Held claims.
        claims: Vec<ClaimId>,
    },
    /// Asks an order to return reservations, until the order has settled or retained them.
    AskBack {
        /// Order to ask.
        order: Id,
        /// Recalled claims.
        claims: Vec<ClaimId>,
    },
}

/// Row that a material commit writes in addition to the material itself.
#[derive(Clone, Debug)]
pub enum MaterialRow {
    /// Ledger movement to insert.
    Movement(Movement),
    /// Claim to insert or replace.
    Claim(Claim),
    /// Claim to delete because it was settled.
    ClaimGone(ClaimId),
    /// Link to an outside system, to insert or replace.
    Link(Box<StockLink>),
    /// Link to delete, by its ID.
    LinkGone(Id),
}
