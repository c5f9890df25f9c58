//! Forms for adding a material and for changing its description.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::material::material_of;
use super::{AttemptedForm, NEW_PATH, StockHandles, material_path, number};
use crate::form::PageForm;
use crate::frame::see_other;
use crate::staff::STOCK_PATH;
use crate::staff::filled_form::{field, is_of_form, refused};
use crate::staff::shell::{StaffSection, StaffViewer, hidden};
use domain::material::{Material, MaterialType};
use http::access::Caller;
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::materials::{act_by_page, create_by_page};

/// Action name shared by the forms for adding and changing a material, by which submitted values are assigned to them.
const EDIT_ACT: &str = "edit";
/// Form field that contains the version being edited, so that a concurrent change is not overwritten.
const VERSION_FIELD: &str = "version";

/// Material types, as spelled in the API, with labels that include the unit of their amounts.
const TYPES: [(MaterialType, &str, &str); 4] = [
    (MaterialType::Filament, "filament", "Filament, in grams"),
    (MaterialType::Resin, "resin", "Resin, in millilitres"),
    (MaterialType::LaserSheet, "laser_sheet", "Sheets for a laser cutter"),
    (MaterialType::LaserConsumable, "laser_consumable", "Wearing parts of a laser cutter, in units"),
];

/// Text field of the form: name in the API, label, maximum length in characters, and hint.
type TextField = (&'static str, &'static str, &'static str, &'static str);

const TEXTS: [TextField; 5] = [
    ("color", "Colour", "7", "Such as #1b1b22."),
    ("brand", "Brand", "200", ""),
    ("variant", "Variant", "100", "What tells it from others of its name: matte, carbon fibre."),
    ("vendorCode", "Vendor's code", "50", "As printers report its spools, where they do."),
    ("location", "Place", "100", "As the label on the shelf or bin says it: Shelf A3."),
];
const AMOUNTS: [TextField; 3] = [
    ("reorderPoint", "Reorder at", "20", "Below this you are told to order, and new jobs may wait."),
    ("reorderQuantity", "How much you order", "20", ""),
    (
        "unitCostCents",
        "Cost of one gram, millilitre, sheet or unit",
        "20",
        "In the smallest unit of the currency: 2.5 for 25.00 a kilogram. It prices what is lost with bad parts.",
    ),
];
/// Name of the amount field that can be left unknown.
const COST_FIELD: &str = "unitCostCents";

/// Returns the initial value of a field.
fn known_value(material: Option<&Material>, name: &str) -> String {
    let Some(fields) = material.map(|material| &material.fields) else { return String::new() };
    let text = match name {
        "name" => Some(fields.name.clone()),
        "color" => fields.color.clone(),
        "brand" => fields.brand.clone(),
        "variant" => fields.variant.clone(),
        "vendorCode" => fields.vendor_code.clone(),
        "location" => fields.location.clone(),
        "reorderPoint" => Some(fields.reorder_point.to_string()),
        "reorderQuantity" => Some(fields.reorder_quantity.to_string()),
        COST_FIELD => fields.unit_cost_cents.map(|cost| cost.to_string()),
        _ => None,
    };
    text.unwrap_or_default()
}

/// Builds the API request body from the form. Empty text becomes null. An empty amount is left unchanged, unless it can
/// be unknown, in which case it becomes null.
fn request_body(sent: &PageForm) -> Value {
    let mut members = Map::new();
    for name in ["name", "type"] {
        members.insert(name.to_owned(), json!(sent.text(name)));
    }
    for (name, ..) in TEXTS {
        members.insert(name.to_owned(), json!(sent.some(name)));
    }
    for name in AMOUNTS.map(|(name, ..)| name).into_iter().chain(["quantity"]) {
        match sent.some(name) {
            Some(text) => _ = members.insert(name.to_owned(), number(&text)),
            None if name == COST_FIELD => _ = members.insert(name.to_owned(), Value::Null),
            None => {}
        }
    }
    Value::Object(members)
}

/// Serves the form for adding a material.
pub(super) async fn show_new(State(app): State<StockHandles>, who: Caller) -> Result<Response, ApiError> {
    page(&app, &who, None, &AttemptedForm::default())
}

