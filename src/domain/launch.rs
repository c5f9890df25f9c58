//! Whether a printer can make a job, judged when a printer is chosen and once more when it accepts: form of file,
//! machine type, model, build volume, nozzle, build plate, materials in its slots, and what is left there. One function
//! answers for the dispatcher, for the printer itself, and for people who ask why a job waits.
//!
//! What is unknown fits; what is known to differ never does. On a printer with several slots an unbound slot fits
//! nothing, and of a type that does not map slots ([`TypeFacts`]) each filament of the file must be in the slot of its
//! own number.

mod facts;
mod fit;
mod slots;
#[cfg(test)]
mod tests;

pub use crate::domain::printer_types::{KnownTypes, TypeFacts};
pub use facts::{LaunchFacts, SlotFacts};
pub use fit::{Fit, Mismatch, fit};
pub use slots::{ChosenSlot, FilamentSlot, ReportedSpool};

use serde::{Deserialize, Serialize};

use crate::domain::amount::Amount;
use crate::domain::file::GcodeForm;
use crate::domain::id::Id;
use crate::domain::printer_status::PrintEnd;
use crate::domain::sku::{Dimensions, MachineType};

/// Longest difference in millimetres between two diameters that are the same nozzle.
const SAME_NOZZLE_MM: f64 = 0.011;

/// The plate of the file that a job prints, and the machine that it was sliced for. `None` is unknown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SlicedFor {
    /// Number of the plate in the file, from 1.
    pub plate: u32,
    /// Diameter of the nozzle in millimetres.
    pub nozzle_diameter: Option<f64>,
    /// The build plate, in the slicer's words.
    pub bed_type: Option<String>,
    /// The model of the printer, in the slicer's words.
    pub printer_model: Option<String>,
    /// The filaments of the file that the plate uses; empty for jobs that were made before they were kept here.
    pub filaments: Vec<UsedFilament>,
}

/// A filament of a file, and what it is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsedFilament {
    /// Index in the file, from 0: the tool of plain G-code.
    pub filament: u32,
    /// The material that it is of.
    pub material_id: Id,
    /// How much of it the plate takes, as the file states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grams: Option<Amount>,
}

/// Most filaments of a file.
const MAX_FILAMENTS: u32 = 64;

impl Default for SlicedFor {
    fn default() -> Self {
        Self { plate: 1, nozzle_diameter: None, bed_type: None, printer_model: None, filaments: Vec::new() }
    }
}

/// How much of a material a job needs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MaterialNeed {
    /// Which material is needed.
    pub material_id: Id,
    /// How much of it, in the material's unit.
    pub need: Amount,
}

/// What a job needs of a printer.
#[derive(Clone, PartialEq, Debug)]
pub struct LaunchNeeds {
    /// The only type of machine that can make it.
    pub machine_type: MachineType,
    /// Size of the print in millimetres; `None` fits every build volume.
    pub dimensions: Option<Dimensions>,
    /// The format of the file.
    pub form: GcodeForm,
    /// What the file was sliced for.
    pub sliced_for: SlicedFor,
    /// The materials, each once, in the order of their ids.
    pub materials: Vec<MaterialNeed>,
}

/// Returns how much of its need a print used: 1 is all of it. A finished print used its need, scaled by the filament
/// that it used over the filament that its file states (both in millimetres), where both are known. Any other print
/// used its latest progress (0 to 1) or, where the printer measured more filament than was seen of it, that.
pub fn used_share(end: PrintEnd, used_mm: Option<f64>, stated_mm: Option<f64>, progress: f64) -> f64 {
    let measured = match (used_mm, stated_mm) {
        (Some(used), Some(stated)) if used > 0.0 && stated > 0.0 => Some(used / stated),
        _ => None,
    };
    match end {
        PrintEnd::Finished => measured.unwrap_or(1.0),
        PrintEnd::Cancelled | PrintEnd::Failed if progress.is_finite() => {
            progress.max(measured.unwrap_or(0.0)).clamp(0.0, 1.0)
        }
        PrintEnd::Cancelled | PrintEnd::Failed => 1.0,
    }
}

/// A model of printers by its name, so that different spellings are the same: lower-case letters and digits.
fn model_key(name: &str) -> String {
    name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

/// A build plate by its name, so that different spellings are the same: lower-case letters and digits, without the word
/// plate.
fn plate_key(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && *word != "plate");
    words.collect()
}
