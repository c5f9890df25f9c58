//! Production record of a printer: the attempts to print jobs on it, and their totals.

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::care::OdometerView;
use super::{EXAMPLE_ID, PrinterHandles};
use crate::production::jobs::JobNumber;
use crate::production::orders::{self, OrderNumber};
use crate::production::sign_off::SignOffView;
use crate::production::{jobs, skus};
use domain::amount::Amount;
use domain::id::Id;
use domain::job::{Attempt, AttemptState, Job};
use domain::principal::Role;
use domain::refusal::Refusal;
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::command_request::find_present;
use http::error::ApiError;
use http::page::{PageQuery, Query};
use http::path_id::PathId;
use http::reply::{ListPage, Plain};
use http::routes::ResourceRoutes;
use store::queries::AttemptTotals;

/// Adds the routes for a printer's production record.
pub(super) fn routes(to: ResourceRoutes) -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    to.get(operator, "/api/printers/{id}/attempts", attempts, |op| {
        op.named("listPrinterAttempts", "List the attempts on a printer").about(
            "Every attempt to print a job on this printer, with its outcome, newest first. For the printer's own \
             record of a file, see `getPrinterHistory`.",
        )
    })
    .get(operator, "/api/printers/{id}/totals", totals, |op| {
        op.named("getPrinterTotals", "Retrieve a printer's production totals").about(
            "Totals of the attempts that started on the printer in this time span; without a time span, since \
                    the printer was registered.",
        )
    })
}

/// Query parameters for listing attempts.
#[derive(Request, Debug)]
pub struct AttemptQuery {
    /// Return only attempts in the given state, such as `failed`.
    state: Option<AttemptState>,
    #[api(flatten)]
    page: PageQuery,
}

/// Query parameters for the totals.
#[derive(Request, Debug)]
pub struct TotalsQuery {
    /// Include only attempts for which the printer was claimed at or after the given time; defaults to the printer's
    /// registration.
    from: Option<Timestamp>,
    /// Include only attempts for which the printer was claimed before the given time; defaults to now.
    to: Option<Timestamp>,
}

/// Attempt to print a job on a printer.
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
    /// ID of the attempt; also part of the file's name on the printer.
    id: Id,
    /// ID of the attempted job.
    job_id: Id,
    /// Human-readable number of the job; null if the job's record cannot be read.
    job_number: Option<JobNumber>,
    /// ID of the job's order.
    order_id: Id,
    /// Human-readable number of the order; null if the job's record cannot be read.
    order_number: Option<OrderNumber>,
    /// ID of the SKU that the job makes; null if the job's record cannot be read.
    sku_id: Option<Id>,
    /// Name of the SKU at the time of the order.
    sku_name: Option<String>,
    /// Number of the attempt within the job, starting at 1.
    number: u32,
    /// State or outcome of the attempt.
    state: AttemptState,
    /// `true` if it is unknown whether the print started, or how it ended.
    unverified: bool,
    /// Reason the attempt ended or cannot be verified, in plain language.
    reason: Option<String>,
    /// Time at which the printer was claimed for the attempt.
    claimed_at: Timestamp,
    /// Time at which the printer was first observed printing the attempt.
    started_at: Option<Timestamp>,
    /// Time at which the attempt ended; null while it is in progress.
    ended_at: Option<Timestamp>,
    /// Duration of the print, in seconds; null if its start or end was not observed.
    print_seconds: Option<i64>,
    /// Material consumed by the print, added up over all materials, each in its own unit.
    grams: Amount,
    /// Sign-off of the printed parts; null until the attempt has ended and the parts are signed off.
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

/// Number of prints that failed for a given reason.
#[derive(Response, Serialize)]
#[api(name = "FailureReason", example = json!({"reason": "the printer stopped: nozzle too hot", "count": 2}))]
pub struct FailureReason {
    /// Reason given by the printer or an operator; null for all other reasons combined, and for failures without a
    /// reason.
    pub reason: Option<String>,
    /// Number of failed prints.
    pub count: i64,
}

/// Totals of a printer's production.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PrinterTotals", example = json!({
    "printerId": EXAMPLE_ID, "from": "2026-10-03T11:00:00.000Z", "to": "2026-11-02T11:00:00.000Z", "prints": 40,
    "finished": 37, "failed": 2, "cancelled": 1, "notStarted": 0, "successRate": 0.9487, "printSeconds": 144_000,
    "grams": 2010.5, "failuresByReason": [FailureReason::example()], "odometer": OdometerView::example(),
}))]
struct TotalsView {
    /// ID of the printer on which the attempts were made.
    printer_id: Id,
    /// Start of the time span: attempts for which the printer was claimed at or after this time are included.
    from: Timestamp,
    /// End of the time span: attempts for which the printer was claimed before this time are included.
    to: Timestamp,
    /// Number of prints that started and ended, regardless of their outcome.
    prints: i64,
    /// Number of prints that finished.
    finished: i64,
    /// Number of prints that failed.
    failed: i64,
    /// Number of prints that were cancelled.
    cancelled: i64,
    /// Number of attempts that ended without printing.
    not_started: i64,
    /// Fraction of prints that finished, among those that finished or failed, from 0 to 1; null if there were none.
    success_rate: Option<f64>,
    /// Print time, in seconds. Only prints whose start and end were observed are included.
    print_seconds: i64,
    /// Material consumed by the prints, added up over all materials, each in its own unit.
    grams: Amount,
    /// Failure reasons of the last 1,000 failed prints, most frequent first; at most 20, with the rest combined.
    failures_by_reason: Vec<FailureReason>,
    /// Total usage of the printer, as used for its reminders.
    odometer: OdometerView,
}

async fn attempts(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    Query(AttemptQuery { state, page }): Query<AttemptQuery>,
) -> Result<ListPage<PrinterAttemptView>, ApiError> {
    let page = page.into();
    find_present(&app.printers, id).await?;
    let (some, total) = app.queries.attempts_on(id, state, page).await?;
    Ok(ListPage::new(page, some.iter().map(PrinterAttemptView::new), total))
}

async fn totals(
    State(app): State<PrinterHandles>,
    PathId(id): PathId,
    Query(TotalsQuery { from, to }): Query<TotalsQuery>,
) -> Result<Plain<TotalsView>, ApiError> {
    let (_, printer) = find_present(&app.printers, id).await?;
    let from = from.unwrap_or(printer.created_at);
    let to = to.unwrap_or_else(|| app.environment.now().max(from).plus_ms(1));
    if from >= to {
        return Err(Refusal::field("from", "must be before `to`").into());
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
