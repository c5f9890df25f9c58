//! File page: plates with thumbnails, print time and material, the SKUs that use the file, and manual printing.

use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::http::request::Parts;
use axum::response::Response;
use maud::{Markup, html};

use super::{ProductHandles, files, from_file, sku_path};
use crate::design::{Icon, icon};
use crate::form::{FieldControl, Form, PageForm};
use crate::frame::{see_other, time};
use crate::staff::card::state_after_name;
use crate::staff::sheet::span;
use crate::staff::shell::{StaffSection, StaffViewer, hidden};
use crate::staff::{FLOOR_PATH, PRODUCTS_PATH};
use domain::amount::Amount;
use domain::file::{File, FileKind, FileMetadata, Plate};
use domain::id::Id;
use domain::material::{MaterialType, stock_amount};
use domain::notation;
use domain::printer::Printer;
use domain::refusal::Refusal;
use domain::sku::Sku;
use http::access::Caller;
use http::command_request::{find_existing, present_state};
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::files::{WHOLE_PICTURE, delete as delete_file, picture as picture_reply};
use http_api::production::printers::{present_all, print_stored};
use printers::PrinterType;
use store::queries::{Page, SkuFilter};
use words::Language;
use words::staff::{common, products as texts};

/// Page limit for the list of SKUs that use a file.
const SKUS_SHOWN: Page = Page { limit: 50, offset: 0 };
/// Form field that specifies the printer for a manual print.
const PRINTER_FIELD: &str = "printer";
/// HTML ID of the section for printing the file manually.
pub(super) const PRINT_ID: &str = "once";
/// Number of bytes per kilobyte in displayed file sizes.
const BYTES_PER_KB: i64 = 1_000;

/// Returns the path of a file's page.
pub(super) fn file_path(id: Id) -> String {
    format!("{}/{id}", files::PATH)
}

/// Returns the label of a file's kind.
pub(super) fn kind_words(language: Language, kind: FileKind) -> String {
    match kind {
        FileKind::Gcode => texts::gcode(language),
        FileKind::Model => texts::model(language),
        FileKind::Image => texts::picture(language),
    }
}

/// Formats the size of a file.
pub(super) fn size_words(language: Language, bytes: i64) -> String {
    let megabyte = BYTES_PER_KB * BYTES_PER_KB;
    if bytes >= megabyte {
        format!("{} MB", notation::decimal(language, format!("{:.1}", bytes as f64 / megabyte as f64)))
    } else {
        format!("{} kB", bytes.max(0).div_euclid(BYTES_PER_KB).max(1))
    }
}

/// Formats the weight that a file states.
pub(super) fn weight_words(language: Language, grams: Amount) -> String {
    stock_amount(language, grams, MaterialType::Filament)
}

/// Returns the path of a file's picture: its own thumbnail or, failing that, that of the first plate that has one or a
/// drawing of its toolpath; `None` if the file is not G-code.
pub(super) fn picture_path(file: &File) -> Option<String> {
    let FileMetadata { thumbnail, plates, .. } = &file.metadata;
    let of_plate = || plates.iter().find(|plate| plate.thumbnail.is_some()).map(|plate| plate.plate);
    let number = if thumbnail.is_some() { Some(WHOLE_PICTURE) } else { of_plate() };
    match number {
        Some(number) => Some(format!("{}/pictures/{number}", file_path(file.id))),
        None => (file.kind == FileKind::Gcode).then(|| drawing_path(file)),
    }
}

/// Renders the picture of what a SKU or a job is printed from, as in the list of files; an icon for a kit, or if there
/// is no file.
pub(in crate::staff) fn mini_picture(file: Option<Id>) -> Markup {
    html! {
        @match file {
            Some(file) => {
                img class="mini" src={ (FLOOR_PATH) "/pictures/" (file) } alt="" width="64" height="64" loading="lazy";
            },
            None => { span class="mini" { (icon(Icon::Layers)) } },
        }
    }
}

