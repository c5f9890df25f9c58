//! Starts a manual print: uploads the file, requests `Go`, and sends the start command once. If a crash left a start
//! unconfirmed, only waits until monitoring detects the print.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::look::look;
use super::run::poll_again;
use super::send::{UploadRetries, send};
use super::{PrinterEffects, tell};
use domain::id::Id;
use domain::printer::{ManualFailure, ManualPhase, ManualPrint, Printer, PrinterNews, PrinterUpload, UploadAnswer};
use domain::printer_status::Activity;
use files::blobs::is_lost;
use kernel::directory::Directory;
use kernel::effects::report;
use kernel::handle::Handle;
use printers::adapter::{Adapter, Launch, Operation, PrinterError, Source};
use printers::connections::PrinterConnection;
use store::rows::LoadError;

/// Maximum time that a caller waits for a manual print to begin; uploading a large file can take longer.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval between checks of the printer's state while a caller waits.
const STATE_INTERVAL: Duration = Duration::from_millis(250);

/// Build plate of a file to be printed manually.
pub const MANUAL_PLATE: u32 = 1;
/// Number of ID characters that distinguish a file from others with the same name.
const TAG_CHARS: usize = 8;

/// Outcome of a manual print within the caller's waiting time.
pub enum StartOutcome {
    /// The printer accepted the start command; contains the name of the file on the printer.
    Started(String),
    /// The printer or its connection failed with the given error.
    PrinterError(PrinterError),
    /// According to the printer's recorded state, the print has not begun.
    Failed(ManualFailure),
    /// The print is still in progress under the given name; `None` if the print was accepted earlier and a newer one
    /// has followed.
    Pending(Option<String>),
    /// The printer is deleted.
    PrinterGone,
}

/// Waits until a manual print begins or fails, up to `START_TIMEOUT`.
///
/// `receiver` receives the printer's own response if the print has just been requested. If it was requested earlier
/// with the same idempotency key, there is no such response, and the outcome is determined from the printer's state.
/// The state also shows outcomes that have no response, such as an emergency stop.
pub async fn await_start(
    printers: &Directory<Printer>,
    printer: Id,
    print: Id,
    mut receiver: Option<oneshot::Receiver<Result<String, PrinterError>>>,
) -> Result<StartOutcome, LoadError> {
    let until = Instant::now() + START_TIMEOUT;
    loop {
        if let Some(words) = &mut receiver {
            match tokio::time::timeout(STATE_INTERVAL, words).await {
                Ok(Ok(Ok(name))) => return Ok(StartOutcome::Started(name)),
                Ok(Ok(Err(error))) => return Ok(StartOutcome::PrinterError(error)),
                // The sender is gone: no answer will come.
                Ok(Err(_)) => receiver = None,
                Err(_) => {}
            }
        } else {
            tokio::time::sleep(STATE_INTERVAL).await;
        }
        let state = printers.read(printer).await?;
        let state = state.as_ref().and_then(|state| state.present());
        let Some(state) = state else { return Ok(StartOutcome::PrinterGone) };
        match (&state.last_manual, &state.manual) {
            (Some(last), _) if last.id == print => {
                let Some(failure) = &last.error else { return Ok(StartOutcome::Started(last.file_name.clone())) };
                // The state is told before the words, which say more and follow at once where there are any.
                let words = async { receiver.as_mut()?.await.ok()?.err() };
                return Ok(match tokio::time::timeout(STATE_INTERVAL, words).await {
                    Ok(Some(error)) => StartOutcome::PrinterError(error),
                    _ => StartOutcome::Failed(failure.clone()),
                });
            }
            (_, Some(manual)) if manual.id == print => {
                if Instant::now() >= until {
                    return Ok(StartOutcome::Pending(Some(manual.file_name.clone())));
                }
            }
            _ => return Ok(StartOutcome::Pending(None)),
        }
    }
}

fn under_way(of: &Handle<Printer>, id: Id) -> Option<ManualPrint> {
    of.read().state.as_ref()?.manual.clone().filter(|manual| manual.id == id)
}

/// Guard that delivers a manual print's outcome to the caller when dropped. It is needed because the effect is aborted,
/// at any await point, as soon as the rules record that the print is over.
struct OutcomeGuard<'a> {
    with: &'a PrinterEffects,
    of: &'a Handle<Printer>,
    id: Id,
    outcome: Option<Result<String, PrinterError>>,
}

