//! Clock, IDs, randomness and settings. They are injected, so that rules and actors do not depend on global sources.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::task::spawn_blocking;
use uuid::{Builder, Uuid};

use domain::aggregate::{DecisionContext, Ids, LastNumbers, NumberSeries};
use domain::id::Id;
use domain::principal::Principal;
use domain::rules::Rules;
use domain::time::Timestamp;
use store::lease::Leadership;

/// Wall clock, which operators and time servers can set forwards or backwards.
pub type Clock = Box<dyn Fn() -> Timestamp + Send + Sync>;

/// Inputs to decisions besides the state: the clock, IDs and settings.
pub struct Environment {
    /// The shop's settings for the domain rules.
    pub rules: Rules,
    ids: Box<dyn Ids>,
    clock: Clock,
    leadership: Leadership,
    /// `true` if long computations run in the turn of their caller.
    computes_inline: bool,
}

impl Environment {
    /// Creates an environment with the machine's clock and randomness. Human-readable numbers continue after those in
    /// `last`.
    pub fn of_the_machine(rules: Rules, last: LastNumbers) -> Self {
        Self::with_clock(rules, Box::new(machine_clock), last)
    }
    /// Creates the same environment as [`Self::of_the_machine`], but with the given clock.
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
            leadership: Leadership::default(),
            computes_inline: false,
        }
    }
    /// Creates an environment for tests and simulations, with the given clock and IDs. Long computations run in the
    /// turn of their caller, so that nothing depends on the moment at which a thread ends.
    pub fn new(rules: Rules, ids: Box<dyn Ids>, clock: Clock) -> Self {
        Self { rules, ids, clock, leadership: Leadership::default(), computes_inline: true }
    }
    /// Makes whatever acts on the outside world wait for this leadership.
    pub fn led_by(mut self, leadership: Leadership) -> Self {
        self.leadership = leadership;
        self
    }
    /// Returns this process's certainty that it leads, which must be awaited before any act on the outside world.
    pub fn leadership(&self) -> &Leadership {
        &self.leadership
    }
    /// Returns the wall-clock time, with millisecond precision.
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }
    /// Returns a new ID, which sorts after all earlier ones.
    pub fn id(&self) -> Id {
        self.ids.id()
    }
    /// Skips the human-readable numbers in a series up to and including `last`.
    pub fn skip_to(&self, series: NumberSeries, last: i64) {
        self.ids.skip_to(series, last);
    }
    /// Returns a random number, uniformly distributed in `0.0..1.0`.
    pub fn chance(&self) -> f64 {
        self.ids.chance()
    }
    /// Runs a long computation on a separate thread, so that nothing else waits for it. Returns `None` if it panicked.
    pub async fn compute<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        if self.computes_inline {
            return catch_unwind(AssertUnwindSafe(work)).ok();
        }
        spawn_blocking(work).await.ok()
    }
    /// Waits until the wall clock reaches the given time, but no longer than `longest`, which should be the full
    /// intended delay. Returns immediately if the time has passed. The limit guards against the wall clock being set
    /// back after `at` was chosen, which would otherwise extend the wait.
    pub async fn wait_until(&self, at: Timestamp, longest: Duration) {
        let wait = Duration::from_millis(u64::try_from(at.since(self.now())).unwrap_or(0));
        tokio::time::sleep(wait.min(longest)).await;
    }
    /// Returns the decision context for a command from `by`, at the current time.
    pub fn cx<'a>(&'a self, by: &'a Principal) -> DecisionContext<'a> {
        DecisionContext { now: self.now(), by, rules: &self.rules, ids: &*self.ids }
    }
}

/// Reads the machine's clock. This is the only code that does so.
#[expect(clippy::disallowed_methods, reason = "the only place that reads the clock")]
pub fn machine_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[expect(clippy::disallowed_methods, reason = "the only place that seeds the shop's randomness")]
fn machine_random() -> fastrand::Rng {
    fastrand::Rng::new()
}

/// Last human-readable number assigned in each series.
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
    #[expect(clippy::disallowed_methods, reason = "the only place that creates IDs")]
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

/// Deterministic IDs and randomness generated from a seed, for tests and replays.
pub struct SeededIds {
    seed: u64,
    next: AtomicI64,
    numbers: Numbers,
    random: Mutex<fastrand::Rng>,
}

impl SeededIds {
    /// Creates a generator. The same seed yields the same IDs.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            next: AtomicI64::new(1),
            numbers: Numbers::default(),
            random: Mutex::new(fastrand::Rng::with_seed(seed)),
        }
    }
}

