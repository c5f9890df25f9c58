//! Spools that an operator must load before a job can be printed, and the printer to load them into.

use super::WaitContext;
use super::matching::match_printers;
use crate::id::Id;
use crate::job::Job;
use crate::launch::Mismatch;

/// Spool to be loaded into a printer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpoolToLoad {
    /// Printer to load it into.
    pub printer: Id,
    /// Material required on the spool.
    pub material: Id,
}

/// Returns the spools missing for a job that fits no printer, chosen for one printer that lacks nothing else. Printers
/// that could take a job now are preferred, then the dispatcher's order decides. Empty if the job fits a printer, or if
/// loading spools does not suffice.
pub fn spools_to_load(job: &Job, around: &WaitContext<'_>) -> Vec<SpoolToLoad> {
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
