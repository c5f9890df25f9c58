//! The plates of a sliced file: what each takes to be printed, as the slicer wrote it.

use serde::{Deserialize, Serialize};

use crate::domain::amount::Amount;
use crate::domain::sku::Dimensions;

/// Most plates of one file; the slicers that write several allow some dozens.
pub const MAX_PLATES: usize = 64;
/// Most filaments of one plate.
pub const MAX_FILAMENTS: usize = 32;

/// One filament that a plate uses. `None` is unknown: nothing is guessed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlateFilament {
    /// Position among the filaments of the project, from 0; the tool number of plain G-code.
    pub index: u32,
    /// The kind of plastic, as `PLA`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Colour as `#rrggbb`.
    pub color: Option<String>,
    /// Weight of this filament in grams.
    pub grams: Option<Amount>,
    /// Length of this filament in millimetres.
    pub mm: Option<f64>,
}

/// One plate of a sliced file. Plain G-code has one. `None` is unknown: nothing is guessed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plate {
    /// Number of the plate, from 1.
    pub plate: u32,
    /// The name that its author gave it.
    pub name: Option<String>,
    /// Estimated print time in seconds.
    pub seconds: Option<i64>,
    /// The filaments that it uses, by their index.
    pub filaments: Vec<PlateFilament>,
    /// Size of the print in millimetres.
    pub dimensions: Option<Dimensions>,
    /// The build plate that it was sliced for, in the slicer's words: `Textured PEI Plate`.
    pub bed_type: Option<String>,
    /// Diameter in millimetres of the nozzle that it was sliced for; `None` also where its nozzles differ.
    pub nozzle_diameter: Option<f64>,
    /// The printer that it was sliced for, in the slicer's words.
    pub printer_model: Option<String>,
    /// SHA-256 of its picture in hexadecimal, under which it is stored on disk.
    pub thumbnail: Option<String>,
}

impl Plate {
    /// Weight of all its filaments in grams; `None` where that of one is unknown.
    pub fn grams(&self) -> Option<Amount> {
        let known = self.filaments.iter().map(|filament| filament.grams).collect::<Option<Vec<_>>>()?;
        (!known.is_empty()).then(|| known.into_iter().sum())
    }

    /// Length of all its filaments in millimetres; `None` where that of one is unknown.
    pub fn filament_mm(&self) -> Option<f64> {
        let known = self.filaments.iter().map(|filament| filament.mm).collect::<Option<Vec<_>>>()?;
        (!known.is_empty()).then(|| known.into_iter().sum())
    }
}
