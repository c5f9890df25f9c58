//! A customer's quotes: only their own, without drafts, accepted once however many requests there are; and models
//! priced on upload.

use futures::future::join_all;
use serde_json::{Value, json};

use super::customer;
use super::intake::submit_request;
use crate::api::quotes::models::upload;
use crate::api::quotes::{draft, sent, show};
use crate::api::{NOTHING, id, paths, some_sku};
use crate::support::{App, Clock, Db, on_both, on_sqlite, until};
use crate::whole::cube;

/// Number of concurrent requests.
const CROWD: usize = 100;
const DAY_MS: i64 = 86_400_000;

/// Lists the custom orders.
async fn custom_orders(app: &App) -> Vec<Value> {
    app.get("/api/orders?kind=custom&limit=200").await.expect(200)["orders"].as_array().unwrap().clone()
}

on_both! {
    async fn an_accepted_quote_has_its_order_though_the_server_is_killed(db: Db) {
        let mut app = App::new(db).await;
        let sku = some_sku(&app).await;
        let mut quotes = Vec::new();
        for _ in 0..20 {
            quotes.push(sent(&app, &sku).await);
        }
        let ann = customer(&app, "ann@example.org").await;
        let requests: Vec<_> = quotes.iter().map(|quote| {
            let (ann, path) = (ann.clone(), format!("/api/v1/quotes/{quote}/accept"));
            tokio::spawn(async move { ann.try_send(ann.request("POST", &path)).await.map(|answer| answer.status) })
        }).collect();
        until("the first to be accepted", || async {
            let list = app.get("/api/quotes?status=accepted").await.expect(200);
            (list["pagination"]["total"].as_u64()? > 0).then_some(())
        })
        .await;
        app.kill_9();
        join_all(requests).await;
        app.start().await;
        let accepted = app.get("/api/quotes?status=accepted&limit=200").await.expect(200);
        let accepted = accepted["quotes"].as_array().unwrap().clone();
        assert!(!accepted.is_empty());
        for quote in &accepted {
            app.order_is(quote["orderId"].as_str().unwrap(), "created").await;
        }
        assert_eq!(custom_orders(&app).await.len(), accepted.len());
        // Who was cut off asks again, and there is still one order for each.
        for quote in &quotes {
            ann.act(&format!("/api/v1/quotes/{quote}/accept")).await.expect(200);
        }
        assert_eq!(custom_orders(&app).await.len(), quotes.len());
    }
}

