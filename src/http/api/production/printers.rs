//! Printers: registration, details, changes and deletion. Actions on a printer are in submodules.

mod acts;
mod camera;
mod care;
mod commands;
mod device;
mod fields;
mod files;
mod print;
mod record;
mod slots;
mod stop;
mod temperatures;
mod view;

pub use acts::PrinterAct;
pub use care::log_maintenance;
pub use commands::operations::{
    cancel, clear_attention, clear_bed, connect, disconnect, home, pause, resume, set_maintenance,
};
pub use print::{print_file, print_stored};
pub use record::FailureReason;
pub use slots::load_slot;
pub use stop::{GENTLE, gentle, stop_now};
pub use view::{Percent, StatusView};
pub use view::{activity, last_answer};

use std::sync::Arc;

use api_derive::Request;
use axum::extract::State;
use serde_json::Value;

use ::files::blobs::Blobs;
use config::Config;
use domain::aggregate::Versioned;
use domain::file::File;
use domain::id::Id;
use domain::material::Material;
use domain::order::Order;
use domain::principal::Role;
use domain::printer::{Attention, Printer, PrinterAnswer, PrinterCommand};
use domain::printer_status::Activity;
use domain::refusal::Faults;
use domain::sku::MachineType;
use fields::{NewPrinter, PrinterChange};
use http::access::RequiredAccess;
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget, find_present};
use http::error::ApiError;
use http::handles::handles;
use http::openapi::operation::DescribedError;
use http::openapi::shape::{Shape, word};
use http::openapi::words::words_of;
use http::page::{PageQuery, Query, cut};
use http::path_id::PathId;
use http::reply::{Created, ListPage, NoContent, Plain, Resource};
use http::routes::ResourceRoutes;
use http::wire::{FromJson, ToSchema, ValuePath, read_body, read_word};
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::environment::Environment;
use platform::secrets::encryption::SecretCipher;
use printers::connections::{PrinterConnection, PrinterConnections};
use store::queries::Queries;
use view::PrinterView;

const PATH: &str = "/api/printers";
/// Printer ID used in examples in the API description.
pub const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8069";

/// Errors common to all operations that are carried out on the printer itself.
const ON_PRINTER: [DescribedError; 5] = [
    (409, "printer_disconnected", "The printer is disconnected; connect it first."),
    (409, "unsupported_by_printer", "Printers of this type cannot do this."),
    (409, "printer_in_use", "A print is using the printer or the file."),
    (502, "printer_refused", "The printer rejected the request; the message is from the printer."),
    (504, "printer_timeout", "The printer did not respond in time or cannot be reached."),
];
const BUSY: DescribedError = (409, "printer_busy", "The printer has a job, is printing, or is about to print.");
const PRINTING: DescribedError = (409, "printing", "The printer is printing; send `force` to continue anyway.");
const NO_FILE: DescribedError = (404, "printer_file_not_found", "The printer has no such file.");

handles! {
    /// Dependencies of the printer routes.
    pub struct PrinterHandles {
        printers: Directory<Printer>,
        materials: Directory<Material>,
        files: Directory<File>,
        orders: Directory<Order>,
        blobs: Arc<Blobs>,
        printer_connections: Arc<PrinterConnections>,
        cipher: Arc<SecretCipher>,
        queries: Queries,
        environment: Arc<Environment>,
        config: Arc<Config>,
    }
}

