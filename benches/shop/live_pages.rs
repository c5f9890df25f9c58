//! Benchmark of the live pages: the cost and the size of a page of 200 printers, the latency from a change at a printer
//! to open pages, and the cost of open pages.
//!
//! The server is a separate process; printers and browsers run in this one and share its cores.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use simulator::printer::PhysicalEvent;
use simulator::{Fleet, FleetOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::client::Client;
use super::floor::{events, finished, order};
use super::ground::folder;
use super::how_many;
use super::load::percentile;
use super::remote::Remote;
use super::table::Row;
use super::waiting::patiently;
use super::webhook::now;

/// Number of printers of each type that accepts text G-code.
const PRINTERS: usize = 50;
/// Speed factor at which a print of a minute takes ten seconds.
const SHORT_SPEED: f64 = 6.0;
/// Speed factor at which a print of a minute outlasts the measurement.
const LONG_SPEED: f64 = 0.02;
/// Number of pages requested in succession.
const PAGES: usize = 40;
/// Interval between page requests, longer than the view of the floor is cached, so that each request recomputes it.
const PAGE_EVERY: Duration = Duration::from_millis(450);
/// Number of open pages.
const STREAMS: usize = 50;
/// Duration of each CPU measurement in seconds, unless `PRINTFLOOR_BENCH_SECONDS` is set.
const SECONDS: usize = 30;
/// Settling time, so that the initial state is not counted.
const SETTLE: Duration = Duration::from_secs(3);
const CONNECTED_WITHIN: Duration = Duration::from_secs(120);
const PAGE_AIM_MS: f64 = 100.0;
const TOLD_AIM_MS: f64 = 1_000.0;
/// Maximum CPU usage of all open pages together, in percent of a core.
const CPU_AIM: f64 = 30.0;
/// Maximum number of bytes per second that one open page receives.
const BYTES_AIM: f64 = 5_000.0;
/// Maximum size of the page as transferred to a browser, in kilobytes.
const PAGE_KB: f64 = 70.0;
/// Value of browsers' `Accept-Encoding` header.
const BROWSERS_TAKE: &str = "gzip, deflate, br, zstd";
const EMAIL: &str = "sam@example.org";
const PASSWORD: &str = "correct horse battery";

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let seconds = how_many("PRINTFLOOR_BENCH_SECONDS", SECONDS) as u64;
    let folder = folder();
    let options = FleetOptions { speed: SHORT_SPEED, ..FleetOptions::of_each_for_text(PRINTERS) };
    let fleet = Fleet::start(options).await.unwrap();
    let app = Remote::start(folder.path(), None).await;
    let ids = app.connect(&fleet, CONNECTED_WITHIN).await;
    let sku = app.sku().await;
    let browser = MeasuredBrowser::new(&app).await;
    let mut rows = measure_delivery(&app, &browser, &fleet, &ids, &sku).await;

    let before = begun(&fleet);
    fleet.printers.iter().for_each(|printer| printer.handle.set_speed(LONG_SPEED));
    order(&app, &sku, ids.len()).await;
    patiently(async || begun(&fleet) >= before + ids.len()).await;
    sleep(SETTLE).await;
    let quiet = cpu_percent(&app, seconds).await;
    let (of_pages, version) = pages(&app, &browser, ids.len()).await;
    rows.extend(of_pages);
    rows.extend(open_pages(&app, &browser, ids.len(), &version, (seconds, quiet)).await);
    app.end().await;
    fleet.shutdown();
    rows
}

/// Session of a signed-in staff member.
pub struct MeasuredBrowser {
    cookie: String,
}

