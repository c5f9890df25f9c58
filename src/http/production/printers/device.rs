//! What a printer itself is asked: what it is, what it printed, its cameras, and the files on it.

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::{FromRequestParts, Path, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::IntoResponse;
use serde::Serialize;
use serde_json::{Value, json};

use super::acts::PrinterAct;
use super::{NO_FILE, ON_PRINTER, PrinterHandles, connection, present};
use crate::actors::printers::unused_name;
use crate::domain::failure_detection::keeps_secret;
use crate::domain::file::{File, FileKind};
use crate::domain::id::Id;
use crate::domain::principal::Role;
use crate::domain::printer::Act;
use crate::domain::printer_status::{PastPrint, PrintEnd};
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use crate::http::access::RequiredAccess;
use crate::http::command_request::{CommandRequest, found, state_of};
use crate::http::error::ApiError;
use crate::http::openapi::operation::{DescribedContent, DescribedOperation};
use crate::http::openapi::shape::{Shape, anything, open_object};
use crate::http::page::Query;
use crate::http::path_id::PathId;
use crate::http::reply::{self, NoContent, Plain};
use crate::http::routes::ResourceRoutes;
use crate::http::wire::{Argument, Components, Reply, Response, ToSchema, enumeration};
use crate::printers::PrinterType;
use crate::printers::adapter::{Deleted, RemoteFile, Source, Webcam};
use crate::printers::connections::PrinterConnection;

/// The id that examples use for a G-code file.
pub(super) const EXAMPLE_FILE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8064";

enumeration! {
    /// How a print ended, as the printer remembers it.
    PrintEnd,
}

/// Adds the routes of what a printer is asked.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    to.get_long(operator, "/api/printers/{id}/info", info, |op| {
        op.named("getPrinterInfo", "Ask what a printer says of itself")
            .about("What its server and its firmware tell, as far as printers of its type do.")
            .errors(&ON_PRINTER)
    })
    .get_long(operator, "/api/printers/{id}/history", history, |op| {
        op.named("getPrinterHistory", "Ask what a printer remembers of the prints of a file").errors(&ON_PRINTER)
    })
    .get_long(operator, "/api/printers/{id}/webcams", webcams, |op| {
        op.named("listWebcams", "List the cameras of a printer").errors(&ON_PRINTER)
    })
    .get_long(operator, "/api/printers/{id}/system-info", system_info, |op| {
        op.named("getSystemInfo", "Ask about the computer that a printer runs on")
            .about("The answer is the printer's own.")
            .errors(&ON_PRINTER)
    })
    .get_long(operator, "/api/printers/{id}/files", files, |op| {
        op.named("listPrinterFiles", "List the files on a printer").errors(&ON_PRINTER)
    })
    .post_long(operator, "/api/printers/{id}/files", upload, |op| {
        op.named("uploadToPrinter", "Copy a stored file to a printer")
            .about(
                "The file is stored and not printed. A file of the same name on the printer is never overwritten: the new one gets \
                 another name, and the printer may give it another one, too.",
            )
            .unkeyed()
            .errors(&ON_PRINTER)
    })
    .delete_long(operator, "/api/printers/{id}/files/{*name}", delete_file, |op| {
        op.named("deletePrinterFile", "Delete a file on a printer").errors(&ON_PRINTER).errors(&[NO_FILE])
    })
}

/// JSON of the printer's own server: what is in it depends on the printer.
#[derive(Serialize)]
struct OpenJson(Value);

impl ToSchema for OpenJson {
    fn schema() -> Shape {
        anything()
    }
}

/// What a printer says of itself.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterInfo", example = json!({
    "server": {"klippy_connected": true}, "printer": {"state": "ready"},
}))]
struct InfoView {
    /// What its server tells of itself; null when it does not.
    server: OpenJson,
    /// What its firmware tells of itself; null when it does not.
    printer: OpenJson,
}

/// What a printer tells of the computer that it runs on.
#[derive(Serialize)]
struct SystemInfo(Value);

impl ToSchema for SystemInfo {
    const NAME: Option<&'static str> = Some("PrinterSystemInfo");
    fn schema() -> Shape {
        open_object().about("What the printer tells of the computer that it runs on.")
    }
    fn example() -> Value {
        json!({"cpu_info": {"cpu_count": 4}})
    }
}
impl Response for SystemInfo {}

