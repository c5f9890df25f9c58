//! Synchronisation of stock that is counted in two places: in the shop's own inventory and in an outside system (a
//! parts management system or a spool inventory).
//!
//! A [`StockLink`] links a material to one entry of such a system: a part with its stock items, or a filament with its
//! spools. Both sides continue to be edited, so neither overwrites the other. The link stores the last agreed amount
//! for each item. If the amount on one side differs from the agreed amount, it was changed on that side, and the change
//! is applied to the other side:
//!
//! - A change in the outside system is applied to the shop's ledger, in the commit that also stores the new
//!   agreement.
//! - A change in the shop's stock is recorded in the outside system, always as an addition or a removal, one
//!   [`Booking`] at a time. The booking is stored before it is sent. If its outcome is unknown, nothing else moves
//!   until evidence shows whether it took effect ([`BookingVerdict`]).
//!
//! Consumption that a printer itself records in the outside system while printing for the shop is not recorded again:
//! the agreement changes in the commit in which the print's consumption is deducted from the shop's stock
//! ([`StockLink::used_there`]). The printer's record is awaited; if it does not arrive, the amount is not silently
//! returned to the shop's stock ([`AwaitedUse`]).
//!
//! A situation that cannot be resolved by these rules is a [`SyncConflict`]: it is displayed, the link is paused, and
//! an operator decides which side is right ([`StockLink::agree`]). An operator also decides when synchronisation
//! starts: until then, a link is a preview that moves nothing.
//!
//! A [`LinkRound`] defines the order in which the entry is read and stock changes are sent and looked up, and the
//! meaning of each outcome.
//!
//! Communication with the outside system is implemented in `services/parts` and `integrations/stock_sync`.

mod awaited;
mod choose;
mod merge;
mod round;
mod slots;
#[cfg(test)]
mod tests;

pub use merge::{OurSide, total};
pub use round::{LinkRound, SendOutcome, SyncMove};
pub use slots::{SpoolRemainder, drawn};

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::id::Id;
use crate::time::Timestamp;

/// Maximum number of synchronised items per entry; an entry with more is a conflict.
pub const MAX_ITEMS: usize = 200;
/// Maximum number of abandoned stock changes that are still looked up in the outside system; the oldest is dropped
/// first.
pub const MAX_GIVEN_UP: usize = 32;
/// Maximum number of spool usages that are not yet reflected in a reading; the oldest is dropped first.
const MAX_UNREAD_USES: usize = 32;
/// Time for which an abandoned stock change is looked up in the outside system, in milliseconds: one day.
const GIVEN_UP_MS: i64 = 24 * 60 * 60 * 1000;

/// Kind of outside system in which stock is counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StockSystem {
    /// Parts management system: parts with stock items.
    Parts,
    /// Spool inventory: filaments with spools, in grams.
    Spools,
}

impl StockSystem {
    /// All systems, in display order.
    pub const ALL: [Self; 2] = [Self::Parts, Self::Spools];

    /// Returns the name of the system, for use in sentences.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Parts => "the parts system",
            Self::Spools => "the spool system",
        }
    }
}

/// Unit in which the outside system counts an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StockUnit {
    /// By weight.
    Gram,
    /// By volume.
    Millilitre,
    /// Single pieces.
    Piece,
    /// Any other unit; its amounts are never converted.
    Other,
}

/// Amounts by item number in the outside system.
pub type Quantities = BTreeMap<i64, Amount>;

/// Stock item or spool, as read from the outside system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ItemReading {
    /// Amount that the item holds; `None` if the outside system does not know it. Zero if the item is no longer part of
    /// the stock there.
    pub quantity: Option<Amount>,
    /// Amount that may be added to the item; `None` if there is no limit.
    pub room: Option<Amount>,
    /// Value that a stock change alters by exactly its amount, used later to detect whether the change took effect.
    pub mark: Amount,
    /// Additional client data, in its own format, for detecting later whether a stock change took effect; `None` if the
    /// client needs none.
    pub trace: Option<String>,
    /// `true` if the item is part of the stock but can be changed only in the outside system.
    pub fixed: bool,
}

