//! Page of a SKU or kit: price, materials, files, whether it can be ordered, and the available actions.

use std::collections::HashMap;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::machines::machine_label;
use super::{ProductHandles, file, kit, material_words, obstacles, orderable, sku_path};
use crate::form::Form;
use crate::frame::{SLOT, time, with_parts};
use crate::staff::sheet::span;
use crate::staff::shell::{StaffSection, StaffViewer, act, hidden};
use crate::staff::{ORDERS_PATH, PRODUCTS_PATH};
use domain::amount::Amount;
use domain::file::File;
use domain::id::Id;
use domain::material::exact_stock_amount;
use domain::notation;
use domain::order::ProductionData;
use domain::sku::{OrderObstacle, Sku};
use http::access::Caller;
use http::command_request::{find_existing, present_state};
use http::error::ApiError;
use http::path_id::PathId;
use http::wire::TICKED_WORD;
use store::queries::{Page, SkuFilter};
use words::Language;
use words::staff::products as texts;

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
    let language = viewer.language();
    let (_, state) = find_existing(&app.skus.skus, id).await?;
    let sku = present_state(&state)?;
    let obstacles = obstacles(app, sku, &mut HashMap::new()).await?;
    let parts = if sku.fields.is_kit() {
        kit::parts(language, app, sku).await?
    } else {
        production_section(language, app, sku).await?
    };
    let kits = SkuFilter { names: Some(id), kit: Some(true), ..SkuFilter::default() };
    let (kits, _) = app.skus.queries.skus(&kits, KITS_SHOWN).await?;
    let kits: Vec<&Sku> = kits.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let name = &sku.fields.name;
    let content = html! {
        p { a href=(PRODUCTS_PATH) { (texts::all_products(language)) } }
        h1 { (name) }
        (entry.alert())
        div id="sku" data-fresh="" {
            (glance(language, sku, &obstacles))
            (parts)
            @if !kits.is_empty() {
                section class="card" aria-labelledby="kits" {
                    h2 id="kits" { (texts::kits_with_sku(language)) }
                    ul class="rows" { @for kit in kits { li { a href=(sku_path(kit.id)) { (kit.fields.name) } span { (kit.fields.code) } } } }
                }
            }
        }
        div id="sku-acts" data-fresh="" { (acts(language, sku)) }
    };
    let response = viewer.page(StaffSection::Products, name, &app.board.view(), &content);
    Ok(entry.answer(response))
}

fn glance(language: Language, sku: &Sku, obstacles: &[OrderObstacle]) -> Markup {
    let fields = &sku.fields;
    html! {
        section class="card" aria-labelledby="glance" {
            h2 id="glance" { (texts::glance(language)) }
            dl class="left" {
                dt { (texts::orderable_column(language)) } dd { (orderable(language, obstacles)) }
                dt { (texts::price_column(language)) }
                dd { (notation::amount(language, fields.price_cents, &fields.currency)) }
                dt { (texts::code_column(language)) } dd { (fields.code) }
                dt { (texts::slug(language)) } dd { (fields.slug) }
                @if let Some(kind) = &fields.kind { dt { (texts::kind(language)) } dd { (kind) } }
                @if !fields.collections.is_empty() {
                    dt { (texts::collections(language)) } dd { (fields.collections.join(", ")) }
                }
                @if let Some(words) = &fields.description { dt { (texts::description(language)) } dd { (words) } }
                dt { (texts::added(language)) } dd { (time(language, sku.created_at)) }
                dt { (texts::changed(language)) } dd { (time(language, sku.updated_at)) }
            }
        }
    }
}

/// Renders the production details of a SKU that is printed itself, that is, one that is not a kit.
async fn production_section(language: Language, app: &ProductHandles, sku: &Sku) -> Result<Markup, ApiError> {
    let make = app.sources.make(sku).await?;
    let file = match sku.fields.gcode_file_id {
        Some(id) => app.files.files.read(id).await?,
        None => None,
    };
    let file = file.as_ref().and_then(|state| state.present());
    Ok(html! {
        @if let Some(make) = &make { (materials(language, app, make)) }
        (printed_from(language, sku, make.as_ref(), file))
    })
}