/// Returns the path of the drawing for a file without a thumbnail. If nothing can be drawn, a placeholder is served at
/// that path.
fn drawing_path(file: &File) -> String {
    format!("{FLOOR_PATH}/pictures/{}", file.id)
}

/// Returns the path of a plate's picture.
fn plate_picture_path(file: &File, plate: &Plate) -> String {
    let is_drawing = plate.thumbnail.is_none() && file.metadata.plates.len() == 1;
    if is_drawing { drawing_path(file) } else { format!("{}/pictures/{}", file_path(file.id), plate.plate) }
}

/// Renders a plate with its picture and its requirements.
pub(super) fn plate_card(language: Language, file: &File, plate: &Plate) -> Markup {
    let decimal = |number: f64| notation::decimal(language, number);
    let (path, alt) = (plate_picture_path(file, plate), texts::plate_as_sliced(language, plate.plate));
    html! {
        li class="plate" {
            img src=(path) alt=(alt) width="160" height="160" loading="lazy";
            div {
                h3 { (texts::plate(language, plate.plate)) @if let Some(name) = &plate.name { ": " (name) } }
                p {
                    @if let Some(seconds) = plate.seconds { (span(language, seconds)) }
                    @if let Some(grams) = plate.grams() { " · " (weight_words(language, grams)) }
                    @if let Some(size) = plate.dimensions { " · " (notation::size(language, size)) }
                }
                @if !plate.filaments.is_empty() { (filaments(language, plate)) }
                p class="soft" {
                    @if let Some(model) = &plate.printer_model { (texts::for_printer(language, model)) " " }
                    @if let Some(nozzle) = plate.nozzle_diameter { (texts::nozzle(language, &decimal(nozzle))) " " }
                    @if let Some(bed) = &plate.bed_type { (bed) "." }
                }
            }
        }
    }
}

fn filaments(language: Language, plate: &Plate) -> Markup {
    html! {
        ul class="slots" aria-label=(texts::filaments(language)) {
            @for filament in &plate.filaments {
                li {
                    @if let Some(color) = &filament.color {
                        svg viewBox="0 0 16 16" aria-hidden="true" { circle cx="8" cy="8" r="7" fill=(color) stroke="currentColor" {} }
                        " "
                    }
                    (filament.index) ": " (filament.kind.clone().unwrap_or_else(|| texts::any_kind(language)))
                    @if let Some(grams) = filament.grams { ", " (weight_words(language, grams)) }
                }
            }
        }
    }
}

/// Thumbnail number, from the `{number}` path segment. A value that is not a number results in a 404.
pub(super) struct PictureNumber(u32);

impl<S: Send + Sync> FromRequestParts<S> for PictureNumber {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let text = params.iter().flatten().find(|(name, _)| *name == "number").map(|(_, text)| text.to_owned());
        let number = text.and_then(|text| text.parse().ok());
        number.map(Self).ok_or_else(|| Refusal::not_found("picture").into())
    }
}

/// Serves a thumbnail embedded in a file by the slicer, or a drawing of its toolpath.
pub(super) async fn picture(
    State(app): State<ProductHandles>,
    PathId(id): PathId,
    PictureNumber(number): PictureNumber,
) -> Result<Response, ApiError> {
    let (_, state) = find_existing(&app.files.files, id).await?;
    picture_reply(&app.files, present_state(&state)?, number).await
}

/// Serves the page of a file.
pub(super) async fn show(
    State(app): State<ProductHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    page(&app, &who, id, Form::default()).await
}

