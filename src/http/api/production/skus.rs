//! Catalogue: the products on sale, with the files and materials used to make them.

mod operations;

pub use operations::{add, archive, change};

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use config::Config;
use domain::aggregate::Versioned;
use domain::amount::Amount;
use domain::bounds::{MAX_CENTS, MAX_PRINT_SECONDS};
use domain::file::File;
use domain::id::Id;
use domain::material::Material;
use domain::principal::Role;
use domain::refusal::{Faults, Refusal};
use domain::sku::{Component, Dimensions, MachineType, Sku, SkuFields, SkuMaterial};
use domain::time::Timestamp;
use http::access::{Caller, RequiredAccess};
use http::command_request::{CommandOutcome, CommandRequest, find_existing, state_of};
use http::error::ApiError;
use http::handles::handles;
use http::page::{PageQuery, Query};
use http::path_id::PathId;
use http::reply::{Created, ListPage, NoContent, Resource};
use http::routes::ResourceRoutes;
use http::wire::{AboveZero, Filled, ItemsWithin, MaxChars, ONE_LINE, Optional, TextList, Within, like};
use kernel::directory::Directory;
use store::queries::{Queries, SkuFilter};

const PATH: &str = "/api/skus";
const SLUG_TAKEN: &str = "Another SKU has this slug.";
/// SKU ID used in examples in the API description.
pub const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8063";
/// Maximum number of parts on one plate.
pub const MAX_UNITS_PER_PLATE: u32 = 10_000;
/// Maximum plate number in a file.
const MAX_PLATE: u32 = 1000;
/// Maximum number of additional materials per SKU.
const MAX_MATERIALS: usize = 16;
/// Maximum number of components per kit.
const MAX_COMPONENTS: usize = 50;
/// Limits on the collections and pictures of a SKU, because a SKU is held in memory and written as a whole.
const TEXTS: TextList = TextList { max_items: 20, max_chars: 300 };

like!(SLUG, "^[a-z0-9]+(-[a-z0-9]+)*$", "must be lowercase words joined by hyphens");
like!(CURRENCY, "^[a-z]{3}$", "must be a lowercase ISO 4217 code");

handles! {
    /// Dependencies of the SKU routes.
    pub struct SkuHandles {
        skus: Directory<Sku>,
        materials: Directory<Material>,
        files: Directory<File>,
        queries: Queries,
        config: Arc<Config>,
    }
}

/// Returns the SKU routes.
pub fn routes() -> ResourceRoutes {
    let [customer, operator] = [Role::Customer, Role::Operator].map(RequiredAccess::Role);
    ResourceRoutes::new("SKUs", "Products, with the files and materials used to make them.", "sku")
        .get(customer, PATH, list, |op| {
            op.named("listSkus", "List products").about("Customers' keys only receive public, active products.")
        })
        .post(operator, PATH, create, |op| {
            op.named("createSku", "Add a product").error(409, "code_taken", "Another SKU has this code.").error(
                409,
                "slug_taken",
                SLUG_TAKEN,
            )
        })
        .get(customer, "/api/skus/{id}", one, |op| op.named("getSku", "Retrieve a product"))
        .patch(operator, "/api/skus/{id}", update, |op| {
            op.named("updateSku", "Update a product")
                .about("Existing orders keep their prices, and existing jobs keep their file and material.")
                .error(409, "code_taken", "Another SKU has this code.")
                .error(409, "slug_taken", SLUG_TAKEN)
                .error(
                    409,
                    "sku_in_use",
                    "The SKU cannot become a kit while it is used by a kit, a sent quote, or an unfinished order or \
                     job.",
                )
        })
        .delete(operator, "/api/skus/{id}", remove, |op| {
            let in_use = "The SKU is used by an unfinished order or job, a kit, or a sent quote.";
            op.named("deleteSku", "Remove a product").about("Orders and jobs keep their copies of its data.").error(
                409,
                "sku_in_use",
                in_use,
            )
        })
}

