//! Circuit breaker: after several consecutive failures, a remote system is not called for a while, and is then probed
//! with a single call.
//!
//! Times are milliseconds of any monotonic clock; the caller passes in the time and random numbers.

use std::time::Duration;

use crate::schedule::Delays;

/// Circuit breaker settings: the number of failures that open the circuit, and the time for which it stays open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BreakerRules {
    /// Consecutive failures that open the circuit.
    pub failures_until_open: u32,
    /// Delays after the failure that opens the circuit and after each subsequent failure.
    pub pauses: Delays,
    /// Maximum duration of the probe call; other callers wait for its outcome.
    pub longest_call: Duration,
}

/// Circuit breaker for one remote system.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Breaker {
    /// Failures since the last success.
    failures: u32,
    /// Time at which the open circuit admits calls again; `None` if the circuit is closed.
    open_until_ms: Option<u64>,
}

impl Breaker {
    /// Admits a call, or returns the number of milliseconds for which calls are blocked. After that time, one call is
    /// admitted as a probe, and all other calls wait for its outcome.
    pub fn admit(&mut self, rules: &BreakerRules, now_ms: u64) -> Result<(), u64> {
        let Some(until) = self.open_until_ms else { return Ok(()) };
        if now_ms < until {
            return Err(until - now_ms);
        }
        self.open_until_ms = Some(now_ms.saturating_add(millis(rules.longest_call)).max(now_ms + 1));
        Ok(())
    }

    /// Returns the number of milliseconds for which calls remain blocked; 0 if a call would be admitted.
    pub fn closed_for_ms(&self, now_ms: u64) -> u64 {
        self.open_until_ms.map_or(0, |until| until.saturating_sub(now_ms))
    }

    /// Records a successful call, which closes the circuit.
    pub fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// Records a failed call. `random`, from 0 to 1, adds jitter to the delay.
    pub fn failed(&mut self, rules: &BreakerRules, now_ms: u64, random: f64) {
        self.failures = self.failures.saturating_add(1);
        if let Some(further) = self.failures.checked_sub(rules.failures_until_open.max(1)) {
            self.open_until_ms = Some(now_ms.saturating_add(millis(rules.pauses.next(further, random))));
        }
    }

    /// Returns the number of failures since the last success.
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// Returns whether the circuit is open, so that calls are blocked.
    pub const fn is_open(&self) -> bool {
        self.open_until_ms.is_some()
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RULES: BreakerRules = BreakerRules {
        failures_until_open: 3,
        pauses: Delays { first: Duration::from_secs(5), longest: Duration::from_secs(300) },
        longest_call: Duration::from_secs(10),
    };

    #[test]
    fn it_opens_with_the_third_failure_and_tries_with_one_call() {
        let mut breaker = Breaker::default();
        for now in [0, 1] {
            assert_eq!(breaker.admit(&RULES, now), Ok(()));
            breaker.failed(&RULES, now, 1.0);
            assert!(!breaker.is_open());
        }
        breaker.failed(&RULES, 2, 1.0);
        assert_eq!(breaker.admit(&RULES, 3), Err(4_999));
        assert_eq!(breaker.admit(&RULES, 5_002), Ok(()), "one tries");
        assert_eq!(breaker.admit(&RULES, 5_003), Err(9_999), "the others wait for it");
        breaker.failed(&RULES, 6_000, 1.0);
        assert_eq!(breaker.admit(&RULES, 6_000), Err(10_000), "twice as long");
        assert_eq!(breaker.admit(&RULES, 16_000), Ok(()));
        breaker.succeeded();
        assert_eq!((breaker.admit(&RULES, 16_001), breaker.failures()), (Ok(()), 0));
    }

    #[test]
    fn a_trial_that_says_nothing_does_not_close_it_for_ever() {
        let mut breaker = Breaker::default();
        for _ in 0..3 {
            breaker.failed(&RULES, 0, 0.0);
        }
        assert_eq!(breaker.admit(&RULES, 2_500), Ok(()));
        assert_eq!(breaker.admit(&RULES, 12_500), Ok(()), "its time is over");
    }

    proptest! {
        #[test]
        fn nobody_is_held_back_longer_than_the_longest_pause_or_call(
            steps in prop::collection::vec((0_u64..400_000, 0..3_u8, 0.0..1.0), 1..60),
        ) {
            let (mut breaker, mut now) = (Breaker::default(), 0);
            for (wait, what, random) in steps {
                now += wait;
                match what {
                    0 => breaker.succeeded(),
                    1 => breaker.failed(&RULES, now, random),
                    _ => drop(breaker.admit(&RULES, now)),
                }
                prop_assert!(breaker.closed_for_ms(now) <= 300_000);
                prop_assert_eq!(breaker.is_open(), breaker.failures() >= 3);
            }
        }
    }

    #[test]
    fn an_open_circuit_says_how_long_it_stays_open() {
        let mut breaker = Breaker::default();
        assert_eq!(breaker.closed_for_ms(7), 0);
        for _ in 0..3 {
            breaker.failed(&RULES, 100, 1.0);
        }
        let closed = [100, 101, 5_099, 5_100, 6_000].map(|now| breaker.closed_for_ms(now));
        assert_eq!((closed, breaker.failures()), ([5_000, 4_999, 1, 0, 0], 3));
        // Only one probe is admitted, even if a probe may take no time.
        let rules = BreakerRules { longest_call: Duration::ZERO, ..RULES };
        assert_eq!((breaker.admit(&rules, 5_100), breaker.admit(&rules, 5_100)), (Ok(()), Err(1)));
    }
}
