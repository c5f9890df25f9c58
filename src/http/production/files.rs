//! Uploads: streamed to disk while they are hashed and read, never held in memory (decisions §1, §7).

use crate::domain::file::{File, FileCommand, FileKind, FileMetadata, GcodeForm};
use crate::domain::gcode::{Content, Found, Metadata, Reader, read_package};
use crate::domain::refusal::Refusal;
use crate::files::blobs::Kept;
use crate::http::AppState;
use crate::http::access::Caller;
use crate::http::command_request::{CommandRequest, CommandTarget, HEARD_OUT, found, silent, state_of};
use crate::http::error::{Answer, ApiError};
use crate::http::idempotency;
use crate::http::page::{Params, body};
use crate::http::path_id::PathId;
use crate::http::reply;
use crate::store::queries::FileFilter;
use axum::body::Body;
use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{FromRequest as _, Multipart, Request, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio_util::io::ReaderStream;

const NAME_LONGEST: usize = 200;
/// Form fields other than the file are words.
const FIELD_LONGEST: usize = 64;

fn view(file: &File, version: i64) -> Value {
    json!({
        "id": file.id, "name": file.name, "kind": file.kind, "size": file.size, "sha256": file.sha256,
        "metadata": file.metadata, "createdAt": file.created_at, "version": version,
    })
}

/// `GET /api/files?kind=&sha256=&q=`
pub async fn list(State(app): State<AppState>, params: Params) -> Answer {
    let page = params.page()?;
    let text = |name: &str| params.text(name).map(str::to_owned);
    let filter = FileFilter { kind: params.word("kind")?, sha256: text("sha256"), q: text("q") };
    let (some, total) = app.queries.files(&filter, page).await?;
    let items = some.iter().filter_map(|found| Some(view(found.state.as_ref()?, found.version))).collect();
    reply::ok(body(page, "files", items, total))
}

/// What came with an upload.
#[derive(Default)]
struct Upload {
    name: Option<String>,
    kind: Option<FileKind>,
    kept: Option<(Kept, Found)>,
}

/// `POST /api/files`: multipart with `file`, and `kind` where the content does not tell.
pub async fn upload(State(app): State<AppState>, who: Caller, request: Request) -> Answer {
    let (parts, form) = request.into_parts();
    let call = CommandRequest::without_body(app.clone(), who, &parts)?;
    let form = Multipart::from_request(Request::from_parts(parts, form), &app).await.map_err(|_| {
        let message = "the body must be multipart/form-data";
        ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
    })?;
    let upload = receive(&app, form).await?;
    let (kept, found) = upload.kept.ok_or_else(|| Refusal::field("file", "is required"))?;
    let name = clean_name(upload.name.as_deref().unwrap_or_default());
    let kind = decide_kind(upload.kind, found.content)?;
    let found = whole(&app, &kept, found).await?;
    // The digest of the file stands for its bytes: what else was said is hashed with it.
    let hash = idempotency::short(&Sha256::digest(json!([kept.sha256, name, kind]).to_string()));
    let command = async {
        let metadata = Box::new(keep_metadata(&app, found).await?);
        let size = i64::try_from(kept.size).map_err(ApiError::internal)?;
        Ok(FileCommand::Create { name, kind, size, sha256: kept.sha256.clone(), metadata })
    };
    let done = call.ask_hashed(&app.files, CommandTarget::New, hash, command).await?;
    reply::created(&done, &format!("/api/files/{}", done.id), view(&done.answer, done.version))
}

async fn receive(app: &AppState, mut form: Multipart) -> Result<Upload, ApiError> {
    let mut upload = Upload::default();
    while let Some(mut field) = form.next_field().await.map_err(broken)? {
        match field.name() {
            Some("file") if upload.kept.is_none() => {
                upload.name = field.file_name().map(str::to_owned);
                upload.kept = Some(store(app, &mut field).await?);
            }
            Some("kind") => {
                let mut text = Vec::new();
                while let Some(piece) = field.chunk().await.map_err(broken)? {
                    text.extend_from_slice(&piece);
                    if text.len() > FIELD_LONGEST {
                        break;
                    }
                }
                let word = String::from_utf8(text).unwrap_or_default();
                let kind = serde_json::from_value(json!(word));
                upload.kind = Some(kind.map_err(|_| Refusal::field("kind", "must be one of gcode model image"))?);
            }
            other => {
                let name = other.unwrap_or("(no name)").to_owned();
                return Err(Refusal::field(&name, "is not known, or sent twice").into());
            }
        }
    }
    Ok(upload)
}

async fn store(app: &AppState, field: &mut Field<'_>) -> Result<(Kept, Found), ApiError> {
    let limit = app.config.server.upload_max_bytes;
    let mut incoming = app.blobs.begin()?;
    let mut reader = Reader::new();
    while let Some(piece) = field.chunk().await.map_err(broken)? {
        if incoming.size() + piece.len() as u64 > limit {
            let mut left = HEARD_OUT;
            while let Ok(Some(piece)) = field.chunk().await
                && left > 0
            {
                left = left.saturating_sub(piece.len());
            }
            return Err(ApiError::too_large(limit));
        }
        reader.push(&piece);
        incoming.write(&piece).await?;
    }
    if incoming.size() == 0 {
        return Err(Refusal::field("file", "must not be empty").into());
    }
    Ok((incoming.keep().await?, reader.finish()))
}

/// A damaged file is refused; what a package holds is read now that it is there as a whole.
async fn whole(app: &AppState, kept: &Kept, mut found: Found) -> Result<Found, ApiError> {
    if found.content == Some(Content::SlicedThreeMf) {
        let path = app.blobs.path(&kept.sha256);
        let read =
            tokio::task::spawn_blocking(move || Ok::<_, std::io::Error>(read_package(std::fs::File::open(path)?)));
        match read.await.map_err(ApiError::internal)?? {
            Ok(metadata) => found.metadata = metadata,
            Err(damage) => found.damage = Some(damage),
        }
    }
    match found.damage {
        Some(damage) => Err(Refusal::field("file", damage.to_string()).into()),
        None => Ok(found),
    }
}

fn broken(error: MultipartError) -> ApiError {
    silent(&error).unwrap_or_else(|| ApiError::bad_request("malformed_multipart", error.body_text()))
}

/// What the content says wins over nothing, and must not be contradicted.
fn decide_kind(said: Option<FileKind>, content: Option<Content>) -> Result<FileKind, ApiError> {
    match (said, content.map(Content::kind)) {
        (None, Some(found)) => Ok(found),
        (Some(said), Some(found)) if said == found => Ok(said),
        // Text that is not known is G-code or a model of some other program when the caller says so; pictures are known.
        (Some(said @ (FileKind::Gcode | FileKind::Model)), None) => Ok(said),
        (Some(_), _) => Err(Refusal::field("kind", "is not what the content is").into()),
        (None, None) => {
            Err(Refusal::field("file", "its content is not G-code, a model or a picture; say its kind").into())
        }
    }
}

/// The last part of a path, without what other programs might stumble over.
fn clean_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last.chars().filter(|c| !c.is_control()).take(NAME_LONGEST).collect();
    let clean = clean.trim().trim_start_matches('.').to_owned();
    if clean.is_empty() { "file".to_owned() } else { clean }
}

