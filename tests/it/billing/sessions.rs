//! Signing in through an emailed link, and signing out.

use serde_json::json;

use super::{cookie_of, customer, link, links, mails_to, verify};
use crate::api::{PASSWORD, sign_in, staff, with_cookie};
use crate::edge::in_one_window;
use crate::support::client::Answer;
use crate::support::wire::Wire;
use crate::support::{App, Clock, Db, on_both, on_sqlite, until};

const ME: &str = "/api/v1/me";
const TEN_MINUTES_MS: i64 = 600_000;
const THIRTY_DAYS_MS: i64 = 30 * 86_400_000;

on_both! {
    async fn a_link_works_once_however_many_redeem_it_at_the_same_time(db: Db) {
        let app = App::new(db).await;
        let redeem = verify(&link(&app, json!({"email": "ann@example.org"})).await);
        let all: Vec<_> = (0..100).map(|_| {
            let (nobody, redeem) = (app.nobody(), redeem.clone());
            tokio::spawn(async move { nobody.get(&redeem).await })
        }).collect();
        let mut statuses = Vec::new();
        for one in all {
            let answer = one.await.unwrap();
            assert!(answer.status == 302 || answer.clone().error(400) == "invalid_or_expired", "{}", answer.text);
            assert_eq!(answer.header("set-cookie").is_some(), answer.status == 302);
            statuses.push(answer.status);
        }
        assert_eq!(statuses.iter().filter(|status| **status == 302).count(), 1, "{statuses:?}");
    }

    async fn two_links_of_a_new_address_make_one_customer(db: Db) {
        let app = App::new(db).await;
        let mut redeems = Vec::new();
        for _ in 0..4 {
            redeems.push(verify(&link(&app, json!({"email": "new@example.org"})).await));
        }
        let all: Vec<_> = redeems.into_iter().map(|redeem| {
            let nobody = app.nobody();
            tokio::spawn(async move { nobody.get(&redeem).await })
        }).collect();
        for one in all {
            assert_eq!(one.await.unwrap().status, 302);
        }
        let list = app.get("/api/customers?email=New@example.org").await.expect(200);
        assert_eq!(list["pagination"]["total"], 1, "{list}");
    }
}

on_sqlite! {
    async fn a_customer_signs_in_by_mail_and_out_at_once(db: Db) {
        let app = App::new(db).await;
        let mailed = link(&app, json!({"email": " Ann@Example.org ", "next": "/orders?a=1"})).await;
        assert!(mailed.starts_with("/sign-in/confirm?token="), "{mailed}");
        let mail = mails_to(&app, "ann@example.org").pop().unwrap();
        assert_eq!(mail.subject, "Your sign-in link");
        assert!(mail.html.starts_with("<!DOCTYPE html>") && mail.files.is_empty(), "{mail:?}");

        let answer = app.nobody().get(&verify(&mailed)).await;
        assert_eq!((answer.status, answer.header("location")), (302, Some("/orders?a=1")));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        let cookie = answer.header("set-cookie").unwrap().to_owned();
        let (pair, attributes) = cookie.split_once("; ").unwrap();
        assert!(pair.starts_with("__Host-customer_session="), "{pair}");
        assert_eq!(attributes, "HttpOnly; Secure; SameSite=Lax; Path=/; Max-Age=2592000");

        let ann = with_cookie(&app, pair);
        let profile = ann.get(ME).await.expect(200);
        assert_eq!((&profile["success"], &profile["profile"]["email"]), (&json!(true), &json!("ann@example.org")));
        // The same customer in another browser.
        let other = customer(&app, "ann@example.org").await;
        assert_eq!(other.get(ME).await.expect(200)["profile"]["id"], profile["profile"]["id"]);

        let out = ann.delete("/api/v1/auth/session").await;
        assert_eq!(out.text, r#"{"success":true}"#);
        let blank = "__Host-customer_session=; HttpOnly; Secure; SameSite=Lax; Path=/; Max-Age=0";
        assert_eq!(out.header("set-cookie"), Some(blank));
        assert_eq!(ann.get(ME).await.error(401), "unauthorized");
        assert_eq!(ann.delete("/api/v1/auth/session").await.error(401), "unauthorized");
        other.get(ME).await.expect(200);
    }
}

#[tokio::test]
async fn a_mail_scanner_uses_no_link_up() {
    let app = App::new(Db::sqlite()).await;
    let mailed = link(&app, json!({"email": "ann@example.org", "next": "/orders"})).await;
    for _ in 0..2 {
        let page = app.nobody().get(&mailed).await;
        assert_eq!(page.status, 200);
        let policy = page.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with(
                "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; form-action 'self'"
            ),
            "{policy}"
        );
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(page.header("cache-control"), Some("no-store"));
        assert!(!page.text.contains("<script") && page.text.matches("<button").count() == 1, "{}", page.text);
        assert!(page.text.contains("action=\"/api/v1/auth/verify\""), "{}", page.text);
        assert!(page.text.contains("name=\"next\" value=\"/orders\""), "{}", page.text);
        let looked = app.nobody().send(app.nobody().request("HEAD", &verify(&mailed))).await;
        assert_eq!((looked.status, looked.header("set-cookie")), (200, None));
    }
    let redeemed = app.nobody().get(&verify(&mailed)).await;
    assert_eq!((redeemed.status, redeemed.header("location")), (302, Some("/orders")));
}

