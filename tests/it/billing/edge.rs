//! Rules specific to the billing API's edge: origins, preflights, headers, statuses.

use serde_json::json;

use super::{cookie_of, customer};
use crate::api::{some_sku, with_cookie};
use crate::support::contract::BILLING;
use crate::support::{App, Db};

const BLOG: &str = "https://blog.example";

async fn app() -> App {
    App::on(Db::sqlite()).env("PRINTFLOOR_SERVER__CORS_ORIGINS", BLOG).start().await
}

fn concrete(path: &str) -> String {
    path.replace("{orderId}", crate::api::NOTHING)
}

#[tokio::test]
async fn every_path_answers_the_question_before_a_request() {
    let app = app().await;
    let nobody = app.nobody();
    let mut count = 0;
    for route in BILLING.served.iter().filter(|route| route.method == "GET" || route.method == "POST") {
        let path = concrete(route.path);
        let question = || nobody.request("OPTIONS", &path).header("access-control-request-method", "POST");
        let listed = nobody.send(question().header("origin", BLOG)).await;
        assert_eq!((listed.status, listed.header("access-control-allow-origin")), (200, Some(BLOG)), "{path}");
        assert_eq!(listed.header("access-control-allow-credentials"), Some("true"));
        assert!(listed.header("access-control-allow-methods").unwrap().contains("PATCH"));
        // Signed events are not limited.
        let is_limited = !path.starts_with("/api/v1/webhooks/");
        assert_eq!(listed.header("x-ratelimit-remaining").is_some(), is_limited, "{path}");
        let stranger = nobody.send(question().header("origin", "https://evil.example")).await;
        assert_eq!((stranger.status, stranger.header("access-control-allow-origin")), (200, None), "{path}");
        assert_eq!(nobody.send(nobody.request("OPTIONS", &path)).await.status, 200, "{path}");
        count += 1;
    }
    assert!(count >= 7, "{count}");
    let unknown = nobody.send(nobody.request("OPTIONS", "/api/v1/nothing")).await;
    assert_eq!(unknown.error(404), "not_found");
}

#[tokio::test]
async fn every_answer_tells_how_its_caller_stands() {
    let app = App::on(Db::sqlite())
        .env("PRINTFLOOR_LIMITS__ANONYMOUS_REQUESTS_PER_MINUTE", 3000)
        .env("PRINTFLOOR_LIMITS__CUSTOMER_REQUESTS_PER_MINUTE", 2000)
        .start()
        .await;
    let ann = customer(&app, "ann@example.org").await;
    let put = ann.request("PUT", "/api/v1/me");
    let text = ann.request("PATCH", "/api/v1/profile").header("content-type", "text/plain").body("x");
    for (status, answer) in [
        (200, ann.get("/api/v1/me").await),
        (404, ann.get("/api/v1/nothing").await),
        (405, ann.send(put).await),
        (415, ann.send(text).await),
        (400, ann.get("/api/v1/orders?limit=0").await),
    ] {
        assert_eq!((answer.status, answer.header("x-ratelimit-limit")), (status, Some("2000")), "{}", answer.text);
        assert!(answer.header("vary").unwrap().contains("x-service-site"));
    }
    for path in ["/api/v1/me", "/api/v1/store/catalog", "/api/v1/nothing"] {
        assert_eq!(app.nobody().get(path).await.header("x-ratelimit-limit"), Some("3000"), "{path}");
    }
    // Keys and staff mean nothing here.
    assert_eq!(app.get("/api/v1/me").await.header("x-ratelimit-limit"), Some("3000"));
}

#[tokio::test]
async fn a_customer_is_limited_whatever_browser_they_use() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_LIMITS__CUSTOMER_REQUESTS_PER_MINUTE", 5).start().await;
    let (ann, again) = (customer(&app, "ann@example.org").await, customer(&app, "ann@example.org").await);
    let bob = customer(&app, "bob@example.org").await;
    let mut refused = false;
    // A new minute may begin in between.
    for n in 0..14 {
        let answer = if n % 2 == 0 { &ann } else { &again }.get("/api/v1/me").await;
        refused |= answer.status == 429 && answer.header("retry-after").is_some();
    }
    assert!(refused);
    bob.get("/api/v1/me").await.expect(200);
}

#[tokio::test]
async fn pages_of_strangers_change_nothing() {
    let app = app().await;
    let ann = customer(&app, "ann@example.org").await;
    let rename = |headers: &[(&str, &str)]| {
        let request = ann.request("PATCH", "/api/v1/profile").json(&json!({"name": "Mallory"}));
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
    };
    for strange in [
        &[("origin", "https://evil.example")][..],
        &[("sec-fetch-site", "cross-site")],
        &[("origin", "null")],
        &[("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")],
    ] {
        assert_eq!(ann.send(rename(strange)).await.error(403), "cross_site", "{strange:?}");
    }
    assert!(ann.get("/api/v1/me").await.expect(200)["profile"]["name"].is_null());
    for own in [
        &[][..],
        &[("origin", ann.base.as_str())],
        &[("sec-fetch-site", "same-origin")],
        &[("origin", BLOG), ("sec-fetch-site", "cross-site")],
    ] {
        let answer = ann.send(rename(own)).await;
        assert_eq!(answer.status, 200, "{own:?}: {}", answer.text);
    }
    // The cookie is not what is asked for here, but it rides along.
    let cookie = cookie_of(&app, "bob@example.org").await;
    let bob = with_cookie(&app, &cookie);
    let link = bob.request("POST", "/api/v1/auth/magic-link").json(&json!({"email": "bob@example.org"}));
    assert_eq!(bob.send(link.header("origin", "https://evil.example")).await.error(403), "cross_site");
}

