//! Clock of the simulated world: virtual time that continues when the server crashes and another one starts.
//!
//! Each server has its own runtime, whose paused clock starts at zero. The world continues from the time at which the
//! last one stopped, so no time passes between two servers unless the story includes downtime.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use domain::time::Timestamp;

/// Start of every story: 2 November 2026, 08:00 UTC, a Monday.
const BEGINNING: Timestamp = Timestamp(1_793_606_400_000);

/// Clock of the world.
pub struct WorldClock {
    state: Mutex<ClockState>,
    /// Arbitrary instant that represents the start of the simulation, because printers count in instants.
    origin: Instant,
}

struct ClockState {
    /// Virtual milliseconds from the start of the simulation to the start of the current runtime.
    offset_ms: i64,
    /// Start of the current runtime on its own clock; `None` if there is no runtime.
    began: Option<Instant>,
}

impl WorldClock {
    /// Creates a clock at the start of the simulation.
    pub fn new() -> Self {
        let state = ClockState { offset_ms: 0, began: None };
        Self { state: Mutex::new(state), origin: Instant::now() }
    }

    /// Continues with the clock of the current runtime.
    pub fn start(&self) {
        self.state().began = Some(Instant::now());
    }

    /// Stops the clock; must be called before the current runtime ends.
    pub fn stop(&self) {
        let elapsed_ms = self.elapsed_ms();
        *self.state() = ClockState { offset_ms: elapsed_ms, began: None };
    }

    /// Advances the time while no server runs.
    pub fn pass(&self, ms: i64) {
        self.state().offset_ms += ms;
    }

    /// Returns the virtual milliseconds since the start of the simulation.
    pub fn elapsed_ms(&self) -> i64 {
        let state = self.state();
        let since = state.began.map_or(0, |began| began.elapsed().as_millis());
        state.offset_ms + i64::try_from(since).unwrap_or(i64::MAX)
    }

    /// Returns the wall-clock time.
    pub fn now(&self) -> Timestamp {
        Self::at(self.elapsed_ms())
    }

    /// Returns the wall-clock time `ms` milliseconds after the start of the simulation.
    pub fn at(ms: i64) -> Timestamp {
        BEGINNING.plus_ms(ms)
    }

    /// Returns the virtual milliseconds from the start of the simulation to a wall-clock time.
    pub fn ms_of(at: Timestamp) -> i64 {
        at.since(BEGINNING)
    }

    /// Returns the current virtual time as an instant, as printers count it.
    pub fn instant(&self) -> Instant {
        self.origin + Duration::from_millis(self.elapsed_ms().unsigned_abs())
    }

    fn state(&self) -> MutexGuard<'_, ClockState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
