//! Idempotency keys: a repeated request has one effect and receives the first response again.

use serde_json::json;
use simulator::sink::Sink;

use super::{NOTHING, count, id, new_key, one_of, some_sku};
use crate::support::client::Answer;
use crate::support::clock::HOUR;
use crate::support::{App, Clock, Db, on_both, on_sqlite};

fn replayed(answer: &Answer) -> bool {
    answer.header("idempotency-replayed") == Some("true")
}

/// Asserts that `again` is a replay of the first response.
#[track_caller]
fn is_replay(first: &Answer, again: &Answer) {
    assert!(!replayed(first), "the first answer is no repeat");
    assert!(replayed(again), "{} {}", again.status, again.text);
    assert_eq!((again.status, &again.text), (first.status, &first.text));
    assert_eq!(again.header("location"), first.header("location"));
    assert_eq!(again.header("etag"), first.header("etag"));
}

on_both! {
    async fn two_at_once_have_one_effect(db: Db) {
        let app = App::new(db).await;
        let sku = some_sku(&app).await;
        let body = one_of(&sku);
        let all = futures::future::join_all((0..12).map(|_| app.post_keyed("/api/orders", "same", &body))).await;
        let successes: Vec<&Answer> = all.iter().filter(|answer| answer.status == 201).collect();
        let first: Vec<_> = successes.iter().filter(|answer| !replayed(answer)).collect();
        assert_eq!(first.len(), 1, "{all:?}");
        for answer in &all {
            match answer.status {
                201 => assert_eq!(answer.text, first[0].text),
                _ => {
                    assert!(answer.header("retry-after").is_some(), "{answer:?}");
                    assert_eq!(answer.clone().error(409), "idempotency_key_in_use");
                }
            }
        }
        assert_eq!(count(&app, "/api/orders").await, 1);
        let material = app.material("PETG", 0.0).await;
        let path = format!("/api/inventory/materials/{material}/adjustments");
        let body = json!({"delta": 5, "reason": "delivery"});
        futures::future::join_all((0..12).map(|_| app.post_keyed(&path, "same", &body))).await;
        assert_eq!(app.get(&format!("/api/inventory/materials/{material}")).await.expect(200)["quantity"], 5);
    }
}

on_sqlite! {
    async fn the_first_answer_comes_again_even_after_a_power_cut(db: Db) {
        let mut app = App::new(db).await;
        let sku = some_sku(&app).await;
        let order = app.post_keyed("/api/orders", "k1", &one_of(&sku)).await;
        assert_eq!(order.status, 201, "{}", order.text);
        is_replay(&order, &app.post_keyed("/api/orders", "k1", &one_of(&sku)).await);
        let path = format!("/api/orders/{}/mark-paid", id(&order.json()));
        let paid = app.post_keyed(&path, "k1", &json!({"method": "cash"})).await;
        assert_eq!(paid.status, 200, "{}", paid.text);
        app.kill_9();
        app.start().await;
        // What happened since does not change it.
        is_replay(&order, &app.post_keyed("/api/orders", "k1", &one_of(&sku)).await);
        is_replay(&paid, &app.post_keyed(&path, "k1", &json!({"method": "cash"})).await);
        assert_eq!(count(&app, "/api/orders").await, 1);
        assert_eq!(app.jobs(&id(&order.json())).await.len(), 1);
        assert_eq!(app.get(&format!("/api/orders/{}", id(&order.json()))).await.expect(200)["payments"].as_array().unwrap().len(), 1);
    }
}

/// Checks that a client that retries for most of a day places one order, and that an expired key is still honoured
/// until the next cleanup deletes its row.
#[tokio::test]
async fn a_key_holds_for_a_day() {
    let clock = Clock::new();
    let app = App::on(Db::sqlite()).clock(&clock).start().await;
    let sku = some_sku(&app).await;
    let first = app.post_keyed("/api/orders", "k", &one_of(&sku)).await;
    assert_eq!(first.status, 201, "{}", first.text);
    clock.set(23 * HOUR);
    is_replay(&first, &app.post_keyed("/api/orders", "k", &one_of(&sku)).await);
    assert_eq!(count(&app, "/api/orders").await, 1);
    clock.set(24 * HOUR + 60_000);
    is_replay(&first, &app.post_keyed("/api/orders", "k", &one_of(&sku)).await);
}

