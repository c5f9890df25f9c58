//! Signed events from the payment processor: late, repeated, out of order, or about unknown orders.

use serde_json::{Value, json};
use simulator::payments::{SimPayment, SimPaymentEvent as E, signature};

use super::materials::mails;
use super::{NOTHING, count, id, some_sku};
use crate::support::app::PAYMENT_SECRET;
use crate::support::client::Answer;
use crate::support::{App, Client, Db, on_both, on_sqlite, until};
use crate::whole::unix_now;

const PATH: &str = "/webhooks/payments";

async fn send(app: &Client, path: &str, body: &str, signed: Option<&str>) -> Answer {
    let mut request = app.request("POST", path).header("Content-Type", "application/json").body(body.to_owned());
    if let Some(signed) = signed {
        request = request.header("Stripe-Signature", signed);
    }
    app.send(request).await
}

/// Sends an event as the processor does, signed with the current time.
async fn tell_at(app: &App, path: &str, body: &str) -> Answer {
    let signed = signature(PAYMENT_SECRET, unix_now(), body.as_bytes());
    send(&app.nobody(), path, body, Some(&signed)).await
}

/// Sends a payment event, which must be accepted.
pub async fn tell(app: &App, payment: &SimPayment, event: E, event_id: &str) {
    let answer = tell_at(app, PATH, &payment.event(event, event_id, unix_now())).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

pub async fn order(app: &App, sku: &str) -> (String, SimPayment) {
    let order = app.order(sku, 1).await;
    let payment = SimPayment::new(order.as_str(), 1250, "usd");
    (order, payment)
}

pub async fn show(app: &App, order: &str) -> Value {
    app.get(&format!("/api/orders/{order}")).await.expect(200)
}

/// Returns the order's status, its flags, and its numbers of payments and jobs.
pub async fn payment_summary(app: &App, order: &str) -> (String, Vec<String>, usize, usize) {
    let body = show(app, order).await;
    let flags = body["flags"].as_array().unwrap().iter().map(|flag| flag.as_str().unwrap().to_owned()).collect();
    let payments = body["payments"].as_array().unwrap().len();
    (body["status"].as_str().unwrap().to_owned(), flags, payments, app.jobs(order).await.len())
}

pub fn summary_of(status: &str, flags: &[&str], payments: usize, jobs: usize) -> (String, Vec<String>, usize, usize) {
    (status.to_owned(), flags.iter().map(|flag| (*flag).to_owned()).collect(), payments, jobs)
}

#[tokio::test]
async fn only_what_the_processor_signed_lately_is_believed() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let (order, payment) = order(&app, &sku).await;
    let now = unix_now();
    let body = payment.event(E::Completed, "evt_1", now);
    let sign = |secret: &str, at: i64, body: &str| signature(secret, at, body.as_bytes());
    let good = sign(PAYMENT_SECRET, now, &body);
    let cases = [
        (None, "no signature"),
        (Some(String::new()), "an empty one"),
        (Some("nonsense".to_owned()), "nonsense"),
        (Some(sign("whsec_another", now, &body)), "another secret"),
        (Some(sign(PAYMENT_SECRET, now, &format!("{body} "))), "another body"),
        (Some(sign(PAYMENT_SECRET, now - 400, &body)), "too old"),
        (Some(good.replace("v1=", "v0=")), "another scheme"),
        (Some(good.replace(&format!("t={now}"), &format!("t={}", now + 1))), "another time"),
        (Some(good[..good.len() - 2].to_owned()), "cut off"),
    ];
    for (signed, what) in cases {
        let answer = send(&app.nobody(), PATH, &body, signed.as_deref()).await;
        assert_eq!(answer.error(400), "invalid_signature", "{what}");
    }
    assert_eq!(payment_summary(&app, &order).await, summary_of("created", &[], 0, 0));
    // Signatures of an older secret may stand beside the right one.
    let several = format!("{good},v1={},v0=0", "0".repeat(64));
    send(&app.nobody(), PATH, &body, Some(&several)).await.expect(200);
    assert_eq!(payment_summary(&app, &order).await, summary_of("paid", &[], 1, 1));
    for malformed in ["", "[]", "{", "{\"id\": 1}", "{\"type\": \"checkout.session.completed\"}"] {
        assert_eq!(tell_at(&app, PATH, malformed).await.error(400), "malformed_event", "{malformed}");
    }
}

#[tokio::test]
async fn without_a_secret_nothing_is_believed() {
    let app = App::on(Db::sqlite()).env("PAYMENT_WEBHOOK_SECRET", "").start().await;
    let sku = some_sku(&app).await;
    let (order, payment) = order(&app, &sku).await;
    let body = payment.event(E::Completed, "evt_1", unix_now());
    for signed in [None, Some(signature("", unix_now(), body.as_bytes()))] {
        let answer = send(&app.nobody(), PATH, &body, signed.as_deref()).await;
        assert!(answer.header("retry-after").is_some());
        assert_eq!(answer.error(503), "payments_not_configured");
    }
    assert_eq!(payment_summary(&app, &order).await, summary_of("created", &[], 0, 0));
}