/// Adds a material, or serves the form again with its errors.
pub(super) async fn add(State(app): State<StockHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let (tried, who, body) = (AttemptedForm::of(EDIT_ACT, &sent), sent.call.who.clone(), request_body(&sent));
    match create_by_page(&app.materials, sent.call, &body).await {
        Ok(id) => Ok(see_other(&material_path(id))),
        Err(error) if is_of_form(&error) => Ok(refused(page(&app, &who, None, &tried.refused(&error))?, error)),
        Err(error) => Err(error),
    }
}

/// Serves the form for changing a material.
pub(super) async fn show(
    State(app): State<StockHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let current = material_of(&app, id).await?;
    page(&app, &who, Some(&current), &AttemptedForm::default())
}

/// Changes a material, or serves the form again with its errors.
pub(super) async fn change(
    State(app): State<StockHandles>,
    PathId(id): PathId,
    mut sent: PageForm,
) -> Result<Response, ApiError> {
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", sent.text(VERSION_FIELD))) {
        sent.call.headers.insert(header::IF_MATCH, tag);
    }
    let (tried, who, body) = (AttemptedForm::of(EDIT_ACT, &sent), sent.call.who.clone(), request_body(&sent));
    match act_by_page(app.materials.clone(), id, "change", sent.call, &body).await {
        Ok(()) => Ok(see_other(&material_path(id))),
        Err(error) if is_of_form(&error) => {
            let current = material_of(&app, id).await?;
            Ok(refused(page(&app, &who, Some(&current), &tried.refused(&error))?, error))
        }
        Err(error) => Err(error),
    }
}

fn page(
    app: &StockHandles,
    who: &Caller,
    current: Option<&(i64, Material)>,
    tried: &AttemptedForm,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.config)?;
    let material = current.map(|(_, material)| material);
    let (title, path) = match material {
        Some(material) => (format!("Edit {}", material.fields.name), format!("{}/edit", material_path(material.id))),
        None => ("Add a material".to_owned(), NEW_PATH.to_owned()),
    };
    let back = material.map_or_else(|| STOCK_PATH.to_owned(), |material| material_path(material.id));
    let content = html! {
        p { a href=(back) { "Back without saving" } }
        h1 { (title) }
        form class="card narrow-form" method="post" action=(path) {
            (hidden())
            (tried.wrong(EDIT_ACT))
            @if let Some((version, _)) = current { input type="hidden" name=(VERSION_FIELD) value=(version); }
            (field("name", "Name", &html! {
                input id="name" name="name" required maxlength="200" autocomplete="off" value=(tried.value(EDIT_ACT, "name", &known_value(material, "name")));
            }))
            (kind(material, tried))
            @for one in TEXTS { (text_field(one, material, tried, false)) }
            @if material.is_none() {
                (text_field(("quantity", "On hand now", "20", "What is there already."), None, tried, true))
            }
            @for one in AMOUNTS { (text_field(one, material, tried, true)) }
            button type="submit" { @if material.is_some() { "Save" } @else { "Add it" } }
        }
    };
    Ok(viewer.page(StaffSection::Stock, &title, &app.board.view(), &content))
}

fn kind(material: Option<&Material>, tried: &AttemptedForm) -> Markup {
    let own = material.map_or(MaterialType::Filament, |material| material.fields.kind);
    let own = TYPES.iter().find(|(kind, ..)| *kind == own).map_or("", |(_, word, _)| *word);
    let chosen = tried.value(EDIT_ACT, "type", own);
    field(
        "type",
        "Type",
        &html! {
            select id="type" name="type" {
                @for (_, word, words) in TYPES { option value=(word) selected[word == chosen] { (words) } }
            }
        },
    )
}

fn text_field(
    (name, label, most, hint): TextField,
    material: Option<&Material>,
    tried: &AttemptedForm,
    is_amount: bool,
) -> Markup {
    let value = tried.value(EDIT_ACT, name, &known_value(material, name));
    let about = (!hint.is_empty()).then(|| format!("about-{name}"));
    let input = html! {
        input id=(name) name=(name) maxlength=(most) autocomplete="off" inputmode=[is_amount.then_some("decimal")]
            value=(value) aria-describedby=[about.as_deref()];
        @if let Some(about) = &about { p class="hint" id=(about) { (hint) } }
    };
    field(name, label, &input)
}
