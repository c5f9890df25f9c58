//! Signals that ask a program to stop: SIGTERM, SIGINT (Ctrl-C) and SIGHUP (the terminal was closed), and for a server
//! SIGUSR2, which asks it to stop in favour of its standby.
//!
//! All programs of the workspace use the former: the server, `printfloor-simulator` and `printfloor-demo`. Tests stop
//! their simulators through function calls.

use std::{fs, io};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listener for stop signals. It catches them from the moment it is created, so none is lost before
/// [`StopSignals::next`] is called.
#[derive(Debug)]
pub struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
    /// SIGHUP stream; `None` if the process was started with that signal ignored, as by `nohup`.
    hangup: Option<Signal>,
}

impl StopSignals {
    /// Starts catching stop signals, which then no longer terminate the process by themselves.
    pub fn listen() -> io::Result<Self> {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let hangup = if ignores_hangup(&status) { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())?, hangup })
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased; // all mean the same
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            () = hangup => {}
        }
    }
}

/// Listener for SIGUSR2, which asks a server to hand over to its standby. It catches the signal from the moment it is
/// created, so none is lost before [`HandoverSignal::next`] is called.
#[derive(Debug)]
pub struct HandoverSignal(Signal);

impl HandoverSignal {
    /// Starts catching SIGUSR2, which then no longer terminates the process.
    pub fn listen() -> io::Result<Self> {
        Ok(Self(signal(SignalKind::user_defined2())?))
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) {
        self.0.recv().await;
    }
}

/// Returns whether SIGHUP (signal 1) is in the mask of ignored signals in a process's `/proc` status.
fn ignores_hangup(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nohup_is_noticed() {
        assert!(ignores_hangup("Name:\tx\nSigIgn:\t0000000000001001\n"));
        assert!(!ignores_hangup("SigBlk:\t0000000000000001\nSigIgn:\t0000000000001000\n"));
        assert!(!ignores_hangup(""));
    }
}
