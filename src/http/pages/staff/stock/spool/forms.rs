//! Forms on the page of a spool: loading, weighing, unloading and retiring.

use maud::{Markup, html};

use super::{PrinterSlot, SpoolFacts, all_slots, spool_path};
use crate::form::Form;
use crate::staff::filled_form::field;
use crate::staff::sheet::FormSheet;
use crate::staff::shell::{hidden, hidden_once};
use crate::staff::stock::{StockHandles, materials_by_name};
use domain::amount::Amount;
use domain::material::Material;
use domain::notation::field_decimal;
use words::Language;
use words::staff::spools as texts;

/// Returns the path to which the spool's form for the action `act` is posted.
fn act_path(facts: &SpoolFacts, act: &str) -> String {
    let path = spool_path(facts.number, facts.material_id());
    match path.split_once('?') {
        Some((path, query)) => format!("{path}/{act}?{query}"),
        None => format!("{path}/{act}"),
    }
}

/// Returns the slots into which the spool could be loaded, starting with empty slots and those of idle printers.
fn slots_to_choose(app: &StockHandles, facts: &SpoolFacts) -> Vec<PrinterSlot> {
    let mut all = all_slots(app);
    all.retain(|place| place.slot.spool != Some(facts.number));
    all.sort_by_cached_key(|place| {
        (place.slot.material_id.is_some(), place.busy, place.printer_name.to_lowercase(), place.slot.slot)
    });
    all
}

/// Renders the form that loads the spool, or moves it to another slot.
pub(super) fn load(language: Language, app: &StockHandles, facts: &SpoolFacts, tried: &Form) -> Markup {
    let slots = slots_to_choose(app, facts);
    let residents = materials_by_name(app);
    let materials = || residents.iter().filter_map(|versioned| versioned.state.as_ref());
    let choice_of = |place: &PrinterSlot| {
        let material = materials().find(|one| Some(one.id) == place.slot.material_id);
        place_choice(language, place, material)
    };
    let left = facts.left.map(|left| field_decimal(language, left)).unwrap_or_default();
    let sheet = FormSheet::new("load", tried);
    let chosen = sheet.value_of("place", "");
    html! {
        section class="card" id="load" aria-labelledby="load-title" {
            h2 id="load-title" {
                @if facts.places.is_empty() { (texts::load_heading(language)) } @else { (texts::move_heading(language)) }
            }
            (sheet.faults())
            @if slots.is_empty() { p { (texts::no_other_slots(language)) } } @else {
                form class="tools" method="post" action=(act_path(facts, "load")) {
                    (hidden())
                    @if let Some(id) = facts.material_id() {
                        input type="hidden" name="materialId" value=(id);
                    } @else {
                        (field("load-material", &texts::material(language), &html! {
                            select id="load-material" name="materialId" required {
                                option value="" { (texts::choose_material(language)) }
                                @for one in materials() { option value=(one.id) { (one.fields.name) } }
                            }
                        }))
                    }
                    (field("load-place", &texts::place_field(language), &html! {
                        select id="load-place" name="place" {
                            @for place in &slots {
                                @let value = format!("{}/{}", place.printer, place.slot.slot);
                                option value=(value) selected[value == chosen] { (choice_of(place)) }
                            }
                        }
                    }))
                    (field("load-left", &texts::remaining_field(language, facts.unit(language)), &html! {
                        input id="load-left" name="remaining" inputmode="decimal" autocomplete="off" maxlength="20"
                            value=(sheet.value_of("remaining", &left));
                    }))
                    button type="submit" { (texts::load(language)) }
                }
            }
        }
    }
}

/// Describes a slot in the list of those into which the spool can be loaded, with the material in it.
fn place_choice(language: Language, place: &PrinterSlot, material: Option<&Material>) -> String {
    let content = material.map_or_else(|| texts::empty(language), |one| one.fields.name.clone());
    let words = place.words(language);
    if place.busy {
        texts::busy_place_choice(language, &words, &content)
    } else {
        texts::place_choice(language, &words, &content)
    }
}

/// Renders the form for the remaining amount by weight.
pub(super) fn weigh(language: Language, facts: &SpoolFacts, tried: &Form) -> Markup {
    let sheet = FormSheet::new("weigh", tried);
    let amount = |name: &str, label: &str| {
        let id = format!("weigh-{name}");
        let value = sheet.value_of(name, "");
        let input =
            html! { input id=(id) name=(name) inputmode="decimal" autocomplete="off" maxlength="20" value=(value); };
        field(&id, label, &input)
    };
    html! {
        section class="card" aria-labelledby="weigh" {
            h2 id="weigh" { (texts::weigh(language)) }
            (sheet.faults())
            @if facts.is_weighed() { p { (texts::weighed_by_printer(language)) } } @else {
                form class="tools" method="post" action=(act_path(facts, "weigh")) {
                    (hidden())
                    (amount("gross", &texts::scale_field(language)))
                    (amount("empty", &texts::empty_weight_field(language)))
                    (amount("remaining", &texts::or_remaining_field(language)))
                    button class="second" type="submit" { (texts::save_weight(language)) }
                }
            }
        }
    }
}

/// Renders the forms that unload or retire the spool.
pub(super) fn leave(language: Language, facts: &SpoolFacts, tried: &Form) -> Markup {
    let left = facts.left.filter(|left| *left > Amount::ZERO && facts.material.is_some());
    let left = left.map(|left| facts.amount(language, left));
    html! {
        section class="card" aria-labelledby="leave" {
            h2 id="leave" { (texts::unload_heading(language)) }
            (FormSheet::new("unload", tried).faults()) (FormSheet::new("retire", tried).faults())
            form method="post" action=(act_path(facts, "unload")) {
                (hidden())
                button class="second" type="submit" { (texts::mark_unloaded(language)) }
            }
            @if let Some(left) = &left { p class="soft" { (texts::write_on_spool(language, left)) } }
            details open[tried.is_refusal_of("retire")] {
                summary { (texts::retire_number(language, &facts.number.to_string())) }
                p { (texts::retire_note(language)) }
                form class="tools" method="post" action=(act_path(facts, "retire")) {
                    (hidden_once())
                    @if let Some(left) = &left {
                        (field("retire-left", &texts::write_off_field(language, left), &html! {
                            input id="retire-left" name="writeOff" type="checkbox" value="true";
                        }))
                    }
                    button class="second" type="submit" { (texts::retire(language)) }
                }
            }
        }
    }
}
