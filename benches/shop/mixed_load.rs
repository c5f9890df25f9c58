//! Benchmark of mixed load on the installed program: 64 clients read, write, upload and follow the event stream for ten
//! minutes, while simulated printers print. Then three times as many requests arrive as the server can answer, with
//! emergency stops among them.
//!
//! Runs only by name, because it takes long. Server and clients share the machine's cores: the figures include the CPU
//! time of the clients and printers themselves.

mod callers;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use simulator::{Fleet, FleetOptions, PrinterKind};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use self::callers::{LoadTally, LoadedShop, follow, order_prints, read, upload_and_delete, write};
use super::client::{Client, get};
use super::ground::folder;
use super::how_many;
use super::remote::Remote;
use super::storms::{self, Counts, GOODPUT_AIM, LASTS, RECONNECT_PAUSE, Storm, goodput};
use super::table::Row;

/// Duration of the mixed load in seconds, unless `PRINTFLOOR_BENCH_SECONDS` is set.
const SECONDS: usize = 600;
/// Numbers of clients that read, write, upload and follow events; 64 in total.
const READERS: usize = 32;
const WRITERS: usize = 16;
const UPLOADERS: usize = 8;
const FOLLOWERS: usize = 8;
/// Number of printers of each type that prints text G-code, and their speed, at which a print of a minute takes 0.3 s.
const PRINTERS: usize = 5;
const SPEED: f64 = 200.0;
/// Seed of the printer that is stopped, which gives it a unique serial number.
const OWN_SEED: u64 = 4711;
const CONNECTED_WITHIN: Duration = Duration::from_secs(60);
/// Interval between two samples of the server's memory usage.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);
/// Maximum ratio of memory usage in the last third of the run to that in the middle third.
const MEMORY_AIM: f64 = 1.15;
/// Minimum duration of a run whose memory usage is checked, in seconds. Idle resources leave memory only after half a
/// minute, so memory usage only grows in a short run.
const JUDGED_FROM_SECONDS: usize = 180;
/// Numbers of connections that are tried to determine the peak throughput.
const PEAK_CONNECTIONS: [usize; 3] = [32, 64, 256];
/// Number of connections that send more requests than can be answered, and ratio of their request rate to the peak
/// throughput.
const STORM_CONNECTIONS: usize = 1_500;
const SATURATION: f64 = 3.0;
/// Period over which the connections of the storm are opened.
const STORM_BEGINS: Duration = Duration::from_secs(2);

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let folder = folder();
    let fleet = Fleet::start(FleetOptions { speed: SPEED, ..FleetOptions::of_each_for_text(PRINTERS) }).await.unwrap();
    let app = Remote::start_program(folder.path()).await;
    let printers = app.connect(&fleet, CONNECTED_WITHIN).await;
    let shop = Arc::new(LoadedShop::of(&app, &printers[0]).await);
    let mut rows = steady(&app, &shop).await;
    rows.extend(saturated(&app, &shop).await);
    app.end().await;
    fleet.shutdown();
    rows
}

/// Runs all clients for the whole duration; measures the server's memory usage and the unexpected responses.
async fn steady(app: &Remote, shop: &Arc<LoadedShop>) -> Vec<Row> {
    let seconds = how_many("PRINTFLOOR_BENCH_SECONDS", SECONDS);
    let (began, tally) = (Instant::now(), Arc::new(LoadTally::default()));
    let end = began + Duration::from_secs(seconds as u64);
    let mut clients = JoinSet::new();
    for n in 0..READERS {
        clients.spawn(read(shop.clone(), tally.clone(), n, end));
    }
    for n in 0..WRITERS {
        clients.spawn(write(shop.clone(), tally.clone(), n, end));
    }
    for n in 0..UPLOADERS {
        clients.spawn(upload_and_delete(shop.clone(), tally.clone(), n, end));
    }
    for _ in 0..FOLLOWERS {
        clients.spawn(follow(shop.clone(), tally.clone(), end));
    }
    clients.spawn(order_prints(shop.clone(), tally.clone(), end));
    let (mut samples, mut tick) = (Vec::new(), interval(SAMPLE_EVERY));
    while Instant::now() < end {
        tick.tick().await;
        samples.push(app.resident() as f64);
    }
    clients.join_all().await;
    let per_second = tally.good() as f64 / began.elapsed().as_secs_f64();
    let (refused, errors) = (tally.refused(), tally.errors());
    let printed = get("/api/jobs?state=COMPLETED&limit=1", &app.key);
    let printed: Value = serde_json::from_slice(Client::connect(app.address).await.ask(&printed).await).unwrap();
    let parts = &printed["pagination"]["total"];
    let what = format!("{} clients for {seconds} s", READERS + WRITERS + UPLOADERS + FOLLOWERS);
    let answers = format!("{per_second:.0}/s good, {refused} refused with Retry-After, {parts} parts printed");
    let words = errors.iter().map(|(words, count)| format!("{words} ({count})")).collect::<Vec<_>>().join(", ");
    let unexpected = errors.values().sum::<u64>() as f64;
    vec![
        Row::figure(format!("{what}: answers"), answers),
        Row::figure(format!("{what}: other answers, or none"), format!("{unexpected} {words}"))
            .at_most(unexpected, 1.0, "answers"),
        memory_row(&what, &samples),
    ]
}

