//! Benchmark of reads from memory, as seen by another program: the installed server, a bare handler with the same
//! struct, and the client run as separate processes. Besides throughput, it reports processor time per request.
//!
//! The measured server and the bare handler take turns on one core; the client has the other one.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get as on_get;
use axum::{Json, Router};
use printfloor::domain::aggregate::Versioned;
use printfloor::domain::id::Id;
use printfloor::domain::material::Material;
use printfloor::domain::order::Order;
use printfloor::http::production::materials::MaterialView;
use printfloor::http::production::orders::{OrderReader, OrderView};
use printfloor::server::Server;
use tokio::io::{AsyncBufReadExt as _, BufReader, stdin};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::client::{Client, get};
use super::fill::{caller, paid_order, printer, waiting};
use super::ground::{config, folder, material};
use super::load::{Round, middle, percentile, repeat};
use super::program::{cpu_seconds, pinned};
use super::remote::Remote;
use super::table::Row;
use super::{RAW, child_on};

const SERVER_CORE: &str = "0";
const CLIENT_CORE: &str = "1";
const CONNECTIONS: usize = 64;
/// Number of alternating rounds.
const ROUNDS: usize = 5;
const ORDER_LINES: usize = 3;
const PRINTERS: usize = 200;
/// Minimum ratio of the throughput to the bare handler's.
const THROUGHPUT_AIM: f64 = 0.7;
/// Minimum ratio of the bare handler's processor time per request to the server's.
const CPU_AIM: f64 = 0.5;
/// Number of lists per second, and of seconds in which they are measured.
const LISTS_PER_SECOND: u64 = 30;
const LIST_SECONDS: u64 = 20;
/// Longest time by which the clock is late although nothing else is.
const CLOCK_STEP: Duration = Duration::from_millis(2);
/// A tenth of the median and of the 99th percentile, in milliseconds, of FDM Monster 2.1.1 for the same list.
const LIST_AIMS: [f64; 2] = [0.8, 2.6];

/// Runs this part of the benchmark.
pub fn run() -> Vec<Row> {
    child_on(CLIENT_CORE, &[RAW, "outside-drive"]).lines().map(Row::read).collect()
}

/// Measures as the client, on a core other than the servers'.
pub async fn drive() -> Vec<Row> {
    let folder = folder();
    let [order, material] = prepare(folder.path()).await;
    let bare = BareServer::start(folder.path(), [order, material]).await;
    let ours = Remote::start_program_on(folder.path(), SERVER_CORE).await;
    let mut rows = Vec::new();
    for (name, id, path) in [
        ("order", order, format!("/api/orders/{order}")),
        ("material", material, format!("/api/inventory/materials/{material}")),
    ] {
        let own = (ours.address, get(&path, &ours.key), ours.process_id());
        let other = (bare.address, get(&format!("/{id}"), &ours.key), bare.process_id());
        rows.extend(compare(name, own, other).await);
    }
    rows.extend(list(&ours).await);
    ours.end().await;
    bare.end().await;
    rows
}

/// Fills the shop of a folder with a paid order, the material that it is made of, and printers that are unreachable;
/// returns the ids of order and material.
async fn prepare(folder: &Path) -> [Id; 2] {
    let server = Server::start_local(config(folder, None)).await.unwrap();
    let shop = server.shop().clone();
    let material = shop.materials.create(caller(), material(0)).await.unwrap().0;
    let order = paid_order(&shop, material, ORDER_LINES).await;
    waiting(&shop, 1).await;
    for n in 0..PRINTERS {
        printer(&shop, n).await;
    }
    server.stop(Duration::from_secs(60)).await;
    [order, material]
}

/// Address, request and process ID of a server under comparison.
type ComparedTarget = (SocketAddr, Vec<u8>, u32);

/// Compares the server with the bare handler, alternating between them.
async fn compare(name: &str, own: ComparedTarget, other: ComparedTarget) -> [Row; 2] {
    let sizes = [size(&own).await, size(&other).await];
    let mut rounds = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        for (rounds, target) in rounds.iter_mut().zip([&own, &other]) {
            rounds.push(drive_target(target).await);
        }
    }
    let [own, other] = rounds.map(|rounds| {
        let mut cpu: Vec<f64> = rounds.iter().map(|(_, cpu)| *cpu).collect();
        (middle(rounds.into_iter().map(|(round, _)| round).collect()), percentile(&mut cpu, 0.5))
    });
    let what = format!("outside: GET of a resident {name}, key checked ({} bytes, p95 {:.1} ms)", sizes[0], own.0.p95);
    let against = format!("bare handler, the same struct ({} bytes)", sizes[1]);
    [
        Row::ratio(what, (&against, other.0.per_second), Some(THROUGHPUT_AIM), own.0.per_second),
        Row::figure(format!("outside: processor time of a GET of a resident {name}"), format!("{:.1} µs", own.1))
            .at_least(("bare handler", format!("{:.1} µs", other.1)), other.1 / own.1, CPU_AIM),
    ]
}

