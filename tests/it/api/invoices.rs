//! Invoices and credit notes over HTTP: gapless numbers, invoices of orders, PDF and XML.

mod bucket;
mod numbers;
mod papers;
mod seller;

use serde_json::{Value, json};
use simulator::payments::{SimPayment, SimPaymentEvent as E};

use super::payments::tell;
use super::{NOTHING, id, paths, some_sku};
use crate::support::{App, Client, Db, on_sqlite, until};

/// Drafts an invoice over this net amount; returns its id.
pub async fn draft(app: &Client, cents: i64) -> String {
    let new = json!({
        "customerName": "Ann Example", "customerEmail": "Ann@Example.org",
        "lineItems": [{"description": "Design, one hour", "quantity": 1, "unitPriceCents": cents, "taxRateBps": 1900}],
    });
    id(&app.post("/api/invoices", &new).await.expect(201))
}

pub async fn show(app: &Client, invoice: &str) -> Value {
    app.get(&format!("/api/invoices/{invoice}")).await.expect(200)
}

async fn act(app: &Client, invoice: &str, what: &str, body: Value) -> Value {
    app.post(&format!("/api/invoices/{invoice}/{what}"), &body).await.expect(200)
}

/// Lists the invoices of an order, newest first.
async fn of_order(app: &App, order: &str) -> Vec<Value> {
    app.get(&format!("/api/invoices?orderId={order}")).await.expect(200)["invoices"].as_array().unwrap().clone()
}

fn kinds(invoice: &Value) -> Vec<(String, i64)> {
    let document = |one: &Value| (one["kind"].as_str().unwrap().to_owned(), one["totalCents"].as_i64().unwrap());
    invoice["documents"].as_array().unwrap().iter().map(document).collect()
}

on_sqlite! {
    async fn a_draft_is_sent_paid_and_given_back(db: Db) {
        let mut app = App::new(db).await;
        let invoice = draft(&app, 10_000).await;
        let body = show(&app, &invoice).await;
        assert_eq!((&body["status"], &body["number"], &body["totalCents"]), (&json!("draft"), &Value::Null, &json!(11_900)));
        assert_eq!(app.get(&format!("/api/invoices/{invoice}/pdf")).await.error(409), "not_issued");
        app.patch(&format!("/api/invoices/{invoice}"), &json!({"discountCents": 1_000})).await.expect(200);
        let sent = act(&app, &invoice, "send", json!({})).await;
        let number = sent["number"].as_str().unwrap().to_owned();
        assert!(number.starts_with("INV-20") && number.ends_with("-000001"), "{number}");
        assert_eq!((&sent["status"], &sent["amountDueCents"]), (&json!("open"), &json!(10_710)));
        let change = app.patch(&format!("/api/invoices/{invoice}"), &json!({"notes": "x"})).await;
        assert_eq!(change.error(409), "invalid_transition");
        let part = act(&app, &invoice, "mark-paid", json!({"method": "cash", "amountCents": 710})).await;
        assert_eq!((&part["status"], &part["amountDueCents"]), (&json!("partially_paid"), &json!(10_000)));
        let void = app.act(&format!("/api/invoices/{invoice}/void")).await;
        assert_eq!(void.error(409), "invoice_has_payments");
        let paid = act(&app, &invoice, "mark-paid", json!({"method": "cash"})).await;
        assert_eq!((&paid["status"], &paid["amountPaidCents"]), (&json!("paid"), &json!(10_710)));
        let back = act(&app, &invoice, "refund", json!({"amountCents": 333})).await;
        assert_eq!(kinds(&back), [("invoice".to_owned(), 10_710), ("credit_note".to_owned(), 333)]);
        app.kill_9();
        app.start().await;
        let body = show(&app, &invoice).await;
        assert_eq!(body["number"], number.as_str(), "a number never changes");
        let note = body["documents"][1]["number"].as_str().unwrap();
        assert!(note.starts_with("CN-20") && note.ends_with("-000001"), "credit notes have a series of their own: {note}");
        for _ in 0..2 {
            act(&app, &invoice, "refund", json!({})).await;
        }
        let body = show(&app, &invoice).await;
        assert_eq!((&body["status"], body["documents"].as_array().unwrap().len()), (&json!("refunded"), 4));
        assert_eq!(app.act(&format!("/api/invoices/{invoice}/refund")).await.error(409), "nothing_to_refund");
    }

    async fn an_order_gets_its_invoice_with_its_first_payment_and_the_invoice_follows(db: Db) {
        let mut app = App::new(db).await;
        let sku = some_sku(&app).await;
        let order = app.order(&sku, 1).await;
        assert!(of_order(&app, &order).await.is_empty(), "nothing was paid");
        let pay = format!("/api/orders/{order}/mark-paid");
        app.post(&pay, &json!({"method": "cash", "amountCents": 250})).await.expect(200);
        let invoices = of_order(&app, &order).await;
        assert_eq!(invoices.len(), 1, "it is there when the payment is answered");
        let invoice = id(&invoices[0]);
        assert_eq!((&invoices[0]["status"], &invoices[0]["amountDueCents"]), (&json!("partially_paid"), &json!(1_000)));
        // Recorded on the invoice, it is recorded on the order.
        let paid = act(&app, &invoice, "mark-paid", json!({"method": "cash"})).await;
        assert_eq!(paid["status"], "paid");
        assert_eq!(app.get(&format!("/api/orders/{order}")).await.expect(200)["status"], "paid");
        app.kill_9();
        app.start().await;
        // The card is charged too late: a surplus, which goes back without a credit note.
        let late = SimPayment::new(order.as_str(), 1250, "usd");
        tell(&app, &late, E::Completed, "evt_1").await;
        tell(&app, &late, E::Refunded { refunded_cents: 1250 }, "evt_2").await;
        until("the invoice to hear of it", || async {
            let body = show(&app, &invoice).await;
            (body["payments"].as_array().unwrap().len() == 4).then(|| assert_eq!(kinds(&body).len(), 1, "{body}"))
        })
        .await;
        let first = show(&app, &invoice).await["payments"][0]["id"].clone();
        let back = act(&app, &invoice, "refund", json!({"paymentId": first})).await;
        assert_eq!(kinds(&back)[1..], [("credit_note".to_owned(), 250)]);
        let body = app.get(&format!("/api/orders/{order}")).await.expect(200);
        let second = body["payments"][1]["id"].clone();
        app.post(&format!("/api/orders/{order}/refund"), &json!({"paymentId": second})).await.expect(200);
        until("the invoice to be refunded", || async {
            let body = show(&app, &invoice).await;
            (body["status"] == "refunded").then(|| assert_eq!(kinds(&body)[2], ("credit_note".to_owned(), 1_000)))
        })
        .await;
        assert_eq!(of_order(&app, &order).await.len(), 1);
    }
}

