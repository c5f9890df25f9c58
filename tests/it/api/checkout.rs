//! Payments through the simulated processor: one session for all callers, books that match the processor's, refunds,
//! and no loss when the server is killed.

use futures::future::join_all;
use serde_json::{Value, json};
use simulator::processor::{Balance, DeliveryConditions, Payer, SimPaymentProcessor};
use simulator::stock::NetworkCondition;

use super::payments::{payment_summary, show, summary_of};
use super::{customer_of, paths, some_sku};
use crate::support::app::{Builder, PAYMENT_SECRET};
use crate::support::client::{Answer, http};
use crate::support::{App, Client, Db, on_both, until, waiting::until_seen};

/// The key by which the processor knows the shop.
pub const KEY: &str = "sk_test_of_this_shop";

/// Starts a processor, and a server connected to it.
pub async fn shop(db: Db) -> (SimPaymentProcessor, App) {
    let processor = SimPaymentProcessor::start(KEY).await.unwrap();
    let app = knowing(&processor, db).start().await;
    tells(&processor, &app);
    (processor, app)
}

/// Returns the settings of a server that uses this payment processor.
pub fn knowing(processor: &SimPaymentProcessor, db: Db) -> Builder {
    App::on(db)
        .env("PAYMENT_SECRET_KEY", KEY)
        .env("PRINTFLOOR_PAYMENTS__API_BASE", processor.url())
        .env("PRINTFLOOR_INTEGRATIONS__REQUEST_TIMEOUT_SECONDS", 10)
        .env("PRINTFLOOR_INTEGRATIONS__RETRY_FIRST_SECONDS", 0.1)
        .env("PRINTFLOOR_INTEGRATIONS__RETRY_LONGEST_SECONDS", 0.3)
}

/// Makes the processor send its events to this server.
pub fn tells(processor: &SimPaymentProcessor, app: &App) {
    let to = app.base.strip_prefix("http://").unwrap().parse().unwrap();
    processor.events_go_to(to, "/webhooks/payments", PAYMENT_SECRET);
}

pub(super) async fn check_out(client: &Client, order: &str) -> Answer {
    client.post(&format!("/api/orders/{order}/checkout"), &json!({})).await
}

/// Returns the ID of the session of an order's checkout.
pub(super) async fn session(client: &Client, order: &str) -> String {
    let answer = check_out(client, order).await.expect(200);
    answer["sessionId"].as_str().unwrap().to_owned()
}

fn status_of(processor: &SimPaymentProcessor, session: &str) -> String {
    let all = processor.all("checkout.session");
    let entry = all.iter().find(|one| one["id"] == session).unwrap();
    entry["status"].as_str().unwrap().to_owned()
}

/// Waits until the processor has closed a session.
pub async fn is_closed(processor: &SimPaymentProcessor, session: &str) {
    until("the session to be closed", || async { (status_of(processor, session) == "expired").then_some(()) }).await;
}

/// Waits until both the books of an order and the processor show this amount as kept. A refund is sent after its
/// request has been answered, so at first both may still show the old amount.
pub(super) async fn balanced(processor: &SimPaymentProcessor, app: &App, order: &str, kept_cents: i64) {
    until_seen(&format!("the books and the processor to be at {kept_cents}"), || async {
        let (order_view, balance) = (show(app, order).await, processor.balance(order));
        let both = [order_view["keptCents"].as_i64().unwrap(), balance.took - balance.gave_back];
        let state = json!({"order": order_view, "took": balance.took, "gaveBack": balance.gave_back});
        if both == [kept_cents; 2] { Ok(()) } else { Err(state) }
    })
    .await;
}

