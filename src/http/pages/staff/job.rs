//! Job on its order's page: its state, the reason it is waiting, its attempts, and the available actions.

mod list;
mod page;

use axum::http::Method;
use maud::{Markup, html};

use super::acts::{CLEARS_FIELD, CURRENCY_FIELD, DAY_SHOWN_FIELD, WANTED_LABEL};
use super::card_picture::view_picture;
use super::shell::{Tone, act, clock, hidden};
use super::sign_off::{SignOffSubject, sign_off_form};
use super::{FLOOR_PATH, ORDERS_PATH};
use crate::design::{Icon, icon};
use crate::times::{field_date, message};
use domain::dispatch::Waiting;
use domain::id::Id;
use domain::job::{Attempt, AttemptState, Job, JobState};
use domain::printer::Printer;
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::routes::{PageBounds, Routes};
use http_api::production::jobs::JobHandles;
use kernel::directory::Directory;

/// Path of the page that lists the jobs for all orders.
pub(super) const JOBS_PATH: &str = "/shop/jobs";

/// Adds the routes of the job pages.
pub(super) fn routes(routes: Routes) -> Routes {
    let (get, form) = (Method::GET, PageBounds::Form);
    let routes = routes.page(get.clone(), RequiredAccess::Session, JOBS_PATH, list::show, form);
    routes.page(get, RequiredAccess::Session, "/shop/jobs/{id}", page::show, form)
}

/// Returns the path to which the form for the action `act` on a job is posted.
pub(super) fn job_path(job: Id, act: &str) -> String {
    format!("/shop/jobs/{job}/{act}")
}

/// Returns the tone and label for a job's state.
pub(super) fn job_state(job: &Job) -> (Tone, &'static str) {
    match job.state {
        JobState::Created => (Tone::Idle, "Waiting for a file"),
        JobState::Validated => (Tone::Idle, "Preparing"),
        JobState::AwaitingManualReview => (Tone::Attention, "Waiting for review"),
        JobState::Sliced => (Tone::Idle, "Waiting for a printer"),
        JobState::Dispatching if job.live().is_some_and(|attempt| attempt.unverified) => {
            (Tone::Attention, "Start not confirmed")
        }
        JobState::Printing | JobState::Paused if job.live().is_some_and(|attempt| attempt.unverified) => {
            (Tone::Attention, "Outcome not confirmed")
        }
        JobState::Dispatching => (Tone::Working, "Sending to a printer"),
        JobState::Printing => (Tone::Working, "Printing"),
        JobState::Paused => (Tone::Attention, "Paused"),
        JobState::Completed if job.unsigned => (Tone::Attention, "Needs sign-off"),
        JobState::Completed => (Tone::Working, "Printed"),
        JobState::Failed => (Tone::Error, "Failed"),
        JobState::Cancelled => (Tone::Idle, "Cancelled"),
    }
}

fn attempt_words(state: AttemptState) -> &'static str {
    match state {
        AttemptState::Claimed => "assigned",
        AttemptState::Uploading => "uploading",
        AttemptState::StartSent => "starting",
        AttemptState::Confirmed => "printing",
        AttemptState::Finished => "finished",
        AttemptState::Failed => "failed",
        AttemptState::Cancelled => "cancelled",
        AttemptState::Refused => "refused",
        AttemptState::NotStarted => "not started",
        AttemptState::Abandoned => "abandoned",
    }
}

/// Renders the buttons for resolving a print whose outcome is unknown. `last_progress` is the last observed progress,
/// from 0 to 1; if present, the print did start, and every choice records the material that it used.
pub(super) fn resolutions(job: Id, last_progress: Option<f64>, back: &str) -> Markup {
    let answers =
        [("not_started", "Mark as not started"), ("finished", "Mark as finished"), ("failed", "Mark as failed")];
    html! {
        @if let Some(progress) = last_progress {
            p class="full" {
                "Did the print succeed? If it finished, all of its material is recorded as used. If it failed, "
                (format!("{:.0}", progress * 100.0)) " % is recorded, based on the last reported progress."
            }
        }
        form class="acts" method="post" action=(job_path(job, "resolve")) data-quiet="" {
            (hidden())
            input type="hidden" name="back" value=(back);
            @for (word, words) in answers.into_iter().skip(usize::from(last_progress.is_some())) {
                button class="second" type="submit" name="outcome" value=(word) id={ (word) "-" (job) } { (words) }
            }
        }
    }
}

/// Renders why a job is waiting: the summary sentence and, if it does not cover everything, all causes.
fn waiting_words(waiting: &Waiting) -> Markup {
    let sentence = waiting.sentence();
    let is_complete = matches!(&waiting.causes[..], [only] if only.printer_count <= 1 && !sentence.ends_with('…'));
    html! {
        p { (message(&sentence)) }
        @if !is_complete {
            details {
                summary { "All reasons" }
                ul class="rows" { @for cause in &waiting.causes { li { (message(&cause.message())) } } }
            }
        }
    }
}

