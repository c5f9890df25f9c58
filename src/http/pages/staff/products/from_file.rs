//! Form on a G-code file's page for creating a SKU from the file: name, price and material, filled in from the file's
//! metadata. All other values have their defaults and can be changed on the SKU's page. A second button also places an
//! order for one part.

use maud::{Markup, html};

use super::ProductHandles;
use super::file::weight_words;
use super::machines::machine_choices;
use super::sku_form::{MAX_CODE_CHARS, material_choices, new_entry};
use crate::form::{FieldControl, Form};
use crate::staff::sheet::span;
use crate::staff::shell::hidden_once;
use crate::staff::{PRODUCTS_PATH, STOCK_PATH};
use domain::file::{File, FileMetadata};
use domain::id::Id;
use domain::material::MaterialFields;
use domain::notation;
use domain::pricing::{Price, PriceRates, PrintWork};
use domain::printer::suggest_material;
use http::wire::TICKED_WORD;
use words::Language;
use words::staff::products as texts;

/// HTML ID of the section with the form.
pub(super) const SELL_ID: &str = "sell";
/// Name of the button that also orders one part of the new SKU.
pub(super) const ORDER_FIELD: &str = "order";
/// Name of the field for the customer of that order.
pub(super) const CUSTOMER_FIELD: &str = "customerEmail";
/// Fields that the form sends but does not show.
const HIDDEN_FIELDS: [&str; 3] = ["gcodeFileId", "currency", "active"];

/// Suggestions for a SKU printed from a file; `None` if the file does not contain enough information.
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
pub(super) fn section(language: Language, app: &ProductHandles, file: &File, is_sold: bool) -> Markup {
    let form = new_entry(language, &app.config.orders.currency, Some(file), FileSuggestions::new(app, file));
    // The weight that the file states is the consumption.
    let is_weighed = file.metadata.grams.is_some();
    let materials = material_choices(language, app, |kind| !is_weighed || kind.unit() == "g");
    html! {
        section class="card" aria-labelledby=(SELL_ID) {
            h2 id=(SELL_ID) { (texts::create_sku(language)) }
            // The first choice is none.
            @if materials.len() < 2 {
                p { (texts::needs_material(language)) }
                a class="button second" href=(STOCK_PATH) { (texts::add_material(language)) }
            } @else {
                @if let Some(words) = facts(language, &file.metadata) { p { (words) } }
                @if is_sold {
                    details {
                        summary { (texts::create_another(language)) }
                        (fields(language, &form, file, &materials))
                    }
                } @else {
                    (fields(language, &form, file, &materials))
                }
            }
        }
    }
}

fn fields(language: Language, form: &Form, file: &File, materials: &[(String, String)]) -> Markup {
    let weight_is_stated = file.metadata.grams.is_some();
    let plates_are_few = file.metadata.plates.len() < 2;
    let (email, email_hint) = (texts::email_field(language), texts::email_hint(language));
    html! {
        form method="post" action={ (PRODUCTS_PATH) "/new" } data-begins="priceCents" {
            (hidden_once())
            @for name in HIDDEN_FIELDS { input type="hidden" name=(name) value=(form.text(name)); }
            @if weight_is_stated { input type="hidden" name="estimatedConsumption" value=(form.text("estimatedConsumption")); }
            @if plates_are_few { input type="hidden" name="plate" value=(form.text("plate")); }
            (sku_fields(language, form, file, materials))
            (form.field("public", &texts::public_field(language), "", FieldControl::Tick))
            div class="grid" { (form.field(CUSTOMER_FIELD, &email, &email_hint, FieldControl::Email)) }
            div class="acts" {
                button type="submit" { (texts::create_sku(language)) }
                button class="second" type="submit" name=(ORDER_FIELD) value=(TICKED_WORD) { (texts::create_and_order(language)) }
            }
        }
    }
}

/// Renders the fields of the SKU that depend on the file.
fn sku_fields(language: Language, form: &Form, file: &File, materials: &[(String, String)]) -> Markup {
    let plates = file.metadata.plates.iter().map(|plate| plate.plate.to_string());
    let plates: Vec<(String, String)> = plates.map(|plate| (plate.clone(), plate)).collect();
    let field =
        |name: &str, label: String, hint: &str, control: FieldControl<'_>| form.field(name, &label, hint, control);
    let price = texts::price_field(language, &form.text("currency").to_uppercase());
    let price_hint = if form.text("priceCents").is_empty() {
        texts::net_price_hint(language)
    } else {
        texts::suggested_price_hint(language)
    };
    let consumption_hint = texts::stated_consumption_hint(language);
    html! {
        div class="grid" {
            (field("name", texts::name_field(language), &texts::name_hint(language), FieldControl::Line(200)))
            (field("priceCents", price, &price_hint, FieldControl::Decimal))
            (field("materialId", texts::material_field(language), "", FieldControl::Choice(materials)))
            @if file.metadata.grams.is_none() {
                (field("estimatedConsumption", texts::stated_consumption_field(language), &consumption_hint, FieldControl::Decimal))
            }
            @if plates.len() > 1 { (field("plate", texts::plate_field(language), "", FieldControl::Choice(&plates))) }
            (field("unitsPerPlate", texts::parts_per_plate(language), "", FieldControl::Whole(1, 10_000)))
            (field("machineType", texts::machine(language), "", FieldControl::Choice(&machine_choices(language))))
            (field("code", texts::code_column(language), &texts::code_hint(language), FieldControl::Line(MAX_CODE_CHARS)))
        }
    }
}

/// Returns a summary of the metadata that the form depends on, if any.
fn facts(language: Language, metadata: &FileMetadata) -> Option<String> {
    let FileMetadata { seconds, grams, .. } = metadata;
    let filaments = metadata.plates.first().map(|plate| plate.filaments.as_slice()).unwrap_or_default();
    let kinds: Vec<&str> = filaments.iter().filter_map(|filament| filament.kind.as_deref()).collect();
    let kinds = (!kinds.is_empty()).then(|| notation::list(language, &kinds));
    let grams = grams.map(|grams| weight_words(language, grams));
    let parts = [kinds, grams, seconds.map(|seconds| span(language, seconds))];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| texts::facts(language, &parts.join(", ")))
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
        let english = facts(Language::English, &metadata());
        assert_eq!(english.as_deref(), Some("Filled in from the file: PLA, 20 g, 1 h 00 min."));
        let german = facts(Language::German, &metadata());
        assert_eq!(german.as_deref(), Some("Aus der Datei übernommen: PLA, 20 g, 1\u{a0}Std. 00\u{a0}Min."));
        assert_eq!(facts(Language::English, &FileMetadata::default()), None);
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
