//! Sign-off form for the parts of a print: the number of bad parts, their defect, a note, and a photo, which can be
//! taken on the spot with a phone. For a plate with few parts, the number is chosen with a button, which signs the
//! parts off; the usual defect is preselected. For a larger plate, the number of good parts is typed.

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
use crate::sentences::capital;
use config::Config;
use domain::id::Id;
use domain::job::Job;
use domain::printer::Printer;
use domain::sign_off::{MAX_NOTE_CHARS, usual_reason};
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::path_id::PathId;
use http::routes::{PageBounds, Routes};
use http_api::production::files::{FileHandles, PHOTO_MEMBER, take_with_picture};
use http_api::production::jobs::{self, JobHandles};
use http_api::production::printers::{self, PrinterHandles};
use store::queries::Queries;
use words::Language;
use words::staff::common;

/// Maximum number of parts on a plate for which the form has a button for each number of bad parts.
const MAX_COUNT_BUTTONS: u32 = 12;
/// Number of recent prints with rejected parts that determine the usual defect.
const MAX_REJECTS_READ: u64 = 20;
/// Name of the field with the number of good parts.
const GOOD_FIELD: &str = "goodCount";
/// Name of the field with the defect.
const REASON_FIELD: &str = "reason";

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

/// Defects to choose from in the form.
#[derive(Clone, Copy)]
pub(super) struct Defects<'a> {
    /// Configured reasons.
    pub(super) reasons: &'a [String],
    /// Preselected reason.
    pub(super) preset: Option<&'a str>,
}

/// Returns the most frequent reason for recent rejections of parts; `None` if there were none.
pub(super) async fn usual_defect(queries: &Queries, config: &Config) -> Option<String> {
    // A missing suggestion is no reason for the page to fail.
    let last = queries.last_reject_reasons(MAX_REJECTS_READ).await.unwrap_or_default();
    usual_reason(&last, &config.quality.reasons).map(str::to_owned)
}

/// Renders the sign-off form for a job's last print, with the defect that was recorded for it, if any.
pub(super) fn correction_form(language: Language, job: &Job, reasons: &[String]) -> Markup {
    let sign_off = job.last_print().and_then(|print| print.sign_off.as_ref());
    let preset = sign_off.and_then(|sign_off| sign_off.reason.as_deref());
    sign_off_form(language, &SignOffSubject::of_job(job), Defects { reasons, preset }, None)
}

/// Renders the sign-off form. `to` is the page to return to, if it is not the default page.
pub(super) fn sign_off_form(language: Language, of: &SignOffSubject, defects: Defects<'_>, to: Option<&str>) -> Markup {
    let SignOffSubject { path, id, parts, print } = of;
    let (id, parts) = (*id, *parts);
    let few = parts.filter(|parts| (1..=MAX_COUNT_BUTTONS).contains(parts));
    // Without the number of parts, it is unclear whether all of them are good, and a preselected defect would be
    // recorded.
    let preset = defects.preset.filter(|_| parts.is_some());
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
                    input id={ "good-" (id) } name=(GOOD_FIELD) type="number" min="0" max=[parts] inputmode="numeric" required;
                }
            }
            div class="field" {
                label for={ "reason-" (id) } { (REASON_LABEL(language)) }
                select id={ "reason-" (id) } name=(REASON_FIELD) {
                    option value="" { (common::no_defect(language)) }
                    @for reason in defects.reasons {
                        @let is_preset = preset == Some(reason.as_str());
                        option value=(reason) selected[is_preset] { (capital(&defect_name(language, reason))) }
                    }
                }
            }
            @if let Some(parts) = few { (count_buttons(language, id, parts)) }
            div class="field" {
                label for={ "note-" (id) } { (NOTE_LABEL(language)) }
                input id={ "note-" (id) } name="note" maxlength=(MAX_NOTE_CHARS);
            }
            div class="field" {
                label for={ "picture-" (id) } { (common::picture_of_parts(language)) }
                input id={ "picture-" (id) } name="picture" type="file" accept="image/*";
            }
            @if few.is_none() {
                button class="btn" type="submit" id={ "sign-" (id) } { (common::sign_off(language)) }
            }
        }
    }
}

