//! Printers at which an act may let an order's jobs start sooner.

use crate::forecast::{Forecast, ShopKnowledge};
use crate::launch::{Fit, LaunchFacts, LaunchNeeds, Mismatch, fit};
use crate::printer::{Printer, Unready};
use crate::remedy::RemedyAct;
use crate::time::Timestamp;

/// Printer, with what determines whether it could take a job.
pub(super) struct PrinterCandidate<'a> {
    /// Printer as it is.
    pub(super) printer: &'a Printer,
    facts: LaunchFacts,
    /// Reason why the printer takes no job now; `None` if it can take a job.
    busy: Option<Unready>,
    /// Time at which the printer is expected to take its next job; `None` if it cannot be predicted.
    free_at: Option<Timestamp>,
    /// `true` if a spool can be loaded now, and the printer then continues.
    can_load: bool,
}

/// Act at a printer for jobs with the same needs.
pub(super) struct ActAtPrinter<'a> {
    /// Act that may help.
    pub(super) act: RemedyAct,
    /// Printer at which to perform it.
    pub(super) printer: &'a Printer,
    /// Mismatches that keep the printer from taking the jobs.
    pub(super) missing: Vec<Mismatch>,
}

/// Acts at printers for jobs with the same needs.
pub(super) struct PrinterActs<'a> {
    /// Acts by kind, for each kind the best printer first.
    pub(super) ranking: Vec<ActAtPrinter<'a>>,
    /// `true` if a printer waits for an act that is not among those that are tried: it would take the jobs, but is due
    /// for maintenance, is not homed, has a fault, was disconnected, refuses starts or the like.
    pub(super) has_untried: bool,
}

impl<'a> PrinterCandidate<'a> {
    /// Collects what determines whether a printer could take a job.
    pub(super) fn of(printer: &'a Printer, forecast: &Forecast, shop: ShopKnowledge<'_>) -> Self {
        let queued = forecast.queues.get(&printer.id).and_then(|queue| queue.first());
        let next_start = queued.map(|queued| queued.done_at.plus_ms(-(queued.print_ms + shop.starting_ms)));
        Self {
            printer,
            facts: printer.launch_facts(&shop.rules.types),
            busy: printer.takes_jobs(forecast.at).err(),
            free_at: next_start.or_else(|| forecast.printers.get(&printer.id).copied().flatten()),
            can_load: printer.goes_on() && printer.can_swap_spools(),
        }
    }

    /// Returns the act after which the printer could take a job of this fit, or could take it sooner; `None` if there
    /// is none.
    fn act(&self, fit: &Fit) -> Option<RemedyAct> {
        let lacks_only_spools = || fit.missing.iter().all(|mismatch| mismatch.spool().is_some());
        match (&self.busy, fit.fits()) {
            (Some(Unready::BedNotCleared), true) => Some(RemedyAct::ClearBed),
            (Some(Unready::Maintenance), true) => Some(RemedyAct::ReturnToService),
            (_, false) if self.can_load && lacks_only_spools() => Some(RemedyAct::Load),
            _ => None,
        }
    }

    /// Returns whether the printer takes no job until a person has done something.
    fn waits_for_person(&self) -> bool {
        let waits = matches!(self.busy, Some(Unready::Unverified | Unready::RefusesStarts | Unready::DiskFull));
        waits || !self.printer.goes_on()
    }
}

/// Lists the acts after which a printer could take a job with the given needs, or could take it sooner: for each kind
/// of act, the best fit first, and among equal fits the printer that becomes free first. Printers that can take the job
/// now need no act.
pub(super) fn acts_at_printers<'a>(needs: &LaunchNeeds, candidates: &[PrinterCandidate<'a>]) -> PrinterActs<'a> {
    let mut has_untried = false;
    let mut ranking = Vec::new();
    for one in candidates.iter().filter(|one| one.facts.machine_type() == needs.machine_type) {
        let fit = fit(needs, &one.facts);
        let Some(act) = one.act(&fit) else {
            has_untried |= fit.fits() && one.waits_for_person();
            continue;
        };
        let freedom = (one.free_at.is_none(), one.free_at, one.printer.idle_since);
        let rank = (act, fit.missing.len(), fit.rank(), freedom, one.printer.id);
        ranking.push((rank, ActAtPrinter { act, printer: one.printer, missing: fit.missing }));
    }
    ranking.sort_by_key(|(rank, _)| *rank);
    PrinterActs { ranking: ranking.into_iter().map(|(_, act)| act).collect(), has_untried }
}
