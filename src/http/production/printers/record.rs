//! What a printer has made of the jobs that it was given: its attempts, and their sums.

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::care::OdometerView;
use super::{EXAMPLE_ID, PrinterHandles, present};
use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::job::{Attempt, AttemptState, Job};
use crate::domain::principal::Role;
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use crate::http::access::RequiredAccess;
use crate::http::error::ApiError;
use crate::http::page::{PageQuery, Query};
use crate::http::path_id::PathId;
use crate::http::production::jobs::JobNumber;
use crate::http::production::orders::{self, OrderNumber};
use crate::http::production::sign_off::SignOffView;
use crate::http::production::{jobs, skus};
use crate::http::reply::{Listed, Plain};
use crate::http::routes::ResourceRoutes;
use crate::store::queries::AttemptTotals;

/// Adds the routes of what a printer has made.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    to.get(operator, "/api/printers/{id}/attempts", attempts, |op| {
        op.named("listPrinterAttempts", "List what a printer was given to print").about(
            "Every attempt at a job on this printer with how it ended, the one that claimed it last first. What the printer \
             itself remembers of a file is `getPrinterHistory`.",
        )
    })
    .get(operator, "/api/printers/{id}/totals", totals, |op| {
        op.named("getPrinterTotals", "Sum up what a printer has made")
            .about("Of the attempts that claimed it in this time; since it was registered where no time is given.")
    })
}

/// Which attempts are listed.
#[derive(Request, Debug)]
pub struct AttemptQuery {
    /// Only attempts in this state, such as `failed`.
    state: Option<AttemptState>,
    #[api(flatten)]
    page: PageQuery,
}

/// Which attempts are summed up.
#[derive(Request, Debug)]
pub struct TotalsQuery {
    /// Attempts that claimed the printer at this time or later; since it was registered when it is left out.
    from: Option<Timestamp>,
    /// Attempts that claimed the printer before this time; until now when it is left out.
    to: Option<Timestamp>,
}

/// One attempt at a job on this printer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterAttempt", many = "attempts", example = json!({
    "id": "01890a5d-ac96-774b-bcce-b302099a8070", "jobId": jobs::EXAMPLE_ID, "jobNumber": "JOB-000245",
    "orderId": orders::EXAMPLE_ID, "orderNumber": "ORD-000123", "skuId": skus::EXAMPLE_ID, "skuName": "Vase", "number": 1,
    "state": "failed", "unverified": false, "reason": "the printer stopped: nozzle too hot",
    "claimedAt": "2026-11-02T10:15:00.000Z", "startedAt": "2026-11-02T10:16:00.000Z", "endedAt": "2026-11-02T10:46:00.000Z",
    "printSeconds": 1800, "grams": 12.5, "signOff": null,
}))]
struct PrinterAttemptView {
    /// Id of the attempt; also part of the file's name on the printer.
    id: Id,
    /// The job that was attempted.
    job_id: Id,
    /// The number of the job; null where its record cannot be read.
    job_number: Option<JobNumber>,
    /// The order of the job.
    order_id: Id,
    /// The number of the order; null where the record of the job cannot be read.
    order_number: Option<OrderNumber>,
    /// The SKU that the job makes; null where the record of the job cannot be read.
    sku_id: Option<Id>,
    /// Its name when it was ordered.
    sku_name: Option<String>,
    /// Counts from 1 within the job.
    number: u32,
    /// How far the attempt is, or how it ended.
    state: AttemptState,
    /// Nobody can say whether the print began, or how it ended.
    unverified: bool,
    /// Why it ended, or cannot be verified, in plain words.
    reason: Option<String>,
    /// When the printer was claimed for it.
    claimed_at: Timestamp,
    /// When the printer was first seen printing it.
    started_at: Option<Timestamp>,
    /// When it was over; null while it goes on.
    ended_at: Option<Timestamp>,
    /// How long the printer printed; null where nobody saw the beginning and the end.
    print_seconds: Option<i64>,
    /// What the print used of all its materials together, in their unit.
    grams: Amount,
    /// How its parts were judged; null before its end, and while a person still has to judge them.
    sign_off: Option<SignOffView>,
}

