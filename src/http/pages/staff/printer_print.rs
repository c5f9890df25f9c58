//! Uploading a file for a printer, followed by the option to print it there manually.

use api_derive::Request;
use axum::extract::{Request as HttpRequest, State};
use axum::response::Response;
use maud::{Markup, html};

use super::FLOOR_PATH;
use super::card::act_path;
use super::card_picture::picture;
use super::floor::FloorHandles;
use super::sheet::span;
use super::shell::{StaffSection, StaffViewer, hidden, hidden_once, with_token};
use crate::form::check_token;
use crate::frame::see_other;
use crate::sentences::sentence;
use actors::printers::MANUAL_PLATE;
use domain::file::{File, FileKind, PlateFilament};
use domain::id::Id;
use domain::notation;
use domain::printer::{Printer, Slot, SlotSource};
use domain::slot_label::SlotLabel;
use http::access::Caller;
use http::command_request::{find_existing, find_present, state_of};
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::path_id::PathId;
use http_api::production::files::{FileHandles, take_gcode};
use printers::{PrinterType, slot_label};
use words::Language;
use words::staff::printer_page as texts;

handles! {
    /// Dependencies of the page for uploading a file to a printer.
    pub(crate) struct PrinterUploadHandles {
        floor: FloorHandles,
        files: FileHandles,
    }
}

/// Query parameters of the upload page.
#[derive(Request, Debug)]
#[api(name = "BroughtQuery")]
pub(super) struct PrinterUploadQuery {
    /// Stored file to print; if missing, the page asks for a file.
    file: Option<Id>,
}

/// Query parameters of the URL to which the upload form is submitted. The URL contains the CSRF token because the body
/// is streamed: a token in the body would be read too late.
#[derive(Request, Debug)]
pub(super) struct GcodeUploadQuery {
    /// CSRF token of the session.
    token: Option<String>,
}

/// Returns the path to which files for a printer are uploaded.
pub(super) fn upload_path(printer: Id) -> String {
    format!("{FLOOR_PATH}/printers/{printer}/upload")
}

/// Returns the upload path for a printer, with the viewer's CSRF token.
pub(super) fn upload_target(printer: Id) -> Markup {
    with_token(&upload_path(printer))
}

/// Serves the upload form or, once a file has been uploaded, the option to print it.
pub(super) async fn show(
    State(PrinterUploadHandles { floor: app, files }): State<PrinterUploadHandles>,
    PathId(id): PathId,
    OpenQuery(query): OpenQuery<PrinterUploadQuery>,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let (_, printer) = find_present(&app.board.shop.printers, id).await?;
    let language = viewer.language();
    let content = match query.file {
        Some(file) => {
            let (_, state) = find_existing(&files.files, file).await?;
            offer(language, &printer, state_of(&state)?)
        }
        None => choice(language, &printer),
    };
    Ok(viewer.page(StaffSection::Floor, &printer.fields.name, &app.board.view(), &content))
}

/// Stores an uploaded file and redirects to the option to print it.
pub(super) async fn upload(
    State(PrinterUploadHandles { floor: app, files }): State<PrinterUploadHandles>,
    PathId(id): PathId,
    OpenQuery(query): OpenQuery<GcodeUploadQuery>,
    who: Caller,
    request: HttpRequest,
) -> Result<Response, ApiError> {
    let session = who.session.ok_or_else(|| ApiError::internal("a member of staff without a session"))?;
    check_token(&app.config, session, query.token.as_deref().unwrap_or_default())?;
    find_present(&app.board.shop.printers, id).await?;
    let file = take_gcode(&files, who, request).await?;
    Ok(see_other(&format!("{}?file={file}", upload_path(id))))
}

fn back(language: Language, printer: &Printer) -> Markup {
    html! { p { a href={ (FLOOR_PATH) "/printers/" (printer.id) } { (texts::back_to(language, &printer.fields.name)) } } }
}

/// Returns the file name extensions of the G-code formats that a printer accepts.
fn endings(printer: &Printer) -> Vec<String> {
    let declared = PrinterType::of_word(&printer.fields.kind);
    declared.map(|one| one.forms.iter().map(|form| format!(".{}", form.ending())).collect()).unwrap_or_default()
}

fn choice(language: Language, printer: &Printer) -> Markup {
    let (name, endings) = (&printer.fields.name, endings(printer));
    html! {
        (back(language, printer))
        h1 { (texts::upload_heading(language, name)) }
        form class="card narrowed" method="post" enctype="multipart/form-data" action=(upload_target(printer.id))
            data-upload=(upload_target(printer.id)) data-called=(name) {
            (hidden())
            div class="field" {
                label for="file" { (texts::file_field(language)) }
                input id="file" name="file" type="file" required aria-describedby="about-file";
                p class="hint" id="about-file" {
                    (texts::file_hint(language))
                    @if !endings.is_empty() { " " (texts::accepted_files(language, &notation::list(language, &endings))) }
                }
            }
            button type="submit" { (texts::upload(language)) }
        }
    }
}