fn materials(language: Language, app: &ProductHandles, make: &ProductionData) -> Markup {
    let parts = i64::from(make.units_per_plate.max(1));
    let first = std::iter::once((make.material_id, make.need));
    let all: Vec<(Id, Amount)> = first.chain(make.further.iter().map(|one| (one.material_id, one.need))).collect();
    let exact_words =
        |material: Id, need: Amount| material_words(language, app, Some(material), need, exact_stock_amount);
    let (per_part, per_plate) = (texts::per_part_column(language), texts::per_plate_column(language, parts));
    html! {
        section class="card" aria-labelledby="materials" {
            h2 id="materials" { (texts::materials(language)) }
            div class="table list" tabindex="0" role="region" aria-label=(texts::material_amounts(language)) {
                table {
                    thead {
                        tr {
                            th scope="col" { (per_part) }
                            th scope="col" { (per_plate) }
                        }
                    }
                    tbody {
                        @for (material, need) in all {
                            tr {
                                th scope="row" data-label=(per_part) { (exact_words(material, Amount(need.0 / parts))) }
                                td data-label=(per_plate) { (exact_words(material, need)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn printed_from(language: Language, sku: &Sku, make: Option<&ProductionData>, gcode: Option<&File>) -> Markup {
    let fields = &sku.fields;
    html! {
        section class="card" aria-labelledby="printed-from" {
            h2 id="printed-from" { (texts::printed_from(language)) }
            @match gcode {
                Some(gcode) => { (gcode_of(language, gcode, fields.plate)) },
                None if fields.model_file_id.is_some() => { p { (texts::no_gcode_but_model(language)) } },
                None => { p { (texts::no_gcode(language)) } },
            }
            dl class="left" {
                @if let Some(model) = fields.model_file_id {
                    dt { (texts::model(language)) } dd { a href=(file::file_path(model)) { (texts::view_file(language)) } }
                }
                @if let Some(profile) = &fields.slicer_profile { dt { (texts::slicer_profile(language)) } dd { (profile) } }
                dt { (texts::machine(language)) } dd { (machine_label(language, fields.machine_type)) }
                dt { (texts::parts_per_plate(language)) } dd { (fields.units_per_plate) }
                @if let Some(seconds) = make.and_then(|make| make.estimated_seconds) {
                    dt { (texts::time_per_plate(language)) } dd { (span(language, seconds)) }
                }
                @if let Some(size) = make.and_then(|make| make.dimensions) {
                    dt { (texts::size_of_plate(language)) } dd { (notation::size(language, size)) }
                }
            }
        }
    }
}

/// Renders the plate to print, with a link to its file.
fn gcode_of(language: Language, gcode: &File, plate: u32) -> Markup {
    let link = html! { a href=(file::file_path(gcode.id)) { (gcode.name) } };
    html! {
        p { (with_parts(&texts::plate_of_file(language, SLOT, plate), &[&link])) }
        @match gcode.metadata.plate(plate) {
            Some(plate) => { ul class="plates" { (file::plate_card(language, gcode, plate)) } },
            None if gcode.metadata.plates.is_empty() => {},
            None => { p class="bad" { (texts::no_plate(language, plate)) } },
        }
    }
}

/// Renders the actions on a SKU. Destructive actions require confirmation, which includes the SKU.
fn acts(language: Language, sku: &Sku) -> Markup {
    let path = |act: &str| format!("{}/{act}", sku_path(sku.id));
    let name = &sku.fields.name;
    let turned = |active: &str| html! { input type="hidden" name="active" value=(active); };
    html! {
        section class="card" aria-labelledby="acts" {
            h2 id="acts" { (texts::actions(language)) }
            p class="acts" {
                a class="button" href=(path("edit")) { (texts::edit(language)) }
                a class="button second" href={ (ORDERS_PATH) "/new?sku=" (sku.id) } { (texts::create_order(language)) }
                @if !sku.fields.is_kit() {
                    a class="button second" href={ "/shop/jobs?sku=" (sku.id) } { (texts::view_jobs(language)) }
                }
            }
            @if sku.fields.active {
                details {
                    summary { (texts::withdraw(language)) }
                    p { (texts::withdraw_text(language)) }
                    (act(&path("offer"), "withdraw", "second", &texts::withdraw_sku(language, name), Some(&turned(""))))
                }
            } @else {
                (act(&path("offer"), "offer", "", &texts::offer_again(language, name), Some(&turned(TICKED_WORD))))
            }
            details {
                summary { (texts::delete(language)) }
                p { (texts::delete_sku_text(language)) }
                form method="post" action=(path("delete")) {
                    (hidden())
                    button class="stop" type="submit" { (texts::delete_named(language, name)) }
                }
            }
        }
    }
}
