//! Endpoints: registered, shown, filtered, tested, deleted; where webhooks may not go.

use serde_json::{Value, json};
use simulator::sink::{Sink, SinkMode};

use super::super::{count, id, paths, some_sku};
use super::{QUICK, SLOW, got, happen, log, newest_is, register};
use crate::support::{App, Db, until};

#[tokio::test]
async fn a_delivery_is_the_envelope_and_its_headers() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    happen(&app, &sku).await;
    let sink = Sink::start().await.unwrap();
    let endpoint = register(&app, &sink, &["order.created"]).await;
    let order = happen(&app, &sku).await;
    app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    let delivery = newest_is(&app, &endpoint, "delivered").await;
    let one = &got(&sink, 1).await[0];
    let body = one.json();
    let mut members: Vec<&String> = body.as_object().unwrap().keys().collect();
    members.sort();
    assert_eq!(members, ["data", "event", "id", "timestamp"]);
    assert_eq!((&body["event"], body["id"].as_str()), (&json!("order.created"), one.header("webhook-id")));
    assert_eq!(
        body["data"],
        json!({"orderId": order, "number": "ORD-000002", "status": "created", "totalCents": 1250, "currency": "usd", "customerEmail": null})
    );
    assert!(body["timestamp"].as_str().is_some_and(|at| at.len() == 24 && at.ends_with('Z')), "{body}");
    assert_eq!((one.method.as_str(), one.header("content-type")), ("POST", Some("application/json")));
    assert_eq!(one.header("x-service-event"), Some("order.created"));
    assert_eq!(one.header("x-service-delivery"), delivery["id"].as_str());
    for header in ["x-service-signature", "webhook-id", "webhook-timestamp", "webhook-signature"] {
        assert!(one.header(header).is_some(), "{header}");
    }
    // Neither what was before the endpoint nor what it did not ask for.
    assert_eq!((sink.received().len(), log(&app, &endpoint).await.len()), (1, 1));
    assert_eq!(
        (
            &delivery["attempts"],
            &delivery["lastStatus"],
            &delivery["lastExcerpt"],
            &delivery["nextAt"],
            &delivery["payload"]
        ),
        (&json!(1), &json!(200), &json!("received"), &Value::Null, &body)
    );
}

#[tokio::test]
async fn what_cannot_be_an_endpoint_is_refused() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_WEBHOOKS__ALLOW_PRIVATE_TARGETS", "").start().await;
    let body = |url: &str, events: Value| json!({"url": url, "events": events});
    for url in [
        "",
        "nowhere",
        "/hook",
        "ftp://example.org/",
        "file:///etc/passwd",
        "http://user:pass@example.org/",
        "http://user@example.org/",
        "http://127.0.0.1/",
        "http://localhost:8787/",
        "http://LOCALHOST./",
        "http://a.localhost/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0/",
        "http://10.0.0.1/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://169.254.169.254/latest/meta-data",
        "http://100.64.0.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[fd00::1]/",
        "http://[fe80::1]/",
        "http://[::]/",
    ] {
        assert_eq!(
            paths(&app.post("/api/webhooks/endpoints", &body(url, json!(["order.paid"]))).await.expect(400)),
            ["url"],
            "{url}"
        );
    }
    let good = "https://hooks.example.org/in";
    for (events, wrong) in [
        (json!([]), "events"),
        (json!(["order.lost"]), "events.0"),
        (json!(["order.paid", "webhook.test"]), "events.1"),
        (json!(["order.paid", "order.paid"]), "events.1"),
        (json!("order.paid"), "events"),
    ] {
        assert_eq!(paths(&app.post("/api/webhooks/endpoints", &body(good, events)).await.expect(400)), [wrong]);
    }
    let endpoint = app.post("/api/webhooks/endpoints", &body(good, json!(["order.paid"]))).await.expect(201);
    let path = format!("/api/webhooks/endpoints/{}", id(&endpoint));
    assert_eq!(paths(&app.patch(&path, &json!({"url": "http://10.0.0.1/"})).await.expect(400)), ["url"]);
    assert_eq!(paths(&app.patch(&path, &json!({"events": []})).await.expect(400)), ["events"]);
    assert_eq!(app.get(&path).await.expect(200)["url"], good);
    assert_eq!(count(&app, "/api/webhooks/endpoints").await, 1);
    let types = app.get("/api/webhooks/event-types").await.expect(200);
    assert_eq!(types["eventTypes"].as_array().unwrap().len(), 12);
}

