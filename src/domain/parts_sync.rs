//! Stock that is counted in two places: here, and in another system (a parts management system, or one that knows
//! spools).
//!
//! A [`StockLink`] binds a material to one entry of such a system: a part with its stock items, a filament with its
//! spools. Both sides go on being edited, so neither overwrites the other. The link keeps what both sides last agreed
//! on, for each item; what differs from that is a change of the side that it is found on, and both sides get both
//! changes:
//!
//! - Theirs is taken over into our ledger, in the commit that also keeps the new agreement.
//! - Ours is booked there, always as an addition or a removal, one [`Booking`] at a time. It is kept before it is sent.
//!   If its outcome is unknown, nothing else moves until evidence decides whether it was booked ([`BookingVerdict`]).
//!
//! What a printer itself books there while it prints for us is booked by nobody else: what both sides agree on changes
//! in the commit in which the print's use leaves our stock ([`StockLink::used_there`]). Its booking is waited for; one
//! that does not arrive is not given back to our stock without a word ([`AwaitedUse`]).
//!
//! What cannot be decided by that is a [`SyncConflict`]: it is shown, the link rests, and a person says which side is
//! right ([`StockLink::agree`]). So does the beginning: until a person agreed to it, a link is a preview that moves
//! nothing.
//!
//! In which order the entry is read, bookings are sent and looked for, and what each outcome means, is a [`LinkRound`].
//!
//! Not for reaching the other system: `services/parts` and `integrations/stock_sync` do that.

mod awaited;
mod choose;
mod merge;
mod round;
mod slots;

pub use merge::{OurSide, total};
pub use round::{LinkRound, SendOutcome, SyncMove};
pub use slots::{SpoolKnown, drawn};

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::time::Timestamp;

/// Most items of one entry that are kept in step; an entry with more is a conflict.
pub const MAX_ITEMS: usize = 200;
/// Most bookings that were given up and are still looked for; the oldest is forgotten first.
pub const MAX_GIVEN_UP: usize = 32;
/// Most uses of spools that nobody has read yet; the oldest is forgotten first.
const MAX_UNREAD_USES: usize = 32;
/// How long a booking that was given up is looked for, in milliseconds: a day.
const GIVEN_UP_MS: i64 = 24 * 60 * 60 * 1000;

/// The other system in which stock is counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StockSystem {
    /// A parts management system: parts with stock items.
    Parts,
    /// A system that knows spools: filaments with spools, in grams.
    Spools,
}

impl StockSystem {
    /// All systems, in the order in which they are shown.
    pub const ALL: [Self; 2] = [Self::Parts, Self::Spools];

    /// What it is called in sentences.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Parts => "the parts system",
            Self::Spools => "the spool system",
        }
    }
}

/// The unit in which an entry is counted there.
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

/// Amounts by the number of the item there.
pub type Quantities = BTreeMap<i64, Amount>;

/// An item as it was read: a stock item, a spool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeenItem {
    /// How much it holds; `None` when the other system does not know. Zero when it no longer counts as stock there.
    pub quantity: Option<Amount>,
    /// How much may be added to it; `None` is any amount.
    pub room: Option<Amount>,
    /// A value that a booking changes by exactly its amount, by which it is told later whether it was booked.
    pub mark: Amount,
    /// What else its client needs to tell later whether a booking arrived, in its own form; `None` where it needs
    /// nothing.
    pub trace: Option<String>,
    /// Whether nothing can be booked on it: it counts, and is changed there only.
    pub fixed: bool,
}

/// An entry as it was read, with all its items.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StockLook {
    /// The address that it was read at.
    pub server: String,
    /// Its name there; `None` when the entry is gone.
    pub name: Option<String>,
    /// The unit of its amounts.
    pub unit: StockUnit,
    /// What it is made of there, by number.
    pub items: BTreeMap<i64, SeenItem>,
}

/// Our part of a change on its way to the other system.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Booking {
    /// Its identifier, which is written there as the reference where there is room for one.
    pub id: Id,
    /// The item that it changes.
    pub item: i64,
    /// What is added; negative: what is removed. Never zero.
    pub delta: Amount,
    /// What the item held when the booking was decided.
    pub before: Amount,
    /// [`SeenItem::mark`] at that time.
    pub mark: Amount,
    /// [`SeenItem::trace`] at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// When it was decided. It is sent right after that, or, when the server is killed in between, never.
    pub at: Timestamp,
}

/// What is known of a booking that was sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BookingVerdict {
    /// It is booked there.
    Booked,
    /// It is booked there, and moved only so much: there was less left than it was to take.
    Partly(Amount),
    /// It certainly is not, and will not be: it never left.
    NotBooked,
    /// It was not found there for so long that it is decided anew. Where bookings carry a reference it is looked for
    /// further, since what hangs somewhere may still arrive.
    GivenUp,
    /// The other system refused it, in its own words.
    Refused(String),
    /// Nobody can tell, for the reason given in words for people.
    Unclear(String),
}

/// Why a link needs a person.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictKind {
    /// The entry was deleted there.
    EntryGone,
    /// Items that held stock were deleted there.
    ItemsGone,
    /// It is counted in another unit there.
    WrongUnit,
    /// The other system does not know how much an item holds.
    UnknownQuantity,
    /// It has more items than are kept in step.
    TooManyItems,
    /// Both sides together took more than there was.
    Negative,
    /// Both sides together hold more than can be counted.
    TooMuch,
    /// What came in here fits no item there.
    NoRoom,
    /// The other system refuses our booking.
    Refused,
    /// Nobody can tell whether our booking was booked.
    Unclear,
    /// A print of ours used it, and the printer's own server, which books that there, did not.
    PrintNotBooked,
}

