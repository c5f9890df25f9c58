//! Runs of many seeds on all cores: each seed runs on one thread with its own runtime and world, and the results are in
//! the order of the seeds, so that nothing depends on which thread is faster.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread::{available_parallelism, scope};

use crate::cut::Cut;
use crate::error::SimError;
use crate::run::{SeedReport, run_sized};
use crate::size::Size;

/// Runs `count` seeds from `first` on, and passes the report of each to `take`, in order.
///
/// # Errors
///
/// Fails if the world of a seed cannot be created, or if `take` fails.
pub fn run_all(
    size: Size,
    first: u64,
    count: u64,
    mut take: impl FnMut(u64, SeedReport) -> Result<(), SimError>,
) -> Result<(), SimError> {
    let threads = available_parallelism().map_or(1, NonZeroUsize::get) as u64;
    let next = AtomicU64::new(0);
    let (sender, reports) = channel();
    scope(|scope| {
        for _ in 0..threads.min(count) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let report = run_sized(size, first + number, &Cut::default(), None);
                    // Nobody takes more once one could not be run.
                    if sender.send((number, report)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        // Reports that came before those of earlier seeds.
        let (mut early, mut due) = (BTreeMap::new(), 0);
        for (number, report) in reports {
            early.insert(number, report);
            while let Some(report) = early.remove(&due) {
                take(first + due, report?)?;
                due += 1;
            }
        }
        Ok(())
    })
}
