//! What is left of a body that nobody read: a client that is cut off while it sends sees a broken connection instead of
//! the refusal.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use hyper::body::{Frame, SizeHint};
use tokio::time::timeout;

/// Most bytes that are read of a body which was left, before its connection is closed.
const MAX_READ_AWAY_BYTES: usize = 64 * 1024;
/// How long the rest of a body that was left is waited for.
const READ_AWAY_TIMEOUT: Duration = Duration::from_secs(1);

/// Where a body comes to whose reader left it before its end.
#[derive(Clone, Default)]
pub struct UnreadBody(Arc<Mutex<Option<Body>>>);

impl UnreadBody {
    /// The body for its reader; what the reader leaves of it comes here.
    pub fn watch(&self, body: Body) -> Body {
        Body::new(WatchedBody { body, unread: self.clone() })
    }

    /// Reads what was left, if it is little and comes soon, and throws it away.
    pub async fn read_away(&self) {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(body) = left {
            let _ = timeout(READ_AWAY_TIMEOUT, to_bytes(body, MAX_READ_AWAY_BYTES)).await;
        }
    }
}

struct WatchedBody {
    body: Body,
    unread: UnreadBody,
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for WatchedBody {
    fn drop(&mut self) {
        if !self.body.is_end_stream() {
            let body = std::mem::take(&mut self.body);
            *self.unread.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt as _;

    use super::*;

    #[tokio::test]
    async fn what_a_reader_leaves_is_read_away_and_what_was_read_is_not() {
        let unread = UnreadBody::default();
        let read = to_bytes(unread.watch(Body::from("whole")), 10).await;
        assert_eq!(read.ok(), Some(Bytes::from("whole")));
        assert!(unread.0.lock().is_ok_and(|left| left.is_none()));
        let (sender, pieces) = futures::channel::mpsc::unbounded::<Result<&str, std::io::Error>>();
        drop(unread.watch(Body::from_stream(pieces)));
        assert!(unread.0.lock().is_ok_and(|left| left.is_some()));
        let more = async {
            assert!(sender.unbounded_send(Ok("piece")).is_ok());
            drop(sender);
        };
        futures::join!(unread.read_away(), more);
        assert!(unread.0.lock().is_ok_and(|left| left.is_none()));
    }

    #[tokio::test]
    async fn no_more_is_read_away_than_a_little() {
        let unread = UnreadBody::default();
        let endless = futures::stream::repeat(Bytes::from_static(&[0; 1024])).map(Ok::<_, std::io::Error>);
        drop(unread.watch(Body::from_stream(endless)));
        unread.read_away().await;
    }
}
