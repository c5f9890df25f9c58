//! Page for choosing the printers, spools and bins to label.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use maud::{Markup, html};

use super::{LabelHandles, PDF_PATH, SHEET_WORD, base_of, is_here_alone};
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
    let content = html! {
        p { a href=(STOCK_PATH) { "All stock" } }
        h1 { "Labels" }
        p {
            "Each label has a QR code. Scan a printer's label with a phone to clear its bed, a spool's label to load the spool into a slot, \
             or a bin's label to see its contents."
        }
        p { "QR codes start with " code { (base) } "." }
        @if is_here_alone(&base) {
            p class="bad" {
                "Phones can't open this address. Open this page at the server's network address, or set "
                code { "server.public_url" } "."
            }
        }
        (printers(&app))
        (new_spools(&app, &materials))
        (spools(&app, &materials))
        (bins(&materials))
    };
    Ok(viewer.page(StaffSection::Stock, "Labels", &app.stock.board.view(), &content))
}

fn size(id: &str) -> Markup {
    let id = format!("{id}-size");
    html! {
        div class="field" {
            label for=(id) { "Paper" }
            select id=(id) name="size" {
                option value="62x29" { "Label printer, 62 × 29 mm" }
                option value=(SHEET_WORD) { "A4 sheet, to cut" }
            }
        }
    }
}

/// Renders a form with the given checkboxes, or `none` if there are none.
fn boxes(id: &str, title: &str, boxes: &[TickBox], none: &Markup) -> Markup {
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
                    @if boxes.len() > MAX_LABELS { p class="soft" { "Showing the first " (MAX_LABELS) " of " (boxes.len()) "." } }
                    div class="tools" { (size(id)) button type="submit" { "Create labels" } }
                }
            }
        }
    }
}

fn printers(app: &LabelHandles) -> Markup {
    let residents = present_all(&app.stock.board.shop);
    let mut printers: Vec<&Printer> = residents.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    printers.sort_by_cached_key(|printer| printer.fields.name.to_lowercase());
    let ticks = printers.iter().map(|printer| ("printer", printer.id.to_string(), printer.fields.name.clone()));
    let none = html! { p { "No printers yet. " a href=(FLOOR_PATH) { "Open the floor" } } };
    boxes("printers", "Printers", &ticks.collect::<Vec<TickBox>>(), &none)
}

fn spools(app: &LabelHandles, materials: &[&Material]) -> Markup {
    let ticks = known_spools(&app.stock).into_iter().map(|(number, material)| {
        let of = materials.iter().find(|one| Some(one.id) == material);
        let name = of.map(|one| format!(", {}", one.fields.name)).unwrap_or_default();
        ("spool", number.to_string(), format!("Spool {number}{name}"))
    });
    let none = html! { p { "No numbered spools are loaded or tracked by a spool system." } };
    boxes("spools", "Existing spools", &ticks.collect::<Vec<TickBox>>(), &none)
}

fn bins(materials: &[&Material]) -> Markup {
    let ticks = bins_of(materials.iter().copied()).into_iter().map(|name| ("bin", name.to_owned(), name.to_owned()));
    let none = html! { p { "No bins yet. To create a bin, edit a material and enter a bin." } };
    boxes("bins", "Bins", &ticks.collect::<Vec<TickBox>>(), &none)
}

fn new_spools(app: &LabelHandles, materials: &[&Material]) -> Markup {
    let elsewhere = !app.stock.config.spools.url.is_empty();
    html! {
        section class="card" id="new-spools" aria-labelledby="new-title" {
            h2 id="new-title" { "New spools" }
            @if elsewhere {
                p { "Your spool system assigns the numbers, so add new spools there. They appear below once their material is linked to its filament." }
            } @else if materials.is_empty() {
                p { "Add a material first. " a href=(STOCK_PATH) { "Go to stock" } }
            } @else {
                p { "Each spool gets a new number. Enter its remaining amount when you load it into a slot." }
                form class="tools" method="get" action=(PDF_PATH) {
                    div class="field" {
                        label for="new-material" { "Material" }
                        select id="new-material" name="material" {
                            @for one in materials { option value=(one.id) { (one.fields.name) } }
                        }
                    }
                    div class="field narrow" {
                        label for="new-count" { "Quantity" }
                        input id="new-count" name="new" type="number" min="1" max=(MAX_NEW_SPOOLS) value="1" required inputmode="numeric";
                    }
                    (size("new"))
                    button type="submit" { "Create labels" }
                }
            }
        }
    }
}
