//! A file as it is shown, with the plates that were read of it.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use crate::domain::amount::Amount;
use crate::domain::file::{File, FileKind, FileMetadata, GcodeForm, Plate, PlateFilament};
use crate::domain::id::Id;
use crate::domain::sku::Dimensions;
use crate::domain::time::Timestamp;
use crate::http::wire::ToSchema;

/// An uploaded file and what was read from it.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "File", many = "files", example = json!({
    "id": super::EXAMPLE_ID, "name": "vase.gcode", "kind": "gcode", "size": 1_048_576,
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "metadata": <MetadataView as ToSchema>::example(), "plates": [<PlateView as ToSchema>::example()], "createdAt": "2026-11-01T08:00:00.000Z", "version": 1,
}))]
pub(super) struct FileView {
    /// Id of the file.
    id: Id,
    /// The name with which it was uploaded, without directories.
    name: String,
    /// What the file is, found from its content.
    kind: FileKind,
    /// The length of the content, in bytes.
    size: i64,
    /// The SHA-256 of the content: 64 hexadecimal digits in lower case.
    sha256: String,
    /// What the content says of itself.
    metadata: MetadataView,
    /// The plates of a sliced file, by their numbers; plain G-code has one. Empty for other files.
    plates: Vec<PlateView>,
    /// When it was uploaded.
    created_at: Timestamp,
    /// Counts the changes from 1; also its `ETag`.
    version: i64,
}

impl FileView {
    pub(super) fn new(file: &File, version: i64) -> Self {
        let File { id, kind, size, created_at, .. } = *file;
        let (name, sha256, metadata) = (file.name.clone(), file.sha256.clone(), file.metadata.clone().into());
        let plates = file.metadata.plates.iter().cloned().map(Into::into).collect();
        Self { id, name, kind, size, sha256, metadata, plates, created_at, version }
    }
}

/// What the content of a file says of itself; null where it says nothing.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "FileMetadata", example = json!({
    "slicer": "AcmeSlicer 2.9.4", "seconds": 5400, "grams": 20.5, "filamentMm": 6765.3, "thumbnail": null,
    "layers": 600, "size": {"x": 80, "y": 80, "z": 120}, "form": "gcode",
}))]
struct MetadataView {
    /// The program that made the file.
    slicer: Option<String>,
    /// How long the print takes, in seconds.
    seconds: Option<i64>,
    /// How much material the print takes, in grams.
    grams: Option<Amount>,
    /// How much filament the print takes, in millimetres.
    filament_mm: Option<f64>,
    /// The SHA-256 of the picture that the file contains.
    thumbnail: Option<String>,
    /// How many layers are printed.
    layers: Option<u32>,
    /// How much of the build volume the print takes.
    size: Option<Dimensions>,
    /// In which form the G-code is.
    form: Option<GcodeForm>,
}

impl From<FileMetadata> for MetadataView {
    fn from(metadata: FileMetadata) -> Self {
        let FileMetadata { slicer, seconds, grams, filament_mm, thumbnail, layers, size, form, plates: _ } = metadata;
        Self { slicer, seconds, grams, filament_mm, thumbnail, layers, size, form }
    }
}

/// One plate of a sliced file; null where the file says nothing.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Plate", example = json!({
    "plate": 1, "name": "Lids", "seconds": 5400, "filaments": [<PlateFilamentView as ToSchema>::example()],
    "dimensions": {"x": 80, "y": 80, "z": 120}, "bedType": "Textured PEI Plate", "nozzleDiameter": 0.4,
    "printerModel": "MK4", "thumbnail": null,
}))]
struct PlateView {
    /// Counts from 1.
    plate: u32,
    /// The name that its author gave it.
    name: Option<String>,
    /// How long it takes, in seconds.
    seconds: Option<i64>,
    /// The filaments that it uses.
    filaments: Vec<PlateFilamentView>,
    /// How much of the build volume it takes.
    dimensions: Option<Dimensions>,
    /// The build plate that it was sliced for.
    bed_type: Option<String>,
    /// The nozzle that it was sliced for, in millimetres.
    nozzle_diameter: Option<f64>,
    /// The printer that it was sliced for.
    printer_model: Option<String>,
    /// The SHA-256 of its picture.
    thumbnail: Option<String>,
}

/// What a plate uses of one filament.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PlateFilament", example = json!({
    "index": 0, "type": "PLA", "color": "#ff8000", "grams": 20.5, "mm": 6765.3,
}))]
struct PlateFilamentView {
    /// Its position among the filaments of the file, from 0.
    index: u32,
    /// The kind of plastic.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// As `#rrggbb`.
    color: Option<String>,
    /// Weight in grams.
    grams: Option<Amount>,
    /// Length in millimetres.
    mm: Option<f64>,
}

impl From<Plate> for PlateView {
    fn from(plate: Plate) -> Self {
        let Plate { plate, name, seconds, filaments, dimensions, bed_type, nozzle_diameter, printer_model, thumbnail } =
            plate;
        let filaments = filaments.into_iter().map(Into::into).collect();
        Self { plate, name, seconds, filaments, dimensions, bed_type, nozzle_diameter, printer_model, thumbnail }
    }
}

impl From<PlateFilament> for PlateFilamentView {
    fn from(filament: PlateFilament) -> Self {
        let PlateFilament { index, kind, color, grams, mm } = filament;
        Self { index, kind, color, grams, mm }
    }
}
