//! The settings that the rules depend on. They are handed to every decision, so that the rules read no configuration.

use crate::domain::intake_prices::IntakePrices;
use crate::domain::party::Party;
use crate::domain::pricing::PriceRates;
use crate::domain::tracking::TrackingPage;

/// Settings of the rules, taken from the configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Rules {
    /// Whether a job waits for a person while its material's stock on hand is below the reorder point.
    pub block_below_reorder_point: bool,
    /// Time after which a start that was not confirmed is judged by the printer's evidence, in milliseconds.
    pub confirm_ms: i64,
    /// Time without an answer after which a printer is offline, in milliseconds.
    pub offline_ms: i64,
    /// Whether a picture is taken when a print ends.
    pub finish_photos: bool,
    /// Number of jobs that one order may make.
    pub max_jobs: u32,
    /// Default currency as ISO 4217 code in lower case.
    pub currency: String,
    /// Site of records that name none.
    pub site: String,
    /// Flat shipping charge per order, in minor units.
    pub shipping_flat_cents: i64,
    /// Tax rates by destination; a destination without one is not taxed.
    pub tax_rates: Vec<TaxRate>,
    /// Delays before the retries of a webhook delivery, in milliseconds; after the last retry the endpoint is
    /// disabled.
    pub webhook_schedule_ms: Vec<i64>,
    /// Upper limit of the random delay that is added to each retry, in milliseconds.
    pub webhook_jitter_ms: i64,
    /// E-mail addresses that are told of what needs an operator; empty means the active admins.
    pub operator_mail: Vec<String>,
    /// Address of the server in links, without a slash at its end.
    pub public_url: String,
    /// Whether an agent gateway is configured, which is then told as well.
    pub agent_gateway: bool,
    /// Whether customers are mailed of each shipment of theirs.
    pub shipment_notices: bool,
    /// Whether customers are mailed a receipt when an invoice of theirs is paid.
    pub receipts: bool,
    /// Whether customers are mailed invoices that are sent.
    pub invoice_notices: bool,
    /// Where parcels can be followed.
    pub tracking_pages: Vec<TrackingPage>,
    /// How printed parts are judged.
    pub quality: QualityRules,
    /// What invoices say of the shop.
    pub invoices: InvoiceRules,
    /// What custom pieces are estimated to cost.
    pub intake: IntakePrices,
    /// How quotes are priced, and how long they hold.
    pub pricing: PricingRules,
}

/// How quotes are priced, and how long they hold.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PricingRules {
    /// What things cost the shop, and what it adds.
    pub rates: PriceRates,
    /// Days from the sending of a quote until it expires.
    pub valid_days: i64,
}

/// What invoices say of the shop; frozen in each document when it is issued.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InvoiceRules {
    /// Days from the issue of an invoice until it is due.
    pub payment_days: i64,
    /// Who issues invoices.
    pub seller: Party,
    /// Why nothing is taxed where the rate is 0; `None` where no reason is given.
    pub zero_rate_reason: Option<String>,
}

/// Settings of how printed parts are judged.
#[derive(Clone, PartialEq, Debug)]
pub struct QualityRules {
    /// Whether the parts of a finished print count only once a person has signed them off.
    pub sign_off_required: bool,
    /// Whether parts that were rejected are made again by themselves.
    pub reprint_missing: bool,
    /// Number of jobs that one line of an order makes by itself for rejected parts.
    pub max_reprints: u32,
    /// The words that a person may give as the reason why parts are not good.
    pub reasons: Vec<String>,
}

/// The tax rate of one destination.
#[derive(Clone, PartialEq, Debug)]
pub struct TaxRate {
    /// Country as ISO 3166-1 alpha-2 code.
    pub country: String,
    /// Region of the country; `None` applies to all regions without a rate of their own.
    pub region: Option<String>,
    /// Rate in basis points (1/100 of a percent).
    pub bps: i64,
}
