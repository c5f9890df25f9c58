//! Delivers signed events and messages to their receiver: immediately, late, twice, or out of order, with retries until
//! accepted. This is the simulator's only client for sending events and messages.

use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// Timeout for one delivery attempt.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);

/// Event or message that is signed again for each delivery attempt.
pub(crate) trait Deliverable: Clone + Debug + Send + Sync + 'static {
    /// Maximum number of pending messages; additional messages evict the oldest.
    const MAX_WAITING: usize;
    /// Maximum number of delivery attempts.
    const MAX_TRIES: u32;
    /// Delay before a retry.
    const RETRY_PAUSE: Duration;

    /// Returns the headers specific to the type, each with its line ending, and the body, signed with the given secret.
    fn sign(&self, secret: &str) -> (String, String);
}

/// Conditions under which events are delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryConditions {
    /// Holds events back while it is set.
    pub held: bool,
    /// Sends each event twice.
    pub twice: bool,
    /// Sends each event ten times.
    pub tenfold: bool,
    /// Sends pending events in a different order from the one in which they happened.
    pub shuffled: bool,
    /// Delay before each event is sent.
    pub late: Duration,
}

#[derive(Debug)]
struct CourierState<L> {
    to: Option<(SocketAddr, String, String)>,
    travel: DeliveryConditions,
    waiting: Vec<(L, u32)>,
    /// `true` while a message is being delivered.
    under_way: bool,
    random: u64,
    accepted: usize,
    given_up: usize,
}

/// Delivery queue for messages.
#[derive(Clone, Debug)]
pub(crate) struct Courier<L> {
    inside: Arc<Mutex<CourierState<L>>>,
    news: Arc<Notify>,
}

impl<L: Deliverable> Courier<L> {
    pub(crate) fn new() -> Self {
        let (travel, waiting) = (DeliveryConditions::default(), Vec::new());
        let inside = CourierState { to: None, travel, waiting, under_way: false, random: 0, accepted: 0, given_up: 0 };
        Self { inside: Arc::new(Mutex::new(inside)), news: Arc::default() }
    }

    fn with<T>(&self, act: impl FnOnce(&mut CourierState<L>) -> T) -> T {
        act(&mut self.inside.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends all subsequent messages to the given path on a server, signed with the given secret.
    pub(crate) fn go_to(&self, to: SocketAddr, path: &str, secret: &str) {
        self.with(|inside| inside.to = Some((to, path.to_owned(), secret.to_owned())));
        self.news.notify_one();
    }

    pub(crate) fn travel(&self, travel: DeliveryConditions) {
        self.with(|inside| inside.travel = travel);
        self.news.notify_one();
    }

    /// Returns the current delivery conditions.
    pub(crate) fn current_travel(&self) -> DeliveryConditions {
        self.with(|inside| inside.travel)
    }

    pub(crate) fn take(&self, letters: impl IntoIterator<Item = L>) {
        self.with(|inside| {
            let DeliveryConditions { twice, tenfold, .. } = inside.travel;
            let copies = if tenfold { 10 } else { 1 + usize::from(twice) };
            for letter in letters {
                inside.waiting.extend(std::iter::repeat_n((letter, 0), copies));
            }
            let surplus = inside.waiting.len().saturating_sub(L::MAX_WAITING);
            inside.waiting.drain(..surplus);
        });
        self.news.notify_one();
    }

    /// Returns the number of pending, accepted and abandoned messages. A message is pending until the receiver has
    /// responded.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        self.with(|inside| (inside.waiting.len() + usize::from(inside.under_way), inside.accepted, inside.given_up))
    }

    /// Delivers messages until cancelled.
    pub(crate) async fn work(self) {
        loop {
            let Some((to, path, secret, letter, tries, late)) = self.next() else {
                self.news.notified().await;
                continue;
            };
            sleep(late).await;
            let outcome = timeout(SEND_TIMEOUT, send(to, &path, &secret, &letter)).await;
            let accepted = matches!(outcome, Ok(Ok(true)));
            self.with(|inside| {
                inside.under_way = false;
                if accepted {
                    inside.accepted += 1;
                } else if tries + 1 < L::MAX_TRIES {
                    // Behind the others: one that is not taken holds none of them up.
                    inside.waiting.push((letter, tries + 1));
                } else {
                    inside.given_up += 1;
                }
            });
            if !accepted {
                sleep(L::RETRY_PAUSE).await;
            }
        }
    }

    fn next(&self) -> Option<(SocketAddr, String, String, L, u32, Duration)> {
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
            inside.under_way = true;
            Some((to, path, secret, letter, tries, inside.travel.late))
        })
    }
}

/// Sends a message; returns whether the receiver accepted it.
async fn send(to: SocketAddr, path: &str, secret: &str, letter: &impl Deliverable) -> std::io::Result<bool> {
    let (headers, body) = letter.sign(secret);
    let length = body.len();
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: {to}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n");
    let mut stream = TcpStream::connect(to).await?;
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    let mut beginning = [0; 12];
    stream.read_exact(&mut beginning).await?;
    Ok(beginning.starts_with(b"HTTP/1.1 2"))
}
