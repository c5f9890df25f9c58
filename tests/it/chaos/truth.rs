//! Final checks of the orders, the payments, the shipments, and the events that subscribers received.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use simulator::sink::Sink;

use super::customers::{Plan, Sold};
use super::hall::Hall;
use super::packers::Sent;
use super::parts;
use crate::support::{App, waiting::until_seen};

/// Final state of an order, with its jobs.
pub struct Outcome<'a> {
    pub sold: &'a Sold,
    pub order: Value,
    pub jobs: Vec<Value>,
}

impl Outcome<'_> {
    pub fn flagged(&self, flag: &str) -> bool {
        self.order["flags"].as_array().unwrap().iter().any(|one| one == flag)
    }
}

fn over(job: &Value) -> bool {
    job["state"] == "COMPLETED" || job["state"] == "CANCELLED"
}

/// Returns whether an order has reached its final status. An order whose parts are shipped as they are printed may
/// already be shipped.
fn has_come(sold: &Sold, order: &Value) -> bool {
    order["status"] == sold.end.status || (sold.plan == Plan::Packed && order["status"] == "shipped")
}

/// Waits until every order has reached its final status, every bed is clear, and no work is left.
pub async fn at_rest(app: &App, sold: &[Sold], hall: &Hall) {
    for one in sold {
        until_seen(&format!("{:?} to come to its end", one.plan), || async {
            let order = app.get(&format!("/api/orders/{}", one.id())).await.expect(200);
            let jobs = app.jobs(one.id()).await;
            if has_come(one, &order) && jobs.iter().all(over) { Ok(()) } else { Err(json!([order, jobs])) }
        })
        .await;
    }
    until_seen("all to be at rest", || async {
        let printers = app.get("/api/printers").await.expect(200);
        for printer in printers["printers"].as_array().unwrap() {
            let by_hand = hall.at(printer["id"].as_str().unwrap()).is_some_and(|(_, machine)| machine.by_hand);
            if !printer["jobId"].is_null() || (by_hand && !printer["lastPrint"].is_null()) {
                return Err(printer.clone());
            }
        }
        for one in sold {
            let order = app.get(&format!("/api/orders/{}", one.id())).await.expect(200);
            let jobs = app.jobs(one.id()).await;
            if !has_come(one, &order) || !jobs.iter().all(over) {
                return Err(json!([order, jobs]));
            }
        }
        Ok(())
    })
    .await;
}

/// Fetches the final state of every order.
pub async fn outcomes<'a>(app: &App, sold: &'a [Sold]) -> Vec<Outcome<'a>> {
    let mut all = Vec::new();
    for sold in sold {
        let order = app.get(&format!("/api/orders/{}", sold.id())).await.expect(200);
        all.push(Outcome { sold, order, jobs: app.jobs(sold.id()).await });
    }
    all
}

/// Checks the payments of an order.
pub fn money(one: &Outcome<'_>) {
    let (order, end) = (&one.order, &one.sold.end);
    let words = format!("{:?}, {end:?}: {order}", one.sold.plan);
    assert_eq!(order["keptCents"].as_i64(), Some(end.kept_cents), "{words}");
    assert_eq!(one.flagged("refund_due"), end.due_back, "{words}");
    assert_eq!(one.flagged("amount_mismatch"), end.mismatch, "{words}");
    assert!(!one.flagged("job_failed"), "{words}");
    assert_eq!(one.jobs.is_empty(), !end.paid, "jobs are made when it is paid: {words}");
    // Of a payment of which nothing was heard, nothing can have gone back.
    if one.sold.plan != Plan::AnyOrder {
        let books = order["payments"].as_array().unwrap().iter().map(|one| one["amountCents"].as_i64().unwrap());
        assert_eq!(books.sum::<i64>(), end.kept_cents, "the books add up: {words}");
    }
}

/// Checks that an order has the acknowledged shipments and no others, and that their sum is what left.
pub fn shipments(one: &Outcome<'_>, sent: &Sent) {
    let order = &one.order;
    let parcels = order["shipments"].as_array().unwrap();
    assert_eq!(parcels, sent.get(one.sold.id()).unwrap_or(&Vec::new()), "{order}");
    let mut left: BTreeMap<u64, u64> = BTreeMap::new();
    for line in parcels.iter().flat_map(|shipment| shipment["lines"].as_array().unwrap()) {
        *left.entry(line["line"].as_u64().unwrap()).or_default() += line["quantity"].as_u64().unwrap();
    }
    for (n, line) in order["lines"].as_array().unwrap().iter().enumerate().filter(|(_, line)| !parts::is_kit(line)) {
        let left = left.get(&(n as u64)).copied().unwrap_or_default();
        // Rejected after it left, a part is owed again.
        let rejected = line["rejectedAfterShipping"].as_u64().unwrap_or_default();
        assert_eq!(line["shipped"], (left - rejected).min(line["quantity"].as_u64().unwrap()), "{order}");
    }
}

