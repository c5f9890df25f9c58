//! Redis stream `printfloor:events`: contains every event at least once, in commit order. The last entry is the cursor.

use std::time::Duration;

use redis::aio::ConnectionManager;
use redis::streams::StreamRangeReply;
use redis::{RedisResult, cmd, pipe};

use super::{KEY_PREFIX, Redis};

/// Time limit for adding one batch of entries.
const BATCH_TIMEOUT: Duration = Duration::from_secs(5);

/// Stream entry for one event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamEntry {
    /// Event's position in commit order.
    pub seq: i64,
    /// ID of the event, the same as in webhooks.
    pub id: String,
    /// Event type, such as `order.paid`.
    pub event: String,
    /// Event in its API representation, as JSON.
    pub json: String,
}

/// Connection for the stream, separate from the one that API requests use.
pub struct EventStream {
    connection: ConnectionManager,
    key: String,
    length: u32,
}

impl Redis {
    /// Opens a connection for the event stream.
    pub async fn stream(&self) -> RedisResult<EventStream> {
        let connection = self.manager(BATCH_TIMEOUT).await?;
        Ok(EventStream { connection, key: format!("{KEY_PREFIX}events"), length: self.stream_length })
    }
}

impl EventStream {
    /// Returns the approximate number of entries kept in the stream.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Returns `seq` of the last entry; `None` if the stream is empty or its last entry was not written by this
    /// program.
    pub async fn last(&mut self) -> RedisResult<Option<i64>> {
        let mut range = cmd("XREVRANGE");
        range.arg(&self.key).arg("+").arg("-").arg("COUNT").arg(1);
        let newest: StreamRangeReply = range.query_async(&mut self.connection).await?;
        Ok(newest.ids.first().and_then(|entry| entry.get("seq")))
    }

    /// Adds entries in the given order. After an error, some of the first entries may have been added;
    /// [`EventStream::last`] shows which ones.
    pub async fn add(&mut self, entries: &[StreamEntry]) -> RedisResult<()> {
        let mut all = pipe();
        for entry in entries {
            let mut add = cmd("XADD");
            add.arg(&self.key).arg("MAXLEN").arg("~").arg(self.length).arg("*");
            add.arg("seq").arg(entry.seq).arg("id").arg(&entry.id).arg("event").arg(&entry.event);
            add.arg("json").arg(&entry.json);
            all.add_command(add).ignore();
        }
        all.exec_async(&mut self.connection).await
    }
}
