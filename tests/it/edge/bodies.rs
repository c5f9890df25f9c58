//! Misbehaving clients: slow heads, bodies that never arrive, truncated uploads, and callers that disconnect.

use std::time::Duration;

use serde_json::json;
use tokio::time::interval;

use super::app;
use crate::support::waiting::LONG;
use crate::support::wire::Wire;
use crate::support::{App, Clock, Db, until};

const SILENCE: (&str, &str) = ("SERVER__BODY_IDLE_TIMEOUT_SECONDS", "1");
/// Lifetime, in seconds, of the key that expires during its upload.
const KEY_LIFE_SECONDS: i64 = 3600;

fn head(app: &App, path: &str, kind: &str, length: usize) -> String {
    let key = app.key.as_deref().unwrap();
    format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n"
    )
}

/// Returns the start, the content and the end of a G-code upload.
fn upload(app: &App) -> (String, Vec<u8>, &'static str) {
    let code = simulator::gcode::gcode("vase", 60, 1.0, 300.0).into_bytes();
    let before = "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"vase.gcode\"\r\n\r\n";
    let after = "\r\n--b--\r\n";
    let length = before.len() + code.len() + after.len();
    (head(app, "/api/files", "multipart/form-data; boundary=b", length) + before, code, after)
}

/// Does what [`upload`] does, with another key than the admin's.
fn upload_with(app: &App, key: &str) -> (String, Vec<u8>, &'static str) {
    let (beginning, code, after) = upload(app);
    (beginning.replace(app.key.as_deref().unwrap(), key), code, after)
}

/// Counts the files of the store that are still being received.
fn incoming(app: &App) -> usize {
    std::fs::read_dir(app.data().join("files/incoming")).unwrap().count()
}

async fn files(app: &App) -> u64 {
    app.get("/api/files").await.expect(200)["pagination"]["total"].as_u64().unwrap()
}

#[tokio::test]
async fn a_head_that_drips_is_cut_off_and_one_that_rests_between_requests_is_not() {
    let app = app(&[("SERVER__HEADER_TIMEOUT_SECONDS", "3")]).await;
    let mut resting = Wire::to(&app).await;
    assert_eq!(resting.get(&app, "/api/orders").await.unwrap().0, 200);
    let mut silent = Wire::to(&app).await;
    let mut dripping = Wire::to(&app).await;
    dripping.say("GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ").await;
    let mut drops = interval(Duration::from_millis(50));
    let began = std::time::Instant::now();
    while dripping.say("a").await {
        drops.tick().await;
        assert!(began.elapsed() < LONG, "still dripping");
    }
    // So is one that says nothing at all.
    silent.ended().await;
    // A second head that drips on a connection that was good before.
    let mut later = Wire::to(&app).await;
    assert_eq!(later.get(&app, "/api/orders").await.unwrap().0, 200);
    later.say("GET /healthz HTT").await;
    later.ended().await;
    assert_eq!(resting.get(&app, "/api/orders").await.expect("still open").0, 200);
}

#[tokio::test]
async fn heads_that_are_too_large_are_refused() {
    let app = app(&[("SERVER__HEADER_MAX_BYTES", "8192"), ("SERVER__MAX_HEADERS", "20")]).await;
    let large = format!("GET /healthz HTTP/1.1\r\nhost: x\r\nx-large: {}\r\n\r\n", "a".repeat(20_000));
    let many = format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{}\r\n", "x-one: 1\r\n".repeat(30));
    for head in [large, many] {
        let mut wire = Wire::to(&app).await;
        wire.say(head).await;
        assert_eq!(wire.answer().await.expect("an answer").0, 431);
    }
}

