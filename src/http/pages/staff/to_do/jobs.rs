//! Jobs that failed, and those that wait for a decision. Cancelling one asks first.

use maud::{Markup, html};

use super::row::TaskRow;
use super::{TaskKind, ToDoHandles, back, in_state, jobs_in};
use crate::design::Icon;
use crate::staff::card_print::job_path_of;
use crate::staff::job::job_path;
use crate::staff::shell::act;
use crate::times::{message_in, translated_message};
use domain::id::Id;
use domain::job::{Job, JobState};
use http::error::ApiError;
use words::Language;
use words::staff::{jobs as texts, to_do};

/// Lists the jobs in a state, longest-waiting first within each priority.
pub(super) async fn jobs(
    language: Language,
    app: &ToDoHandles,
    state: JobState,
    id: &'static str,
    title: fn(Language) -> String,
) -> Result<TaskKind, ApiError> {
    let (some, total) = jobs_in(app, &in_state(state)).await?;
    let rows = some.iter().map(|job| row(language, app, job)).collect();
    Ok(TaskKind { total, ..TaskKind::new(language, id, title, rows) })
}

fn row(language: Language, app: &ToDoHandles, job: &Job) -> TaskRow {
    let waiting = app.jobs.waiting_reason(language, job);
    let title = html! {
        b { a href=(job_path_of(job.order_id, job.id)) { (job.number_text()) } " " (job.sku_name) }
    };
    let (shape, acts) = match job.state {
        JobState::Failed => {
            let retry = button(job.id, "retry", "btn primary", &to_do::retry(language));
            (Icon::CircleAlert, html! { (retry) (cancel(language, job.id, &job.number_text())) })
        }
        JobState::AwaitingManualReview => {
            (Icon::Eye, button(job.id, "release", "btn primary", &to_do::release(language)))
        }
        _ => (Icon::Clock, Markup::default()),
    };
    let row = TaskRow::new(shape, title).since(language, job.updated_at).picture(job.file_id).acts(acts);
    row.detail(html! {
        @if let Some(words) = waiting { (translated_message(language, &words)) }
        @else if let Some(error) = &job.error { (message_in(language, error)) }
    })
}

/// Renders the button for the act `word` on a job.
fn button(job: Id, word: &str, class: &str, label: &str) -> Markup {
    act(&job_path(job, word), &format!("{word}-{job}"), class, label, Some(&back()))
}

/// Renders the button that unfolds the question whether a job is to be cancelled, and the question, which says what
/// follows.
fn cancel(language: Language, job: Id, number: &str) -> Markup {
    html! {
        details {
            summary class="btn" { (to_do::cancel(language)) }
            p { (texts::cancel_text(language)) }
            (button(job, "cancel", "btn bad", &texts::cancel(language, number)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::testing::id;

    #[test]
    fn a_job_is_cancelled_only_after_a_question_that_says_what_follows() {
        let html = |language| cancel(language, id(7), "JOB-000007").into_string();
        let english = html(Language::English);
        let (question, form) = english.split_once("<form ").unwrap_or_default();
        assert!(
            question.starts_with("<details><summary class=\"btn\">Cancel job…</summary><p>Any print in"),
            "{english}"
        );
        assert!(form.contains("class=\"btn bad\" type=\"submit\">Cancel JOB-000007</button>"), "{english}");
        let german = html(Language::German);
        assert!(
            german.contains(">Druckauftrag abbrechen\u{a0}…</summary><p>Ein laufender Druck wird gegebenenfalls"),
            "{german}"
        );
    }
}
