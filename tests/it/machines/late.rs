//! Orders that will not be ready in time: shown, listed, published once for each delay, and mailed together.

use serde_json::{Value, json};
use simulator::PrinterKind;
use simulator::sink::Sink;

use super::{Floor, JUDGE_LATE, SLOW, STILL};
use crate::api::alerts::decoded;
use crate::api::materials::mails;
use crate::support::clock::HOUR;
use crate::support::waiting::LONG;
use crate::support::{Clock, on_drawn, on_sqlite, until};

/// Orders a part, and stops the printer's progress once it is printing. Returns the order's ID.
async fn printing(floor: &Floor) -> String {
    let (order, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    floor.sim(0).handle.set_speed(STILL);
    order
}

/// Waits until the order has this timing; returns the order.
pub async fn timing_is(floor: &Floor, order: &str, timing: &str) -> Value {
    until(&format!("the order to be {timing}"), || async {
        let order = floor.app.get(&format!("/api/orders/{order}")).await.expect(200);
        (order["timing"] == timing).then_some(order)
    })
    .await
}

/// Sets the order's due date to half a minute from now, which is sooner than it can be printed.
pub async fn hasten(floor: &Floor, order: &str, clock: &Clock) {
    let due_at = jiff::Timestamp::from_second(clock.unix_now() + 30).unwrap().to_string();
    floor.app.patch(&format!("/api/orders/{order}"), &json!({"dueAt": due_at})).await.expect(200);
}

/// Returns the ids of a list of orders, and their total number.
async fn list(floor: &Floor, query: &str) -> (Vec<String>, u64) {
    let body = floor.app.get(&format!("/api/orders?{query}")).await.expect(200);
    let ids = body["orders"].as_array().unwrap().iter().map(|order| order["id"].as_str().unwrap().to_owned());
    (ids.collect(), body["pagination"]["total"].as_u64().unwrap())
}

on_drawn! {
    async fn an_order_whose_promise_passes_is_published_once_and_listed_first(db: Db) {
        let clock = Clock::new();
        let mut floor = Floor::at_on(db, &clock, PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sink = Sink::start().await.unwrap();
        let endpoint = json!({"url": sink.url(), "events": ["order.late"], "secret": "a-secret-of-the-test-0123456789"});
        floor.app.post("/api/webhooks/endpoints", &endpoint).await.expect(201);
        let first = printing(&floor).await;
        timing_is(&floor, &first, "on_time").await;
        assert_eq!(list(&floor, "timing=late").await, (vec![], 0));

        clock.set(HOUR);
        // What changes calls for a forecast.
        let next = floor.order(1).await;
        let unpaid = floor.app.order(&floor.sku, 1).await;
        timing_is(&floor, &first, "late").await;
        timing_is(&floor, &next, "on_time").await;
        let all = sink.wait_until(|all| !all.is_empty(), LONG).await.expect("the event");
        let event = all[0].json();
        assert_eq!((&event["event"], &event["data"]["orderId"]), (&json!("order.late"), &json!(first)), "{event}");
        assert!(event["data"]["message"].as_str().unwrap().starts_with("promised for "), "{event}");

        assert_eq!(list(&floor, "timing=late").await, (vec![first.clone()], 1));
        assert_eq!(list(&floor, "timing=on_time").await, (vec![next.clone()], 1));
        assert_eq!(list(&floor, "timing=late&status=ready").await, (vec![], 0));
        assert_eq!(list(&floor, "timing=late&q=buyer").await, (vec![first.clone()], 1));
        let all = [first.clone(), next.clone(), unpaid.clone()];
        assert_eq!(list(&floor, "sort=timing").await, (all.to_vec(), 3));
        assert_eq!(list(&floor, "").await, (all.iter().rev().cloned().collect(), 3), "newest first");
        for (offset, order) in all.iter().enumerate() {
            let query = format!("sort=timing&limit=1&offset={offset}");
            assert_eq!(list(&floor, &query).await, (vec![order.clone()], 3), "{query}");
        }
        assert_eq!(floor.app.get("/api/orders?timing=soon").await.status, 400);

        // Once for each delay of each order, restarts or not.
        floor.app.kill_9();
        floor.app.start().await;
        timing_is(&floor, &next, "on_time").await;
        hasten(&floor, &next, &clock).await;
        let all = sink.wait_until(|all| all.iter().any(|got| got.json()["data"]["orderId"] == next), LONG).await;
        let late: Vec<Value> = all.expect("the next event").iter().map(|got| got.json()["id"].clone()).collect();
        let events = floor.events("order.late").await;
        assert_eq!(events.len(), 2, "{events:?}");
        assert!(events.iter().all(|event| late.contains(&event["id"])), "{late:?} of {events:?}");

        floor.hurry(0);
        let ready = floor.app.order_is(&first, "ready").await;
        assert_eq!((&ready["timing"], &ready["promisedAt"].is_string()), (&Value::Null, &true), "{ready}");
        assert!(!list(&floor, "timing=late").await.0.contains(&first), "nothing is owed any more");
    }
}

on_sqlite! {
    async fn a_delay_that_ends_and_begins_again_is_another_one(db: Db) {
        let clock = Clock::new();
        let floor = Floor::at_on(db, &clock, PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let order = printing(&floor).await;
        timing_is(&floor, &order, "on_time").await;
        for delays in 1..=2 {
            hasten(&floor, &order, &clock).await;
            until("the delay to be published", || async {
                (floor.events("order.late").await.len() == delays).then_some(())
            })
            .await;
            let body = json!({"dueAt": null});
            let patched = floor.app.patch(&format!("/api/orders/{order}"), &body).await.expect(200);
            until("the end of the delay to be recorded", || async {
                let order = timing_is(&floor, &order, "on_time").await;
                (order["updatedAt"] != patched["updatedAt"]).then_some(())
            })
            .await;
        }
        assert_eq!(floor.events("order.late").await.len(), 2);
    }

    async fn several_late_orders_are_one_mail_to_staff(db: Db) {
        let clock = Clock::new();
        // Longer than the orders take to become late on a busy machine.
        let env = [("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org"), ("PRINTFLOOR_MAIL__ALERT_INTERVAL_SECONDS", "15")];
        let floor = Floor::at_on(db, &clock, PrinterKind::FwRest, 1, SLOW, &env).await;
        let orders = [floor.order(1).await, floor.order(1).await, floor.order(1).await];
        let mut numbers = Vec::new();
        for order in &orders {
            numbers.push(timing_is(&floor, order, "on_time").await["number"].as_str().unwrap().to_owned());
        }
        hasten(&floor, &orders[0], &clock).await;
        let subject = format!("{} is late", numbers[0]);
        until("the first at once", || async { mails(&floor.app, &subject).pop() }).await;
        for order in &orders[1..] {
            hasten(&floor, order, &clock).await;
        }
        let gathered = until("the others together", || async { mails(&floor.app, "2 orders are late").pop() }).await;
        let gathered = decoded(&gathered);
        assert!(gathered.contains("To: ops@example.org"), "{gathered}");
        for (number, order) in numbers.iter().zip(&orders).skip(1) {
            for words in [format!("Order {number} for buyer@example.org: due "), format!("/shop/orders/{order}")] {
                assert!(gathered.contains(&words), "{words} in {gathered}");
            }
        }
        assert!(gathered.contains("now expected ") && gathered.contains("/shop/orders?timing=late"), "{gathered}");
        assert_eq!(mails(&floor.app, "late").len(), 2);
    }
}