impl Drop for OutcomeGuard<'_> {
    fn drop(&mut self) {
        let Some(outcome) = self.outcome.take() else { return };
        let state = self.of.read();
        let Some(printer) = &state.state else { return };
        let is_under_way = printer.manual.as_ref().is_some_and(|manual| manual.id == self.id);
        // An emergency stop may have been recorded after the start was accepted: then the state has the outcome.
        let has_failed = printer.last_manual.as_ref().is_some_and(|last| last.id == self.id && last.error.is_some());
        let is_contradicted = outcome.is_ok() && has_failed;
        if !is_under_way && !is_contradicted {
            self.with.connections.manual_is(self.id, outcome);
        }
    }
}

/// Makes one attempt; the effect stays due until the rules have recorded an outcome.
pub(super) async fn run(with: &PrinterEffects, of: &Handle<Printer>, id: Id) {
    let Some(manual) = under_way(of, id) else { return };
    let mut permitted_at = None;
    if manual.phase == ManualPhase::Taken {
        if with.hold.covers(id) {
            with.hold.wait_until_off().await;
        }
        match begin(with, of, &manual, &mut permitted_at).await {
            Some(Ok(name)) => {
                let _words = OutcomeGuard { with, of, id, outcome: Some(Ok(name)) };
                // A status requested before the start was accepted may show an idle printer: it is recorded first.
                if let Some(connection) = with.connections.get(of.id()) {
                    connection.wait_for_look().await;
                }
                let _ = report(of, PrinterNews::ManualOver { id, error: None }).await;
            }
            // A start without an answer may have happened: the watch tells, or nobody can.
            Some(Err(error)) => {
                // After a restart no caller waits for the words.
                tracing::warn!(printer = %of.id(), print = %id, %error, "a manual print failed");
                let sent = under_way(of, id).is_some_and(|manual| manual.phase != ManualPhase::Taken);
                if !sent || error.certainly_not_done() {
                    let over = PrinterNews::ManualOver { id, error: Some(error.to_string()) };
                    let _words = OutcomeGuard { with, of, id, outcome: Some(Err(error)) };
                    let _ = report(of, over).await;
                } else {
                    with.connections.manual_is(id, Err(error));
                }
            }
            None => {}
        }
    }
    if let Some(ManualPrint { phase: ManualPhase::StartSent { at }, .. }) = under_way(of, id) {
        if let Some(connection) = with.connections.get(of.id()) {
            connection.look.notify_one();
        }
        with.wait_for_confirmation(of, at, permitted_at).await;
        tell(of, PrinterNews::ManualUnclear(id)).await;
    }
}

/// Returns a file name that does not overwrite a file on the printer: `name` itself if it is not taken, otherwise a
/// name that also contains the end of `tag`. The same tag always yields the same name, so that retrying the upload
/// after a crash does not leave a second copy.
pub async fn unused_name(adapter: &dyn Adapter, name: &str, tag: Id) -> Result<String, PrinterError> {
    let listed = adapter.supports(Operation::ListFiles);
    if !listed || adapter.list_files().await?.iter().any(|file| file.path == name) {
        let tag = tag.to_string();
        let tag = tag.get(tag.len().saturating_sub(TAG_CHARS)..).unwrap_or(&tag);
        let (folder, base) = name.rsplit_once('/').map_or(("", name), |(folder, base)| (folder, base));
        let (stem, ending) = base.split_once('.').map_or((base, ""), |(stem, ending)| (stem, ending));
        let (slash, dot) = (if folder.is_empty() { "" } else { "/" }, if ending.is_empty() { "" } else { "." });
        return Ok(format!("{folder}{slash}{stem}_{tag}{dot}{ending}"));
    }
    Ok(name.to_owned())
}

/// Returns the file of the print in progress, according to the last poll.
fn prints_now(of: &Handle<Printer>) -> Option<String> {
    let state = of.read();
    let printer = state.state.as_ref()?;
    let on = matches!(printer.activity, Activity::Printing | Activity::Paused);
    on.then(|| printer.shows.clone().unwrap_or_else(|| "a print is running".to_owned()))
}

