//! Customers on the staff's pages: found by search, and shown with everything that belongs to them.

use serde_json::{Value, json};

use super::{OPERATOR, is_sound, operator};
use crate::api::quotes::sent as sent_quote;
use crate::api::some_sku;
use crate::billing::customer;
use crate::billing::intake::submit_request;
use crate::billing::invoices::sent as sent_invoice;
use crate::support::{App, on_sqlite};

const ANN: &str = "ann@example.org";

fn format_cents(cents: &Value) -> String {
    let cents = cents.as_i64().unwrap();
    format!("${}.{:02}", cents / 100, cents % 100)
}

on_sqlite! {
    async fn a_customer_is_found_and_shown_with_orders_invoices_quotes_and_what_they_spent(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let empty = sam.get("/shop/customers").await;
        is_sound(&empty);
        assert!(empty.text.contains("No customers yet"), "{}", empty.text);
        assert!(empty.text.contains("href=\"/shop/orders/new\">New order</a>"), "{}", empty.text);
        let (ann, _) = (customer(&app, ANN).await, customer(&app, "bob@example.org").await);
        let address = json!([{"kind": "shipping", "line1": "1 Main Street", "city": "Springfield", "postalCode": "62701", "country": "US"}]);
        let profile = json!({"name": "<b>Ann</b>", "company": "Example Ltd", "addresses": address});
        ann.patch("/api/v1/profile", &profile).await.expect(200);
        let record = app.get("/api/customers?email=ann@example.org").await.expect(200)["customers"][0].clone();
        let path = format!("/shop/customers/{}", record["id"].as_str().unwrap());
        for (query, is_there) in [("", true), ("?q=ANN@", true), ("?q=bob", false), ("?q=nobody", false)] {
            let list = sam.get(&format!("/shop/customers{query}")).await;
            is_sound(&list);
            assert_eq!(list.text.contains(&format!("href=\"{path}\"")), is_there, "{query}: {}", list.text);
        }
        let alone = sam.get(&path).await;
        is_sound(&alone);
        for words in ["&lt;b&gt;Ann&lt;/b&gt;", "Example Ltd", "1 Main Street, 62701 Springfield, United States", "Nothing yet."] {
            assert!(alone.text.contains(words), "{words} in {}", alone.text);
        }

        let sku = some_sku(&app).await;
        let order = json!({"lines": [{"skuId": sku, "quantity": 2}], "customerEmail": ANN});
        let order = app.post("/api/orders", &order).await.expect(201);
        let order_id = order["id"].as_str().unwrap();
        app.post(&format!("/api/orders/{order_id}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
        let (quote, invoice) = (sent_quote(&app, &sku).await, sent_invoice(&app, ANN).await);
        let request = submit_request(&app).await;
        let part = json!({"method": "bank_transfer", "amountCents": 2000});
        app.post(&format!("/api/invoices/{invoice}/mark-paid"), &part).await.expect(200);
        let back = json!({"amountCents": 500});
        app.post(&format!("/api/invoices/{invoice}/refund"), &back).await.expect(200);
        let page = sam.get(&path).await;
        is_sound(&page);
        for link in [
            format!("/shop/orders/{order_id}"), format!("/shop/quotes/{quote}"), format!("/shop/invoices/{invoice}"),
            format!("/shop/requests/{request}"),
        ] {
            assert!(page.text.contains(&format!("href=\"{link}\"")), "{link} in {}", page.text);
        }
        // What went back is not spent.
        let spent = json!(order["totalCents"].as_i64().unwrap() + 2000 - 500);
        let figure = format!("<p class=\"figure\">{}</p>", format_cents(&spent));
        assert!(page.text.contains(&figure), "{spent} in {}", page.text);
        for words in ["cash", "bank transfer", "refunded, ", order["number"].as_str().unwrap()] {
            assert!(page.text.contains(words), "{words} in {}", page.text);
        }
    }
}
