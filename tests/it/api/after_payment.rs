//! Payments after they have been received: refunds that fail days later, banks that reverse payments, and a processor
//! that has forgotten a request or rejects part of it.

use serde_json::json;
use simulator::processor::{Balance, DeliveryConditions, DisputeVerdict, Payer, SimPaymentProcessor};
use simulator::stock::NetworkCondition;

use super::checkout::{KEY, balanced, check_out, knowing, session, shop, tells};
use super::materials::mails;
use super::payments::show;
use super::{paths, some_sku};
use crate::support::clock::HOUR;
use crate::support::{App, Clock, Db, on_both, until, waiting::until_seen};

/// Starts a server that uses this payment processor and emails the operators about whatever needs attention.
async fn alerting(db: Db) -> (SimPaymentProcessor, App) {
    let processor = SimPaymentProcessor::start(KEY).await.unwrap();
    let app = knowing(&processor, db).env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org").start().await;
    tells(&processor, &app);
    (processor, app)
}

/// Pays an order of 25.00 through the processor; returns the IDs of the order and the payment intent.
async fn paid(processor: &SimPaymentProcessor, app: &App) -> (String, String) {
    let sku = some_sku(app).await;
    let order = app.order(&sku, 2).await;
    processor.act(&session(app, &order).await, Payer::Pays).unwrap();
    app.order_is(&order, "paid").await;
    let intent = processor.all("payment_intent")[0]["id"].as_str().unwrap().to_owned();
    (order, intent)
}

/// Waits until the order has exactly these flags.
async fn flagged(app: &App, order: &str, flags: &[&str]) {
    until("the flags", || async { (show(app, order).await["flags"] == json!(flags)).then_some(()) }).await;
}

/// Waits until the server has received all of the processor's events.
async fn wait_for_events(processor: &SimPaymentProcessor) {
    until("the events", || async { (processor.event_counts().0 == 0).then_some(()) }).await;
}

/// Requests a refund of this amount, retrying while the server responds 409 because an earlier refund is still being
/// processed.
async fn refund_part(app: &App, order: &str, amount_cents: i64) {
    let body = json!({"amountCents": amount_cents});
    let answer = until("the refund to be asked for", || async {
        let answer = app.post(&format!("/api/orders/{order}/refund"), &body).await;
        (answer.status != 409).then_some(answer)
    })
    .await;
    answer.expect(200);
}

on_both! {
    async fn a_refund_that_fails_later_is_taken_back_in_the_books_and_flagged(db: Db) {
        let (processor, app) = alerting(db).await;
        processor.events_travel(DeliveryConditions { twice: true, shuffled: true, ..DeliveryConditions::default() });
        let (order, _) = paid(&processor, &app).await;
        let path = format!("/api/orders/{order}/refund");
        app.act(&path).await.expect(200);
        app.order_is(&order, "refunded").await;
        balanced(&processor, &app, &order, 0).await;
        let refund = processor.all("refund")[0]["id"].as_str().unwrap().to_owned();
        processor.fail_refund(&refund).unwrap();
        // The shop has the money again, and it is not its own.
        flagged(&app, &order, &["refund_failed", "refund_due"]).await;
        balanced(&processor, &app, &order, 2500).await;
        let body = show(&app, &order).await;
        assert_eq!((&body["status"], &body["payments"][1]["status"]), (&json!("refunded"), &json!("failed")));
        // Both alerts come in one mail where the first was not sent yet.
        until("an alert", || async {
            let sent = mails(&app, "refund failed").len() + mails(&app, "refund settled").len();
            (sent > 0).then_some(())
        })
        .await;
        // Given back once more, this time for good; nothing is credited twice. What comes late is read anew before.
        until("the refund to be asked for", || async { (app.act(&path).await.status == 200).then_some(()) }).await;
        flagged(&app, &order, &[]).await;
        balanced(&processor, &app, &order, 0).await;
        let invoices = app.get(&format!("/api/invoices?orderId={order}")).await.expect(200);
        let invoice = format!("/api/invoices/{}", invoices["invoices"][0]["id"].as_str().unwrap());
        let payments = show(&app, &order).await["payments"].as_array().unwrap().len();
        until_seen("the invoice to have all payments of its order and one credit note", || async {
            let invoice = app.get(&invoice).await.expect(200);
            let notes = invoice["documents"].as_array().unwrap().iter().filter(|one| one["kind"] == "credit_note");
            let notes: Vec<i64> = notes.map(|one| one["totalCents"].as_i64().unwrap()).collect();
            if invoice["payments"].as_array().unwrap().len() == payments && notes == [2500] { Ok(()) } else { Err(invoice) }
        })
        .await;
    }
}

