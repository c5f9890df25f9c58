//! Sign-off form for the parts of a print: the number of good parts, the defects of the rejected parts, a note, and a
//! photo, which can be taken on the spot with a phone.

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
    /// Parts of the printer's last print; signing them off clears its bed.
    Bed(Id),
    /// Parts of a job, with the number of parts on its plate.
    Job(Id, u32),
}

/// Renders the sign-off form. `to` is the page to return to, if it is not the default page.
pub(super) fn sign_off_form(of: SignOffSubject, reasons: &[String], to: Option<&str>) -> Markup {
    let (path, id, parts) = match of {
        SignOffSubject::Bed(printer) => (act_path(printer, WORD), printer, None),
        SignOffSubject::Job(job, parts) => (job_path(job, WORD), job, Some(parts)),
    };
    html! {
        form method="post" enctype="multipart/form-data" action=(with_token(&path)) data-quiet="" class="tools" {
            @if let Some(to) = to { input type="hidden" name="back" value=(to); }
            div class="field narrow" {
                label for={ "good-" (id) } { (GOOD_LABEL) }
                input id={ "good-" (id) } name="goodCount" type="number" min="0" max=[parts] inputmode="numeric" required;
            }
            div class="field" {
                label for={ "reason-" (id) } { (REASON_LABEL) }
                select id={ "reason-" (id) } name="reason" {
                    option value="" { "not said" }
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
            button class="btn" type="submit" id={ "sign-" (id) } { "Sign off" }
        }
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
    printers::act_by_page(app.printers, id, "bed-cleared", sent.call, &body).await?;
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
    jobs::act_by_page(app.jobs, id, "sign-off", sent.call, &body).await?;
    Ok(response)
}