#[tokio::test]
async fn another_body_under_the_same_key_is_refused() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let first = app.post_keyed("/api/orders", "k", &one_of(&sku)).await;
    assert_eq!(first.status, 201);
    let other = json!({"lines": [{"skuId": sku, "quantity": 2}]});
    assert_eq!(app.post_keyed("/api/orders", "k", &other).await.error(422), "idempotency_key_reused");
    is_replay(&first, &app.post_keyed("/api/orders", "k", &one_of(&sku)).await);
    assert_eq!(count(&app, "/api/orders").await, 1);
}

#[tokio::test]
async fn a_key_is_its_callers_and_its_paths() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let (_, other) = new_key(&app, &json!({"name": "other", "role": "operator"})).await;
    let mine = app.post_keyed("/api/orders", "k", &one_of(&sku)).await;
    let theirs = other.post_keyed("/api/orders", "k", &one_of(&sku)).await;
    assert!(!replayed(&mine) && !replayed(&theirs));
    assert_ne!(id(&mine.expect(201)), id(&theirs.expect(201)));
    let materials: Vec<String> = vec![app.material("A", 1.0).await, app.material("B", 1.0).await];
    for material in materials {
        let path = format!("/api/inventory/materials/{material}/adjustments");
        let answer = app.post_keyed(&path, "k", &json!({"delta": 1, "reason": "delivery"})).await;
        assert!(!replayed(&answer) && answer.status == 200, "{}", answer.text);
    }
    let long = "x".repeat(256);
    assert_eq!(app.post_keyed("/api/orders", &long, &one_of(&sku)).await.error(400), "invalid_idempotency_key");
    app.post_keyed("/api/orders", &long[1..], &one_of(&sku)).await.expect(201);
}

#[tokio::test]
async fn what_an_aggregate_refused_is_kept() {
    let app = App::new(Db::sqlite()).await;
    let material = app.material("PLA", 5.0).await;
    let path = format!("/api/inventory/materials/{material}/adjustments");
    let take = json!({"delta": -6, "reason": "scrap"});
    let refused = app.post_keyed(&path, "k", &take).await;
    assert_eq!(refused.clone().error(409), "insufficient_stock");
    app.post(&path, &json!({"delta": 100, "reason": "delivery"})).await.expect(200);
    is_replay(&refused, &app.post_keyed(&path, "k", &take).await);
    app.post_keyed(&path, "another", &take).await.expect(200);
}

#[tokio::test]
async fn what_was_wrong_with_the_request_itself_is_not_kept() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    // Found by the edge.
    app.post_keyed("/api/orders", "k", &json!({"lines": []})).await.expect(400);
    app.post_keyed("/api/orders", "k", &one_of(&sku)).await.expect(201);
    // Found by the rules.
    let material = app.material("PLA", 5.0).await;
    let path = format!("/api/inventory/materials/{material}/adjustments");
    app.post_keyed(&path, "k", &json!({"delta": 0, "reason": "none"})).await.expect(400);
    app.post_keyed(&path, "k", &json!({"delta": 1, "reason": "delivery"})).await.expect(200);
    // No such thing.
    let path = format!("/api/orders/{NOTHING}/cancel");
    for _ in 0..2 {
        let answer = app.post_keyed(&path, "k", &json!({})).await;
        assert!(!replayed(&answer));
        assert_eq!(answer.error(404), "order_not_found");
    }
    // Not signed in, then signed in.
    assert_eq!(app.nobody().post_keyed("/api/orders", "n", &one_of(&sku)).await.error(401), "unauthorized");
    app.post_keyed("/api/orders", "n", &one_of(&sku)).await.expect(201);
}

