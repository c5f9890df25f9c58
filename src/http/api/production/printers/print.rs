//! Manual prints, which are started by an operator and do not belong to any job.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};

use super::files::{EXAMPLE_FILE_ID, UploadedFile, gcode_file};
use super::{BUSY, NO_FILE, ON_PRINTER, PrinterHandles, connection};
use actors::printers::{MANUAL_PLATE, StartOutcome, await_start};
use domain::file::MAX_FILAMENTS;
use domain::file_name::printer_name;
use domain::id::Id;
use domain::launch::FilamentSlot;
use domain::principal::Role;
use domain::printer::{ManualFailure, PrintManually, Printer};
use domain::refusal::{Faults, Refusal};
use http::access::RequiredAccess;
use http::command_request::{CommandRequest, CommandTarget, find_present};
use http::error::ApiError;
use http::handler::Reply;
use http::openapi::shape::{Shape, either, object, optional, required, text, yes_no};
use http::operation::{DescribedContent, DescribedError, DescribedOperation};
use http::path_id::PathId;
use http::reply;
use http::routes::ResourceRoutes;
use http::wire::{
    Components, Filled, FromJson, ItemsWithin, MaxChars, Member, Members, Optional, Request, ToSchema, ValuePath,
    read_object, schema_of,
};
use printers::adapter::{PrinterError, RequestedSlots};
use printers::connections::PrinterConnection;

/// Maximum length of a file name on a printer, in characters.
const MAX_NAME_CHARS: usize = 255;
const NO_SLOT: DescribedError = (
    409,
    "no_slot",
    "The slots for the print are ambiguous; the message explains the file's requirements and how to proceed.",
);

/// Adds the route for manual prints.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    to.post_long(operator, "/api/printers/{id}/print", print, |op| {
        op.named("printFile", "Print a file manually")
            .about(
                "A stored file is uploaded first; a file on the printer is printed unchanged. The printer must be \
                 idle. For printers that need the slot of each filament, specify `slots`. If omitted, the print uses \
                 the spool that feeds the nozzle, or else the slots with the material and colour of each filament, or \
                 else the only spool, or else the spool beside the slots. If none of these is certain, nothing is \
                 uploaded.",
            )
            .errors(&ON_PRINTER)
            .errors(&[BUSY, NO_FILE, NO_SLOT])
    })
}

/// Stored file to print, with the slots to use.
#[expect(dead_code, reason = "it describes one of the two variants of `FileToPrint`")]
#[derive(api_derive::Request, Clone, Debug)]
#[api(example = json!({"fileId": EXAMPLE_FILE_ID, "slots": [2]}))]
struct StoredFileToPrint {
    /// ID of the stored G-code file.
    file_id: Id,
    /// Slot for each filament that the plate uses, in the order of the file's `plates[].filaments`. Slots have the
    /// numbers used in the printer's `slots`; 254 is the external spool. If omitted, the printer chooses suitable
    /// slots.
    #[api(ItemsWithin(1..=MAX_FILAMENTS))]
    slots: Optional<Vec<u32>>,
}

/// File in the printer's own storage to print, with the slots to use.
#[expect(dead_code, reason = "it describes one of the two variants of `FileToPrint`")]
#[derive(api_derive::Request, Clone, Debug)]
#[api(example = json!({"filename": "vase.gcode"}))]
struct FileOnPrinter {
    /// Name of the file in the printer's own storage.
    #[api(Filled, MaxChars(MAX_NAME_CHARS))]
    filename: String,
    /// Slot for each filament in the file. Slots have the numbers used in the printer's `slots`; 254 is the external
    /// spool. If omitted, the printer chooses suitable slots.
    #[api(ItemsWithin(1..=MAX_FILAMENTS))]
    slots: Optional<Vec<u32>>,
}

/// File to print, with the slots to use, if specified by the operator.
#[derive(Clone, Debug)]
pub struct FileToPrint {
    file: PrintedFile,
    slots: Vec<u32>,
}

/// Stored file, or file on the printer.
#[derive(Clone, Debug)]
enum PrintedFile {
    Stored(Id),
    OnPrinter(String),
}

