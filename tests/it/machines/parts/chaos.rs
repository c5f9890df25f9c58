//! `kill -9` at random times while people sign off parts of kits: every acknowledged sign-off counts, exactly once. The
//! seed, which also selects the database, is printed; `PRINTFLOOR_TEST_SEED` replays a run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use fastrand::Rng;
use serde_json::{Value, json};
use simulator::printer::PhysicalEvent;
use simulator::{Fleet, FleetOptions, SimPrinter};

use super::super::spools::with_spools;
use crate::chaos::from_env;
use crate::chaos::hall::{PATIENCE, list, outcome};
use crate::support::waiting::until_seen;
use crate::support::{App, Client, on_drawn};

/// Seed if `PRINTFLOOR_TEST_SEED` is not set.
const SEED: u64 = 20_261_122;
const KILLS: usize = 12;
const SETS: u32 = 4;
/// Components of the kit: number of parts per set, and parts per plate. The third component is a package.
const COMPONENTS: [(u32, u32); 3] = [(1, 1), (3, 2), (2, 1)];

/// Clears beds and signs off parts until `over` is set and every sign-off is acknowledged. Returns the number of good
/// parts by attempt.
async fn inspect(client: Client, over: Arc<AtomicBool>, seed: u64) -> BTreeMap<String, u64> {
    let mut rng = Rng::with_seed(seed);
    let mut inspections: BTreeMap<String, (String, u64)> = BTreeMap::new();
    let mut answers: BTreeMap<String, u64> = BTreeMap::new();
    loop {
        let list = client.try_send(client.request("GET", "/api/printers")).await;
        let list = list.filter(|answer| answer.status == 200).map(|answer| answer.json());
        for printer in list.iter().flat_map(|list| list["printers"].as_array().unwrap()) {
            if let Some(attempt) = printer["lastPrint"]["attemptId"].as_str() {
                let good = rng.u64(0..3).min(1);
                inspections.entry(attempt.to_owned()).or_insert((printer["id"].as_str().unwrap().to_owned(), good));
            }
        }
        for (attempt, (printer, good)) in &inspections {
            if answers.contains_key(attempt) {
                continue;
            }
            // The same key and words until there is an answer, whatever became of the ones before.
            let request = client.request("POST", &format!("/api/printers/{printer}/bed-cleared"));
            let request = request.header("Idempotency-Key", attempt).json(&json!({"goodCount": good}));
            match client.try_send(request).await {
                Some(answer) if answer.status == 200 => {
                    answers.insert(attempt.clone(), *good);
                }
                Some(answer) => assert!(matches!(answer.status, 409 | 429 | 500 | 503), "{}", answer.text),
                None => {}
            }
        }
        if over.load(Relaxed) && answers.len() == inspections.len() {
            return answers;
        }
        tokio::time::sleep(Duration::from_millis(40)).await;
    }
}

/// Resolves attempts whose outcome the server cannot determine, according to the printers' own logs, until `over` is
/// set. Returns the number of resolutions.
async fn witness(client: Client, sims: BTreeMap<String, SimPrinter>, over: Arc<AtomicBool>) -> usize {
    let mut doubted: BTreeMap<String, Instant> = BTreeMap::new();
    let mut decisions = 0;
    while !over.load(Relaxed) {
        tokio::time::sleep(Duration::from_millis(200)).await;
        for job in ["DISPATCHING", "PRINTING"].map(|state| format!("/api/jobs?state={state}&limit=200")) {
            for job in list(&client, &job, "jobs").await {
                let Some(attempt) = job["attempts"].as_array().unwrap().last() else { continue };
                let id = attempt["id"].as_str().unwrap();
                if attempt["unverified"] != true {
                    doubted.remove(id);
                } else if doubted.entry(id.to_owned()).or_insert_with(Instant::now).elapsed() > PATIENCE
                    && let Some(outcome) = outcome(&sims[attempt["printerId"].as_str().unwrap()], id)
                {
                    let path = format!("/api/jobs/{}/resolve", job["id"].as_str().unwrap());
                    let _ = client.try_send(client.request("POST", &path).json(&json!({"outcome": outcome}))).await;
                    decisions += 1;
                }
            }
        }
    }
    decisions
}

on_drawn! {
    async fn killed_at_random_moments_every_word_about_parts_counts_once(db: Db) {
        let seed = from_env("PRINTFLOOR_TEST_SEED", SEED);
        eprintln!("seed {seed}");
        let mut app = App::on(db).env("PRINTFLOOR_DISPATCH__CONFIRM_SECONDS", 1.5).start().await;
        let fleet = Fleet::start(FleetOptions { speed: 2_000.0, seed, ..FleetOptions::of_each(2) }).await.unwrap();
        let material = app.material("PLA", 5000.0).await;
        let mut sims = BTreeMap::new();
        for sim in &fleet.printers {
            let printer = with_spools(&app, sim, &[&material]).await;
            app.patch(&format!("/api/printers/{printer}"), &json!({"autoClear": false})).await.expect(200);
            sims.insert(printer, sim.clone());
        }
        let kit = kit_of_parts(&app, &material).await;
        let order = app.paid_order(&kit, SETS).await;

        let over = Arc::new(AtomicBool::new(false));
        let inspector = tokio::spawn(inspect(app.with_key(app.key.as_deref().unwrap()), over.clone(), seed));
        let witness = tokio::spawn(witness(app.with_key(app.key.as_deref().unwrap()), sims, over.clone()));
        let mut rng = Rng::with_seed(seed);
        for _ in 0..KILLS {
            tokio::time::sleep(Duration::from_millis(rng.u64(5..400))).await;
            app.kill_9();
            app.start().await;
        }
        everything_is_signed_off(&app, &order).await;
        over.store(true, Relaxed);
        let (answers, doubts) = (inspector.await.unwrap(), witness.await.unwrap());
        eprintln!("{} words about parts, {doubts} about prints in doubt", answers.len());

        let ready = app.get(&format!("/api/orders/{order}")).await.expect(200);
        let jobs = app.jobs(&order).await;
        each_answer_is_recorded(&jobs, &answers);
        lines_count_good_parts(&ready, &jobs);
        each_job_was_printed_once(&fleet, &jobs);
        app.ledger_is_even(&material).await;
    }
}

