//! A shop whose seller details are missing: orders proceed, but no invoice is issued until the details are entered.

use serde_json::json;

use super::{act, draft, of_order, show};
use crate::api::some_sku;
use crate::billing::mails_to;
use crate::support::seller::SELLER;
use crate::support::{App, on_sqlite, until};

on_sqlite! {
    async fn invoices_wait_until_the_shop_has_a_name_and_address(db: Db) {
        let mut app = App::on(db).without_seller().env("PRINTFLOOR_MAIL__OPERATORS", "desk@example.org").start().await;
        let sku = some_sku(&app).await;
        let mut orders = Vec::new();
        for _ in 0..2 {
            let order = app.order(&sku, 1).await;
            app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
            orders.push(order);
        }
        let invoice = draft(&app, 10_000).await;
        let refused = app.act(&format!("/api/invoices/{invoice}/send")).await;
        assert!(refused.text.contains("name, street and number, city, country and VAT ID"), "{}", refused.text);
        assert_eq!(refused.error(409), "seller_incomplete");
        for round in ["as they were paid", "after a restart without a seller"] {
            for order in &orders {
                let body = app.get(&format!("/api/orders/{order}")).await.expect(200);
                assert!(body["status"] == "paid" || body["status"] == "printing", "{round}: {body}");
                assert_eq!(body["flags"], json!(["seller_incomplete"]), "{round}");
                assert!(of_order(&app, order).await.is_empty(), "{round}");
            }
            let jobs = app.get("/api/jobs").await.expect(200);
            assert_eq!(jobs["jobs"].as_array().unwrap().len(), 2, "they are made all the same");
            app.kill_9();
            app.start().await;
        }
        until("staff to be mailed", || async {
            mails_to(&app, "desk@example.org").iter().any(|mail| mail.text.contains("its invoice is on \
                 hold")).then_some(())
        })
        .await;
        let checked = app.command(&["check"], "");
        assert!(checked.contains("no invoices can be issued yet: invoices require the shop's name"), "{checked}");

        app.stop().await;
        for (name, text) in SELLER {
            app.set_env(name, text);
        }
        app.start().await;
        let mut numbers = Vec::new();
        for order in &orders {
            let issued = until("the invoice to be issued", || async { of_order(&app, order).await.pop() }).await;
            assert_eq!(issued["status"], "paid");
            numbers.push(issued["number"].as_str().unwrap().rsplit('-').next().unwrap().to_owned());
            let body = app.get(&format!("/api/orders/{order}")).await.expect(200);
            assert_eq!(body["flags"], json!([]), "{body}");
        }
        numbers.sort();
        assert_eq!(numbers, ["000001", "000002"]);
        act(&app, &invoice, "send", json!({})).await;
        assert!(show(&app, &invoice).await["number"].as_str().unwrap().ends_with("-000003"));
        assert_eq!(app.get("/api/invoices/numbering").await.expect(200)["gapless"], true);
        let checked = app.command(&["check"], "");
        assert!(checked.contains("issued by Shop of Tests, Köln, DE") && !checked.contains("no invoice"), "{checked}");
    }
}
