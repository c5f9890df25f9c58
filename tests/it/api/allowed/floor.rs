//! Operations of operators and admins on orders, their jobs, and the printer that prints them.

use serde_json::{Value, json};
use simulator::fleet::SimPrinter;
use simulator::printer::{LogEntry, PhysicalEvent};

use super::super::id;
use super::Walk;
use crate::support::until;

/// Simulation speed at which a print does not finish until it is accelerated or cancelled.
const SLOW: f64 = 1.0;
/// Simulation speed at which a part is printed almost immediately.
const FAST: f64 = 2_000.0;

impl Walk {
    async fn job_of(&self, order: &str) -> String {
        id(&self.client.jobs(order).await[0])
    }

    async fn paid(&self, sku: &str) -> (String, String) {
        let new = json!({"lines": [{"skuId": sku, "quantity": 1}], "customerEmail": "buyer@example.org"});
        let order = id(&self.client.post("/api/orders", &new).await.expect(201));
        self.ok("POST /api/orders/{id}/mark-paid", &order, json!({"method": "cash"})).await;
        let job = self.job_of(&order).await;
        (order, job)
    }

    async fn attention(&self, printer: &str, word: &str, is: bool) {
        until(&format!("attention {word}: {is}"), || async {
            let status = self.client.get(&format!("/api/printers/{printer}/status")).await.expect(200);
            (status["attention"].as_array()?.iter().any(|one| one == word) == is).then_some(())
        })
        .await;
    }

    /// Runs all operations on the shop floor with a printer that receives every order placed here.
    pub(super) async fn floor(&self, n: usize, sim: &SimPrinter) {
        sim.handle.set_speed(SLOW);
        let new = json!({
            "name": format!("Floor {n}"), "type": sim.kind.as_str(), "machineType": "fdm_large",
            "baseUrl": sim.base_url, "apiKey": sim.api_key, "buildVolume": {"x": 220, "y": 220, "z": 250},
        });
        let printer = id(&self.client.post("/api/printers", &new).await.expect(201));
        self.client.connected(&printer).await;
        let material = self.client.material(&format!("Floor {n}"), 1_000.0).await;
        let file = self.client.gcode(&format!("floor {n}"), 600, 10.0).await;
        let new = json!({
            "code": format!("FLOOR-{n}"), "name": "Floor", "materialId": material, "estimatedConsumption": 10,
            "machineType": "fdm_large", "priceCents": 500, "gcodeFileId": file,
        });
        let sku = id(&self.client.post("/api/skus", &new).await.expect(201));

        self.jobs_and_orders(&sku, &printer, sim).await;
        self.by_hand(&printer, &file, sim).await;
        self.waiting(&sku, &material).await;
        // What was released before may still be on its way to it.
        until("the printer to be deleted", || async {
            (self.client.delete(&format!("/api/printers/{printer}")).await.status == 204).then_some(())
        })
        .await;
    }

