//! Timing of a promised order: whether it will be ready by its deadline.

use serde::{Deserialize, Serialize};

use crate::promise::Promise;
use crate::time::Timestamp;

/// Number of equal parts that the promised span is divided into; an order expected in the last part is at risk.
const SPAN_PARTS: i64 = 10;

/// Timing of an order whose promise is outstanding, in order of increasing urgency.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// Expected before the last tenth of the promised span.
    OnTime,
    /// Expected within the last tenth of the promised span, or impossible to forecast.
    AtRisk,
    /// Expected after the deadline, or the deadline has passed.
    Late,
}

impl Timing {
    /// All timings, in order of decreasing urgency.
    pub const ALL: [Self; 3] = [Self::Late, Self::AtRisk, Self::OnTime];

    /// Returns the timing's name in the API.
    pub const fn word(self) -> &'static str {
        match self {
            Self::OnTime => "on_time",
            Self::AtRisk => "at_risk",
            Self::Late => "late",
        }
    }

    /// Returns the timing of an order that is not ready yet. The promised span begins when the promise is made and ends
    /// at the deadline. An expected time in the past is treated as now.
    pub fn of(promise: &Promise, due_at: Option<Timestamp>, expected_at: Option<Timestamp>, now: Timestamp) -> Self {
        let deadline = promise.deadline(due_at);
        let earliest = expected_at.map_or(now, |at| at.max(now));
        let last_part = deadline.since(promise.made_at).max(0) / SPAN_PARTS;
        if earliest > deadline {
            Self::Late
        } else if expected_at.is_none() || deadline.since(earliest) < last_part {
            Self::AtRisk
        } else {
            Self::OnTime
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START: Timestamp = Timestamp(1_700_000_000_000);
    const HOUR: i64 = 3_600_000;

    fn at(hours: i64) -> Timestamp {
        START.plus_ms(hours * HOUR)
    }

    /// Builds a promise for a hundred hours after it was made.
    fn promise() -> Promise {
        Promise { made_at: START, expected_at: at(70), promised_at: at(100), met_at: None }
    }

    #[test]
    fn names_are_those_of_the_api() {
        for timing in Timing::ALL {
            assert_eq!(serde_json::to_value(timing).ok(), Some(timing.word().into()));
        }
    }

    #[test]
    fn the_last_tenth_of_the_promised_span_is_a_risk() {
        let expected = |hours: i64| Timing::of(&promise(), None, Some(at(hours)), START);
        assert_eq!([70, 90].map(expected), [Timing::OnTime; 2]);
        assert_eq!([91, 100].map(expected), [Timing::AtRisk; 2], "the promised moment itself is in time");
        assert_eq!(expected(101), Timing::Late);
    }

    #[test]
    fn what_cannot_be_forecast_is_a_risk_until_the_deadline() {
        let now = |hours: i64| Timing::of(&promise(), None, None, at(hours));
        assert_eq!([0, 100].map(now), [Timing::AtRisk; 2]);
        assert_eq!(now(101), Timing::Late);
    }

    #[test]
    fn an_old_forecast_counts_as_now() {
        let now = |hours: i64| Timing::of(&promise(), None, Some(at(70)), at(hours));
        assert_eq!([80, 95, 101].map(now), [Timing::OnTime, Timing::AtRisk, Timing::Late]);
    }

    #[test]
    fn an_earlier_due_date_is_the_deadline_and_a_later_one_is_not() {
        let timing = |due: i64, expected: i64| Timing::of(&promise(), Some(at(due)), Some(at(expected)), START);
        assert_eq!([40, 46, 51].map(|hours| timing(50, hours)), [Timing::OnTime, Timing::AtRisk, Timing::Late]);
        assert_eq!([90, 101].map(|hours| timing(200, hours)), [Timing::OnTime, Timing::Late]);
        assert_eq!(timing(-1, 0), Timing::Late, "due before the promise was made");
    }

    prop_compose! {
        fn moments()(
            promised in -10i64..200, due in prop::option::of(-10i64..200), expected in prop::option::of(-10i64..200)
        ) -> (Promise, Option<Timestamp>, Option<Timestamp>) {
            (Promise { promised_at: at(promised), ..promise() }, due.map(at), expected.map(at))
        }
    }

    proptest! {
        #[test]
        fn time_alone_makes_nothing_better((promise, due, expected) in moments(), now in -10i64..200, wait in 0i64..200) {
            let timing = |now: i64| Timing::of(&promise, due, expected, at(now));
            prop_assert!(timing(now) <= timing(now + wait));
        }

        #[test]
        fn a_later_expectation_makes_nothing_better(
            (promise, due, _) in moments(), expected in -10i64..200, delay in 0i64..200, now in -10i64..200
        ) {
            let timing = |expected: i64| Timing::of(&promise, due, Some(at(expected)), at(now));
            prop_assert!(timing(expected) <= timing(expected + delay));
        }

        #[test]
        fn late_is_expected_or_now_past_the_promise_or_the_due_date(
            (promise, due, expected) in moments(), now in -10i64..200
        ) {
            let now = at(now);
            let past = |at: Timestamp| now > at || expected.is_some_and(|expected| expected > at);
            let late = past(promise.promised_at) || due.is_some_and(past);
            prop_assert_eq!(Timing::of(&promise, due, expected, now) == Timing::Late, late);
        }
    }
}