/// Returns the printer routes.
pub fn routes() -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    let about =
        "Registration, monitoring and control of printers. Error messages from printers are returned unchanged.";
    let routes = ResourceRoutes::new("Printers", about, "printer")
        .get(operator, PATH, list, |op| op.named("listPrinters", "List printers"))
        .post(operator, PATH, create, |op| {
            op.named("createPrinter", "Register a printer")
                .about("The printer is registered even if it does not respond. Its API key is never returned.")
                .error(409, "printer_exists", "A printer with this address or serial number is already registered.")
        })
        .get(operator, "/api/printers/{id}", one, |op| op.named("getPrinter", "Retrieve a printer"))
        .patch(operator, "/api/printers/{id}", update, |op| {
            let busy = "The type and address cannot be changed while the printer has a job.";
            op.named("updatePrinter", "Update a printer").error(409, "printer_busy", busy).error(
                409,
                "printer_exists",
                "Another printer has this address or serial number.",
            )
        })
        .delete(operator, "/api/printers/{id}", remove, |op| {
            op.named("deletePrinter", "Remove a printer").about("Its attempts and events are kept.").errors(&[BUSY])
        })
        .get(operator, "/api/printers/{id}/status", status, |op| {
            op.named("getPrinterStatus", "Retrieve a printer's status")
        });
    let routes = camera::routes(temperatures::routes(files::routes(device::routes(routes))));
    record::routes(care::routes(slots::routes(commands::routes(print::routes(stop::routes(routes))))))
}

/// Filter for printers that need an operator's attention.
#[derive(Clone, Copy, Debug)]
enum AttentionFilter {
    /// Printers that need attention for any reason: `true` in the query.
    Any,
    /// Printers that need attention for the given reason.
    One(Attention),
}

impl AttentionFilter {
    fn takes(self, printer: &Printer) -> bool {
        match self {
            Self::Any => !printer.attention().is_empty(),
            Self::One(attention) => printer.attention().contains(&attention),
        }
    }
}

impl ToSchema for AttentionFilter {
    const NAME: Option<&'static str> = Some("AttentionFilter");
    fn schema() -> Shape {
        word(words_of::<Attention>().into_iter().chain(["true"]))
            .about("Only printers that need attention for this reason or, with `true`, for any reason.")
    }
}

impl FromJson for AttentionFilter {
    type Inner = Self;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        if value == "true" { Some(Self::Any) } else { read_word(&value, place, faults).map(Self::One) }
    }
    fn inner(&self) -> Option<&Self> {
        Some(self)
    }
}

/// Query parameters for listing printers.
#[derive(Request, Debug)]
pub struct PrinterQuery {
    /// Return only printers of the given type.
    #[api(name = "type")]
    kind: Option<String>,
    /// Return only printers with the given machine type.
    machine_type: Option<MachineType>,
    /// Return only printers in the given state.
    state: Option<Activity>,
    /// Return only printers with the given tag.
    tag: Option<String>,
    /// Return only printers that need attention for the given reason or, with `true`, for any reason.
    attention: Option<AttentionFilter>,
    /// Return only printers whose name contains the given text. Case is ignored.
    q: Option<String>,
    #[api(flatten)]
    page: PageQuery,
}

/// Returns the connection to a printer; fails with 409 if an operator disconnected it. Waits briefly for the connection
/// to a printer that was just registered, moved or connected.
pub async fn connection(
    connections: &PrinterConnections,
    id: Id,
    printer: &Printer,
) -> Result<Arc<PrinterConnection>, ApiError> {
    let no = |message| ApiError::conflict("printer_disconnected", message);
    if printer.disconnected {
        return Err(no("the printer is disconnected; connect it first"));
    }
    let connection = connections.wait_for(id).await;
    connection
        .ok_or_else(|| no("the server is not connected to the printer yet; check the printer's status and try again"))
}

/// Returns all printers that are not deleted, newest first, without copying them. They are in memory, so the database
/// is not needed.
pub fn present_all(app: &PrinterHandles) -> Vec<Arc<Versioned<Printer>>> {
    let mut all = app.printers.all_present();
    all.sort_by_key(|versioned| {
        std::cmp::Reverse(versioned.state.as_ref().map(|printer| (printer.created_at, printer.id)))
    });
    all
}

