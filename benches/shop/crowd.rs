//! Benchmark of API latency with many printers, half of which accept connections but never respond.
//!
//! The server has one core to itself; the printers and the callers share the other one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use simulator::{Fleet, FleetOptions, PrinterFaults, PrinterKind};
use tokio::sync::Mutex;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::client::{Client, get, post};
use super::ground::folder;
use super::load::percentile;
use super::remote::Remote;
use super::table::Row;
use super::{RAW, child_on};

/// Number of requests per second sent by [`Callers`].
pub const PER_SECOND: u64 = 50;
const SECONDS: u64 = 20;
/// Warm-up in seconds, while the server searches for printers; not counted.
const WARM: u64 = 5;
const CONNECTIONS: usize = 16;
const SERVER_CORE: &str = "0";
const CALLER_CORE: &str = "1";

/// Runs this part of the benchmark.
pub fn run() -> Vec<Row> {
    child_on(CALLER_CORE, &[RAW, "crowd-drive"]).lines().map(Row::read).collect()
}

/// Measures in a separate process, on a core other than the server's.
pub async fn drive() -> Vec<Row> {
    let alone = crowd(0).await;
    let many = crowd(200).await;
    let more = crowd(1000).await;
    let words = |[p50, p99, most]: [f64; 3]| format!("p99 {p99:.1} ms (median {p50:.1}, longest {most:.1})");
    let what = |printers: usize| {
        format!("API at {PER_SECOND}/s, mixed, {printers} printers of which {} never answer", printers / 2)
    };
    let mut rows =
        vec![Row::figure(what(200), words(many)).at_most(many[1], 50.0, "ms"), Row::figure(what(1000), words(more))];
    for (row, other) in rows.iter_mut().zip([many, more]) {
        row.against = format!("without printers: {}", words(alone));
        row.ratio = format!("{:.2}", other[1] / alone[1]);
    }
    rows
}

/// Returns the median, 99th percentile and maximum latency in milliseconds.
async fn crowd(printers: usize) -> [f64; 3] {
    let folder = folder();
    let counts = vec![(PrinterKind::FwRest, printers / 2), (PrinterKind::ServerRest, printers - printers / 2)];
    let options = FleetOptions { printers: counts, ..FleetOptions::default() };
    let fleet = Fleet::start(options).await.unwrap();
    let shop = Remote::start(folder.path(), Some(SERVER_CORE)).await;
    let mut ids = Vec::new();
    for (n, printer) in fleet.printers.iter().enumerate() {
        if n % 2 == 0 {
            printer.handle.set_faults(PrinterFaults { hang: true, ..PrinterFaults::default() });
        }
        let body = json!({
            "name": format!("Printer {n}"), "type": printer.kind.as_str(), "machineType": "fdm_standard",
            "baseUrl": printer.base_url, "apiKey": printer.api_key,
        });
        ids.push(shop.make("/api/printers", &body).await);
    }
    let mut took = Callers::of(&shop, ids.first()).await.ask(SECONDS).await;
    shop.end().await;
    fleet.shutdown();
    [0.5, 0.99, 1.0].map(|share| percentile(&mut took, share))
}

/// Callers that cycle through reading, listing, changing stock and placing orders.
pub struct Callers {
    /// Address of the server.
    pub address: SocketAddr,
    key: String,
    material: String,
    /// Body of the order that is placed repeatedly.
    placed: String,
    /// Path of the order to read.
    order: String,
    /// Path of the status of one printer, or of the list of printers.
    status: String,
    request_count: AtomicUsize,
}

impl Callers {
    /// Creates the callers for a shop; `printer` is the one whose status is read, `None` to read the list.
    pub async fn of(shop: &Remote, printer: Option<&String>) -> Self {
        let material = json!({"name": "PLA", "type": "filament", "quantity": 1_000_000, "reorderPoint": 0});
        let material = shop.make("/api/inventory/materials", &material).await;
        let sku = json!({
            "code": "BRACKET", "name": "Bracket", "materialId": material, "estimatedConsumption": 20,
            "machineType": "fdm_large", "priceCents": 1250,
        });
        let sku = shop.make("/api/skus", &sku).await;
        let placed = json!({"lines": [{"skuId": sku, "quantity": 1}]});
        let order = shop.make("/api/orders", &placed).await;
        let status = printer.map_or("/api/printers".to_owned(), |id| format!("/api/printers/{id}/status"));
        let (key, placed, request_count) = (shop.key.clone(), placed.to_string(), AtomicUsize::new(0));
        Self { address: shop.address, key, material, placed, order, status, request_count }
    }

    fn request(&self, n: usize) -> Vec<u8> {
        let key = &self.key;
        match n % 8 {
            0 => post("/api/orders", key, &format!("order-{n}"), &self.placed),
            1 => get("/api/orders?limit=50", key),
            2 => get("/api/printers?limit=50", key),
            3 => get(&self.status, key),
            4 => {
                let path = format!("/api/inventory/materials/{}/adjustments", self.material);
                post(&path, key, &format!("adjust-{n}"), r#"{"delta": 1, "reason": "delivery"}"#)
            }
            5 => get("/api/jobs?limit=50", key),
            6 => get("/api/inventory/materials", key),
            _ => get(&format!("/api/orders/{}", self.order), key),
        }
    }

    /// Sends requests for `seconds` seconds, after a warm-up that is not counted; returns the latencies in
    /// milliseconds. The loop is open: requests are scheduled at fixed times, regardless of earlier responses, and
    /// latency is measured from the scheduled time.
    pub async fn ask(&self, seconds: u64) -> Vec<f64> {
        let clients = Client::several(self.address, CONNECTIONS).await;
        let clients: Vec<_> = clients.into_iter().map(|client| Arc::new(Mutex::new(client))).collect();
        let mut tick = interval(Duration::from_micros(1_000_000 / PER_SECOND));
        tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let mut answers = Vec::new();
        for n in 0..(PER_SECOND * (WARM + seconds)) as usize {
            let due: Instant = tick.tick().await;
            let client = clients[n % CONNECTIONS].clone();
            // Each has keys of its own, also when they are asked again.
            let request = self.request(self.request_count.fetch_add(1, Ordering::Relaxed));
            answers.push(tokio::spawn(async move {
                client.lock().await.ask(&request).await;
                due.elapsed().as_secs_f64() * 1000.0
            }));
        }
        let mut took = Vec::new();
        for (n, answer) in answers.into_iter().enumerate() {
            let ms = answer.await.unwrap();
            if n >= (PER_SECOND * WARM) as usize {
                took.push(ms);
            }
        }
        took
    }
}
