//! Benchmark of customers' requests: an order page of a customer with a hundred thousand orders, the cached catalogue,
//! and whether response times reveal which addresses are customers.

use std::sync::Arc;
use std::time::Instant;

use futures::{StreamExt as _, stream};
use printfloor::actors::kernel::envelope::CommandOrigin;
use printfloor::app::App;
use printfloor::domain::customer::CustomerCommand;
use printfloor::domain::id::Id;
use printfloor::domain::order::{NewOrder, OrderCommand};
use printfloor::domain::principal::Principal;
use printfloor::secrets::credentials::{session_hash, session_token};
use serde_json::json;

use super::client::{Client, post_plain};
use super::database::Kind;
use super::fill::order;
use super::ground::Ground;
use super::load::{closed_loop, percentile};
use super::table::Row;

const ORDERS: usize = 100_000;
const AT_ONCE: usize = 256;
/// Number of pages read one after the other.
const PAGES: usize = 500;
/// Number of request pairs for a sign-in link, to a known and to an unknown address.
const PAIRS: usize = 2000;
const CONNECTIONS: usize = 64;
/// Number of products in the catalogue.
const PRODUCTS: usize = 200;
const EMAIL: &str = "ann@example.org";

/// Runs this part of the benchmark on each available database.
pub async fn run() -> Vec<Row> {
    let mut rows = Vec::new();
    for kind in Kind::here() {
        rows.extend(on(kind).await);
    }
    rows
}

async fn on(kind: Kind) -> Vec<Row> {
    let ground = Ground::new(kind).await;
    let shop = ground.shop();
    let token = session_token();
    let create = CustomerCommand::Create { email: EMAIL.to_owned(), session_hash: Some(session_hash(&token)) };
    shop.customers.create(CommandOrigin::new(Principal::Anonymous), create).await.unwrap();
    let material = ground.materials(1).await[0];
    let drafts = stream::iter(0..ORDERS).map(|_| draft(&shop, order(&shop, material, 1)));
    drafts.buffer_unordered(AT_ONCE).collect::<()>().await;
    ground.settle().await;
    let mut rows = Vec::new();
    for query in ["", "?status=draft", "?status=paid", "?offset=50000"] {
        let request = get(&format!("/api/v1/orders{query}"), &token);
        let mut took = Vec::with_capacity(PAGES);
        let mut client = Client::connect(ground.address()).await;
        for _ in 0..PAGES {
            let began = Instant::now();
            client.ask(&request).await;
            took.push(began.elapsed().as_secs_f64() * 1000.0);
        }
        let [middle, most] = [0.5, 0.99].map(|share| percentile(&mut took, share));
        let what = format!("a page of {ORDERS} own orders, {query:?} ({})", kind.name());
        rows.push(Row::figure(what, format!("p50 {middle:.1} ms, p99 {most:.1} ms")).at_most(most, 100.0, "ms"));
    }
    rows.push(catalog(&ground, material).await);
    rows.push(links(&ground, kind).await);
    ground.end().await;
    rows
}

async fn draft(shop: &App, new: OrderCommand) {
    let OrderCommand::Create(new) = new else { panic!("{new:?}") };
    let new = NewOrder { draft: true, customer_email: Some(EMAIL.to_owned()), ..*new };
    let by = CommandOrigin::new(Principal::Machine);
    shop.orders.create(by, OrderCommand::Create(Box::new(new))).await.unwrap();
}

/// Builds a GET with a customer's cookie.
fn get(path: &str, token: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: bench\r\ncookie: __Host-customer_session={token}\r\n\r\n").into_bytes()
}

async fn catalog(ground: &Ground, material: Id) -> Row {
    let mut client = Client::connect(ground.address()).await;
    for n in 0..PRODUCTS {
        let sku = json!({
            "code": format!("VASE-{n}"), "name": format!("Vase {n}"), "materialId": material.to_string(),
            "estimatedConsumption": 10, "machineType": "fdm_standard", "priceCents": 1250, "public": true,
            "collections": ["home-decor"],
        });
        client.ask(&post_plain("/api/skus", &ground.key, &sku.to_string())).await;
    }
    let request: Arc<[u8]> = get("/api/v1/store/catalog", "").into();
    let act = move |mut client: Client| {
        let request = request.clone();
        async move {
            client.ask(&request).await;
            client
        }
    };
    let round = closed_loop(Client::several(ground.address(), CONNECTIONS).await, act).await.0;
    Row::figure(
        format!("the catalogue of {PRODUCTS} products from its cache"),
        format!("{:.0}/s, p95 {:.1} ms", round.per_second, round.p95),
    )
}

/// Measures how well response times distinguish a known address from an unknown one, where 0.5 means not at all.
async fn links(ground: &Ground, kind: Kind) -> Row {
    let mut client = Client::connect(ground.address()).await;
    let (mut customers, mut strangers) = (Vec::new(), Vec::new());
    for n in 0..PAIRS {
        // The order within a pair changes, so that whatever follows the one does not always hit the other.
        for first in [n % 2 == 0, n % 2 != 0] {
            let email = if first { EMAIL.to_owned() } else { format!("nobody{n}@example.org") };
            let request = post_plain("/api/v1/auth/magic-link", "", &format!("{{\"email\":\"{email}\"}}"));
            let began = Instant::now();
            client.ask(&request).await;
            let took = began.elapsed().as_secs_f64() * 1000.0;
            if first { customers.push(took) } else { strangers.push(took) }
        }
    }
    let area = area(&customers, &strangers);
    let middles = [&mut customers, &mut strangers].map(|times| percentile(times, 0.5));
    let measured = format!("AUC {area:.3}, p50 {:.2} and {:.2} ms", middles[0], middles[1]);
    let what = format!("{PAIRS} pairs of sign-in links, a customer's and a stranger's ({})", kind.name());
    Row::figure(what, measured).at_most((area - 0.5).abs(), 0.05, "off 0.5")
}

/// Returns the probability that a value of `one` exceeds a value of `other`; ties count half.
fn area(one: &[f64], other: &[f64]) -> f64 {
    let mut other = other.to_vec();
    other.sort_by(f64::total_cmp);
    let below = |time: &f64| {
        let less = other.partition_point(|other| other < time);
        let equal = other.partition_point(|other| other <= time) - less;
        less as f64 + equal as f64 / 2.0
    };
    one.iter().map(below).sum::<f64>() / (one.len() * other.len()) as f64
}
