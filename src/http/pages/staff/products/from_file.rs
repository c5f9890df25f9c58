//! Form on a G-code file's page for creating a SKU from the file: name, price and material, filled in from the file's
//! metadata. All other values have their defaults and can be changed on the SKU's page. A second button also places an
//! order for one part.

use maud::{Markup, html};

use super::ProductHandles;
use super::sku_form::{MAX_CODE_CHARS, machine_choices, material_choices, new_entry};
use crate::staff::acts::TICKED_WORD;
use crate::staff::form::{FieldControl, Form};
use crate::staff::sheet::span;
use crate::staff::shell::hidden;
use crate::staff::{PRODUCTS_PATH, STOCK_PATH};
use domain::file::{File, FileMetadata};
use domain::id::Id;
use domain::material::MaterialFields;
use domain::pricing::{Price, PriceRates, PrintWork};
use domain::printer::suggest_material;

/// Name of the button that also orders one part of the new SKU.
pub(super) const ORDER_FIELD: &str = "order";
/// Name of the field for the customer of that order.
pub(super) const CUSTOMER_FIELD: &str = "customerEmail";
/// Fields that the form sends but does not show.
const HIDDEN_FIELDS: [&str; 3] = ["gcodeFileId", "currency", "active"];

/// Suggestions for a SKU that is printed from a file; `None` if the file does not contain enough information.
#[derive(Clone, Copy, Default)]
pub(super) struct FileSuggestions {
    /// Material in stock for which the file was sliced.
    pub(super) material: Option<Id>,
    /// Price per part at the shop's rates, in minor units.
    pub(super) price_cents: Option<i64>,
}

impl FileSuggestions {
    /// Derives the suggestions from the metadata that a slicer wrote to the file, the materials in stock and the shop's
    /// rates.
    pub(super) fn new(app: &ProductHandles, file: &File) -> Self {
        let all = app.skus.materials.all_resident();
        let materials = || all.iter().filter_map(|(_, versioned)| versioned.present());
        let material = match file.metadata.plates.first().map(|plate| plate.filaments.as_slice()) {
            Some([filament]) => suggest_material(filament, materials()),
            _ => None,
        };
        let fields = material.and_then(|id| materials().find(|one| one.id == id)).map(|one| &one.fields);
        let rates = &app.board.shop.environment.rules.pricing.rates;
        Self { material, price_cents: price_of(rates, fields, &file.metadata) }
    }
}

/// Returns the price per print of a file at the shop's rates; `None` if the file does not specify a weight or a time,
/// or if the shop has no rates.
fn price_of(rates: &PriceRates, material: Option<&MaterialFields>, metadata: &FileMetadata) -> Option<i64> {
    // The cost per gram, in thousandths, is the same number as the cost per kilogram.
    let weighed = material.filter(|fields| fields.kind.unit() == "g");
    let cents_per_kg = weighed.and_then(|fields| fields.unit_cost_cents).map(|cost| cost.0);
    let work = PrintWork::sliced(metadata.grams?, metadata.seconds?, 1)?;
    Some(Price::of(rates, cents_per_kg, &work)?.unit_cents).filter(|cents| *cents > 0)
}

/// Renders the form. It is collapsed if the file is already used by a SKU.
pub(super) fn section(app: &ProductHandles, file: &File, is_sold: bool) -> Markup {
    let form = new_entry(&app.config.orders.currency, Some(file), FileSuggestions::new(app, file));
    // The weight that the file states is the consumption.
    let is_weighed = file.metadata.grams.is_some();
    let materials = material_choices(app, |kind| !is_weighed || kind.unit() == "g");
    html! {
        section class="card" aria-labelledby="sell" {
            h2 id="sell" { "Create SKU" }
            // The first choice is none.
            @if materials.len() < 2 {
                p { "A SKU needs a material from stock. Add the material first, then come back." }
                a class="button second" href=(STOCK_PATH) { "Add material" }
            } @else {
                @if let Some(words) = facts(&file.metadata) { p { (words) } }
                @if is_sold {
                    details { summary { "Create another SKU" } (fields(&form, file, &materials)) }
                } @else {
                    (fields(&form, file, &materials))
                }
            }
        }
    }
}

