//! The catalogue as it was read last: kept for a minute, read anew by one task for all who ask, and shown while its
//! provider is away.
//!
//! The last good answer of a remote provider is kept in a file of the data folder, and in Redis where there is one, so
//! that a server that starts while the provider is away has something to show.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::{Catalog, CatalogProvider};
use crate::domain::time::Timestamp;
use crate::http::error::ApiError;
use crate::services::redis::Redis;

/// How long an answer of the provider is shown before it is asked again.
const FRESH_FOR: Duration = Duration::from_secs(60);
/// Longest that a request waits for a new answer while there is an older one.
const MAX_WAIT: Duration = Duration::from_millis(300);
/// How long a failure is told without asking again, while nothing else is known; in seconds.
const FAILED_FOR_SECONDS: u32 = 5;
/// Longest kept answer that is read back, in bytes.
const MAX_KEPT_BYTES: u64 = 16 * 1024 * 1024;
/// The file of the last good answer, in the data folder.
const FILE_NAME: &str = "catalog.json";
/// What the last good answer is called in Redis.
const REDIS_NAME: &str = "catalog";
/// How long Redis keeps it.
const REDIS_LIFETIME: Duration = Duration::from_secs(7 * 24 * 3600);

#[derive(Default)]
struct KeptCatalog {
    /// The last good answer.
    catalog: Option<Arc<Catalog>>,
    /// When the provider was asked last, whatever came of it.
    asked_at: Option<Instant>,
    /// Whether it is being asked now.
    asking: bool,
}

struct CacheParts {
    provider: Box<dyn CatalogProvider>,
    /// Where the last good answer is kept; `None`: nowhere.
    file: Option<PathBuf>,
    /// Where it is kept besides, for servers on other data.
    redis: Option<Arc<Redis>>,
    kept: Mutex<KeptCatalog>,
    /// Changes when an asking is over.
    asked: watch::Sender<u64>,
}

/// What the provider said last.
pub struct CatalogCache(Arc<CacheParts>);

impl CatalogCache {
    /// Of this provider; nothing is read yet. `folder` and Redis are where the last good answer of a remote one is
    /// kept.
    pub fn new(provider: Box<dyn CatalogProvider>, folder: &Path, redis: Option<Arc<Redis>>) -> Self {
        let file = provider.is_remote().then(|| folder.join(FILE_NAME));
        let redis = redis.filter(|_| provider.is_remote());
        Self(Arc::new(CacheParts { provider, file, redis, kept: Mutex::default(), asked: watch::Sender::new(0) }))
    }

    /// The catalogue, at most a minute old while its provider answers. One task asks it, all others wait for that; who
    /// has an older answer does not wait long.
    pub(super) async fn recent(&self, now: Timestamp) -> Result<Arc<Catalog>, ApiError> {
        let mut news = self.0.asked.subscribe();
        let older = {
            let mut kept = self.0.kept();
            let fresh = kept.asked_at.is_some_and(|asked_at| asked_at.elapsed() < FRESH_FOR);
            if let (true, Some(catalog)) = (fresh, &kept.catalog) {
                return Ok(catalog.clone());
            }
            let pause = Duration::from_secs(u64::from(FAILED_FOR_SECONDS));
            let failed = kept.asked_at.is_some_and(|asked_at| asked_at.elapsed() < pause);
            if failed && !kept.asking && kept.catalog.is_none() {
                return Err(unavailable());
            }
            if !kept.asking {
                kept.asking = true;
                // A task of its own: whoever asked may go away, and the others wait for it all the same.
                tokio::spawn(self.0.clone().ask(now));
            }
            kept.catalog.clone()
        };
        match older {
            Some(older) => {
                let _ = tokio::time::timeout(MAX_WAIT, news.changed()).await;
                Ok(self.0.kept().catalog.clone().unwrap_or(older))
            }
            None => loop {
                let _ = news.changed().await;
                let kept = self.0.kept();
                match &kept.catalog {
                    Some(catalog) => return Ok(catalog.clone()),
                    None if kept.asking => {}
                    None => return Err(unavailable()),
                }
            },
        }
    }
}

fn unavailable() -> ApiError {
    ApiError::unavailable("catalog_unavailable", "the catalogue cannot be read now", FAILED_FOR_SECONDS)
}

/// Ends an asking, also one that panics.
struct Asking(Arc<CacheParts>);

impl Drop for Asking {
    fn drop(&mut self) {
        let mut kept = self.0.kept();
        (kept.asking, kept.asked_at) = (false, Some(Instant::now()));
        drop(kept);
        self.0.asked.send_modify(|count| *count += 1);
    }
}

impl CacheParts {
    fn kept(&self) -> std::sync::MutexGuard<'_, KeptCatalog> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(self: Arc<Self>, now: Timestamp) {
        let _asking = Asking(self.clone());
        match self.provider.read(now).await {
            Ok(catalog) => {
                self.keep(&catalog).await;
                self.kept().catalog = Some(Arc::new(catalog));
            }
            Err(error) => {
                tracing::warn!(source = self.provider.source(), %error, "the catalogue cannot be read");
                if self.kept().catalog.is_none() {
                    let last = self.last().await.map(Arc::new);
                    self.kept().catalog = last;
                }
            }
        }
    }

    /// Writes the last good answer beside the data. Where that fails, a restart has nothing older to show.
    async fn keep(&self, catalog: &Catalog) {
        let Some(file) = &self.file else { return };
        let Ok(text) = serde_json::to_string(catalog) else { return };
        let new = file.with_extension("json.new");
        let written = async {
            tokio::fs::write(&new, &text).await?;
            tokio::fs::rename(&new, file).await
        };
        if let Err(error) = written.await {
            tracing::warn!(%error, "the last good catalogue is not kept on disk");
        }
        if let Some(redis) = &self.redis
            && let Err(error) = redis.keep_text(REDIS_NAME, &text, REDIS_LIFETIME).await
        {
            tracing::debug!(%error, "the last good catalogue is not kept in redis");
        }
    }

    /// The answer that an earlier process or another server kept.
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

    /// An answer that was kept, unless it is another provider's.
    fn read_back(&self, text: &[u8]) -> Option<Catalog> {
        let value = bounded_json::read(text, bounded_json::ANSWER).ok()?;
        serde_json::from_value::<Catalog>(value).ok().filter(|catalog| catalog.source == self.provider.source())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use async_trait::async_trait;

    use super::*;

    fn catalog() -> Catalog {
        Catalog { source: "failing".to_owned(), generated_at: Timestamp(7), items: Vec::new(), collections: Vec::new() }
    }

    /// Answers the calls with these numbers, refuses the others, and hangs where it is told to.
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
        cache.0.kept().asked_at = Instant::now().checked_sub(FRESH_FOR);
    }

    #[tokio::test]
    async fn the_last_good_answer_is_shown_while_the_provider_is_away() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, calls) = cache(folder.path(), &[1], &[3]);
        assert_eq!(cache.recent(Timestamp(0)).await.unwrap_err().code(), "catalog_unavailable");
        assert_eq!(cache.recent(Timestamp(0)).await.unwrap_err().code(), "catalog_unavailable");
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
