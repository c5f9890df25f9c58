//! Sign-off form for the parts of a print: the number of good parts, the defects of the rejected parts, a note, and a
//! photo, which can be taken on the spot with a phone. For a small plate, the number is chosen with a button.

use std::sync::Arc;

use api_derive::Request;
use axum::extract::{Request as HttpRequest, State};
use axum::http::Method;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::acts::{GOOD_LABEL, NOTE_LABEL, REASON_LABEL, back, request_body};
use super::card::act_path;
use super::job::job_path;
use super::shell::with_token;
use super::{FLOOR_PATH, ORDERS_PATH};
use crate::form::{PageForm, check_token};
use config::Config;
use domain::id::Id;
use domain::sign_off::MAX_NOTE_CHARS;
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::path_id::PathId;
use http::routes::{PageBounds, Routes};
use http_api::production::files::{FileHandles, take_with_picture};
use http_api::production::jobs::{self, JobHandles};
use http_api::production::printers::{self, PrinterHandles};

/// Last segment of the path to which the form is posted.
const WORD: &str = "signed";
/// Maximum number of parts on a plate for which the form has a button for each number of good parts.
const MAX_COUNT_BUTTONS: u32 = 6;
/// Label of the form's picture field.
const PICTURE_LABEL: &str = "Picture of the parts";

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
#[derive(Clone, Copy)]
pub(super) enum SignOffSubject {
    /// Parts of the printer's last print, with the number of parts on its plate, if known; signing them off clears its
    /// bed.
    Bed(Id, Option<u32>),
    /// Parts of a job, with the number of parts on its plate.
    Job(Id, u32),
}

/// Renders the sign-off form. `to` is the page to return to, if it is not the default page.
pub(super) fn sign_off_form(of: SignOffSubject, reasons: &[String], to: Option<&str>) -> Markup {
    let (path, id, parts) = match of {
        SignOffSubject::Bed(printer, parts) => (act_path(printer, WORD), printer, parts),
        SignOffSubject::Job(job, parts) => (job_path(job, WORD), job, Some(parts)),
    };
    let few = parts.filter(|parts| (1..=MAX_COUNT_BUTTONS).contains(parts));
    html! {
        form method="post" enctype="multipart/form-data" action=(with_token(&path)) data-quiet="" class="tools" {
            @if let Some(to) = to { input type="hidden" name="back" value=(to); }
            @if few.is_some() {
                // Enter in a field presses the first button of a form: this one keeps it from choosing a number.
                button type="submit" disabled hidden {}
            } @else {
                div class="field narrow" {
                    label for={ "good-" (id) } { (GOOD_LABEL) }
                    input id={ "good-" (id) } name="goodCount" type="number" min="0" max=[parts] inputmode="numeric" required;
                }
            }
            div class="field" {
                label for={ "reason-" (id) } { (REASON_LABEL) }
                select id={ "reason-" (id) } name="reason" {
                    option value="" { "Not specified" }
                    @for reason in reasons { option value=(reason) { (reason.replace('_', " ")) } }
                }
            }
            div class="field" {
                label for={ "note-" (id) } { (NOTE_LABEL) }
                input id={ "note-" (id) } name="note" maxlength=(MAX_NOTE_CHARS);
            }
            div class="field" {
                label for={ "picture-" (id) } { (PICTURE_LABEL) }
                input id={ "picture-" (id) } name="picture" type="file" accept="image/*";
            }
            @match few {
                Some(parts) => { (count_buttons(id, parts)) },
                None => { button class="btn" type="submit" id={ "sign-" (id) } { "Sign off" } },
            }
        }
    }
}

/// Renders a button for each number of good parts on a plate, with which the parts are signed off.
fn count_buttons(id: Id, parts: u32) -> Markup {
    html! {
        div class="acts" role="group" aria-label=(GOOD_LABEL) {
            @for good in (0..=parts).rev() {
                button class="btn" type="submit" id={ "good-" (id) "-" (good) } name="goodCount" value=(good) {
                    (count_words(good, parts))
                }
            }
        }
    }
}

/// Returns the label of the button for a number of good parts out of all parts on a plate.
fn count_words(good: u32, parts: u32) -> String {
    match (good, parts) {
        (0, 1) => "Bad".to_owned(),
        (1, 1) => "Good".to_owned(),
        (0, _) => "None good".to_owned(),
        (2, 2) => "Both good".to_owned(),
        _ if good == parts => format!("All {parts} good"),
        _ => format!("{good} good"),
    }
}

/// Converts the form to the API request body and stores its photo.
async fn read(
    app: &SignOffHandles,
    query: SignOffQuery,
    who: Caller,
    request: HttpRequest,
) -> Result<(PageForm, Value), ApiError> {
    let session = who.session.ok_or_else(|| ApiError::internal("a member of staff without a session"))?;
    check_token(&app.config, session, query.token.as_deref().unwrap_or_default())?;
    let form = take_with_picture(&app.files, who, request, PICTURE_LABEL).await?;
    let sent = PageForm::read(form.call, form.fields);
    let mut body = request_body(&sent);
    if let (Some(picture), Value::Object(members)) = (form.picture, &mut body) {
        members.insert("photoFileId".to_owned(), json!(picture));
    }
    Ok((sent, body))
}

/// Marks a printer's bed as clear and signs off the parts on it.
async fn at_printer(
    State(app): State<SignOffHandles>,
    PathId(id): PathId,
    OpenQuery(query): OpenQuery<SignOffQuery>,
    who: Caller,
    request: HttpRequest,
) -> Result<Response, ApiError> {
    let (sent, body) = read(&app, query, who, request).await?;
    let response = back(&sent, format!("{FLOOR_PATH}/printers/{id}"));
    printers::clear_bed(&app.printers, id, &sent.call.of_form(&body)).await?;
    Ok(response)
}

/// Signs off the parts of a job.
async fn of_job(
    State(app): State<SignOffHandles>,
    PathId(id): PathId,
    OpenQuery(query): OpenQuery<SignOffQuery>,
    who: Caller,
    request: HttpRequest,
) -> Result<Response, ApiError> {
    let (sent, body) = read(&app, query, who, request).await?;
    let order = jobs::find(&app.jobs, id).await?.order_id;
    let response = back(&sent, format!("{ORDERS_PATH}/{order}#job-{id}"));
    jobs::operations::sign_off(&app.jobs, id, &sent.call.with_body(&body)).await?;
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_button_says_how_many_parts_of_a_plate_are_good() {
        let words = |parts: u32| (0..=parts).rev().map(|good| count_words(good, parts)).collect::<Vec<_>>();
        assert_eq!(words(1), ["Good", "Bad"]);
        assert_eq!(words(2), ["Both good", "1 good", "None good"]);
        assert_eq!(words(4), ["All 4 good", "3 good", "2 good", "1 good", "None good"]);
    }

    #[test]
    fn a_large_plate_has_a_field_for_the_number_of_good_parts() {
        let form = |parts| sign_off_form(SignOffSubject::Bed(Id::ONLY, parts), &[], None).into_string();
        for parts in [None, Some(0), Some(7), Some(400)] {
            assert!(form(parts).contains("type=\"number\"") && form(parts).contains("Sign off"), "{}", form(parts));
        }
        assert!(!form(Some(6)).contains("type=\"number\""), "{}", form(Some(6)));
        assert_eq!(form(Some(6)).matches("name=\"goodCount\"").count(), 7);
    }
}
