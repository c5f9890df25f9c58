//! Turns at a bounded rate. A caller with much to begin at once, such as a server that connects to thousands of
//! printers at startup, begins a few immediately and the others at regular intervals.

use std::time::Duration;

/// Rate at which turns are given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TurnRate {
    /// Interval between turns in the long run.
    pub interval: Duration,
    /// Number of turns granted at once after a pause.
    pub burst: u32,
}

/// Turns given so far.
#[derive(Clone, Debug)]
pub struct Turns {
    pace: TurnRate,
    /// Time of the next turn if the burst is used up, since the moment from which times are counted.
    next: Duration,
}

impl Turns {
    /// Creates turns, none of which has been granted.
    pub fn new(pace: TurnRate) -> Self {
        Self { pace, next: Duration::ZERO }
    }

    /// Gives the next turn. Returns the time to wait for it. `now` is the time since a moment that stays the same.
    pub fn take(&mut self, now: Duration) -> Duration {
        let TurnRate { interval, burst } = self.pace;
        let due = self.next.max(now);
        self.next = due.saturating_add(interval);
        due.saturating_sub(interval.saturating_mul(burst.saturating_sub(1))).saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const PACE: TurnRate = TurnRate { interval: Duration::from_millis(10), burst: 3 };

    #[test]
    fn a_few_begin_at_once_and_the_others_one_after_the_other() {
        let mut turns = Turns::new(PACE);
        let waits = [(); 5].map(|()| turns.take(Duration::from_secs(1)).as_millis());
        assert_eq!(waits, [0, 0, 0, 10, 20]);
        assert_eq!(turns.take(Duration::from_secs(1) + 15 * MS), 15 * MS, "it stands in line");
        assert_eq!(turns.take(Duration::from_secs(9)), Duration::ZERO, "nobody else waits any more");
    }

    proptest! {
        #[test]
        fn no_more_begin_in_any_span_than_the_pace_allows_and_nobody_overtakes(
            steps in proptest::collection::vec(0_u64..50, 1..200), interval in 1_u64..30, burst in 1_u32..10,
        ) {
            let interval = Duration::from_millis(interval);
            let mut turns = Turns::new(TurnRate { interval, burst });
            let mut now = Duration::ZERO;
            let mut starts = Vec::new();
            for step in steps {
                now += Duration::from_millis(step);
                starts.push(now + turns.take(now));
            }
            prop_assert!(starts.is_sorted());
            for (n, first) in starts.iter().enumerate() {
                for (more, last) in starts.iter().skip(n).enumerate() {
                    let least = interval * u32::try_from(more + 1).unwrap_or(u32::MAX).saturating_sub(burst);
                    let took = last.saturating_sub(*first);
                    prop_assert!(took >= least, "{} turns in {took:?}", more + 1);
                }
            }
        }
    }
}
