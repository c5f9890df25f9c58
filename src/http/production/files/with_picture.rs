//! A form of a page that may bring a picture beside what it says: the picture becomes a file of its own.

use std::collections::BTreeMap;

use axum::extract;
use axum::extract::multipart::Field;
use axum::http::StatusCode;

use super::{FileHandles, Upload, broken, form_of, recorded, store};
use crate::domain::file::FileKind;
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;
use crate::http::access::{Caller, still};
use crate::http::command_request::CommandRequest;
use crate::http::error::ApiError;
use crate::http::part_heads::PartHeads;

/// The field of the picture.
const PICTURE_FIELD: &str = "picture";
/// Longest other field, in bytes.
const MAX_FIELD_BYTES: usize = 8 * 1024;
/// Most other fields.
const MAX_FIELDS: usize = 32;

/// What a form says, and the file of its picture.
pub(crate) struct FormWithPicture {
    /// The request, by which aggregates are asked.
    pub(crate) call: CommandRequest,
    /// All that it says but the picture.
    pub(crate) fields: BTreeMap<String, String>,
    /// `None` where no picture was chosen.
    pub(crate) picture: Option<Id>,
}

/// Takes such a form off the wire, and records its picture.
pub(crate) async fn take_with_picture(
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
            let said = text(&mut field).await?;
            fields.entry(name).or_insert(said);
            continue;
        }
        // Where nothing was chosen browsers send the field without the name of a file.
        let chosen = field.file_name().filter(|name| !name.is_empty()).map(str::to_owned);
        if chosen.is_some() && upload.content.is_none() {
            upload.name = chosen;
            upload.content = Some(store(app, &mut field).await?);
        }
    }
    // The session may have ended while the form came.
    if !still(&app.access, &call.who) {
        return Err(ApiError::unauthorized("the key or session has ended"));
    }
    let mut picture = None;
    if upload.content.is_some() {
        picture = Some(recorded(app, &call, upload, Some(FileKind::Image)).await.map_err(no_picture)?.id);
    }
    Ok(FormWithPicture { call, fields, picture })
}

/// What cannot be kept as a picture, in the words of the form.
fn no_picture(error: ApiError) -> ApiError {
    match error.status() {
        StatusCode::BAD_REQUEST => Refusal::field(PICTURE_FIELD, "must be a picture").into(),
        _ => error,
    }
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
