//! The signals that ask the process to stop: SIGTERM and SIGINT (Ctrl-C).

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Catches both signals from its creation on, so that none is lost before [`Signals::next`] is called.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Begins to catch the signals; from now on they no longer end the process by themselves.
    pub fn listen() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) {
        tokio::select! {
            biased; // both mean the same
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
