//! Settings of how often callers may ask, and of how much may wait.

use serde::Deserialize;

/// `[limits]`: bounds on queued commands, and rate limits.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Commands that may wait for one aggregate before further ones are refused as `overloaded`.
    pub max_queued_commands: usize,
    /// Requests per minute of one staff session or staff API key.
    pub staff_requests_per_minute: u32,
    /// Most requests of one customer's session in a minute; further ones are answered 429.
    pub customer_requests_per_minute: u32,
    /// Requests per minute of one IP address without valid credentials.
    pub anonymous_requests_per_minute: u32,
    /// Sign-in attempts per 15 minutes of one pair of e-mail address and IP address.
    pub login_attempts_per_15_minutes: u32,
    /// Attempts per 15 minutes to guess the password of one account, from all addresses together.
    pub account_attempts_per_15_minutes: u32,
    /// Commands per minute of one user of the agent gateway.
    pub agent_commands_per_minute: u32,
    /// Sign-in links per 15 minutes for one e-mail address.
    pub sign_in_links_of_email_per_15_minutes: u32,
    /// Sign-in links per 15 minutes that one IP address asks for.
    pub sign_in_links_of_address_per_15_minutes: u32,
    /// Draft orders per hour of one customer.
    pub draft_orders_per_hour: u32,
    /// Checkouts of orders per hour that one IP address begins.
    pub order_checkouts_per_hour: u32,
    /// Custom requests per hour of one IP address.
    pub intakes_per_hour: u32,
    /// Exports per hour of one customer.
    pub exports_per_hour: u32,
    /// Callers counted separately in memory; further ones share counters.
    pub rate_limit_max_entries: usize,
}