impl Ids for SeededIds {
    fn id(&self) -> Id {
        let next = self.next.fetch_add(1, Relaxed);
        let mut tail = [0; 10];
        tail[2..].copy_from_slice(&self.seed.to_be_bytes());
        Id(Builder::from_unix_timestamp_millis(next.unsigned_abs() * 1000, &tail).into_uuid())
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

#[cfg(test)]
mod tests {
    use super::*;
    use domain::testing::Bench;

    fn environment(seed: u64) -> Environment {
        Environment::new(Bench::new().rules, Box::new(SeededIds::new(seed)), Box::new(Timestamp::default))
    }

    #[test]
    fn the_same_seed_yields_the_same_ids_in_order() {
        let ids = |seed| {
            let environment = environment(seed);
            std::array::from_fn::<Id, 3, _>(|_| environment.id())
        };
        assert_eq!(ids(7), ids(7));
        assert_ne!(ids(7), ids(8));
        assert!(ids(7).is_sorted());
        assert_eq!(ids(7)[0].0.get_version_num(), 7);
    }

    #[tokio::test]
    async fn a_computation_that_panics_has_no_result() {
        let of_the_machine = Environment::of_the_machine(Bench::new().rules, LastNumbers::default());
        for environment in [environment(1), of_the_machine] {
            assert_eq!(environment.compute(|| 1).await, Some(1));
            assert_eq!(environment.compute(|| -> u8 { panic!("on purpose") }).await, None);
        }
    }

    #[test]
    fn numbers_go_on_after_the_last_of_each_series() {
        let last = LastNumbers { order: 5, job: 7, quote: 9 };
        let environment = Environment::of_the_machine(Bench::new().rules, last);
        let next = || {
            let cx = environment.cx(&Principal::System);
            NumberSeries::ALL.map(|series| cx.ids.number(series))
        };
        assert_eq!((next(), next()), ([6, 8, 10], [7, 9, 11]));
        environment.skip_to(NumberSeries::Order, 20);
        environment.skip_to(NumberSeries::Job, 2);
        assert_eq!(next(), [21, 10, 12]);
        let seeded = SeededIds::new(1);
        seeded.skip_to(NumberSeries::Quote, 3);
        assert_eq!(NumberSeries::ALL.map(|series| seeded.number(series)), [1, 1, 4]);
    }

    #[test]
    fn chance_differs_each_time_and_is_repeated_by_a_seed() {
        let drawn = |environment: &Environment| std::array::from_fn::<f64, 20, _>(|_| environment.chance());
        let of_the_machine = Environment::of_the_machine(Bench::new().rules, LastNumbers::default());
        for environment in [environment(3), of_the_machine] {
            let mut numbers = drawn(&environment);
            assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)), "{numbers:?}");
            numbers.sort_by(f64::total_cmp);
            assert!(numbers.windows(2).all(|two| two[0] < two[1]), "{numbers:?}");
        }
        let bits = |seed| drawn(&environment(seed)).map(f64::to_bits);
        assert_eq!(bits(3), bits(3));
        assert_ne!(bits(3), bits(4));
    }

    #[test]
    fn an_environment_has_the_time_of_its_clock() {
        let clock = Box::new(|| Timestamp(7_000));
        let of_clock = Environment::with_clock(Bench::new().rules, clock, LastNumbers::default());
        assert_eq!((of_clock.now(), of_clock.cx(&Principal::System).now), (Timestamp(7_000), Timestamp(7_000)));
        let of_the_machine = Environment::of_the_machine(Bench::new().rules, LastNumbers::default());
        let (before, now, after) = (machine_clock(), of_the_machine.now(), machine_clock());
        assert!(Timestamp(1_700_000_000_000) < before && before <= now && now <= after);
        let seeded = environment(7);
        let seconds = [(); 3].map(|()| seeded.id().0.get_timestamp().map(|at| at.to_unix().0));
        assert_eq!(seconds, [Some(1), Some(2), Some(3)], "the IDs of a seed are a second apart");
    }

    #[tokio::test]
    async fn a_wait_ends_at_its_time_and_lasts_no_longer_than_intended() {
        let environment = environment(1);
        for (at, longest, waits) in
            [(20, 3_600_000, true), (3_600_000, 20, true), (0, 3_600_000, false), (-5, 9_000, false)]
        {
            let began = tokio::time::Instant::now();
            let wait = environment.wait_until(Timestamp(at), Duration::from_millis(longest));
            assert!(tokio::time::timeout(Duration::from_secs(60), wait).await.is_ok(), "{at} {longest}");
            assert!(!waits || began.elapsed() >= Duration::from_millis(20), "{at} {longest}");
        }
    }
}