async fn list(
    State(app): State<PrinterHandles>,
    Query(query): Query<PrinterQuery>,
) -> Result<ListPage<PrinterView>, ApiError> {
    let PrinterQuery { kind, machine_type, state, tag, attention, q, page } = query;
    let (page, q) = (page.into(), q.map(|q| q.to_lowercase()));
    let is_match = |printer: &Printer| {
        let fields = &printer.fields;
        kind.as_ref().is_none_or(|kind| fields.kind == *kind)
            && machine_type.is_none_or(|requested| fields.machine_type == requested)
            && tag.as_ref().is_none_or(|tag| fields.tags.contains(tag))
            && q.as_ref().is_none_or(|q| fields.name.to_lowercase().contains(q))
            && state.is_none_or(|requested| view::activity(&app, printer) == requested)
            && attention.is_none_or(|requested| requested.takes(printer))
    };
    let mut matching = present_all(&app);
    matching.retain(|versioned| versioned.state.as_ref().is_some_and(&is_match));
    // Only what is shown is made.
    let (some, total) = cut(page, matching);
    let view = |versioned: &Arc<Versioned<Printer>>| {
        Some(PrinterView::new(&app, versioned.state.as_ref()?, versioned.revision()))
    };
    Ok(ListPage::new(page, some.iter().filter_map(view), total))
}

async fn create(
    State(app): State<PrinterHandles>,
    call: CommandRequest<NewPrinter>,
) -> Result<Created<PrinterView>, ApiError> {
    let done = add(&app, &call).await?;
    Ok(Created::under(PATH, &done, PrinterView::after(&app, &done)))
}

/// Registers a printer.
pub async fn add(
    app: &PrinterHandles,
    call: &CommandRequest<NewPrinter>,
) -> Result<CommandOutcome<PrinterAnswer>, ApiError> {
    // One at a time, so that two requests cannot register the same machine.
    let _alone = app.printer_connections.registering.lock().await;
    let command = async { Ok(PrinterCommand::Create(Box::new(call.read_body()?.into_fields(app).await?))) };
    call.ask_with(&app.printers, CommandTarget::New, command).await
}

/// Registers a printer reported by an external system, following the rules of `POST /api/printers`.
pub async fn register(app: &PrinterHandles, origin: CommandOrigin, body: &Value) -> Result<Id, ApiError> {
    let new_printer = read_body::<NewPrinter>(body.to_string().as_bytes())?;
    let _alone = app.printer_connections.registering.lock().await;
    let command = PrinterCommand::Create(Box::new(new_printer.into_fields(app).await?));
    Ok(app.printers.create(origin, command).await?.0)
}

async fn one(State(app): State<PrinterHandles>, PathId(id): PathId) -> Result<Resource<PrinterView>, ApiError> {
    let (version, printer) = find_present(&app.printers, id).await?;
    Ok(Resource::new(version, PrinterView::new(&app, &printer, version)))
}

/// Changes the fields of a printer that the request contains.
pub async fn change(
    app: &PrinterHandles,
    id: Id,
    call: &CommandRequest<PrinterChange>,
) -> Result<CommandOutcome<PrinterAnswer>, ApiError> {
    let change = call.read_body()?;
    change.check_named(app).await?;
    let (_, existing) = find_present(&app.printers, id).await?;
    change.check_program(app, id, &existing.fields).await?;
    let _alone = app.printer_connections.registering.lock().await;
    let merge = |printer: &Printer, version: i64| {
        let fields = Box::new(change.clone().merged_into(app, id, printer.fields.clone())?);
        Ok(PrinterCommand::Update { if_version: Some(version), fields })
    };
    call.merge(&app.printers, id, merge).await
}

async fn update(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest<PrinterChange>,
) -> Result<Resource<PrinterView>, ApiError> {
    let done = change(&app, id, &call).await?;
    Ok(Resource::after(&done, PrinterView::after(&app, &done)))
}

/// Removes a printer; its attempts and events are kept.
pub async fn archive(app: &PrinterHandles, id: Id, call: &CommandRequest) -> Result<(), ApiError> {
    call.ask(&app.printers, CommandTarget::Id(id), PrinterCommand::Archive).await?;
    app.printer_connections.forget(id);
    Ok(())
}

async fn remove(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    archive(&app, id, &call).await?;
    Ok(NoContent)
}

async fn status(State(app): State<PrinterHandles>, PathId(id): PathId) -> Result<Plain<StatusView>, ApiError> {
    let (_, printer) = find_present(&app.printers, id).await?;
    Ok(Plain(StatusView::of(&app, &printer)))
}
