//! Synchronisation of stock that is counted in two places: in the shop's own inventory and in another system (a parts
//! management system or a spool inventory).
//!
//! A [`StockLink`] links a material to one entry of such a system: a part with its stock items, or a filament with its
//! spools. Both sides continue to be edited, so neither overwrites the other. The link stores the last agreed amount of
//! each item; a difference from the agreed amount is a change made on the side where it is found, and is applied to the
//! other side:
//!
//! - A change on their side is taken over into the shop's ledger, in the commit that also stores the new agreement.
//! - A change on the shop's side is recorded in the other system, always as an addition or a removal, one [`Booking`]
//!   at a time. It is stored before it is sent. If its outcome is unknown, nothing else moves until evidence shows
//!   whether it took effect ([`BookingVerdict`]).
//!
//! Consumption that a printer itself records in the other system while printing for the shop is not recorded again: the
//! agreement changes in the commit in which the print's consumption is deducted from the shop's stock
//! ([`StockLink::used_there`]). The printer's record is awaited; if it does not arrive, the amount is not silently
//! returned to the shop's stock ([`AwaitedUse`]).
//!
//! A situation that these rules cannot decide is a [`SyncConflict`]: it is displayed, the link is paused, and an
//! operator decides which side is right ([`StockLink::agree`]). An operator also decides the start: until then, a link
//! is a preview that moves nothing.
//!
//! A [`LinkRound`] defines the order in which the entry is read and stock changes are sent and looked up, and the
//! meaning of each outcome.
//!
//! Communication with the other system is the task of `services/parts` and `integrations/stock_sync`.

mod awaited;
mod choose;
mod merge;
mod round;
mod slots;

pub use merge::{OurSide, total};
pub use round::{LinkRound, SendOutcome, SyncMove};
pub use slots::{SpoolRemainder, drawn};

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::id::Id;
use crate::time::Timestamp;

/// Maximum number of items of one entry that are synchronised; an entry with more is a conflict.
pub const MAX_ITEMS: usize = 200;
/// Maximum number of abandoned stock changes for which the other system is still searched; the oldest is dropped first.
pub const MAX_GIVEN_UP: usize = 32;
/// Maximum number of spool usages that no reading reflects yet; the oldest is dropped first.
const MAX_UNREAD_USES: usize = 32;
/// Time for which the other system is searched for an abandoned stock change, in milliseconds: one day.
const GIVEN_UP_MS: i64 = 24 * 60 * 60 * 1000;

/// Kind of the other system in which stock is counted.
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

/// Unit in which an entry is counted in the other system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StockUnit {
    /// By weight.
    Gram,
    /// By volume.
    Millilitre,
    /// Single pieces.
    Piece,
    /// Any other unit, whose amounts are never converted.
    Other,
}

/// Amounts by item number in the other system.
pub type Quantities = BTreeMap<i64, Amount>;

/// Stock item or spool, as read from the other system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ItemReading {
    /// Amount that the item holds; `None` if the other system does not know. Zero if the item no longer counts as stock
    /// there.
    pub quantity: Option<Amount>,
    /// Amount that may be added to the item; `None` if unlimited.
    pub room: Option<Amount>,
    /// Value that a stock change alters by exactly its amount; used later to detect whether the change took effect.
    pub mark: Amount,
    /// Further data of the client for detecting later whether a stock change took effect, in its own format; `None` if
    /// it needs none.
    pub trace: Option<String>,
    /// `true` if the item counts as stock but can be changed only in the other system, so that the shop cannot change
    /// it.
    pub fixed: bool,
}

/// Entry with all its items, as read from the other system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StockReading {
    /// Address of the server from which the entry was read.
    pub server: String,
    /// Name in the other system; `None` if the entry no longer exists.
    pub name: Option<String>,
    /// Unit of the amounts.
    pub unit: StockUnit,
    /// Items of the entry, by number.
    pub items: BTreeMap<i64, ItemReading>,
}

/// Change of the shop's stock that is to be recorded in the other system.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Booking {
    /// Unique identifier, which is sent as the change's reference if the other system has a field for one.
    pub id: Id,
    /// Item to change.
    pub item: i64,
    /// Amount to add; negative to remove. Never zero.
    pub delta: Amount,
    /// Amount that the item held when the change was decided.
    pub before: Amount,
    /// [`ItemReading::mark`] when the change was decided.
    pub mark: Amount,
    /// [`ItemReading::trace`] when the change was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Time of the decision. The change is sent immediately afterwards or, if the server is killed in between, never.
    pub at: Timestamp,
}

/// Current knowledge about the outcome of a stock change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BookingVerdict {
    /// The change took effect in the other system.
    Booked,
    /// The change took effect, but only for the given amount, because less was left than it was to remove.
    Partly(Amount),
    /// The change certainly did not take effect and never will, because it was never sent.
    NotBooked,
    /// The change was not found for so long that it is decided again. If changes carry a reference, the other system is
    /// still searched for this one, because a delayed request may still arrive.
    GivenUp,
    /// The other system rejected the change, with the given message.
    Refused(String),
    /// The outcome cannot be determined, for the given human-readable reason.
    Unclear(String),
}

/// Reason why a link needs an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictKind {
    /// The entry was deleted in the other system.
    EntryGone,
    /// Items that held stock were deleted in the other system.
    ItemsGone,
    /// The other system counts the entry in a different unit.
    WrongUnit,
    /// The other system does not know the amount of an item.
    UnknownQuantity,
    /// The entry has more items than can be synchronised.
    TooManyItems,
    /// Both sides together removed more than there was.
    Negative,
    /// Both sides together hold more than can be counted.
    TooMuch,
    /// None of the entry's items can take the stock that was received in the shop.
    NoRoom,
    /// The other system rejects the shop's change.
    Refused,
    /// It cannot be determined whether the shop's change took effect.
    Unclear,
    /// A print of the shop consumed material, but the printer's own server, which records consumption in the other
    /// system, did not record it.
    PrintNotBooked,
}

