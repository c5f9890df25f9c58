//! Compatibility of a job with a printer, checked when a printer is chosen and again when it accepts the job: file
//! format, machine type, model, build volume, nozzle, build plate, the materials in the printer's slots, and the
//! remaining amounts. One function serves the dispatcher, the printer itself, and the explanation of why a job is
//! waiting.
//!
//! Unknown properties are assumed to fit; properties known to differ never fit. On a printer with several slots, a slot
//! without an assigned material fits nothing. On a printer type that does not map slots ([`TypeFacts`]), each filament
//! of the file must be in the slot with the filament's number.

mod facts;
mod fit;
mod slots;
#[cfg(test)]
mod tests;

pub use crate::printer_types::{KnownTypes, TypeFacts};
pub use facts::{LaunchFacts, SlotFacts};
pub use fit::{Fit, Mismatch, fit};
pub use slots::{ChosenSlot, FilamentSlot, ReportedSpool};

use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::file::GcodeForm;
use crate::id::Id;
use crate::printer_status::PrintEnd;
use crate::sku::{Dimensions, MachineType};

/// Largest difference, in millimetres, at which two nozzle diameters are considered equal.
const SAME_NOZZLE_MM: f64 = 0.011;

/// Plate of the file that a job prints, and the machine that the file was sliced for. `None` means unknown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SlicingTarget {
    /// Number of the plate in the file, starting at 1.
    pub plate: u32,
    /// Nozzle diameter in millimetres.
    pub nozzle_diameter: Option<f64>,
    /// Build plate type, as named by the slicer.
    pub bed_type: Option<String>,
    /// Printer model, as named by the slicer.
    pub printer_model: Option<String>,
    /// Filaments of the file that the plate uses; empty for jobs created before this field existed.
    pub filaments: Vec<UsedFilament>,
}

/// Filament of a file, and the material assigned to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsedFilament {
    /// Index in the file, starting at 0: the tool number in plain G-code.
    pub filament: u32,
    /// Material of the filament.
    pub material_id: Id,
    /// Weight of the filament needed for the plate, as stated in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grams: Option<Amount>,
}

/// Maximum number of filaments in a file.
const MAX_FILAMENTS: u32 = 64;

impl Default for SlicingTarget {
    fn default() -> Self {
        Self { plate: 1, nozzle_diameter: None, bed_type: None, printer_model: None, filaments: Vec::new() }
    }
}

/// Amount of one material that a job needs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MaterialNeed {
    /// Required material.
    pub material_id: Id,
    /// Required amount, in the material's unit.
    pub need: Amount,
}

/// Requirements that a job places on a printer.
#[derive(Clone, PartialEq, Debug)]
pub struct LaunchNeeds {
    /// Machine type required to print the job.
    pub machine_type: MachineType,
    /// Size of the print in millimetres; if `None`, the print fits every build volume.
    pub dimensions: Option<Dimensions>,
    /// Format of the file.
    pub form: GcodeForm,
    /// Plate, and the machine that the file was sliced for.
    pub sliced_for: SlicingTarget,
    /// Required materials, each once, ordered by ID.
    pub materials: Vec<MaterialNeed>,
}

/// Returns the fraction of its need that a print consumed, where 1 is the entire need. A finished print consumed its
/// need, scaled by the ratio of the filament used to the filament stated in its file (both in millimetres) if both are
/// known. An unfinished print consumed its latest progress (0 to 1) or, if the printer measured more filament than
/// that, the measured amount.
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

/// Returns the comparison key of a printer model, which consists of lowercase letters and digits, so that different
/// spellings compare as equal.
fn model_key(name: &str) -> String {
    name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Returns the comparison key of a build plate, which consists of lowercase letters and digits without the word
/// "plate", so that different spellings compare as equal.
fn plate_key(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && *word != "plate");
    words.collect()
}
