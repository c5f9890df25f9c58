//! Third step of the setup wizard: printers found by a search, and printers added manually. Each printer is tested
//! before it is added.

use api_derive::Request;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::search::{self, SearchHandles};
use super::steps::{SetupStep, ways};
use super::{WizardHandles, WizardRequest, trial, wrong};
use crate::faults::alert;
use crate::form::PageForm;
use crate::frame::see_other;
use crate::printer_fields::{self, program_of};
use actors::app::service_tests::Service;
use http::access::Caller;
use http::error::ApiError;
use http::page::OpenQuery;
use http_api::production::printers::{PrinterHandles, present_all, register};

/// Path of the printers step.
pub(super) const PATH: &str = "/setup/printers";
/// Path of the form that adds a printer.
pub(super) const NEW_PATH: &str = "/setup/printers/new";

/// Query parameters that select a search result with which to fill in the form.
#[derive(Request, Debug)]
pub(super) struct NewQuery {
    /// Index of a result in the last search.
    #[api(name = "found")]
    result: Option<u32>,
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
    let desk = &app.setup.setup;
    let searching = desk.is_searching();
    let board = desk.follow().borrow().clone();
    let residents = present_all(&printers);
    let status = search::status_text(&board, searching);
    let part = search::part(&searches, board, searching);
    let content = html! {
        p { "The search covers this server and the first ten addresses of its network. Add other printers manually." }
        section class="card" aria-labelledby="search" {
            h2 id="search" { "Search for printers" }
            p id="said" role="status" { (status) }
            div id="live" data-stream=[searching.then_some(search::LIVE_PATH)] { (part) }
            @if searching {
                noscript { p { a href=(PATH) { "Reload the page" } " to see the progress." } }
            }
            form method="post" action=(search::PATH) {
                (visit.hidden())
                button class="second" type="submit" { "Search for printers" }
            }
        }
        section class="card" aria-labelledby="added" {
            h2 id="added" { "Added printers" }
            @if residents.is_empty() { p { "None yet. You can continue and add printers later." } }
            ul class="rows" {
                @for printer in residents.iter().filter_map(|versioned| versioned.state.as_ref()) {
                    li {
                        strong { (printer.fields.name) }
                        span class="soft" { (program_of(&printer.fields.kind)) " at " (printer.fields.base_url) }
                    }
                }
            }
        }
        p { a class="button second" href=(NEW_PATH) { "Add a printer manually" } }
        (ways(SetupStep::Database, SetupStep::Integrations))
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
    OpenQuery(query): OpenQuery<NewQuery>,
    who: Caller,
) -> Result<Response, ApiError> {
    let visit = WizardRequest::new(&app, &who).await?;
    if let Some(elsewhere) = visit.instead() {
        return Ok(elsewhere);
    }
    let board = app.setup.setup.follow().borrow().clone();
    let find = query.result.and_then(|number| board.printers.into_iter().nth(usize::try_from(number).ok()?));
    let value = |name: &str| {
        let find = find.as_ref()?;
        match name {
            "name" => Some(find.name.clone()),
            "type" => Some(find.kind.to_owned()),
            "baseUrl" => Some(find.base_url.clone()),
            "serial" => find.serial.clone(),
            _ => None,
        }
    };
    let content = form(&visit, &value, &html! {});
    Ok(visit.page(StatusCode::OK, SetupStep::Printers, &content))
}

/// Tests a printer, and adds it if the test passes.
pub(super) async fn add(
    State(app): State<WizardHandles>,
    State(printers): State<PrinterHandles>,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let visit = WizardRequest::new(&app, &sent.call.who).await?;
    if let Some(elsewhere) = visit.instead() {
        return Ok(elsewhere);
    }
    let again = |words: &Markup| {
        let value = |name: &str| Some(sent.text(name).to_owned());
        visit.page(StatusCode::BAD_REQUEST, SetupStep::Printers, &form(&visit, &value, words))
    };
    let missing = printer_fields::missing(&sent);
    if !missing.is_empty() {
        return Ok(again(&wrong(&missing)));
    }
    let test = printer_fields::tested(&app.setup.config, &sent, app.setup.environment.now()).await;
    if !test.ok {
        return Ok(again(&trial::failed(Service::Printer, &test.message, test.detail.as_deref())));
    }
    match register(&printers, sent.call.origin(), &printer_fields::request_members(&sent).into()).await {
        Ok(_) => Ok(see_other(PATH)),
        Err(error) if error.status().is_client_error() => Ok(again(&alert(&error))),
        Err(error) => Err(error),
    }
}

fn form(visit: &WizardRequest, value: &dyn Fn(&str) -> Option<String>, words: &Markup) -> Markup {
    html! {
        form class="card" method="post" action=(NEW_PATH) aria-labelledby="new" {
            h2 id="new" { "Add a printer" }
            (words)
            (visit.hidden())
            (printer_fields::inputs(None, value))
            button type="submit" { "Test and add" }
            p { a class="button second" href=(PATH) { "Cancel" } }
        }
    }
}
