//! Resources that a test needs to begin with, each created through the API in one line.

use printfloor::printers::PrinterType;
use serde_json::{Value, json};
use simulator::fleet::SimPrinter;

use super::Client;
use super::waiting::{until, until_seen};

fn id(body: &Value) -> String {
    body["id"].as_str().unwrap_or_else(|| panic!("no id: {body}")).to_owned()
}

impl Client {
    /// Creates a filament with this stock, in grams; returns its ID.
    pub async fn material(&self, name: &str, grams: f64) -> String {
        let body = json!({
            "name": name, "type": "filament", "color": "#000000", "brand": "Acme", "quantity": grams, "unit": "g",
            "reorderPoint": 0, "reorderQuantity": 1000,
        });
        id(&self.post("/api/inventory/materials", &body).await.expect(201))
    }

    /// Uploads G-code that prints for `seconds` and declares a consumption of `grams`; returns the file's ID.
    pub async fn gcode(&self, name: &str, seconds: u64, grams: f64) -> String {
        let code = simulator::gcode::gcode(name, seconds, grams, grams * 330.0);
        id(&self.upload(&format!("{name}.gcode"), code.into_bytes()).await.expect(201))
    }

    /// Uploads a sliced package with one plate that prints for `seconds` and declares a consumption of `grams`; returns
    /// the file's ID.
    pub async fn package(&self, name: &str, seconds: u64, grams: f64) -> String {
        let package = simulator::gcode::package(name, seconds, grams, grams * 330.0);
        id(&self.upload(&format!("{name}.gcode.3mf"), package).await.expect(201))
    }

    /// Creates a SKU for `fdm_standard` machines; returns its ID.
    pub async fn sku(&self, code: &str, material: &str, file: &str, cents: i64) -> String {
        let body = json!({
            "code": code, "name": code, "materialId": material, "estimatedConsumption": 10, "machineType": "fdm_standard",
            "priceCents": cents, "gcodeFileId": file,
        });
        id(&self.post("/api/skus", &body).await.expect(201))
    }

    /// Registers a simulated printer with automatic bed clearing and waits until it is connected; returns its ID.
    pub async fn printer(&self, sim: &SimPrinter) -> String {
        let mut body = json!({
            "name": format!("{} {}", sim.kind.as_str(), sim.serial), "type": sim.kind.as_str(),
            "machineType": "fdm_standard", "baseUrl": sim.base_url, "apiKey": sim.api_key,
            "buildVolume": {"x": 220, "y": 220, "z": 250}, "autoClear": true,
        });
        if PrinterType::of_word(sim.kind.as_str()).is_some_and(|declared| declared.needs_serial) {
            body["serial"] = sim.serial.as_str().into();
        }
        let printer = id(&self.post("/api/printers", &body).await.expect(201));
        self.connected(&printer).await;
        printer
    }

    /// Assigns a material to a spool once the printer has reported it; returns the printer.
    pub async fn bind_slot(&self, printer: &str, slot: usize, spool: &Value) -> Value {
        let path = format!("/api/printers/{printer}");
        until(&format!("the printer to report its slot {slot}"), || async {
            let view = self.get(&path).await.expect(200);
            (view["slots"][slot]["source"] == "printer").then_some(())
        })
        .await;
        self.post(&format!("{path}/slots/{slot}"), spool).await.expect(200)
    }

    /// Waits until the printer is connected.
    pub async fn connected(&self, printer: &str) {
        until("the printer to be connected", || async {
            let status = self.get(&format!("/api/printers/{printer}/status")).await.expect(200);
            (status["connection"] == "connected").then_some(())
        })
        .await;
    }

    /// Places an order for this quantity of a SKU; returns its ID.
    pub async fn order(&self, sku: &str, quantity: u32) -> String {
        let body = json!({"lines": [{"skuId": sku, "quantity": quantity}], "customerEmail": "buyer@example.org"});
        id(&self.post("/api/orders", &body).await.expect(201))
    }

    /// Places an order and marks it as paid; returns its ID.
    pub async fn paid_order(&self, sku: &str, quantity: u32) -> String {
        let order = self.order(sku, quantity).await;
        self.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
        order
    }

