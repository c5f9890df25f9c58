//! Strings stored in Redis for a limited time, so that other servers can find them. Redis never holds the only copy of
//! anything.

use std::time::Duration;

use redis::{RedisResult, cmd};

use super::{KEY_PREFIX, Redis};

/// Time limit for writing or reading a value.
const TEXT_TIMEOUT: Duration = Duration::from_secs(5);

impl Redis {
    /// Stores a string under the given name.
    pub async fn keep_text(&self, name: &str, text: &str, lifetime: Duration) -> RedisResult<()> {
        let mut connection = self.manager(TEXT_TIMEOUT).await?;
        let mut set = cmd("SET");
        set.arg(format!("{KEY_PREFIX}{name}")).arg(text).arg("PX").arg(lifetime.as_millis() as u64);
        set.exec_async(&mut connection).await
    }

    /// Returns the string stored under the given name; `None` if none is stored or it is longer than `max_bytes`.
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