/// The file whose prints are asked for.
#[derive(Request, Debug)]
struct HistoryQuery {
    /// The name of a file on the printer; when absent, the file that it printed last.
    file: Option<String>,
}

/// A print that the printer remembers.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PastPrint", example = past_example())]
struct PastPrintView {
    /// The name of the file on the printer.
    file: String,
    /// How it ended; null while it is on, or when the printer does not say.
    ended: Option<PrintEnd>,
    /// Filament that was used, in millimetres.
    filament_mm: Option<f64>,
    /// When it began; null where the printer does not say.
    started_at: Option<Timestamp>,
    /// When it ended; null while it is on, or where the printer does not say.
    ended_at: Option<Timestamp>,
}

impl From<PastPrint> for PastPrintView {
    fn from(PastPrint { file, ended, cut_off: _, filament_mm, started_at, ended_at }: PastPrint) -> Self {
        Self { file, ended, filament_mm, started_at, ended_at }
    }
}

fn past_example() -> Value {
    json!({
        "file": "vase.gcode", "ended": "finished", "filamentMm": 6765.3, "startedAt": "2026-11-01T09:00:00.000Z",
        "endedAt": "2026-11-01T10:31:00.000Z",
    })
}

/// What a printer remembers of the prints of a file.
#[derive(Response, Serialize)]
#[api(name = "PrintHistory", example = json!({"history": [past_example()]}))]
struct HistoryView {
    /// The prints of the file that the printer remembers, newest first.
    history: Vec<PastPrintView>,
}

/// A camera that looks at a printer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Webcam", example = webcam_example())]
struct WebcamView {
    /// The printer's name for it.
    name: String,
    /// Address of its live picture; null too where a key or password stands in it.
    stream_url: Option<String>,
    /// Address of a single picture; null too where a key or password stands in it.
    snapshot_url: Option<String>,
    /// Whether it is switched on.
    enabled: bool,
}

impl From<Webcam> for WebcamView {
    fn from(Webcam { name, stream_url, snapshot_url, enabled }: Webcam) -> Self {
        let open = |url: Option<String>| url.filter(|url| keeps_secret(url).is_none());
        Self { name, stream_url: open(stream_url), snapshot_url: open(snapshot_url), enabled }
    }
}

fn webcam_example() -> Value {
    json!({
        "name": "bed", "streamUrl": "http://192.168.1.20/webcam/?action=stream",
        "snapshotUrl": "http://192.168.1.20/webcam/?action=snapshot", "enabled": true,
    })
}

/// The cameras of a printer.
#[derive(Response, Serialize)]
#[api(name = "Webcams", example = json!({"webcams": [webcam_example()]}))]
struct WebcamsView {
    /// One entry for each camera.
    webcams: Vec<WebcamView>,
}

/// A file on a printer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterFile", example = json!({"path": "vase.gcode", "size": 1_048_576, "modifiedAt": null}))]
struct PrinterFileView {
    /// Its name; folders are joined by slashes.
    path: String,
    /// Size in bytes; null where the printer does not tell it.
    size: Option<u64>,
    /// When it last changed; null where the printer does not tell it.
    modified_at: Option<Timestamp>,
}

impl From<RemoteFile> for PrinterFileView {
    fn from(RemoteFile { path, size, modified_at }: RemoteFile) -> Self {
        Self { path, size, modified_at }
    }
}

/// The files on a printer.
#[derive(Response, Serialize)]
#[api(name = "PrinterFiles", example = json!({
    "files": [{"path": "vase.gcode", "size": 1_048_576, "modifiedAt": null}],
}))]
struct PrinterFilesView {
    /// One entry for each file, in no certain order.
    files: Vec<PrinterFileView>,
}

/// One of the files that this server stores.
#[derive(Request, Clone, Debug)]
#[api(example = json!({"fileId": EXAMPLE_FILE_ID}))]
pub(super) struct StoredFile {
    /// Id of a G-code file.
    file_id: Id,
}

/// A file that was put on a printer.
#[derive(Response, Serialize)]
#[api(name = "UploadedFile", example = json!({"ok": true, "filename": "vase.gcode"}))]
pub(super) struct UploadedFile {
    /// Always `true`; failures have the error shape.
    pub ok: bool,
    /// The name that the printer gave the file.
    pub filename: String,
}

/// 201 with a file that was put on a printer; it has no address at this server.
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

/// The name of a file on a printer, from the end of the path.
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

