//! Longest time without a status poll of a printer since its current attempt started.
//!
//! A whole print may start and end unseen between two polls. This time therefore determines which conclusions can be
//! drawn about a print that left no trace. It is measured with the monotonic clock, which cannot be set.

use std::time::Duration;

use tokio::time::Instant;

use domain::id::Id;

/// Measurement for the current attempt; each printer has one attempt at a time.
#[derive(Default)]
pub(super) struct UnwatchedTime(Option<UnwatchedMeasurement>);

struct UnwatchedMeasurement {
    attempt: Id,
    /// Longest time between two polls so far.
    longest: Duration,
    /// Time at which the latest poll started.
    last: Instant,
}

impl UnwatchedTime {
    /// Starts the measurement, unless one for the given attempt is already running. `before` is the time that had
    /// already passed without a poll.
    pub(super) fn begin(&mut self, attempt: Id, before: Duration, now: Instant) {
        if self.0.as_ref().is_none_or(|measure| measure.attempt != attempt) {
            self.0 = Some(UnwatchedMeasurement { attempt, longest: before, last: now });
        }
    }

    /// Records a successful poll that started at `began` and ended at `now`. The printer's state is unknown from the
    /// start of each poll to the end of the next, so the measured time includes the durations of both polls.
    pub(super) fn record_poll(&mut self, began: Instant, now: Instant) {
        if let Some(measure) = &mut self.0 {
            measure.longest = measure.longest.max(now.saturating_duration_since(measure.last));
            measure.last = began.max(measure.last);
        }
    }

    /// Returns the longest time without a poll since the measurement started; `None` if it was for another attempt.
    pub(super) fn longest(&self, attempt: Id, now: Instant) -> Option<Duration> {
        let measure = self.0.as_ref().filter(|measure| measure.attempt == attempt)?;
        Some(measure.longest.max(now.saturating_duration_since(measure.last)))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use proptest::prelude::*;

    use super::*;
    use domain::testing::id;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test]
    async fn the_longest_time_without_a_look_counts_from_beginning_to_answer() {
        let (start, mut unwatched) = (Instant::now(), UnwatchedTime::default());
        assert_eq!(unwatched.longest(id(1), start), None);
        unwatched.begin(id(1), Duration::ZERO, start);
        unwatched.record_poll(start + SECOND, start + SECOND * 2);
        assert_eq!(unwatched.longest(id(1), start + SECOND * 2), Some(SECOND * 2));
        unwatched.record_poll(start + SECOND * 9, start + SECOND * 10);
        assert_eq!(unwatched.longest(id(1), start + SECOND * 10), Some(SECOND * 9), "since the look before began");
        unwatched.begin(id(1), SECOND * 50, start + SECOND * 11);
        assert_eq!(unwatched.longest(id(1), start + SECOND * 11), Some(SECOND * 9), "it is measured already");
        assert_eq!(unwatched.longest(id(1), start + SECOND * 99), Some(SECOND * 90), "the time until now counts");
        assert_eq!(unwatched.longest(id(2), start), None);
        unwatched.begin(id(2), SECOND * 50, start);
        assert_eq!(unwatched.longest(id(2), start), Some(SECOND * 50), "what went before is told");
    }

    proptest! {
        // A look shows the printer as it is at some moment between its beginning and its answer. A print that no look
        // showed was over between two of those moments, or after the last: the measured time is never shorter than it.
        #[test]
        fn a_print_that_no_look_showed_was_not_longer_than_the_time_without_a_look(
            looks in prop::collection::vec((0u64..30_000, 0u64..5_000, 0u64..=100), 0..20),
            begins in 0u64..120_000,
            lasts in 1u64..60_000,
            verdict in 0u64..20_000,
        ) {
            let (start, ms) = (Instant::now(), Duration::from_millis);
            let mut unwatched = UnwatchedTime::default();
            unwatched.begin(id(1), Duration::ZERO, start);
            let (mut now, mut was_seen) = (0, false);
            for (pause, answers, at) in looks {
                let began = now + pause;
                now = began + answers;
                let shown_at = began + answers * at / 100;
                was_seen |= (begins..begins + lasts).contains(&shown_at);
                unwatched.record_poll(start + ms(began), start + ms(now));
            }
            now += verdict;
            let over = begins + lasts <= now;
            if over && !was_seen {
                let longest = unwatched.longest(id(1), start + ms(now)).unwrap();
                prop_assert!(longest >= ms(lasts), "{longest:?} without a look, the print took {lasts} ms");
            }
        }
    }
}
