//! Plates of a sliced file: the printing requirements of each, as the slicer wrote them.

use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::sku::Dimensions;

/// Maximum number of plates per file; slicers that write several allow some dozens.
pub const MAX_PLATES: usize = 64;
/// Maximum number of filaments per plate.
pub const MAX_FILAMENTS: usize = 32;

/// One filament that a plate uses. `None` means unknown: nothing is guessed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlateFilament {
    /// Position among the filaments of the project, from 0; the tool number of plain G-code.
    pub index: u32,
    /// Type of plastic, such as `PLA`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Colour as `#rrggbb`.
    pub color: Option<String>,
    /// Weight of this filament in grams.
    pub grams: Option<Amount>,
    /// Length of this filament in millimetres.
    pub mm: Option<f64>,
}

/// One plate of a sliced file. Plain G-code has one. `None` means unknown: nothing is guessed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plate {
    /// Number of the plate, from 1.
    pub plate: u32,
    /// Name that its author chose.
    pub name: Option<String>,
    /// Estimated print time in seconds.
    pub seconds: Option<i64>,
    /// Filaments that it uses, by index.
    pub filaments: Vec<PlateFilament>,
    /// Size of the print in millimetres.
    pub dimensions: Option<Dimensions>,
    /// Build plate type that it was sliced for, as the slicer names it: `Textured PEI Plate`.
    pub bed_type: Option<String>,
    /// Nozzle diameter in millimetres that it was sliced for; `None` also if its nozzles differ.
    pub nozzle_diameter: Option<f64>,
    /// Printer model that it was sliced for, as the slicer names it.
    pub printer_model: Option<String>,
    /// SHA-256 of its thumbnail in hexadecimal, under which it is stored on disk.
    pub thumbnail: Option<String>,
}

impl Plate {
    /// Returns the weight of all its filaments in grams; `None` if that of one is unknown.
    pub fn grams(&self) -> Option<Amount> {
        let weights = self.filaments.iter().map(|filament| filament.grams).collect::<Option<Vec<_>>>()?;
        (!weights.is_empty()).then(|| weights.into_iter().sum())
    }

    /// Returns the length of all its filaments in millimetres; `None` if that of one is unknown.
    pub fn filament_mm(&self) -> Option<f64> {
        let lengths = self.filaments.iter().map(|filament| filament.mm).collect::<Option<Vec<_>>>()?;
        (!lengths.is_empty()).then(|| lengths.into_iter().sum())
    }
}
