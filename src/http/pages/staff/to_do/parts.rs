//! Parts to sign off after they have been removed from the bed. Parts still on a bed are signed off when the bed is
//! cleared.

use maud::html;

use super::row::TaskRow;
use super::{TaskKind, ToDoHandles, back, bad_parts, jobs_in};
use crate::design::{Icon, icon};
use crate::staff::card_print::job_path_of;
use crate::staff::job::job_path;
use crate::staff::shell::hidden;
use crate::staff::sign_off::{Defects, SignOffSubject};
use crate::staff::subject::{mark_of_job, print_field};
use domain::id::Id;
use domain::job::Job;
use domain::printer::Printer;
use domain::time::Timestamp;
use http::error::ApiError;
use store::queries::JobFilter;
use words::Language;
use words::staff::to_do;

/// Lists the parts to sign off, oldest print first. `beds` are the printers whose beds need clearing.
pub(super) async fn parts(
    language: Language,
    app: &ToDoHandles,
    beds: &[&Printer],
    defects: Defects<'_>,
) -> Result<TaskKind, ApiError> {
    let except: Vec<Id> = beds.iter().filter_map(|printer| Some(printer.last_print?.job)).collect();
    let filter = JobFilter { unsigned: Some(true), except, ..JobFilter::default() };
    let (mut some, total) = jobs_in(app, &filter).await?;
    some.sort_by_key(|job| (ended_at(job), job.id));
    let rows = some.iter().map(|job| row(language, job, defects)).collect();
    Ok(TaskKind { total, ..TaskKind::new(language, "sign-off", to_do::kind_parts, rows) })
}

fn ended_at(job: &Job) -> Timestamp {
    job.last_print().and_then(|print| print.ended_at).unwrap_or(job.updated_at)
}

fn row(language: Language, job: &Job, defects: Defects<'_>) -> TaskRow {
    let (id, parts) = (job.id, job.plate_parts.max(1));
    let name = format!("{} {}", job.number_text(), job.sku_name);
    let title = html! {
        b title=(name) { a href=(job_path_of(job.order_id, id)) { (job.number_text()) } " " (job.sku_name) }
    };
    let acts = html! {
        form method="post" action=(job_path(id, "sign-off")) data-quiet="" {
            (hidden())
            (print_field(mark_of_job(job, "sign-off").as_deref()))
            (back())
            button id={ "all-good-" (id) } class="btn primary" type="submit" { (icon(Icon::Check)) (to_do::all_good(language)) }
        }
        (bad_parts(language, &SignOffSubject::of_job(job), defects))
    };
    let on_plate = html! { (to_do::parts_on_plate(language, parts)) };
    let row = TaskRow::new(Icon::PackageCheck, title).picture(job.file_id).facts(on_plate);
    row.since(language, ended_at(job)).acts(acts)
}
