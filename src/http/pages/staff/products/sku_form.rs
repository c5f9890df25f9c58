//! Form for a SKU or kit: initial values, fields, and the API request body built from them.

use maud::{Markup, html};

use super::ProductHandles;
use super::from_file::FileSuggestions;
use super::machines::machine_choices;
use crate::form::{FieldControl, Form, FormBody};
use domain::currency;
use domain::file::{File, FileKind};
use domain::id::Id;
use domain::material;
use domain::material::{Material, MaterialType};
use domain::notation::field_decimal;
use domain::sku::{MachineType, SkuFields};
use http::error::ApiError;
use http::wire::{FieldTexts, TICKED_WORD, typed_number};
use store::queries::{FileFilter, Page};
use words::Language;
use words::staff::products as texts;

/// Fields of a component row.
pub(super) const COMPONENT_MEMBERS: [&str; 2] = ["skuId", "quantity"];
pub(super) const MATERIAL_MEMBERS: [&str; 3] = ["materialId", "estimatedConsumption", "filament"];
/// Maximum number of components in the form, because the number of form fields is limited. Larger kits have to be
/// changed through the API.
pub(super) const MAX_COMPONENT_ROWS: usize = 40;
/// Maximum number of additional materials in the form.
const MAX_MATERIAL_ROWS: usize = 16;
/// Maximum length of a code, in characters.
pub(super) const MAX_CODE_CHARS: usize = 64;
/// Number of empty component rows offered.
pub(super) const FREE_COMPONENT_ROWS: usize = 4;
const FREE_MATERIAL_ROWS: usize = 1;
/// Maximum number of files, and of materials, to choose from, newest first.
const CHOICES_SHOWN: u64 = 200;
const MATERIALS_SHOWN: usize = 500;
/// Number of seconds per minute. The form uses minutes, the API seconds.
const SECONDS_PER_MINUTE: f64 = 60.0;
/// Members that the API derives, or leaves unchanged, if their fields are empty.
const DERIVED_MEMBERS: [&str; 6] =
    ["slug", "currency", "estimatedConsumption", "machineType", "unitsPerPlate", "plate"];
/// Members of a printed SKU, which a kit does not have.
const PRINT_MEMBERS: [&str; 11] = [
    "materialId",
    "estimatedConsumption",
    "machineType",
    "unitsPerPlate",
    "plate",
    "gcodeFileId",
    "modelFileId",
    "slicerProfile",
    "estimatedSeconds",
    "dimensions",
    "materials",
];

/// Returns the initial values of the form for a new SKU printed from `file`.
pub(super) fn new_entry(language: Language, currency: &str, file: Option<&File>, suggestions: FileSuggestions) -> Form {
    let mut values = vec![
        ("currency", currency.to_owned()),
        ("unitsPerPlate", "1".to_owned()),
        ("plate", file.and_then(first_plate).unwrap_or(1).to_string()),
        ("machineType", MachineType::FdmStandard.word().to_owned()),
        ("public", TICKED_WORD.to_owned()),
        ("active", TICKED_WORD.to_owned()),
    ];
    if let Some(file) = file {
        let name = file.name.split('.').next().unwrap_or_default().replace('_', " ");
        let member = if file.kind == FileKind::Model { "modelFileId" } else { "gcodeFileId" };
        values.extend([("code", code_of(&name)), ("name", name), (member, file.id.to_string())]);
        values.extend(suggestions.material.map(|id| ("materialId", id.to_string())));
        let price = suggestions.price_cents.map(|cents| field_decimal(language, currency::plain(cents, currency)));
        values.extend(price.map(|price| ("priceCents", price)));
        values.extend(file.metadata.grams.map(|grams| ("estimatedConsumption", field_decimal(language, grams))));
    }
    Form::prefilled(values)
}

/// Returns the number of a file's first plate; `None` if the file does not number its plates.
fn first_plate(file: &File) -> Option<u32> {
    Some(file.metadata.plates.first()?.plate)
}

/// Returns a code for a new SKU with the given name: capital letters and digits, with words joined by hyphens.
fn code_of(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let code = words.collect::<Vec<_>>().join("-").to_ascii_uppercase();
    code.chars().take(MAX_CODE_CHARS).collect()
}

