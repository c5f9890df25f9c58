//! Redis: windows of rate limits that all servers share, the last good catalogue, and a stream of events for other
//! programs. Never the truth about anything.
//!
//! While Redis is unavailable nothing waits for it: the first command without an answer opens the circuit, all go on
//! without Redis, and one task tries it until it answers again.

mod kept;
pub mod stream;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, ConnectionAddr, RedisError, RedisResult, Script};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use url::Host;

use crate::domain::limits::LimitRule;
use crate::domain::schedule::Delays;
use crate::domain::time::Timestamp;
use crate::services::http::lan_addresses;

/// What all our keys begin with.
const KEY_PREFIX: &str = "printfloor:";
/// Longest a connection may take to open.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Pauses between attempts to connect.
const RECONNECT_DELAYS: Delays = Delays { first: Duration::from_millis(100), longest: Duration::from_secs(1) };
/// Between two looks while it is there.
const PING_INTERVAL: Duration = Duration::from_secs(1);
/// A window is forgotten this long after its end, in milliseconds: clocks of servers differ a little.
const WINDOW_GRACE_MS: i64 = 5_000;

/// Counts a request in all windows or in none. Keys: the windows. Arguments: limit and lifetime (ms) of each.
const COUNT_SCRIPT: &str = r"
local counts, full = {}, 0
for i, key in ipairs(KEYS) do
  counts[i] = tonumber(redis.call('GET', key) or '0')
  if counts[i] >= tonumber(ARGV[2 * i - 1]) then full = 1 end
end
if full == 0 then
  for i, key in ipairs(KEYS) do
    counts[i] = redis.call('INCR', key)
    if counts[i] == 1 then redis.call('PEXPIRE', key, ARGV[2 * i]) end
  end
end
table.insert(counts, 1, full)
return counts";

/// Takes a request back from all windows that have not been forgotten. Keys: the windows.
const TAKE_BACK_SCRIPT: &str = r"
for _, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or '0') > 0 then redis.call('DECR', key) end
end
return 0";

/// One rate-limit window as the servers share it in Redis.
#[derive(Clone, Copy, Debug)]
pub struct Shared {
    /// The name of its rule.
    pub word: &'static str,
    /// Whose requests it counts: a hash of the caller.
    pub scope: u128,
    /// Number of the window since 1970.
    pub index: i64,
    /// Largest number of requests in it.
    pub limit: u32,
    /// Its length, in milliseconds.
    pub period_ms: i64,
}

impl Shared {
    /// The window of `now` under a rule.
    pub const fn at(word: &'static str, scope: u128, rule: LimitRule, now: Timestamp) -> Self {
        Self { word, scope, index: rule.index(now), limit: rule.limit, period_ms: rule.period_ms }
    }

    fn key(&self) -> String {
        format!("{KEY_PREFIX}limit:{}:{:x}:{}", self.word, self.scope, self.index)
    }
}

/// The answer of Redis to one request of a caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WindowCounts {
    /// One of the windows was full; nothing was counted.
    pub full: bool,
    /// Requests in each window.
    pub counts: Vec<u32>,
}

/// A connection that has proved itself.
struct ProvenConnection(ConnectionManager);

/// Redis, available or not.
pub struct Redis {
    client: Client,
    within: Duration,
    stream_length: u32,
    script: Script,
    take_back: Script,
    link: ArcSwapOption<ProvenConnection>,
    lost: Notify,
    losses: AtomicU64,
    failures: AtomicU64,
    streamed: AtomicI64,
    /// The moment at which it last took a write of ours.
    proven_at: ArcSwapOption<Instant>,
}

impl Redis {
    /// At this address; nothing is connected yet. Questions wait at most `within`; the stream keeps about
    /// `stream_length` entries. Fails for an address that cannot be one.
    pub fn new(url: &str, within: Duration, stream_length: u32) -> RedisResult<Arc<Self>> {
        Ok(Arc::new(Self {
            client: Client::open(url)?,
            within,
            stream_length,
            script: Script::new(COUNT_SCRIPT),
            take_back: Script::new(TAKE_BACK_SCRIPT),
            link: ArcSwapOption::empty(),
            lost: Notify::new(),
            losses: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            streamed: AtomicI64::new(0),
            proven_at: ArcSwapOption::empty(),
        }))
    }

    /// Whether it is there.
    pub fn is_up(&self) -> bool {
        self.link.load().is_some()
    }
    /// Returns how long ago it last answered in time and took a write; `None` before the first time. It is tried every
    /// second.
    pub fn since_proof(&self) -> Option<Duration> {
        self.proven_at.load().as_ref().map(|at| at.elapsed())
    }
    /// How often it was lost so far.
    pub fn losses(&self) -> u64 {
        self.losses.load(Relaxed)
    }
    /// Questions that got no answer so far.
    pub fn failures(&self) -> u64 {
        self.failures.load(Relaxed)
    }
    /// Number of the last event in the stream, as far as this process knows; 0 before the first.
    pub fn streamed(&self) -> i64 {
        self.streamed.load(Relaxed)
    }
    /// Events up to this one are in the stream.
    pub fn note_streamed(&self, seq: i64) {
        self.streamed.store(seq, Relaxed);
    }

