//! A customer's invoices: only their own, without drafts, as PDF at a predictable URL.

use serde_json::{Value, json};

use super::customer;
use crate::api::{id, some_sku};
use crate::support::client::http;
use crate::support::{App, Db, on_sqlite};

/// Drafts an invoice to this customer; returns its id.
pub async fn draft(app: &App, email: &str) -> String {
    let new = json!({
        "customerName": "Ann Example", "customerEmail": email,
        "lineItems": [{"description": "Design, one hour", "quantity": 2, "unitPriceCents": 6000}],
    });
    id(&app.post("/api/invoices", &new).await.expect(201))
}

/// Drafts an invoice to this customer and sends it.
pub async fn sent(app: &App, email: &str) -> String {
    let invoice = draft(app, email).await;
    app.act(&format!("/api/invoices/{invoice}/send")).await.expect(200);
    invoice
}

on_sqlite! {
    async fn customers_see_their_own_invoices_and_no_drafts(db: Db) {
        let app = App::new(db).await;
        let ann = customer(&app, "ann@example.org").await;
        let (own, foreign) = (sent(&app, "Ann@Example.org").await, sent(&app, "bob@example.org").await);
        let unsent = draft(&app, "ann@example.org").await;
        let sku = some_sku(&app).await;
        let order = json!({"lines": [{"skuId": sku, "quantity": 1}], "customerEmail": "ann@example.org"});
        let order = id(&app.post("/api/orders", &order).await.expect(201));
        app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
        let list = ann.get("/api/v1/invoices?unknown=1").await.expect(200);
        assert_eq!((&list["success"], &list["pagination"]["total"]), (&json!(true), &json!(2)), "{list}");
        assert_eq!((&list["invoices"][0]["orderId"], &list["invoices"][0]["status"]), (&json!(order), &json!("paid")));
        for (query, total) in [("status=open", 1), ("status=paid", 1), ("status=draft", 0), ("limit=1&offset=1", 2)] {
            let list = ann.get(&format!("/api/v1/invoices?{query}")).await.expect(200);
            assert_eq!(list["pagination"]["total"], total, "{query}");
        }
        for wrong in ["limit=101", "limit=0", "offset=-1", "status=nonsense"] {
            assert_eq!(ann.get(&format!("/api/v1/invoices?{wrong}")).await.status, 400, "{wrong}");
        }
        let invoice = ann.get(&format!("/api/v1/invoices/{own}")).await.expect(200)["invoice"].clone();
        assert_eq!((&invoice["totalCents"], &invoice["lineItems"][0]["amountCents"]), (&json!(12_000), &json!(12_000)));
        for other in [&foreign, &unsent] {
            assert_eq!(ann.get(&format!("/api/v1/invoices/{other}")).await.error(404), "invoice_not_found");
        }
        for (other, status) in [(&foreign, 403), (&unsent, 404)] {
            assert_eq!(ann.get(&format!("/api/v1/invoices/{other}/pdf")).await.status, status);
            assert_eq!(ann.act(&format!("/api/v1/invoices/{other}/pdf")).await.status, status);
        }
    }
}

#[tokio::test]
async fn a_pdf_is_where_it_was_expected_and_a_changed_invoice_has_none() {
    let app = App::new(Db::sqlite()).await;
    let ann = customer(&app, "ann@example.org").await;
    let invoice = sent(&app, "ann@example.org").await;
    let path = format!("/api/v1/invoices/{invoice}/pdf");
    let before = ann.get(&path).await.expect(200);
    assert_eq!((&before["pdfUrl"], &before["cached"]), (&json!(""), &json!(false)));
    let expected = before["expectedUrl"].as_str().unwrap().to_owned();
    assert_eq!(http().get(&expected).send().await.unwrap().status().as_u16(), 404, "not there yet");
    let request = ann.request("POST", &path).body("");
    let answer = ann.send(request).await.expect(200);
    assert_eq!(answer, json!({"success": true, "pdfUrl": expected}));
    let after = ann.get(&path).await.expect(200);
    assert_eq!(
        (&after["pdfUrl"], &after["cached"], &after["expectedUrl"]),
        (&json!(expected), &json!(true), &Value::Null)
    );
    let first = http().get(&expected).send().await.unwrap().bytes().await.unwrap();
    assert!(first.starts_with(b"%PDF-"), "anybody who has the address reads it");
    ann.act(&path).await.expect(200);
    let again = http().get(&expected).send().await.unwrap().bytes().await.unwrap();
    assert!(first == again, "the same bytes");
    app.post(&format!("/api/invoices/{invoice}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    let changed = ann.get(&path).await.expect(200);
    assert_eq!((&changed["pdfUrl"], &changed["cached"]), (&json!(""), &json!(false)), "it shows what was paid");
    assert_ne!(changed["expectedUrl"], json!(expected));
}

#[tokio::test]
async fn a_customer_gets_their_credit_note_and_no_notes_of_operators() {
    let app = App::new(Db::sqlite()).await;
    let (ann, bob) = (customer(&app, "ann@example.org").await, customer(&app, "bob@example.org").await);
    let invoice = sent(&app, "ann@example.org").await;
    let paid = json!({"method": "cash", "reference": "drawer 7"});
    let staff = app.post(&format!("/api/invoices/{invoice}/mark-paid"), &paid).await.expect(200);
    assert_eq!(staff["payments"][0]["reference"], "drawer 7");
    app.post(&format!("/api/invoices/{invoice}/refund"), &json!({"amountCents": 1_000})).await.expect(200);
    let view = ann.get(&format!("/api/v1/invoices/{invoice}")).await.expect(200)["invoice"].clone();
    for payment in view["payments"].as_array().unwrap() {
        assert_eq!(payment["reference"], Value::Null, "{payment}");
    }
    let note = view["documents"].as_array().unwrap().iter().find(|one| one["kind"] == "credit_note").unwrap();
    let path = format!("/api/v1/invoices/{invoice}/pdf?document={}", note["id"].as_str().unwrap());
    let before = ann.get(&path).await.expect(200);
    let url = before["expectedUrl"].as_str().unwrap();
    assert!(url.ends_with(&format!("{}.pdf", note["number"].as_str().unwrap())), "{url}");
    assert_eq!(ann.act(&path).await.expect(200)["pdfUrl"], url);
    assert_eq!(ann.get(&path).await.expect(200)["cached"], true);
    assert_eq!(bob.get(&path).await.status, 403);
    // That of another invoice is none of this one.
    let other = sent(&app, "ann@example.org").await;
    let path = path.replace(&invoice, &other);
    assert_eq!(ann.get(&path).await.error(404), "document_not_found");
}

#[tokio::test]
async fn without_pdfs_reading_goes_on_and_making_is_unavailable() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_PDF__ENABLED", "false").start().await;
    let ann = customer(&app, "ann@example.org").await;
    let invoice = sent(&app, "ann@example.org").await;
    let path = format!("/api/v1/invoices/{invoice}/pdf");
    assert_eq!(ann.get(&path).await.expect(200)["cached"], false);
    let refused = ann.act(&path).await;
    let wait: u32 = refused.header("retry-after").expect("when to come again").parse().unwrap();
    assert!(wait > 0, "{wait}");
    assert_eq!(refused.error(503), "pdf_not_configured");
}
