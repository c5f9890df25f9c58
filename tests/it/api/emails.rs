//! Emails by the API: those in a state are listed, and those that were not delivered are sent again and dismissed.

use serde_json::{Value, json};
use simulator::sink::{Sink, SinkMode};

use super::{id, signed_in, some_sku, staff, with_role};
use crate::support::waiting::LONG;
use crate::support::{App, Clock, Db, until};

const BUYER: &str = "buyer@example.org";
const ELEVEN_MINUTES_MS: i64 = 660_000;

/// Waits until an email is in a state; returns it.
async fn email_in(app: &App, state: &str) -> Value {
    until(state, || async {
        let list = app.get(&format!("/api/emails?state={state}")).await.expect(200);
        list["emails"].as_array().unwrap().first().cloned()
    })
    .await
}

async fn shop(post: &Sink, clock: &Clock) -> App {
    post.set_mode(SinkMode::Status(422));
    let app = App::on(Db::sqlite()).env("EMAIL_API_KEY", "key").env("PRINTFLOOR_MAIL__API_URL", post.url());
    app.clock(clock).start().await
}

#[tokio::test]
async fn an_undelivered_email_is_sent_again_once_for_each_key() {
    let (post, clock) = (Sink::start().await.unwrap(), Clock::new());
    let app = shop(&post, &clock).await;
    let order = json!({"lines": [{"skuId": some_sku(&app).await, "quantity": 1}], "customerEmail": BUYER});
    let order = id(&app.post("/api/orders", &order).await.expect(201));
    app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    let email = email_in(&app, "failed").await;
    let expected = json!({"to": [BUYER], "failure": "rejected", "tries": 1, "canSendAgain": true, "orderId": order});
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(email[name], *value, "{name} of {email}");
    }
    assert!(email["invoiceId"].is_string() && email["lastTriedAt"].is_string() && email["nextAt"].is_null(), "{email}");
    assert_eq!(app.get("/api/emails").await.expect(200)["pagination"]["total"], 1, "undelivered ones by default");

    let path = |act: &str| format!("/api/emails/{}/{act}", id(&email));
    let first = app.post_keyed(&path("send-again"), "again", &json!({})).await;
    let queued = first.json();
    assert_eq!((&queued["state"], &queued["failure"]), (&json!("queued"), &json!(null)), "{queued}");
    until("it to be rejected again", || async { (post.received().len() == 2).then_some(()) }).await;
    until("that to be noted", || async { (email_in(&app, "failed").await["tries"] == 2).then_some(()) }).await;
    let repeated = app.post_keyed(&path("send-again"), "again", &json!({})).await;
    assert_eq!((repeated.header("idempotency-replayed"), repeated.json()), (Some("true"), queued));
    assert_eq!(email_in(&app, "failed").await["tries"], 2, "the repeated request sends nothing");

    assert_eq!(app.act(&path("dismiss")).await.expect(200)["state"], "dismissed");
    assert_eq!(app.get("/api/emails").await.expect(200)["pagination"]["total"], 0);
    assert_eq!(app.act(&path("reopen")).await.expect(200)["state"], "failed");
    post.set_mode(SinkMode::Ok);
    app.act(&path("send-again")).await.expect(200);
    let sent = email_in(&app, "sent").await;
    assert_eq!((&sent["id"], &sent["tries"], &sent["error"]), (&email["id"], &json!(3), &json!(null)));
    for act in ["send-again", "dismiss", "reopen"] {
        assert_eq!(app.act(&path(act)).await.error(409), "email_sent", "{act}");
    }
}

#[tokio::test]
async fn whoever_runs_the_shop_dismisses_an_undelivered_email_puts_it_back_and_sends_it_again() {
    let (post, clock) = (Sink::start().await.unwrap(), Clock::new());
    let app = shop(&post, &clock).await;
    app.nobody().post("/api/v1/auth/magic-link", &json!({"email": BUYER})).await.expect(200);
    for role in ["operator", "admin"] {
        let email = format!("{role}@example.org");
        staff(&app, &email, role).await;
        for client in [with_role(&app, role).await, signed_in(&app, &email).await] {
            let rejected = email_in(&app, "failed").await;
            for (act, state) in [("dismiss", "dismissed"), ("reopen", "failed"), ("send-again", "queued")] {
                let path = format!("/api/emails/{}/{act}", id(&rejected));
                assert_eq!(client.post(&path, &json!({})).await.expect(200)["state"], state, "{act} by {role}");
            }
        }
    }
}

#[tokio::test]
async fn an_email_whose_link_has_expired_is_not_sent_again() {
    let (post, clock) = (Sink::start().await.unwrap(), Clock::new());
    let app = shop(&post, &clock).await;
    app.nobody().post("/api/v1/auth/magic-link", &json!({"email": BUYER})).await.expect(200);
    post.wait_until(|all| !all.is_empty(), LONG).await.expect("a try");
    let email = email_in(&app, "failed").await;
    assert_eq!(email["canSendAgain"], true, "{email}");
    clock.set(ELEVEN_MINUTES_MS);
    assert_eq!(app.act(&format!("/api/emails/{}/send-again", id(&email))).await.error(409), "email_expired");
    assert_eq!(email_in(&app, "failed").await["canSendAgain"], false);
    assert_eq!(app.act(&format!("/api/emails/{}/dismiss", id(&email))).await.expect(200)["state"], "dismissed");
    assert_eq!(post.received().len(), 1, "the link works no more");
}