    /// Counts a request in all these windows, or in none when one is full. `None` while Redis is unavailable.
    pub async fn count(&self, windows: &[Shared]) -> Option<WindowCounts> {
        let link = self.link.load_full()?;
        let mut asked = self.script.prepare_invoke();
        for window in windows {
            asked.key(window.key());
            asked.arg(window.limit).arg(window.period_ms + WINDOW_GRACE_MS);
        }
        let mut connection = link.0.clone();
        let why = match timeout(self.within, asked.invoke_async::<Vec<u32>>(&mut connection)).await {
            Ok(Ok(mut counts)) if counts.len() == windows.len() + 1 => {
                return Some(WindowCounts { full: counts.remove(0) == 1, counts });
            }
            Ok(Ok(counts)) => format!("{} numbers for {} windows", counts.len(), windows.len()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer in {} ms", self.within.as_millis()),
        };
        self.failures.fetch_add(1, Relaxed);
        self.lose(&link, &why);
        None
    }

    /// Takes a request back from all these windows. Where Redis does not answer in time it stays counted.
    pub async fn take_back(&self, windows: &[Shared]) {
        let Some(link) = self.link.load_full() else { return };
        let mut asked = self.take_back.prepare_invoke();
        for window in windows {
            asked.key(window.key());
        }
        let mut connection = link.0.clone();
        if !matches!(timeout(self.within, asked.invoke_async::<()>(&mut connection)).await, Ok(Ok(()))) {
            self.failures.fetch_add(1, Relaxed);
        }
    }

    /// A link failed: unless another one stands already, nobody asks any more until there is one.
    fn lose(&self, link: &Arc<ProvenConnection>, why: &str) {
        let before = self.link.compare_and_swap(link, None);
        if before.as_ref().is_some_and(|before| Arc::ptr_eq(before, link)) {
            self.losses.fetch_add(1, Relaxed);
            tracing::warn!(why, "redis is unavailable: rate limits are kept in this process until it is back");
            self.lost.notify_one();
        }
    }

    /// Whether it can be reached now, answers in time and takes writes.
    pub async fn check(&self) -> RedisResult<()> {
        self.connect().await.map(drop)
    }

    /// Looks for Redis while it is unavailable, and after it while it is there, until `leaving`.
    pub async fn keep(self: Arc<Self>, leaving: CancellationToken) {
        tokio::select! {
            biased; // the end of the server before further work
            () = leaving.cancelled() => {}
            () = self.look() => {}
        }
    }

    async fn look(&self) {
        let mut first = true;
        loop {
            let mut failures = 0;
            loop {
                match self.connect().await {
                    Ok(link) => {
                        self.link.store(Some(Arc::new(link)));
                        tracing::info!("redis is there: rate limits are shared");
                        break;
                    }
                    Err(error) if first => {
                        tracing::warn!(%error, "redis is unavailable: rate limits are kept in this process until it is there");
                    }
                    Err(error) => tracing::debug!(%error, "redis is still unavailable"),
                }
                first = false;
                sleep(RECONNECT_DELAYS.next(failures, 1.0)).await;
                failures += 1;
            }
            first = false;
            while let Some(link) = self.link.load_full() {
                tokio::select! {
                    biased; // a lost connection needs no proof
                    () = self.lost.notified() => {}
                    () = sleep(PING_INTERVAL) => if let Err(error) = self.prove(&link.0).await {
                        self.lose(&link, &error.to_string());
                    },
                }
            }
        }
    }

    /// A new connection each time: an old one may hang on a network that has forgotten it.
    async fn connect(&self) -> RedisResult<ProvenConnection> {
        let manager = self.manager(self.within).await?;
        self.prove(&manager).await?;
        self.script.prepare_invoke().load_async(&mut manager.clone()).await?;
        Ok(ProvenConnection(manager))
    }

    /// It answers in time and takes writes.
    async fn prove(&self, manager: &ConnectionManager) -> RedisResult<()> {
        let mut set = redis::cmd("SET");
        set.arg(format!("{KEY_PREFIX}alive")).arg(1).arg("PX").arg(60_000);
        set.exec_async(&mut manager.clone()).await?;
        self.proven_at.store(Some(Arc::new(Instant::now())));
        Ok(())
    }

    /// Connects; each answer may take `within`.
    async fn manager(&self, within: Duration) -> RedisResult<ConnectionManager> {
        let config = ConnectionManagerConfig::new()
            .set_number_of_retries(0)
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(within));
        let connecting = async {
            if let ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } =
                self.client.get_connection_info().addr()
            {
                lan_addresses(Host::Domain(host.trim_matches(['[', ']'])), *port).await?;
            }
            ConnectionManager::new_with_config(self.client.clone(), config).await
        };
        match timeout(CONNECT_TIMEOUT, connecting).await {
            Ok(connected) => connected,
            Err(_) => Err(RedisError::from(std::io::Error::from(std::io::ErrorKind::TimedOut))),
        }
    }
}
