//! A shop with printers of every type, three each: 39 jobs for five SKUs, 80 in the long profile, and faults that come
//! and go according to a seed, which is printed; `PRINTFLOOR_TEST_SEED` replays a run. Parts are sliced as text and as
//! packages, because no file fits all types, in one colour and in two, and one SKU is a kit.
//!
//! Prints take as long as their files state, which the rule for unobserved starts relies on. Attempts that are still
//! unconfirmed once the faults have ended must be ones that the rule leaves to people; then a person reports what the
//! machine did, and everything else finishes by itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use fastrand::Rng;
use printfloor::printers::adapter::Operation;
use serde_json::{Value, json};
use simulator::bambu::Bambu;
use simulator::bambu::setup::{Ams, Tray};
use simulator::gcode::package::package_of_several;
use simulator::gcode::tools::gcode_of_several;
use simulator::printer::PhysicalEvent;
use simulator::{Fleet, FleetOptions, PrinterKind, SimPrinter};

use super::super::super::{can, words};
use super::{TROUBLE, people, trouble};
use crate::chaos::from_env;
use crate::support::drawing::takes_all;
use crate::support::waiting::until_seen;
use crate::support::{App, on_sqlite, until};

const SEED: u64 = 20_261_122;
const PRINTERS: usize = 15;
/// Number of orders for six parts among the others, in each run and in the long profile.
const ORDERS_OF_SIX: [usize; 2] = [2, 7];
/// Number of orders for each SKU with parts from packages, in each run and in the long profile. Printers of a single
/// type print packages, and finish last.
const ORDERS_OF_PACKAGES: [usize; 2] = [1, 2];
/// Number of jobs of all orders but those for six parts, in each run and in the long profile.
const OTHER_JOBS: [usize; 2] = [27, 38];
/// Colours of the two materials, as hexadecimal RGB, as written in the two-colour package and in the changers.
const COLOURS: [&str; 2] = ["#1B1B22", "#F4F1E6"];
/// Parts of the messages about uncertainties that polling a printer cannot resolve.
const LASTING: [&str; 5] = [
    "server restarted",
    "names the file as its last print",
    "the printer could not be checked for",
    "the printer was not checked after",
    "its end was not observed",
];

/// Physical actions of a machine with the file of one attempt.
#[derive(Clone, Default, Debug)]
struct Did {
    started: usize,
    finished: usize,
    /// Number of prints that failed, were interrupted or were cancelled.
    broken: usize,
    /// `true` if the machine lost power while it had the file.
    restarted: bool,
    /// Slot that fed each tool; empty without a changer.
    fed: Vec<(u32, i64)>,
}

/// Returns the physical actions of all machines, by attempt.
fn did(fleet: &Fleet) -> BTreeMap<String, Did> {
    let mut all: BTreeMap<String, Did> = BTreeMap::new();
    for sim in &fleet.printers {
        let mut stored: Vec<String> = Vec::new();
        for entry in sim.handle.log() {
            if entry.what == PhysicalEvent::Rebooted {
                stored.iter().for_each(|attempt| all.entry(attempt.clone()).or_default().restarted = true);
            }
            let Some(attempt) = entry.what.filename().and_then(|name| name.split(['_', '.']).nth(1)) else { continue };
            let did = all.entry(attempt.to_owned()).or_default();
            match &entry.what {
                PhysicalEvent::Uploaded { .. } => stored.push(attempt.to_owned()),
                PhysicalEvent::Started { .. } => did.started += 1,
                PhysicalEvent::Finished { .. } => did.finished += 1,
                PhysicalEvent::Failed { .. } | PhysicalEvent::Interrupted { .. } | PhysicalEvent::Cancelled { .. } => {
                    did.broken += 1;
                }
                PhysicalEvent::Fed { slots, .. } => did.fed.clone_from(slots),
                _ => {}
            }
        }
    }
    all
}

/// Printers by ID, each with the slots of the colours.
type Printers = BTreeMap<String, (SimPrinter, Vec<usize>)>;

