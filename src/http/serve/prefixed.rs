//! Stream whose first bytes have already been read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Stream that first returns the bytes already read, and then the rest.
pub struct PrefixedStream<S> {
    begin: Vec<u8>,
    /// Number of previously read bytes that have already been returned.
    position: usize,
    stream: S,
}

impl<S> PrefixedStream<S> {
    /// Creates a stream that wraps one from which the given bytes have already been read.
    pub fn new(begin: Vec<u8>, stream: S) -> Self {
        Self { begin, position: 0, stream }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PrefixedStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let left = &self.begin[self.position..];
        if left.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buf);
        }
        let some = left.len().min(buf.remaining());
        buf.put_slice(&left[..some]);
        self.position += some;
        if self.position == self.begin.len() {
            (self.begin, self.position) = (Vec::new(), 0);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PrefixedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn the_beginning_comes_first_in_whatever_pieces() {
        let (begin, rest) = (b"GET /api".to_vec(), b"/orders".as_slice());
        let mut stream = PrefixedStream::new(begin, tokio::io::join(rest, tokio::io::sink()));
        let mut first = [0; 3];
        stream.read_exact(&mut first).await.unwrap();
        let mut all = first.to_vec();
        stream.read_to_end(&mut all).await.unwrap();
        assert_eq!(all, b"GET /api/orders");
    }
}
