//! Setup of the shop, before anything goes wrong.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use simulator::gcode::gcode;

use crate::error::SimError;
use crate::plan::{Plan, Product};
use crate::shop::Shop;
use crate::world::World;

/// Time in which a printer must be connected.
const CONNECTED_WITHIN: Duration = Duration::from_secs(30);
/// Material in stock in grams, more than any story prints.
const STOCK_GRAMS: u32 = 50_000;

/// Shop that was set up.
pub struct SetUp {
    /// IDs of the products, in the order of the plan.
    pub products: Vec<String>,
    /// ID of the material of all products.
    pub material: String,
    /// IDs of the printers by the addresses of their machines.
    pub printers: BTreeMap<String, String>,
}

fn id_of(body: &Value) -> Result<String, SimError> {
    let id = body["id"].as_str().map(str::to_owned);
    id.ok_or_else(|| SimError::Broken(format!("a response without an ID: {body}")))
}

/// Sets up the shop of a plan, with all printers of the world.
pub async fn set_up(world: &World, shop: &Shop, plan: &Plan) -> Result<SetUp, SimError> {
    let material = json!({
        "name": "PLA black", "type": "filament", "color": "#000000", "brand": "Acme", "quantity": STOCK_GRAMS, "unit": "g",
        "reorderPoint": 0, "reorderQuantity": 1000,
    });
    let material = id_of(&shop.post("/api/inventory/materials", &material).await?.expect(201)?)?;
    let mut products = Vec::new();
    for (number, product) in plan.products.iter().enumerate() {
        products.push(add_product(shop, number, product, &material).await?);
    }
    let mut printers = BTreeMap::new();
    for (address, machine) in world.machines.iter() {
        let printer = json!({
            "name": machine.name, "type": "fw_rest", "machineType": "fdm_standard", "baseUrl": address,
            "buildVolume": {"x": 220, "y": 220, "z": 250}, "autoClear": true,
        });
        let printer = id_of(&shop.post("/api/printers", &printer).await?.expect(201)?)?;
        let path = format!("/api/printers/{printer}/status");
        let is_connected = |status: &Value| status["connection"] == "connected";
        shop.until("the connection to a printer", &path, CONNECTED_WITHIN, is_connected).await?;
        printers.insert(address.clone(), printer);
    }
    world.story.tell("the shop is set up");
    Ok(SetUp { products, material, printers })
}

/// Adds a product with its file. Returns its ID.
async fn add_product(shop: &Shop, number: usize, product: &Product, material: &str) -> Result<String, SimError> {
    let Product { plate, seconds, grams, cents } = product;
    let code = gcode("vase", *seconds, *grams, grams * 330.0);
    let file = id_of(&shop.upload(&format!("vase-{number}.gcode"), &code).await?.expect(201)?)?;
    let sku = json!({
        "code": format!("VASE-{number}"), "name": format!("Vase {number}"), "materialId": material,
        "estimatedConsumption": grams, "machineType": "fdm_standard", "priceCents": cents, "gcodeFileId": file,
        "unitsPerPlate": plate,
    });
    id_of(&shop.post("/api/skus", &sku).await?.expect(201)?)
}