/// Uploads the file for a manual print, retrying failures that may be transient, just as for a job's print. Returns the
/// printer's name for the file. An emergency stop ends the print, and thereby this effect and its retries.
async fn store(
    with: &PrinterEffects,
    of: &Handle<Printer>,
    manual: &ManualPrint,
    source: &Source,
) -> Result<String, PrinterError> {
    let (mut retries, mut unused) = (UploadRetries::new(), None);
    loop {
        let error = match store_once(with, of, manual, source, &mut unused).await {
            Ok(name) => return Ok(name),
            Err(error) => error,
        };
        tracing::info!(printer = %of.id(), print = %manual.id, %error, "uploading the file of a manual print failed");
        let Some(pause) = retries.pause_after(&error) else { return Err(error) };
        tokio::time::sleep(pause).await;
    }
}

/// Uploads the file once. `unused` is the name for the file once it has been determined, and the connection to the
/// printer whose files have been compared. It stays the same for all attempts, so that a file for which only the
/// response was lost is overwritten.
async fn store_once(
    with: &PrinterEffects,
    of: &Handle<Printer>,
    manual: &ManualPrint,
    source: &Source,
    unused: &mut Option<(Arc<PrinterConnection>, String)>,
) -> Result<String, PrinterError> {
    let connection = await_connection(with, of).await?;
    let name = match &unused {
        Some((of, name)) if Arc::ptr_eq(of, &connection) => name.clone(),
        _ => unused_name(connection.adapter.as_ref(), &manual.file_name, manual.id).await?,
    };
    *unused = Some((connection.clone(), name.clone()));
    // A printer on which a person began a print meanwhile gets no file: some give their print up for one.
    look(with, of, &connection, with.settings.offline).await?;
    if let Some(file) = prints_now(of) {
        return Err(PrinterError::InUse(file));
    }
    send(&connection, &name, source).await
}

async fn await_connection(with: &PrinterEffects, of: &Handle<Printer>) -> Result<Arc<PrinterConnection>, PrinterError> {
    let connection = with.connections.wait_for(of.id()).await;
    connection.ok_or_else(|| PrinterError::Unreachable("not connected".to_owned()))
}

/// Uploads the file and starts the print. Returns the printer's name for the file, or the printer's error; `None` if
/// nothing was sent to the printer. Sets `permitted_at` before sending the start command.
async fn begin(
    with: &PrinterEffects,
    of: &Handle<Printer>,
    manual: &ManualPrint,
    permitted_at: &mut Option<Instant>,
) -> Option<Result<String, PrinterError>> {
    let name = match manual.file_id {
        None => manual.file_name.clone(),
        Some(file) => {
            let state = match with.files.read(file).await {
                Ok(state) => state,
                Err(error) => {
                    tracing::warn!(printer = %of.id(), %error, "reading a file failed; retrying");
                    return None;
                }
            };
            let Some(file) = state.as_ref().and_then(|state| state.state.as_ref()) else {
                return Some(Err(PrinterError::Invalid("the file was deleted".to_owned())));
            };
            let content = match with.blobs.local(&file.sha256).await {
                Ok(content) => content,
                Err(error) if is_lost(&error) => return Some(Err(PrinterError::Invalid(error.to_string()))),
                Err(error) => {
                    tracing::warn!(printer = %of.id(), %error, "reading a file failed; retrying");
                    return None;
                }
            };
            let source = Source::of(file, content.path().to_owned()).marked(manual.id, file.metadata.form);
            match store(with, of, manual, &source).await {
                Ok(name) => name,
                Err(error) => return Some(Err(error)),
            }
        }
    };
    let connection = match await_connection(with, of).await {
        Ok(connection) => connection,
        Err(error) => return Some(Err(error)),
    };
    // The rules go by what is seen now: a person may have begun a print meanwhile.
    if let Err(error) = poll_again(with, of, &connection).await {
        return Some(Err(error));
    }
    let uploaded = PrinterUpload::Manual { id: manual.id, remote_name: name.clone() };
    // Repeated as long as the database cannot write: the upload is not.
    if !matches!(report(of, uploaded).await, Ok(UploadAnswer::Go)) {
        return None; // not ours to send any more
    }
    // The process may have been stopped since the permission: another server judges the print then.
    with.environment.leadership().wait_until_confirmed().await;
    *permitted_at = Some(Instant::now());
    let launch = Launch { name: name.clone(), print: manual.id, plate: MANUAL_PLATE, slots: manual.slots.clone() };
    let started = connection.adapter.launch(&launch).await;
    connection.look.notify_one();
    Some(started.map(|()| name))
}
