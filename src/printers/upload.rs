//! Streams a local file as a form or a request body, tracks the progress of the upload, and finds out why one failed.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use reqwest::Body;
use reqwest::multipart::{Form, Part};
use sha2::{Digest, Sha256};
use tokio::fs::File;
use tokio::time::{sleep, timeout};
use tokio_util::io::ReaderStream;

use crate::adapter::{PrinterError, Source};
use platform::watch::{WatchReceiver, WatchSender};

/// Number of bytes read at a time.
const CHUNK_BYTES: usize = 64 * 1024;
/// Time for which a printer is given to discard the part of a file whose upload broke.
const DISCARD_PAUSE: Duration = Duration::from_secs(2);
/// Number of bytes at each end of a stored file that are compared with the data sent.
pub(super) const EDGE_BYTES: usize = 4096;

/// Progress of an upload: the number of bytes that the connection has accepted.
pub(super) struct AcceptedBytes(WatchReceiver<u64>);

impl AcceptedBytes {
    /// Resolves once no byte has been accepted for the duration of `limit`; never resolves after the last byte.
    pub(super) async fn stalled(mut self, limit: Duration) {
        loop {
            match timeout(limit, self.0.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => std::future::pending().await,
                Err(_) => return,
            }
        }
    }
}

/// Rejects a missing local file, or one whose length differs from the declared size.
pub(super) async fn check(source: &Source) -> Result<(), PrinterError> {
    open(source).await.map(drop)
}

async fn open(source: &Source) -> Result<File, PrinterError> {
    let file = File::open(&source.path).await.map_err(|error| local(&source.path, error))?;
    let length = file.metadata().await.map_err(|error| local(&source.path, error))?.len();
    if length != source.size {
        return Err(PrinterError::Invalid(format!("the file to upload has {length} bytes, not {}", source.size)));
    }
    Ok(file)
}

/// Returns the request body, which is streamed from disk, and the progress of the upload.
pub(super) async fn as_body(source: &Source) -> Result<(Body, AcceptedBytes), PrinterError> {
    let file = open(source).await?;
    let sender = WatchSender::new(0);
    let progress = sender.subscribe();
    let head = futures::stream::iter(
        [Ok(Bytes::from(source.head()))]
            .into_iter()
            .filter(|head| head.as_ref().is_ok_and(|head: &Bytes| !head.is_empty())),
    );
    // The connection asks for a chunk when it has room for it. Dropping the stream ends the count.
    let bytes = head.chain(ReaderStream::with_capacity(file, CHUNK_BYTES)).inspect_ok(move |chunk: &Bytes| {
        sender.send_modify(|count| *count += chunk.len() as u64);
    });
    Ok((Body::wrap_stream(bytes), AcceptedBytes(progress)))
}

/// Adds the file to `form` as the part `file`. The length of the form is then known, which the printers' servers
/// require.
pub(super) async fn with_file(form: Form, name: &str, source: &Source) -> Result<(Form, AcceptedBytes), PrinterError> {
    let (body, progress) = as_body(source).await?;
    let part = Part::stream_with_length(body, source.sent_bytes())
        .file_name(name.to_owned())
        .mime_str("application/octet-stream")
        .map_err(|error| PrinterError::Invalid(error.to_string()))?;
    Ok((form.part("file", part), progress))
}

/// Computes the upload's SHA-256 in lowercase hexadecimal, off the async runtime's threads.
pub(super) async fn sha256(source: &Source) -> Result<String, PrinterError> {
    let (path, head) = (source.path.clone(), source.head());
    blocking(move || hash(&path, &head)).await
}

async fn blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, PrinterError> + Send + 'static,
) -> Result<T, PrinterError> {
    let done = tokio::task::spawn_blocking(read).await;
    done.map_err(|error| PrinterError::Invalid(format!("the file to upload cannot be read: {error}")))?
}

fn hash(path: &Path, head: &[u8]) -> Result<String, PrinterError> {
    let mut file = std::fs::File::open(path).map_err(|error| local(path, error))?;
    let mut hasher = Sha256::new();
    hasher.update(head);
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let read = file.read(&mut buffer).map_err(|error| local(path, error))?;
        if read == 0 {
            return Ok(hex::encode(hasher.finalize()));
        }
        hasher.update(&buffer[..read]);
    }
}

