//! Carries out an attempt until its print starts or a verdict is reached.
//!
//! In phase Taken: poll, upload, poll again, request `Go`, and send the start command once. In phases `StartSent` and
//! Unverified, also after a crash: never send a start command, but wait until monitoring confirms the print, and
//! otherwise judge by the printer's own evidence. If a print was observed and has disappeared, or if the printer's
//! server has lost the firmware: query the printer's history for the print's outcome.

use std::time::Duration;

use tokio::time::Instant;

use super::look::look;
use super::send::{UploadRetries, send};
use super::{PrinterEffects, in_hand, tell};
use domain::id::Id;
use domain::printer::{
    AttemptPhase, CurrentAttempt, Evidence, Printer, PrinterNews, PrinterUpload, StartFailure, UploadAnswer,
};
use domain::printer_status::{Activity, Connection, PastPrint, ServerRun, Status};
use domain::time::Timestamp;
use files::blobs::is_lost;
use kernel::effects::report;
use kernel::handle::Handle;
use printers::adapter::{Deleted, Launch, PrinterError, Source};
use printers::connections::PrinterConnection;

/// Maximum number of retries of a deletion after the printer's server returned 5xx.
const MAX_DELETE_RETRIES: u32 = 3;
/// Interval between checks of an unverified attempt until an operator decides on it.
const UNVERIFIED_LOOK_INTERVAL: Duration = Duration::from_secs(15);

/// Time allowed for the firmware behind a printer's server to return after the printer is considered offline; after
/// that, the print is considered lost.
const FIRMWARE_RETURN_DELAY: Duration = Duration::from_secs(5);
/// Delay before the history is read, because a printer updates it only some time after a print has ended.
const HISTORY_DELAY: Duration = Duration::from_secs(1);

/// Makes one attempt at the effect, which stays due until the rules have recorded an outcome. Returning without one
/// therefore means that the effect will be retried later.
pub(super) async fn run(with: &PrinterEffects, of: &Handle<Printer>, attempt: Id) {
    let Some(hand) = in_hand(of, attempt) else { return };
    let mut permitted_at = None;
    if hand.phase == AttemptPhase::Taken {
        // A restored shop has prints in hand that its printers may have made since the backup.
        with.hold.wait_until_off().await;
        match deliver(with, of, &hand).await {
            Ok(Some(launch)) => {
                // The process may have been stopped since the permission: another server judges the attempt then.
                with.environment.leadership().wait_until_confirmed().await;
                permitted_at = Some(Instant::now());
                start(with, of, &launch).await;
            }
            Ok(None) => {}
            Err(DeliveryFailure { why, reason }) => {
                let _ = report(of, PrinterNews::UploadFailed { attempt, why, reason }).await;
            }
        }
    }
    let Some(hand) = in_hand(of, attempt) else { return };
    match hand.phase {
        AttemptPhase::StartSent { at } => {
            measure(with, of, attempt, at);
            with.wait_for_confirmation(of, at, permitted_at).await;
            judge(with, of, attempt).await;
        }
        AttemptPhase::Unverified { .. } => {
            measure(with, of, attempt, hand.taken_at);
            judge(with, of, attempt).await;
            tokio::time::sleep(UNVERIFIED_LOOK_INTERVAL).await;
        }
        AttemptPhase::Printing { .. } | AttemptPhase::Paused { .. } if hand.gone.is_some() => {
            tokio::time::sleep(HISTORY_DELAY).await;
            judge(with, of, attempt).await;
        }
        AttemptPhase::Printing { .. } | AttemptPhase::Paused { .. } if firmware_stays_away(of) => {
            tokio::time::sleep(FIRMWARE_RETURN_DELAY).await;
            judge(with, of, attempt).await;
        }
        _ => {}
    }
}

/// Starts to measure how long the printer is not polled. After a server restart, or on a new connection, the printer is
/// considered not polled since `from`; if the clock has been set back since then, that time is unknown.
fn measure(with: &PrinterEffects, of: &Handle<Printer>, attempt: Id, from: Timestamp) {
    if let Some(connection) = with.connections.get(of.id()) {
        let before = u64::try_from(with.environment.now().since(from)).map_or(Duration::MAX, Duration::from_millis);
        connection.measure_unwatched(attempt, before);
    }
}

