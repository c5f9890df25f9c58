//! View of a floor's printers through the running server: places orders, acts and waits through the API.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use simulator::printer::PhysicalEvent;
use tokio::time::sleep;

use crate::adapter::REPORT_SLOTS;
use crate::error::SimError;
use crate::floor::{Floor, PRINT_GRAMS};
use crate::machine::OWN_PRINT;
use crate::oracles::demand;
use crate::setup::id_of;
use crate::shop::Shop;
use domain::job::AttemptState;

/// Timeout for waits, in virtual time.
const PATIENCE: Duration = Duration::from_secs(4 * 3600);
/// Interval at which a test polls a printer directly.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// Initial stock of the material, in grams.
const STOCK_GRAMS: f64 = 1_000.0;
/// Kinds of attention that make a printer unusable.
const UNUSABLE: [&str; 3] = ["unreachable", "wrong_key", "read_only"];

/// Floor with a running server.
pub struct Hall<'a> {
    floor: &'a Floor,
    shop: &'a Shop,
}

impl<'a> Hall<'a> {
    /// Creates the view of a floor through a server.
    pub fn new(floor: &'a Floor, shop: &'a Shop) -> Self {
        Self { floor, shop }
    }

    /// Sets up the shop of a floor. Returns the IDs of the printers, of the material and of the product.
    pub async fn set_up(&self) -> Result<(Vec<String>, String, String), SimError> {
        let material = json!({"name": "PLA black", "type": "filament", "quantity": STOCK_GRAMS, "unit": "g"});
        let material = id_of(&self.post("/api/inventory/materials", &material, 201).await?)?;
        let (name, contents) = self.floor.printable("part");
        let file = self.upload(&name, &contents).await?;
        let sku = self.product("PART", &material, &file).await?;
        let mut printers = Vec::new();
        for number in 0..self.floor.printer_count() {
            let (name, address) = self.floor.place(number);
            let mut body = json!({
                "name": name, "type": self.floor.declared.word, "machineType": "fdm_standard", "baseUrl": address,
                "buildVolume": {"x": 220, "y": 220, "z": 250}, "autoClear": true,
            });
            if self.floor.declared.needs_serial {
                body["serial"] = json!(format!("SIM{number:09}"));
            }
            let printer = id_of(&self.post("/api/printers", &body, 201).await?)?;
            let path = format!("/api/printers/{printer}/status");
            self.until("the connection to a printer", &path, |status| status["connection"] == "connected").await?;
            printers.push(printer);
        }
        Ok((printers, material, sku))
    }

    /// Reads a resource.
    pub async fn get(&self, path: &str) -> Result<Value, SimError> {
        self.shop.get(path).await?.expect(200)
    }

    /// Sends a POST that must return this status.
    pub async fn post(&self, path: &str, body: &Value, status: u16) -> Result<Value, SimError> {
        self.shop.post(path, body).await?.expect(status)
    }

    /// Changes a resource.
    pub async fn patch(&self, path: &str, body: &Value) -> Result<Value, SimError> {
        self.shop.request(Method::PATCH, path, body).await?.expect(200)
    }

    /// Uploads a file. Returns its ID.
    pub async fn upload(&self, name: &str, contents: &[u8]) -> Result<String, SimError> {
        id_of(&self.shop.upload(name, contents).await?.expect(201)?)
    }

    /// Creates a product whose parts take one print of a file each. Returns its ID.
    pub async fn product(&self, code: &str, material: &str, file: &str) -> Result<String, SimError> {
        let sku = json!({
            "code": code, "name": code, "materialId": material, "estimatedConsumption": PRINT_GRAMS,
            "machineType": "fdm_standard", "priceCents": 500, "gcodeFileId": file,
        });
        id_of(&self.post("/api/skus", &sku, 201).await?)
    }

    /// Places and pays for an order for this many parts of a product. Returns its ID.
    pub async fn order_of(&self, sku: &str, parts: u32) -> Result<String, SimError> {
        let body = json!({"lines": [{"skuId": sku, "quantity": parts}], "customerEmail": "buyer@example.org"});
        let order = id_of(&self.post("/api/orders", &body, 201).await?)?;
        self.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"}), 200).await?;
        Ok(order)
    }

    /// Places and pays for an order for this many parts. Returns its ID.
    pub async fn order(&self, parts: u32) -> Result<String, SimError> {
        self.order_of(&self.floor.sku, parts).await
    }