    /// Takes an order from its payment to its shipment, with every operation on its job along the way.
    async fn jobs_and_orders(&self, sku: &str, printer: &str, sim: &SimPrinter) {
        let (order, job) = self.paid(sku).await;
        self.ok("PATCH /api/orders/{id}", &order, json!({"notes": "soon"})).await;
        self.ok("PATCH /api/jobs/{id}", &job, json!({"priority": 9})).await;
        self.client.job_is(&job, "PRINTING").await;
        for of in ["jobs", "printers"] {
            let subject = if of == "jobs" { &job } else { printer };
            self.ok(&format!("POST /api/{of}/{{id}}/pause"), subject, json!({})).await;
            self.client.job_is(&job, "PAUSED").await;
            self.ok(&format!("POST /api/{of}/{{id}}/resume"), subject, json!({})).await;
            self.client.job_is(&job, "PRINTING").await;
        }
        self.ok("POST /api/printers/{id}/gcode", printer, json!({"commands": ["M104 S200"], "force": true})).await;
        self.ok("POST /api/printers/{id}/cancel", printer, json!({})).await;
        self.client.job_is(&job, "FAILED").await;
        self.attention(printer, "bed_not_cleared", true).await;
        self.ok("POST /api/printers/{id}/bed-cleared", printer, json!({})).await;
        self.ok("POST /api/jobs/{id}/retry", &job, json!({})).await;
        self.client.job_is(&job, "PRINTING").await;
        sim.handle.set_speed(FAST);
        self.client.order_is(&order, "ready").await;
        self.ok("POST /api/jobs/{id}/sign-off", &job, json!({"goodCount": 1})).await;
        let shipment = json!({"carrier": "DHL", "trackingNumber": "1", "estimatedDelivery": "2030-01-01"});
        self.ok("POST /api/orders/{id}/ship", &order, shipment).await;
        self.get("GET /api/orders/{id}/shipments/{number}/packing-list", &order).await;

        // Of the next one the printer is lost, and a person says what became of it.
        sim.handle.set_speed(SLOW);
        self.attention(printer, "bed_not_cleared", true).await;
        self.ok("POST /api/printers/{id}/bed-cleared", printer, json!({})).await;
        let (order, job) = self.paid(sku).await;
        self.client.job_is(&job, "PRINTING").await;
        sim.handle.update_faults(|faults| faults.disconnect = true);
        self.attention(printer, "unreachable", true).await;
        self.ok("POST /api/jobs/{id}/resolve", &job, json!({"outcome": "failed"})).await;
        self.ok("POST /api/jobs/{id}/cancel", &job, json!({})).await;
        sim.handle.update_faults(|faults| faults.disconnect = false);
        self.attention(printer, "unreachable", false).await;
        self.ok("POST /api/orders/{id}/cancel", &order, json!({})).await;
        let payment = self.client.get(&format!("/api/orders/{order}")).await.expect(200)["payments"][0]["id"].clone();
        self.ok("POST /api/orders/{id}/refund", &order, json!({"paymentId": payment})).await;
    }

    /// Calls the operations of a printer without a job.
    async fn by_hand(&self, printer: &str, file: &str, sim: &SimPrinter) {
        sim.handle.set_speed(FAST);
        until("what still prints there to be over, and known to be", || async {
            let idle = sim.handle.with(|machine| machine.job().is_none());
            let status = self.client.get(&format!("/api/printers/{printer}/status")).await.expect(200);
            (idle && status["jobId"].is_null() && status["state"] == "idle").then_some(())
        })
        .await;
        self.attention(printer, "bed_not_cleared", true).await;
        self.ok("POST /api/printers/{id}/bed-cleared", printer, json!({})).await;
        let put = self.ok("POST /api/printers/{id}/files", printer, json!({"fileId": file})).await;
        let name = put["filename"].as_str().unwrap().to_owned();
        self.ok(&format!("DELETE /api/printers/{{id}}/files/{name}"), printer, Value::Null).await;
        self.ok("POST /api/printers/{id}/print", printer, json!({"fileId": file})).await;
        until("the manual print to be over", || async {
            let finished =
                |line: &LogEntry| matches!(&line.what, PhysicalEvent::Finished { filename } if filename.contains("floor"));
            let finished = sim.handle.log().iter().any(finished);
            let status = self.client.get(&format!("/api/printers/{printer}/status")).await.expect(200);
            (finished && status["state"] == "idle").then_some(())
        })
        .await;
        let path = format!("/api/printers/{printer}/restart-firmware");
        until("the print to be known as over", || async {
            (self.client.post(&path, &json!({})).await.status == 200).then_some(())
        })
        .await;
        self.done.lock().unwrap().insert("POST /api/printers/{id}/restart-firmware".to_owned());
        self.ok("POST /api/printers/{id}/clear-attention", printer, json!({})).await;
    }

    /// Calls the operations on orders that wait for a person's decision.
    async fn waiting(&self, sku: &str, material: &str) {
        let free = json!({"priceCents": 0});
        self.client.patch(&format!("/api/skus/{sku}"), &free).await.expect(200);
        let new = json!({"lines": [{"skuId": sku, "quantity": 1}], "customerEmail": "buyer@example.org"});
        let order = id(&self.client.post("/api/orders", &new).await.expect(201));
        let low = json!({"reorderPoint": 10_000});
        self.client.patch(&format!("/api/inventory/materials/{material}"), &low).await.expect(200);
        self.ok("POST /api/orders/{id}/confirm", &order, json!({})).await;
        let job = self.job_of(&order).await;
        self.client.job_is(&job, "awaiting_manual_review").await;
        self.ok("POST /api/jobs/{id}/release", &job, json!({})).await;
        self.ok("POST /api/orders/{id}/cancel", &order, json!({"force": true})).await;
    }
}
