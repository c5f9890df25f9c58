//! What a job needs of a printer, and what the board knows of a printer.

use super::PrintableForms;
use crate::domain::file::GcodeForm;
use crate::domain::id::Id;
use crate::domain::job::Job;
use crate::domain::printer::{ConfirmedStart, Printer, Refusals};
use crate::domain::sku::{Dimensions, MachineType};
use crate::domain::time::Timestamp;

/// What a job needs of a printer. Jobs of one class fit the same printers, so that only the first of each class has
/// to be compared with the printers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct NeedClass {
    pub(super) machine: MachineType,
    pub(super) material: Id,
    /// The extension of the file's format, because formats have no order of their own.
    form: &'static str,
    /// The bits of x, y and z in millimetres, because floating-point numbers are no hash keys.
    size: Option<[u64; 3]>,
}

impl NeedClass {
    pub(super) fn of(job: &Job) -> Self {
        let bits = |size: &Dimensions| [size.x, size.y, size.z].map(f64::to_bits);
        Self {
            machine: job.machine_type,
            material: job.material_id,
            form: job.file_form.ending(),
            size: job.dimensions.as_ref().map(bits),
        }
    }

    fn size(&self) -> Option<Dimensions> {
        self.size.map(|bits| bits.map(f64::from_bits)).map(|[x, y, z]| Dimensions { x, y, z })
    }
}

/// A printer as the board sees it.
#[derive(Clone, Debug)]
pub(super) struct BoardPrinter {
    pub(super) machine: MachineType,
    volume: Option<Dimensions>,
    pub(super) loaded: Option<Id>,
    /// The extensions of the formats that it prints.
    forms: Vec<&'static str>,
    /// Whether it could take a job now, apart from the rest after a refused start.
    pub(super) free: bool,
    pub(super) idle_since: Timestamp,
    /// The starts that it refused since it last confirmed one.
    pub(super) refusals: Option<Refusals>,
    /// The start that it confirmed last.
    pub(super) last_start: Option<ConfirmedStart>,
}

impl BoardPrinter {
    pub(super) fn of(printer: &Printer, forms: &PrintableForms) -> Self {
        let all = [GcodeForm::Text, GcodeForm::Binary, GcodeForm::Package];
        let printed = all.into_iter().filter(|form| forms.prints(&printer.fields.kind, *form));
        Self {
            machine: printer.fields.machine_type,
            volume: printer.fields.build_volume,
            loaded: printer.fields.loaded_material_id,
            forms: printed.map(GcodeForm::ending).collect(),
            free: printer.free().is_ok(),
            idle_since: printer.idle_since,
            refusals: printer.refusals.clone(),
            last_start: printer.last_start,
        }
    }

    /// Whether it could make such a job at all, whatever it does now.
    pub(super) fn fits(&self, class: &NeedClass) -> bool {
        let inside = match (class.size(), &self.volume) {
            (Some(size), Some(volume)) => size.fits_in(volume),
            _ => true,
        };
        self.machine == class.machine
            && inside
            && self.forms.contains(&class.form)
            && self.loaded.is_none_or(|loaded| loaded == class.material)
    }

    /// Milliseconds for which it still rests after a refused start; `None` when it does not.
    pub(super) fn rests_for(&self, now: Timestamp) -> Option<i64> {
        self.refusals.as_ref().and_then(|refusals| refusals.rests_for(now))
    }
}
