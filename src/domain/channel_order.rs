//! Order placed in a different shop and received through a sales channel: from its first message to the last shipment
//! reported back.
//!
//! The order's identity derives from the channel and the order's ID in the other shop, so all messages about it reach
//! the same aggregate, no matter how often and in which order they arrive. It is on hold until our order can be
//! created: while entries are missing from the variant map, it lists them. `news` merges the shop's messages, `amounts`
//! converts its prices, `report` reports shipments to the shop, `rules` dispatches commands and derives the effects.
//!
//! | known so far | state | what happens |
//! | --- | --- | --- |
//! | not paid | unpaid | nothing, until a message reports the payment |
//! | paid | waiting | its lines are looked up in the map; missing entries are listed, and looked up again when the map changes |
//! | paid, but its lines cannot be read | waiting | the operators are alerted, until a message contains readable lines |
//! | paid, all lines known | making | our order is created, once, with an ID chosen beforehand |
//! | our order exists | made | cancellation and refunds in the other shop are passed on to our order, and our order's shipments to the shop |
//! | cancelled before | cancelled | our order is never created |

mod amounts;
mod news;
mod report;
mod rules;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::id::Id;
use crate::refusal::shortened;
use crate::time::Timestamp;

pub use amounts::{SoldAmounts, amounts};
pub use report::{ReportedShipment, ShipmentTracking, TrackingOutcome, TrackingState};

/// Maximum number of lines of a channel order.
pub const MAX_SOLD_LINES: usize = 100;
/// Maximum length of a name in the variant map, in characters.
pub const MAX_VARIANT_CHARS: usize = 200;

/// Order line as the other shop sold it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SoldLine {
    /// The shop's identifier for the line, which shipments refer to.
    pub line_id: String,
    /// The shop's ID for the variant.
    #[serde(default)]
    pub variant: Option<String>,
    /// The shop's SKU code.
    #[serde(default)]
    pub code: Option<String>,
    /// The shop's product title, printed on the invoice.
    pub title: String,
    /// Number of units sold, at least 1.
    pub quantity: u32,
    /// The shop's unit price in minor units, with or without tax.
    pub unit_price_cents: i64,
    /// Tax rate in basis points.
    pub tax_rate_bps: i64,
}

impl SoldLine {
    /// Returns the names to look up in the map, in order: the variant ID, the SKU code, and, if the line has neither,
    /// the title. A line that was added to an order manually has only a title.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let named = [self.variant.as_deref(), self.code.as_deref()];
        let title = named.iter().all(Option::is_none).then_some(self.title.as_str());
        named.into_iter().chain([title]).flatten().map(variant_name)
    }

    /// Returns the name shown to operators for a map entry: the first of [`SoldLine::names`].
    pub fn primary_name(&self) -> String {
        self.names().next().unwrap_or_default()
    }
}

/// Normalizes a name for the variant map: one line of at most [`MAX_VARIANT_CHARS`]. Both sold lines and map entries
/// are normalized, so they match even if the other shop varies its spelling.
pub fn variant_name(text: &str) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let line: String = text.chars().map(|c| if breaks(c) { ' ' } else { c }).collect();
    let line = line.trim();
    let fits = line.chars().count() <= MAX_VARIANT_CHARS;
    // What is cut off ends with a sign that it was.
    if fits { line.to_owned() } else { shortened(line.to_owned(), MAX_VARIANT_CHARS - 1) }
}

/// Content of a channel order, at the other shop's prices.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SoldContent {
    /// Order lines: at least one, at most [`MAX_SOLD_LINES`].
    pub lines: Vec<SoldLine>,
    /// ISO 4217 code in lowercase.
    pub currency: String,
    /// `true` if the prices include tax.
    pub taxes_included: bool,
    /// Shipping charge, in minor units.
    pub shipping_cents: i64,
    /// Tax rate for shipping, in basis points.
    pub shipping_tax_rate_bps: i64,
    /// Sum of all discounts, in minor units.
    pub discount_cents: i64,
    /// Total that the customer paid, in minor units.
    pub total_cents: i64,
    /// The customer's email address in lowercase.
    pub customer_email: Option<String>,
    /// Shipping address.
    pub address: Option<Address>,
    /// Recipient's name, printed on the parcel label.
    pub recipient: Option<String>,
    /// Note that the customer wrote.
    pub notes: Option<String>,
}

/// State of an order as reported in a message from the other shop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShopOrderUpdate {
    /// The shop's ID for the order.
    pub external_id: String,
    /// The shop's order number.
    pub number: String,
    /// Time of the order's last change at the shop; the content with the latest time wins.
    pub changed_at: Timestamp,
    /// `true` if the order was paid in full.
    pub paid: bool,
    /// `true` if the order was cancelled.
    pub cancelled: bool,
    /// Sum of all refunds so far, in minor units.
    pub refunded_cents: i64,
    /// Content of the order, if the message contains it.
    pub content: Option<SoldContent>,
    /// Human-readable reason why the content cannot be read.
    pub unreadable: Option<String>,
}

/// Cancellation and refunds in the other shop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShopState {
    /// `true` if the order was cancelled in the other shop.
    pub cancelled: bool,
    /// Sum of all refunds so far, in minor units.
    pub refunded_cents: i64,
}

/// Status of a channel order, from its first message to its shipment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelOrderStatus {
    /// Not paid yet.
    Unpaid,
    /// Paid, but the corresponding order has not been created in this shop yet, because a variant is not mapped or
    /// something else prevents it.
    Waiting,
    /// The corresponding order has been created in this shop.
    Made,
    /// Cancelled in the other shop before the corresponding order was created.
    Cancelled,
}

