//! Facts about a printer that determine which jobs it can print.

use super::{ChosenSlot, TypeFacts, model_key, plate_key};
use crate::amount::Amount;
use crate::file::GcodeForm;
use crate::id::Id;
use crate::sku::{Dimensions, MachineType};
use crate::slot_label::SlotLabels;

/// Slot of a printer, reduced to the facts needed for matching.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotFacts {
    /// Slot number.
    pub slot: u32,
    /// Material in the slot, if known.
    pub material_id: Option<Id>,
    /// Amount left on the slot's spool, in the material's unit, if known.
    pub remaining: Option<Amount>,
    /// `true` if the printer itself reports the slot. A slot that it does not report is an external spool that the
    /// printer cannot select.
    pub reported: bool,
}

/// Printer, reduced to the facts needed for matching. `None` means unknown and is assumed to fit.
#[derive(Clone, PartialEq, Debug)]
pub struct LaunchFacts {
    pub(super) machine_type: MachineType,
    pub(super) volume: Option<Dimensions>,
    pub(super) forms: Vec<GcodeForm>,
    pub(super) maps_slots: bool,
    pub(super) labels: SlotLabels,
    pub(super) nozzle_diameter: Option<f64>,
    pub(super) plate_type: Option<String>,
    /// Comparison key of the build plate, calculated once because the dispatcher compares it often.
    pub(super) plate_key: Option<String>,
    pub(super) model: Option<String>,
    /// Comparison key of the printer model, calculated once because the dispatcher compares it often.
    pub(super) model_key: Option<String>,
    pub(super) slots: Vec<SlotFacts>,
}

impl LaunchFacts {
    /// Builds the facts for a machine of the given printer type with the given slots (at least one).
    pub fn new(
        of_type: TypeFacts,
        machine_type: MachineType,
        volume: Option<Dimensions>,
        slots: Vec<SlotFacts>,
    ) -> Self {
        let TypeFacts { forms, maps_slots, labels } = of_type;
        Self {
            machine_type,
            volume,
            forms,
            maps_slots,
            labels,
            nozzle_diameter: None,
            plate_type: None,
            plate_key: None,
            model: None,
            model_key: None,
            slots,
        }
    }

    /// Sets the nozzle diameter, in millimetres, and the build plate.
    #[must_use]
    pub fn equipped(mut self, nozzle_diameter: Option<f64>, plate_type: Option<&str>) -> Self {
        self.nozzle_diameter = nozzle_diameter;
        self.plate_type = plate_type.map(str::to_owned);
        self.plate_key = plate_type.map(plate_key);
        self
    }

    /// Sets the printer model, as named by slicers.
    #[must_use]
    pub fn of_model(mut self, model: Option<&str>) -> Self {
        self.model = model.map(str::to_owned);
        self.model_key = model.map(model_key);
        self
    }

    /// Deducts a print's consumption from the known amounts in the slots.
    pub fn use_up(&mut self, used: &[ChosenSlot]) {
        for used in used {
            let of_it = |one: &&mut SlotFacts| one.slot == used.slot;
            if let Some(left) = self.slots.iter_mut().find(of_it).and_then(|one| one.remaining.as_mut()) {
                *left = Amount(left.0.saturating_sub(used.needed.need.0)).max(Amount::ZERO);
            }
        }
    }

    /// Returns the machine type, which determines the jobs that the printer is matched with.
    pub fn machine_type(&self) -> MachineType {
        self.machine_type
    }
}
