//! Emails that were not delivered: they are tasks, are told on the pages of what they are about, and can be sent again
//! and dismissed.

use std::collections::BTreeSet;

use serde_json::json;
use simulator::sink::{Sink, SinkMode};

use super::{is_sound, operator};
use crate::api::{NOTHING, id, some_sku};
use crate::billing::pages::{send, token};
use crate::support::client::Answer;
use crate::support::stream::Stream;
use crate::support::waiting::LONG;
use crate::support::{App, Client, Db, until};

const BUYER: &str = "buyer@example.org";
const OPERATORS: &str = "ops@example.org";
const EMAILS: &str = "/shop/settings/emails";
/// Response with which a mail service rejects a message permanently.
const REJECTION: SinkMode = SinkMode::Status(422);

/// Starts a server whose mail service rejects each message.
pub async fn rejected_by(post: &Sink) -> App {
    post.set_mode(REJECTION);
    let app = App::on(Db::sqlite()).env("EMAIL_API_KEY", "key").env("PRINTFLOOR_MAIL__API_URL", post.url());
    app.env("PRINTFLOOR_MAIL__OPERATORS", OPERATORS).start().await
}

/// Places and pays an order of the buyer, who is sent a receipt; returns its ID.
pub async fn paid(app: &App, sku: &str) -> String {
    let order = json!({"lines": [{"skuId": sku, "quantity": 1}], "customerEmail": BUYER});
    let order = id(&app.post("/api/orders", &order).await.expect(201));
    app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    order
}

/// Waits until the to-do page contains this text; returns the page.
async fn to_do_says(client: &Client, words: &str) -> Answer {
    until(words, || async {
        let page = client.get("/to-do").await;
        page.text.contains(words).then_some(page)
    })
    .await
}

/// Returns the IDs of the emails in a state.
async fn emails(app: &App, state: &str) -> Vec<String> {
    let list = app.get(&format!("/api/emails?state={state}")).await.expect(200);
    list["emails"].as_array().unwrap().iter().map(id).collect()
}

#[tokio::test]
async fn an_email_that_was_rejected_is_a_task_until_it_is_sent_again_under_a_new_key() {
    let post = Sink::start().await.unwrap();
    let app = rejected_by(&post).await;
    let sam = operator(&app).await;
    let order = paid(&app, &some_sku(&app).await).await;
    let page = to_do_says(&sam, "Email to buyer@example.org about “Receipt for order ORD-").await;
    is_sound(&page);
    let reason = "The mail server or service rejected it: the email service responded with 422";
    for words in ["Emails not delivered (1)", reason, "View invoice"] {
        assert!(page.text.contains(words), "{words} in {}", page.text);
    }
    let invoices = app.get(&format!("/api/invoices?orderId={order}")).await.expect(200);
    let invoice = id(&invoices["invoices"][0]);
    for path in [format!("/shop/orders/{order}"), format!("/shop/invoices/{invoice}")] {
        let own = sam.get(&path).await;
        is_sound(&own);
        let is_told = own.text.contains("1 email was not delivered") && own.text.contains(reason);
        assert!(is_told && own.text.contains("Send again"), "{}", own.text);
    }

    let email = emails(&app, "failed").await.pop().unwrap();
    post.set_mode(SinkMode::Ok);
    let own = token(&page);
    let form = [("form_token", own.as_str()), ("back", "/to-do")];
    let done = send(&sam, &format!("{EMAILS}/{email}/send-again"), &form).await;
    assert!(done.status == 200 && done.text.contains("<h1>To do</h1>"), "{}", done.text);
    assert!(!done.text.contains("Emails not delivered"), "{}", done.text);
    post.wait_until(|all| all.len() == 2, LONG).await.expect("the same email again");
    let keys: Vec<String> =
        post.received().iter().map(|one| one.header("idempotency-key").unwrap().to_owned()).collect();
    assert_eq!(keys, [email.clone(), format!("{email}-1")], "the service may answer its key as before");
    let [first, second] = [0, 1].map(|n: usize| post.received()[n].json());
    assert_eq!(first, second);
    until("it to be noted as sent", || async { emails(&app, "sent").await.contains(&email).then_some(()) }).await;
    let again = send(&sam, &format!("{EMAILS}/{email}/send-again"), &form).await;
    assert!(again.status == 409 && again.text.contains("This email was sent."), "{}", again.text);
    assert!(!sam.get(&format!("/shop/orders/{order}")).await.text.contains("was not delivered"));
}

