//! Rate limits and their headers.

use serde_json::json;

use super::{app, in_one_window, read_limits};
use crate::api::{PASSWORD, signed_in, staff};
use crate::support::client::Answer;
use crate::support::{App, Client};

const STAFF: (&str, &str) = ("LIMITS__STAFF_REQUESTS_PER_MINUTE", "5000");
const FEW: (&str, &str) = ("LIMITS__ANONYMOUS_REQUESTS_PER_MINUTE", "5");

/// Sends a request with these headers and no other credentials.
async fn anonymous(app: &App, headers: &[(&str, &str)]) -> Answer {
    let nobody = app.nobody();
    let request = nobody.request("GET", "/api/orders");
    nobody.send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
}

/// Sends requests until one is rejected; returns the number of accepted ones.
async fn spend(app: &App, headers: &[(&str, &str)]) -> u32 {
    for passed in 0..100 {
        if anonymous(app, headers).await.status == 429 {
            return passed;
        }
    }
    panic!("never refused");
}

#[tokio::test]
async fn every_answer_tells_how_its_caller_stands() {
    let app =
        app(&[STAFF, ("LIMITS__ANONYMOUS_REQUESTS_PER_MINUTE", "3000"), ("SERVER__JSON_BODY_MAX_BYTES", "1000")]).await;
    let json = "/api/inventory/materials";
    let plain = app.request("POST", json).header("content-type", "text/plain").body("x");
    let broken = app.request("POST", json).header("content-type", "application/json").body("{");
    for (what, status, answer) in [
        ("found", 200, app.get("/api/orders").await),
        ("no such path", 404, app.get("/api/nothing").await),
        ("no such thing", 404, app.get(&format!("/api/orders/{}", crate::api::NOTHING)).await),
        ("no such method", 405, app.send(app.request("PUT", "/api/orders")).await),
        ("no JSON", 415, app.send(plain).await),
        ("broken JSON", 400, app.send(broken).await),
        ("too large", 413, app.post(json, &json!({"name": "x".repeat(2000)})).await),
        ("not for keys", 403, app.get("/api/dashboard").await),
    ] {
        assert_eq!(answer.status, status, "{what}: {}", answer.text);
        let (limit, remaining) = read_limits(&answer);
        assert!(limit == 5000 && remaining < 5000, "{what}: {limit}, {remaining}");
        assert!(answer.header("retry-after").is_none(), "{what}");
    }
    // Wrong credentials are none.
    let wrong_key = app.with_key("key_live_wrong").get("/api/orders").await;
    let wrong_cookie = anonymous(&app, &[("cookie", "service_session=wrong")]).await;
    let nobody = app.nobody().get("/api/orders").await;
    for answer in [wrong_key, wrong_cookie, nobody] {
        assert_eq!((answer.status, read_limits(&answer).0), (401, 3000), "{}", answer.text);
    }
    for path in ["/healthz", "/readyz"] {
        assert!(app.nobody().get(path).await.header("x-ratelimit-limit").is_none(), "{path} is not counted");
    }
}

#[tokio::test]
async fn each_request_takes_one_from_its_own_window() {
    let app = app(&[STAFF]).await;
    staff(&app, "ann@example.org", "operator").await;
    let ann = signed_in(&app, "ann@example.org").await;
    let left = |client: Client| async move { read_limits(&client.get("/api/orders").await).1 };
    in_one_window(1, async |_| {
        let first = left((*app).clone()).await;
        assert_eq!(left((*app).clone()).await, first - 1);
        // A session has a window of its own.
        let session = left(ann.clone()).await;
        assert_eq!((left(ann.clone()).await, left((*app).clone()).await), (session - 1, first - 2));
        first
    })
    .await;
}

#[tokio::test]
async fn one_too_many_is_refused_until_the_window_ends_and_stops_nobody_else() {
    let mut app = app(&[STAFF, FEW]).await;
    in_one_window(1, async |_| {
        spend(&app, &[]).await;
        let refused = anonymous(&app, &[]).await;
        assert_eq!(read_limits(&refused), (5, 0));
        let wait: u32 = refused.header("retry-after").expect("Retry-After").parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
        assert!(refused.header("x-request-id").is_some());
        assert_eq!(refused.error(429), "rate_limited");
        // Whoever shows what is not right is nobody, too.
        assert_eq!(app.with_key("key_live_wrong").get("/api/orders").await.status, 429);
        assert_eq!(anonymous(&app, &[("cookie", "service_session=wrong")]).await.status, 429);
        assert_eq!(app.nobody().get("/api/nothing").await.status, 429);

        app.get("/api/orders").await.expect(200);
        for path in ["/healthz", "/readyz"] {
            app.nobody().get(path).await.expect(200);
        }
        // Signed by others, and what must always be heard: judged, not counted.
        let event = app.nobody().post("/webhooks/payments", &json!({})).await;
        assert_eq!(event.error(400), "invalid_signature");
        let stop = format!("/api/printers/{}/emergency-stop", crate::api::NOTHING);
        assert_eq!(app.nobody().act(&stop).await.status, 401);
        let by_form = format!("/floor/printers/{}/emergency-stop", crate::api::NOTHING);
        assert_eq!(app.nobody().act(&by_form).await.status, 401);
        let counted = app.get("/metrics").await.text;
        let refused = r#"printfloor_rate_limited_total{window="anonymous"} "#;
        let refused = counted.lines().find_map(|line| line.strip_prefix(refused)).expect(refused);
        assert!(refused.parse::<f64>().unwrap() >= 4.0, "{refused}");
    })
    .await;
    // The owner of the machine comes in over the control socket.
    app.command(&["key", "list"], "");
    app.stop().await;
}