/// Renders a button for each number of bad parts on a plate, which signs the parts off; the last one is for no bad
/// parts.
fn count_buttons(language: Language, id: Id, parts: u32) -> Markup {
    html! {
        div class="acts" role="group" aria-label=(common::bad_parts(language)) {
            @for good in (0..parts).rev().chain([parts]) {
                button class="btn" type="submit" id={ "good-" (id) "-" (good) } name=(GOOD_FIELD) value=(good) {
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
        (0, 2) => common::both_bad(language),
        (0, _) => common::all_bad(language, parts),
        (2, 2) => common::both_good(language),
        _ if good == parts => common::all_good(language, parts),
        _ => common::some_bad(language, parts.saturating_sub(good)),
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
    fn a_button_says_how_many_parts_of_a_plate_are_bad() {
        let words =
            |parts: u32| (0..=parts).rev().map(|good| count_words(Language::English, good, parts)).collect::<Vec<_>>();
        assert_eq!(words(1), ["Good", "Bad"]);
        assert_eq!(words(2), ["Both good", "1 bad", "Both bad"]);
        assert_eq!(words(4), ["All 4 good", "1 bad", "2 bad", "3 bad", "All 4 bad"]);
        let german = |good, parts| count_words(Language::German, good, parts);
        assert_eq!([german(1, 1), german(2, 2), german(4, 4)], ["Gut", "Beide gut", "Alle 4 gut"]);
        assert_eq!([german(0, 1), german(0, 3), german(1, 3)], ["Ausschuss", "Alle 3 Ausschuss", "2 Ausschuss"]);
    }

    #[test]
    fn the_usual_defect_is_chosen_already_if_the_plate_is_known() {
        let of = SignOffSubject { path: "/signed".to_owned(), id: Id::ONLY, parts: Some(4), print: None };
        let reasons = ["layer_shift".to_owned(), "other".to_owned()];
        let form = |preset| sign_off_form(Language::English, &of, Defects { reasons: &reasons, preset }, None).0;
        assert!(form(Some("other")).contains("<option value=\"other\" selected>Other</option>"), "{}", form(None));
        assert!(!form(None).contains(" selected") && !form(Some("moon")).contains(" selected"), "{}", form(None));
        let of = SignOffSubject { parts: None, ..of };
        let unknown =
            sign_off_form(Language::English, &of, Defects { reasons: &reasons, preset: Some("other") }, None).0;
        assert!(!unknown.contains(" selected"), "nobody can tell that all parts are good: {unknown}");
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
            sign_off_form(Language::English, &of, Defects { reasons: &[], preset: None }, None).into_string()
        };
        for parts in [None, Some(0), Some(13), Some(400)] {
            assert!(form(parts).contains("type=\"number\"") && form(parts).contains("Sign off"), "{}", form(parts));
        }
        for parts in [6, 12] {
            assert!(!form(Some(parts)).contains("type=\"number\""), "{}", form(Some(parts)));
            assert_eq!(form(Some(parts)).matches("name=\"goodCount\"").count(), parts as usize + 1);
        }
    }

    #[test]
    fn defects_are_offered_with_a_capital_letter() {
        let of = SignOffSubject { path: "/signed".to_owned(), id: Id::ONLY, parts: None, print: None };
        let reasons = ["layer_shift".to_owned(), "wrong_colour".to_owned()];
        for (language, names) in
            Language::ALL.into_iter().zip([["Layer shift", "Wrong colour"], ["Schichtversatz", "Falsche Farbe"]])
        {
            let form = sign_off_form(language, &of, Defects { reasons: &reasons, preset: None }, None).into_string();
            assert!(names.iter().all(|name| form.contains(&format!(">{name}</option>"))), "{form}");
        }
    }
}
