//! List of jobs across all orders: waiting, printing and failed jobs, each with its picture, its order, and the reason
//! it is waiting or failed.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::JOBS_PATH;
use super::filters::{JobListQuery, states, tools};
use super::progress::progress;
use crate::design::{Icon, icon};
use crate::staff::orders::StaffOrderHandles;
use crate::staff::outage::live_job_state;
use crate::staff::products::mini_picture;
use crate::staff::sheet::ListPart;
use crate::staff::shell::{StaffSection, StaffViewer};
use crate::staff::{FLOOR_PATH, ORDERS_PATH, PRODUCTS_PATH};
use crate::times::{message_in, translated_message};
use domain::id::Id;
use domain::job::Job;
use domain::time::Timestamp;
use http::access::Caller;
use http::error::ApiError;
use http::page::OpenQuery;
use store::queries::JobFilter;
use words::Language;
use words::staff::jobs as texts;

/// Heads of the columns before the numbers.
const COLUMNS: [fn(Language) -> String; 6] = [
    texts::picture_column,
    texts::job_column,
    texts::status,
    texts::product_column,
    texts::order_column,
    texts::printer_column,
];

/// Serves the job list.
pub(super) async fn show(
    State(app): State<StaffOrderHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<JobListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let (language, title) = (viewer.language(), texts::title(viewer.language()));
    let search = match query.search_text() {
        Some(text) => app.jobs.queries.job_search(text).await?,
        None => None,
    };
    let (clock, now) = (&app.config.shop.time_zone, app.orders.environment.now());
    let filter = JobFilter { search, ..query.filter(clock, now) };
    let part = ListPart { path: JOBS_PATH, narrowed: query.narrowed(), from: query.from };
    let (jobs, total) = app.jobs.queries.jobs(&filter, part.page()).await?;
    let open = filter == JobFilter::default();
    let content = html! {
        div class="head" {
            a class="btn quiet square" href=(ORDERS_PATH) aria-label=(texts::all_orders(language)) { (icon(Icon::ArrowLeft)) }
            h1 { (title) }
        }
        // A search takes longer than the list, and whoever searches has found what there is.
        div id="job-filters" data-fresh=[query.search_text().is_none().then_some("")] {
            (states(language, &app, &query, (&filter, total)))
        }
        (tools(language, &app, &query, &filter))
        div id="jobs" data-fresh=[query.search_text().is_none().then_some("")] {
            @if jobs.is_empty() && open && query.from == 0 {
                section class="card" aria-labelledby="begin" {
                    h2 id="begin" { (texts::none_yet_title(language)) }
                    p { (texts::none_yet_text(language)) }
                    a class="button" href=(ORDERS_PATH) { (texts::view_orders(language)) }
                }
            } @else if jobs.is_empty() {
                p { (texts::none_match(language)) " " a href=(JOBS_PATH) { (texts::show_all(language)) } }
            } @else { (table(language, &app, &jobs)) }
            (part.links(language, total))
        }
    };
    Ok(viewer.page(StaffSection::Queue, &title, &app.board.view(), &content))
}

fn table(language: Language, app: &StaffOrderHandles, jobs: &[Job]) -> Markup {
    let forecast = app.jobs.forecaster.latest();
    html! {
        div class="table list pictured jobs" tabindex="0" role="region" aria-label=(texts::title(language)) {
            table {
                thead {
                    tr {
                        @for column in COLUMNS {
                            th scope="col" { (column(language)) }
                        }
                        th scope="col" class="number" { (texts::priority(language)) }
                        th scope="col" { (texts::progress_column(language)) }
                    }
                }
                tbody {
                    @for job in jobs { (row(language, app, job, forecast.jobs.get(&job.id).copied())) }
                }
            }
        }
    }
}

/// Renders a job; `expected` is the time at which it is expected to be printed.
fn row(language: Language, app: &StaffOrderHandles, job: &Job, expected: Option<Timestamp>) -> Markup {
    let model = || job.source.as_ref().map(|source| source.model_file_id);
    let printer = job.printer_id.and_then(|id| Some((id, printer_name(app, id)?)));
    html! {
        tr {
            td class="picture" { (mini_picture(job.file_id.or_else(model))) }
            th scope="row" { a href={ (JOBS_PATH) "/" (job.id) } { (job.number_text()) } }
            td class="status" {
                (live_job_state(language, &app.board.shop, job))
                @if let Some(reason) = app.jobs.waiting_reason(language, job) {
                    " " div class="soft" { (translated_message(language, &reason)) }
                } @else if let Some(error) = &job.error {
                    " " div class="soft" { (message_in(language, error)) }
                }
            }
            td class="grow" { a class="ellipsis" title=(job.sku_name) href={ (PRODUCTS_PATH) "/" (job.sku_id) } { (job.sku_name) } }
            td class="order" { a href={ (ORDERS_PATH) "/" (job.order_id) "#job-" (job.id) } { "ORD-" (format!("{:06}", job.order_number)) } }
            td class="printer" {
                @if let Some((id, name)) = printer { a href={ (FLOOR_PATH) "/printers/" (id) } { (name) } }
            }
            td class="number spare" data-label=(texts::priority(language)) { (job.priority) }
            td class="progress" { (progress(language, &app.board.shop, job, expected)) }
        }
    }
}

fn printer_name(app: &StaffOrderHandles, id: Id) -> Option<String> {
    let versioned = app.jobs.printers.resident(id)?.read();
    Some(versioned.state.as_ref()?.fields.name.clone())
}
