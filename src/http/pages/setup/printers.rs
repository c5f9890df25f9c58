//! Third step of the setup wizard: printers found by a search, and printers added manually. Each printer is tested
//! before it is added.

use api_derive::Request;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::search;
use super::steps::{SetupStep, ways};
use super::{FaultLine, WizardHandles, WizardRequest, trial, wrong};
use crate::faults::alert;
use crate::form::PageForm;
use crate::frame::{SLOT, see_other, with_parts};
use crate::printer_fields::{self, type_name};
use crate::printer_search::{SearchHandles, part, status_text, value_of_find};
use actors::app::service_tests::Service;
use http::access::Caller;
use http::error::ApiError;
use http::page::OpenQuery;
use http_api::production::printers::{PrinterHandles, add as add_printer, present_all};
use words::staff::setup as texts;

/// Path of the printers step.
pub(super) const PATH: &str = "/setup/printers";
/// Path of the form that adds a printer.
pub(super) const NEW_PATH: &str = "/setup/printers/new";

/// Query parameters that select a search result with which to fill in the form.
#[derive(Request, Debug)]
pub(super) struct NewQuery {
    /// Address of a printer that the last search found.
    #[api(name = "found")]
    address: Option<String>,
}

/// Serves the page of the printers step.
pub(super) async fn show(
    State(app): State<WizardHandles>,
    State(searches): State<SearchHandles>,
    State(printers): State<PrinterHandles>,
    who: Caller,
) -> Result<Response, ApiError> {
    let visit = WizardRequest::new(&app, &who).await?;
    if let Some(elsewhere) = visit.instead() {
        return Ok(elsewhere);
    }
    let language = visit.language;
    let (searching, board) = searches.progress();
    let residents = present_all(&printers);
    let status = status_text(language, &board, searching);
    let part = part(language, &searches, board, searching, NEW_PATH);
    let reload = html! { a href=(PATH) { (texts::reload_link(language)) } };
    let content = html! {
        p { (texts::printers_text(language)) }
        section class="card" aria-labelledby="search" {
            h2 id="search" { (texts::search(language)) }
            p id="said" role="status" { (status) }
            div id="live" data-stream=[searching.then_some(search::LIVE_PATH)] { (part) }
            @if searching {
                noscript { p { (with_parts(&texts::reload_text(language, SLOT), &[&reload])) } }
            }
            // The script shows the other form once the search is over.
            @if searching {
                form method="post" action=(search::CANCEL_PATH) data-until-over="" {
                    (visit.hidden())
                    button class="second" type="submit" { (texts::cancel_search(language)) }
                }
            }
            form method="post" action=(search::PATH) hidden[searching] data-once-over="" {
                (visit.hidden())
                button class="second" type="submit" { (texts::search(language)) }
            }
        }
        section class="card" aria-labelledby="added" {
            h2 id="added" { (texts::added_heading(language)) }
            @if residents.is_empty() { p { (texts::none_added(language)) } }
            ul class="rows" {
                @for printer in residents.iter().filter_map(|versioned| versioned.state.as_ref()) {
                    li {
                        strong { (printer.fields.name) }
                        @let program = type_name(&printer.fields.kind);
                        span class="soft" { (texts::program_at(language, program, &printer.fields.base_url)) }
                    }
                }
            }
        }
        p { a class="button second" href=(NEW_PATH) { (texts::add_manually(language)) } }
        (ways(language, SetupStep::Database, SetupStep::Integrations))
    };
    Ok(if searching {
        visit.live_page(SetupStep::Printers, &content)
    } else {
        visit.page(StatusCode::OK, SetupStep::Printers, &content)
    })
}

/// Serves the form for a new printer, filled in from the selected search result, if any.
pub(super) async fn show_form(
    State(app): State<WizardHandles>,
    State(searches): State<SearchHandles>,
    OpenQuery(query): OpenQuery<NewQuery>,
    who: Caller,
) -> Result<Response, ApiError> {
    let visit = WizardRequest::new(&app, &who).await?;
    if let Some(elsewhere) = visit.instead() {
        return Ok(elsewhere);
    }
    let find = query.address.as_deref().and_then(|address| searches.find(address));
    let value = |name: &str| find.as_ref().and_then(|find| value_of_find(find, name));
    // Unless the printer was discovered, its type is not known yet, and the usual build volume may be wrong for it.
    let content = form(&visit, &value, &html! {}, find.is_none());
    Ok(visit.page(StatusCode::OK, SetupStep::Printers, &content))
}

/// Tests a printer, and adds it if the test passes.
pub(super) async fn add(
    State(app): State<WizardHandles>,
    State(searches): State<SearchHandles>,
    State(printers): State<PrinterHandles>,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let visit = WizardRequest::new(&app, &sent.call.who).await?;
    if let Some(elsewhere) = visit.instead() {
        return Ok(elsewhere);
    }
    let again = |words: &Markup, is_open: bool| {
        let value = |name: &str| Some(sent.text(name).to_owned());
        visit.page(StatusCode::BAD_REQUEST, SetupStep::Printers, &form(&visit, &value, words, is_open))
    };
    // As in the form: without a find, the usual build volume may be wrong.
    let has_no_find = searches.find(sent.text("baseUrl")).is_none();
    let missing = printer_fields::missing(visit.language, &sent);
    if !missing.is_empty() {
        let lines: Vec<FaultLine> = missing.into_iter().map(FaultLine::of).collect();
        return Ok(again(&wrong(visit.language, &lines), has_no_find));
    }
    let test = printer_fields::tested(&app.setup.config, &sent, app.setup.environment.now()).await;
    if !test.ok {
        return Ok(again(
            &trial::failed(visit.language, Service::Printer, &test.message, test.detail.as_deref()),
            has_no_find,
        ));
    }
    match add_printer(&printers, &sent.request_of(printer_fields::with_url(sent.body(), &sent))).await {
        Ok(_) => Ok(see_other(PATH)),
        Err(error) if error.status().is_client_error() => Ok(again(&alert(visit.language, &error), true)),
        Err(error) => Err(error),
    }
}

/// Renders the form. `is_open` expands the fields that have defaults, because one of them may have an error.
fn form(visit: &WizardRequest, value: &dyn Fn(&str) -> Option<String>, words: &Markup, is_open: bool) -> Markup {
    html! {
        form class="card" method="post" action=(NEW_PATH) aria-labelledby="new" {
            h2 id="new" { (texts::add_heading(visit.language)) }
            (words)
            (visit.hidden())
            (printer_fields::inputs(visit.language, None, value))
            (printer_fields::more(visit.language, None, value, is_open, &html! {}))
            button type="submit" { (texts::test_and_add(visit.language)) }
            p { a class="button second" href=(PATH) { (texts::cancel(visit.language)) } }
        }
    }
}
