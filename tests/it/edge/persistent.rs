//! Persistent connections: a client that reuses one receives a response, or was told beforehand that the connection
//! would close.

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tokio::time::interval;

use super::app;
use crate::api::new_key;
use crate::support::App;
use crate::support::wire::Wire;

const BODY: &str = r#"{"lines": []}"#;

/// Builds the head of a POST with these headers, whose body has this length in bytes.
fn head(path: &str, headers: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\n{headers}content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
}

fn says_that_it_ends(answer: &str) -> bool {
    answer.split("\r\n\r\n").next().unwrap().to_lowercase().contains("connection: close")
}

/// Checks that the next request on a connection receives a response, unless `answer` announced that the connection
/// would close.
async fn can_go_on(app: &App, wire: &mut Wire, what: &str, answer: &str) {
    if says_that_it_ends(answer) {
        return wire.ended().await;
    }
    let next = wire.get(app, "/api/orders").await;
    assert_eq!(
        next.unwrap_or_else(|| panic!("{what}: the connection ended unannounced after {answer}")).0,
        200,
        "{what}"
    );
}

#[tokio::test]
async fn after_a_refusal_the_connection_goes_on_or_says_that_it_ends() {
    let app = app(&[("LIMITS__ANONYMOUS_REQUESTS_PER_MINUTE", "100000")]).await;
    let operator = new_key(&app, &json!({"name": "o", "role": "operator"})).await.1.key.unwrap();
    let operator = format!("x-api-key: {operator}\r\n");
    let refused = [
        ("/api/orders", "", 401),
        ("/api/orders", "x-api-key: key_live_wrong\r\n", 401),
        ("/api/users", &*operator, 403),
        ("/api/nothing-is-here", &*operator, 404),
        ("/nothing-is-here", "", 404),
        ("/api/v1/nothing-is-here", "", 404),
        ("/api/v1/orders/draft", "", 401),
        ("/healthz", "", 405),
        ("/api/dashboard", &*operator, 405),
    ];
    // All of them at once: most of the time, the test waits between pieces, and for ends.
    join_all(refused.map(|(path, headers, status)| refuse(&app, path, headers, status))).await;
}

/// Checks that a request is refused with this status, however its body arrives.
async fn refuse(app: &App, path: &str, headers: &str, status: u16) {
    let what = format!("{status} {path}");
    // The body comes with its head, a little later, or not before the answer.
    for pieces in [0, 1, 4] {
        let mut wire = Wire::to(app).await;
        if pieces == 0 {
            wire.say(head(path, headers, BODY.len()) + BODY).await;
        } else {
            wire.say(head(path, headers, BODY.len())).await;
            let mut later = interval(Duration::from_millis(20));
            for piece in BODY.as_bytes().chunks(BODY.len().div_ceil(pieces)) {
                later.tick().await;
                later.tick().await;
                wire.say(piece).await;
            }
        }
        let (code, answer) = wire.answer().await.unwrap_or_else(|| panic!("{what}: no answer"));
        assert_eq!(code, status, "{what}: {answer}");
        can_go_on(app, &mut wire, &what, &answer).await;
    }
    let mut wire = Wire::to(app).await;
    wire.say(head(path, headers, BODY.len())).await;
    let (code, answer) = wire.answer().await.unwrap_or_else(|| panic!("{what}: no answer"));
    assert_eq!(code, status, "{what}: {answer}");
    wire.say(BODY).await;
    can_go_on(app, &mut wire, &format!("{what}, body after the answer"), &answer).await;
}

#[tokio::test]
async fn a_refused_request_whose_body_is_there_costs_no_connection() {
    let app = app(&[]).await;
    let mut wire = Wire::to(&app).await;
    for path in ["/api/orders", "/api/nothing-is-here"].iter().cycle().take(20) {
        wire.say(head(path, "", BODY.len()) + BODY).await;
        let (status, answer) = wire.answer().await.expect("an answer on the kept connection");
        assert!(matches!(status, 401 | 404) && !says_that_it_ends(&answer), "{answer}");
    }
}

#[tokio::test]
async fn a_body_that_nobody_reads_ends_its_connection_with_a_word() {
    let app = app(&[]).await;
    let key = format!("x-api-key: {}\r\n", app.key.as_deref().unwrap());
    // Longer than what is read of a body that nobody wants.
    let long = "a".repeat(200_000);
    let mut wire = Wire::to(&app).await;
    wire.say(head("/api/orders", "", long.len())).await;
    wire.say(&long[..100_000]).await;
    let (status, answer) = wire.answer().await.expect("an answer");
    assert!(status == 401 && says_that_it_ends(&answer), "{answer}");
    // An operation that takes no body, and one that comes after the answer.
    let mut wire = Wire::to(&app).await;
    wire.say(head("/api/orders", &key, 5).replace("POST", "GET")).await;
    let (status, answer) = wire.answer().await.expect("an answer");
    assert_eq!(status, 200, "{answer}");
    wire.say("later").await;
    can_go_on(&app, &mut wire, "GET with a body", &answer).await;
    // Whoever asks first whether to send a body is not told to.
    let mut wire = Wire::to(&app).await;
    wire.say(head("/api/orders", "expect: 100-continue\r\n", long.len())).await;
    let (status, answer) = wire.answer().await.expect("an answer");
    assert!(status == 401 && says_that_it_ends(&answer), "{answer}");
}
