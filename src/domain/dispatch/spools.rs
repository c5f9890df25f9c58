//! Which spools a person has to load so that a job can be printed, and where.

use super::Surroundings;
use super::matching::match_printers;
use crate::domain::id::Id;
use crate::domain::job::Job;
use crate::domain::launch::Mismatch;

/// A spool that is to be loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpoolToLoad {
    /// The printer into which.
    pub printer: Id,
    /// What has to be on it.
    pub material: Id,
}

/// The spools that a job lacks that fits no printer, at one where nothing else is missing: a printer that could take a
/// job now comes first, then the one that the dispatcher prefers. None where the job fits somewhere, or where spools
/// alone do not help.
pub fn spools_to_load(job: &Job, around: &Surroundings<'_>) -> Vec<SpoolToLoad> {
    let mut matched = match_printers(job, around);
    if matched.iter().any(|one| one.fit.fits()) {
        return Vec::new();
    }
    matched.sort_by_key(|one| one.busy.is_some());
    let lacks = matched.iter().find_map(|one| {
        let materials: Option<Vec<Id>> = one.fit.missing.iter().map(Mismatch::spool).collect();
        Some((one.printer.id, materials?))
    });
    let Some((printer, materials)) = lacks else { return Vec::new() };
    materials.into_iter().map(|material| SpoolToLoad { printer, material }).collect()
}
