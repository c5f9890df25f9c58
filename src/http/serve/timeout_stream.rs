//! Stream with timeouts that the HTTP library lacks: for receiving a request head, measured from its first byte (for
//! the first request, from the start of the connection), and for a client that does not read a response. It also reads
//! what a client still sends when the connection closes, so that the client can read the response.
//!
//! The HTTP library's own timeout is measured from the last response, so it cannot be shorter than the allowed idle
//! time.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::head_scan::HeadScan;

/// Number of bytes read and discarded at a time.
const LINGER_PIECE_BYTES: usize = 16 * 1024;

/// Phase counter of a connection: incremented when a head has been read, and again when its response begins. The
/// counter is odd while a request is being processed. Also records whether request boundaries can still be determined.
#[derive(Debug, Default)]
pub struct RequestPhase {
    phase: AtomicU32,
    malformed: AtomicBool,
    unread: AtomicBool,
}

impl RequestPhase {
    /// Records that the head of a request has been read.
    pub fn begin(&self) {
        self.phase.fetch_add(1, Relaxed);
    }
    /// Records that a head is malformed.
    pub fn note_malformed(&self) {
        self.malformed.store(true, Relaxed);
    }
    /// Returns whether a head was malformed, so that the connection accepts no further requests.
    pub fn is_malformed(&self) -> bool {
        self.malformed.load(Relaxed)
    }
    /// Records that the response is sent before the request has been read to its end.
    pub fn note_unread(&self) {
        self.unread.store(true, Relaxed);
    }
    /// Returns whether the client may still be sending when the connection closes.
    fn may_be_sending(&self) -> bool {
        self.unread.load(Relaxed) && !self.is_malformed()
    }
    /// Records that the response has begun.
    pub fn end(&self) {
        self.phase.fetch_add(1, Relaxed);
    }
}

/// Stream with timeouts for a request head and for a client that does not read.
pub struct TimeoutStream<S> {
    stream: S,
    within: Duration,
    /// Maximum time for which a client may fail to read any of a response.
    taken_within: Duration,
    turns: Arc<RequestPhase>,
    scan: HeadScan,
    /// Phase at the last check.
    last_phase: u32,
    /// `true` while bytes of a head may have arrived but the head is not complete.
    begun: bool,
    /// Timer for the head; created only if waiting is necessary, because most heads arrive in one piece.
    until: Option<Pin<Box<Sleep>>>,
    /// Timer for the client; set while the client does not read.
    stuck: Option<Pin<Box<Sleep>>>,
    /// `true` once the client has been told that nothing more will be sent.
    is_shut_down: bool,
    linger_limits: LingerLimits,
    /// Set while the rest of a request is read and discarded.
    linger: Option<Linger>,
}

/// Limits on reading and discarding the rest of a request. A client that is cut off while sending sees a connection
/// error instead of the response.
#[derive(Clone, Copy, Debug)]
pub struct LingerLimits {
    /// Maximum time for which the client may send nothing.
    pub idle: Duration,
    /// Maximum time in total.
    pub total: Duration,
    /// Maximum number of bytes.
    pub bytes: usize,
}

/// Reading and discarding the rest of a request, within its limits.
struct Linger {
    idle: Duration,
    /// Timer that starts again whenever the client has sent something, up to `last`.
    until: Pin<Box<Sleep>>,
    last: Instant,
    bytes_left: usize,
}

impl Linger {
    fn new(limits: LingerLimits) -> Self {
        let LingerLimits { idle, total, bytes } = limits;
        Self { idle, until: Box::pin(sleep(idle.min(total))), last: Instant::now() + total, bytes_left: bytes }
    }

    /// Reads and discards what has arrived, and resolves once the client has closed its side or a limit is reached.
    fn poll(&mut self, cx: &mut Context<'_>, stream: &mut (impl AsyncRead + Unpin)) -> Poll<()> {
        let mut piece = [MaybeUninit::uninit(); LINGER_PIECE_BYTES];
        while self.bytes_left > 0 && self.until.as_mut().poll(cx).is_pending() {
            let mut rest = ReadBuf::uninit(&mut piece);
            match ready!(Pin::new(&mut *stream).poll_read(cx, &mut rest)) {
                Ok(()) if !rest.filled().is_empty() => {
                    self.bytes_left = self.bytes_left.saturating_sub(rest.filled().len());
                    self.until.as_mut().reset(self.last.min(Instant::now() + self.idle));
                }
                Ok(()) | Err(_) => break,
            }
        }
        Poll::Ready(())
    }
}