#[tokio::test]
async fn tries_to_sign_in_are_counted_by_address_and_e_mail() {
    let app = app(&[("LIMITS__LOGIN_ATTEMPTS_PER_15_MINUTES", "3")]).await;
    staff(&app, "ann@example.org", "operator").await;
    staff(&app, "ben@example.org", "operator").await;
    let login = async |email: &str, password: &str| {
        app.nobody().post("/api/auth/login", &json!({"email": email, "password": password})).await
    };
    in_one_window(15, async |_| {
        let mut refused = None;
        for _ in 0..20 {
            let answer = login("ann@example.org", "wrong password").await;
            assert_eq!(read_limits(&answer).0, 3, "the tightest window is told");
            if answer.status == 429 {
                refused = Some(answer);
                break;
            }
            assert_eq!(answer.status, 401);
        }
        let refused = refused.expect("a refusal");
        assert!(refused.header("retry-after").unwrap().parse::<u32>().unwrap() <= 900);
        let words = refused.json()["message"].as_str().unwrap().to_owned();
        assert!(
            words.starts_with("the limit of 3 sign-in attempts in 15 minutes is reached; try again in "),
            "{words}"
        );
        assert_eq!(refused.error(429), "rate_limited");
        // Nor with the right password, nor written otherwise; others sign in.
        assert_eq!(login(" ANN@example.org", PASSWORD).await.status, 429);
    })
    .await;
    login("ben@example.org", PASSWORD).await.expect(200);
}

#[tokio::test]
async fn guessing_at_one_account_is_bounded_over_all_addresses() {
    let few = ("LIMITS__ACCOUNT_ATTEMPTS_PER_15_MINUTES", "6");
    let app =
        app(&[("LIMITS__LOGIN_ATTEMPTS_PER_15_MINUTES", "3"), few, ("SERVER__TRUSTED_PROXIES", "127.0.0.0/8")]).await;
    staff(&app, "ann@example.org", "operator").await;
    staff(&app, "ben@example.org", "operator").await;
    let guess = async |email: &str, from: &str| {
        let body = json!({"email": email, "password": "wrong password"});
        let request = app.nobody().request("POST", "/api/auth/login").header("x-forwarded-for", from);
        app.nobody().send(request.json(&body)).await.status
    };
    in_one_window(15, async |_| {
        let mut answers = Vec::new();
        for n in 0..8 {
            answers.push(guess("ann@example.org", &format!("198.51.100.{}", n / 2)).await);
        }
        assert_eq!(answers.last(), Some(&429), "{answers:?}");
        assert!(answers.iter().filter(|status| **status == 401).count() <= 6, "{answers:?}");
        assert_eq!(guess("ben@example.org", "198.51.100.9").await, 401, "another account");
    })
    .await;
}

#[tokio::test]
async fn changing_the_password_counts_as_a_try_to_sign_in() {
    let app = app(&[("LIMITS__LOGIN_ATTEMPTS_PER_15_MINUTES", "3")]).await;
    staff(&app, "ann@example.org", "operator").await;
    let ann = signed_in(&app, "ann@example.org").await;
    let guess = || async {
        let body = json!({"currentPassword": "wrong password", "newPassword": "another long password"});
        ann.post("/api/auth/password", &body).await.status
    };
    in_one_window(15, async |_| {
        let answers = [guess().await, guess().await, guess().await, guess().await];
        assert_eq!(answers.last(), Some(&429), "{answers:?}");
    })
    .await;
}

#[tokio::test]
async fn forwarded_addresses_are_believed_from_trusted_proxies_only() {
    let plain = app(&[FEW]).await;
    in_one_window(1, async |_| {
        spend(&plain, &[]).await;
        for forged in ["198.51.100.1", "203.0.113.5, 10.0.0.1", "::1", "nonsense"] {
            let answer = anonymous(&plain, &[("x-forwarded-for", forged)]).await;
            assert_eq!(answer.status, 429, "{forged}: {}", answer.text);
        }
    })
    .await;

    let behind = app(&[FEW, ("SERVER__TRUSTED_PROXIES", "127.0.0.0/8,10.0.0.0/8")]).await;
    let from = async |forwarded: &str| anonymous(&behind, &[("x-forwarded-for", forwarded)]).await.status;
    in_one_window(1, async |_| {
        spend(&behind, &[("x-forwarded-for", "198.51.100.1")]).await;
        spend(&behind, &[("x-forwarded-for", "2001:db8::1")]).await;
        assert_eq!(from("203.0.113.9").await, 401, "another client has a window of its own");
        // What the client itself wrote stands on the left.
        assert_eq!(from("203.0.113.77, 198.51.100.1, 10.1.2.3").await, 429);
        assert_eq!(from("2001:db8::ffff:2").await, 429, "the same /64");
        assert_eq!(from("2001:db8:0:1::1").await, 401, "another /64");
    })
    .await;
}
