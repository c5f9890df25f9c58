//! Benchmark of the latency of health checks and emergency stops while anonymous attackers and clients overload the
//! server.
//!
//! Every check and every stop uses a new connection, as an operator's would. Server, attackers and printer share the
//! machine's cores: the figures include the CPU time of the attackers themselves.

use std::future::Future;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use simulator::{Fleet, FleetOptions, PrinterKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};

use super::client::{Client, get, post_plain, upload};
use super::ground::folder;
use super::load::percentile;
use super::remote::Remote;
use super::table::Row;

/// Duration of each attack.
const LASTS: Duration = Duration::from_secs(10);
/// Interval in which one check and one stop are sent.
const EVERY: Duration = Duration::from_millis(50);
/// Time after which an attacker drops its connection and reconnects.
const HELD: Duration = Duration::from_secs(5);
/// Pause between two connections of one attacker.
const PAUSE: Duration = Duration::from_secs(1);
const AIM_MS: f64 = 100.0;

/// Attack by one attacker, which runs until it is dropped.
type Attack = fn(usize, Arc<AttackTarget>) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Target and payloads of the attackers.
struct AttackTarget {
    address: SocketAddr,
    key: String,
    /// Upload of a small file that decompresses to gigabytes.
    bomb: Vec<u8>,
    /// Upload of a package with a directory of a million entries.
    directory: Vec<u8>,
}

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let folder = folder();
    let fleet = FleetOptions { printers: vec![(PrinterKind::FwRest, 1)], ..FleetOptions::default() };
    let fleet = Fleet::start(fleet).await.unwrap();
    let app = Remote::start(folder.path(), None).await;
    let printer = app.register(&fleet).await.remove(0);
    let (bomb, directory) = (
        upload(&app.key, "bomb.bgcode", &bomb()),
        upload(&app.key, "million.gcode.3mf", &simulator::gcode::swollen::million_entries()),
    );
    let target = Arc::new(AttackTarget { address: app.address, key: app.key.clone(), bomb, directory });
    let attacks: [(&str, usize, Attack); 8] = [
        ("nobody", 0, |_, _| Box::pin(async {})),
        ("1,200 connections that say nothing", 1200, |_, to| Box::pin(held(to, b""))),
        ("1,200 bodies that never come", 1200, |_, to| Box::pin(held(to, UNFINISHED))),
        ("64 guesses of passwords at once", 64, |n, to| Box::pin(guess(n, to))),
        ("4 uploads at once that unpack to gigabytes", 4, |_, to| Box::pin(again(to.clone(), to.bomb.clone()))),
        ("4 packages at once with a million entries", 4, |_, to| Box::pin(again(to.clone(), to.directory.clone()))),
        ("4 uploads at once with a header of 150 MB", 4, |_, to| Box::pin(headers(to))),
        ("64 clients that list without pause", 64, |_, to| Box::pin(lists(to))),
    ];
    let mut rows = Vec::new();
    for (name, count, attack) in attacks {
        let (end, ended) = oneshot::channel::<()>();
        let target_of_all = target.clone();
        // A thread of their own: what they take of the processor is what the system gives them, not the simulated
        // printer's or the person's turn.
        let attackers = std::thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let mut attackers = JoinSet::new();
                for n in 0..count {
                    attackers.spawn(attack(n, target_of_all.clone()));
                }
                let _ = ended.await;
            });
        });
        let [health, stop] = measure(&target, &printer).await;
        drop(end);
        attackers.join().unwrap();
        for (what, mut took) in [("health check", health), ("emergency stop", stop)] {
            let [p50, p99, most] = [0.5, 0.99, 1.0].map(|share| percentile(&mut took, share));
            let words = format!("p99 {p99:.1} ms (median {p50:.1}, longest {most:.1}, of {})", took.len());
            rows.push(Row::figure(format!("{what} under attack by {name}"), words).at_most(p99, AIM_MS, "ms"));
        }
    }
    app.end().await;
    fleet.shutdown();
    rows
}

