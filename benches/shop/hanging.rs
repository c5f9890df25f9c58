//! Benchmark of orders and API callers while all integrations of the shop hang, compared with a shop without any,
//! alternating within one run.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use simulator::peers::all::AllPeers;
use simulator::printer::PhysicalEvent;
use simulator::{Fleet, FleetOptions};
use tokio::time::Instant;

use super::client::{Client, post_plain};
use super::crowd::{Callers, PER_SECOND};
use super::ground::folder;
use super::how_many;
use super::load::percentile;
use super::remote::Remote;
use super::table::Row;
use super::waiting::poll;
use super::webhook::now;

/// Number of rounds of both sides, unless `PRINTFLOOR_BENCH_ROUNDS` is set.
const ROUNDS: usize = 5;
/// Duration of each side of a round in seconds, unless `PRINTFLOOR_BENCH_SECONDS` is set.
const SECONDS: usize = 20;
/// Number of printers of each type that accepts text G-code.
const PRINTERS: usize = 3;
/// Speed factor at which a print of a minute takes a tenth of a second.
const SPEED: f64 = 600.0;
const CONNECTED_WITHIN: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(60);
/// Interval between two checks of the printers.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Maximum ratio of the median time from order to print to that without integrations.
const PRINT_AIM: f64 = 1.1;
/// Maximum increase of the API's 99th percentile: a factor, or a number of milliseconds.
const API_AIM: (f64, f64) = (2.0, 5.0);

/// Measurements of one side, in milliseconds.
#[derive(Default)]
struct Side {
    prints: Vec<f64>,
    answers: Vec<f64>,
}

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let (rounds, seconds) =
        (how_many("PRINTFLOOR_BENCH_ROUNDS", ROUNDS), how_many("PRINTFLOOR_BENCH_SECONDS", SECONDS));
    let peers = AllPeers::start().await.unwrap();
    peers.set_hanging(true);
    let (mut alone, mut hanging) = (Side::default(), Side::default());
    for _ in 0..rounds {
        one(None, seconds as u64, &mut alone).await;
        one(Some(&peers), seconds as u64, &mut hanging).await;
    }
    let count = (hanging.prints.len(), hanging.answers.len());
    let [[alone_print, _], [print, print_p99]] = [&mut alone, &mut hanging].map(|side| figures(&mut side.prints));
    let [[_, alone_p99], [median, p99]] = [&mut alone, &mut hanging].map(|side| figures(&mut side.answers));
    let words = |what: &str, of: usize| format!("all integrations hang, {rounds} rounds: {what}, of {of}");
    let mut prints = Row::figure(
        words("order to the start of its print", count.0),
        format!("median {print:.0} ms (p99 {print_p99:.0})"),
    );
    prints.against = format!("no integrations: median {alone_print:.0} ms");
    prints.ratio = format!("{:.2}", print / alone_print);
    let mut api = Row::figure(
        words(&format!("API at {PER_SECOND}/s, mixed"), count.1),
        format!("p99 {p99:.1} ms (median {median:.1})"),
    );
    api.against = format!("no integrations: p99 {alone_p99:.1} ms");
    api.ratio = format!("{:.2}", p99 / alone_p99);
    let most = (alone_p99 * API_AIM.0).max(alone_p99 + API_AIM.1);
    vec![prints.at_most(print / alone_print, PRINT_AIM, "times"), api.at_most(p99, (most * 10.0).round() / 10.0, "ms")]
}

/// Returns the median and the 99th percentile.
fn figures(values: &mut [f64]) -> [f64; 2] {
    [0.5, 0.99].map(|share| percentile(values, share))
}

/// Measures a new shop, with these systems or none.
async fn one(peers: Option<&AllPeers>, seconds: u64, side: &mut Side) {
    let folder = folder();
    let fleet = Fleet::start(FleetOptions { speed: SPEED, ..FleetOptions::of_each_for_text(PRINTERS) }).await.unwrap();
    if let Some(peers) = peers {
        fleet.printers.iter().for_each(|printer| printer.handle.set_camera(Some(&peers.camera())));
    }
    let variables = peers.map(AllPeers::variables).unwrap_or_default();
    let app = Remote::start_with(folder.path(), None, &variables).await;
    let ids = app.connect(&fleet, CONNECTED_WITHIN).await;
    let sku = app.sku().await;
    let callers = Callers::of(&app, ids.first()).await;
    let (answers, prints) = tokio::join!(callers.ask(seconds), orders(&app, &fleet, &sku, seconds));
    side.answers.extend(answers);
    side.prints.extend(prints);
    app.end().await;
    fleet.shutdown();
}

/// Orders one part after another, each when the previous one is printed; returns the times from order to print, in
/// milliseconds.
async fn orders(app: &Remote, fleet: &Fleet, sku: &str, seconds: u64) -> Vec<f64> {
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut took, mut client) = (Vec::new(), Client::connect(app.address).await);
    let order = post_plain("/api/orders", &app.key, &json!({"lines": [{"skuId": sku, "quantity": 1}]}).to_string());
    while Instant::now() < end {
        let began = now();
        let placed: Value = serde_json::from_slice(client.ask(&order).await).unwrap();
        let path = format!("/api/orders/{}/mark-paid", placed["id"].as_str().unwrap());
        client.ask(&post_plain(&path, &app.key, r#"{"method": "cash"}"#)).await;
        let started = |what: &PhysicalEvent| matches!(what, PhysicalEvent::Started { .. });
        let finished = |what: &PhysicalEvent| matches!(what, PhysicalEvent::Finished { .. });
        let at = since(fleet, began, started).await;
        took.push(at.duration_since(began).as_secs_f64() * 1000.0);
        since(fleet, at, finished).await;
    }
    took
}

/// Waits until a printer has logged a matching event since `moment`, and returns the time of the first one.
async fn since(fleet: &Fleet, moment: Timestamp, which: fn(&PhysicalEvent) -> bool) -> Timestamp {
    poll(LOOK_EVERY, PATIENCE, async || {
        let time = fleet.printers.iter().find_map(|printer| {
            printer.handle.with(|machine| {
                let newest = machine.log().iter().rev().take_while(|entry| entry.at >= moment);
                newest.filter(|entry| which(&entry.what)).map(|entry| entry.at).last()
            })
        });
        time.ok_or_else(|| "no printer begins or ends a print".to_owned())
    })
    .await
}
