//! More connections and requests than the server accepts: the excess is rejected at once, except health checks and
//! emergency stops.

use std::time::{Duration, Instant};

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use serde_json::json;

use super::{app, read_limits};
use crate::support::wire::Wire;
use crate::support::{App, Client, until};

/// Returns an admin's client on a separate connection.
fn newcomer(app: &App) -> Client {
    Client::new(&app.base, app.key.as_deref())
}

/// Checks the requests that an overloaded server must still answer, also for new connections.
async fn what_must_always_be_heard(app: &App) {
    for path in ["/healthz", "/readyz"] {
        newcomer(app).get(path).await.expect(200);
    }
    let stop = format!("/api/printers/{}/emergency-stop", crate::api::NOTHING);
    assert_eq!(newcomer(app).act(&stop).await.error(404), "printer_not_found");
}

#[tokio::test]
async fn a_flood_of_connections_is_refused_early_and_health_is_still_told() {
    let app = app(&[("SERVER__MAX_CONNECTIONS", "8"), ("SERVER__KEEP_ALIVE_TIMEOUT_SECONDS", "600")]).await;
    let mut flood = Vec::new();
    // Until the server is full: those that are in stay in.
    let refused = loop {
        let mut wire = Wire::to(&app).await;
        let (status, text) = wire.get(&app, "/api/orders").await.expect("an answer");
        if status == 503 {
            break text.to_lowercase();
        }
        assert_eq!(status, 200, "{text}");
        flood.push(wire);
        assert!(flood.len() <= 8, "too many were let in");
    };
    for part in
        ["retry-after: 1", r#""code":"overloaded""#, r#""success":false"#, "x-ratelimit-limit: ", "connection: close"]
    {
        assert!(refused.contains(part), "{part} in {refused}");
    }
    for _ in 0..20 {
        assert_eq!(newcomer(&app).get("/api/orders").await.error(503), "overloaded");
        what_must_always_be_heard(&app).await;
    }
    // A refusal costs no reading of the request: its beginning is enough.
    let mut unfinished = Wire::to(&app).await;
    unfinished.say("PUT /api/orders HTTP/1.1\r\nx-slow: ").await;
    assert_eq!(unfinished.answer().await.expect("an answer").0, 503);
    unfinished.ended().await;
    // Connections that storm are slowed, and those beyond are closed; the others are heard as ever.
    let mut storm = Vec::new();
    for _ in 0..400 {
        let mut wire = Wire::to(&app).await;
        wire.say("GET /api/orders HTTP/1.1\r\nhost: x\r\n\r\n").await;
        storm.push(wire);
    }
    what_must_always_be_heard(&app).await;
    let answers = storm.iter_mut().map(Wire::answer).collect::<FuturesUnordered<_>>();
    let statuses: Vec<_> = answers.filter_map(|answer| async { answer.map(|(status, _)| status) }).collect().await;
    assert!(statuses.len() >= 64 && statuses.iter().all(|status| *status == 503), "{statuses:?}");
    for wire in &mut flood {
        assert_eq!(wire.get(&app, "/api/orders").await.expect("still open").0, 200);
    }
    drop(flood);
    let free = || async { (newcomer(&app).get("/api/orders").await.status == 200).then_some(()) };
    until("a place to be free", free).await;
}

#[tokio::test]
async fn requests_beyond_those_under_way_are_refused_early() {
    let app = app(&[
        ("SERVER__MAX_CONCURRENT_REQUESTS", "2"),
        ("SERVER__REQUEST_TIMEOUT_SECONDS", "600"),
        ("LIMITS__STAFF_REQUESTS_PER_MINUTE", "5000"),
        ("PRINTERS__REQUEST_TIMEOUT_SECONDS", "600"),
        ("PRINTERS__POLL_INTERVAL_SECONDS", "60"),
        ("PRINTERS__OFFLINE_SECONDS", "600"),
    ])
    .await;
    // A printer that takes connections and never answers.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let printer = json!({
        "name": "Silent", "type": "fw_rest", "machineType": "fdm_standard", "buildVolume": {"x": 1, "y": 1, "z": 1},
        "baseUrl": format!("http://{}", silent.local_addr().unwrap()),
    });
    let printer = crate::api::id(&app.post("/api/printers", &printer).await.expect(201));
    let key = app.key.as_deref().unwrap();
    let ask = format!("GET /api/printers/{printer}/webcams HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\n\r\n");
    let mut hasty = Wire::to(&app).await;
    assert_eq!(hasty.get(&app, "/api/orders").await.expect("an answer").0, 200);
    // The look takes a place itself, so that one of these may be refused: another is sent with each look.
    let under_way = std::cell::RefCell::new(Vec::new());
    let full = || async {
        let mut wire = Wire::to(&app).await;
        wire.say(&ask).await;
        under_way.borrow_mut().push(wire);
        (app.get("/api/orders").await.status == 503).then_some(())
    };
    until("both places to be taken", full).await;
    // Whoever repeats at once waits until the time that it was told; an emergency stop does not.
    let began = Instant::now();
    for _ in 0..3 {
        assert_eq!(hasty.get(&app, "/api/orders").await.expect("an answer").0, 503);
    }
    assert!(began.elapsed() >= Duration::from_secs(2), "refused three times in {:?}", began.elapsed());
    let mut stranger = Wire::to(&app).await;
    stranger.say("GET /api/orders HTTP/1.1\r\nx-slow: ").await;
    assert_eq!(stranger.answer().await.expect("a refusal before the request is there").0, 503);
    let stop = format!(
        "POST /api/printers/{}/emergency-stop HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\n\r\n",
        crate::api::NOTHING
    );
    let mut quickest = Duration::MAX;
    for _ in 0..3 {
        let began = Instant::now();
        hasty.say(&stop).await;
        assert_eq!(hasty.answer().await.expect("an answer").0, 404);
        quickest = quickest.min(began.elapsed());
        assert_eq!(hasty.get(&app, "/api/orders").await.expect("an answer").0, 503);
    }
    assert!(quickest < Duration::from_secs(1), "each stop waited, the quickest {quickest:?}");
    let refused = app.get("/api/orders").await;
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(read_limits(&refused).0, 5000);
    assert_eq!(refused.error(503), "overloaded");
    what_must_always_be_heard(&app).await;
    drop(under_way);
    until("a place to be free", || async { (app.get("/api/orders").await.status == 200).then_some(()) }).await;
}

