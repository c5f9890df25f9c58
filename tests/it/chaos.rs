//! kill -9 at fifty random moments of the whole run, started again each time: nothing acknowledged is lost, no stock or
//! money is invented or lost, no part is started twice, and nobody else's print is touched.
//!
//! Beside the kills: the very first start is cut off, in the middle of the first migration among others; two printers
//! refuse every start; networks are cut; people print things of their own; orders are paid twice, cancelled and paid back; and
//! the wall clock is set up to an hour forward and back.
//!
//! The moments come from a seed that is printed; `PRINTFLOOR_TEST_SEED` replays one, `PRINTFLOOR_TEST_KILLS` sets how many
//! kills (a long run: `--profile long` with 1000).

mod customers;
mod hall;
mod truth;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use fastrand::Rng;
use serde_json::json;
use simulator::sink::Sink;

use crate::support::{App, Clock, on_both};
use crate::whole::sliced;
use customers::{Customers, insist};
use hall::Operators;

/// The seed without `PRINTFLOOR_TEST_SEED`. Fixed, so that a run that failed fails again; `scripts/test` takes another one
/// for each run, prints it, and keeps it for the whole run.
const USUAL_SEED: u64 = 20_261_122;
/// How often the first start is cut off, and after how many milliseconds at most.
const FIRST_STARTS: (usize, u64) = (6, 400);
/// Grams in stock at the beginning and in each delivery.
const STOCK: f64 = 3.0;
const DELIVERY: f64 = 4.0;

pub fn from_env(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

on_both! {
    async fn killed_at_random_moments_nothing_acknowledged_is_lost(db: Db) {
        let seed = from_env("PRINTFLOOR_TEST_SEED", USUAL_SEED);
        let kills = from_env("PRINTFLOOR_TEST_KILLS", 50);
        eprintln!("seed {seed}, {kills} kills");
        let mut rng = Rng::with_seed(seed);
        let clock = Arc::new(Clock::new());
        let (cuts, longest) = FIRST_STARTS;
        let cuts: Vec<_> = (0..cuts).map(|_| Duration::from_millis(rng.u64(1..longest))).collect();
        let mut app = App::on(db)
            .clock(&clock)
            .first_starts_cut(cuts)
            .env("PRINTFLOOR_DISPATCH__START_CONFIRM_TIMEOUT_SECONDS", 1.5)
            .env("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", "[0.2, 0.4, 1, 2, 5]")
            .start()
            .await;
        let (fleet, sick) = hall::fleet(seed).await;
        let mut printers = Vec::new();
        for sim in &fleet.printers {
            printers.push((app.printer(sim).await, sim.clone()));
        }
        let sink = Sink::start().await.unwrap();
        sink.verify_with("a-secret-of-the-shop-1234567890");
        sink.trust_timestamps();
        let events = ["order.created", "order.paid", "order.printing", "order.ready", "order.cancelled", "job.completed"];
        let endpoint = json!({"url": sink.url(), "events": events, "secret": "a-secret-of-the-shop-1234567890"});
        app.post("/api/webhooks/endpoints", &endpoint).await.expect(201);
        let file = app.upload("cube.gcode", sliced(app.folder())).await.expect(201);
        let material = app.material("PLA black", STOCK).await;
        let sku = app.sku("CUBE", &material, file["id"].as_str().unwrap(), 1250).await;
        let client = app.with_key(app.key.as_deref().unwrap());
        let (quiet, closed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));

        // Customers who go on whatever happens, and deliveries of stock, each with a key of its own.
        let receive = {
            let (client, path) = (client.clone(), format!("/api/inventory/materials/{material}/adjustments"));
            move |key: String, grams: f64| {
                let (client, path) = (client.clone(), path.clone());
                async move { insist(&client, &path, &key, &json!({"delta": grams, "reason": "delivery"})).await }
            }
        };
        let customers = {
            let (quiet, receive) = (quiet.clone(), receive.clone());
            let customers = Customers { client: client.clone(), clock: clock.clone(), sku };
            tokio::spawn(async move {
                let (mut sold, mut n) = (Vec::new(), 0);
                while !quiet.load(Relaxed) || n < 12 {
                    sold.push(customers.buy(n).await);
                    receive(format!("delivery-{n}"), DELIVERY).await;
                    n += 1;
                    tokio::time::sleep(Duration::from_millis(150)).await;
                }
                sold
            })
        };
        let sims = fleet.printers.clone();
        let mishaps = tokio::spawn(hall::mishaps(sims, clock.clone(), quiet.clone(), seed));
        let operators = tokio::spawn(Operators::new(client, printers).work(closed.clone()));
        for _ in 0..kills {
            tokio::time::sleep(Duration::from_millis(rng.u64(5..500))).await;
            app.kill_9();
            app.start().await;
        }
        quiet.store(true, Relaxed);
        let (sold, ()) = (customers.await.unwrap(), mishaps.await.unwrap());
        receive("enough".to_owned(), 1000.0).await;

        let jobs = truth::orders(&app, &sold).await;
        closed.store(true, Relaxed);
        operators.await.unwrap();
        truth::parts(&fleet, &sick, &jobs).await;
        let received = STOCK + DELIVERY * sold.len() as f64 + 1000.0;
        truth::material(&app, &material, received, &jobs).await;
        let heard = truth::events(&sink, &sold).await;
        eprintln!("{} orders, {} jobs, {heard} deliveries heard", sold.len(), jobs.len());
    }
}
