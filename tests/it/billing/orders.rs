//! The customer's own orders.

use serde_json::{Value, json};
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::customer;
use crate::api::{NOTHING, count, fault_paths, paths, some_sku, with_role};
use crate::support::stream::Stream;
use crate::support::{App, Client, Clock, Db, on_both, on_sqlite};

const LIST: &str = "/api/v1/orders";
const DRAFT: &str = "/api/v1/orders/draft";
/// Lifetime of a session, in milliseconds.
const SESSION_LIFE_MS: i64 = 30 * 86_400_000;

fn one_of(sku: &str) -> Value {
    json!({"lines": [{"skuId": sku, "quantity": 2}]})
}

/// Creates a SKU that customers may order.
async fn public_sku(app: &App) -> String {
    let sku = some_sku(app).await;
    app.patch(&format!("/api/skus/{sku}"), &json!({"public": true})).await.expect(200);
    sku
}

async fn drafted(of: &Client, sku: &str) -> String {
    let answer = of.post(DRAFT, &one_of(sku)).await.expect(201);
    assert_eq!(answer["success"], true);
    answer["orderId"].as_str().unwrap().to_owned()
}

/// Waits until the stream, which must stay open, shows the order with this status.
async fn shown_as(stream: &mut Stream, status: &str) {
    loop {
        let event = stream.next().await.unwrap_or_else(|| panic!("the stream ended before it showed {status}"));
        assert_eq!(event.event, "order", "before it showed {status}");
        if event.data["order"]["status"] == status {
            return;
        }
    }
}

on_both! {
    async fn lists_are_the_customers_own_and_filtered(db: Db) {
        let app = App::new(db).await;
        let sku = public_sku(&app).await;
        let ann = customer(&app, "ann@example.org").await;
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.insert(0, drafted(&ann, &sku).await);
        }
        let in_dev = ann.post(&format!("{DRAFT}?site=dev"), &one_of(&sku)).await.expect(201);
        // An order that a shop front placed for the same address is Ann's, too.
        let mut placed = one_of(&sku);
        placed["customerEmail"] = json!("ann@example.org");
        let by_staff = crate::api::id(&app.post("/api/orders", &placed).await.expect(201));
        let listed = async |query: &str| {
            let list = ann.get(&format!("{LIST}?{query}")).await.expect(200);
            let ids = list["orders"].as_array().unwrap().iter().map(|order| order["id"].as_str().unwrap().to_owned());
            (ids.collect::<Vec<_>>(), list["pagination"].clone())
        };
        assert_eq!(listed("kind=manual").await.0, [by_staff]);
        assert_eq!(listed("site=dev").await.0, [in_dev["orderId"].as_str().unwrap()]);
        let (drafts, page) = listed("status=draft&site=industries&limit=2&surprise=1").await;
        assert_eq!(drafts, ids[..2]);
        assert_eq!(page, json!({"limit": 2, "offset": 0, "total": 3, "hasMore": true}));
        assert_eq!(listed("status=draft&site=industries&limit=2&offset=2").await.0, ids[2..]);
        assert_eq!(listed("").await.1, json!({"limit": 20, "offset": 0, "total": 5, "hasMore": false}));
        for wrong in ["limit=0", "limit=101", "offset=-1", "status=lunar", "kind=odd", "site=mars"] {
            assert_eq!(paths(&ann.get(&format!("{LIST}?{wrong}")).await.expect(400)).len(), 1, "{wrong}");
        }
    }
}

