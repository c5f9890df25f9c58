//! Secrets and signatures.

use serde_json::json;
use simulator::sink::{ReceivedRequest, Sink, standard_signature, verify};

use super::super::{id, paths, some_sku};
use super::{got, happen, newest_is};
use crate::support::{App, Db, on_sqlite};

/// Returns, for each of the two signature schemes, whether a request is signed with this secret; `None` if it has no
/// such signature.
fn signed(one: &ReceivedRequest, secret: &str) -> (Option<bool>, Option<bool>) {
    let verdict = verify(secret, &one.headers, &one.body, one.at.as_second());
    (verdict.service, verdict.standard)
}

on_sqlite! {
    async fn a_secret_of_ours_is_shown_once_and_signs(db: Db) {
        let mut app = App::new(db).await;
        let sku = some_sku(&app).await;
        let sink = Sink::start().await.unwrap();
        let endpoint = app.post("/api/webhooks/endpoints", &json!({"url": sink.url(), "events": ["order.created"]})).await.expect(201);
        let secret = endpoint["secret"].as_str().unwrap();
        assert!(secret.starts_with("whsec_"), "{secret}");
        let path = format!("/api/webhooks/endpoints/{}", id(&endpoint));
        app.kill_9();
        app.start().await;
        let texts = [app.get(&path).await.text, app.get("/api/webhooks/endpoints").await.text, app.get("/api/events").await.text];
        assert!(texts.iter().all(|text| !text.contains(secret) && !text.contains("ealed")), "{texts:?}");
        happen(&app, &sku).await;
        assert_eq!(signed(&got(&sink, 1).await[0], secret), (Some(true), Some(true)));
        assert!(!app.log().iter().any(|line| line.contains(secret)));
    }

    async fn after_a_rotation_both_secrets_sign_for_a_while(db: Db) {
        let mut app = App::new(db).await;
        let sku = some_sku(&app).await;
        let sink = Sink::start().await.unwrap();
        let old = "the-old-secret-0123456789abcdef";
        let endpoint = app.post("/api/webhooks/endpoints", &json!({"url": sink.url(), "events": ["order.created"], "secret": old})).await.expect(201);
        assert!(endpoint.get("secret").is_none() && endpoint.get("warnings").is_none(), "{endpoint}");
        let path = format!("/api/webhooks/endpoints/{}", id(&endpoint));
        let rotated = app.act(&format!("{path}/rotate-secret")).await.expect(200);
        let new = rotated["secret"].as_str().unwrap();
        assert!(rotated["formerSecretUntil"].is_string(), "{rotated}");
        app.kill_9();
        app.start().await;
        happen(&app, &sku).await;
        let one = &got(&sink, 1).await[0];
        assert_eq!(signed(one, new), (Some(true), Some(true)));
        assert_eq!(signed(one, old), (Some(false), Some(true)), "the older header knows the new secret only");
        let (id, at) = (one.header("webhook-id").unwrap(), one.header("webhook-timestamp").unwrap());
        let both: Vec<&str> = one.header("webhook-signature").unwrap().split(' ').collect();
        assert_eq!(both, [standard_signature(new, id, at, &one.body), standard_signature(old, id, at, &one.body)]);
        let third = "a-third-secret-0123456789abcdef";
        app.post(&format!("{path}/rotate-secret"), &json!({"secret": third})).await.expect(200);
        happen(&app, &sku).await;
        let one = got(&sink, 2).await[1].clone();
        assert_eq!((signed(&one, third), signed(&one, new), signed(&one, old)), ((Some(true), Some(true)), (Some(false), Some(true)), (Some(false), Some(false))));
    }
}

#[tokio::test]
async fn any_secret_of_1_to_256_bytes_is_taken_as_it_is() {
    let app = App::new(Db::sqlite()).await;
    let long = "é".repeat(128);
    for secret in
        ["x", "short", "with spaces and ünïcode", "whsec_not!base64", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", &long]
    {
        let sink = Sink::start().await.unwrap();
        let body = json!({"url": sink.url(), "events": ["order.created"], "secret": secret});
        let endpoint = app.post("/api/webhooks/endpoints", &body).await.expect(201);
        assert_eq!(endpoint.get("warnings").is_some(), secret.len() < 24, "{endpoint}");
        app.act(&format!("/api/webhooks/endpoints/{}/test", id(&endpoint))).await.expect(201);
        assert_eq!(signed(&got(&sink, 1).await[0], secret), (Some(true), Some(true)), "{secret}");
        newest_is(&app, &id(&endpoint), "delivered").await;
    }
    let sink = Sink::start().await.unwrap();
    let body = json!({"url": sink.url(), "events": ["order.created"], "secret": "x".repeat(257)});
    assert_eq!(paths(&app.post("/api/webhooks/endpoints", &body).await.expect(400)), ["secret"]);
}