impl<S> TimeoutStream<S> {
    /// Wraps the given stream with timeouts for receiving a head and for a client that does not read.
    pub fn new(
        stream: S,
        within: Duration,
        taken_within: Duration,
        linger_limits: LingerLimits,
        turns: Arc<RequestPhase>,
    ) -> Self {
        Self {
            stream,
            within,
            taken_within,
            turns,
            scan: HeadScan::default(),
            last_phase: 0,
            begun: true,
            until: None,
            stuck: None,
            is_shut_down: false,
            linger_limits,
            linger: None,
        }
    }

    /// Returns the result of a write, or a timeout error if the client has not read anything for too long.
    fn or_timeout<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stuck = None;
            return written;
        }
        let within = self.taken_within;
        let stuck = self.stuck.get_or_insert_with(|| Box::pin(sleep(within)));
        stuck.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimeoutStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let turn = self.turns.phase.load(Relaxed);
        if turn != self.last_phase {
            (self.last_phase, self.begun, self.until) = (turn, false, None);
        }
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.scan.look(&buf.filled()[before..]);
        if self.scan.is_malformed() {
            self.turns.note_malformed();
        }
        if turn % 2 == 1 {
            return read;
        }
        if read.is_ready() {
            self.begun |= buf.filled().len() > before;
            // Checked here too: the bytes of a sender who sends one at a time are always ready.
            let late = self.until.as_mut().is_some_and(|until| until.as_mut().poll(cx).is_ready());
            return if late { Poll::Ready(Err(io::ErrorKind::TimedOut.into())) } else { read };
        }
        if !self.begun {
            return Poll::Pending;
        }
        let within = self.within;
        let until = self.until.get_or_insert_with(|| Box::pin(sleep(within)));
        match until.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TimeoutStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.or_timeout(cx, written)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.or_timeout(cx, flushed)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, turns, is_shut_down, linger_limits, linger, .. } = &mut *self;
        if !*is_shut_down {
            ready!(Pin::new(&mut *stream).poll_shutdown(cx))?;
            *is_shut_down = true;
        }
        if turns.may_be_sending() {
            ready!(linger.get_or_insert_with(|| Linger::new(*linger_limits)).poll(cx, stream));
        }
        Poll::Ready(Ok(()))
    }
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.or_timeout(cx, written)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::future::poll_fn;

    use tokio::io::{AsyncWriteExt as _, duplex};

    use super::*;

    const LIMITS: LingerLimits =
        LingerLimits { idle: Duration::from_secs(5), total: Duration::from_secs(30), bytes: 1 << 20 };

    #[tokio::test]
    async fn the_rest_of_a_request_is_read_as_long_as_it_arrives_and_not_for_ever() {
        let (mut client, mut server) = duplex(1024);
        let mut linger = Linger::new(LIMITS);
        let first = linger.until.deadline();
        client.write_all(b"rest").await.unwrap();
        let is_over = poll_fn(|cx| Poll::Ready(linger.poll(cx, &mut server).is_ready())).await;
        assert!(!is_over && linger.until.deadline() > first, "more may arrive");
        linger.last = Instant::now();
        client.write_all(b"rest").await.unwrap();
        poll_fn(|cx| linger.poll(cx, &mut server)).await;
        assert_eq!(linger.until.deadline(), linger.last, "although it may still be sending");
        linger = Linger::new(LingerLimits { bytes: 4, ..LIMITS });
        client.write_all(b"rest").await.unwrap();
        poll_fn(|cx| linger.poll(cx, &mut server)).await;
        assert!(!linger.until.is_elapsed(), "as many bytes as are allowed");
        linger = Linger::new(LIMITS);
        drop(client);
        poll_fn(|cx| linger.poll(cx, &mut server)).await;
        assert!(!linger.until.is_elapsed(), "at once when the client has closed its side");
    }
}
