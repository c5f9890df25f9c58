//! Settings of rate limits and of bounds on queues.

use serde::Deserialize;

/// `[limits]`: bounds on queued commands, and rate limits.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsConfig {
    /// Maximum number of commands queued for one aggregate; further ones are refused as `overloaded`.
    pub max_queued_commands: usize,
    /// Maximum requests per minute of one staff session or staff API key.
    pub staff_requests_per_minute: u32,
    /// Maximum requests per minute of one customer session; further ones get 429.
    pub customer_requests_per_minute: u32,
    /// Maximum requests per minute of one IP address without valid credentials.
    pub anonymous_requests_per_minute: u32,
    /// Maximum sign-in attempts per 15 minutes of one pair of e-mail address and IP address.
    pub login_attempts_per_15_minutes: u32,
    /// Maximum password attempts per 15 minutes on one account, from all addresses together.
    pub account_attempts_per_15_minutes: u32,
    /// Maximum commands per minute of one user of the agent gateway.
    pub agent_commands_per_minute: u32,
    /// Maximum sign-in links per 15 minutes for one e-mail address.
    pub sign_in_links_of_email_per_15_minutes: u32,
    /// Maximum sign-in links per 15 minutes that one IP address requests.
    pub sign_in_links_of_address_per_15_minutes: u32,
    /// Maximum draft orders per hour of one customer.
    pub draft_orders_per_hour: u32,
    /// Maximum order checkouts per hour that one IP address begins.
    pub order_checkouts_per_hour: u32,
    /// Maximum custom requests per hour of one IP address.
    pub intakes_per_hour: u32,
    /// Maximum exports per hour of one customer.
    pub exports_per_hour: u32,
    /// Maximum number of callers counted separately in memory; further ones share counters.
    pub rate_limit_max_entries: usize,
}
