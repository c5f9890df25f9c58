//! Uploads from slicers: implements the part of a print host's API that slicers need to upload files.
//!
//! An operator enters `{base}/slicer/{machineType}` as the print host, with an API key. Uploads are stored as files.
//! With "upload and print", an upload becomes an order for the shop's own use: one job for any printer of the given
//! type.

use std::fmt::Write as _;
use std::sync::Arc;

use api_derive::Response;
use axum::extract::{self, FromRequestParts, RawPathParams, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::files::{self, FileHandles, FormFields, Uploaded, take_upload};
use super::orders::OrderHandles;
use super::place::own_use;
use config::Config;
use domain::amount::Amount;
use domain::file::{File, FileKind};
use domain::id::Id;
use domain::material::Material;
use domain::principal::Role;
use domain::printer::{FilamentMaterials, Printer, Undecided, loaded_materials};
use domain::sku::{MachineType, Sku, SkuCommand, SkuFields, SkuMaterial};
use http::access::{Caller, RequiredAccess};
use http::command_request::{CommandRequest, CommandTarget};
use http::error::ApiError;
use http::handler::Argument;
use http::handles::handles;
use http::openapi::shape::{Shape, bytes, closed_object, optional, required, text_of};
use http::operation::{DescribedError, DescribedOperation};
use http::reply::{Created, Plain};
use http::routes::ResourceRoutes;
use http::wire::{Components, ToSchema, schema_of};
use kernel::directory::Directory;
use printers::print_host::{API, HOW_TO, SERVER, TEXT};
use printers::registry::known_types;
use store::queries::{Page, Queries, SkuFilter};

/// Consumption assumed for G-code that does not specify a weight: the smallest amount, so that the print appears in the
/// ledger.
const UNSTATED: Amount = Amount(1);
/// Number of the plate to print.
const PRINTED_PLATE: u32 = 1;
const NO_TYPE: DescribedError = (404, "machine_type_not_found", "There is no such machine type.");
/// Number of hash digits (hexadecimal) in the code of a SKU created for an upload.
const CODE_DIGITS: usize = 16;

handles! {
    /// Dependencies of the routes for slicers.
    pub struct SlicerHandles {
        files: FileHandles,
        orders: OrderHandles,
        skus: Directory<Sku>,
        materials: Directory<Material>,
        printers: Directory<Printer>,
        queries: Queries,
        config: Arc<Config>,
    }
}

/// Returns the routes for slicers.
pub fn routes() -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    ResourceRoutes::new("Slicers", HOW_TO, "machine_type")
        .get(operator, "/slicer/{machineType}/api/version", version, |op| {
            op.named("slicerVersion", "Identify the server to a slicer").errors(&[NO_TYPE])
        })
        .post_long(operator, "/slicer/{machineType}/api/files/local", upload, |op| {
            op.named("slicerUpload", "Upload a file from a slicer")
                .about(
                    "Fields other than `file` and `print` are ignored. With `print` set to `true`, one copy is printed \
                     on any printer of this type, with the material that all printers of the type have loaded. In a \
                     file with several filaments, each filament uses the material in its slot: the slot with its \
                     number or, on printers for which each filament's slot must be specified, a slot with its colour.",
                )
                .takes_form(schema_of::<SlicerUploadForm>())
                .unkeyed()
                .errors(&[
                    NO_TYPE,
                    (409, "not_gcode", "The file was stored but is not G-code, so it cannot be printed."),
                    (
                        409,
                        "material_unknown",
                        "The file was stored, but the material of each filament is missing or \
                         ambiguous on the printers of this type.",
                    ),
                ])
        })
        .schema::<SlicerUploadForm>()
}

/// Upload form, which is streamed.
struct SlicerUploadForm;

impl ToSchema for SlicerUploadForm {
    const NAME: Option<&'static str> = Some("SlicerUploadForm");
    fn schema() -> Shape {
        closed_object([required("file", bytes()), optional("print", text_of(0..)), optional("path", text_of(0..))])
    }
}

/// The `{machineType}` path parameter. An unknown type results in a 404 error.
#[derive(Clone, Copy, Debug)]
struct PathMachineType(MachineType);

