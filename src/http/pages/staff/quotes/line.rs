//! Line of a quote draft: its form, and the API request body for all lines of the quote after the form has been
//! applied.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::StaffQuoteHandles;
use crate::form::{Form, FormBody};
use crate::sentences::capital;
use crate::staff::QUOTES_PATH;
use crate::staff::products::machine_label;
use crate::staff::sheet::{DraftLines, FormSheet, decimal_field, edited, line_field, page_of};
use domain::bounds::MAX_QUANTITY;
use domain::currency::plain;
use domain::file::FileKind;
use domain::notation::field_decimal;
use domain::quote::{Quote, QuoteLine};
use domain::sku::MachineType;
use http::error::ApiError;
use http_api::production::quotes::NewQuoteLine;
use store::queries::{FileFilter, MaterialFilter, Page, SkuFilter};
use words::Language;
use words::staff::quotes as texts;

/// Maximum number of SKUs, materials or models to choose from, newest first.
const MOST_CHOICES: Page = Page { limit: 100, offset: 0 };
/// Form value for a line that is not printed.
const NOT_PRINTED: &str = "none";
/// Machine types that can print models.
const MACHINES: [MachineType; 4] =
    [MachineType::FdmStandard, MachineType::FdmLarge, MachineType::ResinStandard, MachineType::ResinLarge];
/// Fields of a line that only a model has.
const MODEL_MEMBERS: [&str; 3] = ["materialId", "machineType", "slicerProfile"];

/// Options for a quote line: the SKUs and models from which it can be made, and the materials.
pub(super) struct LineChoices {
    made_from: Vec<(String, String)>,
    materials: Vec<(String, String)>,
}

impl LineChoices {
    pub(super) async fn read(app: &StaffQuoteHandles, language: Language) -> Result<Self, ApiError> {
        let queries = &app.quotes.queries;
        let sku_filter = SkuFilter { active: Some(true), ..SkuFilter::default() };
        let (skus, _) = queries.skus(&sku_filter, MOST_CHOICES).await?;
        let file_filter = FileFilter { kind: Some(FileKind::Model), ..FileFilter::default() };
        let (models, _) = queries.files(&file_filter, MOST_CHOICES).await?;
        let mut made_from = vec![
            (NOT_PRINTED.to_owned(), texts::source_none(language)),
            ("later".to_owned(), texts::source_later(language)),
        ];
        let skus = skus.iter().filter_map(|sku| sku.state.as_ref()).filter(|sku| !sku.fields.is_kit());
        made_from.extend(
            skus.map(|sku| {
                (format!("sku:{}", sku.id), texts::source_sku(language, &sku.fields.code, &sku.fields.name))
            }),
        );
        let models = models.iter().filter_map(|file| file.state.as_ref());
        made_from.extend(models.map(|file| (format!("model:{}", file.id), texts::source_model(language, &file.name))));
        Ok(Self { made_from, materials: materials(app).await? })
    }
}

/// Returns the IDs and names of the materials to choose from.
pub(super) async fn materials(app: &StaffQuoteHandles) -> Result<Vec<(String, String)>, ApiError> {
    let (some, _) = app.quotes.queries.materials(&MaterialFilter::default(), MOST_CHOICES).await?;
    let some = some.iter().filter_map(|material| material.state.as_ref());
    Ok(some.map(|material| (material.id.to_string(), material.fields.name.clone())).collect())
}

fn made_from(line: &QuoteLine) -> String {
    match (line.sku_id, &line.model) {
        (Some(sku), _) => format!("sku:{sku}"),
        (None, Some(model)) => format!("model:{}", model.file_id),
        (None, None) if line.printed => "later".to_owned(),
        (None, None) => NOT_PRINTED.to_owned(),
    }
}

/// Returns the price of a line if it was set manually; `None` if it is calculated from the costs.
fn set_price(line: &QuoteLine) -> Option<i64> {
    let by_costs = line.model.as_ref().is_some_and(|model| !model.priced_by_hand);
    Some(line.unit_price_cents).filter(|_| !by_costs)
}

/// Returns the options plus the current value, which may no longer be available.
fn with_known(language: Language, mut choices: Vec<(String, String)>, current: &str) -> Vec<(String, String)> {
    if !choices.iter().any(|(value, _)| value == current) {
        choices.push((current.to_owned(), texts::current_value(language)));
    }
    choices
}

