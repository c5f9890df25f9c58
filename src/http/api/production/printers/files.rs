//! Files on a printer: listing, uploading and deleting them.

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::{FromRequestParts, Path, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::IntoResponse;
use serde::Serialize;
use serde_json::{Value, json};

use super::acts::PrinterAct;
use super::device::reach;
use super::{NO_FILE, ON_PRINTER, PrinterHandles, connection};
use actors::printers::unused_name;
use domain::file::{File, FileKind};
use domain::file_name::printer_name;
use domain::id::Id;
use domain::principal::Role;
use domain::printer::{DirectAction, Printer, is_of_job};
use domain::refusal::Refusal;
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::command_request::{CommandRequest, find_existing, find_present, state_of};
use http::error::ApiError;
use http::handler::{Argument, Reply};
use http::operation::{DescribedContent, DescribedOperation};
use http::path_id::PathId;
use http::reply::{self, NoContent, Plain};
use http::routes::ResourceRoutes;
use http::wire::{Components, ToSchema};
use printers::PrinterType;
use printers::adapter::{Deleted, PrinterError, RemoteFile, Source};
use printers::connections::PrinterConnection;

/// Maximum number of files in a response.
const MAX_FILES_SHOWN: usize = 2000;
/// Maximum length of a listed file name, including its directories, in characters.
const MAX_NAME_CHARS: usize = 500;
/// G-code file ID used in examples in the API description.
pub(super) const EXAMPLE_FILE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8064";

/// Adds the routes for files on a printer.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    to.get_long(operator, "/api/printers/{id}/files", files, |op| {
        op.named("listPrinterFiles", "List the files on a printer")
            .about("Sorted by name, at most 2,000; files with names longer than 500 characters are only counted.")
            .errors(&ON_PRINTER)
    })
    .post_long(operator, "/api/printers/{id}/files", upload, |op| {
        op.named("uploadToPrinter", "Copy a stored file to a printer")
            .about(
                "The file is stored but not printed. Existing files are never overwritten: the new file gets another \
                 name, and the printer might also rename it.",
            )
            .unkeyed()
            .errors(&ON_PRINTER)
    })
    .delete_long(operator, "/api/printers/{id}/files/{*name}", delete_file, |op| {
        op.named("deletePrinterFile", "Delete a file on a printer").errors(&ON_PRINTER).errors(&[NO_FILE])
    })
}

/// File in a printer's own storage.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterFile", example = file_example())]
struct PrinterFileView {
    /// File name; directories are separated by slashes.
    path: String,
    /// Size, in bytes; null if the printer does not report it.
    size: Option<u64>,
    /// Time of the last change; null if the printer does not report it.
    modified_at: Option<Timestamp>,
    /// `true` if the server uploaded the file for a job, as determined from the file name.
    ours: bool,
    /// `true` if the printer is printing the file or holds it for a job; such files cannot be deleted.
    in_use: bool,
}

impl PrinterFileView {
    fn new(printer: &Printer, RemoteFile { path, size, modified_at }: RemoteFile) -> Self {
        Self { ours: is_of_job(&path), in_use: printer.is_using(&path), path, size, modified_at }
    }
}

fn file_example() -> Value {
    json!({"path": "vase.gcode", "size": 1_048_576, "modifiedAt": null, "ours": false, "inUse": false})
}

/// Files in a printer's own storage.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterFiles", example = json!({"files": [file_example()], "leftOut": 0}))]
struct PrinterFilesView {
    /// Files on the printer, sorted by name.
    files: Vec<PrinterFileView>,
    /// Number of files omitted because there are too many or their names are too long.
    left_out: usize,
}

/// Reference to a G-code file stored on the server.
#[derive(Request, Clone, Debug)]
#[api(example = json!({"fileId": EXAMPLE_FILE_ID}))]
struct StoredFile {
    /// ID of the stored G-code file.
    file_id: Id,
}

/// File that was uploaded to a printer.
#[derive(Response, Serialize)]
#[api(name = "UploadedFile", example = json!({"ok": true, "filename": "vase.gcode"}))]
pub(super) struct UploadedFile {
    /// Always `true`; failures are returned as errors.
    pub ok: bool,
    /// Name of the file on the printer.
    pub filename: String,
}

/// Response with status 201 and a file that was uploaded to a printer; the file has no URL on the server.
struct CreatedOnPrinter(UploadedFile);

