//! Benchmark of emergency stops and other work during request storms: anonymous clients that start emergency stops and
//! never finish them, and clients that retry immediately, regardless of `Retry-After`.
//!
//! Every stop uses a new connection, as an operator's would, and is verified in the printer's log. Server, clients and
//! printer share the machine's cores: the figures include the CPU time of the clients themselves.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use simulator::printer::{Machine, PhysicalEvent};
use simulator::{Fleet, FleetOptions, PrinterKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};

use super::client::{Client, get, post_plain};
use super::ground::folder;
use super::load::percentile;
use super::remote::Remote;
use super::table::Row;

/// Duration of each storm.
pub const LASTS: Duration = Duration::from_secs(10);
/// Interval between two stops.
const EVERY: Duration = Duration::from_millis(50);
/// Time after which an unanswered stop counts as lost.
const PATIENCE: Duration = Duration::from_secs(20);
const AIM_MS: f64 = 100.0;
/// Number of unfinished emergency stops that anonymous clients start per second.
const BEGUN_PER_SECOND: [u64; 2] = [800, 2_400];
/// Number of unfinished stops that are started at once.
const BATCH: u64 = 8;
/// Time for which an anonymous client holds its connection.
const HELD: Duration = Duration::from_secs(5);
/// Numbers of connections that are tried to determine the peak throughput.
const PEAK_CONNECTIONS: [usize; 3] = [32, 128, 512];
/// Number of connections that retry immediately.
const STORM_CONNECTIONS: usize = 1_500;
/// Minimum rate of successful responses during the storm, as a share of the peak.
pub const GOODPUT_AIM: f64 = 0.8;
/// Pause of a client after a refused connection.
pub const RECONNECT_PAUSE: Duration = Duration::from_millis(1);

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let folder = folder();
    let fleet = FleetOptions { printers: vec![(PrinterKind::FwRest, 1)], ..FleetOptions::default() };
    let fleet = Fleet::start(fleet).await.unwrap();
    let app = Remote::start(folder.path(), None).await;
    let printer = app.register(&fleet).await.remove(0);
    let shop = StormShop { app: &app, fleet: &fleet, printer };
    let mut rows = Vec::new();
    for per_second in BEGUN_PER_SECOND {
        let storm = Storm::start(begin_stops(app.address, per_second));
        let what = format!("{per_second} unfinished emergency stops a second by strangers");
        rows.extend(shop.stops(&what).await);
        storm.end();
    }
    let mut peak: f64 = 0.0;
    for connections in PEAK_CONNECTIONS {
        let (storm, counts) = shop.repeating(connections);
        peak = peak.max(goodput(&counts).await);
        storm.end();
    }
    let (storm, counts) = shop.repeating(STORM_CONNECTIONS);
    // Connections come up first.
    sleep(Duration::from_secs(2)).await;
    let what = format!("{STORM_CONNECTIONS} connections that repeat at once");
    let (stops, good) = tokio::join!(shop.stops(&what), goodput(&counts));
    storm.end();
    rows.extend(stops);
    rows.push(Row::ratio(format!("goodput of {what}"), ("peak", peak), Some(GOODPUT_AIM), good));
    let refused = counts.refused.load(Ordering::Relaxed) as f64 / (LASTS.as_secs_f64() + 2.0);
    rows.push(Row::figure(format!("refusals of {what}"), format!("{refused:.0}/s")));
    app.end().await;
    fleet.shutdown();
    rows
}

/// Server, and the simulated printer that is stopped.
pub struct StormShop<'a> {
    /// Server to which the stops are sent.
    pub app: &'a Remote,
    /// Fleet whose first printer is stopped.
    pub fleet: &'a Fleet,
    /// ID of the printer that is stopped.
    pub printer: String,
}