/// Starts a manual print of a file and redirects to the printer.
pub(super) async fn print(
    State(app): State<ProductHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let mut entry = Form::submitted(&sent);
    let printed = match entry.text(PRINTER_FIELD).parse::<Id>() {
        Ok(printer) => print_stored(&app.board.shop, printer, &sent.call, id).await.map(|_| printer),
        Err(_) => Err(Refusal::field(PRINTER_FIELD, "choose a printer").into()),
    };
    match printed {
        Ok(printer) => Ok(see_other(&format!("{FLOOR_PATH}/printers/{printer}"))),
        Err(error) => {
            entry.refuse(error);
            page(&app, &sent.call.who, id, entry).await
        }
    }
}

/// Deletes a file. If the file is still in use, serves its page with the reason.
pub(super) async fn delete(
    State(app): State<ProductHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    match delete_file(&app.files, id, &sent.call).await {
        Ok(()) => Ok(see_other(files::PATH)),
        Err(error) => {
            let mut entry = Form::empty(sent.call.who.language);
            entry.refuse(error);
            page(&app, &sent.call.who, id, entry).await
        }
    }
}

async fn page(app: &ProductHandles, who: &Caller, id: Id, entry: Form) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.config)?;
    let language = viewer.language();
    let (_, state) = find_existing(&app.files.files, id).await?;
    let file = present_state(&state)?;
    let named = SkuFilter { names: Some(id), ..SkuFilter::default() };
    let (skus, total) = app.skus.queries.skus(&named, SKUS_SHOWN).await?;
    let skus: Vec<&Sku> = skus.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let content = html! {
        p { a href=(files::PATH) { (texts::all_files(language)) } }
        h1 { (file.name) }
        (entry.alert())
        (glance(language, file))
        (plates(language, file))
        // What a customer sent is theirs, and is sold to nobody else.
        @if file.kind == FileKind::Gcode && file.customer_upload.is_none() {
            (from_file::section(language, app, file, !skus.is_empty()))
        }
        (skus_of(language, file, &skus, total))
        @if file.kind == FileKind::Gcode { (print_once(language, app, file, &entry)) }
        section class="card" aria-labelledby="delete" {
            h2 id="delete" { (texts::delete(language)) }
            details {
                summary { (texts::delete_named(language, &file.name)) }
                p { (texts::delete_file_text(language)) }
                form method="post" action={ (file_path(file.id)) "/delete" } {
                    (hidden())
                    button class="stop" type="submit" { (texts::delete_named(language, &file.name)) }
                }
            }
        }
    };
    let response = viewer.page(StaffSection::Products, &file.name, &app.board.view(), &content);
    Ok(entry.answer(response))
}

fn plates(language: Language, file: &File) -> Markup {
    let plates = &file.metadata.plates;
    html! {
        @if !plates.is_empty() {
            section class="card" aria-labelledby="plates" {
                h2 id="plates" { (texts::plates(language)) }
                ul class="plates" { @for plate in plates { (plate_card(language, file, plate)) } }
            }
        }
    }
}

/// Renders the SKUs that use a file; `total` is their number, of which only the first ones are shown.
fn skus_of(language: Language, file: &File, skus: &[&Sku], total: u64) -> Markup {
    html! {
        section class="card" aria-labelledby="used" {
            h2 id="used" { (texts::skus_of_file(language)) }
            @if skus.is_empty() { p { (texts::none(language)) } } @else {
                ul class="rows" {
                    @for sku in skus { li { a href=(sku_path(sku.id)) { (sku.fields.name) } span { (sku.fields.code) } } }
                }
                @if total > skus.len() as u64 { p class="soft" { (common::total(language, total)) } }
            }
            @if file.kind != FileKind::Image {
                a class="button second" href={ (PRODUCTS_PATH) "/new?file=" (file.id) } { (texts::full_form(language)) }
            }
        }
    }
}