on_sqlite! {
    async fn customers_see_their_own_quotes_and_no_drafts(db: Db) {
        let app = App::new(db).await;
        let sku = some_sku(&app).await;
        let (own, unsent) = (sent(&app, &sku).await, draft(&app, &sku).await);
        let (ann, bob) = (customer(&app, "ann@example.org").await, customer(&app, "bob@example.org").await);
        let list = ann.get("/api/v1/quotes?unknown=1").await.expect(200);
        assert_eq!((&list["success"], &list["pagination"]["total"], &list["quotes"][0]["id"]), (&json!(true), &json!(1), &json!(own)), "{list}");
        for (query, total) in [("status=sent", 1), ("status=draft", 0), ("status=accepted", 0)] {
            assert_eq!(ann.get(&format!("/api/v1/quotes?{query}")).await.expect(200)["pagination"]["total"], total, "{query}");
        }
        let view = ann.get(&format!("/api/v1/quotes/{own}")).await.expect(200)["quote"].clone();
        assert_eq!((&view["totalCents"], &view["lines"][0]["unitPriceCents"]), (&json!(9700), &json!(1850)));
        for secret in ["version", "orderError", "taxRateBps"] {
            assert!(view.get(secret).is_none(), "{secret}");
        }
        for what in ["accept", "decline"] {
            assert_eq!(bob.act(&format!("/api/v1/quotes/{own}/{what}")).await.error(403), "forbidden");
            for client in [&ann, &bob] {
                assert_eq!(client.act(&format!("/api/v1/quotes/{unsent}/{what}")).await.error(404), "quote_not_found");
            }
        }
        for (client, quote) in [(&bob, &own), (&ann, &unsent), (&bob, &unsent), (&ann, &NOTHING.to_owned())] {
            assert_eq!(client.get(&format!("/api/v1/quotes/{quote}")).await.error(404), "quote_not_found");
        }
        assert_eq!(bob.get("/api/v1/quotes").await.expect(200)["pagination"]["total"], 0);
        let reason = json!({"reason": "found another shop"});
        let declined = ann.post(&format!("/api/v1/quotes/{own}/decline"), &reason).await.expect(200)["quote"].clone();
        assert_eq!(declined["status"], "declined");
        assert_eq!(ann.act(&format!("/api/v1/quotes/{own}/accept")).await.error(409), "quote_declined");
        assert_eq!(show(&app, &own).await["declinedReason"], "found another shop");
        assert!(custom_orders(&app).await.is_empty());
    }

    async fn a_hundred_who_accept_at_once_get_one_order(db: Db) {
        let app = App::new(db).await;
        let sku = some_sku(&app).await;
        let quote = sent(&app, &sku).await;
        let ann = customer(&app, "ann@example.org").await;
        let path = format!("/api/v1/quotes/{quote}/accept");
        let answers = join_all((0..CROWD).map(|_| ann.act(&path))).await;
        let orders: std::collections::BTreeSet<String> =
            answers.into_iter().map(|answer| answer.expect(200)["quote"]["orderId"].as_str().unwrap().to_owned()).collect();
        assert_eq!(orders.len(), 1, "{orders:?}");
        let existing = custom_orders(&app).await;
        assert_eq!((existing.len(), orders.contains(&id(&existing[0]))), (1, true));
        assert_eq!(ann.act(&format!("/api/v1/quotes/{quote}/decline")).await.error(409), "invalid_transition");
    }
}

#[tokio::test]
async fn a_quote_expires_by_the_clock_whoever_restarts() {
    let clock = Clock::new();
    let mut app = App::on(Db::sqlite()).clock(&clock).start().await;
    let sku = some_sku(&app).await;
    let (late, in_time) = (sent(&app, &sku).await, sent(&app, &sku).await);
    clock.set(14 * DAY_MS - 60_000);
    let ann = customer(&app, "ann@example.org").await;
    ann.act(&format!("/api/v1/quotes/{in_time}/accept")).await.expect(200);
    clock.set(14 * DAY_MS + 60_000);
    app.kill_9();
    app.start().await;
    let view = ann.get(&format!("/api/v1/quotes/{late}")).await.expect(200);
    assert_eq!(view["quote"]["status"], "expired");
    for what in ["accept", "decline"] {
        assert_eq!(ann.act(&format!("/api/v1/quotes/{late}/{what}")).await.error(409), "quote_expired");
    }
    for (status, total) in [("expired", 1), ("sent", 0), ("accepted", 1)] {
        let list = ann.get(&format!("/api/v1/quotes?status={status}")).await.expect(200);
        assert_eq!(list["pagination"]["total"], total, "{status}");
    }
    // Accepted once, it is accepted for good.
    ann.act(&format!("/api/v1/quotes/{in_time}/accept")).await.expect(200);
    assert_eq!(custom_orders(&app).await.len(), 1);
}