/// Registers all printers: the changers contain both colours, in alternating order, and the last one only black; of the
/// other types, the first printer has a second tool with white. Returns the printers by ID, each with the slots of the
/// colours.
async fn open(app: &App, fleet: &Fleet, materials: [&String; 2]) -> Printers {
    let mut printers = BTreeMap::new();
    for (n, sim) in fleet.printers.iter().enumerate() {
        let colours = match (Bambu::of(&sim.handle), n % 3) {
            (Some(changer), place) => {
                let colours = [vec![0, 1], vec![1, 0], vec![0]][place].clone();
                let tray = |colour: &usize| {
                    let tray_color = format!("{}FF", &COLOURS[*colour][1..]);
                    Tray { tray_color, ..Tray::default() }
                };
                let trays = std::array::from_fn(|slot| colours.get(slot).map(tray));
                changer.change(|setup| setup.ams = vec![Ams { trays }]);
                colours
            }
            (None, 0) => vec![0, 1],
            (None, _) => vec![0],
        };
        let id = app.printer(sim).await;
        for (slot, colour) in colours.iter().enumerate() {
            let spool = json!({"materialId": materials[*colour]});
            if Bambu::of(&sim.handle).is_some() {
                app.bind_slot(&id, slot, &spool).await;
            } else {
                app.post(&format!("/api/printers/{id}/slots/{slot}"), &spool).await.expect(200);
            }
        }
        printers.insert(id, (sim.clone(), colours));
    }
    printers
}

/// Products and orders of the shop.
struct Shop {
    orders: Vec<String>,
    /// Two-colour SKU, sliced as a package, for printers with a changer.
    sign: String,
    /// Print time of each SKU, in seconds.
    seconds: BTreeMap<String, f64>,
}

/// Creates the orders of the shop: jobs of five SKUs, as many as in each run (0) or in the long profile (1).
async fn orders(app: &App, [black, white]: [&String; 2], scale: usize) -> Shop {
    let part = app.sku("PART", black, &app.gcode("part", 3, 2.0).await, 500).await;
    let lid = app.sku("LID", black, &app.package("lid", 3, 2.0).await, 500).await;
    let filaments = [(2.0, COLOURS[0]), (1.0, COLOURS[1])];
    let of_two = async |code: &str, name: &str, content: Vec<u8>| {
        let file = app.upload(name, content).await.expect(201);
        let sku = app.sku(code, black, file["id"].as_str().unwrap(), 900).await;
        let more = json!({"materials": [{"materialId": white, "estimatedConsumption": 1, "filament": 1}]});
        app.patch(&format!("/api/skus/{sku}"), &more).await.expect(200);
        sku
    };
    let two = of_two("TWO", "two.gcode", gcode_of_several("two", 4, &filaments).into_bytes()).await;
    let sign = of_two("SIGN", "sign.gcode.3mf", package_of_several("sign", 4, &filaments)).await;
    let components = json!([{"skuId": part, "quantity": 2}, {"skuId": lid, "quantity": 1}]);
    let kit = json!({"code": "KIT", "name": "Kit", "priceCents": 1500, "components": components});
    let kit = app.post("/api/skus", &kit).await.expect(201)["id"].as_str().unwrap().to_owned();
    let seconds = [&part, &lid, &two, &sign].into_iter().cloned().zip([3.0, 3.0, 4.0, 4.0]).collect();
    let mut placed = Vec::new();
    let (of_six, of_packages) = (ORDERS_OF_SIX[scale], ORDERS_OF_PACKAGES[scale]);
    // Besides those of six: 2 + 3 × 3 + 3 + 2 × 3 + 7 = 27, and 2 × 2 + 3 × 3 + 2 × 3 + 2 × 2 × 3 + 7 = 38
    for (sku, orders, quantity) in [
        (&part, of_six, 6),
        (&lid, of_packages, 2),
        (&two, 3, 3),
        (&sign, of_packages, 3),
        (&kit, of_packages, 2),
        (&part, 1, 7),
    ] {
        for _ in 0..orders {
            placed.push(app.paid_order(sku, quantity).await);
        }
    }
    Shop { orders: placed, sign, seconds }
}

/// Returns whether the rule leaves the outcome of an attempt to people, according to the reason and to what the machine
/// did.
fn is_left_to_people(reason: &str, kind: PrinterKind, did: &Did, stated_seconds: f64) -> bool {
    let remembers = can(kind, Operation::History);
    // It was out of sight, and nothing at the printer tells of its end.
    if reason.contains(LASTING[4]) {
        return !remembers || did.restarted;
    }
    if reason.contains(LASTING[0]) {
        return remembers && did.restarted;
    }
    // It stands there before a start takes effect, too.
    if reason.contains(LASTING[1]) {
        return !remembers;
    }
    let unwatched =
        reason.split(LASTING[2]).nth(1).and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    // Told in whole seconds.
    unwatched.is_none_or(|seconds| seconds + 1.0 > stated_seconds / 2.0)
}

