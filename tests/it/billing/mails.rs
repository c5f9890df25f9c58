//! Emails to customers: as text and as HTML, with their attachments, and never twice.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use simulator::sink::{Sink, SinkMode};

use super::{Mail, customer, mails_to};
use crate::api::{id, some_sku};
use crate::support::waiting::LONG;
use crate::support::{App, Clock, Db, on_sqlite, until};

const BUYER: &str = "buyer@example.org";

/// Places an unpaid order of two units for the buyer, as staff do.
async fn ordered(app: &App) -> String {
    let sku = some_sku(app).await;
    app.patch(&format!("/api/skus/{sku}"), &json!({"name": "Vase <b>tall</b> & co"})).await.expect(200);
    let order = json!({"lines": [{"skuId": sku, "quantity": 2}], "customerEmail": BUYER});
    id(&app.post("/api/orders", &order).await.expect(201))
}

async fn pay(app: &App, order: &str, body: &Value) {
    app.post(&format!("/api/orders/{order}/mark-paid"), body).await.expect(200);
}

async fn receipts(app: &App) -> Vec<Mail> {
    until("all mails to be sent", || async {
        app.get("/metrics").await.text.lines().any(|line| line == "printfloor_mails_pending 0").then_some(())
    })
    .await;
    let mut mails = mails_to(app, BUYER);
    mails.retain(|mail| mail.subject.starts_with("Receipt"));
    mails
}

async fn invoice_of(app: &App, order: &str) -> Value {
    let list = app.get(&format!("/api/invoices?orderId={order}")).await.expect(200);
    list["invoices"][0].clone()
}

/// Downloads a PDF as staff do.
async fn pdf(app: &App, invoice: &str) -> Vec<u8> {
    let answer = app.open(app.request("GET", &format!("/api/invoices/{invoice}/pdf"))).await;
    assert_eq!(answer.status().as_u16(), 200);
    answer.bytes().await.unwrap().to_vec()
}

