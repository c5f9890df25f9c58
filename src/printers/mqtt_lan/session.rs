//! The single connection to a printer's broker: opened by the first caller that needs the printer, reopened when it
//! breaks, and kept until the session is stopped or dropped. Each connection is a separate MQTT session, so nothing is
//! ever resent.

mod talk;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::address::MqttLanAddress;
use super::command::MqttCommand;
use super::report::PrinterKnowledge;
use super::tls::Tls;
use super::{TYPE, words};
use crate::PrinterType;
use crate::adapter::PrinterError;
use crate::adapter_parts::Settings;
use crate::push::{PushInbox, spread};
use domain::printer_status::Status;
use domain::schedule::Delays;
use domain::time::Timestamp;
use platform::watch::WatchSender;

/// Delays between connection attempts while no caller needs the printer.
const RECONNECT_DELAYS: Delays = Delays { first: Duration::from_secs(1), longest: Duration::from_secs(30) };
/// Minimum delay between connection attempts, even if a caller needs the printer.
const MIN_RECONNECT_DELAY: Duration = Duration::from_millis(250);
/// Maximum number of commands queued for the connection.
const MAX_WAITING: usize = 16;
/// Maximum time since the printer's last message for which its last report is considered current.
const MAX_REPORT_AGE: Duration = Duration::from_secs(5);
/// Sequence number of the first command.
const FIRST_NUMBER: u32 = 20_000;

/// Connection parameters of a session.
pub(super) struct SessionSettings {
    pub(super) address: MqttLanAddress,
    pub(super) tls: Tls,
    /// The printer's serial number, in uppercase.
    pub(super) serial: String,
    /// The printer's access code.
    pub(super) code: String,
    pub(super) settings: Settings,
    /// MQTT client ID of this server. Two clients with the same ID disconnect each other.
    pub(super) client_id: String,
}

impl SessionSettings {
    /// Returns the error for an address at which something other than a Bambu Lab printer responds.
    fn strange(&self) -> PrinterError {
        let PrinterType { program, default_port, .. } = TYPE;
        let address = format!("mqtts://{}:{}", self.address.host(), self.address.mqtt);
        PrinterError::Stranger { program, address, port: default_port }
    }
}

/// MQTT session of one adapter.
pub(super) struct PrinterSession {
    pub(super) link: Arc<SessionSettings>,
    shared: Arc<SessionParts>,
    /// Task that maintains the connection, with the guard that ends the task when dropped.
    task: Mutex<Option<(DropGuard, JoinHandle<()>)>>,
}

/// State shared between the connection's task and the adapter.
struct SessionParts {
    state: Mutex<SessionState>,
    /// Notifies waiters when the connection opens or closes.
    moved: WatchSender<()>,
    /// Signals that a caller needs the connection now.
    demand: Notify,
    /// Inbox that wakes the watch loop and collects pushed telemetry.
    inbox: PushInbox,
}

#[derive(Default)]
struct SessionState {
    track: PrinterKnowledge,
    /// Last status for which the watch loop was woken, with the printer's description of its errors.
    last_status: (Status, Option<String>),
    /// Queue for commands; `None` if the connection is not open.
    outbox: Option<mpsc::Sender<Outgoing>>,
    /// Reason why the connection is closed; `None` before the first attempt has ended.
    closed: Option<PrinterError>,
    /// Number of connections that have ended.
    endings: u64,
    /// Time of the last message on the printer's topic.
    spoke: Option<Instant>,
    /// Callers waiting for the reply to a command, by sequence number.
    waiting: HashMap<String, oneshot::Sender<CommandReply>>,
    number: u32,
    /// Firmware versions reported by the printer.
    versions: Option<Value>,
}

/// Command to send.
struct Outgoing {
    bytes: Vec<u8>,
    acknowledged: bool,
}

/// The printer's reply to a command.
#[derive(Debug)]
struct CommandReply {
    failed: bool,
    reason: String,
}

impl SessionParts {
    fn with<T>(&self, act: impl FnOnce(&mut SessionState) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Marks the connection as closed; pending commands get no reply.
    fn close(&self, why: PrinterError) {
        self.with(|state| {
            (state.outbox, state.closed) = (None, Some(why));
            state.endings += 1;
            state.waiting.clear();
        });
        self.inbox.closed();
        self.moved.send_replace(());
    }
}

impl PrinterSession {
    /// Creates a session without connecting.
    pub(super) fn new(link: SessionSettings) -> Self {
        let shared = SessionParts {
            state: Mutex::default(),
            moved: WatchSender::new(()),
            demand: Notify::new(),
            inbox: PushInbox::default(),
        };
        Self { link: Arc::new(link), shared: Arc::new(shared), task: Mutex::default() }
    }

    /// Returns the inbox, which holds pushed telemetry and its waiter.
    pub(super) fn inbox(&self) -> &PushInbox {
        &self.shared.inbox
    }

    /// Opens the connection, unless it is already open or being opened.
    pub(super) fn begin(&self) {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if task.as_ref().is_none_or(|(_, task)| task.is_finished()) {
            let end = CancellationToken::new();
            let keeping = tokio::spawn(keep(self.link.clone(), self.shared.clone(), end.clone()));
            *task = Some((end.drop_guard(), keeping));
        }
    }

    /// Closes the connection; the next caller opens a new one.
    pub(super) fn stop(&self) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.shared.close(PrinterError::Unreachable("disconnected".to_owned()));
    }

