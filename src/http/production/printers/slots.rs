//! The slots of a printer: what is in them, said by its operator in one call when a spool is swapped.

use api_derive::{Request, Response};
use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::http::request::Parts;
use serde::Serialize;
use serde_json::{Value, json};

use super::PrinterHandles;
use super::fields::check_material;
use super::view::PrinterView;
use crate::domain::amount::Amount;
use crate::domain::bounds::{MAX_NOZZLE_MM, nozzle_mm};
use crate::domain::id::Id;
use crate::domain::principal::Role;
use crate::domain::printer::{MAX_SLOTS, Nozzle, Printer, PrinterCommand, Slot, SlotSource, Spool};
use crate::domain::refusal::{Faults, Refusal};
use crate::domain::time::Timestamp;
use crate::http::access::RequiredAccess;
use crate::http::command_request::{CommandRequest, CommandTarget};
use crate::http::error::ApiError;
use crate::http::openapi::shape::{Shape, above_zero};
use crate::http::path_id::PathId;
use crate::http::production::materials;
use crate::http::reply::Resource;
use crate::http::routes::ResourceRoutes;
use crate::http::wire::{
    Argument, FromJson, MaxChars, NotNegative, ONE_LINE, Rule, ValuePath, like, read_body, readable,
};

readable!(SlotSource);

like!(COLOUR, "^#[0-9a-fA-F]{6}$", "must be a colour such as #1a2b3c");

/// Adds the routes of slots.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    to.post(operator, "/api/printers/{id}/slots/{slot}", load, |op| {
        op.named("loadSlot", "Say what is in a slot of a printer")
            .about(
                "One call for a swap of spools. A slot that the printer did not have is added. What the printer reports of a \
                 spool stays; it is bound to the material, and so are spools of the same vendor's code and colour from then on.",
            )
    })
    .delete(operator, "/api/printers/{id}/slots/{slot}", remove, |op| {
        op.named("removeSlot", "Remove a slot that a printer does not have")
            .error(404, "slot_not_found", "The printer has no such slot.")
            .error(409, "last_slot", "A printer has one slot at least.")
    })
}

/// What is in a slot. Members that are left out are not known of the new spool.
#[derive(Request, Clone, Debug)]
#[api(example = json!({"materialId": materials::EXAMPLE_ID, "color": "#101010", "remaining": 950}))]
pub struct LoadedSpool {
    /// The material; null for an empty slot, or when nobody knows.
    material_id: Option<Id>,
    /// Colour of the spool.
    #[api(&COLOUR)]
    color: Option<String>,
    /// What is left on it, in the material's unit; at most three decimals.
    #[api(NotNegative)]
    remaining: Option<Amount>,
    /// The number of the spool in the system that knows spools (`spools.url`): what is left on it is read there, and
    /// what prints use of it is booked on it.
    spool_id: Option<i64>,
}

/// A place for a spool.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Slot", example = json!({
    "slot": 0, "materialId": materials::EXAMPLE_ID, "color": "#101010", "remaining": 950, "source": "manual",
    "vendorCode": null, "kind": null, "spoolId": null, "bookedByPrinter": false, "spoolWarning": null, "updatedAt": "2026-11-01T08:00:00.000Z",
}))]
pub struct SlotView {
    /// Its number, from 0, as the printer counts its tools.
    slot: u32,
    /// The material that is in it.
    material_id: Option<Id>,
    /// The colour of the spool, as `#rrggbb`.
    color: Option<String>,
    /// What is left on the spool, in the material's unit; prints use it up.
    remaining: Option<Amount>,
    /// Whether a person or the printer said what is loaded.
    source: SlotSource,
    /// The vendor's code of the spool, as the printer reported it.
    vendor_code: Option<String>,
    /// The kind of plastic of the spool, such as `PETG`, as the printer reported it.
    kind: Option<String>,
    /// The number of the spool in the system that knows spools.
    spool_id: Option<i64>,
    /// Whether the printer's own server books what it prints on this spool in that system; it is then not booked there
    /// a second time.
    booked_by_printer: bool,
    /// Why what prints take from the slot may be counted wrongly in that system, and what to do; null when nothing of
    /// the kind is known.
    spool_warning: Option<String>,
    /// When it last changed.
    updated_at: Timestamp,
}