on_sqlite! {
    async fn a_paid_order_brings_a_receipt_with_the_invoice_as_pdf(db: Db) {
        let app = App::new(db).await;
        let order = ordered(&app).await;
        pay(&app, &order, &json!({"method": "cash", "amountCents": 100})).await;
        assert!(receipts(&app).await.is_empty(), "it is not paid in full");
        pay(&app, &order, &json!({"method": "cash"})).await;
        until("the receipt", || async { mails_to(&app, BUYER).pop() }).await;
        let [mail] = &receipts(&app).await[..] else { panic!("one receipt") };
        let view = app.get(&format!("/api/orders/{order}")).await.expect(200);
        let invoice = invoice_of(&app, &order).await;
        let (number, id) = (invoice["number"].as_str().unwrap(), invoice["id"].as_str().unwrap());
        assert_eq!(mail.subject, format!("Receipt for order {}", view["number"].as_str().unwrap()));
        let link = format!("/invoices/{id}");
        for words in ["2 x Vase <b>tall</b> & co: $25.00", "Total: $25.00", "Paid: $25.00", &link, number] {
            assert!(mail.text.contains(words), "{words} in {}", mail.text);
        }
        for words in ["Vase &lt;b&gt;tall&lt;/b&gt; &amp; co", &format!("{link}\""), number] {
            assert!(mail.html.contains(words), "{words} in {}", mail.html);
        }
        let [(name, bytes)] = &mail.files[..] else { panic!("{:?}", mail.files) };
        assert_eq!(*name, format!("{number}.pdf"));
        assert!(bytes.starts_with(b"%PDF-") && *bytes == pdf(&app, id).await, "the PDF that the shop has");
        // The link leads whoever is not signed in to where they sign in, and then to the invoice.
        let stranger = app.nobody().get(&format!("/invoices/{id}")).await;
        assert_eq!((stranger.status, stranger.header("location")), (303, Some(&*format!("/sign-in?next=%2Finvoices%2F{id}"))));
        let buyer = customer(&app, BUYER).await;
        assert!(buyer.get(&format!("/invoices/{id}")).await.text.contains(number));
    }

    async fn an_invoice_by_hand_brings_a_receipt_once_it_is_paid(db: Db) {
        let app = App::new(db).await;
        let new = json!({
            "customerName": "Ann Example", "customerEmail": BUYER,
            "lineItems": [{"description": "Design, one hour", "quantity": 2, "unitPriceCents": 6000}],
        });
        let invoice = id(&app.post("/api/invoices", &new).await.expect(201));
        app.act(&format!("/api/invoices/{invoice}/send")).await.expect(200);
        assert!(receipts(&app).await.is_empty());
        let all = until("the invoice", || async { Some(mails_to(&app, BUYER)).filter(|all| !all.is_empty()) }).await;
        let [mail] = &all[..] else { panic!("one mail") };
        assert_eq!((mail.subject.as_str(), mail.files.len()), ("Your invoice", 1));
        for words in ["Payment is due by ", "Amount due: $120.00", "Invoice: INV-", &format!("/invoices/{invoice}")] {
            assert!(mail.text.contains(words), "{words} in {}", mail.text);
        }
        let paid = format!("/api/invoices/{invoice}/mark-paid");
        app.post(&paid, &json!({"method": "cash", "amountCents": 2000})).await.expect(200);
        assert!(receipts(&app).await.is_empty());
        app.post(&paid, &json!({"method": "cash"})).await.expect(200);
        let all = until("a receipt", || async { Some(receipts(&app).await).filter(|all| !all.is_empty()) }).await;
        let [mail] = &all[..] else { panic!("one receipt") };
        assert_eq!(mail.subject, "Receipt for your payment");
        assert!(mail.text.contains("2 x Design, one hour: $120.00"), "{}", mail.text);
        assert_eq!(mail.files.len(), 1);
        app.post(&format!("/api/invoices/{invoice}/refund"), &json!({"amountCents": 100})).await.expect(200);
        assert_eq!(receipts(&app).await.len(), 1, "money that goes back brings none");
    }

    async fn mails_follow_the_customers_language_and_links_the_browsers(db: Db) {
        let app = App::new(db).await;
        let buyer = customer(&app, BUYER).await;
        buyer.patch("/api/v1/profile", &json!({"locale": "de-AT"})).await.expect(200);
        let order = ordered(&app).await;
        pay(&app, &order, &json!({"method": "cash"})).await;
        let receipt = until("the receipt", || async {
            mails_to(&app, BUYER).into_iter().find(|mail| mail.subject.starts_with("Zahlungsbestätigung zu"))
        })
        .await;
        for words in ["Vielen Dank für Ihre Zahlung!", "Gesamtbetrag: 25,00 USD", "Bezahlt: 25,00 USD", "Rechnung: INV-"] {
            assert!(receipt.text.contains(words), "{words} in {}", receipt.text);
        }
        assert!(receipt.html.contains("<html lang=\"de\">"), "{}", receipt.html);
        let nobody = app.nobody();
        let ask = nobody.request("POST", "/api/v1/auth/magic-link").json(&json!({"email": BUYER}));
        let answer = nobody.send(ask.header("accept-language", "de-DE,de;q=0.9,en;q=0.8")).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        until("the link", || async {
            mails_to(&app, BUYER).into_iter().find(|mail| mail.subject == "Ihr Anmeldelink")
        })
        .await;
    }
}

