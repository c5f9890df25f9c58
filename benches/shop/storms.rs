//! Emergency stops, and the work of the others, while clients storm: strangers who begin emergency stops and never
//! finish them, and clients that repeat at once whatever `Retry-After` says.
//!
//! Every stop comes on a connection of its own, as a person's would, and is looked for in the log of the printer.
//! Server, clients and printer share the machine's cores: the figures hold what the clients themselves take.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use simulator::printer::{Machine, What};
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

/// How long each storm lasts.
const LASTS: Duration = Duration::from_secs(10);
/// One stop in each.
const EVERY: Duration = Duration::from_millis(50);
/// A stop that is not answered by then is lost.
const PATIENCE: Duration = Duration::from_secs(20);
const AIM_MS: f64 = 100.0;
/// Unfinished emergency stops that strangers begin in a second.
const BEGUN_PER_SECOND: [u64; 2] = [800, 2_400];
/// Strangers begin so many at once.
const BATCH: u64 = 8;
/// How long a stranger holds its connection.
const HELD: Duration = Duration::from_secs(5);
/// Connections among which the peak is looked for.
const PEAK_CONNECTIONS: [usize; 3] = [32, 128, 512];
/// Connections that repeat at once.
const STORM_CONNECTIONS: usize = 1_500;
/// Least goodput in the storm, of the peak.
const GOODPUT_AIM: f64 = 0.8;
/// Pause of a client whose connection is refused.
const RECONNECT_PAUSE: Duration = Duration::from_millis(1);

/// The part.
pub async fn run() -> Vec<Row> {
    let folder = folder();
    let fleet = FleetOptions { printers: vec![(PrinterKind::FwRest, 1)], ..FleetOptions::default() };
    let fleet = Fleet::start(fleet).await.unwrap();
    let app = Remote::start(folder.path(), None).await;
    let printer = app.register(&fleet).await.remove(0);
    let shop = Shop { app: &app, fleet: &fleet, printer };
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

struct Shop<'a> {
    app: &'a Remote,
    fleet: &'a Fleet,
    printer: String,
}

impl Shop<'_> {
    /// Stops the printer again and again; gives how soon that was answered, and how many stops were lost.
    async fn stops(&self, what: &str) -> Vec<Row> {
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

    /// How many stops have reached the printer.
    fn stopped(&self) -> usize {
        let log = self.fleet.printers[0].handle.log();
        log.iter().filter(|entry| matches!(entry.what, What::EmergencyStop)).count()
    }

    /// Clients that list orders without pause, on so many connections.
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

/// Answers to clients that repeat.
#[derive(Default)]
struct Counts {
    good: AtomicU64,
    refused: AtomicU64,
}

/// Good answers in a second, after a while in which connections come up.
async fn goodput(counts: &Counts) -> f64 {
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

/// Clients on a thread of their own: what they take of the processor is what the system gives them, not the simulated
/// printer's or the person's turn.
struct Storm {
    end: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Storm {
    fn start(storm: impl Future<Output = ()> + Send + 'static) -> Self {
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

    fn end(self) {
        drop(self.end);
        self.thread.join().unwrap();
    }
}
