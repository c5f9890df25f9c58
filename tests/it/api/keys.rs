//! API keys: shown once, revoked at once.

use futures::StreamExt as _;
use serde_json::json;

use super::{count, id, new_key, paths};
use crate::support::{App, Db, on_both, on_sqlite};

#[tokio::test]
async fn a_key_is_shown_once_and_afterwards_by_its_ends_only() {
    let app = App::new(Db::sqlite()).await;
    let body = json!({"name": "till", "role": "operator", "expiresAt": "2099-01-01T00:00:00Z"});
    let answer = app.post("/api/auth/api-keys", &body).await;
    let location = answer.header("location").expect("a Location").to_owned();
    let answer = answer.expect(201);
    let key = answer["key"].as_str().unwrap();
    assert!(key.starts_with("key_test_") && key.len() > 40, "{key}");
    assert_eq!(location, format!("/api/auth/api-keys/{}", id(&answer)));
    assert_eq!(
        (&answer["name"], &answer["role"], &answer["expiresAt"]),
        (&json!("till"), &json!("operator"), &json!("2099-01-01T00:00:00.000Z"))
    );
    assert!(answer["createdAt"].as_str().unwrap().ends_with('Z'));

    let list = app.get("/api/auth/api-keys").await;
    let secret = key.strip_prefix("key_test_").unwrap();
    assert!(!list.text.contains(key) && !list.text.contains(secret), "{}", list.text);
    assert!(!list.text.contains("hash"), "{}", list.text);
    let list = list.expect(200);
    let entry = list["apiKeys"].as_array().unwrap().iter().find(|one| one["id"] == answer["id"]).unwrap();
    assert_eq!((&entry["prefix"], entry["last4"].as_str().unwrap()), (&json!("key_test_"), &key[key.len() - 4..]));
    let actors = app.get("/api/system/actors").await.text + &app.get("/api/events").await.text;
    assert!(!actors.contains(secret));
    assert!(!app.log().iter().any(|line| line.contains(secret)), "a key in the log");
}

#[tokio::test]
async fn what_cannot_be_a_key_is_refused() {
    let app = App::new(Db::sqlite()).await;
    let before = count(&app, "/api/auth/api-keys").await;
    for (body, path) in [
        (json!({"name": "x", "role": "king"}), "role"),
        (json!({"name": " ", "role": "admin"}), "name"),
        (json!({"name": "x", "role": "admin", "expiresAt": "2020-01-01T00:00:00Z"}), "expiresAt"),
        (json!({"name": "x", "role": "admin", "expiresAt": "soon"}), "expiresAt"),
        (json!({"name": "x", "role": "operator", "customerEmail": "a@b.org"}), "customerEmail"),
        (json!({"name": "x", "role": "customer", "customerEmail": "nobody"}), "customerEmail"),
    ] {
        assert_eq!(paths(&app.post("/api/auth/api-keys", &body).await.expect(400)), [path], "{body}");
    }
    assert_eq!(count(&app, "/api/auth/api-keys").await, before);
}

on_sqlite! {
    async fn a_revoked_key_is_dead_at_once_and_stays_dead(db: Db) {
        let mut app = App::new(db).await;
        let (gone, revoked) = new_key(&app, &json!({"name": "gone", "role": "operator"})).await;
        let (_, other) = new_key(&app, &json!({"name": "kept", "role": "operator"})).await;
        revoked.get("/api/orders").await.expect(200);
        app.delete(&format!("/api/auth/api-keys/{gone}")).await.expect(204);
        assert_eq!(revoked.get("/api/orders").await.error(401), "unauthorized");
        app.kill_9();
        app.start().await;
        assert_eq!(revoked.get("/api/orders").await.error(401), "unauthorized");
        other.get("/api/orders").await.expect(200);
        app.delete(&format!("/api/auth/api-keys/{gone}")).await.expect(204);
    }
}