#[tokio::test]
async fn without_pdfs_a_receipt_names_its_invoice_and_without_receipts_there_is_none() {
    for (setting, count) in [("PRINTFLOOR_PDF__ENABLED", 1), ("PRINTFLOOR_MAIL__RECEIPTS", 0)] {
        let app = App::on(Db::sqlite()).env(setting, "false").start().await;
        let order = ordered(&app).await;
        pay(&app, &order, &json!({"method": "cash"})).await;
        until("the invoice to be paid", || async {
            (invoice_of(&app, &order).await["status"] == "paid").then_some(())
        })
        .await;
        // A mail that a commit creates is counted as pending a moment later.
        let mails = until("a receipt", || async { Some(receipts(&app).await).filter(|all| all.len() >= count) }).await;
        assert_eq!(mails.len(), count, "{setting}");
        for mail in mails {
            let number = invoice_of(&app, &order).await["number"].as_str().unwrap().to_owned();
            assert!(mail.files.is_empty() && mail.text.contains(&number), "{mail:?}");
        }
    }
}

#[tokio::test]
async fn a_mail_service_gets_text_html_and_what_is_enclosed() {
    let post = Sink::start().await.unwrap();
    let app =
        App::on(Db::sqlite()).env("EMAIL_API_KEY", "key").env("PRINTFLOOR_MAIL__API_URL", post.url()).start().await;
    let order = ordered(&app).await;
    pay(&app, &order, &json!({"method": "cash"})).await;
    post.wait_until(|all| !all.is_empty(), LONG).await.expect("the receipt");
    let sent = post.received()[0].json();
    let invoice = invoice_of(&app, &order).await;
    assert_eq!(sent["to"], json!([BUYER]));
    assert!(sent["text"].as_str().unwrap().contains("Vase <b>tall</b>"), "{sent}");
    assert!(sent["html"].as_str().unwrap().contains("Vase &lt;b&gt;tall&lt;/b&gt;"), "{sent}");
    let [file] = &sent["attachments"].as_array().unwrap()[..] else { panic!("{sent}") };
    assert_eq!(file["filename"], format!("{}.pdf", invoice["number"].as_str().unwrap()));
    let bytes = BASE64_STANDARD.decode(file["content"].as_str().unwrap()).unwrap();
    assert!(bytes == pdf(&app, invoice["id"].as_str().unwrap()).await);
}

#[tokio::test]
async fn alerts_have_the_frame_of_all_mails() {
    let app = App::on(Db::sqlite())
        .env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org")
        .env("PRINTFLOOR_INVOICES__SELLER_NAME", "Ada & Sons")
        .start()
        .await;
    let material = json!({
        "name": "PLA <red>", "type": "filament", "color": "#ff0000", "brand": "Acme", "quantity": 5, "unit": "g",
        "reorderPoint": 10, "reorderQuantity": 1000,
    });
    app.post("/api/inventory/materials", &material).await.expect(201);
    let mail = until("the alert", || async { mails_to(&app, "ops@example.org").pop() }).await;
    assert!(mail.subject.starts_with("Low stock: PLA <red>"), "{mail:?}");
    assert!(mail.text.contains("Ada & Sons") && mail.text.contains("Add stock: http"), "{}", mail.text);
    for words in
        ["PLA &lt;red&gt;", "Ada &amp; Sons", "You received this email because you manage", "/docs/#/Materials/"]
    {
        assert!(mail.html.contains(words), "{words} in {}", mail.html);
    }
}

#[tokio::test]
async fn a_link_that_became_too_old_while_the_server_was_down_is_not_mailed() {
    const ELEVEN_MINUTES_MS: i64 = 660_000;
    let (clock, post) = (Clock::new(), Sink::start().await.unwrap());
    post.set_mode(SinkMode::Status(503));
    let mut app = App::on(Db::sqlite())
        .env("EMAIL_API_KEY", "key")
        .env("PRINTFLOOR_MAIL__API_URL", post.url())
        .clock(&clock)
        .start()
        .await;
    app.nobody().post("/api/v1/auth/magic-link", &json!({"email": BUYER})).await.expect(200);
    post.wait_until(|all| !all.is_empty(), LONG).await.expect("a try");
    app.kill_9();
    post.set_mode(SinkMode::Ok);
    clock.set(ELEVEN_MINUTES_MS);
    app.start().await;
    receipts(&app).await;
    assert_eq!(post.received().len(), 1, "it would help nobody");
}
