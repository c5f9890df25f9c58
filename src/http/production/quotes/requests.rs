//! What requests about a quote say.

use api_derive::Request;
use serde_json::json;

use super::super::orders::site::Site;
use crate::domain::bounds::{MAX_CENTS, MAX_QUANTITY};
use crate::domain::id::Id;
use crate::domain::order::Address;
use crate::domain::quote::{DraftLine, DraftQuote, MAX_LINES, QuoteCommand, QuotePatch, QuoteStatus};
use crate::domain::sku::MachineType;
use crate::domain::time::Timestamp;
use crate::http::page::PageQuery;
use crate::http::wire::{EmailAddress, Filled, ItemsWithin, MaxChars, ONE_LINE, Optional, Within, like};

like!(CURRENCY, "^[A-Za-z]{3}$", "must be a currency code of three letters");

/// Which quotes are listed.
#[derive(Request, Debug)]
pub struct QuoteQuery {
    /// Only quotes with this status, as it is shown: one that has expired is not sent.
    pub(super) status: Option<QuoteStatus>,
    /// Only quotes of this site.
    pub(super) site: Option<Site>,
    /// Only quotes of the customer with this e-mail address.
    pub(super) customer_email: Option<String>,
    /// Only quotes that answer this custom request.
    pub(super) custom_request_id: Option<Id>,
    /// Only the quote that became this order.
    pub(super) order_id: Option<Id>,
    #[api(flatten)]
    pub(super) page: PageQuery,
}

/// A line of a quote to draft.
#[derive(Request, Clone, Debug)]
#[api(example = json!({"description": "Bracket, printed in PETG", "quantity": 2, "unitPriceCents": 1850, "skuId": super::super::skus::EXAMPLE_ID}))]
pub struct NewQuoteLine {
    /// What is offered; the name of the SKU or of the model when absent.
    #[api(Filled, ONE_LINE, MaxChars(500))]
    pub(super) description: Option<String>,
    /// How many.
    #[api(Within(1..=MAX_QUANTITY))]
    pub(super) quantity: u32,
    /// Net price of one, in minor units of the currency. When absent: that of the SKU, or what follows from the costs
    /// of the model.
    #[api(Within(0..=MAX_CENTS))]
    pub(super) unit_price_cents: Option<i64>,
    /// The SKU that is printed, public or not; no kit.
    pub(super) sku_id: Option<Id>,
    /// Whether it is printed. What is not, such as design work, needs no SKU.
    #[api(default = true)]
    pub(super) printed: bool,
    /// The uploaded model that is printed, in place of a SKU.
    pub(super) model_file_id: Option<Id>,
    /// What the model is printed of; required before the quote is sent.
    pub(super) material_id: Option<Id>,
    /// The type of machine that prints the model; that of the settings when absent.
    pub(super) machine_type: Option<MachineType>,
    /// Slicer profile of the model; that of the settings when absent.
    #[api(Filled, ONE_LINE, MaxChars(100))]
    pub(super) slicer_profile: Option<String>,
}

/// A quote to draft.
#[derive(Request, Clone, Debug)]
#[api(name = "NewQuote", example = json!({
    "customerEmail": "ann@example.org",
    "lines": [
        {"description": "Bracket, printed in PETG", "quantity": 2, "unitPriceCents": 1850, "skuId": super::super::skus::EXAMPLE_ID},
        {"description": "Design, one hour", "quantity": 1, "unitPriceCents": 6000, "printed": false},
    ],
}))]
pub struct QuoteRequest {
    /// E-mail address of the customer; required before it is sent.
    #[api(EmailAddress)]
    customer_email: Option<String>,
    /// The custom request that it answers.
    custom_request_id: Option<Id>,
    /// What is offered.
    #[api(ItemsWithin(1..=MAX_LINES))]
    pub(super) lines: Vec<NewQuoteLine>,
    /// ISO 4217; the shop's own when absent.
    #[api(&CURRENCY)]
    pub(super) currency: Option<String>,
    /// Where it is shipped to; decides the tax rate. The customer's default address when absent.
    shipping_address: Option<Address>,
    /// Until when it can be accepted; some days after its sending when absent, as the settings say.
    valid_until: Option<Timestamp>,
    /// Notes that the customer reads.
    #[api(MaxChars(1000))]
    notes: Option<String>,
    /// The site that it belongs to; wins over that of the header.
    site: Option<Site>,
}

/// Members that are left out stay as they are. Lines are replaced as a whole.
#[derive(Request, Clone, Debug)]
#[api(name = "QuoteChange", example = json!({"notes": "With brass inserts.", "validUntil": "2030-11-16T10:00:00.000Z"}))]
pub struct QuoteChange {
    /// E-mail address of the customer.
    #[api(EmailAddress)]
    customer_email: Optional<Option<String>>,
    /// The custom request that it answers.
    custom_request_id: Optional<Option<Id>>,
    /// What is offered. A model that the quote has already is named by its `modelFileId` again.
    #[api(ItemsWithin(1..=MAX_LINES))]
    lines: Optional<Vec<NewQuoteLine>>,
    /// Where it is shipped to; decides the tax rate.
    shipping_address: Optional<Option<Address>>,
    /// Until when it can be accepted.
    valid_until: Optional<Option<Timestamp>>,
    /// Notes that the customer reads.
    #[api(MaxChars(1000))]
    notes: Optional<Option<String>>,
}

/// Why a quote is declined.
#[derive(Request, Clone, Debug)]
#[api(name = "QuoteDecline", example = json!({"reason": "too expensive"}))]
pub struct Declining {
    /// In words for people.
    #[api(ONE_LINE, MaxChars(500))]
    reason: Option<String>,
}

impl Declining {
    /// The command that it asks for.
    pub(crate) fn command(self) -> QuoteCommand {
        QuoteCommand::Decline { reason: self.reason.filter(|reason| !reason.trim().is_empty()) }
    }
}

impl QuoteRequest {
    /// The draft that it asks for, with its lines looked up.
    pub(super) fn draft(self, lines: Vec<DraftLine>) -> DraftQuote {
        DraftQuote {
            site: self.site.map(|site| site.0),
            customer_email: self.customer_email,
            custom_request_id: self.custom_request_id,
            lines,
            currency: self.currency,
            shipping_address: self.shipping_address,
            valid_until: self.valid_until,
            notes: self.notes,
        }
    }
}

impl QuoteChange {
    /// The lines that replace those before, if any are there.
    pub(super) fn lines(&self) -> Option<&[NewQuoteLine]> {
        match &self.lines {
            Optional::Present(lines) => Some(lines),
            Optional::Absent => None,
        }
    }

    /// What changes, with the lines looked up.
    pub(super) fn patch(self, lines: Option<Vec<DraftLine>>) -> QuotePatch {
        QuotePatch {
            customer_email: self.customer_email.present(),
            custom_request_id: self.custom_request_id.present(),
            lines,
            shipping_address: self.shipping_address.present(),
            valid_until: self.valid_until.present(),
            notes: self.notes.present(),
        }
    }
}
