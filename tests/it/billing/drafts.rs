//! Drafts that are paid late: their contents are validated again, and the invoice names the buyer.

use serde_json::{Value, json};
use simulator::processor::SimPaymentProcessor;

use super::{customer, pay_token_of};
use crate::api::checkout::{KEY, knowing, shop};
use crate::api::some_sku;
use crate::support::client::http;
use crate::support::{App, Client, Db, on_sqlite};

const DRAFT: &str = "/api/v1/orders/draft";

/// Creates a SKU at 12.50 that customers may order.
async fn public_sku(app: &App) -> String {
    let sku = some_sku(app).await;
    app.patch(&format!("/api/skus/{sku}"), &json!({"public": true})).await.expect(200);
    sku
}

async fn drafted(of: &Client, sku: &str) -> String {
    let draft = of.post(DRAFT, &json!({"lines": [{"skuId": sku, "quantity": 2}]})).await.expect(201);
    draft["orderId"].as_str().unwrap().to_owned()
}

fn address(kind: &str, line1: &str) -> Value {
    json!({"kind": kind, "line1": line1, "city": "Ulm", "postalCode": "89073", "country": "DE"})
}

on_sqlite! {
    async fn the_invoice_of_a_draft_names_company_tax_id_and_billing_address(db: Db) {
        let processor = SimPaymentProcessor::start(KEY).await.unwrap();
        let app = knowing(&processor, db)
            .env("PRINTFLOOR_INVOICES__SELLER_VAT_ID", "DE999999999")
            .env("PRINTFLOOR_INVOICES__SELLER_COUNTRY", "DE")
            .start()
            .await;
        let ann = customer(&app, "ann@example.org").await;
        let sku = public_sku(&app).await;
        ann.patch("/api/v1/profile", &json!({"addresses": [address("shipping", "Weg 1")]})).await.expect(200);
        let order = drafted(&ann, &sku).await;
        // The profile is completed after the draft, and before it is paid.
        let profile = json!({
            "company": "Example GmbH", "taxId": "DE123456789",
            "addresses": [address("shipping", "Weg 1"), address("billing", "Platz 2")],
        });
        ann.patch("/api/v1/profile", &profile).await.expect(200);
        ann.act(&format!("/api/v1/orders/{order}/checkout")).await.expect(200);
        app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
        let invoice = app.get(&format!("/api/invoices?orderId={order}")).await.expect(200)["invoices"][0].clone();
        let path = format!("/api/invoices/{}", invoice["id"].as_str().unwrap());
        let invoice = app.get(&path).await.expect(200);
        assert_eq!(
            (&invoice["customerName"], &invoice["customerVatId"], &invoice["billingAddress"]["line1"]),
            (&json!("Example GmbH"), &json!("DE123456789"), &json!("Platz 2")), "{invoice}"
        );
        let document = &invoice["documents"][0];
        let xml = format!("{}{path}/documents/{}/xml", app.base, document["id"].as_str().unwrap());
        let xml = http().get(xml).header("x-api-key", app.key.as_ref().unwrap()).send().await.unwrap().text().await.unwrap();
        assert!(["Example GmbH", "DE123456789", "Platz 2"].iter().all(|words| xml.contains(words)), "{xml}");
    }
}

#[tokio::test]
async fn a_draft_whose_price_changed_or_that_is_no_longer_offered_is_not_paid() {
    let (processor, app) = shop(Db::sqlite()).await;
    let ann = customer(&app, "ann@example.org").await;
    let sku = public_sku(&app).await;
    let order = drafted(&ann, &sku).await;
    let path = format!("/api/v1/orders/{order}/checkout");
    let changed = async |members: Value| drop(app.patch(&format!("/api/skus/{sku}"), &members).await.expect(200));
    changed(json!({"priceCents": 1400})).await;
    let refused = ann.act(&path).await;
    assert!(refused.text.contains("create a new draft"), "{}", refused.text);
    assert_eq!(refused.error(400), "price_changed");
    changed(json!({"priceCents": 1250, "public": false})).await;
    assert_eq!(ann.act(&path).await.error(400), "not_orderable");
    assert!(processor.all("checkout.session").is_empty());
    changed(json!({"public": true})).await;
    ann.act(&path).await.expect(200);
    // What is placed keeps its price.
    changed(json!({"priceCents": 1400})).await;
    ann.act(&path).await.expect(200);
}

#[tokio::test]
async fn a_draft_without_an_address_is_not_paid_where_taxes_differ() {
    let processor = SimPaymentProcessor::start(KEY).await.unwrap();
    let rates = "[{country=\"DE\", bps=1900}]";
    let app = knowing(&processor, Db::sqlite()).env("PRINTFLOOR_TAX__RATES", rates).start().await;
    let ann = customer(&app, "ann@example.org").await;
    let sku = public_sku(&app).await;
    let order = drafted(&ann, &sku).await;
    assert_eq!(ann.act(&format!("/api/v1/orders/{order}/checkout")).await.error(400), "address_required");
    // The profile says where parcels go: the same draft goes there, and is taxed for it.
    ann.patch("/api/v1/profile", &json!({"addresses": [address("shipping", "Weg 1")]})).await.expect(200);
    ann.act(&format!("/api/v1/orders/{order}/checkout")).await.expect(200);
    assert_eq!(processor.all("checkout.session")[0]["amount_total"], 2975);
    let view = app.get(&format!("/api/orders/{order}")).await.expect(200);
    assert_eq!((&view["taxCents"], &view["shippingAddress"]["line1"]), (&json!(475), &json!("Weg 1")), "{view}");
}

#[tokio::test]
async fn where_taxes_differ_what_was_placed_or_paid_in_part_is_paid_without_an_address() {
    let processor = SimPaymentProcessor::start(KEY).await.unwrap();
    let rates = "[{country=\"DE\", bps=1900}]";
    let app = knowing(&processor, Db::sqlite()).env("PRINTFLOOR_TAX__RATES", rates).start().await;
    let ann = customer(&app, "ann@example.org").await;
    let sku = public_sku(&app).await;
    // Placed by the staff, to be fetched.
    let order = app.order(&sku, 1).await;
    app.act(&format!("/api/orders/{order}/checkout")).await.expect(200);
    // A draft of which half was paid by hand has its invoice, and is paid by the link of that.
    let order = drafted(&ann, &sku).await;
    let half = json!({"method": "cash", "amountCents": 1250});
    app.post(&format!("/api/orders/{order}/mark-paid"), &half).await.expect(200);
    let invoice = app.get(&format!("/api/invoices?orderId={order}")).await.expect(200)["invoices"][0]["id"].clone();
    let token = pay_token_of(&app, invoice.as_str().unwrap()).await;
    app.nobody().act(&format!("/api/v1/pay/{token}/checkout")).await.expect(200);
    assert_eq!(processor.all("checkout.session")[0]["amount_total"], 1250, "the newest first");
}
