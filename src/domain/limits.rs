//! Rate limits: how many requests of one kind a caller may make in a fixed window of time.
//!
//! Windows follow the clock (a window of one minute begins with the minute), so that servers that share them agree
//! without asking each other. These limits are about fairness among callers; bounds on the server's own load are
//! elsewhere.

pub mod address;

use crate::domain::time::Timestamp;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

/// The kinds of limits. A new kind needs a line in [`LimitKind::ALL`], [`LimitKind::word`] and
/// [`LimitKind::period_ms`], and a limit in the settings.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LimitKind {
    /// Requests of a staff session or an API key, whatever its role.
    Staff,
    /// Requests of a customer's session.
    Customer,
    /// Requests of an address without credentials, or with wrong ones.
    Anonymous,
    /// Attempts to sign in as staff, by pair of e-mail address and IP address.
    Login,
    /// Attempts to guess the password of one account, from all addresses together.
    Account,
    /// Commands of one user of the agent gateway.
    Agent,
    /// Sign-in links that are asked for one e-mail address, from wherever.
    LinkOfEmail,
    /// Sign-in links that one IP address asks for, for whomever.
    LinkOfAddress,
    /// Draft orders of one customer.
    DraftOrder,
    /// Checkouts of orders that one IP address begins.
    OrderCheckout,
    /// Custom requests that one IP address sends.
    Intake,
    /// Exports that one customer asks for.
    Export,
}

impl LimitKind {
    /// All kinds, in the order of their declaration.
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

    /// The kind's name in shared keys and metrics.
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

    /// Length of the window in milliseconds.
    pub const fn period_ms(self) -> i64 {
        match self {
            Self::Staff | Self::Customer | Self::Anonymous | Self::Agent => MINUTE_MS,
            Self::Login | Self::Account | Self::LinkOfEmail | Self::LinkOfAddress => 15 * MINUTE_MS,
            Self::DraftOrder | Self::OrderCheckout | Self::Intake | Self::Export => HOUR_MS,
        }
    }

    /// What is counted, and in how long: "requests", "a minute".
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Staff | Self::Customer | Self::Anonymous => ("requests", "a minute"),
            Self::Login | Self::Account => ("tries to sign in", "15 minutes"),
            Self::Agent => ("commands", "a minute"),
            Self::LinkOfEmail | Self::LinkOfAddress => ("sign-in links", "15 minutes"),
            Self::DraftOrder => ("draft orders", "an hour"),
            Self::OrderCheckout => ("checkouts", "an hour"),
            Self::Intake => ("custom requests", "an hour"),
            Self::Export => ("exports", "an hour"),
        }
    }
}

/// The limit of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LimitRule {
    /// Number of requests allowed in one window.
    pub limit: u32,
    /// Length of the window in milliseconds, more than 0.
    pub period_ms: i64,
}

/// One caller's present window: its index since 1970, and the requests counted in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Window {
    index: i64,
    count: u32,
}

/// What a caller has left in a window after a request; shown in the `X-RateLimit` headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// Number of requests allowed in the window (`X-RateLimit-Limit`).
    pub limit: u32,
    /// Number of requests left in it (`X-RateLimit-Remaining`).
    pub remaining: u32,
    /// Milliseconds until the window ends.
    pub ends_in_ms: i64,
    /// Whether the request is refused because the limit was reached.
    pub refused: bool,
}

impl LimitRule {
    /// Index of the window that this moment is in, counted since 1970.
    pub const fn index(self, now: Timestamp) -> i64 {
        now.0.div_euclid(self.period_ms)
    }

    /// The standing of a caller with `count` requests in the window of `now`.
    pub const fn standing(self, count: u32, refused: bool, now: Timestamp) -> Standing {
        let ends_in_ms = self.period_ms - now.0.rem_euclid(self.period_ms);
        Standing { limit: self.limit, remaining: self.limit.saturating_sub(count), ends_in_ms, refused }
    }

    /// Counts a request, unless the limit is reached: a refused request costs nothing.
    pub const fn count(self, window: &mut Window, now: Timestamp) -> Standing {
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

    /// Whether a request would be refused now.
    pub const fn is_full(self, window: Window, now: Timestamp) -> bool {
        let index = self.index(now);
        let turned = index > window.index || window.index - index > 1;
        !turned && window.count >= self.limit
    }

    /// Takes back a request that was counted here and then refused by another limit.
    pub const fn take_back(self, window: &mut Window, now: Timestamp) {
        if window.index - self.index(now) <= 1 && window.index >= self.index(now) {
            window.count = window.count.saturating_sub(1);
        }
    }

    /// Whether the window has ended and may be forgotten.
    pub const fn over(self, window: Window, now: Timestamp) -> bool {
        self.index(now) > window.index
    }
}

impl Standing {
    /// Whole seconds until the window ends, at least 1, for `Retry-After`.
    pub const fn retry_after(self) -> u32 {
        let seconds = (self.ends_in_ms + 999) / 1000;
        if seconds < 1 { 1 } else { seconds as u32 }
    }

    /// Of two limits on one request, the one to report: refused before not refused, then fewer left, then the later
    /// end.
    pub fn tighter(self, other: Self) -> Self {
        let rank = |one: Self| (!one.refused, if one.refused { 0 } else { one.remaining }, -one.ends_in_ms);
        if rank(other) < rank(self) { other } else { self }
    }
}

#[cfg(test)]
mod tests;