impl PrinterAttemptView {
    fn new((attempt, job): &(Attempt, Option<Job>)) -> Self {
        let job = job.as_ref();
        Self {
            id: attempt.id,
            job_id: attempt.job_id,
            job_number: job.map(|job| JobNumber(job.number)),
            order_id: attempt.order_id,
            order_number: job.map(|job| OrderNumber(job.order_number)),
            sku_id: job.map(|job| job.sku_id),
            sku_name: job.map(|job| job.sku_name.clone()),
            number: attempt.number,
            state: attempt.state,
            unverified: attempt.unverified,
            reason: attempt.reason.clone(),
            claimed_at: attempt.created_at,
            started_at: attempt.started_at,
            ended_at: attempt.ended_at,
            print_seconds: attempt.took_ms().map(|ms| ms.max(0) / 1000),
            grams: attempt.used,
            sign_off: attempt.sign_off.as_ref().map(SignOffView::from),
        }
    }
}

/// How many prints failed for one reason.
#[derive(Response, Serialize)]
#[api(name = "FailureReason", example = json!({"reason": "the printer stopped: nozzle too hot", "count": 2}))]
pub(crate) struct FailureReason {
    /// In the words that the printer or a person gave; null for all other reasons together, and where none was given.
    pub(crate) reason: Option<String>,
    /// Prints that failed for it.
    pub(crate) count: i64,
}

/// What a printer has made.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterTotals", example = json!({
    "printerId": EXAMPLE_ID, "from": "2026-10-03T11:00:00.000Z", "to": "2026-11-02T11:00:00.000Z", "prints": 40,
    "finished": 37, "failed": 2, "cancelled": 1, "notStarted": 0, "successRate": 0.9487, "printSeconds": 144_000,
    "grams": 2010.5, "failuresByReason": [FailureReason::example()], "odometer": OdometerView::example(),
}))]
struct TotalsView {
    /// The printer that was given these attempts.
    printer_id: Id,
    /// Attempts that claimed it at this time or later are counted.
    from: Timestamp,
    /// Attempts that claimed it before this time are counted.
    to: Timestamp,
    /// Prints that began and are over, however they ended.
    prints: i64,
    /// Prints that ran to their end.
    finished: i64,
    /// Prints that failed.
    failed: i64,
    /// Prints that were cancelled.
    cancelled: i64,
    /// Attempts that are over and printed nothing.
    not_started: i64,
    /// The share of finished prints among those that finished or failed, from 0 to 1; null without such prints.
    success_rate: Option<f64>,
    /// How long it printed, as far as beginnings and ends were seen.
    print_seconds: i64,
    /// What the prints used of all materials together, in their unit.
    grams: Amount,
    /// Why prints failed, most first, of the last thousand: at most 20 reasons, and the others together.
    failures_by_reason: Vec<FailureReason>,
    /// What the printer has done since ever, as its reminders count it.
    odometer: OdometerView,
}

async fn attempts(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    Query(AttemptQuery { state, page }): Query<AttemptQuery>,
) -> Result<Listed<PrinterAttemptView>, ApiError> {
    let page = page.into();
    present(&app, id).await?;
    let (some, total) = app.queries.attempts_on(id, state, page).await?;
    Ok(Listed { page, items: some.iter().map(PrinterAttemptView::new).collect(), total })
}

async fn totals(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    Query(TotalsQuery { from, to }): Query<TotalsQuery>,
) -> Result<Plain<TotalsView>, ApiError> {
    let (_, printer) = present(&app, id).await?;
    let from = from.unwrap_or(printer.created_at);
    let to = to.unwrap_or_else(|| app.environment.now().max(from).plus_ms(1));
    if from >= to {
        return Err(Refusal::field("from", "must be before to").into());
    }
    let AttemptTotals { finished, failed, cancelled, not_started, print_ms, used, reasons } =
        app.queries.attempt_totals(id, from, to).await?;
    let judged = finished + failed;
    Ok(Plain(TotalsView {
        printer_id: id,
        from,
        to,
        prints: finished + failed + cancelled,
        finished,
        failed,
        cancelled,
        not_started,
        success_rate: (judged > 0).then(|| finished as f64 / judged as f64),
        print_seconds: print_ms / 1000,
        grams: used,
        failures_by_reason: reasons.into_iter().map(|(reason, count)| FailureReason { reason, count }).collect(),
        odometer: printer.odometer.into(),
    }))
}
