//! A quote: what the shop offers to make for a customer at which price, until when.
//!
//! Operators draft quotes; a model that somebody uploads makes a draft too, priced by [`crate::domain::pricing`]. A
//! quote is edited as a draft only. What was sent is frozen: prices, tax and shipping. The accepted quote becomes one
//! order of kind `custom` at exactly these prices, whose id is chosen and kept in the commit that accepts, so that the
//! order is made once whatever happens in between. `draft` has the editing, `model` lines that are printed from an
//! uploaded model, `margin` what they really took, `rules` the rest.
//!
//! | from | on | to |
//! | --- | --- | --- |
//! | none | an operator makes it, or a model is uploaded | draft |
//! | draft | sent; a line that is printed needs a SKU, which one with a model gets now | sent |
//! | draft | deleted | gone |
//! | sent | the customer accepts before `validUntil` | accepted; its order is made |
//! | sent | the customer declines, or the shop withdraws it | declined |
//!
//! `expired` is no state of its own: it is shown instead of sent once `validUntil` has passed.

mod draft;
mod margin;
mod model;
mod rules;
#[cfg(test)]
pub(crate) mod tests;

pub use draft::{DraftLine, DraftModel, DraftQuote, QuotePatch};
pub use margin::{LineMargin, margins};
pub use model::{QuoteModel, SlicedModel};
pub use rules::{QuoteCreated, QuoteEffect};

pub use crate::domain::quote_status::QuoteStatus;

use serde::{Deserialize, Serialize};

use crate::domain::address::Address;
use crate::domain::aggregate::DecisionContext;
use crate::domain::event::Event;
use crate::domain::event::data::quote::QuoteData;
use crate::domain::id::Id;
use crate::domain::pricing::PriceRates;
use crate::domain::slice_source::SliceSource;
use crate::domain::time::Timestamp;

/// Most lines of one quote; as many as a customer may order at once.
pub const MAX_LINES: usize = 50;
/// Refusal of a quote that is answered too late.
pub const QUOTE_EXPIRED: &str = "quote_expired";
/// Refusal of a quote that was declined or withdrawn.
pub const QUOTE_DECLINED: &str = "quote_declined";

/// What is offered, how many of it and at which price.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuoteLine {
    /// What is offered, in words.
    pub description: String,
    /// How many, at least 1.
    pub quantity: u32,
    /// Net price of one in minor units of the currency.
    pub unit_price_cents: i64,
    /// The SKU that is printed; `None` for what is not printed, and for a model before the quote is sent.
    pub sku_id: Option<Id>,
    /// Whether it is printed. What is not, such as design work, makes no jobs.
    pub printed: bool,
    /// The uploaded model that it is printed from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<QuoteModel>,
}

