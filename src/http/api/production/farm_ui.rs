//! Import of printers from print farm software.

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use axum::http::StatusCode;
use reqwest::Url;
use serde::Serialize;
use serde_json::{Value, json};

use super::printers::{self, PrinterHandles};
use ::printers::PrinterType;
use ::printers::farm_types::farm_type;
use actors::integrations::Integrations;
use config::Config;
use domain::id::Id;
use domain::principal::Role;
use domain::printer::{MachineAddress, Printer};
use domain::sku::MachineType;
use http::access::RequiredAccess;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::handles::handles;
use http::operation::DescribedError;
use http::reply::Plain;
use http::routes::ResourceRoutes;
use http::wire::TextList;
use services::farm_ui::FarmPrinter;

/// Limits on the list of IDs in an import.
const IDS: TextList = TextList { max_items: 1000, max_chars: 500 };
const OFF: DescribedError = (409, "farm_ui_off", "No print farm software is configured.");
const FAILED: DescribedError =
    (502, "farm_ui_failed", "The print farm software does not respond as expected; the message contains details.");

handles! {
    /// Dependencies of the routes for print farm software.
    pub struct FarmUiHandles {
        integrations: Arc<Integrations>,
        config: Arc<Config>,
        printer_handles: PrinterHandles,
    }
}

/// Returns the routes for print farm software.
pub fn routes() -> ResourceRoutes {
    let admin = RequiredAccess::Role(Role::Admin);
    let about = "Import of printers from print farm software.";
    ResourceRoutes::new("Print farm interface", about, "printer")
        .get_long(admin, "/api/integrations/farm_ui/printers", list, |op| {
            op.named("listFarmPrinters", "List printers in the print farm software").errors(&[OFF, FAILED])
        })
        .post_long(admin, "/api/integrations/farm_ui/import", import, |op| {
            op.named("importFarmPrinters", "Import printers from the print farm software")
                .about(
                    "Each printer is registered under the same rules as with `POST /api/printers`; those that cannot \
                     be registered are skipped, with a reason.",
                )
                .errors(&[OFF, FAILED])
                .unkeyed()
        })
}

/// Printer registered in the print farm software.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "FarmPrinter", example = json!({
    "id": "3", "name": "Left", "type": "fw_rest", "baseUrl": "http://192.168.1.20:7125", "enabled": true, "printerId": null,
    "problem": null,
}))]
struct FarmPrinterView {
    /// ID of the printer in the print farm software.
    id: String,
    /// Name of the printer in the print farm software.
    name: String,
    /// Printer type in this system; null if the type is not supported.
    #[serde(rename = "type")]
    kind: Option<&'static str>,
    /// URL of the printer's server.
    base_url: String,
    /// `true` if the printer is enabled in the print farm software.
    enabled: bool,
    /// ID of the registered printer with the same address, if any.
    printer_id: Option<Id>,
    /// Reason the printer cannot be imported unchanged; null if no problem is known.
    problem: Option<String>,
}

/// Printers registered in the print farm software.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "FarmPrinters", example = json!({"printers": [FarmPrinterView::example()]}))]
struct FarmPrintersView {
    /// Printers, in the order in which the print farm software lists them.
    printers: Vec<FarmPrinterView>,
}

/// Printers to import.
#[derive(Request, Debug)]
#[api(example = json!({"ids": ["3"], "machineType": "fdm_standard"}))]
pub struct FarmImport {
    /// IDs in the print farm software. If omitted, all enabled printers that are not registered yet are imported.
    #[api(IDS, default = Vec::new())]
    ids: Vec<String>,
    /// Machine type of the imported printers, which the print farm software does not provide.
    machine_type: MachineType,
}

/// Printer that was imported.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ImportedPrinter", example = json!({
    "id": "3", "name": "Left", "printerId": "01890a5d-ac96-774b-bcce-b302099a8069",
}))]
struct Imported {
    /// ID of the printer in the print farm software.
    id: String,
    /// Name of the printer in both systems.
    name: String,
    /// ID of the registered printer.
    printer_id: Id,
}

/// Printer that was not imported.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SkippedPrinter", example = json!({
    "id": "4", "name": "Right", "reason": "Right has already been added with this address",
}))]
struct Skipped {
    /// ID of the printer in the print farm software.
    id: String,
    /// Name of the printer in the print farm software.
    name: String,
    /// Human-readable reason the printer was skipped.
    reason: String,
}

/// Result of an import: registered and skipped printers.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "FarmImportResult", example = json!({"imported": [Imported::example()], "skipped": [Skipped::example()]}))]
struct ImportResult {
    /// Printers that were registered.
    imported: Vec<Imported>,
    /// Printers that were not registered.
    skipped: Vec<Skipped>,
}

