//! Handover: the leader leaves on request or at its end, and no request fails or takes effect twice.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::interval;

use super::Pair;
use super::versions::MIGRATED;
use crate::store::takeover::signal;
use crate::support::drawing::draw;
use crate::support::stream::Stream;
use crate::support::{App, Client, on_both, until};

/// Number of requests, sent at 50 per second, and how many of them add a material and an order. The others read.
const REQUESTS: usize = 500;
const MATERIALS: i64 = 400;
const ORDERS: i64 = 50;
const REQUEST_INTERVAL: Duration = Duration::from_millis(20);
/// Number of responses after which the handover begins.
const ANSWERS_BEFORE: usize = 50;
const COUNT_MATERIALS: &str = "SELECT COUNT(*) FROM materials WHERE name LIKE 'load %'";
const COUNT_ORDERS: &str = "SELECT COUNT(*) FROM orders";
const LAST_EVENT: &str = "SELECT MAX(seq) FROM events";
const HANDING_OVER: &str = "handing over to another server";

/// Way in which a leader gives up the lead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LeaderExit {
    /// `printfloor handover`.
    Command,
    /// SIGUSR2.
    Signal,
    /// SIGTERM: it ends without checking whether a server is on standby.
    Stop,
    /// The command, from an older version to a newer one.
    Upgrade,
}

const LEADER_EXITS: [LeaderExit; 4] = [LeaderExit::Command, LeaderExit::Signal, LeaderExit::Stop, LeaderExit::Upgrade];

impl LeaderExit {
    /// Starts both servers; `None` without PostgreSQL.
    async fn pair(self) -> Option<Pair> {
        if self == Self::Upgrade { Pair::start_older().await } else { Pair::start().await }
    }

    /// Lets the leader leave, and waits until it has ended.
    async fn leave(self, leader: &mut App) {
        match self {
            // The standby may still be checking whether it could take over.
            Self::Command | Self::Upgrade => {
                let leader = &*leader;
                until("the handover", || async { leader.try_command(&["handover"], "").ok() }).await;
            }
            Self::Signal => {
                let leader = &*leader;
                until("the handover", || async {
                    signal(leader, "USR2");
                    leader.log().iter().any(|line| line.contains(HANDING_OVER)).then_some(())
                })
                .await;
            }
            Self::Stop => return leader.stop().await,
        }
        assert!(leader.ended().await, "{}", leader.log().join("\n"));
    }
}

/// Proxy in front of both servers. It retries a request on the other server only if the connection was refused or the
/// response was 503 with `Retry-After`.
struct RetryingProxy {
    servers: [Client; 2],
    /// Body of a request that adds an order.
    order: Value,
    /// `true` if a connection may break after it was accepted, as those waiting at a closing listener do. Such requests
    /// are retried as well, since each either only reads or has an idempotency key.
    may_break: bool,
    /// Number of times that the proxy has switched servers.
    changes: AtomicUsize,
    answers: AtomicUsize,
}

impl RetryingProxy {
    /// Builds request number `n` for a server; returns it with the expected status.
    fn request(&self, n: usize, server: &Client) -> (RequestBuilder, StatusCode) {
        let (request, expected) = match n % 10 {
            4 => (server.request("GET", "/api/inventory/materials?limit=1"), StatusCode::OK),
            9 => (server.request("POST", "/api/orders").json(&self.order), StatusCode::CREATED),
            _ => {
                let body = json!({"name": format!("load {n}"), "type": "filament", "quantity": 1});
                (server.request("POST", "/api/inventory/materials").json(&body), StatusCode::CREATED)
            }
        };
        let is_change = expected == StatusCode::CREATED;
        let request = if is_change { request.header("Idempotency-Key", format!("load-{n}")) } else { request };
        (request.header("connection", "close"), expected)
    }

    /// Sends request number `n` until a server answers it.
    async fn send(&self, n: usize) {
        let (status, expected) = until("an answer", || async {
            let changes = self.changes.load(Relaxed);
            let (request, expected) = self.request(n, &self.servers[changes % 2]);
            let is_refused = match request.send().await {
                Ok(answer) if answer.status() == StatusCode::SERVICE_UNAVAILABLE => {
                    assert!(answer.headers().contains_key("retry-after"), "request {n}: {answer:?}");
                    true
                }
                Ok(answer) => {
                    let status = answer.status();
                    if answer.bytes().await.is_ok() {
                        return Some((status, expected));
                    }
                    self.may_break
                }
                Err(error) => error.is_connect() || self.may_break,
            };
            assert!(is_refused, "request {n} got no answer");
            // Another request may have found it out before.
            let _ = self.changes.compare_exchange(changes, changes + 1, Relaxed, Relaxed);
            None
        })
        .await;
        assert_eq!(status, expected, "request {n}");
        self.answers.fetch_add(1, Relaxed);
    }
}