/// Returns the form values for an existing SKU; `codes` are the codes of a kit's components.
pub(super) fn entry_of(language: Language, fields: &SkuFields, codes: &[String]) -> Form {
    let text = |text: Option<&String>| text.cloned().unwrap_or_default();
    let id = |id: Option<Id>| id.map(|id| id.to_string()).unwrap_or_default();
    let ticked = |is: bool| if is { TICKED_WORD.to_owned() } else { String::new() };
    let minutes = |seconds: i64| field_decimal(language, format!("{:.2}", seconds as f64 / SECONDS_PER_MINUTE));
    let price = field_decimal(language, currency::plain(fields.price_cents, &fields.currency));
    let mut values = vec![
        ("code".to_owned(), fields.code.clone()),
        ("slug".to_owned(), fields.slug.clone()),
        ("name".to_owned(), fields.name.clone()),
        ("description".to_owned(), text(fields.description.as_ref())),
        ("kind".to_owned(), text(fields.kind.as_ref())),
        ("collections".to_owned(), fields.collections.join(", ")),
        ("images".to_owned(), fields.images.join("\n")),
        ("priceCents".to_owned(), price),
        ("currency".to_owned(), fields.currency.clone()),
        ("public".to_owned(), ticked(fields.public)),
        ("active".to_owned(), ticked(fields.active)),
        ("materialId".to_owned(), id(fields.material_id)),
        ("estimatedConsumption".to_owned(), field_decimal(language, fields.estimated_consumption)),
        ("machineType".to_owned(), fields.machine_type.word().to_owned()),
        ("unitsPerPlate".to_owned(), fields.units_per_plate.to_string()),
        ("gcodeFileId".to_owned(), id(fields.gcode_file_id)),
        ("plate".to_owned(), fields.plate.to_string()),
        ("modelFileId".to_owned(), id(fields.model_file_id)),
        ("slicerProfile".to_owned(), text(fields.slicer_profile.as_ref())),
        ("estimatedSeconds".to_owned(), fields.estimated_seconds.map(minutes).unwrap_or_default()),
    ];
    if let Some(size) = &fields.dimensions {
        let sides = [("x", size.x), ("y", size.y), ("z", size.z)];
        values.extend(sides.map(|(axis, length)| (format!("dimensions.{axis}"), field_decimal(language, length))));
    }
    for (at, one) in fields.materials.iter().enumerate() {
        let row = |member: &str, text: String| (format!("materials.{at}.{member}"), text);
        values.push(row("materialId", one.material_id.to_string()));
        values.push(row("estimatedConsumption", field_decimal(language, one.estimated_consumption)));
        values.push(row("filament", one.filament.to_string()));
    }
    for (at, (component, code)) in fields.components.iter().zip(codes).enumerate() {
        values.push((format!("components.{at}.skuId"), code.clone()));
        values.push((format!("components.{at}.quantity"), component.quantity.to_string()));
    }
    Form::prefilled(values)
}

/// Reads the body of the API operation from the form's text values, in which components have the IDs of their SKUs.
pub(super) fn body_of(texts: FieldTexts, kit: bool) -> FormBody {
    let currency = texts.get("currency").map(|text| text.to_lowercase()).unwrap_or_default();
    let body = FormBody::change(texts).unless_empty(&DERIVED_MEMBERS).list("collections", ',').list("images", '\n');
    let body = body.amount("priceCents", &currency).converted("currency", |text| Some(text.to_lowercase().into()));
    let body = body.ticked("public").ticked("active");
    if kit {
        return PRINT_MEMBERS.into_iter().fold(body, FormBody::without);
    }
    body.converted("estimatedSeconds", |minutes| {
        let seconds = typed_number(minutes).as_f64()? * SECONDS_PER_MINUTE;
        Some((seconds.round() as i64).into())
    })
}

/// Options of the form's select fields, as values and labels.
pub(super) struct SkuChoices {
    materials: Vec<(String, String)>,
    machines: Vec<(String, String)>,
    gcode: Vec<(String, String)>,
    models: Vec<(String, String)>,
}

impl SkuChoices {
    /// Reads the current options. Options selected in the form are always included, regardless of their age.
    pub(super) async fn read(language: Language, app: &ProductHandles, form: &Form) -> Result<Self, ApiError> {
        let materials = material_choices(language, app, |_| true);
        let gcode = files(language, app, FileKind::Gcode, form.text("gcodeFileId")).await?;
        let models = files(language, app, FileKind::Model, form.text("modelFileId")).await?;
        Ok(Self { materials, machines: machine_choices(language), gcode, models })
    }
}

/// Returns the materials from which a SKU can be made, preceded by the option of no material.
pub(super) fn material_choices(
    language: Language,
    app: &ProductHandles,
    is_usable: impl Fn(MaterialType) -> bool,
) -> Vec<(String, String)> {
    let all = app.skus.materials.all_resident();
    let residents = all.iter().filter_map(|(_, versioned)| versioned.state.as_ref());
    // What is counted by hand cannot be required.
    let is_usable = |kind| kind != MaterialType::LaserConsumable && is_usable(kind);
    let usable = residents.filter(|one| !one.archived && is_usable(one.fields.kind));
    let name = |one: &Material| {
        (one.id.to_string(), format!("{} ({})", one.fields.name, material::unit(language, one.fields.kind)))
    };
    let mut materials: Vec<(String, String)> = usable.map(name).collect();
    materials.sort_by(|(_, one), (_, other)| one.cmp(other));
    materials.truncate(MATERIALS_SHOWN);
    materials.insert(0, (String::new(), texts::choose_material(language)));
    materials
}

