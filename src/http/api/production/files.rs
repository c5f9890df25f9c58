//! Files. Uploads are hashed and parsed while they are streamed to disk, and never held in memory.

mod at_printer;
mod pictures;
mod requests;
mod view;
mod with_picture;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::multipart::Field;
use axum::extract::{self, FromRequest as _, Multipart, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio_util::io::ReaderStream;

pub use self::at_printer::take_gcode;
pub use self::pictures::{WHOLE_PICTURE, drawn_picture, picture};
pub use self::requests::FileQuery;
use self::requests::FileUpload;
use self::view::FileView;
pub use self::with_picture::{PHOTO_MEMBER, take_with_picture};
use actors::app::ContentSweep;
use config::Config;
use domain::aggregate::Versioned;
use domain::file::{File, FileCommand, FileKind};
use domain::file_name::clean_name;
use domain::gcode::decide_kind;
use domain::id::Id;
use domain::principal::Role;
use domain::refusal::{Faults, Refusal};
use files::blobs::{Blobs, IncomingContent};
use files::turns::FileOwner;
use http::access::{AccessHandles, Caller, RequiredAccess, still};
use http::command_request::{
    CommandOutcome, CommandRequest, CommandTarget, RequestHandles, find_existing, present_state,
};
use http::error::ApiError;
use http::handles::handles;
use http::idempotency;
use http::multipart::{broken, store};
use http::page::Query;
use http::part_heads::PartHeads;
use http::path_id::PathId;
use http::reply::{Created, ListPage, NoContent, Resource};
use http::routes::ResourceRoutes;
use http::wire::{FromJson as _, ValuePath, schema_of};
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::environment::Environment;
use store::queries::{FileFilter, Page, Queries};

/// Path of the file collection.
pub const PATH: &str = "/api/files";
/// Example ID of a file.
pub const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8064";
/// Maximum size, in bytes, of a form field other than the file; such a field contains a single word.
const MAX_FIELD_BYTES: usize = 64;

handles! {
    /// Dependencies of the file routes.
    pub struct FileHandles {
        files: Directory<File>,
        blobs: Arc<Blobs>,
        content_sweep: Arc<ContentSweep>,
        queries: Queries,
        environment: Arc<Environment>,
        config: Arc<Config>,
        access: AccessHandles,
        request: RequestHandles,
    }
}

/// Returns the file routes.
pub fn routes() -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    let all = ResourceRoutes::new("Files", "Uploaded G-code, models and images.", "file")
        .get(operator, PATH, list, |op| op.named("listFiles", "List files"))
        .post_long(operator, PATH, upload, |op| {
            op.named("uploadFile", "Upload a file")
                .about(
                    "The kind of file is detected from its content. Send `kind` if it cannot be detected, for example \
                     for G-code from an unknown program.",
                )
                .takes_form(schema_of::<FileUpload>())
        })
        .get(operator, "/api/files/{id}", one, |op| op.named("getFile", "Retrieve a file's metadata"))
        .delete(operator, "/api/files/{id}", remove, |op| {
            op.named("deleteFile", "Remove a file").error(
                409,
                "file_in_use",
                "The file is used by a SKU or an unfinished order or job.",
            )
        })
        .get_long(operator, "/api/files/{id}/content", content, |op| {
            op.named("downloadFile", "Download a file").sends("application/octet-stream", None)
        })
        .schema::<FileUpload>();
    pictures::routes(all)
}

async fn list(
    State(app): State<FileHandles>,
    Query(FileQuery { kind, sha256, q, page }): Query<FileQuery>,
) -> Result<ListPage<FileView>, ApiError> {
    let page = page.into();
    let (some, total) = app.queries.files(&FileFilter { kind, sha256, q, ..FileFilter::default() }, page).await?;
    let view = |versioned: &Versioned<File>| Some(FileView::new(versioned.state.as_ref()?, versioned.version));
    Ok(ListPage::new(page, some.iter().filter_map(view), total))
}

/// Fields that an upload form accepts besides the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FormFields {
    /// API form: accepts `kind` and rejects any other field.
    Ours,
    /// Form that slicers send to a print host: only `print` is used; other fields are ignored, as other print hosts do.
    OfSlicers,
    /// Form on a printer's page: the file is G-code; other fields are ignored.
    AtPrinter,
}

