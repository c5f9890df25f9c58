//! Matching of a job with a printer.

use std::fmt::Write as _;

use super::slots::choose_all;
use super::{ChosenSlot, LaunchFacts, LaunchNeeds, MaterialNeed, SAME_NOZZLE_MM, model_key, plate_key};
use crate::amount::Amount;
use crate::file::GcodeForm;
use crate::id::Id;
use crate::notation;
use crate::sku::{Dimensions, MachineType};
use crate::slot_label::SlotLabel;
use words::Language;
use words::staff::waiting as texts;

/// Reason why a printer cannot print a job.
#[derive(Clone, PartialEq, Debug)]
pub enum Mismatch {
    /// The printer is not of the required machine type.
    MachineType(MachineType),
    /// The printer does not print files in the given format.
    Form(GcodeForm),
    /// The file was sliced for a different printer model.
    Model {
        /// Model that the file was sliced for.
        required: String,
        /// Model of the printer.
        is: String,
    },
    /// The part is larger than the printer's build volume.
    TooLarge {
        /// Size of the part in millimetres.
        size: Dimensions,
        /// Build volume of the printer in millimetres.
        volume: Dimensions,
    },
    /// The printer has a different nozzle. Diameters are in millimetres.
    Nozzle {
        /// Nozzle that the file was sliced for.
        required: f64,
        /// Nozzle of the printer.
        is: f64,
    },
    /// The printer has a different build plate.
    Plate {
        /// Build plate that the file was sliced for.
        required: String,
        /// Build plate on the printer.
        is: String,
    },
    /// The material is in none of the printer's slots.
    NotLoaded(Id),
    /// The material is in a different slot from the one used in the file, and the printer cannot remap slots.
    OtherSlot {
        /// Material in the wrong slot.
        material: Id,
        /// Slot that must hold the material: the one with the number of the filament in the file.
        slot: SlotLabel,
    },
    /// The material is only on an external spool that the printer cannot select.
    OutOfReach(Id),
    /// It is unknown which materials the file's filaments are assigned to, and the printer has several slots.
    UnknownFilaments,
    /// Too little of a material is left, even in the slot that has the most of it.
    TooLittle {
        /// Required material and amount.
        needed: MaterialNeed,
        /// Amount left in the slot with the most, in the material's unit.
        left: Amount,
    },
}

impl Mismatch {
    /// Returns the material of the spool that must be loaded to resolve the mismatch, if loading a spool resolves it.
    pub fn spool(&self) -> Option<Id> {
        match self {
            Self::NotLoaded(id) | Self::OutOfReach(id) | Self::OtherSlot { material: id, .. } => Some(*id),
            Self::TooLittle { needed, .. } => Some(needed.material_id),
            Self::MachineType(_)
            | Self::Form(_)
            | Self::Model { .. }
            | Self::TooLarge { .. }
            | Self::Nozzle { .. }
            | Self::Plate { .. }
            | Self::UnknownFilaments => None,
        }
    }

    /// Describes the mismatch as text. `material` returns the name and unit of a material. Slots are referred to by
    /// their labels on the machine.
    pub fn words(&self, language: Language, material: &dyn Fn(Id) -> (String, String)) -> String {
        let number = |of: f64| notation::decimal(language, of);
        match self {
            Self::MachineType(machine_type) => {
                // In English, the API's name.
                let is_english = language == Language::English;
                let name = if is_english { machine_type.word().to_owned() } else { machine_type.noun_in(language) };
                texts::lacks_machine(language, &name)
            }
            Self::Form(form) => texts::lacks_format(language, form.ending()),
            Self::Model { required, is } => texts::lacks_model(language, is, required),
            Self::TooLarge { size, volume } => {
                let lengths = |of: &Dimensions| texts::size(language, &number(of.x), &number(of.y), &number(of.z));
                texts::lacks_volume(language, &lengths(volume), &lengths(size))
            }
            Self::Nozzle { required, is } => texts::lacks_nozzle(language, &number(*is), &number(*required)),
            Self::Plate { required, is } => texts::lacks_plate(language, is, required),
            Self::NotLoaded(id) => texts::lacks_material(language, &material(*id).0),
            Self::OtherSlot { material: id, slot } => {
                texts::lacks_slot(language, &material(*id).0, &slot.place(language))
            }
            Self::OutOfReach(id) => texts::lacks_changer(language, &material(*id).0),
            Self::UnknownFilaments => texts::lacks_filaments(language),
            Self::TooLittle { needed, left } => {
                let (name, unit) = material(needed.material_id);
                let amount = |of: Amount| notation::decimal(language, of);
                texts::lacks_amount(language, &amount(*left), &unit, &name, &amount(needed.need))
            }
        }
    }
}

