//! The page of a pay link: for whoever has the link, without a session.

use serde_json::json;
use simulator::processor::Payer;

use super::{is_sound, send};
use crate::api::checkout::shop;
use crate::billing::{invoices::sent, pay_token_of};
use crate::support::{on_both, until};

on_both! {
    async fn whoever_has_a_pay_link_sees_the_invoice_and_pays_it(db: Db) {
        let (processor, app) = shop(db).await;
        let invoice = sent(&app, "ann@example.org").await;
        let path = format!("/pay/{}", pay_token_of(&app, &invoice).await);
        let nobody = app.nobody();
        let page = nobody.get(&path).await;
        assert_eq!(page.status, 200, "{}", page.text);
        is_sound(&page);
        for words in ["Invoice INV-", "Ann Example", "Pay 120.00 USD", "2 × Design, one hour"] {
            assert!(page.text.contains(words), "{words} in {}", page.text);
        }
        assert!(!page.text.contains("ann@example.org"), "{}", page.text);
        let cross = nobody.request("POST", &path).header("sec-fetch-site", "cross-site");
        let cross = cross.header("content-type", "application/x-www-form-urlencoded").body("");
        assert_eq!(nobody.send(cross).await.status, 403);
        let led = send(&nobody, &path, &[]).await;
        assert_eq!(led.status, 200, "{}", led.text);
        is_sound(&led);
        let session = processor.all("checkout.session").remove(0);
        assert_eq!(led.header("refresh"), Some(&*format!("0; url={}", session["url"].as_str().unwrap())));
        processor.act(session["id"].as_str().unwrap(), Payer::Pays).unwrap();
        let paid = until("the page to say that it is paid", || async {
            let page = nobody.get(&path).await;
            page.text.contains("nothing left to pay").then_some(page)
        })
        .await;
        is_sound(&paid);
        assert_eq!(send(&nobody, &path, &[]).await.status, 409);
        let unknown = nobody.get("/pay/made-up").await;
        assert_eq!(unknown.status, 404);
        is_sound(&unknown);
        let other = sent(&app, "ann@example.org").await;
        let path = format!("/pay/{}", pay_token_of(&app, &other).await);
        app.post(&format!("/api/invoices/{other}/void"), &json!({})).await.expect(200);
        let gone = nobody.get(&path).await;
        assert_eq!(gone.status, 410, "{}", gone.text);
        is_sound(&gone);
    }
}
