//! The one connection to a printer's broker: opened by whoever first asks for the printer, made anew when it breaks,
//! and kept until it is stopped or dropped. Every connection is a session of its own, so nothing is ever sent a second
//! time.

mod talk;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::address::Address;
use super::command::Command;
use super::report::Track;
use super::tls::Tls;
use super::{TYPE, words};
use crate::domain::printer_status::Status;
use crate::domain::schedule::Delays;
use crate::domain::time::Timestamp;
use crate::printers::PrinterType;
use crate::printers::adapter::PrinterError;
use crate::printers::push::PushInbox;
use crate::printers::registry::Settings;

/// Pauses between attempts to connect when nobody asks for the printer.
const RECONNECT_DELAYS: Delays = Delays { first: Duration::from_secs(1), longest: Duration::from_secs(30) };
/// Shortest pause between two attempts, whoever asks.
const MIN_RECONNECT_DELAY: Duration = Duration::from_millis(250);
/// Commands that wait for the connection to take them.
const MAX_WAITING: usize = 16;
/// Longest time since the last word of the printer for which its last report counts as its present state.
const MAX_REPORT_AGE: Duration = Duration::from_secs(5);
/// The first number of a command.
const FIRST_NUMBER: u32 = 20_000;

/// Where a session is opened, and how.
pub(super) struct Link {
    pub(super) address: Address,
    pub(super) tls: Tls,
    /// The printer's serial number, in upper case.
    pub(super) serial: String,
    /// The access code.
    pub(super) code: String,
    pub(super) settings: Settings,
    /// What this server calls itself there; two clients of one name throw each other out.
    pub(super) client_id: String,
}

impl Link {
    /// That something else answers there than such a printer.
    fn strange(&self) -> PrinterError {
        let PrinterType { program, default_port, .. } = TYPE;
        let address = format!("mqtts://{}:{}", self.address.host(), self.address.mqtt);
        PrinterError::Stranger { program, address, port: default_port }
    }
}

/// The session of one adapter.
pub(super) struct Session {
    pub(super) link: Arc<Link>,
    shared: Arc<SessionParts>,
    /// The task that keeps the connection, and what ends it when it is dropped.
    task: Mutex<Option<(DropGuard, JoinHandle<()>)>>,
}

/// What the connection's task and the adapter share.
struct SessionParts {
    state: Mutex<State>,
    /// Changes whenever the connection opens or closes.
    moved: watch::Sender<()>,
    /// Somebody wants the connection now.
    wanted: Notify,
    /// Wakes the watch, and collects what was pushed.
    inbox: PushInbox,
}

#[derive(Default)]
struct State {
    track: Track,
    /// The latest status that woke the watch, with what the printer says of its errors.
    known: (Status, Option<String>),
    /// Takes commands while the connection is open.
    outbox: Option<mpsc::Sender<Outgoing>>,
    /// Why the connection is not open; `None` before the first attempt ended.
    closed: Option<PrinterError>,
    /// Connections that ended.
    endings: u64,
    /// When the printer last said anything on its topic.
    spoke: Option<Instant>,
    /// Who waits for the answer to a command, by its number.
    waiting: HashMap<String, oneshot::Sender<CommandReply>>,
    number: u32,
    /// What the printer said of its firmware.
    versions: Option<Value>,
}

/// A command on its way out.
struct Outgoing {
    bytes: Vec<u8>,
    acknowledged: bool,
}

/// The printer's answer to a command.
#[derive(Debug)]
struct CommandReply {
    failed: bool,
    reason: String,
}

impl SessionParts {
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The connection is gone: commands without an answer have none.
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

impl Session {
    /// Nothing is connected yet.
    pub(super) fn new(link: Link) -> Self {
        let shared = SessionParts {
            state: Mutex::default(),
            moved: watch::Sender::new(()),
            wanted: Notify::new(),
            inbox: PushInbox::default(),
        };
        Self { link: Arc::new(link), shared: Arc::new(shared), task: Mutex::default() }
    }

