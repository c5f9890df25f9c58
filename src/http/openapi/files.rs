//! Uploaded files (decisions §1, §7).

use super::operation::{Named, Resource, delete, get, post};
use super::shape::{Shape, amount, bytes, has, id, may, named, number, object, taken, text, text_like, time, whole};
use super::words::word_of;
use crate::domain::file::{FileKind, GcodeForm};
use serde_json::{Value, json};

/// The id that examples use for a file.
pub(super) const EXAMPLE: &str = "01890a5d-ac96-774b-bcce-b302099a8064";

pub(super) fn resource() -> Resource {
    Resource {
        tag: "Files",
        about: "G-code, models and pictures.",
        thing: "file",
        shapes: vec![Named { name: "File", shape: shape(), example: example() }],
        operations: vec![
            get("/api/files", "listFiles", "List files")
                .query("kind", word_of::<FileKind>(), "Of this kind.")
                .query("sha256", text(), "With this content.")
                .query("q", text(), "Whose name has this in it.")
                .lists("files", "File"),
            post("/api/files", "uploadFile", "Upload a file")
                .about("It is streamed to disk and read on the way. The kind is told from the content; say it where that does not tell.")
                .takes_form(taken([has("file", bytes()), may("kind", word_of::<FileKind>())]))
                .creates("File"),
            get("/api/files/{id}", "getFile", "Show what is known of a file").shows("File"),
            delete("/api/files/{id}", "deleteFile", "Remove a file")
                .no(409, "file_in_use", "A SKU or an unfinished order or job names it."),
            get("/api/files/{id}/content", "downloadFile", "Download a file")
                .sends("application/octet-stream", None),
        ],
    }
}

fn shape() -> Shape {
    let metadata = object([
        has("slicer", text().or_null().about("The program that made it.")),
        has("seconds", whole(0..).or_null().about("Print time.")),
        has("grams", amount().or_null().about("Material that it takes.")),
        has("filamentMm", number(0.0..).or_null().about("Filament that it takes, millimetres.")),
        has("thumbnail", text().or_null().about("SHA-256 of its picture.")),
        has("layers", whole(0..).or_null()),
        has("size", named("Dimensions").or_null().about("What the print takes of the build volume.")),
        has("form", word_of::<GcodeForm>().or_null().about("In which form G-code is.")),
    ]);
    object([
        has("id", id()),
        has("name", text().about("As it was uploaded, without folders.")),
        has("kind", word_of::<FileKind>()),
        has("size", whole(1..).about("Bytes.")),
        has("sha256", text_like("^[0-9a-f]{64}$")),
        has("metadata", metadata.about("What the content says of itself.")),
        has("createdAt", time()),
        has("version", whole(1..)),
    ])
}

fn example() -> Value {
    json!({
        "id": EXAMPLE, "name": "vase.gcode", "kind": "gcode", "size": 1_048_576,
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "metadata": {
            "slicer": "AcmeSlicer 2.9.4", "seconds": 5400, "grams": 20.5, "filamentMm": 6765.3, "thumbnail": null,
            "layers": 600, "size": {"x": 80, "y": 80, "z": 120}, "form": "gcode",
        },
        "createdAt": "2026-11-01T08:00:00.000Z", "version": 1,
    })
}