impl ToSchema for FileToPrint {
    const NAME: Option<&'static str> = Some("FileToPrint");
    fn schema() -> Shape {
        either([schema_of::<StoredFileToPrint>(), schema_of::<FileOnPrinter>()])
            .about("Either a stored file or a file on the printer.")
    }
    fn components(components: &mut Components) {
        components.add::<StoredFileToPrint>();
        components.add::<FileOnPrinter>();
    }
    fn example() -> Value {
        json!({"fileId": EXAMPLE_FILE_ID})
    }
}

impl FromJson for FileToPrint {
    type Inner = Self;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        read_object(value, place, faults)
    }
    fn inner(&self) -> Option<&Self> {
        Some(self)
    }
}

impl Request for FileToPrint {
    fn members() -> Vec<Member> {
        let mut members = StoredFileToPrint::members();
        members.extend(FileOnPrinter::members().into_iter().filter(|member| member.name != "slots"));
        members
    }
    fn read(members: &mut Members<'_>) -> Option<Self> {
        let stored = members.read::<Optional<Id>>("fileId", &[], None);
        let rules: &[&dyn http::wire::Rule<String>] = &[&Filled, &MaxChars(MAX_NAME_CHARS)];
        let on_printer = members.read::<Optional<String>>("filename", rules, None);
        let many: &[&dyn http::wire::Rule<Vec<u32>>] = &[&ItemsWithin(1..=MAX_FILAMENTS)];
        let slots = members.read::<Optional<Vec<u32>>>("slots", many, None);
        let file = match (stored?, on_printer?) {
            (Optional::Present(id), Optional::Absent) => PrintedFile::Stored(id),
            (Optional::Absent, Optional::Present(name)) => PrintedFile::OnPrinter(name),
            _ => {
                members.faults().note("fileId", "send either `fileId` or `filename`");
                return None;
            }
        };
        Some(Self { file, slots: slots?.or_else(Vec::new) })
    }
}

/// Progress of a manual print at the end of the request to start it, with the name of the file on the printer.
pub enum ManualStart {
    /// The printer has started the print.
    Started(String),
    /// The print has not started within the time that the request waits. The name is `None` if it is no longer known.
    Pending(Option<String>),
}

/// Result of a request to print.
enum Printing {
    /// The printer has started the print (200).
    Started(UploadedFile),
    /// The print has not started within the time that the request waits (202).
    Pending(PendingPrint),
}

/// Print that has not started yet.
#[derive(Serialize)]
struct PendingPrint {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<String>,
}

impl ToSchema for PendingPrint {
    const NAME: Option<&'static str> = Some("PendingPrint");
    fn schema() -> Shape {
        let filename = text().about("Name of the file on the printer; absent if it is no longer known.");
        object([required("ok", yes_no().about("Always true.")), optional("filename", filename)])
            .about("Manual print that has not started yet.")
    }
    fn example() -> Value {
        json!({"ok": true, "filename": "vase.gcode"})
    }
}

impl From<ManualStart> for Printing {
    fn from(start: ManualStart) -> Self {
        match start {
            ManualStart::Started(filename) => Self::Started(UploadedFile { ok: true, filename }),
            ManualStart::Pending(filename) => Self::Pending(PendingPrint { ok: true, filename }),
        }
    }
}

impl IntoResponse for Printing {
    fn into_response(self) -> Response {
        match self {
            Self::Started(file) => reply::json(StatusCode::OK, &file),
            Self::Pending(print) => reply::json(StatusCode::ACCEPTED, &print),
        }
    }
}

impl Reply for Printing {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        components.add::<UploadedFile>();
        components.add::<PendingPrint>();
        operation.answer = (200, UploadedFile::NAME.map_or(DescribedContent::Nothing, DescribedContent::Named));
        let when = "Accepted: the print has not started yet.";
        operation.others.push((202, when, schema_of::<PendingPrint>(), PendingPrint::example()));
    }
}

