//! Jobs, with the reason each one is on hold, and operator actions. Jobs can only be changed through their order.

mod matching;
pub mod operations;
mod view;

use std::sync::Arc;

use api_derive::Request;
use axum::extract::State;
use serde_json::json;

use super::orders::PRIORITY;
use super::sign_off::{NOTHING, SignOffRequest};
use actors::dispatcher::Dispatcher;
use actors::forecaster::Forecaster;
use domain::file::File;
use domain::id::Id;
use domain::job::{Job, JobState};
use domain::material::Material;
use domain::order::{Order, PrinterRecords, Resolution};
use domain::principal::Role;
use domain::printer::Printer;
use domain::refusal::Refusal;
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::handles::handles;
use http::operation::DescribedError;
use http::page::{PageQuery, Query};
use http::path_id::PathId;
use http::reply::{ListPage, Resource};
use http::routes::ResourceRoutes;
use http::wire::{EmptyBody, Optional, OptionalBody};
use kernel::directory::Directory;
use printers::connections::PrinterConnections;
use store::queries::{JobFilter, Queries};

pub use matching::PrinterMatchView;
pub use view::{JobNumber, JobView};

/// Example ID of a job.
pub const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8067";

const STATE: &str = "invalid_transition";
const AT_PRINTER: [DescribedError; 5] = [
    (409, STATE, "The state of the job does not allow this."),
    (409, "not_on_printer", "The printer is not working on this job."),
    (409, "printer_disconnected", "The printer is disconnected."),
    (502, "printer_refused", "The printer rejected the command; the message is from the printer."),
    (504, "printer_timeout", "The printer did not respond in time or cannot be reached."),
];

handles! {
    /// Dependencies of the job routes.
    pub struct JobHandles {
        orders: Directory<Order>,
        materials: Directory<Material>,
        files: Directory<File>,
        printers: Directory<Printer>,
        queries: Queries,
        printer_connections: Arc<PrinterConnections>,
        dispatcher: Dispatcher,
        forecaster: Forecaster,
    }
}

/// Returns the job routes.
pub fn routes() -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    let about = "Jobs, of which there is one for each plate of a paid order, with their states, printers and attempts.";
    ResourceRoutes::new("Jobs", about, "job")
        .get(operator, "/api/jobs", list, |op| op.named("listJobs", "List jobs"))
        .get(operator, "/api/jobs/{id}", one, |op| op.named("getJob", "Retrieve a job"))
        .get(operator, "/api/jobs/{id}/match", matching::matching, |op| {
            op.named("matchJob", "List printers that match a job").about(
                "Lists the printers in the order in which the dispatcher would choose them, with the obstacles at each.",
            )
        })
        .patch(operator, "/api/jobs/{id}", update, |op| {
            op.named("updateJob", "Update a job's priority or due date").error(409, STATE, "The job is finished.")
        })
        .post_long(operator, "/api/jobs/{id}/pause", pause, |op| {
            op.named("pauseJob", "Pause a job")
                .about("The job's state changes once the printer confirms the command.")
                .unkeyed()
                .errors(&AT_PRINTER)
        })
        .post_long(operator, "/api/jobs/{id}/resume", resume, |op| {
            op.named("resumeJob", "Resume a job")
                .about("The job's state changes once the printer confirms the command.")
                .unkeyed()
                .errors(&AT_PRINTER)
        })
        .post(operator, "/api/jobs/{id}/cancel", cancel, |op| {
            op.named("cancelJob", "Cancel a job")
                .about("A job on a printer is cancelled when the printer confirms it, or immediately with `force`.")
                .error(409, STATE, "The job is completed or cancelled.")
        })
        .post(operator, "/api/jobs/{id}/retry", retry, |op| {
            op.named("retryJob", "Retry a job")
                .about(
                    "Retries a failed or cancelled job, or creates a replacement for a completed one. Reserves stock \
                     again.",
                )
                .error(409, STATE, "The job is not finished, or its order is cancelled, refunded or shipped.")
                .error(409, "nothing_missing", "The job was cancelled, and its line has enough parts without it.")
        })
        .post(operator, "/api/jobs/{id}/sign-off", sign_off, |op| {
            op.named("signOffJob", "Sign off a job")
                .about(
                    "Records how many parts of the job's last print are good, replacing any earlier sign-off. Rejected \
                     parts of a completed job are replaced automatically, within the limits of the settings, unless \
                     the order is shipped, cancelled or refunded.",
                )
                .error(409, NOTHING, "The job has no finished print.")
        })
        .post(operator, "/api/jobs/{id}/release", release, |op| {
            op.named("releaseJob", "Release a job from review")
                .error(409, "insufficient_material", "There is not enough material; this cannot be overridden.")
                .about("Checks the stock again; there must be enough for the job. Failed slicing is repeated.")
                .error(409, STATE, "The job is not awaiting review.")
        })
        .post(operator, "/api/jobs/{id}/resolve", resolve, |op| {
            op.named("resolveJob", "Resolve a job")
                .about(
                    "Records that a print did not start, finished or failed, for a job whose start or end cannot be \
                     verified or whose printer does not respond. After that, the printer needs its bed to be cleared.",
                )
                .error(409, "printing", "The printer is connected and printing this job; cancel the job instead.")
                .error(
                    409,
                    STATE,
                    "The job is not on a printer, or `not_started` was sent for a print that the server saw start.",
                )
        })
}

