//! Emergency stops: to the printer at once, past its actor and the database, and recorded as soon as that is possible.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::look::progressed;
use super::tell;
use crate::actors::kernel::directory::Directory;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::handle::AskError;
use crate::domain::id::Id;
use crate::domain::printer::{Printer, PrinterCommand};
use crate::domain::schedule::Delays;
use crate::printers::adapter::{Adapter, PrinterError};
use crate::printers::connections::{PrinterConnection, PrinterConnections};
use crate::printers::registry::MakeError;
use crate::secrets::encryption::SecretCipher;

/// Between two tries to record a stop that went out.
const RECORD_RETRY_DELAYS: Delays = Delays { first: Duration::from_millis(100), longest: Duration::from_secs(5) };

/// How long the answer to whoever stops a printer waits for the record. However busy the rest of the server is, a
/// person hears at once that the printer was told.
const RECORD_PATIENCE: Duration = Duration::from_millis(50);

/// How a printer is reached for an emergency stop.
pub enum StopRoute {
    /// Over the connection on which it is watched.
    Watched(Arc<PrinterConnection>),
    /// Through an adapter for this stop alone: nobody watches it, because an operator disconnected it.
    Unwatched(Arc<dyn Adapter>),
}

impl StopRoute {
    /// The route to a printer that is not watched, which must still show the key that it showed before. Nothing is sent
    /// yet.
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

/// Stops a printer in an emergency. Answers whether the stop is recorded already; one that went out and is not recorded
/// is tried again until it is. `None` when the server is shutting down.
///
/// It runs in a task of its own: a caller who hangs up changes nothing.
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

/// Records how far the print was, as last seen: the stop uses up as much of the material. What cannot be recorded now
/// is left at the tenth that was recorded before.
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
        tracing::warn!(printer = %id, %error, "an emergency stop went out and is not recorded yet");
    })
}

/// A printer that is gone, or a server that shuts down, records nothing any more.
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