/// Order placed in a different shop.
///
/// Invariants: `order_id` is chosen with the first message and never changes; the content is frozen once our order is
/// being created; `paid`, `cancelled` and `refunded_cents` are never reset or reduced, so the order in which messages
/// arrive does not matter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChannelOrder {
    /// Identifier, derived from the channel and the order's ID in the other shop.
    pub id: Id,
    /// Sales channel that the order came from.
    pub channel_id: Id,
    /// The shop's ID for the order.
    pub external_id: String,
    /// The shop's order number.
    pub number: String,
    /// Latest change time at the shop among the messages received.
    pub changed_at: Timestamp,
    /// `true` if the order was paid in full at the shop.
    pub paid: bool,
    /// Cancellation and refunds at the shop, to be passed on to our order.
    pub there: ShopState,
    /// ID of the customer's record; `None` until one of the customer's orders has been paid.
    #[serde(default)]
    pub customer_id: Option<Id>,
    /// Content of the order; `None` until a message contained it.
    pub content: Option<SoldContent>,
    /// ID of our order, chosen before the order exists.
    pub order_id: Id,
    /// `true` once our order is being created; later messages no longer prevent this.
    pub making: bool,
    /// `true` once our order exists.
    #[serde(rename = "made")]
    pub has_order: bool,
    /// Cancellation and refunds already passed on to our order.
    #[serde(rename = "told")]
    pub our_state: ShopState,
    /// Names without an entry in the variant map, as the shop writes them.
    pub missing: Vec<String>,
    /// Human-readable description of any other obstacle, or of an outcome that the shop does not expect.
    pub problem: Option<String>,
    /// `true` if our rules rejected the order at the last attempt; the attempt is retried when the map changes.
    pub refused: bool,
    /// Number of manual retries by operators.
    #[serde(rename = "asked")]
    pub manual_retries: u32,
    /// `true` once the operators were alerted by email that the order is on hold; reset once unreadable content becomes
    /// readable.
    pub alerted: bool,
    /// Shipments to report to the shop, oldest first.
    pub trackings: Vec<ShipmentTracking>,
    /// Time at which the first message about the order arrived.
    pub created_at: Timestamp,
    /// Time of the record's last change on this server.
    pub updated_at: Timestamp,
}

impl ChannelOrder {
    /// Returns the status, derived from the other fields.
    pub fn status(&self) -> ChannelOrderStatus {
        match (self.has_order, self.making, self.there.cancelled, self.paid) {
            (true, ..) => ChannelOrderStatus::Made,
            (_, false, true, _) => ChannelOrderStatus::Cancelled,
            (_, false, _, false) => ChannelOrderStatus::Unpaid,
            _ => ChannelOrderStatus::Waiting,
        }
    }

    /// Returns whether the order needs an operator's attention.
    pub fn needs_attention(&self) -> bool {
        let failed = self.trackings.iter().any(|one| one.state == TrackingState::Failed);
        let waits = self.status() == ChannelOrderStatus::Waiting && !self.missing.is_empty();
        failed || waits || self.problem.is_some()
    }
}

/// Commands that change a channel order.
#[derive(Clone, Debug)]
pub enum ChannelOrderCommand {
    /// Merges a message whose signature was verified, or a row from an imported file.
    Hear {
        /// Sales channel that the message came from.
        channel: Id,
        /// ID of the customer's record, if known.
        customer: Option<Id>,
        /// Content of the message.
        news: Box<ShopOrderUpdate>,
    },
    /// Records that a lookup of the lines found missing entries or a different obstacle.
    Unresolved {
        /// Names without an entry in the variant map.
        missing: Vec<String>,
        /// Any other obstacle.
        problem: Option<String>,
    },
    /// Records that all lines were found in the map; our order will now be created.
    Resolved,
    /// Records that our order exists.
    Made,
    /// Records that the rules rejected our order, with the reason; the channel order is on hold again.
    NotMade(String),
    /// Records that a cancellation or refunds were passed on to our order and, if our order rejected them, the reason.
    Told {
        /// Cancellation and refunds that were passed on.
        reported: ShopState,
        /// Human-readable reason for the rejection; `None` if the changes were applied.
        refused: Option<String>,
    },
    /// Updates the list of all shipments sent for our order so far.
    Shipped(Vec<ReportedShipment>),
    /// Records the outcome of reporting a shipment to the shop.
    Tracked {
        /// The shipment's number within the order.
        number: u32,
        /// Outcome of the report.
        outcome: TrackingOutcome,
    },
    /// Retries failed shipment reports and the line lookup, at an operator's request.
    Retry,
}

/// Response to a command on a channel order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChannelOrderAnswer {
    /// Channel order after the change.
    #[serde(rename = "Order")]
    pub order: Box<ChannelOrder>,
}

/// External work that the state of a channel order requires.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ChannelOrderEffect {
    /// Looks up the order's lines in the map, until all are found.
    Resolve {
        /// Change time of the content: newer content requires a new lookup.
        changed_at: Timestamp,
        /// Number of manual retries by operators.
        retries: u32,
    },
    /// Creates our order; retried until the order exists.
    Make,
    /// Passes cancellation and refunds on to our order, until [`ChannelOrderCommand::Told`] is recorded.
    TellOrder(ShopState),
    /// Reports a shipment to the shop, until [`ChannelOrderCommand::Tracked`] records the outcome.
    TellShop {
        /// The shipment's number within the order.
        number: u32,
        /// Number of earlier attempts.
        tries: u32,
        /// Time at which the report is due.
        at: Timestamp,
    },
}
