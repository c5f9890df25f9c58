//! Story of a seed: an order, from its payment to the last part.

use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};
use simulator::gcode::gcode;
use simulator::payments::{SimPayment, SimPaymentEvent, signature};
use tokio::time::sleep;

use crate::error::SimError;
use crate::settings::PAYMENT_SECRET;
use crate::shop::Shop;
use crate::world::World;

/// Time in which a printer must be connected.
const CONNECTED_WITHIN: Duration = Duration::from_secs(60);
/// Time in which an order must be ready in addition to that of its prints.
const READY_WITHIN: Duration = Duration::from_secs(3600);
/// Time in which everything must be quiet after the last part.
const QUIET_WITHIN: Duration = Duration::from_secs(300);

/// Order to place, drawn from the seed.
pub struct Plan {
    /// Number of parts, each of which is a print.
    pub quantity: u32,
    /// Duration of a print in seconds.
    seconds: u64,
    /// Material of a print in grams.
    grams: f64,
    /// Price of a part in minor units.
    cents: i64,
    /// Time in seconds after which the customer pays.
    pays_after: u64,
}

impl Plan {
    /// Draws a plan.
    pub fn draw(chance: &mut Rng) -> Self {
        Self {
            quantity: chance.u32(1..=3),
            seconds: chance.u64(600..=7200),
            grams: chance.u32(5..=80).into(),
            cents: chance.i64(300..=5000),
            pays_after: chance.u64(5..=600),
        }
    }
}

fn id_of(body: &Value) -> Result<String, SimError> {
    let id = body["id"].as_str().map(str::to_owned);
    id.ok_or_else(|| SimError::Broken(format!("a response without an ID: {body}")))
}

/// Sets up a shop with one product and all printers of the world. Returns the ID of the product.
pub async fn set_up(world: &World, shop: &Shop, plan: &Plan) -> Result<String, SimError> {
    let material = json!({
        "name": "PLA black", "type": "filament", "color": "#000000", "brand": "Acme", "quantity": 5000, "unit": "g",
        "reorderPoint": 0, "reorderQuantity": 1000,
    });
    let material = id_of(&shop.post("/api/inventory/materials", &material).await?.expect(201)?)?;
    let code = gcode("vase", plan.seconds, plan.grams, plan.grams * 330.0);
    let file = id_of(&shop.upload("vase.gcode", &code).await?.expect(201)?)?;
    let sku = json!({
        "code": "VASE", "name": "Vase", "materialId": material, "estimatedConsumption": plan.grams,
        "machineType": "fdm_standard", "priceCents": plan.cents, "gcodeFileId": file,
    });
    let sku = id_of(&shop.post("/api/skus", &sku).await?.expect(201)?)?;
    for machine in world.machines.values() {
        let printer = json!({
            "name": machine.name, "type": "fw_rest", "machineType": "fdm_standard", "baseUrl": machine.base_url(),
            "buildVolume": {"x": 220, "y": 220, "z": 250}, "autoClear": true,
        });
        let printer = id_of(&shop.post("/api/printers", &printer).await?.expect(201)?)?;
        let path = format!("/api/printers/{printer}/status");
        let is_connected = |status: &Value| status["connection"] == "connected";
        shop.until("the connection to a printer", &path, CONNECTED_WITHIN, is_connected).await?;
    }
    world.story.tell("the shop is set up");
    Ok(sku)
}

/// Places the order, pays it, and waits until it is ready and everything is quiet. Returns the order.
pub async fn one_order(world: &World, shop: &Shop, sku: &str, plan: &Plan) -> Result<Value, SimError> {
    let order = json!({"lines": [{"skuId": sku, "quantity": plan.quantity}], "customerEmail": "buyer@example.org"});
    let order = shop.post("/api/orders", &order).await?.expect(201)?;
    let id = id_of(&order)?;
    world.story.tell(format!("a customer orders {} parts for {} cents", plan.quantity, order["totalCents"]));
    sleep(Duration::from_secs(plan.pays_after)).await;

    let total = order["totalCents"].as_i64().unwrap_or_default();
    let currency = order["currency"].as_str().unwrap_or_default();
    let seconds = world.clock.now().0 / 1000;
    let event = SimPayment::new(&id, total, currency).event(SimPaymentEvent::Completed, "evt_1", seconds);
    let signature = signature(PAYMENT_SECRET, seconds, event.as_bytes());
    shop.payment_event(&signature, event).await?.expect(200)?;
    world.story.tell("the customer pays");

    let prints = Duration::from_secs(plan.seconds) * plan.quantity;
    let is_ready = |order: &Value| order["status"] == "ready";
    let path = format!("/api/orders/{id}");
    shop.until("the order's last part", &path, prints + READY_WITHIN, is_ready).await?;
    world.story.tell("the order is ready");
    sleep(QUIET_WITHIN).await;
    shop.get(&path).await?.expect(200)
}
