//! Forms for adding a material and for changing its description.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::json;

use super::material::material_of;
use super::{NEW_PATH, StockHandles, material_path};
use crate::form::{Form, FormBody, PageForm};
use crate::frame::see_other;
use crate::staff::STOCK_PATH;
use crate::staff::filled_form::{field, hinted_field};
use crate::staff::shell::{StaffSection, StaffViewer, hidden, hidden_once};
use domain::material::{Material, MaterialType};
use domain::notation::field_decimal;
use domain::typed_amount::TypedAmountError;
use domain::unit_cost;
use http::access::Caller;
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::materials;
use words::Language;
use words::staff::stock as texts;

/// Form field that contains the version being edited, so that a concurrent change is not overwritten.
const VERSION_FIELD: &str = "version";

/// Text in the language of the page.
type MaterialText = fn(Language) -> String;

/// Material types, as spelled in the API, with labels that include the unit of their amounts.
const TYPES: [(MaterialType, &str, MaterialText); 4] = [
    (MaterialType::Filament, "filament", texts::filament),
    (MaterialType::Resin, "resin", texts::resin),
    (MaterialType::LaserSheet, "laser_sheet", texts::laser_sheets),
    (MaterialType::LaserConsumable, "laser_consumable", texts::laser_consumables),
];

/// Text field of the form: name in the API, label, maximum length in characters, and hint.
type TextField = (&'static str, MaterialText, &'static str, Option<MaterialText>);

const TEXTS: [TextField; 5] = [
    ("color", texts::color_field, "7", Some(texts::color_hint)),
    ("brand", texts::brand, "200", None),
    ("variant", texts::variant, "100", Some(texts::variant_hint)),
    ("vendorCode", texts::vendor_code, "50", Some(texts::vendor_code_hint)),
    ("location", texts::bin, "100", Some(texts::bin_hint)),
];
const AMOUNTS: [TextField; 2] = [
    ("reorderPoint", texts::reorder_at, "20", Some(texts::reorder_hint)),
    ("reorderQuantity", texts::reorder_quantity, "20", None),
];
/// Name of the field for the cost, which may be left unknown.
const COST_FIELD: &str = "unitCostCents";

/// Returns the initial value of a field.
fn known_value(language: Language, material: Option<&Material>, name: &str) -> String {
    let Some(fields) = material.map(|material| &material.fields) else { return String::new() };
    let text = match name {
        "name" => Some(fields.name.clone()),
        "color" => fields.color.clone(),
        "brand" => fields.brand.clone(),
        "variant" => fields.variant.clone(),
        "vendorCode" => fields.vendor_code.clone(),
        "location" => fields.location.clone(),
        "reorderPoint" => Some(field_decimal(language, fields.reorder_point)),
        "reorderQuantity" => Some(field_decimal(language, fields.reorder_quantity)),
        _ => None,
    };
    text.unwrap_or_default()
}

/// Returns the current cost as it is typed; empty if it is unknown.
fn known_cost(language: Language, material: Option<&Material>, currency: &str) -> String {
    let cost = material.and_then(|material| Some((material.fields.unit_cost_cents?, material.fields.kind)));
    cost.map(|(cost, kind)| field_decimal(language, unit_cost::plain(cost, kind, currency))).unwrap_or_default()
}

/// Returns the type chosen in the form; `None` if it is unknown.
fn chosen_type(sent: &PageForm) -> Option<MaterialType> {
    TYPES.iter().find(|(_, word, _)| *word == sent.text("type")).map(|(kind, ..)| *kind)
}

/// Returns the reason why the typed cost is not an amount; `None` if it is one, or if the field is empty.
fn cost_error(sent: &PageForm, currency: &str) -> Option<TypedAmountError> {
    let kind = chosen_type(sent).unwrap_or(MaterialType::Filament);
    unit_cost::parse(&sent.some(COST_FIELD)?, kind, currency).err()
}

/// Returns the error for a form with the reason why the typed cost is not an amount, if there is one.
fn with_cost_error(error: ApiError, reason: Option<TypedAmountError>) -> ApiError {
    error.reword(|fault| Some(reason.filter(|_| fault.path == COST_FIELD)?.to_string()))
}

/// Reads the body of the API operation from the form. An empty amount is left unchanged, except for the cost, which is
/// unknown then.
fn body_of(sent: &PageForm, current: Option<&Material>, currency: &str) -> FormBody {
    let kind = chosen_type(sent).unwrap_or(MaterialType::Filament);
    let body = sent.change().unless_empty(&AMOUNTS.map(|(name, ..)| name)).unless_empty(&["quantity"]);
    // A cost with more decimals than the currency has cannot be typed, but stays.
    let is_unchanged = current.is_some_and(|material| material.fields.kind == kind)
        && sent.text(COST_FIELD) == known_cost(sent.call.who.language, current, currency);
    if is_unchanged && sent.some(COST_FIELD).is_some() {
        return body.without(COST_FIELD);
    }
    body.converted(COST_FIELD, |cost| unit_cost::parse(cost, kind, currency).ok().map(|cost| json!(cost)))
}

