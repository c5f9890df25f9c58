//! Push socket, offered as a raw WebSocket below `/sockjs/`.

use std::time::Duration;

use axum::{
    Json,
    extract::{
        State,
        ws::{Message, WebSocket, WebSocketUpgrade},
    },
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use super::{OctoprintHost, USER, files::name_of, job, printer};
use crate::{
    gcode::is_known,
    printer::{Machine, PhysicalEvent},
    wire::{push, push_interval},
};

/// Minimum interval between `current` messages.
const MIN_PUSH_INTERVAL: Duration = Duration::from_millis(500);

/// Handles `GET /sockjs/info`, from which `SockJS` clients learn that WebSockets are supported.
pub(super) async fn info() -> Response {
    Json(json!({"websocket": true, "origins": ["*:*"], "cookie_needed": false, "entropy": 1_684_303_561}))
        .into_response()
}

/// Handles `GET /sockjs/websocket`: opens the WebSocket on which the server pushes its state.
pub(super) async fn upgrade(State(host): State<OctoprintHost>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(|socket| run(host, socket))
}

async fn run(host: OctoprintHost, mut socket: WebSocket) {
    let printer = host.printer.clone();
    let mut revised = printer.revisions();
    let mut seen_entries = printer.with(|machine| machine.log().len());
    let mut authorised = false;
    let mut logs: Vec<String> = Vec::new();
    let mut ticks = push_interval(MIN_PUSH_INTERVAL);
    let mut outgoing = vec![
        json!({"connected": {"version": "1.11.8", "display_version": "1.11.8", "branch": null, "plugin_hash": "0", "config_hash": "0", "debug": false, "safe_mode": null, "permissions": []}}),
    ];
    loop {
        if !push(&printer, &mut socket, outgoing.drain(..)).await {
            return;
        }
        // While the printer hangs, nothing is read and nothing is sent.
        printer.until(|machine| !machine.faults().hang).await;
        tokio::select! {
            biased; // what is asked comes before what is told
            received = socket.recv() => match received {
                Some(Ok(Message::Text(text))) => {
                    if let Some(right) = auth(&host, text.as_str()) {
                        authorised = right;
                        outgoing.push(if right {
                            json!({"history": printer.with(current)})
                        } else {
                            json!({"reauthRequired": {"reason": "stale"}})
                        });
                    } else if let Some(factor) = throttle(text.as_str()) {
                        ticks = push_interval(MIN_PUSH_INTERVAL * factor);
                    }
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => {}
            },
            changed = revised.changed() => {
                if changed.is_err() {
                    return;
                }
                let entries = printer.with(|machine| machine.log()[seen_entries.min(machine.log().len())..].to_vec());
                seen_entries += entries.len();
                let warm = printer.with(|machine| machine.temperatures().report());
                logs.extend(entries.iter().flat_map(|entry| terminal(&entry.what, &warm)));
                if authorised {
                    outgoing.extend(entries.iter().flat_map(|entry| events(&entry.what)));
                }
            }
            _ = ticks.tick(), if authorised => {
                let mut now = printer.with(current);
                now["logs"] = logs.drain(..).collect();
                outgoing.push(json!({ "current": now }));
            }
        }
    }
}

/// Returns whether a message authenticates with a valid session; `None` for other messages (`subscribe`,
/// `throttle`).
fn auth(host: &OctoprintHost, text: &str) -> Option<bool> {
    let message = bounded_json::read(text.as_bytes(), bounded_json::REQUEST).ok()?;
    let (user, session) = message.get("auth")?.as_str()?.split_once(':')?;
    Some(user == USER && host.is_session(session))
}

/// Returns the factor by which a message slows `current` messages down; `None` for other messages.
fn throttle(text: &str) -> Option<u32> {
    let message = bounded_json::read(text.as_bytes(), bounded_json::REQUEST).ok()?;
    message.get("throttle")?.as_u64().and_then(|factor| u32::try_from(factor).ok()).filter(|factor| *factor > 0)
}

fn current(machine: &mut Machine) -> Value {
    let time = machine.now_at().as_second();
    let mut temperatures = printer::temperatures(machine);
    temperatures["time"] = json!(time);
    json!({
        "state": printer::state(machine),
        "job": job::job(machine),
        "progress": job::progress(machine),
        "currentZ": null,
        "offsets": {},
        "resends": {"count": 0, "transmitted": 0, "ratio": 0},
        "temps": [temperatures],
        "logs": [],
        "messages": [],
        "busyFiles": machine.job().map(|job| json!({"origin": "local", "path": job.filename})).into_iter().collect::<Vec<_>>(),
        "serverTime": time,
    })
}

/// Returns the terminal lines for a command: the command as sent, and the firmware's response. `warm` is the text with
/// the temperatures.
fn terminal(what: &PhysicalEvent, warm: &str) -> Vec<String> {
    let PhysicalEvent::Gcode { line } = what else { return Vec::new() };
    let unknown = (!is_known(line)).then(|| format!("Recv: echo:Unknown command: \"{line}\""));
    let ok = if line.eq_ignore_ascii_case("M105") { format!("Recv: ok {warm}") } else { "Recv: ok".to_owned() };
    [Some(format!("Send: {line}")), unknown, Some(ok)].into_iter().flatten().collect()
}

/// Returns the `OctoPrint` events for a log entry.
fn events(what: &PhysicalEvent) -> Vec<Value> {
    let event = |kind: &str, payload: Value| json!({"event": {"type": kind, "payload": payload}});
    let file = |path: &str| json!({"name": name_of(path), "path": path, "origin": "local"});
    let failed = |path: &str, reason: &str| {
        let mut payload = file(path);
        payload["reason"] = json!(reason);
        event("PrintFailed", payload)
    };
    match what {
        PhysicalEvent::Started { filename } => vec![event("PrintStarted", file(filename))],
        PhysicalEvent::Finished { filename } => vec![event("PrintDone", file(filename))],
        PhysicalEvent::Cancelled { filename } => {
            vec![event("PrintCancelled", file(filename)), failed(filename, "cancelled")]
        }
        PhysicalEvent::Failed { filename, .. } | PhysicalEvent::Interrupted { filename } => {
            vec![failed(filename, "error")]
        }
        PhysicalEvent::Paused { filename } => vec![event("PrintPaused", file(filename))],
        PhysicalEvent::Resumed { filename } => vec![event("PrintResumed", file(filename))],
        PhysicalEvent::Uploaded { filename, .. } => vec![event("Upload", file(filename))],
        PhysicalEvent::Deleted { filename } => vec![event("FileRemoved", file(filename))],
        PhysicalEvent::EmergencyStop => vec![event("EStop", Value::Null), event("Disconnected", Value::Null)],
        PhysicalEvent::FirmwareShutdown => {
            vec![event("Error", json!({"error": "firmware shutdown", "reason": "firmware"}))]
        }
        PhysicalEvent::Disconnected | PhysicalEvent::Rebooted => vec![event("Disconnected", Value::Null)],
        PhysicalEvent::Restarted => vec![event("Connected", json!({"port": "VIRTUAL", "baudrate": 115_200}))],
        PhysicalEvent::Homed { .. } => vec![event("Home", Value::Null)],
        PhysicalEvent::LateStartFellThrough { .. }
        | PhysicalEvent::Fed { .. }
        | PhysicalEvent::Connected
        | PhysicalEvent::Gcode { .. } => vec![],
    }
}
