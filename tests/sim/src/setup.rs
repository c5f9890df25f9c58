//! Setup of the shop, before any fault occurs.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use simulator::gcode::gcode;
use simulator::gcode::tools::gcode_of_several;

use crate::error::SimError;
use crate::plan::{Plan, PlannedProduct};
use crate::shop::Shop;
use crate::workload::{Kit, MaterialPlan};
use crate::world::World;

/// Maximum time until a printer is connected. Idle printers are polled less often.
const CONNECTED_WITHIN: Duration = Duration::from_secs(120);
/// Slot of the second material, and index of the filament printed from it.
const SECOND_SLOT: u32 = 1;
/// Initial material on each spool, in grams.
const SPOOL_GRAMS: u32 = 1_000;
/// In a day's shop, one printer in this many does not clear its bed automatically.
const UNCLEARED: usize = 3;

/// Shop after its setup.
pub struct SetUp {
    /// IDs of the products and then of the kits, in the order of the plan.
    pub products: Vec<String>,
    /// IDs of the materials, in the order of the plan.
    pub materials: Vec<String>,
    /// IDs of the printers by their machines' URLs.
    pub printers: BTreeMap<String, String>,
    /// IDs of the materials in the first slots of the printers, in the same order.
    pub loads: Vec<String>,
}

/// Returns the ID in a response.
pub fn id_of(body: &Value) -> Result<String, SimError> {
    let id = body["id"].as_str().map(str::to_owned);
    id.ok_or_else(|| SimError::Broken(format!("a response without an ID: {body}")))
}

/// Sets up the shop of a plan, with all printers of the world.
pub async fn set_up(world: &World, shop: &Shop, plan: &Plan) -> Result<SetUp, SimError> {
    let mut materials = Vec::new();
    for material in &plan.work.materials {
        materials.push(add_material(shop, material).await?);
    }
    let mut products = Vec::new();
    for (number, product) in plan.products.iter().enumerate() {
        products.push(add_product(shop, number, product, &materials).await?);
    }
    for (number, kit) in plan.work.kits.iter().enumerate() {
        products.push(add_kit(shop, number, kit, &products).await?);
    }
    let (mut printers, mut loads) = (BTreeMap::new(), Vec::new());
    for (number, (address, machine)) in world.machines.iter().enumerate() {
        let auto_clear = plan.size.printers().is_none() || !number.is_multiple_of(UNCLEARED);
        let printer = json!({
            "name": machine.name, "type": "fw_rest", "machineType": "fdm_standard", "baseUrl": address,
            "buildVolume": {"x": 220, "y": 220, "z": 250}, "autoClear": auto_clear,
        });
        let printer = id_of(&shop.post("/api/printers", &printer).await?.expect(201)?)?;
        let path = format!("/api/printers/{printer}/status");
        let is_connected = |status: &Value| status["connection"] == "connected";
        shop.until("the connection to a printer", &path, CONNECTED_WITHIN, is_connected).await?;
        let load = plan.work.loads[number % plan.work.loads.len()];
        loads.push(materials[load].clone());
        if materials.len() > 1 {
            load_spools(shop, &printer, [&materials[load], &materials[1]]).await?;
        }
        printers.insert(address.clone(), printer);
    }
    world.story.tell("the shop is set up");
    Ok(SetUp { products, materials, printers, loads })
}

/// Adds a material with its stock. Returns its ID.
async fn add_material(shop: &Shop, material: &MaterialPlan) -> Result<String, SimError> {
    let MaterialPlan { name, color, grams } = material;
    let material = json!({
        "name": name, "type": "filament", "color": color, "brand": "Acme", "quantity": grams, "unit": "g",
        "reorderPoint": 0, "reorderQuantity": 1000,
    });
    id_of(&shop.post("/api/inventory/materials", &material).await?.expect(201)?)
}

/// Loads a printer with spools of these materials.
async fn load_spools(shop: &Shop, printer: &str, materials: [&String; 2]) -> Result<(), SimError> {
    for (slot, material) in (0..=SECOND_SLOT).zip(materials) {
        let spool = json!({"materialId": material, "remaining": SPOOL_GRAMS});
        shop.post(&format!("/api/printers/{printer}/slots/{slot}"), &spool).await?.expect(200)?;
    }
    Ok(())
}

/// Adds a product with its file. Returns its ID.
async fn add_product(
    shop: &Shop,
    number: usize,
    product: &PlannedProduct,
    materials: &[String],
) -> Result<String, SimError> {
    let PlannedProduct { plate, seconds, grams, cents, material, further } = product;
    let code = match further {
        None => gcode("vase", *seconds, *grams, grams * 330.0),
        Some((_, second)) => gcode_of_several("vase", *seconds, &[(*grams, "#000000"), (*second, "#ffffff")]),
    };
    let further = further.iter().map(|(material, grams)| {
        json!({"materialId": materials[*material], "estimatedConsumption": grams, "filament": SECOND_SLOT})
    });
    let file = id_of(&shop.upload(&format!("vase-{number}.gcode"), code.as_bytes()).await?.expect(201)?)?;
    let sku = json!({
        "code": format!("VASE-{number}"), "name": format!("Vase {number}"), "materialId": materials[*material],
        "estimatedConsumption": grams, "machineType": "fdm_standard", "priceCents": cents, "gcodeFileId": file,
        "unitsPerPlate": plate, "materials": further.collect::<Value>(),
    });
    id_of(&shop.post("/api/skus", &sku).await?.expect(201)?)
}

/// Adds a kit of products. Returns its ID.
async fn add_kit(shop: &Shop, number: usize, kit: &Kit, products: &[String]) -> Result<String, SimError> {
    let components =
        kit.components.iter().map(|(product, quantity)| json!({"skuId": products[*product], "quantity": quantity}));
    let sku = json!({
        "code": format!("KIT-{number}"), "name": format!("Kit {number}"), "priceCents": kit.cents,
        "components": components.collect::<Value>(),
    });
    id_of(&shop.post("/api/skus", &sku).await?.expect(201)?)
}
