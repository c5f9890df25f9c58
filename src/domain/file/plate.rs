//! Plates of a sliced file, with the requirements for printing each of them, as written by the slicer.

use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::sku::Dimensions;

/// Maximum number of plates per file; slicers that support multiple plates allow a few dozen.
pub const MAX_PLATES: usize = 64;
/// Maximum number of filaments per plate.
pub const MAX_FILAMENTS: usize = 32;

/// Filament used by a plate. `None` means unknown, because nothing is guessed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlateFilament {
    /// Position among the project's filaments, starting at 0; the tool number in plain G-code.
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

/// Plate of a sliced file. Plain G-code has exactly one. `None` means unknown, because nothing is guessed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plate {
    /// Number of the plate, starting at 1.
    pub plate: u32,
    /// Name chosen by the author.
    pub name: Option<String>,
    /// Estimated print time in seconds.
    pub seconds: Option<i64>,
    /// Filaments used by the plate, by index.
    pub filaments: Vec<PlateFilament>,
    /// Size of the print in millimetres.
    pub dimensions: Option<Dimensions>,
    /// Build plate type that the plate was sliced for, as named by the slicer, such as `Textured PEI Plate`.
    pub bed_type: Option<String>,
    /// Nozzle diameter, in millimetres, that the plate was sliced for; `None` if unknown or if the nozzles differ.
    pub nozzle_diameter: Option<f64>,
    /// Printer model that the plate was sliced for, as named by the slicer.
    pub printer_model: Option<String>,
    /// SHA-256 of the thumbnail in hexadecimal, under which it is stored on disk.
    pub thumbnail: Option<String>,
}

impl Plate {
    /// Returns the total weight of the filaments in grams; `None` if the weight of any is unknown.
    pub fn grams(&self) -> Option<Amount> {
        let weights = self.filaments.iter().map(|filament| filament.grams).collect::<Option<Vec<_>>>()?;
        (!weights.is_empty()).then(|| weights.into_iter().sum())
    }

    /// Returns the total length of the filaments in millimetres; `None` if the length of any is unknown.
    pub fn filament_mm(&self) -> Option<f64> {
        let lengths = self.filaments.iter().map(|filament| filament.mm).collect::<Option<Vec<_>>>()?;
        (!lengths.is_empty()).then(|| lengths.into_iter().sum())
    }
}
