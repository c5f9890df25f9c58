//! Benchmark of reading an order in memory over HTTP with its key checked, compared with a bare handler that serializes
//! the same struct each time; and of lists compared with single reads.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get as on_get;
use axum::{Json, Router};
use printfloor::domain::aggregate::Versioned;
use printfloor::domain::order::Order;
use printfloor::http::production::orders::{OrderReader, OrderView};
use tokio::net::TcpListener;

use super::client::{Client, get};
use super::database::Kind;
use super::fill::{paid_order, printer, waiting};
use super::ground::Ground;
use super::load::{ROUNDS, Round, middle, repeat};
use super::table::Row;

const CONNECTIONS: usize = 64;
const LINES: usize = 3;
const PRINTERS: usize = 200;
/// Number of printers on a page.
const PAGE: usize = 100;

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let ground = Ground::new(Kind::Sqlite).await;
    let shop = ground.shop();
    let material = ground.materials(1).await[0];
    let id = paid_order(&shop, material, LINES).await;
    waiting(&shop, 1).await;
    let state = shop.orders.read(id).await.unwrap().unwrap();
    let bare = bare(state).await;

    let ours = (ground.address(), get(&format!("/api/orders/{id}"), &ground.key));
    let bare = (bare, get("/order", &ground.key));
    let sizes = [size(&ours).await, size(&bare).await];
    let mut rounds = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        for (rounds, target) in rounds.iter_mut().zip([&ours, &bare]) {
            rounds.push(drive(target).await);
        }
    }
    let [ours, bare] = rounds.map(middle);
    let lists = lists(&ground).await;
    ground.end().await;
    let what = format!("HTTP GET of a resident order, key checked ({} bytes, p95 {:.1} ms)", sizes[0], ours.p95);
    let against = format!("bare handler, the same struct ({} bytes)", sizes[1]);
    let order = Row::ratio(what, (&against, bare.per_second), Some(0.7), ours.per_second);
    [order].into_iter().chain(lists).collect()
}

/// Measures that a list costs in proportion to its items: a page of a hundred printers about as much as a hundred
/// single reads, a page of one as much as one.
async fn lists(ground: &Ground) -> [Row; 2] {
    let shop = ground.shop();
    let mut id = None;
    for n in 0..PRINTERS {
        id = Some(printer(&shop, n).await);
    }
    let id = id.unwrap();
    let paths =
        [format!("/api/printers/{id}"), format!("/api/printers?limit={PAGE}"), "/api/printers?limit=1".to_owned()];
    let targets = paths.map(|path| (ground.address(), get(&path, &ground.key)));
    let mut rounds = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        for (rounds, target) in rounds.iter_mut().zip(&targets) {
            rounds.push(drive(target).await);
        }
    }
    let [one, page, first] = rounds.map(|rounds| middle(rounds).per_second);
    let against = ("GET of one printer", one);
    [
        Row::ratio(
            format!("HTTP lists of {PAGE} of {PRINTERS} printers, printers shown"),
            against,
            Some(1.0),
            page * PAGE as f64,
        ),
        Row::ratio(format!("HTTP lists of 1 of {PRINTERS} printers"), against, Some(0.5), first),
    ]
}

/// Serves the order without key checks, request IDs or limits: only axum and serde.
async fn bare(order: Arc<Versioned<Order>>) -> SocketAddr {
    async fn show_order(State(order): State<Arc<Versioned<Order>>>) -> Response {
        let state = order.state.as_ref().unwrap();
        Json(OrderView::new(state, &state.ledger.payments, order.version, OrderReader::Staff)).into_response()
    }
    let router = Router::new().route("/order", on_get(show_order)).with_state(order);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
    address
}

async fn size((address, request): &(SocketAddr, Vec<u8>)) -> usize {
    Client::connect(*address).await.ask(request).await.len()
}

async fn drive((address, request): &(SocketAddr, Vec<u8>)) -> Round {
    repeat(Client::several(*address, CONNECTIONS).await, request).await
}
