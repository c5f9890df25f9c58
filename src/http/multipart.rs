//! Common handling of forms with files: stores a file as it arrives, within its limit, reports incomplete forms, and
//! names the field of a picture in errors.

use axum::extract::multipart::{Field, MultipartError};

use crate::bodies::{MAX_PASSED_BYTES, silent};
use crate::error::ApiError;
use actors::app::customer_space::SpaceShare;
use domain::refusal::Refusal;
use files::blobs::{Blobs, IncomingContent};

/// Writes a file to disk as it arrives. `share` accounts for the disk space of a customer's file. If a file is larger
/// than `limit` bytes or there is no space for it, some of the rest is read and discarded, so that the client receives
/// the error.
///
/// # Errors
///
/// Returns an error if the file is empty, too large or incomplete, or cannot be written.
pub async fn store<'a>(
    blobs: &'a Blobs,
    field: &mut Field<'_>,
    limit: u64,
    mut share: Option<&mut SpaceShare>,
) -> Result<IncomingContent<'a>, ApiError> {
    let mut incoming = blobs.begin().await?;
    while let Some(piece) = field.chunk().await.map_err(broken)? {
        if incoming.size() + piece.len() as u64 > limit {
            pass_over(field, MAX_PASSED_BYTES).await;
            return Err(ApiError::too_large(limit));
        }
        if let Some(refusal) = share.as_mut().and_then(|share| share.grow(piece.len() as u64).err()) {
            pass_over(field, MAX_PASSED_BYTES).await;
            return Err(refusal.into());
        }
        incoming.write(&piece).await?;
    }
    if incoming.size() == 0 {
        return Err(Refusal::field("file", "must not be empty").into());
    }
    Ok(incoming)
}

/// Reads and discards up to about `left` bytes of a field.
pub async fn pass_over(field: &mut Field<'_>, mut left: usize) {
    while let Ok(Some(piece)) = field.chunk().await
        && left > 0
    {
        left = left.saturating_sub(piece.len());
    }
}

/// Builds the error for a form that cannot be read completely.
pub fn broken(error: MultipartError) -> ApiError {
    silent(&error).unwrap_or_else(|| ApiError::bad_request("malformed_multipart", error.body_text()))
}

/// Rewrites an error about an uploaded picture so that it names the given API field. Other errors are left unchanged.
pub fn label_picture_error(error: ApiError, member: &str) -> ApiError {
    match error.faults() {
        // Nobody chose a kind here: nothing but a picture is taken.
        [fault, ..] if fault.path == "kind" => Refusal::field(member, "must be a picture").into(),
        [fault, ..] if fault.path == "file" => Refusal::field(member, fault.message.as_str()).into(),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_picture_is_said_with_the_name_of_its_field() {
        let message_of = |error: ApiError| label_picture_error(error, "photoFileId").message().to_owned();
        let of_field = |path: &str, words: &str| message_of(Refusal::field(path, words).into());
        assert_eq!(of_field("kind", "does not match the content of the file"), "photoFileId: must be a picture");
        assert_eq!(of_field("file", "must not be empty"), "photoFileId: must not be empty");
        assert_eq!(of_field("file", "is damaged"), "photoFileId: is damaged");
        // What is no fault of the picture stays as it is.
        assert_eq!(of_field("name", "is too long"), "name: is too long");
        assert_eq!(
            message_of(ApiError::bad_request("malformed_multipart", "the body ends early")),
            "the body ends early"
        );
        assert_eq!(message_of(ApiError::too_large(9)), "the body must be at most 9 bytes");
    }
}
