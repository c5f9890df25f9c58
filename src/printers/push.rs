//! A printer's push connection: a web socket that is kept open and wakes a waiter. It is only a hint; polling is the
//! backstop.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::{SinkExt, StreamExt};
use reqwest::Url;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Bytes, Message};
use tokio_util::task::AbortOnDropHandle;

use crate::domain::schedule::Delays;
use crate::printers::adapter::PrinterError;
use crate::printers::registry::Settings;

/// Silence after which we ask whether the other side is still there.
const QUIET: Duration = Duration::from_secs(20);
/// After so many unanswered pings the connection counts as dead.
const QUIET_LIMIT: u32 = 3;
/// Pauses between attempts to open the connection again.
const RECONNECT: Delays = Delays { first: Duration::from_secs(1), longest: Duration::from_secs(30) };
/// Most bytes of a message. A status push has a few kilobytes; the first one, with logs and temperatures, some
/// hundred.
const MAX_MESSAGE: usize = 4 * 1024 * 1024;

/// What the socket of one printer type says and how its messages are read.
#[async_trait]
pub(super) trait Dialect: Send + 'static {
    /// Called before a connection is made: forgets the last one, and gives the messages to begin with.
    async fn greet(&mut self) -> Result<Vec<String>, PrinterError>;
    /// Reads a message.
    fn heard(&mut self, text: &str) -> Heard;
}

/// What follows from a message.
#[derive(Default)]
pub(super) struct Heard {
    /// True when the printer's status should be read.
    pub(super) wake: bool,
    /// A message to send back.
    pub(super) reply: Option<String>,
}

/// The connection of one adapter: opened by the first waiter, closed by `stop` or by dropping it.
#[derive(Default)]
pub(super) struct Push {
    woken: Arc<Notify>,
    task: Mutex<Option<AbortOnDropHandle<()>>>,
}

/// Where to connect.
pub(super) struct Endpoint {
    url: Url,
    header: Option<(HeaderName, HeaderValue)>,
    connect_timeout: Duration,
}

impl Endpoint {
    /// The socket beside an HTTP base; `None` for https, where only polling is done.
    pub(super) fn new(mut url: Url, api_key: Option<&str>, settings: &Settings) -> Option<Self> {
        if url.scheme() != "http" || url.set_scheme("ws").is_err() {
            return None;
        }
        let header =
            api_key.and_then(|key| Some((HeaderName::from_static("x-api-key"), HeaderValue::from_str(key).ok()?)));
        Some(Self { url, header, connect_timeout: settings.connect_timeout })
    }
}

impl Push {
    /// Waits for a push; opens the connection where there is none.
    pub(super) async fn changed<D: Dialect>(&self, begin: impl FnOnce() -> Option<(Endpoint, D)>) {
        {
            let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
            if task.as_ref().is_none_or(AbortOnDropHandle::is_finished)
                && let Some((endpoint, dialect)) = begin()
            {
                *task = Some(AbortOnDropHandle::new(tokio::spawn(keep(endpoint, dialect, self.woken.clone()))));
            }
        }
        self.woken.notified().await;
    }

    /// Closes the connection; the next waiter opens a new one.
    pub(super) fn stop(&self) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

async fn keep<D: Dialect>(endpoint: Endpoint, mut dialect: D, woken: Arc<Notify>) {
    let mut failures = 0;
    loop {
        match talk(&endpoint, &mut dialect, &woken).await {
            Ok(()) => {
                // The connection was open and broke: what was said meanwhile is missed, and the printer may be gone.
                failures = 0;
                woken.notify_one();
            }
            Err(error) => {
                tracing::debug!(%error, url = %endpoint.url, "no push connection to the printer");
            }
        }
        sleep(RECONNECT.next(failures, 1.0)).await;
        failures += 1;
    }
}

/// Serves one connection from opening to its end. An error means that it never opened.
async fn talk<D: Dialect>(endpoint: &Endpoint, dialect: &mut D, woken: &Notify) -> Result<(), PrinterError> {
    let greeting = dialect.greet().await?;
    let unreachable = |error: &dyn std::error::Error| PrinterError::Unreachable(error.to_string());
    let mut request = endpoint.url.as_str().into_client_request().map_err(|error| unreachable(&error))?;
    if let Some((name, value)) = &endpoint.header {
        request.headers_mut().insert(name.clone(), value.clone());
    }
    let config = WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
    let opening = tokio_tungstenite::connect_async_with_config(request, Some(config), true);
    let (mut socket, _) = timeout(endpoint.connect_timeout, opening)
        .await
        .map_err(|_| PrinterError::Timeout)?
        .map_err(|error| unreachable(&error))?;
    for message in greeting {
        socket.send(Message::text(message)).await.map_err(|error| unreachable(&error))?;
    }
    let mut quiet = 0;
    loop {
        let sent = match timeout(QUIET, socket.next()).await {
            Ok(Some(Ok(message))) => {
                quiet = 0;
                let Message::Text(text) = message else {
                    continue;
                };
                let heard = dialect.heard(text.as_str());
                if heard.wake {
                    woken.notify_one();
                }
                match heard.reply {
                    Some(reply) => socket.send(Message::text(reply)).await,
                    None => Ok(()),
                }
            }
            Err(_) if quiet < QUIET_LIMIT => {
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
