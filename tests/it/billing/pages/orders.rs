//! The page of an order: its status, live updates through a stream, and payment with the simulated processor.

use serde_json::json;
use simulator::processor::Payer;

use super::{HOSTILE, is_sound, ordered, send, token};
use crate::api::checkout::shop;
use crate::api::id;
use crate::billing::customer;
use crate::support::stream::Stream;
use crate::support::{App, Db, on_sqlite, until};

const ANN: &str = "ann@example.org";

on_sqlite! {
    async fn an_order_is_paid_from_its_page(db: Db) {
        let (processor, app) = shop(db).await;
        let (ann, bob) = (customer(&app, ANN).await, customer(&app, "bob@example.org").await);
        let path = format!("/orders/{}", ordered(&app, ANN).await);
        let page = ann.get(&path).await;
        for part in ["Amount due: $25.00", "Pay $25.00", "aria-current=\"step\">Paid<"] {
            assert!(page.text.contains(part), "{part} in {}", page.text);
        }
        let (own, theirs) = (token(&page), token(&bob.get("/orders").await));
        let pay = format!("{path}/pay");
        for forged in ["", "x", &theirs] {
            let refused = send(&ann, &pay, &[("form_token", forged)]).await;
            assert_eq!(refused.status, 403, "{}", refused.text);
            is_sound(&refused);
        }
        assert_eq!(send(&bob, &pay, &[("form_token", &theirs)]).await.status, 403, "it is another's order");
        let from_elsewhere = ann.request("POST", &pay).header("sec-fetch-site", "cross-site");
        let from_elsewhere = from_elsewhere.header("content-type", "application/x-www-form-urlencoded");
        assert_eq!(ann.send(from_elsewhere.body(format!("form_token={own}"))).await.status, 403);
        assert!(processor.all("checkout.session").is_empty(), "nothing was asked of the processor");

        let led = send(&ann, &pay, &[("form_token", &own)]).await;
        assert_eq!(led.status, 200, "{}", led.text);
        is_sound(&led);
        let session = processor.all("checkout.session").remove(0);
        let url = session["url"].as_str().unwrap();
        assert_eq!(led.header("refresh"), Some(&*format!("0; url={url}")));
        assert!(led.text.contains("href=\""), "{}", led.text);
        processor.act(session["id"].as_str().unwrap(), Payer::Pays).unwrap();
        let paid = until("the page to say that it is paid", || async {
            let page = ann.get(&path).await;
            (!page.text.contains("Amount due")).then_some(page)
        })
        .await;
        assert!(paid.text.contains("0 of 2 parts") && paid.text.contains("href=\"/invoices/"), "{}", paid.text);
        assert!(paid.text.contains("aria-current=\"step\">Printing<"), "{}", paid.text);
        is_sound(&paid);
        let again = send(&ann, &pay, &[("form_token", &own)]).await;
        assert_eq!(again.status, 409, "{}", again.text);
        is_sound(&again);
    }

    async fn the_page_follows_its_order_until_its_reader_signs_out(db: Db) {
        let app = App::new(db).await;
        let ann = customer(&app, ANN).await;
        let order = ordered(&app, ANN).await;
        let path = format!("/orders/{order}");
        let page = ann.get(&path).await;
        let attributes = format!("data-stream=\"{path}/live\" data-closed=\"Reload the page to see the current status.\"");
        assert!(page.text.contains(&attributes), "{}", page.text);
        assert!(page.text.contains("&lt;script&gt;alert(1)"), "{}", page.text);
        let mut stream = Stream::open(&ann, &format!("{path}/live"), None).await;
        let first = stream.next().await.unwrap();
        let unpaid = json!("We'll start as soon as we receive your payment.");
        assert_eq!((&*first.event, &first.data["said"]), ("part", &unpaid));
        assert!(!first.data["html"].as_str().unwrap().contains(HOSTILE), "{}", first.data);
        app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
        let paid = loop {
            let part = stream.next().await.unwrap();
            if part.data["said"] != unpaid {
                break part;
            }
        };
        let html = paid.data["html"].as_str().unwrap();
        assert_eq!(paid.data["said"], "Your order is paid and queued for printing.");
        assert!(html.contains("<progress") && html.contains("0 of 2 parts") && html.contains(">Paid<"), "{html}");
        let profile = ann.get("/profile").await;
        let out = send(&ann, "/sign-out", &[("form_token", &token(&profile))]).await;
        assert!(out.status == 200 && out.text.contains("Send me a link"), "{}", out.text);
        stream.ends().await;
        let refused = ann.get(&format!("{path}/live")).await;
        assert!(refused.header("location").unwrap().starts_with("/sign-in?next="), "{}", refused.text);
    }
}

#[tokio::test]
async fn streams_of_one_customer_are_bounded_and_those_of_others_go_on() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_LIMITS__CUSTOMER_REQUESTS_PER_MINUTE", 10_000_000).start().await;
    let (ann, bob) = (customer(&app, ANN).await, customer(&app, "bob@example.org").await);
    let order = ordered(&app, ANN).await;
    let sku = app.get(&format!("/api/orders/{order}")).await.expect(200)["lines"][0]["skuId"].clone();
    let of_bob = json!({"lines": [{"skuId": sku, "quantity": 1}], "customerEmail": "bob@example.org"});
    let of_bob = id(&app.post("/api/orders", &of_bob).await.expect(201));
    let [path, other] = [&order, &of_bob].map(|order| format!("/orders/{order}/live"));
    let mut open = Vec::new();
    for _ in 0..20 {
        let mut stream = Stream::open(&ann, &path, None).await;
        assert_eq!(stream.next().await.unwrap().event, "part");
        open.push(stream);
    }
    let refused = ann.get(&path).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("30")), "{}", refused.text);
    assert!(refused.text.contains("You have 20 pages with live updates open"), "{}", refused.text);
    is_sound(&refused);
    assert_eq!(ann.get(path.trim_end_matches("/live")).await.status, 200, "the page itself is there");
    assert_eq!(Stream::open(&bob, &other, None).await.next().await.unwrap().event, "part");
    // Those that are open go on, and each that is closed makes room for one.
    app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    assert_eq!(open[19].next().await.unwrap().event, "part");
    open.pop();
    until("a place to be free", || async {
        (ann.open(ann.request("GET", &path)).await.status().as_u16() == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_order_that_is_over_ends_its_stream() {
    let app = App::new(Db::sqlite()).await;
    let ann = customer(&app, ANN).await;
    let order = ordered(&app, ANN).await;
    app.act(&format!("/api/orders/{order}/cancel")).await.expect(200);
    let mut stream = Stream::open(&ann, &format!("/orders/{order}/live"), None).await;
    assert_eq!(stream.next().await.unwrap().data["said"], "Your order was cancelled.");
    assert_eq!(stream.next().await.unwrap().event, "over");
    assert_eq!(stream.next().await, None);
}
