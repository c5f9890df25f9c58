//! Retries of failed deliveries: they follow the schedule, and no endpoint affects another.

use std::collections::HashSet;

use serde_json::json;
use simulator::sink::{ReceivedRequest, Sink, SinkMode};

use super::super::materials::mails;
use super::super::{id, some_sku};
use super::{QUICK, SLOW, endpoint_is, got, happen, log, newest_is, register};
use crate::support::waiting::LONG;
use crate::support::{App, Db, on_sqlite, until};

#[tokio::test]
async fn every_attempt_sends_the_same() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", QUICK).start().await;
    let sku = some_sku(&app).await;
    let sink = Sink::start().await.unwrap();
    sink.set_mode(SinkMode::FailFirst(5));
    let endpoint = register(&app, &sink, &["order.created"]).await;
    happen(&app, &sku).await;
    let delivered = newest_is(&app, &endpoint, "delivered").await;
    assert_eq!(
        (&delivered["attempts"], &delivered["lastStatus"]),
        (&json!(6), &json!(200)),
        "the fifth retry still counts"
    );
    let all = sink.received();
    assert_eq!(all.len(), 6);
    let same: HashSet<_> = all
        .iter()
        .map(|one| {
            (
                one.body.clone(),
                one.header("webhook-id"),
                one.header("x-service-delivery"),
                one.header("x-service-signature"),
            )
        })
        .collect();
    assert_eq!(same.len(), 1, "{all:?}");
    let waits: Vec<_> = all.windows(2).map(|two| two[0].at.duration_until(two[1].at).as_millis()).collect();
    assert!(waits.iter().all(|wait| *wait >= 100), "a retry came early: {waits:?}");
    endpoint_is(&app, &endpoint, "active").await;
}

on_sqlite! {
    async fn after_the_last_retry_the_endpoint_is_disabled_and_holds_its_events(db: Db) {
        let mut app = App::on(db)
            .env("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", QUICK)
            .env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org,boss@example.org")
            .start()
            .await;
        let sku = some_sku(&app).await;
        let sink = Sink::start().await.unwrap();
        sink.set_mode(SinkMode::Status(503));
        let endpoint = register(&app, &sink, &["order.created"]).await;
        happen(&app, &sku).await;
        let disabled = endpoint_is(&app, &endpoint, "disabled").await;
        assert!(disabled["disabledReason"].as_str().unwrap().contains("503"), "{disabled}");
        let failed = newest_is(&app, &endpoint, "failed").await;
        assert_eq!((&failed["attempts"], sink.received().len()), (&json!(6), 6), "one attempt and five retries");
        let events = app.get(&format!("/api/events?event=endpoint.disabled&subject={endpoint}")).await.expect(200);
        assert_eq!(events["events"].as_array().unwrap().len(), 1, "{events}");
        until("a mail", || async { (mails(&app, "Webhook endpoint disabled").len() == 1).then_some(()) }).await;
        let metrics = app.get("/metrics").await.text;
        let counted = "printfloor_webhook_endpoints{state=\"disabled\"} 1";
        assert!(metrics.lines().any(|line| line == counted), "{metrics}");

        let held: Vec<String> = vec![happen(&app, &sku).await, happen(&app, &sku).await];
        until("two to be held", || async { (log(&app, &endpoint).await.len() == 3).then_some(()) }).await;
        app.kill_9();
        app.start().await;
        let pending = log(&app, &endpoint).await.into_iter().filter(|one| one["state"] == "pending" && one["attempts"] == 0).count();
        assert_eq!((pending, sink.received().len()), (2, 6));
        assert!(log(&app, &endpoint).await.iter().all(|one| one["nextAt"].is_null()), "nothing that is held is due");
        sink.set_mode(SinkMode::Ok);
        app.act(&format!("/api/webhooks/endpoints/{endpoint}/enable")).await.expect(200);
        // What disabled the endpoint is sent too.
        let all = got(&sink, 9).await;
        let order = |one: &ReceivedRequest| one.json()["data"]["orderId"].as_str().unwrap().to_owned();
        let sent: HashSet<String> = all[6..].iter().map(order).collect();
        assert_eq!(sent, held.into_iter().chain([order(&all[0])]).collect());
        let log_of = || async { log(&app, &endpoint).await };
        until("all to be noted", || async {
            log_of().await.iter().all(|one| one["state"] == "delivered").then_some(())
        }).await;
        let enabled = log_of().await.into_iter().find(|one| one["id"] == failed["id"]).unwrap();
        assert_eq!((&enabled["attempts"], enabled["replay"].as_i64()), (&json!(1), Some(0)), "counted anew: {enabled}");
        // Any of them is sent again by hand.
        app.act(&format!("/api/webhooks/deliveries/{}/redeliver", id(&failed))).await.expect(201);
        let last = got(&sink, 10).await[9].clone();
        assert_eq!(last.body, all[0].body);
        newest_is(&app, &endpoint, "delivered").await;
        let enabled = endpoint_is(&app, &endpoint, "active").await;
        assert_eq!(enabled["disabledReason"], serde_json::Value::Null);
        assert_eq!(mails(&app, "Webhook endpoint disabled").len(), 1);
    }
}

