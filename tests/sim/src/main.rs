//! Runs seeds of the simulation: `sim --seed 7` tells the story of one, `sim --seeds 1000` runs many and counts.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use rustix::time::{ClockId, clock_gettime};
use sim::{SimError, run};

/// Milliseconds in a day.
const DAY_MS: f64 = 86_400_000.0;

/// Runs the shop on virtual time.
#[derive(Parser)]
struct Arguments {
    /// Seed whose story is told; with --seeds, the first of them.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of seeds to run without their stories.
    #[arg(long)]
    seeds: Option<u64>,
}

fn main() -> Result<ExitCode, SimError> {
    let Arguments { seed, seeds } = Arguments::parse();
    let is_green = match seeds {
        Some(count) => run_many(seed, count)?,
        None => tell_one(seed)?,
    };
    Ok(if is_green { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints the story of a seed. Returns whether everything held.
fn tell_one(seed: u64) -> Result<bool, SimError> {
    let report = run(seed)?;
    print!("{}", report.story);
    Ok(report.fault.is_none())
}

/// Runs seeds and prints those that failed, and how fast it was. Returns whether none failed.
fn run_many(first: u64, count: u64) -> Result<bool, SimError> {
    let (began, mut failed, mut virtual_ms) = (cpu_time(), 0_u64, 0_i64);
    for seed in first..first.saturating_add(count) {
        let report = run(seed)?;
        virtual_ms += report.virtual_ms;
        if let Some(fault) = report.fault {
            failed += 1;
            println!("seed {seed}: {fault}");
        }
    }
    let (days, minutes) = (virtual_ms as f64 / DAY_MS, cpu_time().saturating_sub(began).as_secs_f64() / 60.0);
    println!(
        "{count} seeds, {failed} failed; {days:.1} days in {minutes:.2} CPU minutes: {:.0} days a minute",
        days / minutes
    );
    Ok(failed == 0)
}

/// Returns the processor time of this process.
fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}