on_both! {
    async fn an_order_is_paid_on_the_page_of_its_session(db: Db) {
        let (processor, mut app) = shop(db).await;
        let sku = some_sku(&app).await;
        let order = app.order(&sku, 2).await;
        let path = format!("/api/orders/{order}/checkout");
        let pages = json!({"successPath": "/thanks?order=1", "cancelPath": "/basket"});
        let checkout = app.post(&path, &pages).await.expect(200);
        let there = processor.all("checkout.session").remove(0);
        assert_eq!((&there["amount_total"], &there["currency"]), (&json!(2500), &json!("usd")));
        assert_eq!((&there["client_reference_id"], &there["metadata"]["orderId"]), (&json!(order), &json!(order)));
        assert_eq!(there["success_url"], format!("{}/thanks?order=1", app.base));
        assert_eq!((&checkout["sessionId"], &checkout["checkoutUrl"]), (&there["id"], &there["url"]));
        // Asked again, also by a server that was killed: the same page.
        app.kill_9();
        app.start().await;
        assert_eq!(app.act(&path).await.expect(200), checkout);
        // A person pays in the browser.
        let page = http().get(checkout["checkoutUrl"].as_str().unwrap()).send().await.unwrap().text().await.unwrap();
        assert!(page.contains("25.00 USD") && page.contains("Order ORD-"), "{page}");
        let url = checkout["checkoutUrl"].as_str().unwrap();
        let declined = http().post(format!("{url}/decline")).send().await.unwrap();
        assert!(declined.text().await.unwrap().contains("Your card was declined."));
        app.order_is(&order, "payment_failed").await;
        let paid = http().post(format!("{url}/pay")).send().await.unwrap();
        assert_eq!((paid.status().as_u16(), paid.headers()["location"].to_str().unwrap()), (303, there["success_url"].as_str().unwrap()));
        app.order_is(&order, "paid").await;
        assert_eq!(payment_summary(&app, &order).await, summary_of("paid", &[], 1, 2));
        assert_eq!(check_out(&app, &order).await.error(409), "already_paid");
        balanced(&processor, &app, &order, 2500).await;
    }

    async fn a_hundred_who_ask_at_once_get_one_session(db: Db) {
        let (processor, app) = shop(db).await;
        let sku = some_sku(&app).await;
        let order = app.order(&sku, 1).await;
        let answers = join_all((0..100).map(|_| check_out(&app, &order))).await;
        let sessions: Vec<Value> = answers.into_iter().map(|one| one.expect(200)["sessionId"].clone()).collect();
        assert!(sessions.iter().all(|one| *one == sessions[0]), "{sessions:?}");
        assert_eq!(processor.all("checkout.session").len(), 1);
    }

    async fn a_kill_between_asking_and_hearing_makes_no_second_session(db: Db) {
        let (processor, mut app) = shop(db).await;
        let sku = some_sku(&app).await;
        let order = app.order(&sku, 1).await;
        // The processor makes the session, and nobody hears of it.
        processor.weather(NetworkCondition::LosesAnswers);
        let (client, order_id) = (Client::clone(&app), order.clone());
        let asking = tokio::spawn(async move { check_out(&client, &order_id).await });
        until("the session", || async { (!processor.all("checkout.session").is_empty()).then_some(()) }).await;
        app.kill_9();
        asking.abort();
        processor.weather(NetworkCondition::Fair);
        app.start().await;
        let session_id = session(&app, &order).await;
        assert_eq!(processor.all("checkout.session").len(), 1);
        // It is paid while nobody hears events: the next who asks learns it from the processor.
        processor.events_travel(DeliveryConditions { held: true, ..DeliveryConditions::default() });
        processor.act(&session_id, Payer::Pays).unwrap();
        assert_eq!(check_out(&app, &order).await.error(409), "already_paid");
        assert_eq!(payment_summary(&app, &order).await, summary_of("paid", &[], 1, 1));
        processor.events_travel(DeliveryConditions { twice: true, ..DeliveryConditions::default() });
        until("the events", || async { (processor.event_counts().0 == 0).then_some(()) }).await;
        assert_eq!(payment_summary(&app, &order).await, summary_of("paid", &[], 1, 1));
    }

    async fn a_refund_is_asked_for_once_and_survives_a_kill(db: Db) {
        let (processor, mut app) = shop(db).await;
        let sku = some_sku(&app).await;
        let order = app.order(&sku, 2).await;
        processor.act(&session(&app, &order).await, Payer::Pays).unwrap();
        app.order_is(&order, "paid").await;
        let path = format!("/api/orders/{order}/refund");
        assert_eq!(paths(&app.post(&path, &json!({"amountCents": 2501})).await.expect(400)), ["amountCents"]);
        // The processor does not answer before the server is killed.
        processor.events_travel(DeliveryConditions { held: true, ..DeliveryConditions::default() });
        processor.weather(NetworkCondition::Hangs);
        let answer = app.post(&path, &json!({"amountCents": 1000})).await.expect(200);
        assert_eq!((&answer["pendingRefunds"][0]["amountCents"], &answer["keptCents"]), (&json!(1000), &json!(2500)));
        app.kill_9();
        assert_eq!(processor.balance(&order).gave_back, 0, "nothing went back yet");
        processor.weather(NetworkCondition::Fair);
        app.start().await;
        until("the refund", || async { (processor.balance(&order).gave_back == 1000).then_some(()) }).await;
        balanced(&processor, &app, &order, 1500).await;
        processor.events_travel(DeliveryConditions { twice: true, shuffled: true, ..DeliveryConditions::default() });
        until("the events", || async { (processor.event_counts().0 == 0).then_some(()) }).await;
        let body = show(&app, &order).await;
        assert_eq!((&body["pendingRefunds"], body["payments"].as_array().unwrap().len()), (&json!([]), 2));
        assert_eq!(processor.balance(&order), Balance { took: 2500, gave_back: 1000, payments: 1 });
        // The rest: nothing is kept, and the order is refunded.
        app.act(&path).await.expect(200);
        app.order_is(&order, "refunded").await;
        balanced(&processor, &app, &order, 0).await;
        assert_eq!(app.act(&path).await.error(409), "nothing_to_refund");
    }
}

