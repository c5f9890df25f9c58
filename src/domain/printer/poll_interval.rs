//! Interval between two status polls of a printer that responds: short while the next status decides something, longer
//! while the printer pushes its changes, and growing while it is at rest. For a printer that does not respond: the time
//! limit for a poll, and when the printer is considered offline.

use std::time::Duration;

use super::Printer;
use crate::printer_status::Status;

/// Factor by which the interval grows while the printer pushes its changes.
const PUSH_FACTOR: u32 = 10;
/// Maximum factor by which the interval grows while the printer pushes its changes and is at rest.
const PUSH_AND_REST_FACTOR: u32 = 15;
/// Maximum factor by which the interval grows while the printer is at rest and not pushing anything.
const REST_FACTOR: u32 = 5;
/// Part of the time that a printer has been at rest after which it is polled again: a quarter.
const REST_PARTS: u32 = 4;
/// Maximum interval near the end of a print, for a printer that pushes no values, so that the next job does not have to
/// wait.
const END_INTERVAL: Duration = Duration::from_millis(500);
/// Part of a long interval that is randomised, so that printers connected at the same time are not polled at the same
/// time: a tenth.
const CHANCE_PARTS: u32 = 10;
/// Part of the offline timeout reserved for the response to a poll: a third.
const PATIENCE_PARTS: u32 = 3;
/// Number of polls that must fail in a row for a printer to be considered offline, however little time has passed.
pub const MAX_FAILED_POLLS: u32 = 3;
/// Number of requests that must be lost in a row for a printer to be considered offline, however long it is silent: a
/// single one may be lost on the way.
const MIN_LOST_REQUESTS: u32 = 2;

/// Settings from which the intervals are derived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PollSettings {
    /// Interval for a printer that is in use and pushes nothing.
    pub poll: Duration,
    /// Time without a response after which a printer is considered offline.
    pub offline: Duration,
}

/// Reasons for the timing of a printer's next poll, as known when the poll is planned.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PollReasons {
    /// `true` if the printer pushes its changes at present.
    pub pushes: bool,
    /// `true` if a start is unconfirmed. The verdict on it depends on how long the printer was not polled, and pushed
    /// values do not replace polls.
    pub awaits_start: bool,
    /// `true` if a print is about to end. The push that reports the end may be lost.
    pub ends: bool,
    /// Time for which the printer has been at rest; `None` while it is in use.
    pub rested: Option<Duration>,
}

/// Failed polls since the printer last responded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FailedPolls {
    /// Number of polls.
    pub polls: u32,
    /// Number of requests that these polls sent.
    pub requests: u32,
}

impl FailedPolls {
    /// Returns the failed polls with one more, which sent the given number of requests.
    pub fn with_poll(self, requests: u32) -> Self {
        Self { polls: self.polls.saturating_add(1), requests: self.requests.saturating_add(requests) }
    }
}

impl PollSettings {
    /// Returns the pause before the next poll. `random`, from 0 to 1, shortens a long interval by up to a tenth.
    pub fn interval(&self, reasons: PollReasons, random: f64) -> Duration {
        let PollReasons { pushes, awaits_start, ends, rested } = reasons;
        if ends {
            return if pushes { self.poll } else { self.poll.min(END_INTERVAL) };
        }
        let (shortest, longest) = match (awaits_start, pushes) {
            (true, _) => (self.poll, self.poll),
            (false, true) => (self.poll.saturating_mul(PUSH_FACTOR), self.poll.saturating_mul(PUSH_AND_REST_FACTOR)),
            (false, false) => (self.poll, self.longest_rest()),
        };
        let long = rested.map_or(shortest, |rested| (rested / REST_PARTS).min(longest)).max(shortest);
        // Chance does not make it shorter than the setting.
        let random = if random > 0.0 { random.min(1.0) } else { 0.0 };
        long.saturating_sub((long / CHANCE_PARTS).mul_f64(random)).max(self.poll)
    }