async fn send_all(proxy: Arc<RetryingProxy>) {
    let (mut pace, mut requests) = (interval(REQUEST_INTERVAL), JoinSet::new());
    for n in 0..REQUESTS {
        pace.tick().await;
        let proxy = proxy.clone();
        requests.spawn(async move { proxy.send(n).await });
    }
    requests.join_all().await;
}

/// Follows all events from the first server until its stream ends, and continues at the second one where it left off.
/// Sends the number of each event.
async fn follow([first, second]: [Client; 2], numbers: UnboundedSender<i64>) {
    let mut last = 0;
    let mut stream = Stream::open(&first, "/api/events/stream?after=0", None).await;
    while let Some(event) = stream.next().await {
        last = event.id.unwrap();
        let _ = numbers.send(last);
    }
    until("the second server to lead", || async {
        second.try_send(second.request("GET", "/readyz")).await.filter(|answer| answer.status == 200)
    })
    .await;
    let mut stream = Stream::open(&second, "/api/events/stream", Some(&last.to_string())).await;
    while let Some(event) = stream.next().await {
        let _ = numbers.send(event.id.unwrap());
    }
}

/// Hands over in the given way under load: no request fails or counts twice, and a stream misses nothing.
async fn hand_over(exit: LeaderExit) {
    eprintln!("{exit:?}");
    let Some(mut pair) = exit.pair().await else { return };
    let servers = || [Client::clone(&pair.first), Client::clone(&pair.second)];
    let material = pair.first.material("PLA", 1000.0).await;
    let file = pair.first.gcode("vase", 60, 1.0).await;
    let sku = pair.first.sku("VASE", &material, &file, 900).await;
    let proxy = Arc::new(RetryingProxy {
        servers: servers(),
        order: json!({"lines": [{"skuId": sku, "quantity": 1}], "customerEmail": "buyer@example.org"}),
        may_break: exit == LeaderExit::Stop,
        changes: AtomicUsize::new(0),
        answers: AtomicUsize::new(0),
    });
    let (sender, mut numbers) = unbounded_channel();
    let follower = tokio::spawn(follow(servers(), sender));
    let load = tokio::spawn(send_all(proxy.clone()));
    until("the load to flow", || async { (proxy.answers.load(Relaxed) >= ANSWERS_BEFORE).then_some(()) }).await;
    exit.leave(&mut pair.first).await;
    load.await.unwrap();
    pair.second.get("/readyz").await.expect(200);
    let count = async |sql: &str| pair.first.db.query_number(&pair.first, sql).await;
    assert_eq!((count(COUNT_MATERIALS).await, count(COUNT_ORDERS).await), (MATERIALS, ORDERS));
    assert_eq!(count(MIGRATED).await, 1);
    let (last, mut received) = (count(LAST_EVENT).await, Vec::new());
    while received.last() != Some(&last) {
        received.push(numbers.recv().await.expect("the stream goes on"));
    }
    assert!(received.iter().copied().eq(1..=last), "an event is missing or came twice: {received:?}");
    assert!(last >= ORDERS, "{last} events");
    follower.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_or_counts_twice_during_a_handover() {
    hand_over(LEADER_EXITS[draw("handover", LEADER_EXITS.len() as u64) as usize]).await;
}

mod long {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_request_fails_or_counts_twice_in_whatever_way_a_leader_leaves() {
        for exit in LEADER_EXITS {
            hand_over(exit).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigusr2_hands_over_and_a_standby_ignores_it() {
    let Some(mut pair) = Pair::start().await else { return };
    signal(&pair.second, "USR2");
    pair.second.has_logged(&["ignored SIGUSR2"]).await;
    pair.is_followed().await;
    signal(&pair.first, "USR2");
    assert!(pair.first.ended().await, "{}", pair.first.log().join("\n"));
    assert!(pair.first.log().iter().any(|line| line.contains(HANDING_OVER)));
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
