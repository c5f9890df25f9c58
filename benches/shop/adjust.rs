//! Benchmark of stock adjustments through handles: 64 callers with idempotency keys, on one material and on 64,
//! compared with one transaction per adjustment.

use std::sync::Arc;

use printfloor::actors::kernel::envelope::{CommandOrigin, IdempotencyKey};
use printfloor::domain::id::Id;

use super::baseline::{Baseline, body_hash, delivery, key};
use super::database::Kind;
use super::ground::Ground;
use super::load::{ROUNDS, Round, closed_loop, middle};
use super::table::Row;

const CALLERS: usize = 64;
/// Number of connections in the baseline that serve 64 callers.
const POOL: u32 = 8;

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let mut rows = Vec::new();
    for kind in Kind::here() {
        rows.extend(on(kind).await);
    }
    rows
}

async fn on(kind: Kind) -> Vec<Row> {
    let ground = Ground::new(kind).await;
    let one_each = Arc::new(Baseline::new(kind, 1, 1, &ground.by).await);
    let pool = match kind {
        Kind::Sqlite => None,
        Kind::Postgres => Some(Arc::new(Baseline::new(kind, POOL, CALLERS, &ground.by).await)),
    };
    let ids = ground.materials(CALLERS).await;
    let [mut single, mut pool_one, mut pool_many] = [const { Vec::new() }; 3];
    let [mut shop_one, mut shop_many] = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        single.push(one_connection(&one_each).await);
        shop_one.push(shop(&ground, &ids[..1]).await);
        shop_many.push(shop(&ground, &ids).await);
        if let Some(pool) = &pool {
            pool_one.push(connections(pool, 1).await);
            pool_many.push(connections(pool, CALLERS).await);
        }
    }
    let name = kind.name();
    let single = middle(single);
    let aim = match kind {
        Kind::Sqlite => 15.0,
        Kind::Postgres => 8.0,
    };
    let against = ("one transaction each, one connection", single.per_second);
    let mut rows = Vec::new();
    for (where_, rounds) in [("1 material", shop_one), ("64 materials", shop_many)] {
        let commits: Vec<f64> = rounds.iter().map(|(_, commands)| *commands).collect();
        let commands = commits.iter().sum::<f64>() / commits.len() as f64;
        let round = middle(rounds.into_iter().map(|(round, _)| round).collect());
        let what = format!(
            "{name}: adjustments, {CALLERS} callers on {where_} (p95 {:.1} ms, {commands:.0} in a commit)",
            round.p95
        );
        rows.push(Row::ratio(what, against, Some(aim), round.per_second));
    }
    for (where_, rounds) in [("1 material", pool_one), ("64 materials", pool_many)] {
        if !rounds.is_empty() {
            let round = middle(rounds);
            let what = format!("{name}: without the shop, {POOL} connections, {CALLERS} callers on {where_}");
            rows.push(Row::ratio(what, against, None, round.per_second));
        }
    }
    ground.end().await;
    one_each.end().await;
    if let Some(pool) = pool {
        pool.end().await;
    }
    rows
}

/// Runs 64 callers of the shop; returns the round and the mean number of commands per transaction.
async fn shop(ground: &Ground, ids: &[Id]) -> (Round, f64) {
    let meter = &ground.shop().writer.meter.commands;
    let before = meter.counted();
    let (shop, by) = (ground.shop(), ground.by.clone());
    let callers = (0..CALLERS).map(|n| ids[n % ids.len()]).collect();
    let act = move |id: Id| {
        let (shop, by) = (shop.clone(), by.clone());
        async move {
            let environment = &shop.environment;
            let key = IdempotencyKey {
                key: key(environment.id()),
                body_hash: body_hash(),
                expires_at: environment.now().plus_ms(86_400_000),
            };
            let caller = CommandOrigin { by, request_id: None, key: Some(key) };
            shop.materials.ask(id, caller, delivery()).await.unwrap();
            id
        }
    };
    let round = closed_loop(callers, act).await.0;
    let after = meter.counted();
    (round, (after.sum - before.sum) / (after.count - before.count) as f64)
}

/// Runs one transaction after another on one connection; further callers would only wait for it.
async fn one_connection(baseline: &Arc<Baseline>) -> Round {
    let baseline = baseline.clone();
    let id = baseline.materials[0];
    let now = baseline.current(id).await;
    let act = move |mut state| {
        let baseline = baseline.clone();
        async move {
            baseline.adjust(id, &mut state).await;
            state
        }
    };
    closed_loop(vec![now], act).await.0
}

/// Runs 64 callers that share a pool.
async fn connections(baseline: &Arc<Baseline>, materials: usize) -> Round {
    let baseline = baseline.clone();
    let callers = (0..CALLERS).map(|n| baseline.materials[n % materials]).collect();
    let act = move |id: Id| {
        let baseline = baseline.clone();
        async move {
            baseline.adjust_locked(id).await;
            id
        }
    };
    closed_loop(callers, act).await.0
}
