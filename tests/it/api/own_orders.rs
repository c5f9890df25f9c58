//! Orders of a customer's API key: the key sees and places only that customer's orders.

use serde_json::{Value, json};
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::{count, customer_of, id, one_of, paths, some_sku, with_role};
use crate::support::{App, Client, Db};

/// Places an order as a customer's key does.
async fn order(client: &Client, sku: &str) -> Value {
    client.post("/api/orders", &one_of(sku)).await.expect(201)
}

/// Checks that every operation that a customer calls on this order responds 404.
async fn does_not_see(client: &Client, order: &str) {
    assert_eq!(client.get(&format!("/api/orders/{order}")).await.error(404), "order_not_found");
    assert_eq!(client.get(&format!("/api/orders/{order}/timeline")).await.error(404), "order_not_found");
    assert_eq!(client.act(&format!("/api/orders/{order}/cancel")).await.error(404), "order_not_found");
}

#[tokio::test]
async fn keys_see_what_they_made_and_what_is_their_customers() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let (one, other) = (with_role(&app, "customer").await, with_role(&app, "customer").await);
    let (bob, bobs_second) = (customer_of(&app, " Bob@Example.org ").await, customer_of(&app, "bob@example.org").await);

    let of_one = id(&order(&one, &sku).await);
    let of_bob = order(&bob, &sku).await;
    assert_eq!(of_bob["customerEmail"], "bob@example.org", "the key's customer is filled in");
    let by_staff = json!({"lines": [{"skuId": sku, "quantity": 1}], "customerEmail": "BOB@example.org"});
    let by_staff = id(&app.post("/api/orders", &by_staff).await.expect(201));
    let of_bob = id(&of_bob);

    one.get(&format!("/api/orders/{of_one}")).await.expect(200);
    for foreign in [&of_bob, &by_staff] {
        does_not_see(&one, foreign).await;
        does_not_see(&other, foreign).await;
    }
    does_not_see(&other, &of_one).await;
    does_not_see(&bob, &of_one).await;
    for bob in [&bob, &bobs_second] {
        for own in [&of_bob, &by_staff] {
            bob.get(&format!("/api/orders/{own}")).await.expect(200);
            bob.get(&format!("/api/orders/{own}/timeline")).await.expect(200);
        }
    }
    // Lists count only what may be seen, however they are filtered.
    for (client, total) in [(&one, 1), (&other, 0), (&bob, 2), (&bobs_second, 2), (&*app, 3)] {
        assert_eq!(count(client, "/api/orders").await, total);
        assert_eq!(count(client, "/api/orders?limit=1").await, total);
    }
    assert_eq!(count(&one, "/api/orders?customerEmail=bob@example.org").await, 0);
    assert_eq!(count(&one, "/api/orders?q=ORD-000002").await, 0);
}

#[tokio::test]
async fn a_customers_key_orders_for_its_customer_only() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let bob = customer_of(&app, "bob@example.org").await;
    let body = |email: &str| json!({"lines": [{"skuId": sku, "quantity": 1}], "customerEmail": email});
    assert_eq!(bob.post("/api/orders", &body("eve@example.org")).await.error(403), "forbidden");
    bob.post("/api/orders", &body(" BOB@example.ORG")).await.expect(201);
    assert_eq!(count(&app, "/api/orders").await, 1);
    for shops_own in [json!({"priority": 9}), json!({"dueAt": "2030-01-01T00:00:00Z"})] {
        let mut body = one_of(&sku);
        body.as_object_mut().unwrap().extend(shops_own.as_object().unwrap().clone());
        assert_eq!(bob.post("/api/orders", &body).await.error(403), "forbidden");
    }
    // Prices are the catalogue's.
    let own_price = json!({"lines": [{"skuId": sku, "quantity": 1, "unitPriceCents": 1}]});
    assert_eq!(paths(&bob.post("/api/orders", &own_price).await.expect(400)), ["lines.0.unitPriceCents"]);
}