/// Fields and content of an upload.
#[derive(Default)]
struct Upload<'a> {
    name: Option<String>,
    kind: Option<FileKind>,
    content: Option<IncomingContent<'a>>,
    print: bool,
}

/// Upload that was recorded as a file.
pub(super) struct Uploaded {
    /// The upload request, with which further commands can be sent.
    pub(super) call: CommandRequest,
    /// Result of creating the file.
    pub(super) done: CommandOutcome<File>,
    /// `true` if the file should be printed.
    pub(super) print: bool,
}

/// Receives the upload form of the API and records its file.
pub async fn add(app: &FileHandles, who: Caller, request: extract::Request) -> Result<CommandOutcome<File>, ApiError> {
    Ok(take_upload(app, who, request, FormFields::Ours).await?.done)
}

async fn upload(
    State(app): State<FileHandles>,
    who: Caller,
    request: extract::Request,
) -> Result<Created<FileView>, ApiError> {
    let done = add(&app, who, request).await?;
    Ok(Created::under(PATH, &done, FileView::new(&done.answer, done.version)))
}

/// Receives an upload and records it as a file.
pub(super) async fn take_upload(
    app: &FileHandles,
    who: Caller,
    request: extract::Request,
    fields: FormFields,
) -> Result<Uploaded, ApiError> {
    let (parts, body) = request.into_parts();
    let heads = PartHeads::default();
    let call = CommandRequest::without_body(&app.request, who, &parts)?;
    let form = form_of(app, &heads, extract::Request::from_parts(parts, body)).await?;
    let upload = receive(app, &heads, form, fields).await?;
    let print = upload.print;
    let meant = (fields == FormFields::AtPrinter).then_some(FileKind::Gcode);
    let done = recorded(app, &call, upload, meant).await?;
    Ok(Uploaded { call, done, print })
}

/// Parses a request's multipart form, with limits on the headers of its parts.
async fn form_of(app: &FileHandles, heads: &PartHeads, request: extract::Request) -> Result<Multipart, ApiError> {
    let (parts, body) = request.into_parts();
    Multipart::from_request(extract::Request::from_parts(parts, heads.bounded(body)), app).await.map_err(|_| {
        let message = "the body must be multipart/form-data";
        ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
    })
}

/// Records an upload as a file. `meant` is the file kind implied by the route, if any.
async fn recorded(
    app: &FileHandles,
    call: &CommandRequest,
    upload: Upload<'_>,
    meant: Option<FileKind>,
) -> Result<CommandOutcome<File>, ApiError> {
    let mut content = upload.content.ok_or_else(|| Refusal::field("file", "is required"))?;
    let name = clean_name(upload.name.as_deref().unwrap_or_default())?;
    let description = content.describe(&FileOwner::Shop).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::TimedOut => Refusal::field("file", "took too long to read").into(),
        _ => ApiError::from(error),
    })?;
    // The key or session may have ended while the file came.
    if !still(&app.access, &call.who) {
        return Err(ApiError::unauthorized("the API key or session is no longer valid"));
    }
    let kind = decide_kind(upload.kind.or(meant), description.content)?;
    if let Some(damage) = description.damage {
        return Err(Refusal::field("file", damage.to_string()).into());
    }
    // Until the file is recorded, what it names is not removed.
    let recording = app.blobs.recording();
    let stored = content.keep(&recording).await?;
    // The digest of the file stands for its bytes: what else was said is hashed with it.
    let hash = idempotency::short(&Sha256::digest(json!([stored.sha256, name, kind]).to_string()));
    let command = async {
        let metadata = Box::new(app.blobs.keep_metadata(description, &recording).await?);
        let size = i64::try_from(stored.size).map_err(ApiError::internal)?;
        let (sha256, photo_of, sliced_from) = (stored.sha256.clone(), None, None);
        Ok(FileCommand::Create { name, kind, size, sha256, metadata, photo_of, sliced_from })
    };
    call.ask_hashed(&app.files, CommandTarget::New, hash, command).await
}

