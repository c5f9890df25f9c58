//! Invoices without an order, paid at the simulated processor by their customer or anybody with the pay link, or
//! manually; refunds use the original payment method.

use futures::future::join_all;
use serde_json::{Value, json};
use simulator::processor::{Balance, DeliveryConditions, Payer, Renewal, SimPaymentProcessor};

use super::invoices::{draft, sent};
use super::{customer, pay_token_of};
use crate::api::checkout::{KEY, is_closed, knowing, tells};
use crate::api::{NOTHING, id, paths, some_sku};
use crate::support::{App, Client, Clock, Db, on_sqlite, until, waiting::until_seen};

/// Starts a processor, and a server connected to it that effectively does not limit the number of checkouts.
async fn shop(db: Db) -> (SimPaymentProcessor, App) {
    let processor = SimPaymentProcessor::start(KEY).await.unwrap();
    let app = knowing(&processor, db).env("PRINTFLOOR_LIMITS__ORDER_CHECKOUTS_PER_HOUR", 10_000_000).start().await;
    tells(&processor, &app);
    (processor, app)
}

async fn show(app: &App, invoice: &str) -> Value {
    app.get(&format!("/api/invoices/{invoice}")).await.expect(200)
}

async fn is(app: &App, invoice: &str, status: &str) -> Value {
    until_seen(&format!("the invoice to be {status}"), || async {
        let view = show(app, invoice).await;
        if view["status"] == status { Ok(view) } else { Err(view) }
    })
    .await
}

fn checkout(invoice: &str) -> String {
    format!("/api/v1/invoices/{invoice}/checkout")
}

async fn session(client: &Client, invoice: &str) -> String {
    let page = client.act(&checkout(invoice)).await.expect(200);
    page["sessionId"].as_str().unwrap().to_owned()
}

