//! Quotes over HTTP: drafted, priced from models, sent, accepted, and turned into orders at exactly the same prices.

pub mod models;

use serde_json::{Value, json};

use super::{NOTHING, id, paths, some_sku};
use crate::billing::{customer, mails_to};
use crate::support::{App, Client, Db, on_sqlite, until};

/// Drafts a quote for Ann: two of a SKU at 18.50, and an hour of design.
pub async fn draft(app: &Client, sku: &str) -> String {
    let new = json!({
        "customerEmail": "Ann@Example.org",
        "lines": [
            {"description": "Bracket in PETG", "quantity": 2, "unitPriceCents": 1850, "skuId": sku},
            {"description": "Design, one hour", "quantity": 1, "unitPriceCents": 6000, "printed": false},
        ],
    });
    id(&app.post("/api/quotes", &new).await.expect(201))
}

/// Drafts a quote for Ann and sends it.
pub async fn sent(app: &Client, sku: &str) -> String {
    let quote = draft(app, sku).await;
    app.act(&format!("/api/quotes/{quote}/send")).await.expect(200);
    quote
}

pub async fn show(app: &Client, quote: &str) -> Value {
    app.get(&format!("/api/quotes/{quote}")).await.expect(200)
}

on_sqlite! {
    async fn an_accepted_quote_is_an_order_at_its_prices_whatever_changes_meanwhile(db: Db) {
        let mut app = App::on(db)
            .env("PRINTFLOOR_TAX__RATES", "[{country=\"US\", bps=1000}]")
            .env("PRINTFLOOR_SHIPPING__FLAT_CENTS", 300)
            .start()
            .await;
        let sku = some_sku(&app).await;
        let quote = draft(&app, &sku).await;
        let path = format!("/api/quotes/{quote}");
        let body = show(&app, &quote).await;
        assert_eq!((&body["status"], &body["customerEmail"]), (&json!("draft"), &json!("ann@example.org")), "{body}");
        assert!(body["number"].as_str().unwrap().starts_with("QUO-0000"), "{body}");
        let address = json!({"line1": "1 Main Street", "city": "Springfield", "postalCode": "62701", "country": "US"});
        let changed = app.patch(&path, &json!({"shippingAddress": address, "notes": "In black."})).await.expect(200);
        assert_eq!((&changed["subtotalCents"], &changed["taxCents"], &changed["totalCents"]), (&json!(9700), &json!(1000), &json!(11_000)));
        let stale = app.send(app.request("PATCH", &path).header("If-Match", "\"1\"").json(&json!({"notes": null}))).await;
        assert_eq!(stale.error(412), "stale_version");
        app.act(&format!("{path}/send")).await.expect(200);
        assert_eq!(app.patch(&path, &json!({"notes": null})).await.error(409), "invalid_transition");
        assert_eq!(app.delete(&path).await.error(409), "invalid_transition");
        let mail = until("the quote to be mailed", || async { mails_to(&app, "ann@example.org").pop() }).await;
        assert!(mail.subject.contains("QUO-") && mail.text.contains("$110.00"), "{} {}", mail.subject, mail.text);

        // What was offered cannot be deleted, and neither the SKU's price nor the settings count any more.
        assert_eq!(app.delete(&format!("/api/skus/{sku}")).await.error(409), "sku_in_use");
        app.patch(&format!("/api/skus/{sku}"), &json!({"priceCents": 99})).await.expect(200);
        app.stop().await;
        app.set_env("PRINTFLOOR_SHIPPING__FLAT_CENTS", "999");
        app.set_env("PRINTFLOOR_TAX__RATES", "[{country=\"US\", bps=2000}]");
        app.start().await;
        let ann = customer(&app, "ann@example.org").await;
        let accepted = ann.act(&format!("/api/v1/quotes/{quote}/accept")).await.expect(200)["quote"].clone();
        let order = accepted["orderId"].as_str().unwrap().to_owned();
        assert_eq!(accepted["status"], "accepted");
        let order_body = app.get(&format!("/api/orders/{order}")).await.expect(200);
        for member in ["subtotalCents", "shippingCents", "taxCents", "totalCents", "currency", "notes"] {
            assert_eq!(order_body[member], changed[member], "{member}");
        }
        assert_eq!((&order_body["kind"], &order_body["status"], &order_body["customerEmail"]), (&json!("custom"), &json!("created"), &json!("ann@example.org")));
        assert_eq!((&order_body["lines"][0]["skuId"], &order_body["lines"][1]["skuId"]), (&json!(sku), &Value::Null));
        assert_eq!(order_body["lines"][0]["unitPriceCents"], 1850);
        let own = ann.get(&format!("/api/v1/orders/{order}")).await.expect(200);
        assert_eq!((&own["order"]["kind"], &own["order"]["totalCents"]), (&json!("custom"), &json!(11_000)));

        // It is paid, invoiced and made like any other; of the design nothing is printed.
        app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
        assert_eq!(app.jobs(&order).await.len(), 2);
        let invoice = app.get(&format!("/api/invoices?orderId={order}")).await.expect(200)["invoices"][0].clone();
        assert_eq!((&invoice["totalCents"], &invoice["amountDueCents"]), (&json!(11_000), &json!(0)));
        assert_eq!(app.get(&format!("/api/quotes?orderId={order}")).await.expect(200)["quotes"][0]["id"], json!(quote));
        app.kill_9();
        app.start().await;
        assert_eq!(show(&app, &quote).await["orderId"], json!(order));
    }
}

