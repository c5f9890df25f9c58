//! Refunds of individual payments: an order has several payments, refunded in every order.

use serde_json::json;
use simulator::payments::{SimPayment, SimPaymentEvent as E};

use super::materials::mails;
use super::payments::{order, payment_summary, show, summary_of, tell};
use super::{NOTHING, count, id, paths, some_sku};
use crate::support::waiting::until_seen;
use crate::support::{App, Db, on_sqlite, until};

const WHOLE: E = E::Refunded { refunded_cents: 1250 };

/// Returns a simulated payment for the same order with another card.
fn card(order: &str, name: &str, cents: i64) -> SimPayment {
    let payment = SimPayment::new(order, cents, "usd");
    SimPayment { session_id: format!("cs_{name}_{order}"), payment_intent: format!("pi_{name}_{order}"), ..payment }
}

on_sqlite! {
    async fn cash_stays_when_the_card_goes_back(db: Db) {
        let mut app = App::new(db).await;
        let sku = some_sku(&app).await;
        let (order, card) = order(&app, &sku).await;
        app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
        tell(&app, &card, E::Completed, "evt_1").await;
        assert_eq!(payment_summary(&app, &order).await, summary_of("paid", &["refund_due"], 2, 1));
        app.kill_9();
        app.start().await;
        tell(&app, &card, WHOLE, "evt_2").await;
        assert_eq!(payment_summary(&app, &order).await, summary_of("paid", &[], 3, 1));
        assert_eq!(show(&app, &order).await["keptCents"], 1250);
        let job = &app.jobs(&order).await[0];
        assert_ne!(job["state"], "CANCELLED", "{job}");
    }

    async fn of_two_cards_each_may_go_back_and_is_found_by_its_intent_alone(db: Db) {
        let mut app = App::new(db).await;
        let sku = some_sku(&app).await;
        let order = app.order(&sku, 1).await;
        let [one, two] = ["one", "two"].map(|name| SimPayment { intent_metadata: false, ..card(&order, name, 1250) });
        // The refund of the second is heard before its payment, and names nothing that is known yet.
        tell(&app, &two, WHOLE, "evt_1").await;
        tell(&app, &one, E::Completed, "evt_2").await;
        assert_eq!(payment_summary(&app, &order).await, summary_of("paid", &[], 1, 1));
        app.kill_9();
        app.start().await;
        // Its payment comes; the kept refund is tried at once, without a new order.
        tell(&app, &two, E::Completed, "evt_3").await;
        until("the kept refund to be applied", || async {
            let body = show(&app, &order).await;
            (body["keptCents"] == 1250 && body["payments"].as_array()?.len() == 3).then_some(())
        })
        .await;
        assert_eq!(payment_summary(&app, &order).await, summary_of("paid", &[], 3, 1));
        until("no event to be left", || async { (count(&app, "/api/payments/unmatched").await == 0).then_some(()) }).await;
        tell(&app, &one, WHOLE, "evt_4").await;
        assert_eq!(payment_summary(&app, &order).await, summary_of("refunded", &[], 4, 1));
        app.job_is(&id(&app.jobs(&order).await[0]), "CANCELLED").await;
    }
}

