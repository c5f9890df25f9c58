//! Sends signed events to the server that they are for: at once, late, twice, or out of order, and again while they are
//! not taken. This and nothing else of the simulator is a client.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::payments::signature;

/// Most events that wait to be sent; further ones push out the oldest.
const MAX_WAITING: usize = 50_000;
/// How often an event is sent until it is taken.
const MAX_TRIES: u32 = 50;
/// Pause before an event that was not taken is sent again.
const RETRY_PAUSE: Duration = Duration::from_millis(200);
/// Longest time of one delivery.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);

/// How events travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Travel {
    /// They wait until this is lifted.
    pub held: bool,
    /// Each is sent twice.
    pub twice: bool,
    /// Each is sent ten times.
    pub tenfold: bool,
    /// Those that wait leave in another order than they happened in.
    pub shuffled: bool,
    /// Each leaves this much later.
    pub late: Duration,
}

#[derive(Debug, Default)]
struct Inside {
    to: Option<(SocketAddr, String, String)>,
    travel: Travel,
    waiting: Vec<(Value, u32)>,
    random: u64,
    taken: usize,
    given_up: usize,
}

/// Carries events.
#[derive(Clone, Debug, Default)]
pub(super) struct Courier {
    inside: Arc<Mutex<Inside>>,
    news: Arc<Notify>,
}

impl Courier {
    fn with<T>(&self, act: impl FnOnce(&mut Inside) -> T) -> T {
        act(&mut self.inside.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Events go to this path of a server from now on, signed with this secret.
    pub(super) fn go_to(&self, to: SocketAddr, path: &str, secret: &str) {
        self.with(|inside| inside.to = Some((to, path.to_owned(), secret.to_owned())));
        self.news.notify_one();
    }

    pub(super) fn travel(&self, travel: Travel) {
        self.with(|inside| inside.travel = travel);
        self.news.notify_one();
    }

    /// Returns how events travel at present.
    pub(super) fn current_travel(&self) -> Travel {
        self.with(|inside| inside.travel)
    }

    pub(super) fn take(&self, events: Vec<Value>) {
        self.with(|inside| {
            let Travel { twice, tenfold, .. } = inside.travel;
            let copies = if tenfold { 10 } else { 1 + usize::from(twice) };
            for event in events {
                inside.waiting.extend(std::iter::repeat_n((event, 0), copies));
            }
            let surplus = inside.waiting.len().saturating_sub(MAX_WAITING);
            inside.waiting.drain(..surplus);
        });
        self.news.notify_one();
    }

    /// How many events wait, were taken, and were given up.
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        self.with(|inside| (inside.waiting.len(), inside.taken, inside.given_up))
    }

    /// Carries events until it is dropped.
    pub(super) async fn work(self) {
        loop {
            let Some((to, path, secret, event, tries, late)) = self.next() else {
                self.news.notified().await;
                continue;
            };
            sleep(late).await;
            let taken = timeout(SEND_TIMEOUT, send(to, &path, &secret, &event)).await;
            if matches!(taken, Ok(Ok(true))) {
                self.with(|inside| inside.taken += 1);
            } else if tries + 1 < MAX_TRIES {
                // Behind the others: an event that is not taken holds none of them up.
                self.with(|inside| inside.waiting.push((event, tries + 1)));
                sleep(RETRY_PAUSE).await;
            } else {
                self.with(|inside| inside.given_up += 1);
            }
        }
    }

    fn next(&self) -> Option<(SocketAddr, String, String, Value, u32, Duration)> {
        self.with(|inside| {
            let (to, path, secret) = inside.to.clone()?;
            if inside.travel.held || inside.waiting.is_empty() {
                return None;
            }
            let mut at = 0;
            if inside.travel.shuffled {
                inside.random =
                    inside.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                at = (inside.random >> 33) as usize % inside.waiting.len();
            }
            let (event, tries) = inside.waiting.remove(at);
            Some((to, path, secret, event, tries, inside.travel.late))
        })
    }
}

/// Sends an event; `true`: it was taken.
async fn send(to: SocketAddr, path: &str, secret: &str, event: &Value) -> std::io::Result<bool> {
    // Indented, which reveals receivers that write the body again before they verify it.
    let body = format!("{event:#}");
    let signed = signature(secret, super::books::now(), body.as_bytes());
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {to}\r\nContent-Type: application/json; charset=utf-8\r\nUser-Agent: Stripe/1.0\r\n\
         Stripe-Signature: {signed}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(to).await?;
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    let mut beginning = [0; 12];
    stream.read_exact(&mut beginning).await?;
    Ok(beginning.starts_with(b"HTTP/1.1 2"))
}
