//! Thumbnails that slicers embed in files.

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use tokio_util::io::ReaderStream;

use super::FileHandles;
use domain::file::File;
use domain::principal::Role;
use domain::refusal::Refusal;
use http::access::RequiredAccess;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::openapi::operation::{DescribedContent, DescribedOperation};
use http::page::Query;
use http::path_id::PathId;
use http::routes::ResourceRoutes;
use http::wire::{Components, Reply, Within};

/// Number of the whole file's thumbnail; a plate's thumbnail has the number of the plate.
const WHOLE_PICTURE: u32 = 0;
/// Highest plate number that can be requested.
const MAX_PLATE_NUMBER: u32 = 9_999;

/// Adds the thumbnail route.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    to.get_long(operator, "/api/files/{id}/picture", show, |op| {
        op.named("getFilePicture", "Download a file's thumbnail")
            .about("Thumbnail that the slicer embedded in the file. `plate` selects the thumbnail of one plate.")
            .error(404, "picture_not_found", "The file or the plate has no thumbnail.")
    })
}

/// Selection of a file's thumbnail.
#[derive(api_derive::Request, Debug)]
struct PictureQuery {
    /// Plate number; 0, the default, selects the thumbnail of the whole file.
    #[api(Within(0..=MAX_PLATE_NUMBER), default = WHOLE_PICTURE)]
    plate: u32,
}

/// A 200 response with a thumbnail.
struct ThumbnailReply(Response);

impl IntoResponse for ThumbnailReply {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Reply for ThumbnailReply {
    fn describe(operation: &mut DescribedOperation, _: &mut Components) {
        operation.answer = (200, DescribedContent::Binary(&["image/png"]));
    }
}

async fn show(
    State(app): State<FileHandles>,
    PathId(id): PathId,
    Query(PictureQuery { plate }): Query<PictureQuery>,
) -> Result<ThumbnailReply, ApiError> {
    let (_, state) = find_existing(&app.files, id).await?;
    Ok(ThumbnailReply(picture(&app, state_of(&state)?, plate).await?))
}

/// Returns the thumbnail of a plate or, for number 0, of the whole file. Only PNG images are stored, which is the
/// format that slicers embed; response headers make browsers treat the response only as an image.
pub async fn picture(app: &FileHandles, file: &File, number: u32) -> Result<Response, ApiError> {
    let of_plate = file.metadata.plate(number).and_then(|plate| plate.thumbnail.as_ref());
    let thumbnail = if number == WHOLE_PICTURE { file.metadata.thumbnail.as_ref() } else { of_plate };
    let nothing = || ApiError::from(Refusal::not_found("picture"));
    let sha256 = thumbnail.filter(|_| !file.archived).ok_or_else(nothing)?;
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
