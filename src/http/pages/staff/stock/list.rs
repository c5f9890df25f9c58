//! List of materials: first those that need to be reordered, then all materials with their stock levels.

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::material::receive_order;
use super::{BINS_PATH, NEW_PATH, SLOTS_PATH, StockHandles, bin_path, material_path, materials_by_name};
use crate::design::{Icon, empty_place};
use crate::frame::{SLOT, with_parts};
use crate::staff::filled_form::{address, ways};
use crate::staff::scan::scan_button;
use crate::staff::sheet::{ListFilter, list_filters};
use crate::staff::shell::{StaffSection, StaffViewer, Tone};
use crate::staff::swatch::material_swatch;
use crate::staff::{STOCK_PATH, labels};
use domain::amount::Amount;
use domain::material::{ColumnUnit, Material, MaterialFields, MaterialType, exact_stock_amount, stock_amount};
use http::access::Caller;
use http::error::ApiError;
use http::page::{OpenQuery, cut};
use store::queries::Page;
use words::Language;
use words::staff::stock as texts;

/// Number of materials per page.
const ROWS_PER_PAGE: u64 = 100;
/// Maximum number of materials that are listed as needing to be reordered; any others appear only in the full list.
const MAX_TO_ORDER: usize = 100;

/// Query parameters of the list of materials.
#[derive(Request, Debug)]
pub(super) struct StockListQuery {
    /// Part of the name, brand, variant or location.
    q: Option<String>,
    /// Any value selects only materials that are running low.
    low: Option<String>,
    /// Number of materials to skip.
    #[api(default = 0)]
    from: u32,
}

impl StockListQuery {
    fn takes(&self, material: &Material) -> bool {
        let search_text = self.q.as_deref().unwrap_or_default().trim();
        is_material_named(material, search_text) && (self.low.is_none() || material.runs_low())
    }
}

/// Returns whether a material's name, brand, variant or location contains the text, ignoring case.
pub(in crate::staff) fn is_material_named(material: &Material, text: &str) -> bool {
    let (fields, text) = (&material.fields, text.to_lowercase());
    let names = [Some(&fields.name), fields.brand.as_ref(), fields.variant.as_ref(), fields.location.as_ref()];
    names.into_iter().flatten().any(|name| name.to_lowercase().contains(&text))
}

/// Returns the tone and label for a material's stock level.
pub(in crate::staff) fn level_state(language: Language, material: &Material) -> (Tone, String) {
    if material.available() == Amount::ZERO {
        (Tone::Error, texts::none_available(language))
    } else if material.runs_low() {
        (Tone::Attention, texts::low(language))
    } else {
        (Tone::Working, texts::enough(language))
    }
}

/// Renders a bar that shows reserved and available stock in relation to the reorder point. The numbers are shown next
/// to it.
pub(super) fn level_bar(material: &Material) -> Markup {
    let fields = &material.fields;
    let usual = fields.reorder_point + fields.reorder_quantity;
    let full = material.quantity.max(usual).max(Amount::units(1));
    let share = |amount: Amount| format!("{:.1}", amount.max(Amount::ZERO).0 as f64 / full.0 as f64 * 100.0);
    let reserved = material.reserved.min(material.quantity);
    let color = if material.runs_low() { "low" } else { "free" };
    html! {
        svg class="level" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" {
            rect class="trough" x="0" y="2" width="100" height="6" {}
            rect class="held" x="0" y="2" width=(share(reserved)) height="6" {}
            rect class=(color) x=(share(reserved)) y="2" width=(share(material.available())) height="6" {}
            @if fields.reorder_point > Amount::ZERO {
                rect class="point" x=(share(fields.reorder_point)) y="0" width="0.8" height="10" {}
            }
        }
    }
}

