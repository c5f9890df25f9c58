//! Synchronization of stock that is counted in two places: here, and in another system (a parts management system, or a
//! spool inventory).
//!
//! A [`StockLink`] binds a material to one entry of such a system: a part with its stock items, a filament with its
//! spools. Both sides continue to be edited, so neither overwrites the other. The link stores the last agreed amount of
//! each item; a difference from that is a change of the side on which it is found, and both sides get both changes:
//!
//! - Their change is taken over into our ledger, in the commit that also stores the new agreement.
//! - Our change is booked there, always as an addition or a removal, one [`Booking`] at a time. It is stored before it
//!   is sent. If its outcome is unknown, nothing else moves until evidence decides whether it was booked
//!   ([`BookingVerdict`]).
//!
//! Consumption that a printer itself books there while it prints for us is not booked again: the agreement changes in
//! the commit in which the print's consumption leaves our stock ([`StockLink::used_there`]). Its booking is awaited; if
//! it does not arrive, the amount is not silently returned to our stock ([`AwaitedUse`]).
//!
//! A situation that these rules cannot decide is a [`SyncConflict`]: it is displayed, the link pauses, and an operator
//! decides which side is right ([`StockLink::agree`]). So does the beginning: until an operator has agreed to it, a
//! link is a preview that moves nothing.
//!
//! A [`LinkRound`] defines the order in which the entry is read and bookings are sent and looked up, and the meaning of
//! each outcome.
//!
//! Not for reaching the other system: `services/parts` and `integrations/stock_sync` do that.

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

/// Maximum number of items of one entry that are synchronized; an entry with more is a conflict.
pub const MAX_ITEMS: usize = 200;
/// Maximum number of abandoned bookings that are still looked for; the oldest is forgotten first.
pub const MAX_GIVEN_UP: usize = 32;
/// Maximum number of unread spool uses; the oldest is forgotten first.
const MAX_UNREAD_USES: usize = 32;
/// Time for which an abandoned booking is looked for, in milliseconds: a day.
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

    /// Returns the name of the system for use in sentences.
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
    /// Anything else: amounts in it are never converted.
    Other,
}

/// Amounts by item number in the other system.
pub type Quantities = BTreeMap<i64, Amount>;

/// Item as it was read: a stock item or a spool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ItemReading {
    /// Amount that it holds; `None` if the other system does not know. Zero if it no longer counts as stock there.
    pub quantity: Option<Amount>,
    /// Amount that may be added to it; `None` is unlimited.
    pub room: Option<Amount>,
    /// Value that a booking changes by exactly its amount, by which it is detected later whether it was booked.
    pub mark: Amount,
    /// Further data of the client for detecting later whether a booking arrived, in its own format; `None` if it needs
    /// none.
    pub trace: Option<String>,
    /// `true` if nothing can be booked on it: it counts, and is changed only in the other system.
    pub fixed: bool,
}

/// Entry as it was read, with all its items.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StockReading {
    /// Address of the server from which it was read.
    pub server: String,
    /// Name in the other system; `None` if the entry is gone.
    pub name: Option<String>,
    /// Unit of the amounts.
    pub unit: StockUnit,
    /// Items of the entry, by number.
    pub items: BTreeMap<i64, ItemReading>,
}

/// Change of ours to be booked in the other system.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Booking {
    /// Unique identifier, which is written there as the reference if there is room for one.
    pub id: Id,
    /// Item that it changes.
    pub item: i64,
    /// Amount to add; negative to remove. Never zero.
    pub delta: Amount,
    /// Amount that the item held when the booking was decided.
    pub before: Amount,
    /// [`ItemReading::mark`] at that time.
    pub mark: Amount,
    /// [`ItemReading::trace`] at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Time of the decision. The booking is sent right afterwards or, if the server is killed in between, never.
    pub at: Timestamp,
}

/// Knowledge about a booking that was sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BookingVerdict {
    /// It is booked in the other system.
    Booked,
    /// It is booked, but moved only this amount: less was left than it was to remove.
    Partly(Amount),
    /// It certainly is not and will not be booked: it never left.
    NotBooked,
    /// It was not found for so long that its change is decided anew. If bookings carry a reference, it is still looked
    /// for, because a delayed request may still arrive.
    GivenUp,
    /// The other system refused it, with this message.
    Refused(String),
    /// The outcome cannot be determined, for this human-readable reason.
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
    /// The entry is counted in another unit there.
    WrongUnit,
    /// The other system does not know the amount of an item.
    UnknownQuantity,
    /// The entry has more items than can be synchronized.
    TooManyItems,
    /// Both sides together removed more than there was.
    Negative,
    /// Both sides together hold more than can be counted.
    TooMuch,
    /// Stock that came in here fits no item there.
    NoRoom,
    /// The other system refuses our booking.
    Refused,
    /// It cannot be determined whether our booking was booked.
    Unclear,
    /// A print of ours consumed material, and the printer's own server, which books that in the other system, did not.
    PrintNotBooked,
}

