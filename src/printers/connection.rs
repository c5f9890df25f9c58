//! Connection to one printer: its adapter, its last status, and the emergency stops being sent over it.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::adapter::Adapter;
use crate::unwatched::UnwatchedTime;
use domain::id::Id;
use domain::printer_status::{Connection, Status};
use domain::time::Timestamp;
use platform::watch::WatchSender;

/// Connection to one printer, held as long as the printer is watched.
pub struct PrinterConnection {
    /// Adapter for the printer's protocol.
    pub adapter: Arc<dyn Adapter>,
    /// Last status of the printer.
    pub status: WatchSender<Status>,
    /// Signal for the watch loop to poll the printer's status now.
    pub look: Notify,
    /// Lock held from the start of a status poll until the printer's actor has received the result. The actor therefore
    /// receives results in the order in which they were read, even if clocks change.
    pub looking: tokio::sync::Mutex<()>,
    /// Number of emergency stops sent over this connection.
    stops: AtomicU64,
    /// Longest time without a status poll since the current attempt started.
    unwatched: Mutex<UnwatchedTime>,
    /// Attempt whose print was last seen in progress over this connection, and the time at which it was seen.
    sighted: Mutex<Option<(Id, Instant)>>,
    /// Unix time of the printer's last push, in milliseconds; 0 before the first push.
    pushed_at: AtomicI64,
    /// Number of emergency stops that are being sent, or that have been sent but not yet recorded.
    stopping: WatchSender<u32>,
}

impl PrinterConnection {
    /// Creates the connection to a printer that is watched through the given adapter.
    pub(super) fn new(adapter: Arc<dyn Adapter>) -> Self {
        Self {
            adapter,
            status: WatchSender::new(Status::default()),
            look: Notify::new(),
            looking: tokio::sync::Mutex::new(()),
            stops: AtomicU64::new(0),
            unwatched: Mutex::default(),
            sighted: Mutex::default(),
            pushed_at: AtomicI64::new(0),
            stopping: WatchSender::new(0),
        }
    }

    /// Records that a push from the printer was merged into its status.
    pub fn pushed(&self, at: Timestamp) {
        self.pushed_at.store(at.0, Ordering::Relaxed);
    }

    /// Passes the last status to `read`, with the time at which it was polled or updated by a push.
    pub(super) fn read_status<T>(&self, read: impl FnOnce(&Status, Timestamp) -> T) -> T {
        let status = self.status.borrow();
        let pushed_at = Timestamp(self.pushed_at.load(Ordering::Relaxed));
        let is_pushed = status.connection == Connection::Connected;
        read(&status, if is_pushed { status.updated_at.max(pushed_at) } else { status.updated_at })
    }

    /// Returns the last status, which may have been polled or updated by a push.
    pub(super) fn latest(&self) -> Status {
        self.read_status(|status, updated_at| Status { updated_at, ..status.clone() })
    }

    /// Begins an emergency stop, which lasts until the returned guard is dropped.
    pub fn stop(self: &Arc<Self>) -> StopGuard {
        self.stops.fetch_add(1, Ordering::SeqCst);
        self.stopping.send_modify(|stops| *stops += 1);
        StopGuard(self.clone())
    }

    /// Returns whether an emergency stop is in progress.
    pub fn is_stopping(&self) -> bool {
        *self.stopping.borrow() > 0
    }

    /// Returns the number of emergency stops sent over this connection. If the number changes during a status poll, the
    /// result may show the printer as it was before the stop.
    pub fn stops(&self) -> u64 {
        self.stops.load(Ordering::SeqCst)
    }

    /// Starts measuring the longest time without a status poll for the given attempt, unless it is already being
    /// measured. `before` is the time that had already passed without a poll.
    pub fn measure_unwatched(&self, attempt: Id, before: Duration) {
        self.unwatched.lock().unwrap_or_else(PoisonError::into_inner).begin(attempt, before, Instant::now());
    }

    /// Records a successful status poll that started at `began`.
    pub fn record_poll(&self, began: Instant) {
        self.unwatched.lock().unwrap_or_else(PoisonError::into_inner).record_poll(began, Instant::now());
    }

    /// Returns the longest time without a status poll since the given attempt started; `None` if it is not being
    /// measured.
    pub fn unwatched(&self, attempt: Id) -> Option<Duration> {
        self.unwatched.lock().unwrap_or_else(PoisonError::into_inner).longest(attempt, Instant::now())
    }

    /// Records that the print of the given attempt was in progress in a status whose poll started at `at`.
    pub fn sight(&self, attempt: Id, at: Instant) {
        *self.sighted.lock().unwrap_or_else(PoisonError::into_inner) = Some((attempt, at));
    }

    /// Returns the time since the print of the given attempt was last seen in progress; `None` if it was never seen
    /// over this connection.
    pub fn unseen(&self, attempt: Id) -> Option<Duration> {
        let sighted = *self.sighted.lock().unwrap_or_else(PoisonError::into_inner);
        sighted.filter(|(sighted_attempt, _)| *sighted_attempt == attempt).map(|(_, at)| at.elapsed())
    }

    /// Waits until the result of the status poll in progress, if any, has been recorded. Every poll has a time limit.
    pub async fn wait_for_look(&self) {
        drop(self.looking.lock().await);
    }

    /// Waits until no emergency stop is in progress, so that the effects of a stop are not mistaken for anything else.
    pub async fn wait_until_no_stop(&self) {
        let _ = self.stopping.subscribe().wait_for(|stops| *stops == 0).await;
    }
}

/// Guard for an emergency stop in progress. Dropping it triggers a poll of the printer's status.
pub struct StopGuard(Arc<PrinterConnection>);

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.0.stopping.send_modify(|stops| *stops -= 1);
        self.0.look.notify_one();
    }
}
