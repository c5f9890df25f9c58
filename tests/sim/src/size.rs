//! Size of a story, with all values that depend on it: a story of one or two printers, which takes less than an hour
//! and is run in thousands, or a whole day of a shop with twenty.

use std::time::Duration;

use crate::chance::branch;
use config::Config;

/// Milliseconds in a minute.
const MINUTE_MS: i64 = 60_000;
/// Milliseconds in an hour.
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// Interval between two checks of the spool manager in a small story. A day-long story uses the default setting.
const STORY_SYNC: Duration = Duration::from_secs(30);
/// Number of printers of a day's shop.
const DAY_PRINTERS: usize = 20;
/// Poll intervals for printers, in seconds, one of which a day's seed chooses. Polling twenty printers every two
/// seconds would dominate the cost of a day.
const DAY_POLLS: [u64; 3] = [30, 60, 90];
/// Number of such intervals after which a silent printer counts as offline. Up to two thirds of them pass between two
/// checks of a printer at rest.
const DAY_SILENCE: u32 = 4;

/// Size of a story.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// A few orders on one or two printers, with all events close together.
    #[default]
    Story,
    /// Dozens of orders through a day on twenty printers.
    Day,
}

impl Size {
    /// Returns the number of printers; `None` if the seed chooses it.
    pub const fn printers(self) -> Option<usize> {
        match self {
            Self::Story => None,
            Self::Day => Some(DAY_PRINTERS),
        }
    }

    /// Returns the time at which all faults end, in milliseconds since the start of the simulation.
    pub const fn healed_at_ms(self) -> i64 {
        match self {
            Self::Story => 40 * MINUTE_MS,
            Self::Day => 22 * HOUR_MS,
        }
    }

    /// Returns the time at which the last orders are placed, in milliseconds since the beginning: they are printed
    /// before everything is healed, or soon after it.
    pub const fn last_order_ms(self) -> i64 {
        match self {
            Self::Story => 8 * MINUTE_MS,
            Self::Day => 17 * HOUR_MS,
        }
    }

    /// Returns the time at which enough material is delivered that no job waits forever, in milliseconds since the
    /// beginning. In a day it is early enough for the prints that waited to be made before everything is healed.
    pub const fn last_delivery_ms(self) -> i64 {
        match self {
            Self::Story => self.healed_at_ms(),
            Self::Day => 16 * HOUR_MS,
        }
    }

    /// Returns the time after the end of all faults within which everything must be done, in milliseconds, in addition
    /// to the time of all prints, which the printers of a day share.
    pub const fn rest_within_ms(self) -> i64 {
        match self {
            Self::Story => 90 * MINUTE_MS,
            Self::Day => 4 * HOUR_MS,
        }
    }

    /// Returns the interval at which people perform the due steps.
    pub const fn round(self) -> Duration {
        match self {
            Self::Story => Duration::from_secs(10),
            Self::Day => Duration::from_secs(60),
        }
    }

    /// Returns the maximum interval between the staff's checks of something unchanged, in milliseconds.
    pub const fn look_every_ms(self) -> i64 {
        match self {
            Self::Story => 0,
            Self::Day => 15 * MINUTE_MS,
        }
    }

    /// Returns the maximum duration of a fault, in milliseconds.
    pub const fn longest_spell_ms(self) -> i64 {
        match self {
            Self::Story => 6 * MINUTE_MS,
            Self::Day => 40 * MINUTE_MS,
        }
    }

    /// Returns the maximum number of occurrences of one fault.
    pub const fn most_spells(self) -> u32 {
        match self {
            Self::Story => 4,
            Self::Day => 24,
        }
    }

    /// Returns the most stories that are run to make one shorter.
    pub const fn most_tries(self) -> usize {
        match self {
            Self::Story => 60,
            Self::Day => 40,
        }
    }

    /// Returns the maximum number of crashes.
    pub const fn most_crashes(self) -> u32 {
        match self {
            Self::Story => 5,
            Self::Day => 12,
        }
    }

    /// Returns the most invoices without orders.
    pub const fn most_invoices(self) -> usize {
        match self {
            Self::Story => 2,
            Self::Day => 6,
        }
    }

    /// Returns the most orders that another shop sells.
    pub const fn most_sold(self) -> usize {
        match self {
            Self::Story => 2,
            Self::Day => 5,
        }
    }

    /// Returns the maximum number of spells of one fault in a receiver or in another shop.
    pub const fn most_outages(self) -> u32 {
        match self {
            Self::Story => 2,
            Self::Day => 10,
        }
    }

    /// Returns the factor by which times are longer than in a small story where people do something now and then. What
    /// takes most of a small story ends early enough before a day does.
    pub const fn stretch(self) -> i64 {
        match self {
            Self::Story => 1,
            Self::Day => 20,
        }
    }

    /// Returns the exponent of the power of two that limits the number of steps before a server crash.
    pub const fn longest_life(self) -> u32 {
        match self {
            Self::Story => 9,
            Self::Day => 14,
        }
    }

    /// Adapts a server's settings to stories of this size.
    pub fn tune(self, seed: u64, config: &mut Config) {
        if self == Self::Story {
            config.stock_sync.interval_seconds = STORY_SYNC.into();
            return;
        }
        let poll = branch(seed, "polls").usize(..DAY_POLLS.len());
        let poll = Duration::from_secs(DAY_POLLS[poll]);
        config.printers.poll_interval_seconds = poll.into();
        config.printers.offline_seconds = (poll * DAY_SILENCE).into();
    }
}