#[tokio::test]
async fn a_payment_that_the_bank_takes_back_is_flagged_and_alerted() {
    let (processor, app) = alerting(Db::sqlite()).await;
    let (order, intent) = paid(&processor, &app).await;
    processor.dispute(&intent, DisputeVerdict::Asks).unwrap();
    flagged(&app, &order, &["disputed"]).await;
    until("an alert", || async { (!mails(&app, "disputed").is_empty()).then_some(()) }).await;
    processor.dispute(&intent, DisputeVerdict::Lost).unwrap();
    app.order_is(&order, "refunded").await;
    let body = show(&app, &order).await;
    assert_eq!((&body["keptCents"], &body["flags"]), (&json!(0), &json!([])), "it is booked: {body}");
    let lost = &body["payments"][1];
    assert_eq!((&lost["amountCents"], &lost["method"]), (&json!(-2500), &json!("dispute")));
    let events = app.get("/api/events?event=order.flagged").await.expect(200);
    let is_announced = events["events"].as_array().unwrap().iter().any(|one| one["data"]["flag"] == "dispute_lost");
    assert!(is_announced, "{events}");
    // What the bank took is credited.
    until_seen("the credit note", || async {
        let invoices = app.get(&format!("/api/invoices?orderId={order}")).await.expect(200);
        if invoices["invoices"][0]["status"] == "refunded" { Ok(()) } else { Err(invoices) }
    })
    .await;
}

on_both! {
    async fn what_a_failed_refund_brought_back_is_given_otherwise_and_the_flag_goes(db: Db) {
        let (processor, mut app) = shop(db).await;
        let (order, _) = paid(&processor, &app).await;
        let path = format!("/api/orders/{order}/refund");
        app.post(&path, &json!({"amountCents": 1000})).await.expect(200);
        balanced(&processor, &app, &order, 1500).await;
        wait_for_events(&processor).await;
        let refund = processor.all("refund")[0]["id"].as_str().unwrap().to_owned();
        processor.fail_refund(&refund).unwrap();
        flagged(&app, &order, &["refund_failed"]).await;
        balanced(&processor, &app, &order, 2500).await;
        wait_for_events(&processor).await;
        // A hundred at the processor settle a hundred.
        refund_part(&app, &order, 100).await;
        balanced(&processor, &app, &order, 2400).await;
        wait_for_events(&processor).await;
        until("the refund", || async { (show(&app, &order).await["pendingRefunds"] == json!([])).then_some(()) }).await;
        assert_eq!(show(&app, &order).await["flags"], json!(["refund_failed"]));
        app.kill_9();
        app.start().await;
        let payment = show(&app, &order).await["payments"][0]["id"].clone();
        let give = |amount_cents: i64, method: &str| json!({"paymentId": payment, "amountCents": amount_cents, "method": method});
        assert_eq!(paths(&app.post(&path, &give(900, "processor")).await.expect(400)), ["method"]);
        // What the last event called for may still be read.
        let refused = until("the reading", || async {
            let refused = app.post(&path, &give(901, "bank_transfer")).await;
            (refused.status != 409).then_some(refused)
        })
        .await;
        assert_eq!(paths(&refused.expect(400)), ["amountCents"]);
        let answer = app.post(&path, &give(400, "bank_transfer")).await.expect(200);
        assert_eq!((&answer["keptCents"], &answer["flags"]), (&json!(2000), &json!(["refund_failed"])));
        // The rest on its invoice, which is the order's.
        let invoices = app.get(&format!("/api/invoices?orderId={order}")).await.expect(200);
        let invoice = format!("/api/invoices/{}/refund", invoices["invoices"][0]["id"].as_str().unwrap());
        let rest = json!({"paymentId": payment, "method": "bank_transfer"});
        app.post(&invoice, &rest).await.expect(200);
        let body = show(&app, &order).await;
        assert_eq!((&body["keptCents"], &body["flags"]), (&json!(1500), &json!([])), "{body}");
        assert_eq!(app.post(&path, &rest).await.error(409), "nothing_to_refund");
        assert_eq!(processor.balance(&order), Balance { took: 2500, gave_back: 100, payments: 1 });
    }
}