#[tokio::test]
async fn a_body_that_falls_silent_is_answered_408() {
    let app = app(&[SILENCE]).await;
    let mut wire = Wire::to(&app).await;
    wire.say(head(&app, "/api/inventory/materials", "application/json", 100) + "{\"name\":").await;
    let (status, text) = wire.answer().await.expect("an answer");
    assert_eq!(status, 408, "{text}");
    assert!(text.contains(r#""code":"timeout""#) && text.to_lowercase().contains("x-ratelimit-remaining"), "{text}");

    let mut wire = Wire::to(&app).await;
    let (begin, code, _) = upload(&app);
    wire.say(begin).await;
    wire.say(&code[..code.len() / 2]).await;
    let (status, text) = wire.answer().await.expect("an answer");
    assert_eq!(status, 408, "{text}");
    assert_eq!((incoming(&app), files(&app).await), (0, 0));
}

#[tokio::test]
async fn a_slow_upload_that_makes_progress_is_fine() {
    let app = app(&[("SERVER__BODY_IDLE_TIMEOUT_SECONDS", "4"), ("SERVER__HEADER_TIMEOUT_SECONDS", "4")]).await;
    let mut wire = Wire::to(&app).await;
    let (begin, code, end) = upload(&app);
    wire.say(begin).await;
    // Longer in all than it may be silent, and than a head may take.
    let mut pieces = interval(Duration::from_millis(200));
    for piece in code.chunks(code.len() / 25 + 1) {
        pieces.tick().await;
        assert!(wire.say(piece).await);
    }
    wire.say(end).await;
    let (status, text) = wire.answer().await.expect("an answer");
    assert_eq!(status, 201, "{text}");
    assert_eq!((incoming(&app), files(&app).await), (0, 1));
}

#[tokio::test]
async fn a_client_that_is_refused_while_it_sends_can_read_why() {
    const PIECE_BYTES: usize = 64 * 1024;
    // Far more than the connection's buffers hold.
    const PIECES: usize = 512;
    let app = app(&[]).await;
    let mut wire = Wire::to(&app).await;
    wire.say(head(&app, "/api/files", "text/plain", PIECE_BYTES * PIECES)).await;
    let piece = vec![b'G'; PIECE_BYTES];
    for count in 0..PIECES {
        assert!(wire.say(&piece).await, "cut off after {count} pieces");
    }
    let (status, text) = wire.answer().await.expect("an answer");
    assert_eq!(status, 415, "{text}");
    assert!(text.contains(r#""code":"unsupported_media_type""#), "{text}");
    wire.ended().await;
}

#[tokio::test]
async fn an_upload_that_is_cut_leaves_nothing() {
    let app = app(&[]).await;
    let (begin, code, _) = upload(&app);
    for _ in 0..20 {
        let mut wire = Wire::to(&app).await;
        wire.say(&begin).await;
        wire.say(&code[..code.len() / 2]).await;
        until("the upload to have begun", || async { (incoming(&app) > 0).then_some(()) }).await;
        drop(wire);
        until("its beginning to be gone", || async { (incoming(&app) == 0).then_some(()) }).await;
    }
    assert_eq!(files(&app).await, 0);
}

#[tokio::test]
async fn a_caller_that_leaves_gets_all_or_nothing() {
    let app = app(&[]).await;
    let body = |n: usize| {
        let body = json!({
            "name": format!("M{n}"), "type": "filament", "color": "#000000", "brand": "Acme", "quantity": 10, "unit": "g",
            "reorderPoint": 0, "reorderQuantity": 1000,
        });
        body.to_string()
    };
    let mut sent = Vec::new();
    for n in 0..40 {
        let body = body(n);
        let path = "/api/inventory/materials";
        let begin = head(&app, path, "application/json", body.len());
        let begin = begin.replace("\r\n\r\n", &format!("\r\nidempotency-key: left-{n}\r\n\r\n"));
        let mut wire = Wire::to(&app).await;
        wire.say(begin + &body).await;
        // Gone before the answer can come.
        drop(wire);
        sent.push(body);
    }
    for (n, body) in sent.iter().enumerate() {
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        let again = until("the first to be over", || async {
            let answer = app.post_keyed("/api/inventory/materials", &format!("left-{n}"), &body).await;
            (answer.status != 409).then_some(answer)
        });
        again.await.expect(201);
    }
    let list = app.get("/api/inventory/materials?limit=100").await.expect(200);
    assert_eq!(list["pagination"]["total"], 40, "each once, whether it was heard the first time or not");
}

/// Checks that the permission to upload is checked at the end of the upload, not only at its start.
#[tokio::test]
async fn an_upload_whose_key_is_revoked_meanwhile_is_refused() {
    let clock = Clock::new();
    let app = App::on(Db::sqlite()).clock(&clock).start().await;
    let ends = jiff::Timestamp::from_second(clock.unix_now() + KEY_LIFE_SECONDS).unwrap().to_string();
    for end in ["revoked", "expired"] {
        let expires = (end == "expired").then_some(&ends);
        let (id, client) =
            crate::api::new_key(&app, &json!({"name": end, "role": "operator", "expiresAt": expires})).await;
        let (beginning, code, after) = upload_with(&app, client.key.as_deref().unwrap());
        let mut wire = Wire::to(&app).await;
        wire.say(beginning).await;
        wire.say(code[..code.len() / 2].to_vec()).await;
        until("the upload to have begun", || async { (incoming(&app) == 1).then_some(()) }).await;
        if end == "revoked" {
            app.delete(&format!("/api/auth/api-keys/{id}")).await.expect(204);
        } else {
            clock.set(KEY_LIFE_SECONDS * 1000);
            assert_eq!(client.get("/api/orders").await.status, 401);
        }
        wire.say(code[code.len() / 2..].to_vec()).await;
        wire.say(after).await;
        let (status, text) = wire.answer().await.expect("an answer");
        assert_eq!(status, 401, "{end}: {text}");
        until("nothing to be left of it", || async { (incoming(&app) == 0).then_some(()) }).await;
        assert_eq!(files(&app).await, 0, "{end}");
    }
}
