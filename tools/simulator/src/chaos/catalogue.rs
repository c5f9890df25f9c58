//! Products of the shop, all of one material: parts as G-code and as a package, because no file fits all printers, a
//! plate of two parts, and a kit.

use fastrand::Rng;
use serde_json::{Value, json};
use simulator::gcode::{gcode, package};

use crate::client::{ApiFault, ChaosClient};
use crate::json::text;

/// Initial stock in grams, so large that no job waits for a delivery.
pub const FIRST_STOCK_GRAMS: f64 = 50_000.0;
/// Length of filament per gram, in millimetres.
const MM_PER_GRAM: f64 = 330.0;
/// Maximum number of lines in an order, and maximum quantity of each product.
const MOST_LINES: usize = 2;
const MOST_OF_EACH: u32 = 3;

/// IDs of the products and of their material.
#[derive(Clone, Debug)]
pub struct ChaosCatalogue {
    /// Material of all products.
    pub material: String,
    /// Orderable products.
    products: Vec<String>,
}

impl ChaosCatalogue {
    /// Creates material, files and products. Prints take a few seconds, as their files state.
    pub async fn create(api: &ChaosClient) -> Result<Self, ApiFault> {
        let body = json!({
            "name": "PLA black", "type": "filament", "color": "#1b1b22", "brand": "Acme", "quantity": FIRST_STOCK_GRAMS,
            "unit": "g", "reorderPoint": 0, "reorderQuantity": 1000,
        });
        let material = create(api, "/api/inventory/materials", "material", &body).await?;
        let file = |name: &str, seconds: u64| gcode(name, seconds, 2.0, 2.0 * MM_PER_GRAM).into_bytes();
        let part = upload(api, "part.gcode", file("part", 2)).await?;
        let plate = upload(api, "plate.gcode", file("plate", 3)).await?;
        let lid = upload(api, "lid.gcode.3mf", package("lid", 2, 2.0, 2.0 * MM_PER_GRAM)).await?;
        let sku = |code: &str, file: &str, per_plate: u32| {
            json!({
                "code": code, "name": code, "materialId": material, "estimatedConsumption": 2, "gcodeFileId": file,
                "unitsPerPlate": per_plate, "machineType": "fdm_standard", "priceCents": 1250,
            })
        };
        let part = create(api, "/api/skus", "part", &sku("PART", &part, 1)).await?;
        let plate = create(api, "/api/skus", "plate", &sku("PLATE", &plate, 2)).await?;
        let lid = create(api, "/api/skus", "lid", &sku("LID", &lid, 1)).await?;
        let components = json!([{"skuId": part, "quantity": 1}, {"skuId": lid, "quantity": 1}]);
        let kit = json!({"code": "KIT", "name": "Kit", "priceCents": 2900, "components": components});
        let kit = create(api, "/api/skus", "kit", &kit).await?;
        Ok(Self { material, products: vec![part, plate, lid, kit] })
    }

    /// Generates the lines of an order, each for a different product.
    pub fn draw_lines(&self, rng: &mut Rng) -> Value {
        let mut products: Vec<&String> = self.products.iter().collect();
        rng.shuffle(&mut products);
        products.truncate(rng.usize(1..=MOST_LINES));
        products.into_iter().map(|sku| json!({"skuId": sku, "quantity": rng.u32(1..=MOST_OF_EACH)})).collect()
    }
}

/// Creates a record; returns its ID.
pub async fn create(api: &ChaosClient, path: &str, key: &str, body: &Value) -> Result<String, ApiFault> {
    let record = api.insist(path, &format!("set-up-{key}"), body).await?;
    Ok(text(&record, "id").to_owned())
}

async fn upload(api: &ChaosClient, name: &str, content: Vec<u8>) -> Result<String, ApiFault> {
    let file = api.upload(name, content).await?;
    Ok(text(&file, "id").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_no_product_twice_and_a_seed_draws_it_again() {
        let products = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let catalogue = ChaosCatalogue { material: String::new(), products };
        for seed in 0..50 {
            let lines = catalogue.draw_lines(&mut Rng::with_seed(seed));
            assert_eq!(lines, catalogue.draw_lines(&mut Rng::with_seed(seed)));
            let count = lines.as_array().map_or(0, Vec::len);
            assert!((1..=MOST_LINES).contains(&count), "{lines}");
            assert!(count == 1 || lines[0]["skuId"] != lines[1]["skuId"], "{lines}");
        }
    }
}
