//! Context of a decision in addition to the state: time, principal, settings and the ID source.

use crate::id::Id;
use crate::principal::Principal;
use crate::rules::Rules;
use crate::time::Timestamp;

/// Series of human-readable numbers drawn from a counter; numbers may have gaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberSeries {
    /// Order numbers, shown as `ORD-000123`.
    Order,
    /// Job numbers, shown as `JOB-000123`.
    Job,
    /// Quote numbers, shown as `QUO-000123`.
    Quote,
}

impl NumberSeries {
    /// All series.
    pub const ALL: [Self; 3] = [Self::Order, Self::Job, Self::Quote];

    /// Returns the prefix of the numbers, which is also the name of the series.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Order => "ORD",
            Self::Job => "JOB",
            Self::Quote => "QUO",
        }
    }

    /// Parses the number in a text such as `ORD-000123`, `ord-123` or `123`. The prefix and the leading zeros are
    /// optional.
    pub fn parse(self, text: &str) -> Option<i64> {
        let prefix = self.prefix();
        let own = text.get(..prefix.len()).filter(|own| own.eq_ignore_ascii_case(prefix));
        let digits = own.and_then(|own| text[own.len()..].strip_prefix('-'));
        digits.unwrap_or(text).parse().ok()
    }
}

/// Last number issued in each series; 0 before the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LastNumbers {
    /// Last order number (`ORD-000123`).
    pub order: i64,
    /// Last job number (`JOB-000123`).
    pub job: i64,
    /// Last quote number (`QUO-000123`).
    pub quote: i64,
}

impl LastNumbers {
    /// Returns the last number of the given series, for reading and writing.
    pub fn of(&mut self, series: NumberSeries) -> &mut i64 {
        match series {
            NumberSeries::Order => &mut self.order,
            NumberSeries::Job => &mut self.job,
            NumberSeries::Quote => &mut self.quote,
        }
    }
}

/// Source of fresh IDs, numbers and randomness.
pub trait Ids: Send + Sync {
    /// Returns a new unique ID: a `UUIDv7`, so that IDs sort by creation time.
    fn id(&self) -> Id;
    /// Returns the next number of a series.
    fn number(&self, counter: NumberSeries) -> i64;
    /// Skips all numbers up to and including `last`. Has no effect if they were already issued.
    fn skip_to(&self, counter: NumberSeries, last: i64) {
        let _ = (counter, last);
    }
    /// Returns a uniformly distributed random number in `0.0..1.0`, for jitter.
    fn chance(&self) -> f64;
}

/// Everything that a decision may depend on in addition to the state, passed in explicitly.
#[derive(Clone, Copy)]
pub struct DecisionContext<'a> {
    /// Wall-clock time of the decision. It may be earlier than the time of the previous decision.
    pub now: Timestamp,
    /// Principal that issued the command; used for the audit log and for rules that depend on the role.
    pub by: &'a Principal,
    /// Shop settings that the rules use.
    pub rules: &'a Rules,
    /// Source of IDs, human-readable numbers and random numbers.
    pub ids: &'a dyn Ids,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_with_and_without_its_prefix_and_not_with_another_one() {
        for text in ["ORD-000012", "ord-12", "12", "000012"] {
            assert_eq!(NumberSeries::Order.parse(text), Some(12), "{text}");
        }
        for text in ["JOB-000012", "ORD-", "ORD", "ORD12", "", "12a", "ø12", "99999999999999999999"] {
            assert_eq!(NumberSeries::Order.parse(text), None, "{text}");
        }
        assert_eq!(NumberSeries::Job.parse("job-7"), Some(7));
    }

    #[test]
    fn each_series_has_a_last_number_of_its_own() {
        let mut last = LastNumbers::default();
        for (series, number) in NumberSeries::ALL.into_iter().zip(1..) {
            *last.of(series) += number;
        }
        assert_eq!(last, LastNumbers { order: 1, job: 2, quote: 3 });
        assert_eq!(NumberSeries::ALL.map(NumberSeries::prefix), ["ORD", "JOB", "QUO"]);
    }
}
