//! Materials: stock and its ledger (production spec §2, decisions §5).

use super::operation::{Named, Resource, delete, get, patch, post};
use super::shape::{Shape, has, id, may, number, object, taken, text, text_like, text_of, time, whole, word};
use super::words::word_of;
use crate::domain::amount::LARGEST;
use crate::domain::material::{MaterialType, MovementKind};
use serde_json::{Value, json};

/// The id that examples use for a material.
pub(super) const EXAMPLE: &str = "01890a5d-ac96-774b-bcce-b302099a8061";

pub(super) fn resource() -> Resource {
    Resource {
        tag: "Materials",
        about: "Stock on hand, what is reserved of it, and the ledger of every change.",
        thing: "material",
        shapes: vec![
            Named { name: "Material", shape: shape(), example: example() },
            Named { name: "Movement", shape: movement(), example: movement_example() },
        ],
        operations: vec![
            get("/api/inventory/materials", "listMaterials", "List materials with their stock")
                .query("type", word_of::<MaterialType>(), "Of this type.")
                .query("q", text(), "Whose name or brand has this in it.")
                .lists("materials", "Material"),
            post("/api/inventory/materials", "createMaterial", "Add a material")
                .takes(taken(fields(true)), said())
                .creates("Material"),
            get("/api/inventory/materials/{id}", "getMaterial", "Show a material").shows("Material"),
            patch("/api/inventory/materials/{id}", "updateMaterial", "Change a material, or take stock")
                .about("`quantity` is a stock-take: the stock is what was counted. Below what is reserved, the latest reservations are given up.")
                .takes(taken(fields(false)), json!({"quantity": 1800}))
                .shows("Material")
                .no(409, "material_in_use", "The type cannot change while jobs reserve or await it."),
            delete("/api/inventory/materials/{id}", "deleteMaterial", "Remove a material")
                .about("Its history stays.")
                .no(409, "material_in_use", "A SKU or an unfinished order or job names it."),
            get("/api/inventory/materials/{id}/movements", "listMovements", "Show the ledger of a material")
                .about("The sums of the deltas equal `quantity` and `reserved`, always.")
                .lists("movements", "Movement"),
            post("/api/inventory/materials/{id}/adjustments", "adjustMaterial", "Receive stock, or write some off")
                .takes(
                    taken([
                        has("delta", signed().about("What comes in, or with a minus what goes. Not 0.")),
                        has("reason", text_of(1..=500)),
                    ]),
                    json!({"delta": 1000, "reason": "new spool"}),
                )
                .shows("Material")
                .no(409, "insufficient_stock", "There is not so much on hand."),
        ],
    }
}

/// An amount of material.
pub(super) fn amount() -> Shape {
    number(0.0..=most()).about("At most three decimals.")
}

fn signed() -> Shape {
    number(-most()..=most()).about("At most three decimals.")
}

fn most() -> f64 {
    LARGEST.0 as f64 / 1000.0
}

fn units() -> Shape {
    use MaterialType as T;
    word([T::Filament, T::Resin, T::LaserSheet, T::LaserConsumable].map(T::unit)).about("That of the type.")
}

fn fields(new: bool) -> Vec<super::shape::Member> {
    let must = |name, shape| if new { has(name, shape) } else { may(name, shape) };
    vec![
        must("name", text_of(1..=200)),
        must("type", word_of::<MaterialType>()),
        may("color", text_like("^#[0-9A-Fa-f]{6}$").or_null()),
        may("brand", text_of(..=200).or_null()),
        may("quantity", amount()),
        may("unit", units()),
        may("reorderPoint", amount().about("Below it, alerts go out and new jobs wait.")),
        may("reorderQuantity", amount()),
    ]
}

fn said() -> Value {
    json!({
        "name": "PLA black", "type": "filament", "color": "#101010", "brand": "Acme", "quantity": 2000, "unit": "g",
        "reorderPoint": 500, "reorderQuantity": 2000,
    })
}

fn shape() -> Shape {
    object([
        has("id", id()),
        has("name", text()),
        has("type", word_of::<MaterialType>()),
        has("color", text().or_null()),
        has("brand", text().or_null()),
        has("quantity", amount().about("Stock on hand.")),
        has("reserved", amount().about("What jobs have reserved of it.")),
        has("available", amount().about("What is left for new jobs; never below 0.")),
        has("unit", units()),
        has("reorderPoint", amount()),
        has("reorderQuantity", amount()),
        has("createdAt", time()),
        has("updatedAt", time()),
        has("version", whole(1..)),
    ])
}

fn example() -> Value {
    json!({
        "id": EXAMPLE, "name": "PLA black", "type": "filament", "color": "#101010", "brand": "Acme", "quantity": 2000,
        "reserved": 120.5, "available": 1879.5, "unit": "g", "reorderPoint": 500, "reorderQuantity": 2000,
        "createdAt": "2026-11-01T08:00:00.000Z", "updatedAt": "2026-11-02T10:15:00.000Z", "version": 7,
    })
}

fn movement() -> Shape {
    object([
        has("id", id()),
        has("kind", word_of::<MovementKind>()),
        has("deltaQuantity", signed().about("Change of the stock on hand.")),
        has("deltaReserved", signed().about("Change of what is reserved.")),
        has("quantity", amount().about("Stock on hand afterwards.")),
        has("reserved", amount().about("Reserved afterwards.")),
        has("jobId", id().or_null().about("The job that it was for.")),
        has("reason", text().or_null()),
        has("actor", text().about("Who did it.")),
        has("createdAt", time()),
    ])
}

fn movement_example() -> Value {
    json!({
        "id": "01890a5d-ac96-774b-bcce-b302099a8062", "kind": "reserve", "deltaQuantity": 0, "deltaReserved": 20.5,
        "quantity": 2000, "reserved": 120.5, "jobId": super::jobs::EXAMPLE, "reason": null, "actor": "system",
        "createdAt": "2026-11-02T10:15:00.000Z",
    })
}
