//! Redis client: rate-limit windows shared by all servers, the last good catalogue, and a stream of events for other
//! programs. Redis never holds the authoritative copy of anything.
//!
//! No caller waits for an unavailable Redis server: the first command without a response opens the circuit breaker, all
//! callers continue without Redis, and a task tries to reconnect until Redis responds again.

pub mod stream;
mod texts;

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

use domain::limits::LimitRule;
use domain::schedule::Delays;
use domain::time::Timestamp;
use platform::http::lan_addresses;

/// Prefix of all keys.
const KEY_PREFIX: &str = "printfloor:";
/// Time limit for opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Delays between connection attempts.
const RECONNECT_DELAYS: Delays = Delays { first: Duration::from_millis(100), longest: Duration::from_secs(1) };
/// Interval between health checks while Redis is available.
const PING_INTERVAL: Duration = Duration::from_secs(1);
/// Time in milliseconds for which a window is kept after its end, because the servers' clocks differ slightly.
const WINDOW_GRACE_MS: i64 = 5_000;

/// Script that counts a request in all windows or, if one is full, in none. Keys: the windows. Arguments: the limit and
/// lifetime (ms) of each window.
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

/// Script that undoes the counting of a request in all windows that still exist. Keys: the windows.
const TAKE_BACK_SCRIPT: &str = r"
for _, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or '0') > 0 then redis.call('DECR', key) end
end
return 0";

/// Rate-limit window shared by all servers.
#[derive(Clone, Copy, Debug)]
pub struct SharedWindow {
    /// Rate-limit rule name.
    pub word: &'static str,
    /// Hash of the caller whose requests are counted.
    pub scope: u128,
    /// Sequence number of the window, counted from the Unix epoch.
    pub index: i64,
    /// Maximum number of requests in the window.
    pub limit: u32,
    /// Window length in milliseconds.
    pub period_ms: i64,
}

impl SharedWindow {
    /// Returns the window of a rule that contains `now`.
    pub const fn at(word: &'static str, scope: u128, rule: LimitRule, now: Timestamp) -> Self {
        Self { word, scope, index: rule.index(now), limit: rule.limit, period_ms: rule.period_ms }
    }

    fn key(&self) -> String {
        format!("{KEY_PREFIX}limit:{}:{:x}:{}", self.word, self.scope, self.index)
    }
}

/// Result of counting one request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WindowCounts {
    /// One of the windows was full; nothing was counted.
    pub full: bool,
    /// Number of requests in each window.
    pub counts: Vec<u32>,
}

/// Connection that passed its health check.
struct CheckedConnection(ConnectionManager);

/// Client for a Redis server that may be unavailable.
pub struct Redis {
    client: Client,
    within: Duration,
    stream_length: u32,
    script: Script,
    take_back: Script,
    link: ArcSwapOption<CheckedConnection>,
    lost: Notify,
    losses: AtomicU64,
    failures: AtomicU64,
    streamed: AtomicI64,
    /// Time at which Redis last accepted a write from this process.
    proven_at: ArcSwapOption<Instant>,
}

impl Redis {
    /// Creates a client for the given address without connecting yet. Queries wait for at most `within`; the stream
    /// keeps about `stream_length` entries. Fails if the address is invalid.
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

    /// Returns whether Redis is available.
    pub fn is_up(&self) -> bool {
        self.link.load().is_some()
    }
    /// Returns the time since Redis last responded in time and accepted a write; `None` if it never has. This is tested
    /// every second.
    pub fn since_proof(&self) -> Option<Duration> {
        self.proven_at.load().as_ref().map(|at| at.elapsed())
    }
    /// Returns the number of times that the connection has been lost.
    pub fn losses(&self) -> u64 {
        self.losses.load(Relaxed)
    }
    /// Returns the number of queries that got no response.
    pub fn failures(&self) -> u64 {
        self.failures.load(Relaxed)
    }
    /// Returns the number of the last event that, as far as this process knows, is in the stream; 0 if none is known.
    pub fn streamed(&self) -> i64 {
        self.streamed.load(Relaxed)
    }
    /// Records that the stream contains all events up to the given one.
    pub fn note_streamed(&self, seq: i64) {
        self.streamed.store(seq, Relaxed);
    }

