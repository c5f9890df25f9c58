//! Job on its order's page: its state, the reason it is waiting, its attempts, and the available actions.

mod filters;
mod list;
mod page;
mod progress;
mod trouble;

use axum::http::Method;
use maud::{Markup, html};

use self::progress::ongoing;
pub(super) use self::trouble::resolutions;
use super::FLOOR_PATH;
use super::acts::{CURRENCY_FIELD, DAY_SHOWN_FIELD, WANTED_LABEL};
use super::card_picture::view_picture;
use super::outage::live_job_state;
use super::shell::{Tone, act, hidden};
use super::sign_off::{correction_form, defect_name};
use crate::design::{Icon, icon};
use crate::frame::{SLOT, time, with_parts};
use crate::times::{field_date, message_in, translated_message};
use domain::dispatch::Waiting;
use domain::id::Id;
use domain::job::{Attempt, AttemptState, Job, JobState};
use domain::printer::Printer;
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::routes::{PageBounds, Routes};
use http_api::production::jobs::JobHandles;
use http_api::production::printers::PrinterHandles;
use kernel::directory::Directory;
use words::Language;
use words::staff::{common, jobs};

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
pub(super) fn job_state(language: Language, job: &Job) -> (Tone, String) {
    let is_unverified = job.live().is_some_and(|attempt| attempt.unverified);
    match job.state {
        JobState::Dispatching if is_unverified => (Tone::Attention, jobs::state_start_unverified(language)),
        JobState::Printing | JobState::Paused if is_unverified => {
            (Tone::Attention, jobs::state_end_unverified(language))
        }
        JobState::Completed if job.unsigned => (Tone::Attention, jobs::state_unsigned(language)),
        state => state_label(language, state),
    }
}

/// Returns the tone and label for a state, without details known only to the job itself.
pub(super) fn state_label(language: Language, state: JobState) -> (Tone, String) {
    let (tone, label): (_, fn(Language) -> String) = match state {
        JobState::Created => (Tone::Idle, jobs::state_created),
        JobState::Validated => (Tone::Idle, jobs::state_validated),
        JobState::AwaitingManualReview => (Tone::Attention, jobs::state_review),
        JobState::Sliced => (Tone::Idle, jobs::state_sliced),
        JobState::Dispatching => (Tone::Running, jobs::state_dispatching),
        JobState::Printing => (Tone::Running, jobs::state_printing),
        JobState::Paused => (Tone::Attention, jobs::state_paused),
        JobState::Completed => (Tone::Working, jobs::state_completed),
        JobState::Failed => (Tone::Error, jobs::state_failed),
        JobState::Cancelled => (Tone::Idle, jobs::state_cancelled),
    };
    (tone, label(language))
}

/// Returns the sentence about an attempt, which pages call a print. [`SLOT`] is the placeholder for the printer.
fn print_sentence(language: Language, number: u32, state: AttemptState) -> String {
    let sentence = match state {
        AttemptState::Claimed => jobs::print_claimed,
        AttemptState::Uploading => jobs::print_uploading,
        AttemptState::StartSent => jobs::print_start_sent,
        AttemptState::Confirmed => jobs::print_confirmed,
        AttemptState::Finished => jobs::print_finished,
        AttemptState::Failed => jobs::print_failed,
        AttemptState::Cancelled => jobs::print_cancelled,
        AttemptState::Refused => jobs::print_refused,
        AttemptState::NotStarted => jobs::print_not_started,
        AttemptState::Abandoned => jobs::print_abandoned,
    };
    sentence(language, &number.to_string(), SLOT)
}

/// Renders why a job is waiting: the summary sentence and, if it does not cover everything, all causes.
fn waiting_words(language: Language, waiting: &Waiting) -> Markup {
    let sentence = waiting.sentence();
    let is_complete = matches!(&waiting.causes[..], [only] if only.printer_count <= 1 && !sentence.ends_with('…'));
    html! {
        p { (translated_message(language, &sentence)) }
        @if !is_complete {
            details {
                summary { (jobs::all_reasons(language)) }
                ul class="rows" {
                    @for cause in &waiting.causes { li { (translated_message(language, &cause.message())) } }
                }
            }
        }
    }
}

