//! Benchmark with ten thousand printers of all types, half of them dead: restart time, API latency, emergency stops,
//! memory usage, and the cost of monitoring idle printers, which is also measured for a small shop of 200.
//!
//! Of the dead printers, every other one refuses connections; the rest accept them but never respond. Server, printers
//! and callers are one process each and share all cores.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use simulator::{Fleet, FleetOptions, PrinterKind, SimPrinter};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

use super::client::{Client, get, post_plain};
use super::crowd::{Callers, PER_SECOND};
use super::ground::folder;
use super::how_many;
use super::load::percentile;
use super::remote::Remote;
use super::simulated::Simulated;
use super::stops::tap;
use super::table::Row;

/// Number of printers, unless `PRINTFLOOR_BENCH_PRINTERS` is set.
const PRINTERS: usize = 10_000;
/// Duration of each measurement in seconds, unless `PRINTFLOOR_BENCH_SECONDS` is set.
const SECONDS: usize = 60;
/// Number of emergency stops, unless `PRINTFLOOR_BENCH_STOPS` is set.
const STOPS: usize = 200;
/// Number of printers of the small shop.
const SMALL_SHOP: usize = 200;
/// First port of the printers that refuse connections: below the ports that systems assign automatically.
const REFUSING_PORT: usize = 20_000;
/// Seed of the printer that is stopped.
const OWN_SEED: u64 = 4711;
const CONNECTED_WITHIN: Duration = Duration::from_secs(600);
/// Time until idle printers are polled at the maximum interval and start-up work is complete.
const SETTLED: Duration = Duration::from_secs(60);
/// Time after which a stop that has not reached the printer's connection counts as lost.
const PATIENCE: Duration = Duration::from_secs(20);
const BETWEEN_STOPS: Duration = Duration::from_millis(50);

/// Maximum time until a starting server responds, in seconds.
const START_AIM: f64 = 3.0;
const API_AIM_MS: f64 = 50.0;
const STOP_AIM_MS: f64 = 20.0;
/// Maximum memory, in bytes, per printer, and per connected printer if the memory for the dead ones is added to it.
const MEMORY_AIM: f64 = 40_000.0;
/// Maximum memory usage of a server without printers, in MiB.
const EMPTY_AIM: f64 = 30.0;
/// Maximum number of requests and commands per minute for each idle printer of any type.
const REQUESTS_AIM: f64 = 15.0;
/// Maximum CPU time of the server per minute with the printers of the small shop, in seconds.
const IDLE_AIM: f64 = 0.6;

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let empty = memory_without_printers().await;
    let mut rows = vec![
        Row::figure("memory of a server without printers", format!("{:.1} MiB", mib(empty))).at_most(
            mib(empty),
            EMPTY_AIM,
            "MiB",
        ),
        idle().await,
    ];
    rows.extend(many(empty).await);
    rows
}

/// Measures the anonymous memory of a newly set-up server, in bytes.
async fn memory_without_printers() -> u64 {
    let folder = folder();
    // The first start creates the shop, which leaves traces in the memory of its process.
    Remote::start(folder.path(), None).await.end().await;
    let app = Remote::start(folder.path(), None).await;
    sleep(SETTLED / 4).await;
    let bytes = app.memory();
    app.end().await;
    bytes
}

/// Measures the server's CPU time while the printers of a small shop are idle and there are no callers.
async fn idle() -> Row {
    let folder = folder();
    let fleet = Simulated::start(SMALL_SHOP / PrinterKind::ALL.len()).await;
    register(folder.path(), fleet.printers.iter().map(|printer| &printer.line)).await;
    let app = Remote::start(folder.path(), None).await;
    app.until_connected(fleet.printers.len(), CONNECTED_WITHIN).await;
    sleep(SETTLED).await;
    let (cpu, _) = watched(&app, &fleet).await;
    app.end().await;
    let what = format!("{} printers at rest: processor time of the server, nobody asks", fleet.printers.len());
    Row::figure(what, format!("{cpu:.2} s a minute")).at_most(cpu, IDLE_AIM, "s")
}

