//! Cache for the result of the last readiness check, shared by all requests within a second.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::ReadinessResult;
use actors::app::App;
use config::Config;
use http::resource_state::ResourceState;

/// Time for which a result is reused.
const MAX_AGE: Duration = Duration::from_secs(1);

/// Cached result of the last readiness check. It keeps frequent checks from putting load on the database.
#[derive(Default)]
pub struct ReadinessCache(Mutex<Option<(Instant, Arc<ReadinessResult>)>>);

impl ResourceState for ReadinessCache {
    fn create(_: &App, _: &Config) -> Self {
        Self::default()
    }
}

impl ReadinessCache {
    pub(super) async fn recent<F: Future<Output = ReadinessResult>>(
        &self,
        now: Instant,
        judge: impl FnOnce() -> F,
    ) -> Arc<ReadinessResult> {
        let mut cached = self.0.lock().await;
        if let Some((at, judged)) = &*cached
            && now.duration_since(*at) < MAX_AGE
        {
            return judged.clone();
        }
        let judged = Arc::new(judge().await);
        *cached = Some((now, judged.clone()));
        judged
    }
}
