//! Rate limits (billing API §8, decisions §1): how many requests of one kind somebody may make in a fixed window.
//!
//! Windows follow the clock (the first minute window of an hour begins with the hour), so that servers that share them
//! agree without asking each other. Not for what may wait inside the server: those are bounds of load.

pub mod address;

use crate::domain::time::Timestamp;

const MINUTE_MS: i64 = 60_000;

/// The kinds of windows. One more: a line here, one in [`Named::ALL`], [`Named::word`], [`Named::period_ms`], and its
/// limit in the settings.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Named {
    /// A staff session or an API key, whatever its role.
    Staff,
    /// A customer's session.
    Customer,
    /// An address that shows no credentials, or wrong ones.
    Anonymous,
    /// Sign-in of staff: a pair of e-mail address and IP address.
    Login,
}

impl Named {
    /// All, in the order of their declaration.
    pub const ALL: [Self; 4] = [Self::Staff, Self::Customer, Self::Anonymous, Self::Login];

    /// Its name in shared keys and metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Staff => "staff",
            Self::Customer => "customer",
            Self::Anonymous => "anonymous",
            Self::Login => "login",
        }
    }

    /// How long one window lasts, in milliseconds.
    pub const fn period_ms(self) -> i64 {
        match self {
            Self::Staff | Self::Customer | Self::Anonymous => MINUTE_MS,
            Self::Login => 15 * MINUTE_MS,
        }
    }
}

/// What holds of every window of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Most requests in one window.
    pub limit: u32,
    /// Its length in milliseconds; more than 0.
    pub period_ms: i64,
}

/// One window of one caller: which one, counted since 1970, and what it has seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Window {
    index: i64,
    count: u32,
}

/// How a caller stands in one window after a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// `X-RateLimit-Limit`.
    pub limit: u32,
    /// `X-RateLimit-Remaining`.
    pub remaining: u32,
    /// Milliseconds until the window ends.
    pub ends_in_ms: i64,
    /// The request was one too many.
    pub refused: bool,
}

impl Rule {
    /// Which window a moment is in.
    pub const fn index(self, now: Timestamp) -> i64 {
        now.0.div_euclid(self.period_ms)
    }

    /// How somebody stands with `count` requests in the window of `now`.
    pub const fn standing(self, count: u32, refused: bool, now: Timestamp) -> Standing {
        let ends_in_ms = self.period_ms - now.0.rem_euclid(self.period_ms);
        Standing { limit: self.limit, remaining: self.limit.saturating_sub(count), ends_in_ms, refused }
    }

    /// Counts a request; one too many is not counted.
    pub const fn count(self, window: &mut Window, now: Timestamp) -> Standing {
        let index = self.index(now);
        // A caller that read the clock just before the turn, or a clock set back a little, counts in the newer window.
        if index > window.index || window.index - index > 1 {
            *window = Window { index, count: 0 };
        }
        let refused = window.count >= self.limit;
        if !refused {
            window.count += 1;
        }
        self.standing(window.count, refused, now)
    }

    /// Takes back a request that was counted here and refused elsewhere.
    pub const fn take_back(self, window: &mut Window, now: Timestamp) {
        if window.index - self.index(now) <= 1 && window.index >= self.index(now) {
            window.count = window.count.saturating_sub(1);
        }
    }

    /// Whether a window is over and may be forgotten.
    pub const fn over(self, window: Window, now: Timestamp) -> bool {
        self.index(now) > window.index
    }
}

impl Standing {
    /// `Retry-After`: whole seconds until the window ends, at least 1.
    pub const fn retry_after(self) -> u32 {
        let seconds = (self.ends_in_ms + 999) / 1000;
        if seconds < 1 { 1 } else { seconds as u32 }
    }

    /// Of two windows of one request the one to tell of: a refusal before none, then less left, then the later end.
    pub fn tighter(self, other: Self) -> Self {
        let rank = |one: Self| (!one.refused, if one.refused { 0 } else { one.remaining }, -one.ends_in_ms);
        if rank(other) < rank(self) { other } else { self }
    }
}

#[cfg(test)]
mod tests;
