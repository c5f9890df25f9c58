//! Delays between attempts. Random numbers are handed in, and the results are delays, not moments.
//!
//! Webhook deliveries follow a fixed schedule, because it is promised to their receivers ([`next_attempt`]).
//! Everything internal that restarts, reconnects or probes uses growing delays ([`Delays`]).

use std::time::Duration;

use backoff::backoff::Backoff as _;

/// Default delays before the retries of a delivery: 1 min, 5 min, 25 min, 2 h, 10 h.
pub const DELIVERY_RETRIES: [Duration; 5] = [
    Duration::from_mins(1),
    Duration::from_mins(5),
    Duration::from_mins(25),
    Duration::from_hours(2),
    Duration::from_hours(10),
];

/// Upper limit of the random delay that is added to a retry, so that many endpoints are not called at the same
/// moment.
pub const DELIVERY_JITTER: Duration = Duration::from_secs(30);

/// The delay before the next attempt of a delivery that has failed `failures` times.
///
/// The first attempt is made at once. After a failure the delay is that of the schedule plus up to `jitter_max`,
/// never less; `jitter` is a random number from 0 to 1. `None`: the last retry has failed, and the endpoint is to be
/// disabled.
pub fn next_attempt(retries: &[Duration], failures: u32, jitter: f64, jitter_max: Duration) -> Option<Duration> {
    let Some(retry) = failures.checked_sub(1) else {
        return Some(Duration::ZERO);
    };
    let wait = retries.get(usize::try_from(retry).ok()?)?;
    Some(wait.saturating_add(share(jitter_max, jitter)))
}

/// Growing delays between attempts at the same thing: doubled each time, up to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delays {
    /// Delay after the first failure, before randomization.
    pub first: Duration,
    /// Upper limit of every delay.
    pub longest: Duration,
}

impl Delays {
    /// The delay after failure number `n`, counted from 0. `random`, from 0 to 1, spreads it from half of the full
    /// delay to all of it, so that many clients do not return at once.
    ///
    /// The crate `backoff` only doubles the interval here: its own randomness is switched off and its clock is not
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

/// A share of a duration. A share below 0, above 1 or not a number counts as the nearest valid one.
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

    fn waits(jitter: f64) -> Vec<Option<u64>> {
        (0..=7)
            .map(|failures| next_attempt(&DELIVERY_RETRIES, failures, jitter, DELIVERY_JITTER))
            .map(|wait| wait.map(|wait| wait.as_secs()))
            .collect()
    }

    #[test]
    fn a_delivery_goes_at_once_then_follows_the_schedule_then_ends() {
        let expected = [Some(0), Some(60), Some(300), Some(1500), Some(7200), Some(36_000), None, None];
        assert_eq!(waits(0.0), expected);
    }

    #[test]
    fn full_jitter_adds_half_a_minute_to_retries_only() {
        let expected = [Some(0), Some(90), Some(330), Some(1530), Some(7230), Some(36_030), None, None];
        assert_eq!(waits(1.0), expected);
    }

    #[test]
    fn an_empty_schedule_means_one_attempt() {
        assert_eq!(next_attempt(&[], 0, 0.5, DELIVERY_JITTER), Some(Duration::ZERO));
        assert_eq!(next_attempt(&[], 1, 0.5, DELIVERY_JITTER), None);
    }

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
        fn a_retry_is_never_early_and_at_most_the_jitter_late(failures in 1_u32..6, jitter: f64) {
            let base = DELIVERY_RETRIES[failures as usize - 1];
            let wait = next_attempt(&DELIVERY_RETRIES, failures, jitter, DELIVERY_JITTER);
            prop_assert!(wait.is_some_and(|wait| wait >= base && wait <= base + DELIVERY_JITTER));
        }

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