on_both! {
    async fn an_event_that_matches_nothing_is_kept_until_it_does(db: Db) {
        let mut app = App::new(db).await;
        let sku = some_sku(&app).await;
        let (order, mut payment) = order(&app, &sku).await;
        // The refund names a payment intent that no order knows yet.
        payment.intent_metadata = false;
        tell(&app, &payment, E::Refunded { refunded_cents: 1250 }, "evt_r").await;
        tell(&app, &payment, E::Refunded { refunded_cents: 1250 }, "evt_r").await;
        app.kill_9();
        app.start().await;
        tell(&app, &payment, E::Completed, "evt_p").await;
        // A new order is when kept events are tried again.
        app.order(&sku, 1).await;
        app.order_is(&order, "refunded").await;
        let jobs = app.jobs(&order).await;
        assert!(jobs.iter().all(|job| job["state"] == "CANCELLED"), "{jobs:?}");
        // One of nobody at all does no harm.
        tell(&app, &SimPayment::new(NOTHING, 1, "usd"), E::Completed, "evt_n").await;
        tell(&app, &SimPayment::new("of another shop", 1, "usd"), E::Completed, "evt_o").await;
        app.kill_9();
        app.start().await;
        assert_eq!(count(&app, "/api/orders?status=paid").await, 0);
    }
}

on_sqlite! {
    async fn an_event_told_often_has_one_effect(db: Db) {
        let mut app = App::new(db).await;
        let sku = some_sku(&app).await;
        let (order, payment) = order(&app, &sku).await;
        let body = payment.event(E::Completed, "evt_1", unix_now());
        let answers = futures::future::join_all((0..8).map(|_| tell_at(&app, PATH, &body))).await;
        assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
        app.kill_9();
        app.start().await;
        tell(&app, &payment, E::Completed, "evt_1").await;
        // The other address is the same handler, and other events of the same payment are no other payment.
        tell_at(&app, "/api/v1/webhooks/payments", &body).await.expect(200);
        tell(&app, &payment, E::Completed, "evt_2").await;
        tell(&app, &payment, E::AsyncSucceeded, "evt_3").await;
        assert_eq!(payment_summary(&app, &order).await, summary_of("paid", &[], 1, 1));
        let order_body = show(&app, &order).await;
        let entry = &order_body["payments"][0];
        assert_eq!((&entry["amountCents"], &entry["currency"], &entry["method"]), (&json!(1250), &json!("usd"), &json!("processor")));
        let timeline = app.get(&format!("/api/orders/{order}/timeline")).await.expect(200);
        let paid = timeline["timeline"].as_array().unwrap().iter().filter(|event| event["event"] == "order.paid").count();
        assert_eq!(paid, 1, "{timeline}");
    }

    async fn a_refund_seen_first_makes_the_later_payment_end_refunded(db: Db) {
        let mut app = App::new(db).await;
        let sku = some_sku(&app).await;
        let (order, payment) = order(&app, &sku).await;
        tell(&app, &payment, E::Refunded { refunded_cents: 1250 }, "evt_r").await;
        assert_eq!(show(&app, &order).await["status"], "created");
        app.kill_9();
        app.start().await;
        tell(&app, &payment, E::Completed, "evt_p").await;
        let (status, flags, _, jobs) = payment_summary(&app, &order).await;
        assert_eq!((status.as_str(), flags.len(), jobs), ("refunded", 0, 1));
        app.job_is(&id(&app.jobs(&order).await[0]), "CANCELLED").await;
        tell(&app, &payment, E::Completed, "evt_p2").await;
        let (status, _, _, jobs) = payment_summary(&app, &order).await;
        assert_eq!((status.as_str(), jobs), ("refunded", 1));
    }
}

#[tokio::test]
async fn a_failure_moves_only_what_is_unpaid() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let (order, payment) = order(&app, &sku).await;
    tell(&app, &payment, E::PaymentFailed, "evt_1").await;
    assert_eq!(payment_summary(&app, &order).await, summary_of("payment_failed", &[], 0, 0));
    tell(&app, &payment, E::Completed, "evt_2").await;
    assert_eq!(payment_summary(&app, &order).await, summary_of("paid", &[], 1, 1));
    for (event, event_id) in [(E::PaymentFailed, "evt_3"), (E::AsyncFailed, "evt_4"), (E::Expired, "evt_5")] {
        tell(&app, &payment, event, event_id).await;
    }
    assert_eq!(
        payment_summary(&app, &order).await,
        summary_of("paid", &[], 1, 1),
        "a late failure never undoes a payment"
    );
}

