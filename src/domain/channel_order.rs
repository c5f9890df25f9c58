//! An order that another shop sold, from its first message to the last shipment that the shop is told of.
//!
//! Its identity follows from the channel and the order's id there, so however often and in whichever order its messages
//! come they meet here. It is kept until it can be made: while an entry of the variant map is missing it waits and says
//! what is missing. `news` takes in what the shop says, `amounts` brings its prices to ours, `told` tells the shop of
//! shipments, `rules` dispatches and derives the effects.
//!
//! | what is known | it is | what happens |
//! | --- | --- | --- |
//! | nobody paid | unpaid | nothing, until a message says that it is paid |
//! | paid | waiting | its lines are looked up in the map; what is missing is shown, and tried again when the map changes |
//! | paid, and its lines cannot be read | waiting | the operators are told, until a message says what was sold |
//! | paid, all lines known | making | the order is made, once, with an id that was chosen before |
//! | the order is there | made | cancellation and refunds there are told to the order, its shipments to the shop |
//! | cancelled before | cancelled | it is never made |

mod amounts;
mod news;
mod rules;
#[cfg(test)]
mod tests;
mod told;

use serde::{Deserialize, Serialize};

use crate::domain::address::Address;
use crate::domain::id::Id;
use crate::domain::refusal::shortened;
use crate::domain::time::Timestamp;

pub use amounts::{SoldAmounts, amounts};
pub use told::{ShipmentThere, Tracking, TrackingOutcome, TrackingState};

/// Most lines of an order of another shop.
pub const MAX_SOLD_LINES: usize = 100;
/// Most characters of a name in the variant map.
pub const MAX_VARIANT_CHARS: usize = 200;

/// A line as the other shop sold it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SoldLine {
    /// Identifier of the line there, by which shipments name it.
    pub line_id: String,
    /// Id of the variant there.
    #[serde(default)]
    pub variant: Option<String>,
    /// SKU code there.
    #[serde(default)]
    pub code: Option<String>,
    /// What it is called there; stands on the invoice.
    pub title: String,
    /// How many were sold, at least 1.
    pub quantity: u32,
    /// Price of one there in minor units, with or without its tax.
    pub unit_price_cents: i64,
    /// Tax rate in basis points.
    pub tax_rate_bps: i64,
}

impl SoldLine {
    /// By what it is looked up in the map, one after the other: the id of its variant, its code, and its title where it
    /// has neither, as what was written into an order by hand.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let named = [self.variant.as_deref(), self.code.as_deref()];
        let title = named.iter().all(Option::is_none).then_some(self.title.as_str());
        named.into_iter().chain([title]).flatten().map(variant_name)
    }

    /// By what people find it in the map: the first of its names.
    pub fn wanted(&self) -> String {
        self.names().next().unwrap_or_default()
    }
}

/// A name as the variant map takes it: one line of at most [`MAX_VARIANT_CHARS`]. What was sold and what is entered
/// into the map both go through it, so they meet whatever the other shop writes.
pub fn variant_name(text: &str) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let line: String = text.chars().map(|c| if breaks(c) { ' ' } else { c }).collect();
    let line = line.trim();
    let fits = line.chars().count() <= MAX_VARIANT_CHARS;
    // What is cut off ends with a sign that it was.
    if fits { line.to_owned() } else { shortened(line.to_owned(), MAX_VARIANT_CHARS - 1) }
}

/// What was sold, at the prices of the other shop.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SoldContent {
    /// At least one line, at most [`MAX_SOLD_LINES`].
    pub lines: Vec<SoldLine>,
    /// ISO 4217 code in lower case.
    pub currency: String,
    /// Whether the prices have their tax in them.
    pub taxes_included: bool,
    /// Charge for shipping, in minor units.
    pub shipping_cents: i64,
    /// Tax rate of the shipping in basis points.
    pub shipping_tax_rate_bps: i64,
    /// All discounts together, in minor units.
    pub discount_cents: i64,
    /// What the customer paid in all, in minor units.
    pub total_cents: i64,
    /// The customer's e-mail address in lower case.
    pub customer_email: Option<String>,
    /// Where it goes.
    pub address: Option<Address>,
    /// Who it goes to; the labels of parcels are made there.
    pub recipient: Option<String>,
    /// What the customer wrote.
    pub notes: Option<String>,
}

/// What one message of the other shop says of an order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SoldNews {
    /// Id of the order there.
    pub external_id: String,
    /// Its number there, as people see it.
    pub number: String,
    /// When the order last changed there: of two messages the later one says what was sold.
    pub changed_at: Timestamp,
    /// Whether it was paid in full.
    pub paid: bool,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// All that was paid back so far, in minor units.
    pub refunded_cents: i64,
    /// What was sold, where the message says it.
    pub content: Option<SoldContent>,
    /// Why what it says of that cannot be read, in words for people.
    pub unreadable: Option<String>,
}

/// What the order was told of what happened there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeardThere {
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// All that was paid back so far, in minor units.
    pub refunded_cents: i64,
}

/// Where an order of another shop stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelOrderStatus {
    /// Nobody paid for it yet.
    Unpaid,
    /// Paid, and not made yet: the map has no entry for some of it, or something else is in the way.
    Waiting,
    /// It is an order here.
    Made,
    /// Cancelled there before it was made.
    Cancelled,
}