/// Entry with all its items, as read from the outside system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StockReading {
    /// Address of the server that the entry was read from.
    pub server: String,
    /// Name in the outside system; `None` if the entry no longer exists.
    pub name: Option<String>,
    /// Unit of the amounts.
    pub unit: StockUnit,
    /// Items of the entry, by number.
    pub items: BTreeMap<i64, ItemReading>,
}

/// Stock change in the shop that is to be recorded in the outside system.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Booking {
    /// Unique identifier, sent as the change's reference if the outside system has a field for it.
    pub id: Id,
    /// Item to change.
    pub item: i64,
    /// Amount to add; negative to remove stock. Never zero.
    pub delta: Amount,
    /// Amount that the item held when the change was decided.
    pub before: Amount,
    /// [`ItemReading::mark`] when the change was decided.
    pub mark: Amount,
    /// [`ItemReading::trace`] when the change was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Time of the decision. The change is sent immediately afterwards; if the server is killed in between, it is never
    /// sent.
    pub at: Timestamp,
}

/// Known outcome of a stock change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BookingVerdict {
    /// The change took effect in the outside system.
    Booked,
    /// The change took effect, but only for the given amount, because less was left than was to be removed.
    Partly(Amount),
    /// The change definitely did not take effect and never will, because it was never sent.
    NotBooked,
    /// The change was not found for so long that a new change is made instead. If changes carry a reference, the
    /// outside system is still searched for the abandoned change, because a delayed request may still arrive.
    GivenUp,
    /// The outside system rejected the change, with the given message.
    Refused(String),
    /// The outcome cannot be determined, for the given human-readable reason.
    Unclear(String),
}

/// Reason why a link needs an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictKind {
    /// The entry was deleted in the outside system.
    EntryGone,
    /// Items that held stock were deleted in the outside system.
    ItemsGone,
    /// The outside system counts the entry in a different unit.
    WrongUnit,
    /// The outside system does not know the amount of an item.
    UnknownQuantity,
    /// The entry has more items than can be synchronised.
    TooManyItems,
    /// Together, both sides removed more than there was.
    Negative,
    /// Together, both sides hold more than can be counted.
    TooMuch,
    /// None of the entry's items has room for the stock that was received in the shop.
    NoRoom,
    /// The outside system rejected the shop's change.
    Refused,
    /// It cannot be determined whether the shop's change took effect.
    Unclear,
    /// A print for the shop consumed material, but the printer's own server, which records consumption in the outside
    /// system, did not record it.
    PrintNotBooked,
}

impl ConflictKind {
    /// Returns whether nothing moves in either direction until the conflict is resolved.
    pub const fn stops(self) -> bool {
        !matches!(self, Self::NoRoom | Self::Refused | Self::PrintNotBooked)
    }
}

/// Conflict that is never resolved silently.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SyncConflict {
    /// Kind of conflict.
    pub kind: ConflictKind,
    /// Human-readable description, with the required action.
    pub message: String,
}

/// Side whose amount an operator declares to be correct.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RightSide {
    /// The shop's amount is correct; the difference is recorded in the outside system.
    Ours,
    /// The outside system's amount is correct; the shop's stock is set to it.
    Theirs,
}