#[tokio::test]
async fn a_target_that_has_become_private_is_refused_when_dialled() {
    let mut app = App::on(Db::sqlite())
        .env("PRINTFLOOR_WEBHOOKS__ALLOW_PRIVATE_TARGETS", "")
        .env("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", SLOW)
        .start()
        .await;
    let allow = app.folder().join("printfloor.toml");
    std::fs::write(&allow, "[webhooks]\nallow_private_targets = true\n").unwrap();
    app.stop().await;
    app.start().await;
    let sink = Sink::start().await.unwrap();
    let direct = register(&app, &sink, &["order.created"]).await;
    // By name: that of this machine, where it has one that means a private address, else one that always does.
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned();
    let is_resolvable =
        tokio::net::lookup_host((name.as_str(), 80)).await.is_ok_and(|mut addresses| addresses.next().is_some());
    let url = sink.url().replace("127.0.0.1", if is_resolvable { &name } else { "localhost" });
    let body = json!({"url": url, "events": ["order.created"]});
    let named = id(&app.post("/api/webhooks/endpoints", &body).await.expect(201));
    std::fs::remove_file(&allow).unwrap();
    app.stop().await;
    app.start().await;
    let sku = some_sku(&app).await;
    happen(&app, &sku).await;
    for endpoint in [direct, named] {
        let tried = until("an attempt", || async {
            log(&app, &endpoint).await.into_iter().find(|delivery| delivery["attempts"] == 1)
        })
        .await;
        assert_eq!(tried["lastStatus"], Value::Null);
        assert!(tried["lastError"].as_str().unwrap().contains("not allowed"), "{tried}");
    }
    assert!(sink.received().is_empty());
}

#[tokio::test]
async fn a_test_event_goes_to_its_endpoint_alone() {
    let app = App::new(Db::sqlite()).await;
    let (sink, other) = (Sink::start().await.unwrap(), Sink::start().await.unwrap());
    sink.verify_with("a-secret-of-the-test-0123456789");
    let endpoint = register(&app, &sink, &["order.paid"]).await;
    let bystander = register(&app, &other, &["order.paid"]).await;
    let delivery = app.act(&format!("/api/webhooks/endpoints/{endpoint}/test")).await.expect(201);
    assert_eq!((&delivery["event"], &delivery["endpointId"]), (&json!("webhook.test"), &json!(endpoint)));
    let one = &got(&sink, 1).await[0];
    assert_eq!((one.verdict.service, one.verdict.standard), (Some(true), Some(true)));
    assert_eq!(
        (one.json()["event"].as_str(), one.header("x-service-event")),
        (Some("webhook.test"), Some("webhook.test"))
    );
    newest_is(&app, &endpoint, "delivered").await;
    assert!(log(&app, &bystander).await.is_empty() && other.received().is_empty());
}

#[tokio::test]
async fn deleting_an_endpoint_cancels_what_is_pending_and_keeps_the_log() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", SLOW).start().await;
    let sku = some_sku(&app).await;
    let sink = Sink::start().await.unwrap();
    let endpoint = register(&app, &sink, &["order.created"]).await;
    happen(&app, &sku).await;
    newest_is(&app, &endpoint, "delivered").await;
    sink.set_mode(SinkMode::Status(500));
    happen(&app, &sku).await;
    until("a failure", || async {
        log(&app, &endpoint).await.iter().any(|one| one["lastStatus"] == 500).then_some(())
    })
    .await;
    let path = format!("/api/webhooks/endpoints/{endpoint}");
    app.delete(&path).await.expect(204);
    let states: Vec<Value> = log(&app, &endpoint).await.iter().map(|one| one["state"].clone()).collect();
    assert_eq!(states, ["cancelled", "delivered"]);
    assert_eq!(app.get(&path).await.error(404), "endpoint_not_found");
    assert_eq!(app.delete(&path).await.error(404), "endpoint_not_found");
    for act in ["enable", "test", "rotate-secret"] {
        assert_eq!(app.act(&format!("{path}/{act}")).await.error(404), "endpoint_not_found", "{act}");
    }
    assert_eq!(count(&app, "/api/webhooks/endpoints").await, 0);
}

#[tokio::test]
async fn what_was_delivered_is_sent_again_on_demand() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", QUICK).start().await;
    let sku = some_sku(&app).await;
    let sink = Sink::start().await.unwrap();
    let endpoint = register(&app, &sink, &["order.created"]).await;
    happen(&app, &sku).await;
    happen(&app, &sku).await;
    until("both to be delivered", || async {
        let all = log(&app, &endpoint).await;
        (all.len() == 2 && all.iter().all(|one| one["state"] == "delivered")).then_some(())
    })
    .await;
    let first = got(&sink, 2).await[0].clone();
    let past = log(&app, &endpoint)
        .await
        .into_iter()
        .find(|one| one["eventId"] == first.header("webhook-id").unwrap())
        .unwrap();
    let again = app.act(&format!("/api/webhooks/deliveries/{}/redeliver", id(&past))).await.expect(201);
    assert_ne!(again["id"], past["id"]);
    assert_eq!((&again["eventId"], &again["replay"]), (&past["eventId"], &json!(1)));
    let third = got(&sink, 3).await[2].clone();
    assert_eq!((&third.body, third.header("webhook-id")), (&first.body, first.header("webhook-id")));
    assert_eq!(third.header("x-service-delivery"), again["id"].as_str());
    // All since a time, each once, however often it was sent.
    let replay = format!("/api/webhooks/endpoints/{endpoint}/replay");
    newest_is(&app, &endpoint, "delivered").await;
    assert_eq!(app.post(&replay, &json!({"since": past["createdAt"]})).await.expect(200), json!({"replayed": 2}));
    assert_eq!(got(&sink, 5).await.len(), 5);
    assert_eq!(paths(&app.post(&replay, &json!({"since": "2020-01-01T00:00:00Z"})).await.expect(400)), ["since"]);
    assert_eq!(app.post(&replay, &json!({"since": "2099-01-01T00:00:00Z"})).await.expect(200), json!({"replayed": 0}));
}
