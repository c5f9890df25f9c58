//! Matches between one job and every printer, explained for operators; the dispatcher itself only decides.

use super::WaitContext;
use crate::id::Id;
use crate::job::Job;
use crate::launch::{Fit, Mismatch, fit};
use crate::material::unit;
use crate::printer::{Printer, Unready};
use crate::time::Timestamp;
use words::staff::waiting as texts;

/// Current match between a job and a printer.
#[derive(Debug)]
pub struct PrinterMatch<'a> {
    /// Matched printer.
    pub printer: &'a Printer,
    /// Result of matching the job with the printer: the slots to print from, or the requirements that are not met.
    pub fit: Fit,
    /// Reason why the printer takes no job now; `None` if it can take a job.
    pub busy: Option<Unready>,
}

impl PrinterMatch<'_> {
    /// Returns whether the job could be assigned to the printer now.
    pub fn is_possible(&self) -> bool {
        self.busy.is_none() && self.fit.fits()
    }

    /// Describes the missing requirements; empty if nothing is missing.
    pub fn missing_words(&self, around: &WaitContext<'_>) -> Vec<String> {
        let language = around.language;
        let named = |id: Id| {
            let material = around.materials.iter().find(|material| material.id == id);
            material.map_or_else(
                || (texts::its_material(language), texts::units(language)),
                |material| (material.fields.name.clone(), unit(language, material.fields.kind).to_owned()),
            )
        };
        let words = |missing: &Mismatch| {
            let words = missing.words(language, &named);
            match offered(missing, self.printer, around) {
                Some(offer) => format!("{words} {offer}"),
                None => words,
            }
        };
        self.fit.missing.iter().map(words).collect()
    }

    /// Returns the printer's rank for the job, lowest first: printers that could take the job now, then those that fit.
    /// Ties are broken in favour of printers that did not reject the job, then those that fit best, then those idle
    /// longest.
    fn rank(&self, job: &Job) -> (bool, bool, bool, (bool, i64), Timestamp, Id) {
        let Printer { idle_since, id, .. } = *self.printer;
        (!self.is_possible(), !self.fit.fits(), job.tried_on.contains(&id), self.fit.rank(), idle_since, id)
    }
}

/// Suggests an action if the printer reports a spool that looks like the missing one. Slots are referred to by their
/// labels on the machine.
fn offered(missing: &Mismatch, printer: &Printer, around: &WaitContext<'_>) -> Option<String> {
    let Mismatch::NotLoaded(id) = missing else { return None };
    let material = around.materials.iter().find(|material| material.id == *id)?;
    let offer = printer.spool_offer(material)?;
    let label = printer.slot_label(offer.slot, around.types.of(&printer.fields.kind).labels);
    let slot = label.noun_in(around.language);
    Some(texts::spool_offer(around.language, &slot, &offer.spool, &material.fields.name))
}

/// Matches a job with all printers that are not deleted, in the dispatcher's order of preference. Pure: the same state
/// always gives the same result.
pub fn match_printers<'a>(job: &Job, around: &WaitContext<'a>) -> Vec<PrinterMatch<'a>> {
    let needs = job.launch_needs();
    let printers = around.printers.iter().filter(|printer| !printer.archived);
    let mut all: Vec<PrinterMatch<'a>> = printers
        .map(|printer| {
            let fit = fit(&needs, &printer.launch_facts(around.types));
            let busy = printer.takes_jobs(around.now).err();
            PrinterMatch { printer, fit, busy }
        })
        .collect();
    all.sort_by_cached_key(|one| one.rank(job));
    all
}
