//! Materials: stock on hand, reservations, stock counts, adjustments, and a ledger of every change.

mod list;
mod one;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;

use domain::amount::Amount;
use domain::id::Id;
use domain::material::{
    Material, MaterialAnswer, MaterialCommand, MaterialFields, MaterialType, Movement, MovementKind,
};
use domain::principal::Role;
use domain::refusal::{Faults, Refusal};
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget, find_existing};
use http::error::ApiError;
use http::handles::handles;
use http::page::{PageQuery, Query};
use http::path_id::PathId;
use http::reply::{Created, ListPage, NoContent, Resource};
use http::routes::ResourceRoutes;
use http::wire::{Filled, MaxChars, NotNegative, ONE_LINE, Optional, enumeration};
use kernel::directory::Directory;
use store::queries::Queries;

const PATH: &str = "/api/inventory/materials";
const IN_USE: &str = "The material is used by a SKU or an unfinished order or job, or is loaded in a printer.";
/// Material ID used in examples in the API description.
pub const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8061";

handles! {
    /// Dependencies of the material routes.
    pub struct MaterialHandles {
        materials: Directory<Material>,
        queries: Queries,
    }
}

/// Returns the material routes.
pub fn routes() -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    let about = "Stock on hand, reservations, and a ledger of every change.";
    ResourceRoutes::new("Materials", about, "material")
        .get(operator, PATH, list::show, |op| op.named("listMaterials", "List materials with their stock"))
        .post(operator, PATH, create, |op| op.named("createMaterial", "Add a material"))
        .get(operator, "/api/inventory/materials/{id}", one::show, |op| op.named("getMaterial", "Retrieve a material"))
        .patch(operator, "/api/inventory/materials/{id}", update, |op| {
            op.named("updateMaterial", "Update a material, or record a stock count")
                .about(
                    "`quantity` records a stock count and becomes the stock on hand. If it is lower than the reserved \
                     amount, the latest reservations are revoked.",
                )
                .error(
                    409,
                    "material_in_use",
                    "The type cannot be changed while jobs have reserved the material or are on hold because of it.",
                )
        })
        .delete(operator, "/api/inventory/materials/{id}", remove, |op| {
            op.named("deleteMaterial", "Remove a material").about("Its stock ledger is kept.").error(
                409,
                "material_in_use",
                IN_USE,
            )
        })
        .get(operator, "/api/inventory/materials/{id}/movements", movements, |op| {
            op.named("listMovements", "List the stock ledger of a material")
                .about("The sums of the deltas always equal `quantity` and `reserved`.")
        })
        .post(operator, "/api/inventory/materials/{id}/adjustments", adjust, |op| {
            op.named("adjustMaterial", "Receive or write off stock").error(
                409,
                "insufficient_stock",
                "The stock on hand is not sufficient.",
            )
        })
}

/// Unit of a material's amounts, determined by the material's type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum MaterialUnit {
    #[serde(rename = "g")]
    Gram,
    #[serde(rename = "mL")]
    Millilitre,
    #[serde(rename = "sheet")]
    Sheet,
    #[serde(rename = "unit")]
    Piece,
}
enumeration! {
    /// Unit of a material's amounts, determined by the material's type.
    MaterialUnit,
}

impl From<MaterialType> for MaterialUnit {
    fn from(kind: MaterialType) -> Self {
        match kind {
            MaterialType::Filament => Self::Gram,
            MaterialType::Resin => Self::Millilitre,
            MaterialType::LaserSheet => Self::Sheet,
            MaterialType::LaserConsumable => Self::Piece,
        }
    }
}