#[tokio::test]
async fn without_the_page_the_link_itself_signs_in() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_AUTH__CONFIRM_PAGE", false).start().await;
    let mailed = link(&app, json!({"email": "ann@example.org"})).await;
    assert!(mailed.starts_with("/api/v1/auth/verify?token="), "{mailed}");
    // Mails are read on pages of other sites.
    assert_eq!(asked_with(&app, &mailed, &[("sec-fetch-site", "cross-site")]).await.status, 302);
}

async fn asked_with(app: &App, path: &str, headers: &[(&str, &str)]) -> Answer {
    let request = app.nobody().request("GET", path);
    app.nobody().send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
}

#[tokio::test]
async fn no_page_of_a_stranger_signs_a_visitor_in() {
    let app = App::new(Db::sqlite()).await;
    let redeem = verify(&link(&app, json!({"email": "ann@example.org"})).await);
    for (name, value, code) in [
        ("sec-fetch-site", "cross-site", "cross_site"),
        ("sec-fetch-site", "same-site", "cross_site"),
        ("origin", "https://evil.example", "cross_site"),
        ("sec-purpose", "prefetch", "prefetch"),
        ("sec-purpose", "prefetch;prerender", "prefetch"),
        ("purpose", "prefetch", "prefetch"),
    ] {
        let refused = asked_with(&app, &redeem, &[(name, value)]).await;
        assert!(refused.header("set-cookie").is_none(), "{name}: {value}");
        assert_eq!(refused.error(403), code, "{name}: {value}");
    }
    // A person who came from elsewhere is shown the page with the button instead.
    let person = [("sec-fetch-site", "cross-site"), ("accept", "text/html")];
    let led = asked_with(&app, &redeem, &person).await;
    assert_eq!((led.status, led.header("set-cookie")), (302, None));
    let to = led.header("location").unwrap().strip_prefix(&*app.base).expect("our own page");
    let page = app.nobody().get(to).await;
    assert!(page.status == 200 && page.text.contains("<form"), "{}", page.text);
    // It is as good as before, by the button of our page.
    let own = [("sec-fetch-site", "same-origin"), ("accept", "text/html")];
    assert_eq!(asked_with(&app, &redeem, &own).await.status, 302);
}

#[tokio::test]
async fn known_and_unknown_addresses_are_told_the_same() {
    let app = App::new(Db::sqlite()).await;
    customer(&app, "ann@example.org").await;
    let mut answers = Vec::new();
    for email in ["ann@example.org", "stranger@example.org"] {
        let answer = app.nobody().post("/api/v1/auth/magic-link", &json!({"email": email})).await;
        let names: Vec<String> = answer.headers.keys().map(ToString::to_string).collect();
        answers.push((answer.status, answer.text, names));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0].1, r#"{"success":true}"#);
    let wrong = app.nobody().post("/api/v1/auth/magic-link", &json!({"email": "ann", "more": 1})).await;
    assert_eq!(crate::api::paths(&wrong.expect(400)), ["email", "more"]);
}

