//! The only socket to a printer. A printer supports only a few clients and never disconnects any; with too many
//! clients, it hangs until it is power-cycled. All requests therefore share one socket, which is closed when idle; a
//! new one is opened only after the old one has been closed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use reqwest::Url;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_util::task::AbortOnDropHandle;

use super::message::{self, PrinterMessage, PrinterRequest};
use super::status::{self, StatusSummary};
use crate::adapter::{PrinterError, PushState, Telemetry};
use crate::adapter_parts::Settings;
use crate::network::unreachable;
use crate::push::PushInbox;
use platform::http::lan_connect;
use platform::secrets::random::secret_bytes;

/// Maximum size of a message in bytes; file lists are the longest.
const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;
/// Read buffer size of the socket, in bytes. A status takes up about one kilobyte; the library's own size is 128.
const READ_BYTES: usize = 4 * 1024;
/// Maximum number of requests queued for the socket; more are rejected.
const MAX_WAITING: usize = 64;
/// Time for which an idle socket stays open.
const IDLE_TIMEOUT: Duration = Duration::from_secs(50);
/// Time that the printer is given to close its end of the socket.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Socket of one adapter, which the first request opens.
pub(super) struct LazySocket {
    url: Url,
    /// Error to return if something other than an SDCP printer responds at the address.
    strange: PrinterError,
    settings: Settings,
    shared: Arc<SocketInbox>,
    task: Mutex<Option<(mpsc::Sender<QueuedRequest>, AbortOnDropHandle<()>)>>,
}

/// State that the socket shares with the adapter.
#[derive(Default)]
struct SocketInbox {
    inbox: PushInbox,
    reported: Mutex<ReportedState>,
    /// Latest time on this server's clock, which is sent with requests.
    at_ms: AtomicI64,
}

/// State of the printer by its messages.
#[derive(Default)]
struct ReportedState {
    last_essence: Option<StatusSummary>,
    /// ID of the printer itself; empty until the printer has reported it.
    board: String,
}

