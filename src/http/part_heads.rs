//! Limit on the size of part headers in multipart forms. The form parser buffers all of a part's headers, no matter how
//! long they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use axum::body::Body;
use futures::StreamExt as _;

/// Maximum size, in bytes, of a part's headers, which contain its name, file name and content type.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// State shared by the form parser and the request body. Through it, the parser signals that it is reading a part's
/// headers.
#[derive(Clone, Default, Debug)]
pub struct PartHeads {
    /// Number of bytes read since the headers began, plus one; 0 while no headers are being read.
    read: Arc<AtomicUsize>,
}

impl PartHeads {
    /// Returns the body with an error inserted if a part's headers are too long.
    pub fn bounded(&self, body: Body) -> Body {
        let read = self.read.clone();
        Body::from_stream(body.into_data_stream().map(move |piece| {
            let (piece, before) = (piece?, read.load(Relaxed));
            // The piece that completes a head may hold much of what follows it, so only what comes after counts.
            if before > MAX_HEAD_BYTES {
                return Err(axum::Error::new("the headers of a form part are too long"));
            }
            if before > 0 {
                read.store(before + piece.len(), Relaxed);
            }
            Ok(piece)
        }))
    }

    /// Awaits a future that reads a part's headers, while the limit applies.
    pub async fn reading<T>(&self, head: impl Future<Output = T>) -> T {
        self.read.store(1, Relaxed);
        let done = head.await;
        self.read.store(0, Relaxed);
        done
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use axum::body::Bytes;

    use super::*;

    #[tokio::test]
    async fn only_heads_are_bounded() {
        let pieces =
            || futures::stream::iter((0..100).map(|_| Ok::<_, axum::Error>(Bytes::from(vec![b'x'; 16 * 1024]))));
        let heads = PartHeads::default();
        let mut body = heads.bounded(Body::from_stream(pieces())).into_data_stream();
        while let Some(piece) = body.next().await {
            piece.unwrap();
        }
        let mut body = heads.bounded(Body::from_stream(pieces())).into_data_stream();
        let read = heads.reading(async {
            let mut read = 0;
            while let Some(Ok(piece)) = body.next().await {
                read += piece.len();
            }
            read
        });
        assert_eq!(read.await, MAX_HEAD_BYTES);
    }
}
