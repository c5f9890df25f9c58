//! A local file as a form: read while it is sent, its length told beforehand.

use std::io::Read;
use std::path::{Path, PathBuf};

use reqwest::Body;
use reqwest::multipart::{Form, Part};
use sha2::{Digest, Sha256};
use tokio::fs::File;
use tokio_util::io::ReaderStream;

use crate::printers::adapter::{PrinterError, Source};

/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// `form` with the file as its part `file`. The form then has a known length, which the printers' servers insist on.
pub(super) async fn with_file(form: Form, name: &str, source: &Source) -> Result<Form, PrinterError> {
    let file = File::open(&source.path).await.map_err(|error| local(&source.path, error))?;
    let length = file.metadata().await.map_err(|error| local(&source.path, error))?.len();
    if length != source.size {
        return Err(PrinterError::Invalid(format!("the file to upload has {length} bytes, not {}", source.size)));
    }
    let body = Body::wrap_stream(ReaderStream::with_capacity(file, CHUNK));
    let part = Part::stream_with_length(body, length)
        .file_name(name.to_owned())
        .mime_str("application/octet-stream")
        .map_err(|error| PrinterError::Invalid(error.to_string()))?;
    Ok(form.part("file", part))
}

/// Refuses what a printer that reads text cannot print, by the ending that tells it.
pub(super) fn text_only(name: &str) -> Result<(), PrinterError> {
    let lower = name.to_ascii_lowercase();
    match [".bgcode", ".3mf"].iter().find(|ending| lower.ends_with(**ending)) {
        Some(ending) => {
            Err(PrinterError::Invalid(format!("this type of printer prints G-code as text, not {ending} files")))
        }
        None => Ok(()),
    }
}

/// Lower-case hex SHA-256 of the source: as told, else computed off the async threads.
pub(super) async fn sha256(source: &Source) -> Result<String, PrinterError> {
    if let Some(known) = &source.sha256 {
        return Ok(known.to_ascii_lowercase());
    }
    let path = source.path.clone();
    tokio::task::spawn_blocking(move || hash(path))
        .await
        .map_err(|error| PrinterError::Invalid(format!("hashing the file failed: {error}")))?
}

fn hash(path: PathBuf) -> Result<String, PrinterError> {
    let mut file = std::fs::File::open(&path).map_err(|error| local(&path, error))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = file.read(&mut buffer).map_err(|error| local(&path, error))?;
        if read == 0 {
            return Ok(hex::encode(hasher.finalize()));
        }
        hasher.update(&buffer[..read]);
    }
}

fn local(path: &Path, error: std::io::Error) -> PrinterError {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    PrinterError::Invalid(format!("the file to upload ({name}) cannot be read: {error}"))
}
