//! `printfloor handover`: the leader stops in favour of the standby, and no request fails or takes effect twice.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::interval;

use super::Pair;
use crate::store::takeover::signal;
use crate::support::{App, Client, on_both, until};

/// Number of requests, sent at 50 per second.
const REQUESTS: usize = 400;
const REQUEST_INTERVAL: Duration = Duration::from_millis(20);
/// Number of responses after which the handover begins.
const ANSWERS_BEFORE: usize = 50;
const COUNT: &str = "SELECT COUNT(*) FROM materials WHERE name LIKE 'load %'";

/// Proxy in front of both servers. It retries a request on the other server only if the connection was refused or the
/// response was 503 with `Retry-After`.
struct RetryingProxy {
    servers: [Client; 2],
    /// Number of times that the proxy has switched servers.
    changes: AtomicUsize,
    answers: AtomicUsize,
}

impl RetryingProxy {
    async fn post(&self, n: usize) {
        let body = json!({"name": format!("load {n}"), "type": "filament", "quantity": 1});
        let status = until("an answer", || async {
            let changes = self.changes.load(Relaxed);
            let request = self.servers[changes % 2].request("POST", "/api/inventory/materials");
            let request = request.header("Idempotency-Key", format!("load-{n}")).header("connection", "close");
            let is_refused = match request.json(&body).send().await {
                Ok(answer) if answer.status() == StatusCode::SERVICE_UNAVAILABLE => {
                    assert!(answer.headers().contains_key("retry-after"), "request {n}: {answer:?}");
                    true
                }
                Ok(answer) => return Some(answer.status()),
                Err(error) => error.is_connect(),
            };
            assert!(is_refused, "request {n} got no answer");
            // Another request may have found it out before.
            let _ = self.changes.compare_exchange(changes, changes + 1, Relaxed, Relaxed);
            None
        })
        .await;
        assert_eq!(status, StatusCode::CREATED, "request {n}");
        self.answers.fetch_add(1, Relaxed);
    }
}

async fn send_all(proxy: Arc<RetryingProxy>) {
    let (mut pace, mut requests) = (interval(REQUEST_INTERVAL), JoinSet::new());
    for n in 0..REQUESTS {
        pace.tick().await;
        let proxy = proxy.clone();
        requests.spawn(async move { proxy.post(n).await });
    }
    requests.join_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_or_counts_twice_during_a_handover() {
    let Some(mut pair) = Pair::start().await else { return };
    let servers = [Client::clone(&pair.first), Client::clone(&pair.second)];
    let proxy = Arc::new(RetryingProxy { servers, changes: AtomicUsize::new(0), answers: AtomicUsize::new(0) });
    let load = tokio::spawn(send_all(proxy.clone()));
    until("the load to flow", || async { (proxy.answers.load(Relaxed) >= ANSWERS_BEFORE).then_some(()) }).await;
    // The standby may still be checking whether it could take over.
    until("the handover", || async { pair.first.try_command(&["handover"], "").ok() }).await;
    assert!(pair.first.ended().await, "{}", pair.first.log().join("\n"));
    load.await.unwrap();
    pair.second.get("/readyz").await.expect(200);
    assert_eq!(pair.first.db.query_number(&pair.first, COUNT).await, REQUESTS as i64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigusr2_hands_over_and_a_standby_ignores_it() {
    let Some(mut pair) = Pair::start().await else { return };
    signal(&pair.second, "USR2");
    pair.second.has_logged(&["ignored SIGUSR2"]).await;
    pair.is_followed().await;
    signal(&pair.first, "USR2");
    assert!(pair.first.ended().await, "{}", pair.first.log().join("\n"));
    assert!(pair.first.log().iter().any(|line| line.contains("handing over to another server")));
    pair.second.until_ready().await;
}

on_both! {
    async fn a_server_that_nobody_stands_by_for_does_not_hand_over(db: Db) {
        let words = match db.url() {
            Some(_) => "no standby server is ready to take over",
            None => "handover requires PostgreSQL",
        };
        let mut app = App::new(db).await;
        let refused = app.try_command(&["handover"], "").unwrap_err();
        assert!(refused.contains(words), "{refused}");
        signal(&app, "USR2");
        app.has_logged(&["cannot hand over on SIGUSR2", words]).await;
        app.get("/readyz").await.expect(200);
        app.stop().await;
        let refused = app.try_command(&["handover"], "").unwrap_err();
        assert!(refused.contains("no active server is running"), "{refused}");
    }
}
