//! Part counts per line: good parts, parts in production and missing parts.
//!
//! A plate is printed as a whole, so a job always produces as many parts as its plate holds, even if the line needs
//! fewer.

use super::{NO_SKU, Order, OrderLine};
use crate::job::{Attempt, AttemptState, Job, JobState};

/// Returns the number of parts per plate of a line.
pub(super) fn plate_parts(line: &OrderLine) -> u32 {
    line.make.as_ref().map_or(1, |make| make.units_per_plate.max(1))
}

impl OrderLine {
    /// Returns whether the line is a kit, whose parts are separate lines.
    pub fn is_kit(&self) -> bool {
        self.make.is_none() && !self.is_service()
    }

    /// Returns whether nothing is printed for the line: a service in a custom order, which has a price but no SKU.
    pub fn is_service(&self) -> bool {
        self.make.is_none() && self.sku_id == NO_SKU
    }

    /// Returns the number of the line's parts per set of its kit.
    pub(super) fn in_one_set(&self) -> u64 {
        u64::from(self.per_set.unwrap_or(1).max(1))
    }
}

/// Good, running and cancelled parts of one line; for a kit's line, complete sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LineParts {
    /// Good parts.
    pub good: u64,
    /// Parts on the plates of unfinished and FAILED jobs and jobs awaiting sign-off. They may still become good without
    /// a new job.
    pub running: u64,
    /// Parts on the plates of cancelled jobs, except good ones: an operator has given up on these parts.
    pub cancelled: u64,
    /// Parts that were rejected after they were shipped, and are owed again. 0 for kits, whose parts are separate
    /// lines.
    pub rejected_after_shipping: u64,
    /// Automatic reprint jobs for the line, except withdrawn ones.
    pub(super) reprints: u32,
}

impl LineParts {
    /// Returns how many parts of the given quantity no job will produce although they were not abandoned.
    pub fn missing(&self, quantity: u32) -> u64 {
        u64::from(quantity).saturating_sub(self.good + self.running + self.cancelled)
    }
}

/// Returns the number of good parts from one print; 0 if the print was replaced by a later print of the job.
pub(super) fn good_parts(job: &Job, attempt: &Attempt, plate: u32) -> u32 {
    match &attempt.sign_off {
        _ if !attempt.printed() || attempt.withdrawn => 0,
        Some(sign_off) => sign_off.good.min(plate),
        // Before sign-offs were recorded, a finished print counted as a whole.
        None if attempt.state == AttemptState::Finished && !job.unsigned => plate,
        None => 0,
    }
}

/// Returns the number of good parts from all prints of a job.
fn good_of(job: &Job, plate: u32) -> u64 {
    job.attempts.iter().map(|attempt| u64::from(good_parts(job, attempt, plate))).sum()
}

impl Order {
    /// Returns the number of parts on a job's plate.
    pub fn plate_of(&self, job: &Job) -> u32 {
        self.lines.get(job.line as usize).map_or(1, plate_parts)
    }

    /// Returns the part counts per line, in line order, in a single pass over the jobs.
    pub fn parts(&self) -> Vec<LineParts> {
        let mut parts = vec![LineParts::default(); self.lines.len()];
        for job in self.jobs.values() {
            let line = job.line as usize;
            let (Some(line), Some(of_line)) = (self.lines.get(line), parts.get_mut(line)) else { continue };
            let plate = plate_parts(line);
            let good = good_of(job, plate);
            of_line.good += good;
            of_line.rejected_after_shipping += self.rejected_departures(job);
            let withdrawn = job.surplus && (job.state == JobState::Cancelled || job.cancel_requested_at.is_some());
            of_line.reprints += u32::from(job.reprint && !withdrawn);
            match job.state {
                _ if withdrawn => {}
                JobState::Completed if !job.unsigned => {}
                JobState::Cancelled => of_line.cancelled += u64::from(plate).saturating_sub(good),
                _ => of_line.running += u64::from(plate),
            }
        }
        for (n, line) in self.lines.iter().enumerate() {
            if line.is_kit() {
                parts[n] = self.sets(n, &parts);
            } else if line.is_service() {
                // Nobody waits for it.
                parts[n] = LineParts { good: u64::from(line.quantity), ..LineParts::default() };
            }
        }
        parts
    }

    /// Returns the numbers of good parts and of all parts ordered, without spares; `None` if it has no jobs.
    pub fn part_progress(&self) -> Option<(u64, u64)> {
        if self.jobs.is_empty() {
            return None;
        }
        let counted = self.lines.iter().zip(self.parts()).filter(|(line, _)| !line.is_kit() && !line.is_service());
        Some(counted.fold((0, 0), |(good, ordered), (line, parts)| {
            let quantity = u64::from(line.quantity);
            (good + parts.good.min(quantity), ordered + quantity)
        }))
    }

    /// Returns the selected jobs that were created for rejected parts and are no longer needed, newest first. Even
    /// without these jobs, enough parts are good or in production.
    pub(super) fn surplus_jobs(&self, among: impl Fn(&&Job) -> bool) -> Vec<&Job> {
        let unfinished = |job: &&Job| !matches!(job.state, JobState::Completed | JobState::Cancelled);
        let jobs = self.jobs.values().map(|job| &**job).filter(|job| job.reprint && job.cancel_requested_at.is_none());
        let mut jobs: Vec<&Job> = jobs.filter(unfinished).filter(among).collect();
        if jobs.is_empty() {
            return jobs;
        }
        jobs.sort_by_key(|job| std::cmp::Reverse(job.number));
        let parts = self.parts();
        let enough = |line: usize| parts.get(line).map_or(0, |parts| parts.good + parts.running);
        let mut enough: Vec<u64> = (0..self.lines.len()).map(enough).collect();
        jobs.retain(|job| {
            let line = job.line as usize;
            let (Some(of_line), Some(enough)) = (self.lines.get(line), enough.get_mut(line)) else { return false };
            let without = enough.checked_sub(u64::from(plate_parts(of_line)));
            let surplus = without.is_some_and(|without| without >= u64::from(of_line.quantity));
            if let Some(without) = without.filter(|_| surplus) {
                *enough = without;
            }
            surplus
        });
        jobs
    }

    /// Returns the lines that contain the parts of a kit, each with the number of parts per set.
    pub(super) fn parts_of_kit(&self, kit: usize) -> impl Iterator<Item = (usize, u64)> + use<'_> {
        let lines = self.lines.iter().enumerate();
        lines.filter(move |(_, line)| line.kit_line == Some(kit as u32)).map(|(n, line)| (n, line.in_one_set()))
    }

    /// Counts the complete sets of a kit, limited by its scarcest part.
    fn sets(&self, kit: usize, parts: &[LineParts]) -> LineParts {
        let fewest = |of: fn(&LineParts) -> u64| {
            let sets = self.parts_of_kit(kit).map(|(n, in_one_set)| of(&parts[n]) / in_one_set);
            sets.min().unwrap_or(0)
        };
        let good = fewest(|parts| parts.good);
        let coming = fewest(|parts| parts.good + parts.running);
        let all = fewest(|parts| parts.good + parts.running + parts.cancelled);
        LineParts { good, running: coming - good, cancelled: all - coming, ..LineParts::default() }
    }
}