/// Reason that an attempt is returned to its order before a start was permitted.
struct DeliveryFailure {
    why: StartFailure,
    reason: String,
}

impl DeliveryFailure {
    /// Creates the failure for a step that failed at the printer or its connection.
    fn of(step: &str, error: &PrinterError) -> Self {
        Self { why: failure_of(error), reason: format!("{step}: {error}") }
    }
}

/// Uploads the file and requests `Go`. Returns the print to launch, once; `None` if nothing can be launched yet.
async fn deliver(
    with: &PrinterEffects,
    of: &Handle<Printer>,
    hand: &CurrentAttempt,
) -> Result<Option<Launch>, DeliveryFailure> {
    let attempt = hand.attempt;
    let file = match with.files.read(hand.file_id).await {
        Ok(Some(file)) => file,
        Ok(None) => {
            return Err(DeliveryFailure { why: StartFailure::NoFile, reason: "the file was deleted".to_owned() });
        }
        Err(error) => {
            tracing::warn!(%attempt, %error, "reading a file failed; retrying");
            return Ok(None);
        }
    };
    let Some(file) = &file.state else { return Ok(None) };
    let content = match with.blobs.local(&file.sha256).await {
        Ok(content) => content,
        Err(error) if is_lost(&error) => {
            return Err(DeliveryFailure { why: StartFailure::NoFile, reason: error.to_string() });
        }
        Err(error) => {
            tracing::warn!(%attempt, %error, "reading a file failed; retrying");
            return Ok(None);
        }
    };
    let source = Source::of(file, content.path().to_owned()).marked(attempt, file.metadata.form);
    let remote_name = upload(with, of, hand, &source).await?;
    let Some(connection) = with.connections.get(of.id()) else { return Ok(None) };
    let server_mark = match connection.adapter.server_mark().await {
        Ok(mark) => mark,
        Err(error) => {
            tracing::debug!(printer = %of.id(), %attempt, %error, "cannot read the run token of the printer's server");
            None
        }
    };
    // The rules go by what is seen now: a person may have begun a print meanwhile.
    poll_again(with, of, &connection).await.map_err(|error| DeliveryFailure::of("before the start", &error))?;
    let uploaded = PrinterUpload::Attempt { attempt, remote_name: remote_name.clone(), server_mark };
    // Repeated as long as the database cannot write: the upload is not.
    if !matches!(report(of, uploaded).await, Ok(UploadAnswer::Go)) {
        return Ok(None); // not ours to send any more
    }
    Ok(Some(Launch { name: remote_name, print: attempt, plate: hand.plate.max(1), slots: hand.filament_slots.clone() }))
}

/// Uploads the file to a printer that is able to start a print, and retries failures that may be transient. Returns the
/// name of the file on the printer.
async fn upload(
    with: &PrinterEffects,
    of: &Handle<Printer>,
    hand: &CurrentAttempt,
    source: &Source,
) -> Result<String, DeliveryFailure> {
    let attempt = hand.attempt;
    let mut retries = UploadRetries::new();
    loop {
        let Some(connection) = with.connections.wait_for(of.id()).await else {
            let reason = "the printer is not connected".to_owned();
            return Err(DeliveryFailure { why: StartFailure::Unreachable, reason });
        };
        let sent = match look(with, of, &connection, with.settings.offline).await {
            Ok(_) => match taken_meanwhile(of) {
                Some(reason) => return Err(DeliveryFailure { why: StartFailure::Busy, reason }),
                None => send(&connection, &hand.file_name, source).await,
            },
            Err(error) => Err(error),
        };
        match sent {
            Ok(name) => return Ok(name),
            Err(error) => {
                tracing::info!(printer = %of.id(), %attempt, %error, "upload failed");
                let Some(pause) = retries.pause_after(&error) else {
                    return Err(DeliveryFailure::of("upload", &error));
                };
                tokio::time::sleep(pause).await;
            }
        }
    }
}

