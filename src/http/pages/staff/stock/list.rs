//! List of materials: first those that need to be reordered, then all materials with their stock levels.

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::material::receive_order;
use super::{BINS_PATH, NEW_PATH, SLOTS_PATH, StockHandles, bin_path, material_path, materials_by_name, swatch};
use crate::staff::filled_form::{address, ways};
use crate::staff::sheet::{ListFilter, list_filters};
use crate::staff::shell::{StaffSection, StaffViewer, Tone};
use crate::staff::{STOCK_PATH, labels};
use domain::amount::Amount;
use domain::material::Material;
use http::access::Caller;
use http::error::ApiError;
use http::page::{OpenQuery, cut};
use store::queries::Page;

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
        let search_text = self.q.as_deref().unwrap_or_default().trim().to_lowercase();
        let fields = &material.fields;
        let texts = [Some(&fields.name), fields.brand.as_ref(), fields.variant.as_ref(), fields.location.as_ref()];
        let named = texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&search_text));
        named && (self.low.is_none() || material.runs_low())
    }
}

/// Returns the tone and label for a material's stock level.
pub(super) fn level_state(material: &Material) -> (Tone, &'static str) {
    if material.available() == Amount::ZERO {
        (Tone::Error, "None available")
    } else if material.runs_low() {
        (Tone::Attention, "Low")
    } else {
        (Tone::Working, "Enough")
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
            h1 { "Stock" }
            span class="push" {}
            a class="btn" href=(SLOTS_PATH) { "Slots" }
            a class="btn" href=(BINS_PATH) { "Bins" }
            a class="btn" href=(labels::PATH) { "Labels" }
            a class="btn primary" href=(NEW_PATH) { "Add material" }
        }
        @if all.is_empty() {
            section class="card" {
                p { "No materials yet." }
                p { "Add the filament, resin or sheets you have. Jobs reserve the amounts they need, and materials that run low are listed here." }
            }
        } @else {
            (levels(&query, all.len(), low.len()))
            (tools(&query))
            div id="stock" data-fresh="" {
                (to_order(&low))
                @if some.is_empty() { p { "No materials match." } } @else { (table(&some)) }
                (ways(from, total, ROWS_PER_PAGE, part))
            }
        }
    };
    Ok(viewer.page(StaffSection::Stock, "Stock", &app.board.view(), &content))
}

/// Renders the links that filter the list by stock level.
fn levels(query: &StockListQuery, all: usize, low: usize) -> Markup {
    let q = query.q.as_deref().unwrap_or_default();
    let filter = |label, count, level: &str, is_current| {
        let path = address(STOCK_PATH, &[("q", q), ("low", level)]);
        ListFilter { label, path, count: Some(count), is_current }
    };
    list_filters(
        "Stock level",
        &[filter("All", all, "", query.low.is_none()), filter("Low", low, "true", query.low.is_some())],
    )
}

fn tools(query: &StockListQuery) -> Markup {
    html! {
        form class="tools" method="get" action=(STOCK_PATH) role="search" {
            div class="field" {
                label for="q" { "Name, brand or bin" }
                input id="q" name="q" type="search" maxlength="200" value=[query.q.as_deref()];
            }
            @if query.low.is_some() { input type="hidden" name="low" value="true"; }
            button class="second" type="submit" { "Search" }
        }
    }
}

fn to_order(low: &[&Material]) -> Markup {
    html! {
        @if !low.is_empty() {
            section class="card tone-attention" aria-labelledby="to-order" {
                h2 id="to-order" { "To order (" (low.len()) ")" }
                ul class="rows" {
                    @for material in low.iter().take(MAX_TO_ORDER) {
                        @let unit = material.fields.kind.unit();
                        li {
                            span { (swatch(material.fields.color.as_deref())) a href=(material_path(material.id)) { (material.fields.name) } }
                            span { (material.available()) " " (unit) " available, reorder at " (material.fields.reorder_point) " " (unit) }
                            span { "order " strong { (material.to_order()) " " (unit) } }
                            (receive_order(material, Some(STOCK_PATH)))
                            @let waiting = material.waiting().count();
                            @if waiting > 0 {
                                span class="full soft" { (waiting) @if waiting == 1 { " job is waiting" } @else { " jobs are waiting" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn table(materials: &[&Material]) -> Markup {
    html! {
        p class="soft" { "Bars show reserved stock, then available stock. The vertical line is the reorder point." }
        div class="table list materials" tabindex="0" role="region" aria-label="Materials" {
            table {
                thead {
                    tr {
                        th scope="col" { "Material" } th scope="col" class="desk" { "Level" } th scope="col" { "Status" }
                        th scope="col" class="number desk" { "On hand" } th scope="col" class="number desk" { "Reserved" }
                        th scope="col" class="number" { "Available" } th scope="col" class="number desk" { "Reorder at" }
                        th scope="col" class="desk" { "Bin" }
                    }
                }
                tbody { @for material in materials { (row(material)) } }
            }
        }
    }
}

fn row(material: &Material) -> Markup {
    let (fields, unit) = (&material.fields, material.fields.kind.unit());
    let (tone, words) = level_state(material);
    let more: Vec<&str> = [&fields.brand, &fields.variant].into_iter().filter_map(|text| text.as_deref()).collect();
    html! {
        tr {
            th scope="row" {
                (swatch(fields.color.as_deref()))
                a class="ellipsis" title=(fields.name) href=(material_path(material.id)) { (fields.name) }
                @if !more.is_empty() { " " span class="soft" { (more.join(", ")) } }
                // On a phone this stands in place of the columns that it has no room for.
                span class="phone below soft" {
                    (material.quantity) " " (unit) " on hand, " (material.reserved) " reserved, reorder at " (fields.reorder_point)
                    @if let Some(place) = &fields.location { ", in " (place) }
                }
            }
            td class="levels desk" { (level_bar(material)) }
            td { span class=(tone.class()) { (words) } }
            td class="number desk" { (material.quantity) " " (unit) }
            td class="number desk" { (material.reserved) " " (unit) }
            td class="number" data-label="Available" { (material.available()) " " (unit) }
            td class="number desk" { (fields.reorder_point) " " (unit) }
            td class="desk" { @if let Some(place) = &fields.location { a href=(bin_path(place)) { (place) } } }
        }
    }
}