/// Creates a kit of the [`COMPONENTS`].
async fn kit_of_parts(app: &App, material: &str) -> String {
    let mut components = Vec::new();
    for (n, (quantity, plate)) in COMPONENTS.into_iter().enumerate() {
        let name = format!("part-{n}");
        let file = if n == 2 { app.package(&name, 60, 2.0).await } else { app.gcode(&name, 60, 2.0).await };
        let body = json!({
            "code": format!("PART-{n}"), "name": "Part", "materialId": material, "estimatedConsumption": 2, "priceCents": 1,
            "machineType": "fdm_standard", "gcodeFileId": file, "unitsPerPlate": plate,
        });
        components.push(json!({"skuId": app.post("/api/skus", &body).await.expect(201)["id"], "quantity": quantity}));
    }
    let kit = json!({"code": "KIT", "name": "Kit", "priceCents": 900, "components": components});
    app.post("/api/skus", &kit).await.expect(201)["id"].as_str().unwrap().to_owned()
}

/// Waits until every print is signed off and no part is left to print.
async fn everything_is_signed_off(app: &App, order: &str) {
    let path = format!("/api/orders/{order}");
    until_seen("every print to be signed off and nothing to be made any more", || async {
        let current = app.get(&path).await.expect(200);
        let printers = app.get("/api/printers").await.expect(200)["printers"].clone();
        let busy = |one: &&Value| !one["lastPrint"].is_null() || !one["jobId"].is_null();
        let busy: Vec<Value> = printers.as_array().unwrap().iter().filter(busy).cloned().collect();
        let over = |job: &Value| {
            job["attempts"]
                .as_array()
                .unwrap()
                .iter()
                .all(|attempt| attempt["state"] != "finished" || attempt["signOff"]["by"] != "system")
        };
        let open: Vec<Value> =
            app.jobs(order).await.into_iter().filter(|job| job["state"] != "COMPLETED" || !over(job)).collect();
        let all = current["status"] == "ready" && busy.is_empty() && open.iter().all(over);
        if all { Ok(()) } else { Err(json!({"status": current["status"], "busy": busy, "open": open})) }
    })
    .await;
}

fn each_answer_is_recorded(jobs: &[Value], answers: &BTreeMap<String, u64>) {
    let attempts: Vec<&Value> = jobs.iter().flat_map(|job| job["attempts"].as_array().unwrap()).collect();
    for (attempt, good) in answers {
        let attempt = attempts.iter().find(|one| one["id"] == attempt.as_str()).unwrap();
        assert_eq!(attempt["signOff"]["goodCount"], *good, "{attempt}");
    }
}

/// Checks the lines of the kit's components: they count the good parts, and no more parts were printed than were
/// missing.
fn lines_count_good_parts(ready: &Value, jobs: &[Value]) {
    let mut sets = u64::MAX;
    for (n, (quantity, plate)) in COMPONENTS.into_iter().enumerate() {
        let line = &ready["lines"][1 + n];
        let of_line: Vec<&Value> = jobs.iter().filter(|job| job["line"] == 1 + n).collect();
        let good: u64 = of_line
            .iter()
            .flat_map(|job| job["attempts"].as_array().unwrap())
            .filter_map(|one| one["signOff"]["goodCount"].as_u64())
            .sum();
        let (need, plate, prints) = (u64::from(SETS * quantity), u64::from(plate), of_line.len() as u64);
        assert_eq!((line["good"].as_u64(), line["running"].as_u64()), (Some(good), Some(0)), "{line}");
        assert_eq!(prints, line["jobs"]["completed"].as_u64().unwrap(), "{line}");
        let reprints = of_line.iter().filter(|job| job["reprint"] == true).count() as u64;
        assert!(reprints <= 3 && prints == need.div_ceil(plate) + reprints, "{line}");
        let rejected = prints * plate - good;
        assert!(prints * plate - rejected < need + plate, "more was made than was missing: {line}");
        assert!(
            line["missing"] == 0 || ready["flags"].as_array().unwrap().iter().any(|flag| flag == "needs_attention"),
            "{ready}"
        );
        sets = sets.min(good / u64::from(quantity));
    }
    assert_eq!(ready["lines"][0]["completeSets"], sets, "{ready}");
}

fn each_job_was_printed_once(fleet: &Fleet, jobs: &[Value]) {
    let mut starts: BTreeMap<String, u32> = BTreeMap::new();
    for entry in fleet.printers.iter().flat_map(|sim| sim.handle.log()) {
        if let PhysicalEvent::Started { filename } = entry.what {
            *starts.entry(filename).or_default() += 1;
        }
    }
    assert!(starts.values().all(|count| *count == 1), "started twice: {starts:?}");
    assert_eq!(starts.len(), jobs.len(), "each job was printed once");
}