impl ConflictKind {
    /// Returns whether nothing moves in either direction until it is settled.
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

/// Side whose amount an operator declares right.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RightSide {
    /// Our amount; the difference is booked in the other system.
    Ours,
    /// Their amount; our stock is set to it.
    Theirs,
}

/// Link of a material to an entry of another system; a row of its material.
///
/// Invariant: the agreement changes only in the commit that moves our stock by the amount taken over, or that stores
/// the outcome of a booking.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StockLink {
    /// Identifier of the row.
    pub id: Id,
    /// Linked material.
    pub material_id: Id,
    /// Other system that the entry belongs to.
    pub system: StockSystem,
    /// Number of the entry in the other system.
    pub entry: i64,
    /// Name of the entry in the other system, as last read.
    pub name: String,
    /// Server address from which it was last read; empty before the first read. Item numbers at another address mean
    /// other things.
    #[serde(default)]
    pub server: String,
    /// Last agreed amount of each item; `None` until an operator has agreed to the beginning.
    pub agreed: Option<Quantities>,
    /// Last amounts read, while an operator may have to decide by them; `None` if nothing usable was read.
    #[serde(rename = "seen")]
    pub last_amounts: Option<Quantities>,
    /// Our booking whose outcome is not stored yet.
    pub pending: Option<Booking>,
    /// Abandoned bookings that may still arrive, oldest first; only if bookings carry a reference.
    #[serde(default)]
    pub given_up: Vec<Booking>,
    /// Consumption of spools that the last read did not show and whose printers booked it in the other system: the next
    /// read shows whether they belong to this entry. Oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread_uses: Vec<UnreadUse>,
    /// Consumption that printers' own servers have not booked yet. No two entries name the same spool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaited: Vec<AwaitedUse>,
    /// Amounts that an operator decided we book in place of a printer's server, by the spool on which they are booked
    /// first.
    #[serde(default, skip_serializing_if = "Quantities::is_empty")]
    pub owed: Quantities,
    /// Conflict that needs an operator.
    pub conflict: Option<SyncConflict>,
    /// Number of changes of agreement and booking, so that a read from before one is not mistaken for newer.
    pub round: u32,
    /// Creation time.
    pub created_at: Timestamp,
}

/// Consumption of a print that its printer booked on spools that were not read yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnreadUse {
    /// Spools that were active at the printer.
    pub spools: Vec<i64>,
    /// Amount that left our stock.
    pub used: Amount,
}

/// Consumption of spools that the printer's own server books. Until it does, both sides already agree that the amount
/// is gone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AwaitedUse {
    /// Spools that were active at the printer; the division of the consumption among them is unknown.
    pub spools: BTreeSet<i64>,
    /// Amount that left our stock and may still be booked.
    pub due: Amount,
    /// Amount that was not booked in time: an operator decides whether we book it, or it is left.
    pub missing: Amount,
    /// Time at which the last of it left our stock.
    pub at: Timestamp,
}

/// Result of a synchronization step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyncStep {
    /// Link after the step.
    pub link: StockLink,
    /// Change of our stock that the step takes over.
    pub delta: Amount,
}

/// Commands of a material about its links; answered with the material and the link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkCommand {
    /// Links the material to an entry; moves nothing yet.
    Link {
        /// Other system that the entry belongs to.
        system: StockSystem,
        /// Entry in the other system.
        entry: i64,
        /// Name of the entry in the other system.
        name: String,
    },
    /// Agrees to the beginning, or settles a conflict, by an operator's decision.
    Agree {
        /// Other system of the link.
        system: StockSystem,
        /// Side that is right.
        right: RightSide,
        /// Amount in the other system as the operator saw it; refused if it has changed since. `None`: the amount last
        /// read.
        theirs: Option<Amount>,
    },
    /// Records that the entry was read.
    Looked {
        /// Other system that was read.
        system: StockSystem,
        /// [`StockLink::round`] before the read.
        round: u32,
        /// Content that was read.
        look: Box<StockReading>,
        /// Unbooked consumption from items in printers' slots: our consumption is booked there first. An item in a slot
        /// is listed even if nothing was consumed.
        drawn: Quantities,
        /// Items on which printers themselves are currently booking our prints: what left them is not taken over before
        /// the print's consumption has left our stock, and nothing of ours is booked on them meanwhile.
        in_use: BTreeSet<i64>,
        /// Items for which the waiting period for a late booking of a printer is over ([`AwaitedUse`]).
        overdue: BTreeSet<i64>,
    },
    /// Records the outcome of a booking.
    Settled {
        /// Other system to which the booking was sent.
        system: StockSystem,
        /// Booking that was sent; any other than the pending one is ignored.
        booking: Id,
        /// Verdict on the booking.
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
