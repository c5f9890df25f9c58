//! What must be true after everything: of the parts, of the material, of the money, and of what subscribers heard.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use simulator::Fleet;
use simulator::printer::What;
use simulator::sink::Sink;

use super::customers::Sold;
use super::hall::is_own;
use crate::support::{App, until, waiting::until_seen};

/// Digits of a job's number at the beginning of a file's name: `JOB-000001`.
const NUMBER: usize = 10;

/// Every order has come to its end, with its money. Gives the jobs by number.
pub async fn orders(app: &App, sold: &[Sold]) -> BTreeMap<String, Value> {
    let mut jobs = BTreeMap::new();
    for one in sold {
        let (status, kept, due_back) = one.plan.end();
        let order = app.order_is(one.id(), status).await;
        let words = format!("{:?}: {order}", one.plan);
        assert_eq!(order["keptCents"].as_i64(), Some(if kept { one.total() } else { 0 }), "{words}");
        let flags = order["flags"].as_array().unwrap();
        assert_eq!(flags.iter().any(|flag| flag == "refund_due"), due_back, "{words}");
        assert!(!flags.iter().any(|flag| flag == "amount_mismatch" || flag == "job_failed"), "{words}");
        let books: i64 =
            order["payments"].as_array().unwrap().iter().map(|one| one["amountCents"].as_i64().unwrap()).sum();
        assert_eq!(books, order["keptCents"].as_i64().unwrap(), "the books add up: {words}");
        let made = until_seen("all its jobs to be over", || async {
            let made = app.jobs(one.id()).await;
            let over = |job: &Value| job["state"] == "COMPLETED" || job["state"] == "CANCELLED";
            if made.iter().all(over) { Ok(made) } else { Err(Value::from(made)) }
        })
        .await;
        assert_eq!(made.len() as u64, order["lines"][0]["quantity"].as_u64().unwrap(), "{words}");
        for job in made {
            // A part that was done before its cancel could be is done.
            assert!(!one.plan.is_made() || job["state"] == "COMPLETED", "{job}");
            jobs.insert(job["number"].as_str().unwrap().to_owned(), job);
        }
    }
    jobs
}

/// The printers' own logs are the physical truth.
pub async fn parts(fleet: &Fleet, sick: &[bool], jobs: &BTreeMap<String, Value>) {
    let (mut starts, mut parts): (BTreeMap<String, u32>, BTreeMap<String, u32>) = <_>::default();
    for (sim, sick) in fleet.printers.iter().zip(sick) {
        until("people's own prints to be done", || async {
            let (mut begun, mut done) = (0, 0);
            for entry in sim.handle.log() {
                match entry.what {
                    What::Started { filename } if is_own(&filename) => begun += 1,
                    What::Finished { filename } if is_own(&filename) => done += 1,
                    What::Cancelled { filename } if is_own(&filename) => panic!("{filename} was cancelled"),
                    _ => {}
                }
            }
            (begun == done).then_some(())
        })
        .await;
        for entry in sim.handle.log() {
            match entry.what {
                What::Started { filename } if !is_own(&filename) => {
                    assert!(!sick, "it refuses every start: {filename}");
                    *starts.entry(filename).or_default() += 1;
                }
                What::Finished { filename } if !is_own(&filename) => {
                    *parts.entry(filename[..NUMBER].to_owned()).or_default() += 1;
                }
                _ => {}
            }
        }
    }
    assert!(starts.values().all(|count| *count == 1), "started twice: {starts:?}");
    assert!(parts.values().all(|count| *count == 1), "made twice: {parts:?}");
    let completed = jobs.iter().filter(|(_, job)| job["state"] == "COMPLETED").map(|(number, _)| number);
    assert_eq!(parts.keys().collect::<Vec<_>>(), completed.collect::<Vec<_>>(), "the parts are the completed jobs");
}

/// No stock was invented or lost; `received` is all that came in.
pub async fn material(app: &App, material: &str, received: f64, jobs: &BTreeMap<String, Value>) {
    let path = format!("/api/inventory/materials/{material}");
    until("all claims to be settled", || async { (app.get(&path).await.expect(200)["reserved"] == 0).then_some(()) })
        .await;
    app.ledger_is_even(material).await;
    let stock = app.get(&path).await.expect(200);
    let used: f64 = jobs.values().map(|job| job["consumed"].as_f64().unwrap()).sum();
    let expected = received - used;
    assert!((stock["quantity"].as_f64().unwrap() - expected).abs() < 0.000_5, "{stock}, expected {expected}");
}

/// Every event came at least once, with the same id and bytes every time. Gives how many.
pub async fn events(sink: &Sink, sold: &[Sold]) -> usize {
    let names = |one: &Sold| {
        let mut names = vec!["order.created", "order.paid"];
        if one.plan.is_made() {
            names.extend(["order.printing", "order.ready"]);
        } else {
            names.push("order.cancelled");
        }
        names.into_iter().map(|name| (one.id().to_owned(), name.to_owned())).collect::<Vec<_>>()
    };
    let wanted: BTreeSet<(String, String)> = sold.iter().flat_map(names).collect();
    until_seen("every event to have arrived", || async {
        let heard: BTreeSet<_> = sink
            .received()
            .iter()
            .map(|got| {
                let body = got.json();
                let order = body["data"]["orderId"].as_str().unwrap_or_default().to_owned();
                (order, body["event"].as_str().unwrap_or_default().to_owned())
            })
            .collect();
        let missing: Vec<_> = wanted.difference(&heard).collect();
        if missing.is_empty() { Ok(()) } else { Err(format!("{missing:?}")) }
    })
    .await;
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
    bytes.len()
}