/// Sends the start command that was permitted.
async fn start(with: &PrinterEffects, of: &Handle<Printer>, launch: &Launch) {
    let attempt = launch.print;
    let Some(connection) = with.connections.get(of.id()) else { return };
    connection.measure_unwatched(attempt, Duration::ZERO);
    // From now on the watch looks at every poll, also while the start is not answered.
    connection.look.notify_one();
    match connection.adapter.launch(launch).await {
        Ok(()) => connection.look.notify_one(),
        Err(error) if error.certainly_not_done() => {
            tracing::info!(printer = %of.id(), %attempt, %error, "start rejected");
            // Refused, but a start that the printer queued all the same must find no file: it is deleted, as in the
            // verdict.
            revoke_refused(of, &connection, attempt, &launch.name, error.to_string()).await;
        }
        // The start may have happened: the watch or the verdict tells.
        Err(error) => {
            tracing::info!(printer = %of.id(), %attempt, %error, "no response to the start command");
            connection.look.notify_one();
        }
    }
}

/// Returns a human-readable reason if the printer cannot currently start a print, in which case no file is sent to it.
fn taken_meanwhile(of: &Handle<Printer>) -> Option<String> {
    let printer = of.read();
    printer.state.as_ref()?.could_start().err().map(|why| format!("not started: the printer is {why}"))
}

/// Polls the printer immediately before the start. Failures that may be transient are retried as often as for uploads.
pub(super) async fn poll_again(
    with: &PrinterEffects,
    of: &Handle<Printer>,
    connection: &PrinterConnection,
) -> Result<(), PrinterError> {
    let mut retries = UploadRetries::new();
    loop {
        let Err(error) = look(with, of, connection, with.settings.offline).await else { return Ok(()) };
        let Some(pause) = retries.pause_after(&error) else { return Err(error) };
        tokio::time::sleep(pause).await;
    }
}

/// Classifies the cause of a failed upload.
fn failure_of(error: &PrinterError) -> StartFailure {
    match error {
        error if error.disk_full() => StartFailure::DiskFull,
        PrinterError::Unreachable(_)
        | PrinterError::WrongKey(_)
        | PrinterError::FirmwareDisconnected(_)
        | PrinterError::Stranger { .. }
        | PrinterError::WrongType { .. }
        // A person's print came in between, which says nothing about the job.
        | PrinterError::InUse(_)
        | PrinterError::Stalled(_)
        | PrinterError::Timeout => StartFailure::Unreachable,
        _ => StartFailure::Refused,
    }
}

async fn revoke_refused(of: &Handle<Printer>, connection: &PrinterConnection, attempt: Id, name: &str, reason: String) {
    match connection.adapter.delete_file(name).await {
        Ok(Deleted::Gone | Deleted::NotFound) => {
            let _ = report(of, PrinterNews::StartRefused { attempt, reason }).await;
        }
        // The file is still there: judged after the confirm time, like any start that was not confirmed.
        Err(error) => {
            tracing::info!(printer = %of.id(), %attempt, %error, "cannot delete the file of a rejected start");
        }
    }
}

/// Collects the evidence for the verdict and reports it: status, then history, then deletion. The start is considered
/// revoked only if the printer is reachable, does not show our file and has deleted it. If the printer's history is
/// unavailable or lists a different print as the last one, the verdict is left to an operator. If a print was observed,
/// nothing is deleted and only the history is used.
async fn judge(with: &PrinterEffects, of: &Handle<Printer>, attempt: Id) {
    let evidence = match with.connections.wait_for(of.id()).await {
        Some(connection) => {
            // What an emergency stop causes must not be taken for anything else.
            connection.wait_until_no_stop().await;
            let status = look(with, of, &connection, with.settings.offline).await;
            // The look itself may have decided.
            let Some(hand) = undecided(of, attempt) else { return };
            gather(&connection, &hand, status).await
        }
        None => Evidence::Unclear("the printer is not connected".to_owned()),
    };
    let Some(hand) = undecided(of, attempt) else { return };
    if let (AttemptPhase::Unverified { reason }, Evidence::Unclear(now)) = (&hand.phase, &evidence)
        && reason == now
    {
        return; // known already
    }
    tell(of, PrinterNews::Judged { attempt, evidence: Box::new(evidence) }).await;
}

/// Returns the attempt if it still needs a verdict.
fn undecided(of: &Handle<Printer>, attempt: Id) -> Option<CurrentAttempt> {
    in_hand(of, attempt).filter(|hand| match hand.phase {
        AttemptPhase::StartSent { .. } | AttemptPhase::Unverified { .. } => true,
        AttemptPhase::Printing { .. } | AttemptPhase::Paused { .. } => hand.gone.is_some() || firmware_stays_away(of),
        _ => false,
    })
}

