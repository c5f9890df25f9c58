//! Parts to sign off after their print has left the bed. Parts still on a bed are signed off when the bed is cleared.

use maud::{Markup, html};

use super::{TaskKind, ToDoHandles, back, jobs_in};
use crate::staff::job::job_path;
use crate::staff::shell::{act, since};
use crate::staff::sign_off::{SignOffSubject, sign_off_form};
use crate::staff::{ORDERS_PATH, TO_DO_PATH};
use domain::id::Id;
use domain::job::Job;
use domain::printer::Printer;
use domain::time::Timestamp;
use http::error::ApiError;
use store::queries::JobFilter;

/// Lists the parts to sign off, earliest print first. `beds` are the printers whose beds need clearing.
pub(super) async fn parts(app: &ToDoHandles, beds: &[&Printer]) -> Result<TaskKind, ApiError> {
    let except: Vec<Id> = beds.iter().filter_map(|printer| Some(printer.last_print?.job)).collect();
    let filter = JobFilter { unsigned: Some(true), except, ..JobFilter::default() };
    let (mut some, total) = jobs_in(app, &filter).await?;
    some.sort_by_key(|job| (ended_at(job), job.id));
    let rows = some.iter().map(|job| row(app, job)).collect();
    Ok(TaskKind { total, ..TaskKind::new("sign-off", "Parts to sign off", rows) })
}

fn ended_at(job: &Job) -> Timestamp {
    job.last_print().and_then(|print| print.ended_at).unwrap_or(job.updated_at)
}

fn row(app: &ToDoHandles, job: &Job) -> Markup {
    let (id, parts) = (job.id, job.plate_parts.max(1));
    html! {
        span {
            a href={ (ORDERS_PATH) "/" (job.order_id) "#job-" (id) } { (job.number_text()) }
            " " (job.sku_name) " " span class="soft" { (since(ended_at(job))) }
        }
        span { (parts) @if parts == 1 { " part" } @else { " parts" } " on the plate" }
        (act(&job_path(id, "sign-off"), &format!("all-good-{id}"), "", "All parts are good", Some(&back())))
        details class="full" {
            summary { "Not all parts are good" }
            (sign_off_form(SignOffSubject::Job(id, parts), &app.config.quality.reasons, Some(TO_DO_PATH)))
        }
    }
}
