//! Settings that the rules depend on. They are passed to every decision, so that the rules read no configuration.

use crate::intake_prices::IntakePrices;
use crate::party::Party;
use crate::pricing::PriceRates;
use crate::shop_clock::ShopClock;
use crate::tracking::TrackingPage;

/// Settings for the rules, derived from the configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Rules {
    /// `true` if a job is held for an operator while the stock on hand of its material is below the reorder point.
    pub block_below_reorder_point: bool,
    /// Time, in milliseconds, after which an unconfirmed start is decided by the printer's evidence.
    pub confirm_ms: i64,
    /// Time without a response, in milliseconds, after which a printer is considered offline.
    pub offline_ms: i64,
    /// `true` if a photo is taken when a print ends.
    pub finish_photos: bool,
    /// Maximum number of jobs per order.
    pub max_jobs: u32,
    /// Default currency, as a lowercase ISO 4217 code.
    pub currency: String,
    /// Site used for records that do not specify one.
    pub site: String,
    /// Flat shipping charge per order, in minor units.
    pub shipping_flat_cents: i64,
    /// Tax rates by destination; a destination that is not listed is not taxed.
    pub tax_rates: Vec<TaxRate>,
    /// Delays before the retries of a webhook delivery, in milliseconds; after the last retry, the endpoint is
    /// disabled.
    pub webhook_schedule_ms: Vec<i64>,
    /// Upper limit of the random delay added to each retry, in milliseconds.
    pub webhook_jitter_ms: i64,
    /// Email addresses that receive operator alerts; if empty, the active admins receive them.
    pub operator_mail: Vec<String>,
    /// Base URL of the server for use in links, without a trailing slash.
    pub public_url: String,
    /// `true` if an agent gateway is configured, in which case it receives operator alerts as well.
    pub agent_gateway: bool,
    /// `true` if customers are emailed about each of their shipments.
    pub shipment_notices: bool,
    /// `true` if customers are emailed a receipt when one of their invoices is paid.
    pub receipts: bool,
    /// `true` if customers are emailed each invoice when it is issued.
    pub invoice_notices: bool,
    /// Web pages for tracking parcels.
    pub tracking_pages: Vec<TrackingPage>,
    /// Clock in the time zone in which people read and enter times.
    pub clock: ShopClock,
    /// Rules for signing off printed parts.
    pub quality: QualityRules,
    /// Details that appear on the shop's invoices.
    pub invoices: InvoiceRules,
    /// Price tables for estimating custom pieces.
    pub intake: IntakePrices,
    /// Pricing and validity of quotes.
    pub pricing: PricingRules,
}

/// Pricing and validity of quotes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PricingRules {
    /// Cost rates and surcharges.
    pub rates: PriceRates,
    /// Days from sending a quote until it expires.
    pub valid_days: i64,
}

/// Details that appear on the shop's invoices; frozen in each document when it is issued.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InvoiceRules {
    /// Days from issuing an invoice until it is due.
    pub payment_days: i64,
    /// Issuer of the invoices.
    pub seller: Party,
    /// Reason why no tax is charged at a rate of 0, if one is configured.
    pub zero_rate_reason: Option<String>,
}

/// Settings for the sign-off of printed parts.
#[derive(Clone, PartialEq, Debug)]
pub struct QualityRules {
    /// `true` if the parts of a finished print are counted only after an operator has signed them off.
    pub sign_off_required: bool,
    /// `true` if rejected parts are reprinted automatically.
    pub reprint_missing: bool,
    /// Maximum number of automatic reprint jobs per order line for rejected parts.
    pub max_reprints: u32,
    /// Reasons that an operator can choose from when rejecting parts.
    pub reasons: Vec<String>,
}

/// Tax rate for a destination.
#[derive(Clone, PartialEq, Debug)]
pub struct TaxRate {
    /// Country as ISO 3166-1 alpha-2 code.
    pub country: String,
    /// Region of the country; `None` for all regions without their own rate.
    pub region: Option<String>,
    /// Rate in basis points (1/100 of a percent).
    pub bps: i64,
}