async fn files(
    language: Language,
    app: &ProductHandles,
    kind: FileKind,
    named: &str,
) -> Result<Vec<(String, String)>, ApiError> {
    let filter = FileFilter { kind: Some(kind), ..FileFilter::default() };
    let (results, _) = app.files.queries.files(&filter, Page { limit: CHOICES_SHOWN, offset: 0 }).await?;
    let mut all = vec![(String::new(), texts::no_file(language))];
    let stored = results.iter().filter_map(|versioned| versioned.state.as_ref());
    all.extend(stored.map(|file| (file.id.to_string(), file.name.clone())));
    if let Ok(id) = named.parse::<Id>()
        && !all.iter().any(|(existing, _)| existing == named)
        && let Some(state) = app.files.files.read(id).await?
        && let Some(file) = &state.state
    {
        all.push((named.to_owned(), file.name.clone()));
    }
    Ok(all)
}

/// Renders the fields for a printed SKU, with `rows` rows of additional materials.
pub(super) fn made_fields(language: Language, form: &Form, choices: &SkuChoices, rows: usize) -> Markup {
    use FieldControl::{Choice, Decimal, Line, Whole};
    let field =
        |name: &str, label: String, hint: &str, control: FieldControl<'_>| form.field(name, &label, hint, control);
    let materials = Choice(&choices.materials);
    html! {
        fieldset class="card" {
            legend { (texts::materials(language)) }
            div class="grid" {
                (field("materialId", texts::material_field(language), "", materials))
                (field("estimatedConsumption", texts::consumption_field(language), &texts::consumption_hint(language), Decimal))
                (field("unitsPerPlate", texts::parts_per_plate(language), "", Whole(1, 10_000)))
            }
            @for at in 0..(rows + FREE_MATERIAL_ROWS).min(MAX_MATERIAL_ROWS) {
                @let name = |member: &str| format!("materials.{at}.{member}");
                @let filament_hint = texts::further_filament_hint(language);
                div class="grid" {
                    (field(&name("materialId"), texts::further_material_field(language, at + 1), "", materials))
                    (field(&name("estimatedConsumption"), texts::further_amount_field(language, at + 1), "", Decimal))
                    (field(&name("filament"), texts::further_filament_field(language, at + 1), &filament_hint, Whole(0, 1_000)))
                }
            }
        }
        fieldset class="card" {
            legend { (texts::print_files(language)) }
            div class="grid" {
                (field("gcodeFileId", texts::gcode(language), &texts::gcode_hint(language), Choice(&choices.gcode)))
                (field("plate", texts::plate_field(language), "", Whole(1, 1_000)))
                (field("modelFileId", texts::model(language), &texts::model_hint(language), Choice(&choices.models)))
                (field("slicerProfile", texts::slicer_profile(language), &texts::profile_hint(language), Line(100)))
                (field("machineType", texts::machine(language), "", Choice(&choices.machines)))
                (field("estimatedSeconds", texts::minutes_field(language), &texts::minutes_hint(language), Decimal))
                (field("dimensions.x", texts::width_field(language), &texts::width_hint(language), Decimal))
                (field("dimensions.y", texts::depth_field(language), "", Decimal))
                (field("dimensions.z", texts::height_field(language), "", Decimal))
            }
        }
    }
}

/// Renders `rows` rows of kit components.
pub(super) fn kit_fields(language: Language, form: &Form, rows: usize) -> Markup {
    let codes = FieldControl::Suggested(super::CODE_LIST);
    html! {
        fieldset class="card" {
            legend { (texts::set_contents(language)) }
            p class="hint" { (texts::components_hint(language)) }
            @for at in 0..(rows + FREE_COMPONENT_ROWS).min(MAX_COMPONENT_ROWS) {
                @let (sku, quantity) = (format!("components.{at}.skuId"), format!("components.{at}.quantity"));
                @let quantity_label = texts::component_quantity_field(language, at + 1);
                div class="grid" {
                    (form.field(&sku, &texts::component_field(language, at + 1), "", codes))
                    (form.field(&quantity, &quantity_label, "", FieldControl::Whole(1, 10_000)))
                }
            }
        }
    }
}

