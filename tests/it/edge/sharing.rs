//! Redis: servers that share rate limit windows, and the stream of all events for other programs.

use redis::streams::StreamRangeReply;
use serde_json::{Value, json};

use super::{app, in_one_window, read_limits};
use crate::api::second_factor::set_up;
use crate::api::{PASSWORD, one_of, signed_in, some_sku, staff};
use crate::support::redis::RedisServer;
use crate::support::{App, until};

/// Timeout for Redis on a busy machine: a server that stops waiting would count on its own.
const PATIENCE: (&str, &str) = ("REDIS__TIMEOUT_SECONDS", "10");

async fn redis_is(app: &App, what: &str) {
    until(&format!("redis to be {what}"), || async {
        let ready = app.get("/readyz").await.expect(200);
        (ready["redis"] == what).then_some(())
    })
    .await;
}

#[tokio::test]
async fn two_servers_on_one_redis_share_the_windows() {
    let Some(redis) = RedisServer::start().await else { return };
    let url = redis.url();
    let settings = [("REDIS__URL", &*url), PATIENCE, ("LIMITS__LOGIN_ATTEMPTS_PER_15_MINUTES", "6")];
    let (one, two) = tokio::join!(app(&settings), app(&settings));
    redis_is(&one, "ok").await;
    redis_is(&two, "ok").await;
    let integrations = one.get("/api/integrations").await.expect(200);
    let view = integrations["integrations"].as_array().unwrap().iter().find(|view| view["kind"] == "redis").unwrap();
    assert!(view["configured"] == true && view["failures"] == 0 && view["lastOkAt"].is_string(), "{view}");
    let passed = in_one_window(15, async |window| {
        let email = format!("ann{window}@example.org");
        let mut passed = Vec::new();
        for turn in 0..40 {
            let app = [&one, &two][turn % 2];
            let body = json!({"email": email, "password": "wrong password"});
            let answer = app.nobody().post("/api/auth/login", &body).await;
            match answer.status {
                401 => passed.push(read_limits(&answer).1),
                429 => assert_eq!(read_limits(&answer), (6, 0)),
                other => panic!("{other}: {}", answer.text),
            }
        }
        passed
    })
    .await;
    assert_eq!(passed, [5, 4, 3, 2, 1, 0], "six tries between both, each told what is left for both");
}

#[tokio::test]
async fn a_wrong_code_is_taken_back_from_the_windows_of_the_password_in_redis() {
    let Some(redis) = RedisServer::start().await else { return };
    // The sign-in and the password of the setup are two of these.
    let url = redis.url();
    let app = app(&[("REDIS__URL", &url), PATIENCE, ("LIMITS__LOGIN_ATTEMPTS_PER_15_MINUTES", "3")]).await;
    redis_is(&app, "ok").await;
    staff(&app, "ann@example.org", "operator").await;
    set_up(&signed_in(&app, "ann@example.org").await).await;
    let body = json!({"email": "ann@example.org", "password": PASSWORD, "code": "nonsense"});
    for _ in 0..5 {
        assert_eq!(app.nobody().post("/api/auth/login", &body).await.error(401), "wrong_factor_code");
    }
    assert_eq!(app.nobody().post("/api/auth/login", &body).await.error(429), "too_many_factor_codes");
}

/// Lists the entries of the stream: `seq`, `id`, `event` and the JSON.
async fn stream(redis: &RedisServer) -> Vec<(i64, String, String, Value)> {
    let all: StreamRangeReply = redis.ask(&["XRANGE", "printfloor:events", "-", "+"]).await.unwrap();
    let entries = all.ids.iter().map(|entry| {
        let text = |name: &str| entry.get::<String>(name).unwrap_or_else(|| panic!("no {name} in {entry:?}"));
        (entry.get("seq").unwrap(), text("id"), text("event"), serde_json::from_str(&text("json")).unwrap())
    });
    entries.collect()
}

/// Waits until every event is in the stream once, in order, as the API shows it. Returns the number of events.
async fn all_are_there(app: &App, redis: &RedisServer) -> usize {
    until("all events to be in the stream", || async {
        let events = app.get("/api/events?limit=100").await.expect(200)["events"].as_array().unwrap().clone();
        let entries = stream(redis).await;
        for (seq, id, event, json) in &entries {
            assert_eq!((json["seq"].as_i64(), json["id"].as_str()), (Some(*seq), Some(id.as_str())));
            assert_eq!(json["event"].as_str(), Some(event.as_str()));
        }
        let contents: Vec<Value> = entries.into_iter().map(|entry| entry.3).collect();
        assert!(
            contents.len() < 100 && events.starts_with(&contents[..contents.len().min(events.len())]),
            "{contents:?}"
        );
        (contents == events).then_some(contents.len())
    })
    .await
}

#[tokio::test]
async fn every_event_goes_to_the_stream_in_order_whatever_restarts() {
    let Some(mut redis) = RedisServer::start().await else { return };
    let mut app = app(&[("REDIS__URL", &redis.url())]).await;
    let sku = some_sku(&app).await;
    let order = async |app: &App| {
        app.post("/api/orders", &one_of(&sku)).await.expect(201);
    };
    for _ in 0..5 {
        order(&app).await;
    }
    let first = all_are_there(&app, &redis).await;
    assert!(first >= 5);
    // The server restarts: it goes on where the stream ends.
    app.kill_9();
    app.start().await;
    order(&app).await;
    let second = all_are_there(&app, &redis).await;
    assert!(second > first);
    // Redis is away: nobody waits, and what happens meanwhile comes later.
    redis.kill_9();
    for _ in 0..5 {
        order(&app).await;
    }
    app.stop().await;
    app.start().await;
    order(&app).await;
    redis_is(&app, "unavailable").await;
    redis.up().await;
    assert!(all_are_there(&app, &redis).await >= second + 6);
}