    /// Counts a request in all the given windows, or in none if one is full. Returns `None` if Redis is unavailable.
    pub async fn count(&self, windows: &[SharedWindow]) -> Option<WindowCounts> {
        let link = self.link.load_full()?;
        let mut invocation = self.script.prepare_invoke();
        for window in windows {
            invocation.key(window.key());
            invocation.arg(window.limit).arg(window.period_ms + WINDOW_GRACE_MS);
        }
        let mut connection = link.0.clone();
        let why = match timeout(self.within, invocation.invoke_async::<Vec<u32>>(&mut connection)).await {
            Ok(Ok(mut counts)) if counts.len() == windows.len() + 1 => {
                return Some(WindowCounts { full: counts.remove(0) == 1, counts });
            }
            Ok(Ok(counts)) => format!("{} counts for {} windows", counts.len(), windows.len()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no response within {} ms", self.within.as_millis()),
        };
        self.failures.fetch_add(1, Relaxed);
        self.lose(&link, &why);
        None
    }

    /// Undoes the counting of a request in all the given windows. If Redis does not respond in time, the request stays
    /// counted.
    pub async fn take_back(&self, windows: &[SharedWindow]) {
        let Some(link) = self.link.load_full() else { return };
        let mut invocation = self.take_back.prepare_invoke();
        for window in windows {
            invocation.key(window.key());
        }
        let mut connection = link.0.clone();
        if !matches!(timeout(self.within, invocation.invoke_async::<()>(&mut connection)).await, Ok(Ok(()))) {
            self.failures.fetch_add(1, Relaxed);
        }
    }

    /// Marks a connection as lost. Unless a newer connection has already replaced it, no queries are sent until Redis
    /// is connected again.
    fn lose(&self, link: &Arc<CheckedConnection>, why: &str) {
        let before = self.link.compare_and_swap(link, None);
        if before.as_ref().is_some_and(|before| Arc::ptr_eq(before, link)) {
            self.losses.fetch_add(1, Relaxed);
            tracing::warn!(why, "Redis is unavailable; counting rate limits in this process");
            self.lost.notify_one();
        }
    }

    /// Checks that Redis can be reached, responds in time and accepts writes.
    pub async fn check(&self) -> RedisResult<()> {
        self.connect().await.map(drop)
    }

    /// Reconnects while Redis is unavailable, and checks its health while it is available, until `leaving` is
    /// cancelled.
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
                        tracing::info!("Redis is available; sharing rate limits");
                        break;
                    }
                    Err(error) if first => {
                        tracing::warn!(%error, "Redis is unavailable; counting rate limits in this process");
                    }
                    Err(error) => tracing::debug!(%error, "Redis is still unavailable"),
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

    /// Opens a new connection. Connections are not reused, because an old one may hang after a network failure.
    async fn connect(&self) -> RedisResult<CheckedConnection> {
        let manager = self.manager(self.within).await?;
        self.prove(&manager).await?;
        self.script.prepare_invoke().load_async(&mut manager.clone()).await?;
        Ok(CheckedConnection(manager))
    }

    /// Checks that the connection responds in time and accepts writes.
    async fn prove(&self, manager: &ConnectionManager) -> RedisResult<()> {
        let mut set = redis::cmd("SET");
        set.arg(format!("{KEY_PREFIX}alive")).arg(1).arg("PX").arg(60_000);
        set.exec_async(&mut manager.clone()).await?;
        self.proven_at.store(Some(Arc::new(Instant::now())));
        Ok(())
    }

    /// Opens a connection whose queries wait for at most `within`.
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