    /// Lists the jobs of an order.
    pub async fn jobs(&self, order: &str) -> Vec<Value> {
        let body = self.get(&format!("/api/jobs?orderId={order}&limit=200")).await.expect(200);
        body["jobs"].as_array().unwrap().clone()
    }

    /// Waits until an order has this status; returns the order.
    pub async fn order_is(&self, order: &str, status: &str) -> Value {
        until_seen(&format!("order {order} to be {status}"), || async {
            let body = self.get(&format!("/api/orders/{order}")).await.expect(200);
            if body["status"] == status {
                return Ok(body);
            }
            Err(json!({"order": body, "jobs": self.jobs(order).await}))
        })
        .await
    }

    /// Waits until an order with many jobs is ready, with the usual timeout for each job rather than for all of them.
    pub async fn all_made(&self, order: &str) -> Value {
        let completed = |order: &Value| {
            let lines = order["lines"].as_array().unwrap().iter();
            lines.filter_map(|line| line["jobs"]["completed"].as_u64()).sum::<u64>()
        };
        let mut before = 0;
        loop {
            let now = until_seen("another job to be completed", || async {
                let now = self.get(&format!("/api/orders/{order}")).await.expect(200);
                if now["status"] == "ready" || completed(&now) > before { Ok(now) } else { Err(now) }
            })
            .await;
            if now["status"] == "ready" {
                return now;
            }
            before = completed(&now);
        }
    }

    /// Waits until a job is in this state; returns the job.
    pub async fn job_is(&self, job: &str, state: &str) -> Value {
        until_seen(&format!("job {job} to be {state}"), || async {
            let body = self.get(&format!("/api/jobs/{job}")).await.expect(200);
            if body["state"] == state { Ok(body) } else { Err(body) }
        })
        .await
    }

    /// Waits until all claims on a material are settled, and returns it.
    pub async fn nothing_reserved(&self, material: &str) -> Value {
        let path = format!("/api/inventory/materials/{material}");
        until_seen("all claims to be settled", || async {
            let stock = self.get(&path).await.expect(200);
            if stock["reserved"] == 0 { Ok(stock) } else { Err(stock) }
        })
        .await
    }

    /// Returns the ledger's sums of the quantity and of the reserved amount.
    async fn ledger_sums(&self, material: &str) -> (f64, f64) {
        let path = format!("/api/inventory/materials/{material}/movements?limit=200");
        let (mut quantity, mut reserved, mut offset) = (0.0, 0.0, 0);
        loop {
            let page = self.get(&format!("{path}&offset={offset}")).await.expect(200);
            let movements = page["movements"].as_array().unwrap();
            quantity += movements.iter().map(|m| m["deltaQuantity"].as_f64().unwrap()).sum::<f64>();
            reserved += movements.iter().map(|m| m["deltaReserved"].as_f64().unwrap()).sum::<f64>();
            offset += movements.len();
            if page["pagination"]["hasMore"] != true {
                return (quantity, reserved);
            }
        }
    }

    /// Waits until all claims on a material are settled, and asserts that the ledger's sums equal the stock.
    pub async fn ledger_is_even(&self, material: &str) {
        // Bookings may still come in: nothing is booked while stock and ledger are read.
        let path = format!("/api/inventory/materials/{material}");
        let near = |a: f64, b: &Value| (a - b.as_f64().unwrap()).abs() < 0.000_5;
        let (stock, (quantity, reserved)) = until_seen("stock and ledger of one moment, nothing reserved", || async {
            let stock = self.get(&path).await.expect(200);
            let sums = self.ledger_sums(material).await;
            let after = self.get(&path).await.expect(200);
            let same =
                ["version", "updatedAt", "quantity", "reserved"].iter().all(|member| after[member] == stock[member]);
            if same && near(0.0, &stock["reserved"]) { Ok((stock, sums)) } else { Err(after) }
        })
        .await;
        assert!(near(quantity, &stock["quantity"]), "ledger {quantity}, stock {stock}");
        assert!(near(reserved, &stock["reserved"]), "ledger {reserved}, stock {stock}");
    }
}