async fn list_printers(app: &FarmUiHandles) -> Result<Vec<FarmPrinter>, ApiError> {
    match app.integrations.farm_printers(&app.config.farm_ui).await {
        Some(Ok(printers)) => Ok(printers),
        Some(Err(fault)) => Err(ApiError::new(StatusCode::BAD_GATEWAY, FAILED.1, fault.message)),
        None => Err(ApiError::conflict(OFF.1, "no print farm software is configured; set FARM_UI_URL")),
    }
}

/// Returns the key and serial number with which a printer of the given type is registered.
fn credentials(declared: &PrinterType, there: &FarmPrinter) -> (String, Option<String>) {
    let FarmPrinter { key, user, password, .. } = there;
    if declared.needs_serial {
        (password.clone(), Some(user.clone()).filter(|serial| !serial.is_empty()))
    } else if declared.key_may_be_password && key.is_empty() && !password.is_empty() {
        (format!("{user}:{password}"), None)
    } else {
        (key.clone(), None)
    }
}

/// Returns the address to register a printer with. For printers identified by serial number, the print farm software
/// lists a web address of the host, which is not the address used to control them.
fn address(there: &FarmPrinter) -> String {
    let url = farm_type(there.type_number)
        .filter(|declared| declared.needs_serial)
        .and_then(|declared| Some((declared, Url::parse(&there.base_url).ok()?)))
        .filter(|(_, url)| matches!(url.scheme(), "http" | "https"));
    match url.and_then(|(declared, url)| Some((declared, url.host_str()?.to_owned()))) {
        Some((declared, host)) => format!("{}://{host}", declared.scheme),
        None => there.base_url.clone(),
    }
}

/// Returns the ID of the registered printer, if any, that has the same address or serial number as the given printer in
/// the print farm software.
fn here(app: &FarmUiHandles, there: &FarmPrinter) -> Option<Id> {
    let serial = farm_type(there.type_number).and_then(|declared| credentials(declared, there).1);
    let address = address(there);
    let same = |printer: &&Printer| {
        MachineAddress::same(&printer.fields.base_url, &address)
            || (serial.is_some() && printer.fields.serial == serial)
    };
    let present = printers::present_all(&app.printer_handles);
    present.iter().filter_map(|versioned| versioned.state.as_ref()).find(same).map(|printer| printer.id)
}

fn problem(there: &FarmPrinter) -> Option<String> {
    match farm_type(there.type_number) {
        None => Some(format!("printers of its type ({}) are not supported", there.type_number)),
        Some(_) if there.base_url.is_empty() => Some("its address is not set in the print farm software".to_owned()),
        Some(declared) if declared.needs_serial && credentials(declared, there).1.is_none() => {
            Some("its serial number is not set in the print farm software".to_owned())
        }
        Some(_) => None,
    }
}

async fn list(State(app): State<FarmUiHandles>) -> Result<Plain<FarmPrintersView>, ApiError> {
    let view = |there: FarmPrinter| FarmPrinterView {
        printer_id: here(&app, &there),
        problem: problem(&there),
        base_url: address(&there),
        kind: farm_type(there.type_number).map(|declared| declared.word),
        id: there.id,
        name: there.name,
        enabled: there.enabled,
    };
    Ok(Plain(FarmPrintersView { printers: list_printers(&app).await?.into_iter().map(view).collect() }))
}

async fn import(
    State(app): State<FarmUiHandles>,
    call: CommandRequest<FarmImport>,
) -> Result<Plain<ImportResult>, ApiError> {
    let FarmImport { ids, machine_type } = call.read_body()?;
    let (mut result, mut candidates) =
        (ImportResult { imported: Vec::new(), skipped: Vec::new() }, list_printers(&app).await?);
    let skip = |id: String, name: String, reason: String| Skipped { id, name, reason };
    if ids.is_empty() {
        candidates.retain(|there| there.enabled && here(&app, there).is_none());
    } else {
        for id in ids.iter().filter(|id| !candidates.iter().any(|there| there.id == **id)) {
            result.skipped.push(skip(
                id.clone(),
                String::new(),
                "the print farm software has no such printer".to_owned(),
            ));
        }
        candidates.retain(|there| ids.contains(&there.id));
    }
    for there in candidates {
        let outcome = match (problem(&there), farm_type(there.type_number)) {
            (None, Some(declared)) => {
                let (api_key, serial) = credentials(declared, &there);
                let body: Value = json!({
                    "name": there.name, "type": declared.word, "machineType": machine_type, "baseUrl": address(&there),
                    "apiKey": api_key, "serial": serial,
                });
                let registered = printers::register(&app.printer_handles, call.origin(), &body).await;
                registered.map_err(|error| error.message().to_owned())
            }
            (problem, _) => Err(problem.unwrap_or_default()),
        };
        match outcome {
            Ok(printer_id) => result.imported.push(Imported { id: there.id, name: there.name, printer_id }),
            Err(reason) => result.skipped.push(skip(there.id, there.name, reason)),
        }
    }
    Ok(Plain(result))
}