/// Renders the fields common to SKUs and kits.
pub(super) fn common_fields(language: Language, form: &Form) -> Markup {
    use FieldControl::{Decimal, Line, Lines, Tick};
    let field =
        |name: &str, label: String, hint: &str, control: FieldControl<'_>| form.field(name, &label, hint, control);
    let required = |name: &str, label: String, hint: &str, control: FieldControl<'_>| {
        form.required_field(name, &label, hint, control)
    };
    let name_hint = texts::name_hint(language);
    html! {
        fieldset class="card" {
            legend { (texts::details(language)) }
            div class="grid" {
                (required("name", texts::name_field(language), &name_hint, Line(200)))
                (required("code", texts::code_column(language), &texts::code_hint(language), Line(MAX_CODE_CHARS)))
                (required("priceCents", texts::price_column(language), &texts::price_hint(language), Decimal))
                (field("currency", texts::currency_field(language), &texts::currency_hint(language), Line(3)))
            }
            (field("description", texts::description(language), &name_hint, Lines(1_000)))
            (field("public", texts::public_field(language), "", Tick))
            (field("active", texts::orderable_column(language), "", Tick))
            details {
                summary { (texts::catalogue(language)) }
                div class="grid" {
                    (field("slug", texts::slug(language), &texts::slug_hint(language), Line(100)))
                    (field("kind", texts::kind(language), &texts::kind_hint(language), Line(50)))
                    (field("collections", texts::collections(language), &texts::collections_hint(language), Line(6_000)))
                }
                (field("images", texts::pictures_field(language), &texts::pictures_hint(language), Lines(6_000)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use http_api::production::skus::SkuChange;

    fn body(fields: &[(&str, &str)], kit: bool) -> Value {
        let texts = fields.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        body_of(texts.collect(), kit).members::<SkuChange>().into()
    }

    #[test]
    fn a_form_says_what_the_api_takes() {
        let typed = [
            ("code", "A"),
            ("name", "A thing"),
            ("priceCents", "12.50"),
            ("currency", "USD"),
            ("active", "true"),
            ("materialId", "m"),
            ("estimatedConsumption", "20,5"),
            ("estimatedSeconds", "76.92"),
            ("collections", "home, , garden"),
            ("dimensions.x", "80"),
            ("dimensions.y", "80"),
            ("dimensions.z", "wide"),
            ("materials.0.materialId", "n"),
            ("materials.0.estimatedConsumption", "4"),
            ("materials.0.filament", "1"),
        ];
        let body = body(&typed, false);
        assert_eq!((&body["priceCents"], &body["currency"]), (&json!(1250), &json!("usd")));
        assert_eq!((&body["estimatedConsumption"], &body["estimatedSeconds"]), (&json!(20.5), &json!(4615)));
        assert_eq!((&body["active"], &body["public"]), (&json!(true), &json!(false)));
        assert_eq!(body["collections"], json!(["home", "garden"]));
        assert_eq!(body["dimensions"], json!({"x": 80, "y": 80, "z": "wide"}));
        assert_eq!(body["materials"], json!([{"materialId": "n", "filament": 1, "estimatedConsumption": 4}]));
        assert!(body["gcodeFileId"].is_null() && body.get("slug").is_none() && body.get("components").is_none());
    }

    #[test]
    fn a_code_is_made_of_a_name() {
        for (name, code) in [("cable clip v2", "CABLE-CLIP-V2"), (" --x ", "X"), ("Ärmel", "RMEL"), ("", "")] {
            assert_eq!(code_of(name), code, "{name}");
        }
        assert_eq!(code_of(&"ab ".repeat(90)).chars().count(), MAX_CODE_CHARS);
    }

    #[test]
    fn a_kit_says_nothing_of_what_only_parts_have() {
        let typed = [
            ("priceCents", "much"),
            ("currency", "usd"),
            ("materialId", "m"),
            ("materials", ""),
            ("components.0.skuId", "s"),
            ("components.0.quantity", "2"),
        ];
        let body = body(&typed, true);
        assert_eq!((&body["priceCents"], body["components"][0]["quantity"].as_i64()), (&json!("much"), Some(2)));
        assert!(body.get("materialId").is_none() && body.get("materials").is_none());
    }

    #[test]
    fn what_is_emptied_is_taken_away_and_what_the_api_derives_is_left_to_it() {
        let typed = [
            ("slug", ""),
            ("plate", ""),
            ("description", ""),
            ("estimatedSeconds", ""),
            ("dimensions.x", ""),
            ("materials", ""),
        ];
        let body = body(&typed, false);
        let members =
            ["description", "estimatedSeconds", "dimensions", "materials"].map(|name| body.get(name).cloned());
        assert_eq!(members, [Some(Value::Null), Some(Value::Null), Some(Value::Null), Some(json!([]))], "{body}");
        assert!(body.get("slug").is_none() && body.get("plate").is_none(), "{body}");
    }
}