/// Filter for the list of jobs.
#[derive(Request, Debug)]
pub struct JobQuery {
    /// Return only jobs in the given state.
    state: Option<JobState>,
    /// `true`: return only jobs that are neither on a printer nor finished. `false`: return only jobs that are.
    waiting: Option<bool>,
    /// `true`: return only completed jobs whose parts are not counted until they are signed off. `false`: return only
    /// other jobs.
    awaits_sign_off: Option<bool>,
    /// Return only jobs for the given order.
    order_id: Option<Id>,
    /// Return only jobs on the given printer.
    printer_id: Option<Id>,
    /// Return only jobs that make the given SKU.
    sku_id: Option<Id>,
    /// Return only jobs that use the given material.
    material_id: Option<Id>,
    #[api(flatten)]
    page: PageQuery,
}

/// Changes to a job. Omitted fields are left unchanged.
#[derive(Request, Debug)]
#[api(example = json!({"priority": 9}))]
pub struct JobChange {
    /// Priority; jobs with a higher number are printed first.
    #[api(PRIORITY)]
    priority: Optional<u8>,
    /// Time by which the job is due.
    due_at: Optional<Option<Timestamp>>,
}

/// Options for cancelling a job.
#[derive(Request, Debug)]
#[api(example = json!({}))]
pub struct JobCancellation {
    /// `true` to cancel the job without waiting for the printer's confirmation.
    #[api(default = false)]
    force: bool,
}

/// Decision on a print whose outcome cannot be verified or whose printer does not respond.
#[derive(Request, Debug)]
#[api(example = json!({"outcome": "not_started"}))]
pub struct JobResolution {
    /// Outcome of the print, as observed by an operator.
    outcome: Resolution,
}

async fn list(State(app): State<JobHandles>, Query(query): Query<JobQuery>) -> Result<ListPage<JobView>, ApiError> {
    let JobQuery { state, waiting, awaits_sign_off, order_id, printer_id, sku_id, material_id, page } = query;
    let page = page.into();
    let only = JobFilter { state, waiting, unsigned: awaits_sign_off, ..JobFilter::default() };
    let filter = JobFilter { order_id, printer_id, sku_id, material_id, ..only };
    let (some, total) = app.queries.jobs(&filter, page).await?;
    Ok(ListPage::new(page, some.iter().map(|job| JobView::new(&app, job)), total))
}

/// Returns a job as last committed by its order. If the database is unavailable, searches the orders in memory.
pub async fn find(app: &JobHandles, id: Id) -> Result<Arc<Job>, ApiError> {
    let of = |order: &Order| order.jobs.get(&id).cloned();
    let job = match app.queries.order_of_job(id).await {
        Ok(None) => None,
        Ok(Some(order)) => app.orders.read(order).await?.and_then(|state| state.state.as_ref().and_then(of)),
        Err(error) => {
            let resident = app.orders.all_resident();
            let resident_job = resident.iter().find_map(|(_, state)| state.state.as_ref().and_then(of));
            Some(resident_job.ok_or_else(|| ApiError::from(error))?)
        }
    };
    job.ok_or_else(|| Refusal::not_found("job").into())
}

async fn one(State(app): State<JobHandles>, PathId(id): PathId) -> Result<Resource<JobView>, ApiError> {
    let job = find(&app, id).await?;
    Ok(Resource::new(job.version, JobView::new(&app, &job)))
}

/// Returns each job's print as last observed on the printer that the job is on.
pub fn seen_prints<'a>(
    printers: &Directory<Printer>,
    connections: &PrinterConnections,
    jobs: impl IntoIterator<Item = &'a Job>,
) -> PrinterRecords {
    let print_of = |job: &Job| {
        let attempt = job.live()?;
        let printer = printers.resident(attempt.printer_id)?.read();
        let status = connections.status(attempt.printer_id);
        Some((attempt.id, printer.state.as_ref()?.seen_print_now(attempt.id, status.as_ref())?))
    };
    jobs.into_iter().filter_map(print_of).collect()
}

async fn update(
    State(app): State<JobHandles>,
    PathId(id): PathId,
    call: CommandRequest<JobChange>,
) -> Result<Resource<JobView>, ApiError> {
    let done = operations::update(&app, id, &call).await?;
    Ok(Resource::after(&done, JobView::new(&app, &done.answer)))
}

async fn cancel(
    State(app): State<JobHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<JobCancellation>>,
) -> Result<Resource<JobView>, ApiError> {
    let done = operations::cancel(&app, id, &call).await?;
    Ok(Resource::after(&done, JobView::new(&app, &done.answer)))
}

async fn retry(
    State(app): State<JobHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<JobView>, ApiError> {
    let done = operations::retry(&app, id, &call).await?;
    Ok(Resource::after(&done, JobView::new(&app, &done.answer)))
}

async fn release(
    State(app): State<JobHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<JobView>, ApiError> {
    let done = operations::release(&app, id, &call).await?;
    Ok(Resource::after(&done, JobView::new(&app, &done.answer)))
}

async fn sign_off(
    State(app): State<JobHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<SignOffRequest>>,
) -> Result<Resource<JobView>, ApiError> {
    let done = operations::sign_off(&app, id, &call).await?;
    Ok(Resource::after(&done, JobView::new(&app, &done.answer)))
}

async fn resolve(
    State(app): State<JobHandles>,
    PathId(id): PathId,
    call: CommandRequest<JobResolution>,
) -> Result<Resource<JobView>, ApiError> {
    let done = operations::resolve(&app, id, &call).await?;
    Ok(Resource::after(&done, JobView::new(&app, &done.answer)))
}

async fn pause(
    State(app): State<JobHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<JobView>, ApiError> {
    let job = operations::pause(&app, id, &call).await?;
    Ok(Resource::new(job.version, JobView::new(&app, &job)))
}

async fn resume(
    State(app): State<JobHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<JobView>, ApiError> {
    let job = operations::resume(&app, id, &call).await?;
    Ok(Resource::new(job.version, JobView::new(&app, &job)))
}
