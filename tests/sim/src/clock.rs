//! Clock of the world: virtual time, which goes on when the server crashes and another one starts.
//!
//! Each server has a runtime of its own, whose paused clock begins anew. The world counts on from where the last one
//! ended, so the time between two servers is nothing unless the story says otherwise.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use domain::time::Timestamp;

/// Moment at which every story begins: 2 November 2026, 08:00 UTC, a Monday.
const BEGINNING: Timestamp = Timestamp(1_793_606_400_000);

/// Clock of the world.
pub struct WorldClock {
    state: Mutex<ClockState>,
    /// Arbitrary moment that stands for the beginning where printers count in instants.
    origin: Instant,
}

struct ClockState {
    /// Virtual milliseconds from the beginning to the start of the current runtime.
    offset_ms: i64,
    /// Start of the current runtime on its own clock; `None` while none runs.
    began: Option<Instant>,
}

impl WorldClock {
    /// Creates a clock that stands at the beginning.
    pub fn new() -> Self {
        let state = ClockState { offset_ms: 0, began: None };
        Self { state: Mutex::new(state), origin: Instant::now() }
    }

    /// Counts on with the clock of the runtime in which it is called.
    pub fn start(&self) {
        self.state().began = Some(Instant::now());
    }

    /// Stops before the runtime in which it is called ends.
    pub fn stop(&self) {
        let elapsed_ms = self.elapsed_ms();
        *self.state() = ClockState { offset_ms: elapsed_ms, began: None };
    }

    /// Lets time pass while no server runs.
    pub fn pass(&self, ms: i64) {
        self.state().offset_ms += ms;
    }

    /// Returns the virtual milliseconds since the beginning.
    pub fn elapsed_ms(&self) -> i64 {
        let state = self.state();
        let since = state.began.map_or(0, |began| began.elapsed().as_millis());
        state.offset_ms + i64::try_from(since).unwrap_or(i64::MAX)
    }

    /// Returns the wall-clock time.
    pub fn now(&self) -> Timestamp {
        Self::at(self.elapsed_ms())
    }

    /// Returns the wall-clock time so many milliseconds after the beginning.
    pub fn at(ms: i64) -> Timestamp {
        BEGINNING.plus_ms(ms)
    }

    /// Returns the virtual milliseconds from the beginning to a wall-clock time.
    pub fn ms_of(at: Timestamp) -> i64 {
        at.since(BEGINNING)
    }

    /// Returns the present moment as printers count it.
    pub fn instant(&self) -> Instant {
        self.origin + Duration::from_millis(self.elapsed_ms().unsigned_abs())
    }

    fn state(&self) -> MutexGuard<'_, ClockState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
