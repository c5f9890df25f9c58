//! IDs and randomness for the servers of a world, derived from its seed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fastrand::Rng;
use uuid::Builder;

use crate::clock::WorldClock;
use domain::aggregate::{Ids, LastNumbers, NumberSeries};
use domain::id::Id;

/// Source of IDs and randomness that survives crashes, so that no two servers create the same ID.
pub struct WorldIds(Mutex<IdState>);

struct IdState {
    chance: Rng,
    /// Virtual time of the last ID, in milliseconds. It never decreases, so that IDs sort by creation.
    last_ms: u64,
    count: u64,
}

impl WorldIds {
    /// Creates the source of a world.
    pub fn new(chance: Rng) -> Self {
        Self(Mutex::new(IdState { chance, last_ms: 0, count: 0 }))
    }

    fn state(&self) -> MutexGuard<'_, IdState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// IDs of one server, with the human-readable numbers, which it continues.
pub struct ServerIds {
    world: Arc<WorldIds>,
    clock: Arc<WorldClock>,
    numbers: Mutex<LastNumbers>,
}

impl ServerIds {
    /// Creates the ID source of a server whose data ends with the numbers `last`.
    pub fn new(world: Arc<WorldIds>, clock: Arc<WorldClock>, last: LastNumbers) -> Self {
        Self { world, clock, numbers: Mutex::new(last) }
    }

    fn with_number<T>(&self, series: NumberSeries, act: impl FnOnce(&mut i64) -> T) -> T {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        act(match series {
            NumberSeries::Order => &mut numbers.order,
            NumberSeries::Job => &mut numbers.job,
            NumberSeries::Quote => &mut numbers.quote,
        })
    }
}

impl Ids for ServerIds {
    fn id(&self) -> Id {
        let now_ms = u64::try_from(self.clock.now().0).unwrap_or(0);
        let mut state = self.world.state();
        state.last_ms = state.last_ms.max(now_ms);
        state.count += 1;
        // Of the ten bytes, the first carries the version and the third the variant: the count stands behind both.
        let mut tail = [0; 10];
        tail[3..8].copy_from_slice(&state.count.to_be_bytes()[3..]);
        tail[8..].copy_from_slice(&state.chance.u16(..).to_be_bytes());
        Id(Builder::from_unix_timestamp_millis(state.last_ms, &tail).into_uuid())
    }

    fn number(&self, series: NumberSeries) -> i64 {
        self.with_number(series, |last| {
            *last += 1;
            *last
        })
    }

    fn skip_to(&self, series: NumberSeries, last: i64) {
        self.with_number(series, |current| *current = last.max(*current));
    }

    fn chance(&self) -> f64 {
        self.world.state().chance.f64()
    }
}