#[tokio::test]
async fn a_customer_cancels_while_it_is_unpaid() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let customer = with_role(&app, "customer").await;
    let unpaid = id(&order(&customer, &sku).await);
    let cancelled = customer.act(&format!("/api/orders/{unpaid}/cancel")).await.expect(200);
    assert_eq!(cancelled["status"], "cancelled");
    let paid = id(&order(&customer, &sku).await);
    app.post(&format!("/api/orders/{paid}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    let refused = customer.post(&format!("/api/orders/{paid}/cancel"), &json!({"force": true})).await;
    assert_eq!(refused.error(403), "forbidden");
    assert_eq!(app.get(&format!("/api/orders/{paid}")).await.expect(200)["status"], "paid");
}

#[tokio::test]
async fn customers_see_and_order_only_what_is_sold() {
    let app = App::new(Db::sqlite()).await;
    let sold = some_sku(&app).await;
    let material = app.material("PETG", 100.0).await;
    let file = app.gcode("hidden", 60, 1.0).await;
    let customer = with_role(&app, "customer").await;
    for (code, hide) in [("HIDDEN", json!({"public": false})), ("OLD", json!({"active": false}))] {
        let hidden = app.sku(code, &material, &file, 100).await;
        app.patch(&format!("/api/skus/{hidden}"), &hide).await.expect(200);
        assert_eq!(customer.get(&format!("/api/skus/{hidden}")).await.error(404), "sku_not_found");
        assert_eq!(count(&customer, "/api/skus").await, 1, "{code}");
        assert_eq!(count(&customer, "/api/skus?public=false&active=false").await, 1, "{code}");
        let refused = customer.post("/api/orders", &one_of(&hidden)).await.expect(400);
        assert_eq!(paths(&refused), ["lines.0.skuId"]);
    }
    assert_eq!(count(&app, "/api/skus").await, 3);
    customer.get(&format!("/api/skus/{sold}")).await.expect(200);
}

#[tokio::test]
async fn each_reader_gets_its_own_answer_of_the_last_commit_whoever_read_it_before() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let bob = customer_of(&app, "bob@example.org").await;
    let path = format!("/api/orders/{}", id(&order(&bob, &sku).await));
    for note in ["first", "second", "third"] {
        let changed = app.patch(&path, &json!({"internalNotes": note, "notes": note})).await.expect(200);
        for _ in 0..2 {
            let (of_shop, of_bob) = (app.get(&path).await.expect(200), bob.get(&path).await.expect(200));
            assert_eq!((&of_shop["internalNotes"], &of_shop["version"]), (&json!(note), &changed["version"]));
            assert_eq!((&of_bob["notes"], &of_bob["version"]), (&json!(note), &changed["version"]));
            assert!(of_bob.get("internalNotes").is_none() && of_bob.get("flags").is_none(), "{of_bob}");
        }
    }
}

#[tokio::test]
async fn a_customer_reads_nothing_of_what_is_between_the_staff() {
    let app = App::new(Db::sqlite()).await;
    let fleet =
        Fleet::start(FleetOptions { speed: 300.0, seed: 3, ..FleetOptions::of(PrinterKind::FwRest, 1) }).await.unwrap();
    let printer = app.printer(&fleet.printers[0]).await;
    let sku = some_sku(&app).await;
    let bob = customer_of(&app, "bob@example.org").await;
    let placed = order(&bob, &sku).await;
    let path = format!("/api/orders/{}", id(&placed));
    app.patch(&path, &json!({"internalNotes": "pays late", "notes": "ring twice"})).await.expect(200);
    let body = json!({"method": "cash", "reference": "drawer 7"});
    app.post(&format!("{path}/mark-paid"), &body).await.expect(200);
    let ready = app.order_is(&id(&placed), "ready").await;
    assert_eq!((&ready["internalNotes"], &ready["flags"]), (&json!("pays late"), &json!([])), "{ready}");
    assert_eq!(ready["payments"][0]["reference"], "drawer 7", "{ready}");
    let timeline = format!("{path}/timeline");
    let all = app.get(&timeline).await.expect(200);
    assert!(all.to_string().contains(&printer), "staff see where it was made: {all}");
    let key = app.get("/api/auth/api-keys").await.text;

    for path in [path.as_str(), "/api/orders", &timeline] {
        let read = bob.get(path).await.expect(200);
        for own_to_shop in ["pays late", "drawer 7", "internalNotes", "flags", &printer, "printerId"] {
            assert!(!read.to_string().contains(own_to_shop), "{own_to_shop} in {path}: {read}");
        }
        let ids: Vec<&str> = key.split('"').filter(|text| text.len() == 36 && text.contains('-')).collect();
        assert!(
            !ids.is_empty() && ids.iter().all(|key| !read.to_string().contains(key)),
            "a key's id in {path}: {read}"
        );
    }
    assert_eq!(bob.get(&path).await.expect(200)["notes"], "ring twice");
    let steps = bob.get(&timeline).await.expect(200);
    let names: Vec<&str> =
        steps["timeline"].as_array().unwrap().iter().map(|step| step["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["order.created", "order.paid", "order.printing", "job.completed", "order.ready"]);
    let mut body = one_of(&sku);
    body["internalNotes"] = json!("mine");
    assert_eq!(bob.post("/api/orders", &body).await.error(403), "forbidden");
}

#[tokio::test]
async fn an_order_that_is_refused_leaves_no_customer_behind() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let customers =
        async || app.get("/api/customers?email=new@example.org").await.expect(200)["pagination"]["total"].clone();
    let mut order = one_of(&sku);
    order["customerEmail"] = json!("new@example.org");
    order["dueAt"] = json!("2020-01-01T00:00:00.000Z");
    assert_eq!(paths(&app.post("/api/orders", &order).await.expect(400)), ["dueAt"]);
    assert_eq!(customers().await, 0);
    order.as_object_mut().unwrap().remove("dueAt");
    app.post("/api/orders", &order).await.expect(201);
    assert_eq!(customers().await, 1);
}