    /// Returns whether the connection is open and the printer has sent a report.
    pub(super) fn is_open(&self) -> bool {
        self.shared.with(|state| state.outbox.is_some() && state.track.full)
    }

    /// Waits until the connection is open and the printer has sent a report, within the time limits for a connection
    /// and a request. If the connection was closed, waits for one new attempt.
    pub(super) async fn ready(&self) -> Result<(), PrinterError> {
        let mut moved = self.shared.moved.subscribe();
        let endings = self.shared.with(|state| state.endings);
        self.begin();
        if self.shared.with(|state| state.outbox.is_none()) {
            self.shared.demand.notify_one();
        }
        let opened = async {
            loop {
                moved.borrow_and_update();
                let now = self.shared.with(|state| match (&state.outbox, &state.closed) {
                    (Some(_), _) => state.track.full.then_some(Ok(())),
                    (None, Some(why)) if state.endings > endings => Some(Err(why.clone())),
                    (None, _) => None,
                });
                if let Some(now) = now {
                    return now;
                }
                if moved.changed().await.is_err() {
                    return Err(PrinterError::Timeout);
                }
            }
        };
        let Settings { connect_timeout, request_timeout, .. } = self.link.settings;
        let silent = |_| {
            if self.shared.with(|state| state.outbox.is_none()) {
                return Err(PrinterError::Timeout);
            }
            let serial = &self.link.serial;
            let words = format!(
                "it accepts the connection but sends no reports for the serial number {serial}; is the serial number \
                 correct?"
            );
            Err(PrinterError::Unreachable(words))
        };
        timeout(connect_timeout + request_timeout, opened).await.unwrap_or_else(silent)
    }

    /// Waits like [`Self::ready`], and also requires a recent message from the printer, because the connection to the
    /// broker may stay open even though the printer is gone.
    pub(super) async fn fresh(&self) -> Result<(), PrinterError> {
        self.ready().await?;
        let fresh = self.shared.with(|state| state.spoke.is_some_and(|at| at.elapsed() < MAX_REPORT_AGE));
        if !fresh {
            self.ask(&MqttCommand::versions(), self.link.settings.request_timeout).await?;
        }
        Ok(())
    }

    /// Returns the result of calling `read` with the information about the printer.
    pub(super) fn read<T>(&self, read: impl FnOnce(&PrinterKnowledge) -> T) -> T {
        self.shared.with(|state| read(&state.track))
    }

    /// Updates the information about the printer.
    pub(super) fn note(&self, note: impl FnOnce(&mut PrinterKnowledge)) {
        self.shared.with(|state| note(&mut state.track));
    }

    /// Returns the printer's status as of `at`.
    pub(super) fn status(&self, at: Timestamp) -> Status {
        self.read(|track| track.status(at))
    }

    /// Returns the firmware versions last reported by the printer.
    pub(super) fn versions(&self) -> Option<Value> {
        self.shared.with(|state| state.versions.clone())
    }

    /// Sends a command and waits for the printer's reply. Sends nothing if the connection is not open.
    pub(super) async fn ask(&self, command: &MqttCommand, within: Duration) -> Result<(), PrinterError> {
        let (tell, receiver) = oneshot::channel();
        let (outbox, number) = self.shared.with(|state| {
            let Some(outbox) = state.outbox.clone() else {
                let why = state.closed.clone();
                return Err(why.unwrap_or_else(|| PrinterError::Unreachable("not connected".to_owned())));
            };
            state.number = state.number.wrapping_add(1) % (u32::MAX - FIRST_NUMBER);
            let number = (FIRST_NUMBER + state.number).to_string();
            state.waiting.retain(|_, waits| !waits.is_closed());
            state.waiting.insert(number.clone(), tell);
            Ok((outbox, number))
        })?;
        let outgoing = Outgoing { bytes: command.with_number(&number), acknowledged: command.acknowledged };
        let answered = async {
            // A connection that is gone by now has not taken it.
            let gone = |_| PrinterError::Unreachable("the connection was lost before the command was sent".to_owned());
            outbox.send(outgoing).await.map_err(gone)?;
            receiver.await.map_err(|_| PrinterError::Lost("the printer did not respond to the command".to_owned()))
        };
        let reply = timeout(within, answered).await.map_err(|_| PrinterError::Timeout)??;
        if !reply.failed {
            return Ok(());
        }
        let message = if words::is_unverified(&reply.reason) { words::READ_ONLY.to_owned() } else { reply.reason };
        Err(PrinterError::Refused { status: 409, message })
    }
}

/// Keeps the connection open until cancelled.
async fn keep(link: Arc<SessionSettings>, shared: Arc<SessionParts>, end: CancellationToken) {
    let mut failures = 0;
    loop {
        let (opened, why) = talk::talk(&link, &shared, &end).await;
        // Somebody may have opened another connection by now, which is not this task's to close.
        if end.is_cancelled() {
            return;
        }
        tracing::debug!(serial = link.serial, error = %why, opened, "no connection to the printer's broker");
        failures = if opened { 0 } else { failures + 1 };
        shared.close(why);
        if opened {
            // What was said meanwhile is missed, and the printer may be gone.
            shared.inbox.wake();
        }
        let pause = async {
            sleep(MIN_RECONNECT_DELAY).await;
            tokio::select! {
                biased; // both only end the pause
                () = sleep(RECONNECT_DELAYS.next(failures, spread(&link.serial))) => {}
                () = shared.demand.notified() => {}
            }
        };
        tokio::select! {
            biased; // whoever is told to end does so before the next attempt
            () = end.cancelled() => return,
            () = pause => {}
        }
    }
}
