//! Restores from a backup: the details that must be reviewed, and the confirmation that the shop can resume work.

use std::collections::BTreeMap;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};

use domain::aggregate::Aggregate as _;
use domain::id::Id;
use domain::job::JobState;
use domain::order::Order;
use domain::principal::Role;
use domain::refusal::{Faults, Refusal};
use domain::restore::numbers::RestoredSeries;
use domain::restore::{Restore, RestoreCommand};
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget};
use http::error::ApiError;
use http::handles::handles;
use http::page::{PageQuery, Query};
use http::path_id::PathId;
use http::reply::{ListPage, Plain};
use http::routes::ResourceRoutes;
use http::wire::{JsonObject, MaxChars, OptionalBody};
use kernel::directory::Directory;
use store::queries::Queries;

/// Restore ID used in examples in the API description.
const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8093";
/// Maximum number of jobs listed.
const MAX_JOBS: usize = 500;
/// Maximum number of number series in a review.
const MAX_SERIES: usize = 50;
const MAX_NOTE_CHARS: usize = 1000;

handles! {
    /// Dependencies of the restore routes.
    pub struct RestoreHandles {
        restores: Directory<Restore>,
        orders: Directory<Order>,
        queries: Queries,
    }
}

/// Returns the restore routes.
pub fn routes() -> ResourceRoutes {
    let admin = RequiredAccess::Role(Role::Admin);
    let about = "Restores of the shop from a backup. A restored shop starts no jobs until an admin has reviewed the \
                 restore, because the original shop may have printed jobs and issued numbers since the backup was \
                 made.";
    ResourceRoutes::new("Restores", about, "restore")
        .get(RequiredAccess::Role(Role::Operator), "/api/restores", list, |op| {
            op.named("listRestores", "List restores")
                .about("Sorted newest first. While `reviewedAt` is null, no jobs are dispatched.")
        })
        .get(RequiredAccess::Role(Role::Operator), "/api/restores/{id}", one, |op| {
            op.named("getRestore", "Retrieve a restore").about(
                "Until the restore is reviewed, `jobs` lists the jobs that were open in the backup and may have been \
                 printed since. Cancel those that were printed.",
            )
        })
        .post(admin, "/api/restores/{id}/review", confirm, |op| {
            op.named("reviewRestore", "Review a restore")
                .about(
                    "`next` sets the next number of the given series. Numbers between the last one in the backup and \
                     the next one are skipped, with a reason that `/api/invoices/numbering` returns. The next number \
                     of invoices and credit notes must either be left unchanged or be higher than every number issued \
                     since the restore.",
                )
                .error(409, "already_reviewed", "The restore has already been reviewed.")
        })
}

/// Confirmation that the shop can resume work.
#[derive(Request, Debug)]
#[api(example = json!({"next": {"INV-2026": 10}, "note": "compared with the mailbox: the last invoice was 9"}))]
pub struct ReviewRequest {
    /// Next number for each series to change, by series name; series that are not listed are left unchanged.
    next: Option<JsonObject>,
    /// Note for staff.
    #[api(MaxChars(MAX_NOTE_CHARS))]
    note: Option<String>,
}

/// Number series, with the number from which it continues after a restore.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "RestoredSeries", example = json!({"series": "INV-2026", "lastOfBackup": 5, "next": 106}))]
struct RestoredSeriesView {
    /// Name of the series: `INV-2026`, `CN-2026`, `ORD`, `JOB` or `QUO`.
    series: String,
    /// Highest number in the backup; 0 if the backup contains none.
    last_of_backup: i64,
    /// Lowest number assigned since the restore.
    next: i64,
}

/// Job that may have been printed between the backup and the restore.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "RestoredJob", example = json!({
    "id": "01890a5d-ac96-774b-bcce-b302099a8067", "number": "JOB-000007", "orderId": "01890a5d-ac96-774b-bcce-b302099a8065",
    "orderNumber": "ORD-000003", "state": "SLICED", "printerId": null,
}))]
pub struct OpenJobView {
    /// ID of the job.
    pub id: Id,
    /// Human-readable number.
    pub number: String,
    /// ID of the job's order.
    pub order_id: Id,
    /// Human-readable number of the order.
    pub order_number: String,
    /// State of the job in the restored data.
    pub state: JobState,
    /// ID of the printer that is working on the job.
    pub printer_id: Option<Id>,
}

/// Restore from a backup.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Restore", many = "restores", example = example())]
pub struct RestoreView {
    /// ID of the restore.
    id: Id,
    /// Time at which the backup was made; it contains nothing newer.
    backup_made_at: Timestamp,
    /// Time of the restore.
    restored_at: Timestamp,
    /// Sequence number of the newest event in the backup.
    last_event: i64,
    /// Sequence number of the first event since the restore. For cursors between `lastEvent` and `firstEvent`, the
    /// server returns 410 `cursor_ahead`.
    first_event: i64,
    /// Number series, with the numbers from which they continue.
    series: Vec<RestoredSeriesView>,
    /// Time of the review; null while dispatch is on hold.
    reviewed_at: Option<Timestamp>,
    /// User who reviewed the restore.
    reviewed_by: Option<String>,
    /// Reviewer's note.
    note: Option<String>,
    /// Number of jobs that may have been printed since the backup was made; 0 once the restore is reviewed.
    open_jobs: usize,
    /// Jobs that may have been printed since the backup was made, at most 500.
    jobs: Vec<OpenJobView>,
}

