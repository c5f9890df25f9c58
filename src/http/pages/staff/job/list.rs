//! List of jobs across all orders: waiting, printing and failed jobs, each with its order.

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::progress::progress;
use super::{JOBS_PATH, state_label};
use crate::design::{Icon, icon};
use crate::staff::filled_form::address;
use crate::staff::orders::StaffOrderHandles;
use crate::staff::outage::live_job_state;
use crate::staff::sheet::{ListFilter, ListPart, list_filters};
use crate::staff::shell::{StaffSection, StaffViewer};
use crate::staff::{FLOOR_PATH, ORDERS_PATH, PRODUCTS_PATH};
use crate::times::{message_in, translated_message};
use domain::id::Id;
use domain::job::{Job, JobState};
use http::access::Caller;
use http::error::ApiError;
use http::page::OpenQuery;
use store::queries::JobFilter;
use words::Language;
use words::staff::jobs as texts;

/// Text in the language of the page.
type JobListText = fn(Language) -> String;

/// States by which the list can be filtered, in the order in which they occur.
const JOB_STATES: [JobState; 10] = [
    JobState::Created,
    JobState::Validated,
    JobState::AwaitingManualReview,
    JobState::Sliced,
    JobState::Dispatching,
    JobState::Printing,
    JobState::Paused,
    JobState::Completed,
    JobState::Failed,
    JobState::Cancelled,
];

/// Heads of the columns before the numbers.
const COLUMNS: [JobListText; 5] =
    [texts::job_column, texts::status, texts::product_column, texts::order_column, texts::printer_column];

/// Query parameters of the job list. Unknown values are ignored.
#[derive(Request, Debug)]
pub(super) struct JobListQuery {
    /// Only jobs in the given state, as spelled in the API.
    state: Option<String>,
    /// Only jobs that make the given SKU.
    sku: Option<String>,
    /// Only jobs on the given printer.
    printer: Option<String>,
    /// Only jobs that use the given material.
    material: Option<String>,
    /// Only jobs for the given order.
    order: Option<String>,
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

impl JobListQuery {
    fn state(&self) -> Option<JobState> {
        let state_word = self.state.as_deref()?;
        JOB_STATES.into_iter().find(|state| state.to_string() == state_word)
    }

