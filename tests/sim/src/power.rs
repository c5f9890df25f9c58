//! Power supply of the server. A crash comes after a number of steps chosen by the seed. Steps are the points at which
//! the server and the world interact: a commit is submitted or settled, a command is sent to a printer or to the
//! payment processor or its response arrives, an email is sent, a delivery or a request is sent to another system or
//! answered, a request is received or answered.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::disk::Disk;

/// Power supply of the currently running server.
pub struct Power {
    disk: Arc<Disk>,
    state: Mutex<PowerState>,
    loss: Notify,
}

#[derive(Default)]
struct PowerState {
    is_on: bool,
    steps: u64,
    /// Step at which the power fails; `None` if it does not fail.
    crash_at: Option<u64>,
}

impl Power {
    /// Creates a switched-off power supply for servers that use the given disk.
    pub fn new(disk: Arc<Disk>) -> Self {
        Self { disk, state: Mutex::default(), loss: Notify::new() }
    }

    /// Switches the power on; it fails at the given step, counted from 1.
    pub fn switch_on(&self, crash_at: Option<u64>) {
        *self.state() = PowerState { is_on: true, steps: 0, crash_at };
    }

    /// Switches the power off if it is on. The disk keeps what is committed at this time, and nothing later.
    pub fn switch_off(&self) {
        let was_on = std::mem::take(&mut self.state().is_on);
        if was_on {
            self.disk.cut();
            self.loss.notify_one();
        }
    }

    /// Returns whether the power is on.
    pub fn is_on(&self) -> bool {
        self.state().is_on
    }

    /// Counts a step. Returns whether the power is still on.
    pub fn step(&self) -> bool {
        let mut state = self.state();
        state.steps += 1;
        let fails = state.is_on && state.crash_at.is_some_and(|at| state.steps >= at);
        let is_on = state.is_on && !fails;
        drop(state);
        if fails {
            self.switch_off();
        }
        is_on
    }

    /// Counts a step. Never completes without power.
    pub async fn pass(&self) {
        if !self.step() {
            pending::<()>().await;
        }
    }

    /// Completes immediately with power, and never without.
    pub async fn hold(&self) {
        if !self.is_on() {
            pending::<()>().await;
        }
    }

    /// Waits until the power is off.
    pub async fn lost(&self) {
        while self.is_on() {
            self.loss.notified().await;
        }
    }

    fn state(&self) -> MutexGuard<'_, PowerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
