//! The pictures of a card: what its file will look like, and what its camera sees.
//!
//! A card does not know whether a file brought a picture: the answer is a drawing where it did not. Pictures of cameras
//! are fetched by the script, one after the other, of the cards that are on the screen; without it they are on the page
//! of the printer.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use tokio::io::AsyncReadExt as _;

use super::FLOOR_PATH;
use crate::domain::id::Id;
use crate::domain::printer::Printer;
use crate::http::command_request::{found, state_of};
use crate::http::error::ApiError;
use crate::http::path_id::PathId;
use crate::http::production::files::FileHandles;
use crate::printers::PrinterType;
use crate::printers::adapter::Operation;
use crate::printers::cameras::frame::PictureKind;

/// Larger pictures are not shown, in bytes; those of slicers are much smaller.
const MAX_PICTURE_BYTES: u64 = 4 * 1024 * 1024;
/// What is shown of a file without a picture: a part on a plate.
const NO_PICTURE: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 64 64\" fill=\"none\" stroke=\"#7f8b9c\" \
    stroke-width=\"3\" stroke-linejoin=\"round\"><path d=\"M32 8 52 19v22L32 52 12 41V19zM12 19l20 11 20-11M32 30v22M4 58h56\"/></svg>";

/// The picture of a file. `class` says its size.
pub(super) fn picture(file: Id, class: &str) -> Markup {
    let class = format!("thumb {class}");
    html! { img class=(class) src={ (FLOOR_PATH) "/pictures/" (file) } alt="" loading="lazy" width="96" height="96"; }
}

/// Whether a printer may have a camera; who asks for its picture learns whether it has.
pub(super) fn may_have_camera(printer: &Printer) -> bool {
    let tells =
        || PrinterType::of_word(&printer.fields.kind).is_some_and(|one| !one.lacks.contains(&Operation::Webcams));
    !printer.disconnected && (printer.fields.camera.is_some() || (!printer.camera_absent && tells()))
}

/// The place for what a camera sees; the script fills it.
pub(super) fn camera(printer: &Printer) -> Markup {
    html! {
        @if may_have_camera(printer) {
            img class="camera more" data-camera=(camera_path(printer.id)) hidden
                alt={ "What the camera of " (printer.fields.name) " sees" } width="320" height="180";
        }
    }
}

/// Where the picture of a printer's camera is.
pub(super) fn camera_path(printer: Id) -> String {
    format!("/api/printers/{printer}/camera")
}

/// Answers GET of the picture of a file.
pub(super) async fn show(State(app): State<FileHandles>, PathId(id): PathId) -> Result<Response, ApiError> {
    let (_, state) = found(&app.files, id).await?;
    let facts = &state_of(&state)?.metadata;
    let own = facts.thumbnail.as_ref().or_else(|| facts.plates.iter().find_map(|plate| plate.thumbnail.as_ref()));
    let bytes = match own {
        Some(sha256) => read(&app, sha256).await?,
        None => Vec::new(),
    };
    let (media, bytes) = match PictureKind::of(&bytes) {
        Some(kind) => (kind.media(), bytes),
        None => ("image/svg+xml", NO_PICTURE.as_bytes().to_vec()),
    };
    let headers = [
        (header::CONTENT_TYPE, media),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
        // What a file brought never changes.
        (header::CACHE_CONTROL, "private, max-age=3600"),
    ];
    Ok((headers, bytes).into_response())
}

async fn read(app: &FileHandles, sha256: &str) -> Result<Vec<u8>, ApiError> {
    let (content, size) = app.blobs.read(sha256).await?;
    let mut bytes = Vec::new();
    if size <= MAX_PICTURE_BYTES {
        content.take(MAX_PICTURE_BYTES).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}
