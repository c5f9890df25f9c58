//! Bins: the storage locations of materials, named as on their labels, and the contents of each.

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use url::form_urlencoded;

use super::list::{level_bar, level_state};
use super::{StockHandles, material_path, materials_by_name};
use crate::staff::shell::{StaffSection, StaffViewer};
use crate::staff::swatch::material_swatch;
use crate::staff::{STOCK_PATH, labels};
use domain::material::{Material, stock_amount};
use http::access::Caller;
use http::error::ApiError;
use http::page::OpenQuery;
use words::Language;
use words::staff::stock as texts;

/// Path of the bin list or, with a name in the query, of a bin's page.
pub(in crate::staff) const BINS_PATH: &str = "/shop/stock/bins";

/// Query parameters of the bin page.
#[derive(Request, Debug)]
pub(super) struct BinQuery {
    /// Name of the bin, as on its label; if missing, all bins are listed.
    name: Option<String>,
}

/// Returns the path of a bin's page.
pub(in crate::staff) fn bin_path(name: &str) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("name", name).finish();
    format!("{BINS_PATH}?{query}")
}

/// Returns the names of all bins that contain the given materials, without duplicates.
pub(in crate::staff) fn bins_of<'m>(materials: impl IntoIterator<Item = &'m Material>) -> Vec<&'m str> {
    let mut names: Vec<&str> = materials.into_iter().filter_map(|one| one.fields.location.as_deref()).collect();
    names.sort_by_key(|name| (name.to_lowercase(), *name));
    names.dedup();
    names
}

/// Serves the page of a bin, or the list of bins.
pub(super) async fn show(
    State(app): State<StockHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<BinQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let language = viewer.language();
    let residents = materials_by_name(&app);
    let all: Vec<&Material> = residents.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let title = query.name.clone().unwrap_or_else(|| texts::bins_title(language));
    let content = html! {
        p {
            a href=(STOCK_PATH) { (texts::all_stock(language)) }
            @if query.name.is_some() { " · " a href=(BINS_PATH) { (texts::all_bins(language)) } }
        }
        h1 { (title) }
        div id="bins" data-fresh="" {
            @match &query.name {
                Some(name) => { (inside(language, name, &all)) },
                None => { (list(language, &all)) },
            }
        }
    };
    Ok(viewer.page(StaffSection::Stock, &title, &app.board.view(), &content))
}

fn list(language: Language, all: &[&Material]) -> Markup {
    let names = bins_of(all.iter().copied());
    let count = |name: &str| all.iter().filter(|material| material.fields.location.as_deref() == Some(name)).count();
    html! {
        section class="card" aria-label=(texts::bins_title(language)) {
            @if names.is_empty() { p { (texts::no_bins(language)) " " (view_materials(language)) } }
            ul class="rows" {
                @for name in &names {
                    li {
                        a href=(bin_path(name)) { (name) }
                        span class="soft" { (texts::materials_in_bin(language, count(name))) }
                    }
                }
            }
            @if !names.is_empty() { p { a href=(labels::PATH) { (texts::bin_labels(language)) } } }
        }
    }
}

/// Renders the link to the materials, of which one is put into a bin.
fn view_materials(language: Language) -> Markup {
    html! { a href=(STOCK_PATH) { (texts::view_materials(language)) } }
}

fn inside(language: Language, name: &str, all: &[&Material]) -> Markup {
    let contents = all.iter().filter(|material| material.fields.location.as_deref() == Some(name));
    let contents: Vec<&&Material> = contents.collect();
    html! {
        section class="panel tasks" aria-labelledby="inside" {
            div class="tasks-head" { h2 id="inside" { (texts::bin_contents(language)) } }
            @if contents.is_empty() { p class="pad" { (texts::bin_empty(language)) " " (view_materials(language)) } }
            ul class="rows" { @for material in &contents { (row(language, material)) } }
        }
        p { a href=(labels::bin_label_path(name)) { (texts::print_label(language)) } }
    }
}

/// Renders a material in a bin as a row: its name, state and amounts, and the link for receiving more of it.
fn row(language: Language, material: &Material) -> Markup {
    let name = &material.fields.name;
    let amount = |amount| stock_amount(language, amount, material.fields.kind);
    let (tone, words) = level_state(language, material);
    html! {
        li class="row aside" {
            div class="thumb" { (material_swatch(&material.fields)) }
            div class="task" {
                div class="task-title" {
                    a class="ellipsis" title=(name) href=(material_path(material.id)) { (name) }
                    span class=(tone.class()) { (words) }
                }
                div class="muted small ellipsis" {
                    (texts::on_hand_and_available(language, &amount(material.quantity), &amount(material.available())))
                }
                (level_bar(material))
            }
            div class="acts" {
                a class="btn" href={ (material_path(material.id)) "#receive" }
                    aria-label=(texts::receive_material(language, name)) { (texts::receive(language)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_bin_holds_any_name() {
        assert_eq!(bin_path("Shelf A3/4 & more"), "/shop/stock/bins?name=Shelf+A3%2F4+%26+more");
    }
}
