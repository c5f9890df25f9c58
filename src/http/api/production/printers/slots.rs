//! Printer slots and their contents, which an operator sets in one request after swapping a spool.

use api_derive::{Request, Response};
use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::http::request::Parts;
use serde::Serialize;
use serde_json::json;

use super::PrinterHandles;
use super::fields::check_material;
use super::view::PrinterView;
use crate::production::materials;
use domain::amount::Amount;
use domain::id::Id;
use domain::principal::Role;
use domain::printer::{MAX_SLOTS, Printer, PrinterAnswer, PrinterCommand, Slot, SlotReport, SlotSource, Spool};
use domain::refusal::Refusal;
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget};
use http::error::ApiError;
use http::handler::Argument;
use http::path_id::PathId;
use http::reply::Resource;
use http::routes::ResourceRoutes;
use http::wire::{MaxChars, NotNegative, like};

like!(COLOUR, "^#[0-9a-fA-F]{6}$", "must be a colour such as #1a2b3c");

/// Adds the slot routes.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    to.post(operator, "/api/printers/{id}/slots/{slot}", load, |op| {
        op.named("loadSlot", "Set the contents of a slot")
            .about(
                "Records a change of spool in one call. Adds the slot if the printer does not have it yet. Data that \
                 the printer reports about a spool is kept and assigned to the material, as are later spools with the \
                 same vendor code and colour.",
            )
            .error(409, "spool_changed", "The printer no longer reports the expected spool in the slot.")
    })
    .delete(operator, "/api/printers/{id}/slots/{slot}", remove, |op| {
        op.named("removeSlot", "Remove a slot").error(404, "slot_not_found", "The printer has no such slot.").error(
            409,
            "last_slot",
            "A printer must have at least one slot.",
        )
    })
}

/// Contents of a slot. Omitted fields become unknown.
#[derive(Request, Clone, Debug)]
#[api(example = json!({"materialId": materials::EXAMPLE_ID, "color": "#101010", "remaining": 950}))]
pub struct LoadedSpool {
    /// Loaded material; null if the slot is empty or the material is unknown.
    material_id: Option<Id>,
    /// Colour of the spool.
    #[api(&COLOUR)]
    color: Option<String>,
    /// Material remaining on the spool, in the material's unit; at most three decimals.
    #[api(NotNegative)]
    remaining: Option<Amount>,
    /// Number of the spool in the spool management system (`spools.url`), from which the remaining material is read and
    /// in which consumption by prints is recorded.
    spool_id: Option<i64>,
    /// Spool that the caller expects in the slot. The request is rejected if the printer reports a different one. Not
    /// checked if null.
    expected: Option<ExpectedSpool>,
}

/// Spool in a slot, as reported by the printer. Fields that the printer does not report are null; all fields are null
/// if the printer reports no spool in the slot.
#[derive(Request, Clone, Debug)]
#[api(fields = SlotReport, example = json!({"vendorCode": "GFA00", "kind": "PLA", "color": "#1b1b22"}))]
pub struct ExpectedSpool {
    /// Vendor's code for the spool.
    #[api(MaxChars(50))]
    vendor_code: Option<String>,
    /// Type of plastic on the spool, such as `PETG`.
    #[api(MaxChars(50))]
    kind: Option<String>,
    /// Colour of the spool, as `#rrggbb`.
    #[api(MaxChars(50))]
    color: Option<String>,
}

/// Slot for a spool.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Slot", example = json!({
    "slot": 0, "materialId": materials::EXAMPLE_ID, "color": "#101010", "remaining": 950, "source": "manual",
    "vendorCode": null, "kind": null, "spoolId": null, "bookedByPrinter": false, "spoolWarning": null, "updatedAt": "2026-11-01T08:00:00.000Z",
}))]
pub struct SlotView {
    /// Number of the slot, starting at 0, as the printer numbers its tools.
    slot: u32,
    /// Loaded material.
    material_id: Option<Id>,
    /// Colour of the spool, as `#rrggbb`.
    color: Option<String>,
    /// Material remaining on the spool, in the material's unit; decreases with each print.
    remaining: Option<Amount>,
    /// Source of the information about the loaded material: an operator or the printer.
    source: SlotSource,
    /// Vendor's code for the spool, as reported by the printer.
    vendor_code: Option<String>,
    /// Type of plastic on the spool, such as `PETG`, as reported by the printer.
    kind: Option<String>,
    /// Number of the spool in the spool management system.
    spool_id: Option<i64>,
    /// `true` if the printer's own server records the spool's consumption in the spool management system, so that it is
    /// not recorded twice.
    booked_by_printer: bool,
    /// Reason the slot's consumption may be recorded incorrectly in the spool management system, with the remedy; null
    /// if no problem is known.
    spool_warning: Option<String>,
    /// Time of the last change.
    updated_at: Timestamp,
}

impl SlotView {
    /// Builds the view of a printer's slot.
    pub(super) fn new(printer: &Printer, spool_warning: Option<String>, one: Slot) -> Self {
        let booked_by_printer = printer.books_itself(&one);
        let Slot { slot, material_id, color, remaining, source, vendor_code, kind, weighed: _, spool, updated_at } =
            one;
        Self {
            slot,
            material_id,
            color,
            remaining,
            source,
            vendor_code,
            kind,
            spool_id: spool,
            booked_by_printer,
            spool_warning,
            updated_at,
        }
    }
}

/// The `{slot}` path parameter. A value that is not a slot number results in a 404 error.
pub struct PathSlot(u32);

impl<S: Send + Sync> FromRequestParts<S> for PathSlot {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let nothing = || ApiError::from(Refusal::not_found("slot"));
        let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| nothing())?;
        let text = params.iter().find(|(name, _)| *name == "slot").map_or("", |(_, text)| text);
        let number = text.parse().ok().filter(|number| *number < MAX_SLOTS);
        number.map(Self).ok_or_else(nothing)
    }
}

impl Argument for PathSlot {}

/// Sets the contents of a printer's slot.
pub async fn load_slot(
    app: &PrinterHandles,
    (printer, slot): (Id, u32),
    call: &CommandRequest<LoadedSpool>,
) -> Result<CommandOutcome<PrinterAnswer>, ApiError> {
    let command = async {
        let LoadedSpool { material_id, color, remaining, spool_id: spool, expected } = call.read_body()?;
        check_material(app, "materialId", material_id).await?;
        let color = color.map(|color| color.to_ascii_lowercase());
        let expected = expected.map(ExpectedSpool::into_fields);
        Ok(PrinterCommand::LoadSlot { slot, spool: Spool { material_id, color, remaining, spool }, expected })
    };
    call.ask_with(&app.printers, CommandTarget::Id(printer), command).await
}

async fn load(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    PathSlot(slot): PathSlot,
    call: CommandRequest<LoadedSpool>,
) -> Result<Resource<PrinterView>, ApiError> {
    let done = load_slot(&app, (id, slot), &call).await?;
    Ok(Resource::after(&done, PrinterView::after(&app, &done)))
}

async fn remove(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    PathSlot(slot): PathSlot,
    call: CommandRequest,
) -> Result<Resource<PrinterView>, ApiError> {
    let done = call.ask(&app.printers, CommandTarget::Id(id), PrinterCommand::RemoveSlot(slot)).await?;
    Ok(Resource::after(&done, PrinterView::after(&app, &done)))
}
