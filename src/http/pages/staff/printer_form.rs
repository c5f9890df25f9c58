//! Forms for adding a printer, one per printer type, and for changing or removing a printer.

use api_derive::Request;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::FLOOR_PATH;
use super::card::act_path;
use super::floor::FloorHandles;
use super::printer_network;
use super::printer_settings::{change_body, more_inputs, new_body, value_of};
use super::shell::{StaffSection, StaffViewer, hidden};
use crate::design::{Icon, icon};
use crate::form::{Form, PageForm, VERSION_FIELD};
use crate::frame::see_other;
use crate::printer_search::{SearchHandles, value_of_find};
use crate::{printer_fields, setup};
use actors::app::service_tests::Service;
use domain::principal::Role;
use domain::printer::Printer;
use http::access::Caller;
use http::command_request::find_present;
use http::error::ApiError;
use http::page::OpenQuery;
use http::path_id::PathId;
use http_api::production::printers::{add as add_printer, change as change_printer};
use printers::{PRINTER_TYPES, PrinterType};
use words::Language;
use words::staff::printer_form as texts;

/// Path of the form for adding a printer.
pub(super) const NEW_PRINTER_PATH: &str = "/floor/printers/new";

/// Query parameters of the form for adding a printer.
#[derive(Request, Debug)]
pub(super) struct NewPrinterQuery {
    /// Printer type, as spelled in the API; if missing, the list of types is shown.
    #[api(name = "type")]
    kind: Option<String>,
    /// Address of a printer that the last search found, with whose details the form is filled in.
    #[api(name = "found")]
    address: Option<String>,
}

/// Serves the first two steps of adding a printer: choosing one found on the network, or a type, and then filling in
/// the form.
pub(super) async fn show_new(
    State(app): State<FloorHandles>,
    State(search): State<SearchHandles>,
    OpenQuery(query): OpenQuery<NewPrinterQuery>,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let language = viewer.language();
    let searcher = who.has(Role::Admin).then_some(&search);
    let find = searcher.zip(query.address.as_deref()).and_then(|(search, address)| search.find(address));
    let value = |name: &str| find.as_ref().and_then(|find| value_of_find(find, name));
    let kind = find.as_ref().map(|find| find.kind).or(query.kind.as_deref());
    let content = match kind.and_then(PrinterType::of_word) {
        Some(declared) => new_form(language, declared, &value, &html! {}, false),
        None => choices(language, searcher),
    };
    Ok(viewer.page(StaffSection::Floor, &texts::add_title(language), &app.board.view(), &content))
}

/// Renders the printers to choose from, with those on the network for users who may search it, and the printer types
/// for all others.
fn choices(language: Language, searcher: Option<&SearchHandles>) -> Markup {
    html! {
        p { a href=(FLOOR_PATH) { (texts::all_printers(language)) } }
        h1 { (texts::add_title(language)) }
        @if let Some(search) = searcher { (printer_network::section(language, search)) }
        section aria-labelledby="by-hand" {
            h2 id="by-hand" { (texts::by_hand_heading(language)) }
            p { (texts::choose_text(language)) }
            ul class="options" aria-label=(texts::types(language)) {
                @for declared in PRINTER_TYPES {
                    li {
                        a class="option" href={ (NEW_PRINTER_PATH) "?type=" (declared.word) } {
                            b { (declared.name) }
                            @if let Some(models) = declared.models { " " span class="soft" { (models(language)) } }
                            (icon(Icon::ChevronRight))
                        }
                    }
                }
            }
        }
    }
}

/// Renders the form for adding a printer. `words` states why the previous submission was rejected; `is_open` expands
/// the fields that have defaults, because one of them may have an error.
fn new_form(
    language: Language,
    declared: &PrinterType,
    value: &dyn Fn(&str) -> Option<String>,
    words: &Markup,
    is_open: bool,
) -> Markup {
    let untested = value("untested").is_some_and(|text| text == "true");
    html! {
        p { a href=(NEW_PRINTER_PATH) { (texts::all_types(language)) } }
        h1 { (texts::add_heading(language, declared.name)) }
        form class="card narrowed" method="post" action={ (NEW_PRINTER_PATH) "?type=" (declared.word) } {
            (words)
            (hidden())
            (printer_fields::inputs(language, Some(declared), value))
            (printer_fields::more(language, Some(declared), value, is_open, &more_inputs(language, value)))
            div class="field" {
                input id="untested" name="untested" type="checkbox" value="true" checked[untested];
                label for="untested" class="inline" { " " (texts::skip_test(language)) }
            }
            button type="submit" { (texts::test_and_add(language)) }
            " "
            a class="tall" href=(FLOOR_PATH) { (texts::cancel(language)) }
        }
    }
}