    /// Returns the longest interval for a printer at rest. A third of the time after which it is considered offline is
    /// left for the response to the next poll, so that its silence is noticed as early as if it were polled often.
    fn longest_rest(&self) -> Duration {
        self.poll.saturating_mul(REST_FACTOR).min(self.offline * 2 / 3)
    }

    /// Returns the time limit for polling a printer that has been silent for the given time: until it would be
    /// considered offline. After half of that, the poll repeats its request. A printer polled so seldom that it has
    /// already been silent for (almost) that long gets enough time for two requests to be answered.
    pub fn patience(&self, silent: Duration) -> Duration {
        match self.offline.saturating_sub(silent) {
            Duration::ZERO => self.offline,
            left => left.max(self.offline / PATIENCE_PARTS),
        }
    }

    /// Returns whether a printer is considered offline after failed polls, when it has been silent for the given time.
    pub fn is_offline(&self, failed: FailedPolls, silent: Duration) -> bool {
        failed.polls >= MAX_FAILED_POLLS || (failed.requests >= MIN_LOST_REQUESTS && silent >= self.offline)
    }
}

impl Printer {
    /// Returns whether no one is waiting for the printer's next status: it is ready and cold, has nothing in hand, and
    /// no fault is to be cleared.
    pub fn is_at_rest(&self, status: &Status) -> bool {
        !self.has_work_in_hand() && !self.needs_home && self.fault.is_none() && status.is_at_rest()
    }

