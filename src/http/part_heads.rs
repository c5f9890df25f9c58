//! Bounds the heads of a form's parts. The reader of forms keeps the head of a part in memory as a whole, however long
//! it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use axum::body::Body;
use futures::StreamExt as _;

/// Most bytes of the head of a part: its name, file name and type.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// Tells the body of a form when the head of a part is read.
#[derive(Clone, Default, Debug)]
pub struct PartHeads {
    /// Bytes that were read of the head so far, plus one; 0 while no head is read.
    read: Arc<AtomicUsize>,
}

impl PartHeads {
    /// The body, which fails when a head is too long.
    pub fn bounded(&self, body: Body) -> Body {
        let read = self.read.clone();
        Body::from_stream(body.into_data_stream().map(move |piece| {
            let (piece, before) = (piece?, read.load(Relaxed));
            // The piece that completes a head may hold much of what follows it, so only what comes after counts.
            if before > MAX_HEAD_BYTES {
                return Err(axum::Error::new("the head of a part of the form is too long"));
            }
            if before > 0 {
                read.store(before + piece.len(), Relaxed);
            }
            Ok(piece)
        }))
    }

    /// Reads up to the end of a head.
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
