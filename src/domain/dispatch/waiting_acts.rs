//! Actions by staff after which waiting jobs can begin, collected across all jobs; and the jobs that call for a
//! separate action.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::need::{IndexedPrinter, NeedClass};
use super::spools::SpoolToLoad;
use super::{KnownTypes, is_ready};
use crate::id::Id;
use crate::job::Job;
use crate::launch::{Fit, Mismatch};
use crate::order::{Order, OrderStatus};
use crate::printer::{Printer, Unready};
use crate::time::Timestamp;

/// Maximum number of job classes that are compared with the printers, starting with those that have the most jobs.
const MAX_CLASSES: usize = 200;
/// Maximum number of actions.
const MAX_ACTS: usize = 30;

/// Action by a person after which waiting jobs can begin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WaitingAct {
    /// Spools must be loaded, because the jobs fit no printer in its current state.
    Load {
        /// Required materials, ordered by ID.
        materials: Vec<Id>,
        /// Printer that lacks nothing else; a printer that is ready is preferred.
        printer: Id,
    },
    /// The bed of a suitable printer must be cleared; no other suitable printer is ready.
    ClearBed {
        /// Printer whose bed is to be cleared.
        printer: Id,
    },
}

/// Action with the number of jobs that wait for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GatheredAct {
    /// Action to perform.
    pub act: WaitingAct,
    /// Number of jobs that wait for it.
    pub jobs: usize,
}

/// Material whose spools a person must load, with the number of jobs that wait for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpoolTask {
    /// Material of the spools.
    pub material: Id,
    /// Printers that need a spool of it, each for other jobs, starting with the one that the most jobs wait for.
    pub printers: Vec<Id>,
    /// Number of jobs that can begin once the spools are loaded.
    pub jobs: usize,
    /// Number of jobs that need spools of other materials as well.
    pub further_jobs: usize,
    /// Materials that the jobs lack, ordered by ID, at the printer that lacks nothing else, with one entry per job
    /// class.
    lacks: Vec<(Id, Vec<Id>)>,
}

impl SpoolTask {
    /// Returns whether the given spools, each at its printer, include one of this material and are all that a waiting
    /// job lacks.
    pub fn is_lacked_with(&self, spools: &[SpoolToLoad]) -> bool {
        let Some(own) = spools.iter().find(|spool| spool.material == self.material) else { return false };
        let mut materials: Vec<Id> = spools.iter().map(|spool| spool.material).collect();
        materials.sort_unstable();
        materials.dedup();
        self.lacks.iter().any(|(printer, lacked)| *printer == own.printer && *lacked == materials)
    }
}

/// Groups loading actions by material: the spools of a material are one task, no matter how many job classes wait for
/// it and at which printers. Tasks that the most jobs wait for come first.
pub fn spool_tasks(acts: &[GatheredAct]) -> Vec<SpoolTask> {
    let mut tasks: Vec<SpoolTask> = Vec::new();
    for GatheredAct { act, jobs } in acts {
        let WaitingAct::Load { materials, printer } = act else { continue };
        for material in materials {
            let at = tasks.iter().position(|one| one.material == *material).unwrap_or_else(|| {
                let printers = Vec::new();
                tasks.push(SpoolTask { material: *material, printers, jobs: 0, further_jobs: 0, lacks: Vec::new() });
                tasks.len() - 1
            });
            let Some(task) = tasks.get_mut(at) else { continue };
            let count = if materials.len() == 1 { &mut task.jobs } else { &mut task.further_jobs };
            *count += jobs;
            if !task.printers.contains(printer) {
                task.printers.push(*printer);
            }
            task.lacks.push((*printer, materials.clone()));
        }
    }
    tasks.sort_by_key(|task| Reverse((task.jobs, task.further_jobs)));
    tasks
}

/// Returns the number of jobs that wait for a printer's bed to be cleared. The printer can start only one of them, and
/// the same jobs can wait for several beds.
pub fn jobs_waiting_for_bed(acts: &[GatheredAct], printer: Id) -> usize {
    let clear = WaitingAct::ClearBed { printer };
    acts.iter().find(|one| one.act == clear).map_or(0, |one| one.jobs)
}

/// Printer with its index entry and the reason why it cannot take a job now.
struct Candidate {
    id: Id,
    indexed: IndexedPrinter,
    busy: Option<Unready>,
}

/// Returns the actions after which jobs that wait for a printer can begin, starting with those that the most jobs wait
/// for.
pub fn waiting_acts<'a>(
    orders: impl IntoIterator<Item = &'a Order>,
    printers: &[&Printer],
    types: &KnownTypes,
    now: Timestamp,
) -> Vec<GatheredAct> {
    let candidates = candidates(printers, types, now);
    let mut acts: Vec<GatheredAct> = Vec::new();
    for (class, jobs) in ready_classes(orders) {
        acts_for(&class, &candidates).into_iter().for_each(|act| add(&mut acts, act, jobs.len()));
    }
    acts.sort_by_key(|one| Reverse(one.jobs));
    acts.truncate(MAX_ACTS);
    acts
}