/// Returns the reason the printer cannot print the file now; `None` if it can.
fn hindrance(language: Language, printer: &Printer, file: &File) -> Option<String> {
    if file.archived || file.kind != FileKind::Gcode {
        return Some(texts::not_gcode(language));
    }
    let form = file.metadata.form.unwrap_or_default();
    if PrinterType::of_word(&printer.fields.kind).is_some_and(|declared| !declared.prints(form)) {
        let endings = notation::list(language, &endings(printer));
        return Some(texts::other_format(language, &printer.fields.name, &endings, form.ending()));
    }
    printer.free_in(language).err().map(|why| texts::not_free(language, &printer.fields.name, &why))
}

/// Describes a slot's contents, as far as the printer reports them.
fn slot_words(language: Language, printer: &Printer, slot: &Slot) -> String {
    let vendor_code = slot.vendor_code.clone().unwrap_or_else(|| texts::unknown_spool(language));
    let color = slot.color.as_ref().map(|color| format!(" {color}")).unwrap_or_default();
    let title = slot_label(printer, slot.slot).title(language);
    texts::slot_with(language, &title, &format!("{vendor_code}{color}"))
}

/// Describes one of a file's filaments, for which a slot is chosen.
fn filament_words(language: Language, number: usize, filament: Option<&PlateFilament>) -> String {
    let details = filament.into_iter().flat_map(|one| [one.kind.clone(), one.color.clone()]).flatten();
    let details: Vec<String> = details.collect();
    if details.is_empty() {
        texts::filament_field(language, number)
    } else {
        texts::filament_field_of(language, number, &details.join(" "))
    }
}

/// Renders a slot selection for each filament, if the printer reports its slots and accepts a mapping.
fn slots(language: Language, printer: &Printer, file: &File) -> Markup {
    let beside = PrinterType::of_word(&printer.fields.kind).and_then(|declared| declared.spool_beside);
    let mut reported = printer.slots();
    reported.retain(|slot| slot.source == SlotSource::Printer);
    let filaments = file.metadata.plate(MANUAL_PLATE).map(|plate| plate.filaments.as_slice()).unwrap_or_default();
    html! {
        @if let (Some(beside), false) = (beside, reported.is_empty()) {
            @for at in 0..filaments.len().max(1) {
                @let name = format!("slots.{at}");
                div class="field" {
                    label for=(name) { (filament_words(language, at + 1, filaments.get(at))) }
                    select id=(name) name=(name) {
                        option value="" { (texts::automatic(language)) }
                        @for slot in &reported { option value=(slot.slot) { (slot_words(language, printer, slot)) } }
                        option value=(beside) { (SlotLabel::External.title(language)) }
                    }
                }
            }
        }
    }
}

fn offer(language: Language, printer: &Printer, file: &File) -> Markup {
    let (name, facts) = (&printer.fields.name, &file.metadata);
    let hindrance = hindrance(language, printer, file);
    html! {
        (back(language, printer))
        h1 { (texts::print_question(language, &file.name, name)) }
        section class="card narrowed" aria-label=(texts::file(language)) {
            (picture(file.id, "big"))
            dl class="left" {
                @if let Some(seconds) = facts.seconds { dt { (texts::print_time(language)) } dd { (span(language, seconds)) } }
                @if let Some(grams) = facts.grams { dt { (texts::material(language)) } dd { (texts::grams(language, &notation::decimal(language, grams))) } }
                @if let Some(layers) = facts.layers { dt { (texts::layers(language)) } dd { (layers) } }
                @if let Some(size) = facts.size { dt { (texts::size(language)) } dd { (notation::size(language, size)) } }
                @if let Some(slicer) = &facts.slicer { dt { (texts::slicer(language)) } dd { (slicer) } }
            }
            @match hindrance {
                Some(words) => {
                    p class="bad" role="alert" { (sentence(&words)) }
                    a class="button second" href={ (upload_path(printer.id)) "?file=" (file.id) } { (texts::check_again(language)) }
                },
                None => {
                    form method="post" action=(act_path(printer.id, "print")) {
                        (hidden_once())
                        input type="hidden" name="fileId" value=(file.id);
                        (slots(language, printer, file))
                        button type="submit" { (texts::print_now(language, name)) }
                    }
                },
            }
            p class="soft" {
                (texts::print_note(language))
            }
        }
    }
}
