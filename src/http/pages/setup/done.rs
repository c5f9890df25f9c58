//! Page after the last step of the setup wizard: the settings written, the settings that require a restart, and a test
//! print.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::first_print::{self, FirstPrintQuery};
use super::titles::title_of;
use super::{PATH as BEGINNING, WizardHandles, WizardRequest, WizardText, advice, faults_of, wrong};
use crate::form::PageForm;
use crate::frame::{SLOT, in_english, see_other, whole_page, with_parts};
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
use words::Language;
use words::staff::setup as texts;

/// Path of the page after the last step.
pub(super) const PATH: &str = "/setup/done";
/// Path to which the request for a test print is posted.
pub(super) const PRINT_PATH: &str = "/setup/test-print";
/// File name of the test print.
const TEST_FILE_NAME: &str = "test-print.gcode";
/// Next steps: the possible action, the path of its page, and the text of the link.
const NEXT_STEPS: [(WizardText, &str, WizardText); 4] = [
    (texts::next_floor, "/floor", texts::next_floor_link),
    (texts::next_api, "/docs/", texts::next_api_link),
    (texts::next_services, "/readyz", texts::next_services_link),
    (texts::next_settings, BEGINNING, texts::next_settings_link),
];

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
    let (language, name) = (visit.language, printer.fields.name.as_str());
    let gcode = test_print::gcode(printer.fields.build_volume.as_ref());
    let file = keep_made(&files, sent.call.origin(), TEST_FILE_NAME, &gcode).await?;
    let (status, words, followed) = match print_stored(&printers, printer.id, &sent.call, file).await {
        Ok(true) => (
            StatusCode::OK,
            html! { p { strong { (texts::printing(language)) " " } (texts::printing_text(language, name)) } },
            Some(printer.id),
        ),
        Ok(false) => (
            StatusCode::OK,
            html! { p { strong { (texts::uploading(language)) " " } (texts::uploading_text(language, name)) } },
            Some(printer.id),
        ),
        Err(error) if error.status() != StatusCode::INTERNAL_SERVER_ERROR => {
            let words = html! {
                (wrong(language, &faults_of(language, &error)))
                p { (texts::print_refused(language)) }
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
    let language = visit.language;
    let progress = followed.and_then(|printer| first_print::progress(language, printers, printer));
    let title = texts::done_title(language);
    let content = html! {
        main id="content" {
            h1 { (title) }
            (written(language, app))
            section class="card" aria-labelledby="first" {
                h2 id="first" { (texts::first_print_heading(language)) }
                (answer)
                @if let Some(progress) = &progress { (progress) }
                (test_prints(visit, printers))
            }
            section class="card" aria-labelledby="next" {
                h2 id="next" { (texts::next_heading(language)) }
                ul class="rows" {
                    @for (text, path, link) in NEXT_STEPS {
                        li { span { (text(language)) } a href=(path) { (link(language)) } }
                    }
                }
            }
        }
    };
    whole_page(language, status, &title, &content, progress.is_some())
}

/// Renders the settings written since startup, and those that require a restart.
fn written(language: Language, app: &WizardHandles) -> Markup {
    let Some(written) = app.setup.setup.last_written() else {
        return html! { p { (texts::all_in_effect(language)) } };
    };
    html! {
        section class="card" aria-labelledby="written" {
            h2 id="written" { (texts::written_heading(language, written.file)) }
            @if written.written.is_empty() { p { (texts::no_changes_needed(language)) } }
            ul class="rows" { @for name in &written.written { (setting(language, name)) } }
            @for one in &written.shadowed {
                @let name = html! { code { (one.name) } };
                p class="bad" { (with_parts(&texts::shadowed(language, SLOT, &one.by), &[&name])) }
            }
            @for one in &written.tested {
                p class="soft" {
                    (super::fields::name_of(language, one.service)) ": "
                    @if let Some(text) = advice::result_text(language, &one.message) { (text) }
                    @else { (in_english(language, &one.message)) }
                }
            }
        }
        section class="card" aria-labelledby="restart" {
            h2 id="restart" { (texts::restart_heading(language)) }
            @if written.restart.is_empty() {
                p { (texts::no_restart(language)) }
            } @else {
                @let command = html! { code { "systemctl restart printfloor" } };
                p { (with_parts(&texts::restart_text(language, SLOT), &[&command])) }
                ul class="rows" { @for name in &written.restart { (setting(language, name)) } }
            }
        }
    }
}

/// Renders a setting by its name on the pages, followed by its name in the file.
fn setting(language: Language, name: &str) -> Markup {
    html! {
        li {
            @if let Some(title) = title_of(language, name) { span { (title) } code class="soft" { (name) } } @else { code { (name) } }
        }
    }
}

/// Renders a test-print button for each printer that accepts plain G-code.
fn test_prints(visit: &WizardRequest, printers: &PrinterHandles) -> Markup {
    let language = visit.language;
    let residents = present_all(printers);
    let all: Vec<_> = residents.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let prints = |kind: &str| PrinterType::of_word(kind).is_some_and(|declared| declared.prints(GcodeForm::Text));
    html! {
        @if all.is_empty() {
            @let link = html! { a href=(super::printers::PATH) { (texts::no_printers_link(language)) } };
            p { (with_parts(&texts::no_printers(language, SLOT), &[&link])) }
        } @else {
            p { (texts::test_print_text(language)) }
        }
        ul class="rows" {
            @for printer in all {
                li {
                    strong { (printer.fields.name) }
                    @if prints(&printer.fields.kind) {
                        form method="post" action=(PRINT_PATH) {
                            (visit.hidden())
                            input type="hidden" name="printer" value=(printer.id);
                            button type="submit" { (texts::print_test_part(language, &printer.fields.name)) }
                        }
                    } @else {
                        span class="soft" { (texts::packages_only(language)) }
                    }
                }
            }
        }
    }
}