impl MeasuredBrowser {
    /// Creates a user and signs in.
    pub async fn new(app: &Remote) -> Self {
        let user = json!({"email": EMAIL, "name": "Sam", "role": "operator", "password": PASSWORD});
        app.make("/api/users", &user).await;
        let body = json!({"email": EMAIL, "password": PASSWORD}).to_string();
        let head =
            "POST /api/auth/login HTTP/1.1\r\nhost: bench\r\nconnection: close\r\ncontent-type: application/json";
        let request = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let mut stream = TcpStream::connect(app.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = cookie.unwrap_or_else(|| panic!("no session: {answer}"));
        Self { cookie: cookie.split(';').next().unwrap().to_owned() }
    }

    /// Builds a request for a page. `takes` is the `Accept-Encoding`; empty for none.
    pub fn get(&self, path: &str, takes: &str) -> Vec<u8> {
        let head = format!("GET {path} HTTP/1.1\r\nhost: bench\r\ncookie: {}\r\n", self.cookie);
        format!("{head}accept-encoding: {takes}\r\n\r\n").into_bytes()
    }

    /// Opens the stream of a page that shows this version of the floor.
    async fn follow(&self, app: &Remote, version: &str, takes: &str) -> TcpStream {
        let mut stream = TcpStream::connect(app.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        stream.write_all(&self.get(&format!("/floor/live?after={version}"), takes)).await.unwrap();
        stream
    }
}

/// Returns the number of prints that began.
fn begun(fleet: &Fleet) -> usize {
    events(fleet, |what| matches!(what, PhysicalEvent::Started { .. }))
}

/// Measures the CPU usage of the server's process over `seconds`, in percent of a core.
async fn cpu_percent(app: &Remote, seconds: u64) -> f64 {
    let (before, began) = (app.cpu_seconds(), Instant::now());
    sleep(Duration::from_secs(seconds)).await;
    (app.cpu_seconds() - before) / began.elapsed().as_secs_f64() * 100.0
}

/// Prints one part on each printer and measures the latency from the start and the end of its print, according to the
/// printer's clock, to the updated printer card in a page's stream.
async fn measure_delivery(
    app: &Remote,
    browser: &MeasuredBrowser,
    fleet: &Fleet,
    ids: &[String],
    sku: &str,
) -> Vec<Row> {
    let (tell, mut parts) = mpsc::unbounded_channel();
    let reading = tokio::spawn(read_parts(browser.follow(app, "0", "").await, tell));
    sleep(SETTLE).await;
    order(app, sku, ids.len()).await;
    finished(fleet, ids.len()).await;
    sleep(SETTLE).await;
    reading.abort();
    let mut history: HashMap<String, Vec<(Timestamp, bool)>> = HashMap::new();
    while let Ok((at, part)) = parts.try_recv() {
        let id = part["id"].as_str().unwrap_or_default().to_owned();
        let prints = part["html"].as_str().unwrap_or_default().contains(">Printing<");
        history.entry(id).or_default().push((at, prints));
    }
    let (mut all, mut by_type): (Vec<f64>, BTreeMap<&str, Vec<f64>>) = Default::default();
    for (printer, id) in fleet.printers.iter().zip(ids) {
        let cards = history.get(&format!("printer-{id}")).map(Vec::as_slice).unwrap_or_default();
        for entry in printer.handle.log() {
            let should_print = match entry.what {
                PhysicalEvent::Started { .. } => true,
                PhysicalEvent::Finished { .. } => false,
                _ => continue,
            };
            let first = cards.iter().find(|(at, prints)| *at >= entry.at && *prints == should_print);
            // What was never told took for ever.
            let took = first.map_or(f64::INFINITY, |(at, _)| at.duration_since(entry.at).as_secs_f64() * 1000.0);
            all.push(took);
            by_type.entry(printer.kind.as_str()).or_default().push(took);
        }
    }
    let figures = |took: &mut Vec<f64>| [0.5, 0.95, 1.0].map(|share| percentile(took, share));
    let words = |[p50, p95, most]: [f64; 3]| format!("p95 {p95:.0} ms (median {p50:.0}, longest {most:.0})");
    let (printers, count) = (ids.len(), all.len());
    let of_all = figures(&mut all);
    let what = format!("{printers} printers: a change at a printer to its event on the stream of a page, of {count}");
    let mut rows = vec![Row::figure(what, words(of_all)).at_most(of_all[1], TOLD_AIM_MS, "ms")];
    rows.extend(by_type.into_iter().map(|(kind, mut took)| {
        let what = format!("of these of type {kind}, of {}", took.len());
        Row::figure(what, words(figures(&mut took)))
    }));
    rows
}

/// Reads a stream until it ends, and sends each fragment with its time of arrival.
async fn read_parts(mut stream: TcpStream, tell: mpsc::UnboundedSender<(Timestamp, Value)>) {
    let mut text = Vec::new();
    while stream.read_buf(&mut text).await.unwrap() > 0 {
        let at = now();
        while let Some(end) = text.windows(2).position(|two| two == b"\n\n") {
            let block: Vec<u8> = text.drain(..end + 2).collect();
            let block = String::from_utf8_lossy(&block);
            // The lengths of pieces stand on lines of their own.
            let data = block.lines().find_map(|line| line.strip_prefix("data: "));
            let part = data.and_then(|data| serde_json::from_str::<Value>(data).ok());
            if let Some(part) = part.filter(|part| part["id"].is_string()) {
                let _ = tell.send((at, part));
            }
        }
    }
}

/// Requests the floor page repeatedly, compressed as for browsers; also returns the version of the floor afterwards.
async fn pages(app: &Remote, browser: &MeasuredBrowser, printers: usize) -> ([Row; 2], String) {
    let request = browser.get("/floor", BROWSERS_TAKE);
    let mut client = Client::connect(app.address).await;
    let (mut took, mut packed) = (Vec::new(), 0);
    for _ in 0..PAGES {
        sleep(PAGE_EVERY).await;
        let began = Instant::now();
        let answer = client.ask(&request).await;
        took.push(began.elapsed().as_secs_f64() * 1000.0);
        packed = packed.max(answer.len());
    }
    let page = String::from_utf8_lossy(client.ask(&browser.get("/floor", "")).await).into_owned();
    assert_eq!(page.matches("<li id=\"printer-").count(), printers, "each printer has a card");
    let version = page.split_once("data-version=\"").unwrap().1.split('"').next().unwrap().to_owned();
    let [p50, p95, most] = [0.5, 0.95, 1.0].map(|share| percentile(&mut took, share));
    let of = format!("{printers} printers that print: the floor page");
    let words = format!("p95 {p95:.1} ms (median {p50:.1}, longest {most:.1})");
    let kilobytes = packed as f64 / 1000.0;
    let rows = [
        Row::figure(format!("{of}, made anew and compressed, of {PAGES}"), words).at_most(p95, PAGE_AIM_MS, "ms"),
        Row::figure(
            format!("{of}, as a browser receives it"),
            format!("{kilobytes:.1} KB, {} KB before compression", page.len() / 1000),
        )
        .at_most(kilobytes, PAGE_KB, "KB"),
    ];
    (rows, version)
}

/// Measures open pages: their additional CPU usage on the server, and the bytes sent to each.
async fn open_pages(
    app: &Remote,
    browser: &MeasuredBrowser,
    printers: usize,
    version: &str,
    (seconds, quiet): (u64, f64),
) -> [Row; 2] {
    let bytes = Arc::new(AtomicU64::new(0));
    let mut reading = Vec::with_capacity(STREAMS);
    for _ in 0..STREAMS {
        let (mut stream, bytes) = (browser.follow(app, version, BROWSERS_TAKE).await, bytes.clone());
        reading.push(tokio::spawn(async move {
            let mut piece = vec![0; 65_536];
            loop {
                let read = stream.read(&mut piece).await.unwrap();
                assert!(read > 0, "the server ended a stream");
                bytes.fetch_add(read as u64, Ordering::Relaxed);
            }
        }));
    }
    sleep(SETTLE).await;
    let (before, began) = (bytes.load(Ordering::Relaxed), Instant::now());
    let cpu = cpu_percent(app, seconds).await;
    let sent = (bytes.load(Ordering::Relaxed) - before) as f64;
    let each = sent / began.elapsed().as_secs_f64() / STREAMS as f64;
    assert!(reading.iter().all(|reading| !reading.is_finished()), "a stream ended");
    reading.iter().for_each(tokio::task::JoinHandle::abort);
    let of = format!("{STREAMS} open pages of {printers} printers that print");
    let cost = (cpu - quiet).max(0.0);
    let mut cost_row =
        Row::figure(format!("{of}: processor time of the server for them"), format!("{cost:.1} % of a core"));
    cost_row.against = format!("no page open: {quiet:.1} % of a core");
    [
        cost_row.at_most(cost, CPU_AIM, "% of a core"),
        Row::figure(format!("{of}: sent to each"), format!("{each:.0} bytes/s")).at_most(each, BYTES_AIM, "bytes/s"),
    ]
}