impl<S: Send + Sync> FromRequestParts<S> for PathMachineType {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let text = params.iter().flatten().find(|(name, _)| *name == "machineType").map(|(_, text)| text.to_owned());
        text.and_then(|text| serde_json::from_value(text.into()).ok()).map(Self).ok_or_else(|| {
            ApiError::new(
                StatusCode::NOT_FOUND,
                "machine_type_not_found",
                "no such machine type; the URL must end with /slicer/ and a machine type such as fdm_standard",
            )
        })
    }
}

impl Argument for PathMachineType {
    fn describe(_: &mut DescribedOperation, _: &mut Components) {}
}

#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SlicerVersion", example = json!({"api": API, "server": SERVER, "text": TEXT}))]
struct VersionView {
    /// Version of the print host API.
    api: &'static str,
    /// Print host release whose API is implemented.
    server: &'static str,
    /// Text by which slicers recognise a print host.
    text: &'static str,
}

#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SlicerUpload", example = example())]
struct UploadView {
    files: StoredFiles,
    done: bool,
    /// Always `false`: no file is selected, because the printer is chosen later.
    effective_select: bool,
    /// `true` if the file will be printed.
    effective_print: bool,
    /// ID of the order to print the file, if any.
    order_id: Option<Id>,
}

#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SlicerStoredFiles")]
struct StoredFiles {
    local: SlicerFile,
}

#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SlicerStoredFile")]
struct SlicerFile {
    name: String,
    path: String,
    origin: &'static str,
    refs: FileRefs,
}

#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SlicerFileRefs")]
struct FileRefs {
    /// Path of the file's details.
    resource: String,
    /// URL for downloading the file's content.
    download: String,
}

fn example() -> serde_json::Value {
    let file = format!("http://127.0.0.1:8787{}/{}", files::PATH, files::EXAMPLE_ID);
    json!({
        "files": {"local": {
            "name": "vase.gcode", "path": "vase.gcode", "origin": "local",
            "refs": {"resource": file, "download": format!("{file}/content")},
        }},
        "done": true, "effectiveSelect": false, "effectivePrint": true, "orderId": super::orders::EXAMPLE_ID,
    })
}

async fn version(_: PathMachineType) -> Result<Plain<VersionView>, ApiError> {
    Ok(Plain(VersionView { api: API, server: SERVER, text: TEXT }))
}

async fn upload(
    State(app): State<SlicerHandles>,
    PathMachineType(machine_type): PathMachineType,
    who: Caller,
    request: extract::Request,
) -> Result<Created<UploadView>, ApiError> {
    let Uploaded { call, done, print } = take_upload(&app.files, who, request, FormFields::OfSlicers).await?;
    let order_id = if print { Some(print_one(&app, &call, machine_type, &done.answer).await?) } else { None };
    let resource = format!("{}{}/{}", app.config.public_url(), files::PATH, done.id);
    let (name, download) = (done.answer.name.clone(), format!("{resource}/content"));
    let refs = FileRefs { resource, download };
    let local = SlicerFile { path: name.clone(), name, origin: "local", refs };
    let view = UploadView {
        files: StoredFiles { local },
        done: true,
        effective_select: false,
        effective_print: print,
        order_id,
    };
    let location = format!("{}/{}", files::PATH, done.id);
    Ok(Created::unversioned(location, &done, view))
}

/// Orders one print of a file for the shop's own use and returns the order.
async fn print_one(
    app: &SlicerHandles,
    call: &CommandRequest,
    machine_type: MachineType,
    file: &File,
) -> Result<Id, ApiError> {
    if file.kind != FileKind::Gcode {
        return Err(ApiError::conflict("not_gcode", "the file was stored, but only G-code can be printed"));
    }
    let materials = materials(app, machine_type, file).await?;
    let sku = sku(app, call, machine_type, &materials, file).await?;
    let notes = format!("uploaded from a slicer: {}", file.name);
    let command = own_use(&app.orders, &call.who, sku, notes).await?;
    Ok(call.ask(&app.orders.orders, CommandTarget::New, command).await?.id)
}

