//! JSON-RPC: the WebSocket with its notifications, and the same calls over plain HTTP.

use std::{
    sync::{
        PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    extract::{
        Request, State,
        ws::{Message, WebSocket, WebSocketUpgrade},
    },
    http::{HeaderMap, StatusCode, Uri, header},
    response::Response,
};
use futures::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::{MoonrakerError, MoonrakerHost, RpcParams, answer, history, objects};
use crate::{
    printer::{Controller, PhysicalEvent},
    wire::{push, push_interval},
};

/// Counter for WebSocket connection IDs.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// Interval at which Klipper samples the subscribed objects.
const SAMPLING_INTERVAL: Duration = Duration::from_millis(250);

/// Handles `POST /server/jsonrpc`. Errors have status 200; subscriptions are rejected.
pub(super) async fn over_http(State(host): State<MoonrakerHost>, request: Request) -> Response {
    let json_body = request
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if !json_body {
        return MoonrakerError::new(400, "Invalid content type, application/json required").respond();
    }
    let Ok(body) = axum::body::to_bytes(request.into_body(), 1024 * 1024).await else {
        return MoonrakerError::new(413, "Request Entity Too Large").respond();
    };
    let reply = match parse(&body) {
        Ok(call) => match call.method.as_str() {
            "printer.objects.subscribe" | "server.connection.identify" => {
                call.failed(&MoonrakerError::new(404, "Not Found"))
            }
            _ => call.run(host).await,
        },
        Err(error) => error,
    };
    answer(StatusCode::OK, &reply)
}

/// Handles `GET /websocket`: opens the WebSocket for JSON-RPC.
pub(super) async fn upgrade(
    State(host): State<MoonrakerHost>,
    headers: HeaderMap,
    uri: Uri,
    upgrade: WebSocketUpgrade,
) -> Response {
    let authorised = host.is_authorised(&headers, &uri);
    upgrade.on_upgrade(move |socket| async move {
        let sockets = host.state.sockets.clone();
        sockets.fetch_add(1, Ordering::Relaxed);
        let (connections, (sender, receiver)) = (host.state.connections.clone(), mpsc::unbounded_channel());
        let id = NUMBERS.fetch_add(1, Ordering::Relaxed);
        connections.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        let log_seen = host.printer.with(|machine| machine.log().len());
        let spoolman = host.spoolman_shown();
        SocketSession { host, id, authorised, identified: false, subscription: None, log_seen, klippy: None, spoolman }
            .run(socket, receiver)
            .await;
        connections.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        sockets.fetch_sub(1, Ordering::Relaxed);
    })
}

/// Handles `POST /printer/objects/subscribe`, which subscribes the open WebSocket given by `connection_id`.
pub(super) async fn subscribe_over_http(State(host): State<MoonrakerHost>, request: Request) -> Response {
    let subscribed = async {
        let params = super::arguments("printer.objects.subscribe", request).await?;
        let number = params.get("connection_id").and_then(Value::as_u64);
        let number = number.ok_or_else(|| MoonrakerError::new(400, "No data for argument: connection_id"))?;
        let snapshot = host.query(&params)?;
        let connections = host.state.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let is_sent = connections.get(&number).is_some_and(|connection| connection.send(params).is_ok());
        if is_sent { Ok(snapshot) } else { Err(MoonrakerError::new(400, "Unable to find connection")) }
    };
    match subscribed.await {
        Ok(snapshot) => answer(StatusCode::OK, &json!({"result": snapshot})),
        Err(error) => error.respond(),
    }
}

/// JSON-RPC request received on the WebSocket.
struct Call {
    id: Value,
    method: String,
    params: Map<String, Value>,
}

impl Call {
    fn done(&self, result: &Value) -> Value {
        json!({"jsonrpc": "2.0", "result": result, "id": self.id})
    }

    fn failed(&self, error: &MoonrakerError) -> Value {
        json!({"jsonrpc": "2.0", "error": error.rpc(), "id": self.id})
    }

    async fn run(self, host: MoonrakerHost) -> Value {
        match host.call(&self.method, &self.params).await {
            Ok(result) => self.done(&result),
            Err(error) => self.failed(&error),
        }
    }
}

fn parse(text: &[u8]) -> Result<Call, Value> {
    let refuse =
        |code: i64, message: &str| json!({"jsonrpc": "2.0", "error": {"code": code, "message": message}, "id": null});
    let Ok(request) = bounded_json::read(text, bounded_json::REQUEST) else {
        return Err(refuse(-32700, "Parse error"));
    };
    let (Some("2.0"), Some(method)) = (request["jsonrpc"].as_str(), request["method"].as_str()) else {
        return Err(refuse(-32600, "Invalid Request"));
    };
    Ok(Call {
        id: request["id"].clone(),
        method: method.to_owned(),
        params: request["params"].as_object().cloned().unwrap_or_default(),
    })
}

struct StatusSubscription {
    selection: Map<String, Value>,
    last: Map<String, Value>,
}

struct SocketSession {
    host: MoonrakerHost,
    id: u64,
    authorised: bool,
    identified: bool,
    subscription: Option<StatusSubscription>,
    log_seen: usize,
    /// Klipper's state as of the last notification.
    klippy: Option<Controller>,
    /// Active spool and connection state of Spoolman, as of the last notification.
    spoolman: Option<(Option<i64>, bool)>,
}

impl SocketSession {
    async fn run(mut self, mut socket: WebSocket, mut requests: mpsc::UnboundedReceiver<RpcParams>) {
        let printer = self.host.printer.clone();
        let mut revised = printer.revisions();
        let mut sampling = push_interval(SAMPLING_INTERVAL);
        let mut running: FuturesUnordered<BoxFuture<'static, Value>> = FuturesUnordered::new();
        self.klippy = Some(printer.with(|machine| machine.controller().clone()));
        loop {
            // While the printer hangs, nothing is read and nothing is sent.
            printer.until(|machine| !machine.faults().hang).await;
            let outgoing = tokio::select! {
                biased; // what is asked comes before what is told
                received = socket.recv() => match received {
                    Some(Ok(Message::Text(text))) => self.receive(text.as_bytes(), &mut running).into_iter().collect(),
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                    Some(Ok(_)) => Vec::new(),
                },
                Some(reply) = running.next() => vec![reply],
                changed = revised.changed() => match changed {
                    Ok(()) => self.news(),
                    Err(_) => return,
                },
                Some(params) = requests.recv() => {
                    // Whoever asked has been told of a failure.
                    let _ = self.subscribe(&params);
                    Vec::new()
                }
                _ = sampling.tick(), if self.subscription.is_some() => self.sample().into_iter().collect(),
            };
            if !push(&printer, &mut socket, outgoing).await {
                return;
            }
        }
    }

    /// Responds to a call immediately, or adds it to the running calls.
    fn receive(&mut self, text: &[u8], running: &mut FuturesUnordered<BoxFuture<'static, Value>>) -> Option<Value> {
        let call = match parse(text) {
            Ok(call) => call,
            Err(error) => return Some(error),
        };
        let now = match call.method.as_str() {
            "server.connection.identify" => self.identify(&call.params),
            _ if !self.authorised => Err(MoonrakerError::new(401, "Unauthorized")),
            "printer.objects.subscribe" => self.subscribe(&call.params),
            _ => {
                running.push(Box::pin(call.run(self.host.clone())));
                return None;
            }
        };
        Some(match now {
            Ok(result) => call.done(&result),
            Err(error) => call.failed(&error),
        })
    }

    fn identify(&mut self, params: &Map<String, Value>) -> Result<Value, MoonrakerError> {
        if self.identified {
            return Err(MoonrakerError::new(400, "Connection already identified"));
        }
        for name in ["client_name", "version", "type", "url"] {
            super::methods::text(params, name)?;
        }
        if let Some(key) = params.get("api_key").and_then(Value::as_str) {
            if !self.host.is_key(Some(key)) {
                return Err(MoonrakerError::new(401, "Unauthorized"));
            }
            self.authorised = true;
        }
        if !self.authorised {
            return Err(MoonrakerError::new(401, "Unauthorized"));
        }
        self.identified = true;
        Ok(json!({"connection_id": self.id}))
    }

    /// Replaces the previous subscription; an empty subscription cancels it.
    fn subscribe(&mut self, params: &Map<String, Value>) -> Result<Value, MoonrakerError> {
        let snapshot = self.host.query(params)?;
        let selection = params.get("objects").and_then(Value::as_object).cloned().unwrap_or_default();
        let last = snapshot["status"].as_object().cloned().unwrap_or_default();
        self.subscription = (!selection.is_empty()).then_some(StatusSubscription { selection, last });
        Ok(snapshot)
    }

    fn sample(&mut self) -> Option<Value> {
        let subscription = self.subscription.as_mut()?;
        let (after, time) = self
            .host
            .printer
            .with(|machine| (objects::select(&objects::all(machine), &subscription.selection), machine.uptime()));
        let delta = objects::delta(&subscription.last, &after);
        subscription.last = after;
        (!delta.is_empty())
            .then(|| json!({"jsonrpc": "2.0", "method": "notify_status_update", "params": [delta, time]}))
    }

    /// Returns the notifications to send about changes since the last ones.
    fn news(&mut self) -> Vec<Value> {
        let first_unseen = self.log_seen;
        let (entries, controller) = self.host.printer.with(|machine| {
            (machine.log()[first_unseen.min(machine.log().len())..].to_vec(), machine.controller().clone())
        });
        self.log_seen += entries.len();
        let mut news = Vec::new();
        if self.authorised {
            for entry in entries {
                news.extend(self.notification(&entry.what));
            }
        }
        if self.klippy.as_ref() != Some(&controller) {
            let method = match &controller {
                Controller::Ready => "notify_klippy_ready",
                Controller::Halted { .. } => "notify_klippy_shutdown",
                // A restart ends the connection too.
                Controller::Away(_) | Controller::Closed | Controller::Starting => "notify_klippy_disconnected",
            };
            if matches!(controller, Controller::Away(_) | Controller::Closed | Controller::Starting) {
                self.subscription = None;
            }
            self.klippy = Some(controller);
            if self.authorised {
                news.push(json!({"jsonrpc": "2.0", "method": method}));
            }
        }
        let spoolman = self.host.spoolman_shown();
        if let Some((spool, connected)) = spoolman.filter(|now| self.authorised && self.spoolman != Some(*now)) {
            for (method, what) in [
                ("notify_active_spool_set", json!({"spool_id": spool})),
                ("notify_spoolman_status_changed", json!({"spoolman_connected": connected})),
            ] {
                news.push(json!({"jsonrpc": "2.0", "method": method, "params": [what]}));
            }
        }
        self.spoolman = spoolman;
        news.extend(self.sample());
        news
    }

    fn notification(&self, what: &PhysicalEvent) -> Option<Value> {
        let notify =
            |method: &str, params: Value| Some(json!({"jsonrpc": "2.0", "method": method, "params": [params]}));
        match what {
            PhysicalEvent::Uploaded { filename, bytes } => notify(
                "notify_filelist_changed",
                json!({"action": "create_file", "item": {"path": filename, "root": "gcodes", "size": bytes}}),
            ),
            PhysicalEvent::Deleted { filename } => notify(
                "notify_filelist_changed",
                json!({"action": "delete_file", "item": {"path": filename, "root": "gcodes", "size": 0}}),
            ),
            PhysicalEvent::Started { filename } => {
                notify("notify_history_changed", json!({"action": "added", "job": self.last_job_of(filename)}))
            }
            PhysicalEvent::Finished { filename }
            | PhysicalEvent::Cancelled { filename }
            | PhysicalEvent::Failed { filename, .. }
            | PhysicalEvent::Interrupted { filename } => {
                notify("notify_history_changed", json!({"action": "finished", "job": self.last_job_of(filename)}))
            }
            PhysicalEvent::Gcode { line } => notify("notify_gcode_response", json!(format!("// {line}"))),
            _ => None,
        }
    }

    fn last_job_of(&self, filename: &str) -> Value {
        self.host.printer.with(|machine| {
            machine
                .history()
                .iter()
                .rev()
                .find(|record| record.filename == filename)
                .map_or(Value::Null, |record| history::job(machine, record))
        })
    }
}
