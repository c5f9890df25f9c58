//! Texts that are kept in Redis for a while, so that another server finds them. Never the only copy of anything.

use std::time::Duration;

use redis::{RedisResult, cmd};

use super::{KEY_PREFIX, Redis};

/// Longest time that writing or reading one text may take.
const TEXT_TIMEOUT: Duration = Duration::from_secs(5);

impl Redis {
    /// Keeps a text under this name.
    pub async fn keep_text(&self, name: &str, text: &str, lifetime: Duration) -> RedisResult<()> {
        let mut connection = self.manager(TEXT_TIMEOUT).await?;
        let mut set = cmd("SET");
        set.arg(format!("{KEY_PREFIX}{name}")).arg(text).arg("PX").arg(lifetime.as_millis() as u64);
        set.exec_async(&mut connection).await
    }

    /// The text under this name, if there is one of at most so many bytes.
    pub async fn kept_text(&self, name: &str, max_bytes: u64) -> RedisResult<Option<String>> {
        let mut connection = self.manager(TEXT_TIMEOUT).await?;
        let key = format!("{KEY_PREFIX}{name}");
        let bytes: u64 = cmd("STRLEN").arg(&key).query_async(&mut connection).await?;
        if bytes == 0 || bytes > max_bytes {
            return Ok(None);
        }
        cmd("GET").arg(&key).query_async(&mut connection).await
    }
}
