//! Push connection to a printer: a WebSocket that is kept open. It wakes a waiter when the printer's state changes, and
//! collects telemetry. A pushed state is only a hint, after which the waiter polls the printer.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::{SinkExt, StreamExt};
use reqwest::Url;
use tokio::sync::{Notify, broadcast};
use tokio::time::{Instant, sleep, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Bytes, Message};
use tokio_util::task::AbortOnDropHandle;

use crate::adapter::{PrinterError, PushState, Telemetry};
use crate::adapter_parts::Settings;
use crate::wire::PrinterHttpClient;
use domain::schedule::Delays;
use platform::http::lan_connect;

/// Maximum silence before a ping is sent.
const MAX_QUIET_TIME: Duration = Duration::from_secs(5);
/// Number of consecutive unanswered pings after which the connection is considered dead and the printer offline.
const MAX_UNANSWERED_PINGS: u32 = 3;
/// Delays between attempts to reopen the connection.
const RECONNECT_DELAYS: Delays = Delays { first: Duration::from_secs(1), longest: Duration::from_secs(30) };
/// Maximum size of a message in bytes. A status push takes up a few kilobytes; the first one, which includes logs and
/// temperatures, several hundred.
const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;
/// Number of terminal lines buffered for each subscriber.
const CONSOLE_LINES: usize = 64;
/// Read buffer size per connection, in bytes.
const READ_BYTES: usize = 4 * 1024;

/// WebSocket protocol of one printer type: the messages to send, and the parser for received messages.
#[async_trait]
pub(super) trait Dialect: Send + 'static {
    /// Resets the state from the previous connection and returns the messages to send first. Called before each
    /// connection is opened.
    async fn greet(&mut self) -> Result<Vec<String>, PrinterError>;
    /// Parses a message from the printer and returns its effects.
    fn interpret(&mut self, text: &str) -> PushMessage;
}

/// Effects of a received message.
#[derive(Default)]
pub(super) struct PushMessage {
    /// `true` if the printer's status should be polled.
    pub(super) wake: bool,
    /// Telemetry in the message.
    pub(super) telemetry: Option<Telemetry>,
    /// Terminal lines from the printer.
    pub(super) console: Vec<String>,
    /// `true` if the printer pushes changes from now on.
    pub(super) subscribed: bool,
    /// Message to send in response.
    pub(super) reply: Option<String>,
}

/// Push connection of one adapter, opened by the first waiter and closed by `stop` or on drop.
#[derive(Default)]
pub(super) struct Push {
    shared: Arc<PushInbox>,
    task: Mutex<Option<AbortOnDropHandle<()>>>,
}

/// State that a connection shares with its adapter. Types that hold their own connection fill an inbox in it.
#[derive(Default)]
pub(super) struct PushInbox {
    woken: Notify,
    collected: Notify,
    pushed: Mutex<InboxState>,
    /// Terminal lines from the printer; created by the first subscriber.
    console: OnceLock<broadcast::Sender<String>>,
}

#[derive(Default)]
struct InboxState {
    state: PushState,
    telemetry: Option<Telemetry>,
}

