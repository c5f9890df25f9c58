//! `chaos`: runs the real server, `printfloor`, among private services, simulated printers and a simulated payment
//! processor on their real protocols, with customers and staff generated from a seed; kills, freezes and disconnects
//! programs as the seed determines; ends all faults; and checks from outside whether the server kept its promises.
//!
//! The server is a black box: it is used only over HTTP, and checked by the evidence of printers, processor and API.
//! Faults that require root or a modified server are not covered: full disks, power cuts (only the server's processes
//! are killed, never the machine) and changes of the clock. `tests/it` covers these.
#![expect(
    clippy::disallowed_methods,
    reason = "the crate does not depend on Printfloor, which has a channel of its own"
)]
#![expect(clippy::disallowed_types, reason = "the crate does not depend on Printfloor, which has a channel of its own")]

mod arguments;
mod catalogue;
mod client;
mod customers;
mod error;
mod events;
mod fault_plan;
mod faults;
mod hall;
mod json;
mod judge;
mod keeper;
mod network;
mod plan;
mod ports;
mod postgres;
mod programs;
mod rest;
mod run;
mod server;
mod services;
mod staff;
mod story;
mod verdict;
mod world;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Parser as _;
use stop_signals::StopSignals;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use self::arguments::ChaosArguments;
use self::error::ChaosError;
use self::programs::Programs;
use self::run::run;
use self::story::{ChaosStory, line, note};
use self::verdict::ChaosVerdict;
use self::world::ChaosWorld;

/// Exit code of a run that could not be judged.
const NO_VERDICT: u8 = 2;
/// Exit code of a run that was stopped by a signal.
const STOPPED_BY_SIGNAL: u8 = 130;
/// Maximum time to wait at exit for threads that are still running.
const THREAD_EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of attempts to remove the folder while the last processes are exiting, and the pause between
/// attempts.
const REMOVAL_TRIES: usize = 50;
const REMOVAL_PAUSE: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    // An error means that a TLS provider was installed before.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    // Exits the process with 2 on wrong usage and with 0 after --help and --version.
    let arguments = ChaosArguments::parse();
    match perform(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            note(&format!("chaos: {error}"));
            ExitCode::from(if matches!(error, ChaosError::Stopped) { STOPPED_BY_SIGNAL } else { NO_VERDICT })
        }
    }
}

/// Performs the run in a temporary folder. Returns whether every promise was kept.
fn perform(arguments: &ChaosArguments) -> Result<bool, ChaosError> {
    let folder = TempDir::with_prefix("printfloor-chaos-").map_err(ChaosError::io("no temporary folder"))?;
    let runtime = Runtime::new().map_err(ChaosError::io("the asynchronous runtime cannot start"))?;
    let outcome = runtime.block_on(watched(arguments, folder.path()));
    // With its tasks, the last processes are killed.
    runtime.shutdown_timeout(THREAD_EXIT_TIMEOUT);
    remove(&folder);
    outcome
}

/// Removes the folder once no process writes to it any more.
fn remove(folder: &TempDir) {
    for _ in 0..REMOVAL_TRIES {
        if fs::remove_dir_all(folder.path()).is_ok() {
            return;
        }
        thread::sleep(REMOVAL_PAUSE);
    }
    note(&format!("chaos: {} cannot be removed", folder.path().display()));
}

/// Runs until there is a verdict or a signal. All started programs are stopped.
async fn watched(arguments: &ChaosArguments, folder: &Path) -> Result<bool, ChaosError> {
    let mut signals =
        StopSignals::listen().map_err(ChaosError::io("the program's signal handlers cannot be installed"))?;
    let story = ChaosStory::begin();
    let programs = Programs::find(arguments.database, story)?;
    let world = tokio::select! {
        biased; // a world that has started is ended in order
        world = Box::pin(ChaosWorld::start(arguments, &programs, folder, story)) => Arc::new(world?),
        () = signals.next() => return Err(ChaosError::Stopped),
    };
    let verdict = tokio::select! {
        biased; // a verdict that is there is told
        verdict = Box::pin(run(&world, arguments, story)) => Some(verdict),
        () = signals.next() => None,
    };
    world.end().await;
    let verdict = verdict.ok_or(ChaosError::Stopped)?;
    let verdict = verdict.map_err(|fault| ChaosError::Failed(format!("no verdict: {fault}")));
    let is_good = verdict.as_ref().is_ok_and(ChaosVerdict::is_good);
    line("");
    for text in verdict.iter().flat_map(ChaosVerdict::lines) {
        line(&text);
    }
    if !is_good {
        note(&format!("\nlast lines of the server:\n{}", world.log.last().join("\n")));
    }
    line(&format!("\nrepeat with: {}", arguments.repeat_command()));
    verdict.map(|_| is_good)
}
