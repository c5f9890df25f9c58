//! Benchmark of webhook latency: from the response that confirms an event on disk to its arrival at an endpoint, at 200
//! events a second.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use printfloor::domain::endpoint::EndpointCommand;
use printfloor::domain::id::Id;
use printfloor::secrets::random::secret_bytes;
use simulator::sink::Sink;
use tokio::time::{MissedTickBehavior, interval};

use super::database::Kind;
use super::fill::order;
use super::ground::Ground;
use super::load::percentile;
use super::table::Row;

const PER_SECOND: u64 = 200;
const SECONDS: u64 = 20;
const EVENTS: usize = (PER_SECOND * SECONDS) as usize;
const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let mut rows = Vec::new();
    for kind in Kind::here() {
        rows.push(on(kind).await);
    }
    rows
}

/// Returns the current time of the clock that sinks use.
#[expect(clippy::disallowed_methods, reason = "the clock that the sink reads")]
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// Creates an endpoint that subscribes to new orders, and verifies the signatures of its deliveries.
pub async fn endpoint(ground: &Ground) -> Sink {
    let shop = ground.shop();
    let sink = Sink::start().await.unwrap();
    sink.verify_with(SECRET);
    let command = EndpointCommand::Create {
        url: sink.url(),
        events: vec!["order.created".to_owned()],
        encrypted_secret: shop.cipher.encrypt(SECRET, secret_bytes()),
        cursor: *shop.outbox.last().borrow(),
    };
    shop.endpoints.create(ground.caller(), command).await.unwrap();
    sink
}

/// Places orders in an open loop: at fixed times, regardless of earlier responses. Returns the time at which each was
/// on disk.
pub async fn offered(ground: &Ground, material: Id, per_second: u64, events: usize) -> HashMap<String, Timestamp> {
    let mut tick = interval(Duration::from_micros(1_000_000 / per_second));
    tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut placed = Vec::with_capacity(events);
    for _ in 0..events {
        tick.tick().await;
        let (shop, caller) = (ground.shop(), ground.caller());
        placed.push(tokio::spawn(async move {
            let (id, _) = shop.orders.create(caller, order(&shop, material, 1)).await.unwrap();
            (id.to_string(), now())
        }));
    }
    let mut durable = HashMap::new();
    for order in placed {
        let (id, at) = order.await.unwrap();
        durable.insert(id, at);
    }
    durable
}

async fn on(kind: Kind) -> Row {
    let ground = Ground::new(kind).await;
    let material = ground.materials(1).await[0];
    let sink = endpoint(&ground).await;
    let mut durable = offered(&ground, material, PER_SECOND, EVENTS).await;
    let received = sink.wait_until(|all| all.len() >= EVENTS, Duration::from_secs(120)).await.unwrap();
    let mut took = Vec::new();
    for request in received {
        assert_eq!(request.verdict.standard, Some(true));
        if let Some(at) = request.json()["data"]["orderId"].as_str().and_then(|id| durable.remove(id)) {
            // The webhook may overtake the answer.
            took.push(request.at.duration_since(at).as_secs_f64().max(0.0) * 1000.0);
        }
    }
    assert!(durable.is_empty(), "{} orders were never told of", durable.len());
    ground.end().await;
    let [median, p99, most] = [0.5, 0.99, 1.0].map(|share| percentile(&mut took, share));
    let p95 = percentile(&mut took, 0.95);
    let what = format!("{}: event to webhook, {PER_SECOND}/s for {SECONDS} s", kind.name());
    let figure = format!("p95 {p95:.1} ms (median {median:.1}, p99 {p99:.1}, longest {most:.1})");
    Row::figure(what, figure).at_most(p95, 50.0, "ms")
}