#[tokio::test]
async fn what_is_wrong_is_refused_and_lists_are_filtered() {
    let app = App::new(Db::sqlite()).await;
    let empty = app.post("/api/invoices", &json!({})).await.expect(400);
    assert_eq!(paths(&empty), ["customerName", "lineItems"]);
    let line = |cents: i64| json!({"description": "x", "quantity": 1, "unitPriceCents": cents});
    let large = json!({"customerName": "A", "lineItems": [line(5)], "discountCents": 6});
    assert_eq!(paths(&app.post("/api/invoices", &large).await.expect(400)), ["discountCents"]);
    assert_eq!(app.get(&format!("/api/invoices/{NOTHING}")).await.error(404), "invoice_not_found");
    assert_eq!(app.get(&format!("/api/invoices/{NOTHING}/pdf")).await.error(404), "invoice_not_found");
    assert_eq!(app.get("/documents/0123/INV-2026-000001.pdf").await.error(404), "document_not_found");

    let (open, late, void) = (draft(&app, 1).await, draft(&app, 2).await, draft(&app, 3).await);
    app.patch(&format!("/api/invoices/{late}"), &json!({"dueAt": "2020-01-01T00:00:00.000Z"})).await.expect(200);
    for invoice in [&open, &late] {
        act(&app, invoice, "send", json!({})).await;
    }
    act(&app, &void, "void", json!({})).await;
    for (status, which) in [("open", &open), ("overdue", &late), ("void", &void)] {
        let list = app.get(&format!("/api/invoices?status={status}&customerEmail=ann@example.org")).await.expect(200);
        assert_eq!(
            (list["pagination"]["total"].as_i64(), id(&list["invoices"][0])),
            (Some(1), which.clone()),
            "{status}"
        );
        assert_eq!(list["invoices"][0]["status"], status);
    }
    // Voided before anything was paid: a credit note over the whole.
    let taken_back = act(&app, &late, "void", json!({})).await;
    assert_eq!((&taken_back["status"], kinds(&taken_back).len()), (&json!("void"), 2));
    let numbering = app.get("/api/invoices/numbering").await.expect(200);
    assert_eq!(numbering["gapless"], true, "{numbering}");
}
