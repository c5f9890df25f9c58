//! Checks on parts: how many were printed, how many count, how much material they took, and where they were printed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use simulator::printer::PhysicalEvent;

use super::hall::{Hall, is_own};
use super::inspectors::Words;
use super::truth::Outcome;
use crate::support::{App, until};

/// Number of characters of a job number, such as `JOB-000001`, at the start of a file name.
const NUMBER: usize = 10;
/// Maximum number of replacement jobs that a line gets for rejected parts.
const MAX_REPRINTS: u64 = 3;
/// Tolerance for amounts, which have three decimals.
const NEAR: f64 = 0.000_5;

/// Returns whether a line is a kit.
pub fn is_kit(line: &Value) -> bool {
    line["completeSets"].is_u64()
}

fn number(of: &Value, member: &str) -> u64 {
    of[member].as_u64().unwrap_or_else(|| panic!("{member}: {of}"))
}

/// Good parts of a job, by the latest sign-off or else by how the prints ended; and the lowest and highest number that
/// ever counted.
struct Good {
    now: u64,
    least: u64,
    most: u64,
}

fn good_of(job: &Value, words: &Words) -> Good {
    let mut good = Good { now: 0, least: 0, most: 0 };
    for attempt in job["attempts"].as_array().unwrap() {
        let finished = attempt["state"] == "finished" && job["awaitsSignOff"] == false;
        let by_itself = if finished { number(job, "plateParts") } else { 0 };
        match words.get(attempt["id"].as_str().unwrap()) {
            Some(word) => {
                assert_eq!(attempt["signOff"]["goodCount"], word.last, "a word was lost: {job}");
                good.now += word.last;
                good.least += word.least.min(by_itself);
                good.most += word.most.max(by_itself);
            }
            None => {
                good.now += by_itself;
                good.least += by_itself;
                good.most += by_itself;
            }
        }
    }
    good
}

/// Checks that the lines of an order count the acknowledged sign-offs, and that no more parts were printed than were
/// missing.
pub fn lines(one: &Outcome<'_>, words: &Words) {
    let (order, jobs) = (&one.order, &one.jobs);
    let lines = order["lines"].as_array().unwrap();
    let is_made = one.sold.end.is_made();
    let (mut lacks, mut misses) = (false, false);
    for (n, line) in lines.iter().enumerate().filter(|(_, line)| !is_kit(line)) {
        let of_line: Vec<&Value> = jobs.iter().filter(|job| number(job, "line") == n as u64).collect();
        let Some(plate) = of_line.first().map(|job| number(job, "plateParts")) else {
            assert!(!one.sold.end.paid, "no job of a paid line: {order}");
            continue;
        };
        let (mut good, mut running, mut cancelled, mut least, mut most) = (0, 0, 0, 0, 0);
        for job in &of_line {
            let of_job = good_of(job, words);
            (good, most) = (good + of_job.now, most + of_job.most);
            match job["state"].as_str().unwrap() {
                "COMPLETED" if job["awaitsSignOff"] == true => (running, least) = (running + plate, least + plate),
                "COMPLETED" => least += of_job.least,
                _ if job["surplus"] == true => {}
                _ => (cancelled, least) = (cancelled + plate - of_job.now, least + plate),
            }
            // A part that was done before its cancel could be is done; what is made when all has left is too much.
            let is_needed = job["surplus"] == false;
            assert!(!is_made || !is_needed || job["state"] == "COMPLETED" || order["status"] == "shipped", "{job}");
        }
        let quantity = number(line, "quantity");
        let missing = quantity.saturating_sub(good + running + cancelled);
        let counts = ["good", "running", "cancelled", "missing"].map(|member| number(line, member));
        assert_eq!(counts, [good, running, cancelled, missing], "line {n} of {order}: {of_line:?}");
        assert!(number(line, "shipped") <= most, "more left than was ever good: {order}");
        let reprints = of_line.iter().filter(|job| job["reprint"] == true);
        let withdrawn = reprints.clone().filter(|job| job["surplus"] == true).count() as u64;
        let again = reprints.count() as u64 - withdrawn;
        assert!(again <= MAX_REPRINTS, "{order}");
        assert_eq!(of_line.len() as u64, quantity.div_ceil(plate) + again + withdrawn, "{order}");
        assert!(again == 0 || least < quantity + plate, "more was made than was missing of line {n}: {order} {jobs:?}");
        lacks |= good < quantity;
        misses |= missing > 0;
        if order["status"] == "ready" {
            assert!(missing == 0 || again == MAX_REPRINTS, "nothing is made of what is missing: {order}");
        }
    }
    if order["status"] == "ready" {
        assert_eq!((one.flagged("short"), one.flagged("needs_attention")), (lacks, misses), "{order}");
    }
    for (n, kit) in lines.iter().enumerate().filter(|(_, line)| is_kit(line)) {
        let parts = lines.iter().filter(|line| line["kitLine"] == n);
        let sets = |member: &str| {
            let sets =
                parts.clone().map(|part| number(part, member) / (number(part, "quantity") / number(kit, "quantity")));
            sets.min().unwrap()
        };
        let counts = ["good", "completeSets", "shipped"].map(|member| number(kit, member));
        assert_eq!(counts, [sets("good"), sets("good"), sets("shipped")], "{order}");
    }
}

