//! Sends signed messages to the server that they are for: at once, late, twice, or out of order, and again while they
//! are not taken.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::payments::hmac_sha256;
use crate::processor::Travel;

/// Most messages that wait to be sent; further ones push out the oldest.
const MAX_WAITING: usize = 10_000;
/// How often a message is sent until it is taken.
const MAX_TRIES: u32 = 200;
/// Pause before a message that was not taken is sent again.
const RETRY_PAUSE: Duration = Duration::from_millis(50);
/// Longest time of one delivery.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);

/// A message on its way.
#[derive(Clone, Debug)]
pub(super) struct Letter {
    pub(super) topic: (&'static str, String),
    /// The header of its signature.
    pub(super) signature: &'static str,
    /// Headers that hold ids of the webhook and of the delivery.
    pub(super) ids: [&'static str; 2],
    pub(super) body: String,
}

#[derive(Debug, Default)]
struct Inside {
    to: Option<(SocketAddr, String, String)>,
    travel: Travel,
    waiting: Vec<(Letter, u32)>,
    random: u64,
    taken: usize,
    given_up: usize,
}

/// Carries messages.
#[derive(Clone, Debug, Default)]
pub(super) struct ShopCourier {
    inside: Arc<Mutex<Inside>>,
    news: Arc<Notify>,
}

impl ShopCourier {
    fn with<T>(&self, act: impl FnOnce(&mut Inside) -> T) -> T {
        act(&mut self.inside.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn go_to(&self, to: SocketAddr, path: &str, secret: &str) {
        self.with(|inside| inside.to = Some((to, path.to_owned(), secret.to_owned())));
        self.news.notify_one();
    }

    pub(super) fn travel(&self, travel: Travel) {
        self.with(|inside| inside.travel = travel);
        self.news.notify_one();
    }

    pub(super) fn take(&self, letter: Letter) {
        self.with(|inside| {
            let copies = if inside.travel.twice { 2 } else { 1 };
            inside.waiting.extend(std::iter::repeat_n((letter, 0), copies));
            let surplus = inside.waiting.len().saturating_sub(MAX_WAITING);
            inside.waiting.drain(..surplus);
        });
        self.news.notify_one();
    }

    /// How many messages wait, were taken, and were given up.
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        self.with(|inside| (inside.waiting.len(), inside.taken, inside.given_up))
    }

    /// Carries messages until it is dropped.
    pub(super) async fn work(self) {
        loop {
            let Some((to, path, secret, letter, tries, late)) = self.next() else {
                self.news.notified().await;
                continue;
            };
            sleep(late).await;
            let taken = timeout(SEND_TIMEOUT, send(to, &path, &secret, &letter)).await;
            if matches!(taken, Ok(Ok(true))) {
                self.with(|inside| inside.taken += 1);
            } else if tries + 1 < MAX_TRIES {
                self.with(|inside| inside.waiting.push((letter, tries + 1)));
                sleep(RETRY_PAUSE).await;
            } else {
                self.with(|inside| inside.given_up += 1);
            }
        }
    }

    fn next(&self) -> Option<(SocketAddr, String, String, Letter, u32, Duration)> {
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
            let (letter, tries) = inside.waiting.remove(at);
            Some((to, path, secret, letter, tries, inside.travel.late))
        })
    }
}

/// Sends a message; `true`: it was taken.
async fn send(to: SocketAddr, path: &str, secret: &str, letter: &Letter) -> std::io::Result<bool> {
    let Letter { topic: (topic, what), signature, ids: [webhook, delivery], body } = letter;
    let signed = STANDARD.encode(hmac_sha256(secret.as_bytes(), body.as_bytes()));
    let id = fastrand::u64(..);
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {to}\r\nContent-Type: application/json\r\n{topic}: {what}\r\n{signature}: {signed}\r\n\
         {webhook}: 1\r\n{delivery}: {id}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(to).await?;
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    let mut beginning = [0; 12];
    stream.read_exact(&mut beginning).await?;
    Ok(beginning.starts_with(b"HTTP/1.1 2"))
}
