//! File operations on a printer's own storage, which has no directories.

use std::io::SeekFrom;
use std::path::Path;

use md5::{Digest, Md5};
use reqwest::multipart::{Form, Part};
use serde_json::Value;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use super::message::name_of;
use crate::adapter::{PrinterError, RemoteFile, Source};
use crate::wire::PrinterHttpClient;
use domain::bounds::unix_seconds;
use platform::secrets::random::secret_bytes;

/// Number of bytes sent at a time.
const CHUNK_BYTES: u64 = 1024 * 1024;
/// Code with which the printer confirms that it received a chunk.
const SUCCESS_CODE: &str = "000000";

/// Uploads a file in chunks, which the printer assembles and verifies against the checksum of the whole file.
pub(super) async fn upload(wire: &PrinterHttpClient, name: &str, source: &Source) -> Result<(), PrinterError> {
    let all = source.sent_bytes();
    let sum = sum(source).await?;
    let id = hex::encode(secret_bytes::<16>());
    let mut offset = 0;
    loop {
        let piece = piece(source, offset).await?;
        let bytes = piece.len() as u64;
        let file = Part::bytes(piece).file_name(name.to_owned());
        let file =
            file.mime_str("application/octet-stream").map_err(|error| PrinterError::Invalid(error.to_string()))?;
        let form = Form::new()
            .text("TotalSize", all.to_string())
            .text("Uuid", id.clone())
            .text("Offset", offset.to_string())
            .text("Check", "1")
            .text("S-File-MD5", sum.clone())
            .part("File", file);
        let answer = wire.form("uploadFile/upload", form, bytes).await?;
        if answer.get("code").and_then(Value::as_str) != Some(SUCCESS_CODE) {
            return Err(refusal(&answer));
        }
        offset += bytes;
        if offset >= all {
            return Ok(());
        }
    }
}

/// Converts the code with which the printer rejects a chunk to an error.
fn refusal(answer: &Value) -> PrinterError {
    let reason = answer.pointer("/messages/0/message");
    let message = match reason.and_then(Value::as_i64) {
        Some(-1) => "the offset of a chunk is wrong".to_owned(),
        Some(-2) => "a chunk does not follow the previous one".to_owned(),
        Some(-3) => "the file cannot be opened for writing: No space left on device?".to_owned(),
        _ => reason
            .and_then(Value::as_str)
            .map_or_else(|| "the upload was rejected without a reason".to_owned(), str::to_owned),
    };
    PrinterError::Refused { status: 422, message }
}

/// Computes the upload's MD5 checksum in lowercase hexadecimal.
async fn sum(source: &Source) -> Result<String, PrinterError> {
    let mut hash = Md5::new();
    let mut offset = 0;
    while offset < source.sent_bytes() {
        let piece = piece(source, offset).await?;
        offset += piece.len() as u64;
        hash.update(&piece);
    }
    Ok(hex::encode(hash.finalize()))
}

/// Reads the next bytes of the upload, starting at an offset; the last piece may be shorter. A local file that is
/// shorter than declared is an error.
async fn piece(source: &Source, offset: u64) -> Result<Vec<u8>, PrinterError> {
    let length = CHUNK_BYTES.min(source.sent_bytes().saturating_sub(offset));
    let head = source.head();
    let mut piece: Vec<u8> = head.iter().skip(offset as usize).take(length as usize).copied().collect();
    let failed = |error: std::io::Error| unreadable(&source.path, &error);
    let mut file = File::open(&source.path).await.map_err(failed)?;
    file.seek(SeekFrom::Start(offset.saturating_sub(head.len() as u64))).await.map_err(failed)?;
    let left = length - piece.len() as u64;
    file.take(left).read_to_end(&mut piece).await.map_err(failed)?;
    if piece.len() as u64 != length {
        return Err(PrinterError::Invalid("the file became shorter while it was being uploaded".into()));
    }
    Ok(piece)
}

fn unreadable(path: &Path, error: &std::io::Error) -> PrinterError {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    PrinterError::Invalid(format!("the file to upload ({name}) cannot be read: {error}"))
}

/// Parses the list of files.
pub(super) fn list(answer: &Value) -> Result<Vec<RemoteFile>, PrinterError> {
    let files = answer.get("FileList").and_then(Value::as_array);
    let files = files.ok_or_else(|| PrinterError::BadAnswer("no list of files".into()))?;
    let is_folder = |file: &&Value| file.get("type").and_then(Value::as_i64) == Some(0);
    Ok(files
        .iter()
        .filter(|file| !is_folder(file))
        .filter_map(|file| {
            Some(RemoteFile {
                path: name_of(file.get("name")?.as_str()?).to_owned(),
                size: file.get("FileSize").and_then(Value::as_u64),
                modified_at: file.get("CreateTime").and_then(Value::as_f64).and_then(unix_seconds),
            })
        })
        .collect())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[tokio::test]
    async fn pieces_are_what_is_sent_and_the_sum_is_over_all_of_it() {
        let temp_file = tempfile::NamedTempFile::new().unwrap();
        for (size, line) in [(0usize, None), (10, Some("mark")), (2_500_000, Some("mark")), (1024 * 1024, None)] {
            let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            std::fs::write(temp_file.path(), &bytes).unwrap();
            let line = line.map(str::to_owned);
            let source = Source { path: temp_file.path().into(), size: size as u64, first_line: line };
            let all = [source.head(), bytes].concat();
            let mut pieces = Vec::new();
            while (pieces.len() as u64) < source.sent_bytes() {
                let next = piece(&source, pieces.len() as u64).await.unwrap();
                assert!(next.len() as u64 <= CHUNK_BYTES);
                pieces.extend(next);
            }
            assert!(pieces == all, "{size}");
            assert_eq!(sum(&source).await.unwrap(), hex::encode(Md5::digest(&all)));
        }
    }
}