impl SocketInbox {
    fn with<T>(&self, act: impl FnOnce(&mut ReportedState) -> T) -> T {
        act(&mut self.reported.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn closed(&self) {
        self.inbox.closed();
        self.with(|reported| reported.last_essence = None);
    }
}

type AnswerSender = oneshot::Sender<Result<Value, PrinterError>>;

struct QueuedRequest {
    ask: PrinterRequest,
    answered: AnswerSender,
}

impl LazySocket {
    pub(super) fn new(url: Url, strange: PrinterError, settings: Settings) -> Self {
        Self { url, strange, settings, shared: Arc::default(), task: Mutex::default() }
    }

    /// Sends a request and waits for the response within the time limit for requests. For the status and the
    /// attributes, the response is the message that follows the acknowledgement.
    pub(super) async fn ask(&self, ask: PrinterRequest) -> Result<Value, PrinterError> {
        let (answered, answer) = oneshot::channel();
        if self.questions().try_send(QueuedRequest { ask, answered }).is_err() {
            return Err(PrinterError::Unreachable("too many concurrent requests to the printer".into()));
        }
        match timeout(self.settings.connect_timeout + self.settings.request_timeout, answer).await {
            Ok(Ok(answer)) => answer,
            // The task ended in between, because an operator disconnected the printer.
            Ok(Err(_)) => Err(PrinterError::Lost("disconnected".into())),
            Err(_) => Err(PrinterError::Timeout),
        }
    }

    /// Sets the time sent with requests from now on; the printer only echoes it.
    pub(super) fn note_time(&self, at_ms: i64) {
        self.shared.at_ms.fetch_max(at_ms, Ordering::Relaxed);
    }

    /// Returns the request channel of the task that holds the socket, starting the task if necessary.
    fn questions(&self) -> mpsc::Sender<QueuedRequest> {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((questions, running)) = task.as_ref()
            && !running.is_finished()
        {
            return questions.clone();
        }
        let (questions, receiver) = mpsc::channel(MAX_WAITING);
        let way = SocketTarget { url: self.url.clone(), strange: self.strange.clone() };
        let keep = keep(way, self.settings.clone(), receiver, self.shared.clone());
        *task = Some((questions.clone(), AbortOnDropHandle::new(tokio::spawn(keep))));
        questions
    }

    /// Closes the socket; the next request opens a new one.
    pub(super) fn stop(&self) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.shared.closed();
    }

    pub(super) async fn changed(&self) {
        self.shared.inbox.woken().await;
    }

    pub(super) fn push(&self) -> PushState {
        self.shared.inbox.state()
    }

    pub(super) async fn telemetry_pushed(&self) {
        self.shared.inbox.collected().await;
    }

    pub(super) fn telemetry(&self) -> Option<Telemetry> {
        self.shared.inbox.telemetry()
    }
}

/// Address of the socket, and the error to return if something other than an SDCP printer responds there.
struct SocketTarget {
    url: Url,
    strange: PrinterError,
}

/// Keeps at most one socket open while requests arrive.
async fn keep(
    way: SocketTarget,
    settings: Settings,
    mut questions: mpsc::Receiver<QueuedRequest>,
    shared: Arc<SocketInbox>,
) {
    while let Some(first) = questions.recv().await {
        match open(&way, settings.connect_timeout).await {
            Ok(socket) => {
                let mut talk = OpenSocket { socket, waiting: HashMap::new(), shared: shared.clone() };
                let lost = talk.hold(first, &mut questions, settings.request_timeout).await;
                shared.closed();
                for (_, waiting) in talk.waiting.drain() {
                    let _ = waiting.answered.send(Err(lost.clone()));
                }
                // So that the printer has a place free before the next one is opened.
                let _ = timeout(CLOSE_TIMEOUT, talk.socket.close(None)).await;
                shared.inbox.wake();
            }
            Err(error) => {
                let _ = first.answered.send(Err(error.clone()));
                while let Ok(waiting) = questions.try_recv() {
                    let _ = waiting.answered.send(Err(error.clone()));
                }
            }
        }
    }
}

async fn open(way: &SocketTarget, limit: Duration) -> Result<WebSocketStream<TcpStream>, PrinterError> {
    let SocketTarget { url, strange } = way;
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BYTES)
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES));
    let opening = async {
        let request = url.as_str().into_client_request().map_err(|error| unreachable(&error))?;
        let host = url.host().ok_or_else(|| PrinterError::Unreachable("the address has no host".to_owned()))?;
        let stream = lan_connect(host, url.port_or_known_default().unwrap_or(80)).await;
        let stream = stream.map_err(|error| unreachable(&error))?;
        let opened = tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await;
        opened.map(|(socket, _)| socket).map_err(|error| match &error {
            Error::Io(_) | Error::ConnectionClosed | Error::AlreadyClosed => unreachable(&error),
            Error::Http(answer) if answer.status().is_server_error() => unreachable(&error),
            // It answers, and not as such a printer does.
            _ => strange.clone(),
        })
    };
    // Nothing was asked yet, so nothing can have happened.
    let silent = || {
        PrinterError::Unreachable(
            "it does not accept connections, possibly because too many clients are connected".to_owned(),
        )
    };
    timeout(limit, opening).await.map_err(|_| silent())?
}

/// Open socket with its pending requests.
struct OpenSocket {
    socket: WebSocketStream<TcpStream>,
    waiting: HashMap<String, PendingRequest>,
    shared: Arc<SocketInbox>,
}

struct PendingRequest {
    ask: PrinterRequest,
    answered: AnswerSender,
    until: Instant,
    /// `true` once the printer has acknowledged the request and will respond with a separate message.
    acknowledged: bool,
    /// Response message that arrived before the acknowledgement.
    payload: Option<Value>,
}

