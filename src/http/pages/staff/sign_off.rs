//! Sign-off form for the parts of a print: the number of good parts, the defects of the rejected parts, a note, and a
//! photo, which can be taken on the spot with a phone. For a small plate, the number is chosen with a button.

use std::sync::Arc;

use api_derive::Request;
use axum::extract::{Request as HttpRequest, State};
use axum::http::Method;
use axum::response::Response;
use maud::{Markup, html};

use super::acts::{GOOD_LABEL, NOTE_LABEL, REASON_LABEL, back};
use super::card::act_path;
use super::job::job_path;
use super::shell::with_token;
use super::subject::{SIGN_OFF_WORD, check_at_printer, check_of_job, mark_at_printer, mark_of_job, print_field};
use super::{FLOOR_PATH, ORDERS_PATH};
use crate::form::{PageForm, check_token};
use crate::refused::capital;
use config::Config;
use domain::id::Id;
use domain::job::Job;
use domain::printer::Printer;
use domain::sign_off::MAX_NOTE_CHARS;
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::path_id::PathId;
use http::routes::{PageBounds, Routes};
use http_api::production::files::{FileHandles, PHOTO_MEMBER, take_with_picture};
use http_api::production::jobs::{self, JobHandles};
use http_api::production::printers::{self, PrinterHandles};
use words::Language;
use words::staff::common;

/// Maximum number of parts on a plate for which the form has a button for each number of good parts.
const MAX_COUNT_BUTTONS: u32 = 6;

handles! {
    /// Dependencies of the sign-off handlers.
    pub(crate) struct SignOffHandles {
        printers: PrinterHandles,
        jobs: JobHandles,
        files: FileHandles,
        config: Arc<Config>,
    }
}

/// Query parameters of the URL to which the sign-off form is submitted. The URL contains the CSRF token because the
/// body is streamed: a token in the body would be read too late.
#[derive(Request, Debug)]
pub(super) struct SignOffQuery {
    /// CSRF token of the session.
    token: Option<String>,
}

/// Adds the routes to which sign-off forms are posted.
pub(super) fn routes(routes: Routes) -> Routes {
    let (session, upload) = (RequiredAccess::Session, PageBounds::Upload);
    routes.page(Method::POST, session, "/floor/printers/{id}/signed", at_printer, upload).page(
        Method::POST,
        session,
        "/shop/jobs/{id}/signed",
        of_job,
        upload,
    )
}

/// Subject of a sign-off: the parts to inspect.
pub(super) struct SignOffSubject {
    /// Path to which the form is posted.
    path: String,
    /// ID of the printer or the job.
    id: Id,
    /// Number of parts on the plate, if known.
    parts: Option<u32>,
    /// Mark of the print.
    print: Option<String>,
}

impl SignOffSubject {
    /// Returns the parts of a printer's last print, with the number of parts on its plate, if known; signing them off
    /// clears its bed.
    pub(super) fn on_bed(printer: &Printer, parts: Option<u32>) -> Self {
        let (id, print) = (printer.id, mark_at_printer(printer, SIGN_OFF_WORD));
        Self { path: act_path(id, SIGN_OFF_WORD), id, parts, print }
    }

    /// Returns the parts of a job's last print.
    pub(super) fn of_job(job: &Job) -> Self {
        let (id, print) = (job.id, mark_of_job(job, SIGN_OFF_WORD));
        Self { path: job_path(id, SIGN_OFF_WORD), id, parts: Some(job.plate_parts.max(1)), print }
    }
}

