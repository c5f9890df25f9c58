//! Pictures of files: thumbnails embedded by slicers, or drawings of toolpaths.

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{self, HeaderName};
use axum::response::{IntoResponse, Response};
use tokio_util::io::ReaderStream;

use super::FileHandles;
use domain::file::{File, FileKind};
use domain::principal::Role;
use domain::refusal::Refusal;
use http::access::RequiredAccess;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::handler::Reply;
use http::operation::{DescribedContent, DescribedOperation};
use http::page::Query;
use http::path_id::PathId;
use http::routes::ResourceRoutes;
use http::wire::{Components, Within};

/// Number that selects the picture of the whole file; other numbers select the picture of a plate.
pub const WHOLE_PICTURE: u32 = 0;
/// Plate drawn if no plate number is known.
const FIRST_PLATE: u32 = 1;
/// Highest plate number that can be requested.
const MAX_PLATE_NUMBER: u32 = 9_999;

/// Adds the picture route.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    to.get_long(operator, "/api/files/{id}/picture", show, |op| {
        op.named("getFilePicture", "Download a file's picture")
            .about(
                "Thumbnail that the slicer embedded in the file. If G-code has no thumbnail, its picture is drawn from \
                 the toolpath: 256 × 256 pixels on a transparent background, in the colour of the first filament. \
                 `plate` selects the picture of one plate.",
            )
            .error(404, "picture_not_found", "The file or the plate has no thumbnail and no toolpath to draw.")
    })
}

/// Selection of a file's picture.
#[derive(api_derive::Request, Debug)]
struct PictureQuery {
    /// Plate number; 0, the default, selects the picture of the whole file.
    #[api(Within(0..=MAX_PLATE_NUMBER), default = WHOLE_PICTURE)]
    plate: u32,
}

/// Response with status 200 and a picture.
struct FilePictureReply(Response);

impl IntoResponse for FilePictureReply {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Reply for FilePictureReply {
    fn describe(operation: &mut DescribedOperation, _: &mut Components) {
        operation.answer = (200, DescribedContent::Binary(&["image/png"]));
    }
}

async fn show(
    State(app): State<FileHandles>,
    PathId(id): PathId,
    Query(PictureQuery { plate }): Query<PictureQuery>,
) -> Result<FilePictureReply, ApiError> {
    let (_, state) = find_existing(&app.files, id).await?;
    Ok(FilePictureReply(picture(&app, state_of(&state)?, plate).await?))
}

/// Returns the picture of a plate or, for number 0, of the whole file: the thumbnail if there is one, otherwise a
/// drawing. Only PNG images, the format that slicers write, are stored; response headers make browsers treat the
/// response only as an image.
pub async fn picture(app: &FileHandles, file: &File, number: u32) -> Result<Response, ApiError> {
    let of_plate = file.metadata.plate(number).and_then(|plate| plate.thumbnail.as_ref());
    let thumbnail = if number == WHOLE_PICTURE { file.metadata.thumbnail.as_ref() } else { of_plate };
    let nothing = || ApiError::from(Refusal::not_found("picture"));
    if file.archived {
        return Err(nothing());
    }
    let Some(sha256) = thumbnail else {
        let png = drawn_picture(app, file, number).await?.ok_or_else(nothing)?;
        let headers = headers(png.len() as u64, &format!("{}-{number}", file.sha256));
        return Ok((headers, png).into_response());
    };
    let (content, size) = app.blobs.read(sha256).await?;
    Ok((headers(size, sha256), Body::from_stream(ReaderStream::new(content))).into_response())
}

fn headers(size: u64, tag: &str) -> [(HeaderName, String); 6] {
    [
        (header::CONTENT_TYPE, "image/png".to_owned()),
        (header::CONTENT_LENGTH, size.to_string()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox".to_owned()),
        // The picture of a file never changes.
        (header::CACHE_CONTROL, "private, max-age=86400, immutable".to_owned()),
        (header::ETAG, format!("\"{tag}\"")),
    ]
}

/// Draws the toolpath of a plate or, for number 0, of the first plate, in the colour of its first filament, and returns
/// it as a PNG; returns `None` if the file is not G-code, has no such plate, or contains nothing that can be drawn.
pub async fn drawn_picture(app: &FileHandles, file: &File, number: u32) -> Result<Option<Vec<u8>>, ApiError> {
    let is_whole = number == WHOLE_PICTURE;
    let plate = if is_whole { file.metadata.plates.first() } else { file.metadata.plate(number) };
    if file.kind != FileKind::Gcode || (plate.is_none() && !is_whole) {
        return Ok(None);
    }
    let color = plate.and_then(|plate| plate.filaments.iter().find_map(|filament| filament.color.as_deref()));
    // Earlier releases did not read plates.
    let number = plate.map_or(FIRST_PLATE, |plate| plate.plate);
    Ok(app.blobs.drawn_picture(&file.sha256, number, color).await?)
}