/// Measures the shop with thousands of printers; `empty` is the memory usage of a server without any, in bytes.
async fn many(empty: u64) -> Vec<Row> {
    let of_each = how_many("PRINTFLOOR_BENCH_PRINTERS", PRINTERS).div_ceil(2 * PrinterKind::ALL.len());
    let seconds = how_many("PRINTFLOOR_BENCH_SECONDS", SECONDS) as u64;
    let folder = folder();
    let fleet = Simulated::start(of_each).await;
    let (dead, _silent) = dead(fleet.printers.len());
    let own = Fleet::start(FleetOptions { seed: OWN_SEED, ..FleetOptions::of(PrinterKind::FwRest, 1) }).await.unwrap();
    let (stopped, arrivals) = tapped(&own.printers[0]).await;
    let lines = std::iter::once(&stopped).chain(fleet.printers.iter().map(|printer| &printer.line)).chain(&dead);
    let ids = register(folder.path(), lines).await;
    let living = fleet.printers.len() + 1;

    let began = Instant::now();
    let app = Remote::start(folder.path(), None).await;
    Client::connect(app.address).await.ask(&get("/readyz", "")).await;
    let started = began.elapsed().as_secs_f64();
    app.until_connected(living, CONNECTED_WITHIN).await;
    let connected = began.elapsed().as_secs_f64();
    sleep(SETTLED).await;
    let (cpu, requests) = watched(&app, &fleet).await;
    let bytes = app.memory().saturating_sub(empty) as f64;
    let mut stops = stop_again(&app, &ids[0], arrivals).await;
    let mut took = Callers::of(&app, ids.first()).await.ask(seconds).await;
    app.end().await;
    own.shutdown();

    let of = format!("{} printers of {} types, {} of them dead", ids.len(), PrinterKind::ALL.len(), dead.len());
    let [api, stop] = [&mut took, &mut stops].map(|took| [0.5, 0.99, 1.0].map(|share| percentile(took, share)));
    let words = |[p50, p99, most]: [f64; 3]| format!("p99 {p99:.1} ms (median {p50:.1}, longest {most:.1})");
    let (each, connected_each) = (bytes / ids.len() as f64, bytes / living as f64);
    let types: Vec<String> = requests.iter().map(|(kind, count)| format!("{kind} {count:.1}")).collect();
    let busiest = requests.iter().map(|(_, count)| *count).fold(0.0, f64::max);
    vec![
        Row::figure(format!("{of}: start to serving"), format!("{started:.2} s")).at_most(started, START_AIM, "s"),
        Row::figure(format!("{of}: start until the others are connected"), format!("{connected:.1} s")),
        Row::figure(format!("{of}: API at {PER_SECOND}/s, mixed"), words(api)).at_most(api[1], API_AIM_MS, "ms"),
        Row::figure(format!("{of}: emergency stop, request to the printer's wire"), words(stop)).at_most(
            stop[1],
            STOP_AIM_MS,
            "ms",
        ),
        Row::figure(format!("{of}: memory per printer"), format!("{each:.0} bytes")).at_most(each, MEMORY_AIM, "bytes"),
        Row::figure(
            format!("{of}: memory per connected printer, as if the dead ones took none"),
            format!("{connected_each:.0} bytes"),
        )
        .at_most(connected_each, MEMORY_AIM, "bytes"),
        Row::figure(format!("{of}: requests and commands a minute per idle printer, by type"), types.join(", "))
            .at_most(busiest, REQUESTS_AIM, "a minute"),
        Row::figure(format!("{of}: processor time of the server, nobody asks"), format!("{cpu:.1} s a minute")),
    ]
}