/// Link between a material and an entry in an outside system, stored as a row of the material.
///
/// Invariant: the agreement changes only in a commit that changes the shop's stock by the same amount, or that stores
/// the outcome of a stock change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StockLink {
    /// Identifier of the row.
    pub id: Id,
    /// Linked material.
    pub material_id: Id,
    /// Outside system that the entry belongs to.
    pub system: StockSystem,
    /// Number of the entry in the outside system.
    pub entry: i64,
    /// Name of the entry in the outside system, as last read.
    pub name: String,
    /// Server address that the entry was last read from; empty before the first read. At a different address, the item
    /// numbers have a different meaning.
    #[serde(default)]
    pub server: String,
    /// Last agreed amount for each item; `None` until an operator has agreed to start synchronising.
    pub agreed: Option<Quantities>,
    /// Amounts from the last reading, kept for as long as an operator may need them to make a decision; `None` if
    /// nothing usable was read.
    #[serde(rename = "seen")]
    pub last_amounts: Option<Quantities>,
    /// Stock change made by the shop whose outcome is not stored yet.
    pub pending: Option<Booking>,
    /// Abandoned stock changes that may still arrive, oldest first; used only if changes carry a reference.
    #[serde(default)]
    pub given_up: Vec<Booking>,
    /// Consumption that printers recorded in the outside system for spools missing from the last reading, oldest first.
    /// The next reading shows whether the spools belong to this entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread_uses: Vec<UnreadUse>,
    /// Consumption that the printers' own servers have not recorded yet. Each spool appears in at most one element.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaited: Vec<AwaitedUse>,
    /// Amounts that an operator has decided the shop records in place of a printer's server, by the spool that they are
    /// deducted from first.
    #[serde(default, skip_serializing_if = "Quantities::is_empty")]
    pub owed: Quantities,
    /// Conflict that needs an operator.
    pub conflict: Option<SyncConflict>,
    /// Number of stock changes and of changes to the agreement so far, used to recognise readings taken before a
    /// change.
    pub round: u32,
    /// Creation time.
    pub created_at: Timestamp,
}

/// Consumption that a printer deducted from spools that have not been read yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnreadUse {
    /// Spools active on the printer.
    pub spools: Vec<i64>,
    /// Amount deducted from the shop's stock.
    pub used: Amount,
}

/// Consumption that the printer's own server deducts from its spools. Until it does so, both sides already agree that
/// the amount is gone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AwaitedUse {
    /// Spools active on the printer. It is unknown how the consumption is divided among them.
    pub spools: BTreeSet<i64>,
    /// Amount that was deducted from the shop's stock and may still be recorded.
    pub due: Amount,
    /// Amount that was not recorded in time. An operator decides whether the shop records it or leaves it unrecorded.
    pub missing: Amount,
    /// Time at which the last part of the amount was deducted from the shop's stock.
    pub at: Timestamp,
}

/// Result of a synchronisation step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyncStep {
    /// Link after the step.
    pub link: StockLink,
    /// Change to the shop's stock that results from the step.
    pub delta: Amount,
}

/// Commands that change a material's links; each returns the material and the link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkCommand {
    /// Links the material to an entry; nothing moves yet.
    Link {
        /// Outside system that the entry belongs to.
        system: StockSystem,
        /// Entry in the outside system.
        entry: i64,
        /// Name of the entry in the outside system.
        name: String,
    },
    /// Starts synchronising, or resolves a conflict, by an operator's decision.
    Agree {
        /// Outside system that the link belongs to.
        system: StockSystem,
        /// Side whose figures are right.
        right: RightSide,
        /// Amount in the outside system as displayed to the operator; rejected if it has changed since. `None` for the
        /// amount last read.
        theirs: Option<Amount>,
    },
    /// Records that the entry was read.
    Looked {
        /// Outside system that the entry was read from.
        system: StockSystem,
        /// [`StockLink::round`] before the read.
        round: u32,
        /// Content that was read.
        look: Box<StockReading>,
        /// Unrecorded consumption of the items in printer slots: the shop's consumption is deducted from these items
        /// first. Every item in a slot is listed, even if nothing was consumed.
        drawn: Quantities,
        /// Items from which printers themselves are currently deducting prints for the shop. A decrease of such an item
        /// is not applied to the shop's stock before the print's consumption has been deducted from it. Until then, the
        /// shop does not change the item.
        in_use: BTreeSet<i64>,
        /// Items for which the waiting period for a delayed printer record is over ([`AwaitedUse`]).
        overdue: BTreeSet<i64>,
    },
    /// Records the outcome of a stock change.
    Settled {
        /// Outside system that the change was sent to.
        system: StockSystem,
        /// Change that was sent; ignored unless it is the pending one.
        booking: Id,
        /// Verdict on the change.
        verdict: BookingVerdict,
    },
}

impl LinkCommand {
    /// Returns the system that the command applies to.
    pub const fn system(&self) -> StockSystem {
        match self {
            Self::Link { system, .. }
            | Self::Agree { system, .. }
            | Self::Looked { system, .. }
            | Self::Settled { system, .. } => *system,
        }
    }
}