#[tokio::test]
async fn a_customers_model_has_a_price_at_once_and_its_draft_stays_the_shops() {
    let app = App::new(Db::sqlite()).await;
    let (ann, bob) = (customer(&app, "ann@example.org").await, customer(&app, "bob@example.org").await);
    let fields = [("quantity", "2"), ("notes", "In black, please.")];
    let answer = upload(&ann, "/api/v1/quotes/models", "cube.stl", cube().into_bytes(), &fields).await.expect(201);
    let model = answer["model"].clone();
    assert_eq!(
        (&answer["success"], &model["volumeMm3"], &model["quantity"]),
        (&json!(true), &json!(1000), &json!(2)),
        "{answer}"
    );
    assert!(model["unitPriceCents"].as_i64().unwrap() > 0 && model["quoteId"].is_null(), "{model}");
    let path = format!("/api/v1/quotes/models/{}", id(&model));
    assert_eq!(ann.get(&path).await.expect(200)["model"], model);
    assert_eq!(bob.get(&path).await.error(404), "quote_not_found");
    let drafts = app.get("/api/quotes?status=draft").await.expect(200)["quotes"].clone();
    let quote = id(&drafts[0]);
    assert_eq!(
        (&drafts[0]["customerEmail"], &drafts[0]["notes"]),
        (&json!("ann@example.org"), &json!("In black, please."))
    );
    assert_eq!(ann.get(&format!("/api/v1/quotes/{quote}")).await.error(404), "quote_not_found");
    // Costs are the shop's own business.
    for secret in ["costs", "margin", "grams", "materialId"] {
        assert!(model.get(secret).is_none(), "{secret}");
    }
    let material = app.material("PLA", 100.0).await;
    let lines = json!([{"quantity": 2, "modelFileId": model["id"], "materialId": material}]);
    app.patch(&format!("/api/quotes/{quote}"), &json!({"lines": lines})).await.expect(200);
    app.act(&format!("/api/quotes/{quote}/send")).await.expect(200);
    assert_eq!(ann.get(&path).await.expect(200)["model"]["quoteId"], json!(quote));
    let order = ann.act(&format!("/api/v1/quotes/{quote}/accept")).await.expect(200)["quote"]["orderId"].clone();
    assert_eq!(app.get(&format!("/api/orders/{}", order.as_str().unwrap())).await.expect(200)["kind"], "custom");
}

on_sqlite! {
    async fn a_custom_request_is_quoted_and_hears_what_became_of_it(db: Db) {
        let mut app = App::new(db).await;
        let sku = some_sku(&app).await;
        let request = submit_request(&app).await;
        let path = format!("/api/custom-requests/{request}");
        let intake = app.get(&path).await.expect(200);
        let email = intake["customerEmail"].as_str().unwrap().to_owned();
        let drafted = app.act(&format!("{path}/quote")).await.expect(201);
        let origin = (&json!(request), &intake["customerEmail"]);
        assert_eq!((&drafted["customRequestId"], &drafted["customerEmail"]), origin, "{drafted}");
        assert_eq!(drafted["subtotalCents"], intake["estimatedTotalCents"], "{drafted} for {intake}");
        let quote = id(&drafted);
        let lines = json!([{"description": "Figurine", "quantity": 1, "unitPriceCents": 9900, "skuId": sku}]);
        app.patch(&format!("/api/quotes/{quote}"), &json!({"lines": lines})).await.expect(200);
        assert_eq!(app.get(&path).await.expect(200)["status"], "new", "nobody hears of a draft");
        app.act(&format!("/api/quotes/{quote}/send")).await.expect(200);
        let status_is = async |app: &App, status: &str| {
            until("the request to hear of its quote", || async {
                let now = app.get(&path).await.expect(200);
                (now["status"] == status).then(|| assert_eq!(now["quoteId"], json!(quote)))
            })
            .await;
        };
        status_is(&app, "quoted").await;
        let buyer = customer(&app, &email).await;
        buyer.act(&format!("/api/v1/quotes/{quote}/accept")).await.expect(200);
        app.kill_9();
        app.start().await;
        status_is(&app, "accepted").await;
        let of_request = app.get(&format!("/api/quotes?customRequestId={request}")).await.expect(200);
        assert_eq!(of_request["pagination"]["total"], 1);
        let nobodys = json!({"customRequestId": NOTHING, "lines": lines});
        assert_eq!(paths(&app.post("/api/quotes", &nobodys).await.expect(400)), ["customRequestId"]);
    }
}
