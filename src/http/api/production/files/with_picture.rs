//! Page forms with an optional picture, which is stored as a separate file.

use std::collections::BTreeMap;

use axum::extract;
use axum::extract::multipart::Field;

use super::{FileHandles, Upload, form_of, recorded};
use domain::file::FileKind;
use domain::id::Id;
use http::access::{Caller, still};
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::multipart::{broken, label_picture_error, store};
use http::part_heads::PartHeads;

/// API field for the picture's file, which errors about the picture name.
pub const PHOTO_MEMBER: &str = "photoFileId";
/// Name of the picture field.
const PICTURE_FIELD: &str = "picture";
/// Maximum size of any other field, in bytes.
const MAX_FIELD_BYTES: usize = 8 * 1024;
/// Maximum number of other fields.
const MAX_FIELDS: usize = 32;

/// Fields of a form, and the file that contains its picture.
pub struct FormWithPicture {
    /// The request, with which commands can be sent to aggregates.
    pub call: CommandRequest,
    /// All fields except the picture.
    pub fields: BTreeMap<String, String>,
    /// ID of the stored picture; `None` if no picture was selected.
    pub picture: Option<Id>,
}

/// Receives a form with an optional picture and stores the picture.
pub async fn take_with_picture(
    app: &FileHandles,
    who: Caller,
    request: extract::Request,
) -> Result<FormWithPicture, ApiError> {
    let (parts, body) = request.into_parts();
    let heads = PartHeads::default();
    let call = CommandRequest::without_body(&app.request, who, &parts)?;
    let mut form = form_of(app, &heads, extract::Request::from_parts(parts, body)).await?;
    let (mut fields, mut upload) = (BTreeMap::new(), Upload::default());
    while let Some(mut field) = heads.reading(form.next_field()).await.map_err(broken)? {
        let name = field.name().unwrap_or_default().to_owned();
        if name != PICTURE_FIELD {
            if fields.len() == MAX_FIELDS {
                return Err(ApiError::bad_request("malformed_multipart", "the form has too many fields"));
            }
            let value = text(&mut field).await?;
            fields.entry(name).or_insert(value);
            continue;
        }
        // Where nothing was chosen browsers send the field without the name of a file.
        let chosen = field.file_name().filter(|name| !name.is_empty()).map(str::to_owned);
        if chosen.is_some() && upload.content.is_none() {
            upload.name = chosen;
            let stored = store(&app.blobs, &mut field, app.config.server.upload_max_bytes, None).await;
            upload.content = Some(stored.map_err(|error| label_picture_error(error, PHOTO_MEMBER))?);
        }
    }
    // The session may have ended while the form came.
    if !still(&app.access, &call.who) {
        return Err(ApiError::unauthorized("the API key or session is no longer valid"));
    }
    let mut picture = None;
    if upload.content.is_some() {
        let outcome = recorded(app, &call, upload, Some(FileKind::Image)).await;
        picture = Some(outcome.map_err(|error| label_picture_error(error, PHOTO_MEMBER))?.id);
    }
    Ok(FormWithPicture { call, fields, picture })
}

async fn text(field: &mut Field<'_>) -> Result<String, ApiError> {
    let mut text = Vec::new();
    while let Some(piece) = field.chunk().await.map_err(broken)? {
        text.extend_from_slice(&piece);
        if text.len() > MAX_FIELD_BYTES {
            return Err(ApiError::too_large(MAX_FIELD_BYTES as u64));
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}
