//! Streaming parser of forms with texts and photos. Limits apply while the form is being read: to the number of parts,
//! the length of each text, the number and size of the photos, and the total size of all parts. Photos are written to
//! disk in chunks, without their metadata, and are removed if the form is abandoned at any point. The texts are only
//! collected here, never interpreted.

use axum::extract::multipart::Field;
use axum::extract::{FromRequest as _, Multipart, Request};
use axum::http::StatusCode;
use sha2::{Digest as _, Sha256};

use crate::bodies::MAX_PASSED_BYTES;
use crate::error::ApiError;
use crate::multipart::{broken, pass_over};
use crate::part_heads::PartHeads;
use actors::app::customer_space::SpaceShare;
use domain::picture_format::PictureFormat;
use domain::refusal::Faults;
use files::blobs::{Blobs, IncomingContent};
use files::picture::PictureCleaner;

/// Name of the photo field; pages may also use `photos[]`.
pub const PHOTOS: &str = "photos";

/// Size limits of a form, in bytes.
#[derive(Clone, Copy, Debug)]
struct FormBounds {
    /// Maximum size of a photo.
    photo: u64,
    /// Maximum size of all parts together, including texts and ignored parts.
    all: u64,
    /// Maximum number of bytes of an oversized form that are still read and discarded.
    passed: usize,
}

const BOUNDS: FormBounds = FormBounds { photo: 15 * 1024 * 1024, all: 60 * 1024 * 1024, passed: MAX_PASSED_BYTES };

/// Maximum number of bytes kept of a text field. Higher than every field's limit, so that a text that is too long is
/// rejected by the field's own validation.
const MAX_TEXT_BYTES: usize = 8 * 1024;
/// Maximum number of parts in a form, slightly more than a valid form can have.
const MAX_PARTS: usize = 64;

/// Content of a form. It is valid only if there are no faults.
pub struct PhotoForm<'a> {
    /// Names and bytes of the texts, in the order of the form; a longer text is cut after a few kilobytes.
    pub texts: Vec<(String, Vec<u8>)>,
    /// Photos without faults, in the order of the form.
    pub photos: Vec<ReceivedPhoto<'a>>,
    /// Faults in the photos.
    pub faults: Faults,
}

/// Photo on disk without its metadata; removed unless it is stored permanently.
pub struct ReceivedPhoto<'a> {
    /// Content without metadata.
    pub content: IncomingContent<'a>,
    /// Picture format, recognised by the bytes.
    pub format: PictureFormat,
    /// SHA-256 of the uploaded bytes, in hexadecimal.
    pub digest: String,
}

/// Reads the whole form, which must have 1 to `max_photos` photos; stops at the first limit that the form exceeds.
/// `share` accounts for the disk space of the photos.
///
/// # Errors
///
/// Returns an error if the body is no form or is incomplete, if it exceeds a limit other than the number of photos, or
/// if there is no space for the photos.
pub async fn receive<'a>(
    blobs: &'a Blobs,
    request: Request,
    max_photos: usize,
    share: Option<&mut SpaceShare>,
) -> Result<PhotoForm<'a>, ApiError> {
    receive_within(blobs, request, max_photos, BOUNDS, share).await
}

async fn receive_within<'a>(
    blobs: &'a Blobs,
    request: Request,
    max_photos: usize,
    bounds: FormBounds,
    mut share: Option<&mut SpaceShare>,
) -> Result<PhotoForm<'a>, ApiError> {
    let (parts, body) = request.into_parts();
    let heads = PartHeads::default();
    let mut form =
        Multipart::from_request(Request::from_parts(parts, heads.bounded(body)), &()).await.map_err(|_| {
            let message = "the body must be multipart/form-data";
            ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
        })?;
    let (mut texts, mut photos, mut faults, mut named) = (Vec::new(), Vec::new(), Faults::default(), 0);
    let mut left = bounds.all;
    let mut count = 0;
    while let Some(field) = heads.reading(form.next_field()).await.map_err(broken)? {
        count += 1;
        if count > MAX_PARTS {
            return Err(ApiError::bad_request("too_many_parts", format!("the form has more than {MAX_PARTS} parts")));
        }
        let name = field.name().unwrap_or("(no name)").to_owned();
        let mut reading = PartReader { field, left: &mut left, bounds };
        match name.as_str() {
            PHOTOS | "photos[]" if named < max_photos => {
                // A page whose user chose nothing sends an empty part without a name.
                let unnamed = reading.field.file_name().is_none_or(str::is_empty);
                let path = format!("{PHOTOS}.{named}");
                match reading.photo(blobs, share.as_deref_mut()).await? {
                    PhotoOutcome::Nothing if unnamed => continue,
                    PhotoOutcome::Nothing => faults.note(&path, "must not be empty"),
                    PhotoOutcome::Faulty(words) => faults.note(&path, words),
                    PhotoOutcome::Photo(photo) => photos.push(photo),
                }
                named += 1;
            }
            PHOTOS | "photos[]" => {
                named += 1;
                reading.pass_over().await?;
            }
            _ => {
                let text = reading.text().await?;
                texts.push((name, text));
            }
        }
    }
    if named == 0 {
        faults.note(PHOTOS, "is required");
    } else if named > max_photos {
        faults.note(PHOTOS, format!("must have 1 to {max_photos} items"));
    }
    Ok(PhotoForm { texts, photos, faults })
}

