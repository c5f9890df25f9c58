//! Benchmark of quotes for a model: from the first byte of 10 MB to the measured dimensions, volume and price, and to
//! the price of the sliced model if a slicer is configured for the tests.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::time::sleep;

use super::client::{Client, get, upload_to};
use super::database::Kind;
use super::ground::{Ground, folder};
use super::load::percentile;
use super::remote::Remote;
use super::table::Row;

/// Environment variable with the path of the slicer from Debian.
const SLICER: &str = "PRINTFLOOR_TEST_SLICER";
/// Name of the slicer profile, which has the minimum of settings for the slicer to report weights.
const PROFILE: &str = "bench";
const PROFILE_TEXT: &str = "layer_height = 0.2\nfilament_density = 1.24\n";
/// Number of models that are sliced in succession, each of a different size because equal ones are not sliced twice.
const SLICED: usize = 12;
/// Interval between two checks for the price.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Radius of the ball in mm.
const RADIUS_MM: f64 = 30.0;

/// Size of the model, in bytes.
const MODEL_BYTES: usize = 10_000_000;
/// Number of models that are uploaded in succession.
const MODELS: usize = 60;

/// Runs this part of the benchmark on each available database.
pub async fn run() -> Vec<Row> {
    let mut rows = Vec::new();
    for kind in Kind::here() {
        rows.push(on(kind).await);
    }
    match std::env::var(SLICER) {
        Ok(program) => rows.push(sliced(program).await),
        Err(_) => eprintln!("the price of the sliced model is left out: no {SLICER}"),
    }
    rows
}

/// Measures from the first byte of a model to the price based on the slicer's result.
async fn sliced(program: String) -> Row {
    let folder = folder();
    let profiles = folder.path().join("data/slicer-profiles");
    std::fs::create_dir_all(&profiles).unwrap();
    std::fs::write(profiles.join(format!("{PROFILE}.ini")), PROFILE_TEXT).unwrap();
    let settings =
        [("PRINTFLOOR_SLICING__PROGRAM", program), ("PRINTFLOOR_PRICING__SLICER_PROFILE", PROFILE.to_owned())];
    let app = Remote::start_with(folder.path(), None, &settings).await;
    let mut client = Client::connect(app.address).await;
    let mut took = Vec::with_capacity(SLICED);
    for n in 0..SLICED {
        let model = ball(RADIUS_MM + n as f64 / 10.0);
        let request = upload_to("/api/quotes/models", &app.key, "ball.stl", &model);
        let began = Instant::now();
        let mut quote: Value = serde_json::from_slice(client.ask(&request).await).unwrap();
        let look = get(&format!("/api/quotes/{}", quote["id"].as_str().unwrap()), &app.key);
        while quote["lines"][0]["model"]["slicing"] != "done" {
            let model = &quote["lines"][0]["model"];
            assert!(model["slicing"] == "pending", "{model}");
            sleep(LOOK_EVERY).await;
            quote = serde_json::from_slice(client.ask(&look).await).unwrap();
        }
        took.push(began.elapsed().as_secs_f64());
    }
    app.end().await;
    let [middle, most] = [0.5, 0.95].map(|share| percentile(&mut took, share));
    let what = "a quote from a model of 10 MB, to the price of the sliced model";
    Row::figure(what, format!("p50 {middle:.1} s, p95 {most:.1} s")).at_most(most, 20.0, "s")
}

async fn on(kind: Kind) -> Row {
    let ground = Ground::new(kind).await;
    let request = upload_to("/api/quotes/models", &ground.key, "ball.stl", &ball(RADIUS_MM));
    let mut client = Client::connect(ground.address()).await;
    let mut took = Vec::with_capacity(MODELS);
    for _ in 0..MODELS {
        let began = Instant::now();
        let answer = client.ask(&request).await;
        took.push(began.elapsed().as_secs_f64() * 1000.0);
        assert!(String::from_utf8_lossy(answer).contains("\"volumeMm3\":"), "it was measured");
    }
    ground.end().await;
    let [middle, most] = [0.5, 0.95].map(|share| percentile(&mut took, share));
    let what = format!("a quote from a model of 10 MB, box, volume and price ({})", kind.name());
    Row::figure(what, format!("p50 {middle:.0} ms, p95 {most:.0} ms")).at_most(most, 1000.0, "ms")
}

/// Builds a ball of this radius in mm, as a binary STL of [`MODEL_BYTES`].
fn ball(radius: f64) -> Vec<u8> {
    let facets = (MODEL_BYTES - 84) / 50;
    // Stripes of two facets for each step around and from pole to pole.
    let steps = ((facets / 2) as f64).sqrt() as usize;
    let point = |around: usize, down: usize| {
        let (a, d) =
            (around as f64 / steps as f64 * std::f64::consts::TAU, down as f64 / steps as f64 * std::f64::consts::PI);
        [radius * d.sin() * a.cos(), radius * d.sin() * a.sin(), radius * d.cos()]
    };
    let mut bytes = vec![0; 84];
    let mut count = 0_u32;
    for around in 0..steps {
        for down in 0..steps {
            let [a, b, c, d] =
                [point(around, down), point(around, down + 1), point(around + 1, down + 1), point(around + 1, down)];
            for facet in [[a, b, c], [a, c, d]] {
                bytes.extend([0; 12]);
                for one in facet.iter().flatten() {
                    bytes.extend((*one as f32).to_le_bytes());
                }
                bytes.extend([0; 2]);
                count += 1;
            }
        }
    }
    bytes[80..84].copy_from_slice(&count.to_le_bytes());
    bytes
}
