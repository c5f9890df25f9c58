//! Page forms with an optional picture, which is stored as a separate file.

use std::collections::BTreeMap;

use axum::extract;
use axum::extract::multipart::Field;

use super::{FileHandles, Upload, form_of, recorded};
use domain::file::FileKind;
use domain::id::Id;
use domain::refusal::Refusal;
use http::access::{Caller, still};
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::multipart::{broken, store};
use http::part_heads::PartHeads;

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

/// Receives a form with an optional picture and stores the picture. `label` is the picture field's name in error
/// messages.
pub async fn take_with_picture(
    app: &FileHandles,
    who: Caller,
    request: extract::Request,
    label: &str,
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
            upload.content = Some(stored.map_err(|error| of_picture(error, label))?);
        }
    }
    // The session may have ended while the form came.
    if !still(&app.access, &call.who) {
        return Err(ApiError::unauthorized("the API key or session is no longer valid"));
    }
    let mut picture = None;
    if upload.content.is_some() {
        let outcome = recorded(app, &call, upload, Some(FileKind::Image)).await;
        picture = Some(outcome.map_err(|error| of_picture(error, label))?.id);
    }
    Ok(FormWithPicture { call, fields, picture })
}

/// Rewrites an error about the picture so that its message uses the form field's label. Messages about the file's
/// content are left unchanged.
fn of_picture(error: ApiError, label: &str) -> ApiError {
    let body = error.body();
    let fault = &body["errors"][0];
    match (fault["path"].as_str(), fault["message"].as_str()) {
        // Nobody chose a kind here: nothing but a picture is taken.
        (Some("kind"), _) => Refusal::field(label, "must be an image").into(),
        (Some("file"), Some(words)) => Refusal::field(label, words).into(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_picture_is_said_with_the_label_of_its_field() {
        let message_of = |error: ApiError| of_picture(error, "Picture of the parts").message().to_owned();
        let of_field = |path: &str, words: &str| message_of(Refusal::field(path, words).into());
        assert_eq!(
            of_field("kind", "does not match the content of the file"),
            "Picture of the parts: must be an image"
        );
        assert_eq!(of_field("file", "must not be empty"), "Picture of the parts: must not be empty");
        assert_eq!(of_field("file", "is damaged"), "Picture of the parts: is damaged");
        // What is no fault of the picture stays as it is.
        assert_eq!(of_field("name", "is too long"), "name: is too long");
        assert_eq!(
            message_of(ApiError::bad_request("malformed_multipart", "the body ends early")),
            "the body ends early"
        );
        assert_eq!(message_of(ApiError::too_large(9)), "the body must be at most 9 bytes");
    }
}