/// Renders the sign-off form. `to` is the page to return to, if it is not the default page.
pub(super) fn sign_off_form(language: Language, of: &SignOffSubject, reasons: &[String], to: Option<&str>) -> Markup {
    let SignOffSubject { path, id, parts, print } = of;
    let (id, parts) = (*id, *parts);
    let few = parts.filter(|parts| (1..=MAX_COUNT_BUTTONS).contains(parts));
    html! {
        form method="post" enctype="multipart/form-data" action=(with_token(path)) data-quiet="" class="tools" {
            (print_field(print.as_deref()))
            @if let Some(to) = to { input type="hidden" name="back" value=(to); }
            @if few.is_some() {
                // Enter in a field presses the first button of a form: this one keeps it from choosing a number.
                button type="submit" disabled hidden {}
            } @else {
                div class="field narrow" {
                    label for={ "good-" (id) } { (GOOD_LABEL(language)) }
                    input id={ "good-" (id) } name="goodCount" type="number" min="0" max=[parts] inputmode="numeric" required;
                }
            }
            div class="field" {
                label for={ "reason-" (id) } { (REASON_LABEL(language)) }
                select id={ "reason-" (id) } name="reason" {
                    option value="" { (common::no_defect(language)) }
                    @for reason in reasons { option value=(reason) { (capital(&defect_name(language, reason))) } }
                }
            }
            div class="field" {
                label for={ "note-" (id) } { (NOTE_LABEL(language)) }
                input id={ "note-" (id) } name="note" maxlength=(MAX_NOTE_CHARS);
            }
            div class="field" {
                label for={ "picture-" (id) } { (common::picture_of_parts(language)) }
                input id={ "picture-" (id) } name="picture" type="file" accept="image/*";
            }
            @match few {
                Some(parts) => { (count_buttons(language, id, parts)) },
                None => { button class="btn" type="submit" id={ "sign-" (id) } { (common::sign_off(language)) } },
            }
        }
    }
}

/// Renders a button for each number of good parts on a plate, with which the parts are signed off.
fn count_buttons(language: Language, id: Id, parts: u32) -> Markup {
    html! {
        div class="acts" role="group" aria-label=(GOOD_LABEL(language)) {
            @for good in (0..=parts).rev() {
                button class="btn" type="submit" id={ "good-" (id) "-" (good) } name="goodCount" value=(good) {
                    (count_words(language, good, parts))
                }
            }
        }
    }
}

/// Returns the name of a defect in the language of the page. Reasons that a shop adds in its settings stay as they are.
pub(super) fn defect_name(language: Language, reason: &str) -> String {
    defect_label(language, reason).unwrap_or_else(|| reason.replace('_', " "))
}

/// Returns the name of a defect that every shop has; `None` for any other reason.
pub(super) fn defect_label(language: Language, reason: &str) -> Option<String> {
    let name = match reason {
        "adhesion" => common::defect_adhesion,
        "warping" => common::defect_warping,
        "stringing" => common::defect_stringing,
        "layer_shift" => common::defect_layer_shift,
        "spaghetti" => common::defect_spaghetti,
        "wrong_colour" => common::defect_wrong_colour,
        "other" => common::defect_other,
        _ => return None,
    };
    Some(name(language))
}

/// Returns the label of the button for a number of good parts out of all parts on a plate.
fn count_words(language: Language, good: u32, parts: u32) -> String {
    match (good, parts) {
        (0, 1) => common::bad(language),
        (1, 1) => common::good(language),
        (0, _) => common::none_good(language),
        (2, 2) => common::both_good(language),
        _ if good == parts => common::all_good(language, parts),
        _ => common::some_good(language, good),
    }
}

/// Reads the form with the ID of its photo, which is stored.
async fn read(
    app: &SignOffHandles,
    query: SignOffQuery,
    who: Caller,
    request: HttpRequest,
) -> Result<PageForm, ApiError> {
    let session = who.session.ok_or_else(|| ApiError::internal("a member of staff without a session"))?;
    check_token(&app.config, session, query.token.as_deref().unwrap_or_default())?;
    let form = take_with_picture(&app.files, who, request).await?;
    let mut fields = form.fields;
    fields.extend(form.picture.map(|picture| (PHOTO_MEMBER.to_owned(), picture.to_string())));
    Ok(PageForm::read(form.call, fields))
}