/// Compares the jobs with the printers' own logs, which record what physically happened. Returns the number of plates
/// by printer type.
pub async fn physically(hall: &Hall, jobs: &BTreeMap<String, Value>) -> BTreeMap<&'static str, usize> {
    let mut plate_counts = BTreeMap::new();
    let (mut starts, mut parts): (BTreeMap<String, u32>, BTreeMap<String, u32>) = <_>::default();
    for machine in &hall.machines {
        until("people's own prints to be done", || async {
            let (mut begun, mut done) = (0, 0);
            for entry in machine.sim.handle.log() {
                match entry.what {
                    PhysicalEvent::Started { filename } if is_own(&filename) => begun += 1,
                    PhysicalEvent::Finished { filename } if is_own(&filename) => done += 1,
                    PhysicalEvent::Cancelled { filename } if is_own(&filename) => panic!("{filename} was cancelled"),
                    _ => {}
                }
            }
            (begun == done).then_some(())
        })
        .await;
        for entry in machine.sim.handle.log() {
            match entry.what {
                PhysicalEvent::Started { filename } if !is_own(&filename) => {
                    assert!(!machine.sick, "it refuses every start: {filename}");
                    let job = &jobs[&filename[..NUMBER]];
                    for need in job["needs"].as_array().unwrap() {
                        let loaded = machine.loaded.iter().any(|material| *material == need["materialId"]);
                        assert!(loaded, "printed from other material: {job}");
                    }
                    *starts.entry(filename).or_default() += 1;
                }
                PhysicalEvent::Finished { filename } if !is_own(&filename) => {
                    *parts.entry(filename[..NUMBER].to_owned()).or_default() += 1;
                    *plate_counts.entry(machine.sim.kind.as_str()).or_default() += 1;
                }
                _ => {}
            }
        }
    }
    assert!(starts.values().all(|count| *count == 1), "started twice: {starts:?}");
    assert!(parts.values().all(|count| *count == 1), "made twice: {parts:?}");
    let completed = jobs.iter().filter(|(_, job)| job["state"] == "COMPLETED").map(|(number, _)| number);
    let completed: BTreeSet<&String> = completed.collect();
    assert_eq!(parts.keys().collect::<BTreeSet<_>>(), completed, "the parts are the completed jobs");
    plate_counts
}

/// Returns the amount of a material that these jobs consumed.
fn used<'a>(jobs: impl Iterator<Item = &'a Value>, material: &str) -> f64 {
    let needs = jobs.flat_map(|job| job["needs"].as_array().unwrap());
    needs.filter(|need| need["materialId"] == material).map(|need| need["consumed"].as_f64().unwrap()).sum()
}

/// Checks that no stock was created or lost; `received` is the total of all deliveries.
pub async fn stock(app: &App, material: &str, received: f64, jobs: &BTreeMap<String, Value>) {
    app.nothing_reserved(material).await;
    app.ledger_is_even(material).await;
    let stock = app.nothing_reserved(material).await;
    let expected = received - used(jobs.values(), material);
    assert!((stock["quantity"].as_f64().unwrap() - expected).abs() < NEAR, "{stock}, expected {expected}");
}

/// Checks that the prints of each printer were deducted from its spools; `spools` has the amounts on replacement
/// spools.
pub async fn slots(app: &App, hall: &Hall, spools: &BTreeMap<String, f64>, jobs: &BTreeMap<String, Value>) {
    for machine in &hall.machines {
        let view = app.get(&format!("/api/printers/{}", machine.id)).await.expect(200);
        for (slot, material) in machine.loaded.iter().enumerate() {
            let Some(first) = machine.spool(slot) else { continue };
            let grams = used(jobs.values().filter(|job| job["printerId"] == machine.id.as_str()), material);
            let left = view["slots"][slot]["remaining"].as_f64().unwrap();
            match spools.get(&machine.id) {
                None => assert!((first - grams - left).abs() < NEAR, "{grams} taken: {view}"),
                // Some of each spool was left when it was swapped.
                Some(new) => assert!(first + new - grams - left > -NEAR, "{grams} taken of {new} more: {view}"),
            }
        }
    }
}