fn glance(language: Language, file: &File) -> Markup {
    let FileMetadata { slicer, seconds, grams, filament_mm, layers, size, form, .. } = &file.metadata;
    let length = filament_mm.map(|mm| notation::decimal(language, format!("{:.2}", mm / 1_000.0)));
    html! {
        section class="card" aria-labelledby="glance" {
            h2 id="glance" { (texts::glance(language)) }
            dl class="left" {
                dt { (texts::file_type(language)) }
                dd { (kind_words(language, file.kind)) @if let Some(form) = form { ", ." (form.ending()) } }
                dt { (texts::size(language)) } dd { (size_words(language, file.size)) }
                dt { (texts::uploaded(language)) } dd { (time(language, file.created_at)) }
                @if let Some(slicer) = slicer { dt { (texts::slicer(language)) } dd { (slicer) } }
                @if let Some(seconds) = seconds { dt { (texts::print_time(language)) } dd { (span(language, *seconds)) } }
                @if let Some(grams) = grams { dt { (texts::weight(language)) } dd { (weight_words(language, *grams)) } }
                @if let Some(length) = &length { dt { (texts::filament_length(language)) } dd { (length) " m" } }
                @if let Some(layers) = layers { dt { (texts::layers(language)) } dd { (layers) } }
                @if let Some(size) = size { dt { (texts::dimensions(language)) } dd { (notation::size(language, *size)) } }
            }
            a class="button second" href={ "/api/files/" (file.id) "/content" } download { (texts::download(language)) }
        }
    }
}

/// Returns the names of the materials that are loaded in a printer, without duplicates.
fn loaded_materials(app: &ProductHandles, printer: &Printer) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for id in printer.slots().iter().filter_map(|slot| slot.material_id) {
        let versioned = app.board.shop.materials.resident(id).map(|handle| handle.read());
        let material = versioned.as_ref().and_then(|versioned| versioned.state.as_ref());
        if let Some(name) = material.map(|material| &material.fields.name).filter(|name| !names.contains(name)) {
            names.push(name.clone());
        }
    }
    names
}

/// Renders the form for printing a file manually. It lists the printers that accept the file's format, idle printers
/// first.
fn print_once(language: Language, app: &ProductHandles, file: &File, entry: &Form) -> Markup {
    let form = file.metadata.form.unwrap_or_default();
    let all = present_all(&app.board.shop);
    let prints =
        |printer: &&Printer| PrinterType::of_word(&printer.fields.kind).is_none_or(|declared| declared.prints(form));
    let mut fit: Vec<&Printer> = all.iter().filter_map(|versioned| versioned.state.as_ref()).filter(prints).collect();
    fit.sort_by_cached_key(|printer| (printer.free().is_err(), printer.fields.name.to_lowercase()));
    let words = |printer: &&Printer| {
        let state = state_after_name(language, &app.board.shop, printer);
        let loaded = loaded_materials(app, printer).join(", ");
        let loaded = if loaded.is_empty() { loaded } else { format!(" ({loaded})") };
        (printer.id.to_string(), format!("{}, {state}{loaded}", printer.fields.name))
    };
    let choose = (String::new(), texts::choose_printer(language));
    let choices: Vec<(String, String)> = std::iter::once(choose).chain(fit.iter().map(words)).collect();
    html! {
        section class="card" aria-labelledby=(PRINT_ID) {
            h2 id=(PRINT_ID) { (texts::manual_print(language)) }
            @if fit.is_empty() {
                p { (texts::no_printer_fits(language)) }
            } @else {
                p { (texts::manual_print_text(language)) }
                form method="post" action={ (file_path(file.id)) "/print" } {
                    (hidden())
                    (entry.field(PRINTER_FIELD, &texts::printer_field(language), &texts::printer_hint(language), FieldControl::Choice(&choices)))
                    button type="submit" { (texts::print_named(language, &file.name)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_as_people_count() {
        let sizes = |language| [0, 999, 1_500, 2_340_000].map(|bytes| size_words(language, bytes));
        assert_eq!(sizes(Language::English), ["1 kB", "1 kB", "1 kB", "2.3 MB"]);
        assert_eq!(sizes(Language::German), ["1 kB", "1 kB", "1 kB", "2,3 MB"]);
    }
}