/// Serves the list of materials.
pub(super) async fn show(
    State(app): State<StockHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<StockListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let (language, title) = (viewer.language(), texts::title(viewer.language()));
    let residents = materials_by_name(&app);
    let all: Vec<&Material> = residents.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let low: Vec<&Material> = all.iter().copied().filter(|material| material.runs_low()).collect();
    let matching: Vec<&Material> = all.iter().copied().filter(|material| query.takes(material)).collect();
    let from = u64::from(query.from);
    let (some, total) = cut(Page { limit: ROWS_PER_PAGE, offset: from }, matching);
    let part = |from: u64| {
        let (q, low) = (query.q.as_deref().unwrap_or_default(), query.low.as_deref().unwrap_or_default());
        address(STOCK_PATH, &[("q", q), ("low", low), ("from", &from.to_string())])
    };
    let content = html! {
        div class="head" {
            h1 { (title) }
            span class="push" {}
            (scan_button(language))
            a class="btn" href=(SLOTS_PATH) { (texts::slots_link(language)) }
            a class="btn" href=(BINS_PATH) { (texts::bins_link(language)) }
            a class="btn" href=(labels::PATH) { (texts::labels_link(language)) }
            a class="btn primary" href=(NEW_PATH) { (texts::add_material(language)) }
        }
        @if all.is_empty() {
            @let text = [texts::no_materials(language), texts::no_materials_advice(language)].join(" ");
            @let begin = html! { a class="btn" href=(NEW_PATH) { (texts::add_material(language)) } };
            (empty_place(Icon::Database, &text, &begin))
        } @else {
            (levels(language, &query, all.len(), low.len()))
            (tools(language, &query))
            div id="stock" data-fresh="" {
                (to_order(language, &low))
                @if some.is_empty() {
                    p { (texts::none_match(language)) " " a href=(STOCK_PATH) { (texts::show_all(language)) } }
                } @else { (table(language, &some)) }
                (ways(language, from, total, ROWS_PER_PAGE, part))
            }
        }
    };
    Ok(viewer.page(StaffSection::Stock, &title, &app.board.view(), &content))
}

/// Renders the links that filter the list by stock level.
fn levels(language: Language, query: &StockListQuery, all: usize, low: usize) -> Markup {
    let q = query.q.as_deref().unwrap_or_default();
    let (all_label, low_label) = (texts::level_all(language), texts::level_low(language));
    let filter = |label, count, level: &str, is_current| {
        let path = address(STOCK_PATH, &[("q", q), ("low", level)]);
        ListFilter { label, path, count: Some(count), is_current }
    };
    list_filters(
        &texts::level_filter(language),
        &[filter(&*all_label, all, "", query.low.is_none()), filter(&*low_label, low, "true", query.low.is_some())],
    )
}

fn tools(language: Language, query: &StockListQuery) -> Markup {
    html! {
        form class="tools" method="get" action=(STOCK_PATH) role="search" {
            div class="field" {
                label for="q" { (texts::search_field(language)) }
                input id="q" name="q" type="search" maxlength="200" value=[query.q.as_deref()];
            }
            @if query.low.is_some() { input type="hidden" name="low" value="true"; }
            button class="second" type="submit" { (texts::search(language)) }
        }
    }
}

fn to_order(language: Language, low: &[&Material]) -> Markup {
    html! {
        @if !low.is_empty() {
            section class="card tone-attention" aria-labelledby="to-order" {
                h2 id="to-order" { (texts::to_order_heading(language, low.len())) }
                ul class="rows to-order" {
                    @for material in low.iter().take(MAX_TO_ORDER) {
                        @let amount = |amount| stock_amount(language, amount, material.fields.kind);
                        li {
                            span { (material_swatch(&material.fields)) " " a href=(material_path(material.id)) { (material.fields.name) } }
                            span {
                                (texts::available_with_level(
                                    language,
                                    &amount(material.available()),
                                    &reorder_words(language, &material.fields, &amount(material.fields.reorder_point)),
                                ))
                            }
                            span {
                                (with_parts(
                                    &texts::order_amount(language, SLOT),
                                    &[&html! { strong { (exact_stock_amount(language, material.to_order(), material.fields.kind)) } }],
                                ))
                            }
                            (receive_order(language, material, Some(STOCK_PATH)))
                            @let waiting = material.waiting().count();
                            @if waiting > 0 { span class="full soft" { (texts::jobs_waiting(language, waiting)) } }
                        }
                    }
                }
            }
        }
    }
}

/// Units of the columns of the list.
struct ListUnits {
    on_hand: ColumnUnit,
    reserved: ColumnUnit,
    available: ColumnUnit,
    reorder_point: ColumnUnit,
}

impl ListUnits {
    /// Chooses the units for the listed materials.
    fn of(materials: &[&Material]) -> Self {
        let of = |amount: fn(&Material) -> Amount| {
            ColumnUnit::of(materials.iter().map(|material| (amount(material), material.fields.kind)))
        };
        Self {
            on_hand: of(|material| material.quantity),
            reserved: of(|material| material.reserved),
            available: of(Material::available),
            reorder_point: of(|material| material.fields.reorder_point),
        }
    }
}

