//! API representation of a file, with the plates parsed from it.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use domain::amount::Amount;
use domain::file::{File, FileKind, FileMetadata, GcodeForm, Plate, PlateFilament};
use domain::id::Id;
use domain::sku::Dimensions;
use domain::time::Timestamp;
use http::wire::ToSchema;

/// Uploaded file, with the metadata parsed from it.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "File", many = "files", example = json!({
    "id": super::EXAMPLE_ID, "name": "vase.gcode", "kind": "gcode", "size": 1_048_576,
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "metadata": <MetadataView as ToSchema>::example(), "plates": [<PlateView as ToSchema>::example()], "createdAt": "2026-11-01T08:00:00.000Z", "version": 1,
}))]
pub(super) struct FileView {
    /// ID of the file.
    id: Id,
    /// Original name of the file, without directories.
    name: String,
    /// Kind of the file, detected from its content.
    kind: FileKind,
    /// Size of the content, in bytes.
    size: i64,
    /// SHA-256 of the content: 64 hexadecimal digits in lowercase.
    sha256: String,
    /// Metadata found in the content of the file.
    metadata: MetadataView,
    /// Plates of a sliced file in ascending order; plain G-code has one. Empty for other files.
    plates: Vec<PlateView>,
    /// Time at which the file was uploaded.
    created_at: Timestamp,
    /// Version number of the file: starts at 1 and increases with each change; also its `ETag`.
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

/// Metadata found in a file's content; null for values that the file does not specify.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "FileMetadata", example = json!({
    "slicer": "AcmeSlicer 2.9.4", "seconds": 5400, "grams": 20.5, "filamentMm": 6765.3, "thumbnail": null,
    "layers": 600, "size": {"x": 80, "y": 80, "z": 120}, "form": "gcode",
}))]
struct MetadataView {
    /// Program that created the file.
    slicer: Option<String>,
    /// Estimated print time, in seconds.
    seconds: Option<i64>,
    /// Material required, in grams.
    grams: Option<Amount>,
    /// Length of filament required, in millimetres.
    filament_mm: Option<f64>,
    /// SHA-256 of the embedded thumbnail.
    thumbnail: Option<String>,
    /// Number of layers.
    layers: Option<u32>,
    /// Dimensions of the printed volume.
    size: Option<Dimensions>,
    /// Format of the G-code.
    form: Option<GcodeForm>,
}

impl From<FileMetadata> for MetadataView {
    fn from(metadata: FileMetadata) -> Self {
        let FileMetadata { slicer, seconds, grams, filament_mm, thumbnail, layers, size, form, plates: _ } = metadata;
        Self { slicer, seconds, grams, filament_mm, thumbnail, layers, size, form }
    }
}

/// Plate of a sliced file. Fields are null for values that the file does not specify.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Plate", example = json!({
    "plate": 1, "name": "Lids", "seconds": 5400, "filaments": [<PlateFilamentView as ToSchema>::example()],
    "dimensions": {"x": 80, "y": 80, "z": 120}, "bedType": "Textured PEI Plate", "nozzleDiameter": 0.4,
    "printerModel": "MK4", "thumbnail": null,
}))]
struct PlateView {
    /// Number of the plate, starting at 1.
    plate: u32,
    /// Name of the plate, as chosen by the file's author.
    name: Option<String>,
    /// Estimated print time, in seconds.
    seconds: Option<i64>,
    /// Filaments used by the plate.
    filaments: Vec<PlateFilamentView>,
    /// Dimensions of the printed volume.
    dimensions: Option<Dimensions>,
    /// Build plate for which the plate was sliced.
    bed_type: Option<String>,
    /// Nozzle diameter for which the plate was sliced, in millimetres.
    nozzle_diameter: Option<f64>,
    /// Printer model for which the plate was sliced.
    printer_model: Option<String>,
    /// SHA-256 of the plate's thumbnail.
    thumbnail: Option<String>,
}

/// Usage of one filament by a plate.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PlateFilament", example = json!({
    "index": 0, "type": "PLA", "color": "#ff8000", "grams": 20.5, "mm": 6765.3,
}))]
struct PlateFilamentView {
    /// Index of the filament in the file, starting at 0.
    index: u32,
    /// Type of plastic, such as `PLA`.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Colour as `#rrggbb`.
    color: Option<String>,
    /// Weight, in grams.
    grams: Option<Amount>,
    /// Length, in millimetres.
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
