//! What a rule may know besides the state that it decides on: the time, who asks, the settings, and where ids come from.

use crate::domain::id::Id;
use crate::domain::principal::Principal;
use crate::domain::rules::Rules;
use crate::domain::time::Timestamp;

/// Human numbers handed out by a counter; gaps are allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counter {
    /// `ORD-000123`
    Order,
    /// `JOB-000123`
    Job,
}

/// Where fresh ids, numbers and randomness come from.
pub trait Ids: Send + Sync {
    /// A fresh `UUIDv7`.
    fn id(&self) -> Id;
    /// The next human number.
    fn number(&self, counter: Counter) -> i64;
    /// Uniform in `0.0..1.0`, for jitter.
    fn chance(&self) -> f64;
}

/// What a decision may know besides the state: handed in, never taken from the air.
#[derive(Clone, Copy)]
pub struct DecisionContext<'a> {
    /// The clock.
    pub now: Timestamp,
    /// Who asks.
    pub by: &'a Principal,
    /// The shop's settings.
    pub rules: &'a Rules,
    /// Ids, numbers, chance.
    pub ids: &'a dyn Ids,
}