/// Prints a file manually. The printer must be able to accept a job; it accepts none while the manual print is starting
/// or running.
pub async fn print_file(
    app: &PrinterHandles,
    id: Id,
    call: &CommandRequest<FileToPrint>,
) -> Result<ManualStart, ApiError> {
    begin(app, id, call, || call.read_body()).await
}

async fn print(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest<FileToPrint>,
) -> Result<Printing, ApiError> {
    Ok(print_file(&app, id, &call).await?.into())
}

/// Prints a stored file manually. Returns whether the printer has already started it; if not, the print is pending.
pub async fn print_stored<B>(
    app: &PrinterHandles,
    id: Id,
    call: &CommandRequest<B>,
    file: Id,
) -> Result<bool, ApiError> {
    let start = begin(app, id, call, || Ok(FileToPrint { file: PrintedFile::Stored(file), slots: Vec::new() })).await?;
    Ok(matches!(start, ManualStart::Started(_)))
}

/// Starts a print of the file returned by `read_request`, which is called only if no response is stored for the
/// request's idempotency key.
async fn begin<B>(
    app: &PrinterHandles,
    id: Id,
    call: &CommandRequest<B>,
    read_request: impl FnOnce() -> Result<FileToPrint, ApiError>,
) -> Result<ManualStart, ApiError> {
    let (_, printer) = find_present(&app.printers, id).await?;
    let print = app.environment.id();
    let start_reports = app.printer_connections.await_manual(print);
    let command = async {
        let FileToPrint { file, slots: named } = read_request()?;
        let (file_id, file_name, filaments) = match file {
            PrintedFile::Stored(file) => {
                let stored = gcode_file(app, &printer.fields.kind, file).await?;
                let filaments = stored.metadata.plate(MANUAL_PLATE).map(|plate| plate.filaments.clone());
                let form = stored.metadata.form.unwrap_or_default();
                (Some(file), printer_name(&stored.name, form), filaments.unwrap_or_default())
            }
            PrintedFile::OnPrinter(name) => (None, name, Vec::new()),
        };
        // The actor would say of a disconnected printer that it is busy.
        let connection = connection(&app.printer_connections, id, &printer).await?;
        let slots = choose_slots(&printer, &connection, &RequestedSlots { filaments, named }).await?;
        Ok(PrintManually { id: print, file_id, file_name, slots })
    };
    let done = call.ask_with(&app.printers, CommandTarget::Id(id), command).await?;
    let print_id = done.answer.id;
    match await_start(&app.printers, id, print_id, (print_id == print).then_some(start_reports)).await? {
        StartOutcome::Started(filename) => Ok(ManualStart::Started(filename)),
        StartOutcome::Pending(filename) => Ok(ManualStart::Pending(filename)),
        StartOutcome::PrinterError(error) => Err(error.into()),
        StartOutcome::Failed(failure) => Err(failed(failure)),
        StartOutcome::PrinterGone => Err(Refusal::not_found("printer").into()),
    }
}

/// Chooses the slots for the print. A printer that cannot print at the moment is not queried; its actor reports the
/// reason.
async fn choose_slots(
    printer: &Printer,
    connection: &PrinterConnection,
    requested: &RequestedSlots,
) -> Result<Vec<Option<FilamentSlot>>, ApiError> {
    if !requested.named.is_empty() && !connection.adapter.declared().maps_slots {
        let words = "the slots cannot be chosen on printers of this type; omit `slots`";
        return Err(ApiError::conflict("unsupported_by_printer", words));
    }
    if printer.free().is_err() {
        return Ok(Vec::new());
    }
    connection.adapter.choose_slots(requested).await.map_err(|error| match error {
        PrinterError::Invalid(words) => ApiError::conflict("no_slot", words),
        other => other.into(),
    })
}

fn failed(failure: ManualFailure) -> ApiError {
    match failure {
        ManualFailure::Busy(why) => ApiError::conflict("printer_busy", why),
        ManualFailure::Refused(why) => ApiError::new(StatusCode::BAD_GATEWAY, "printer_refused", why),
        ManualFailure::Unclear(why) => ApiError::new(StatusCode::GATEWAY_TIMEOUT, "printer_timeout", why),
    }
}