fn table(language: Language, materials: &[&Material]) -> Markup {
    let units = ListUnits::of(materials);
    html! {
        p class="soft levels-note" { (texts::levels_note(language)) }
        div class="table list materials" tabindex="0" role="region" aria-label=(texts::materials_table(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (texts::material_column(language)) }
                        th scope="col" class="desk" { (texts::level_column(language)) }
                        th scope="col" { (texts::status_column(language)) }
                        th scope="col" class="number desk" { (texts::on_hand(language)) }
                        th scope="col" class="number desk" { (texts::reserved(language)) }
                        th scope="col" class="number" { (texts::available(language)) }
                        th scope="col" class="number desk" { (texts::reorder_at(language)) }
                        th scope="col" class="desk" { (texts::bin(language)) }
                    }
                }
                tbody { @for material in materials { (row(language, material, &units)) } }
            }
        }
    }
}

/// Describes the amount at which a material is to be reordered, within a sentence; `amount` is that amount in words.
fn reorder_words(language: Language, fields: &MaterialFields, amount: &str) -> String {
    match fields.reorder_point {
        Amount::ZERO => texts::without_reorder_level(language),
        _ => texts::reorder_level(language, amount),
    }
}

/// Renders the amount at which a material is to be reordered, which is `amount` in words.
pub(super) fn reorder_cell(language: Language, fields: &MaterialFields, amount: &str) -> Markup {
    html! {
        @if fields.reorder_point == Amount::ZERO {
            span class="soft" { (texts::no_reorder_level(language)) }
        } @else {
            (amount)
        }
    }
}

/// Writes a material's amounts and its bin on one line, in place of the columns that a phone has no room for.
fn phone_line(language: Language, material: &Material, units: &ListUnits) -> String {
    let fields = &material.fields;
    let on_hand = units.on_hand.amount(language, material.quantity, fields.kind);
    let reserved = units.reserved.amount(language, material.reserved, fields.kind);
    let point = units.reorder_point.amount(language, fields.reorder_point, fields.kind);
    let level = reorder_words(language, fields, &point);
    match &fields.location {
        Some(bin) => texts::levels_line_in_bin(language, &on_hand, &reserved, &level, bin),
        None => texts::levels_line(language, &on_hand, &reserved, &level),
    }
}

/// Amount in a row of the list.
struct AmountCell {
    words: String,
    /// The amount with all of its decimals, if `words` are rounded.
    exact: Option<String>,
}

impl AmountCell {
    fn new(language: Language, unit: ColumnUnit, amount: Amount, kind: MaterialType) -> Self {
        let (words, exact) = (unit.amount(language, amount, kind), exact_stock_amount(language, amount, kind));
        Self { exact: (words != exact && amount != Amount::ZERO).then_some(exact), words }
    }
}

fn row(language: Language, material: &Material, units: &ListUnits) -> Markup {
    let fields = &material.fields;
    let cell = |unit: ColumnUnit, amount: Amount| AmountCell::new(language, unit, amount, fields.kind);
    let (on_hand, reserved) = (cell(units.on_hand, material.quantity), cell(units.reserved, material.reserved));
    let available = cell(units.available, material.available());
    let reorder_point = cell(units.reorder_point, fields.reorder_point);
    let (tone, words) = level_state(language, material);
    let more: Vec<&str> = [&fields.brand, &fields.variant].into_iter().filter_map(|text| text.as_deref()).collect();
    html! {
        tr {
            th scope="row" {
                (material_swatch(fields)) " "
                a class="ellipsis" title=(fields.name) href=(material_path(material.id)) { (fields.name) }
                @if !more.is_empty() { " " span class="soft" { (more.join(", ")) } }
                span class="phone below soft" { (phone_line(language, material, units)) }
            }
            td class="levels desk" { (level_bar(material)) }
            td { span class=(tone.class()) { (words) } }
            td class="number desk" title=[on_hand.exact] { (on_hand.words) }
            td class="number desk" title=[reserved.exact] { (reserved.words) }
            td class="number" data-label=(texts::available(language)) title=[available.exact] { (available.words) }
            td class="number desk" title=[reorder_point.exact] { (reorder_cell(language, fields, &reorder_point.words)) }
            td class="desk" { @if let Some(place) = &fields.location { a href=(bin_path(place)) { (place) } } }
        }
    }
}
