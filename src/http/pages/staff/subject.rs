//! Print or problem that a form is about. A part of a page is not refreshed while it is in use, and a page may be out
//! of date, so each form that affects a print or clears a printer's problems names its subject, and the server rejects
//! the form once another has taken its place.

use maud::{Markup, html};

use crate::form::PageForm;
use domain::id::Id;
use domain::job::{Attempt, Job};
use domain::printer::{PrintSubject, Printer};
use http::command_request::find_present;
use http::error::ApiError;
use http_api::production::printers::PrinterHandles;

/// Name of the field with the mark of the print. The script closes a question as soon as the field of its successor
/// has another mark.
const PRINT_FIELD: &str = "print";
/// Name of the field with the mark of the problems that a form clears.
const TROUBLE_FIELD: &str = "trouble";
/// Last segment of the path of forms that mark a printer as checked.
pub(super) const CHECKED_ACT: &str = "clear-attention";
/// Last segment of the path to which sign-off forms are posted.
pub(super) const SIGN_OFF_WORD: &str = "signed";

/// Returns the print of a printer that an action affects; `None` for actions that affect no print.
fn subject_at_printer(act: &str) -> Option<PrintSubject> {
    match act {
        "pause" | "resume" | "cancel" => Some(PrintSubject::Current),
        "bed-cleared" | SIGN_OFF_WORD => Some(PrintSubject::OnBed),
        _ => None,
    }
}

/// Returns the attempt of a job that an action affects; `None` for actions that affect the whole job.
fn subject_of_job<'a>(job: &'a Job, act: &str) -> Option<&'a Attempt> {
    match act {
        "resolve" => job.live(),
        "sign-off" | SIGN_OFF_WORD => job.last_print(),
        _ => None,
    }
}

/// Returns the mark of the print that an action at a printer affects; `None` for actions that affect no print.
pub(super) fn mark_at_printer(printer: &Printer, act: &str) -> Option<String> {
    subject_at_printer(act).map(|subject| printer.print_mark(subject))
}

/// Returns the mark of the print that an action on a job affects; `None` for actions that affect the whole job.
pub(super) fn mark_of_job(job: &Job, act: &str) -> Option<String> {
    subject_of_job(job, act).map(|attempt| attempt.id.to_string())
}

/// Renders the hidden field with the mark of the print that a form is about; nothing if it is about none.
pub(super) fn print_field(mark: Option<&str>) -> Markup {
    html! { @if let Some(mark) = mark { input type="hidden" name=(PRINT_FIELD) value=(mark); } }
}

/// Renders the hidden field with the mark of the subject of a form for an action at a printer; nothing if the subject
/// is the printer itself.
pub(super) fn subject_field(printer: &Printer, act: &str) -> Markup {
    html! {
        (print_field(mark_at_printer(printer, act).as_deref()))
        @if act == CHECKED_ACT { input type="hidden" name=(TROUBLE_FIELD) value=(printer.trouble_mark()); }
    }
}

/// Returns the mark of the problems that a form clears. A form without one clears none.
pub(super) fn trouble_mark(sent: &PageForm) -> String {
    sent.raw(TROUBLE_FIELD).to_owned()
}

/// Rejects a form whose action at a printer would affect another print than the one that the form is about.
pub(super) async fn check_at_printer(app: &PrinterHandles, id: Id, act: &str, sent: &PageForm) -> Result<(), ApiError> {
    match subject_at_printer(act) {
        Some(subject) => check_print(app, id, subject, sent.raw(PRINT_FIELD)).await,
        None => Ok(()),
    }
}

/// Rejects an act on a print of a printer that was meant for the print with another mark.
pub(super) async fn check_print(
    app: &PrinterHandles,
    id: Id,
    subject: PrintSubject,
    meant: &str,
) -> Result<(), ApiError> {
    let (_, printer) = find_present(&app.printers, id).await?;
    Ok(printer.check_subject(subject, meant)?)
}

/// Rejects a form whose action would affect another attempt of a job than the one that the form is about.
pub(super) fn check_of_job(job: &Job, act: &str, sent: &PageForm) -> Result<(), ApiError> {
    let attempt = subject_of_job(job, act);
    Ok(attempt.map_or(Ok(()), |attempt| attempt.check_subject(sent.raw(PRINT_FIELD)))?)
}
