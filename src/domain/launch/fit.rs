//! The match of one job with one printer.

use std::fmt::Write as _;

use super::slots::choose_all;
use super::{ChosenSlot, LaunchFacts, LaunchNeeds, MaterialNeed, SAME_NOZZLE_MM, model_key, plate_key};
use crate::domain::amount::Amount;
use crate::domain::file::GcodeForm;
use crate::domain::id::Id;
use crate::domain::sku::{Dimensions, MachineType};

/// Why a printer cannot make a job.
#[derive(Clone, PartialEq, Debug)]
pub enum Mismatch {
    /// It is another type of machine than this one that is needed.
    MachineType(MachineType),
    /// It does not print files of this format.
    Form(GcodeForm),
    /// It is another model than the file was sliced for.
    Model {
        /// What the file was sliced for.
        wanted: String,
        /// What the printer is.
        is: String,
    },
    /// The part is larger than its build volume.
    TooLarge {
        /// Size of the part in millimetres.
        size: Dimensions,
        /// What the printer has, in millimetres.
        volume: Dimensions,
    },
    /// It has another nozzle. Diameters in millimetres.
    Nozzle {
        /// What the file was sliced for.
        wanted: f64,
        /// What the printer has.
        is: f64,
    },
    /// It has another build plate.
    Plate {
        /// What the file was sliced for.
        wanted: String,
        /// What the printer has.
        is: String,
    },
    /// This material is in none of its slots.
    NotLoaded(Id),
    /// The material is in another slot than the one that the file takes it from, and the printer cannot be told
    /// another.
    OtherSlot {
        /// What is in the wrong slot.
        material: Id,
        /// The slot that it must be in: the number of the filament in the file.
        slot: u32,
    },
    /// The material is only on a spool beside the slots that the printer can choose from, and cannot be taken from
    /// there.
    OutOfReach(Id),
    /// Which filament of the file is of which material is not known, and the printer has several slots.
    UnknownFilaments,
    /// Too little of a material is left in the slot that has most of it.
    TooLittle {
        /// What is needed.
        needed: MaterialNeed,
        /// What is left there, in the material's unit.
        left: Amount,
    },
}

impl Mismatch {
    /// The material of which a spool has to be loaded to mend it; `None` where no spool mends it.
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

    /// What is missing, in words for people. `material` gives the name and the unit of a material.
    pub fn words(&self, material: &dyn Fn(Id) -> (String, &'static str)) -> String {
        match self {
            Self::MachineType(wanted) => format!("not of type {}", wanted.word()),
            Self::Form(form) => format!("not printing .{} files", form.ending()),
            Self::Model { wanted, is } => format!("is a {is}, the file was sliced for a {wanted}"),
            Self::TooLarge { size, volume } => {
                let lengths = |of: &Dimensions| format!("{} x {} x {} mm", of.x, of.y, of.z);
                format!("too small ({}, the print is {})", lengths(volume), lengths(size))
            }
            Self::Nozzle { wanted, is } => format!("has a nozzle of {is} mm, needs {wanted} mm"),
            Self::Plate { wanted, is } => format!("has the plate {is}, needs {wanted}"),
            Self::NotLoaded(id) => format!("{} is not loaded", material(*id).0),
            Self::OtherSlot { material: id, slot } => {
                format!("{} is not in slot {slot}, the only one that the file can take it from", material(*id).0)
            }
            Self::OutOfReach(id) => {
                format!("{} is not in its filament changer, and cannot be taken from beside it", material(*id).0)
            }
            Self::UnknownFilaments => "nobody knows which filament of the file is of which material".to_owned(),
            Self::TooLittle { needed, left } => {
                let (name, unit) = material(needed.material_id);
                format!("{left} {unit} of {name} are left on its spool, needs {} {unit}", needed.need)
            }
        }
    }
}

/// How a job and a printer go together.
#[derive(Clone, PartialEq, Debug)]
pub struct Fit {
    /// What is missing; nothing: the printer can make the job.
    pub missing: Vec<Mismatch>,
    /// The slots that it would use: one for each material, or for each filament where the printer cannot choose.
    /// Complete only if nothing is missing.
    pub slots: Vec<ChosenSlot>,
}

impl Fit {
    /// Whether nothing is missing.
    pub fn fits(&self) -> bool {
        self.missing.is_empty()
    }

    /// How well it fits, the lower the better: printers with all materials loaded come first; of these the one whose
    /// spools the job uses up best, by what would be left on them; unknown spools come last.
    pub fn rank(&self) -> (bool, i64) {
        let left = |chosen: &ChosenSlot| Some(chosen.remaining?.0.saturating_sub(chosen.needed.need.0));
        let sum = self.slots.iter().map(left).try_fold(0i64, |sum, left| Some(sum.saturating_add(left?)));
        (!self.slots.iter().all(|chosen| chosen.loaded), sum.unwrap_or(i64::MAX))
    }

    /// What is missing, in words for people, separated by commas.
    pub fn words(&self, material: &dyn Fn(Id) -> (String, &'static str)) -> String {
        let mut words = String::new();
        for (n, missing) in self.missing.iter().enumerate() {
            let _ = write!(words, "{}{}", if n == 0 { "" } else { ", " }, missing.words(material));
        }
        words
    }
}

/// Judges one job on one printer, whatever the printer does at the moment. Pure: the same needs and facts give the same
/// answer.
pub fn fit(needs: &LaunchNeeds, facts: &LaunchFacts) -> Fit {
    let mut missing = Vec::new();
    if facts.machine_type != needs.machine_type {
        missing.push(Mismatch::MachineType(needs.machine_type));
    }
    if !facts.forms.contains(&needs.form) {
        missing.push(Mismatch::Form(needs.form));
    }
    if let (Some(wanted), Some(is), Some(key)) = (&needs.sliced_for.printer_model, &facts.model, &facts.model_key)
        && model_key(wanted) != *key
    {
        missing.push(Mismatch::Model { wanted: wanted.clone(), is: is.clone() });
    }
    if let (Some(size), Some(volume)) = (&needs.dimensions, &facts.volume)
        && !size.fits_in(volume)
    {
        missing.push(Mismatch::TooLarge { size: *size, volume: *volume });
    }
    if let (Some(wanted), Some(is)) = (needs.sliced_for.nozzle_diameter, facts.nozzle_diameter)
        && (wanted - is).abs() > SAME_NOZZLE_MM
    {
        missing.push(Mismatch::Nozzle { wanted, is });
    }
    if let (Some(wanted), Some(is), Some(key)) = (&needs.sliced_for.bed_type, &facts.plate_type, &facts.plate_key)
        && plate_key(wanted) != *key
    {
        missing.push(Mismatch::Plate { wanted: wanted.clone(), is: is.clone() });
    }
    let slots = choose_all(needs, facts, &mut missing);
    Fit { missing, slots }
}