/// Renders the fields for a quote line; empty if `line` is `None`.
pub(super) fn fields(
    language: Language,
    sheet: &FormSheet<'_>,
    choices: &LineChoices,
    line: Option<&QuoteLine>,
    currency: &str,
) -> Markup {
    let model = line.and_then(|line| line.model.as_ref());
    let description = line.map_or("", |line| line.description.as_str());
    let set_price = line.and_then(set_price);
    let price = set_price.map(|cents| field_decimal(language, plain(cents, currency))).unwrap_or_default();
    let from = line.map_or_else(|| NOT_PRINTED.to_owned(), made_from);
    let all_from = with_known(language, choices.made_from.clone(), &from);
    let material = model.and_then(|model| model.material_id).map(|id| id.to_string()).unwrap_or_default();
    let later = (String::new(), texts::material_later(language));
    let materials =
        with_known(language, [later].into_iter().chain(choices.materials.iter().cloned()).collect(), &material);
    let usual = (String::new(), texts::usual_machine(language));
    let machines = MACHINES.map(|machine| (machine.word().to_owned(), capital(&machine_label(language, machine))));
    let machine = model.map_or("", |model| model.machine_type.word());
    let machines = with_known(language, [usual].into_iter().chain(machines).collect(), machine);
    let profile = model.and_then(|model| model.slicer_profile.as_deref()).unwrap_or_default();
    let (about, about_hint) = (texts::description_field(language), texts::description_hint(language));
    let (of_price, price_hint) = (texts::price_field(language), texts::price_hint(language));
    html! {
        div class="tools" {
            (sheet.field(line_field("description", &about, 500).hint(&about_hint), description))
            (sheet.count("quantity", &texts::quantity_field(language), MAX_QUANTITY, line.map_or(1, |line| line.quantity)))
            (sheet.field(decimal_field("unitPriceCents", &of_price).hint(&price_hint), &price))
            (sheet.choice("madeFrom", &texts::source_field(language), &from, &all_from))
        }
        fieldset class="sheet" {
            legend { (texts::model_options(language)) }
            (sheet.choice("materialId", &texts::material_field(language), &material, &materials))
            (sheet.choice("machineType", &texts::machine_field(language), machine, &machines))
            (sheet.field(line_field("slicerProfile", &texts::profile_field(language), 100), profile))
        }
    }
}

/// Renders a form for each line of a draft, and a form for adding a line.
pub(super) fn forms(language: Language, quote: &Quote, choices: &LineChoices, refused: &Form) -> Markup {
    let titles = quote.lines.iter().map(|line| line.description.as_str()).collect();
    let lines = DraftLines { path: page_of(QUOTES_PATH, quote.id), version: quote.revision, titles, refused };
    lines.forms(language, &|sheet, at| {
        fields(language, sheet, choices, at.and_then(|at| quote.lines.get(at)), &quote.currency)
    })
}

/// Reads a line as the API takes it.
pub(super) fn line_of(typed: &Form, currency: &str) -> Value {
    let from = typed.text("madeFrom");
    let (kind, id) = from.split_once(':').unwrap_or((from, ""));
    let body = typed.body().amount("unitPriceCents", currency).with("printed", kind != NOT_PRINTED);
    let body = match kind {
        "sku" => body.with("skuId", id),
        "model" => body.with("modelFileId", id),
        _ => body,
    };
    let body = if kind == "model" { body } else { MODEL_MEMBERS.into_iter().fold(body, FormBody::without) };
    body.members::<NewQuoteLine>().into()
}

/// Converts an existing line to the API representation.
fn line_json(line: &QuoteLine) -> Value {
    let model = line.model.as_ref();
    json!({
        "description": line.description, "quantity": line.quantity, "unitPriceCents": set_price(line),
        "printed": line.printed, "skuId": line.sku_id, "modelFileId": model.map(|model| model.file_id),
        "materialId": model.and_then(|model| model.material_id),
        "machineType": model.map(|model| model.machine_type.word()),
        "slicerProfile": model.and_then(|model| model.slicer_profile.as_deref()),
    })
}

/// Builds the lines in the API request body after the form has been applied; if `new_line` is `None`, the line
/// specified in the form is removed.
pub(super) fn lines(quote: &Quote, typed: &Form, new_line: Option<Value>) -> Vec<Value> {
    edited(quote.lines.iter().map(line_json).collect(), typed, new_line)
}
