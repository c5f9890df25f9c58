//! The settings that rules depend on, handed to every decision.

/// Settings of the rules, taken from the configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Rules {
    /// Stock on hand below the reorder point blocks validation (production spec §1 rule 5).
    pub block_below_reorder_point: bool,
    /// Attempts of a job since its last VALIDATED before it is FAILED (decisions §4).
    pub max_attempts: u32,
    /// A start not confirmed after this many milliseconds is judged by the printer's evidence.
    pub confirm_ms: i64,
    /// Silence of a printer after which it is offline, in milliseconds.
    pub offline_ms: i64,
    /// Most jobs of one order.
    pub max_jobs: u32,
    /// ISO 4217, lower case.
    pub currency: String,
    /// The site of records that name none.
    pub site: String,
    /// Flat shipping per order, minor units.
    pub shipping_flat_cents: i64,
    /// Tax by destination: (ISO country, region, basis points).
    pub tax_rates: Vec<TaxRate>,
    /// Delays before retries of a delivery, in milliseconds (1 min, 5 min, 25 min, 2 h, 10 h).
    pub webhook_schedule_ms: Vec<i64>,
    /// Random delay added to each retry, at most, in milliseconds.
    pub webhook_jitter_ms: i64,
    /// Addresses told of what needs an operator.
    pub operator_mail: Vec<String>,
    /// There is an agent gateway to tell as well.
    pub agent_gateway: bool,
}

/// Tax of one destination.
#[derive(Clone, PartialEq, Debug)]
pub struct TaxRate {
    /// ISO 3166-1 alpha-2.
    pub country: String,
    /// Region, when the rate is for it alone.
    pub region: Option<String>,
    /// Basis points.
    pub bps: i64,
}