/// Serves the form for adding a material.
pub(super) async fn show_new(State(app): State<StockHandles>, who: Caller) -> Result<Response, ApiError> {
    page(&app, &who, None, &Form::default())
}

/// Adds a material, or serves the form again with its errors.
pub(super) async fn add(State(app): State<StockHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let currency = &app.config.orders.currency;
    let (body, reason) = (body_of(&sent, None, currency), cost_error(&sent, currency));
    match materials::add(&app.materials, &sent.request_of(body)).await {
        Ok(outcome) => Ok(see_other(&material_path(outcome.id))),
        Err(error) => {
            let tried = Form::submitted(&sent).with_refusal(with_cost_error(error, reason))?;
            Ok(tried.answer(page(&app, &sent.call.who, None, &tried)?))
        }
    }
}

/// Serves the form for changing a material.
pub(super) async fn show(
    State(app): State<StockHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let current = material_of(&app, id).await?;
    page(&app, &who, Some(&current), &Form::default())
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
    let currency = &app.config.orders.currency;
    let (_, before) = material_of(&app, id).await?;
    let (body, reason) = (body_of(&sent, Some(&before), currency), cost_error(&sent, currency));
    match materials::change(&app.materials, id, &sent.request_of(body)).await {
        Ok(_) => Ok(see_other(&material_path(id))),
        Err(error) => {
            let tried = Form::submitted(&sent).with_refusal(with_cost_error(error, reason))?;
            let current = material_of(&app, id).await?;
            Ok(tried.answer(page(&app, &sent.call.who, Some(&current), &tried)?))
        }
    }
}

fn page(
    app: &StockHandles,
    who: &Caller,
    current: Option<&(i64, Material)>,
    tried: &Form,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.config)?;
    let language = viewer.language();
    let material = current.map(|(_, material)| material);
    let (title, path) = match material {
        Some(material) => {
            (texts::edit_title(language, &material.fields.name), format!("{}/edit", material_path(material.id)))
        }
        None => (texts::add_material(language), NEW_PATH.to_owned()),
    };
    let back = material.map_or_else(|| STOCK_PATH.to_owned(), |material| material_path(material.id));
    let content = html! {
        p { a href=(back) { (texts::back_without_saving(language)) } }
        h1 { (title) }
        form class="card narrow-form" method="post" action=(path) {
            @match current {
                Some((version, _)) => { (hidden()) input type="hidden" name=(VERSION_FIELD) value=(version); },
                None => { (hidden_once()) },
            }
            (tried.alert())
            (field("name", &texts::name_field(language), &html! {
                input id="name" name="name" required maxlength="200" autocomplete="off" value=(tried.value("name", &known_value(language, material, "name")));
            }))
            (kind(language, material, tried))
            @for one in TEXTS { (text_field(language, one, material, tried, false)) }
            @if material.is_none() {
                (text_field(language, ("quantity", texts::on_hand, "20", None), None, tried, true))
            }
            @for one in AMOUNTS { (text_field(language, one, material, tried, true)) }
            (cost_field(language, material, tried, &app.config.orders.currency))
            button type="submit" {
                (if material.is_some() { texts::save(language) } else { texts::add_material(language) })
            }
        }
    };
    Ok(viewer.page(StaffSection::Stock, &title, &app.board.view(), &content))
}

fn cost_field(language: Language, material: Option<&Material>, tried: &Form, currency: &str) -> Markup {
    let hint = texts::cost_hint(language, &currency.to_uppercase());
    let control = html! {
        input id=(COST_FIELD) name=(COST_FIELD) maxlength="20" autocomplete="off" inputmode="decimal"
            value=(tried.value(COST_FIELD, &known_cost(language, material, currency)))
            aria-describedby={ "about-" (COST_FIELD) };
    };
    hinted_field(COST_FIELD, &texts::cost_field(language), &hint, &control)
}

fn kind(language: Language, material: Option<&Material>, tried: &Form) -> Markup {
    let own = material.map_or(MaterialType::Filament, |material| material.fields.kind);
    let own = TYPES.iter().find(|(kind, ..)| *kind == own).map_or("", |(_, word, _)| *word);
    let chosen = tried.value("type", own);
    field(
        "type",
        &texts::type_field(language),
        &html! {
            select id="type" name="type" {
                @for (_, word, label) in TYPES { option value=(word) selected[word == chosen] { (label(language)) } }
            }
        },
    )
}

fn text_field(
    language: Language,
    (name, label, most, hint): TextField,
    material: Option<&Material>,
    tried: &Form,
    is_amount: bool,
) -> Markup {
    let current = known_value(language, material, name);
    let value = tried.value(name, &current);
    let about = hint.map(|_| format!("about-{name}"));
    let input = html! {
        input id=(name) name=(name) maxlength=(most) autocomplete="off" inputmode=[is_amount.then_some("decimal")]
            value=(value) aria-describedby=[about.as_deref()];
        @if let Some(hint) = hint { p class="hint" id=[about.as_deref()] { (hint(language)) } }
    };
    field(name, &label(language), &input)
}
