//! Rate limits: the number of requests of a given kind that a caller may make in a fixed time window.
//!
//! Windows are aligned to the clock (a one-minute window starts on the minute), so that servers sharing them agree
//! without coordination. The limits ensure fairness among callers; limits on the server's own load are defined
//! elsewhere.

pub mod address;

use crate::time::Timestamp;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

/// Kind of rate limit. A new kind needs a line in [`LimitKind::ALL`], [`LimitKind::word`] and [`LimitKind::period_ms`],
/// and a limit in the settings.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LimitKind {
    /// Requests made with a staff session or an API key, regardless of role.
    Staff,
    /// Requests made with a customer session.
    Customer,
    /// Requests from an IP address without valid credentials.
    Anonymous,
    /// Staff sign-in attempts, per combination of email address and IP address.
    Login,
    /// Password guesses for one account, across all IP addresses.
    Account,
    /// Commands by one agent gateway user.
    Agent,
    /// Sign-in links requested for one email address, from any IP address.
    LinkOfEmail,
    /// Sign-in links requested from one IP address, for any email address.
    LinkOfAddress,
    /// Draft orders created by one customer.
    DraftOrder,
    /// Order checkouts started from one IP address.
    OrderCheckout,
    /// Custom requests submitted from one IP address.
    Intake,
    /// Exports requested by one customer.
    Export,
}

impl LimitKind {
    /// All kinds, in declaration order.
    pub const ALL: [Self; 12] = [
        Self::Staff,
        Self::Customer,
        Self::Anonymous,
        Self::Login,
        Self::Account,
        Self::Agent,
        Self::LinkOfEmail,
        Self::LinkOfAddress,
        Self::DraftOrder,
        Self::OrderCheckout,
        Self::Intake,
        Self::Export,
    ];

    /// Returns the kind's name in shared keys and metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Staff => "staff",
            Self::Customer => "customer",
            Self::Anonymous => "anonymous",
            Self::Login => "login",
            Self::Account => "account",
            Self::Agent => "agent",
            Self::LinkOfEmail => "link_of_email",
            Self::LinkOfAddress => "link_of_address",
            Self::DraftOrder => "draft_order",
            Self::OrderCheckout => "order_checkout",
            Self::Intake => "intake",
            Self::Export => "export",
        }
    }

    /// Returns the length of the window in milliseconds.
    pub const fn period_ms(self) -> i64 {
        match self {
            Self::Staff | Self::Customer | Self::Anonymous | Self::Agent => MINUTE_MS,
            Self::Login | Self::Account | Self::LinkOfEmail | Self::LinkOfAddress => 15 * MINUTE_MS,
            Self::DraftOrder | Self::OrderCheckout | Self::Intake | Self::Export => HOUR_MS,
        }
    }

    /// Returns the counted items and the period, as text: "requests", "a minute".
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Staff | Self::Customer | Self::Anonymous => ("requests", "a minute"),
            Self::Login | Self::Account => ("sign-in attempts", "15 minutes"),
            Self::Agent => ("commands", "a minute"),
            Self::LinkOfEmail | Self::LinkOfAddress => ("sign-in links", "15 minutes"),
            Self::DraftOrder => ("draft orders", "an hour"),
            Self::OrderCheckout => ("checkouts", "an hour"),
            Self::Intake => ("custom requests", "an hour"),
            Self::Export => ("exports", "an hour"),
        }
    }
}

/// Rate limit for one kind of request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LimitRule {
    /// Number of requests allowed in one window.
    pub limit: u32,
    /// Length of the window in milliseconds; greater than 0.
    pub period_ms: i64,
}

/// Current window of a caller: the window's index since 1970, and the number of requests counted in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Window {
    index: i64,
    count: u32,
}

/// Rate limit status of a caller after a request; sent in the `X-RateLimit` headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateLimitStatus {
    /// Number of requests allowed in the window (`X-RateLimit-Limit`).
    pub limit: u32,
    /// Number of requests left in the window (`X-RateLimit-Remaining`).
    pub remaining: u32,
    /// Time until the window ends, in milliseconds.
    pub ends_in_ms: i64,
    /// `true` if the request is rejected because the limit was reached.
    pub refused: bool,
}

impl LimitRule {
    /// Returns the index of the window that contains `now`, counted since 1970.
    pub const fn index(self, now: Timestamp) -> i64 {
        now.0.div_euclid(self.period_ms)
    }

    /// Returns the status of a caller with `count` requests in the window that contains `now`.
    pub const fn standing(self, count: u32, refused: bool, now: Timestamp) -> RateLimitStatus {
        let ends_in_ms = self.period_ms - now.0.rem_euclid(self.period_ms);
        RateLimitStatus { limit: self.limit, remaining: self.limit.saturating_sub(count), ends_in_ms, refused }
    }

    /// Counts a request, unless the limit has been reached; rejected requests are not counted.
    pub const fn count(self, window: &mut Window, now: Timestamp) -> RateLimitStatus {
        let index = self.index(now);
        // A request that read the clock just before the turn, or after it was set back a little, counts in the newer
        // window.
        if index > window.index || window.index - index > 1 {
            *window = Window { index, count: 0 };
        }
        let refused = window.count >= self.limit;
        if !refused {
            window.count += 1;
        }
        self.standing(window.count, refused, now)
    }

    /// Returns whether a request would be rejected now.
    pub const fn is_full(self, window: Window, now: Timestamp) -> bool {
        let index = self.index(now);
        let turned = index > window.index || window.index - index > 1;
        !turned && window.count >= self.limit
    }

    /// Undoes the counting of a request that was subsequently rejected by a different limit.
    pub const fn take_back(self, window: &mut Window, now: Timestamp) {
        if window.index - self.index(now) <= 1 && window.index >= self.index(now) {
            window.count = window.count.saturating_sub(1);
        }
    }

    /// Returns whether the window has ended and may be discarded.
    pub const fn over(self, window: Window, now: Timestamp) -> bool {
        self.index(now) > window.index
    }
}

impl RateLimitStatus {
    /// Returns the number of whole seconds until the window ends, at least 1, for `Retry-After`.
    pub const fn retry_after(self) -> u32 {
        let seconds = (self.ends_in_ms + 999) / 1000;
        if seconds < 1 { 1 } else { seconds as u32 }
    }

    /// Returns the stricter of two limits on one request: a rejection before an acceptance, then the limit with fewer
    /// requests left, then the one that ends later.
    pub fn tighter(self, other: Self) -> Self {
        let rank = |one: Self| (!one.refused, if one.refused { 0 } else { one.remaining }, -one.ends_in_ms);
        if rank(other) < rank(self) { other } else { self }
    }
}

#[cfg(test)]
mod tests;
