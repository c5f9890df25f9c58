//! Page for choosing the printers, spools and bins to label.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use maud::{Markup, html};

use super::{LabelHandles, PDF_PATH, SHEET_WORD, base_of, is_here_alone};
use crate::frame::{SLOT, with_parts};
use crate::staff::shell::{StaffSection, StaffViewer};
use crate::staff::stock::{bins_of, known_spools, materials_by_name};
use crate::staff::{FLOOR_PATH, STOCK_PATH};
use documents::labels::MAX_LABELS;
use domain::material::Material;
use domain::printer::Printer;
use domain::spool::MAX_NEW_SPOOLS;
use http::access::Caller;
use http::error::ApiError;
use http_api::production::printers::present_all;
use words::Language;
use words::staff::labels as texts;

/// Checkbox: name and value in the query, and label.
type TickBox = (&'static str, String, String);

/// Serves the page for choosing labels.
pub(super) async fn show(
    State(app): State<LabelHandles>,
    who: Caller,
    request_headers: HeaderMap,
) -> Result<Response, ApiError> {
    let base = base_of(&app.stock.config, &request_headers);
    let viewer = StaffViewer::new(&who, &app.stock.config)?;
    let residents = materials_by_name(&app.stock);
    let materials: Vec<&Material> = residents.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let language = viewer.language();
    let (title, setting) = (texts::title(language), html! { code { "server.public_url" } });
    let content = html! {
        p { a href=(STOCK_PATH) { (texts::all_stock(language)) } }
        h1 { (title) }
        p { (texts::about(language)) }
        p { (with_parts(&texts::codes_begin(language, SLOT), &[&html! { code { (base) } }])) }
        @if is_here_alone(&base) {
            p class="bad" { (with_parts(&texts::unreachable(language, SLOT), &[&setting])) }
        }
        (printers(language, &app))
        (new_spools(language, &app, &materials))
        (spools(language, &app, &materials))
        (bins(language, &materials))
    };
    Ok(viewer.page(StaffSection::Stock, &title, &app.stock.board.view(), &content))
}

fn size(language: Language, id: &str) -> Markup {
    let id = format!("{id}-size");
    html! {
        div class="field" {
            label for=(id) { (texts::paper(language)) }
            select id=(id) name="size" {
                option value="62x29" { (texts::roll(language)) }
                option value=(SHEET_WORD) { (texts::sheet(language)) }
            }
        }
    }
}

/// Renders a form with the given checkboxes, or `none` if there are none.
fn boxes(language: Language, id: &str, title: &str, boxes: &[TickBox], none: &Markup) -> Markup {
    html! {
        section class="card" aria-labelledby=(id) {
            h2 id=(id) { (title) }
            @if boxes.is_empty() { (none) } @else {
                form method="get" action=(PDF_PATH) {
                    ul class="rows ticks" {
                        @for (n, (name, value, words)) in boxes.iter().take(MAX_LABELS).enumerate() {
                            @let of = format!("{id}-{n}");
                            li { span {
                                input id=(of) name=(name) type="checkbox" value=(value);
                                label for=(of) class="inline" { (words) }
                            } }
                        }
                    }
                    @if boxes.len() > MAX_LABELS { p class="soft" { (texts::first_of(language, MAX_LABELS, boxes.len())) } }
                    div class="tools" { (size(language, id)) button type="submit" { (texts::create(language)) } }
                }
            }
        }
    }
}

fn printers(language: Language, app: &LabelHandles) -> Markup {
    let residents = present_all(&app.stock.board.shop);
    let mut printers: Vec<&Printer> = residents.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    printers.sort_by_cached_key(|printer| printer.fields.name.to_lowercase());
    let ticks = printers.iter().map(|printer| ("printer", printer.id.to_string(), printer.fields.name.clone()));
    let none = html! {
        p { (texts::no_printers(language)) " " a href=(FLOOR_PATH) { (texts::open_floor(language)) } }
    };
    boxes(language, "printers", &texts::printers(language), &ticks.collect::<Vec<TickBox>>(), &none)
}

fn spools(language: Language, app: &LabelHandles, materials: &[&Material]) -> Markup {
    let ticks = known_spools(&app.stock).into_iter().map(|(number, material)| {
        let of = materials.iter().find(|one| Some(one.id) == material);
        let number = number.to_string();
        let label = match of {
            Some(one) => texts::spool_of(language, &number, &one.fields.name),
            None => texts::spool(language, &number),
        };
        ("spool", number, label)
    });
    let none = html! { p { (texts::no_spools(language)) } };
    boxes(language, "spools", &texts::spools(language), &ticks.collect::<Vec<TickBox>>(), &none)
}

fn bins(language: Language, materials: &[&Material]) -> Markup {
    let ticks = bins_of(materials.iter().copied()).into_iter().map(|name| ("bin", name.to_owned(), name.to_owned()));
    let none = html! { p { (texts::no_bins(language)) " " a href=(STOCK_PATH) { (texts::go_to_stock(language)) } } };
    boxes(language, "bins", &texts::bins(language), &ticks.collect::<Vec<TickBox>>(), &none)
}

fn new_spools(language: Language, app: &LabelHandles, materials: &[&Material]) -> Markup {
    let elsewhere = !app.stock.config.spools.url.is_empty();
    html! {
        section class="card" id="new-spools" aria-labelledby="new-title" {
            h2 id="new-title" { (texts::new_spools(language)) }
            @if elsewhere {
                p { (texts::new_spools_elsewhere(language)) }
            } @else if materials.is_empty() {
                p { (texts::no_materials(language)) " " a href=(STOCK_PATH) { (texts::go_to_stock(language)) } }
            } @else {
                p { (texts::new_spools_about(language)) }
                form class="tools" method="get" action=(PDF_PATH) {
                    div class="field" {
                        label for="new-material" { (texts::material_field(language)) }
                        select id="new-material" name="material" {
                            @for one in materials { option value=(one.id) { (one.fields.name) } }
                        }
                    }
                    div class="field narrow" {
                        label for="new-count" { (texts::count_field(language)) }
                        input id="new-count" name="new" type="number" min="1" max=(MAX_NEW_SPOOLS) value="1" required inputmode="numeric";
                    }
                    (size(language, "new"))
                    button type="submit" { (texts::create(language)) }
                }
            }
        }
    }
}
