//! Benchmark of webhook isolation: ten endpoints, one or none of which hangs, and the effect on the other nine.

use std::time::Duration;

use jiff::Timestamp;
use printfloor::domain::id::Id;
use simulator::sink::{Sink, SinkMode};

use super::database::Kind;
use super::fill::order;
use super::ground::Ground;
use super::load::percentile;
use super::table::Row;
use super::webhook::{endpoint, now, offered};

const ENDPOINTS: usize = 10;
/// Event rate for the delivery latency: each event goes to every endpoint.
const PER_SECOND: u64 = 50;
const SECONDS: u64 = 10;
const EVENTS: usize = (PER_SECOND * SECONDS) as usize;
/// Number of simultaneous events, for the delivery rate.
const BURST: usize = 1000;
/// Maximum ratio of the healthy endpoints' latency with a hanging endpoint to that without one.
const AIM: f64 = 1.5;
const PATIENCE: Duration = Duration::from_secs(180);

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let mut rows = Vec::new();
    for kind in Kind::here() {
        let none = on(kind, false).await;
        let one = on(kind, true).await;
        rows.extend(compared(kind.name(), &none, &one));
    }
    rows
}

/// Delivery latency in milliseconds (median and 99th percentile), and deliveries per second.
struct HangTimes {
    median: f64,
    p99: f64,
    per_second: f64,
}

fn compared(name: &str, none: &HangTimes, one: &HangTimes) -> [Row; 2] {
    let ratio = one.p99 / none.p99;
    let what = format!("{name}: event to wire at the healthy of {ENDPOINTS} endpoints, one of them hangs, p99");
    let mut wire = Row::figure(what, format!("{:.1} ms (median {:.1})", one.p99, one.median));
    wire.against = format!("none hangs: {:.1} ms (median {:.1})", none.p99, none.median);
    wire.ratio = format!("{ratio:.2}");
    let burst = format!("{name}: signed deliveries, {BURST} events at once, one of {ENDPOINTS} endpoints hangs");
    [wire.at_most(ratio, AIM, "times"), Row::ratio(burst, ("none hangs", none.per_second), None, one.per_second)]
}

async fn on(kind: Kind, hangs: bool) -> HangTimes {
    let ground = Ground::new(kind).await;
    let material = ground.materials(1).await[0];
    let mut sinks = Vec::new();
    for n in 0..ENDPOINTS {
        let sink = endpoint(&ground).await;
        if hangs && n == 0 {
            sink.set_mode(SinkMode::Hang);
        }
        sinks.push(sink);
    }
    // The same nine in both runs.
    let healthy = &sinks[1..];
    let durable = offered(&ground, material, PER_SECOND, EVENTS).await;
    let mut took = Vec::new();
    for sink in healthy {
        let all = sink.wait_until(|all| all.len() >= EVENTS, PATIENCE).await.unwrap();
        for request in all {
            assert_eq!(request.verdict.standard, Some(true));
            let at = durable[request.json()["data"]["orderId"].as_str().unwrap()];
            // The webhook may overtake the answer.
            took.push(request.at.duration_since(at).as_secs_f64().max(0.0) * 1000.0);
        }
    }
    let per_second = burst(&ground, material, healthy).await;
    ground.end().await;
    let [median, p99] = [0.5, 0.99].map(|share| percentile(&mut took, share));
    HangTimes { median, p99, per_second }
}

/// Measures many simultaneous events: deliveries per second at the healthy endpoints, until the last has received all.
async fn burst(ground: &Ground, material: Id, healthy: &[Sink]) -> f64 {
    let began = now();
    let placed = (0..BURST).map(|_| {
        let (shop, caller) = (ground.shop(), ground.caller());
        tokio::spawn(async move { shop.orders.create(caller, order(&shop, material, 1)).await.unwrap() })
    });
    for order in placed.collect::<Vec<_>>() {
        order.await.unwrap();
    }
    let mut last = began;
    for sink in healthy {
        let all = sink.wait_until(|all| all.len() >= EVENTS + BURST, PATIENCE).await.unwrap();
        last = all.iter().map(|request| request.at).fold(last, Timestamp::max);
    }
    (healthy.len() * BURST) as f64 / last.duration_since(began).as_secs_f64()
}
