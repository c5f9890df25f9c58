//! A quote: an offer to a customer with a price and a validity period.
//!
//! Operators draft quotes; uploading a model also creates a draft, priced by [`crate::pricing`]. A quote can be edited
//! only as a draft. Once it is sent, prices, tax and shipping are frozen. Accepting the quote creates an order of kind
//! `custom` at exactly these prices; the order's ID is chosen and stored in the commit that accepts the quote, so that
//! the order is created only once even if the server crashes in between. `draft` contains the rules for editing,
//! `model` those for lines printed from an uploaded model, `margin` their actual costs, and `rules` the rest.
//!
//! | from | on | to |
//! | --- | --- | --- |
//! | none | an operator creates it, or a model is uploaded | draft |
//! | draft | sent; every printed line needs a SKU, and a line with a model gets one now | sent |
//! | draft | deleted | gone |
//! | sent | the customer accepts before `validUntil` | accepted; its order is created |
//! | sent | the customer declines, or the shop withdraws it | declined |
//!
//! `expired` is not a stored status: it is shown instead of `sent` once `validUntil` has passed.

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
use words::Language;

/// Maximum number of lines per quote, equal to the number that a customer may order at once.
pub const MAX_LINES: usize = 50;
/// Error code for accepting or declining a quote too late.
pub const QUOTE_EXPIRED: &str = "quote_expired";
/// Error code for a quote that was declined or withdrawn.
pub const QUOTE_DECLINED: &str = "quote_declined";

/// Quote line: the quoted item with its quantity and price.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuoteLine {
    /// Description of the quoted item.
    pub description: String,
    /// Number of units, at least 1.
    pub quantity: u32,
    /// Net unit price, in minor units of the currency.
    pub unit_price_cents: i64,
    /// SKU to print; `None` for a line that is not printed, and for a model until the quote is sent.
    pub sku_id: Option<Id>,
    /// `true` if the line is printed. Other lines, such as design work, create no jobs.
    pub printed: bool,
    /// Uploaded model that the line is printed from, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<QuoteModel>,
}

/// A quote.
///
/// Invariants: everything that the customer agrees to (lines, tax, shipping, currency) is frozen once the quote is
/// sent; `order_id` is set by the commit that accepts the quote and never changes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quote {
    /// Identifier of the quote.
    pub id: Id,
    /// Sequential number, displayed as `QUO-000123`; numbers may have gaps.
    pub number: i64,
    /// Number of changes made by users, starting at 1.
    pub revision: i64,
    /// Stored status; never [`QuoteStatus::Expired`].
    pub status: QuoteStatus,
    /// Site that the quote belongs to.
    pub site: String,
    /// The customer's email address in normalised form; required to send the quote.
    pub customer_email: Option<String>,
    /// Customer record, set if the customer was signed in when accepting the quote.
    pub customer_id: Option<Id>,
    /// Custom request that the quote responds to, if any.
    pub custom_request_id: Option<Id>,
    /// Status last reported to the custom request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_told: Option<QuoteStatus>,
    /// Quoted lines, at least one.
    pub lines: Vec<QuoteLine>,
    /// Currency of all amounts, as a lowercase ISO 4217 code.
    pub currency: String,
    /// Line total without tax, in minor units.
    pub subtotal_cents: i64,
    /// Shipping charge, in minor units.
    pub shipping_cents: i64,
    /// Tax rate at the destination, in basis points.
    pub tax_rate_bps: i64,
    /// Tax on lines and shipping, in minor units, rounded once.
    pub tax_cents: i64,
    /// Amount to pay, in minor units.
    pub total_cents: i64,
    /// Shipping address, which determines the tax rate.
    pub shipping_address: Option<Address>,
    /// Time at which the quote expires; if `None`, it is calculated when the quote is sent, from the validity period in
    /// the settings.
    pub valid_until: Option<Timestamp>,
    /// Free-text notes for the customer.
    pub notes: Option<String>,
    /// Rates used to price the quote's models; frozen when the quote is sent.
    pub rates: PriceRates,
    /// Order created from the quote; its ID is chosen when the quote is accepted.
    pub order_id: Option<Id>,
    /// `true` once the order has been created.
    pub order_made: bool,
    /// Human-readable reason why the order cannot be created, if any.
    pub order_error: Option<String>,
    /// Reason entered by the customer or operator who declined the quote.
    pub declined_reason: Option<String>,
    /// Time at which the quote was sent, if it has been.
    pub sent_at: Option<Timestamp>,
    /// Time at which the quote was accepted or declined, if it has been.
    pub answered_at: Option<Timestamp>,
    /// `true` if the quote was deleted, which is possible only for drafts.
    pub archived: bool,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// Result of slicing a model, as reported to the quote.
#[derive(Clone, PartialEq, Debug)]
pub enum QuoteSlicingOutcome {
    /// Slicing succeeded, with the facts from the G-code.
    Done(SlicedModel),
    /// Slicing failed, with a human-readable reason.
    Failed(String),
}

/// Command that changes a quote, from drafting it to recording its order.
#[derive(Clone, Debug)]
pub enum QuoteCommand {
    /// Creates a draft.
    Create(Box<DraftQuote>),
    /// Changes a draft.
    Update {
        /// Version that the caller read; rejected with 412 if the quote has changed since.
        if_version: Option<i64>,
        /// Fields to change.
        patch: Box<QuotePatch>,
    },
    /// Sends a draft to its customer, by email in the given language.
    Send(Language),
    /// Accepts the quote on behalf of the customer. Retrying the command has no further effect, except that an order
    /// that could not be created is retried.
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
    /// Records that the custom request has acknowledged the given status of the quote.
    RequestTold(QuoteStatus),
    /// Records that the order has been created.
    Ordered,
    /// Records that the order cannot be created, for the given reason.
    NotOrdered(String),
}

impl Quote {
    /// Returns the display number: `QUO-000123`.
    pub fn number_text(&self) -> String {
        format!("QUO-{:06}", self.number)
    }

    /// Returns the status to show at a given time: expired if the customer did not respond in time.
    pub fn shown_status(&self, now: Timestamp) -> QuoteStatus {
        let late = self.status == QuoteStatus::Sent && self.valid_until.is_some_and(|until| until <= now);
        if late { QuoteStatus::Expired } else { self.status }
    }

    /// Returns whether customers may see the quote, which is the case once it has been sent.
    pub fn is_known_to_customers(&self) -> bool {
        !self.archived && self.status != QuoteStatus::Draft
    }

    /// Returns whether the quote is addressed to the customer with the given email address, in normalised form.
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