#[tokio::test]
async fn what_is_wrong_is_refused_and_lists_are_filtered() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let line = |more: Value| {
        let mut line = json!({"description": "x", "quantity": 1, "unitPriceCents": 5});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    for (lines, faults) in [
        (json!([]), &["lines"][..]),
        (
            json!([line(json!({"quantity": 0})), line(json!({"unitPriceCents": -1}))]),
            &["lines.0.quantity", "lines.1.unitPriceCents"],
        ),
        (
            json!([line(json!({"skuId": NOTHING})), line(json!({"modelFileId": NOTHING}))]),
            &["lines.0.skuId", "lines.1.modelFileId"],
        ),
        (json!([{"quantity": 1}]), &["lines.0.description"]),
    ] {
        let refused = app.post("/api/quotes", &json!({"lines": lines})).await.expect(400);
        assert_eq!(paths(&refused), faults, "{refused}");
    }
    // The SKU says what it is and what it costs.
    let plain = json!({"lines": [{"quantity": 3, "skuId": sku}]});
    let named = app.post("/api/quotes", &plain).await.expect(201);
    let price = app.get(&format!("/api/skus/{sku}")).await.expect(200);
    assert_eq!(
        (&named["lines"][0]["description"], &named["lines"][0]["unitPriceCents"]),
        (&price["name"], &price["priceCents"])
    );
    let refused = app.act(&format!("/api/quotes/{}/send", id(&named))).await.expect(400);
    assert_eq!(paths(&refused), ["customerEmail"]);
    let unmade = json!({"customerEmail": "a@example.org", "lines": [line(json!({}))]});
    let unmade = id(&app.post("/api/quotes", &unmade).await.expect(201));
    assert_eq!(paths(&app.act(&format!("/api/quotes/{unmade}/send")).await.expect(400)), ["lines.0.skuId"]);
    app.delete(&format!("/api/quotes/{unmade}")).await.expect(204);
    assert_eq!(app.get(&format!("/api/quotes/{unmade}")).await.error(404), "quote_not_found");

    let (open, withdrawn) = (sent(&app, &sku).await, sent(&app, &sku).await);
    let declined =
        app.post(&format!("/api/quotes/{withdrawn}/decline"), &json!({"reason": "no time"})).await.expect(200);
    assert_eq!((&declined["status"], &declined["declinedReason"]), (&json!("declined"), &json!("no time")));
    for (query, total) in [
        ("status=draft", 1),
        ("status=sent", 1),
        ("status=declined", 1),
        ("status=expired", 0),
        ("customerEmail=ann@example.org", 2),
        ("limit=1", 3),
    ] {
        let list = app.get(&format!("/api/quotes?{query}")).await.expect(200);
        assert_eq!(list["pagination"]["total"], total, "{query}: {list}");
    }
    assert_eq!(app.get("/api/quotes?status=sent").await.expect(200)["quotes"][0]["id"], json!(open));
    assert_eq!(app.get("/api/quotes?status=gone").await.status, 400);
    // What was offered stays while the customer may accept it.
    assert_eq!(app.delete(&format!("/api/skus/{sku}")).await.error(409), "sku_in_use");
    app.post(&format!("/api/quotes/{open}/decline"), &json!({"reason": "withdrawn"})).await.expect(200);
    app.delete(&format!("/api/skus/{sku}")).await.expect(204);
}