/// Returns the jobs that no printer takes until a person does something for them that no other task asks for: another
/// build plate or nozzle, a suitable printer, a different file. Jobs that wait for their turn are not among them, nor
/// those that wait for a bed, a spool or a printer that a person is asked to see to. Jobs that make the same parts and
/// need the same are in one group; groups, and the jobs in each, are sorted by urgency.
pub fn stuck_jobs<'a>(
    orders: impl IntoIterator<Item = &'a Order>,
    printers: &[&Printer],
    types: &KnownTypes,
    now: Timestamp,
) -> Vec<Vec<Arc<Job>>> {
    let candidates = candidates(printers, types, now);
    let stuck = ready_classes(orders).into_iter().filter(|(class, _)| is_stuck(class, &candidates));
    let mut groups: Vec<Vec<Arc<Job>>> = Vec::new();
    for (_, jobs) in stuck {
        let mut by_name: BTreeMap<&str, Vec<Arc<Job>>> = BTreeMap::new();
        for job in jobs {
            by_name.entry(&job.sku_name).or_default().push(job.clone());
        }
        groups.extend(by_name.into_values());
    }
    let urgency = |job: &Arc<Job>| (Reverse(job.priority), job.updated_at, job.id);
    groups.iter_mut().for_each(|jobs| jobs.sort_by_key(urgency));
    groups.sort_by_key(|jobs| jobs.first().map(urgency));
    groups
}

/// Returns the ready jobs by class, starting with the classes that have the most jobs.
fn ready_classes<'a>(orders: impl IntoIterator<Item = &'a Order>) -> Vec<(NeedClass, Vec<&'a Arc<Job>>)> {
    let is_open = |order: &&Order| matches!(order.status, OrderStatus::Paid | OrderStatus::Printing);
    let mut classes: BTreeMap<NeedClass, Vec<&'a Arc<Job>>> = BTreeMap::new();
    for order in orders.into_iter().filter(is_open) {
        for job in order.jobs.values().filter(|job| is_ready(job)) {
            classes.entry(NeedClass::of(job)).or_default().push(job);
        }
    }
    let mut classes: Vec<(NeedClass, Vec<&'a Arc<Job>>)> = classes.into_iter().collect();
    classes.sort_by_key(|(_, jobs)| Reverse(jobs.len()));
    classes.truncate(MAX_CLASSES);
    classes
}

/// Returns the printers that are not deleted.
fn candidates(printers: &[&Printer], types: &KnownTypes, now: Timestamp) -> Vec<Candidate> {
    let present = printers.iter().filter(|printer| !printer.archived);
    present
        .map(|printer| Candidate {
            id: printer.id,
            indexed: IndexedPrinter::of(printer, types),
            busy: printer.takes_jobs(now).err(),
        })
        .collect()
}

/// Returns whether jobs of a class call for an action that neither time nor another task takes care of. A printer that
/// suits them becomes free by itself or is a separate task, unless a person took it out of use.
fn is_stuck(class: &NeedClass, candidates: &[Candidate]) -> bool {
    let of_type = candidates.iter().filter(|one| one.indexed.machine() == class.machine());
    let fitting: Vec<&Candidate> = of_type.filter(|one| one.indexed.fits(class)).collect();
    if fitting.is_empty() {
        return acts_for(class, candidates).is_empty();
    }
    fitting.iter().all(|one| one.busy.as_ref().is_some_and(Unready::is_out_of_use))
}

/// Returns the actions after which jobs of a class can begin; empty if they can begin now.
fn acts_for(class: &NeedClass, candidates: &[Candidate]) -> Vec<WaitingAct> {
    let of_type = candidates.iter().filter(|one| one.indexed.machine() == class.machine());
    let matches: Vec<(&Candidate, Fit)> = of_type.map(|one| (one, one.indexed.fit(class))).collect();
    let fitting: Vec<&Candidate> = matches.iter().filter(|(_, fit)| fit.fits()).map(|(one, _)| *one).collect();
    if fitting.iter().any(|one| one.busy.is_none()) {
        return Vec::new();
    }
    if !fitting.is_empty() {
        let beds = fitting.iter().filter(|one| one.busy == Some(Unready::BedNotCleared));
        return beds.map(|one| WaitingAct::ClearBed { printer: one.id }).collect();
    }
    let spools = matches.iter().filter_map(|(one, fit)| {
        let materials: Option<Vec<Id>> = fit.missing.iter().map(Mismatch::spool).collect();
        Some(((one.busy.is_some(), fit.rank(), one.indexed.idle_since, one.id), materials?))
    });
    let best = spools.min_by_key(|(rank, _)| *rank);
    let load = best.map(|((_, _, _, printer), mut materials)| {
        materials.sort_unstable();
        materials.dedup();
        WaitingAct::Load { materials, printer }
    });
    load.into_iter().collect()
}

/// Adds jobs to an action. Loading the same materials into a different printer is a different action, because jobs that
/// fit one of the printers may not fit the other.
fn add(acts: &mut Vec<GatheredAct>, act: WaitingAct, jobs: usize) {
    match acts.iter_mut().find(|one| one.act == act) {
        Some(existing) => existing.jobs += jobs,
        None => acts.push(GatheredAct { act, jobs }),
    }
}
