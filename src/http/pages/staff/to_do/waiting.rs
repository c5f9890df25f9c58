//! Jobs that no printer takes until a person does something for them, with a single row for all jobs that make the same
//! parts and need the same.

use std::sync::Arc;

use maud::html;

use super::{ROWS_PER_KIND, TaskKind, TaskRow, ToDoHandles};
use crate::design::Icon;
use crate::staff::card_print::job_path_of;
use crate::times::translated_message;
use domain::job::Job;
use words::Language;
use words::staff::to_do;

/// Lists the jobs that no printer takes. Jobs that only wait for their turn, or for something that is a task itself,
/// are not among them.
pub(super) fn waiting(language: Language, app: &ToDoHandles) -> TaskKind {
    let groups = app.jobs.dispatcher.stuck_jobs();
    let rows = groups.iter().take(ROWS_PER_KIND as usize).filter_map(|group| row(language, app, group)).collect();
    let total = groups.len() as u64;
    TaskKind { total, ..TaskKind::new(language, "waiting", to_do::kind_waiting, rows) }
}

/// Renders jobs that make the same parts; `None` if there are none.
fn row(language: Language, app: &ToDoHandles, jobs: &[Arc<Job>]) -> Option<TaskRow> {
    let first = jobs.first()?;
    let oldest = jobs.iter().map(|job| job.updated_at).min().unwrap_or(first.updated_at);
    let path = job_path_of(first.order_id, first.id);
    let title = html! {
        b {
            @if jobs.len() == 1 { a href=(path) { (first.number_text()) } " " (first.sku_name) }
            @else { (to_do::group(language, &first.sku_name, jobs.len())) }
        }
    };
    let reason = app.jobs.waiting_reason(language, first);
    let acts = html! { a class="btn primary" href=(path) { (to_do::view_job(language)) } };
    let listed = ROWS_PER_KIND as usize;
    let list = html! {
        details {
            summary { (to_do::show_jobs(language, jobs.len())) }
            ul {
                @for job in jobs.iter().take(listed) {
                    li { a href=(job_path_of(job.order_id, job.id)) { (job.number_text()) } }
                }
                @if jobs.len() > listed { li { (to_do::more_jobs(language, jobs.len() - listed)) } }
            }
        }
    };
    let row = TaskRow::new(Icon::Clock, title).since(language, oldest).picture(first.file_id).acts(acts);
    let row = row.detail(html! { @if let Some(reason) = &reason { (translated_message(language, reason)) } });
    Some(row.more((jobs.len() > 1).then_some(list)))
}
