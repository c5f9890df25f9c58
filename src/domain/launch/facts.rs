//! What is known of a printer that decides which jobs it can make.

use super::{ChosenSlot, TypeFacts, model_key, plate_key};
use crate::domain::amount::Amount;
use crate::domain::file::GcodeForm;
use crate::domain::id::Id;
use crate::domain::sku::{Dimensions, MachineType};

/// A slot as the match sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotFacts {
    /// Number of the slot.
    pub slot: u32,
    /// The material that it holds; `None` is unknown.
    pub material_id: Option<Id>,
    /// What is left on its spool, in the material's unit; `None` is unknown.
    pub remaining: Option<Amount>,
    /// Whether the printer itself reports the slot. Any other is a spool beside those that it can choose from.
    pub reported: bool,
}

/// A printer as the match sees it. `None` is unknown and fits.
#[derive(Clone, PartialEq, Debug)]
pub struct LaunchFacts {
    pub(super) machine_type: MachineType,
    pub(super) volume: Option<Dimensions>,
    pub(super) forms: Vec<GcodeForm>,
    pub(super) maps_slots: bool,
    pub(super) nozzle_diameter: Option<f64>,
    pub(super) plate_type: Option<String>,
    /// The key of `plate_type`, made once because the dispatcher compares it often.
    pub(super) plate_key: Option<String>,
    pub(super) model: Option<String>,
    /// The key of `model`, made once for the same reason.
    pub(super) model_key: Option<String>,
    pub(super) slots: Vec<SlotFacts>,
}

impl LaunchFacts {
    /// Facts of a machine of this printer type with these slots, of which it has one at least.
    pub fn new(
        of_type: TypeFacts,
        machine_type: MachineType,
        volume: Option<Dimensions>,
        slots: Vec<SlotFacts>,
    ) -> Self {
        let TypeFacts { forms, maps_slots } = of_type;
        Self {
            machine_type,
            volume,
            forms,
            maps_slots,
            nozzle_diameter: None,
            plate_type: None,
            plate_key: None,
            model: None,
            model_key: None,
            slots,
        }
    }

    /// With this nozzle (diameter in millimetres) and build plate.
    #[must_use]
    pub fn equipped(mut self, nozzle_diameter: Option<f64>, plate_type: Option<&str>) -> Self {
        self.nozzle_diameter = nozzle_diameter;
        self.plate_type = plate_type.map(str::to_owned);
        self.plate_key = plate_type.map(plate_key);
        self
    }

    /// With this model, in the words of slicers.
    #[must_use]
    pub fn of_model(mut self, model: Option<&str>) -> Self {
        self.model = model.map(str::to_owned);
        self.model_key = model.map(model_key);
        self
    }

    /// A print takes this from the slots: less is left of what is known to be there.
    pub fn use_up(&mut self, used: &[ChosenSlot]) {
        for used in used {
            let of_it = |one: &&mut SlotFacts| one.slot == used.slot;
            if let Some(left) = self.slots.iter_mut().find(of_it).and_then(|one| one.remaining.as_mut()) {
                *left = Amount(left.0.saturating_sub(used.needed.need.0)).max(Amount::ZERO);
            }
        }
    }

    /// Decides which jobs it is compared with.
    pub fn machine_type(&self) -> MachineType {
        self.machine_type
    }
}