/// Returns the material for each filament in the file, based on the materials loaded in printers of the given type.
/// Slicers do not specify the materials, and stock of the wrong material must not be reserved.
async fn materials(app: &SlicerHandles, machine_type: MachineType, file: &File) -> Result<FilamentMaterials, ApiError> {
    let plate = file.metadata.plate(PRINTED_PLATE);
    let filaments = plate.map(|plate| plate.filaments.as_slice()).unwrap_or_default();
    let several = filaments.len() > 1;
    let undecided = |why: &str| {
        let machine = machine_type.word();
        let what = if several {
            format!("set the contents of the slots of the {machine} printers so that each filament has one material")
        } else {
            format!("set loadedMaterialId of the {machine} printers to the material to print with")
        };
        ApiError::conflict("material_unknown", format!("the file was stored, but {why}: {what}"))
    };
    let printers = app.printers.all_resident();
    let printers = printers.iter().filter_map(|(_, state)| state.state.as_ref());
    let form = file.metadata.form.unwrap_or_default();
    let loaded = loaded_materials(filaments, form, machine_type, printers, &known_types());
    let loaded = loaded.map_err(|why| match (why, several) {
        (Undecided::NotLoaded, false) => undecided("no material is loaded"),
        (Undecided::Several, false) => undecided("several materials are loaded"),
        (Undecided::NotLoaded, true) => {
            undecided(&format!("no printer has a material loaded for each of its {} filaments", filaments.len()))
        }
        (Undecided::Several, true) => undecided("several loaded materials match its filaments"),
    })?;
    for material in loaded.values() {
        let there = app.materials.read(*material).await?;
        if there.as_ref().is_none_or(|state| state.present().is_none()) {
            return Err(undecided("a loaded material was deleted"));
        }
    }
    Ok(loaded)
}

/// Returns the SKU for a file's content, machine type and materials, creating it if necessary. Repeated uploads of the
/// same content share one SKU.
async fn sku(
    app: &SlicerHandles,
    call: &CommandRequest,
    machine_type: MachineType,
    materials: &FilamentMaterials,
    file: &File,
) -> Result<Id, ApiError> {
    let Some((first, material_id)) = materials.first_key_value().map(|(filament, material)| (*filament, *material))
    else {
        return Err(ApiError::conflict("material_unknown", "the file was stored, but it uses no filament"));
    };
    let plate = file.metadata.plate(PRINTED_PLATE);
    let grams = |filament: u32| {
        let stated = plate.and_then(|plate| plate.filaments.iter().find(|one| one.index == filament)?.grams);
        stated.filter(|grams| grams.0 > 0).unwrap_or(UNSTATED)
    };
    // What is not named is of the first material.
    let further = materials.iter().filter(|(_, material)| **material != material_id).map(|(filament, material)| {
        SkuMaterial { material_id: *material, estimated_consumption: grams(*filament), filament: *filament }
    });
    let further: Vec<SkuMaterial> = further.collect();
    let whole = file.metadata.grams.filter(|grams| grams.0 > 0).unwrap_or(UNSTATED);
    let estimated_consumption = if further.is_empty() { whole } else { grams(first) };
    let mut content = format!("{}/{}/{material_id}", file.sha256, machine_type.word());
    for one in &further {
        let _ = write!(content, "/{}={}", one.filament, one.material_id);
    }
    let hash = Sha256::digest(content);
    let code = format!("SLICER-{}", &hex::encode(hash)[..CODE_DIGITS]);
    let filter = SkuFilter { code: Some(code.clone()), ..SkuFilter::default() };
    let find_sku = async || {
        let (results, _) = app.queries.skus(&filter, Page { limit: 1, offset: 0 }).await?;
        Ok::<_, ApiError>(results.into_iter().find_map(|versioned| Some(versioned.state?.id)))
    };
    if let Some(id) = find_sku().await? {
        return Ok(id);
    }
    let fields = SkuFields {
        slug: code.to_lowercase(),
        code,
        name: file.name.clone(),
        description: Some("created for an upload from a slicer".to_owned()),
        kind: Some("slicer".to_owned()),
        collections: Vec::new(),
        material_id: Some(material_id),
        materials: further,
        plate: PRINTED_PLATE,
        estimated_consumption,
        machine_type,
        dimensions: file.metadata.size,
        price_cents: 0,
        currency: app.config.orders.currency.clone(),
        units_per_plate: 1,
        model_file_id: None,
        gcode_file_id: Some(file.id),
        slicer_profile: None,
        estimated_seconds: file.metadata.seconds,
        components: Vec::new(),
        images: Vec::new(),
        public: false,
        active: true,
    };
    match call.ask(&app.skus, CommandTarget::New, SkuCommand::Create(Box::new(fields))).await {
        Ok(created) => Ok(created.id),
        // The same content came twice at the same time.
        Err(error) => find_sku().await?.ok_or(error),
    }
}
