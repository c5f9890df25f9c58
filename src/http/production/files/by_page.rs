//! What a page does with files: takes one off the wire, removes one, and shows the pictures that slicers put into them.

use axum::body::Body;
use axum::extract::{self, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use tokio_util::io::ReaderStream;

use super::{FileHandles, FormFields, remove, take_upload};
use crate::domain::file::File;
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;
use crate::http::access::Caller;
use crate::http::command_request::CommandRequest;
use crate::http::error::ApiError;
use crate::http::path_id::PathId;

/// Number of the picture of a file as a whole; those of its plates have the numbers of the plates.
const WHOLE_PICTURE: u32 = 0;

/// Takes a file off the wire and records it; gives its id.
pub(crate) async fn take_by_page(app: &FileHandles, who: Caller, request: extract::Request) -> Result<Id, ApiError> {
    Ok(take_upload(app, who, request, FormFields::Ours).await?.done.id)
}

/// Removes a file that nothing needs.
pub(crate) async fn remove_by_page(app: FileHandles, id: Id, call: CommandRequest) -> Result<(), ApiError> {
    remove(State(app), PathId(id), call).await.map(|_| ())
}

/// The picture that a slicer put into a file: of a plate or, with the number 0, of the whole. Slicers write PNG, and no
/// others are kept; a browser is told to show it as that and as nothing else.
pub(crate) async fn picture(app: &FileHandles, file: &File, number: u32) -> Result<Response, ApiError> {
    let of_plate = file.metadata.plate(number).and_then(|plate| plate.thumbnail.as_ref());
    let kept = if number == WHOLE_PICTURE { file.metadata.thumbnail.as_ref() } else { of_plate };
    let nothing = || ApiError::from(Refusal::not_found("picture"));
    let sha256 = kept.filter(|_| !file.archived).ok_or_else(nothing)?;
    let (content, size) = app.blobs.read(sha256).await?;
    let headers = [
        (header::CONTENT_TYPE, "image/png".to_owned()),
        (header::CONTENT_LENGTH, size.to_string()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox".to_owned()),
        // The picture of a file never changes.
        (header::CACHE_CONTROL, "private, max-age=86400, immutable".to_owned()),
        (header::ETAG, format!("\"{sha256}\"")),
    ];
    Ok((headers, Body::from_stream(ReaderStream::new(content))).into_response())
}
