//! Settings for rate limits and queue limits.

use serde::Deserialize;

/// `[limits]`: rate limits, and limits on queued commands.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsConfig {
    /// Maximum number of commands queued per aggregate; further commands are rejected as `overloaded`.
    pub max_queued_commands: usize,
    /// Maximum number of requests per minute per staff session or staff API key.
    pub staff_requests_per_minute: u32,
    /// Maximum number of requests per minute per customer session; further requests are rejected with 429.
    pub customer_requests_per_minute: u32,
    /// Maximum number of unauthenticated requests per minute per IP address.
    pub anonymous_requests_per_minute: u32,
    /// Maximum number of sign-in attempts per 15 minutes per combination of email address and IP address.
    pub login_attempts_per_15_minutes: u32,
    /// Maximum number of password attempts per 15 minutes per account, across all IP addresses.
    pub account_attempts_per_15_minutes: u32,
    /// Maximum number of commands per minute per user of the agent gateway.
    pub agent_commands_per_minute: u32,
    /// Maximum number of sign-in links per 15 minutes per email address.
    pub sign_in_links_of_email_per_15_minutes: u32,
    /// Maximum number of sign-in links requested per 15 minutes per IP address.
    pub sign_in_links_of_address_per_15_minutes: u32,
    /// Maximum number of draft orders per hour per customer.
    pub draft_orders_per_hour: u32,
    /// Maximum number of order checkouts started per hour per IP address.
    pub order_checkouts_per_hour: u32,
    /// Maximum number of custom requests per hour per IP address.
    pub intakes_per_hour: u32,
    /// Maximum number of exports per hour per customer.
    pub exports_per_hour: u32,
    /// Maximum number of callers that are counted separately in memory; further callers share counters.
    pub rate_limit_max_entries: usize,
}
