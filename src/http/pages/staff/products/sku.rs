//! Page of a SKU or kit: price, materials, files, whether it can be ordered, and the available actions.

use std::collections::HashMap;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::{ProductHandles, file, kit, material_words, obstacles, orderable, sku_path};
use crate::frame::{money, time};
use crate::staff::acts::TICKED_WORD;
use crate::staff::form::Form;
use crate::staff::sheet::span;
use crate::staff::shell::{StaffSection, StaffViewer, act, hidden};
use crate::staff::{ORDERS_PATH, PRODUCTS_PATH};
use domain::amount::Amount;
use domain::file::File;
use domain::id::Id;
use domain::order::ProductionData;
use domain::sku::{OrderObstacle, Sku};
use http::access::Caller;
use http::command_request::{find_existing, present_state};
use http::error::ApiError;
use http::path_id::PathId;
use store::queries::{Page, SkuFilter};

/// Page limit for the list of kits that contain a SKU.
const KITS_SHOWN: Page = Page { limit: 20, offset: 0 };

/// Serves the page of a SKU.
pub(super) async fn show(
    State(app): State<ProductHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    page(&app, &who, id, Form::default()).await
}

/// Renders a SKU's page, with the rejected form, if any.
pub(super) async fn page(app: &ProductHandles, who: &Caller, id: Id, entry: Form) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.config)?;
    let (_, state) = find_existing(&app.skus.skus, id).await?;
    let sku = present_state(&state)?;
    let obstacles = obstacles(app, sku, &mut HashMap::new()).await?;
    let parts = if sku.fields.is_kit() { kit::parts(app, sku).await? } else { production_section(app, sku).await? };
    let kits = SkuFilter { names: Some(id), kit: Some(true), ..SkuFilter::default() };
    let (kits, _) = app.skus.queries.skus(&kits, KITS_SHOWN).await?;
    let kits: Vec<&Sku> = kits.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let name = &sku.fields.name;
    let content = html! {
        p { a href=(PRODUCTS_PATH) { "All products" } }
        h1 { (name) }
        (entry.alert())
        div id="sku" data-fresh="" {
            (glance(sku, &obstacles))
            (parts)
            @if !kits.is_empty() {
                section class="card" aria-labelledby="kits" {
                    h2 id="kits" { "Kits with this SKU" }
                    ul class="rows" { @for kit in kits { li { a href=(sku_path(kit.id)) { (kit.fields.name) } span { (kit.fields.code) } } } }
                }
            }
        }
        div id="sku-acts" data-fresh="" { (acts(sku)) }
    };
    let response = viewer.page(StaffSection::Products, name, &app.board.view(), &content);
    Ok(entry.answer(response))
}

fn glance(sku: &Sku, obstacles: &[OrderObstacle]) -> Markup {
    let fields = &sku.fields;
    html! {
        section class="card" aria-labelledby="glance" {
            h2 id="glance" { "At a glance" }
            dl class="left" {
                dt { "Can be ordered" } dd { (orderable(obstacles)) }
                dt { "Price" } dd { (money(fields.price_cents, &fields.currency)) }
                dt { "Code" } dd { (fields.code) }
                dt { "Slug" } dd { (fields.slug) }
                @if let Some(kind) = &fields.kind { dt { "Kind" } dd { (kind) } }
                @if !fields.collections.is_empty() { dt { "Collections" } dd { (fields.collections.join(", ")) } }
                @if let Some(words) = &fields.description { dt { "Description" } dd { (words) } }
                dt { "Added" } dd { (time(sku.created_at)) }
                dt { "Last changed" } dd { (time(sku.updated_at)) }
            }
        }
    }
}

/// Renders the production details of a SKU that is printed itself, that is, one that is not a kit.
async fn production_section(app: &ProductHandles, sku: &Sku) -> Result<Markup, ApiError> {
    let make = app.sources.make(sku).await?;
    let file = match sku.fields.gcode_file_id {
        Some(id) => app.files.files.read(id).await?,
        None => None,
    };
    let file = file.as_ref().and_then(|state| state.present());
    Ok(html! {
        @if let Some(make) = &make { (materials(app, make)) }
        (printed_from(sku, make.as_ref(), file))
    })
}