impl IntoResponse for CreatedOnPrinter {
    fn into_response(self) -> axum::response::Response {
        reply::json(StatusCode::CREATED, &self.0)
    }
}

impl Reply for CreatedOnPrinter {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        components.add::<UploadedFile>();
        operation.answer = (201, UploadedFile::NAME.map_or(DescribedContent::Nothing, DescribedContent::Named));
    }
}

/// Name of a file on a printer, taken from the end of the path.
struct RemoteName(String);

impl<S: Send + Sync> FromRequestParts<S> for RemoteName {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let names = Path::<(String, String)>::from_request_parts(parts, state).await;
        let Path((_, name)) = names.map_err(|_| Refusal::not_found("printer_file"))?;
        Ok(Self(name))
    }
}

impl Argument for RemoteName {}

/// Returns the stored G-code file that a request body references as `fileId`. Fails unless printers of the given type
/// can print the file's format, which is detected from the content because the name may be misleading.
pub(super) async fn gcode_file(app: &PrinterHandles, kind: &str, id: Id) -> Result<File, ApiError> {
    let (_, state) = find_existing(&app.files, id).await.map_err(|_| Refusal::field("fileId", "no such file"))?;
    let file = state_of(&state)?;
    if file.archived || file.kind != FileKind::Gcode {
        return Err(Refusal::field("fileId", "must be a G-code file").into());
    }
    let form = file.metadata.form.unwrap_or_default();
    if PrinterType::of_word(kind).is_some_and(|declared| !declared.prints(form)) {
        let words = format!("printers of type {kind} cannot print .{} files", form.ending());
        return Err(Refusal::field("fileId", words).into());
    }
    Ok(file.clone())
}

async fn files(State(app): State<PrinterHandles>, PathId(id): PathId) -> Result<Plain<PrinterFilesView>, ApiError> {
    let mut files = reach(&app, id).await?.adapter.list_files().await?;
    let (_, printer) = find_present(&app.printers, id).await?;
    let all = files.len();
    files.retain(|file| file.path.chars().count() <= MAX_NAME_CHARS);
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files.truncate(MAX_FILES_SHOWN);
    let left_out = all - files.len();
    let files = files.into_iter().map(|file| PrinterFileView::new(&printer, file)).collect();
    Ok(Plain(PrinterFilesView { files, left_out }))
}

async fn upload(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest<StoredFile>,
) -> Result<CreatedOnPrinter, ApiError> {
    let StoredFile { file_id } = call.read_body()?;
    let (_, printer) = find_present(&app.printers, id).await?;
    connection(&app.printer_connections, id, &printer).await?;
    let file = gcode_file(&app, &printer.fields.kind, file_id).await?;
    let content = app.blobs.local(&file.sha256).await?;
    let form = file.metadata.form.unwrap_or_default();
    let (name, tag) = (printer_name(&file.name, form), app.environment.id());
    let act = PrinterAct { printer: id, origin: call.origin(), act: DirectAction::PutFile, detail: Some(name.clone()) };
    let put = |connection: Arc<PrinterConnection>| async move {
        let source = Source::of(&file, content.path().to_owned());
        let name = unused_name(connection.adapter.as_ref(), &name, tag).await?;
        connection.adapter.upload(&name, &source).await
    };
    let filename = act.carry_out(&app.printers, &app.printer_connections, put).await?;
    Ok(CreatedOnPrinter(UploadedFile { ok: true, filename }))
}

async fn delete_file(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    RemoteName(name): RemoteName,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    let (_, printer) = find_present(&app.printers, id).await?;
    if printer.is_using(&name) {
        let words = "the printer is printing this file or holds it for a job";
        return Err(ApiError::conflict("printer_in_use", words));
    }
    let act =
        PrinterAct { printer: id, origin: call.origin(), act: DirectAction::DeleteFile, detail: Some(name.clone()) };
    let delete = |connection: Arc<PrinterConnection>| async move {
        match connection.adapter.delete_file(&name).await? {
            Deleted::Gone => Ok(()),
            // Recorded as what it was: nothing was deleted.
            Deleted::NotFound => Err(PrinterError::NotFound(name)),
        }
    };
    act.carry_out(&app.printers, &app.printer_connections, delete).await?;
    Ok(NoContent)
}
