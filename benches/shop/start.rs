//! From start to the first answered request, with many active orders and printers.

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
const RUNS: usize = 5;

/// The part.
pub fn run() -> Vec<Row> {
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    child(&["fill", path, ORDERS, PRINTERS, "0"]);
    let mut took: Vec<f64> = (0..RUNS).map(|_| child(&["serving", path]).trim().parse().unwrap()).collect();
    let middle = percentile(&mut took, 0.5);
    let what = format!("start to the first answer, {ORDERS} active orders, {PRINTERS} printers, SQLite");
    let longest = took.last().copied().unwrap_or(f64::NAN);
    vec![Row::figure(what, format!("{middle:.2} s (longest of {RUNS}: {longest:.2} s)")).at_most(middle, 2.0, "s")]
}

/// In a process of its own: seconds from start to an answered request, the one that says that the server is ready.
pub async fn serving(folder: &Path) -> f64 {
    let config = config(folder, None);
    let began = Instant::now();
    let server = Server::start(config).await.unwrap();
    let mut client = Client::connect(server.address().unwrap()).await;
    client.ask(&get("/readyz", "")).await;
    let took = began.elapsed().as_secs_f64();
    // What was measured must be the shop that was meant.
    assert_eq!(server.shop().orders.all_resident().len().to_string(), ORDERS);
    assert_eq!(server.shop().printers.all_resident().len().to_string(), PRINTERS);
    server.stop(Duration::from_secs(10)).await;
    took
}
