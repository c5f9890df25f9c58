//! Connections to printers: the last status of each, and operations that go straight to the printer.
//!
//! Nothing here is durable, and the truth about jobs is in `domain/printer`. Emergency stops pass through here alone,
//! so that they need neither an actor nor a database.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dashmap::DashMap;
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::Instant;

use crate::domain::id::Id;
use crate::domain::printer_status::{Connection, Status};
use crate::domain::time::Timestamp;
use crate::printers::adapter::{Adapter, PrinterError};
use crate::printers::cameras::Cameras;
use crate::printers::registry::Registry;
use crate::printers::temperatures::TemperatureHistories;
use crate::printers::unwatched::Unwatched;

/// How long to wait for a printer's connection after a start of the server; it is made within this time if at all.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(5);

/// The way to one printer, held as long as it is watched.
pub struct PrinterConnection {
    /// Speaks the printer's protocol.
    pub adapter: Arc<dyn Adapter>,
    /// What the printer said last.
    pub status: watch::Sender<Status>,
    /// Wakes the watch, so that it asks the printer for its status now.
    pub look: Notify,
    /// Held from the beginning of a look at the printer until the printer's actor has been told what it showed. So what
    /// is told comes in the order in which it was seen, whatever the clocks say.
    pub looking: tokio::sync::Mutex<()>,
    /// Counts the emergency stops that went out over this connection.
    stops: AtomicU64,
    /// For how long nobody looked since the attempt in hand was started.
    unwatched: Mutex<Unwatched>,
    /// The attempt whose print was seen under way last over this connection, and when.
    sighted: Mutex<Option<(Id, Instant)>>,
    /// When the printer pushed something last, in milliseconds; 0: never.
    pushed_at: AtomicI64,
    /// Emergency stops that are going out, or went out and are not recorded yet.
    stopping: watch::Sender<u32>,
}

impl PrinterConnection {
    /// Notes that the printer pushed something that was taken over into its status.
    pub fn pushed(&self, at: Timestamp) {
        self.pushed_at.store(at.0, Ordering::Relaxed);
    }

    /// What the printer said last, in a look or on its push connection.
    fn latest(&self) -> Status {
        let mut status = self.status.borrow().clone();
        if status.connection == Connection::Connected {
            status.updated_at = status.updated_at.max(Timestamp(self.pushed_at.load(Ordering::Relaxed)));
        }
        status
    }

    /// Begins an emergency stop, which is under way until the returned guard is dropped.
    pub fn stop(self: &Arc<Self>) -> Stopping {
        self.stops.fetch_add(1, Ordering::SeqCst);
        self.stopping.send_modify(|stops| *stops += 1);
        Stopping(self.clone())
    }

    /// An emergency stop is under way.
    pub fn is_stopping(&self) -> bool {
        *self.stopping.borrow() > 0
    }

    /// How many emergency stops went out over this connection. A look during which the number changed may show the
    /// printer as it was before the stop.
    pub fn stops(&self) -> u64 {
        self.stops.load(Ordering::SeqCst)
    }

    /// Measures from now on for how long nobody looks, for this attempt, unless that is measured already. `before` is
    /// how long nobody looked before now.
    pub fn measure_unwatched(&self, attempt: Id, before: Duration) {
        self.unwatched.lock().unwrap_or_else(PoisonError::into_inner).begin(attempt, before, Instant::now());
    }

    /// A look that began at `began` has told what the printer does.
    pub fn looked(&self, began: Instant) {
        self.unwatched.lock().unwrap_or_else(PoisonError::into_inner).looked(began, Instant::now());
    }

    /// The longest time without a look since the attempt was started; `None` if it is not measured.
    pub fn unwatched(&self, attempt: Id) -> Option<Duration> {
        self.unwatched.lock().unwrap_or_else(PoisonError::into_inner).longest(attempt, Instant::now())
    }

    /// Notes that the print of this attempt was seen under way, by what the printer told from `at` on.
    pub fn sight(&self, attempt: Id, at: Instant) {
        *self.sighted.lock().unwrap_or_else(PoisonError::into_inner) = Some((attempt, at));
    }

    /// Returns for how long the print of this attempt has not been seen under way; `None` if it never was over this
    /// connection.
    pub fn unseen(&self, attempt: Id) -> Option<Duration> {
        let sighted = *self.sighted.lock().unwrap_or_else(PoisonError::into_inner);
        sighted.filter(|(seen, _)| *seen == attempt).map(|(_, at)| at.elapsed())
    }

    /// Waits until no emergency stop is under way, so that what it does is not taken for anything else.
    pub async fn calm(&self) {
        let _ = self.stopping.subscribe().wait_for(|stops| *stops == 0).await;
    }
}

