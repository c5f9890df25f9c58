//! Uploads whose headers are too large to be read into memory: meanwhile, health checks and emergency stops are
//! answered, and the server's memory usage stays low.

use simulator::gcode::swollen::million_entries;
use simulator::{Fleet, FleetOptions, PrinterKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{app, stops_in_time};
use crate::support::App;

/// Maximum memory usage that these uploads may add, in KiB.
const MAX_MEMORY_KIB: u64 = 100 << 10;
/// Number of concurrent uploads.
const UPLOADS: usize = 4;

/// Returns the server's peak memory usage so far, in KiB.
fn peak_kib(app: &App) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", app.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Starts a server with a printer to stop.
async fn with_printer() -> (App, Fleet, String) {
    let app = app(&[]).await;
    let fleet = Fleet::start(FleetOptions::of(PrinterKind::FwRest, 1)).await.unwrap();
    let printer = app.printer(&fleet.printers[0]).await;
    (app, fleet, printer)
}

/// Sends emergency stops and health checks until these uploads are complete, and then checks the server's memory usage.
async fn stops_beside(app: &App, printer: &str, uploads: Vec<tokio::task::JoinHandle<u16>>) {
    let before = peak_kib(app);
    let mut rounds = 0;
    while rounds < 10 || uploads.iter().any(|upload| !upload.is_finished()) {
        stops_in_time(app, printer).await;
        rounds += 1;
    }
    for upload in uploads {
        let status = upload.await.unwrap();
        assert!(matches!(status, 400 | 413 | 431), "{status}");
    }
    // The kernel sums up the counters of threads now and then, so that a later peak may be a little lower.
    let grown = peak_kib(app).saturating_sub(before);
    assert!(grown < MAX_MEMORY_KIB, "{grown} KiB more");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_of_a_million_entries_delays_no_emergency_stop() {
    let (app, _fleet, printer) = with_printer().await;
    let package = million_entries();
    let uploads = (0..UPLOADS).map(|n| {
        let (client, package) = ((*app).clone(), package.clone());
        tokio::spawn(async move { client.upload(&format!("{n}.gcode.3mf"), package).await.status })
    });
    stops_beside(&app, &printer, uploads.collect()).await;
}

/// Sends an upload whose only part has a header of 150 MB, until the server stops accepting data. Returns the status of
/// the response.
async fn header_of_150_mb(address: String, key: String) -> u16 {
    const BYTES: usize = 150_000_000;
    let begin = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"";
    let end = ".gcode\"\r\n\r\nG28\n\r\n--b--\r\n";
    let head = format!(
        "POST /api/files HTTP/1.1\r\nhost: shop\r\nx-api-key: {key}\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: {}\r\n\r\n{begin}",
        begin.len() + BYTES + end.len()
    );
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut from, mut to) = stream.into_split();
    let writing = tokio::spawn(async move {
        let piece = vec![b'a'; 1_000_000];
        to.write_all(head.as_bytes()).await?;
        for _ in 0..BYTES / piece.len() {
            to.write_all(&piece).await?;
        }
        to.write_all(end.as_bytes()).await?;
        Ok::<_, std::io::Error>(to)
    });
    let mut answer = vec![0; 4096];
    let length = from.read(&mut answer).await.unwrap_or(0);
    writing.abort();
    let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.unwrap_or_else(|| panic!("no answer but {answer:?}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_header_of_150_mb_delays_no_emergency_stop() {
    let (app, _fleet, printer) = with_printer().await;
    let address = app.request("GET", "/").build().unwrap().url().socket_addrs(|| None).unwrap()[0].to_string();
    let key = app.key.clone().unwrap();
    let uploads = (0..UPLOADS).map(|_| tokio::spawn(header_of_150_mb(address.clone(), key.clone())));
    stops_beside(&app, &printer, uploads.collect()).await;
}
