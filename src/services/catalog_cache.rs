//! Cache of the catalogue, and the interface of its providers. An entry is fresh for a minute, refreshed by one task
//! for all waiting requests, and served while its provider is unavailable. The providers themselves are elsewhere.
//!
//! The last successful response from a remote provider is stored in a file in the data directory, and in Redis if
//! configured, so that a server that starts while the provider is unavailable can still serve it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::redis::Redis;
use domain::catalog::Catalog;
use domain::time::Timestamp;
use platform::watch::WatchSender;

/// Time for which a response from the provider is considered fresh.
const FRESH_FOR: Duration = Duration::from_secs(60);
/// Maximum time for which a request waits for a refresh when a stale catalogue is available.
const MAX_WAIT: Duration = Duration::from_millis(300);
/// Time, in seconds, for which a failure is returned again without another attempt while no catalogue is available.
const FAILED_FOR_SECONDS: u32 = 5;
/// Maximum size, in bytes, of a stored catalogue to read back.
const MAX_KEPT_BYTES: u64 = 16 * 1024 * 1024;
/// Name of the file in the data directory that contains the last successfully read catalogue.
const FILE_NAME: &str = "catalog.json";
/// Redis key of the last successfully read catalogue.
const REDIS_NAME: &str = "catalog";
/// Expiry of the Redis entry.
const REDIS_LIFETIME: Duration = Duration::from_secs(7 * 24 * 3600);
/// Answer while no catalogue is available.
const UNAVAILABLE: CatalogUnavailable = CatalogUnavailable { retry_after_seconds: FAILED_FOR_SECONDS };

/// Source of the products on sale.
#[async_trait]
pub trait CatalogProvider: Send + Sync {
    /// Returns the provider's identifier, which is included in responses.
    fn source(&self) -> &'static str;
    /// Returns whether the last successfully read catalogue is stored, so that it is available if the server starts
    /// while the provider is unavailable.
    fn is_remote(&self) -> bool {
        false
    }
    /// Reads the whole catalogue; the error is a message for the log.
    async fn read(&self, now: Timestamp) -> Result<Catalog, String>;
}

/// Failure to provide a catalogue: the provider does not respond, and no earlier response is cached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the catalogue cannot be read now")]
pub struct CatalogUnavailable {
    /// Time after which the provider is asked again, in seconds.
    pub retry_after_seconds: u32,
}

#[derive(Default)]
struct CachedCatalog {
    /// Last successfully read catalogue.
    catalog: Option<Arc<Catalog>>,
    /// Time at which the last read from the provider ended, successful or not.
    asked_at: Option<Instant>,
    /// `true` while a task is reading from the provider.
    asking: bool,
}

struct CacheParts {
    provider: Box<dyn CatalogProvider>,
    /// File that contains the last successfully read catalogue; `None` if the catalogue is not stored.
    file: Option<PathBuf>,
    /// Redis server that also stores the last successfully read catalogue, for servers with a different data directory.
    redis: Option<Arc<Redis>>,
    cache: Mutex<CachedCatalog>,
    /// Channel that notifies waiting requests when a read from the provider has ended.
    reads: WatchSender<u64>,
}

/// Shared cache of the last response from the catalogue provider.
pub struct CatalogCache(Arc<CacheParts>);

impl CatalogCache {
    /// Creates an empty cache for the given provider. The last successfully read catalogue of a remote provider is
    /// stored in `folder` and in Redis.
    pub fn new(provider: Box<dyn CatalogProvider>, folder: &Path, redis: Option<Arc<Redis>>) -> Self {
        let file = provider.is_remote().then(|| folder.join(FILE_NAME));
        let redis = redis.filter(|_| provider.is_remote());
        Self(Arc::new(CacheParts { provider, file, redis, cache: Mutex::default(), reads: WatchSender::new(0) }))
    }

    /// Returns the catalogue, which is at most a minute old while its provider responds. One task reads from the
    /// provider, and all requests wait for it; if a stale catalogue is available, they wait only briefly.
    ///
    /// # Errors
    ///
    /// Returns an error if the provider does not respond and there is no earlier catalogue.
    pub async fn recent(&self, now: Timestamp) -> Result<Arc<Catalog>, CatalogUnavailable> {
        let mut news = self.0.reads.subscribe();
        let older = {
            let mut cached = self.0.cached();
            let fresh = cached.asked_at.is_some_and(|asked_at| asked_at.elapsed() < FRESH_FOR);
            if let (true, Some(catalog)) = (fresh, &cached.catalog) {
                return Ok(catalog.clone());
            }
            let pause = Duration::from_secs(u64::from(FAILED_FOR_SECONDS));
            let failed = cached.asked_at.is_some_and(|asked_at| asked_at.elapsed() < pause);
            if failed && !cached.asking && cached.catalog.is_none() {
                return Err(UNAVAILABLE);
            }
            if !cached.asking {
                cached.asking = true;
                // A task of its own: whoever asked may go away, and the others wait for it all the same.
                tokio::spawn(self.0.clone().ask(now));
            }
            cached.catalog.clone()
        };
        match older {
            Some(older) => {
                let _ = tokio::time::timeout(MAX_WAIT, news.changed()).await;
                Ok(self.0.cached().catalog.clone().unwrap_or(older))
            }
            None => loop {
                let _ = news.changed().await;
                let cached = self.0.cached();
                match &cached.catalog {
                    Some(catalog) => return Ok(catalog.clone()),
                    None if cached.asking => {}
                    None => return Err(UNAVAILABLE),
                }
            },
        }
    }
}

