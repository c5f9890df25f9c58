//! Clients of the mixed load, each of which pauses between two requests.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::one_of;
use crate::client::{Client, delete, get, post, upload};
use crate::remote::Remote;

/// Pause of a client between two requests.
const PAUSE: Duration = Duration::from_millis(50);
/// Time for which a client follows the event stream before it reconnects.
const FOLLOWED: Duration = Duration::from_secs(5);
/// Interval between two printed orders, low enough for the printers to keep up.
const PRINT_EVERY: Duration = Duration::from_secs(1);
/// Lines of G-code in an upload: about 140 KB.
const UPLOAD_LINES: usize = 10_000;
/// Maximum number of attempts to get a response, the second one on a new connection.
const TRIES: usize = 2;

/// Server, and the resources that the clients use.
pub struct LoadedShop {
    /// Address of the server.
    pub address: SocketAddr,
    key: String,
    material: String,
    sku: String,
    /// Order to read.
    order: String,
    /// Printer whose status is read.
    printer: String,
}

impl LoadedShop {
    /// Creates the resources.
    pub async fn of(app: &Remote, printer: &str) -> Self {
        let sku = app.sku().await;
        let material = json!({"name": "PETG", "type": "filament", "quantity": 1_000_000, "reorderPoint": 0});
        let material = app.make("/api/inventory/materials", &material).await;
        let order: Value = serde_json::from_str(&one_of(&sku)).unwrap();
        let order = app.make("/api/orders", &order).await;
        Self { address: app.address, key: app.key.clone(), material, sku, order, printer: printer.to_owned() }
    }

    /// Returns one of several read requests, chosen by `n`.
    fn reading(&self, n: usize) -> Vec<u8> {
        let path = match n % 8 {
            0 => "/api/orders?limit=50".to_owned(),
            1 => "/api/jobs?limit=50".to_owned(),
            2 => "/api/printers?limit=50".to_owned(),
            3 => "/api/inventory/materials".to_owned(),
            4 => format!("/api/orders/{}", self.order),
            5 => format!("/api/printers/{}/status", self.printer),
            6 => format!("/api/inventory/materials/{}", self.material),
            _ => "/api/events?limit=50".to_owned(),
        };
        get(&path, &self.key)
    }

    /// Returns a request that changes the stock, with its own idempotency key.
    fn change(&self, key: &str) -> Vec<u8> {
        let path = format!("/api/inventory/materials/{}/adjustments", self.material);
        post(&path, &self.key, key, r#"{"delta": 1, "reason": "delivery"}"#)
    }

    /// Returns a request that reads or, in every eighth round, changes something; `number` must be unique.
    pub fn change_or_reading(&self, round: usize, number: usize) -> Vec<u8> {
        if round.is_multiple_of(8) { self.change(&format!("storm-{number}")) } else { self.reading(round) }
    }
}

/// Counts of the responses to all clients.
#[derive(Default)]
pub struct LoadTally {
    good: AtomicU64,
    refused: AtomicU64,
    errors: Mutex<BTreeMap<String, u64>>,
}

impl LoadTally {
    /// Returns the number of successful responses.
    pub fn good(&self) -> u64 {
        self.good.load(Ordering::Relaxed)
    }

    /// Returns the number of refusals with `Retry-After`.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Returns all other responses, each with its number of occurrences.
    pub fn errors(&self) -> BTreeMap<String, u64> {
        self.errors.lock().unwrap().clone()
    }