async fn keep_metadata(app: &AppState, found: Found) -> Result<FileMetadata, ApiError> {
    let form = match found.content {
        Some(Content::Gcode) => Some(GcodeForm::Text),
        Some(Content::BinaryGcode) => Some(GcodeForm::Binary),
        Some(Content::SlicedThreeMf) => Some(GcodeForm::Package),
        _ => None,
    };
    let Metadata { slicer, seconds, grams, filament_mm, thumbnail, layers, size } = found.metadata;
    let thumbnail = match thumbnail {
        Some(picture) => Some(app.blobs.put(&picture.png).await?.sha256),
        None => None,
    };
    Ok(FileMetadata { slicer, seconds, grams, filament_mm, thumbnail, layers, size, form })
}

/// `GET /api/files/{id}`
pub async fn one(State(app): State<AppState>, PathId(id): PathId) -> Answer {
    let (version, state) = found(&app.files, id).await?;
    let file = state_of(&state)?;
    if file.archived {
        return Err(Refusal::not_found("file").into());
    }
    reply::resource(version, &view(file, version))
}

/// `DELETE /api/files/{id}`: not while a SKU or an unfinished order or job names it (409).
pub async fn remove(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    if app.queries.file_in_use(id).await? {
        return Err(ApiError::conflict("file_in_use", "a SKU or an unfinished order or job names this file"));
    }
    call.ask(&app.files, CommandTarget::Id(id), FileCommand::Archive).await?;
    reply::no_content()
}

/// `GET /api/files/{id}/content`: the bytes, never shown as a page.
pub async fn content(State(app): State<AppState>, PathId(id): PathId) -> Answer {
    let (_, state) = found(&app.files, id).await?;
    let file = state_of(&state)?;
    if file.archived {
        return Err(Refusal::not_found("file").into());
    }
    let (content, size) = app.blobs.read(&file.sha256).await?;
    let plain: String =
        file.name.chars().map(|c| if c.is_ascii_graphic() && c != '"' && c != '\\' { c } else { '_' }).collect();
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_LENGTH, size.to_string()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{plain}\"")),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::ETAG, format!("\"{}\"", file.sha256)),
    ];
    Ok((headers, Body::from_stream(ReaderStream::new(content))).into_response())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_name_is_never_a_path() {
        assert_eq!(clean_name("../../etc/passwd"), "passwd");
        assert_eq!(clean_name("C:\\prints\\vase.gcode"), "vase.gcode");
        assert_eq!(clean_name("..."), "file");
        assert_eq!(clean_name("a\u{0}b\n.gcode"), "ab.gcode");
    }

    #[test]
    fn the_content_decides_what_a_file_is() {
        assert_eq!(decide_kind(None, Some(Content::Png)).unwrap(), FileKind::Image);
        assert_eq!(decide_kind(Some(FileKind::Model), None).unwrap(), FileKind::Model);
        assert_eq!(decide_kind(Some(FileKind::Gcode), Some(Content::Png)).unwrap_err().status(), 400);
        assert_eq!(decide_kind(Some(FileKind::Image), None).unwrap_err().status(), 400);
        assert_eq!(decide_kind(None, None).unwrap_err().status(), 400);
    }
}
