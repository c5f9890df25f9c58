//! Benchmark of the time from start to the first response: with many active orders and printers, and with many
//! completed orders, which should cost nothing.

use std::path::Path;
use std::time::{Duration, Instant};

use printfloor::server::Server;

use super::child;
use super::client::{Client, get};
use super::ground::{config, folder};
use super::load::percentile;
use super::table::Row;

const ORDERS: &str = "10000";
const PRINTERS: &str = "500";
const FINISHED: &str = "100000";
const RUNS: usize = 5;

/// Runs this part of the benchmark.
pub fn run() -> Vec<Row> {
    let [start, memory] = with_finished();
    vec![with_active(), start, memory]
}

fn with_active() -> Row {
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    child(&["fill", path, ORDERS, PRINTERS, "0"]);
    let what = format!("start to the first answer, {ORDERS} active orders, {PRINTERS} printers, SQLite");
    started(what, path, [ORDERS, PRINTERS]).1
}

/// Measures start time and memory usage with completed orders, each compared with an empty shop.
fn with_finished() -> [Row; 2] {
    let (empty, full) = (folder(), folder());
    let [none, all] = [(&empty, "0"), (&full, FINISHED)].map(|(folder, orders)| {
        let path = folder.path().to_str().unwrap();
        child(&["finish", path, orders]);
        let what = format!("start to the first answer, {orders} orders that are over, SQLite");
        let (seconds, row) = started(what, path, ["0", "0"]);
        let bytes: f64 = child(&["resident", path]).trim().parse().unwrap();
        (seconds, row, bytes / 1_048_576.0)
    });
    let more = all.2 - none.2;
    let what = format!("memory after a start with {FINISHED} orders that are over");
    let memory = Row::figure(what, format!("{:.1} MiB; {:.1} MiB without any", all.2, none.2));
    let (none, start) = (none.0, all.1);
    [
        Row { measured: format!("{}; {none:.2} s without any", start.measured), ..start },
        memory.at_most(more, 16.0, "MiB more"),
    ]
}

/// Starts the server for this folder several times; returns the median in seconds, and its row.
fn started(what: String, path: &str, [orders, printers]: [&str; 2]) -> (f64, Row) {
    let serving = |_| child(&["serving", path, orders, printers]).trim().parse().unwrap();
    let mut took: Vec<f64> = (0..RUNS).map(serving).collect();
    let middle = percentile(&mut took, 0.5);
    let longest = took.last().copied().unwrap_or(f64::NAN);
    let measured = format!("{middle:.2} s (longest of {RUNS}: {longest:.2} s)");
    (middle, Row::figure(what, measured).at_most(middle, 2.0, "s"))
}

/// Measures the seconds from start to the response that reports the server as ready; runs in a separate process.
pub async fn serving(folder: &Path, [orders, printers]: [usize; 2]) -> f64 {
    let config = config(folder, None);
    let began = Instant::now();
    let server = Server::start(config).await.unwrap();
    let mut client = Client::connect(server.address().unwrap()).await;
    client.ask(&get("/readyz", "")).await;
    let took = began.elapsed().as_secs_f64();
    // What was measured must be the shop that was meant.
    assert_eq!(server.shop().orders.all_resident().len(), orders);
    assert_eq!(server.shop().printers.all_resident().len(), printers);
    server.stop(Duration::from_secs(10)).await;
    took
}