    /// Waits until an order has jobs; returns their IDs, oldest first.
    pub async fn jobs(&self, order: &str) -> Result<Vec<String>, SimError> {
        let has_jobs = |_: &Value| !self.floor.jobs_of(order).is_empty();
        self.until("jobs", &format!("/api/orders/{order}"), has_jobs).await?;
        Ok(self.floor.jobs_of(order))
    }

    /// Places and pays for an order for one part. Returns the IDs of the order and its job.
    pub async fn one(&self) -> Result<(String, String), SimError> {
        let order = self.order(1).await?;
        let job = self.jobs(&order).await?.remove(0);
        Ok((order, job))
    }

    /// Returns a job.
    pub async fn job(&self, job: &str) -> Result<Value, SimError> {
        self.get(&format!("/api/jobs/{job}")).await
    }

    /// Polls a resource until it meets a condition; returns the resource.
    pub async fn until(&self, what: &str, path: &str, is_so: impl Fn(&Value) -> bool) -> Result<Value, SimError> {
        self.shop.until(what, path, PATIENCE, is_so).await
    }

    /// Polls a job until it meets a condition; returns the job.
    pub async fn job_until(&self, what: &str, job: &str, is_so: impl Fn(&Value) -> bool) -> Result<Value, SimError> {
        self.until(what, &format!("/api/jobs/{job}"), is_so).await
    }

    /// Waits until a job is in this state; returns the job.
    pub async fn job_is(&self, job: &str, state: &str) -> Result<Value, SimError> {
        self.job_until(&format!("job {state}"), job, |job| job["state"] == state).await
    }

    /// Waits until the last attempt of a job is in this state; returns the job.
    pub async fn attempt_is(&self, job: &str, state: &str) -> Result<Value, SimError> {
        self.job_until(&format!("attempt {state}"), job, |job| attempt_states(job).last() == Some(&state)).await
    }

    /// Waits until a job's waiting reason contains this text; returns the job.
    pub async fn waits_for(&self, job: &str, words: &str) -> Result<Value, SimError> {
        self.job_until(words, job, |job| job["state"] == "SLICED" && has_words(&job["waitingReason"], words)).await
    }

    /// Waits until an order has this status; returns the order.
    pub async fn order_is(&self, order: &str, status: &str) -> Result<Value, SimError> {
        self.until(&format!("order {status}"), &format!("/api/orders/{order}"), |order| order["status"] == status).await
    }

    /// Returns the API path of a printer, extended by `rest`.
    pub fn path(&self, printer: usize, rest: &str) -> String {
        format!("/api/printers/{}{rest}", self.floor.printers[printer])
    }

    /// Returns the status of a printer.
    pub async fn status(&self, printer: usize) -> Result<Value, SimError> {
        self.get(&self.path(printer, "/status")).await
    }

    /// Polls a printer's status until it meets a condition; returns the status.
    pub async fn status_until(
        &self,
        what: &str,
        printer: usize,
        is_so: impl Fn(&Value) -> bool,
    ) -> Result<Value, SimError> {
        self.until(what, &self.path(printer, "/status"), is_so).await
    }

    /// Waits until a printer's status shows this connection, and the printer's attention agrees with it.
    pub async fn connection_is(&self, printer: usize, connection: &str) -> Result<(), SimError> {
        let is_usable = connection == "connected";
        let agrees = |status: &Value| UNUSABLE.iter().any(|word| calls_for(status, word)) != is_usable;
        let is_so = |status: &Value| status["connection"] == connection && agrees(status);
        self.status_until(&format!("connection {connection}"), printer, is_so).await.map(drop)
    }

    /// Waits until a printer has this attention, or no longer has it.
    pub async fn attention(&self, printer: usize, word: &str, is_there: bool) -> Result<(), SimError> {
        let is_so = |status: &Value| calls_for(status, word) == is_there;
        self.status_until(&format!("attention {word}: {is_there}"), printer, is_so).await.map(drop)
    }

    /// Clears the bed after a print that has not finished.
    pub async fn clear_bed(&self, printer: usize) -> Result<(), SimError> {
        self.attention(printer, "bed_not_cleared", true).await?;
        self.post(&self.path(printer, "/bed-cleared"), &json!({}), 200).await.map(drop)
    }

    /// Reports that an operator has looked after a printer, whether or not this was necessary.
    pub async fn clear_attention(&self, printer: usize) -> Result<(), SimError> {
        self.shop.post(&self.path(printer, "/clear-attention"), &json!({})).await.map(drop)
    }

    /// Waits until the server has polled the printer two more times.
    pub async fn looks(&self, printer: usize) -> Result<(), SimError> {
        for _ in 0..2 {
            let before = self.status(printer).await?["updatedAt"].clone();
            self.status_until("another look", printer, |status| status["updatedAt"] != before).await?;
        }
        Ok(())
    }