#[tokio::test]
async fn links_are_limited_by_address_and_by_network() {
    let clock = Clock::at_full_hour();
    let app = App::on(Db::sqlite())
        .env("PRINTFLOOR_LIMITS__SIGN_IN_LINKS_OF_EMAIL_PER_15_MINUTES", 3)
        .env("PRINTFLOOR_LIMITS__SIGN_IN_LINKS_OF_ADDRESS_PER_15_MINUTES", 5)
        .clock(&clock)
        .start()
        .await;
    let ask = async |email: &str| app.nobody().post("/api/v1/auth/magic-link", &json!({"email": email})).await;
    let mut answers = Vec::new();
    for n in 0..4 {
        answers.push(ask(if n % 2 == 0 { "ann@example.org" } else { " ANN@example.org" }).await);
    }
    let last = answers.pop().unwrap();
    assert!(answers.iter().all(|answer| answer.status == 200));
    assert_eq!(last.header("x-ratelimit-remaining"), Some("0"));
    assert!(last.header("retry-after").is_some());
    assert_eq!(last.error(429), "rate_limited");
    for n in 0..2 {
        assert_eq!(ask(&format!("other{n}@example.org")).await.status, 200);
    }
    assert_eq!(ask("another@example.org").await.error(429), "rate_limited");
}

/// Returns the number of sessions looked up so far in the database before their requests were counted.
async fn session_lookups(app: &App) -> f64 {
    let metrics = app.get("/metrics").await.text;
    let name = "printfloor_customer_session_lookups_total ";
    metrics.lines().find_map(|line| line.strip_prefix(name)).expect(name).parse().unwrap()
}

#[tokio::test]
async fn made_up_sessions_cost_the_database_no_more_than_the_limit() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_LIMITS__ANONYMOUS_REQUESTS_PER_MINUTE", 5).start().await;
    let ann = customer(&app, "ann@example.org").await;
    ann.get(ME).await.expect(200);
    let (statuses, times) = in_one_window(1, async |_| {
        let (before, mut statuses) = (session_lookups(&app).await, Vec::new());
        for n in 0..100 {
            let made_up = with_cookie(&app, &format!("__Host-customer_session={n:043}"));
            statuses.push(made_up.get(ME).await.status);
        }
        // Whoever was signed in before is not kept out by others at the same address.
        ann.get(ME).await.expect(200);
        (statuses, session_lookups(&app).await - before)
    })
    .await;
    assert!(statuses.iter().all(|status| [401, 429].contains(status)), "{statuses:?}");
    assert!(statuses.ends_with(&[429; 95]), "{statuses:?}");
    assert!(times <= 6.0, "{times} look-ups: one for each request that counted, and one of the customer");
}

#[tokio::test]
async fn each_half_knows_its_own_cookie_alone() {
    let app = App::new(Db::sqlite()).await;
    staff(&app, "ann@example.org", "operator").await;
    let (of_staff, of_bob) =
        (sign_in(&app, "ann@example.org", PASSWORD).await, cookie_of(&app, "bob@example.org").await);
    for cookies in [format!("{of_staff}; {of_bob}"), format!("{of_bob}; {of_staff}")] {
        let both = with_cookie(&app, &cookies);
        assert_eq!(both.get(ME).await.expect(200)["profile"]["email"], "bob@example.org");
        both.get("/api/invoices").await.expect(200);
    }
    // A customer's cookie changes nothing in the shop's half, and the staff's nothing here.
    let (bob, ann) = (with_cookie(&app, &of_bob), with_cookie(&app, &of_staff));
    for path in ["/api/orders", "/api/invoices", "/api/skus", "/api/quotes", "/api/sales-channels"] {
        assert_eq!(bob.post(path, &json!({})).await.error(401), "unauthorized", "{path}");
    }
    assert_eq!(ann.patch("/api/v1/profile", &json!({"name": "Eve"})).await.error(401), "unauthorized");
}

/// Signs out while a request is still being sent: the request is rejected too.
#[tokio::test]
async fn a_body_that_comes_after_the_sign_out_changes_nothing() {
    let app = App::new(Db::sqlite()).await;
    let cookie = cookie_of(&app, "ann@example.org").await;
    let ann = with_cookie(&app, &cookie);
    let body = json!({"name": "Ann"}).to_string();
    let (first, second) = body.split_at(4);
    let before = session_lookups(&app).await;
    let mut wire = Wire::to(&app).await;
    let length = body.len();
    wire.say(format!(
        "PATCH /api/v1/profile HTTP/1.1\r\nhost: x\r\ncookie: {cookie}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{first}"
    ))
    .await;
    until("the session to be looked up", || async { (session_lookups(&app).await > before).then_some(()) }).await;
    ann.delete("/api/v1/auth/session").await.expect(200);
    wire.say(second).await;
    let (status, text) = wire.answer().await.expect("an answer");
    assert_eq!(status, 401, "{text}");
}