fn materials(app: &ProductHandles, make: &ProductionData) -> Markup {
    let parts = i64::from(make.units_per_plate.max(1));
    let first = std::iter::once((make.material_id, make.need));
    let all: Vec<(Id, Amount)> = first.chain(make.further.iter().map(|one| (one.material_id, one.need))).collect();
    html! {
        section class="card" aria-labelledby="materials" {
            h2 id="materials" { "Materials" }
            div class="table" tabindex="0" role="region" aria-label="Material amounts" {
                table {
                    thead { tr { th scope="col" { "Per part" } th scope="col" { "Per plate of " (parts) } } }
                    tbody {
                        @for (material, need) in all {
                            tr {
                                th scope="row" { (material_words(app, Some(material), Amount(need.0 / parts))) }
                                td { (material_words(app, Some(material), need)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn printed_from(sku: &Sku, make: Option<&ProductionData>, gcode: Option<&File>) -> Markup {
    let fields = &sku.fields;
    let plate = gcode.and_then(|gcode| gcode.metadata.plate(fields.plate));
    html! {
        section class="card" aria-labelledby="printed-from" {
            h2 id="printed-from" { "Printed from" }
            @match gcode {
                Some(gcode) => {
                    p { a href=(file::file_path(gcode.id)) { (gcode.name) } ", plate " (fields.plate) }
                    @match plate {
                        Some(plate) => { ul class="plates" { (file::plate_card(gcode, plate)) } },
                        None if gcode.metadata.plates.is_empty() => {},
                        None => { p class="bad" { "The file has no plate " (fields.plate) "." } },
                    }
                },
                None => { p { "No G-code" @if fields.model_file_id.is_some() { ": the model is sliced when the first job needs it" } "." } },
            }
            dl class="left" {
                @if let Some(model) = fields.model_file_id { dt { "Model" } dd { a href=(file::file_path(model)) { "View file" } } }
                @if let Some(profile) = &fields.slicer_profile { dt { "Slicer profile" } dd { (profile) } }
                dt { "Machine" } dd { (fields.machine_type.word().replace('_', " ")) }
                dt { "Parts per plate" } dd { (fields.units_per_plate) }
                @if let Some(seconds) = make.and_then(|make| make.estimated_seconds) { dt { "Print time per plate" } dd { (span(words::Language::English, seconds)) } }
                @if let Some(size) = make.and_then(|make| make.dimensions) {
                    dt { "Size of a full plate" } dd { (size.x) " × " (size.y) " × " (size.z) " mm" }
                }
            }
        }
    }
}

/// Renders the actions on a SKU. Destructive actions require confirmation, which includes the SKU.
fn acts(sku: &Sku) -> Markup {
    let path = |act: &str| format!("{}/{act}", sku_path(sku.id));
    let name = &sku.fields.name;
    let turned = |active: &str| html! { input type="hidden" name="active" value=(active); };
    html! {
        section class="card" aria-labelledby="acts" {
            h2 id="acts" { "Actions" }
            p class="acts" {
                a class="button" href=(path("edit")) { "Edit" }
                a class="button second" href={ (ORDERS_PATH) "/new?sku=" (sku.id) } { "Create order" }
                @if !sku.fields.is_kit() { a class="button second" href={ "/shop/jobs?sku=" (sku.id) } { "View jobs" } }
            }
            @if sku.fields.active {
                details {
                    summary { "Withdraw" }
                    p { "New orders can't include this SKU. Existing orders are still produced. You can offer the SKU again." }
                    (act(&path("offer"), "withdraw", "second", &format!("Withdraw {name}"), Some(&turned(""))))
                }
            } @else {
                (act(&path("offer"), "offer", "", &format!("Offer {name} again"), Some(&turned(TICKED_WORD))))
            }
            details {
                summary { "Delete" }
                p { "This permanently removes the SKU from the catalogue. Existing orders and jobs keep its details. Its files are kept." }
                form method="post" action=(path("delete")) {
                    (hidden())
                    button class="stop" type="submit" { "Delete " (name) }
                }
            }
        }
    }
}
