//! Images on a printer's card: the file preview and the camera view.
//!
//! A card does not know whether a file has a preview; if it has none, a preview is drawn from the toolpath or, if that
//! is not possible, a placeholder is served. The script fetches camera images one at a time, for the visible cards.
//! Without the script, camera images are only on the printer's page.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use tokio::io::AsyncReadExt as _;

use super::FLOOR_PATH;
use domain::id::Id;
use domain::printer::Printer;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::files::{FileHandles, WHOLE_PICTURE, drawn_picture};
use printers::PrinterType;
use printers::adapter::Operation;
use printers::cameras::frame::PictureKind;
use words::Language;
use words::staff::cards;

/// Maximum size of a preview image that is served, in bytes. Previews written by slicers are much smaller.
const MAX_PICTURE_BYTES: u64 = 4 * 1024 * 1024;
/// Placeholder for a file without a preview: a part on a build plate.
const NO_PICTURE: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 64 64\" fill=\"none\" stroke=\"#7f8b9c\" \
    stroke-width=\"3\" stroke-linejoin=\"round\"><path d=\"M32 8 52 19v22L32 52 12 41V19zM12 19l20 11 20-11M32 30v22M4 58h56\"/></svg>";

/// Renders a file's preview image; `class` determines its size.
pub(super) fn picture(file: Id, class: &str) -> Markup {
    let class = format!("thumb {class}");
    html! { img class=(class) src={ (FLOOR_PATH) "/pictures/" (file) } alt="" loading="lazy" width="96" height="96"; }
}

/// Renders a file's preview image in a card or in a row's thumbnail, which determine its size.
pub(super) fn view_picture(file: Id) -> Markup {
    html! { img src={ (FLOOR_PATH) "/pictures/" (file) } alt="" loading="lazy" width="76" height="76"; }
}

/// Returns whether a printer may have a camera. Only requesting an image reveals whether it does.
pub(super) fn may_have_camera(printer: &Printer) -> bool {
    let tells =
        || PrinterType::of_word(&printer.fields.kind).is_some_and(|one| !one.lacks.contains(&Operation::Webcams));
    !printer.disconnected && (printer.fields.camera.is_some() || (!printer.camera_absent && tells()))
}

/// Renders the placeholder that the script replaces with the camera image.
pub(super) fn camera(language: Language, printer: &Printer) -> Markup {
    html! {
        @if may_have_camera(printer) {
            img class="camera" data-camera=(camera_path(printer.id)) hidden
                alt=(cards::camera_of(language, &printer.fields.name)) width="320" height="180";
        }
    }
}

/// Returns the path of a printer's camera image.
pub(super) fn camera_path(printer: Id) -> String {
    format!("/api/printers/{printer}/camera")
}

/// Serves a file's preview image.
pub(super) async fn show(State(app): State<FileHandles>, PathId(id): PathId) -> Result<Response, ApiError> {
    let (_, state) = find_existing(&app.files, id).await?;
    let file = state_of(&state)?;
    let facts = &file.metadata;
    let own = facts.thumbnail.as_ref().or_else(|| facts.plates.iter().find_map(|plate| plate.thumbnail.as_ref()));
    let bytes = match own {
        Some(sha256) => read(&app, sha256).await?,
        None => match drawn_picture(&app, file, WHOLE_PICTURE).await {
            // Too many pictures are being drawn: the next request may get it.
            Err(error) if error.code() == "overloaded" => Vec::new(),
            drawn => drawn?.unwrap_or_default(),
        },
    };
    let (media, cached, bytes) = match PictureKind::of(&bytes) {
        // What a file brought never changes.
        Some(kind) => (kind.media(), "private, max-age=3600", bytes),
        None => ("image/svg+xml", "private, max-age=60", NO_PICTURE.as_bytes().to_vec()),
    };
    let headers = [
        (header::CONTENT_TYPE, media),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
        (header::CACHE_CONTROL, cached),
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