#[tokio::test]
async fn secrets_are_shown_once_and_then_withheld() {
    let app = App::new(Db::sqlite()).await;
    let key = json!({"name": "till", "role": "operator"});
    let first = app.post_keyed("/api/auth/api-keys", "k", &key).await;
    app.with_key(first.expect(201)["key"].as_str().unwrap()).get("/api/orders").await.expect(200);
    let before = count(&app, "/api/auth/api-keys").await;
    let again = app.post_keyed("/api/auth/api-keys", "k", &key).await;
    assert!(!again.text.contains("key_test_"), "{}", again.text);
    assert_eq!(again.error(409), "answer_withheld");
    assert_eq!(count(&app, "/api/auth/api-keys").await, before, "no second key");

    let sink = Sink::start().await.unwrap();
    let endpoint = json!({"url": sink.url(), "events": ["order.paid"]});
    let answer = app.post_keyed("/api/webhooks/endpoints", "k", &endpoint).await.expect(201);
    assert!(answer["secret"].as_str().unwrap().starts_with("whsec_"));
    assert_eq!(app.post_keyed("/api/webhooks/endpoints", "k", &endpoint).await.error(409), "answer_withheld");
    assert_eq!(count(&app, "/api/webhooks/endpoints").await, 1);
    let rotate = format!("/api/webhooks/endpoints/{}/rotate-secret", id(&answer));
    let rotated = app.post_keyed(&rotate, "k", &json!({})).await.expect(200);
    assert_ne!(rotated["secret"], answer["secret"]);
    assert_eq!(app.post_keyed(&rotate, "k", &json!({})).await.error(409), "answer_withheld");
    // One's own secret was never in the answer.
    let own = json!({"url": sink.url(), "events": ["order.paid"], "secret": "a-secret-of-my-own-choosing"});
    let first = app.post_keyed("/api/webhooks/endpoints", "own", &own).await;
    assert!(!first.text.contains("a-secret"), "{}", first.text);
    is_replay(&first, &app.post_keyed("/api/webhooks/endpoints", "own", &own).await);
}

#[tokio::test]
async fn every_post_that_makes_something_takes_a_key() {
    let app = App::new(Db::sqlite()).await;
    let sink = Sink::start().await.unwrap();
    let sku = some_sku(&app).await;
    let material = app.material("PETG", 10.0).await;
    let endpoint = json!({"url": sink.url(), "events": ["order.paid"], "secret": "a-secret-of-my-own-choosing"});
    let endpoint = app.post("/api/webhooks/endpoints", &endpoint).await.expect(201);
    let (since, endpoint) = (endpoint["createdAt"].clone(), id(&endpoint));
    let cancelled = app.order(&sku, 1).await;
    let paid = app.paid_order(&sku, 1).await;
    let job = id(&app.jobs(&paid).await[0]);
    let sku_body = json!({
        "code": "NEW", "name": "New", "materialId": material, "estimatedConsumption": 1, "machineType": "fdm_standard", "priceCents": 1,
    });
    let printer = json!({
        "name": "P", "type": "fw_rest", "machineType": "fdm_standard", "baseUrl": "http://127.0.0.1:9", "buildVolume": {"x": 1, "y": 1, "z": 1},
    });
    for (path, body) in [
        ("/api/inventory/materials".to_owned(), json!({"name": "X", "type": "resin"})),
        (format!("/api/inventory/materials/{material}/adjustments"), json!({"delta": 1, "reason": "delivery"})),
        ("/api/skus".to_owned(), sku_body),
        ("/api/printers".to_owned(), printer),
        (
            "/api/users".to_owned(),
            json!({"email": "a@b.org", "name": "A", "password": super::PASSWORD, "role": "operator"}),
        ),
        (format!("/api/orders/{cancelled}/cancel"), json!({})),
        (format!("/api/jobs/{job}/cancel"), json!({})),
        (format!("/api/webhooks/endpoints/{endpoint}/test"), json!({})),
        (format!("/api/webhooks/endpoints/{endpoint}/replay"), json!({"since": since})),
    ] {
        let first = app.post_keyed(&path, "k", &body).await;
        assert!(matches!(first.status, 200 | 201), "{path}: {}", first.text);
        let again = app.post_keyed(&path, "k", &body).await;
        assert!(replayed(&again), "{path}: {} {}", again.status, again.text);
        assert_eq!(again.status, first.status, "{path}");
        if !path.contains("/printers") && !path.contains("/jobs/") {
            assert_eq!(again.text, first.text, "{path}");
        }
    }
    let upload = |bytes: &'static str| {
        let part = reqwest::multipart::Part::bytes(bytes.as_bytes()).file_name("a.gcode");
        let form = reqwest::multipart::Form::new().text("kind", "gcode").part("file", part);
        app.send(app.request("POST", "/api/files").header("Idempotency-Key", "k").multipart(form))
    };
    let first = upload("G28\nG1 X1\n").await;
    assert_eq!(first.status, 201, "{}", first.text);
    is_replay(&first, &upload("G28\nG1 X1\n").await);
    assert_eq!(upload("G28\nG1 X2\n").await.error(422), "idempotency_key_reused");
}