/// Material to add.
#[derive(Request, Clone, Debug)]
#[api(
    change = MaterialChange, shown = MaterialDetails, fields = MaterialFields, check = check_unit,
    change_example = json!({"quantity": 1800}),
    example = json!({
        "name": "PLA black", "type": "filament", "color": "#101010", "brand": "Acme", "quantity": 2000, "unit": "g",
        "reorderPoint": 500, "reorderQuantity": 2000, "unitCostCents": 2.5,
    })
)]
pub struct NewMaterial {
    /// Display name, one line of text.
    #[api(Filled, ONE_LINE, MaxChars(200))]
    name: String,
    /// Type of the material; determines its unit.
    #[api(name = "type")]
    kind: MaterialType,
    /// Display colour as `#rrggbb`.
    #[api(MaxChars(7))]
    color: Option<String>,
    /// Name of the manufacturer, as free text.
    #[api(ONE_LINE, MaxChars(200))]
    brand: Option<String>,
    /// Variant that distinguishes the material from others with the same name, for example `matte` or `carbon fibre`.
    #[api(ONE_LINE, MaxChars(100))]
    variant: Option<String>,
    /// Vendor's code for spools of the material, as reported by printers.
    #[api(ONE_LINE, MaxChars(50))]
    vendor_code: Option<String>,
    /// Storage location, as written on the shelf or bin label.
    #[api(ONE_LINE, MaxChars(100))]
    location: Option<String>,
    /// Cost per unit of the material, in the smallest unit of the shop's currency; used to calculate the cost of
    /// rejected parts. For a material measured in grams, 2.5 means 25.00 per kilogram. At most three decimals.
    #[api(NotNegative)]
    unit_cost_cents: Option<Amount>,
    /// Stock on hand; at most three decimals.
    #[api(NotNegative, default = Amount::ZERO, separate)]
    quantity: Amount,
    /// Unit of all amounts. Optional; if present, it must be the unit for the material's type.
    #[expect(dead_code, reason = "it is only checked, because it follows from the type")]
    #[api(separate)]
    unit: Optional<MaterialUnit>,
    /// Stock level below which alerts are sent and new jobs are put on hold; at most three decimals.
    #[api(NotNegative, default = Amount::ZERO)]
    reorder_point: Amount,
    /// Amount to order when stock is low, in the material's unit; at most three decimals.
    #[api(NotNegative, default = Amount::ZERO)]
    reorder_quantity: Amount,
}

/// Checks that the unit in the request, if present, is the unit for the material's type.
fn check_unit(change: &MaterialChange, faults: &mut Faults) {
    if let (Optional::Present(unit), Optional::Present(kind)) = (change.unit, change.kind) {
        faults.check(unit == kind.into(), "unit", format!("must be {} for this type", kind.unit()));
    }
}

/// Stock to receive or write off.
#[derive(Request, Clone, Debug)]
#[api(example = json!({"delta": 1000, "reason": "new spool"}))]
pub struct Adjustment {
    /// Amount to receive or, if negative, to write off. Not 0; at most three decimals.
    delta: Amount,
    /// Reason shown in the ledger.
    #[api(Filled, ONE_LINE, MaxChars(500))]
    reason: String,
}

/// Material with its stock.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Material", many = "materials", example = json!({
    "id": EXAMPLE_ID, "name": "PLA black", "type": "filament", "color": "#101010", "brand": "Acme",
    "variant": null, "vendorCode": null, "location": "Shelf A3", "unitCostCents": 2.5, "quantity": 2000, "reserved": 120.5, "available": 1879.5, "unit": "g", "reorderPoint": 500, "reorderQuantity": 2000,
    "createdAt": "2026-11-01T08:00:00.000Z", "updatedAt": "2026-11-02T10:15:00.000Z", "version": 7,
}))]
pub struct MaterialView {
    /// ID of the material.
    id: Id,
    #[serde(flatten)]
    details: MaterialDetails,
    /// Stock on hand, reserved or not, in the material's unit.
    quantity: Amount,
    /// Stock reserved by jobs.
    reserved: Amount,
    /// Stock available for new jobs; never less than 0.
    available: Amount,
    /// Unit of all amounts, determined by the material's type.
    unit: MaterialUnit,
    /// Time at which the material was added.
    created_at: Timestamp,
    /// Time of the last change.
    updated_at: Timestamp,
    /// Version number: starts at 1 and increases with each change by a user; also the `ETag`.
    version: i64,
}

impl MaterialView {
    /// Builds the view of a material with this version.
    pub fn new(material: &Material, version: i64) -> Self {
        Self {
            id: material.id,
            details: material.fields.clone().into(),
            quantity: material.quantity,
            reserved: material.reserved,
            available: material.available(),
            unit: material.fields.kind.into(),
            created_at: material.created_at,
            updated_at: material.updated_at,
            version,
        }
    }

    fn after(done: &CommandOutcome<MaterialAnswer>) -> Self {
        Self::new(&done.answer.material, done.version)
    }
}

/// Ledger entry: one change in a material's stock.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Movement", many = "movements", example = json!({
    "id": "01890a5d-ac96-774b-bcce-b302099a8062", "kind": "reserve", "deltaQuantity": 0, "deltaReserved": 20.5,
    "quantity": 2000, "reserved": 120.5, "jobId": "01890a5d-ac96-774b-bcce-b302099a8068", "reason": null,
    "actor": "system", "createdAt": "2026-11-02T10:15:00.000Z",
}))]
struct MovementView {
    /// ID of the ledger entry.
    id: Id,
    /// Cause of the movement: a delivery, a correction, a reservation, the release of a reservation, or consumption by
    /// a print.
    kind: MovementKind,
    /// Change in the stock on hand.
    delta_quantity: Amount,
    /// Change in the reserved stock.
    delta_reserved: Amount,
    /// Stock on hand after the movement.
    quantity: Amount,
    /// Reserved stock after the movement.
    reserved: Amount,
    /// Job that caused the movement, if any.
    job_id: Option<Id>,
    /// Reason entered by the actor, if any.
    reason: Option<String>,
    /// Actor that caused the movement: a user, an API key or the server.
    actor: String,
    /// Time at which the stock changed.
    created_at: Timestamp,
}

