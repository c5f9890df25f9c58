//! Cache for the result of the last readiness check, shared by all requests within a second.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::ReadinessResult;
use actors::app::App;
use config::Config;
use http::resource_state::ResourceState;
use platform::recent::RecentValue;

/// Time for which a result is reused.
const MAX_AGE: Duration = Duration::from_secs(1);

/// Cached result of the last readiness check. It keeps frequent checks from putting load on the database.
pub struct ReadinessCache(RecentValue<ReadinessResult>);

impl ResourceState for ReadinessCache {
    fn create(_: &App, _: &Config) -> Self {
        Self(RecentValue::new(MAX_AGE))
    }
}

impl ReadinessCache {
    /// Returns the last result or, if it is too old, the result of a new check.
    pub(super) async fn recent<F: Future<Output = ReadinessResult>>(
        &self,
        judge: impl FnOnce() -> F,
    ) -> Arc<ReadinessResult> {
        self.0.get(Instant::now(), judge).await
    }
}
