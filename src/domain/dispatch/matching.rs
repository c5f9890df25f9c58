//! The match of one job with every printer, explained: what people read where the dispatcher only decides.

use super::Surroundings;
use crate::domain::id::Id;
use crate::domain::job::Job;
use crate::domain::launch::{Fit, Mismatch, fit};
use crate::domain::printer::Printer;
use crate::domain::time::Timestamp;

/// How a job goes together with a printer now.
#[derive(Debug)]
pub struct PrinterMatch<'a> {
    /// Which printer it is about.
    pub printer: &'a Printer,
    /// Whether the printer could make the job at all, from which slots, and else what is missing.
    pub fit: Fit,
    /// What is missing, in words for people; empty if nothing is.
    pub missing: Vec<String>,
    /// Why the printer takes no job now, in a few words that follow "the printer is"; `None` when it does.
    pub busy: Option<String>,
}

impl PrinterMatch<'_> {
    /// Whether the printer could be given the job now.
    pub fn is_possible(&self) -> bool {
        self.busy.is_none() && self.fit.fits()
    }

    /// Rank among the printers, the lowest first: those that could be given the job now, then those that fit; of these
    /// one that did not refuse the job, then the one that fits best, then the longest idle.
    fn rank(&self, job: &Job) -> (bool, bool, bool, (bool, i64), Timestamp, Id) {
        let Printer { idle_since, id, .. } = *self.printer;
        (!self.is_possible(), !self.fit.fits(), job.tried_on.contains(&id), self.fit.rank(), idle_since, id)
    }
}

/// What to do where a printer has reported a spool that looks like the one that is missing: people count slots from 1.
fn offered(missing: &Mismatch, printer: &Printer, around: &Surroundings<'_>) -> Option<String> {
    let Mismatch::NotLoaded(id) = missing else { return None };
    let material = around.materials.iter().find(|material| material.id == *id)?;
    let offer = printer.spool_offer(material)?;
    let name = &material.fields.name;
    Some(format!(
        " (slot {} holds {}, which belongs to no material yet; confirm that it is {name})",
        offer.slot + 1,
        offer.spool
    ))
}

/// Matches a job with all printers that are not deleted, in the order in which the dispatcher prefers them. Pure: the
/// same state gives the same answer.
pub fn match_printers<'a>(job: &Job, around: &Surroundings<'a>) -> Vec<PrinterMatch<'a>> {
    let needs = job.launch_needs();
    let named = |id: Id| {
        let material = around.materials.iter().find(|material| material.id == id);
        material.map_or_else(
            || ("its material".to_owned(), "units"),
            |material| (material.fields.name.clone(), material.fields.kind.unit()),
        )
    };
    let printers = around.printers.iter().filter(|printer| !printer.archived);
    let mut all: Vec<PrinterMatch<'a>> = printers
        .map(|printer| {
            let fit = fit(&needs, &printer.launch_facts(around.types));
            let words = |missing: &Mismatch| {
                let offer = offered(missing, printer, around).unwrap_or_default();
                format!("{}{offer}", missing.words(&named))
            };
            let missing = fit.missing.iter().map(words).collect();
            let busy = printer.takes_jobs(around.now).err();
            PrinterMatch { printer, fit, missing, busy }
        })
        .collect();
    all.sort_by_cached_key(|one| one.rank(job));
    all
}