impl ConflictKind {
    /// Returns whether nothing moves in either direction until the conflict is settled.
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
    /// The shop's amount; the difference is recorded in the other system.
    Ours,
    /// The other system's amount; the shop's stock is set to it.
    Theirs,
}

/// Link of a material to an entry of another system; a row of its material.
///
/// Invariant: the agreement changes only in the commit that changes the shop's stock by the amount taken over, or that
/// stores the outcome of a stock change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StockLink {
    /// Identifier of the row.
    pub id: Id,
    /// Linked material.
    pub material_id: Id,
    /// Other system to which the entry belongs.
    pub system: StockSystem,
    /// Number of the entry in the other system.
    pub entry: i64,
    /// Name of the entry in the other system, as last read.
    pub name: String,
    /// Server address from which the entry was last read; empty before the first read. At another address, the item
    /// numbers mean something else.
    #[serde(default)]
    pub server: String,
    /// Last agreed amount of each item; `None` until an operator has agreed to start synchronising.
    pub agreed: Option<Quantities>,
    /// Amounts from the last reading, kept as long as an operator may need them to make a decision; `None` if nothing
    /// usable was read.
    #[serde(rename = "seen")]
    pub last_amounts: Option<Quantities>,
    /// Stock change by the shop whose outcome is not stored yet.
    pub pending: Option<Booking>,
    /// Abandoned stock changes that may still arrive, oldest first; used only if changes carry a reference.
    #[serde(default)]
    pub given_up: Vec<Booking>,
    /// Consumption that printers recorded in the other system for spools missing from the last reading; the next
    /// reading shows whether the spools belong to this entry. Oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread_uses: Vec<UnreadUse>,
    /// Consumption that the printers' own servers have not recorded yet. No two elements name the same spool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaited: Vec<AwaitedUse>,
    /// Amounts that, by an operator's decision, the shop records in place of a printer's server, by the spool from
    /// which they are deducted first.
    #[serde(default, skip_serializing_if = "Quantities::is_empty")]
    pub owed: Quantities,
    /// Conflict that needs an operator.
    pub conflict: Option<SyncConflict>,
    /// Number of changes to the agreement and the stock changes so far, so that a reading taken before a change is not
    /// mistaken for a newer one.
    pub round: u32,
    /// Creation time.
    pub created_at: Timestamp,
}

/// Consumption of a print that its printer deducted from spools that have not been read yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnreadUse {
    /// Spools that were active at the printer.
    pub spools: Vec<i64>,
    /// Amount deducted from the shop's stock.
    pub used: Amount,
}

/// Consumption that the printer's own server deducts from its spools. Until it does, both sides already agree that the
/// amount is gone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AwaitedUse {
    /// Spools that were active at the printer; the division of the consumption among them is unknown.
    pub spools: BTreeSet<i64>,
    /// Amount that was deducted from the shop's stock and may still be recorded.
    pub due: Amount,
    /// Amount that was not recorded in time: an operator decides whether the shop records it or leaves it unrecorded.
    pub missing: Amount,
    /// Time at which the last part of the amount was deducted from the shop's stock.
    pub at: Timestamp,
}

/// Result of a synchronisation step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyncStep {
    /// Link after the step.
    pub link: StockLink,
    /// Change of the shop's stock that the step takes over.
    pub delta: Amount,
}

/// Commands on a material's links; each returns the material and the link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkCommand {
    /// Links the material to an entry; nothing moves yet.
    Link {
        /// Other system to which the entry belongs.
        system: StockSystem,
        /// Entry in the other system.
        entry: i64,
        /// Name of the entry in the other system.
        name: String,
    },
    /// Agrees to start synchronising, or settles a conflict, by an operator's decision.
    Agree {
        /// Other system of the link.
        system: StockSystem,
        /// Side that is right.
        right: RightSide,
        /// Amount in the other system as the operator saw it; rejected if it has changed since. `None` for the amount
        /// last read.
        theirs: Option<Amount>,
    },
    /// Records that the entry was read.
    Looked {
        /// Other system from which the entry was read.
        system: StockSystem,
        /// [`StockLink::round`] before the read.
        round: u32,
        /// Content of the reading.
        look: Box<StockReading>,
        /// Unrecorded consumption from items in printers' slots: the shop's consumption is deducted from these items
        /// first. An item in a slot is listed even if nothing was consumed.
        drawn: Quantities,
        /// Items from which printers themselves are currently deducting prints of the shop. A decrease of such an item
        /// is not taken over before the print's consumption has been deducted from the shop's stock, and until then the
        /// shop changes nothing on it.
        in_use: BTreeSet<i64>,
        /// Items for which the waiting period for a printer's late record is over ([`AwaitedUse`]).
        overdue: BTreeSet<i64>,
    },
    /// Records the outcome of a stock change.
    Settled {
        /// Other system to which the change was sent.
        system: StockSystem,
        /// Sent change; any other than the pending one is ignored.
        booking: Id,
        /// Verdict on the change.
        verdict: BookingVerdict,
    },
}

impl LinkCommand {
    /// Returns the system that the command addresses.
    pub const fn system(&self) -> StockSystem {
        match self {
            Self::Link { system, .. }
            | Self::Agree { system, .. }
            | Self::Looked { system, .. }
            | Self::Settled { system, .. } => *system,
        }
    }
}
