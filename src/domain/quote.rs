//! A quote: an offer to a customer with its price and its period of validity.
//!
//! Operators draft quotes; uploading a model also creates a draft, priced by [`crate::pricing`]. A quote can be
//! edited only as a draft. Once it is sent, prices, tax and shipping are frozen. The accepted quote becomes one order
//! of kind `custom` at exactly these prices; its id is chosen and stored in the commit that accepts, so that the order
//! is created once whatever happens in between. `draft` contains the editing, `model` the lines that are printed from
//! an uploaded model, `margin` their actual costs, `rules` the rest.
//!
//! | from | on | to |
//! | --- | --- | --- |
//! | none | an operator creates it, or a model is uploaded | draft |
//! | draft | sent; a printed line needs a SKU, which one with a model gets now | sent |
//! | draft | deleted | gone |
//! | sent | the customer accepts before `validUntil` | accepted; its order is created |
//! | sent | the customer declines, or the shop withdraws it | declined |
//!
//! `expired` is not a state of its own: it is shown instead of sent once `validUntil` has passed.

mod draft;
mod margin;
mod model;
mod rules;
#[cfg(test)]
pub(crate) mod tests;

pub use draft::{DraftLine, DraftModel, DraftQuote, QuotePatch};
pub use margin::{LineMargin, margins};
pub use model::{QuoteModel, SlicedModel};
pub use rules::{QuoteCreation, QuoteEffect};

pub use crate::quote_status::QuoteStatus;

use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::aggregate::DecisionContext;
use crate::event::Event;
use crate::event::data::quote::QuoteData;
use crate::id::Id;
use crate::pricing::PriceRates;
use crate::slice_source::SliceSource;
use crate::time::Timestamp;

/// Maximum number of lines of one quote; as many as a customer may order at once.
pub const MAX_LINES: usize = 50;
/// Refusal code for a quote that is answered too late.
pub const QUOTE_EXPIRED: &str = "quote_expired";
/// Refusal code for a quote that was declined or withdrawn.
pub const QUOTE_DECLINED: &str = "quote_declined";

/// Line of a quote: the offered item with its quantity and price.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuoteLine {
    /// Description of the offered item.
    pub description: String,
    /// Number of units, at least 1.
    pub quantity: u32,
    /// Net price of one unit, in minor units of the currency.
    pub unit_price_cents: i64,
    /// SKU that is printed; `None` for a line that is not printed, and for a model before the quote is sent.
    pub sku_id: Option<Id>,
    /// `true` if it is printed. Other lines, such as design work, create no jobs.
    pub printed: bool,
    /// Uploaded model that it is printed from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<QuoteModel>,
}

/// A quote.
///
/// Invariants: everything the customer agrees to (lines, tax, shipping, currency) is frozen once it is sent; `order_id`
/// is set by the commit that accepts and never changes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quote {
    /// Identifier of the quote.
    pub id: Id,
    /// Sequential number for display, shown as `QUO-000123`; numbers may have gaps.
    pub number: i64,
    /// Number of changes by users, from 1.
    pub revision: i64,
    /// Stored status; never [`QuoteStatus::Expired`].
    pub status: QuoteStatus,
    /// Site that it belongs to.
    pub site: String,
    /// The customer's e-mail address in its normal form; required to send it.
    pub customer_email: Option<String>,
    /// Customer record, once the customer accepted it while signed in.
    pub customer_id: Option<Id>,
    /// Custom request that it answers.
    pub custom_request_id: Option<Id>,
    /// Status that was last reported to that request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_told: Option<QuoteStatus>,
    /// Offered lines, at least one.
    pub lines: Vec<QuoteLine>,
    /// Currency of all amounts, as ISO 4217 code in lower case.
    pub currency: String,
    /// Sum of the lines without tax, in minor units.
    pub subtotal_cents: i64,
    /// Charge for shipping in minor units.
    pub shipping_cents: i64,
    /// Tax rate of the destination in basis points.
    pub tax_rate_bps: i64,
    /// Tax on lines and shipping in minor units, rounded once.
    pub tax_cents: i64,
    /// Amount to pay, in minor units.
    pub total_cents: i64,
    /// Shipping address, which determines the tax rate.
    pub shipping_address: Option<Address>,
    /// Time until which it can be accepted; if `None`, it is computed on sending from the validity in the settings.
    pub valid_until: Option<Timestamp>,
    /// Free text for the customer.
    pub notes: Option<String>,
    /// Rates by which its models are priced; frozen when it is sent.
    pub rates: PriceRates,
    /// Order created from it; its id is chosen when the quote is accepted.
    pub order_id: Option<Id>,
    /// `true` once that order is created.
    pub order_made: bool,
    /// Human-readable reason the order cannot be created; `None` while there is no problem.
    pub order_error: Option<String>,
    /// Reason entered by the customer or operator who declined it.
    pub declined_reason: Option<String>,
    /// Time at which it was sent.
    pub sent_at: Option<Timestamp>,
    /// Time at which it was accepted or declined.
    pub answered_at: Option<Timestamp>,
    /// `true` if it was deleted, which is possible for drafts only.
    pub archived: bool,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// Result of slicing a model, as reported to the quote.
#[derive(Clone, PartialEq, Debug)]
pub enum QuoteSlicingOutcome {
    /// Slicing succeeded; with the facts from the G-code.
    Done(SlicedModel),
    /// Slicing failed, with a human-readable reason.
    Failed(String),
}

/// Change that a quote accepts.
#[derive(Clone, Debug)]
pub enum QuoteCommand {
    /// Creates a draft.
    Create(Box<DraftQuote>),
    /// Changes a draft.
    Update {
        /// Version that the caller read; refused with 412 if it has changed since.
        if_version: Option<i64>,
        /// Changed members.
        patch: Box<QuotePatch>,
    },
    /// Sends a draft to its customer.
    Send,
    /// Accepts the quote on behalf of the customer. Repeating it has no further effect, except that an order that could
    /// not be created is tried again.
    Accept,
    /// Declines the quote (customer) or withdraws it (shop).
    Decline {
        /// Human-readable reason.
        reason: Option<String>,
    },
    /// Deletes a draft.
    Archive,
    /// Reports the result of slicing a model; ignored unless the quote is a draft.
    Sliced {
        /// Model and slicing parameters.
        source: SliceSource,
        /// Result of slicing.
        news: QuoteSlicingOutcome,
    },
    /// Acknowledges that the custom request knows this status of the quote.
    RequestTold(QuoteStatus),
    /// Records that the order is created.
    Ordered,
    /// Records that the order cannot be created, for this reason.
    NotOrdered(String),
}

impl Quote {
    /// Returns the number as it is displayed: `QUO-000123`.
    pub fn number_text(&self) -> String {
        format!("QUO-{:06}", self.number)
    }

    /// Returns the status as shown at a given time: expired if it was not answered in time.
    pub fn shown_status(&self, now: Timestamp) -> QuoteStatus {
        let late = self.status == QuoteStatus::Sent && self.valid_until.is_some_and(|until| until <= now);
        if late { QuoteStatus::Expired } else { self.status }
    }

    /// Returns whether customers may see it, because it was sent.
    pub fn is_known_to_customers(&self) -> bool {
        !self.archived && self.status != QuoteStatus::Draft
    }

    /// Returns whether it is addressed to the customer with this e-mail address, in its normal form.
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