fn firmware_stays_away(of: &Handle<Printer>) -> bool {
    of.read().state.as_ref().is_some_and(Printer::firmware_stays_away)
}

async fn gather(
    connection: &PrinterConnection,
    hand: &CurrentAttempt,
    status: Result<Status, PrinterError>,
) -> Evidence {
    let name = hand.remote_name.as_deref().unwrap_or(&hand.file_name);
    let status = match status {
        Ok(status) => status,
        Err(error) => return Evidence::Unclear(format!("the printer's status cannot be read: {error}")),
    };
    let began = hand.began_at.is_some() || hand.gone.is_some();
    if status.connection != Connection::Connected && !began {
        let words = match status.connection {
            Connection::ReadOnly => "the printer is read-only and accepts no commands",
            _ => "the printer's firmware is not connected",
        };
        return Evidence::Unclear(words.to_owned());
    }
    let names_it = names(hand, &status);
    if names_it && (status.ended.is_some() || matches!(status.state, Activity::Printing | Activity::Paused)) {
        return Evidence::Shows(status);
    }
    match connection.adapter.history(name).await {
        Ok(past) => {
            // The newest come first. Whoever prints the file again makes another entry: ours is the oldest.
            let tells = |print: &PastPrint| hand.gone.is_some() || print.ended.is_some() || print.cut_off || !began;
            if let Some(print) = past.into_iter().rfind(|print| print.file == name).filter(tells) {
                return Evidence::Remembers(print);
            }
        }
        // Its last print may be this one, begun and ended unseen, or the name may stand there before the start took
        // effect.
        Err(PrinterError::Unsupported(_)) if names_it && !began => return Evidence::NamesLast,
        Err(PrinterError::NotFound(_) | PrinterError::Unsupported(_)) => {}
        Err(error) => return Evidence::Unclear(format!("the printer's history cannot be read: {error}")),
    }
    // Before a deletion, because with the file some printers forget what they remember of it.
    let server = match &hand.server_mark {
        None => Ok(ServerRun::Unknown),
        Some(mark) => connection.adapter.server_ran_since(mark).await,
    };
    if began {
        return lost(connection, hand, &status, server.unwrap_or_default()).await;
    }
    let server = match server {
        Ok(server) => server,
        Err(error) => return Evidence::Unclear(format!("the printer's history cannot be read: {error}")),
    };
    // A deletion may be repeated without harm, so a server that answers 5xx is asked again.
    let mut stumbles = 0;
    loop {
        match connection.adapter.delete_file(name).await {
            Ok(Deleted::Gone | Deleted::NotFound) => break,
            Err(PrinterError::Refused { status: 500.., .. }) if stumbles < MAX_DELETE_RETRIES => stumbles += 1,
            Err(error) => return Evidence::Unclear(format!("the file cannot be deleted from the printer: {error}")),
        }
    }
    let unwatched_ms = connection.unwatched(hand.attempt).and_then(|time| i64::try_from(time.as_millis()).ok());
    Evidence::Revoked { server, unwatched_ms }
}

/// Returns the evidence about a print that was observed but is neither in the status nor in the history.
async fn lost(connection: &PrinterConnection, hand: &CurrentAttempt, status: &Status, server: ServerRun) -> Evidence {
    if hand.gone.is_none() {
        return Evidence::Away;
    }
    let name = hand.remote_name.as_deref().unwrap_or(&hand.file_name);
    let unseen = connection.unseen(hand.attempt);
    let fell = status.state == Activity::Error && unseen.is_some() && !hand.out_of_sight;
    let stopped = names(hand, status) || fell || connection.adapter.keeps_record(name).await.unwrap_or_default();
    Evidence::Forgets { server, stopped, unseen_ms: unseen.and_then(|time| i64::try_from(time.as_millis()).ok()) }
}

/// Returns whether the status shows the attempt's own print, either in progress or finished.
fn names(hand: &CurrentAttempt, status: &Status) -> bool {
    !status.prints_again() && status.file.as_deref().is_some_and(|file| hand.is_ours(file))
}
