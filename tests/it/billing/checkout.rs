//! A customer who pays for an order, subscribes and cancels, with the simulated processor.

use serde_json::json;
use simulator::processor::{Payer, Renewal, SimPaymentProcessor};
use simulator::stock::NetworkCondition;

use super::customer;
use crate::api::checkout::{KEY, knowing, shop, tells};
use crate::api::{NOTHING, paths, some_sku};
use crate::support::{App, Client, Clock, Db, on_sqlite, until};

async fn draft(app: &App, customer: &Client) -> String {
    let sku = some_sku(app).await;
    app.patch(&format!("/api/skus/{sku}"), &json!({"public": true})).await.expect(200);
    let body = json!({"lines": [{"skuId": sku, "quantity": 2}]});
    let draft_order = customer.post("/api/v1/orders/draft", &body).await.expect(201);
    draft_order["orderId"].as_str().unwrap().to_owned()
}

on_sqlite! {
    async fn a_draft_is_placed_paid_and_seen_by_its_customer(db: Db) {
        let (processor, app) = shop(db).await;
        let ann = customer(&app, "ann@example.org").await;
        let order = draft(&app, &ann).await;
        let (path, own) = (format!("/api/v1/orders/{order}/checkout"), format!("/api/v1/orders/{order}"));
        // Whoever has the link may pay: it needs no session.
        let page = app.nobody().post(&path, &json!({"successPath": "/thanks"})).await.expect(200);
        assert_eq!(page["success"], true);
        assert_eq!(ann.get(&own).await.expect(200)["order"]["status"], "created");
        assert_eq!(ann.act(&path).await.expect(200), page, "the same page");
        let session = page["sessionId"].as_str().unwrap();
        processor.act(session, Payer::Pays).unwrap();
        until("the order to be paid", || async {
            (ann.get(&own).await.expect(200)["order"]["status"] == "paid").then_some(())
        })
        .await;
        assert_eq!(app.nobody().act(&path).await.error(409), "already_paid");
        let nothing = format!("/api/v1/orders/{NOTHING}/checkout");
        assert_eq!(app.nobody().act(&nothing).await.error(404), "order_not_found");
        assert_eq!(paths(&app.nobody().post(&path, &json!({"cancelPath": "//evil"})).await.expect(400)), ["cancelPath"]);
    }
}

#[tokio::test]
async fn checkouts_are_counted_for_each_address() {
    let processor = SimPaymentProcessor::start(KEY).await.unwrap();
    let clock = Clock::at_full_hour();
    let app = knowing(&processor, Db::sqlite())
        .env("PRINTFLOOR_LIMITS__ORDER_CHECKOUTS_PER_HOUR", 3)
        .clock(&clock)
        .start()
        .await;
    let nothing = format!("/api/v1/orders/{NOTHING}/checkout");
    for left in (0..3).rev() {
        let answer = app.nobody().act(&nothing).await;
        assert_eq!(answer.header("x-ratelimit-remaining"), Some(left.to_string().as_str()));
        answer.error(404);
    }
    let refused = app.nobody().act(&nothing).await;
    assert!(refused.header("retry-after").is_some());
    assert_eq!(refused.error(429), "rate_limited");
}

#[tokio::test]
async fn without_a_processor_a_checkout_is_503_and_a_profile_is_shown() {
    let app = App::new(Db::sqlite()).await;
    let ann = customer(&app, "ann@example.org").await;
    let order = draft(&app, &ann).await;
    let answer = ann.act(&format!("/api/v1/orders/{order}/checkout")).await;
    assert!(answer.header("retry-after").is_some());
    assert_eq!(answer.error(503), "payments_not_configured");
    assert_eq!(ann.get("/api/v1/subscriptions").await.error(503), "payments_not_configured");
    assert_eq!(ann.get("/api/v1/me").await.expect(200)["profile"]["paymentMethods"], json!([]));
}

