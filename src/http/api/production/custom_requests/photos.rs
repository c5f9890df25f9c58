//! Photos attached to custom requests. Anyone can upload them, so response headers make browsers treat them only as
//! images.

use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::http::header;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use tokio_util::io::ReaderStream;

use super::CustomRequestHandles;
use domain::picture_format::PictureFormat;
use domain::principal::Role;
use domain::refusal::Refusal;
use http::access::RequiredAccess;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::handler::{Argument, Reply};
use http::operation::{DescribedContent, DescribedOperation};
use http::path_id::PathId;
use http::routes::ResourceRoutes;
use http::wire::Components;

/// Adds the photo route.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    to.get_long(operator, "/api/custom-requests/{id}/photos/{number}", photo, |op| {
        op.named("getCustomRequestPhoto", "Download a photo of a custom request")
            .about("Photos are numbered from 1. Location metadata has been removed.")
            .error(404, "photo_not_found", "The request has no photo with this number, or it was deleted.")
    })
}

/// The `{number}` path parameter of a photo. A value that is not a number results in a 404 error.
struct PhotoNumber(usize);

impl<S: Send + Sync> FromRequestParts<S> for PhotoNumber {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let nothing = || ApiError::from(Refusal::not_found("photo"));
        let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| nothing())?;
        let text = params.iter().find(|(name, _)| *name == "number").map_or("", |(_, text)| text);
        text.parse().map(Self).map_err(|_| nothing())
    }
}

impl Argument for PhotoNumber {}

/// Response with status 200 and a photo.
struct PhotoReply(Response);

impl IntoResponse for PhotoReply {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Reply for PhotoReply {
    fn describe(operation: &mut DescribedOperation, _: &mut Components) {
        const MEDIA: [&str; 4] = [
            PictureFormat::Jpeg.media(),
            PictureFormat::Png.media(),
            PictureFormat::Webp.media(),
            PictureFormat::Heic.media(),
        ];
        operation.answer = (200, DescribedContent::Binary(&MEDIA));
    }
}

async fn photo(
    State(app): State<CustomRequestHandles>,
    PathId(id): PathId,
    PhotoNumber(number): PhotoNumber,
) -> Result<PhotoReply, ApiError> {
    let (_, request) = find_existing(&app.custom_requests, id).await?;
    let photos = &state_of(&request)?.photos;
    let photo = number.checked_sub(1).and_then(|at| photos.get(at)).ok_or_else(|| Refusal::not_found("photo"))?;
    let (_, file) = find_existing(&app.files, photo.file_id).await?;
    let file = state_of(&file)?;
    if file.archived {
        return Err(Refusal::not_found("photo").into());
    }
    let (content, size) = app.blobs.read(&file.sha256).await?;
    let name = format!("photo-{number}.{}", photo.format.extension());
    let headers = [
        (header::CONTENT_TYPE, photo.format.media().to_owned()),
        (header::CONTENT_LENGTH, size.to_string()),
        (header::CONTENT_DISPOSITION, format!("inline; filename=\"{name}\"")),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox".to_owned()),
        (header::CACHE_CONTROL, "private, no-cache".to_owned()),
        (header::ETAG, format!("\"{}\"", file.sha256)),
    ];
    Ok(PhotoReply((headers, Body::from_stream(ReaderStream::new(content))).into_response()))
}
