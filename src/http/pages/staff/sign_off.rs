//! How the parts of a print are, said by one form: how many are good, what is wrong with the others, a note, and a
//! picture of them, which a phone takes on the way.

use std::sync::Arc;

use api_derive::Request;
use axum::extract::{Request as HttpRequest, State};
use axum::http::Method;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::acts::{back, said};
use super::card::act_path;
use super::job::job_path;
use super::shell::with_token;
use super::{FLOOR_PATH, ORDERS_PATH};
use crate::config::Config;
use crate::domain::id::Id;
use crate::domain::sign_off::MAX_NOTE_CHARS;
use crate::http::access::{Caller, RequiredAccess};
use crate::http::error::ApiError;
use crate::http::handles::handles;
use crate::http::page::OpenQuery;
use crate::http::pages::form::{PageForm, check_token};
use crate::http::path_id::PathId;
use crate::http::production::files::{FileHandles, take_with_picture};
use crate::http::production::jobs::{self, JobHandles};
use crate::http::production::printers::{self, PrinterHandles};
use crate::http::routes::{PageBounds, Routes};

/// The last word of the paths that the form is sent to.
const WORD: &str = "signed";
/// What people call the picture that the form takes.
const PICTURE_LABEL: &str = "Picture of the parts";

handles! {
    /// What signing parts off takes.
    pub(crate) struct SignOffHandles {
        printers: PrinterHandles,
        jobs: JobHandles,
        files: FileHandles,
        config: Arc<Config>,
    }
}

/// What stands in the address of the form: its body is read as it comes, and would be read too late.
#[derive(Request, Debug)]
pub(super) struct SignOffQuery {
    /// The token of the session's forms.
    token: Option<String>,
}

/// Adds what the forms are sent to.
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

/// Whose parts are signed off.
#[derive(Clone, Copy)]
pub(super) enum SignOffOf {
    /// Those of the last print of this printer, whose bed is cleared with it.
    Bed(Id),
    /// Those of this job, of which so many were on the plate.
    Job(Id, u32),
}

/// The form. `to`: the page to go back to, where that is not the usual one.
pub(super) fn sign_off_form(of: SignOffOf, reasons: &[String], to: Option<&str>) -> Markup {
    let (path, id, parts) = match of {
        SignOffOf::Bed(printer) => (act_path(printer, WORD), printer, None),
        SignOffOf::Job(job, parts) => (job_path(job, WORD), job, Some(parts)),
    };
    html! {
        form method="post" enctype="multipart/form-data" action=(with_token(&path)) data-quiet="" class="tools" {
            @if let Some(to) = to { input type="hidden" name="back" value=(to); }
            div class="field narrow" {
                label for={ "good-" (id) } { "Good parts" }
                input id={ "good-" (id) } name="goodCount" type="number" min="0" max=[parts] inputmode="numeric" required;
            }
            div class="field" {
                label for={ "reason-" (id) } { "What is wrong with the others" }
                select id={ "reason-" (id) } name="reason" {
                    option value="" { "not said" }
                    @for reason in reasons { option value=(reason) { (reason.replace('_', " ")) } }
                }
            }
            div class="field" {
                label for={ "note-" (id) } { "Note" }
                input id={ "note-" (id) } name="note" maxlength=(MAX_NOTE_CHARS);
            }
            div class="field" {
                label for={ "picture-" (id) } { (PICTURE_LABEL) }
                input id={ "picture-" (id) } name="picture" type="file" accept="image/*";
            }
            button type="submit" id={ "sign-" (id) } { "Sign off" }
        }
    }
}

/// Reads the form: what it says, as the API takes it, with its picture.
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
    let mut said = said(&sent);
    if let (Some(picture), Value::Object(members)) = (form.picture, &mut said) {
        members.insert("photoFileId".to_owned(), json!(picture));
    }
    Ok((sent, said))
}

/// Answers the form of a printer: its bed is clear, and the parts are as it says.
async fn at_printer(
    State(app): State<SignOffHandles>,
    PathId(id): PathId,
    OpenQuery(query): OpenQuery<SignOffQuery>,
    who: Caller,
    request: HttpRequest,
) -> Result<Response, ApiError> {
    let (sent, said) = read(&app, query, who, request).await?;
    let shown = back(&sent, format!("{FLOOR_PATH}/printers/{id}"));
    printers::act_by_page(app.printers, id, "bed-cleared", sent.call, &said).await?;
    Ok(shown)
}

/// Answers the form of a job.
async fn of_job(
    State(app): State<SignOffHandles>,
    PathId(id): PathId,
    OpenQuery(query): OpenQuery<SignOffQuery>,
    who: Caller,
    request: HttpRequest,
) -> Result<Response, ApiError> {
    let (sent, said) = read(&app, query, who, request).await?;
    let order = jobs::find(&app.jobs, id).await?.order_id;
    let shown = back(&sent, format!("{ORDERS_PATH}/{order}#job-{id}"));
    jobs::act_by_page(app.jobs, id, "sign-off", sent.call, &said).await?;
    Ok(shown)
}