/// Guard that, when dropped, marks a read from the provider as ended, even after a panic.
struct ProviderReadGuard(Arc<CacheParts>);

impl Drop for ProviderReadGuard {
    fn drop(&mut self) {
        let mut cached = self.0.cached();
        (cached.asking, cached.asked_at) = (false, Some(Instant::now()));
        drop(cached);
        self.0.reads.send_modify(|count| *count += 1);
    }
}

impl CacheParts {
    fn cached(&self) -> std::sync::MutexGuard<'_, CachedCatalog> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(self: Arc<Self>, now: Timestamp) {
        let _asking = ProviderReadGuard(self.clone());
        match self.provider.read(now).await {
            Ok(catalog) => {
                self.keep(&catalog).await;
                self.cached().catalog = Some(Arc::new(catalog));
            }
            Err(error) => {
                tracing::warn!(source = self.provider.source(), %error, "the catalogue cannot be read");
                if self.cached().catalog.is_none() {
                    let last = self.last().await.map(Arc::new);
                    self.cached().catalog = last;
                }
            }
        }
    }

    /// Stores the catalogue in the data directory and in Redis. If both fail, a restarted server has nothing to serve
    /// until the provider responds.
    async fn keep(&self, catalog: &Catalog) {
        let Some(file) = &self.file else { return };
        let Ok(text) = serde_json::to_string(catalog) else { return };
        let new = file.with_extension("json.new");
        let written = async {
            tokio::fs::write(&new, &text).await?;
            tokio::fs::rename(&new, file).await
        };
        if let Err(error) = written.await {
            tracing::warn!(%error, "cannot store the last good catalogue on disk");
        }
        if let Some(redis) = &self.redis
            && let Err(error) = redis.keep_text(REDIS_NAME, &text, REDIS_LIFETIME).await
        {
            tracing::debug!(%error, "the last good catalogue could not be stored in Redis");
        }
    }

    /// Returns the catalogue stored by an earlier process or another server.
    async fn last(&self) -> Option<Catalog> {
        match self.of_file().await {
            Some(catalog) => Some(catalog),
            None => {
                let text = self.redis.as_ref()?.kept_text(REDIS_NAME, MAX_KEPT_BYTES).await.ok()??;
                self.read_back(text.as_bytes())
            }
        }
    }

    async fn of_file(&self) -> Option<Catalog> {
        let file = self.file.as_ref()?;
        let size = tokio::fs::metadata(file).await.ok()?.len();
        if size > MAX_KEPT_BYTES {
            return None;
        }
        self.read_back(&tokio::fs::read(file).await.ok()?)
    }

    /// Parses a stored catalogue; returns `None` if it is from a different provider.
    fn read_back(&self, text: &[u8]) -> Option<Catalog> {
        let value = bounded_json::read(text, bounded_json::ANSWER).ok()?;
        serde_json::from_value::<Catalog>(value).ok().filter(|catalog| catalog.source == self.provider.source())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    fn catalog() -> Catalog {
        Catalog { source: "failing".to_owned(), generated_at: Timestamp(7), items: Vec::new(), collections: Vec::new() }
    }

    /// Provider that answers the calls with the given numbers, fails the others, and can be made to hang.
    struct Failing {
        calls: Arc<AtomicUsize>,
        good: &'static [usize],
        hangs: &'static [usize],
    }

    #[async_trait]
    impl CatalogProvider for Failing {
        fn source(&self) -> &'static str {
            "failing"
        }
        fn is_remote(&self) -> bool {
            true
        }
        async fn read(&self, _: Timestamp) -> Result<Catalog, String> {
            let call = self.calls.fetch_add(1, Relaxed);
            if self.hangs.contains(&call) {
                std::future::pending::<()>().await;
            }
            if self.good.contains(&call) { Ok(catalog()) } else { Err("away".to_owned()) }
        }
    }

    fn cache(
        folder: &std::path::Path,
        good: &'static [usize],
        hangs: &'static [usize],
    ) -> (CatalogCache, Arc<AtomicUsize>) {
        let calls = Arc::new(AtomicUsize::new(0));
        (CatalogCache::new(Box::new(Failing { calls: calls.clone(), good, hangs }), folder, None), calls)
    }

    fn age(cache: &CatalogCache) {
        cache.0.cached().asked_at = Instant::now().checked_sub(FRESH_FOR);
    }

    #[tokio::test]
    async fn the_last_good_answer_is_shown_while_the_provider_is_away() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, calls) = cache(folder.path(), &[1], &[3]);
        assert_eq!(cache.recent(Timestamp(0)).await, Err(UNAVAILABLE));
        assert_eq!(cache.recent(Timestamp(0)).await, Err(UNAVAILABLE));
        assert_eq!(calls.load(Relaxed), 1, "a failure is told for a while, and not asked for by everybody");
        age(&cache);
        let all = futures::future::join_all((0..20).map(|_| cache.recent(Timestamp(0)))).await;
        assert!(all.iter().all(Result::is_ok));
        assert_eq!(calls.load(Relaxed), 2, "one asks for all, and a fresh answer is not asked for again");
        age(&cache);
        assert_eq!(*cache.recent(Timestamp(0)).await.unwrap(), catalog());
        assert_eq!(calls.load(Relaxed), 3);
        age(&cache);
        assert_eq!(*cache.recent(Timestamp(0)).await.unwrap(), catalog(), "also while it hangs");
        let (later, _) = self::cache(folder.path(), &[], &[]);
        assert_eq!(*later.recent(Timestamp(0)).await.unwrap(), catalog(), "and after a restart");
    }
}