#[tokio::test]
async fn a_key_that_was_used_again_and_again_is_refused_from_its_revocation_on() {
    let app = App::new(Db::sqlite()).await;
    for name in ["first", "second", "third"] {
        let (gone, revoked) = new_key(&app, &json!({"name": name, "role": "operator"})).await;
        let (_, other) = new_key(&app, &json!({"name": "other", "role": "operator"})).await;
        for _ in 0..3 {
            revoked.get("/api/orders").await.expect(200);
            other.get("/api/orders").await.expect(200);
        }
        app.delete(&format!("/api/auth/api-keys/{gone}")).await.expect(204);
        assert_eq!(revoked.get("/api/orders").await.error(401), "unauthorized");
        other.get("/api/orders").await.expect(200);
    }
}

#[tokio::test]
async fn revocation_ends_open_streams() {
    let app = App::new(Db::sqlite()).await;
    let (gone, revoked) = new_key(&app, &json!({"name": "gone", "role": "operator"})).await;
    let answer = revoked.open(revoked.request("GET", "/api/events/stream")).await;
    assert_eq!(answer.status().as_u16(), 200);
    app.delete(&format!("/api/auth/api-keys/{gone}")).await.expect(204);
    // The client's own time limit fails the test if the stream goes on.
    let mut stream = answer.bytes_stream();
    while let Some(piece) = stream.next().await {
        piece.expect("the stream ends by itself");
    }
}

#[tokio::test]
async fn the_prefix_is_part_of_the_key() {
    let app = App::new(Db::sqlite()).await;
    let answer = app.post("/api/auth/api-keys", &json!({"name": "x", "role": "admin"})).await.expect(201);
    assert!(answer["key"].as_str().unwrap().starts_with("key_test_"));
    let live = app.with_key(&answer["key"].as_str().unwrap().replace("key_test_", "key_live_"));
    assert_eq!(live.get("/api/orders").await.error(401), "unauthorized");
}

on_both! {
    async fn the_last_use_of_a_key_is_shown_at_once_and_kept(db: Db) {
        let mut app = App::new(db).await;
        let (used, client) = new_key(&app, &json!({"name": "used", "role": "operator"})).await;
        let (unused, _) = new_key(&app, &json!({"name": "unused", "role": "operator"})).await;
        let last_use = async |app: &App, id: &str| {
            let list = app.get("/api/auth/api-keys").await.expect(200);
            list["apiKeys"].as_array().unwrap().iter().find(|one| one["id"] == id).unwrap()["lastUsedAt"].clone()
        };
        assert!(last_use(&app, &used).await.is_null());
        client.get("/api/orders").await.expect(200);
        let at = last_use(&app, &used).await;
        assert!(at.is_string());
        // The minute's write is done early when the server ends.
        app.stop().await;
        app.start().await;
        assert_eq!(last_use(&app, &used).await, at);
        assert!(last_use(&app, &unused).await.is_null());
    }
}

#[tokio::test]
async fn a_key_may_come_as_a_bearer_token_and_a_route_for_sessions_says_so() {
    let app = App::new(Db::sqlite()).await;
    let key = app.key.clone().unwrap();
    let nobody = app.nobody();
    let bearer = |path: &str, key: &str| nobody.request("GET", path).header("Authorization", format!("Bearer {key}"));
    let me = nobody.send(bearer("/api/auth/me", &key)).await.expect(200);
    assert_eq!(me["apiKey"]["name"], "tests", "{me}");
    assert_eq!(nobody.send(bearer("/api/orders", "key_test_wrong")).await.error(401), "unauthorized");
    // The header of its own wins.
    let both = bearer("/api/orders", &key).header("X-API-Key", "key_test_wrong");
    assert_eq!(nobody.send(both).await.error(401), "unauthorized");
    let refused = app.get("/api/dashboard").await;
    assert_eq!(refused.json()["message"], "this requires a signed-in session, not an API key");
    assert_eq!(refused.error(403), "session_required");
    let missing = nobody.get("/api/orders").await;
    let words = missing.json()["message"].as_str().unwrap().to_owned();
    assert!(words.contains("X-API-Key") && words.contains("Authorization: Bearer"), "{words}");
}
