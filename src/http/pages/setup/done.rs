//! Page after the last step of the setup wizard: the settings that were written, the settings that require a restart,
//! and a test print.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::first_print::{self, FirstPrintQuery};
use super::titles::title_of;
use super::{PATH as BEGINNING, WizardHandles, WizardRequest, faults_of, wrong};
use crate::form::PageForm;
use crate::frame::{see_other, whole_page};
use domain::file::GcodeForm;
use domain::id::Id;
use domain::refusal::Refusal;
use domain::test_print;
use http::access::Caller;
use http::error::ApiError;
use http::page::OpenQuery;
use http_api::production::files::{FileHandles, keep_made};
use http_api::production::printers::{PrinterHandles, present_all, print_stored};
use printers::PrinterType;

/// Path of the page after the last step.
pub(super) const PATH: &str = "/setup/done";
/// Path to which the request for a test print is posted.
pub(super) const PRINT_PATH: &str = "/setup/test-print";
/// File name of the test print.
const TEST_FILE_NAME: &str = "test-print.gcode";
const TITLE: &str = "Your shop is set up";

/// Serves the page after the last step.
pub(super) async fn show(
    State(app): State<WizardHandles>,
    State(printers): State<PrinterHandles>,
    OpenQuery(query): OpenQuery<FirstPrintQuery>,
    who: Caller,
) -> Result<Response, ApiError> {
    let visit = WizardRequest::new(&app, &who).await?;
    if !visit.completed {
        return Ok(see_other(BEGINNING));
    }
    Ok(page(StatusCode::OK, &app, &visit, &printers, (&html! {}, query.printer())))
}

/// Prints a small test part on the selected printer.
pub(super) async fn print(
    State(app): State<WizardHandles>,
    State(printers): State<PrinterHandles>,
    State(files): State<FileHandles>,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let visit = WizardRequest::new(&app, &sent.call.who).await?;
    let printer_id: Option<Id> = sent.text("printer").parse().ok();
    let residents = present_all(&printers);
    let mut present = residents.iter().filter_map(|versioned| versioned.state.as_ref());
    let printer =
        present.find(|printer| Some(printer.id) == printer_id).ok_or_else(|| Refusal::not_found("printer"))?;
    let gcode = test_print::gcode(printer.fields.build_volume.as_ref());
    let file = keep_made(&files, sent.call.origin(), TEST_FILE_NAME, &gcode).await?;
    let (status, words, followed) = match print_stored(&printers, printer.id, &sent.call, file).await {
        Ok(true) => (
            StatusCode::OK,
            html! { p { strong { "Printing. " } (printer.fields.name) " has started the test print." } },
            Some(printer.id),
        ),
        Ok(false) => (
            StatusCode::OK,
            html! { p { strong { "Uploading. " } "The file is being sent to " (printer.fields.name) "." } },
            Some(printer.id),
        ),
        Err(error) if error.status() != StatusCode::INTERNAL_SERVER_ERROR => {
            let words = html! {
                (wrong(&faults_of(&error)))
                p { "Check that the printer is switched on and idle and that its bed is clear. Then try again." }
            };
            (StatusCode::CONFLICT, words, None)
        }
        Err(error) => return Err(error),
    };
    Ok(page(status, &app, &visit, &printers, (&words, followed)))
}

/// Renders the page: the result of the last button press and, if a printer is being followed, its progress.
fn page(
    status: StatusCode,
    app: &WizardHandles,
    visit: &WizardRequest,
    printers: &PrinterHandles,
    (answer, followed): (&Markup, Option<Id>),
) -> Response {
    let progress = followed.and_then(|printer| first_print::progress(printers, printer));
    let content = html! {
        main id="content" {
            h1 { (TITLE) }
            (written(app))
            section class="card" aria-labelledby="first" {
                h2 id="first" { "First print" }
                (answer)
                @if let Some(progress) = &progress { (progress) }
                (test_prints(visit, printers))
            }
            section class="card" aria-labelledby="next" {
                h2 id="next" { "Next steps" }
                ul class="rows" {
                    li { span { "See your printers live" } a href="/floor" { "Open the floor" } }
                    li { span { "Manage orders, jobs, stock and printers over the API" } a href="/docs/" { "Open the API documentation" } }
                    li { span { "Check that all services respond" } a href="/readyz" { "Check service status" } }
                    li { span { "Change these settings" } a href=(BEGINNING) { "Run setup again" } }
                }
            }
        }
    };
    whole_page(status, TITLE, &content, progress.is_some())
}

/// Renders the settings written since startup, and those that require a restart.
fn written(app: &WizardHandles) -> Markup {
    let Some(written) = app.setup.setup.last_written() else {
        return html! { p { "All settings are in effect." } };
    };
    html! {
        section class="card" aria-labelledby="written" {
            h2 id="written" { "Written to " (written.file) }
            @if written.written.is_empty() { p { "No changes were needed." } }
            ul class="rows" { @for name in &written.written { (setting(name)) } }
            @for one in &written.shadowed {
                p class="bad" { code { (one.name) } " has no effect: " (one.by) " overrides the file. Remove it there." }
            }
            @for one in &written.tested { p class="soft" { (super::fields::name_of(one.service)) ": " (one.message) } }
        }
        section class="card" aria-labelledby="restart" {
            h2 id="restart" { "Restart the server" }
            @if written.restart.is_empty() {
                p { "Not needed: all written settings are in effect." }
            } @else {
                p { "Restart the server to apply these settings: press Ctrl+C and run the same command again, or run " code { "systemctl restart printfloor" } "." }
                ul class="rows" { @for name in &written.restart { (setting(name)) } }
            }
        }
    }
}

/// Renders a setting by its name on the pages, followed by its name in the file.
fn setting(name: &str) -> Markup {
    html! {
        li {
            @if let Some(title) = title_of(name) { span { (title) } code class="soft" { (name) } } @else { code { (name) } }
        }
    }
}

/// Renders a test-print button for each printer that accepts plain G-code.
fn test_prints(visit: &WizardRequest, printers: &PrinterHandles) -> Markup {
    let residents = present_all(printers);
    let all: Vec<_> = residents.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let prints = |kind: &str| PrinterType::of_word(kind).is_some_and(|declared| declared.prints(GcodeForm::Text));
    html! {
        @if all.is_empty() {
            p { "No printers yet. " a href=(super::printers::PATH) { "Add one" } " and come back." }
        } @else {
            p { "Prints a flat 20 mm square in PLA in about two minutes, with the nozzle at 200 °C and the bed at 60 °C. Clear the bed and load PLA first, and stay with the printer." }
        }
        ul class="rows" {
            @for printer in all {
                li {
                    strong { (printer.fields.name) }
                    @if prints(&printer.fields.kind) {
                        form method="post" action=(PRINT_PATH) {
                            (visit.hidden())
                            input type="hidden" name="printer" value=(printer.id);
                            button type="submit" { "Print a test part on " (printer.fields.name) }
                        }
                    } @else {
                        span class="soft" { "Accepts sliced packages only. Start a test print on the printer's screen." }
                    }
                }
            }
        }
    }
}
