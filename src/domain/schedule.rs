//! Exponential backoff between attempts at the same operation. Random numbers are passed in, and the results are
//! delays, not points in time.
//!
//! It is used for all internal restarts, reconnects and probes. It is not used for webhook deliveries, whose schedule
//! is fixed, because it is promised to their receivers (`webhooks.retry_schedule_seconds`).

use std::time::Duration;

use backoff::backoff::Backoff as _;

/// Exponential backoff: delays that double with each failure, up to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delays {
    /// Delay after the first failure, before randomisation.
    pub first: Duration,
    /// Upper limit of every delay.
    pub longest: Duration,
}

impl Delays {
    /// Returns the delay after failure number `n`, starting at 0. `random`, from 0 to 1, adds jitter: the delay is
    /// between half the full value and the full value, so that many clients do not all retry at the same moment.
    ///
    /// The `backoff` crate is used only to double the interval: its own randomness is switched off and its clock is not
    /// used.
    pub fn next(&self, n: u32, random: f64) -> Duration {
        let mut growing = backoff::ExponentialBackoffBuilder::new()
            .with_initial_interval(self.first.min(self.longest))
            .with_max_interval(self.longest)
            .with_multiplier(2.0)
            .with_randomization_factor(0.0)
            .with_max_elapsed_time(None)
            .build();
        // A nanosecond that is doubled 94 times exceeds the longest `Duration`, so further steps change nothing.
        for _ in 0..n.min(96) {
            growing.next_backoff();
        }
        let full = growing.current_interval;
        let half = full / 2;
        half.saturating_add(share(full.saturating_sub(half), random))
    }
}

/// Returns a fraction of a duration. The fraction is clamped to the range 0 to 1; NaN is treated as 0.
fn share(whole: Duration, part: f64) -> Duration {
    if part > 0.0 {
        Duration::try_from_secs_f64(whole.as_secs_f64() * part.min(1.0)).unwrap_or(whole).min(whole)
    } else {
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn delays_double_up_to_the_longest() {
        let delays = Delays { first: Duration::from_secs(1), longest: Duration::from_mins(1) };
        let full: Vec<u64> = (0..9).map(|n| delays.next(n, 1.0).as_secs()).collect();
        assert_eq!(full, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(delays.next(3, 0.0), Duration::from_secs(4));
        assert_eq!(delays.next(u32::MAX, 1.0), Duration::from_mins(1));
    }

    #[test]
    fn a_first_delay_above_the_longest_is_the_longest() {
        let delays = Delays { first: Duration::from_secs(90), longest: Duration::from_mins(1) };
        assert_eq!(delays.next(0, 1.0), Duration::from_mins(1));
    }

    proptest! {
        #[test]
        fn delays_stay_in_the_upper_half_and_never_pass_the_longest(
            first in 1_u64..100_000, longest in 1_u64..10_000_000, n: u32, random in 0.0..1.0,
        ) {
            let delays = Delays { first: Duration::from_millis(first), longest: Duration::from_millis(longest) };
            let delay = delays.next(n, random);
            prop_assert!(delay <= delays.longest);
            prop_assert!(delay >= delays.first.min(delays.longest) / 2);
            prop_assert_eq!(delay, delays.next(n, random));
        }
    }
}