#[tokio::test]
async fn a_link_expires_after_ten_minutes_and_a_session_after_thirty_days() {
    let clock = Clock::new();
    let app = App::on(Db::sqlite()).clock(&clock).start().await;
    let late = verify(&link(&app, json!({"email": "ann@example.org"})).await);
    clock.set(TEN_MINUTES_MS);
    assert_eq!(app.nobody().get(&late).await.error(400), "invalid_or_expired");
    let ann = customer(&app, "ann@example.org").await;
    clock.set(THIRTY_DAYS_MS);
    ann.get(ME).await.expect(200);
    // The session began ten minutes later than the clock's own beginning, on a machine that may be slow.
    clock.set(THIRTY_DAYS_MS + 2 * TEN_MINUTES_MS);
    assert_eq!(ann.get(ME).await.error(401), "unauthorized");
}

/// Checks that the database and the log hold nothing to sign in with.
#[tokio::test]
async fn tokens_are_neither_stored_nor_logged() {
    let mut app = App::on(Db::sqlite()).env("PRINTFLOOR_LOG__FILTER", "debug").start().await;
    let mailed = link(&app, json!({"email": "ann@example.org"})).await;
    let token = mailed.split("token=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    let answer = app.nobody().get(&verify(&mailed)).await;
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let session = cookie.split_once('=').unwrap().1.to_owned();
    with_cookie(&app, &cookie).get(ME).await.expect(200);
    // Its mail was sent, and lets go of the link.
    assert_eq!(mails_to(&app, "ann@example.org").len(), 1);
    until("the mail to be noted as sent", || async {
        app.get("/metrics").await.text.lines().any(|line| line == "printfloor_mails_pending 0").then_some(())
    })
    .await;
    app.stop().await;
    let log = app.log().join("\n");
    let mut files = vec![app.data()];
    let mut stored = Vec::new();
    while let Some(path) = files.pop() {
        if path.is_dir() && !path.ends_with("outbox") {
            files.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.is_file() {
            stored.extend(std::fs::read(&path).unwrap());
        }
    }
    for secret in [token, session] {
        assert!(!log.contains(&secret), "a token stands in the log");
        assert!(!stored.windows(secret.len()).any(|part| part == secret.as_bytes()), "a token is stored");
    }
}

#[tokio::test]
async fn a_link_of_another_mail_and_made_up_ones_sign_nobody_in() {
    let app = App::new(Db::sqlite()).await;
    let good = link(&app, json!({"email": "ann@example.org"})).await;
    assert_eq!(links(&mails_to(&app, "ann@example.org")[0]), [good]);
    for token in ["", "x", &"0".repeat(43), &"é".repeat(43), "%00"] {
        let answer = app.nobody().get(&format!("/api/v1/auth/verify?token={token}")).await;
        assert_eq!(answer.status, 400, "{token}: {}", answer.text);
        assert!(answer.header("set-cookie").is_none());
    }
    assert_eq!(app.nobody().get("/api/v1/auth/verify").await.error(400), "invalid_or_expired");
    let made_up = with_cookie(&app, &format!("__Host-customer_session={}", "0".repeat(43)));
    assert_eq!(made_up.get(ME).await.error(401), "unauthorized");
    let staff_only = cookie_of(&app, "ann@example.org").await;
    assert_eq!(with_cookie(&app, &staff_only).get("/api/orders").await.error(401), "unauthorized");
}

#[tokio::test]
async fn over_plain_http_the_refusal_says_why_the_cookie_does_not_come_back() {
    let plain = App::new(Db::sqlite()).await.nobody().get(ME).await;
    assert!(plain.status == 401 && plain.text.contains("session cookie is `Secure`"), "{}", plain.text);
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_SERVER__PUBLIC_URL", "https://shop.example").start().await;
    let secure = app.nobody().get(ME).await;
    assert!(secure.status == 401 && !secure.text.contains("Secure"), "{}", secure.text);
    assert!(secure.text.contains("/api/v1/auth/magic-link"), "{}", secure.text);
}