/// The connection of a printer that exists.
pub(super) async fn reach(app: &PrinterHandles, id: Id) -> Result<Arc<PrinterConnection>, ApiError> {
    let (_, printer) = present(app, id).await?;
    connection(&app.printer_connections, id, &printer).await
}

/// A stored G-code file that a body names as `fileId`, of a form that printers of this type print. Its content tells
/// the form: its name may be wrong.
pub(super) async fn gcode_file(app: &PrinterHandles, kind: &str, id: Id) -> Result<File, ApiError> {
    let (_, state) = found(&app.files, id).await.map_err(|_| Refusal::field("fileId", "no such file"))?;
    let file = state_of(&state)?;
    if file.archived || file.kind != FileKind::Gcode {
        return Err(Refusal::field("fileId", "must be a G-code file").into());
    }
    let form = file.metadata.form.unwrap_or_default();
    if PrinterType::of_word(kind).is_some_and(|declared| !declared.prints(form)) {
        let words = format!("printers of type {kind} do not print .{} files", form.ending());
        return Err(Refusal::field("fileId", words).into());
    }
    Ok(file.clone())
}

async fn info(State(app): State<PrinterHandles>, PathId(id): PathId) -> Result<Plain<InfoView>, ApiError> {
    let connection = reach(&app, id).await?;
    let server = connection.adapter.server_info().await;
    let printer = connection.adapter.printer_info().await;
    if let (Err(error), Err(_)) = (&server, &printer) {
        return Err(error.clone().into());
    }
    let [server, printer] = [server, printer].map(|told| OpenJson(told.unwrap_or(Value::Null)));
    Ok(Plain(InfoView { server, printer }))
}

async fn history(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    Query(query): Query<HistoryQuery>,
) -> Result<Plain<HistoryView>, ApiError> {
    let connection = reach(&app, id).await?;
    let last = connection.status.borrow().file.clone();
    let prints = match query.file.or(last) {
        Some(file) => connection.adapter.history(&file).await?,
        None => Vec::new(),
    };
    Ok(Plain(HistoryView { history: prints.into_iter().map(Into::into).collect() }))
}

async fn webcams(State(app): State<PrinterHandles>, PathId(id): PathId) -> Result<Plain<WebcamsView>, ApiError> {
    let webcams = reach(&app, id).await?.adapter.webcams().await?;
    Ok(Plain(WebcamsView { webcams: webcams.into_iter().map(Into::into).collect() }))
}

async fn system_info(State(app): State<PrinterHandles>, PathId(id): PathId) -> Result<Plain<SystemInfo>, ApiError> {
    Ok(Plain(SystemInfo(reach(&app, id).await?.adapter.system_info().await?)))
}

async fn files(State(app): State<PrinterHandles>, PathId(id): PathId) -> Result<Plain<PrinterFilesView>, ApiError> {
    let files = reach(&app, id).await?.adapter.list_files().await?;
    Ok(Plain(PrinterFilesView { files: files.into_iter().map(Into::into).collect() }))
}

async fn upload(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest<StoredFile>,
) -> Result<CreatedOnPrinter, ApiError> {
    let StoredFile { file_id } = call.read_body()?;
    let (_, printer) = present(&app, id).await?;
    connection(&app.printer_connections, id, &printer).await?;
    let file = gcode_file(&app, &printer.fields.kind, file_id).await?;
    let source = Source::of(&file, app.blobs.path(&file.sha256));
    let (name, tag) = (file.name, app.environment.id());
    let act = PrinterAct { printer: id, origin: call.origin(), act: Act::PutFile, detail: Some(name.clone()) };
    let put = |connection: Arc<PrinterConnection>| async move {
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
    let (_, printer) = present(&app, id).await?;
    if printer.in_hand.as_ref().is_some_and(|in_hand| in_hand.is_ours(&name)) {
        return Err(ApiError::conflict("printer_in_use", "this is the file of the job that the printer has in hand"));
    }
    let act = PrinterAct { printer: id, origin: call.origin(), act: Act::DeleteFile, detail: Some(name.clone()) };
    let delete = |connection: Arc<PrinterConnection>| async move { connection.adapter.delete_file(&name).await };
    match act.carry_out(&app.printers, &app.printer_connections, delete).await? {
        Deleted::Gone => Ok(NoContent),
        Deleted::NotFound => Err(Refusal::not_found("printer_file").into()),
    }
}
