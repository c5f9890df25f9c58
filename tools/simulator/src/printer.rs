//! Print engine shared by all protocols: files, prints, heating, homing, history, faults, and the log of physical
//! actions.
//!
//! Each protocol module maps the engine's states to its own names.

use std::{
    any::Any,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use tokio::{sync::watch, time::Instant};

pub mod files;
pub mod gate;
pub mod heater;
pub mod job;
pub mod log;
pub mod machine;

pub use gate::FilamentGate;
pub use job::{PrintJob, PrintOutcome, PrintPhase, Record};
pub use log::{LogEntry, PhysicalEvent};
pub use machine::{CommandError, Controller, DeleteError, Machine, MachineTemperatures};

use crate::{faults::PrinterFaults, gcode::GcodeFacts};

/// Free space reported for a storage that is not full, in bytes.
const FREE_BYTES: u64 = 20_000_000_000;

/// Virtual printer that runs on its own: a [`Machine`], and a task that advances its time. Clones refer to the same
/// printer.
///
/// It must be created within a tokio runtime.
#[derive(Clone, Debug)]
pub struct VirtualPrinter(Arc<PrinterInner>);

#[derive(Debug)]
struct PrinterInner {
    machine: Mutex<Machine>,
    revision: watch::Sender<u64>,
    requests: AtomicU64,
    uploads: AtomicU64,
    sockets: AtomicUsize,
    /// URL of the camera snapshot; `None` if the printer has no camera.
    camera: Mutex<Option<String>>,
    /// Protocol-specific state in addition to the machine. It must not hold the printer itself.
    extension: OnceLock<Box<dyn Any + Send + Sync>>,
}

/// Error returned if a condition was not met within the given time.
#[derive(Debug, thiserror::Error)]
#[error("the condition was not met within {0:?}")]
pub struct ConditionTimeout(pub Duration);

impl VirtualPrinter {
    /// Creates an idle printer. `reconnects` indicates whether the host finds a lost controller on its own.
    pub fn new(seed: u64, speed: f64, reconnects: bool) -> Self {
        let machine = Machine::new(seed, speed, reconnects, Instant::now());
        let inner = Arc::new(PrinterInner {
            machine: Mutex::new(machine),
            revision: watch::Sender::new(0),
            requests: AtomicU64::new(0),
            uploads: AtomicU64::new(0),
            sockets: AtomicUsize::new(0),
            camera: Mutex::default(),
            extension: OnceLock::new(),
        });
        let mut revised = inner.revision.subscribe();
        let weak = Arc::downgrade(&inner);
        tokio::spawn(async move {
            while let Some(inner) = weak.upgrade() {
                let next = Self(inner).with(|machine| machine.next_change());
                let woken = match next {
                    Some(at) => tokio::select! {
                        biased; // either only wakes the machine
                        () = tokio::time::sleep_until(at) => Ok(()),
                        changed = revised.changed() => changed,
                    },
                    None => revised.changed().await,
                };
                if woken.is_err() {
                    break;
                }
            }
        });
        Self(inner)
    }

    /// Runs a function on the machine at regular intervals, until the printer is dropped.
    pub(crate) fn every(&self, pause: Duration, act: impl Fn(&mut Machine) + Send + 'static) {
        let weak = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            while let Some(inner) = weak.upgrade() {
                Self(inner).with(&act);
                tokio::time::sleep(pause).await;
            }
        });
    }

    /// Runs a function on the machine, which is first advanced to the current time. Must not be called recursively.
    pub fn with<T>(&self, act: impl FnOnce(&mut Machine) -> T) -> T {
        let mut machine = self.0.machine.lock().unwrap_or_else(PoisonError::into_inner);
        machine.advance(Instant::now());
        let result = act(&mut machine);
        let revision = machine.revision();
        drop(machine);
        self.0.revision.send_if_modified(|current| std::mem::replace(current, revision) != revision);
        result
    }

    /// Sets the URL of the camera snapshot, for protocols that report cameras; `None` removes the camera.
    pub fn set_camera(&self, snapshot_url: Option<&str>) {
        *self.0.camera.lock().unwrap_or_else(PoisonError::into_inner) = snapshot_url.map(str::to_owned);
    }

    /// Returns the URL of the camera snapshot; `None` if the printer has no camera.
    pub(crate) fn camera(&self) -> Option<String> {
        self.0.camera.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the protocol-specific state, unless it is already set.
    pub(crate) fn extend(&self, extension: impl Any + Send + Sync) {
        let _ = self.0.extension.set(Box::new(extension));
    }

    /// Returns the protocol-specific state of the given type, if any.
    pub(crate) fn extension<T: Any + Clone>(&self) -> Option<T> {
        self.0.extension.get()?.downcast_ref().cloned()
    }

    /// Returns a receiver that is notified of every change of state other than the passing of time.
    pub fn revisions(&self) -> watch::Receiver<u64> {
        self.0.revision.subscribe()
    }

    /// Waits until the machine satisfies a condition, without a time limit.
    pub async fn until(&self, mut condition: impl FnMut(&Machine) -> bool) {
        let mut revised = self.revisions();
        loop {
            revised.borrow_and_update();
            if self.with(|machine| condition(machine)) {
                return;
            }
            // Cannot fail, because the sender lives as long as `self`.
            let _ = revised.changed().await;
        }
    }

    /// Waits until the log satisfies a condition.
    pub async fn wait_for_log(
        &self,
        mut condition: impl FnMut(&[LogEntry]) -> bool,
        within: Duration,
    ) -> Result<Vec<LogEntry>, ConditionTimeout> {
        let reached = self.until(|machine| condition(machine.log()));
        tokio::time::timeout(within, reached).await.map_err(|_| ConditionTimeout(within))?;
        Ok(self.log())
    }

    /// Returns the log of the printer's physical actions.
    pub fn log(&self) -> Vec<LogEntry> {
        self.with(|machine| machine.log().to_vec())
    }

    /// Returns the number of times that the printer has physically started to print a file.
    pub fn starts_of(&self, filename: &str) -> usize {
        self.with(|machine| {
            machine
                .log()
                .iter()
                .filter(
                    |entry| matches!(&entry.what, PhysicalEvent::Started { filename: started } if started == filename),
                )
                .count()
        })
    }

    /// Returns the number of HTTP requests received, excluding control requests.
    pub fn requests(&self) -> u64 {
        self.0.requests.load(Ordering::Relaxed)
    }

    /// Counts a request, regardless of its result.
    pub(crate) fn count_request(&self) {
        self.0.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of uploads whose contents have started to arrive.
    pub fn uploads_begun(&self) -> u64 {
        self.0.uploads.load(Ordering::Relaxed)
    }

    /// Counts an upload whose contents are starting to arrive.
    pub(crate) fn upload_begins(&self) {
        self.0.uploads.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns whether to cut the connection of an upload that begins, according to the `cut_uploads` fault.
    pub(crate) fn cuts_upload(&self) -> bool {
        self.with(|machine| {
            let mut faults = machine.faults().clone();
            let is_cut = faults.cut_uploads > 0;
            if is_cut {
                faults.cut_uploads -= 1;
                machine.set_faults(faults);
            }
            is_cut
        })
    }

    /// Returns the free space on the printer's storage, in bytes.
    pub(crate) fn free_space(&self) -> u64 {
        if self.faults().disk_full { 0 } else { FREE_BYTES }
    }

    /// Returns the maximum number of WebSockets open at the same time, if the protocol counts them.
    pub fn most_sockets(&self) -> usize {
        self.0.sockets.load(Ordering::Relaxed)
    }

    /// Records the current number of open WebSockets.
    pub(crate) fn sockets_are(&self, open: usize) {
        self.0.sockets.fetch_max(open, Ordering::Relaxed);
    }

    /// Returns a copy of the printer's current faults.
    pub fn faults(&self) -> PrinterFaults {
        self.with(|machine| machine.faults().clone())
    }

    /// Waits for the delay of the `stop_answers_late` fault.
    pub(crate) async fn answer_stop(&self) {
        if let Some(delay) = self.faults().stop_answers_late {
            tokio::time::sleep(Duration::from_millis(delay.after_ms)).await;
        }
    }

    /// Waits for the delay of the `queries_answer_late` fault.
    pub(crate) async fn answer_query(&self) {
        if let Some(delay) = self.faults().queries_answer_late {
            tokio::time::sleep(Duration::from_millis(delay.after_ms)).await;
        }
    }

    /// Replaces the printer's faults.
    pub fn set_faults(&self, faults: PrinterFaults) {
        self.with(|machine| machine.set_faults(faults));
    }

    /// Updates the printer's simulated faults.
    pub fn update_faults(&self, change: impl FnOnce(&mut PrinterFaults)) {
        self.with(|machine| {
            let mut faults = machine.faults().clone();
            change(&mut faults);
            machine.set_faults(faults);
        });
    }

    /// Returns the speed factor relative to the G-code's estimate.
    pub fn speed(&self) -> f64 {
        self.with(|machine| machine.speed())
    }

    /// Changes the speed; a print in progress continues at the new speed.
    pub fn set_speed(&self, speed: f64) {
        self.with(|machine| machine.set_speed(speed));
    }

    /// Stores a file as if it had been uploaded.
    pub fn put_file(&self, path: &str, bytes: impl Into<Bytes>) {
        let bytes = bytes.into();
        let facts = Arc::new(GcodeFacts::read(&bytes));
        self.with(|machine| machine.store(path, bytes, facts));
    }

    /// Restarts the printer's server; see [`Machine::restart_server`].
    pub fn restart_server(&self, forget: bool) {
        self.with(|machine| machine.restart_server(forget));
    }

    /// Interrupts the printer's power for a moment; `forget` also removes the print in progress from the history.
    pub fn reboot(&self, forget: bool) {
        self.with(|machine| machine.reboot(forget));
    }
}