#[tokio::test]
async fn a_refund_is_made_once_by_a_key_that_may_not_list_refunds() {
    let (processor, app) = shop(Db::sqlite()).await;
    let (order, intent) = paid(&processor, &app).await;
    processor.events_travel(DeliveryConditions { held: true, ..DeliveryConditions::default() });
    processor.refuse_call("GET /v1/refunds", 403);
    app.post(&format!("/api/orders/{order}/refund"), &json!({"amountCents": 1000})).await.expect(200);
    balanced(&processor, &app, &order, 1500).await;
    processor.forget_keys();
    until("the end of the refund", || async {
        (show(&app, &order).await["pendingRefunds"] == json!([])).then_some(())
    })
    .await;
    assert_eq!(processor.all("refund").len(), 1);
    // It fails, and the key may not ask what went back: the failure is booked as it was told.
    processor.events_travel(DeliveryConditions::default());
    wait_for_events(&processor).await;
    let refund = processor.all("refund")[0]["id"].as_str().unwrap().to_owned();
    processor.fail_refund(&refund).unwrap();
    flagged(&app, &order, &["refund_failed"]).await;
    balanced(&processor, &app, &order, 2500).await;
    wait_for_events(&processor).await;
    // What goes back afterwards is booked, by the shop's own refund and at the processor itself.
    refund_part(&app, &order, 500).await;
    balanced(&processor, &app, &order, 2000).await;
    assert_eq!(show(&app, &order).await["flags"], json!(["refund_failed"]));
    processor.refund(&intent, Some(700)).unwrap();
    balanced(&processor, &app, &order, 1300).await;
    flagged(&app, &order, &[]).await;
}

#[tokio::test]
async fn a_refund_whose_answer_was_lost_is_made_once_after_the_keys_are_forgotten() {
    let (processor, clock) = (SimPaymentProcessor::start(KEY).await.unwrap(), Clock::new());
    let mut app = knowing(&processor, Db::sqlite()).clock(&clock).start().await;
    tells(&processor, &app);
    let (order, _) = paid(&processor, &app).await;
    processor.events_travel(DeliveryConditions { held: true, ..DeliveryConditions::default() });
    processor.weather(NetworkCondition::LosesAnswers);
    app.post(&format!("/api/orders/{order}/refund"), &json!({"amountCents": 1000})).await.expect(200);
    until("the refund", || async { (processor.balance(&order).gave_back == 1000).then_some(()) }).await;
    app.kill_9();
    processor.forget_keys();
    processor.weather(NetworkCondition::Fair);
    clock.set(25 * HOUR);
    app.start().await;
    balanced(&processor, &app, &order, 1500).await;
    assert_eq!(processor.balance(&order), Balance { took: 2500, gave_back: 1000, payments: 1 });
    assert_eq!(processor.all("refund").len(), 1);
}

#[tokio::test]
async fn an_address_that_the_processor_dislikes_is_left_out() {
    let (processor, app) = shop(Db::sqlite()).await;
    processor.dislike_addresses();
    let sku = some_sku(&app).await;
    let order = app.order(&sku, 1).await;
    check_out(&app, &order).await.expect(200);
    let session = processor.all("checkout.session").remove(0);
    assert_eq!((&session["customer_email"], &session["amount_total"]), (&json!(null), &json!(1250)));
}

#[tokio::test]
async fn a_slow_payment_that_failed_unheard_does_not_close_the_till() {
    let (processor, app) = shop(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let order = app.order(&sku, 1).await;
    let first = session(&app, &order).await;
    processor.events_travel(DeliveryConditions { held: true, ..DeliveryConditions::default() });
    processor.act(&first, Payer::PaysSlowly).unwrap();
    assert_eq!(check_out(&app, &order).await.error(409), "payment_pending");
    processor.settle(&first, false).unwrap();
    let second = session(&app, &order).await;
    assert_ne!(first, second);
    processor.act(&second, Payer::Pays).unwrap();
    assert_eq!(check_out(&app, &order).await.error(409), "already_paid");
    balanced(&processor, &app, &order, 1250).await;
}