impl ConflictKind {
    /// Whether nothing moves in either direction until it is settled.
    pub const fn stops(self) -> bool {
        !matches!(self, Self::NoRoom | Self::Refused | Self::PrintNotBooked)
    }
}

/// Something that is not resolved silently.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SyncConflict {
    /// Which it is.
    pub kind: ConflictKind,
    /// In words for people, with what to do.
    pub message: String,
}

/// Which side is right, as a person says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RightSide {
    /// What is counted here; the difference is booked there.
    Ours,
    /// What is counted there; our stock becomes that.
    Theirs,
}

/// A material bound to an entry of another system. A row of its material.
///
/// Invariant: the agreement changes only in the commit that moves our stock by what was taken over, or that keeps the
/// outcome of a booking.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StockLink {
    /// Identifier of the row.
    pub id: Id,
    /// The material here that it belongs to.
    pub material_id: Id,
    /// The other system.
    pub system: StockSystem,
    /// The number of the entry there.
    pub entry: i64,
    /// The name of the entry there, as last read.
    pub name: String,
    /// The address that it was last read at; empty before the first time. Numbers at another address mean other things.
    #[serde(default)]
    pub server: String,
    /// What both sides last agreed on, for each item; `None` until a person agreed to the beginning.
    pub agreed: Option<Quantities>,
    /// What was last read there, while somebody may have to decide by it; `None` when nothing usable was read.
    pub seen: Option<Quantities>,
    /// Our booking whose outcome is not kept yet.
    pub pending: Option<Booking>,
    /// Bookings that were given up and may still arrive, oldest first; only where they carry a reference.
    #[serde(default)]
    pub given_up: Vec<Booking>,
    /// What prints used of spools that the last look did not show, and their printers booked there: the next look tells
    /// whether these are of this entry. Oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread_uses: Vec<UnreadUse>,
    /// What prints used and their printers' own servers have not booked there yet. No two name the same spool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaited: Vec<AwaitedUse>,
    /// What a person said we book in place of a printer's server, by the spool that it is booked on first.
    #[serde(default, skip_serializing_if = "Quantities::is_empty")]
    pub owed: Quantities,
    /// What a person has to see to.
    pub conflict: Option<SyncConflict>,
    /// Counts the changes of agreement and booking, so that what was read before one is not taken for newer.
    pub round: u32,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What a print used, which its printer booked on spools that were not read yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnreadUse {
    /// The spools that were active at the printer.
    pub spools: Vec<i64>,
    /// How much left our stock.
    pub used: Amount,
}

/// Use of spools that the printer's own server books there. Until it did, what both sides agree on is that it is gone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AwaitedUse {
    /// The spools that were active at the printer; nobody knows how the use is divided among them.
    pub spools: BTreeSet<i64>,
    /// How much left our stock and may still be booked.
    pub due: Amount,
    /// How much was not booked in time: a person decides whether we book it, or it is left.
    pub missing: Amount,
    /// When the last of it left our stock.
    pub at: Timestamp,
}

/// A link after a step, with what the step takes over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyncStep {
    /// The link as it is then.
    pub link: StockLink,
    /// What our stock changes by.
    pub taken: Amount,
}

/// What can be asked of a material about its links.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkCommand {
    /// Binds the material to an entry; moves nothing yet.
    Link {
        /// The other system.
        system: StockSystem,
        /// The entry there.
        entry: i64,
        /// Its name there.
        name: String,
    },
    /// Forgets a link. What was booked stays booked on both sides.
    Unlink(StockSystem),
    /// A person agrees to the beginning, or settles a conflict.
    Agree {
        /// The other system.
        system: StockSystem,
        /// The side that is right.
        right: RightSide,
        /// What is counted there as the person saw it; refused if it has changed since. `None`: by whatever was last
        /// read.
        theirs: Option<Amount>,
    },
    /// The entry was read.
    Looked {
        /// The other system.
        system: StockSystem,
        /// [`StockLink::round`] before it was read.
        round: u32,
        /// What was read.
        look: Box<StockLook>,
        /// What was drawn from items that are in slots of printers, so far as it is not booked: where our use is booked
        /// first. An item in a slot is named even if nothing was drawn.
        drawn: Quantities,
        /// The items on which printers themselves are booking prints of ours just now: what left them is not taken over
        /// before the print's use has left our stock, and nothing of ours is booked on them meanwhile.
        in_use: BTreeSet<i64>,
        /// The items on which a late booking of a printer had its time to arrive ([`AwaitedUse`]).
        overdue: BTreeSet<i64>,
    },
    /// The outcome of a booking became known.
    Settled {
        /// The other system.
        system: StockSystem,
        /// The one that is meant; of any other nothing is heeded.
        booking: Id,
        /// What is known of it.
        verdict: BookingVerdict,
    },
}

impl LinkCommand {
    /// The system that it is about.
    pub const fn system(&self) -> StockSystem {
        match self {
            Self::Unlink(system)
            | Self::Link { system, .. }
            | Self::Agree { system, .. }
            | Self::Looked { system, .. }
            | Self::Settled { system, .. } => *system,
        }
    }
}