/// Attempts one delivery to each of these receivers, which have this many seconds to respond, and checks the recorded
/// status of each.
async fn first_attempts_end_as(timeout_seconds: u32, receivers: &[(SinkMode, Option<u16>)]) -> (App, String) {
    let app = App::on(Db::sqlite())
        .env("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", SLOW)
        .env("PRINTFLOOR_WEBHOOKS__DELIVERY_TIMEOUT_SECONDS", timeout_seconds)
        .start()
        .await;
    let sku = some_sku(&app).await;
    let mut endpoints = Vec::new();
    for (mode, status) in receivers {
        let sink = Sink::start().await.unwrap();
        sink.set_mode(mode.clone());
        endpoints.push((register(&app, &sink, &["order.created"]).await, mode, status, sink));
    }
    happen(&app, &sku).await;
    for (endpoint, mode, status, sink) in &endpoints {
        let tried =
            until("an attempt", || async { log(&app, endpoint).await.into_iter().find(|one| one["attempts"] == 1) })
                .await;
        let good = **status == Some(204);
        assert_eq!(
            (&tried["lastStatus"], &tried["state"]),
            (&json!(status), &json!(if good { "delivered" } else { "pending" })),
            "{mode:?}: {tried}"
        );
        assert_eq!(tried["lastError"].is_null(), good, "{mode:?}: {tried}");
        assert_eq!(sink.received().len(), 1, "{mode:?}: redirects are not followed");
    }
    (app, sku)
}

#[tokio::test]
async fn only_an_answer_of_200_to_299_in_time_is_a_success() {
    first_attempts_end_as(5, &[(SinkMode::Hang, None)]).await;
    // These may take long to answer, on a busy machine.
    let (app, sku) = first_attempts_end_as(
        300,
        &[
            (SinkMode::Status(204), Some(204)),
            (SinkMode::Status(302), Some(302)),
            (SinkMode::Status(404), Some(404)),
            (SinkMode::Status(410), Some(410)),
            (SinkMode::Drop, None),
        ],
    )
    .await;
    let closed = Sink::start().await.unwrap();
    let endpoint = register(&app, &closed, &["order.created"]).await;
    closed.shutdown();
    happen(&app, &sku).await;
    until("a refused connection", || async {
        log(&app, &endpoint).await.into_iter().find(|one| one["attempts"] == 1 && one["lastError"].is_string())
    })
    .await;
}

#[tokio::test]
async fn an_endpoint_that_hangs_delays_no_other() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_WEBHOOKS__DELIVERY_TIMEOUT_SECONDS", 300).start().await;
    let sku = some_sku(&app).await;
    let hangs = Sink::start().await.unwrap();
    hangs.set_mode(SinkMode::Hang);
    let stuck = register(&app, &hangs, &["order.created"]).await;
    let mut others = Vec::new();
    for _ in 0..9 {
        let works = Sink::start().await.unwrap();
        register(&app, &works, &["order.created"]).await;
        others.push(works);
    }
    // More than one endpoint keeps in hand at once.
    for _ in 0..50 {
        happen(&app, &sku).await;
    }
    for works in &others {
        let all = works.wait_until(|all| all.len() == 50, LONG).await.unwrap();
        let different: HashSet<_> = all.iter().map(|one| one.header("webhook-id").unwrap()).collect();
        assert_eq!(different.len(), 50);
    }
    assert!(
        log(&app, &stuck).await.iter().all(|one| one["attempts"] == 0),
        "none of the other's was answered meanwhile"
    );
    // Not more at once than is set.
    until("as many to hang as may", || async { (hangs.received().len() == 16).then_some(()) }).await;
}
