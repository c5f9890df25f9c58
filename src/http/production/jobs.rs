//! Jobs: shown with why they wait, and what an operator may do to them (decisions §4). A job's order changes it.

use super::printers::connection;
use crate::domain::id::Id;
use crate::domain::job::{Job, JobState, Stock};
use crate::domain::order::{Order, OrderAnswer, OrderCommand, Resolution};
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use crate::http::AppState;
use crate::http::body::sure;
use crate::http::command_request::{CommandOutcome, CommandRequest, CommandTarget};
use crate::http::error::{Answer, ApiError};
use crate::http::page::{Params, body};
use crate::http::path_id::PathId;
use crate::http::reply;
use crate::store::queries::JobFilter;
use axum::extract::State;
use serde_json::{Value, json};
use std::sync::Arc;

/// A job as it is shown.
pub fn view(app: &AppState, job: &Job) -> Value {
    let attempts = job.attempts.iter().map(|attempt| {
        json!({
            "id": attempt.id, "number": attempt.number, "printerId": attempt.printer_id, "state": attempt.state,
            "unverified": attempt.unverified, "reason": attempt.reason, "startedAt": attempt.started_at,
            "endedAt": attempt.ended_at,
        })
    });
    let printing = matches!(job.state, JobState::Printing | JobState::Paused);
    let status = job.printer_id.filter(|_| printing).and_then(|printer| app.printer_connections.status(printer));
    let progress = match job.state {
        JobState::Completed => 100.0,
        _ => status.as_ref().map_or(0.0, |status| status.progress),
    };
    json!({
        "id": job.id, "number": job.number_text(), "orderId": job.order_id,
        "orderNumber": format!("ORD-{:06}", job.order_number), "line": job.line, "skuId": job.sku_id,
        "materialId": job.material_id, "need": job.need, "reserved": job.stock == Stock::Held, "state": job.state,
        "blockedBy": job.blocked_by, "waitingReason": waiting_reason(app, job), "priority": job.priority,
        "dueAt": job.due_at, "printerId": job.printer_id, "progress": progress,
        "remainingSeconds": status.and_then(|status| status.remaining_seconds), "fileId": job.file_id,
        "attempts": attempts.collect::<Vec<_>>(), "cancelRequestedAt": job.cancel_requested_at, "error": job.error,
        "consumed": job.consumed, "createdAt": job.created_at, "updatedAt": job.updated_at, "version": job.version,
    })
}

fn waiting_reason(app: &AppState, job: &Job) -> Option<String> {
    if job.over() {
        return None;
    }
    app.dispatcher.waiting_reason(job).or_else(|| job.block_reason.clone())
}

fn job_of(done: &CommandOutcome<OrderAnswer>) -> Result<CommandOutcome<Arc<Job>>, ApiError> {
    match &done.answer {
        // The version that counts is the job's own.
        OrderAnswer::Job(job) => {
            Ok(CommandOutcome { id: job.id, version: job.version, answer: job.clone(), replayed: done.replayed })
        }
        other => Err(ApiError::internal(format!("an order answered {other:?}"))),
    }
}

/// `GET /api/jobs?state=&orderId=&printerId=&skuId=&materialId=&waiting=`: `waiting` tells those that are on no printer and
/// not over (or the others).
pub async fn list(State(app): State<AppState>, params: Params) -> Answer {
    let page = params.page()?;
    let filter = JobFilter {
        state: params.word("state")?,
        order_id: params.id("orderId")?,
        printer_id: params.id("printerId")?,
        sku_id: params.id("skuId")?,
        material_id: params.id("materialId")?,
        waiting: params.parsed("waiting", "true or false")?,
        number: None,
    };
    let (some, total) = app.queries.jobs(&filter, page).await?;
    reply::ok(body(page, "jobs", some.iter().map(|job| view(&app, job)).collect(), total))
}

/// The job as its order last committed it. When the database is away, of the orders in memory.
pub async fn find(app: &AppState, id: Id) -> Result<Arc<Job>, ApiError> {
    let of = |order: &Order| order.jobs.get(&id).cloned();
    let job = match app.queries.order_of_job(id).await {
        Ok(None) => None,
        Ok(Some(order)) => app.orders.read(order).await?.and_then(|state| state.state.as_ref().and_then(of)),
        Err(error) => {
            let resident = app.orders.all_resident();
            let found = resident.iter().find_map(|(_, state)| state.state.as_ref().and_then(of));
            Some(found.ok_or_else(|| ApiError::from(error))?)
        }
    };
    job.ok_or_else(|| Refusal::not_found("job").into())
}

