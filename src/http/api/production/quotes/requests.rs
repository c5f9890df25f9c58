//! Query parameters and bodies of quote requests.

use api_derive::Request;
use serde_json::json;

use super::super::orders::site::Site;
use domain::bounds::{MAX_CENTS, MAX_QUANTITY};
use domain::id::Id;
use domain::order::Address;
use domain::quote::{DraftLine, DraftQuote, MAX_LINES, QuoteCommand, QuotePatch, QuoteStatus};
use domain::sku::MachineType;
use domain::time::Timestamp;
use http::page::PageQuery;
use http::wire::{EmailAddress, Filled, ItemsWithin, MaxChars, ONE_LINE, Optional, Within, like};

like!(CURRENCY, "^[A-Za-z]{3}$", "must be a three-letter currency code");

/// Query parameters for listing quotes.
#[derive(Request, Debug)]
pub struct QuoteQuery {
    /// Return only quotes with the given displayed status. Expired quotes have the status `expired`, not `sent`.
    pub(super) status: Option<QuoteStatus>,
    /// Return only quotes that belong to the given site.
    pub(super) site: Option<Site>,
    /// Return only quotes for the customer with the given email address.
    pub(super) customer_email: Option<String>,
    /// Return only quotes for the given custom request.
    pub(super) custom_request_id: Option<Id>,
    /// Return only the quote from which the given order was created.
    pub(super) order_id: Option<Id>,
    #[api(flatten)]
    pub(super) page: PageQuery,
}

/// Line of a quote draft.
#[derive(Request, Clone, Debug)]
#[api(example = json!({"description": "Bracket, printed in PETG", "quantity": 2, "unitPriceCents": 1850, "skuId": super::super::skus::EXAMPLE_ID}))]
pub struct NewQuoteLine {
    /// Description of the item; defaults to the name of the SKU or model.
    #[api(Filled, ONE_LINE, MaxChars(500))]
    pub(super) description: Option<String>,
    /// Number of items.
    #[api(Within(1..=MAX_QUANTITY))]
    pub(super) quantity: u32,
    /// Net price per item, in minor units of the currency. Defaults to the price of the SKU, or is calculated from the
    /// costs of the model.
    #[api(Within(0..=MAX_CENTS))]
    pub(super) unit_price_cents: Option<i64>,
    /// ID of the SKU to print, public or not; must not be a kit.
    pub(super) sku_id: Option<Id>,
    /// `true` if the item is printed. Items that are not printed, such as design work, do not require a SKU.
    #[api(default = true)]
    pub(super) printed: bool,
    /// ID of the uploaded model to print instead of a SKU.
    pub(super) model_file_id: Option<Id>,
    /// Material to print the model with; required before the quote is sent.
    pub(super) material_id: Option<Id>,
    /// Machine type to print the model on; defaults to the machine type in the settings.
    pub(super) machine_type: Option<MachineType>,
    /// Name of the slicer profile for the model; defaults to the slicer profile in the settings.
    #[api(Filled, ONE_LINE, MaxChars(100))]
    pub(super) slicer_profile: Option<String>,
}

/// New quote draft.
#[derive(Request, Clone, Debug)]
#[api(name = "NewQuote", example = json!({
    "customerEmail": "ann@example.org",
    "lines": [
        {"description": "Bracket, printed in PETG", "quantity": 2, "unitPriceCents": 1850, "skuId": super::super::skus::EXAMPLE_ID},
        {"description": "Design, one hour", "quantity": 1, "unitPriceCents": 6000, "printed": false},
    ],
}))]
pub struct QuoteRequest {
    /// Email address of the customer; required before the quote is sent.
    #[api(EmailAddress)]
    customer_email: Option<String>,
    /// Custom request that the quote is for.
    custom_request_id: Option<Id>,
    /// Items in the quote.
    #[api(ItemsWithin(1..=MAX_LINES))]
    pub(super) lines: Vec<NewQuoteLine>,
    /// Three-letter ISO 4217 currency code; defaults to the shop's currency.
    #[api(&CURRENCY)]
    pub(super) currency: Option<String>,
    /// Shipping address; determines the tax rate. Defaults to the customer's default address.
    shipping_address: Option<Address>,
    /// Time until which the quote can be accepted; defaults to the configured number of days after sending.
    valid_until: Option<Timestamp>,
    /// Notes visible to the customer.
    #[api(MaxChars(1000))]
    notes: Option<String>,
    /// Site that the quote belongs to; takes precedence over the header.
    site: Option<Site>,
}

/// Changes to a quote. Omitted fields are left unchanged. Lines are replaced as a whole.
#[derive(Request, Clone, Debug)]
#[api(name = "QuoteChange", example = json!({"notes": "With brass inserts.", "validUntil": "2030-11-16T10:00:00.000Z"}))]
pub struct QuoteChange {
    /// Email address of the customer.
    #[api(EmailAddress)]
    customer_email: Optional<Option<String>>,
    /// Custom request that the quote is for.
    custom_request_id: Optional<Option<Id>>,
    /// Items in the quote. To keep a model that the quote already contains, send its `modelFileId` again.
    #[api(ItemsWithin(1..=MAX_LINES))]
    lines: Optional<Vec<NewQuoteLine>>,
    /// Shipping address; determines the tax rate.
    shipping_address: Optional<Option<Address>>,
    /// Time until which the quote can be accepted.
    valid_until: Optional<Option<Timestamp>>,
    /// Notes visible to the customer.
    #[api(MaxChars(1000))]
    notes: Optional<Option<String>>,
}

/// Decision to decline a quote.
#[derive(Request, Clone, Debug)]
#[api(name = "QuoteDecline", example = json!({"reason": "too expensive"}))]
pub struct Declining {
    /// Human-readable reason.
    #[api(ONE_LINE, MaxChars(500))]
    reason: Option<String>,
}

impl Declining {
    /// Converts the request into a command.
    pub fn command(self) -> QuoteCommand {
        QuoteCommand::Decline { reason: self.reason.filter(|reason| !reason.trim().is_empty()) }
    }
}

impl QuoteRequest {
    /// Converts the request into a draft, with its lines looked up.
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
    /// Returns the lines that replace the current ones, if the request contains any.
    pub(super) fn lines(&self) -> Option<&[NewQuoteLine]> {
        match &self.lines {
            Optional::Present(lines) => Some(lines),
            Optional::Absent => None,
        }
    }

    /// Converts the request into a patch, with the lines looked up.
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