/// Result of matching a job with a printer.
#[derive(Clone, PartialEq, Debug)]
pub struct Fit {
    /// Mismatches; if there are none, the printer can print the job.
    pub missing: Vec<Mismatch>,
    /// Slots that the print would use: one per material, or one per filament if the printer cannot remap slots.
    /// Complete only if `missing` is empty.
    pub slots: Vec<ChosenSlot>,
}

impl Fit {
    /// Returns whether the printer can print the job.
    pub fn fits(&self) -> bool {
        self.missing.is_empty()
    }

    /// Returns the rank of the fit; lower is better. Printers with all materials loaded come first; among them, those
    /// whose spools would have the least left after the job. Unknown spools come last.
    pub fn rank(&self) -> (bool, i64) {
        let left = |chosen: &ChosenSlot| Some(chosen.remaining?.0.saturating_sub(chosen.needed.need.0));
        let sum = self.slots.iter().map(left).try_fold(0i64, |sum, left| Some(sum.saturating_add(left?)));
        (!self.slots.iter().all(|chosen| chosen.loaded), sum.unwrap_or(i64::MAX))
    }

    /// Describes all mismatches in English, separated by commas.
    pub fn words(&self, material: &dyn Fn(Id) -> (String, String)) -> String {
        let mut words = String::new();
        for (n, missing) in self.missing.iter().enumerate() {
            let description = missing.words(Language::English, material);
            let _ = write!(words, "{}{description}", if n == 0 { "" } else { ", " });
        }
        words
    }
}

/// Matches a job with a printer, regardless of what the printer is currently doing. Pure: the same needs and facts
/// always yield the same result.
pub fn fit(needs: &LaunchNeeds, facts: &LaunchFacts) -> Fit {
    let mut missing = Vec::new();
    if facts.machine_type != needs.machine_type {
        missing.push(Mismatch::MachineType(needs.machine_type));
    }
    if !facts.forms.contains(&needs.form) {
        missing.push(Mismatch::Form(needs.form));
    }
    if let (Some(required), Some(is), Some(key)) = (&needs.sliced_for.printer_model, &facts.model, &facts.model_key)
        && model_key(required) != *key
    {
        missing.push(Mismatch::Model { required: required.clone(), is: is.clone() });
    }
    if let (Some(size), Some(volume)) = (&needs.dimensions, &facts.volume)
        && !size.fits_in(volume)
    {
        missing.push(Mismatch::TooLarge { size: *size, volume: *volume });
    }
    if let (Some(required), Some(is)) = (needs.sliced_for.nozzle_diameter, facts.nozzle_diameter)
        && (required - is).abs() > SAME_NOZZLE_MM
    {
        missing.push(Mismatch::Nozzle { required, is });
    }
    if let (Some(required), Some(is), Some(key)) = (&needs.sliced_for.bed_type, &facts.plate_type, &facts.plate_key)
        && plate_key(required) != *key
    {
        missing.push(Mismatch::Plate { required: required.clone(), is: is.clone() });
    }
    let slots = choose_all(needs, facts, &mut missing);
    Fit { missing, slots }
}