    fn add(&self, what: &str, status: u16, has_retry_after: bool) {
        let count = match status {
            200..=204 => &self.good,
            429 | 503 if has_retry_after => &self.refused,
            _ => return self.add_error(format!("{what}: {status}")),
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    fn add_error(&self, words: String) {
        *self.errors.lock().unwrap().entry(words).or_default() += 1;
    }
}

/// Client with one connection, which is reopened when the server has closed it.
struct LoadCaller {
    shop: Arc<LoadedShop>,
    tally: Arc<LoadTally>,
    client: Option<Client>,
}

impl LoadCaller {
    fn new(shop: Arc<LoadedShop>, tally: Arc<LoadTally>) -> Self {
        Self { shop, tally, client: None }
    }

    /// Sends a request and then pauses. Returns the body of a successful response.
    async fn ask(&mut self, what: &str, request: &[u8]) -> Option<Value> {
        let body = self.answer(what, request).await;
        sleep(PAUSE).await;
        body
    }

    async fn answer(&mut self, what: &str, request: &[u8]) -> Option<Value> {
        for _ in 0..TRIES {
            if self.client.is_none() {
                self.client = Client::try_connect(self.shop.address).await;
            }
            let Some(client) = &mut self.client else { continue };
            if let Some(answer) = client.answer(request).await {
                self.tally.add(what, answer.status, answer.has_retry_after);
                let is_good = answer.status < 300;
                return is_good.then(|| serde_json::from_slice(answer.body).unwrap_or_default());
            }
            self.client = None;
        }
        self.tally.add_error(format!("{what}: no answer"));
        None
    }

    /// Places an order; returns its ID.
    async fn order(&mut self, key: &str) -> Option<String> {
        let request = post("/api/orders", &self.shop.key, key, &one_of(&self.shop.sku));
        id(&self.ask("place an order", &request).await?)
    }

    /// Sends a request for an action on an order.
    async fn act(&mut self, order: &str, act: &str, body: &str) {
        let key = format!("{act}-{order}");
        let request = post(&format!("/api/orders/{order}/{act}"), &self.shop.key, &key, body);
        self.ask(act, &request).await;
    }
}

fn id(body: &Value) -> Option<String> {
    Some(body["id"].as_str()?.to_owned())
}

/// Reads lists and single resources until the end.
pub async fn read(shop: Arc<LoadedShop>, tally: Arc<LoadTally>, n: usize, end: Instant) {
    let mut caller = LoadCaller::new(shop, tally);
    let mut round = n;
    while Instant::now() < end {
        let request = caller.shop.reading(round);
        caller.ask(&format!("read {}", round % 8), &request).await;
        round += 1;
    }
}

/// Changes stock, and places and cancels orders, until the end.
pub async fn write(shop: Arc<LoadedShop>, tally: Arc<LoadTally>, n: usize, end: Instant) {
    let mut caller = LoadCaller::new(shop, tally);
    let mut round = 0;
    while Instant::now() < end {
        let change = caller.shop.change(&format!("change-{n}-{round}"));
        caller.ask("change stock", &change).await;
        if let Some(order) = caller.order(&format!("order-{n}-{round}")).await {
            caller.act(&order, "cancel", "{}").await;
        }
        round += 1;
    }
}

/// Uploads files with distinct contents, and deletes them, until the end.
pub async fn upload_and_delete(shop: Arc<LoadedShop>, tally: Arc<LoadTally>, n: usize, end: Instant) {
    let mut caller = LoadCaller::new(shop, tally);
    let mut round = 0;
    while Instant::now() < end {
        let code = format!(
            "; file {n}-{round}\n; estimated printing time (normal mode) = 1m\n; filament used [g] = 2.00\nG28\n{}",
            "G1 X10 Y10 E1\n".repeat(UPLOAD_LINES)
        );
        let request = upload(&caller.shop.key, &format!("part-{n}-{round}.gcode"), code.as_bytes());
        if let Some(file) = caller.ask("upload", &request).await.as_ref().and_then(id) {
            let request = delete(&format!("/api/files/{file}"), &caller.shop.key);
            caller.ask("delete a file", &request).await;
        }
        round += 1;
    }
}

/// Orders parts and pays for them, so that they are printed, until the end.
pub async fn order_prints(shop: Arc<LoadedShop>, tally: Arc<LoadTally>, end: Instant) {
    let mut caller = LoadCaller::new(shop, tally);
    let mut round = 0;
    while Instant::now() < end {
        let next = Instant::now() + PRINT_EVERY;
        if let Some(order) = caller.order(&format!("print-{round}")).await {
            caller.act(&order, "mark-paid", r#"{"method": "cash"}"#).await;
        }
        round += 1;
        sleep_until(next).await;
    }
}

/// Follows the event stream repeatedly, as long as another round fits in before the end.
pub async fn follow(shop: Arc<LoadedShop>, tally: Arc<LoadTally>, end: Instant) {
    while Instant::now() + FOLLOWED < end {
        match follow_once(&shop, Instant::now() + FOLLOWED).await {
            Some((status, has_retry_after)) => tally.add("stream", status, has_retry_after),
            None => tally.add_error("stream: it broke off".to_owned()),
        }
        sleep(PAUSE).await;
    }
}

/// Reads the stream until this time. Returns the status and whether the response has `Retry-After`; `None` if the
/// stream was interrupted.
async fn follow_once(shop: &LoadedShop, until: Instant) -> Option<(u16, bool)> {
    let mut stream = TcpStream::connect(shop.address).await.ok()?;
    stream.write_all(&get("/api/events/stream", &shop.key)).await.ok()?;
    let (mut head, mut bytes) = (Vec::new(), vec![0; 65_536]);
    loop {
        match timeout_at(until, stream.read(&mut bytes)).await {
            // It has no end of its own.
            Err(_) => break,
            Ok(Ok(read @ 1..)) if head.len() < bytes.len() => head.extend_from_slice(&bytes[..read]),
            Ok(Ok(1..)) => {}
            // A refusal ends the connection or its answer; a stream does neither.
            Ok(_) if !head.starts_with(b"HTTP/1.1 200") => break,
            Ok(_) => return None,
        }
        if head.len() > 12 && !head.starts_with(b"HTTP/1.1 200") {
            break;
        }
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let status = head.get(9..12)?.parse().ok()?;
    Some((status, head.contains("\r\nretry-after:")))
}