/// An order that another shop sold.
///
/// Invariants: `order_id` is chosen with the first message and never changes; what was sold is frozen once it is being
/// made; paid, cancelled and refunded only ever grow, so the order in which messages come does not matter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChannelOrder {
    /// Follows from the channel and the order's id there.
    pub id: Id,
    /// The channel that it came by.
    pub channel_id: Id,
    /// Id of the order there.
    pub external_id: String,
    /// Its number there, as people see it.
    pub number: String,
    /// When it last changed there, as far as that was heard.
    pub changed_at: Timestamp,
    /// Whether it was paid in full there.
    pub paid: bool,
    /// What is to be told of to the order.
    pub there: HeardThere,
    /// The customer's record here, once an order of theirs was paid.
    #[serde(default)]
    pub customer_id: Option<Id>,
    /// What was sold; `None` until a message said it.
    pub content: Option<SoldContent>,
    /// The id that our order has, or will have.
    pub order_id: Id,
    /// Whether our order is being made: from here on it will be, whatever comes.
    pub making: bool,
    /// Whether our order is there.
    pub made: bool,
    /// What the order was told.
    pub told: HeardThere,
    /// What the map has no entry for, as it is called there.
    pub missing: Vec<String>,
    /// What is in the way besides, or what went another way than the shop thinks, in words for people.
    pub problem: Option<String>,
    /// Whether the rules refused our order when it was made last; it is tried again when the map changes.
    pub refused: bool,
    /// How often an operator asked to try again.
    pub asked: u32,
    /// Whether the operators were mailed that it waits; anew once what could not be read is known.
    pub alerted: bool,
    /// Shipments that the shop is told of, oldest first.
    pub trackings: Vec<Tracking>,
    /// When its first message came.
    pub created_at: Timestamp,
    /// When it last changed here.
    pub updated_at: Timestamp,
}

impl ChannelOrder {
    /// Where it stands.
    pub fn status(&self) -> ChannelOrderStatus {
        match (self.made, self.making, self.there.cancelled, self.paid) {
            (true, ..) => ChannelOrderStatus::Made,
            (_, false, true, _) => ChannelOrderStatus::Cancelled,
            (_, false, _, false) => ChannelOrderStatus::Unpaid,
            _ => ChannelOrderStatus::Waiting,
        }
    }

    /// Whether a person has to look at it.
    pub fn needs_attention(&self) -> bool {
        let failed = self.trackings.iter().any(|one| one.state == TrackingState::Failed);
        let waits = self.status() == ChannelOrderStatus::Waiting && !self.missing.is_empty();
        failed || waits || self.problem.is_some()
    }

    /// How people call it in messages.
    fn name(&self) -> String {
        format!("order {} of another shop", self.number)
    }
}

/// What can be asked of it.
#[derive(Clone, Debug)]
pub enum ChannelOrderCommand {
    /// A message about it came, whose signature was checked, or a row of a file.
    Hear {
        /// The channel that it came by.
        channel: Id,
        /// The customer's record here, where it is known.
        customer: Option<Id>,
        /// What it says.
        news: Box<SoldNews>,
    },
    /// Its lines were looked up: something is missing or in the way.
    Unresolved {
        /// What the map has no entry for.
        missing: Vec<String>,
        /// What is in the way besides.
        problem: Option<String>,
    },
    /// Its lines were looked up, and all is known: from here on it will be made.
    Resolved,
    /// The order is there.
    Made,
    /// The rules refused the order: it waits again, in these words.
    NotMade(String),
    /// The order has heard this; with why it did not do it, if so.
    Told {
        /// What it was told.
        heard: HeardThere,
        /// Why it was not done, in words for people.
        refused: Option<String>,
    },
    /// What has left of the order, all of it up to now.
    Shipped(Vec<ShipmentThere>),
    /// What came of telling the shop of a shipment.
    Tracked {
        /// The shipment's number within the order.
        number: u32,
        /// How it went.
        outcome: TrackingOutcome,
    },
    /// An operator wants shipments that were given up to be told once more, and the lines looked up again.
    Retry,
}

/// What it answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ChannelOrderAnswer {
    /// As it is after the change.
    Order(Box<ChannelOrder>),
    /// Heard; says whether it changed anything.
    Heard {
        /// `false`: all of it was known.
        fresh: bool,
    },
}

/// Outside work that its state calls for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ChannelOrderEffect {
    /// Look its lines up in the map, until all is known.
    Resolve {
        /// What was sold changed then: later content is looked up anew.
        changed_at: Timestamp,
        /// How often an operator asked to try again.
        asked: u32,
    },
    /// Make the order, until it is there.
    Make,
    /// Tell the order what happened there, until [`ChannelOrderCommand::Told`].
    TellOrder(HeardThere),
    /// Tell the shop of a shipment, until [`ChannelOrderCommand::Tracked`] says how it went.
    TellShop {
        /// The shipment's number within the order.
        number: u32,
        /// Tries before this one.
        tries: u32,
        /// When it is due.
        at: Timestamp,
    },
}