/// Checks that a conflicting reuse of an idempotency key is 400 here, whereas the shop's half responds 422.
#[tokio::test]
async fn statuses_are_those_of_the_contract() {
    let app = app().await;
    let sku = some_sku(&app).await;
    app.patch(&format!("/api/skus/{sku}"), &json!({"public": true})).await.expect(200);
    let ann = customer(&app, "ann@example.org").await;
    let body = |quantity: u32| json!({"lines": [{"skuId": sku, "quantity": quantity}]});
    ann.post_keyed("/api/v1/orders/draft", "k", &body(1)).await.expect(201);
    assert_eq!(ann.post_keyed("/api/v1/orders/draft", "k", &body(2)).await.error(400), "idempotency_key_reused");
    let allowed = [200, 201, 302, 400, 401, 403, 404, 405, 409, 413, 415, 429, 500, 503];
    for (path, item) in BILLING.document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            for status in operation["responses"].as_object().unwrap().keys() {
                let status: u16 = status.parse().unwrap();
                let gone = status == 410 && path.starts_with("/api/v1/pay/");
                // Where customers send files there may be no room for them.
                let full = status == 507 && ["intakes", "models"].iter().any(|files| path.ends_with(files));
                assert!(gone || full || allowed.contains(&status), "{method} {path}: {status}");
            }
        }
    }
}

#[tokio::test]
async fn a_site_may_stand_in_the_query_or_in_a_header() {
    let app = app().await;
    let sku = some_sku(&app).await;
    app.patch(&format!("/api/skus/{sku}"), &json!({"public": true})).await.expect(200);
    let ann = customer(&app, "ann@example.org").await;
    let body = json!({"lines": [{"skuId": sku, "quantity": 1}]});
    for (query, header, site) in [
        ("", None, "industries"),
        ("?site=dev", Some("tech"), "dev"),
        ("", Some("tech"), "tech"),
        ("?site=", None, "industries"),
    ] {
        let mut request = ann.request("POST", &format!("/api/v1/orders/draft{query}")).json(&body);
        if let Some(header) = header {
            request = request.header("x-service-site", header);
        }
        let draft = ann.send(request).await.expect(201);
        let order = ann.get(&format!("/api/v1/orders/{}", draft["orderId"].as_str().unwrap())).await.expect(200);
        assert_eq!(order["order"]["site"], site);
    }
    let wrong = ann.request("GET", "/api/v1/orders").header("x-service-site", "mars");
    assert_eq!(ann.send(wrong).await.error(400), "validation_failed");
}

/// Checks that HEAD returns the same headers as GET, without a body, for every caller.
#[tokio::test]
async fn a_head_is_answered_as_a_get() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_LIMITS__ANONYMOUS_REQUESTS_PER_MINUTE", 3000).start().await;
    let ann = customer(&app, "ann@example.org").await;
    let mut count = 0;
    // A link is redeemed by a GET alone.
    let gets = BILLING.served.iter().filter(|route| route.method == "GET" && route.path != "/api/v1/auth/verify");
    for route in gets {
        let path = concrete(route.path);
        for client in [&app.nobody(), &ann] {
            let got = client.open(client.request("GET", &path)).await;
            let looked = client.send(client.request("HEAD", &path)).await;
            assert_eq!(looked.status, got.status().as_u16(), "{path}");
            assert_eq!(looked.text, "", "{path}");
        }
        count += 1;
    }
    assert!(count >= 10, "{count}");
}

/// Checks that cacheable responses declare that they vary by origin, whether the request has an origin or not.
#[tokio::test]
async fn what_may_be_kept_says_that_it_differs_by_origin() {
    let app = app().await;
    for origin in [None, Some(BLOG)] {
        let catalog = app.nobody().request("GET", "/api/v1/store/catalog");
        let catalog = if let Some(origin) = origin { catalog.header("origin", origin) } else { catalog };
        let answer = app.nobody().send(catalog).await;
        assert!(answer.header("cache-control").unwrap().starts_with("public"), "{origin:?}");
        let varies: Vec<&str> = answer.headers.get_all("vary").iter().map(|value| value.to_str().unwrap()).collect();
        assert!(varies.iter().any(|names| names.to_lowercase().contains("origin")), "{origin:?}: {varies:?}");
        assert_eq!(answer.header("access-control-allow-origin"), origin);
    }
}