fn example() -> Value {
    json!({
        "id": EXAMPLE_ID, "backupMadeAt": "2026-11-01T03:00:00.000Z", "restoredAt": "2026-11-02T10:00:00.000Z",
        "lastEvent": 4711, "firstEvent": 1_000_004_711_i64,
        "series": [{"series": "INV-2026", "lastOfBackup": 5, "next": 106}], "reviewedAt": null, "reviewedBy": null,
        "note": null, "openJobs": 1, "jobs": [{
            "id": "01890a5d-ac96-774b-bcce-b302099a8067", "number": "JOB-000007",
            "orderId": "01890a5d-ac96-774b-bcce-b302099a8065", "orderNumber": "ORD-000003", "state": "SLICED",
            "printerId": null,
        }],
    })
}

impl RestoreView {
    fn new(restore: &Restore, jobs: Vec<OpenJobView>) -> Self {
        let jobs = if restore.review.is_none() { jobs } else { Vec::new() };
        let series = |one: &RestoredSeries| RestoredSeriesView {
            series: one.series.clone(),
            last_of_backup: one.restored,
            next: one.next,
        };
        let review = restore.review.clone();
        Self {
            id: restore.id,
            backup_made_at: restore.backup_made_at,
            restored_at: restore.restored_at,
            last_event: restore.last_event,
            first_event: restore.first_event,
            series: restore.series.iter().map(series).collect(),
            reviewed_at: review.as_ref().map(|review| review.at),
            reviewed_by: review.as_ref().map(|review| review.by.clone()),
            note: review.and_then(|review| review.note),
            open_jobs: jobs.len(),
            jobs: jobs.into_iter().take(MAX_JOBS).collect(),
        }
    }
}

/// Returns the unfinished jobs created before the restore, oldest first. All orders with open jobs are in memory.
pub fn open_jobs(orders: &Directory<Order>, before: Timestamp) -> Vec<OpenJobView> {
    let mut open_views = Vec::new();
    for (_, state) in orders.all_resident() {
        let Some(order) = &state.state else { continue };
        let open = order.jobs.values().filter(|job| job.created_at <= before && !job.over());
        open_views.extend(open.map(|job| OpenJobView {
            id: job.id,
            number: job.number_text(),
            order_id: order.id,
            order_number: order.number_text(),
            state: job.state,
            printer_id: job.printer_id,
        }));
    }
    open_views.sort_by_key(|job| job.id);
    open_views
}

async fn list(
    State(app): State<RestoreHandles>,
    Query(page): Query<PageQuery>,
) -> Result<ListPage<RestoreView>, ApiError> {
    let page = page.into();
    let (some, total) = app.queries.restores(page).await?;
    let view = |restore: &Restore| RestoreView::new(restore, open_jobs(&app.orders, restore.restored_at));
    Ok(ListPage::new(page, some.iter().filter_map(|versioned| versioned.state.as_ref().map(view)), total))
}

async fn one(State(app): State<RestoreHandles>, PathId(id): PathId) -> Result<Plain<RestoreView>, ApiError> {
    let state = app.restores.read(id).await?;
    let restore = state.as_ref().and_then(|state| state.state.as_ref());
    let restore = restore.ok_or_else(|| Refusal::not_found(Restore::KIND))?;
    Ok(Plain(RestoreView::new(restore, open_jobs(&app.orders, restore.restored_at))))
}

/// Records the review of a restore and lifts the hold on dispatch.
pub async fn review(
    app: &RestoreHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<ReviewRequest>>,
) -> Result<CommandOutcome<Box<Restore>>, ApiError> {
    let command = async {
        let ReviewRequest { next, note } = call.read_body()?;
        Ok(RestoreCommand::Review { next: read_numbers(next)?, note })
    };
    call.ask_with(&app.restores, CommandTarget::Id(id), command).await
}

async fn confirm(
    State(app): State<RestoreHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<ReviewRequest>>,
) -> Result<Plain<RestoreView>, ApiError> {
    let done = review(&app, id, &call).await?;
    Ok(Plain(RestoreView::new(&done.answer, Vec::new())))
}

/// Parses the next number for each series.
fn read_numbers(next: Option<JsonObject>) -> Result<Vec<(String, i64)>, ApiError> {
    let (mut faults, mut numbers) = (Faults::default(), BTreeMap::new());
    let members = next.map(|next| next.0).unwrap_or_default();
    faults.check(members.len() <= MAX_SERIES, "next", format!("must contain at most {MAX_SERIES} series"));
    for (series, value) in members.into_iter().take(MAX_SERIES) {
        match value.as_i64() {
            Some(number) => _ = numbers.insert(series, number),
            None => faults.note(&format!("next.{series}"), "must be a whole number"),
        }
    }
    faults.refuse()?;
    Ok(numbers.into_iter().collect())
}