/// Returns the first and the last [`EDGE_BYTES`] of the upload; an upload that is shorter is returned twice in full.
pub(super) async fn edges(source: &Source) -> Result<[Vec<u8>; 2], PrinterError> {
    let (path, head): (PathBuf, _) = (source.path.clone(), source.head());
    blocking(move || {
        let failed = |error| local(&path, error);
        let mut file = std::fs::File::open(&path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        let mut first = head.clone();
        first.truncate(EDGE_BYTES);
        let room = (EDGE_BYTES - first.len()) as u64;
        Read::by_ref(&mut file).take(room).read_to_end(&mut first).map_err(failed)?;
        let mut last = Vec::new();
        file.seek(SeekFrom::Start(size.saturating_sub(EDGE_BYTES as u64))).map_err(failed)?;
        file.take(EDGE_BYTES as u64).read_to_end(&mut last).map_err(failed)?;
        let missing = EDGE_BYTES.saturating_sub(last.len()).min(head.len());
        Ok([first, [&head[head.len() - missing..], &last[..]].concat()])
    })
    .await
}

/// Limits on uploads that a printer reports, in bytes; `None` where it reports none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UploadLimits {
    /// Free space on the printer's storage.
    pub(super) free: Option<u64>,
    /// Maximum size of an upload.
    pub(super) size: Option<u64>,
}

/// Returns the reason why an upload failed. A printer that rejects an upload early closes the connection while the file
/// is being sent, so that its response may be lost. If the connection broke, `limits` therefore queries the printer:
/// the response shows whether the printer rejects the key, lacks space for the file, or accepts only smaller files.
pub(super) async fn cause<F>(error: PrinterError, source: &Source, limits: impl Fn() -> F + Send) -> PrinterError
where
    F: Future<Output = Result<UploadLimits, PrinterError>> + Send,
{
    if !matches!(error, PrinterError::Lost(_)) {
        return error;
    }
    let needed = source.sent_bytes();
    let mut response = limits().await;
    if matches!(response, Ok(UploadLimits { free: Some(free), .. }) if free < needed) {
        // The part that has arrived may still take up space.
        sleep(DISCARD_PAUSE).await;
        response = limits().await;
    }
    let limits = match response {
        Ok(limits) => limits,
        Err(rejected @ PrinterError::WrongKey(_)) => return rejected,
        Err(_) => return error,
    };
    let (status, message) = match limits {
        UploadLimits { free: Some(free), .. } if free < needed => {
            (507, format!("No space left on device: the file has {needed} bytes, but only {free} are free"))
        }
        UploadLimits { size: Some(size), .. } if size < needed => {
            (413, format!("the file has {needed} bytes, but the printer accepts at most {size}"))
        }
        _ => return error,
    };
    PrinterError::Refused { status, message }
}

/// Returns whether the error means that the server accepts uploads but does not allow files to be read back.
pub(super) fn is_kept_back(error: &PrinterError) -> bool {
    matches!(
        error,
        PrinterError::NotFound(_)
            | PrinterError::Stranger { .. }
            | PrinterError::WrongType { .. }
            | PrinterError::WrongKey(_)
            | PrinterError::Refused { status: 400..500, .. }
    )
}

fn local(path: &Path, error: std::io::Error) -> PrinterError {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    PrinterError::Invalid(format!("the file to upload ({name}) cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn edges_are_those_of_what_is_sent(size in 0usize..10_000, line in proptest::option::of("[a-z]{0,60}")) {
            let temp_file = tempfile::NamedTempFile::new().unwrap();
            let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            std::fs::write(temp_file.path(), &bytes).unwrap();
            let source = Source { path: temp_file.path().into(), size: size as u64, first_line: line };
            let all = [source.head(), bytes].concat();
            prop_assert_eq!(source.sent_bytes(), all.len() as u64);
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let [first, last] = runtime.block_on(edges(&source)).unwrap();
            prop_assert_eq!(&first[..], &all[..all.len().min(EDGE_BYTES)]);
            prop_assert_eq!(&last[..], &all[all.len().saturating_sub(EDGE_BYTES)..]);
        }
    }
}
