//! Benchmark of the time from the request for an emergency stop to its bytes on the printer's connection, while that
//! printer receives a slow upload and 200 others are monitored.
//!
//! A proxy between the server and the printer forwards everything and records when the bytes of a stop arrive. Every
//! stop is requested on a new connection, as an operator's would be, and the time includes opening that connection. The
//! other printers run in a separate process; all processes share the machine's cores.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use simulator::faults::{PrinterFaults, SlowUpload};
use simulator::{Fleet, FleetOptions, PrinterKind};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};

use super::client::{Client, post_plain, upload};
use super::ground::folder;
use super::how_many;
use super::load::percentile;
use super::remote::Remote;
use super::simulated::Simulated;
use super::table::Row;

/// Number of stops, unless `PRINTFLOOR_BENCH_STOPS` is set.
const STOPS: usize = 1_000;
/// Number of watched printers, unless `PRINTFLOOR_BENCH_PRINTERS` is set.
const WATCHED: usize = 200;
/// Seed of the printer that is stopped.
const OWN_SEED: u64 = 4711;
const EVERY: Duration = Duration::from_millis(50);
/// Time after which a stop that has not reached the printer's connection counts as lost.
const PATIENCE: Duration = Duration::from_secs(20);
const CONNECTED_WITHIN: Duration = Duration::from_secs(120);
const AIM_MS: f64 = 20.0;
/// Speed to which the upload is throttled, in bytes per second.
const UPLOAD_SPEED: u64 = 75_000;
/// Size of the upload, in bytes: more than is transferred during the whole measurement.
const UPLOAD_BYTES: usize = 16_000_000;
/// First bytes of a stop.
const STOP: &[u8] = b"POST /printer/emergency_stop";

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let (stops, watched) = (how_many("PRINTFLOOR_BENCH_STOPS", STOPS), how_many("PRINTFLOOR_BENCH_PRINTERS", WATCHED));
    let folder = folder();
    let others = Simulated::start(watched.div_ceil(PrinterKind::ALL.len())).await;
    // Of another seed than the others, or it would have the serial number of one of them.
    let fleet =
        Fleet::start(FleetOptions { seed: OWN_SEED, ..FleetOptions::of(PrinterKind::FwRest, 1) }).await.unwrap();
    let printer = &fleet.printers[0];
    let slow = Some(SlowUpload { bytes_per_second: UPLOAD_SPEED });
    printer.handle.set_faults(PrinterFaults { slow_upload: slow, ..PrinterFaults::default() });
    let (tap, mut arrivals) = tap(printer.base_url.strip_prefix("http://").unwrap().parse().unwrap()).await;
    let app = Remote::start(folder.path(), None).await;
    let mut line: Value = serde_json::from_str(&printer.print_line()).unwrap();
    line["baseUrl"] = format!("http://{tap}").into();
    let ids = app.register_all([line].into_iter().chain(others.printers.iter().map(|other| other.line.clone()))).await;
    app.until_connected(ids.len(), CONNECTED_WITHIN).await;

    let uploading = Arc::new(AtomicBool::new(false));
    let uploads = tokio::spawn(upload_again(app.address, app.key.clone(), ids[0].clone(), uploading.clone()));
    while printer.handle.uploads_begun() == 0 {
        sleep(Duration::from_millis(10)).await;
    }
    let stop = post_plain(&format!("/api/printers/{}/emergency-stop", ids[0]), &app.key, "");
    let (mut took, mut meanwhile) = (Vec::new(), 0);
    let mut tick = interval(EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for _ in 0..stops {
        tick.tick().await;
        meanwhile += usize::from(uploading.load(Ordering::Relaxed));
        let began = Instant::now();
        let request = async {
            Client::connect(app.address).await.ask(&stop).await;
        };
        let (arrived, ()) = tokio::join!(timeout(PATIENCE, arrivals.recv()), request);
        took.push(arrived.unwrap().unwrap().duration_since(began).as_secs_f64() * 1000.0);
    }
    uploads.abort();
    app.end().await;
    fleet.shutdown();
    let [p50, p99, most] = [0.5, 0.99, 1.0].map(|share| percentile(&mut took, share));
    let what = format!(
        "emergency stop: request to the printer's wire, of {stops}, {meanwhile} of them during a slow upload to it, {} others watched",
        others.printers.len()
    );
    let words = format!("p99 {p99:.1} ms (median {p50:.1}, longest {most:.1})");
    vec![Row::figure(what, words).at_most(p99, AIM_MS, "ms")]
}

/// Uploads a large file to the printer repeatedly.
async fn upload_again(address: SocketAddr, key: String, printer: String, uploading: Arc<AtomicBool>) {
    let mut code = "; estimated printing time (normal mode) = 1m\n; filament used [g] = 2.00\nG28\n".to_owned();
    code.push_str(&"G1 X10 Y10 E1\n".repeat(UPLOAD_BYTES / 14));
    let mut client = Client::connect(address).await;
    let file: Value = serde_json::from_slice(client.ask(&upload(&key, "large.gcode", code.as_bytes())).await).unwrap();
    let put = post_plain(&format!("/api/printers/{printer}/files"), &key, &json!({"fileId": file["id"]}).to_string());
    loop {
        uploading.store(true, Ordering::Relaxed);
        Client::connect(address).await.try_ask(&put).await;
        uploading.store(false, Ordering::Relaxed);
        sleep(EVERY).await;
    }
}

/// Starts a proxy in front of a printer; returns its address, and the arrival times of the stops.
pub async fn tap(printer: SocketAddr) -> (SocketAddr, mpsc::UnboundedReceiver<Instant>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, arrivals) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((server, _)) = listener.accept().await {
            let tell = tell.clone();
            tokio::spawn(async move {
                let Ok(printer) = TcpStream::connect(printer).await else { return };
                let _ = (server.set_nodelay(true), printer.set_nodelay(true));
                let ((from_server, to_server), (from_printer, to_printer)) =
                    (server.into_split(), printer.into_split());
                // Whoever ends first ends both.
                tokio::select! {
                    biased; // either is an end
                    () = pass(from_server, to_printer, Some(tell)) => {}
                    () = pass(from_printer, to_server, None) => {}
                }
            });
        }
    });
    (address, arrivals)
}

async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    tell: Option<mpsc::UnboundedSender<Instant>>,
) {
    let mut bytes = vec![0; 65_536];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        if let Some(tell) = &tell
            && bytes[..read].windows(STOP.len()).any(|some| some == STOP)
        {
            let _ = tell.send(Instant::now());
        }
        if to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
    }
}
