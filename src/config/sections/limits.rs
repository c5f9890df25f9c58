//! Settings of rate limits and queue limits.

use serde::Deserialize;

/// `[limits]`: rate limits, and limits on queued commands.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsConfig {
    /// Maximum number of commands queued for one aggregate; further commands are rejected as `overloaded`.
    pub max_queued_commands: usize,
    /// Maximum number of requests per minute for one staff session or staff API key.
    pub staff_requests_per_minute: u32,
    /// Maximum number of requests per minute for one customer session; further requests are rejected with 429.
    pub customer_requests_per_minute: u32,
    /// Maximum number of requests per minute from one IP address without valid credentials.
    pub anonymous_requests_per_minute: u32,
    /// Maximum number of sign-in attempts per 15 minutes for one combination of email address and IP address.
    pub login_attempts_per_15_minutes: u32,
    /// Maximum number of password attempts per 15 minutes for one account, across all addresses.
    pub account_attempts_per_15_minutes: u32,
    /// Maximum number of commands per minute from one user of the agent gateway.
    pub agent_commands_per_minute: u32,
    /// Maximum number of sign-in links per 15 minutes for one email address.
    pub sign_in_links_of_email_per_15_minutes: u32,
    /// Maximum number of sign-in links per 15 minutes requested from one IP address.
    pub sign_in_links_of_address_per_15_minutes: u32,
    /// Maximum number of draft orders per hour for one customer.
    pub draft_orders_per_hour: u32,
    /// Maximum number of order checkouts per hour started from one IP address.
    pub order_checkouts_per_hour: u32,
    /// Maximum number of custom requests per hour from one IP address.
    pub intakes_per_hour: u32,
    /// Maximum number of exports per hour for one customer.
    pub exports_per_hour: u32,
    /// Maximum number of callers counted separately in memory; further callers share counters.
    pub rate_limit_max_entries: usize,
}
