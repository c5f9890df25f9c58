//! Clock, ids and settings, handed in: rules and actors take nothing from the air.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use uuid::{NoContext, Uuid};

use crate::domain::aggregate::{DecisionContext, Ids, LastNumbers, NumberSeries};
use crate::domain::id::Id;
use crate::domain::principal::Principal;
use crate::domain::rules::Rules;
use crate::domain::time::Timestamp;

/// A wall clock, which people and time servers set forward and back.
pub type Clock = Box<dyn Fn() -> Timestamp + Send + Sync>;

/// Everything a decision may know besides the state.
pub struct Environment {
    /// Settings of the shop that rules go by.
    pub rules: Rules,
    ids: Box<dyn Ids>,
    clock: Clock,
}

impl Environment {
    /// With the machine's clock and randomness; counters go on after these numbers.
    pub fn of_the_machine(rules: Rules, last: LastNumbers) -> Self {
        Self::with_clock(rules, Box::new(machine_clock), last)
    }
    /// As [`Self::of_the_machine`], with this clock.
    pub fn with_clock(rules: Rules, clock: Clock, last: LastNumbers) -> Self {
        let LastNumbers { order, job, quote } = last;
        Self {
            rules,
            ids: Box::new(MachineIds {
                numbers: Numbers {
                    orders: AtomicI64::new(order),
                    jobs: AtomicI64::new(job),
                    quotes: AtomicI64::new(quote),
                },
                random: Mutex::new(machine_random()),
            }),
            clock,
        }
    }
    /// With a clock and ids of a test.
    pub fn new(rules: Rules, ids: Box<dyn Ids>, clock: Clock) -> Self {
        Self { rules, ids, clock }
    }
    /// The time of the wall clock, with milliseconds.
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }
    /// A fresh id, later than those before in the order of ids.
    pub fn id(&self) -> Id {
        self.ids.id()
    }
    /// Leaves out the human numbers of a series up to this one.
    pub fn skip_to(&self, series: NumberSeries, last: i64) {
        self.ids.skip_to(series, last);
    }
    /// A random number, uniform in `0.0..1.0`.
    pub fn chance(&self) -> f64 {
        self.ids.chance()
    }
    /// Waits until this moment of the clock, but no longer than `longest`: the whole span that was to be waited.
    /// Returns at once when the moment is past. The bound is for a wall clock that was set back after the moment was
    /// chosen: the moment then seems later than anybody meant to wait.
    pub async fn wait_until(&self, at: Timestamp, longest: Duration) {
        let wait = Duration::from_millis(u64::try_from(at.since(self.now())).unwrap_or(0));
        tokio::time::sleep(wait.min(longest)).await;
    }
    /// What a decision for `by` may know, as of now.
    pub fn cx<'a>(&'a self, by: &'a Principal) -> DecisionContext<'a> {
        DecisionContext { now: self.now(), by, rules: &self.rules, ids: &*self.ids }
    }
}

/// The machine's clock, read in this one place.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub fn machine_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[expect(clippy::disallowed_methods, reason = "the one place that seeds the shop's randomness")]
fn machine_random() -> fastrand::Rng {
    fastrand::Rng::new()
}

/// The last human numbers that were handed out.
#[derive(Default)]
struct Numbers {
    orders: AtomicI64,
    jobs: AtomicI64,
    quotes: AtomicI64,
}

impl Numbers {
    fn last(&self, counter: NumberSeries) -> &AtomicI64 {
        match counter {
            NumberSeries::Order => &self.orders,
            NumberSeries::Job => &self.jobs,
            NumberSeries::Quote => &self.quotes,
        }
    }
    fn next(&self, counter: NumberSeries) -> i64 {
        self.last(counter).fetch_add(1, Relaxed) + 1
    }
    fn skip_to(&self, counter: NumberSeries, last: i64) {
        self.last(counter).fetch_max(last, Relaxed);
    }
}

struct MachineIds {
    numbers: Numbers,
    random: Mutex<fastrand::Rng>,
}

impl Ids for MachineIds {
    #[expect(clippy::disallowed_methods, reason = "the one place that makes ids")]
    fn id(&self) -> Id {
        Id(Uuid::now_v7())
    }
    fn number(&self, counter: NumberSeries) -> i64 {
        self.numbers.next(counter)
    }
    fn skip_to(&self, counter: NumberSeries, last: i64) {
        self.numbers.skip_to(counter, last);
    }
    fn chance(&self) -> f64 {
        self.random.lock().unwrap_or_else(PoisonError::into_inner).f64()
    }
}

/// Ids and chance from a seed, for tests and replays.
pub struct SeededIds {
    next: AtomicI64,
    numbers: Numbers,
    random: Mutex<fastrand::Rng>,
}

impl SeededIds {
    /// The same seed gives the same ids.
    pub fn new(seed: u64) -> Self {
        Self {
            next: AtomicI64::new(1),
            numbers: Numbers::default(),
            random: Mutex::new(fastrand::Rng::with_seed(seed)),
        }
    }
}

impl Ids for SeededIds {
    fn id(&self) -> Id {
        let next = self.next.fetch_add(1, Relaxed);
        let stamp = uuid::Timestamp::from_unix(NoContext, next.unsigned_abs(), 0);
        Id(Uuid::new_v7(stamp))
    }
    fn number(&self, counter: NumberSeries) -> i64 {
        self.numbers.next(counter)
    }
    fn skip_to(&self, counter: NumberSeries, last: i64) {
        self.numbers.skip_to(counter, last);
    }
    fn chance(&self) -> f64 {
        self.random.lock().unwrap_or_else(PoisonError::into_inner).f64()
    }
}
