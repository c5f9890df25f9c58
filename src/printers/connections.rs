//! Connections to printers, with each printer's last status and the operations sent directly to it.
//!
//! This module stores nothing durably; the authoritative state of jobs is in `domain/printer`. Emergency stops go only
//! through this module, so that they depend on neither an actor nor a database.

mod pictures;

use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use tokio::sync::oneshot;

use crate::adapter::{Adapter, PrinterError};
use crate::cameras::Cameras;
use crate::pace::ConnectionPace;
use crate::registry::Registry;
use crate::status_reading::StatusReading;
use crate::temperatures::TemperatureHistories;
use domain::id::Id;
use domain::printer_status::Status;
use domain::time::Timestamp;
use platform::watch::WatchSender;

pub use crate::connection::{PrinterConnection, StopGuard};

/// Maximum time to wait for a printer connection after the server starts; long enough for every watched printer to
/// connect.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(5);

/// Connections to all watched printers.
pub struct PrinterConnections {
    /// Registry that creates adapters.
    pub registry: Registry,
    /// Lock held while a printer is registered or its address changes, so that no machine is registered twice.
    pub registering: tokio::sync::Mutex<()>,
    /// Access to the printers' cameras.
    pub(super) cameras: Cameras,
    /// Temperatures of all printers over the last day.
    pub temperatures: TemperatureHistories,
    /// Pace at which connections that no one is waiting for are opened.
    pub pace: ConnectionPace,
    by_printer: DashMap<Id, Arc<PrinterConnection>>,
    /// Notifies waiters when a connection is added.
    came: WatchSender<()>,
    /// Callers waiting for the outcome of a manual print, by print ID.
    manual: DashMap<Id, oneshot::Sender<Result<String, PrinterError>>>,
}

impl PrinterConnections {
    /// Creates an empty set of connections; `registry` provides the printer types.
    pub fn new(registry: Registry) -> Self {
        Self {
            cameras: registry.cameras(),
            temperatures: TemperatureHistories::default(),
            pace: ConnectionPace::default(),
            registry,
            registering: tokio::sync::Mutex::default(),
            by_printer: DashMap::new(),
            came: WatchSender::new(()),
            manual: DashMap::new(),
        }
    }

    /// Returns the connection to a printer; `None` if the printer is not being watched.
    pub fn get(&self, printer: Id) -> Option<Arc<PrinterConnection>> {
        self.by_printer.get(&printer).map(|connection| connection.clone())
    }

    /// Returns the connection like [`Self::get`], but briefly waits for it if it does not exist yet, because after a
    /// restart or crash, a print may be in progress before its printer is watched again.
    pub async fn wait_for(&self, printer: Id) -> Option<Arc<PrinterConnection>> {
        let mut came = self.came.subscribe();
        let connecting = async {
            loop {
                if let Some(connection) = self.get(printer) {
                    return Some(connection);
                }
                came.changed().await.ok()?;
            }
        };
        tokio::time::timeout(CONNECTION_TIMEOUT, connecting).await.ok().flatten()
    }

    /// Returns the last status of a printer.
    pub fn status(&self, printer: Id) -> Option<Status> {
        self.by_printer.get(&printer).map(|connection| connection.latest())
    }

    /// Passes the last status of a printer to `read`, with the time at which it was polled or updated by a push; the
    /// default status if the printer is not being watched. Nothing is copied. `read` must not wait, and must not use
    /// the connections.
    pub fn read_status<T>(&self, printer: Id, read: impl FnOnce(&Status, Timestamp) -> T) -> T {
        match self.by_printer.get(&printer) {
            Some(connection) => connection.read_status(read),
            None => {
                let unwatched = Status::default();
                read(&unwatched, unwatched.updated_at)
            }
        }
    }

    /// Returns the last status of a printer as responses show it; the default status if the printer is not being
    /// watched.
    pub fn reading(&self, printer: Id) -> StatusReading {
        self.read_status(printer, StatusReading::new)
    }

    /// Returns whether responses still show the last status of a printer as this reading.
    pub fn is_latest(&self, printer: Id, reading: &StatusReading) -> bool {
        self.read_status(printer, |status, updated_at| reading.is_of(status, updated_at))
    }

