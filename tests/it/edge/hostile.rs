//! Malicious JSON, sent to every route that reads JSON.

use axum::http::header;
use reqwest::Method;
use serde_json::json;

use super::app;
use crate::api::{NOTHING, paths};
use crate::chaos::from_env;
use crate::support::App;
use crate::support::app::PAYMENT_SECRET;
use crate::support::client::Answer;
use crate::support::contract::CONTRACT;

/// Maximum size of the response to a refused request, in bytes.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// Builds a document that attacks `serde_json` with the feature `raw_value`, which parses the text of such a member
/// again with a fresh depth limit: 13 of them inside each other (70 KB) nest 1,600 arrays, enough to overflow a
/// thread's stack.
pub(super) fn parsed_again() -> String {
    let mut text = "[".repeat(120);
    for _ in 0..13 {
        let inner = json!({"$serde_json::private::RawValue": text}).to_string();
        text = format!("{}{inner}", "[".repeat(120));
    }
    text.trim_start_matches('[').to_owned()
}

/// Returns malicious documents, each with a name; the server must refuse all of them.
pub(super) fn documents() -> Vec<(&'static str, String)> {
    let many = |of: fn(usize) -> String| (0..40_000).map(of).collect::<Vec<_>>().join(",");
    vec![
        ("parsed again", parsed_again()),
        ("parsed again inside", format!("{{\"name\":{}}}", parsed_again())),
        ("deep", format!("{{\"name\":{}", "[".repeat(500_000))),
        ("deep and whole", format!("{{\"name\":{}{}}}", "[".repeat(100), "]".repeat(100))),
        ("many values", format!("{{\"name\":[{}]}}", ["0"; 200_000].join(","))),
        ("many members", format!("{{{}}}", many(|n| format!("\"m{n}\":{n}")))),
        ("long names", format!("{{\"{}\":1,\"{}\":2}}", "\\u0001".repeat(80_000), "é".repeat(200_000))),
        ("one member often", format!("{{{}}}", many(|_| "\"name\":1".to_owned()))),
    ]
}

/// Lists the routes that accept JSON, with IDs of no resource in their paths.
fn json_routes() -> Vec<(Method, String)> {
    let takes_json = |method: &Method| matches!(*method, Method::POST | Method::PATCH | Method::DELETE);
    let routes = CONTRACT.served.iter().filter(|route| takes_json(&route.method));
    routes.map(|route| (route.method.clone(), route.path.replace("{id}", NOTHING).replace("{*name}", "a"))).collect()
}

/// Sends a JSON body with all credentials; returns `None` if the server responded and closed the connection before it
/// had read the whole body.
async fn try_send(app: &App, method: &Method, path: &str, body: &str) -> Option<Answer> {
    let signed = PaymentSignature::of(body);
    let request = app.request(method.as_str(), path).header(header::CONTENT_TYPE, "application/json");
    let request = request.header(header::AUTHORIZATION, "Bearer agent-token").header(signed.name, signed.value);
    app.try_send(request.body(body.to_owned())).await
}

async fn send(app: &App, method: &Method, path: &str, body: &str) -> Answer {
    try_send(app, method, path, body).await.expect("an answer")
}

/// A valid signature for a payment event, which makes the server read the body.
struct PaymentSignature {
    name: &'static str,
    value: String,
}

impl PaymentSignature {
    #[expect(clippy::disallowed_methods, reason = "a signature of now")]
    fn of(body: &str) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        let value = printfloor::domain::payment_event::sign(body.as_bytes(), PAYMENT_SECRET, now as i64);
        Self { name: "Stripe-Signature", value }
    }
}

#[tokio::test]
async fn no_document_ends_the_server_or_gets_a_large_answer() {
    send_documents(3).await;
}

mod long {
    #[tokio::test]
    async fn no_document_ends_the_server_or_gets_a_large_answer() {
        super::send_documents(1).await;
    }
}

/// Sends each document to one in `drawn_of` routes, different ones for each document, starting with one chosen by the
/// run's seed.
async fn send_documents(drawn_of: usize) {
    let seed = from_env("PRINTFLOOR_TEST_SEED", 0) as usize % drawn_of;
    let app = App::on(crate::support::Db::sqlite()).env("AGENT_TOKEN", "agent-token").start().await;
    let (before, routes) = (app.pid(), json_routes());
    assert!(routes.len() > 45, "{routes:?}");
    let (mut sent, mut answered) = (0, 0);
    for ((what, body), document) in documents().into_iter().zip(0..) {
        for (method, path) in routes.iter().skip((seed + document) % drawn_of).step_by(drawn_of) {
            sent += 1;
            let Some(answer) = try_send(&app, method, path, &body).await else { continue };
            answered += 1;
            let summary = format!("{what}: {method} {path}: {} {:.300}", answer.status, answer.text);
            // A route may have no use for a body. A backup is no small answer, and nothing of the body is in it.
            if answer.status == 200 && path == "/api/backup" {
                continue;
            }
            assert!(answer.status < 500 || answer.status == 503, "{summary}");
            assert!(answer.text.len() <= MAX_ERROR_BYTES, "{summary}: {} bytes", answer.text.len());
        }
    }
    assert!(4 * answered > 3 * sent, "{answered} of {sent}");
    app.get("/healthz").await.expect(200);
    assert_eq!(app.pid(), before);
    assert!(!app.log().iter().any(|line| line.contains("overflow")));
}

#[tokio::test]
async fn a_refusal_names_fifty_faults_and_counts_the_others() {
    let app = app(&[]).await;
    let members: Vec<_> = (0..60_000).map(|n| format!("\"a{n}\":0")).collect();
    let body = format!("{{{}}}", members[..40_000].join(","));
    let answer = send(&app, &Method::POST, "/api/orders", &body).await;
    assert!(answer.text.len() <= MAX_ERROR_BYTES, "{} bytes", answer.text.len());
    let body = answer.expect(400);
    assert_eq!(paths(&body).len(), 50);
    assert!(body["message"].as_str().unwrap().contains("fields are invalid; the first 50 are listed"), "{body:.300}");
}

#[tokio::test]
async fn a_member_that_is_there_twice_is_a_fault() {
    let app = app(&[]).await;
    let body = r#"{"name": "PLA", "name": "PETG", "type": "filament", "brand": "a", "brand": "a"}"#;
    let body = send(&app, &Method::POST, "/api/inventory/materials", body).await.expect(400);
    assert_eq!(paths(&body), ["brand", "name"]);
    assert_eq!(body["errors"][0]["message"], "is present more than once");
}