#[tokio::test]
async fn many_undelivered_emails_are_one_task_with_a_page_of_their_own() {
    let post = Sink::start().await.unwrap();
    let app = rejected_by(&post).await;
    let (sam, sku) = (operator(&app).await, some_sku(&app).await);
    for _ in 0..4 {
        paid(&app, &sku).await;
    }
    let to_do = to_do_says(&sam, "4 emails were not delivered").await;
    let reason = "The mail server or service rejected it: the email service responded with 422";
    for words in ["Emails not delivered (1)", reason, &format!("href=\"{EMAILS}\">View emails</a>")] {
        assert!(to_do.text.contains(words), "{words} in {}", to_do.text);
    }
    let page = sam.get(EMAILS).await;
    is_sound(&page);
    for words in ["Send 4 emails again", "Dismiss 4 emails", ">4 entries</p>"] {
        assert!(page.text.contains(words), "{words} in {}", page.text);
    }
    assert_eq!(page.text.matches("<th scope=\"row\"").count(), 4, "{}", page.text);
    assert_eq!(page.text.matches("<summary>Rejected</summary>").count(), 4, "{}", page.text);

    let (own, ids) = (token(&page), emails(&app, "failed").await);
    let dismissed = send(&sam, &format!("{EMAILS}/{}/dismiss", ids[0]), &[("form_token", &own)]).await;
    assert!(dismissed.status == 200 && dismissed.text.contains(">3 entries</p>"), "{}", dismissed.text);
    to_do_says(&sam, "Emails not delivered (3)").await;
    let list = format!("{EMAILS}?state=dismissed");
    let others = sam.get(&list).await;
    is_sound(&others);
    assert!(others.text.contains("Put back") && others.text.contains(">1 entry</p>"), "{}", others.text);
    let fields = [("form_token", &*own), ("back", &*list)];
    let put_back = send(&sam, &format!("{EMAILS}/{}/reopen", ids[0]), &fields).await;
    assert!(put_back.text.contains("No email was dismissed."), "{}", put_back.text);
    for (path, status) in [(format!("{EMAILS}/{}/burn", ids[0]), 404), (format!("{EMAILS}/{NOTHING}/dismiss"), 404)] {
        assert_eq!(send(&sam, &path, &fields).await.status, status, "{path}");
    }

    post.set_mode(SinkMode::Ok);
    let names: Vec<String> = ids.iter().map(|email| format!("email-{email}")).collect();
    let all = names.iter().map(|name| (name.as_str(), "true")).chain([("form_token", &*own)]);
    let done = send(&sam, &format!("{EMAILS}/all/send-again"), &all.collect::<Vec<_>>()).await;
    assert!(done.text.contains("Every email was delivered or is still being sent."), "{}", done.text);
    post.wait_until(|all| all.len() == 8, LONG).await.expect("all of them again");
    let keys: BTreeSet<String> =
        post.received()[4..].iter().map(|one| one.header("idempotency-key").unwrap().to_owned()).collect();
    assert_eq!(keys, ids.iter().map(|email| format!("{email}-1")).collect());
}

#[tokio::test]
async fn an_alert_that_cannot_be_sent_is_a_task_and_no_other_alert() {
    let post = Sink::start().await.unwrap();
    let app = rejected_by(&post).await;
    let sam = operator(&app).await;
    let material = json!({
        "name": "PLA red", "type": "filament", "color": "#ff0000", "brand": "Acme", "quantity": 5, "unit": "g",
        "reorderPoint": 10, "reorderQuantity": 1000,
    });
    app.post("/api/inventory/materials", &material).await.expect(201);
    let page = to_do_says(&sam, "Email to ops@example.org about “Low stock: PLA red").await;
    assert!(page.text.contains("Emails not delivered (1)"), "{}", page.text);
    let email = emails(&app, "failed").await.pop().unwrap();
    let again = app.act(&format!("/api/emails/{email}/send-again")).await.expect(200);
    assert_eq!((&again["to"], &again["orderId"]), (&json!([OPERATORS]), &json!(null)));
    until("it to be rejected again", || async { (emails(&app, "failed").await.len() == 1).then_some(()) }).await;
    assert_eq!((emails(&app, "queued").await.len(), emails(&app, "sent").await.len()), (0, 0));
    assert_eq!(post.received().len(), 2, "the alert twice, and none about it");
}

#[tokio::test]
async fn a_page_hears_of_what_becomes_of_undelivered_emails() {
    let post = Sink::start().await.unwrap();
    let app = rejected_by(&post).await;
    let sam = operator(&app).await;
    paid(&app, &some_sku(&app).await).await;
    to_do_says(&sam, "Emails not delivered (1)").await;
    let email = emails(&app, "failed").await.pop().unwrap();
    let mut stream = Stream::open(&sam, "/floor/live", None).await;
    // None of these is an event. More than once, as there may be other news at first.
    for act in ["dismiss", "reopen", "dismiss"] {
        while stream.next().await.unwrap().event != "fresh" {}
        app.act(&format!("/api/emails/{email}/{act}")).await.expect(200);
    }
    while stream.next().await.unwrap().event != "fresh" {}
}
