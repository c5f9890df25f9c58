//! Printers: registration, details, changes and deletion. Actions on a printer are in submodules.

mod acts;
mod camera;
mod care;
mod commands;
mod device;
mod fields;
mod files;
mod print;
mod read;
mod record;
mod slots;
mod stop;
mod temperatures;
mod view;
mod view_inputs;

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
use domain::printer::{Printer, PrinterAnswer, PrinterCommand};
use fields::{NewPrinter, PrinterChange};
use http::access::RequiredAccess;
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget, find_present};
use http::error::ApiError;
use http::handles::handles;
use http::operation::DescribedError;
use http::path_id::PathId;
use http::reply::{Created, NoContent, Resource};
use http::routes::ResourceRoutes;
use http::wire::read_body;
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
        .get(operator, PATH, read::list, |op| op.named("listPrinters", "List printers"))
        .post(operator, PATH, create, |op| {
            op.named("createPrinter", "Register a printer")
                .about("The printer is registered even if it does not respond. Its API key is never returned.")
                .error(409, "printer_exists", "A printer with this address or serial number is already registered.")
        })
        .get(operator, "/api/printers/{id}", read::one, |op| op.named("getPrinter", "Retrieve a printer"))
        .patch(operator, "/api/printers/{id}", update, |op| {
            let busy = "The type and address cannot be changed while the printer has a job.";
            op.named("updatePrinter", "Update a printer").error(409, "printer_busy", busy).error(
                409,
                "printer_exists",
                "Another printer has this address or serial number.",
            )
        })
        .delete(operator, "/api/printers/{id}", remove, |op| {
            op.named("deletePrinter", "Remove a printer")
                .about("The printer's attempts and events are retained.")
                .errors(&[BUSY])
        })
        .get(operator, "/api/printers/{id}/status", read::status, |op| {
            op.named("getPrinterStatus", "Retrieve a printer's status")
        });
    let routes = camera::routes(temperatures::routes(files::routes(device::routes(routes))));
    record::routes(care::routes(slots::routes(commands::routes(print::routes(stop::routes(routes))))))
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
    newest_first(&app.printers)
}

/// Returns all printers that are not deleted like [`present_all`].
fn newest_first(printers: &Directory<Printer>) -> Vec<Arc<Versioned<Printer>>> {
    let mut all = printers.all_present();
    all.sort_by_key(|versioned| {
        std::cmp::Reverse(versioned.state.as_ref().map(|printer| (printer.created_at, printer.id)))
    });
    all
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

/// Removes a printer; its attempts and events are retained.
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