const UNFINISHED: &[u8] =
    b"POST /api/auth/login HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{";

/// Measures each health check and each emergency stop, in milliseconds.
async fn measure(target: &AttackTarget, printer: &str) -> [Vec<f64>; 2] {
    let check = get("/healthz", "");
    let stop = post_plain(&format!("/api/printers/{printer}/emergency-stop"), &target.key, "");
    let mut took = [const { Vec::new() }; 2];
    let mut tick = interval(EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let end = Instant::now() + LASTS;
    while Instant::now() < end {
        tick.tick().await;
        for (request, took) in [&check, &stop].into_iter().zip(&mut took) {
            let begin = Instant::now();
            Client::connect(target.address).await.ask(request).await;
            took.push(begin.elapsed().as_secs_f64() * 1000.0);
        }
    }
    took
}

/// Sends `say`, which may be empty, and then holds the connection open.
async fn held(to: Arc<AttackTarget>, say: &'static [u8]) {
    loop {
        if let Ok(mut stream) = TcpStream::connect(to.address).await {
            let _ = stream.write_all(say).await;
            let _ = timeout(HELD, stream.read_u8()).await;
        }
        sleep(PAUSE).await;
    }
}

/// Sends the same request repeatedly, whatever the response is.
async fn again(to: Arc<AttackTarget>, request: Vec<u8>) {
    loop {
        if let Ok(mut stream) = TcpStream::connect(to.address).await
            && stream.write_all(&request).await.is_ok()
        {
            let mut answer = vec![0; 65_536];
            let _ = timeout(HELD, stream.read(&mut answer)).await;
        }
        tokio::task::yield_now().await;
    }
}

/// Guesses passwords, each attacker at a different account, so that locking one account does not end the attack.
async fn guess(n: usize, to: Arc<AttackTarget>) {
    let body = format!(r#"{{"email": "someone{n}@example.org", "password": "a guess of a password"}}"#);
    again(to, post_plain("/api/auth/login", "", &body)).await;
}

/// Sends an upload whose only part has an endless header, until the server stops accepting data.
async fn headers(to: Arc<AttackTarget>) {
    const BYTES: usize = 150_000_000;
    let begin = "--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"";
    let head = format!(
        "POST /api/files HTTP/1.1\r\nhost: bench\r\nx-api-key: {}\r\ncontent-type: multipart/form-data; boundary=x\r\n\
         content-length: {BYTES}\r\n\r\n{begin}",
        to.key
    );
    let piece = vec![b'a'; 1_000_000];
    loop {
        if let Ok(mut stream) = TcpStream::connect(to.address).await
            && stream.write_all(head.as_bytes()).await.is_ok()
        {
            for _ in 0..BYTES / piece.len() {
                if !matches!(timeout(HELD, stream.write_all(&piece)).await, Ok(Ok(()))) {
                    break;
                }
            }
        }
        tokio::task::yield_now().await;
    }
}

async fn lists(to: Arc<AttackTarget>) {
    let request = get("/api/audit-log?limit=100", &to.key);
    again(to, request).await;
}

/// Builds binary G-code with the maximum number of metadata blocks, each of which decompresses to a thousand times its
/// size.
fn bomb() -> Vec<u8> {
    const UNPACKED: usize = 4 << 20;
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&vec![b'a'; UNPACKED]).unwrap();
    let packed = packed.finish().unwrap();
    // Magic, version, no checksums.
    let mut file = b"GCDE\x01\0\0\0\0\0".to_vec();
    while file.len() < 370_000 {
        // Type: slicer's metadata; compression: deflate.
        file.extend([2, 0, 1, 0]);
        file.extend((UNPACKED as u32).to_le_bytes());
        file.extend((packed.len() as u32).to_le_bytes());
        file.extend([0, 0]);
        file.extend(&packed);
    }
    file
}
