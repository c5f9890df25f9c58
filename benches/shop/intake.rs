//! Benchmark of custom requests of sixty megabytes: duration, and memory usage of the server, which must not buffer
//! them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use futures::future::join_all;
use simulator::pictures;
use tokio::time::{Instant, sleep};

use super::client::Client;
use super::ground::folder;
use super::load::percentile;
use super::remote::Remote;
use super::table::Row;

/// Number of requests in total, and number of concurrent requests.
const REQUESTS: usize = 24;
const AT_ONCE: usize = 4;
/// Number of photos per request, and size of each in bytes.
const PHOTOS: usize = 4;
const PHOTO_BYTES: usize = 15_000_000;
/// Maximum increase of the server's memory usage for all requests together, in MiB.
const AIM_MIB: f64 = 32.0;
/// Interval between two samples of the server's memory.
const LOOK_EVERY: Duration = Duration::from_millis(5);

const FIELDS: [(&str, &str); 8] = [
    ("customerName", "Ann Example"),
    ("email", "ann@example.org"),
    ("productType", "figurine"),
    ("subjectType", "pet"),
    ("styleId", "cartoon"),
    ("sizeId", "medium"),
    ("baseOptionId", "wood"),
    ("colorCount", "2"),
];

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let folder = folder();
    let unlimited = [("PRINTFLOOR_LIMITS__INTAKES_PER_HOUR", "1000000".to_owned())];
    let app = Arc::new(Remote::start_with(folder.path(), None, &unlimited).await);
    let small: Arc<[u8]> = request(1, 1000).into();
    Client::connect(app.address).await.ask(&small).await;
    let before = app.memory();
    let (most, done) = (Arc::new(AtomicU64::new(before)), Arc::new(AtomicBool::new(false)));
    let watch = {
        let (app, most, done) = (app.clone(), most.clone(), done.clone());
        tokio::spawn(async move {
            while !done.load(Ordering::Relaxed) {
                most.fetch_max(app.memory(), Ordering::Relaxed);
                sleep(LOOK_EVERY).await;
            }
        })
    };
    let body: Arc<[u8]> = request(PHOTOS, PHOTO_BYTES).into();
    let began = Instant::now();
    let lines = (0..AT_ONCE).map(|_| {
        let (address, body) = (app.address, body.clone());
        async move {
            let mut took = Vec::new();
            for _ in 0..REQUESTS / AT_ONCE {
                let began = Instant::now();
                Client::connect(address).await.ask(&body).await;
                took.push(began.elapsed().as_secs_f64() * 1000.0);
            }
            took
        }
    });
    let mut took: Vec<f64> = join_all(lines).await.into_iter().flatten().collect();
    let whole = began.elapsed().as_secs_f64();
    done.store(true, Ordering::Relaxed);
    watch.await.unwrap();
    let grown = most.load(Ordering::Relaxed).saturating_sub(before) as f64 / 1_048_576.0;
    if let Ok(app) = Arc::try_unwrap(app) {
        app.end().await;
    }
    let megabytes = body.len() as f64 / 1e6;
    let [p50, p95] = [0.5, 0.95].map(|share| percentile(&mut took, share));
    let what = format!("custom requests of {megabytes:.0} MB, {AT_ONCE} at once, of {REQUESTS}");
    let speed = format!("{:.0} MB/s, p95 {p95:.0} ms (median {p50:.0})", megabytes * REQUESTS as f64 / whole);
    vec![
        Row::figure(what.clone(), speed),
        Row::figure(format!("{what}: memory of the server, most above before"), format!("{grown:.1} MiB"))
            .at_most(grown, AIM_MIB, "MiB"),
    ]
}

/// Builds a complete request with this number of photos of this size.
fn request(photos: usize, bytes: usize) -> Vec<u8> {
    let mut form = Vec::with_capacity(photos * (bytes + 2_000));
    for (name, text) in FIELDS {
        let part = format!("--b\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n");
        form.extend_from_slice(part.as_bytes());
    }
    for n in 0..photos {
        let head = format!("--b\r\ncontent-disposition: form-data; name=\"photos\"; filename=\"{n}.jpg\"\r\n\r\n");
        form.extend_from_slice(head.as_bytes());
        // Each of another length, so that each is stored.
        form.extend_from_slice(&pictures::jpeg(bytes - n));
        form.extend_from_slice(b"\r\n");
    }
    form.extend_from_slice(b"--b--\r\n");
    let head = format!(
        "POST /api/v1/custom-builds/intakes HTTP/1.1\r\nhost: bench\r\ncontent-type: multipart/form-data; boundary=b\r\n\
         content-length: {}\r\n\r\n",
        form.len()
    );
    [head.into_bytes(), form].concat()
}
