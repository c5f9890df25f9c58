//! Benchmark of the printers' idle time between two parts, according to the clocks of the simulated printers.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde_json::{Value, json};
use simulator::printer::PhysicalEvent;
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::client::{Client, get, patch, post_plain};
use super::ground::folder;
use super::load::percentile;
use super::remote::Remote;
use super::table::Row;
use super::waiting::patiently;
use super::webhook::now;

/// Number of printers of each type.
const PRINTERS: usize = 50;
/// Number of parts that each printer prints in succession.
const ROUNDS: usize = 4;
/// Speed factor at which a print of a minute takes a second.
const SPEED: f64 = 60.0;
/// Maximum time from the end of a print to the start of the next, without the upload, in seconds at the 99th
/// percentile.
const GAP_AIM: f64 = 1.0;
/// Time for which printers of a type receive no requests after an upload, while they move the file into place, in
/// seconds. It counts as part of the upload.
const LEFT_ALONE: [(PrinterKind, f64); 1] = [(PrinterKind::Sdcp, 1.0)];
/// Maximum time until all printers that became free at once have their next file, in seconds.
const FREED_AIM: f64 = 5.0;

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let folder = folder();
    let fleet = Fleet::start(FleetOptions { speed: SPEED, ..FleetOptions::of_each_for_text(PRINTERS) }).await.unwrap();
    let app = Remote::start(folder.path(), None).await;
    let printers = app.register(&fleet).await;
    let sku = app.sku().await;
    let mut rows = one_after_the_other(&app, &fleet, &sku).await;
    rows.push(freed_at_once(&app, &fleet, &printers, &sku).await);
    app.end().await;
    fleet.shutdown();
    rows
}

/// Measures printers that clear their own beds and take the next part immediately: all of them together, then each type
/// with its uploads.
async fn one_after_the_other(app: &Remote, fleet: &Fleet, sku: &str) -> Vec<Row> {
    let count = fleet.printers.len() * ROUNDS;
    order(app, sku, count).await;
    finished(fleet, count).await;
    let mut gaps: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut besides = Vec::new();
    for printer in &fleet.printers {
        let of_type = gaps.entry(printer.kind.as_str()).or_default();
        let alone = LEFT_ALONE.iter().find(|(kind, _)| *kind == printer.kind).map_or(0.0, |(_, seconds)| *seconds);
        let mut free = None;
        for entry in printer.handle.log() {
            match entry.what {
                PhysicalEvent::Finished { .. } => free = Some(entry.at),
                PhysicalEvent::Started { .. } => {
                    let gap = free.take().map(|free| entry.at.duration_since(free).as_secs_f64());
                    of_type.extend(gap);
                    besides.extend(gap.map(|gap| gap - alone));
                }
                _ => {}
            }
        }
    }
    let figures = |gaps: &mut Vec<f64>| [0.5, 0.99, 1.0].map(|share| percentile(gaps, share));
    let words = |[p50, p99, most]: [f64; 3]| format!("p99 {p99:.2} s (median {p50:.2}, longest {most:.2})");
    let (printers, of_all) = (fleet.printers.len(), besides.len());
    let all = figures(&mut besides);
    let what = format!("{printers} printers: end of a print to start of the next besides the upload, of {of_all}");
    let mut rows = vec![Row::figure(what, words(all)).at_most(all[1], GAP_AIM, "s")];
    rows.extend(gaps.into_iter().map(|(kind, mut gaps)| {
        let what = format!("of these of type {kind}, with the upload, of {}", gaps.len());
        Row::figure(what, words(figures(&mut gaps)))
    }));
    rows
}

/// Measures clearing all beds at once, with a job waiting for each printer.
async fn freed_at_once(app: &Remote, fleet: &Fleet, printers: &[String], sku: &str) -> Row {
    let mut client = Client::connect(app.address).await;
    for id in printers {
        client.ask(&patch(&format!("/api/printers/{id}"), &app.key, r#"{"autoClear": false}"#)).await;
    }
    let before = total(fleet);
    order(app, sku, printers.len()).await;
    finished(fleet, before + printers.len()).await;
    for id in printers {
        let ask = get(&format!("/api/printers/{id}/status"), &app.key);
        patiently(async || {
            let status: Value = serde_json::from_slice(Client::connect(app.address).await.ask(&ask).await).unwrap();
            status["attention"].as_array().unwrap().iter().any(|word| word == "bed_not_cleared")
        })
        .await;
    }
    order(app, sku, printers.len()).await;
    let began = now();
    let cleared = printers.iter().map(|id| async move {
        let path = format!("/api/printers/{id}/bed-cleared");
        Client::connect(app.address).await.ask(&post_plain(&path, &app.key, "{}")).await;
    });
    futures::future::join_all(cleared).await;
    let mut got: HashMap<usize, f64> = HashMap::new();
    patiently(async || {
        for (n, printer) in fleet.printers.iter().enumerate() {
            let uploaded =
                |at: Timestamp, what: &PhysicalEvent| at >= began && matches!(what, PhysicalEvent::Uploaded { .. });
            let log = printer.handle.log();
            if let Some(entry) = log.iter().find(|entry| uploaded(entry.at, &entry.what)) {
                got.insert(n, entry.at.duration_since(began).as_secs_f64());
            }
        }
        got.len() == printers.len()
    })
    .await;
    let mut took: Vec<f64> = got.into_values().collect();
    let [p50, most] = [0.5, 1.0].map(|share| percentile(&mut took, share));
    let what = format!("{} printers freed at once: until each has its next file", printers.len());
    Row::figure(what, format!("longest {most:.2} s (median {p50:.2})")).at_most(most, FREED_AIM, "s")
}

/// Places a paid order of this quantity.
pub async fn order(app: &Remote, sku: &str, quantity: usize) {
    let id = app.make("/api/orders", &json!({"lines": [{"skuId": sku, "quantity": quantity}]})).await;
    let path = format!("/api/orders/{id}/mark-paid");
    Client::connect(app.address).await.ask(&post_plain(&path, &app.key, r#"{"method": "cash"}"#)).await;
}

/// Returns the number of these events at all printers so far.
pub fn events(fleet: &Fleet, which: fn(&PhysicalEvent) -> bool) -> usize {
    fleet.printers.iter().map(|printer| printer.handle.log().iter().filter(|entry| which(&entry.what)).count()).sum()
}

/// Returns the number of completed prints.
fn total(fleet: &Fleet) -> usize {
    events(fleet, |what| matches!(what, PhysicalEvent::Finished { .. }))
}

/// Waits until this number of prints has completed since the fleet started.
pub async fn finished(fleet: &Fleet, count: usize) {
    patiently(async || total(fleet) >= count).await;
}