/// Job with everything shown on its card.
pub(super) struct JobCard<'a> {
    pub(super) language: Language,
    pub(super) app: &'a JobHandles,
    pub(super) shop: &'a PrinterHandles,
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

    /// Renders the job as a row in a list: its picture, its state, why it is waiting, and its actions.
    pub(super) fn html(&self) -> Markup {
        let Self { language, app, shop, job, expected, .. } = *self;
        html! {
            section class="row job-row" id={ "job-" (job.id) } aria-labelledby={ "job-title-" (job.id) } {
                (file_picture(job.file_id))
                div {
                    h3 id={ "job-title-" (job.id) } {
                        (job.number_text()) ", " (job.sku_name) @if job.plate_parts > 1 { " × " (job.plate_parts) }
                        " " (live_job_state(language, shop, job))
                    }
                    @if let Some(waiting) = app.waiting(language, job) { (waiting_words(language, &waiting)) }
                    @if let Some(error) = &job.error {
                        p class="bad" { (message_in(language, error)) }
                        @if let Some(details) = &job.error_details {
                            details { summary { (jobs::printer_message(language)) } pre { (details) } }
                        }
                    }
                    @if job.cancel_requested_at.is_some() { p class="bad" { (jobs::cancelling(language)) } }
                    (self.facts())
                    @if let Some(ongoing) = ongoing(language, shop, job, expected) { p { (ongoing) } }
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
        let Self { language, job, expected, .. } = *self;
        let at = |text: String, at: Timestamp| with_parts(&text, &[&time(language, at)]);
        html! {
            p class="soft" {
                (jobs::order_line(language, &(job.line + 1).to_string()))
                " · " (jobs::parts(language, job.plate_parts.max(1)))
                @if let Some(words) = spare_words(language, job) { " (" (words) ")" }
                " · " (jobs::priority_of(language, &job.priority.to_string()))
                @if job.reprint { " · " (jobs::reprint_of_rejected(language)) }
                @if let Some(due) = job.due_at { " · " (at(jobs::due(language, SLOT), due)) }
                @if let Some(end) = expected.filter(|_| !job.over()) { " · " (at(jobs::expected(language, SLOT), end)) }
                @if !job.over() { " · " a href={ (JOBS_PATH) "/" (job.id) } { (jobs::compatibility(language)) } }
            }
        }
    }

    fn attempt(&self, attempt: &Attempt) -> Markup {
        let language = self.language;
        let name = Self::printer_name(&self.app.printers, attempt.printer_id);
        let printer = html! {
            @match name {
                Some(name) => { a href={ (FLOOR_PATH) "/printers/" (attempt.printer_id) } { (name) } },
                None => { (jobs::removed_printer(language)) },
            }
        };
        let text = print_sentence(language, attempt.number, attempt.state);
        let at = |text: String, at: Timestamp| with_parts(&text, &[&time(language, at)]);
        html! {
            span { (with_parts(&text, &[&printer])) }
            span class="soft" {
                @if let Some(start) = attempt.started_at { (at(jobs::print_from(language, SLOT), start)) }
                @if let Some(end) = attempt.ended_at { " " (at(jobs::print_to(language, SLOT), end)) }
            }
            @if let Some(reason) = &attempt.reason { span class="full bad" { (message_in(language, reason)) } }
            @if let Some(inspection) = &attempt.sign_off {
                span class="full soft" {
                    (jobs::good_of(language, inspection.good, inspection.parts))
                    @if let Some(reason) = &inspection.reason { ", " (defect_name(language, reason)) }
                    @if let Some(note) = &inspection.note { ": " (note) }
                    @if let Some(photo) = inspection.photo_file_id {
                        ". " a href=(content_path(photo)) { (common::picture_of_parts(language)) }
                    }
                }
            }
            @if let Some(photo) = attempt.photo_file_id {
                span class="full" {
                    a href=(content_path(photo)) { (jobs::end_picture(language, &attempt.number.to_string())) }
                }
            }
        }
    }

    fn acts(&self) -> Markup {
        let (language, job) = (self.language, self.job);
        let button = |word: &str, class: &str, label: fn(Language) -> String| {
            act(&job_path(job.id, word), &format!("{word}-{}", job.id), class, &label(language), None)
        };
        html! {
            div class="acts" {
                @match job.state {
                    JobState::Printing => { (button("pause", "second", jobs::pause)) },
                    JobState::Paused => { (button("resume", "second", jobs::resume)) },
                    JobState::AwaitingManualReview => { (button("release", "second", jobs::release)) },
                    JobState::Failed | JobState::Cancelled => { (button("retry", "second", jobs::retry)) },
                    JobState::Completed => {
                        details {
                            summary { (jobs::reprint(language)) }
                            p { (jobs::reprint_note(language)) }
                            (button("retry", "stop", jobs::reprint_all))
                        }
                    },
                    _ => {},
                }
            }
        }
    }

    /// Renders the collapsed section for the priority, the due date, cancellation, and a printer that does not respond.
    fn later(&self) -> Markup {
        let (language, id) = (self.language, self.job.id);
        html! {
            details {
                summary { (jobs::edit_or_cancel(language)) }
                form class="tools" method="post" action=(job_path(id, "change")) data-quiet="" {
                    (hidden())
                    input type="hidden" name=(DAY_SHOWN_FIELD) value=[self.job.due_at.map(field_date)];
                    div class="field narrow" {
                        label for={ "priority-" (id) } { (jobs::priority(language)) }
                        input id={ "priority-" (id) } name="priority" type="number" min="0" max="9" required value=(self.job.priority);
                    }
                    div class="field" {
                        label for={ "due-" (id) } { (WANTED_LABEL(language)) }
                        input id={ "due-" (id) } name="dueAt" type="date" value=[self.job.due_at.map(field_date)];
                    }
                    button class="second" type="submit" { (jobs::save(language)) }
                }
                p { (jobs::cancel_text(language)) }
                (act(&job_path(id, "cancel"), &format!("cancel-{id}"), "second", &self.cancel_words(), Some(&self.unconfirmed())))
                (self.later_trouble())
            }
        }
    }

    /// Returns the label of the cancel button. It includes the job and, if the job is on a printer, the printer whose
    /// print will end.
    fn cancel_words(&self) -> String {
        let job = self.job;
        let on = job.live().and_then(|attempt| Self::printer_name(&self.app.printers, attempt.printer_id));
        match on {
            Some(printer) => jobs::cancel_on(self.language, &job.number_text(), &printer),
            None => jobs::cancel(self.language, &job.number_text()),
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
                    " " label for={ "force-" (id) } class="inline" { (jobs::no_confirmation(self.language)) }
                }
            }
        }
    }

    fn sign_off(&self) -> Markup {
        html! {
            details {
                summary { (jobs::sign_off_parts(self.language)) }
                (correction_form(self.language, self.job, self.reasons))
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
fn spare_words(language: Language, job: &Job) -> Option<String> {
    let spare = job.spare_parts.min(job.plate_parts);
    (spare > 0).then(|| jobs::spare(language, job.plate_parts - spare, spare))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::testing::orders::OrderDecider;

    #[test]
    fn a_print_that_runs_looks_different_from_one_that_is_done() {
        let mut job = (*OrderDecider::sliced().job()).clone();
        let mut class = |state: JobState| {
            job.state = state;
            job_state(Language::English, &job).0.class()
        };
        assert_eq!([JobState::Dispatching, JobState::Printing].map(&mut class), ["state running"; 2]);
        assert_eq!(class(JobState::Completed), "state working");
    }

    #[test]
    fn each_state_of_an_attempt_is_a_sentence_about_a_print() {
        use AttemptState as S;
        let states = [
            S::Claimed,
            S::Uploading,
            S::StartSent,
            S::Confirmed,
            S::Finished,
            S::Failed,
            S::Cancelled,
            S::Refused,
            S::NotStarted,
            S::Abandoned,
        ];
        for (language, noun) in [(Language::English, "Print 2 "), (Language::German, "Druck 2 ")] {
            for state in states {
                let sentence = print_sentence(language, 2, state);
                assert!(sentence.starts_with(noun) && sentence.contains(SLOT), "{sentence}");
            }
        }
        let finished = Language::ALL.map(|language| print_sentence(language, 1, S::Finished).replace(SLOT, "Ada"));
        assert_eq!(finished, ["Print 1 finished on Ada", "Druck 1 ist auf Ada fertig geworden"]);
    }

    #[test]
    fn a_state_has_a_label_in_each_language() {
        let labels = |state| Language::ALL.map(|language| state_label(language, state).1);
        assert_eq!(labels(JobState::AwaitingManualReview), ["Waiting for review", "Wartet auf Prüfung"]);
        assert_eq!(labels(JobState::Completed), ["Printed", "Gedruckt"]);
    }
}