#[tokio::test]
async fn a_delayed_method_pays_when_the_money_comes() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let (order, payment) = order(&app, &sku).await;
    tell(&app, &payment, E::CompletedUnpaid, "evt_1").await;
    assert_eq!(payment_summary(&app, &order).await, summary_of("created", &[], 0, 0));
    tell(&app, &payment, E::AsyncSucceeded, "evt_2").await;
    assert_eq!(payment_summary(&app, &order).await, summary_of("paid", &[], 1, 1));
}

#[tokio::test]
async fn a_whole_refund_ends_the_order_and_a_part_moves_nothing() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let (order, payment) = order(&app, &sku).await;
    tell(&app, &payment, E::Completed, "evt_1").await;
    tell(&app, &payment, E::Refunded { refunded_cents: 400 }, "evt_2").await;
    assert_eq!(payment_summary(&app, &order).await, summary_of("paid", &[], 2, 1));
    assert_eq!(show(&app, &order).await["payments"][1]["amountCents"], -400);
    tell(&app, &payment, E::Refunded { refunded_cents: 1250 }, "evt_3").await;
    // Told late: less than is known already.
    tell(&app, &payment, E::Refunded { refunded_cents: 400 }, "evt_4").await;
    assert_eq!(payment_summary(&app, &order).await, summary_of("refunded", &[], 3, 1));
    let payments = show(&app, &order).await["payments"].clone();
    let sum: i64 = payments.as_array().unwrap().iter().map(|one| one["amountCents"].as_i64().unwrap()).sum();
    assert_eq!(sum, 0, "{payments}");
    app.job_is(&id(&app.jobs(&order).await[0]), "CANCELLED").await;
}

#[tokio::test]
async fn money_that_has_to_go_back_is_flagged_and_told() {
    let app = App::on(Db::sqlite())
        .env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org")
        .env("PRINTFLOOR_MAIL__ALERT_INTERVAL_SECONDS", 0)
        .start()
        .await;
    let sku = some_sku(&app).await;
    // For an order that was cancelled meanwhile.
    let (cancelled, payment) = order(&app, &sku).await;
    app.act(&format!("/api/orders/{cancelled}/cancel")).await.expect(200);
    tell(&app, &payment, E::Completed, "evt_1").await;
    assert_eq!(payment_summary(&app, &cancelled).await, summary_of("cancelled", &["refund_due"], 1, 0));
    // A second one for an order that is paid: by hand, then by the processor.
    let (twice, payment) = order(&app, &sku).await;
    app.post(&format!("/api/orders/{twice}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    tell(&app, &payment, E::Completed, "evt_2").await;
    assert_eq!(payment_summary(&app, &twice).await, summary_of("paid", &["refund_due"], 2, 1));
    until("two mails", || async { (mails(&app, "refund due").len() == 2).then_some(()) }).await;
    assert!(mails(&app, "refund due").iter().all(|mail| mail.contains("To: ops@example.org")));
    // Once it went back the cancelled order is done with.
    let cancelled_payment = SimPayment::new(cancelled.as_str(), 1250, "usd");
    tell(&app, &cancelled_payment, E::Refunded { refunded_cents: 1250 }, "evt_3").await;
    let (_, flags, ..) = payment_summary(&app, &cancelled).await;
    assert!(flags.is_empty(), "{flags:?}");
}

#[tokio::test]
async fn another_sum_or_currency_pays_nothing() {
    let app = App::on(Db::sqlite())
        .env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org")
        .env("PRINTFLOOR_MAIL__ALERT_INTERVAL_SECONDS", 0)
        .start()
        .await;
    let sku = some_sku(&app).await;
    for (n, (cents, currency)) in [(1249, "usd"), (1250, "eur"), (1, "usd")].into_iter().enumerate() {
        let (order, _) = order(&app, &sku).await;
        tell(&app, &SimPayment::new(order.as_str(), cents, currency), E::Completed, &format!("evt_{n}")).await;
        assert_eq!(
            payment_summary(&app, &order).await,
            summary_of("created", &["amount_mismatch"], 1, 0),
            "{cents} {currency}"
        );
    }
    until("three mails", || async { (mails(&app, "payment amount differs").len() == 3).then_some(()) }).await;
    // More than is due pays, and the rest is due back.
    let (order, _) = order(&app, &sku).await;
    tell(&app, &SimPayment::new(order.as_str(), 1251, "usd"), E::Completed, "evt_more").await;
    assert_eq!(payment_summary(&app, &order).await, summary_of("paid", &["refund_due", "amount_mismatch"], 1, 1));
}

#[tokio::test]
async fn events_that_are_not_used_are_taken_quietly() {
    let app = App::new(Db::sqlite()).await;
    for kind in ["customer.created", "invoice.finalized", "a.kind.of.tomorrow"] {
        let body = json!({"id": format!("evt_{kind}"), "object": "event", "type": kind, "created": 1, "data": {"object": {"id": "x", "new": [1]}}, "more": {}});
        tell_at(&app, PATH, &body.to_string()).await.expect(200);
    }
    assert_eq!(app.get("/api/events").await.expect(200)["events"], json!([]));
}