impl SlotView {
    /// A slot of a printer.
    pub(super) fn of(app: &PrinterHandles, printer: &Printer, one: Slot) -> Self {
        let material = one.material_id.and_then(|id| app.materials.resident(id)).map(|known| known.read());
        let material = material.as_ref().and_then(|known| known.state.as_ref());
        // Where spools are not read, nothing of ours is booked on them.
        let counts = !app.config.spools.url.is_empty();
        let spool_warning = printer.spool_warning(&one, material).filter(|_| counts);
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

/// What is screwed into the hot end: files are sliced for a diameter.
#[derive(Request, Clone, Debug)]
#[api(name = "Nozzle", fields = Nozzle, example = json!({"diameter": 0.4, "kind": "brass"}))]
struct GivenNozzle {
    /// In millimetres.
    #[api(NozzleWidth)]
    diameter: f64,
    /// What it is made of, such as `brass` or `hardened steel`.
    #[api(ONE_LINE, MaxChars(50))]
    kind: Option<String>,
}

/// A width that nozzles have.
struct NozzleWidth;

impl Rule<f64> for NozzleWidth {
    fn judge(&self, width: &f64) -> Result<(), String> {
        let message = || format!("must be a number of millimetres above 0, at most {MAX_NOZZLE_MM}");
        nozzle_mm(*width).map(|_| ()).ok_or_else(message)
    }
    fn mark(&self, _: Shape) -> Shape {
        above_zero(MAX_NOZZLE_MM)
    }
}

impl FromJson for Nozzle {
    type Inner = Self;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        let given = GivenNozzle::from_json(value, place, faults)?.into_fields();
        Some(Self { diameter: nozzle_mm(given.diameter)?, ..given })
    }
    fn inner(&self) -> Option<&Self> {
        Some(self)
    }
}

/// The `{slot}` of a path. What is no number of a slot names nothing: 404.
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

/// What an operator says of a slot, as the printer takes it.
async fn loading(app: &PrinterHandles, slot: u32, said: LoadedSpool) -> Result<PrinterCommand, ApiError> {
    let LoadedSpool { material_id, color, remaining, spool_id: spool } = said;
    check_material(app, "materialId", material_id).await?;
    let color = color.map(|color| color.to_ascii_lowercase());
    Ok(PrinterCommand::LoadSlot { slot, spool: Spool { material_id, color, remaining, spool } })
}

/// Has a printer take what a page says of a slot, with the body that the API takes for it. A page may say it of several
/// slots in one request.
pub(crate) async fn load_by_page(
    app: &PrinterHandles,
    call: &CommandRequest,
    (printer, slot): (Id, u32),
    said: &Value,
) -> Result<(), ApiError> {
    let said = read_body::<LoadedSpool>(said.to_string().as_bytes())?;
    call.ask_with(&app.printers, CommandTarget::Id(printer), loading(app, slot, said)).await.map(|_| ())
}

async fn load(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    PathSlot(slot): PathSlot,
    call: CommandRequest<LoadedSpool>,
) -> Result<Resource<PrinterView>, ApiError> {
    let command = async { loading(&app, slot, call.read_body()?).await };
    let done = call.ask_with(&app.printers, CommandTarget::Id(id), command).await?;
    Ok(Resource::after(&done, PrinterView::after(&app, &done)?))
}

async fn remove(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    PathSlot(slot): PathSlot,
    call: CommandRequest,
) -> Result<Resource<PrinterView>, ApiError> {
    let done = call.ask(&app.printers, CommandTarget::Id(id), PrinterCommand::RemoveSlot(slot)).await?;
    Ok(Resource::after(&done, PrinterView::after(&app, &done)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::wire::ToSchema as _;

    #[test]
    fn requests_are_read_as_the_schema_says() {
        assert!(GivenNozzle::schema() == Nozzle::schema());
        assert_eq!(GivenNozzle::example(), Nozzle::example());
    }
}
