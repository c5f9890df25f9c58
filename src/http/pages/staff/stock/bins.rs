//! Bins: the storage locations of materials, named as on their labels, and the contents of each.

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use url::form_urlencoded;

use super::list::{level_bar, level_state};
use super::{StockHandles, material_path, materials_by_name, swatch};
use crate::staff::shell::{StaffSection, StaffViewer};
use crate::staff::{STOCK_PATH, labels};
use domain::material::Material;
use http::access::Caller;
use http::error::ApiError;
use http::page::OpenQuery;

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
    let residents = materials_by_name(&app);
    let all: Vec<&Material> = residents.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let title = query.name.as_deref().unwrap_or("Bins");
    let content = html! {
        p { a href=(STOCK_PATH) { "All stock" } @if query.name.is_some() { " · " a href=(BINS_PATH) { "All bins" } } }
        h1 { (title) }
        div id="bins" data-fresh="" {
            @match &query.name {
                Some(name) => { (inside(name, &all)) },
                None => { (list(&all)) },
            }
        }
    };
    Ok(viewer.page(StaffSection::Stock, title, &app.board.view(), &content))
}

fn list(all: &[&Material]) -> Markup {
    let names = bins_of(all.iter().copied());
    let count = |name: &str| all.iter().filter(|material| material.fields.location.as_deref() == Some(name)).count();
    html! {
        section class="card" aria-label="Bins" {
            @if names.is_empty() {
                p { "No bins yet. To create a bin, edit a material and enter a bin such as “Shelf A3”." }
            }
            ul class="rows" {
                @for name in &names {
                    @let total = count(name);
                    li { a href=(bin_path(name)) { (name) } span class="soft" { (total) @if total == 1 { " material" } @else { " materials" } } }
                }
            }
            @if !names.is_empty() { p { a href=(labels::PATH) { "Bin labels" } } }
        }
    }
}

fn inside(name: &str, all: &[&Material]) -> Markup {
    let contents = all.iter().filter(|material| material.fields.location.as_deref() == Some(name));
    let contents: Vec<&&Material> = contents.collect();
    html! {
        section class="card" aria-labelledby="inside" {
            h2 id="inside" { "Contents" }
            @if contents.is_empty() { p { "This bin is empty. To move a material here, edit the material and change its bin." } }
            ul class="rows" {
                @for material in &contents {
                    @let unit = material.fields.kind.unit();
                    @let (tone, words) = level_state(material);
                    li {
                        span { (swatch(material.fields.color.as_deref())) a href=(material_path(material.id)) { (material.fields.name) } }
                        span { (material.quantity) " " (unit) " on hand, " (material.available()) " " (unit) " available" }
                        span class=(tone.class()) { (words) }
                        span class="full" { (level_bar(material)) }
                        span class="full" {
                            a class="button second" href={ (material_path(material.id)) "#receive" } { "Receive " (material.fields.name) }
                        }
                    }
                }
            }
            p { a href=(labels::bin_label_path(name)) { "Print label" } }
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