impl PushInbox {
    fn with<T>(&self, act: impl FnOnce(&mut InboxState) -> T) -> T {
        act(&mut self.pushed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Wakes the waiter and discards telemetry that was pushed earlier.
    pub(super) fn wake(&self) {
        self.with(|pushed| pushed.telemetry = None);
        self.woken.notify_one();
    }

    /// Resolves at the next wake-up, or immediately if there was one while no one was waiting.
    pub(super) async fn woken(&self) {
        self.woken.notified().await;
    }

    /// Records that the printer has just sent something.
    pub(super) fn note_contact(&self) {
        self.with(|pushed| pushed.state.last_heard = Some(Instant::now()));
    }

    /// Records that the printer pushes changes from now on.
    pub(super) fn opened(&self) {
        self.with(|pushed| pushed.state.open = true);
    }

    /// Records that the printer no longer pushes changes, until the connection opens again.
    pub(super) fn closed(&self) {
        self.with(|pushed| (pushed.state.open, pushed.telemetry) = (false, None));
    }

    /// Merges pushed telemetry into the telemetry that has not been read yet.
    pub(super) fn collect(&self, later: Telemetry) {
        self.with(|pushed| pushed.telemetry = Some(pushed.telemetry.unwrap_or_default().then(later)));
        self.collected.notify_one();
    }

    /// Resolves when telemetry has been collected, or immediately if that happened while no one was waiting.
    pub(super) async fn collected(&self) {
        self.collected.notified().await;
    }

    /// Returns the state of the connection.
    pub(super) fn state(&self) -> PushState {
        self.with(|pushed| pushed.state)
    }

    /// Returns the telemetry pushed since the last call.
    pub(super) fn telemetry(&self) -> Option<Telemetry> {
        self.with(|pushed| pushed.telemetry.take())
    }
}

/// Address and credentials for a push connection.
pub(super) struct PushTarget {
    url: Url,
    header: Option<(HeaderName, HeaderValue)>,
    connect_timeout: Duration,
    /// Maximum silence before a ping is sent.
    quiet: Duration,
}

impl PushTarget {
    /// Creates the target for a path on a printer's HTTP server; `None` for https, in which case the printer is only
    /// polled.
    pub(super) fn beside(wire: &PrinterHttpClient, path: &str) -> Option<Self> {
        let mut url = wire.url(path);
        if url.scheme() != "http" || url.set_scheme("ws").is_err() {
            return None;
        }
        let header = wire.api_key.as_deref().and_then(|key| {
            Some((HeaderName::from_static(wire.declared.key_header), HeaderValue::from_str(key).ok()?))
        });
        let Settings { connect_timeout, offline_after, .. } = wire.settings;
        Some(Self { url, header, connect_timeout, quiet: MAX_QUIET_TIME.min(offline_after / MAX_UNANSWERED_PINGS) })
    }
}

impl Push {
    /// Waits for a push, opening the connection if necessary.
    pub(super) async fn changed<D: Dialect>(&self, begin: impl FnOnce() -> Option<(PushTarget, D)>) {
        {
            let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
            if task.as_ref().is_none_or(AbortOnDropHandle::is_finished)
                && let Some((endpoint, dialect)) = begin()
            {
                *task = Some(AbortOnDropHandle::new(tokio::spawn(keep(endpoint, dialect, self.shared.clone()))));
            }
        }
        self.shared.woken().await;
    }

    /// Returns the state of the connection.
    pub(super) fn state(&self) -> PushState {
        self.shared.state()
    }

    /// Subscribes to future lines of the printer's terminal.
    pub(super) fn console(&self) -> broadcast::Receiver<String> {
        self.shared.console.get_or_init(|| broadcast::Sender::new(CONSOLE_LINES)).subscribe()
    }

    /// Resolves when telemetry has been pushed.
    pub(super) async fn telemetry_pushed(&self) {
        self.shared.collected().await;
    }

    /// Returns the telemetry pushed since the last call.
    pub(super) fn telemetry(&self) -> Option<Telemetry> {
        self.shared.telemetry()
    }

    /// Closes the connection; the next waiter opens a new one.
    pub(super) fn stop(&self) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.shared.closed();
    }
}

/// Returns a number from 0 to 1 for a printer, which is always the same, so that printers whose connections broke
/// together, as when the network fails, are not all connected to at the same moments.
pub(super) fn spread(printer: &str) -> f64 {
    let mut hasher = DefaultHasher::new();
    printer.hash(&mut hasher);
    hasher.finish() as f64 / u64::MAX as f64
}

async fn keep<D: Dialect>(endpoint: PushTarget, mut dialect: D, shared: Arc<PushInbox>) {
    let mut failures = 0;
    loop {
        let began = Instant::now();
        let talked = talk(&endpoint, &mut dialect, &shared).await;
        shared.closed();
        match talked {
            Ok(()) => {
                // The connection was open and broke: what was said meanwhile is missed, and the printer may be gone.
                failures = failures_after(failures, began.elapsed());
                shared.wake();
            }
            Err(error) => {
                tracing::debug!(%error, url = %endpoint.url, "no push connection to the printer");
            }
        }
        sleep(RECONNECT_DELAYS.next(failures, spread(endpoint.url.as_str()))).await;
        failures += 1;
    }
}

/// Returns the number of failures that count after a connection held for the given time has broken. A connection that
/// breaks soon does not count as a success, so that a printer that accepts connections and drops them is not contacted
/// every second.
fn failures_after(failures: u32, held: Duration) -> u32 {
    if held > RECONNECT_DELAYS.longest { 0 } else { failures }
}

/// Serves one connection until it closes. An error means that the connection could not be opened.
async fn talk<D: Dialect>(endpoint: &PushTarget, dialect: &mut D, shared: &PushInbox) -> Result<(), PrinterError> {
    let greeting = dialect.greet().await?;
    let unreachable = |error: &dyn std::error::Error| PrinterError::Unreachable(error.to_string());
    let mut request = endpoint.url.as_str().into_client_request().map_err(|error| unreachable(&error))?;
    if let Some((name, value)) = &endpoint.header {
        request.headers_mut().insert(name.clone(), value.clone());
    }
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BYTES)
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES));
    let opening = async {
        let host =
            endpoint.url.host().ok_or_else(|| PrinterError::Unreachable("the address has no host".to_owned()))?;
        let port = endpoint.url.port_or_known_default().unwrap_or(80);
        let stream = lan_connect(host, port).await.map_err(|error| unreachable(&error))?;
        let opened = tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await;
        opened.map_err(|error| unreachable(&error))
    };
    let (mut socket, _) = timeout(endpoint.connect_timeout, opening).await.map_err(|_| PrinterError::Timeout)??;
    for message in greeting {
        socket.send(Message::text(message)).await.map_err(|error| unreachable(&error))?;
    }
    let mut quiet = 0;
    loop {
        let sent = match timeout(endpoint.quiet, socket.next()).await {
            Ok(Some(Ok(message))) => {
                quiet = 0;
                shared.note_contact();
                let Message::Text(text) = message else {
                    continue;
                };
                let update = dialect.interpret(text.as_str());
                if let Some(console) = shared.console.get() {
                    for line in update.console {
                        // Nobody may listen any more.
                        let _ = console.send(line);
                    }
                }
                if update.subscribed {
                    shared.opened();
                }
                if update.wake {
                    shared.wake();
                } else if let Some(later) = update.telemetry {
                    shared.collect(later);
                }
                match update.reply {
                    Some(reply) => socket.send(Message::text(reply)).await,
                    None => Ok(()),
                }
            }
            Err(_) if quiet + 1 < MAX_UNANSWERED_PINGS => {
                quiet += 1;
                socket.send(Message::Ping(Bytes::new())).await
            }
            Ok(_) | Err(_) => return Ok(()),
        };
        if sent.is_err() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_breaks_soon_is_opened_ever_more_seldom() {
        let delay = |failures| RECONNECT_DELAYS.next(failures, 0.0);
        let mut failures = 0;
        let delays = [(); 8].map(|()| {
            failures = failures_after(failures, Duration::from_secs(1)) + 1;
            delay(failures)
        });
        assert!(delays.is_sorted(), "{delays:?}");
        assert_eq!(delays[7], RECONNECT_DELAYS.longest / 2, "the least of the longest");
        let held = RECONNECT_DELAYS.longest + Duration::from_secs(1);
        assert_eq!(delay(failures_after(failures, held)), RECONNECT_DELAYS.first / 2);
    }
}