#[tokio::test]
async fn a_refund_that_is_refused_is_flagged_and_told_by_its_reason() {
    let (processor, app) = shop(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let order = app.order(&sku, 1).await;
    processor.act(&session(&app, &order).await, Payer::Pays).unwrap();
    app.order_is(&order, "paid").await;
    processor.refuse_refunds(Some("balance_insufficient"));
    app.act(&format!("/api/orders/{order}/refund")).await.expect(200);
    let body = until("the flag", || async {
        let body = show(&app, &order).await;
        (body["flags"] == json!(["refund_failed"])).then_some(body)
    })
    .await;
    assert!(body["pendingRefunds"][0]["error"].as_str().unwrap().contains("Insufficient funds"), "{body}");
    processor.refuse_refunds(None);
    app.act(&format!("/api/orders/{order}/refund")).await.expect(200);
    app.order_is(&order, "refunded").await;
    assert_eq!(show(&app, &order).await["flags"], json!([]));
}

#[tokio::test]
async fn what_is_paid_otherwise_or_cancelled_closes_the_page() {
    let (processor, app) = shop(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let [paid, part, cancelled] = [app.order(&sku, 1).await, app.order(&sku, 1).await, app.order(&sku, 1).await];
    let sessions = [session(&app, &paid).await, session(&app, &part).await, session(&app, &cancelled).await];
    app.post(&format!("/api/orders/{paid}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    app.post(&format!("/api/orders/{part}/mark-paid"), &json!({"method": "cash", "amountCents": 250}))
        .await
        .expect(200);
    app.act(&format!("/api/orders/{cancelled}/cancel")).await.expect(200);
    for session in &sessions {
        is_closed(&processor, session).await;
    }
    assert_eq!(check_out(&app, &paid).await.error(409), "already_paid");
    assert_eq!(check_out(&app, &cancelled).await.error(400), "not_payable");
    let rest = session(&app, &part).await;
    assert_ne!(rest, sessions[1]);
    let all = processor.all("checkout.session");
    assert_eq!(all.iter().find(|one| one["id"] == rest.as_str()).unwrap()["amount_total"], 1000);
    processor.act(&rest, Payer::Pays).unwrap();
    app.order_is(&part, "paid").await;
}

#[tokio::test]
async fn a_page_that_expired_is_followed_by_another_and_a_slow_payment_is_waited_for() {
    let (processor, app) = shop(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let order = app.order(&sku, 1).await;
    let first = session(&app, &order).await;
    processor.events_travel(DeliveryConditions { held: true, ..DeliveryConditions::default() });
    processor.expire(&first).unwrap();
    let second = session(&app, &order).await;
    assert_ne!(first, second);
    processor.act(&second, Payer::PaysSlowly).unwrap();
    assert_eq!(check_out(&app, &order).await.error(409), "payment_pending");
    processor.events_travel(DeliveryConditions::default());
    processor.settle(&second, false).unwrap();
    app.order_is(&order, "payment_failed").await;
    let third = session(&app, &order).await;
    processor.act(&third, Payer::PaysSlowly).unwrap();
    processor.settle(&third, true).unwrap();
    app.order_is(&order, "paid").await;
    balanced(&processor, &app, &order, 1250).await;
}

#[tokio::test]
async fn who_may_not_see_an_order_cannot_pay_it_and_paths_lead_nowhere_else() {
    let (_processor, app) = shop(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let order = app.order(&sku, 1).await;
    let [own, other] = [customer_of(&app, "buyer@example.org").await, customer_of(&app, "eve@example.org").await];
    assert_eq!(check_out(&other, &order).await.error(404), "order_not_found");
    check_out(&own, &order).await.expect(200);
    let path = format!("/api/orders/{order}/checkout");
    for bad in ["https://evil.example", "//evil.example", "/\\evil.example", "thanks", "/a b", ""] {
        assert_eq!(paths(&app.post(&path, &json!({"successPath": bad})).await.expect(400)), ["successPath"], "{bad}");
    }
}

#[tokio::test]
async fn a_processor_that_is_away_or_not_configured_is_said_so() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let order = app.order(&sku, 1).await;
    let answer = check_out(&app, &order).await;
    assert!(answer.header("retry-after").is_some());
    assert_eq!(answer.error(503), "payments_not_configured");

    let (processor, app) = shop(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let order = app.order(&sku, 1).await;
    processor.weather(NetworkCondition::Down);
    let answer = check_out(&app, &order).await;
    assert!(answer.header("retry-after").is_some());
    assert_eq!(answer.error(503), "processor_unavailable");
    let degraded = until("the trouble", || async {
        let ready = app.get("/readyz").await.expect(200);
        let words = ready["degraded"].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned());
        words.into_iter().find(|words| words.contains("the payment processor is unavailable"))
    })
    .await;
    assert!(!degraded.contains(KEY));
    let test = json!({"service": "payments", "settings": {}});
    let tested = app.post("/api/setup/test-connection", &test).await.expect(200);
    assert_eq!(tested["ok"], false, "{tested}");
    processor.weather(NetworkCondition::Fair);
    let tested = app.post("/api/setup/test-connection", &test).await.expect(200);
    assert_eq!(tested["ok"], true, "{tested}");
    until("a session", || async { (check_out(&app, &order).await.status == 200).then_some(()) }).await;
    assert_eq!(processor.all("checkout.session").len(), 1);
}