    /// Returns whether an attempt or a manual print is in hand.
    pub fn has_work_in_hand(&self) -> bool {
        self.in_hand.is_some() || self.manual.is_some()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHIPPED: PollSettings = PollSettings { poll: Duration::from_secs(2), offline: Duration::from_secs(15) };

    fn at_rest(seconds: u64) -> PollReasons {
        PollReasons { rested: Some(Duration::from_secs(seconds)), ..PollReasons::default() }
    }

    #[test]
    fn a_printer_at_rest_is_polled_ever_more_seldom_up_to_six_times_a_minute() {
        let seconds = |rested| SHIPPED.interval(at_rest(rested), 0.0).as_secs();
        assert_eq!([0, 8, 20, 40, 3600].map(seconds), [2, 2, 5, 10, 10]);
    }

    #[test]
    fn a_printer_that_pushes_is_polled_a_tenth_as_often_unless_a_status_decides_something() {
        let pushes = PollReasons { pushes: true, ..PollReasons::default() };
        let [seldom, usual] = [20, 2].map(Duration::from_secs);
        assert_eq!(SHIPPED.interval(pushes, 0.0), seldom);
        let rests = PollReasons { pushes: true, ..at_rest(3600) };
        assert_eq!(SHIPPED.interval(rests, 0.0), Duration::from_secs(30), "twice a minute at rest");
        assert_eq!(SHIPPED.interval(PollReasons { awaits_start: true, ..pushes }, 0.0), usual);
        assert_eq!(SHIPPED.interval(PollReasons { ends: true, ..pushes }, 0.0), usual);
        let ends = PollReasons { ends: true, ..PollReasons::default() };
        assert_eq!(SHIPPED.interval(ends, 0.0), END_INTERVAL, "it pushes no end");
        assert_eq!(SHIPPED.interval(PollReasons::default(), 0.0), usual);
    }

    #[test]
    fn chance_shortens_a_long_interval_by_up_to_a_tenth() {
        let ms = |random: f64| SHIPPED.interval(at_rest(3600), random).as_millis();
        assert_eq!([0.0, 0.5, 1.0, 7.0].map(ms), [10_000, 9_500, 9_000, 9_000]);
        assert_eq!([-1.0, f64::NAN].map(ms), [10_000; 2], "what is no chance changes nothing");
    }

    #[test]
    fn whoever_polls_seldom_anyway_is_asked_no_more_often_for_being_at_rest() {
        let seldom = PollSettings { poll: Duration::from_secs(600), ..SHIPPED };
        assert_eq!(seldom.interval(at_rest(3600), 1.0), seldom.poll);
    }

    #[test]
    fn idle_printers_are_asked_no_more_than_fifteen_times_a_minute() {
        let seldom = PollSettings { poll: Duration::from_secs(1), offline: Duration::from_secs(7) };
        for settings in [SHIPPED, seldom] {
            let shortest = settings.interval(at_rest(3600), 1.0);
            assert!(shortest >= Duration::from_secs(4), "{settings:?}: {shortest:?}");
        }
    }

    #[test]
    fn quick_errors_are_an_outage_after_three_polls_and_lost_requests_when_the_time_is_over() {
        let failed = |polls, requests| FailedPolls { polls, requests };
        let [soon, over] = [Duration::from_secs(3), SHIPPED.offline];
        for (failed, silent, is_offline) in [
            (failed(1, 1), soon, false),
            (failed(1, 2), soon, false),
            (failed(2, 2), soon, false),
            (failed(3, 3), soon, true),
            (failed(1, 1), over, false),
            (failed(1, 2), over, true),
            (failed(2, 2), over, true),
        ] {
            assert_eq!(SHIPPED.is_offline(failed, silent), is_offline, "{failed:?} after {silent:?}");
        }
    }

    proptest! {
        /// Checks for all settings that one lost request alone is never an outage, whether it fails at once or is not
        /// answered, that two have time to be answered, and that a printer that answers none is offline in time.
        #[test]
        fn two_requests_in_a_row_are_lost_before_a_printer_is_offline(
            poll in 1_u64..20_000_000, offline in 1_u64..20_000_000, rested in 0_u64..100_000_000, random in 0.0..1.0,
            later in 0_u64..100_000_000, (pushes, awaits_start, ends) in any::<(bool, bool, bool)>(),
        ) {
            let [poll, offline, rested, later] = [poll, offline, rested, later].map(Duration::from_millis);
            let settings = PollSettings { poll, offline };
            let interval = settings.interval(PollReasons { pushes, awaits_start, ends, rested: Some(rested) }, random);
            let patience = settings.patience(interval);
            let [one, two] = [1, 2].map(|requests| FailedPolls::default().with_poll(requests));
            prop_assert!(!settings.is_offline(one, interval + later), "one is not enough, however late");
            prop_assert!(patience / 2 >= offline / 6, "both have time: {:?}", patience);
            prop_assert!(settings.is_offline(two, interval + patience), "nothing was answered in all that time");
            prop_assert!(patience <= offline);
            if interval <= offline * 2 / 3 {
                prop_assert_eq!(interval + patience, offline, "noticed when its time is over");
            }
            // An error at once is followed by another poll, in which as many requests have their time again.
            let next = settings.patience(interval + later);
            prop_assert!(next / 2 >= offline / 6 && settings.is_offline(one.with_poll(1), offline + later));
        }

        #[test]
        fn silence_at_rest_is_noticed_in_time_and_chance_never_shortens_the_usual_interval(
            poll in 1_u64..20_000, offline in 5_000_u64..600_000, rested in 0_u64..100_000_000, random in 0.0..1.0,
            (pushes, awaits_start, ends) in any::<(bool, bool, bool)>(),
        ) {
            let [poll, offline, rested] = [poll, offline, rested].map(Duration::from_millis);
            let settings = PollSettings { poll, offline };
            let reasons = PollReasons { pushes, awaits_start, ends, rested: Some(rested) };
            let interval = settings.interval(reasons, random);
            if pushes && !awaits_start && !ends {
                prop_assert!(interval <= poll * PUSH_AND_REST_FACTOR && interval >= poll * (PUSH_FACTOR - 1));
            } else {
                prop_assert!(interval <= poll.max(offline * 2 / 3));
            }
            prop_assert!(interval >= poll.min(END_INTERVAL));
            prop_assert!(ends || interval >= poll);
            let later = PollReasons { rested: Some(rested * 2), ..reasons };
            prop_assert!(settings.interval(later, random) >= interval, "longer at rest, polled no sooner");
        }
    }
}
