//! The page of a pay link, which needs no session, and its response once the invoice can no longer be paid.

use serde_json::json;
use simulator::processor::Payer;

use super::{is_sound, ordered, posted, send, token};
use crate::api::checkout::shop;
use crate::api::id;
use crate::billing::{customer, invoices::sent, pay_token_of};
use crate::support::{on_sqlite, until};

on_sqlite! {
    async fn what_is_open_of_a_cancelled_order_is_not_paid_and_the_pages_say_why(db: Db) {
        let (processor, app) = shop(db).await;
        let ann = customer(&app, "ann@example.org").await;
        let order = ordered(&app, "ann@example.org").await;
        let part = json!({"method": "cash", "amountCents": 250});
        let paid = app.post(&format!("/api/orders/{order}/mark-paid"), &part).await.expect(200);
        let invoice = id(&app.get(&format!("/api/invoices?orderId={order}")).await.expect(200)["invoices"][0]);
        let (own, of_order) = (format!("/invoices/{invoice}"), format!("/orders/{order}"));
        let link = format!("/pay/{}", pay_token_of(&app, &invoice).await);
        let before = ann.get(&own).await;
        assert!(before.text.contains("Pay $22.50"), "{}", before.text);
        assert!(app.nobody().get(&link).await.text.contains("Pay $22.50"));

        app.act(&format!("/api/orders/{order}/cancel")).await.expect(200);
        let why = "No further payment is due, and your payment ";
        for (reader, path) in [(&ann, &own), (&ann, &of_order), (&app.nobody(), &link)] {
            let page = reader.get(path).await;
            is_sound(&page);
            assert!(page.text.contains(why) && !page.text.contains(">Pay "), "{path}: {}", page.text);
            assert!(!page.text.contains("$22.50"), "{path}: {}", page.text);
        }
        assert!(ann.get(&own).await.text.contains("your payment will be refunded."));
        let refused = posted(&ann, &format!("{own}/pay"), &[("form_token", &token(&before))]).await;
        assert_eq!(refused.status, 400, "{}", refused.text);
        assert!(processor.all("checkout.session").is_empty(), "nothing was asked of the processor");

        // Once the money is back the invoice is void.
        let back = json!({"paymentId": paid["payments"][0]["id"]});
        app.post(&format!("/api/orders/{order}/refund"), &back).await.expect(200);
        let void = until("the invoice to be void", || async {
            let page = ann.get(&own).await;
            page.text.contains(">Void<").then_some(page)
        })
        .await;
        assert!(!void.text.contains("will be refunded"), "{}", void.text);
        assert!(!ann.get(&of_order).await.text.contains("will be refunded"));
    }

    async fn whoever_has_a_pay_link_sees_the_invoice_and_pays_it(db: Db) {
        let (processor, app) = shop(db).await;
        let invoice = sent(&app, "ann@example.org").await;
        let path = format!("/pay/{}", pay_token_of(&app, &invoice).await);
        let nobody = app.nobody();
        let page = nobody.get(&path).await;
        assert_eq!(page.status, 200, "{}", page.text);
        is_sound(&page);
        for words in ["Invoice INV-", "Ann Example", "Pay $120.00", "2 × Design, one hour"] {
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

    async fn a_pay_page_is_in_the_language_of_a_customer_who_is_signed_in(db: Db) {
        let (processor, app) = shop(db).await;
        let ann = customer(&app, "ann@example.org").await;
        ann.patch("/api/v1/profile", &json!({"locale": "de"})).await.expect(200);
        let invoice = sent(&app, "ann@example.org").await;
        let path = format!("/pay/{}", pay_token_of(&app, &invoice).await);
        let (english, german) = ("Pay $120.00", "120,00 USD bezahlen");
        for (reader, preferred, words) in
            [(&ann, "en", german), (&ann, "fr", german), (&app.nobody(), "en", english), (&app.nobody(), "de", german)]
        {
            let page = reader.send(reader.request("GET", &path).header("accept-language", preferred)).await;
            is_sound(&page);
            assert!(page.text.contains(words), "{words} in {}", page.text);
        }
        // A browser whose session has ended is that of anybody.
        let page = ann.get("/profile").await;
        send(&ann, "/sign-out", &[("form_token", &token(&page))]).await;
        assert!(ann.get(&path).await.text.contains(english));
        assert!(processor.all("checkout.session").is_empty());
    }
}