/// Adds a printer after a connection test, which the user can skip.
pub(super) async fn add(State(app): State<FloorHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&sent.call.who, &app.config)?;
    let Some(declared) = PrinterType::of_word(sent.text("type")) else { return Ok(see_other(NEW_PRINTER_PATH)) };
    let (language, typed) = (viewer.language(), Form::submitted(&sent));
    let again = |typed: &Form, words: &Markup, is_open: bool| {
        // A box that was not ticked is there too, and empty.
        let content = new_form(language, declared, &|name| Some(typed.text(name).to_owned()), words, is_open);
        viewer.page(StaffSection::Floor, &texts::add_title(language), &app.board.view(), &content)
    };
    if sent.text("untested").is_empty() {
        let test = printer_fields::tested(&app.config, &sent, app.board.shop.environment.now()).await;
        if !test.ok {
            let words = setup::failed(language, Service::Printer, &test.message, test.detail.as_deref());
            let mut response = again(&typed, &words, false);
            *response.status_mut() = StatusCode::BAD_REQUEST;
            return Ok(response);
        }
    }
    match add_printer(&app.board.shop, &sent.request_of(new_body(&sent))).await {
        Ok(outcome) => Ok(see_other(&format!("{FLOOR_PATH}/printers/{}", outcome.id))),
        Err(error) => {
            let typed = typed.with_refusal(error)?;
            Ok(typed.answer(again(&typed, &typed.alert(), true)))
        }
    }
}

/// Serves the form for changing a printer.
pub(super) async fn show_edit(
    State(app): State<FloorHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let current = find_present(&app.board.shop.printers, id).await?;
    let printer = &current.1;
    let value = |name: &str| Some(value_of(viewer.language(), &printer.fields, name));
    let content = edit_form(viewer.language(), &current, &value, &html! {});
    Ok(viewer.page(StaffSection::Floor, &printer.fields.name, &app.board.view(), &content))
}

/// Renders the form for changing a printer. The form contains the printer's version, so that saving does not overwrite
/// concurrent changes.
fn edit_form(
    language: Language,
    (version, printer): &(i64, Printer),
    value: &dyn Fn(&str) -> Option<String>,
    words: &Markup,
) -> Markup {
    let (name, own_page) = (&printer.fields.name, format!("{FLOOR_PATH}/printers/{}", printer.id));
    let declared = PrinterType::of_word(&printer.fields.kind);
    html! {
        p { a href=(own_page) { (texts::back_to(language, name)) } }
        h1 { (texts::edit_heading(language, name)) }
        form class="card narrowed" method="post" action={ (own_page) "/edit" } {
            (words)
            (hidden())
            input type="hidden" name=(VERSION_FIELD) value=(version);
            (printer_fields::inputs(language, declared, value))
            p class="soft" { (texts::keep_key(language)) }
            (printer_fields::more(language, declared, value, true, &more_inputs(language, value)))
            button type="submit" { (texts::save(language)) }
        }
        section class="card narrowed" aria-labelledby="remove" {
            h2 id="remove" { (texts::remove_named(language, name)) }
            p { (texts::remove_text(language)) }
            details {
                summary { (texts::remove(language)) }
                p { strong { (texts::remove_question(language, name)) } }
                form method="post" action=(act_path(printer.id, "remove")) {
                    (hidden())
                    input type="hidden" name="back" value=(FLOOR_PATH);
                    button class="stop" type="submit" { (texts::remove_named(language, name)) }
                }
            }
        }
    }
}

/// Saves the changes in a printer's form.
pub(super) async fn change(
    State(app): State<FloorHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let sent = sent.at_version();
    let viewer = StaffViewer::new(&sent.call.who, &app.config)?;
    let current = find_present(&app.board.shop.printers, id).await?;
    let printer = &current.1;
    match change_printer(&app.board.shop, id, &sent.request_of(change_body(&printer.fields, &sent))).await {
        Ok(_) => Ok(see_other(&format!("{FLOOR_PATH}/printers/{id}"))),
        Err(error) => {
            let typed = Form::submitted(&sent).with_refusal(error)?;
            let content =
                edit_form(viewer.language(), &current, &|name| Some(typed.text(name).to_owned()), &typed.alert());
            let response = viewer.page(StaffSection::Floor, &printer.fields.name, &app.board.view(), &content);
            Ok(typed.answer(response))
        }
    }
}
