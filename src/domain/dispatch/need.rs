//! Requirements that a job places on a printer, and the dispatch index's data about a printer.

use std::sync::Arc;

use super::KnownTypes;
use crate::id::Id;
use crate::job::Job;
use crate::launch::{ChosenSlot, Fit, LaunchFacts, LaunchNeeds, MaterialNeed, UsedFilament, fit};
use crate::printer::{ConfirmedStart, Printer, RefusedStarts};
use crate::sku::{Dimensions, MachineType};
use crate::time::Timestamp;

/// Requirements that a job places on a printer. All jobs of a class fit the same printers equally well, so only the
/// first job of each class must be compared with the printers.
#[derive(Clone, Debug)]
pub(super) struct NeedClass {
    key: Arc<ClassKey>,
    needs: Arc<LaunchNeeds>,
}

/// Properties that distinguish a class, in a form that can be ordered.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct ClassKey {
    machine: MachineType,
    materials: Vec<MaterialNeed>,
    /// File extension of the G-code format, because formats themselves have no order.
    form: &'static str,
    /// Bit patterns of x, y and z in millimetres, because floating-point numbers have no total order.
    size: Option<[u64; 3]>,
    nozzle: Option<u64>,
    bed_type: Option<String>,
    model: Option<String>,
    /// Filaments of the file with their types, which matter to a printer that does not map slots.
    filaments: Vec<UsedFilament>,
}

impl PartialEq for NeedClass {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl Eq for NeedClass {}
impl PartialOrd for NeedClass {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for NeedClass {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl NeedClass {
    pub(super) fn of(job: &Job) -> Self {
        let needs = job.launch_needs();
        let bits = |size: &Dimensions| [size.x, size.y, size.z].map(f64::to_bits);
        let key = ClassKey {
            machine: needs.machine_type,
            materials: needs.materials.clone(),
            form: needs.form.ending(),
            size: needs.dimensions.as_ref().map(bits),
            nozzle: needs.sliced_for.nozzle_diameter.map(f64::to_bits),
            bed_type: needs.sliced_for.bed_type.clone(),
            model: needs.sliced_for.printer_model.clone(),
            filaments: needs.sliced_for.filaments.clone(),
        };
        Self { key: Arc::new(key), needs: Arc::new(needs) }
    }

    pub(super) fn machine(&self) -> MachineType {
        self.key.machine
    }
}

/// Printer as represented in the dispatch index.
#[derive(Clone, Debug)]
pub(super) struct IndexedPrinter {
    facts: LaunchFacts,
    /// `true` if the printer could take a job now, disregarding the backoff after a rejected start.
    pub(super) free: bool,
    pub(super) idle_since: Timestamp,
    /// Rejected starts since the last confirmed start.
    pub(super) refusals: Option<RefusedStarts>,
    /// Time before which the printer's rejections do not count against jobs.
    pub(super) forgiven_at: Option<Timestamp>,
    /// Number of times that the printer's rejections until then were forgiven.
    pub(super) pardons: u32,
    /// Last confirmed start.
    pub(super) last_start: Option<ConfirmedStart>,
}

impl IndexedPrinter {
    pub(super) fn of(printer: &Printer, types: &KnownTypes) -> Self {
        Self {
            facts: printer.launch_facts(types),
            free: printer.is_free(),
            idle_since: printer.idle_since,
            refusals: printer.refusals.clone(),
            forgiven_at: printer.forgiven_at,
            pardons: printer.pardons,
            last_start: printer.last_start,
        }
    }

    pub(super) fn machine(&self) -> MachineType {
        self.facts.machine_type()
    }

    /// Returns how well a job of the given class fits the printer, regardless of what the printer is currently doing.
    pub(super) fn fit(&self, class: &NeedClass) -> Fit {
        fit(&class.needs, &self.facts)
    }

    /// Returns whether the printer could make a job of the given class at all, regardless of what the printer is
    /// currently doing.
    pub(super) fn fits(&self, class: &NeedClass) -> bool {
        self.fit(class).fits()
    }

    /// Subtracts the material used by a print from the printer's slots.
    pub(super) fn use_up(&mut self, used: &[ChosenSlot]) {
        self.facts.use_up(used);
    }

    /// Returns the remaining backoff after a rejected start, in milliseconds, if any.
    pub(super) fn rests_for(&self, now: Timestamp) -> Option<i64> {
        self.refusals.as_ref().and_then(|refusals| refusals.rests_for(now))
    }
}

/// Rank of a printer for a job, lowest first: whether it rejected starts, whether it rejected this job, fit, then the
/// start of its idle time; the ID is the tie-breaker.
pub(super) type PrinterRank = ((bool, bool), (bool, i64), Timestamp, Id);
