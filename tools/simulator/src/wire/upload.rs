//! Streamed uploads, as forms or as bare bodies, received at the speed set by a fault.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use axum::{
    body::Body,
    extract::{Multipart, multipart::MultipartError},
};
use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use sha2::{Digest, Sha256};

use crate::{VirtualPrinter, gcode::GcodeFacts};

/// Multipart upload whose file part has been read completely.
#[derive(Debug, Default)]
pub struct MultipartUpload {
    /// Text fields by name; if a name occurs more than once, the last value is used.
    pub fields: BTreeMap<String, String>,
    /// Uploaded file, if any.
    pub file: Option<UploadedPart>,
    /// SHA-256 of the contents in lowercase hexadecimal.
    pub sha256: String,
}

/// Uploaded file.
#[derive(Debug)]
pub struct UploadedPart {
    /// File name as sent, not empty; it may include directories.
    pub name: String,
    /// File contents.
    pub bytes: Bytes,
    /// Metadata from the file's comments.
    pub facts: Arc<GcodeFacts>,
}

impl UploadedPart {
    /// Receives a file that is the body of its request, as [`MultipartUpload::receive`] does for files in forms.
    pub async fn receive(printer: &VirtualPrinter, name: &str, body: Body) -> Result<Self, axum::Error> {
        printer.upload_begins();
        let mut contents = UploadBuffer::open(printer);
        let mut pieces = body.into_data_stream();
        while let Some(piece) = pieces.next().await {
            let piece = piece?;
            slowly(printer, piece.len()).await;
            contents.write(&piece);
        }
        let bytes = contents.close();
        let facts = Arc::new(GcodeFacts::read(&bytes));
        Ok(Self { name: name.to_owned(), bytes, facts })
    }
}

/// Waits for the time that the `slow_upload` fault takes for the given number of bytes, or until that fault is changed.
pub(crate) async fn slowly(printer: &VirtualPrinter, bytes: usize) {
    let speed = printer.faults().slow_upload;
    let Some(slow) = speed else { return };
    let time = Duration::from_secs_f64(bytes as f64 / slow.bytes_per_second.max(1) as f64);
    let changed = printer.until(|machine| machine.faults().slow_upload != speed);
    // Either ends the wait.
    let _ = tokio::time::timeout(time, changed).await;
}

impl MultipartUpload {
    /// Returns the value of a text field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }

    /// Returns whether a field has the value `true`.
    pub fn is_true(&self, name: &str) -> bool {
        self.field(name) == Some("true")
    }

    /// Receives an upload. The `slow_upload` fault applies to each chunk, even if it is switched on or off during the
    /// upload.
    pub async fn receive(printer: &VirtualPrinter, form: Multipart) -> Result<Self, MultipartError> {
        Self::receive_as(printer, form, "file").await
    }

    /// Receives an upload as [`MultipartUpload::receive`] does, with the file in the part of the given name.
    pub async fn receive_as(printer: &VirtualPrinter, mut form: Multipart, part: &str) -> Result<Self, MultipartError> {
        let mut upload = Self::default();
        while let Some(mut field) = form.next_field().await? {
            let name = field.name().unwrap_or_default().to_owned();
            if name != part {
                upload.fields.insert(name, field.text().await?);
                continue;
            }
            let name = field.file_name().unwrap_or_default().to_owned();
            printer.upload_begins();
            let mut contents = UploadBuffer::open(printer);
            let mut digest = Sha256::new();
            while let Some(piece) = field.chunk().await? {
                slowly(printer, piece.len()).await;
                digest.update(&piece);
                contents.write(&piece);
            }
            let contents = contents.close();
            upload.sha256 = hex::encode(digest.finalize());
            if !name.is_empty() {
                let facts = Arc::new(GcodeFacts::read(&contents));
                upload.file = Some(UploadedPart { name, bytes: contents, facts });
            }
        }
        Ok(upload)
    }
}

/// Buffer into which the contents of an upload are written as they arrive.
enum UploadBuffer {
    Own(BytesMut),
    /// Buffer shared with other uploads, and this upload's own write position.
    Shared(Arc<Mutex<Vec<u8>>>, usize),
}

/// Temporary file for uploads that share a single one; removed when the last of them has ended.
static SHARED: Mutex<Weak<Mutex<Vec<u8>>>> = Mutex::new(Weak::new());

impl UploadBuffer {
    fn open(printer: &VirtualPrinter) -> Self {
        if !printer.faults().shared_upload_file {
            return Self::Own(BytesMut::new());
        }
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let file = shared.upgrade().unwrap_or_else(|| {
            let file = Arc::default();
            *shared = Arc::downgrade(&file);
            file
        });
        // Opening it for writing empties it.
        file.lock().unwrap_or_else(PoisonError::into_inner).clear();
        Self::Shared(file, 0)
    }

    fn write(&mut self, piece: &[u8]) {
        match self {
            Self::Own(bytes) => bytes.extend_from_slice(piece),
            Self::Shared(file, position) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let end = *position + piece.len();
                if file.len() < end {
                    file.resize(end, 0);
                }
                file[*position..end].copy_from_slice(piece);
                *position = end;
            }
        }
    }

    fn close(self) -> Bytes {
        match self {
            Self::Own(bytes) => bytes.freeze(),
            Self::Shared(file, _) => file.lock().unwrap_or_else(PoisonError::into_inner).clone().into(),
        }
    }
}