#[tokio::test]
async fn a_subscription_is_begun_shown_cancelled_and_resumed() {
    let processor = SimPaymentProcessor::start(KEY).await.unwrap();
    let price = processor.add_price("Filament box", 2500, "usd");
    let app = knowing(&processor, Db::sqlite())
        .env("PRINTFLOOR_PAYMENTS__SUBSCRIPTION_PRICES", format!("[\"{price}\"]"))
        .start()
        .await;
    tells(&processor, &app);
    let (ann, bob) = (customer(&app, "ann@example.org").await, customer(&app, "bob@example.org").await);
    assert_eq!(ann.get("/api/v1/subscriptions").await.expect(200)["subscriptions"], json!([]));
    assert_eq!(ann.act("/api/v1/subscriptions/portal").await.error(404), "subscription_not_found");
    let other = json!({"priceId": "price_of_somebody"});
    assert_eq!(paths(&ann.post("/api/v1/subscriptions/checkout", &other).await.expect(400)), ["priceId"]);
    let body = json!({"priceId": price, "quantity": 2, "successPath": "/thanks"});
    let page = ann.post("/api/v1/subscriptions/checkout", &body).await.expect(200);
    // A double click is one page, and so one subscription; once it is paid, another one may be begun.
    let twice = ann.post("/api/v1/subscriptions/checkout", &body).await.expect(200);
    assert_eq!(page["sessionId"], twice["sessionId"]);
    processor.act(page["sessionId"].as_str().unwrap(), Payer::Pays).unwrap();
    let next = ann.post("/api/v1/subscriptions/checkout", &body).await.expect(200);
    assert_ne!(page["sessionId"], next["sessionId"]);
    let listed = ann.get("/api/v1/subscriptions").await.expect(200)["subscriptions"][0].clone();
    assert_eq!((&listed["status"], &listed["productName"]), (&json!("active"), &json!("Filament box")));
    assert_eq!((&listed["amountCents"], &listed["interval"]), (&json!(5000), &json!("month")));
    let id = listed["id"].as_str().unwrap();
    let path = format!("/api/v1/subscriptions/{id}");
    let subscription = ann.get(&path).await.expect(200)["subscription"].clone();
    assert_eq!(
        (&subscription["latestInvoice"]["totalCents"], &subscription["defaultPaymentMethod"]["last4"]),
        (&json!(5000), &json!("4242"))
    );
    assert_eq!(bob.get(&path).await.error(403), "forbidden");
    assert_eq!(ann.get("/api/v1/subscriptions/sub_nobody").await.error(404), "subscription_not_found");
    for bad in ["nonsense", "sub_", "sub_a-b"] {
        assert_eq!(
            paths(&ann.get(&format!("/api/v1/subscriptions/{bad}")).await.expect(400)),
            ["subscriptionId"],
            "{bad}"
        );
    }
    assert_eq!(bob.act(&format!("{path}/cancel")).await.error(403), "forbidden");
    assert_eq!(ann.act(&format!("{path}/cancel")).await.expect(200)["subscription"]["cancelAtPeriodEnd"], true);
    assert_eq!(ann.act(&format!("{path}/resume")).await.expect(200)["subscription"]["cancelAtPeriodEnd"], false);
    let portal = ann.act("/api/v1/subscriptions/portal").await.expect(200);
    assert!(portal["portalUrl"].as_str().unwrap().contains("/portal/bps_"), "{portal}");
    until("the card", || async {
        let me = ann.get("/api/v1/me").await.expect(200);
        (me["profile"]["paymentMethods"][0]["last4"] == "4242").then_some(())
    })
    .await;
    processor.renew(id, Renewal::Ended).unwrap();
    let ended = ann.get("/api/v1/subscriptions").await.expect(200);
    assert_eq!(ended["subscriptions"][0]["status"], "canceled", "past ones are listed");
    processor.weather(NetworkCondition::Down);
    assert_eq!(ann.get(&path).await.error(503), "processor_unavailable");
    ann.get("/api/v1/me").await.expect(200);
}