/// A quote.
///
/// Invariants: all that the customer agrees to (lines, tax, shipping, currency) is frozen once it is sent; `order_id`
/// is set by the commit that accepts and never changes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quote {
    /// Identifier of the quote.
    pub id: Id,
    /// Sequential number for people, shown as `QUO-000123`; numbers may have gaps.
    pub number: i64,
    /// Counts the changes that people made, from 1.
    pub revision: i64,
    /// Where it stands; never [`QuoteStatus::Expired`].
    pub status: QuoteStatus,
    /// The site that it belongs to.
    pub site: String,
    /// The customer's e-mail address in its normal form; required to send it.
    pub customer_email: Option<String>,
    /// The customer's record, once they accepted it.
    pub customer_id: Option<Id>,
    /// The custom request that it answers.
    pub custom_request_id: Option<Id>,
    /// What that request was told last of this quote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_told: Option<QuoteStatus>,
    /// What is offered, at least one line.
    pub lines: Vec<QuoteLine>,
    /// Currency of all amounts as ISO 4217 code in lower case.
    pub currency: String,
    /// Sum of the lines without tax, in minor units.
    pub subtotal_cents: i64,
    /// Charge for shipping in minor units.
    pub shipping_cents: i64,
    /// Tax rate of the destination in basis points.
    pub tax_rate_bps: i64,
    /// Tax on lines and shipping in minor units, rounded once.
    pub tax_cents: i64,
    /// What is to be paid, in minor units.
    pub total_cents: i64,
    /// Where it is shipped to; decides the tax rate.
    pub shipping_address: Option<Address>,
    /// Until when it can be accepted; `None` counts the settings' days from its sending.
    pub valid_until: Option<Timestamp>,
    /// Free text that the customer reads.
    pub notes: Option<String>,
    /// The rates by which its models were priced; frozen when it is sent.
    pub rates: PriceRates,
    /// The order that it has become; chosen when it was accepted.
    pub order_id: Option<Id>,
    /// Whether that order is made.
    pub order_made: bool,
    /// Why the order cannot be made, in words for people; `None` while nothing is in the way.
    pub order_error: Option<String>,
    /// Why it was declined, as whoever did it said.
    pub declined_reason: Option<String>,
    /// When it was sent.
    pub sent_at: Option<Timestamp>,
    /// When it was accepted or declined.
    pub answered_at: Option<Timestamp>,
    /// Whether it was deleted, which only drafts are.
    pub archived: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What the slicer made of a model, as the quote is told.
#[derive(Clone, PartialEq, Debug)]
pub enum SlicingNews {
    /// G-code, with what it says.
    Done(SlicedModel),
    /// It cannot be sliced in this way; the words say why.
    Failed(String),
}

/// What can be asked of a quote.
#[derive(Clone, Debug)]
pub enum QuoteCommand {
    /// Makes a draft.
    Create(Box<DraftQuote>),
    /// Changes a draft.
    Update {
        /// The version that the caller read; refused with 412 if it has changed since.
        if_version: Option<i64>,
        /// What changes.
        patch: Box<QuotePatch>,
    },
    /// Sends a draft to its customer.
    Send,
    /// The customer agrees. Asked again it is the same agreement.
    Accept,
    /// The customer, or the shop, does not want it.
    Decline {
        /// Why, in words for people.
        reason: Option<String>,
    },
    /// Deletes a draft.
    Archive,
    /// What the slicer made of a model; heard while it is a draft.
    Sliced {
        /// The model and how it was sliced.
        source: SliceSource,
        /// What came of it.
        news: SlicingNews,
    },
    /// The custom request has heard how this quote stood.
    RequestTold(QuoteStatus),
    /// The order is made.
    Ordered,
    /// The order cannot be made, for this reason.
    NotOrdered(String),
}

impl Quote {
    /// The number as people see it: `QUO-000123`.
    pub fn number_text(&self) -> String {
        format!("QUO-{:06}", self.number)
    }

    /// The status as it is shown at a time: expired where nobody answered until the last moment.
    pub fn shown_status(&self, now: Timestamp) -> QuoteStatus {
        let late = self.status == QuoteStatus::Sent && self.valid_until.is_some_and(|until| until <= now);
        if late { QuoteStatus::Expired } else { self.status }
    }

    /// Whether customers may know of it: it was sent.
    pub fn is_known_to_customers(&self) -> bool {
        !self.archived && self.status != QuoteStatus::Draft
    }

    /// Whether it is for the customer with this e-mail address, in its normal form.
    pub fn is_for(&self, email: &str) -> bool {
        self.customer_email.as_deref() == Some(email)
    }

    fn event(&self, cx: &DecisionContext<'_>, name: &str) -> Event {
        let data = QuoteData {
            quote_id: self.id,
            number: self.number_text(),
            status: self.status,
            total_cents: self.total_cents,
            currency: self.currency.clone(),
            customer_email: self.customer_email.clone(),
            valid_until: self.valid_until,
            order_id: self.order_id,
        };
        Event::new(cx, name, ("quote", self.id), None, &data)
    }
}