/// Returns whether any part of an order is good; if none is, nothing can be shipped.
fn has_good_parts(order: &Value) -> bool {
    order["lines"].as_array().unwrap().iter().any(|line| line["good"].as_u64().is_some_and(|good| good > 0))
}

/// Returns the number of an order's parts that were rejected after they had been shipped.
fn rejected_departures(order: &Value) -> usize {
    let lines = order["lines"].as_array().unwrap().iter().filter(|line| !parts::is_kit(line));
    lines.map(|line| line["rejectedAfterShipping"].as_u64().unwrap_or_default() as usize).sum()
}

/// Ships the remaining good parts of each order; the order must then be shipped, and stay so until one of its parts is
/// rejected.
pub async fn all_leaves(app: &App, outcomes: &[Outcome<'_>], sent: &mut Sent) {
    for one in outcomes.iter().filter(|one| one.order["status"] == "ready") {
        let (id, before) = (one.sold.id(), one.order["shipments"].as_array().unwrap().len());
        let body = json!({"carrier": "pickup", "acceptShort": one.flagged("short")});
        if !has_good_parts(&one.order) {
            let refusal = app.post(&format!("/api/orders/{id}/ship"), &body).await.expect(409);
            assert_eq!(refusal["code"], "nothing_good", "{refusal}");
            continue;
        }
        let shipped = app.post(&format!("/api/orders/{id}/ship"), &body).await.expect(200);
        assert_eq!(shipped["status"], "shipped", "{shipped}");
        let new = &shipped["shipments"].as_array().unwrap()[before..];
        sent.entry(id.to_owned()).or_default().extend(new.iter().cloned());
        let left = app.get(&format!("/api/orders/{id}")).await.expect(200);
        for line in left["lines"].as_array().unwrap() {
            let number = |member: &str| line[member].as_u64().unwrap();
            assert!(number("shipped") >= number("good").min(number("quantity")), "all that is good left: {left}");
        }
        let job = one.jobs.iter().find(|job| job["state"] == "COMPLETED").unwrap()["id"].as_str().unwrap();
        app.post(&format!("/api/jobs/{job}/sign-off"), &json!({})).await.expect(200);
        assert_eq!(app.jobs(id).await.len(), one.jobs.len(), "it has left: {shipped}");
        let after = app.get(&format!("/api/orders/{id}")).await.expect(200);
        assert_eq!((&after["status"], &after["shipments"]), (&json!("shipped"), &shipped["shipments"]));
    }
}

/// Checks that every event was received at least once, always with the same ID and body. Returns the number of
/// deliveries.
pub async fn events(sink: &Sink, outcomes: &[Outcome<'_>]) -> usize {
    let names = |one: &Outcome<'_>| {
        let (end, mut names) = (&one.sold.end, vec!["order.created"]);
        // That an older release told of the order was a while ago.
        if one.sold.plan == Plan::Old {
            names.clear();
        }
        if end.paid {
            names.push("order.paid");
        }
        if end.is_made() {
            names.push("order.printing");
            if has_good_parts(&one.order) {
                names.push("order.shipped");
            }
        }
        // When the last part that was ordered leaves, something more may still be in the making.
        if one.order["status"] == "ready" {
            names.push("order.ready");
        }
        if !matches!(one.sold.plan, Plan::AnyOrder) && !end.is_made() {
            names.push("order.cancelled");
        }
        names.into_iter().map(|name| (one.sold.id().to_owned(), name.to_owned())).collect::<Vec<_>>()
    };
    let expected: BTreeSet<(String, String)> = outcomes.iter().flat_map(names).collect();
    until_seen("every event to have arrived", || async {
        let arrivals: BTreeSet<_> = sink
            .received()
            .iter()
            .map(|got| {
                let body = got.json();
                let order = body["data"]["orderId"].as_str().unwrap_or_default().to_owned();
                (order, body["event"].as_str().unwrap_or_default().to_owned())
            })
            .collect();
        let missing: Vec<_> = expected.difference(&arrivals).collect();
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
    for ((order, event), ids) in &kinds {
        // An order is ready and shipped once more for each time that parts of it were made again, or were rejected
        // after they had left, which a spare part of an earlier print may replace.
        let again: usize = outcomes
            .iter()
            .filter(|one| one.sold.id() == order)
            .map(|one| {
                let reprints = one.jobs.iter().filter(|job| job["reprint"] == true).count();
                match event.as_str() {
                    "order.ready" | "order.shipped" => reprints + rejected_departures(&one.order),
                    _ => 0,
                }
            })
            .sum();
        let words = || outcomes.iter().find(|one| one.sold.id() == order).map(|one| (&one.order, &one.jobs));
        assert!(ids.len() <= 1 + again, "{event} of {order} happened {} times: {:?}", ids.len(), words());
    }
    bytes.len()
}