/// Marks a printer's bed as clear and signs off the parts on it.
async fn at_printer(
    State(app): State<SignOffHandles>,
    PathId(id): PathId,
    OpenQuery(query): OpenQuery<SignOffQuery>,
    who: Caller,
    request: HttpRequest,
) -> Result<Response, ApiError> {
    let sent = read(&app, query, who, request).await?;
    check_at_printer(&app.printers, id, SIGN_OFF_WORD, &sent).await?;
    printers::clear_bed(&app.printers, id, &sent.request()).await?;
    Ok(back(&sent, format!("{FLOOR_PATH}/printers/{id}")))
}

/// Signs off the parts of a job.
async fn of_job(
    State(app): State<SignOffHandles>,
    PathId(id): PathId,
    OpenQuery(query): OpenQuery<SignOffQuery>,
    who: Caller,
    request: HttpRequest,
) -> Result<Response, ApiError> {
    let sent = read(&app, query, who, request).await?;
    let job = jobs::find(&app.jobs, id).await?;
    check_of_job(&job, SIGN_OFF_WORD, &sent)?;
    jobs::operations::sign_off(&app.jobs, id, &sent.request()).await?;
    Ok(back(&sent, format!("{ORDERS_PATH}/{}#job-{id}", job.order_id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_button_says_how_many_parts_of_a_plate_are_good() {
        let words =
            |parts: u32| (0..=parts).rev().map(|good| count_words(Language::English, good, parts)).collect::<Vec<_>>();
        assert_eq!(words(1), ["Good", "Bad"]);
        assert_eq!(words(2), ["Both good", "1 good", "None good"]);
        assert_eq!(words(4), ["All 4 good", "3 good", "2 good", "1 good", "None good"]);
        let german = |good, parts| count_words(Language::German, good, parts);
        assert_eq!([german(1, 1), german(2, 2), german(4, 4)], ["Gut", "Beide gut", "Alle 4 gut"]);
        assert_eq!([german(0, 1), german(0, 3), german(1, 3)], ["Ausschuss", "Keines gut", "1 gut"]);
    }

    #[test]
    fn defects_have_names_in_each_language() {
        for reason in ["adhesion", "warping", "stringing", "layer_shift", "spaghetti", "wrong_colour", "other", "x_y"] {
            assert_eq!(defect_name(Language::English, reason), reason.replace('_', " "));
        }
        assert_eq!(defect_name(Language::German, "wrong_colour"), "falsche Farbe");
        assert_eq!(defect_name(Language::German, "x_y"), "x y");
    }

    #[test]
    fn a_large_plate_has_a_field_for_the_number_of_good_parts() {
        let form = |parts| {
            let of = SignOffSubject { path: "/signed".to_owned(), id: Id::ONLY, parts, print: None };
            sign_off_form(Language::English, &of, &[], None).into_string()
        };
        for parts in [None, Some(0), Some(7), Some(400)] {
            assert!(form(parts).contains("type=\"number\"") && form(parts).contains("Sign off"), "{}", form(parts));
        }
        assert!(!form(Some(6)).contains("type=\"number\""), "{}", form(Some(6)));
        assert_eq!(form(Some(6)).matches("name=\"goodCount\"").count(), 7);
    }

    #[test]
    fn defects_are_offered_with_a_capital_letter() {
        let of = SignOffSubject { path: "/signed".to_owned(), id: Id::ONLY, parts: None, print: None };
        let reasons = ["layer_shift".to_owned(), "wrong_colour".to_owned()];
        for (language, names) in
            Language::ALL.into_iter().zip([["Layer shift", "Wrong colour"], ["Schichtversatz", "Falsche Farbe"]])
        {
            let form = sign_off_form(language, &of, &reasons, None).into_string();
            assert!(names.iter().all(|name| form.contains(&format!(">{name}</option>"))), "{form}");
        }
    }
}
