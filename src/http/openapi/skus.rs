//! The catalogue (decisions §7).

use super::materials;
use super::operation::{Named, Resource, delete, get, patch, post};
use super::shape::{
    Member, Shape, above_zero, has, id, list, list_of, may, number, object, taken, text, text_like, text_of, time,
    whole, yes_no,
};
use super::words::word_of;
use crate::domain::sku::MachineType;
use crate::http::production::skus::{LIST_MOST, PRICE_MOST, UNITS_MOST};
use serde_json::{Value, json};

/// The id that examples use for a SKU.
pub(super) const EXAMPLE: &str = "01890a5d-ac96-774b-bcce-b302099a8063";

pub(super) fn resource() -> Resource {
    Resource {
        tag: "SKUs",
        about: "What is sold, and what it is made from and with.",
        thing: "sku",
        shapes: vec![
            Named { name: "Sku", shape: shape(), example: example() },
            Named {
                name: "Dimensions",
                shape: taken(["x", "y", "z"].map(|axis| has(axis, above_zero(100_000.0))))
                    .about("Millimetres along each axis."),
                example: json!({"x": 80, "y": 80, "z": 120.5}),
            },
        ],
        operations: vec![
            get("/api/skus", "listSkus", "List products")
                .about("Customers' keys see what is public and active.")
                .query("active", yes_no(), "May be ordered.")
                .query("public", yes_no(), "Shown to customers.")
                .query("materialId", id(), "Made of this material.")
                .query("slug", text(), "With this slug.")
                .query("code", text(), "With this code.")
                .query("q", text(), "Whose name or code has this in it.")
                .lists("skus", "Sku"),
            post("/api/skus", "createSku", "Add a product").takes(taken(fields(true)), said()).creates("Sku").no(
                409,
                "code_taken",
                "Another SKU has this code.",
            ),
            get("/api/skus/{id}", "getSku", "Show a product").shows("Sku"),
            patch("/api/skus/{id}", "updateSku", "Change a product")
                .about("What was ordered before keeps what it was ordered with.")
                .takes(taken(fields(false)), json!({"priceCents": 1450}))
                .shows("Sku")
                .no(409, "code_taken", "Another SKU has this code."),
            delete("/api/skus/{id}", "deleteSku", "Remove a product").about("Its history stays.").no(
                409,
                "sku_in_use",
                "An unfinished order or job names it.",
            ),
        ],
    }
}

fn fields(new: bool) -> Vec<Member> {
    let must = |name, shape| if new { has(name, shape) } else { may(name, shape) };
    let texts = || list_of(text_of(..=300), ..=LIST_MOST);
    vec![
        must("code", text_of(1..=64).about("Unique, and never used again.")),
        may("slug", text_like("^[a-z0-9]+(-[a-z0-9]+)*$").about("For addresses; made of the code when absent.")),
        must("name", text_of(1..=200)),
        may("description", text_of(..=1000).or_null()),
        may("kind", text_of(..=50).or_null().about("A free word of the shop: `part`, `kit`, ...")),
        may("collections", texts()),
        must("materialId", id()),
        must(
            "estimatedConsumption",
            need().about("For one full plate, in the material's unit; at most three decimals."),
        ),
        must("machineType", word_of::<MachineType>()),
        may("dimensions", super::shape::named("Dimensions").or_null()),
        must("priceCents", whole(0..=PRICE_MOST)),
        may("currency", text_like("^[a-z]{3}$").about("ISO 4217, in lower case.")),
        may("unitsPerPlate", whole(1..=i64::from(UNITS_MOST)).by_default(1)),
        may("modelFileId", id().or_null()),
        may("gcodeFileId", id().or_null()),
        may("slicerProfile", text_of(..=100).or_null()),
        may("estimatedSeconds", whole(1..).or_null()),
        may("images", texts()),
        may("public", yes_no().by_default(true).about("Shown to customers.")),
        may("active", yes_no().by_default(true).about("May be ordered.")),
    ]
}

fn need() -> Shape {
    number(0.001..=1e12)
}

fn said() -> Value {
    json!({
        "code": "VASE-01", "name": "Vase", "materialId": materials::EXAMPLE, "estimatedConsumption": 20.5,
        "machineType": "fdm_standard", "priceCents": 1250, "gcodeFileId": super::files::EXAMPLE,
    })
}

fn shape() -> Shape {
    object([
        has("id", id()),
        has("code", text()),
        has("slug", text()),
        has("name", text()),
        has("description", text().or_null()),
        has("kind", text().or_null()),
        has("collections", list(text())),
        has("materialId", id()),
        has("estimatedConsumption", need().about("For one full plate, in the material's unit.")),
        has("machineType", word_of::<MachineType>()),
        has("dimensions", super::shape::named("Dimensions").or_null()),
        has("priceCents", whole(0..)),
        has("currency", text_like("^[a-z]{3}$")),
        has("unitsPerPlate", whole(1..)),
        has("modelFileId", id().or_null()),
        has("gcodeFileId", id().or_null()),
        has("slicerProfile", text().or_null()),
        has("estimatedSeconds", whole(1..).or_null()),
        has("images", list(text())),
        has("public", yes_no()),
        has("active", yes_no()),
        has("createdAt", time()),
        has("updatedAt", time()),
        has("version", whole(1..)),
    ])
}

fn example() -> Value {
    json!({
        "id": EXAMPLE, "code": "VASE-01", "slug": "vase-01", "name": "Vase", "description": null, "kind": "part",
        "collections": ["home"], "materialId": materials::EXAMPLE, "estimatedConsumption": 20.5,
        "machineType": "fdm_standard", "dimensions": {"x": 80, "y": 80, "z": 120.5}, "priceCents": 1250,
        "currency": "usd", "unitsPerPlate": 1, "modelFileId": null, "gcodeFileId": super::files::EXAMPLE,
        "slicerProfile": null, "estimatedSeconds": 5400, "images": [], "public": true, "active": true,
        "createdAt": "2026-11-01T08:00:00.000Z", "updatedAt": "2026-11-01T08:00:00.000Z", "version": 1,
    })
}