/// Observes the server for a while; returns its CPU time in seconds per minute, and for each type the number of
/// requests and commands per printer and minute.
async fn watched(app: &Remote, fleet: &Simulated) -> (f64, Vec<(String, f64)>) {
    let seconds = how_many("PRINTFLOOR_BENCH_SECONDS", SECONDS) as u64;
    let before = fleet.requests_by_type().await;
    let (cpu, began) = (app.cpu_seconds(), Instant::now());
    sleep(Duration::from_secs(seconds)).await;
    let cpu = (app.cpu_seconds() - cpu) / began.elapsed().as_secs_f64() * 60.0;
    let after = fleet.requests_by_type().await;
    // Those of each type are counted in the same order before and after, so the time between is that of the others.
    let minutes = began.elapsed().as_secs_f64() / 60.0;
    let printers = (fleet.printers.len() / PrinterKind::ALL.len()) as f64;
    let each = after.into_iter().map(|(kind, count)| {
        let count = (count - before[&kind]) as f64 / minutes / printers;
        (kind, count)
    });
    (cpu, each.collect())
}

/// Sends emergency stops to a printer; returns the time until each reached the printer's connection, in milliseconds.
async fn stop_again(app: &Remote, printer: &str, mut arrivals: mpsc::UnboundedReceiver<Instant>) -> Vec<f64> {
    let stop = post_plain(&format!("/api/printers/{printer}/emergency-stop"), &app.key, "");
    let mut took = Vec::new();
    for _ in 0..how_many("PRINTFLOOR_BENCH_STOPS", STOPS) {
        sleep(BETWEEN_STOPS).await;
        let began = Instant::now();
        let request = async {
            Client::connect(app.address).await.ask(&stop).await;
        };
        let (arrived, ()) = tokio::join!(timeout(PATIENCE, arrivals.recv()), request);
        took.push(arrived.unwrap().unwrap().duration_since(began).as_secs_f64() * 1000.0);
    }
    took
}

/// Starts a proxy in front of a printer; returns the line that describes the printer behind it, and the arrival times
/// of emergency stops.
async fn tapped(printer: &SimPrinter) -> (Value, mpsc::UnboundedReceiver<Instant>) {
    let address: SocketAddr = printer.base_url.strip_prefix("http://").unwrap().parse().unwrap();
    let (tap, arrivals) = tap(address).await;
    let mut line: Value = serde_json::from_str(&printer.print_line()).unwrap();
    line["baseUrl"] = format!("http://{tap}").into();
    (line, arrivals)
}

/// Describes dead printers, cycling through all types. The returned listeners accept connections for half of them and
/// never respond.
fn dead(count: usize) -> (Vec<Value>, Vec<TcpListener>) {
    let mut silent = Vec::new();
    let lines = (0..count).map(|n| {
        let kind = PrinterKind::ALL[n % PrinterKind::ALL.len()];
        let port = if (n / PrinterKind::ALL.len()).is_multiple_of(2) {
            REFUSING_PORT + n
        } else {
            let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            silent.push(listener);
            usize::from(port)
        };
        let base_url = match kind {
            PrinterKind::MqttLan => format!("mqtts://127.0.0.1:{port}?ftps={port}"),
            _ => format!("http://127.0.0.1:{port}"),
        };
        json!({"type": kind.as_str(), "baseUrl": base_url, "apiKey": "12345678", "serial": format!("DEAD{n:06}")})
    });
    (lines.collect(), silent)
}

/// Registers printers in the shop in a folder that no server uses, in a separate process; returns their IDs.
async fn register<'a>(folder: &Path, lines: impl Iterator<Item = &'a Value>) -> Vec<String> {
    let text: String = lines.flat_map(|line| [line.to_string(), "\n".to_owned()]).collect();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("register").arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut process = command.spawn().unwrap();
    let mut input = process.stdin.take().unwrap();
    // The process reads all lines before it writes the first id.
    input.write_all(text.as_bytes()).await.unwrap();
    drop(input);
    let output = process.wait_with_output().await.unwrap();
    assert!(output.status.success(), "registering printers failed");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}
