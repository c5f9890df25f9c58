//! Data connections of the FTPS server.

use std::{io, sync::Arc};

use bytes::{Bytes, BytesMut};
use rustls::{HandshakeKind, ServerConfig};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use super::super::BambuHost;
use crate::wire::{GatedStream, slowly};

/// Maximum size of an upload in bytes.
const MAX_UPLOAD_BYTES: usize = 1 << 30;
/// Maximum number of bytes in one read.
const PIECE_BYTES: usize = 16 * 1024;

/// Open data connection.
pub(super) enum DataConnection {
    Plain(GatedStream),
    Encrypted(Box<TlsStream<GatedStream>>),
}

/// Result of an upload.
pub(super) enum UploadOutcome {
    /// The client completed the upload.
    Whole(Bytes),
    /// The connection broke during the upload; contains the bytes received.
    Part(Bytes),
    /// The upload exceeded the available storage.
    TooLarge,
}

/// Encrypts a data connection; returns an error if it does not resume the session of its control connection.
pub(super) async fn encrypted(stream: GatedStream, config: &Arc<ServerConfig>) -> io::Result<DataConnection> {
    let tls = TlsAcceptor::from(Arc::clone(config)).accept(stream).await?;
    if tls.get_ref().1.handshake_kind() == Some(HandshakeKind::Resumed) {
        Ok(DataConnection::Encrypted(Box::new(tls)))
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

/// Waits until the client closes the connection.
pub(super) async fn ignore(mut stream: GatedStream) {
    let mut piece = [0; 1024];
    while let Ok(1..) = stream.read(&mut piece).await {}
}

/// Receives an upload at the speed set by the faults; aborts at `limit` bytes.
pub(super) async fn receive(data: &mut DataConnection, host: &BambuHost, limit: Option<u64>) -> UploadOutcome {
    let limit = limit.map_or(MAX_UPLOAD_BYTES + 1, |limit| limit as usize);
    let mut bytes = BytesMut::new();
    loop {
        let read = match data {
            DataConnection::Plain(stream) => piece(stream, &mut bytes).await,
            DataConnection::Encrypted(stream) => piece(stream, &mut bytes).await,
        };
        let count = match read {
            Ok(0) => return UploadOutcome::Whole(bytes.freeze()),
            Ok(count) => count,
            // Clients may close without a word; it counts as the end unless the connection was cut.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return UploadOutcome::Whole(bytes.freeze()),
            Err(_) => return UploadOutcome::Part(bytes.freeze()),
        };
        if bytes.len() > MAX_UPLOAD_BYTES {
            return UploadOutcome::TooLarge;
        }
        if bytes.len() >= limit {
            bytes.truncate(limit);
            return UploadOutcome::Part(bytes.freeze());
        }
        slowly(&host.printer, count).await;
        if host.printer.faults().hang {
            host.printer.until(|machine| !machine.faults().hang).await;
            return UploadOutcome::Part(bytes.freeze());
        }
    }
}

async fn piece(stream: &mut (impl AsyncRead + Unpin), bytes: &mut BytesMut) -> io::Result<usize> {
    bytes.reserve(PIECE_BYTES);
    stream.take(PIECE_BYTES as u64).read_buf(bytes).await
}

impl DataConnection {
    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(bytes).await,
            Self::Encrypted(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
        }
    }

    /// Closes the connection gracefully. A client that has already disconnected is not an error.
    pub(super) async fn close(&mut self) {
        let _ = match self {
            Self::Plain(stream) => stream.shutdown().await,
            Self::Encrypted(stream) => stream.shutdown().await,
        };
    }
}