on_sqlite! {
    async fn an_invoice_is_paid_on_one_page_by_whoever_asks(db: Db) {
        let (processor, mut app) = shop(db).await;
        let (ann, bob) = (customer(&app, "ann@example.org").await, customer(&app, "bob@example.org").await);
        let invoice = sent(&app, "ann@example.org").await;
        let path = checkout(&invoice);
        assert_eq!(bob.act(&path).await.error(403), "forbidden");
        assert_eq!(app.nobody().act(&path).await.error(401), "unauthorized");
        assert_eq!(ann.act(&checkout(NOTHING)).await.error(404), "invoice_not_found");
        assert_eq!(paths(&ann.post(&path, &json!({"successPath": "//evil"})).await.expect(400)), ["successPath"]);
        let unsent = draft(&app, "ann@example.org").await;
        assert_eq!(ann.act(&checkout(&unsent)).await.error(404), "invoice_not_found");

        let thanks = json!({"successPath": "/thanks"});
        let answers = join_all((0..20).map(|_| ann.post(&path, &thanks))).await;
        let pages: Vec<Value> = answers.into_iter().map(|one| one.expect(200)).collect();
        assert!(pages.iter().all(|one| *one == pages[0]), "{pages:?}");
        let there = processor.all("checkout.session");
        assert_eq!(there.len(), 1, "one session for all who ask");
        assert_eq!((&there[0]["amount_total"], &there[0]["currency"]), (&json!(12_000), &json!("usd")));
        let named = (&there[0]["client_reference_id"], &there[0]["metadata"]["invoiceId"]);
        assert_eq!(named, (&json!(invoice), &json!(invoice)));
        assert_eq!((&pages[0]["success"], &pages[0]["checkoutUrl"]), (&json!(true), &there[0]["url"]));
        app.kill_9();
        app.start().await;
        assert_eq!(session(&ann, &invoice).await, pages[0]["sessionId"], "also after a kill");
        processor.events_travel(DeliveryConditions { twice: true, shuffled: true, ..DeliveryConditions::default() });
        processor.act(pages[0]["sessionId"].as_str().unwrap(), Payer::Pays).unwrap();
        let paid = is(&app, &invoice, "paid").await;
        assert_eq!((paid["payments"].as_array().unwrap().len(), &paid["flags"]), (1, &json!([])));
        assert_eq!(ann.act(&path).await.error(409), "already_paid");
        assert_eq!(processor.balance(&invoice), Balance { took: 12_000, gave_back: 0, payments: 1 });
        let listed = ann.get("/api/v1/payments").await.expect(200);
        assert_eq!((&listed["payments"][0]["invoiceId"], &listed["pagination"]["total"]), (&json!(invoice), &json!(1)));
        assert_eq!(bob.get("/api/v1/payments").await.expect(200)["payments"], json!([]));
    }

    async fn a_refund_goes_through_the_processor_and_makes_a_credit_note(db: Db) {
        let (processor, mut app) = shop(db).await;
        let ann = customer(&app, "ann@example.org").await;
        let invoice = sent(&app, "ann@example.org").await;
        // A part in cash closes the page that asks for more; the next one asks for the rest.
        let first = session(&ann, &invoice).await;
        let cash = json!({"method": "cash", "amountCents": 2_000});
        app.post(&format!("/api/invoices/{invoice}/mark-paid"), &cash).await.expect(200);
        is_closed(&processor, &first).await;
        let second = session(&ann, &invoice).await;
        processor.act(&second, Payer::Pays).unwrap();
        is(&app, &invoice, "paid").await;
        let path = format!("/api/invoices/{invoice}/refund");
        assert_eq!(paths(&app.post(&path, &json!({"amountCents": 10_001})).await.expect(400)), ["amountCents"]);
        processor.events_travel(DeliveryConditions { held: true, ..DeliveryConditions::default() });
        let pending = app.post(&path, &json!({"amountCents": 1_000})).await.expect(200);
        assert_eq!(pending["documents"].as_array().unwrap().len(), 1, "nothing went back yet");
        app.kill_9();
        app.start().await;
        until("the refund", || async {
            let view = show(&app, &invoice).await;
            (view["amountPaidCents"] == 11_000 && view["pendingRefunds"] == json!([])).then_some(())
        })
        .await;
        processor.events_travel(DeliveryConditions { twice: true, shuffled: true, ..DeliveryConditions::default() });
        until("the events", || async { (processor.event_counts().0 == 0).then_some(()) }).await;
        let view = show(&app, &invoice).await;
        assert_eq!((&view["status"], view["documents"].as_array().unwrap().len()), (&json!("paid"), 2), "{view}");
        // Somebody refunds at the processor itself; cash goes back by its payment.
        let intent = processor.all("checkout.session").into_iter().find(|one| one["id"] == second.as_str()).unwrap();
        processor.refund(intent["payment_intent"].as_str().unwrap(), None).unwrap();
        until("the rest", || async { (show(&app, &invoice).await["amountPaidCents"] == 2_000).then_some(()) }).await;
        let in_cash = view["payments"].as_array().unwrap().iter().find(|one| one["method"] == "cash").unwrap();
        app.post(&path, &json!({"paymentId": in_cash["id"]})).await.expect(200);
        let back = is(&app, &invoice, "refunded").await;
        let credited: i64 =
            back["documents"].as_array().unwrap().iter().skip(1).map(|one| one["totalCents"].as_i64().unwrap()).sum();
        assert_eq!(credited, 12_000, "{back}");
        assert_eq!(processor.balance(&invoice), Balance { took: 10_000, gave_back: 10_000, payments: 1 });
        assert_eq!(ann.act(&checkout(&invoice)).await.error(400), "not_payable");
        assert_eq!(app.get("/api/invoices/numbering").await.expect(200)["gapless"], true);
        let listed = app.get(&format!("/api/payments?invoiceId={invoice}")).await.expect(200);
        assert_eq!(listed["pagination"]["total"], 5, "two payments, three refunds: {listed}");
    }

    async fn an_invoice_of_an_order_is_paid_by_its_order(db: Db) {
        let (processor, app) = shop(db).await;
        let ann = customer(&app, "ann@example.org").await;
        let sku = some_sku(&app).await;
        let new = json!({"lines": [{"skuId": sku, "quantity": 1}], "customerEmail": "ann@example.org"});
        let order = id(&app.post("/api/orders", &new).await.expect(201));
        let part = json!({"method": "cash", "amountCents": 250});
        app.post(&format!("/api/orders/{order}/mark-paid"), &part).await.expect(200);
        let invoice = id(&app.get(&format!("/api/invoices?orderId={order}")).await.expect(200)["invoices"][0]);
        let of_order = app.nobody().act(&format!("/api/v1/orders/{order}/checkout")).await.expect(200);
        assert_eq!(ann.act(&checkout(&invoice)).await.expect(200), of_order, "one session");
        processor.act(of_order["sessionId"].as_str().unwrap(), Payer::Pays).unwrap();
        app.order_is(&order, "paid").await;
        is(&app, &invoice, "paid").await;
        assert_eq!(ann.act(&checkout(&invoice)).await.error(409), "already_paid");
        let listed = ann.get("/api/v1/payments?limit=1").await.expect(200);
        let newest = &listed["payments"][0];
        assert_eq!((&newest["orderId"], &newest["invoiceId"]), (&json!(order), &json!(invoice)));
        assert_eq!((&newest["amountCents"], &newest["status"]), (&json!(1_000), &json!("succeeded")));
        assert_eq!((&listed["pagination"]["total"], &listed["pagination"]["hasMore"]), (&json!(2), &json!(true)));
        for query in [format!("orderId={order}"), format!("invoiceId={invoice}"), "customerEmail=Ann@Example.org".to_owned()] {
            let listed = app.get(&format!("/api/payments?{query}")).await.expect(200);
            assert_eq!(listed["pagination"]["total"], 2, "{query}");
        }
        assert_eq!(app.get("/api/payments?customerEmail=eve@example.org").await.expect(200)["payments"], json!([]));
        app.get("/api/payments?misspelt=1").await.expect(400);
    }

    async fn a_pay_link_shows_and_pays_an_invoice_until_it_is_revoked(db: Db) {
        let (processor, mut app) = shop(db).await;
        let invoice = sent(&app, "ann@example.org").await;
        let path = format!("/api/invoices/{invoice}/pay-link");
        assert_eq!(show(&app, &invoice).await["payUrl"], Value::Null);
        let first = pay_token_of(&app, &invoice).await;
        assert!(first.len() > 40, "too long to be guessed: {first}");
        let linked = |token: &str| format!("/api/v1/pay/{token}");
        let page = app.nobody().get(&linked(&first)).await.expect(200);
        assert_eq!((&page["success"], &page["invoice"]["amountDueCents"]), (&json!(true), &json!(12_000)));
        let (name, status) = (&page["invoice"]["customerName"], &page["invoice"]["status"]);
        assert_eq!((name, status), (&json!("Ann Example"), &json!("open")));
        assert!(!page.to_string().contains('@'), "nothing personal but the name: {page}");
        let ann = customer(&app, "ann@example.org").await;
        let own = ann.get(&format!("/api/v1/invoices/{invoice}")).await.expect(200)["invoice"].clone();
        assert!(own["payUrl"].as_str().unwrap().ends_with(&first), "shown again to its owner");
        assert_eq!((own.get("flags"), own.get("pendingRefunds")), (None, None), "what is between the staff");

        let second = pay_token_of(&app, &invoice).await;
        assert_ne!(first, second);
        for (token, status) in [(first.as_str(), 410), ("nonsense", 404), (&second[1..], 404), (NOTHING, 404)] {
            assert_eq!(app.nobody().get(&linked(token)).await.status, status, "{token}");
            assert_eq!(app.nobody().act(&format!("{}/checkout", linked(token))).await.status, status, "{token}");
        }
        app.kill_9();
        app.start().await;
        let checkout_page = app.nobody().act(&format!("{}/checkout", linked(&second))).await.expect(200);
        assert_eq!(ann.act(&checkout(&invoice)).await.expect(200), checkout_page, "the same page as its customer's");
        processor.act(checkout_page["sessionId"].as_str().unwrap(), Payer::Pays).unwrap();
        is(&app, &invoice, "paid").await;
        assert_eq!(app.nobody().act(&format!("{}/checkout", linked(&second))).await.error(409), "already_paid");
        assert_eq!(app.nobody().get(&linked(&second)).await.expect(200)["invoice"]["status"], "paid");
        app.delete(&path).await.expect(204);
        assert_eq!(app.nobody().get(&linked(&second)).await.error(410), "pay_link_gone");
        assert_eq!(show(&app, &invoice).await["payUrl"], Value::Null);
        assert_eq!(app.act(&path).await.error(409), "invalid_transition", "it is paid");
    }

    async fn each_paid_period_of_a_subscription_is_one_invoice(db: Db) {
        let processor = SimPaymentProcessor::start(KEY).await.unwrap();
        let price = processor.add_price("Filament box", 2500, "usd");
        let mut app = knowing(&processor, db)
            .env("PRINTFLOOR_PAYMENTS__SUBSCRIPTION_PRICES", format!("[\"{price}\"]"))
            .start()
            .await;
        tells(&processor, &app);
        // Late, twice and out of order.
        processor.events_travel(DeliveryConditions { twice: true, shuffled: true, ..DeliveryConditions::default() });
        let ann = customer(&app, "ann@example.org").await;
        ann.patch("/api/v1/profile", &json!({"name": "Ann Example"})).await.expect(200);
        let begun = ann.post("/api/v1/subscriptions/checkout", &json!({"priceId": price, "quantity": 2})).await.expect(200);
        processor.act(begun["sessionId"].as_str().unwrap(), Payer::Pays).unwrap();
        let paid = |count: u64| {
            let ann = &ann;
            until_seen("the paid invoices", move || async move {
                let listed = ann.get("/api/v1/invoices?status=paid").await.expect(200);
                if listed["pagination"]["total"] == count { Ok(listed["invoices"].clone()) } else { Err(listed) }
            })
        };
        let first = paid(1).await[0].clone();
        assert_eq!((&first["totalCents"], &first["customerName"]), (&json!(5_000), &json!("Ann Example")));
        let subscription = id(&ann.get("/api/v1/subscriptions").await.expect(200)["subscriptions"][0]);
        processor.renew(&subscription, Renewal::Paid).unwrap();
        paid(2).await;
        app.kill_9();
        app.start().await;
        // A declined card and the end of it make none.
        processor.renew(&subscription, Renewal::Declined).unwrap();
        processor.renew(&subscription, Renewal::Ended).unwrap();
        until("the events", || async { (processor.event_counts().0 == 0).then_some(()) }).await;
        paid(2).await;
        // Its payment is known by the processor's name, so that it can go back.
        let invoice = id(&first);
        until("the payment to be named", || async {
            let named = show(&app, &invoice).await["payments"][0]["reference"].as_str()?.starts_with("pi_");
            named.then_some(())
        })
        .await;
        app.act(&format!("/api/invoices/{invoice}/refund")).await.expect(200);
        is(&app, &invoice, "refunded").await;
        let charges = processor.all("charge");
        let back: i64 = charges.iter().map(|one| one["amount_refunded"].as_i64().unwrap()).sum();
        assert_eq!(back, 5_000);
        assert_eq!(app.get("/api/invoices/numbering").await.expect(200)["gapless"], true);
        until("nothing to wait for", || async {
            (app.get("/api/payments/unmatched").await.expect(200)["payments"] == json!([])).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_page_that_expired_makes_way_for_another_and_wrong_amounts_are_flagged() {
    let (processor, app) = shop(Db::sqlite()).await;
    let ann = customer(&app, "ann@example.org").await;
    let invoice = sent(&app, "ann@example.org").await;
    let first = session(&ann, &invoice).await;
    processor.expire(&first).unwrap();
    let second = session(&ann, &invoice).await;
    assert_ne!(first, second);
    processor.act(&second, Payer::PaysSlowly).unwrap();
    assert_eq!(ann.act(&checkout(&invoice)).await.error(409), "payment_pending");
    processor.settle(&second, false).unwrap();
    // Void with a page that is open closes it.
    until("another page", || async { (ann.act(&checkout(&invoice)).await.status == 200).then_some(()) }).await;
    let third = session(&ann, &invoice).await;
    app.act(&format!("/api/invoices/{invoice}/void")).await.expect(200);
    is_closed(&processor, &third).await;
    assert_eq!(ann.act(&checkout(&invoice)).await.error(400), "not_payable");
    let token = super::pay_token_of(&app, &sent(&app, "ann@example.org").await).await;
    assert_eq!(token.len(), 70);

    // Somebody made a page at the processor by hand, over another amount.
    let other = sent(&app, "ann@example.org").await;
    let body = simulator::payments::SimPayment::new(other.as_str(), 5_000, "usd");
    crate::api::payments::tell(&app, &body, simulator::payments::SimPaymentEvent::Completed, "evt_other").await;
    let view = show(&app, &other).await;
    assert_eq!((&view["status"], &view["flags"]), (&json!("partially_paid"), &json!(["amount_mismatch"])));
    crate::api::payments::tell(
        &app,
        &body,
        simulator::payments::SimPaymentEvent::Refunded { refunded_cents: 5_000 },
        "evt_back",
    )
    .await;
    let view = show(&app, &other).await;
    assert_eq!((&view["status"], &view["flags"]), (&json!("open"), &json!([])));
}

#[tokio::test]
async fn without_a_processor_invoices_are_shown_and_not_paid() {
    let app = App::new(Db::sqlite()).await;
    let ann = customer(&app, "ann@example.org").await;
    let invoice = sent(&app, "ann@example.org").await;
    let token = pay_token_of(&app, &invoice).await;
    app.nobody().get(&format!("/api/v1/pay/{token}")).await.expect(200);
    for answer in [ann.act(&checkout(&invoice)).await, app.nobody().act(&format!("/api/v1/pay/{token}/checkout")).await]
    {
        assert!(answer.header("retry-after").is_some());
        assert_eq!(answer.error(503), "payments_not_configured");
    }
}

#[tokio::test]
async fn pay_links_end_by_their_date_and_are_counted_for_each_address() {
    let clock = Clock::at_full_hour();
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_LIMITS__ORDER_CHECKOUTS_PER_HOUR", 2).clock(&clock).start().await;
    let unsent = draft(&app, "ann@example.org").await;
    assert_eq!(app.act(&format!("/api/invoices/{unsent}/pay-link")).await.error(409), "not_issued");
    let invoice = sent(&app, "ann@example.org").await;
    let path = format!("/api/invoices/{invoice}/pay-link");
    let past = app.post(&path, &json!({"expiresAt": "2020-01-01T00:00:00.000Z"})).await.expect(400);
    assert_eq!(paths(&past), ["expiresAt"]);
    let link = app.post(&path, &json!({"expiresAt": "2099-01-01T00:00:00.000Z"})).await.expect(200);
    assert_eq!(link["payUrlExpiresAt"], "2099-01-01T00:00:00.000Z");
    for _ in 0..2 {
        app.nobody().act("/api/v1/pay/nonsense/checkout").await.error(404);
    }
    let refused = app.nobody().act("/api/v1/pay/nonsense/checkout").await;
    assert!(refused.header("retry-after").is_some());
    assert_eq!(refused.error(429), "rate_limited");
}

#[tokio::test]
async fn a_void_invoice_of_an_order_takes_no_money() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let order = app.order(&sku, 1).await;
    let part = json!({"method": "cash", "amountCents": 250});
    let paid = app.post(&format!("/api/orders/{order}/mark-paid"), &part).await.expect(200);
    let back = json!({"paymentId": paid["payments"][0]["id"]});
    app.post(&format!("/api/orders/{order}/refund"), &back).await.expect(200);
    let invoice = id(&app.get(&format!("/api/invoices?orderId={order}")).await.expect(200)["invoices"][0]);
    is(&app, &invoice, "open").await;
    app.act(&format!("/api/invoices/{invoice}/void")).await.expect(200);
    for act in ["mark-paid", "refund"] {
        let body = if act == "refund" { json!({}) } else { json!({"method": "cash"}) };
        let answer = app.post(&format!("/api/invoices/{invoice}/{act}"), &body).await;
        assert_eq!(answer.error(409), "invalid_transition", "{act}");
    }
    assert_eq!(app.get(&format!("/api/orders/{order}")).await.expect(200)["status"], "created");
}
