//! Benchmark of adjustments over HTTP, compared with reading a material over HTTP on the same connections.

use std::sync::Arc;

use printfloor::app::App;
use printfloor::domain::id::Id;
use printfloor::entities::idempotency;
use sea_orm::EntityTrait;

use super::client::{Client, get, post};
use super::database::Kind;
use super::ground::Ground;
use super::load::{ROUNDS, Round, closed_loop, middle};
use super::table::Row;

const MATERIALS: usize = 64;
const LOOKERS: usize = 256;
const BODY: &str = r#"{"delta":1,"reason":"delivery"}"#;

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let mut rows = Vec::new();
    for kind in Kind::here() {
        let ground = Ground::new(kind).await;
        let ids = ground.materials(MATERIALS).await;
        for (connections, aim) in [(64, None), (256, Some(0.5))] {
            rows.extend(with(&ground, &ids, kind.name(), connections, aim).await);
        }
        rows.push(look_ups(&ground, kind.name()).await);
        ground.end().await;
    }
    rows
}

/// Measures the first step of every request with an idempotency key: the shop's shared key lookups, compared with one
/// query per lookup.
async fn look_ups(ground: &Ground, name: &str) -> Row {
    let [mut shared, mut single] = [const { Vec::new() }; 2];
    let (shop, pool) = (ground.shop(), ground.reading().await);
    for _ in 0..ROUNDS {
        let shop = shop.clone();
        let act = move |()| {
            let shop = shop.clone();
            async move { assert!(shop.queries.idempotency(&fresh(&shop)).await.unwrap().is_none()) }
        };
        shared.push(closed_loop(vec![(); LOOKERS], act).await.0);
        let (shop, pool) = (ground.shop(), pool.clone());
        let act = move |()| {
            let (shop, pool) = (shop.clone(), pool.clone());
            async move { assert!(idempotency::Entity::find_by_id(fresh(&shop)).one(&pool).await.unwrap().is_none()) }
        };
        single.push(closed_loop(vec![(); LOOKERS], act).await.0);
    }
    pool.close().await.unwrap();
    let what = format!("{name}: look-ups of idempotency keys, {LOOKERS} callers");
    Row::ratio(what, ("a query for each", middle(single).per_second), None, middle(shared).per_second)
}

fn fresh(shop: &App) -> String {
    shop.environment.id().to_string()
}

async fn with(ground: &Ground, ids: &[Id], name: &str, connections: usize, aim: Option<f64>) -> Vec<Row> {
    let [mut reads, mut one, mut many] = [const { Vec::new() }; 3];
    let mut clients = Client::several(ground.address(), connections).await;
    for _ in 0..ROUNDS {
        for (rounds, ids, adjusts) in [(&mut reads, ids, false), (&mut one, &ids[..1], true), (&mut many, ids, true)] {
            let (round, back) = drive(ground, ids, clients, adjusts).await;
            rounds.push(round);
            clients = back;
        }
    }
    let reads = middle(reads);
    let against = ("GET one material", reads.per_second);
    let row = |(where_, rounds): (&str, Vec<Round>)| {
        let round = middle(rounds);
        let what = format!("{name}: HTTP adjustments, {connections} connections on {where_} (p95 {:.1} ms)", round.p95);
        Row::ratio(what, against, aim, round.per_second)
    };
    [("1 material", one), ("64 materials", many)].map(row).into()
}

/// Reads or adjusts each connection's material repeatedly.
async fn drive(ground: &Ground, ids: &[Id], clients: Vec<Client>, adjusts: bool) -> (Round, Vec<Client>) {
    let callers = clients.into_iter().enumerate().map(|(n, client)| (client, ids[n % ids.len()])).collect();
    let (shop, key): (_, Arc<str>) = (ground.shop(), ground.key.as_str().into());
    let act = move |(mut client, id): (Client, Id)| {
        let (shop, key) = (shop.clone(), key.clone());
        async move {
            let path = format!("/api/inventory/materials/{id}");
            let request = if adjusts {
                post(&format!("{path}/adjustments"), &key, &shop.environment.id().to_string(), BODY)
            } else {
                get(&path, &key)
            };
            client.ask(&request).await;
            (client, id)
        }
    };
    let (round, callers) = closed_loop(callers, act).await;
    (round, callers.into_iter().map(|(client, _)| client).collect())
}
