//! kill -9 at fifty random moments of the whole run, started again each time: nothing acknowledged is lost, no stock is
//! invented or lost, no part is started twice.
//!
//! The moments come from a seed that is printed; `PRINTFLOOR_TEST_SEED` replays one, `PRINTFLOOR_TEST_KILLS` sets how many.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};
use simulator::printer::What;
use simulator::sink::Sink;
use simulator::{Fleet, FleetOptions};

use crate::support::{App, Client, on_both, until};
use crate::whole::{pay, sliced};

/// The seed without `PRINTFLOOR_TEST_SEED`. Fixed, so that a run that failed fails again; `scripts/test` takes another one
/// for each run, prints it, and keeps it for the whole run.
const USUAL_SEED: u64 = 20_261_122;

fn from_env(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// POSTs with one idempotency key until the server says something final; what it acknowledges must be true for ever.
async fn insist(client: &Client, path: &str, key: &str, body: &Value) -> Value {
    until(&format!("an answer to {path}"), || async {
        let request = client.request("POST", path).header("Idempotency-Key", key).json(body);
        let answer = client.try_send(request).await?;
        match answer.status {
            200 | 201 => Some(answer.json()),
            409 | 429 | 500 | 503 => None,
            other => panic!("{path}: {other} {}", answer.text),
        }
    })
    .await
}

/// A customer: orders, pays; gives the acknowledged order.
async fn buy(client: &Client, sku: &str, n: u64) -> Value {
    let lines = json!({"lines": [{"skuId": sku, "quantity": 1 + n % 3}], "customerEmail": "buyer@example.org"});
    let order = insist(client, "/api/orders", &format!("order-{n}"), &lines).await;
    until("the payment to be taken", || async {
        (pay(client, &order, &format!("evt_{n}")).await? == 200).then_some(())
    })
    .await;
    order
}

on_both! {
    async fn killed_at_random_moments_nothing_acknowledged_is_lost(db: Db) {
        let seed = from_env("PRINTFLOOR_TEST_SEED", USUAL_SEED);
        let kills = from_env("PRINTFLOOR_TEST_KILLS", 50);
        eprintln!("seed {seed}, {kills} kills");
        let mut rng = Rng::with_seed(seed);
        let mut app = App::on(db)
            .env("PRINTFLOOR_DISPATCH__START_CONFIRM_TIMEOUT_SECONDS", 1.5)
            .env("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", "[0.2, 0.4, 1, 2, 5]")
            .start()
            .await;
        let options = FleetOptions { speed: 400.0, seed, ..FleetOptions::of_each(2) };
        let fleet = Fleet::start(options).await.unwrap();
        for sim in &fleet.printers {
            app.printer(sim).await;
        }
        let sink = Sink::start().await.unwrap();
        sink.verify_with("a-secret-of-the-shop-1234567890");
        let events = ["order.created", "order.paid", "order.printing", "order.ready", "job.completed"];
        let endpoint = json!({"url": sink.url(), "events": events, "secret": "a-secret-of-the-shop-1234567890"});
        app.post("/api/webhooks/endpoints", &endpoint).await.expect(201);
        let file = app.upload("cube.gcode", sliced(app.folder())).await.expect(201);
        let material = app.material("PLA black", 3.0).await;
        let sku = app.sku("CUBE", &material, file["id"].as_str().unwrap(), 1250).await;

        // Customers who go on whatever happens, and deliveries of stock, each with a key of its own.
        let (client, stop) = (app.with_key(app.key.as_deref().unwrap()), Arc::new(AtomicBool::new(false)));
        let customers = {
            let (client, stop, sku, material) = (client.clone(), stop.clone(), sku.clone(), material.clone());
            tokio::spawn(async move {
                let (mut orders, mut n) = (Vec::new(), 0);
                while !stop.load(Relaxed) || n < 10 {
                    orders.push(buy(&client, &sku, n).await);
                    let path = format!("/api/inventory/materials/{material}/adjustments");
                    let delivery = json!({"delta": 4, "reason": "delivery"});
                    insist(&client, &path, &format!("delivery-{n}"), &delivery).await;
                    n += 1;
                    tokio::time::sleep(Duration::from_millis(150)).await;
                }
                (orders, n)
            })
        };
        for _ in 0..kills {
            tokio::time::sleep(Duration::from_millis(rng.u64(5..500))).await;
            app.kill_9();
            app.start().await;
        }
        stop.store(true, Relaxed);
        let (orders, deliveries) = customers.await.unwrap();
        let enough = json!({"delta": 1000, "reason": "delivery"});
        let path = format!("/api/inventory/materials/{material}/adjustments");
        insist(&client, &path, "enough", &enough).await;

        let mut jobs = BTreeMap::new();
        for order in &orders {
            let order = app.order_is(order["id"].as_str().unwrap(), "ready").await;
            let made = app.jobs(order["id"].as_str().unwrap()).await;
            assert_eq!(made.len() as u64, order["lines"][0]["quantity"].as_u64().unwrap(), "{order}");
            assert_eq!(order["payments"].as_array().unwrap().len(), 1, "{order}");
            for job in made {
                assert_eq!(job["state"], "COMPLETED", "{job}");
                jobs.insert(job["number"].as_str().unwrap().to_owned(), job);
            }
        }

        // The printers' own logs are the physical truth.
        let (mut starts, mut parts): (BTreeMap<String, u32>, BTreeMap<String, u32>) = <_>::default();
        for sim in &fleet.printers {
            for entry in sim.handle.log() {
                match entry.what {
                    What::Started { filename } => *starts.entry(filename).or_default() += 1,
                    What::Finished { filename } => *parts.entry(filename[..10].to_owned()).or_default() += 1,
                    _ => {}
                }
            }
        }
        assert!(starts.values().all(|count| *count == 1), "started twice: {starts:?}");
        assert!(parts.values().all(|count| *count == 1), "made twice: {parts:?}");
        assert_eq!(parts.keys().collect::<Vec<_>>(), jobs.keys().collect::<Vec<_>>());

        until("all claims to be settled", || async {
            let stock = app.get(&format!("/api/inventory/materials/{material}")).await.expect(200);
            (stock["reserved"] == 0).then_some(())
        }).await;
        app.ledger_is_even(&material).await;
        let stock = app.get(&format!("/api/inventory/materials/{material}")).await.expect(200);
        let used: f64 = jobs.values().map(|job| job["consumed"].as_f64().unwrap()).sum();
        let expected = 3.0 + 4.0 * deliveries as f64 + 1000.0 - used;
        assert!((stock["quantity"].as_f64().unwrap() - expected).abs() < 0.000_5, "{stock}, expected {expected}");

        // At least once each, the same id and bytes every time.
        let wanted: BTreeSet<(String, String)> = orders.iter().flat_map(|order| {
            let id = order["id"].as_str().unwrap();
            ["order.created", "order.paid", "order.printing", "order.ready"].map(|event| (id.to_owned(), event.to_owned()))
        }).collect();
        until("every event to have arrived", || async {
            let heard: BTreeSet<_> = sink.received().iter().map(|got| {
                let body = got.json();
                (body["data"]["orderId"].as_str().unwrap_or_default().to_owned(), body["event"].as_str().unwrap_or_default().to_owned())
            }).collect();
            wanted.is_subset(&heard).then_some(())
        }).await;
        let mut bytes: BTreeMap<String, bytes::Bytes> = BTreeMap::new();
        let mut kinds: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
        for got in sink.received() {
            assert_eq!((got.verdict.service, got.verdict.standard), (Some(true), Some(true)), "{got:?}");
            let (body, id) = (got.json(), got.header("webhook-id").unwrap().to_owned());
            assert_eq!(body["id"], id.as_str());
            assert_eq!(bytes.entry(id.clone()).or_insert_with(|| got.body.clone()), &got.body);
            let order = body["data"]["orderId"].as_str().unwrap_or_default().to_owned();
            let event = body["event"].as_str().unwrap().to_owned();
            if event.starts_with("order.") {
                kinds.entry((order, event)).or_default().insert(id);
            }
        }
        assert!(kinds.values().all(|ids| ids.len() == 1), "an event happened twice: {kinds:?}");
        eprintln!("{} orders, {} jobs, {} deliveries heard", orders.len(), jobs.len(), bytes.len());
    }
}