#[tokio::test]
async fn halves_pay_together_and_wrong_money_may_go_back() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let order = app.order(&sku, 1).await;
    let mark = format!("/api/orders/{order}/mark-paid");
    app.post(&mark, &json!({"method": "cash", "amountCents": 625})).await.expect(200);
    assert_eq!(payment_summary(&app, &order).await, summary_of("created", &[], 1, 0));
    app.post(&mark, &json!({"method": "cash", "amountCents": 626})).await.expect(400);
    tell(&app, &card(&order, "half", 625), E::Completed, "evt_1").await;
    assert_eq!(payment_summary(&app, &order).await, summary_of("paid", &[], 2, 1));
    tell(&app, &card(&order, "half", 625), E::Refunded { refunded_cents: 625 }, "evt_2").await;
    assert_eq!(payment_summary(&app, &order).await, summary_of("paid", &[], 3, 1));

    let order = app.order(&sku, 1).await;
    tell(&app, &card(&order, "wrong", 1200), E::Completed, "evt_3").await;
    assert_eq!(payment_summary(&app, &order).await, summary_of("created", &["amount_mismatch"], 1, 0));
    tell(&app, &card(&order, "wrong", 1200), E::Refunded { refunded_cents: 1200 }, "evt_4").await;
    assert_eq!(payment_summary(&app, &order).await, summary_of("created", &[], 2, 0));
    tell(&app, &card(&order, "right", 1250), E::Completed, "evt_5").await;
    assert_eq!(payment_summary(&app, &order).await, summary_of("paid", &[], 3, 1));
}

#[tokio::test]
async fn cash_that_was_given_back_is_recorded_by_hand() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let order = app.paid_order(&sku, 1).await;
    app.act(&format!("/api/orders/{order}/cancel")).await.expect(200);
    assert_eq!(payment_summary(&app, &order).await, summary_of("cancelled", &["refund_due"], 1, 1));
    let refund = format!("/api/orders/{order}/refund");
    assert_eq!(paths(&app.act(&refund).await.expect(400)), ["paymentId"]);
    let payment = show(&app, &order).await["payments"][0]["id"].clone();
    app.post(&refund, &json!({"paymentId": payment, "amountCents": 250})).await.expect(200);
    assert_eq!(payment_summary(&app, &order).await, summary_of("cancelled", &["refund_due"], 2, 1));
    app.post(&refund, &json!({"paymentId": payment})).await.expect(200);
    assert_eq!(payment_summary(&app, &order).await, summary_of("refunded", &[], 3, 1));
    assert_eq!(app.post(&refund, &json!({"paymentId": payment})).await.error(409), "nothing_to_refund");
    let (other, card) = super::payments::order(&app, &sku).await;
    tell(&app, &card, E::Completed, "evt_1").await;
    assert_eq!(app.act(&format!("/api/orders/{other}/refund")).await.error(409), "refund_at_processor");
}

#[tokio::test]
async fn money_that_matches_nothing_is_seen_by_people() {
    let app = App::on(Db::sqlite())
        .env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org")
        .env("PRINTFLOOR_MAIL__ALERT_INTERVAL_SECONDS", 0)
        .start()
        .await;
    for (n, reference) in [NOTHING, "00000000-0000-0000-0000-000000000000", "of another shop"].into_iter().enumerate() {
        tell(&app, &SimPayment::new(reference, 1250, "usd"), E::Completed, &format!("evt_{n}")).await;
    }
    let all = app.get("/api/payments/unmatched?limit=2").await.expect(200);
    assert_eq!((&all["pagination"]["total"], &all["payments"][0]["eventId"]), (&json!(3), &json!("evt_2")), "{all}");
    let (amount, kind) = (&all["payments"][0]["amountCents"], &all["payments"][0]["kind"]);
    assert_eq!((amount, kind), (&json!(1250), &json!("payment")), "{all}");
    until("the operators to be told", || async { (!mails(&app, "matches no order").is_empty()).then_some(()) }).await;
    until("the events", || async {
        let events = app.get("/api/events?event=payment.unmatched").await.expect(200);
        (events["events"].as_array()?.len() == 3).then_some(())
    })
    .await;
    until_seen("the metrics to count them", || async {
        let metrics = app.get("/metrics").await.text;
        if metrics.contains("printfloor_payments_unmatched 3") { Ok(()) } else { Err(metrics) }
    })
    .await;
    until("a line in the log", || async {
        app.log().iter().any(|line| line.contains("WARN") && line.contains("matches no order")).then_some(())
    })
    .await;
    let docs = app.get("/api/openapi.json").await.text;
    assert!(docs.contains("client_reference_id"), "the description says which fields match");
}