/// Compares memory usage in the last third of the run with that in the middle third; the first third is warm-up. A
/// short run is not checked.
fn memory_row(what: &str, samples: &[f64]) -> Row {
    let third = samples.len() / 3;
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len().max(1) as f64 / 1_048_576.0;
    let (middle, last) = (mean(&samples[third..2 * third]), mean(&samples[2 * third..]));
    let ratio = last / middle;
    let mut row = Row::figure(format!("{what}: resident memory, last third"), format!("{last:.1} MiB"));
    row.against = format!("third before: {middle:.1} MiB");
    row.ratio = format!("{ratio:.2}");
    if samples.len() < JUDGED_FROM_SECONDS { row } else { row.at_most(ratio, MEMORY_AIM, "times") }
}

/// Sends three times as many requests as the server can answer; measures the successful responses and emergency stops.
async fn saturated(app: &Remote, shop: &Arc<LoadedShop>) -> Vec<Row> {
    let own = Fleet::start(FleetOptions { seed: OWN_SEED, ..FleetOptions::of(PrinterKind::FwRest, 1) }).await.unwrap();
    let printer = app.register(&own).await.remove(0);
    let stopped = storms::StormShop { app, fleet: &own, printer };
    let mut peak: f64 = 0.0;
    for connections in PEAK_CONNECTIONS {
        let storm = Saturation::start(shop, connections, None);
        peak = peak.max(goodput(&storm.counts).await);
        storm.end();
    }
    let storm = Saturation::start(shop, STORM_CONNECTIONS, Some(SATURATION * peak));
    sleep(STORM_BEGINS).await;
    let (before, began) = (storm.sent.load(Ordering::Relaxed), Instant::now());
    let what = format!("{SATURATION} times the peak, on {STORM_CONNECTIONS} connections");
    let (stops, good) = tokio::join!(stopped.stops(&what), goodput(&storm.counts));
    let sent = (storm.sent.load(Ordering::Relaxed) - before) as f64 / began.elapsed().as_secs_f64();
    let refused = storm.counts.refused.load(Ordering::Relaxed) as f64 / (LASTS + STORM_BEGINS).as_secs_f64();
    let unexpected = storm.unexpected.load(Ordering::Relaxed) as f64;
    storm.end();
    own.shutdown();
    let mut rows = vec![
        Row::ratio(format!("goodput under {what}"), ("peak", peak), Some(GOODPUT_AIM), good),
        Row::figure(
            format!("requests under {what}"),
            format!("{sent:.0}/s sent ({:.1} times the peak), {refused:.0}/s refused", sent / peak),
        ),
        Row::figure(format!("other answers under {what}"), unexpected.to_string()).at_most(unexpected, 1.0, "answers"),
    ];
    rows.extend(stops);
    rows
}

/// Clients that send requests as fast as they can, or at a given rate, regardless of `Retry-After`.
struct Saturation {
    storm: Storm,
    counts: Arc<Counts>,
    /// Number of requests sent.
    sent: Arc<AtomicUsize>,
    /// Number of responses that are neither successful nor refusals with `Retry-After`.
    unexpected: Arc<AtomicU64>,
}

impl Saturation {
    /// Starts clients on this number of connections; `per_second` is their total request rate, `None` for as many as
    /// possible.
    fn start(shop: &Arc<LoadedShop>, connections: usize, per_second: Option<f64>) -> Self {
        let (counts, sent, unexpected) = (Arc::new(Counts::default()), Arc::default(), Arc::default());
        let pause = per_second.map(|per_second| Duration::from_secs_f64(connections as f64 / per_second));
        let repeat = Repeat { shop: shop.clone(), counts, sent, unexpected, pause };
        let (counts, sent, unexpected) = (repeat.counts.clone(), repeat.sent.clone(), repeat.unexpected.clone());
        let storm = Storm::start(async move {
            for n in 0..connections {
                tokio::spawn(repeat.clone().run(n));
            }
            std::future::pending::<()>().await;
        });
        Self { storm, counts, sent, unexpected }
    }

    fn end(self) {
        self.storm.end();
    }
}

/// Client of the storm.
#[derive(Clone)]
struct Repeat {
    shop: Arc<LoadedShop>,
    counts: Arc<Counts>,
    sent: Arc<AtomicUsize>,
    unexpected: Arc<AtomicU64>,
    /// Interval between two requests; `None` if each follows the previous response immediately.
    pause: Option<Duration>,
}

impl Repeat {
    async fn run(self, n: usize) {
        let mut tick = self.pause.map(interval);
        if let Some(tick) = &mut tick {
            // What was late is made up for.
            tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
        }
        let mut round = n;
        loop {
            let Some(mut client) = Client::try_connect(self.shop.address).await else {
                sleep(RECONNECT_PAUSE).await;
                continue;
            };
            loop {
                if let Some(tick) = &mut tick {
                    tick.tick().await;
                }
                round += 1;
                let number = self.sent.fetch_add(1, Ordering::Relaxed);
                let request = self.shop.change_or_reading(round, number);
                // The server may close a connection that is too many.
                let Some(answer) = client.answer(&request).await else { break };
                let count = match (answer.status, answer.has_retry_after) {
                    (200 | 201, _) => &self.counts.good,
                    (429 | 503, true) => &self.counts.refused,
                    _ => &*self.unexpected,
                };
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Builds the body of an order for one part.
fn one_of(sku: &str) -> String {
    json!({"lines": [{"skuId": sku, "quantity": 1}], "customerEmail": "buyer@example.org"}).to_string()
}