    /// Registers a waiter for the outcome of a manual print that is about to be requested. If there is no waiter, the
    /// outcome is dropped.
    pub fn await_manual(&self, print: Id) -> oneshot::Receiver<Result<String, PrinterError>> {
        self.manual.retain(|_, waits| !waits.is_closed());
        let (tell, receiver) = oneshot::channel();
        self.manual.insert(print, tell);
        receiver
    }

    /// Delivers the outcome of starting a manual print to its waiter: the file name that the printer assigned, or the
    /// error.
    pub fn manual_is(&self, print: Id, outcome: Result<String, PrinterError>) {
        if let Some((_, tell)) = self.manual.remove(&print) {
            let _ = tell.send(outcome);
        }
    }

    /// Adds the connection to a printer that is watched through the given adapter.
    pub fn insert(&self, printer: Id, adapter: Arc<dyn Adapter>) -> Arc<PrinterConnection> {
        let connection = Arc::new(PrinterConnection::new(adapter));
        self.by_printer.insert(printer, connection.clone());
        self.came.send_replace(());
        connection
    }

    /// Discards the data stored for a deleted printer, apart from its connection.
    pub fn forget(&self, printer: Id) {
        self.temperatures.forget(printer);
        self.cameras.forget(printer);
    }

    /// Removes a connection, unless a newer one has replaced it.
    pub fn remove(&self, printer: Id, connection: &Arc<PrinterConnection>) {
        self.by_printer.remove_if(&printer, |_, current| Arc::ptr_eq(current, connection));
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::tests::{adapter, registry, settings};
    use domain::printer_status::Connection;
    use domain::testing::id;

    #[tokio::test]
    async fn a_reading_is_the_latest_until_anything_of_it_is_polled_or_pushed_or_the_printer_is_no_longer_watched() {
        let (connections, printer) = (PrinterConnections::new(registry(settings())), id(1));
        let unwatched = connections.reading(printer);
        assert!(connections.is_latest(printer, &unwatched));
        let connection = connections.insert(printer, adapter("fw_rest", "http://127.0.0.1:9"));
        assert!(connections.is_latest(printer, &unwatched), "nothing has been read yet");
        let polled = Status {
            connection: Connection::Connected,
            updated_at: Timestamp(1000),
            nozzle: 20.0,
            ..Status::default()
        };
        connection.status.send_replace(polled.clone());
        assert!(!connections.is_latest(printer, &unwatched));
        let cold = connections.reading(printer);
        assert_eq!((cold.updated_at, connections.is_latest(printer, &cold)), (Timestamp(1000), true));
        // Temperatures of a printer at rest are replaced without waking anybody.
        connection.status.send_if_modified(|status| {
            status.nozzle = 21.0;
            false
        });
        let warm = connections.reading(printer);
        assert_eq!((connections.is_latest(printer, &cold), connections.is_latest(printer, &warm)), (false, true));
        connection.pushed(Timestamp(2000));
        assert!(!connections.is_latest(printer, &warm), "the same temperature, measured later");
        let pushed = connections.reading(printer);
        assert_eq!(pushed.updated_at, Timestamp(2000));
        assert_eq!(connections.status(printer).unwrap().updated_at, Timestamp(2000));
        // What was pushed before an outage does not make its status newer.
        connection.status.send_replace(Status { connection: Connection::Unreachable, ..polled });
        assert!(!connections.is_latest(printer, &pushed));
        assert_eq!(connections.reading(printer).updated_at, Timestamp(1000));
        connections.remove(printer, &connection);
        assert!(connections.is_latest(printer, &unwatched));
    }

    #[tokio::test]
    async fn a_print_that_goes_on_waits_a_moment_for_its_printer() {
        let connections = PrinterConnections::new(registry(settings()));
        let adapter = adapter("fw_rest", "http://127.0.0.1:9");
        let late = async {
            tokio::task::yield_now().await;
            connections.insert(id(2), adapter.clone());
            tokio::task::yield_now().await;
            connections.insert(id(1), adapter.clone())
        };
        let (connection, put) = tokio::join!(connections.wait_for(id(1)), late);
        assert!(Arc::ptr_eq(&connection.unwrap(), &put));
    }
}