fn fields(form: &Form, file: &File, materials: &[(String, String)]) -> Markup {
    let currency = form.text("currency").to_uppercase();
    let weight_is_stated = file.metadata.grams.is_some();
    let plates = file.metadata.plates.iter().map(|plate| plate.plate.to_string());
    let plates: Vec<(String, String)> = plates.map(|plate| (plate.clone(), plate)).collect();
    let field = |name: &str, label: &str, hint: &str, control: FieldControl<'_>| form.field(name, label, hint, control);
    let price_hint = if form.text("priceCents").is_empty() {
        "Excluding tax."
    } else {
        "Excluding tax. Suggested price for one print, based on your rates."
    };
    html! {
        form method="post" action={ (PRODUCTS_PATH) "/new" } {
            (hidden())
            @for name in HIDDEN_FIELDS { input type="hidden" name=(name) value=(form.text(name)); }
            @if weight_is_stated { input type="hidden" name="estimatedConsumption" value=(form.text("estimatedConsumption")); }
            @if plates.len() < 2 { input type="hidden" name="plate" value=(form.text("plate")); }
            div class="grid" {
                (field("name", "Name", "Shown to customers.", FieldControl::Line(200)))
                (field("priceCents", &format!("Price ({currency})"), price_hint, FieldControl::Decimal))
                (field("materialId", "Material", "", FieldControl::Choice(materials)))
                @if !weight_is_stated {
                    (field("estimatedConsumption", "Material per plate", "Not included in the file.", FieldControl::Decimal))
                }
                @if plates.len() > 1 { (field("plate", "Plate in the file", "", FieldControl::Choice(&plates))) }
                (field("unitsPerPlate", "Parts per plate", "", FieldControl::Whole(1, 10_000)))
                (field("machineType", "Machine", "", FieldControl::Choice(&machine_choices())))
                (field("code", "Code", "Short and unique, for staff.", FieldControl::Line(MAX_CODE_CHARS)))
            }
            (field("public", "Visible to customers", "", FieldControl::Tick))
            div class="grid" {
                (field(CUSTOMER_FIELD, "Customer email", "Used if you also order one. Leave empty to send no emails.", FieldControl::Email))
            }
            div class="acts" {
                button type="submit" { "Create SKU" }
                button class="second" type="submit" name=(ORDER_FIELD) value=(TICKED_WORD) { "Create and order one" }
            }
        }
    }
}

/// Returns a summary of the metadata that the form depends on, if any.
fn facts(metadata: &FileMetadata) -> Option<String> {
    let FileMetadata { seconds, grams, .. } = metadata;
    let filaments = metadata.plates.first().map(|plate| plate.filaments.as_slice()).unwrap_or_default();
    let kinds: Vec<&str> = filaments.iter().filter_map(|filament| filament.kind.as_deref()).collect();
    let kinds = (!kinds.is_empty()).then(|| kinds.join(" and "));
    let parts = [kinds, grams.map(|grams| format!("{grams} g")), seconds.map(span)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("Filled in from the file: {}.", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::amount::Amount;
    use domain::file::{Plate, PlateFilament};

    fn metadata() -> FileMetadata {
        let filament = PlateFilament { kind: Some("PLA".to_owned()), ..PlateFilament::default() };
        let plate = Plate { plate: 1, filaments: vec![filament], ..Plate::default() };
        FileMetadata {
            grams: Some(Amount::units(20)),
            seconds: Some(3_600),
            plates: vec![plate],
            ..FileMetadata::default()
        }
    }

    #[test]
    fn the_facts_of_a_file_are_told_in_one_line() {
        assert_eq!(facts(&metadata()).as_deref(), Some("Filled in from the file: PLA, 20 g, 1 h 00 min."));
        assert_eq!(facts(&FileMetadata::default()), None);
    }

    #[test]
    fn a_price_is_suggested_by_the_rates_for_weight_and_time() {
        let rates = PriceRates { material_cents_per_kg: 2_000, wear_cents_per_hour: 100, ..PriceRates::default() };
        assert_eq!(price_of(&rates, None, &metadata()), Some(140));
        assert_eq!(price_of(&PriceRates::default(), None, &metadata()), None, "nothing is given away");
        assert_eq!(price_of(&rates, None, &FileMetadata { grams: None, ..metadata() }), None);
        assert_eq!(price_of(&rates, None, &FileMetadata { seconds: None, ..metadata() }), None);
    }
}
