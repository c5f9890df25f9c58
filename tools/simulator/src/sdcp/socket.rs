//! WebSocket of the printer: requests with their responses, and pushed status messages.

use std::{sync::atomic::Ordering, time::Duration};

use axum::{
    extract::{
        State,
        ws::{Message, WebSocket, WebSocketUpgrade},
    },
    response::Response,
};
use serde_json::{Value, json};

use super::{MAX_SOCKETS, SdcpHost, files, status};
use crate::{
    printer::{CommandError, DeleteError, Machine, PrintPhase},
    wire::{push, push_interval},
};

/// Interval between pushed status messages.
const PUSH_INTERVAL: Duration = Duration::from_secs(1);
/// Required fields of a request to start a print.
const START_MEMBERS: [&str; 6] =
    ["Filename", "StartLayer", "Calibration_switch", "PrintPlatformType", "Tlp_Switch", "slot_map"];

/// Guard that counts an open socket until dropped.
struct SocketGuard(SdcpHost);

impl Drop for SocketGuard {
    fn drop(&mut self) {
        self.0.state.sockets.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Handles `GET /websocket`, which opens the WebSocket.
pub(super) async fn upgrade(State(host): State<SdcpHost>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(|socket| async move {
        let open = host.state.sockets.fetch_add(1, Ordering::SeqCst) + 1;
        let _counted = SocketGuard(host.clone());
        host.printer.sockets_are(open);
        if open > MAX_SOCKETS {
            host.crash();
        }
        run(&host, socket).await;
    })
}

async fn run(host: &SdcpHost, mut socket: WebSocket) {
    let printer = host.printer.clone();
    let mut revised = printer.revisions();
    let mut ticks = push_interval(PUSH_INTERVAL);
    let mut outgoing = vec![host.attributes()];
    loop {
        if !push(&printer, &mut socket, outgoing.drain(..)).await {
            return;
        }
        // While the printer hangs, nothing is read and nothing is sent.
        printer.until(|machine| !machine.faults().hang).await;
        tokio::select! {
            biased; // what is asked comes before what is told
            received = socket.recv() => match received {
                Some(Ok(Message::Text(text))) if text.as_str() == "ping" => {
                    if socket.send(Message::Text("pong".into())).await.is_err() {
                        return;
                    }
                }
                Some(Ok(Message::Text(text))) => {
                    printer.count_request();
                    outgoing = host.answer(text.as_str());
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => {}
            },
            changed = revised.changed() => {
                if changed.is_err() {
                    return;
                }
                outgoing.push(host.status());
            }
            _ = ticks.tick() => outgoing.push(host.status()),
        }
    }
}

impl SdcpHost {
    fn status(&self) -> Value {
        let (status, at) = self.printer.with(|machine| (status::of(machine), machine.now_at().as_second()));
        let topic = format!("sdcp/status/{}", self.name);
        json!({"Status": status, "MainboardID": &*self.name, "TimeStamp": at, "Topic": topic})
    }

    fn attributes(&self) -> Value {
        let attributes = json!({
            "Name": &*self.name, "MachineName": "Centauri Carbon", "BrandName": "ELEGOO", "ProtocolVersion": "V3.0.0",
            "FirmwareVersion": "V1.1.46", "XYZsize": "256x256x256", "MainboardID": &*self.name,
            "SupportFileType": ["GCODE"], "Capabilities": ["FILE_TRANSFER", "PRINT_CONTROL", "VIDEO_STREAM"],
        });
        let topic = format!("sdcp/attributes/{}", self.name);
        json!({"Attributes": attributes, "MainboardID": &*self.name, "Topic": topic})
    }

    /// Returns the messages sent in response to a request; empty if the request crashes the program.
    fn answer(&self, text: &str) -> Vec<Value> {
        let Ok(request) = bounded_json::read(text.as_bytes(), bounded_json::REQUEST) else { return Vec::new() };
        let (Some(command), Some(id)) = (request["Data"]["Cmd"].as_u64(), request["Data"]["RequestID"].as_str()) else {
            return Vec::new();
        };
        let data = &request["Data"]["Data"];
        let on = [PrintPhase::Printing, PrintPhase::Pausing, PrintPhase::Paused, PrintPhase::Resuming];
        let acknowledged = self.printer.with(|machine| match command {
            0 | 1 | 258 => Some(0),
            128 if START_MEMBERS.iter().all(|member| data.get(member).is_some()) => Some(start(machine, data)),
            129 => Some(turn(machine, &[PrintPhase::Printing, PrintPhase::Resuming], Machine::pause)),
            130 => Some(turn(machine, &on, Machine::cancel)),
            131 => Some(turn(machine, &[PrintPhase::Paused, PrintPhase::Pausing], Machine::resume)),
            259 => Some(delete(machine, data)),
            _ => None,
        });
        let Some(acknowledged) = acknowledged else {
            self.crash();
            return Vec::new();
        };
        let mut answer = json!({"Ack": acknowledged});
        if command == 258 {
            answer["FileList"] = self.printer.with(|machine| files::list(machine));
        }
        let after = match command {
            0 => Some(self.status()),
            1 => Some(self.attributes()),
            _ => None,
        };
        let answer = json!({
            "Id": &*self.name,
            "Data": {"Cmd": command, "Data": answer, "RequestID": id, "MainboardID": &*self.name},
            "Topic": format!("sdcp/response/{}", self.name),
        });
        std::iter::once(answer).chain(after).collect()
    }
}

/// Returns a file's name without the path of its storage.
fn name(path: &Value) -> &str {
    let path = path.as_str().unwrap_or_default();
    path.strip_prefix("/local/").unwrap_or(path)
}

fn start(machine: &mut Machine, data: &Value) -> u8 {
    let name = name(&data["Filename"]).to_owned();
    if machine.files().get(&name).is_none() {
        return 2;
    }
    if machine.job().is_some() {
        return 1;
    }
    match machine.start(&name) {
        Ok(()) => 0,
        Err(CommandError::NoFile) => 2,
        Err(CommandError::NotReady | CommandError::Busy) => 1,
        Err(CommandError::Refused) => 4,
    }
}

fn turn(machine: &mut Machine, from: &[PrintPhase], act: fn(&mut Machine) -> Result<bool, CommandError>) -> u8 {
    let may = machine.job().is_some_and(|job| from.contains(&job.phase));
    u8::from(!(may && act(machine) == Ok(true)))
}

/// Deletes files. Even a file being printed is deleted, which ends its print.
fn delete(machine: &mut Machine, data: &Value) -> u8 {
    let names: Vec<String> =
        data["FileList"].as_array().into_iter().flatten().map(|path| name(path).to_owned()).collect();
    for name in names {
        if machine.delete(&name) == Err(DeleteError::InUse) {
            let _ = machine.cancel();
            let _ = machine.delete(&name);
        }
    }
    0
}