impl StormShop<'_> {
    /// Stops the printer repeatedly; measures the response times and the number of lost stops.
    pub async fn stops(&self, what: &str) -> Vec<Row> {
        let stop = post_plain(&format!("/api/printers/{}/emergency-stop", self.printer), &self.app.key, "");
        let (before, end) = (self.stopped(), Instant::now() + LASTS);
        let (mut took, mut unanswered) = (Vec::new(), 0);
        let mut tick = interval(EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while Instant::now() < end {
            tick.tick().await;
            // A printer that stands still already has nothing to stop, and writes nothing down.
            self.fleet.printers[0].handle.with(Machine::restart).unwrap();
            let began = Instant::now();
            let answered =
                timeout(PATIENCE, async { Client::try_connect(self.app.address).await?.status(&stop).await });
            if answered.await == Ok(Some(200)) {
                took.push(began.elapsed().as_secs_f64() * 1000.0);
            } else {
                unanswered += 1;
            }
        }
        let count = took.len() + unanswered;
        let never_stopped = count.saturating_sub(self.stopped() - before);
        let [p50, p99, most] = [0.5, 0.99, 1.0].map(|share| percentile(&mut took, share));
        let words = format!("p99 {p99:.1} ms (median {p50:.1}, longest {most:.1}, of {count})");
        let lost = format!("{unanswered} unanswered, {never_stopped} not at the printer");
        vec![
            Row::figure(format!("emergency stop under {what}"), words).at_most(p99, AIM_MS, "ms"),
            Row::figure(format!("emergency stops lost under {what}"), lost).at_most(
                (unanswered + never_stopped) as f64,
                1.0,
                "lost",
            ),
        ]
    }

    /// Returns the number of stops that reached the printer.
    fn stopped(&self) -> usize {
        let log = self.fleet.printers[0].handle.log();
        log.iter().filter(|entry| matches!(entry.what, PhysicalEvent::EmergencyStop)).count()
    }

    /// Starts clients that list orders without pause, on this number of connections.
    fn repeating(&self, connections: usize) -> (Storm, Arc<Counts>) {
        let (address, counts) = (self.app.address, Arc::new(Counts::default()));
        let request: Arc<[u8]> = get("/api/orders?limit=50", &self.app.key).into();
        let all = (0..connections).map(|_| repeat(address, request.clone(), counts.clone()));
        let all: Vec<_> = all.collect();
        let storm = Storm::start(async move {
            for one in all {
                tokio::spawn(one);
            }
            std::future::pending::<()>().await;
        });
        (storm, counts)
    }
}

/// Counts of the responses to the repeating clients.
#[derive(Default)]
pub struct Counts {
    /// Number of successful responses.
    pub good: AtomicU64,
    /// Number of all other responses.
    pub refused: AtomicU64,
}

/// Measures the rate of successful responses per second, after a warm-up in which connections are opened.
pub async fn goodput(counts: &Counts) -> f64 {
    sleep(Duration::from_secs(1)).await;
    let (before, began) = (counts.good.load(Ordering::Relaxed), Instant::now());
    sleep(LASTS / 2).await;
    (counts.good.load(Ordering::Relaxed) - before) as f64 / began.elapsed().as_secs_f64()
}

async fn repeat(address: SocketAddr, request: Arc<[u8]>, counts: Arc<Counts>) {
    loop {
        if let Some(mut client) = Client::try_connect(address).await {
            while let Some(status) = client.status(&request).await {
                let count = if status == 200 { &counts.good } else { &counts.refused };
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
        sleep(RECONNECT_PAUSE).await;
    }
}

async fn begin_stops(address: SocketAddr, per_second: u64) {
    const BEGIN: &[u8] =
        b"POST /api/printers/01890a5d-ac96-774b-bcce-b302099a8069/emergency-stop HTTP/1.1\r\nhost: bench\r\n";
    let mut tick = interval(Duration::from_micros(1_000_000 * BATCH / per_second));
    loop {
        tick.tick().await;
        for _ in 0..BATCH {
            tokio::spawn(async move {
                if let Ok(mut stream) = TcpStream::connect(address).await {
                    let _ = stream.write_all(BEGIN).await;
                    let _ = timeout(HELD, stream.read_u8()).await;
                }
            });
        }
    }
}

/// Clients on a separate thread, which the operating system schedules so that they do not take the turn of the
/// simulated printer or of the operator's client.
pub struct Storm {
    end: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Storm {
    /// Runs the clients until [`Self::end`].
    pub fn start(storm: impl Future<Output = ()> + Send + 'static) -> Self {
        let (end, ended) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                tokio::select! {
                    biased; // the end before the storm
                    _ = ended => {}
                    () = storm => {}
                }
            });
        });
        Self { end, thread }
    }

    /// Ends the clients and their thread.
    pub fn end(self) {
        drop(self.end);
        self.thread.join().unwrap();
    }
}
