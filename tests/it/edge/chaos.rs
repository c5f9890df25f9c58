//! Loss of Redis under load: killed, frozen, or missing from the start. No caller sees an error.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::app;
use crate::support::redis::RedisServer;
use crate::support::{App, until};

/// Callers that send requests without a pause.
struct Callers {
    over: Arc<AtomicBool>,
    answered: Arc<AtomicU64>,
    tasks: Vec<tokio::task::JoinHandle<Result<Duration, String>>>,
}

impl Callers {
    fn of(app: &App) -> Self {
        let (over, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let tasks = (0..8).map(|_| {
            let (over, answered, client) = (over.clone(), answered.clone(), (**app).clone());
            tokio::spawn(async move {
                let mut slowest = Duration::ZERO;
                while !over.load(Relaxed) {
                    let began = Instant::now();
                    let answer = client.try_send(client.request("GET", "/api/orders")).await;
                    let answer = answer.ok_or("no answer")?;
                    if answer.status != 200 || answer.header("x-ratelimit-remaining").is_none() {
                        return Err(format!("{} {}", answer.status, answer.text));
                    }
                    slowest = slowest.max(began.elapsed());
                    answered.fetch_add(1, Relaxed);
                }
                Ok(slowest)
            })
        });
        let tasks = tasks.collect();
        Self { over, answered, tasks }
    }

    /// Waits for 300 more responses.
    async fn go_on(&self) {
        let enough = self.answered.load(Relaxed) + 300;
        until("more answers", || async {
            let failed = self.tasks.iter().any(tokio::task::JoinHandle::is_finished);
            (failed || self.answered.load(Relaxed) >= enough).then_some(())
        })
        .await;
    }

    /// Stops the callers, none of whom may have seen an error. Returns the duration of the slowest response.
    async fn end(self) -> Duration {
        self.over.store(true, Relaxed);
        let mut slowest = Duration::ZERO;
        for task in self.tasks {
            slowest = slowest.max(task.await.unwrap().unwrap_or_else(|error| panic!("a request failed: {error}")));
        }
        slowest
    }
}

async fn redis_is(app: &App, what: &str, status: &str) {
    until(&format!("redis to be {what}"), || async {
        // Degraded is not down.
        let ready = app.get("/readyz").await.expect(200);
        let metrics = app.get("/metrics").await;
        assert_eq!(metrics.status, 200);
        let up = format!("printfloor_redis_up {}\n", i64::from(what == "ok"));
        (ready["redis"] == what && ready["status"] == status && metrics.text.contains(&up)).then_some(())
    })
    .await;
}

fn count_in_log(app: &App, words: &str) -> usize {
    app.log().iter().filter(|line| line.contains(words)).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis_killed_under_load_fails_no_request_and_comes_back() {
    let Some(mut redis) = RedisServer::start().await else { return };
    // Longer than Redis takes on a busy machine: it is lost by its end alone.
    let app = app(&[("REDIS__URL", &redis.url()), ("REDIS__TIMEOUT_SECONDS", "10")]).await;
    redis_is(&app, "ok", "ready").await;
    let callers = Callers::of(&app);
    callers.go_on().await;
    let (away, there) =
        (count_in_log(&app, "Redis is unavailable"), count_in_log(&app, "Redis is available; sharing rate limits"));
    redis.kill_9();
    callers.go_on().await;
    redis_is(&app, "unavailable", "degraded").await;
    assert!(app.get("/metrics").await.text.contains("printfloor_redis_losses_total 1\n"));
    callers.go_on().await;
    redis.up().await;
    redis_is(&app, "ok", "ready").await;
    callers.go_on().await;
    callers.end().await;
    until("the log to say it", || async {
        (count_in_log(&app, "Redis is available; sharing rate limits") == there + 1).then_some(())
    })
    .await;
    assert_eq!(count_in_log(&app, "Redis is unavailable"), away + 1, "once per change");
    // It counts there again.
    app.get("/api/orders").await.expect(200);
    let keys: Vec<String> = redis.ask(&["KEYS", "printfloor:limit:staff:*"]).await.unwrap();
    assert!(!keys.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis_that_hangs_is_waited_for_once_and_not_with_every_request() {
    let Some(redis) = RedisServer::start().await else { return };
    // Longer than by default, so that waiting with each request would be seen.
    let app = app(&[("REDIS__URL", &redis.url()), ("REDIS__TIMEOUT_SECONDS", "1")]).await;
    redis_is(&app, "ok", "ready").await;
    redis.signal("STOP");
    let began = Instant::now();
    for _ in 0..50 {
        app.get("/api/orders").await.expect(200);
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?} for 50 requests", began.elapsed());
    redis_is(&app, "unavailable", "degraded").await;
    redis.signal("CONT");
    redis_is(&app, "ok", "ready").await;
}

#[tokio::test]
async fn a_server_starts_without_its_redis_and_finds_it_later() {
    let Some(mut redis) = RedisServer::place() else { return };
    let app = app(&[("REDIS__URL", &redis.url())]).await;
    redis_is(&app, "unavailable", "degraded").await;
    app.get("/api/orders").await.expect(200);
    let sku = crate::api::some_sku(&app).await;
    app.post("/api/orders", &crate::api::one_of(&sku)).await.expect(201);
    redis.up().await;
    redis_is(&app, "ok", "ready").await;
    until("what happened before to be in the stream", || async {
        let length: i64 = redis.ask(&["XLEN", "printfloor:events"]).await.unwrap();
        (length > 0).then_some(())
    })
    .await;
}
