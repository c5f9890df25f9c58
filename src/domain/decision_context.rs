//! What a rule may know besides the state that it decides on: the time, who asks, the settings, and where ids come
//! from.

use crate::domain::id::Id;
use crate::domain::principal::Principal;
use crate::domain::rules::Rules;
use crate::domain::time::Timestamp;

/// Human numbers handed out by a counter; gaps are allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberSeries {
    /// Numbers of orders, shown as `ORD-000123`.
    Order,
    /// Numbers of jobs, shown as `JOB-000123`.
    Job,
    /// Numbers of quotes, shown as `QUO-000123`.
    Quote,
}

impl NumberSeries {
    /// Every series.
    pub const ALL: [Self; 3] = [Self::Order, Self::Job, Self::Quote];

    /// What stands before the numbers, which is also the name of the series.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Order => "ORD",
            Self::Job => "JOB",
            Self::Quote => "QUO",
        }
    }
}

/// The last human number of each series that was handed out; 0 before the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LastNumbers {
    /// That of `ORD-000123`.
    pub order: i64,
    /// That of `JOB-000123`.
    pub job: i64,
    /// That of `QUO-000123`.
    pub quote: i64,
}

impl LastNumbers {
    /// The number of this series.
    pub fn of(&mut self, series: NumberSeries) -> &mut i64 {
        match series {
            NumberSeries::Order => &mut self.order,
            NumberSeries::Job => &mut self.job,
            NumberSeries::Quote => &mut self.quote,
        }
    }
}

/// Where fresh ids, numbers and randomness come from.
pub trait Ids: Send + Sync {
    /// An id that nothing else has: a `UUIDv7`, so that ids sort by the time of their making.
    fn id(&self) -> Id;
    /// The next human number.
    fn number(&self, counter: NumberSeries) -> i64;
    /// Leaves out the human numbers up to this one, as far as they were not given out yet.
    fn skip_to(&self, counter: NumberSeries, last: i64) {
        let _ = (counter, last);
    }
    /// Uniform in `0.0..1.0`, for jitter.
    fn chance(&self) -> f64;
}

/// What a decision may know besides the state: handed in, never taken from the air.
#[derive(Clone, Copy)]
pub struct DecisionContext<'a> {
    /// The moment of the decision, by the wall clock. It may step back.
    pub now: Timestamp,
    /// Who asks: for the audit log, and for rules that go by roles.
    pub by: &'a Principal,
    /// Settings of the shop that rules go by.
    pub rules: &'a Rules,
    /// Makes ids, human numbers and random numbers.
    pub ids: &'a dyn Ids,
}
