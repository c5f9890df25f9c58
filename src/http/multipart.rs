//! What all forms with files share: how a file is kept as it comes, within its limit, and what is said of a form that
//! breaks off.

use axum::extract::multipart::{Field, MultipartError};

use crate::domain::refusal::Refusal;
use crate::files::blobs::{Blobs, Incoming};
use crate::http::bodies::{MAX_PASSED_BYTES, silent};
use crate::http::error::ApiError;

/// Writes a file as it comes. Of one that is larger than `limit` bytes some of the rest is passed over, so that the
/// client hears why it is refused.
///
/// # Errors
///
/// When it is empty or too large, breaks off, or cannot be written.
pub async fn store<'a>(blobs: &'a Blobs, field: &mut Field<'_>, limit: u64) -> Result<Incoming<'a>, ApiError> {
    let mut incoming = blobs.begin()?;
    while let Some(piece) = field.chunk().await.map_err(broken)? {
        if incoming.size() + piece.len() as u64 > limit {
            let mut left = MAX_PASSED_BYTES;
            while let Ok(Some(piece)) = field.chunk().await
                && left > 0
            {
                left = left.saturating_sub(piece.len());
            }
            return Err(ApiError::too_large(limit));
        }
        incoming.write(&piece).await?;
    }
    if incoming.size() == 0 {
        return Err(Refusal::field("file", "must not be empty").into());
    }
    Ok(incoming)
}

/// A form that cannot be read to its end.
pub fn broken(error: MultipartError) -> ApiError {
    silent(&error).unwrap_or_else(|| ApiError::bad_request("malformed_multipart", error.body_text()))
}