    /// Waits until a printer has no job assigned.
    pub async fn free(&self, printer: usize) -> Result<(), SimError> {
        self.status_until("no job in hand", printer, |status| status["jobId"].is_null()).await.map(drop)
    }

    /// Advances the virtual time.
    pub async fn pass(&self, time: Duration) {
        sleep(time).await;
    }

    /// Waits until a condition holds for the printers themselves.
    pub async fn physically(&self, what: &str, is_so: impl Fn() -> bool) -> Result<(), SimError> {
        let mut waited = Duration::ZERO;
        while !is_so() {
            if waited >= PATIENCE {
                let last = self.floor.starts().join(", ");
                return Err(SimError::Late { what: what.to_owned(), seconds: waited.as_secs(), last });
            }
            sleep(LOOK_INTERVAL).await;
            waited += LOOK_INTERVAL;
        }
        Ok(())
    }

    /// Waits until a printer has received a start that it executes later or never.
    pub async fn start_arrived(&self, printer: usize) -> Result<(), SimError> {
        let has_arrived = || self.floor.with(printer, |machine| machine.withheld_starts() > 0);
        self.physically("the arrival of a start", has_arrived).await
    }

    /// Power-cycles a printer, and waits until it is connected again.
    pub async fn power_cycle(&self, printer: usize) -> Result<(), SimError> {
        // The server notices the silence before the printer boots.
        self.floor.faults(printer, |faults| faults.disconnect = true);
        self.connection_is(printer, "unreachable").await?;
        self.floor.with(printer, |machine| machine.reboot(false));
        self.floor.faults(printer, |faults| faults.disconnect = false);
        self.connection_is(printer, "connected").await
    }

    /// Loads a spool into a slot of a printer, after the printer has reported the slot if its type reports slots.
    pub async fn load(&self, printer: usize, slot: usize, spool: &Value) -> Result<(), SimError> {
        let has_gates = self.floor.with(printer, |machine| !machine.gates().is_empty());
        if has_gates && REPORT_SLOTS.contains(&self.floor.declared.word) {
            let is_reported = |printer: &Value| printer["slots"][slot]["vendorCode"].is_string();
            self.until("the report on a slot", &self.path(printer, ""), is_reported).await?;
        }
        self.post(&self.path(printer, &format!("/slots/{slot}")), spool, 200).await.map(drop)
    }

    /// Waits until nothing is reserved, and returns the consumed material, in grams.
    pub async fn used(&self) -> Result<f64, SimError> {
        let path = format!("/api/inventory/materials/{}", self.floor.material);
        let stock = self.until("the last claim to be settled", &path, |stock| stock["reserved"] == 0).await?;
        Ok(STOCK_GRAMS - stock["quantity"].as_f64().unwrap_or_default())
    }

    /// Checks the rules that hold after every test: no file was started twice, nothing is reserved, and the number of
    /// finished prints equals the number that the shop counts and has published.
    pub async fn truth(&self) -> Result<(), SimError> {
        self.used().await?;
        let starts = self.floor.starts();
        let files: BTreeSet<&String> = starts.iter().collect();
        demand(files.len() == starts.len(), || format!("started more than once: {starts:?}"))?;
        let is_ours = |name: &str| !name.starts_with(OWN_PRINT);
        let logs = (0..self.floor.printer_count()).flat_map(|printer| self.floor.log(printer));
        let finished =
            logs.filter(|what| matches!(what, PhysicalEvent::Finished { filename } if is_ours(filename))).count();
        let attempts = self.floor.attempts();
        let counted = attempts.iter().filter(|attempt| attempt.state == AttemptState::Finished).count();
        let published = self.floor.published("job.completed");
        let words = || format!("{finished} prints, {published} events of completed jobs: {attempts:?}");
        demand(counted == finished && published == finished, words)
    }
}

/// Returns the states of a job's attempts, oldest first.
pub fn attempt_states(job: &Value) -> Vec<&str> {
    let attempts = job["attempts"].as_array().map(Vec::as_slice).unwrap_or_default();
    attempts.iter().filter_map(|attempt| attempt["state"].as_str()).collect()
}

/// Returns whether a text has these words.
pub fn has_words(text: &Value, words: &str) -> bool {
    text.as_str().is_some_and(|text| text.contains(words))
}

/// Returns whether a printer's status shows this attention.
pub fn calls_for(status: &Value, word: &str) -> bool {
    status["attention"].as_array().is_some_and(|all| all.iter().any(|one| one == word))
}