on_sqlite! {
    async fn a_draft_becomes_an_order_that_its_customer_follows(db: Db) {
        let app = App::new(db).await;
        let sku = public_sku(&app).await;
        let (ann, bob) = (customer(&app, "ann@example.org").await, customer(&app, "bob@example.org").await);
        let address = json!({
            "kind": "shipping", "line1": "1 Main Street", "city": "Springfield", "region": "Illinois",
            "postalCode": "62701", "country": "US",
        });
        ann.patch("/api/v1/profile", &json!({"addresses": [address]})).await.expect(200);
        let mut body = one_of(&sku);
        body["notes"] = json!("in blue, please");
        let draft = ann.post(DRAFT, &body).await.expect(201);
        let id = draft["orderId"].as_str().unwrap();
        let path = format!("{LIST}/{id}");
        let order = ann.get(&path).await.expect(200)["order"].clone();
        for (member, value) in [
            ("status", json!("draft")), ("kind", json!("catalog")), ("totalCents", json!(2500)), ("itemCount", json!(2)),
            ("notes", json!("in blue, please")), ("shipment", json!(null)), ("site", json!("industries")),
        ] {
            assert_eq!(order[member], value, "{member}: {order}");
        }
        assert_eq!(order["shippingAddress"]["region"], "IL");
        assert_eq!(order["payment"], json!({"paidCents": 0, "dueCents": 2500, "paidAt": null}));
        assert_eq!(order["timeline"][0]["actor"], "customer");
        // The shop sees whose it is, and what is between the staff stays there.
        let staff = app.get(&format!("/api/orders/{id}")).await.expect(200);
        assert_eq!(staff["customerEmail"], "ann@example.org");
        let me = ann.get("/api/v1/me").await.expect(200);
        assert_eq!(staff["customerId"], me["profile"]["id"]);
        app.patch(&format!("/api/orders/{id}"), &json!({"internalNotes": "secret"})).await.expect(200);
        app.post(&format!("/api/orders/{id}/mark-paid"), &json!({"method": "cash", "reference": "drawer 7"})).await.expect(200);
        let paid = ann.get(&path).await;
        assert!(!paid.text.contains("secret") && !paid.text.contains("drawer 7"), "{}", paid.text);
        let paid = paid.expect(200)["order"].clone();
        assert_eq!((&paid["status"], &paid["payment"]["paidCents"]), (&json!("paid"), &json!(2500)));
        assert_eq!(paid["lines"][0]["jobs"]["total"], 2);

        assert_eq!(bob.get(&path).await.error(403), "forbidden");
        assert_eq!(app.nobody().get(&path).await.error(401), "unauthorized");
        assert_eq!(ann.get(&format!("{LIST}/{NOTHING}")).await.error(404), "order_not_found");
        assert_eq!(ann.get(&format!("{LIST}/ORD-000001")).await.error(404), "not_found");
        assert_eq!((count(&ann, LIST).await, count(&bob, LIST).await), (1, 0));
    }

    async fn the_stream_of_an_order_sends_it_whenever_it_has_changed(db: Db) {
        let app = App::new(db).await;
        let sku = public_sku(&app).await;
        let (ann, bob) = (customer(&app, "ann@example.org").await, customer(&app, "bob@example.org").await);
        let path = format!("{LIST}/{}", drafted(&ann, &sku).await);
        let streamed = format!("{path}/stream");
        let mut stream = Stream::open(&ann, &streamed, None).await;
        let first = stream.next().await.unwrap();
        assert_eq!((&*first.event, &first.data), ("order", &ann.get(&path).await.expect(200)));
        let id = path.rsplit('/').next().unwrap();
        app.patch(&format!("/api/orders/{id}"), &json!({"internalNotes": "secret"})).await.expect(200);
        app.post(&format!("/api/orders/{id}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
        let paid = loop {
            let now = stream.next().await.unwrap();
            assert!(!now.data.to_string().contains("secret"), "{}", now.data);
            if now.data["order"]["status"] == "paid" {
                break now;
            }
        };
        assert!(paid.data["order"]["timeline"].as_array().unwrap().iter().any(|step| step["event"] == "order.paid"));
        let fleet = FleetOptions { speed: 300.0, ..FleetOptions::of(PrinterKind::FwRest, 1) };
        let fleet = Fleet::start(fleet).await.unwrap();
        app.printer(&fleet.printers[0]).await;
        app.order_is(id, "ready").await;
        app.post(&format!("/api/orders/{id}/ship"), &json!({"carrier": "pickup"})).await.expect(200);
        shown_as(&mut stream, "shipped").await;
        // A part that left is rejected: the order goes on, and so does its stream. What is made again takes its time.
        fleet.printers[0].handle.set_speed(1.0);
        let sign_off = format!("/api/jobs/{}/sign-off", crate::api::id(&app.jobs(id).await[0]));
        app.post(&sign_off, &json!({"goodCount": 0})).await.expect(200);
        shown_as(&mut stream, "printing").await;
        app.act(&format!("/api/orders/{id}/cancel")).await.expect(200);
        shown_as(&mut stream, "cancelled").await;
        // The money is still here: a change that its customer waits for.
        let payment = app.get(&format!("/api/orders/{id}")).await.expect(200)["payments"][0]["id"].clone();
        app.post(&format!("/api/orders/{id}/refund"), &json!({"paymentId": payment})).await.expect(200);
        shown_as(&mut stream, "refunded").await;
        while stream.next().await.unwrap().event != "over" {}
        assert_eq!(stream.next().await, None);
        assert_eq!(bob.get(&streamed).await.error(403), "forbidden");
        assert_eq!(app.nobody().get(&streamed).await.error(401), "unauthorized");
        assert_eq!(ann.get(&format!("{LIST}/{NOTHING}/stream")).await.error(404), "order_not_found");
    }
}

#[tokio::test]
async fn a_draft_is_checked_against_the_catalogue() {
    let app = App::new(Db::sqlite()).await;
    let sku = public_sku(&app).await;
    let ann = customer(&app, "ann@example.org").await;
    let refused = async |body: Value| ann.post(DRAFT, &body).await.expect(400);
    assert_eq!(paths(&refused(json!({"lines": []})).await), ["lines"]);
    let priced =
        json!({"lines": [{"skuId": sku, "quantity": 1, "unitPriceCents": 1}], "customerEmail": "b@example.org"});
    assert_eq!(paths(&refused(priced).await), ["customerEmail", "lines.0.unitPriceCents"]);
    assert_eq!(fault_paths(&refused(one_of(NOTHING)).await), ["lines.0.skuId"]);
    let mut elsewhere = one_of(&sku);
    elsewhere["shippingAddressId"] = json!(NOTHING);
    assert_eq!(fault_paths(&refused(elsewhere).await), ["shippingAddressId"]);
    let hidden = app.patch(&format!("/api/skus/{sku}"), &json!({"gcodeFileId": null})).await;
    hidden.expect(200);
    assert_eq!(refused(one_of(&sku)).await["code"], "not_orderable");
    app.patch(&format!("/api/skus/{sku}"), &json!({"public": false})).await.expect(200);
    assert_eq!(fault_paths(&refused(one_of(&sku)).await), ["lines.0.skuId"]);
    assert_eq!(count(&ann, LIST).await, 0);
}

#[tokio::test]
async fn a_repeated_draft_is_the_same_draft() {
    let app = App::new(Db::sqlite()).await;
    let sku = public_sku(&app).await;
    let ann = customer(&app, "ann@example.org").await;
    let first = ann.post_keyed(DRAFT, "k", &one_of(&sku)).await;
    let again = ann.post_keyed(DRAFT, "k", &one_of(&sku)).await;
    assert_eq!((first.status, again.header("idempotency-replayed")), (201, Some("true")));
    assert_eq!(first.text, again.text);
    let other = ann.post_keyed(DRAFT, "k", &json!({"lines": [{"skuId": sku, "quantity": 3}]})).await;
    assert_eq!(other.error(400), "idempotency_key_reused");
    // Another customer's key is another key.
    let bob = customer(&app, "bob@example.org").await;
    assert_ne!(bob.post_keyed(DRAFT, "k", &one_of(&sku)).await.expect(201)["orderId"], first.json()["orderId"]);
    assert_eq!(count(&ann, LIST).await, 1);
}

#[tokio::test]
async fn drafts_are_limited_for_each_customer() {
    let clock = Clock::at_full_hour();
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_LIMITS__DRAFT_ORDERS_PER_HOUR", 2).clock(&clock).start().await;
    let sku = public_sku(&app).await;
    let ann = customer(&app, "ann@example.org").await;
    drafted(&ann, &sku).await;
    drafted(&ann, &sku).await;
    let refused = ann.post(DRAFT, &one_of(&sku)).await;
    assert_eq!(refused.header("x-ratelimit-limit"), Some("2"));
    assert!(refused.header("retry-after").is_some());
    assert_eq!(refused.error(429), "rate_limited");
    drafted(&customer(&app, "bob@example.org").await, &sku).await;
}

#[tokio::test]
async fn a_customers_key_sees_what_the_customer_drafted() {
    let app = App::new(Db::sqlite()).await;
    let sku = public_sku(&app).await;
    let ann = customer(&app, "ann@example.org").await;
    let id = drafted(&ann, &sku).await;
    let own = crate::api::customer_of(&app, "ann@example.org").await;
    assert_eq!(own.get(&format!("/api/orders/{id}")).await.expect(200)["status"], "draft");
    let shop_front = with_role(&app, "customer").await;
    assert_eq!(shop_front.get(&format!("/api/orders/{id}")).await.error(404), "order_not_found");
}

#[tokio::test]
async fn the_stream_of_an_order_ends_with_the_session() {
    let clock = Clock::new();
    let app = App::on(Db::sqlite()).clock(&clock).start().await;
    let sku = public_sku(&app).await;
    for end in ["signed out", "expired"] {
        let ann = customer(&app, "ann@example.org").await;
        let path = format!("{LIST}/{}/stream", drafted(&ann, &sku).await);
        let mut stream = Stream::open(&ann, &path, None).await;
        assert_eq!(stream.next().await.expect("the order").event, "order", "{end}");
        if end == "expired" {
            // The session began later than the clock, on a machine that may be slow.
            clock.set(SESSION_LIFE_MS + 3_600_000);
        } else {
            ann.delete("/api/v1/auth/session").await.expect(200);
        }
        stream.ends().await;
        assert_eq!(ann.get(&path).await.error(401), "unauthorized", "{end}");
    }
}
