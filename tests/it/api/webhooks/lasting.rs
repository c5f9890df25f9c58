//! Webhooks after a power cut: no delivery is lost.

use std::collections::{BTreeMap, HashSet};

use serde_json::json;
use simulator::sink::{Sink, SinkMode, standard_signature};

use super::super::some_sku;
use super::{SECRET, got, happen, log, newest_is, register};
use crate::support::app::Builder;
use crate::support::clock::HOUR;
use crate::support::waiting::LONG;
use crate::support::{App, Clock, Db, on_both, on_sqlite, until};

/// Kills a server once the first delivery of an event to this endpoint has failed and the failure is on disk. The retry
/// is due 6 s after the first attempt.
async fn killed_after_a_failure(server: Builder) -> (App, Sink, String) {
    let mut app = server.env("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", "6,600").start().await;
    let sku = some_sku(&app).await;
    let sink = Sink::start().await.unwrap();
    sink.set_mode(SinkMode::FailFirst(1));
    let endpoint = register(&app, &sink, &["order.created"]).await;
    happen(&app, &sku).await;
    until("the failure to be written", || async {
        log(&app, &endpoint).await.into_iter().find(|one| one["attempts"] == 1)
    })
    .await;
    app.kill_9();
    (app, sink, endpoint)
}

on_both! {
    async fn every_event_arrives_at_least_once_with_the_same_id_and_bytes(db: Db) {
        let mut app = App::on(db).env("PRINTFLOOR_WEBHOOKS__DELIVERY_TIMEOUT_SECONDS", 300).start().await;
        let sku = some_sku(&app).await;
        let sink = Sink::start().await.unwrap();
        sink.set_mode(SinkMode::Hang);
        let endpoint = register(&app, &sink, &["order.created"]).await;
        // More than one endpoint keeps in hand at once: some are on their way, some in the backlog.
        let mut orders = HashSet::new();
        for _ in 0..40 {
            orders.insert(happen(&app, &sku).await);
        }
        got(&sink, 1).await;
        app.kill_9();
        sink.set_mode(SinkMode::Ok);
        app.start().await;
        let all = sink
            .wait_until(|all| all.iter().filter(|one| one.answered == Some(200)).count() >= 40, LONG)
            .await
            .expect("all to arrive");
        let mut bodies: BTreeMap<&str, HashSet<_>> = BTreeMap::new();
        for one in &all {
            bodies.entry(one.header("webhook-id").unwrap()).or_default().insert((one.body.clone(), one.header("x-service-delivery")));
        }
        assert_eq!(bodies.len(), 40);
        assert!(bodies.values().all(|same| same.len() == 1), "other bytes under the same id");
        let arrived: HashSet<String> = all.iter().map(|one| one.json()["data"]["orderId"].as_str().unwrap().to_owned()).collect();
        assert_eq!(arrived, orders);
        until("all to be noted", || async {
            log(&app, &endpoint).await.iter().all(|one| one["state"] == "delivered").then_some(())
        })
        .await;
    }
}

on_sqlite! {
    async fn the_schedule_of_retries_goes_on_after_a_power_cut(db: Db) {
        let (mut app, sink, endpoint) = killed_after_a_failure(App::on(db)).await;
        app.start().await;
        let delivered = newest_is(&app, &endpoint, "delivered").await;
        assert_eq!(delivered["attempts"], 2);
        let all = sink.received();
        assert_eq!(all.len(), 2);
        let [first, second] = [&all[0], &all[1]];
        assert_eq!((&first.body, first.header("x-service-delivery")), (&second.body, second.header("x-service-delivery")));
        assert!(first.at.duration_until(second.at).as_millis() >= 6000, "a retry came early");
    }

    async fn what_happens_while_nobody_can_deliver_is_delivered_later(db: Db) {
        // Events of a server that was killed right after its answer: the endpoint had no time to see them.
        let mut app = App::new(db).await;
        let sku = some_sku(&app).await;
        let sink = Sink::start().await.unwrap();
        register(&app, &sink, &["order.created", "order.paid"]).await;
        let mut expected = HashSet::new();
        for _ in 0..3 {
            let order = happen(&app, &sku).await;
            app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
            app.kill_9();
            app.start().await;
            expected.extend(["order.created", "order.paid"].map(|event| (event.to_owned(), order.clone())));
        }
        let events_of = |all: &[simulator::sink::ReceivedRequest]| -> HashSet<(String, String)> {
            let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
            all.iter().map(simulator::sink::ReceivedRequest::json).map(|body| (text(&body["event"]), text(&body["data"]["orderId"]))).collect()
        };
        let all = sink.wait_until(|all| events_of(all) == expected, LONG).await.expect("all to arrive");
        let ids: HashSet<_> = all.iter().map(|one| one.header("webhook-id").unwrap()).collect();
        assert_eq!(ids.len(), 6, "one id for each event");
    }

    async fn an_event_type_that_is_added_brings_nothing_from_before(db: Db) {
        let mut app = App::new(db).await;
        let sku = some_sku(&app).await;
        let sink = Sink::start().await.unwrap();
        // Nothing that it subscribes to happens, so its cursor stays behind.
        let endpoint = register(&app, &sink, &["order.cancelled"]).await;
        happen(&app, &sku).await;
        let change = json!({"events": ["order.cancelled", "order.created"]});
        app.patch(&format!("/api/webhooks/endpoints/{endpoint}"), &change).await.expect(200);
        app.kill_9();
        app.start().await;
        let order = happen(&app, &sku).await;
        let delivery = newest_is(&app, &endpoint, "delivered").await;
        assert_eq!(delivery["payload"]["data"]["orderId"], json!(order));
        assert_eq!((log(&app, &endpoint).await.len(), sink.received().len()), (1, 1), "one of before the subscription");
    }
}

/// Simulates a wall clock that was set back by an hour after the retry had been scheduled, so that the scheduled time
/// is an hour too late.
#[tokio::test]
async fn a_clock_that_was_set_back_delays_no_retry() {
    let (mut app, sink, endpoint) = killed_after_a_failure(App::on(Db::sqlite())).await;
    let later = "strftime('%Y-%m-%dT%H:%M:%S.000Z', next_at / 1000 + 3600, 'unixepoch')";
    let set_back = format!(
        "UPDATE deliveries SET doc = json_set(doc, '$.nextAt', {later}), next_at = next_at + 3600000 WHERE state = 'pending'"
    );
    app.db.execute(&app, &set_back).await;
    app.start().await;
    newest_is(&app, &endpoint, "delivered").await;
    assert_eq!(sink.received().len(), 2);
}

/// Checks that receivers that reject old timestamps accept a retry however late: it carries the timestamp of the
/// attempt, not of the event.
#[tokio::test]
async fn a_late_retry_is_stamped_with_its_own_time() {
    let clock = Clock::new();
    let (mut app, sink, endpoint) = killed_after_a_failure(App::on(Db::sqlite()).clock(&clock)).await;
    clock.set(HOUR);
    app.start().await;
    newest_is(&app, &endpoint, "delivered").await;
    let all = sink.received();
    let stamps: Vec<i64> = all.iter().map(|one| one.header("webhook-timestamp").unwrap().parse().unwrap()).collect();
    let [first, second] = stamps[..] else { panic!("{stamps:?}") };
    assert!(second - first >= HOUR / 1000, "{stamps:?}");
    let (retry, stamp) = (&all[1], second.to_string());
    let signature = standard_signature(SECRET, retry.header("webhook-id").unwrap(), &stamp, &retry.body);
    assert_eq!(retry.header("webhook-signature"), Some(signature.as_str()));
}
