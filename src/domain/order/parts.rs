//! Counting parts: how many of each line are good, under way and missing.
//!
//! A plate is printed as a whole, so a job always makes as many parts as its plate holds, also where the line needs
//! fewer of them.

use super::{Line, NO_SKU, Order};
use crate::domain::job::{AttemptState, Job, JobState};

/// Number of parts that one plate of a line makes.
pub(super) fn plate_parts(line: &Line) -> u32 {
    line.make.as_ref().map_or(1, |make| make.units_per_plate.max(1))
}

impl Line {
    /// Whether it is a kit, whose parts are lines of their own.
    pub fn is_kit(&self) -> bool {
        self.make.is_none() && !self.is_service()
    }

    /// Whether nothing is printed for it: work on a custom order, which has a price and no SKU.
    pub fn is_service(&self) -> bool {
        self.make.is_none() && self.sku_id == NO_SKU
    }

    /// Of parts of a kit: how many one set has.
    pub(super) fn in_one_set(&self) -> u64 {
        u64::from(self.per_set.unwrap_or(1).max(1))
    }
}

/// How many parts of one line are good, under way and given up; of a kit's line, how many complete sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LineParts {
    /// Parts that count as good.
    pub good: u64,
    /// Parts on the plates of jobs that are unfinished, unsigned or FAILED: more may come of them without a new job.
    pub running: u64,
    /// Parts on the plates of cancelled jobs, without those that are good: a person gave them up.
    pub cancelled: u64,
    /// Jobs of the line that were made by themselves.
    pub(super) reprints: u32,
}

impl LineParts {
    /// Parts of this many that nothing makes any more although nobody gave them up.
    pub fn missing(&self, quantity: u32) -> u64 {
        u64::from(quantity).saturating_sub(self.good + self.running + self.cancelled)
    }
}

/// Parts of a job that count as good: those of all its prints, without prints in whose place it was printed again.
fn good_of(job: &Job, plate: u32) -> u64 {
    let counted = |attempt: &&crate::domain::job::Attempt| attempt.printed() && !attempt.withdrawn;
    let good = job.attempts.iter().filter(counted).map(|attempt| match &attempt.sign_off {
        Some(sign_off) => sign_off.good.min(plate),
        // Before sign-offs were recorded, a finished print counted as a whole.
        None if attempt.state == AttemptState::Finished && !job.unsigned => plate,
        None => 0,
    });
    good.map(u64::from).sum()
}

impl Order {
    /// Number of parts that the plate of a job makes.
    pub fn plate_of(&self, job: &Job) -> u32 {
        self.lines.get(job.line as usize).map_or(1, plate_parts)
    }

    /// The parts of each line, in the order of the lines; one pass over the jobs.
    pub fn parts(&self) -> Vec<LineParts> {
        let mut parts = vec![LineParts::default(); self.lines.len()];
        for job in self.jobs.values() {
            let line = job.line as usize;
            let (Some(line), Some(of_line)) = (self.lines.get(line), parts.get_mut(line)) else { continue };
            let plate = plate_parts(line);
            let good = good_of(job, plate);
            of_line.good += good;
            of_line.reprints += u32::from(job.reprint);
            match job.state {
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

    /// The lines of a kit's parts, each with how many of them one set has.
    pub(super) fn parts_of_kit(&self, kit: usize) -> impl Iterator<Item = (usize, u64)> + use<'_> {
        let lines = self.lines.iter().enumerate();
        lines.filter(move |(_, line)| line.kit_line == Some(kit as u32)).map(|(n, line)| (n, line.in_one_set()))
    }

    /// A kit is counted in complete sets: as many as the part of which there are the fewest makes up.
    fn sets(&self, kit: usize, parts: &[LineParts]) -> LineParts {
        let fewest = |of: fn(&LineParts) -> u64| {
            let sets = self.parts_of_kit(kit).map(|(n, in_one_set)| of(&parts[n]) / in_one_set);
            sets.min().unwrap_or(0)
        };
        let good = fewest(|parts| parts.good);
        let coming = fewest(|parts| parts.good + parts.running);
        let all = fewest(|parts| parts.good + parts.running + parts.cancelled);
        LineParts { good, running: coming - good, cancelled: all - coming, reprints: 0 }
    }
}