/// Product to add.
#[derive(Request, Clone, Debug)]
#[api(
    change = SkuChange, shown = SkuDetails, fields = SkuFields, check_new = check_made,
    change_example = json!({"priceCents": 1450}),
    example = json!({
        "code": "VASE-01", "name": "Vase", "materialId": super::materials::EXAMPLE_ID, "estimatedConsumption": 20.5,
        "machineType": "fdm_standard", "priceCents": 1250, "gcodeFileId": "01890a5d-ac96-774b-bcce-b302099a8064",
    })
)]
pub struct NewSku {
    /// Short, unique name for use by staff; the code of a deleted SKU can be reused.
    #[api(Filled, ONE_LINE, MaxChars(64))]
    code: String,
    /// Name in URLs, which must also be unique; defaults to a slug of the code.
    #[api(&SLUG, MaxChars(100))]
    slug: Optional<String>,
    /// Name visible to customers, one line of text.
    #[api(Filled, ONE_LINE, MaxChars(200))]
    name: String,
    /// Description visible to customers.
    #[api(MaxChars(1000))]
    description: Option<String>,
    /// Free-form category, such as `part` or `kit`.
    #[api(ONE_LINE, MaxChars(50))]
    kind: Option<String>,
    /// Slugs of the collections that contain the SKU.
    #[api(TEXTS, default = Vec::new())]
    collections: Vec<String>,
    /// ID of the material from which the SKU is made; null only for kits.
    material_id: Option<Id>,
    /// Amount of material for one full plate, in the material's unit; at most three decimals. Required except for kits,
    /// for which it is 0.
    #[api(AboveZero)]
    estimated_consumption: Optional<Amount>,
    /// Additional materials, each for one filament in the file; `materialId` is used for filament 0 and for all
    /// filaments that are not listed.
    #[api(ItemsWithin(0..=MAX_MATERIALS), default = Vec::new())]
    materials: Vec<SkuMaterial>,
    /// Machine type on which the SKU is made. Required, except for kits, for which it is ignored.
    machine_type: Optional<MachineType>,
    /// Size of a full plate, in millimetres; if null, the plate fits every printer.
    dimensions: Option<Dimensions>,
    /// Price per part, in minor units of the currency.
    #[api(Within(0..=MAX_CENTS))]
    price_cents: i64,
    /// Three-letter ISO 4217 currency code of the price, in lowercase; defaults to the shop's currency.
    #[api(&CURRENCY)]
    currency: Optional<String>,
    /// Number of parts printed on one plate.
    #[api(Within(1..=MAX_UNITS_PER_PLATE), default = 1)]
    units_per_plate: u32,
    /// ID of the model that is sliced to make the SKU.
    model_file_id: Option<Id>,
    /// ID of the G-code file that prints one plate.
    gcode_file_id: Option<Id>,
    /// Number of the plate in the file to print, starting at 1.
    #[api(Within(1..=MAX_PLATE), default = 1)]
    plate: u32,
    /// Slicer profile with which the model is sliced if there is no G-code.
    #[api(ONE_LINE, MaxChars(100))]
    slicer_profile: Option<String>,
    /// Estimated print time of one full plate, in seconds.
    #[api(Within(1..=MAX_PRINT_SECONDS))]
    estimated_seconds: Option<i64>,
    /// Components of a kit: SKUs that are not kits themselves. A kit has its own price, but no material or files.
    #[api(ItemsWithin(0..=MAX_COMPONENTS), default = Vec::new())]
    components: Vec<Component>,
    /// Images: URLs, or IDs of uploaded files.
    #[api(TEXTS, default = Vec::new())]
    images: Vec<String>,
    /// `true` if customers can see the SKU.
    #[api(default = true)]
    public: bool,
    /// `true` if the SKU can be ordered.
    #[api(default = true)]
    active: bool,
}

/// Query parameters for listing SKUs.
#[derive(Request, Debug)]
pub struct SkuQuery {
    /// `true`: return only SKUs that can be ordered. `false`: return only SKUs that cannot.
    active: Option<bool>,
    /// `true`: return only SKUs that customers can see. `false`: return only SKUs that they cannot.
    public: Option<bool>,
    /// Return only SKUs made of the given material.
    material_id: Option<Id>,
    /// Return only the SKU with the given slug.
    slug: Option<String>,
    /// Return only the SKU with the given code.
    code: Option<String>,
    /// Return only SKUs whose name or code contains the given text.
    q: Option<String>,
    #[api(flatten)]
    page: PageQuery,
}

