//! Operations on jobs, which the API's handlers and the staff's pages call.

use std::sync::Arc;

use super::{JobCancellation, JobChange, JobHandles, JobResolution, find, seen_prints};
use crate::production::printers::PrinterAct;
use crate::production::sign_off::SignOffRequest;
use domain::id::Id;
use domain::job::{Job, JobState};
use domain::order::{CurrentStock, JobCommand, PrinterRecords};
use domain::printer::DirectAction;
use domain::refusal::Refusal;
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget, find_existing, state_of};
use http::error::ApiError;
use http::wire::{EmptyBody, OptionalBody};
use kernel::envelope::CommandOrigin;
use printers::connections::PrinterConnection;

/// Outcome of a command to a job, with the job after it. The ID and the version are the job's own.
pub type JobOutcome = CommandOutcome<Arc<Job>>;

/// Sends a command to the order that the job belongs to.
async fn ask<B>(
    app: &JobHandles,
    id: Id,
    call: &CommandRequest<B>,
    command: impl Future<Output = Result<JobCommand, ApiError>>,
) -> Result<JobOutcome, ApiError> {
    let order = find(app, id).await?.order_id;
    let done = call.ask_with(&app.orders, CommandTarget::Id(order), command).await?;
    let job = done.answer.job;
    Ok(CommandOutcome { id: job.id, version: job.version, answer: job, replayed: done.replayed })
}

/// Changes the priority or the due date of a job.
pub async fn update(app: &JobHandles, id: Id, call: &CommandRequest<JobChange>) -> Result<JobOutcome, ApiError> {
    let JobChange { priority, due_at } = call.read_body()?;
    let (priority, due_at) = (priority.present(), due_at.present());
    let change = JobCommand::Update { job: id, if_version: call.if_match(), priority, due_at };
    ask(app, id, call, async { Ok(change) }).await
}

/// Cancels a job. If it is on a printer, it is cancelled when the printer confirms it, or immediately if forced.
pub async fn cancel(
    app: &JobHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<JobCancellation>>,
) -> Result<JobOutcome, ApiError> {
    let command = async {
        let JobCancellation { force } = call.read_body()?;
        let prints = if force {
            seen_prints(&app.printers, &app.printer_connections, [&*find(app, id).await?])
        } else {
            PrinterRecords::new()
        };
        Ok(JobCommand::Cancel { job: id, force, prints })
    };
    ask(app, id, call, command).await
}

/// Retries a finished job, or creates a replacement for a completed one.
pub async fn retry(
    app: &JobHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<JobOutcome, ApiError> {
    let command = async { call.read_body().map(|EmptyBody {}| JobCommand::Retry(id)) };
    ask(app, id, call, command).await
}

/// Builds the command that releases a job, with the current stock of the material that the job lacks.
pub async fn release_command(app: &JobHandles, job: Id) -> Result<JobCommand, ApiError> {
    let current_job = find(app, job).await?;
    let material = current_job.waiting_claim().map_or(current_job.material_id, |claim| claim.material_id);
    let (_, state) = find_existing(&app.materials, material).await?;
    let material = state_of(&state)?;
    let (unit, name) = (material.fields.kind.unit(), material.fields.name.clone());
    Ok(JobCommand::Release { job, stock: CurrentStock { available: material.available(), unit, name } })
}

/// Releases a job from review.
pub async fn release(
    app: &JobHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<JobOutcome, ApiError> {
    let command = async {
        let EmptyBody {} = call.read_body()?;
        release_command(app, id).await
    };
    ask(app, id, call, command).await
}

/// Records how many parts of the job's last print are good.
pub async fn sign_off(
    app: &JobHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<SignOffRequest>>,
) -> Result<JobOutcome, ApiError> {
    let command = async {
        let inspection = call.read_body()?.read(&app.files).await?;
        Ok(JobCommand::SignOff { job: id, inspection })
    };
    ask(app, id, call, command).await
}

/// Records how a print ended whose outcome cannot be verified.
pub async fn resolve(app: &JobHandles, id: Id, call: &CommandRequest<JobResolution>) -> Result<JobOutcome, ApiError> {
    let command = async {
        let JobResolution { outcome } = call.read_body()?;
        let job = find(app, id).await?;
        let record = job.live().and_then(|attempt| Some((attempt, app.printers.resident(attempt.printer_id)?)));
        let print = record.and_then(|(attempt, printer)| Some(printer.read().state.as_ref()?.seen_print(attempt.id)));
        Ok(JobCommand::Resolve { job: id, outcome, print: print.unwrap_or_default() })
    };
    ask(app, id, call, command).await
}

/// Pauses a job's print.
pub async fn pause(
    app: &JobHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Arc<Job>, ApiError> {
    let EmptyBody {} = call.read_body()?;
    pause_print(app, id, call.origin()).await
}

/// Resumes a job's print.
pub async fn resume(
    app: &JobHandles,
    id: Id,
    call: &CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Arc<Job>, ApiError> {
    let EmptyBody {} = call.read_body()?;
    resume_print(app, id, call.origin()).await
}

/// Returns a job and its printer's ID; fails with 409 if the job is not in the state `expected`.
async fn find_in_state(app: &JobHandles, id: Id, expected: JobState, what: &str) -> Result<(Arc<Job>, Id), ApiError> {
    let job = find(app, id).await?;
    match job.printer_id {
        Some(printer) if job.state == expected => Ok((job, printer)),
        _ => Err(Refusal::transition(what, job.state).into()),
    }
}

/// Checks that the printer is working on the given job, so that a print started there by someone else is never
/// affected.
fn check_in_hand(app: &JobHandles, job: &Job, printer: Id) -> Result<(), ApiError> {
    let handle = app.printers.resident(printer).ok_or_else(|| Refusal::not_found("printer"))?;
    let state = handle.read();
    let in_hand = state.state.as_ref().and_then(|printer| printer.in_hand.as_ref());
    if in_hand.is_some_and(|in_hand| in_hand.job == job.id) {
        Ok(())
    } else {
        Err(ApiError::conflict("not_on_printer", "the printer is not working on this job"))
    }
}

/// Asks the printer to pause a job. The job's state changes when the printer reports the pause.
pub async fn pause_print(app: &JobHandles, id: Id, origin: CommandOrigin) -> Result<Arc<Job>, ApiError> {
    let (job, printer) = find_in_state(app, id, JobState::Printing, "the job cannot be paused").await?;
    check_in_hand(app, &job, printer)?;
    let act = PrinterAct { printer, origin, act: DirectAction::Pause, detail: None };
    let wire = |connection: Arc<PrinterConnection>| async move { connection.adapter.pause().await };
    act.carry_out(&app.printers, &app.printer_connections, wire).await?;
    Ok(job)
}

/// Asks the printer to resume a job. The job's state changes when the printer reports that the print continues.
pub async fn resume_print(app: &JobHandles, id: Id, origin: CommandOrigin) -> Result<Arc<Job>, ApiError> {
    let (job, printer) = find_in_state(app, id, JobState::Paused, "the job cannot be resumed").await?;
    check_in_hand(app, &job, printer)?;
    let act = PrinterAct { printer, origin, act: DirectAction::Resume, detail: None };
    let wire = |connection: Arc<PrinterConnection>| async move { connection.adapter.resume().await };
    act.carry_out(&app.printers, &app.printer_connections, wire).await?;
    Ok(job)
}
