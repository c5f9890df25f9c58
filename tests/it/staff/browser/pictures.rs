//! Screenshots of the pages for the documentation, with a floor of 200 printers; `scripts/screenshots` takes them
//! again.

use std::path::PathBuf;

use futures::StreamExt as _;
use serde_json::json;
use simulator::gcode::shapes::{PartShape, PlateLayout, shaped_gcode};
use simulator::{Fleet, FleetOptions, PrinterKind, SimPrinter};

use super::shop::{ANN, admin};
use crate::api::{id, webhooks};
use crate::billing::{intake, invoices};
use crate::machines::JUDGE_LATE;
use crate::support::browser::{Browser, Tab};
use crate::support::{App, Db, until};

/// Environment variable that names the folder for screenshots; if unset, none are taken.
const FOLDER: &str = "PRINTFLOOR_TEST_SCREENSHOTS";
/// Maximum size of a picture, in bytes.
const MAX_BYTES: usize = 200_000;
const DESK: (u32, u32) = (1280, 900);
const WALL: (u32, u32) = (1920, 1080);
const PHONE: (u32, u32) = (390, 844);
/// Number of printers added concurrently.
const ADDED_AT_ONCE: usize = 8;
/// Number of parts, of 200 printers, that are printing while the pictures are taken.
const PARTS_ON: u32 = 150;

const NAMES: [&str; 20] = [
    "Ada", "Babbage", "Curie", "Darwin", "Euler", "Faraday", "Gauss", "Hopper", "Ines", "Joule", "Kepler", "Lovelace",
    "Meitner", "Noether", "Ohm", "Pascal", "Ritchie", "Sagan", "Turing", "Volta",
];
/// Products of the shop: code, name, shape, print time in seconds, weight in grams, price in minor units.
const PRODUCTS: [(&str, &str, PartShape, u64, f64, i64); 4] = [
    ("CLIP", "Cable clip", PartShape::CableClip, 2_400, 12.0, 450),
    ("HOOK", "Wall hook", PartShape::WallHook, 4_800, 31.0, 890),
    ("SIGN", "House sign", PartShape::HouseSign, 9_000, 84.0, 2_450),
    ("POT", "Plant pot", PartShape::Planter, 7_200, 140.0, 1_990),
];
/// Width and depth of each product, in millimetres.
const PRODUCT_AREA: (f64, f64) = (70.0, 70.0);

/// Registers a printer under a generated name; returns its ID.
async fn add(app: &App, sim: &SimPrinter, number: usize) -> String {
    let name = format!("{} {}", NAMES[number % NAMES.len()], number / NAMES.len() + 1);
    let body = json!({
        "name": name, "type": sim.kind.as_str(), "machineType": "fdm_standard", "baseUrl": sim.base_url,
        "apiKey": sim.api_key, "buildVolume": {"x": 220, "y": 220, "z": 250}, "autoClear": !number.is_multiple_of(9),
    });
    id(&app.post("/api/printers", &body).await.expect(201))
}

/// Builds a floor of 200 printers, most of which print, some of which need attention, and some of which are
/// unreachable.
async fn big_floor(app: &App) -> (Fleet, Vec<String>) {
    let kinds = vec![(PrinterKind::FwRest, 90), (PrinterKind::ServerRest, 70), (PrinterKind::PrusaLink, 40)];
    let fleet = Fleet::start(FleetOptions { printers: kinds, speed: 1.0, seed: 5, ..FleetOptions::default() });
    let fleet = fleet.await.unwrap();
    let added = fleet.printers.iter().enumerate().map(|(n, sim)| add(app, sim, n));
    let printers: Vec<String> = futures::stream::iter(added).buffered(ADDED_AT_ONCE).collect().await;
    for printer in &printers {
        app.connected(printer).await;
    }
    (fleet, printers)
}

/// Creates stock, products and orders; returns the ID of an order with several lines that is being printed.
async fn busy(app: &App) -> String {
    let mut skus = Vec::new();
    for (n, (code, name, shape, seconds, grams, cents)) in PRODUCTS.into_iter().enumerate() {
        let (material, color, grams_there) =
            [("PLA blue", "#2f6fb5", 18_000.0), ("PETG orange", "#f08020", 900.0)][n % 2];
        let material = app.material(&format!("{material} {}", n / 2 + 1), grams_there + 40_000.0).await;
        let plate = PlateLayout { shape, copies: 1, area: PRODUCT_AREA };
        let gcode = shaped_gcode(name, seconds, &[(grams, color)], &plate).into_bytes();
        let file = id(&app.upload(&format!("{code}.gcode"), gcode).await.expect(201));
        let sku = app.sku(code, &material, &file, cents).await;
        app.patch(&format!("/api/skus/{sku}"), &json!({"name": name})).await.expect(200);
        skus.push(sku);
    }
    let low = json!({
        "name": "TPU clear", "type": "filament", "color": "#c8d8e8", "brand": "Acme", "quantity": 240, "unit": "g",
        "reorderPoint": 1000, "reorderQuantity": 3000,
    });
    app.post("/api/inventory/materials", &low).await.expect(201);
    let lines = json!([{"skuId": skus[0], "quantity": 3}, {"skuId": skus[2], "quantity": 1}]);
    let order = json!({"lines": lines, "customerEmail": ANN, "notes": "A present: please pack it nicely."});
    let order = id(&app.post("/api/orders", &order).await.expect(201));
    app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "card"})).await.expect(200);
    for n in 0..10 {
        app.paid_order(&skus[n % skus.len()], PARTS_ON / 10).await;
    }
    app.order(&skus[1], 2).await;
    invoices::sent(app, ANN).await;
    intake::submit_request(app).await;
    order
}