#[tokio::test]
async fn who_does_not_read_its_answer_is_let_go() {
    let app = app(&[
        ("SERVER__MAX_CONNECTIONS", "1"),
        ("SERVER__BODY_IDLE_TIMEOUT_SECONDS", "1"),
        ("SERVER__KEEP_ALIVE_TIMEOUT_SECONDS", "1"),
    ])
    .await;
    // More than the buffers of both ends hold.
    let big = simulator::gcode::gcode("big", 60, 1.0, 330.0) + &"; filling\n".repeat(3_000_000);
    let file = until("the one place", || async {
        let answer = newcomer(&app).try_upload("big.gcode", big.clone().into_bytes()).await?;
        (answer.status == 201).then(|| answer.json()["id"].as_str().unwrap().to_owned())
    })
    .await;
    let ask = format!(
        "GET /api/files/{file}/content HTTP/1.1\r\nhost: x\r\nx-api-key: {}\r\n\r\n",
        app.key.as_deref().unwrap()
    );
    let pinned = until("an answer that nobody reads", || async {
        let mut wire = Wire::to(&app).await;
        wire.say(&ask).await;
        wire.begins("HTTP/1.1 200").await.then_some(wire)
    })
    .await;
    let free = || async {
        let client = newcomer(&app);
        (client.try_send(client.request("GET", "/api/orders")).await?.status == 200).then_some(())
    };
    until("its place to be free again", free).await;
    drop(pinned);
}
