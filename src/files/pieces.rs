//! Download that a blocking thread writes while the client reads it.

use std::io::{self, Write};

use bytes::{Bytes, BytesMut};
use futures::Stream;
use futures::stream;
use tokio::sync::mpsc;

/// Chunk size in bytes.
const PIECE_BYTES: usize = 64 * 1024;
/// Number of chunks buffered for the client.
const MAX_WAITING_PIECES: usize = 4;

/// Writer end of a download. It must be ended with [`PieceWriter::end`]; otherwise the download appears aborted to the
/// reader.
pub struct PieceWriter {
    to: mpsc::Sender<io::Result<Bytes>>,
    piece: BytesMut,
}

/// Reader end of a download, which yields the chunks.
pub struct Pieces(mpsc::Receiver<io::Result<Bytes>>);

/// Creates both ends of a download. The writer must be used on a thread that may block.
pub fn pipe() -> (PieceWriter, Pieces) {
    let (to, from) = mpsc::channel(MAX_WAITING_PIECES);
    (PieceWriter { to, piece: BytesMut::new() }, Pieces(from))
}

impl PieceWriter {
    /// Ends the download successfully, which is signalled to the reader by an empty chunk.
    pub fn end(mut self) {
        if self.flush().is_ok() {
            // Who does not read any more does not need the end.
            let _ = self.to.blocking_send(Ok(Bytes::new()));
        }
    }

    /// Aborts the download with an error.
    pub fn fail(self, error: io::Error) {
        let _ = self.to.blocking_send(Err(error));
    }
}

impl Write for PieceWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = bytes.len().min(PIECE_BYTES - self.piece.len());
        self.piece.extend_from_slice(&bytes[..length]);
        if self.piece.len() == PIECE_BYTES {
            self.flush()?;
        }
        Ok(length)
    }

    /// Sends the buffered bytes; fails if the reader has been dropped.
    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = self.piece.split().freeze();
        self.to.blocking_send(Ok(piece)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Pieces {
    /// Returns the chunks as a stream. If the writer was dropped without ending the download, the stream ends with an
    /// error.
    pub fn into_stream(self) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
        stream::unfold(Some(self.0), |from| async move {
            let mut from = from?;
            match from.recv().await {
                Some(Ok(piece)) if piece.is_empty() => None,
                Some(Ok(piece)) => Some((Ok(piece), Some(from))),
                Some(Err(error)) => Some((Err(error), None)),
                None => Some((Err(io::ErrorKind::UnexpectedEof.into()), None)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use futures::StreamExt as _;
    use tokio::task::spawn_blocking;

    use super::*;

    #[tokio::test]
    async fn what_is_written_arrives_and_a_lost_writer_is_no_end() {
        let (mut writer, pieces) = pipe();
        let wrote = spawn_blocking(move || {
            writer.write_all(&vec![7; 10 * PIECE_BYTES + 1]).unwrap();
            writer.end();
        });
        let all: Vec<_> = pieces.into_stream().collect().await;
        wrote.await.unwrap();
        assert!(all.iter().all(Result::is_ok));
        assert_eq!(all.iter().flatten().map(Bytes::len).sum::<usize>(), 10 * PIECE_BYTES + 1);

        let (writer, pieces) = pipe();
        drop(writer);
        let all: Vec<_> = pieces.into_stream().collect().await;
        assert!(matches!(&all[..], [Err(_)]), "{all:?}");
    }

    #[tokio::test]
    async fn a_writer_learns_that_the_reader_has_gone() {
        let (mut writer, pieces) = pipe();
        drop(pieces);
        let wrote = spawn_blocking(move || writer.write_all(&vec![7; PIECE_BYTES])).await.unwrap();
        assert_eq!(wrote.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
