//! Reads the form as it comes. Everything is bounded while it is read: the number of parts, the length of each text, of
//! each photo and of all together. Photos go to the disk piece by piece, already without their metadata; they are
//! removed when the form is given up, wherever that is.

use axum::extract::multipart::Field;
use axum::extract::{FromRequest as _, Multipart, Request};
use axum::http::StatusCode;
use sha2::{Digest as _, Sha256};

use super::fields::{FormTexts, IntakeFields};
use crate::app::customer_space::SpaceShare;
use crate::domain::custom_request::MAX_PHOTOS;
use crate::domain::picture_format::PictureFormat;
use crate::files::blobs::{Blobs, Incoming};
use crate::files::picture::PictureCleaner;
use crate::http::bodies::MAX_PASSED_BYTES;
use crate::http::error::ApiError;
use crate::http::multipart::{broken, pass_over};
use crate::http::part_heads::PartHeads;

/// The field of the photos; pages may also call it `photos[]`.
pub(super) const PHOTOS: &str = "photos";

/// How much a form may hold, in bytes.
#[derive(Clone, Copy, Debug)]
struct FormBounds {
    /// Largest photo.
    photo: u64,
    /// Largest size of all parts together, texts and what is passed over included.
    all: u64,
    /// Most of what is too large that is still read and thrown away.
    passed: usize,
}

const BOUNDS: FormBounds = FormBounds { photo: 15 * 1024 * 1024, all: 60 * 1024 * 1024, passed: MAX_PASSED_BYTES };

/// Longest text that is kept, in bytes: more than the longest that is taken has, so that the rule of its field refuses
/// a longer one.
const MAX_TEXT_BYTES: usize = 8 * 1024;
/// Most parts of a form: a few more than a form can have that is taken.
const MAX_PARTS: usize = 64;

/// A form that can be taken.
pub(super) struct TakenForm<'a> {
    pub(super) fields: IntakeFields,
    pub(super) photos: Vec<ReceivedPhoto<'a>>,
}

/// A photo that is on the disk without its metadata, and is removed if it is not kept.
pub(super) struct ReceivedPhoto<'a> {
    pub(super) content: Incoming<'a>,
    pub(super) format: PictureFormat,
    /// SHA-256 of the bytes that were sent, in hexadecimal.
    pub(super) digest: String,
}

/// Reads the whole form, or as much of it as shows that it is not taken. `share`: the room that its photos take.
pub(super) async fn receive<'a>(
    blobs: &'a Blobs,
    request: Request,
    share: Option<&mut SpaceShare>,
) -> Result<TakenForm<'a>, ApiError> {
    receive_within(blobs, request, BOUNDS, share).await
}

async fn receive_within<'a>(
    blobs: &'a Blobs,
    request: Request,
    bounds: FormBounds,
    mut share: Option<&mut SpaceShare>,
) -> Result<TakenForm<'a>, ApiError> {
    let (parts, body) = request.into_parts();
    let heads = PartHeads::default();
    let mut form =
        Multipart::from_request(Request::from_parts(parts, heads.bounded(body)), &()).await.map_err(|_| {
            let message = "the body must be multipart/form-data";
            ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
        })?;
    let (mut texts, mut photos, mut named) = (FormTexts::default(), Vec::new(), 0);
    let mut left = bounds.all;
    let mut count = 0;
    while let Some(field) = heads.reading(form.next_field()).await.map_err(broken)? {
        count += 1;
        if count > MAX_PARTS {
            return Err(ApiError::bad_request("too_many_parts", format!("the form has more than {MAX_PARTS} parts")));
        }
        let name = field.name().unwrap_or("(no name)").to_owned();
        let mut reading = PartReading { field, left: &mut left, bounds };
        match name.as_str() {
            PHOTOS | "photos[]" if named < MAX_PHOTOS => {
                // A page whose user chose nothing sends an empty part without a name.
                let unnamed = reading.field.file_name().is_none_or(str::is_empty);
                let path = format!("{PHOTOS}.{named}");
                match reading.photo(blobs, share.as_deref_mut()).await? {
                    PhotoOutcome::Nothing if unnamed => continue,
                    PhotoOutcome::Nothing => texts.fault(&path, "must not be empty"),
                    PhotoOutcome::Faulty(words) => texts.fault(&path, words),
                    PhotoOutcome::Photo(photo) => photos.push(photo),
                }
                named += 1;
            }
            PHOTOS | "photos[]" => {
                named += 1;
                reading.pass_over().await?;
            }
            _ => texts.add(&name, reading.text().await?),
        }
    }
    if named == 0 {
        texts.fault(PHOTOS, "is required");
    } else if named > MAX_PHOTOS {
        texts.fault(PHOTOS, format!("must have 1 to {MAX_PHOTOS} items"));
    }
    Ok(TakenForm { fields: texts.read()?, photos })
}

/// What came of the part of a photo.
enum PhotoOutcome<'a> {
    Nothing,
    Faulty(String),
    Photo(ReceivedPhoto<'a>),
}

/// A part that is being read, and how much of all photos may still come.
struct PartReading<'f, 'l> {
    field: Field<'f>,
    left: &'l mut u64,
    bounds: FormBounds,
}

impl PartReading<'_, '_> {
    /// The next piece, which counts.
    async fn piece(&mut self) -> Result<Option<axum::body::Bytes>, ApiError> {
        let Some(piece) = self.field.chunk().await.map_err(broken)? else { return Ok(None) };
        match self.left.checked_sub(piece.len() as u64) {
            Some(left) => *self.left = left,
            None => return Err(self.too_large("the form is", self.bounds.all).await),
        }
        Ok(Some(piece))
    }

    /// The photo, while it goes to the disk.
    async fn photo<'b>(
        &mut self,
        blobs: &'b Blobs,
        mut share: Option<&mut SpaceShare>,
    ) -> Result<PhotoOutcome<'b>, ApiError> {
        let mut content = blobs.begin()?;
        let (mut cleaner, mut digest) = (PictureCleaner::new(), Sha256::new());
        let (mut size, mut kept, mut fault) = (0, Vec::new(), None);
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
            kept.clear();
            match cleaner.push(&piece, &mut kept) {
                Ok(()) => content.write(&kept).await?,
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

    /// The bytes of a text, or its beginning where it is too long for any field.
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

    /// 413. A little more is read and thrown away, so that the client hears the answer and not a broken connection.
    async fn too_large(&mut self, what: &str, limit: u64) -> ApiError {
        pass_over(&mut self.field, self.bounds.passed).await;
        let message = format!("{what} larger than {limit} bytes");
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }
}

#[cfg(test)]
mod tests;