/// `GET /api/jobs/{id}`
pub async fn one(State(app): State<AppState>, PathId(id): PathId) -> Answer {
    let job = find(&app, id).await?;
    reply::resource(job.version, &view(&app, &job))
}

async fn ask(
    app: &AppState,
    call: &CommandRequest,
    id: Id,
    command: impl Future<Output = Result<OrderCommand, ApiError>>,
) -> Answer {
    let order = find(app, id).await?.order_id;
    let done = call.ask_with(&app.orders, CommandTarget::Id(order), command).await?;
    let done = job_of(&done)?;
    reply::changed(&done, view(app, &done.answer))
}

/// `PATCH /api/jobs/{id} {priority?, dueAt?}`
pub async fn update(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let mut body = call.fields()?;
    let priority: Option<u8> = body.opt("priority");
    body.check(priority.is_none_or(|priority| priority <= 9), "priority", "must be from 0 to 9");
    let due_at: Option<Option<Timestamp>> = body.nullable("dueAt");
    body.finish()?;
    let change = OrderCommand::UpdateJob { job: id, if_version: call.if_match(), priority, due_at };
    ask(&app, &call, id, async { Ok(change) }).await
}

/// `POST /api/jobs/{id}/cancel {force?}`: one on a printer waits for the printer's word unless forced.
pub async fn cancel(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let command = async {
        let mut body = call.optional_fields()?;
        let force: Option<bool> = body.opt("force");
        body.finish()?;
        Ok(OrderCommand::CancelJob { job: id, force: force.unwrap_or(false) })
    };
    ask(&app, &call, id, command).await
}

/// `POST /api/jobs/{id}/retry`
pub async fn retry(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let command = async {
        call.optional_fields()?.finish()?;
        Ok(OrderCommand::RetryJob(id))
    };
    ask(&app, &call, id, command).await
}

/// `POST /api/jobs/{id}/release`: past the reorder point.
pub async fn release(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let command = async {
        call.optional_fields()?.finish()?;
        Ok(OrderCommand::ReleaseJob(id))
    };
    ask(&app, &call, id, command).await
}

/// `POST /api/jobs/{id}/resolve {outcome}`: an operator's word on what nobody can verify.
pub async fn resolve(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let command = async {
        let mut body = call.fields()?;
        let outcome: Option<Resolution> = body.need("outcome");
        body.finish()?;
        Ok(OrderCommand::Resolve { job: id, outcome: sure(outcome)? })
    };
    ask(&app, &call, id, command).await
}

/// Where a job prints; 409 when it does not stand as wanted.
async fn printing(app: &AppState, id: Id, wanted: JobState, what: &str) -> Result<(Arc<Job>, Id), ApiError> {
    let job = find(app, id).await?;
    match job.printer_id {
        Some(printer) if job.state == wanted => Ok((job, printer)),
        _ => Err(Refusal::transition(what, job.state).into()),
    }
}

/// The print that the printer shows must be this job's: a print that someone began there is never touched.
fn ours(app: &AppState, job: &Job, printer: Id) -> Result<(), ApiError> {
    let handle = app.printers.resident(printer).ok_or_else(|| Refusal::not_found("printer"))?;
    let state = handle.read();
    let in_hand = state.state.as_ref().and_then(|printer| printer.in_hand.as_ref());
    if in_hand.is_some_and(|in_hand| in_hand.job == job.id) {
        Ok(())
    } else {
        Err(ApiError::conflict("not_on_printer", "the printer does not have this job in hand"))
    }
}

/// Asks the printer to pause a job; the state changes when the printer says so.
pub async fn paused(app: &AppState, id: Id) -> Result<Arc<Job>, ApiError> {
    let (job, printer) = printing(app, id, JobState::Printing, "pausing a job").await?;
    ours(app, &job, printer)?;
    let link = connection(app, printer)?;
    link.adapter.pause().await?;
    link.look.notify_one();
    Ok(job)
}

/// Asks the printer to resume a job; the state changes when the printer says so.
pub async fn resumed(app: &AppState, id: Id) -> Result<Arc<Job>, ApiError> {
    let (job, printer) = printing(app, id, JobState::Paused, "resuming a job").await?;
    ours(app, &job, printer)?;
    let link = connection(app, printer)?;
    link.adapter.resume().await?;
    link.look.notify_one();
    Ok(job)
}

/// `POST /api/jobs/{id}/pause`
pub async fn pause(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.optional_fields()?.finish()?;
    let job = paused(&app, id).await?;
    reply::resource(job.version, &view(&app, &job))
}

/// `POST /api/jobs/{id}/resume`
pub async fn resume(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.optional_fields()?.finish()?;
    let job = resumed(&app, id).await?;
    reply::resource(job.version, &view(&app, &job))
}