/// Stores G-code generated by the server; reuses an existing file with the same content.
pub async fn keep_made(app: &FileHandles, origin: CommandOrigin, name: &str, gcode: &str) -> Result<Id, ApiError> {
    let sha256 = hex::encode(Sha256::digest(gcode));
    let same = FileFilter { kind: Some(FileKind::Gcode), sha256: Some(sha256), ..FileFilter::default() };
    let (matching, _) = app.queries.files(&same, Page { limit: 1, offset: 0 }).await?;
    if let Some(file) = matching.iter().filter_map(|versioned| versioned.state.as_ref()).find(|file| !file.archived) {
        return Ok(file.id);
    }
    let mut content = app.blobs.begin().await?;
    content.write(gcode.as_bytes()).await?;
    let description = content.describe(&FileOwner::Shop).await?;
    let kind = decide_kind(Some(FileKind::Gcode), description.content)?;
    let recording = app.blobs.recording();
    let stored = content.keep(&recording).await?;
    let metadata = Box::new(app.blobs.keep_metadata(description, &recording).await?);
    let size = i64::try_from(stored.size).map_err(ApiError::internal)?;
    let (name, sha256, photo_of, sliced_from) = (name.to_owned(), stored.sha256, None, None);
    let command = FileCommand::Create { name, kind, size, sha256, metadata, photo_of, sliced_from };
    Ok(app.files.create(origin, command).await?.0)
}

async fn receive<'a>(
    app: &'a FileHandles,
    heads: &PartHeads,
    mut form: Multipart,
    fields: FormFields,
) -> Result<Upload<'a>, ApiError> {
    let mut upload = Upload::default();
    while let Some(mut field) = heads.reading(form.next_field()).await.map_err(broken)? {
        match field.name() {
            Some("file") if upload.content.is_none() => {
                upload.name = field.file_name().map(str::to_owned);
                upload.content = Some(store(&app.blobs, &mut field, app.config.server.upload_max_bytes, None).await?);
            }
            Some("print") if fields == FormFields::OfSlicers => upload.print = word(&mut field).await? == "true",
            _ if fields != FormFields::Ours => {}
            Some("kind") => {
                let word = Value::String(word(&mut field).await?);
                let mut faults = Faults::default();
                upload.kind = FileKind::from_json(word, &ValuePath { path: "kind", in_query: false }, &mut faults);
                faults.refuse()?;
            }
            other => {
                let name = other.unwrap_or("(no name)").to_owned();
                return Err(Refusal::field(&name, "is not a valid field, or was sent twice").into());
            }
        }
    }
    Ok(upload)
}

/// Reads a form field that contains a single word. Input that is too long is truncated, so that it matches no accepted
/// value.
async fn word(field: &mut Field<'_>) -> Result<String, ApiError> {
    let mut text = Vec::new();
    while let Some(piece) = field.chunk().await.map_err(broken)? {
        text.extend_from_slice(&piece);
        if text.len() > MAX_FIELD_BYTES {
            break;
        }
    }
    Ok(String::from_utf8(text).unwrap_or_default())
}

async fn one(State(app): State<FileHandles>, PathId(id): PathId) -> Result<Resource<FileView>, ApiError> {
    let (version, state) = find_existing(&app.files, id).await?;
    let file = present_state(&state)?;
    Ok(Resource::new(version, FileView::new(file, version)))
}

/// Deletes a file that is not in use, with its content.
pub async fn delete(app: &FileHandles, id: Id, call: &CommandRequest) -> Result<(), ApiError> {
    let file = call.ask(&app.files, CommandTarget::Id(id), FileCommand::Archive).await?.answer;
    let contents: Vec<String> = std::iter::once(&file.sha256).chain(file.metadata.pictures()).cloned().collect();
    // What stays behind, by an error, a crash or a doubt, is found at the next look through all contents.
    if let Err(error) = app.content_sweep.remove(app.environment.leadership(), contents).await {
        tracing::warn!(file = %id, %error, "the content of a deleted file is still on disk");
    }
    Ok(())
}

async fn remove(
    State(app): State<FileHandles>,
    PathId(id): PathId,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    delete(&app, id, &call).await?;
    Ok(NoContent)
}

/// Serves a file's content as a download, which browsers never render as a page.
async fn content(State(app): State<FileHandles>, PathId(id): PathId) -> Result<axum::response::Response, ApiError> {
    let (_, state) = find_existing(&app.files, id).await?;
    let file = present_state(&state)?;
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
