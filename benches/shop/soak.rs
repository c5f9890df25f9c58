//! Soak test: checks that memory usage, file descriptors and the write-ahead log stay constant under steady load.
//!
//! Customers order and pay, simulated printers print (a print lasts a fraction of a second), and an endpoint receives
//! every event. The server is a separate process. Not run by default: `PRINTFLOOR_BENCH_SOAK_MINUTES` sets its duration
//! (30).

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use simulator::sink::Sink;
use simulator::{Fleet, FleetOptions};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::client::{Client, get, post_plain};
use super::ground::folder;
use super::remote::Remote;
use super::table::Row;

/// Number of printers of each type.
const PRINTERS: usize = 10;
/// Order rate, below the capacity of the printers, so that the queue does not grow.
const ORDERS_PER_SECOND: u64 = 3;
const SAMPLE: Duration = Duration::from_secs(10);
const DEFAULT_MINUTES: u64 = 30;
/// Maximum ratio of the mean in the last third of the samples to that in the middle third.
const AIM: f64 = 1.1;

/// Resources used by the server's process at one point in time.
struct Sample {
    /// Anonymous memory in bytes.
    memory: f64,
    /// Open file descriptors.
    handles: f64,
    /// Size of the database's write-ahead log in bytes.
    log: f64,
}

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let minutes = std::env::var("PRINTFLOOR_BENCH_SOAK_MINUTES").ok().and_then(|text| text.parse().ok());
    let minutes: u64 = minutes.unwrap_or(DEFAULT_MINUTES);
    let folder = folder();
    let app = Remote::start(folder.path(), None).await;
    let fleet = Fleet::start(FleetOptions { speed: 200.0, ..FleetOptions::of_each_for_text(PRINTERS) }).await.unwrap();
    let sink = Sink::start().await.unwrap();
    let sku = shop(&app, &fleet, &sink).await;

    let placed = json!({"lines": [{"skuId": sku, "quantity": 1}], "customerEmail": "buyer@example.org"}).to_string();
    let mut client = Client::connect(app.address).await;
    let mut tick = interval(Duration::from_micros(1_000_000 / ORDERS_PER_SECOND));
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let end = Instant::now() + Duration::from_secs(minutes * 60);
    let (mut samples, mut next, mut orders) = (Vec::new(), Instant::now() + SAMPLE, 0_u64);
    while Instant::now() < end {
        tick.tick().await;
        let order = client.ask(&post_plain("/api/orders", &app.key, &placed)).await;
        let order: Value = serde_json::from_slice(order).unwrap();
        let path = format!("/api/orders/{}/mark-paid", order["id"].as_str().unwrap());
        client.ask(&post_plain(&path, &app.key, r#"{"method": "cash"}"#)).await;
        orders += 1;
        if Instant::now() >= next {
            samples.push(sample(&app, folder.path()));
            next += SAMPLE;
        }
    }
    let done = client.ask(&get("/api/jobs?state=COMPLETED&limit=1", &app.key)).await;
    let done: Value = serde_json::from_slice(done).unwrap();
    app.end().await;
    fleet.shutdown();
    let mut rows = rows(&samples);
    let summary =
        format!("{orders} orders, {} parts made, {} webhooks", done["pagination"]["total"], sink.received().len());
    rows.push(Row::figure(format!("soak of {minutes} minutes at {ORDERS_PER_SECOND} orders/s"), summary));
    rows
}

/// Sets up printers that clear themselves, unlimited stock, one SKU and one endpoint. Returns the SKU's id.
async fn shop(app: &Remote, fleet: &Fleet, sink: &Sink) -> String {
    app.register(fleet).await;
    let endpoint =
        json!({"url": sink.url(), "events": ["order.created", "order.paid", "order.ready", "job.completed"]});
    app.make("/api/webhooks/endpoints", &endpoint).await;
    app.sku().await
}

fn sample(app: &Remote, folder: &Path) -> Sample {
    let log = std::fs::metadata(folder.join("data/printfloor.db-wal")).map_or(0, |file| file.len());
    Sample { memory: app.memory() as f64, handles: app.handles() as f64, log: log as f64 }
}

/// Compares the last third of the samples with the middle third; the first third is warm-up.
fn rows(samples: &[Sample]) -> Vec<Row> {
    let third = samples.len() / 3;
    let mean = |of: &[Sample], what: fn(&Sample) -> f64| of.iter().map(what).sum::<f64>() / of.len().max(1) as f64;
    let (middle, last) = (&samples[third..2 * third], &samples[2 * third..]);
    let row = |name: &str, unit: f64, word: &str, what: fn(&Sample) -> f64| {
        let (before, after) = (mean(middle, what), mean(last, what));
        let ratio = after / before.max(1.0);
        let mut row = Row::figure(format!("soak, last third: {name}"), format!("{:.1} {word}", after / unit));
        row.against = format!("third before: {:.1} {word}", before / unit);
        row.ratio = format!("{ratio:.2}");
        row.at_most(ratio, AIM, "times")
    };
    vec![
        row("memory", 1_048_576.0, "MiB", |sample| sample.memory),
        row("open files", 1.0, "", |sample| sample.handles),
        row("write-ahead log", 1_048_576.0, "MiB", |sample| sample.log),
    ]
}