    /// Returns all filters except the state. Other pages set them in their links, and the state tabs keep them.
    fn filters(&self) -> [(&'static str, Option<&str>); 4] {
        let filters =
            [("sku", &self.sku), ("printer", &self.printer), ("material", &self.material), ("order", &self.order)];
        filters.map(|(name, value)| (name, value.as_deref()))
    }

    fn filter(&self) -> JobFilter {
        let id = |text: Option<&String>| text.and_then(|text| text.parse::<Id>().ok());
        JobFilter {
            state: self.state(),
            sku_id: id(self.sku.as_ref()),
            printer_id: id(self.printer.as_ref()),
            material_id: id(self.material.as_ref()),
            order_id: id(self.order.as_ref()),
            ..JobFilter::default()
        }
    }
}

/// Serves the job list.
pub(super) async fn show(
    State(app): State<StaffOrderHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<JobListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let (language, title) = (viewer.language(), texts::title(viewer.language()));
    let narrowed = [("state", query.state.as_deref())].into_iter().chain(query.filters()).collect();
    let (filter, part) = (query.filter(), ListPart { path: JOBS_PATH, narrowed, from: query.from });
    let (jobs, total) = app.jobs.queries.jobs(&filter, part.page()).await?;
    let open = filter == JobFilter::default();
    let content = html! {
        div class="head" {
            a class="btn quiet square" href=(ORDERS_PATH) aria-label=(texts::all_orders(language)) { (icon(Icon::ArrowLeft)) }
            h1 { (title) }
        }
        (states(language, &app, &query))
        div id="jobs" data-fresh="" {
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

/// Renders the links that filter the list by state. The states of open jobs are shown with the number of jobs, unless
/// the list has further filters; states without any jobs are omitted.
fn states(language: Language, app: &StaffOrderHandles, query: &JobListQuery) -> Markup {
    let chosen = query.state();
    let is_narrowed = query.filters().iter().any(|(_, value)| value.is_some());
    let counts = state_counts(app);
    let path = |state: &str| {
        let others = query.filters().map(|(name, value)| (name, value.unwrap_or_default()));
        let filters: Vec<(&str, &str)> = [("state", state)].into_iter().chain(others).collect();
        address(JOBS_PATH, &filters)
    };
    let all = texts::filter_all(language);
    let every = ListFilter { label: &all, path: path(""), count: None, is_current: chosen.is_none() };
    let labels = JOB_STATES.map(|state| (state, state_label(language, state).1));
    let filters = labels.iter().zip(counts).filter_map(|((state, label), count)| {
        let state = *state;
        // Jobs that ended rest in the database.
        let has_ended = matches!(state, JobState::Completed | JobState::Failed | JobState::Cancelled);
        let is_listed = has_ended || is_narrowed || count > 0 || chosen == Some(state);
        let count = (!has_ended && !is_narrowed).then_some(count);
        let path = path(&state.to_string());
        is_listed.then_some(ListFilter { label, path, count, is_current: chosen == Some(state) })
    });
    list_filters(&texts::status(language), &[every].into_iter().chain(filters).collect::<Vec<_>>())
}

/// Counts the jobs in memory by state, in the order of [`JOB_STATES`].
fn state_counts(app: &StaffOrderHandles) -> [usize; JOB_STATES.len()] {
    let mut counts = [0; JOB_STATES.len()];
    for (_, versioned) in app.board.orders.all_resident() {
        for job in versioned.state.iter().flat_map(|order| order.jobs.values()) {
            let place = JOB_STATES.iter().position(|state| *state == job.state);
            if let Some(count) = place.and_then(|place| counts.get_mut(place)) {
                *count += 1;
            }
        }
    }
    counts
}

fn table(language: Language, app: &StaffOrderHandles, jobs: &[Job]) -> Markup {
    let forecast = app.jobs.forecaster.latest();
    let printer = |id: Id| {
        let versioned = app.jobs.printers.resident(id)?.read();
        Some(versioned.state.as_ref()?.fields.name.clone())
    };
    let priority = texts::priority(language);
    html! {
        div class="table list" tabindex="0" role="region" aria-label=(texts::title(language)) {
            table {
                thead {
                    tr {
                        @for column in COLUMNS {
                            th scope="col" { (column(language)) }
                        }
                        th scope="col" class="number" { (priority) } th scope="col" { (texts::progress_column(language)) }
                    }
                }
                tbody {
                    @for job in jobs {
                        tr {
                            th scope="row" { a href={ (JOBS_PATH) "/" (job.id) } { (job.number_text()) } }
                            td class="last" {
                                (live_job_state(language, &app.board.shop, job))
                                @if let Some(reason) = app.jobs.waiting_reason(language, job) {
                                    " " div class="soft" { (translated_message(language, &reason)) }
                                } @else if let Some(error) = &job.error {
                                    " " div class="soft" { (message_in(language, error)) }
                                }
                            }
                            td class="grow" { a class="ellipsis" title=(job.sku_name) href={ (PRODUCTS_PATH) "/" (job.sku_id) } { (job.sku_name) } }
                            td class="spare" { a href={ (ORDERS_PATH) "/" (job.order_id) "#job-" (job.id) } { "ORD-" (format!("{:06}", job.order_number)) } }
                            td {
                                @if let Some((id, name)) = job.printer_id.and_then(|id| Some((id, printer(id)?))) {
                                    a href={ (FLOOR_PATH) "/printers/" (id) } { (name) }
                                }
                            }
                            td class="number spare" data-label=(priority) { (job.priority) }
                            td class="progress" { (progress(language, &app.board, job, forecast.jobs.get(&job.id).copied())) }
                        }
                    }
                }
            }
        }
    }
}