/// Guards an emergency stop under way. When it is dropped, the printer is asked for its status.
pub struct Stopping(Arc<PrinterConnection>);

impl Drop for Stopping {
    fn drop(&mut self) {
        self.0.stopping.send_modify(|stops| *stops -= 1);
        self.0.look.notify_one();
    }
}

/// The connections of all printers that are watched.
pub struct PrinterConnections {
    /// The registered printer types.
    pub registry: Registry,
    /// Held while a printer is registered or moved, so that no machine is registered twice.
    pub registering: tokio::sync::Mutex<()>,
    /// Pictures of the printers' cameras.
    pub(super) cameras: Cameras,
    /// How warm the printers were over the last day.
    pub temperatures: TemperatureHistories,
    by_printer: DashMap<Id, Arc<PrinterConnection>>,
    /// Changes when a connection is added.
    came: watch::Sender<()>,
    /// Callers that wait for the outcome of a manual print, by the print's id.
    manual: DashMap<Id, oneshot::Sender<Result<String, PrinterError>>>,
}

impl PrinterConnections {
    /// A set without any connection; `registry` knows the printer types.
    pub fn new(registry: Registry) -> Self {
        Self {
            cameras: registry.cameras(),
            temperatures: TemperatureHistories::default(),
            registry,
            registering: tokio::sync::Mutex::default(),
            by_printer: DashMap::new(),
            came: watch::Sender::new(()),
            manual: DashMap::new(),
        }
    }

    /// The connection of a printer that is being watched.
    pub fn get(&self, printer: Id) -> Option<Arc<PrinterConnection>> {
        self.by_printer.get(&printer).map(|connection| connection.clone())
    }

    /// As [`Self::get`], but waits a moment for it: after a start or a crash a print may go on before its printer is
    /// watched again.
    pub async fn wait_for(&self, printer: Id) -> Option<Arc<PrinterConnection>> {
        let mut came = self.came.subscribe();
        let found = async {
            loop {
                if let Some(connection) = self.get(printer) {
                    return Some(connection);
                }
                came.changed().await.ok()?;
            }
        };
        tokio::time::timeout(CONNECTION_TIMEOUT, found).await.ok().flatten()
    }

    /// What a printer said last.
    pub fn status(&self, printer: Id) -> Option<Status> {
        self.by_printer.get(&printer).map(|connection| connection.latest())
    }

    /// Waits for the outcome of a manual print that is about to be asked for; what it hears is dropped when nobody
    /// waits.
    pub fn await_manual(&self, print: Id) -> oneshot::Receiver<Result<String, PrinterError>> {
        self.manual.retain(|_, waits| !waits.is_closed());
        let (tell, heard) = oneshot::channel();
        self.manual.insert(print, tell);
        heard
    }

    /// What the printer said to the start of a manual print, with the name it gave the file.
    pub fn manual_is(&self, print: Id, outcome: Result<String, PrinterError>) {
        if let Some((_, tell)) = self.manual.remove(&print) {
            let _ = tell.send(outcome);
        }
    }

    /// Adds the connection of a printer that is being watched through this adapter.
    pub fn put(&self, printer: Id, adapter: Arc<dyn Adapter>) -> Arc<PrinterConnection> {
        let connection = Arc::new(PrinterConnection {
            adapter,
            status: watch::Sender::new(Status::default()),
            look: Notify::new(),
            looking: tokio::sync::Mutex::new(()),
            stops: AtomicU64::new(0),
            unwatched: Mutex::default(),
            sighted: Mutex::default(),
            pushed_at: AtomicI64::new(0),
            stopping: watch::Sender::new(0),
        });
        self.by_printer.insert(printer, connection.clone());
        self.came.send_replace(());
        connection
    }

    /// Forgets what is known of a printer that was deleted, beside its connection.
    pub fn forget(&self, printer: Id) {
        self.temperatures.forget(printer);
        self.cameras.forget(printer);
    }

    /// Removes a connection; another one that took its place stays.
    pub fn remove(&self, printer: Id, connection: &Arc<PrinterConnection>) {
        self.by_printer.remove_if(&printer, |_, known| Arc::ptr_eq(known, connection));
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::domain::testing::id;
    use crate::printers::tests::{adapter, registry, settings};

    #[tokio::test]
    async fn a_print_that_goes_on_waits_a_moment_for_its_printer() {
        let connections = PrinterConnections::new(registry(settings()));
        let adapter = adapter("fw_rest", "http://127.0.0.1:9");
        let late = async {
            tokio::task::yield_now().await;
            connections.put(id(2), adapter.clone());
            tokio::task::yield_now().await;
            connections.put(id(1), adapter.clone())
        };
        let (found, put) = tokio::join!(connections.wait_for(id(1)), late);
        assert!(Arc::ptr_eq(&found.unwrap(), &put));
    }
}
