//! Remainder of a request body that its handler did not read.
//!
//! The next request on a connection begins where the previous body ends. A connection must therefore be closed after a
//! body that is not read to its end; a client that is not told so loses its next request.

use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use futures::{FutureExt as _, StreamExt as _};
use hyper::body::{Frame, SizeHint};
use tokio::time::timeout;

/// Maximum number of remaining body bytes read before the connection is closed.
const MAX_READ_AWAY_BYTES: usize = 64 * 1024;
/// Number of scheduler turns for which to wait for the rest of a body that arrived with its head.
const MAX_TURNS: usize = 3;

/// Request body, and how much of it has been read.
#[derive(Clone, Default)]
pub struct UnreadBody(Arc<Mutex<ReadProgress>>);

#[derive(Default)]
enum ReadProgress {
    /// Fully read.
    #[default]
    Finished,
    /// In use by its reader.
    Held,
    /// Dropped by its reader, with the given remainder.
    Left(Body),
}

impl UnreadBody {
    /// Returns the body for its reader; the remainder is stored here when the reader drops it.
    pub fn watch(&self, body: Body) -> Body {
        if body.is_end_stream() {
            return body;
        }
        self.set(ReadProgress::Held);
        Body::new(WatchedBody { body, finished: false, unread: self.clone() })
    }

    /// Returns whether the body has been read to its end.
    pub fn is_finished(&self) -> bool {
        matches!(*self.0.lock().unwrap_or_else(PoisonError::into_inner), ReadProgress::Finished)
    }

    /// Reads and discards the remainder if it is small and arrives within `patience`. Returns whether the body has been
    /// read to its end; if not, the connection cannot be used for another request.
    pub async fn read_away(&self, patience: Duration) -> bool {
        let body = match std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            ReadProgress::Finished => return true,
            ReadProgress::Held => return false,
            ReadProgress::Left(body) => body,
        };
        let mut rest = pin!(read_rest(body));
        for _ in 0..MAX_TURNS {
            if let Some(is_whole) = rest.as_mut().now_or_never() {
                return is_whole;
            }
            tokio::task::yield_now().await;
        }
        timeout(patience, rest).await.unwrap_or(false)
    }

    fn set(&self, progress: ReadProgress) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }
}

/// Reads a short body to its end. Returns whether the end was reached.
async fn read_rest(body: Body) -> bool {
    let mut pieces = body.into_data_stream();
    let mut bytes = 0;
    while let Some(piece) = pieces.next().await {
        let Ok(piece) = piece else { return false };
        bytes += piece.len();
        if bytes > MAX_READ_AWAY_BYTES {
            return false;
        }
    }
    true
}

struct WatchedBody {
    body: Body,
    /// `true` after the last frame has been read.
    finished: bool,
    unread: UnreadBody,
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        self.finished = frame.is_none();
        Poll::Ready(frame)
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
        let is_finished = self.finished || self.body.is_end_stream();
        let rest = std::mem::take(&mut self.body);
        self.unread.set(if is_finished { ReadProgress::Finished } else { ReadProgress::Left(rest) });
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use futures::channel::mpsc::{UnboundedSender, unbounded};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn in_pieces() -> (UnboundedSender<Result<&'static str, std::io::Error>>, Body) {
        let (sender, pieces) = unbounded();
        (sender, Body::from_stream(pieces))
    }

    #[tokio::test]
    async fn a_rest_is_read_away_and_a_body_that_was_read_leaves_none() {
        let unread = UnreadBody::default();
        assert!(unread.read_away(Duration::ZERO).await, "there is no body");
        let read = to_bytes(unread.watch(Body::from("whole")), 10).await;
        assert_eq!(read.ok(), Some(Bytes::from("whole")));
        assert!(unread.is_finished() && unread.read_away(Duration::ZERO).await);
        let (sender, body) = in_pieces();
        drop(unread.watch(body));
        assert!(!unread.is_finished());
        let more = async {
            assert!(sender.unbounded_send(Ok("piece")).is_ok());
            drop(sender);
        };
        let (is_whole, ()) = futures::join!(unread.read_away(PATIENCE), more);
        assert!(is_whole);
    }

    #[tokio::test]
    async fn a_body_in_pieces_that_was_read_to_its_end_leaves_nothing() {
        let unread = UnreadBody::default();
        let (sender, body) = in_pieces();
        assert!(sender.unbounded_send(Ok("piece")).is_ok());
        drop(sender);
        assert!(to_bytes(unread.watch(body), 10).await.is_ok());
        assert!(unread.read_away(Duration::ZERO).await);
    }

    #[tokio::test]
    async fn a_body_that_is_long_or_broken_or_late_or_still_held_is_not_read_to_its_end() {
        let unread = UnreadBody::default();
        let endless = futures::stream::repeat(Bytes::from_static(&[0; 1024])).map(Ok::<_, std::io::Error>);
        drop(unread.watch(Body::from_stream(endless)));
        assert!(!unread.read_away(PATIENCE).await, "long");
        let (sender, body) = in_pieces();
        drop(unread.watch(body));
        assert!(sender.unbounded_send(Ok("piece")).is_ok());
        assert!(sender.unbounded_send(Err(std::io::ErrorKind::ConnectionReset.into())).is_ok());
        assert!(!unread.read_away(PATIENCE).await, "broken");
        let (_sender, body) = in_pieces();
        drop(unread.watch(body));
        assert!(!unread.read_away(Duration::ZERO).await, "late");
        let held = unread.watch(Body::from("held"));
        assert!(!unread.read_away(PATIENCE).await, "held");
        drop(held);
    }
}
