//! Benchmark with a thousand printers of all types, half of them unreachable: API latency, restart time, the cost of
//! monitoring, and the time until returning printers are connected.
//!
//! Server, printers and callers are one process each and share all cores.

use std::time::Duration;

use serde_json::json;
use simulator::PrinterKind;
use tokio::time::{Instant, sleep};

use super::client::{Client, get};
use super::crowd::{Callers, PER_SECOND};
use super::ground::folder;
use super::how_many;
use super::load::percentile;
use super::remote::Remote;
use super::simulated::Simulated;
use super::table::Row;

/// Number of printers, unless `PRINTFLOOR_BENCH_PRINTERS` is set.
const PRINTERS: usize = 1_000;
/// Duration of each measurement in seconds, unless `PRINTFLOOR_BENCH_SECONDS` is set.
const SECONDS: usize = 60;
const CONNECTED_WITHIN: Duration = Duration::from_secs(300);
/// Maximum time until a starting server responds, in seconds.
const START_AIM: f64 = 2.0;
const API_AIM_MS: f64 = 50.0;
/// Maximum time until a returning printer is connected, in seconds.
const RETURN_AIM: f64 = 60.0;

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let of_each = how_many("PRINTFLOOR_BENCH_PRINTERS", PRINTERS).div_ceil(PrinterKind::ALL.len());
    let seconds = how_many("PRINTFLOOR_BENCH_SECONDS", SECONDS) as u64;
    let folder = folder();
    let fleet = Simulated::start(of_each).await;
    let app = Remote::start(folder.path(), None).await;
    let ids = app.register_all(fleet.printers.iter().map(|printer| printer.line.clone())).await;
    app.until_connected(ids.len(), CONNECTED_WITHIN).await;
    let mut callers = Callers::of(&app, ids.first()).await;
    app.end().await;

    // Of the dead, every other hangs and the others cut every connection. One of each type stays alive in every ten.
    let dead: Vec<_> =
        fleet.printers.iter().enumerate().filter(|(n, _)| (n / PrinterKind::ALL.len()) % 2 == 1).collect();
    for (n, printer) in &dead {
        let fault = if n % 2 == 0 { "hang" } else { "disconnect" };
        printer.faults(&json!({ fault: true })).await;
    }
    let began = Instant::now();
    let app = Remote::start(folder.path(), None).await;
    let ready = get("/readyz", "");
    Client::connect(app.address).await.ask(&ready).await;
    let started = began.elapsed().as_secs_f64();
    callers.address = app.address;
    app.until_connected(ids.len() - dead.len(), CONNECTED_WITHIN).await;

    let (requests, cpu, watched) = (fleet.requests().await, app.cpu_seconds(), Instant::now());
    sleep(Duration::from_secs(seconds)).await;
    let (cpu, requests) = (app.cpu_seconds() - cpu, fleet.requests().await - requests);
    let minutes = watched.elapsed().as_secs_f64() / 60.0;
    let mut took = callers.ask(seconds).await;
    let [p50, p99, most] = [0.5, 0.99, 1.0].map(|share| percentile(&mut took, share));

    let mut back = returns(&app, &fleet, &dead.iter().map(|(n, _)| *n).collect::<Vec<_>>(), ids.len()).await;
    let [middle, last] = [0.5, 1.0].map(|share| percentile(&mut back, share));
    app.end().await;
    let (all, half) = (ids.len(), dead.len());
    let alive = (all - half) as f64;
    let of = format!("{all} printers of {} types, {half} of them dead", PrinterKind::ALL.len());
    vec![
        Row::figure(format!("{of}: start to serving"), format!("{started:.2} s")).at_most(started, START_AIM, "s"),
        Row::figure(
            format!("{of}: API at {PER_SECOND}/s, mixed"),
            format!("p99 {p99:.1} ms (median {p50:.1}, longest {most:.1})"),
        )
        .at_most(p99, API_AIM_MS, "ms"),
        Row::figure(
            format!("{of}: until those that come back are connected"),
            format!("longest {last:.1} s (median {middle:.1})"),
        )
        .at_most(last, RETURN_AIM, "s"),
        Row::figure(
            format!("{of}: processor time of the server, nobody asks"),
            format!("{:.1} s a minute, {:.1} ms per printer", cpu / minutes, cpu / minutes / all as f64 * 1000.0),
        ),
        Row::figure(
            format!("{of}: requests and commands"),
            format!("{:.1} a minute per living printer", requests as f64 / minutes / alive),
        ),
    ]
}

/// Makes all unreachable printers reachable again at once; returns the time until each is connected, in seconds.
async fn returns(app: &Remote, fleet: &Simulated, dead: &[usize], all: usize) -> Vec<f64> {
    let well = json!({"hang": false, "disconnect": false});
    let began = Instant::now();
    for n in dead {
        fleet.printers[*n].faults(&well).await;
    }
    let mut back = Vec::new();
    loop {
        let (connected, _) = app.connected().await;
        let returned = connected.saturating_sub(all - dead.len());
        // All that were seen in this round.
        back.resize(returned.max(back.len()), began.elapsed().as_secs_f64());
        if returned >= dead.len() {
            return back;
        }
        assert!(began.elapsed() < CONNECTED_WITHIN, "{returned} of {} are back", dead.len());
        sleep(Duration::from_millis(250)).await;
    }
}