    /// What was pushed, and who waits for it.
    pub(super) fn inbox(&self) -> &PushInbox {
        &self.shared.inbox
    }

    /// Opens the connection, unless it is open or being opened.
    pub(super) fn begin(&self) {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if task.as_ref().is_none_or(|(_, task)| task.is_finished()) {
            let end = CancellationToken::new();
            let keeping = tokio::spawn(keep(self.link.clone(), self.shared.clone(), end.clone()));
            *task = Some((end.drop_guard(), keeping));
        }
    }

    /// Closes the connection; whoever asks next opens a new one.
    pub(super) fn stop(&self) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.shared.close(PrinterError::Unreachable("it was disconnected".to_owned()));
    }

    /// Whether the connection is open and the printer has reported.
    pub(super) fn is_open(&self) -> bool {
        self.shared.with(|state| state.outbox.is_some() && state.track.full)
    }

    /// Waits until the connection is open and the printer has reported, within the times of a connection and a request.
    /// Where it was closed before, one new attempt is awaited.
    pub(super) async fn ready(&self) -> Result<(), PrinterError> {
        let mut moved = self.shared.moved.subscribe();
        let endings = self.shared.with(|state| state.endings);
        self.begin();
        if self.shared.with(|state| state.outbox.is_none()) {
            self.shared.wanted.notify_one();
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
            let words =
                format!("it takes the connection and says nothing of the serial number {serial}: is that right?");
            Err(PrinterError::Unreachable(words))
        };
        timeout(connect_timeout + request_timeout, opened).await.unwrap_or_else(silent)
    }

    /// As [`Self::ready`], and the printer said something just now: a connection may stand open although nobody is
    /// behind it any more.
    pub(super) async fn fresh(&self) -> Result<(), PrinterError> {
        self.ready().await?;
        let fresh = self.shared.with(|state| state.spoke.is_some_and(|at| at.elapsed() < MAX_REPORT_AGE));
        if !fresh {
            self.ask(&Command::versions(), self.link.settings.request_timeout).await?;
        }
        Ok(())
    }

    /// Reads what is known of the printer.
    pub(super) fn read<T>(&self, read: impl FnOnce(&Track) -> T) -> T {
        self.shared.with(|state| read(&state.track))
    }

    /// Changes what is known of the printer.
    pub(super) fn note(&self, note: impl FnOnce(&mut Track)) {
        self.shared.with(|state| note(&mut state.track));
    }

    /// The printer's status as of `at`.
    pub(super) fn status(&self, at: Timestamp) -> Status {
        self.read(|track| track.status(at))
    }

    /// What the printer last said of its firmware.
    pub(super) fn versions(&self) -> Option<Value> {
        self.shared.with(|state| state.versions.clone())
    }

    /// Sends a command and waits for the printer's answer. Where the connection is not open nothing is sent.
    pub(super) async fn ask(&self, command: &Command, within: Duration) -> Result<(), PrinterError> {
        let (tell, told) = oneshot::channel();
        let (outbox, number) = self.shared.with(|state| {
            let Some(outbox) = state.outbox.clone() else {
                let why = state.closed.clone();
                return Err(why.unwrap_or_else(|| PrinterError::Unreachable("it is not connected".to_owned())));
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
            told.await.map_err(|_| PrinterError::Lost("no answer to the command came before".to_owned()))
        };
        let reply = timeout(within, answered).await.map_err(|_| PrinterError::Timeout)??;
        if !reply.failed {
            return Ok(());
        }
        let message = if words::is_unverified(&reply.reason) { words::READ_ONLY.to_owned() } else { reply.reason };
        Err(PrinterError::Refused { status: 409, message })
    }
}

/// Keeps the connection open until the end is called for.
async fn keep(link: Arc<Link>, shared: Arc<SessionParts>, end: CancellationToken) {
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
                () = sleep(RECONNECT_DELAYS.next(failures, 1.0)) => {}
                () = shared.wanted.notified() => {}
            }
        };
        tokio::select! {
            biased; // whoever is told to end does so before the next attempt
            () = end.cancelled() => return,
            () = pause => {}
        }
    }
}