/// Job with everything shown on its card.
pub(super) struct JobCard<'a> {
    pub(super) app: &'a JobHandles,
    pub(super) job: &'a Job,
    /// Time by which the job is expected to be printed.
    pub(super) expected: Option<Timestamp>,
    /// Reasons for which parts can be rejected.
    pub(super) reasons: &'a [String],
}

impl JobCard<'_> {
    fn printer_name(printers: &Directory<Printer>, id: Id) -> Option<String> {
        Some(printers.resident(id)?.read().state.as_ref()?.fields.name.clone())
    }

    /// Returns the observed progress of an ongoing attempt's print, from 0 to 1; `None` if the print was never
    /// observed.
    fn last_progress(&self, attempt: &Attempt) -> Option<f64> {
        let printer = self.app.printers.resident(attempt.printer_id)?.read();
        let print = printer.state.as_ref()?.seen_print(attempt.id);
        (print.began || attempt.state == AttemptState::Confirmed).then_some(print.progress)
    }

    /// Renders the job as a row in a list: its picture, its state, why it is waiting, and its actions.
    pub(super) fn html(&self) -> Markup {
        let Self { app, job, .. } = self;
        let (tone, words) = job_state(job);
        html! {
            section class="row job-row" id={ "job-" (job.id) } aria-labelledby={ "job-title-" (job.id) } {
                (file_picture(job.file_id))
                div {
                    h3 id={ "job-title-" (job.id) } {
                        (job.number_text()) ", " (job.sku_name) @if job.plate_parts > 1 { " × " (job.plate_parts) }
                        " " span class=(tone.class()) { (words) }
                    }
                    @if let Some(waiting) = app.waiting(job) { (waiting_words(&waiting)) }
                    @if let Some(error) = &job.error {
                        p class="bad" { (message(error)) }
                        @if let Some(details) = &job.error_details {
                            details { summary { "Printer message" } pre { (details) } }
                        }
                    }
                    @if job.cancel_requested_at.is_some() { p class="bad" { "Cancelling: waiting for the printer to confirm." } }
                    (self.facts())
                }
                (self.acts())
                div class="job-more" {
                    (self.trouble())
                    @if !job.attempts.is_empty() {
                        ol class="rows" {
                            @for attempt in &job.attempts { li { (self.attempt(attempt)) } }
                        }
                    }
                    @if !matches!(job.state, JobState::Completed | JobState::Cancelled) { (self.later()) }
                    @if job.last_print().is_some() { (self.sign_off()) }
                }
            }
        }
    }

    fn facts(&self) -> Markup {
        let Self { job, expected, .. } = self;
        html! {
            p class="soft" {
                "Line " (job.line + 1) ", " (job.plate_parts.max(1)) @if job.plate_parts > 1 { " parts" } @else { " part" } " on the plate, priority " (job.priority)
                @if job.reprint { ", reprint of rejected parts" }
                @if let Some(words) = spare_words(job) { " (" (words) ")" }
                @if let Some(at) = job.due_at { ", due " (clock(at)) }
                @if let Some(at) = expected.filter(|_| !job.over()) { ", expected " (clock(at)) }
                @if !job.over() { ". " a href={ (JOBS_PATH) "/" (job.id) } { "Printer compatibility" } }
            }
        }
    }

    fn attempt(&self, attempt: &Attempt) -> Markup {
        let name = Self::printer_name(&self.app.printers, attempt.printer_id);
        html! {
            span {
                "Attempt " (attempt.number) " on "
                @match name {
                    Some(name) => { a href={ (FLOOR_PATH) "/printers/" (attempt.printer_id) } { (name) } },
                    None => { "a removed printer" },
                }
                ": " (attempt_words(attempt.state))
            }
            span class="soft" {
                @if let Some(at) = attempt.started_at { "from " (clock(at)) }
                @if let Some(at) = attempt.ended_at { " to " (clock(at)) }
            }
            @if let Some(reason) = &attempt.reason { span class="full bad" { (message(reason)) } }
            @if let Some(inspection) = &attempt.sign_off {
                span class="full soft" {
                    (inspection.good) " of " (inspection.parts) " good"
                    @if let Some(reason) = &inspection.reason { ", " (reason.replace('_', " ")) }
                    @if let Some(note) = &inspection.note { ": " (note) }
                    @if let Some(photo) = inspection.photo_file_id { ". " a href=(content_path(photo)) { "Picture of the parts" } }
                }
            }
            @if let Some(photo) = attempt.photo_file_id {
                span class="full" { a href=(content_path(photo)) { "Picture at the end of attempt " (attempt.number) } }
            }
        }
    }

    fn acts(&self) -> Markup {
        let job = self.job;
        let button = |word: &str, class: &str, words: &str| {
            act(&job_path(job.id, word), &format!("{word}-{}", job.id), class, words, None)
        };
        html! {
            div class="acts" {
                @match job.state {
                    JobState::Printing => { (button("pause", "second", "Pause")) },
                    JobState::Paused => { (button("resume", "second", "Resume")) },
                    JobState::AwaitingManualReview => { (button("release", "second", "Release")) },
                    JobState::Failed | JobState::Cancelled => { (button("retry", "second", "Retry")) },
                    JobState::Completed => {
                        details {
                            summary { "Reprint" }
                            p {
                                "Good parts from this job will no longer count towards the order. The order goes back to \
                                 Printing until replacements are made."
                            }
                            (button("retry", "stop", "Reprint all parts"))
                        }
                    },
                    _ => {},
                }
            }
        }
    }

    /// Renders the choices for a print whose outcome is unknown or whose printer does not respond.
    fn trouble(&self) -> Markup {
        let job = self.job;
        let order = format!("{ORDERS_PATH}/{}", job.order_id);
        let unverified = job.live().is_some_and(|attempt| attempt.unverified);
        let last_progress = job.live().and_then(|attempt| self.last_progress(attempt));
        html! {
            @if unverified { (resolutions(job.id, last_progress, &order)) } @else if job.live().is_some() {
                details {
                    summary { "Printer not responding?" }
                    p { "Check the printer, then choose how the print ended. The printer won't start another job until you clear its bed." }
                    (resolutions(job.id, last_progress, &order))
                }
            }
        }
    }

    /// Renders the collapsed section for the priority, the due date and cancellation.
    fn later(&self) -> Markup {
        let id = self.job.id;
        html! {
            details {
                summary { "Edit or cancel" }
                form class="tools" method="post" action=(job_path(id, "change")) data-quiet="" {
                    (hidden())
                    input type="hidden" name=(CLEARS_FIELD) value="dueAt";
                    input type="hidden" name=(DAY_SHOWN_FIELD) value=[self.job.due_at.map(field_date)];
                    div class="field narrow" {
                        label for={ "priority-" (id) } { "Priority" }
                        input id={ "priority-" (id) } name="priority" type="number" min="0" max="9" required value=(self.job.priority);
                    }
                    div class="field" {
                        label for={ "due-" (id) } { (WANTED_LABEL(words::Language::English)) }
                        input id={ "due-" (id) } name="dueAt" type="date" value=[self.job.due_at.map(field_date)];
                    }
                    button class="second" type="submit" { "Save" }
                }
                (act(&job_path(id, "cancel"), &format!("cancel-{id}"), "second", &self.cancel_words(), Some(&self.unconfirmed())))
            }
        }
    }

    /// Returns the label of the cancel button. It includes the job and, if the job is on a printer, the printer whose
    /// print will end.
    fn cancel_words(&self) -> String {
        let job = self.job;
        let on = job.live().and_then(|attempt| Self::printer_name(&self.app.printers, attempt.printer_id));
        match on {
            Some(printer) => format!("Cancel {} on {printer}", job.number_text()),
            None => format!("Cancel {}", job.number_text()),
        }
    }

    /// Renders the checkbox for cancelling without the printer's confirmation. A job on a printer is cancelled once the
    /// printer confirms; a printer that is switched off never does.
    fn unconfirmed(&self) -> Markup {
        let id = self.job.id;
        html! {
            @if self.job.live().is_some() {
                p {
                    input id={ "force-" (id) } name="force" type="checkbox" value="true";
                    " " label for={ "force-" (id) } class="inline" { "Don't wait for the printer to confirm" }
                }
            }
        }
    }

    fn sign_off(&self) -> Markup {
        html! {
            details {
                summary { "Sign off parts" }
                (sign_off_form(words::Language::English, SignOffSubject::Job(self.job.id, self.job.plate_parts.max(1)), self.reasons, None))
            }
        }
    }
}

/// Renders a picture of the parts made from a file, or a placeholder if there is no file yet.
pub(super) fn file_picture(file: Option<Id>) -> Markup {
    html! {
        @match file {
            Some(file) => { div class="thumb" { (view_picture(file)) } },
            None => { div class="thumb" { (icon(Icon::Box)) } },
        }
    }
}

/// Returns the API path of a stored file's content.
fn content_path(file: Id) -> String {
    format!("/api/files/{file}/content")
}

/// Renders the hidden form field that contains the currency of the form's amounts.
pub(super) fn currency_field(currency: &str) -> Markup {
    html! { input type="hidden" name=(CURRENCY_FIELD) value=(currency); }
}

/// Describes the spare parts on a plate that replaces rejected parts; `None` if every part on the plate is needed.
fn spare_words(job: &Job) -> Option<String> {
    let spare = job.spare_parts.min(job.plate_parts);
    (spare > 0).then(|| format!("{} needed, {spare} spare", job.plate_parts - spare))
}