async fn size((address, request, _): &ComparedTarget) -> usize {
    Client::connect(*address).await.ask(request).await.len()
}

/// Asks a server for a while; returns also its processor time per request, in microseconds.
async fn drive_target((address, request, process): &ComparedTarget) -> (Round, f64) {
    let clients = Client::several(*address, CONNECTIONS).await;
    let before = cpu_seconds(*process);
    let round = repeat(clients, request).await;
    let spent = cpu_seconds(*process) - before;
    (round, spent * 1_000_000.0 / round.answers as f64)
}

/// Measures lists of all printers in an open loop. The latency counts from the scheduled time, unless the clock alone
/// was late, whose steps are milliseconds.
async fn list(app: &Remote) -> [Row; 2] {
    let request = get(&format!("/api/printers?limit={PRINTERS}"), &app.key);
    let mut client = Client::connect(app.address).await;
    let mut tick = interval(Duration::from_micros(1_000_000 / LISTS_PER_SECOND));
    tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut took = Vec::new();
    for _ in 0..LISTS_PER_SECOND * LIST_SECONDS {
        let due: Instant = tick.tick().await;
        let began = if due.elapsed() < CLOCK_STEP { Instant::now() } else { due };
        client.ask(&request).await;
        took.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    let [median, p99] = [0.5, 0.99].map(|share| percentile(&mut took, share));
    let what = format!("outside: list of {PRINTERS} printers at {LISTS_PER_SECOND}/s");
    let row = |(name, measured, aim): (&str, f64, f64)| {
        let figure = format!("{measured:.2} ms");
        Row::figure(format!("{what}, {name}"), figure).at_most(measured, aim, "ms, a tenth of FDM Monster 2.1.1's")
    };
    [("median", median, LIST_AIMS[0]), ("p99", p99, LIST_AIMS[1])].map(row)
}

/// Bare handlers in another process.
struct BareServer {
    process: Child,
    address: SocketAddr,
}

impl BareServer {
    async fn start(folder: &Path, ids: [Id; 2]) -> Self {
        let mut command = Command::from(pinned(&std::env::current_exe().unwrap(), Some(SERVER_CORE)));
        command.arg("bare").arg(folder).args(ids.map(|id| id.to_string()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines.next_line().await.unwrap().unwrap().parse().unwrap();
        Self { process, address }
    }

    fn process_id(&self) -> u32 {
        self.process.id().unwrap()
    }

    async fn end(mut self) {
        drop(self.process.stdin.take());
        self.process.wait().await.unwrap();
    }
}

/// Runs in the process of the bare handlers: axum and serde alone, without keys, request ids or limits. Reads an order
/// and a material from the shop of a folder, whose server has ended by the time they are served. Prints the address,
/// and exits when the input ends.
pub async fn serve_bare(folder: &Path, [order, material]: [&str; 2]) {
    let server = Server::start_local(config(folder, None)).await.unwrap();
    let (shop, ids) = (server.shop().clone(), [order, material].map(|id| id.parse::<Id>().unwrap()));
    let states =
        (shop.orders.read(ids[0]).await.unwrap().unwrap(), shop.materials.read(ids[1]).await.unwrap().unwrap());
    drop(shop);
    server.stop(Duration::from_secs(60)).await;
    let router = Router::new()
        .route(&format!("/{order}"), on_get(show_order).with_state(states.0))
        .route(&format!("/{material}"), on_get(show_material).with_state(states.1));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
    let _ = BufReader::new(stdin()).lines().next_line().await;
}

async fn show_order(State(order): State<Arc<Versioned<Order>>>) -> Response {
    let state = order.state.as_ref().unwrap();
    Json(OrderView::new(state, &state.ledger.payments, order.version, OrderReader::Staff)).into_response()
}

async fn show_material(State(material): State<Arc<Versioned<Material>>>) -> Response {
    Json(MaterialView::new(material.state.as_ref().unwrap(), material.revision())).into_response()
}
