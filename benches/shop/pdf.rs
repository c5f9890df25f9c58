//! Benchmark of invoice PDFs, each rendered anew: from the request to the last byte, sequentially and for several
//! concurrent clients.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::client::{Client, get, post_plain};
use super::database::Kind;
use super::ground::Ground;
use super::load::{closed_loop, percentile};
use super::table::Row;

/// Numbers of lines of the invoices: a typical one, several pages, and the maximum.
const LINES: [usize; 3] = [3, 30, 300];
/// Number of PDFs requested in succession.
const PDFS: usize = 200;
/// Number of concurrent clients that request without pause.
const CONNECTIONS: usize = 8;

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let ground = Ground::new(Kind::Sqlite).await;
    let mut rows = Vec::new();
    for lines in LINES {
        let invoice = issued(&ground, lines).await;
        let request: Arc<[u8]> = get(&format!("/api/invoices/{invoice}/pdf"), &ground.key).into();
        let what = format!("the PDF of an invoice with {lines} lines");
        rows.push(alone(&ground, &request, &what).await);
        rows.push(at_once(&ground, request, &what).await);
    }
    ground.end().await;
    rows
}

/// Issues an invoice without an email address, so that no email is rendered at the same time; returns its ID.
async fn issued(ground: &Ground, lines: usize) -> String {
    let mut client = Client::connect(ground.address()).await;
    let line = |n: usize| {
        let (what, rate) = (format!("Bracket {n}, left, with two holes"), [1900, 700, 0][n % 3]);
        json!({"description": what, "quantity": n + 1, "unitPriceCents": 1250, "taxRateBps": rate})
    };
    let lines: Vec<Value> = (0..lines).map(line).collect();
    let new = json!({"customerName": "Ann Example", "lineItems": lines}).to_string();
    let answer = client.ask(&post_plain("/api/invoices", &ground.key, &new)).await;
    let answer: Value = serde_json::from_slice(answer).unwrap();
    let invoice = answer["id"].as_str().unwrap().to_owned();
    client.ask(&post_plain(&format!("/api/invoices/{invoice}/send"), &ground.key, "{}")).await;
    invoice
}

async fn alone(ground: &Ground, request: &[u8], what: &str) -> Row {
    let mut client = Client::connect(ground.address()).await;
    let (mut took, mut bytes) = (Vec::with_capacity(PDFS), 0);
    for _ in 0..PDFS {
        let began = Instant::now();
        let pdf = client.ask(request).await;
        took.push(began.elapsed().as_secs_f64() * 1000.0);
        assert!(pdf.starts_with(b"%PDF-"), "it is a PDF");
        bytes = pdf.len();
    }
    let [middle, most] = [0.5, 0.95].map(|share| percentile(&mut took, share));
    Row::figure(format!("{what} ({bytes} bytes), one after the other"), format!("p50 {middle:.1} ms, p95 {most:.1} ms"))
}

async fn at_once(ground: &Ground, request: Arc<[u8]>, what: &str) -> Row {
    let act = move |mut client: Client| {
        let request = request.clone();
        async move {
            client.ask(&request).await;
            client
        }
    };
    let round = closed_loop(Client::several(ground.address(), CONNECTIONS).await, act).await.0;
    let measured = format!("{:.0}/s, p95 {:.1} ms", round.per_second, round.p95);
    Row::figure(format!("{what}, {CONNECTIONS} connections"), measured)
}