/// Puts printers into all stages of a print; some have finished, failed or become unreachable.
async fn lives(app: &App, fleet: &Fleet, printers: &[String]) {
    until("most to print", || async {
        let jobs = app.get("/api/jobs?state=PRINTING&limit=1").await.expect(200);
        (jobs["pagination"]["total"].as_u64()? >= u64::from(PARTS_ON) - 10).then_some(())
    })
    .await;
    for (n, sim) in fleet.printers.iter().enumerate() {
        sim.handle.set_speed(20.0 + 15.0 * (n % 30) as f64);
    }
    until("some prints to be over", || async {
        let jobs = app.get("/api/jobs?state=COMPLETED&limit=1").await.expect(200);
        (jobs["pagination"]["total"].as_u64()? >= 40).then_some(())
    })
    .await;
    for sim in &fleet.printers {
        sim.handle.set_speed(1.0);
    }
    for n in [7, 61] {
        fleet.printers[n].handle.shutdown();
        let status = format!("/api/printers/{}/status", printers[n]);
        until("the printer to be out of reach", || async {
            (app.get(&status).await.expect(200)["connection"] != "connected").then_some(())
        })
        .await;
    }
    app.post(&format!("/api/printers/{}/maintenance", printers[30]), &json!({"on": true, "note": "new nozzle"}))
        .await
        .expect(200);
}

/// Takes the pictures of a page: in light and dark mode, on a desktop and on a phone.
async fn pictures(browser: &mut Browser, tab: &Tab, folder: &std::path::Path, name: &str, url: &str) {
    let desk = if name == "wall" { WALL } else { DESK };
    for (kind, (width, height), dark) in
        [("light", desk, false), ("dark", desk, true), ("phone", PHONE, false), ("phone-dark", PHONE, true)]
    {
        browser.window(tab, width, height, kind.starts_with("phone")).await;
        browser.dark(tab, dark).await;
        if !url.is_empty() {
            browser.go(tab, url).await;
        }
        let bytes = browser.picture(tab, &folder.join(format!("{name}-{kind}.webp"))).await;
        assert!(bytes <= MAX_BYTES, "{name}, {kind}: {bytes} bytes");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn screenshots() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let Some(mut browser) = Browser::start().await else { return };
    std::fs::create_dir_all(&folder).unwrap();
    wizard(&mut browser, &folder).await;
    let app = App::on(Db::sqlite())
        .env(JUDGE_LATE.0, JUDGE_LATE.1)
        .env("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", 2)
        .start()
        .await;
    let cookie = admin(&app).await;
    let sink = simulator::sink::Sink::start().await.unwrap();
    webhooks::register(&app, &sink, &["order.created", "job.completed"]).await;
    let (fleet, printers) = big_floor(&app).await;
    let order = busy(&app).await;
    lives(&app, &fleet, &printers).await;
    let tab = browser.open(&app.base, "/floor", Some(&cookie)).await;
    let order = format!("/shop/orders/{order}");
    let first = format!("/floor/printers/{}", printers[0]);
    let pages = [
        ("floor", "/floor"),
        ("wall", "/floor?wall=1"),
        ("to-do", "/to-do"),
        ("order", order.as_str()),
        ("stock", "/shop/stock"),
        ("insights", "/shop/insights"),
        ("printer", first.as_str()),
        ("jobs", "/shop/jobs"),
        ("products", "/shop/products"),
        ("users", "/shop/settings/users"),
        ("add-printer", "/floor/printers/new"),
        ("files", "/shop/products/files"),
    ];
    for (name, path) in pages {
        pictures(&mut browser, &tab, &folder, name, &format!("{}{path}", app.base)).await;
    }
}

/// Takes a picture of the wizard's page on which printers are added.
async fn wizard(browser: &mut Browser, folder: &std::path::Path) {
    let app = App::new(Db::sqlite()).await;
    let fleet = Fleet::start(FleetOptions::of(PrinterKind::FwRest, 1)).await.unwrap();
    let tab = super::first_print::opened(browser, &app).await;
    let sim = &fleet.printers[0];
    super::first_print::add_by_hand(browser, &tab, "fw_rest", &sim.base_url, &sim.api_key).await;
    pictures(browser, &tab, folder, "wizard", "").await;
}