impl OpenSocket {
    /// Serves the socket until it closes; returns the error for requests that are still pending.
    async fn hold(
        &mut self,
        first: QueuedRequest,
        questions: &mut mpsc::Receiver<QueuedRequest>,
        limit: Duration,
    ) -> PrinterError {
        let lost = |words: &str| PrinterError::Lost(words.to_owned());
        if !self.send(first, limit).await {
            return lost("sending failed");
        }
        let mut last = Instant::now();
        loop {
            let due = self.waiting.values().map(|waiting| waiting.until).min();
            tokio::select! {
                biased; // what the printer says comes before what it did not say in time
                message = self.socket.next() => match message {
                    Some(Ok(Message::Text(text))) => self.hear(text.as_str()),
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return lost("the printer closed the connection"),
                    Some(Ok(_)) => {}
                },
                question = questions.recv() => match question {
                    Some(question) => {
                        last = Instant::now();
                        if !self.send(question, limit).await {
                            return lost("sending failed");
                        }
                    }
                    None => return lost("disconnected"),
                },
                // One question without an answer means that the socket is dead: others would wait in vain.
                () = tokio::time::sleep_until(due.unwrap_or(last + IDLE_TIMEOUT)) => return PrinterError::Timeout,
            }
        }
    }

    /// Sends a request; returns `false` if the socket is broken.
    async fn send(&mut self, question: QueuedRequest, limit: Duration) -> bool {
        let QueuedRequest { ask, answered } = question;
        if answered.is_closed() {
            return true; // Nobody waits for it any more, so it is not done.
        }
        let id = hex::encode(secret_bytes::<16>());
        let board = self.shared.with(|reported| reported.board.clone());
        let text = ask.message(&id, &board, self.shared.at_ms.load(Ordering::Relaxed));
        let until = Instant::now() + limit;
        self.waiting.insert(id, PendingRequest { ask, answered, until, acknowledged: false, payload: None });
        matches!(timeout(limit, self.socket.send(Message::text(text))).await, Ok(Ok(())))
    }

    fn hear(&mut self, text: &str) {
        let (received, board) = message::read(text);
        self.shared.inbox.note_contact();
        if let Some(board) = board {
            self.shared.with(|reported| reported.board = board);
        }
        match received {
            PrinterMessage::Answer { id, acknowledged, data } => {
                let Some(mut waiting) = self.waiting.remove(&id) else { return };
                let judged = waiting.ask.judge(acknowledged);
                let answer = match (judged, waiting.payload.take()) {
                    (Ok(()), Some(payload)) => Ok(payload),
                    // The message that answers it follows.
                    (Ok(()), None) if matches!(waiting.ask, PrinterRequest::Status | PrinterRequest::Attributes) => {
                        self.waiting.insert(id, PendingRequest { acknowledged: true, ..waiting });
                        return;
                    }
                    (judged, _) => judged.map(|()| data),
                };
                let _ = waiting.answered.send(answer);
            }
            PrinterMessage::Status(payload) => {
                let was_asked = self.answer_all(&PrinterRequest::Status, &payload);
                self.pushed(&payload, was_asked);
            }
            PrinterMessage::Attributes(payload) => {
                self.answer_all(&PrinterRequest::Attributes, &payload);
            }
            PrinterMessage::Other => {}
        }
    }

    /// Records a status. If the status was not requested and contains a change, wakes the waiter.
    fn pushed(&self, payload: &Value, was_asked: bool) {
        let now = status::essence(payload);
        let changed = self.shared.with(|reported| reported.last_essence.replace(now) != reported.last_essence);
        if was_asked {
            return;
        }
        self.shared.inbox.opened();
        if changed {
            self.shared.inbox.wake();
        } else {
            self.shared.inbox.collect(status::telemetry(payload));
        }
    }

    /// Delivers a message to all requests waiting for a message of that kind; returns whether there were any.
    fn answer_all(&mut self, ask: &PrinterRequest, payload: &Value) -> bool {
        let ids: Vec<String> =
            self.waiting.iter().filter(|(_, waiting)| waiting.ask == *ask).map(|(id, _)| id.clone()).collect();
        for id in &ids {
            let Some(mut waiting) = self.waiting.remove(id) else { continue };
            if waiting.acknowledged {
                let _ = waiting.answered.send(Ok(payload.clone()));
            } else {
                waiting.payload = Some(payload.clone());
                self.waiting.insert(id.clone(), waiting);
            }
        }
        !ids.is_empty()
    }
}