impl From<Movement> for MovementView {
    fn from(line: Movement) -> Self {
        let Movement { id, kind, delta_quantity, delta_reserved, quantity, reserved, job_id, .. } = line;
        let Movement { reason, actor, created_at, .. } = line;
        Self { id, kind, delta_quantity, delta_reserved, quantity, reserved, job_id, reason, actor, created_at }
    }
}

/// Adds the material described by the request.
pub async fn add(
    app: &MaterialHandles,
    call: &CommandRequest<NewMaterial>,
) -> Result<CommandOutcome<MaterialAnswer>, ApiError> {
    let command = async {
        let new = call.read_body()?;
        let quantity = new.quantity;
        let fields = Box::new(new.into_fields());
        Ok(MaterialCommand::Create { fields, quantity })
    };
    call.ask_with(&app.materials, CommandTarget::New, command).await
}

async fn create(
    State(app): State<MaterialHandles>,
    call: CommandRequest<NewMaterial>,
) -> Result<Created<MaterialView>, ApiError> {
    let done = add(&app, &call).await?;
    Ok(Created::under(PATH, &done, MaterialView::after(&done)))
}

/// Changes a material, or records a stock count.
pub async fn change(
    app: &MaterialHandles,
    id: Id,
    call: &CommandRequest<MaterialChange>,
) -> Result<CommandOutcome<MaterialAnswer>, ApiError> {
    let change = call.read_body()?;
    let merge = |material: &Material, version: i64| {
        let fields = change.clone().merged_into(material.fields.clone());
        if change.unit.present().is_some_and(|unit| unit != fields.kind.into()) {
            return Err(Refusal::field("unit", format!("must be {} for this type", fields.kind.unit())).into());
        }
        // A stock-take alone overwrites nothing that was read: it needs no version of its own.
        let if_version = if change.has_fields() { Some(version) } else { call.if_match() };
        let fields = change.has_fields().then(|| Box::new(fields));
        Ok(MaterialCommand::Update { if_version, fields, quantity: change.quantity.present() })
    };
    call.merge(&app.materials, id, merge).await
}

async fn update(
    State(app): State<MaterialHandles>,
    PathId(id): PathId,
    call: CommandRequest<MaterialChange>,
) -> Result<Resource<MaterialView>, ApiError> {
    let done = change(&app, id, &call).await?;
    Ok(Resource::after(&done, MaterialView::after(&done)))
}

/// Removes a material; its stock ledger is kept.
pub async fn archive(
    app: &MaterialHandles,
    id: Id,
    call: &CommandRequest,
) -> Result<CommandOutcome<MaterialAnswer>, ApiError> {
    call.ask(&app.materials, CommandTarget::Id(id), MaterialCommand::Archive).await
}

async fn remove(
    State(app): State<MaterialHandles>,
    PathId(id): PathId,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    archive(&app, id, &call).await?;
    Ok(NoContent)
}

async fn movements(
    State(app): State<MaterialHandles>,
    PathId(id): PathId,
    Query(page): Query<PageQuery>,
) -> Result<ListPage<MovementView>, ApiError> {
    let page = page.into();
    find_existing(&app.materials, id).await?;
    let (lines, total) = app.queries.movements(id, page).await?;
    Ok(ListPage::new(page, lines.into_iter().map(Into::into), total))
}

/// Receives or writes off stock.
pub async fn adjust_stock(
    app: &MaterialHandles,
    id: Id,
    call: &CommandRequest<Adjustment>,
) -> Result<CommandOutcome<MaterialAnswer>, ApiError> {
    let command = async {
        let Adjustment { delta, reason } = call.read_body()?;
        Ok(MaterialCommand::Adjust { delta, reason })
    };
    call.ask_with(&app.materials, CommandTarget::Id(id), command).await
}

async fn adjust(
    State(app): State<MaterialHandles>,
    PathId(id): PathId,
    call: CommandRequest<Adjustment>,
) -> Result<Resource<MaterialView>, ApiError> {
    let done = adjust_stock(&app, id, &call).await?;
    Ok(Resource::after(&done, MaterialView::after(&done)))
}