/// Returns the outcome that a person reports after inspecting the machine.
fn outcome(did: &Did) -> &'static str {
    match did {
        Did { finished: 1.., .. } => "finished",
        Did { started: 1.., .. } => "failed",
        _ => "not_started",
    }
}

fn last(job: &Value) -> Option<&Value> {
    job["attempts"].as_array().unwrap().last()
}

async fn jobs_of(app: &App, orders: &[String]) -> Vec<Value> {
    let mut jobs = Vec::new();
    for order in orders {
        jobs.extend(app.jobs(order).await);
    }
    jobs
}

/// Returns whether the error of a failed job is correct.
fn is_true(job: &Value, last: &Did, all: &[Did], kind: PrinterKind) -> bool {
    let why = words(job, "error");
    if why.contains("refused by") {
        return all.iter().all(|did| did.started == 0);
    }
    // Without a history, a print that is no longer shown is not known to have ended well.
    let forgotten =
        !can(kind, Operation::History) && (why.contains("responded again") || why.contains("no longer knows"));
    let total: usize = all.iter().map(|did| did.finished).sum();
    !why.is_empty() && last.started == 1 && (forgotten || (last.broken, total) == (1, 0))
}

on_sqlite! {
    async fn a_fleet_of_five_types_in_trouble_makes_each_part_once_or_says_why_not(db: Db) {
        let seed = from_env("PRINTFLOOR_TEST_SEED", SEED);
        eprintln!("seed {seed}");
        let app = App::on(db)
            .env("PRINTFLOOR_DISPATCH__CONFIRM_SECONDS", "2")
            .env("PRINTFLOOR_PRINTERS__REQUEST_TIMEOUT_SECONDS", "1")
            .env("PRINTFLOOR_PRINTERS__OFFLINE_SECONDS", "5")
            .start()
            .await;
        let of_each = PRINTERS / PrinterKind::ALL.len();
        let options = FleetOptions { seed, own_hosts: true, ..FleetOptions::of_each(of_each) };
        let fleet = Fleet::start(options).await.unwrap();
        assert_eq!((PrinterKind::ALL.len(), fleet.printers.len()), (5, PRINTERS));
        let (black, white) = (app.material("PLA black", 5_000.0).await, app.material("PLA white", 5_000.0).await);
        let printers = open(&app, &fleet, [&black, &white]).await;
        let scale = usize::from(takes_all());
        let shop = orders(&app, [&black, &white], scale).await;
        let jobs_total = OTHER_JOBS[scale] + 6 * ORDERS_OF_SIX[scale];

        let (well, over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let trouble = tokio::spawn(trouble(fleet.printers.clone(), Rng::with_seed(seed), well.clone()));
        let people = tokio::spawn(people(app.with_key(app.key.as_deref().unwrap()), over.clone()));
        tokio::time::sleep(TROUBLE[scale]).await;
        well.store(true, Relaxed);
        trouble.await.unwrap();

        let mut doubted = BTreeMap::new();
        let mut open_jobs = usize::MAX;
        while open_jobs > 0 {
            // As long as jobs end, there is time for the others.
            open_jobs = jobs_left(&app, &shop, open_jobs).await;
            doubted.extend(resolve_doubts(&app, &fleet, &shop, &printers).await);
        }
        over.store(true, Relaxed);
        people.await.unwrap();

        let (jobs, truth) = (jobs_of(&app, &shop.orders).await, did(&fleet));
        assert_eq!(jobs.len(), jobs_total);
        let twice: Vec<_> = truth.iter().filter(|(_, did)| did.started > 1).collect();
        assert!(twice.is_empty(), "started more than once: {twice:?}");
        let (completed, failed) = judge(&jobs, &truth, &shop, &printers);
        for material in [&black, &white] {
            until("the last claim to be settled", || async {
                let stock = app.get(&format!("/api/inventory/materials/{material}")).await.expect(200);
                (stock["reserved"] == 0).then_some(())
            })
            .await;
            app.ledger_is_even(material).await;
        }
        eprintln!("{completed} completed; failed: {failed:#?}; left to people: {doubted:#?}");
        assert!(completed > jobs_total / 2, "{completed} completed");
    }
}

/// Waits until another job has ended, or one is unconfirmed in a way that only a person can resolve; returns the number
/// of open jobs.
async fn jobs_left(app: &App, shop: &Shop, before: usize) -> usize {
    until_seen("one more job to end", || async {
        let jobs = jobs_of(app, &shop.orders).await;
        let open: Vec<_> =
            jobs.into_iter().filter(|job| !matches!(job["state"].as_str(), Some("COMPLETED" | "FAILED"))).collect();
        let in_doubt = open.iter().any(|job| {
            let doubt = last(job).filter(|last| last["unverified"] == true);
            doubt.is_some_and(|last| LASTING.iter().any(|words| last["reason"].as_str().unwrap().contains(words)))
        });
        if in_doubt || open.len() < before { Ok(open.len()) } else { Err(Value::Array(open)) }
    })
    .await
}

/// Resolves each unconfirmed job by what its machine did, and checks that the rule had left it to people. Returns the
/// type and reason for each attempt.
async fn resolve_doubts(
    app: &App,
    fleet: &Fleet,
    shop: &Shop,
    printers: &Printers,
) -> BTreeMap<String, (PrinterKind, String)> {
    let mut doubted = BTreeMap::new();
    // The machines are asked last: a job may be in doubt only until its machine has done more.
    let jobs = jobs_of(app, &shop.orders).await;
    let truth = did(fleet);
    for job in jobs {
        let Some(last) = last(&job).filter(|last| last["unverified"] == true) else { continue };
        let reason = words(last, "reason");
        if !LASTING.iter().any(|words| reason.contains(words)) {
            continue;
        }
        let attempt = last["id"].as_str().unwrap();
        let kind = printers[last["printerId"].as_str().unwrap()].0.kind;
        let did = truth.get(attempt).cloned().unwrap_or_default();
        let stated = shop.seconds[job["skuId"].as_str().unwrap()];
        assert!(is_left_to_people(reason, kind, &did, stated), "{kind:?} {did:?}: {reason}: {job}");
        // It may have been settled by evidence in this moment.
        let path = format!("/api/jobs/{}/resolve", job["id"].as_str().unwrap());
        let answer = app.post(&path, &json!({"outcome": outcome(&did)})).await;
        assert!(matches!(answer.status, 200 | 409), "{}", answer.text);
        doubted.insert(attempt.to_owned(), (kind, reason.to_owned()));
    }
    doubted
}

/// Checks each job against the actions of the machines; returns the number of completed jobs and the errors of the
/// others.
fn judge(jobs: &[Value], truth: &BTreeMap<String, Did>, shop: &Shop, printers: &Printers) -> (usize, Vec<String>) {
    let (mut completed, mut failed) = (0, Vec::new());
    for job in jobs {
        let attempts = job["attempts"].as_array().unwrap();
        let of = |attempt: &Value| truth.get(attempt["id"].as_str().unwrap()).cloned().unwrap_or_default();
        let all: Vec<Did> = attempts.iter().map(of).collect();
        let on = |attempt: &Value| &printers[attempt["printerId"].as_str().unwrap()];
        for (attempt, did) in attempts.iter().zip(&all) {
            if matches!(attempt["state"].as_str(), Some("refused" | "not_started")) {
                // Without a history, nothing is left of a print that was cut off by a loss of power before anybody
                // saw it.
                let lost = !can(on(attempt).0.kind, Operation::History) && did.restarted && did.finished == 0;
                assert!(did.started == 0 || lost, "printed after all: {did:?}: {job}");
            }
            if did.started == 1 && job["skuId"] == shop.sign.as_str() {
                let slot = |colour: usize| on(attempt).1.iter().position(|other| *other == colour).unwrap() as i64;
                assert_eq!(did.fed, [(0, slot(0)), (1, slot(1))], "colours exchanged: {job}");
            }
        }
        let total: usize = all.iter().map(|did| did.finished).sum();
        if job["state"] == "COMPLETED" {
            completed += 1;
            assert_eq!((total, all.last().unwrap().finished), (1, 1), "{all:?}: {job}");
        } else {
            let kind = on(attempts.last().unwrap()).0.kind;
            assert!(is_true(job, all.last().unwrap(), &all, kind), "{kind:?} {all:?}: {job}");
            failed.push(format!("{kind:?}: {}", words(job, "error")));
        }
    }
    (completed, failed)
}