/// Result of reading a photo part.
enum PhotoOutcome<'a> {
    Nothing,
    Faulty(String),
    Photo(ReceivedPhoto<'a>),
}

/// Reader for one part, with the number of bytes that the form may still contain.
struct PartReader<'f, 'l> {
    field: Field<'f>,
    left: &'l mut u64,
    bounds: FormBounds,
}

impl PartReader<'_, '_> {
    /// Reads the next chunk and counts it towards the form's limit; `None` at the end of the part.
    async fn piece(&mut self) -> Result<Option<axum::body::Bytes>, ApiError> {
        let Some(piece) = self.field.chunk().await.map_err(broken)? else { return Ok(None) };
        match self.left.checked_sub(piece.len() as u64) {
            Some(left) => *self.left = left,
            None => return Err(self.too_large("the form is", self.bounds.all).await),
        }
        Ok(Some(piece))
    }

    /// Reads a photo and writes it to disk as it arrives.
    async fn photo<'b>(
        &mut self,
        blobs: &'b Blobs,
        mut share: Option<&mut SpaceShare>,
    ) -> Result<PhotoOutcome<'b>, ApiError> {
        let mut content = blobs.begin().await?;
        let (mut cleaner, mut digest) = (PictureCleaner::new(), Sha256::new());
        let (mut size, mut cleaned, mut fault) = (0, Vec::new(), None);
        while let Some(piece) = self.piece().await? {
            size += piece.len() as u64;
            if size > self.bounds.photo {
                return Err(self.too_large("one of the photos is", self.bounds.photo).await);
            }
            // Of a photo that is no such picture the rest is only counted: other fields may have faults, too.
            if fault.is_some() {
                continue;
            }
            if let Some(refusal) = share.as_mut().and_then(|share| share.grow(piece.len() as u64).err()) {
                pass_over(&mut self.field, self.bounds.passed).await;
                return Err(refusal.into());
            }
            digest.update(&piece);
            cleaned.clear();
            match cleaner.push(&piece, &mut cleaned) {
                Ok(()) => content.write(&cleaned).await?,
                Err(error) => fault = Some(error),
            }
        }
        if size == 0 {
            return Ok(PhotoOutcome::Nothing);
        }
        let format = match fault {
            Some(fault) => Err(fault),
            None => cleaner.finish(),
        };
        Ok(match format {
            Ok(format) => {
                PhotoOutcome::Photo(ReceivedPhoto { content, format, digest: hex::encode(digest.finalize()) })
            }
            Err(fault) => PhotoOutcome::Faulty(fault.to_string()),
        })
    }

    /// Reads a text part, truncated to [`MAX_TEXT_BYTES`].
    async fn text(&mut self) -> Result<Vec<u8>, ApiError> {
        let mut text = Vec::new();
        while let Some(piece) = self.piece().await? {
            let room = MAX_TEXT_BYTES.saturating_sub(text.len());
            text.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        if text.len() == MAX_TEXT_BYTES {
            // Its last character may be cut.
            text = String::from_utf8_lossy(&text).into_owned().into_bytes();
        }
        Ok(text)
    }

    async fn pass_over(&mut self) -> Result<(), ApiError> {
        while self.piece().await?.is_some() {}
        Ok(())
    }

    /// Reads and discards a little more of the body, so that the client receives the response instead of a connection
    /// error, and returns a 413 error.
    async fn too_large(&mut self, what: &str, limit: u64) -> ApiError {
        pass_over(&mut self.field, self.bounds.passed).await;
        let message = format!("{what} larger than {limit} bytes");
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }
}

#[cfg(test)]
mod tests;
