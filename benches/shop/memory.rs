//! Benchmark of memory usage per idle resource: anonymous memory of a server that has many of them, minus that of a
//! server with none.

use std::path::Path;
use std::time::Duration;

use printfloor::server::Server;
use serde_json::Value;
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::child;
use super::client::{Client, get};
use super::ground::{config, folder};
use super::remote::{Remote, anonymous};
use super::table::Row;

/// Number of printers that are connected at once.
const CONNECTED: usize = 200;
/// Settling time, long enough for every unreachable printer to have been contacted once, and for start-up work to be
/// complete.
const SETTLED: Duration = Duration::from_secs(5);

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let none = measured([0, 0, 0]);
    let kinds = [
        ("order (paid, one job waiting, its stock held)", 10_000, [10_000, 0, 0]),
        ("printer (unreachable, looked for again and again)", 500, [0, 500, 0]),
        ("endpoint", 1_000, [0, 0, 1_000]),
    ];
    let mut rows =
        vec![Row::figure("memory of a server with nothing", format!("{:.1} MiB", none as f64 / 1_048_576.0))];
    for (name, count, numbers) in kinds {
        let each = measured(numbers).saturating_sub(none) / count;
        rows.push(Row::figure(format!("memory per idle {name}, of {count}"), format!("{each} bytes")));
    }
    rows.push(connected().await);
    rows
}

/// Measures the memory usage per printer with an open connection, with equal numbers of each type.
async fn connected() -> Row {
    let folder = folder();
    let fleet = Fleet::start(FleetOptions::of_each(CONNECTED / PrinterKind::ALL.len())).await.unwrap();
    let app = Remote::start(folder.path(), None).await;
    tokio::time::sleep(SETTLED).await;
    let before = app.memory();
    let printers = app.register(&fleet).await;
    let mut client = Client::connect(app.address).await;
    for id in &printers {
        let ask = get(&format!("/api/printers/{id}/status"), &app.key);
        loop {
            let status: Value = serde_json::from_slice(client.ask(&ask).await).unwrap();
            if status["connection"] == "connected" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    tokio::time::sleep(SETTLED * 4).await;
    let each = app.memory().saturating_sub(before) / printers.len() as u64;
    app.end().await;
    fleet.shutdown();
    Row::figure(format!("memory per connected printer, of {}", printers.len()), format!("{each} bytes")).at_most(
        each as f64,
        40_000.0,
        "bytes",
    )
}

/// Measures the memory usage of a server with this number of orders, printers and endpoints, in bytes. The server is
/// freshly started, because the process that fills the shop retains memory.
fn measured(numbers: [u64; 3]) -> u64 {
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    let numbers = numbers.map(|number| number.to_string());
    child(&["fill", path, &numbers[0], &numbers[1], &numbers[2]]);
    child(&["resident", path]).trim().parse().unwrap()
}

/// Returns the anonymous memory of the server for this folder, in bytes; runs in a separate process.
pub async fn resident(folder: &Path) -> u64 {
    let server = Server::start(config(folder, None)).await.unwrap();
    tokio::time::sleep(SETTLED).await;
    let bytes = anonymous("self");
    server.stop(Duration::from_secs(10)).await;
    bytes
}