/// Product, with the files and materials used to make it.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Sku", many = "skus", example = json!({
    "id": EXAMPLE_ID, "code": "VASE-01", "slug": "vase-01", "name": "Vase", "description": null, "kind": "part",
    "collections": ["home"], "materialId": super::materials::EXAMPLE_ID, "estimatedConsumption": 20.5,
    "materials": [], "machineType": "fdm_standard", "dimensions": {"x": 80, "y": 80, "z": 120.5}, "priceCents": 1250,
    "currency": "usd", "unitsPerPlate": 1, "modelFileId": null,
    "gcodeFileId": "01890a5d-ac96-774b-bcce-b302099a8064", "plate": 1, "slicerProfile": null, "estimatedSeconds": 5400,
    "components": [], "images": [], "public": true, "active": true, "createdAt": "2026-11-01T08:00:00.000Z",
    "updatedAt": "2026-11-01T08:00:00.000Z", "version": 1,
}))]
struct SkuView {
    /// ID of the SKU.
    id: Id,
    #[serde(flatten)]
    details: SkuDetails,
    /// Time at which the SKU was added.
    created_at: Timestamp,
    /// Time of the last change.
    updated_at: Timestamp,
    /// Version number: starts at 1 and increases with each change; also the `ETag`.
    version: i64,
}

impl SkuView {
    fn new(sku: &Sku, version: i64) -> Self {
        let Sku { id, created_at, updated_at, .. } = *sku;
        Self { id, details: sku.fields.clone().into(), created_at, updated_at, version }
    }

    fn after(done: &CommandOutcome<Sku>) -> Self {
        Self::new(&done.answer, done.version)
    }
}

/// Returns whether customers can see and order the SKU.
pub fn sold(sku: &Sku) -> bool {
    sku.fields.public && sku.fields.active && !sku.archived
}

/// Checks the fields that are required unless the SKU is a kit. (If the components could not be parsed, it is unknown
/// whether the SKU is a kit.)
fn check_made(change: &SkuChange, faults: &mut Faults) {
    if !matches!(&change.components, Optional::Present(components) if components.is_empty()) {
        return;
    }
    let needed = [
        ("materialId", !matches!(change.material_id, Optional::Present(None))),
        ("estimatedConsumption", change.estimated_consumption.is_present()),
        ("machineType", change.machine_type.is_present()),
    ];
    for (member, there) in needed {
        // One that is there and wrong is told already.
        let is_named = there || faults.names(member);
        faults.check(is_named, member, "is required unless the SKU is a kit");
    }
}

async fn list(
    State(app): State<SkuHandles>,
    who: Caller,
    Query(query): Query<SkuQuery>,
) -> Result<ListPage<SkuView>, ApiError> {
    let SkuQuery { mut active, mut public, material_id, slug, code, q, page } = query;
    if who.is_customer() {
        (public, active) = (Some(true), Some(true));
    }
    let page = page.into();
    let filter = SkuFilter { public, active, material_id, slug, code, q, ..SkuFilter::default() };
    let (some, total) = app.queries.skus(&filter, page).await?;
    let view = |versioned: &Versioned<Sku>| Some(SkuView::new(versioned.state.as_ref()?, versioned.version));
    Ok(ListPage::new(page, some.iter().filter_map(view), total))
}

async fn one(State(app): State<SkuHandles>, PathId(id): PathId, who: Caller) -> Result<Resource<SkuView>, ApiError> {
    let (version, state) = find_existing(&app.skus, id).await?;
    let sku = state_of(&state)?;
    if sku.archived || (who.is_customer() && !sold(sku)) {
        return Err(Refusal::not_found("sku").into());
    }
    Ok(Resource::new(version, SkuView::new(sku, version)))
}

async fn create(State(app): State<SkuHandles>, call: CommandRequest<NewSku>) -> Result<Created<SkuView>, ApiError> {
    let done = add(&app, &call).await?;
    Ok(Created::under(PATH, &done, SkuView::after(&done)))
}

async fn update(
    State(app): State<SkuHandles>,
    PathId(id): PathId,
    call: CommandRequest<SkuChange>,
) -> Result<Resource<SkuView>, ApiError> {
    let done = change(&app, id, &call).await?;
    Ok(Resource::after(&done, SkuView::after(&done)))
}

async fn remove(
    State(app): State<SkuHandles>,
    PathId(id): PathId,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    archive(&app, id, &call).await?;
    Ok(NoContent)
}
