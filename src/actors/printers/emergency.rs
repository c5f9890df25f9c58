//! Emergency stops, which are sent to the printer immediately, bypassing its actor and the database, and recorded as
//! soon as possible.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::look::progressed;
use super::tell;
use domain::id::Id;
use domain::printer::{Printer, PrinterCommand};
use domain::schedule::Delays;
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::handle::AskError;
use platform::secrets::encryption::SecretCipher;
use printers::adapter::{Adapter, PrinterError};
use printers::connections::{PrinterConnection, PrinterConnections};
use printers::registry::MakeError;

/// Backoff between attempts to record a stop that has been sent.
const RECORD_RETRY_DELAYS: Delays = Delays { first: Duration::from_millis(100), longest: Duration::from_secs(5) };

/// Maximum time that the response to an emergency stop waits for the stop to be recorded. However busy the server is,
/// the operator learns almost immediately that the stop has been sent.
const RECORD_PATIENCE: Duration = Duration::from_millis(50);

/// Route by which an emergency stop reaches a printer.
pub enum StopRoute {
    /// Connection through which the printer is being monitored.
    Watched(Arc<PrinterConnection>),
    /// Adapter used only for this stop, because the printer is not monitored: an operator has disconnected it.
    Unwatched(Arc<dyn Adapter>),
}

impl StopRoute {
    /// Builds the route to a printer that is not monitored. The printer must present the same key as before. Sends
    /// nothing yet.
    pub fn unwatched(
        connections: &PrinterConnections,
        cipher: &SecretCipher,
        printer: &Printer,
    ) -> Result<Self, MakeError> {
        connections.registry.open(&printer.into(), cipher).map(Self::Unwatched)
    }

    fn adapter(&self) -> &dyn Adapter {
        match self {
            Self::Watched(connection) => connection.adapter.as_ref(),
            Self::Unwatched(adapter) => adapter.as_ref(),
        }
    }
}

/// Sends an emergency stop to a printer. Returns whether the stop has already been recorded; recording is retried until
/// it succeeds. Returns `None` if the server is shutting down.
///
/// The stop is sent by a separate task, so it is not interrupted if the caller disconnects.
pub async fn emergency_stop(
    printers: Directory<Printer>,
    id: Id,
    route: StopRoute,
    origin: CommandOrigin,
) -> Option<Result<bool, PrinterError>> {
    let (answer, answered) = oneshot::channel();
    tokio::spawn(async move {
        // Until it is dropped, what the watch sees is not taken for the end of a print.
        let _stopping = match &route {
            StopRoute::Watched(connection) => Some(connection.stop()),
            StopRoute::Unwatched(_) => None,
        };
        if let Err(error) = route.adapter().emergency_stop().await {
            let _ = answer.send(Err(error));
            return;
        }
        let mut recording = pin!(async {
            if let StopRoute::Watched(connection) = &route {
                record_progress(&printers, id, connection).await;
            }
            record(&printers, id, &origin).await
        });
        let prompt = timeout(RECORD_PATIENCE, &mut recording).await;
        let _ = answer.send(Ok(matches!(prompt, Ok(Ok(())))));
        let recorded = match prompt {
            Ok(recorded) => recorded,
            Err(_) => recording.await,
        };
        if recorded.is_err_and(|error| may_be_recorded_later(&error)) {
            record_later(&printers, id, &origin).await;
        }
    });
    answered.await.ok()
}

/// Records the last observed progress of the print, which determines how much material the stopped print has consumed.
/// If it cannot be recorded now, the last recorded progress is used, which is rounded down to a tenth.
async fn record_progress(printers: &Directory<Printer>, id: Id, connection: &PrinterConnection) {
    let Some(printer) = printers.resident(id) else { return };
    let latest = connection.status.borrow().clone();
    let progressed = printer.read().state.as_ref().and_then(|printer| progressed(printer, &latest));
    if let Some(progressed) = progressed {
        tell(&printer, progressed).await;
    }
}

async fn record(printers: &Directory<Printer>, id: Id, origin: &CommandOrigin) -> Result<(), AskError> {
    let recorded = printers.ask(id, origin.clone(), PrinterCommand::EmergencyStopped).await;
    recorded.map(drop).inspect_err(|error| {
        tracing::warn!(printer = %id, %error, "an emergency stop was sent but is not yet recorded");
    })
}

/// Returns whether recording may succeed later. It cannot succeed if the printer is deleted or the server is shutting
/// down.
fn may_be_recorded_later(error: &AskError) -> bool {
    !matches!(error, AskError::Refused(_) | AskError::Closed)
}

async fn record_later(printers: &Directory<Printer>, id: Id, origin: &CommandOrigin) {
    for tries in 0.. {
        tokio::time::sleep(RECORD_RETRY_DELAYS.next(tries, 1.0)).await;
        match record(printers, id, origin).await {
            Err(error) if may_be_recorded_later(&error) => {}
            _ => return,
        }
    }
}
