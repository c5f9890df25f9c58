//! A printer that the test emulates, with a real broker and a real file server.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rumqttc::{AsyncClient, Event, MqttOptions, Packet, QoS};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::{CODE, LAN_SERVERS, SERIAL, find_program, folder, script};
use crate::support::ports::free_port;

/// A real broker and a real FTPS server, for which the test emulates the printer.
pub struct Servers {
    broker: TempDir,
    storage: TempDir,
    /// The printer's address.
    pub url: String,
    /// Ports of the broker: with TLS, and without.
    ports: [String; 2],
}

impl Servers {
    pub fn start() -> Option<Self> {
        find_program(LAN_SERVERS)?;
        let [broker, plain, ftps] = std::array::from_fn(|_| free_port());
        let url = format!("mqtts://127.0.0.1:{broker}?ftps={ftps}");
        let ports = [broker.to_string(), plain.to_string()];
        let servers = Self { broker: folder(), storage: folder(), url, ports };
        servers.start_broker();
        // A printer shows the same certificate at both ports.
        for file in ["key.pem", "cert.pem"] {
            std::fs::copy(servers.broker.path().join(file), servers.storage.path().join(file)).unwrap();
        }
        done("vsftpd", &["start", servers.storage.path().to_str().unwrap(), &ftps.to_string(), SERIAL, CODE]);
        Some(servers)
    }

    fn start_broker(&self) {
        let [port, plain] = &self.ports;
        done("mosquitto", &["start", self.broker.path().to_str().unwrap(), port, plain, SERIAL, CODE]);
    }

    /// Restarts the broker, which loses all client sessions.
    pub fn restart_broker(&self) {
        done("mosquitto", &["stop", self.broker.path().to_str().unwrap()]);
        self.start_broker();
    }

    /// Returns the path of a file in the printer's storage; an empty name returns its root folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.storage.path().join("root").join(name)
    }

    /// Lists the names of all files there.
    pub fn files(&self) -> Vec<String> {
        let all = std::fs::read_dir(self.file("")).unwrap();
        all.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        script("mosquitto", &["stop", self.broker.path().to_str().unwrap()]);
        script("vsftpd", &["stop", self.storage.path().to_str().unwrap()]);
    }
}

fn done(name: &str, args: &[&str]) {
    let done = script(name, args);
    assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A start command as the broker delivered it.
#[derive(Clone, Debug)]
pub struct Start {
    /// Quality of service of the delivery: the lower of those requested by publisher and subscriber.
    pub qos: QoS,
    /// Members of the command.
    pub members: Value,
}

/// Emulated printer, active until dropped: it answers everything, and a print runs until [`Self::finish`].
pub struct Played {
    client: AsyncClient,
    /// State that it reports.
    state: Arc<Mutex<Value>>,
    starts: Arc<Mutex<Vec<Start>>>,
    /// Number of requests for the whole state.
    requests: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Drop for Played {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn tray(slot: usize, color: &str) -> Value {
    json!({
        "id": slot.to_string(), "tray_type": "PLA", "tray_color": color, "tray_info_idx": "GFA00", "remain": 100,
        "tag_uid": "0".repeat(16), "cols": [color],
    })
}

impl Played {
    /// Connects to this broker, with spools of these colours in the material changer.
    pub fn at(servers: &Servers, colors: &[&str]) -> Self {
        let mut options = MqttOptions::new("printer", "127.0.0.1", servers.ports[1].parse().unwrap());
        options.set_credentials("bblp", CODE).set_keep_alive(Duration::from_secs(30));
        let (client, mut events) = AsyncClient::new(options, 16);
        let trays: Vec<Value> = colors.iter().enumerate().map(|(slot, color)| tray(slot, color)).collect();
        let state = Arc::new(Mutex::new(json!({
            "command": "push_status", "msg": 0, "gcode_state": "IDLE", "mc_percent": 0, "mc_remaining_time": 0, "print_error": 0,
            "nozzle_temper": 22.0, "bed_temper": 22.0, "subtask_id": "0", "gcode_file": "", "subtask_name": "", "hms": [],
            "ams": {"ams": [{"id": "0", "tray": trays}], "ams_exist_bits": "1", "tray_exist_bits": "3", "tray_now": "255"},
            "vt_tray": {"id": "254", "tray_type": "PLA", "tray_color": "1B1B22FF", "remain": 100},
        })));
        let (starts, requests) = (Arc::<Mutex<Vec<Start>>>::default(), Arc::<AtomicUsize>::default());
        let (speaks, shows, hears, counts) = (client.clone(), state.clone(), starts.clone(), requests.clone());
        let task = tokio::spawn(async move {
            loop {
                let request = match events.poll().await {
                    Ok(Event::Incoming(Packet::Publish(request))) => request,
                    // Whoever comes back is a new client to the broker.
                    Ok(Event::Incoming(Packet::ConnAck(_))) => {
                        speaks.subscribe(format!("device/{SERIAL}/request"), QoS::AtLeastOnce).await.unwrap();
                        continue;
                    }
                    Ok(_) => continue,
                    Err(_) => {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                };
                let message: Value = serde_json::from_slice(&request.payload).unwrap();
                counts.fetch_add(usize::from(message["pushing"].is_object()), SeqCst);
                let mut answers = Vec::new();
                if message["info"].is_object() {
                    answers.push(json!({"info": {
                        "command": "get_version", "sequence_id": message["info"]["sequence_id"], "result": "success",
                        "module": [{"name": "ota", "sw_ver": "01.09.00.00", "sn": SERIAL}],
                    }}));
                }
                if message["print"].is_object() {
                    let mut answer = message["print"].clone();
                    answer["result"] = "success".into();
                    if answer["command"] == "project_file" {
                        let mut state = shows.lock().unwrap();
                        (state["gcode_state"], state["mc_percent"]) = ("RUNNING".into(), 0.into());
                        state["subtask_id"] = answer["subtask_id"].clone();
                        state["subtask_name"] = answer["subtask_name"].clone();
                        state["gcode_file"] = answer["file"].clone();
                        hears.lock().unwrap().push(Start { qos: request.qos, members: message["print"].clone() });
                    }
                    answers.push(json!({"print": answer}));
                }
                answers.push(json!({"print": *shows.lock().unwrap()}));
                for answer in answers {
                    tell(&speaks, &answer).await;
                }
            }
        });
        Self { client, state, starts, requests, task }
    }

    /// Returns the start commands that it received, in order.
    pub fn starts(&self) -> Vec<Start> {
        self.starts.lock().unwrap().clone()
    }

    /// Returns the number of requests for the whole state.
    pub fn requests(&self) -> usize {
        self.requests.load(SeqCst)
    }

    /// Finishes the print and reports the end.
    pub async fn finish(&self) {
        let report = {
            let mut state = self.state.lock().unwrap();
            (state["gcode_state"], state["mc_percent"]) = ("FINISH".into(), 100.into());
            json!({"print": *state})
        };
        tell(&self.client, &report).await;
    }
}

async fn tell(client: &AsyncClient, report: &Value) {
    client.publish(format!("device/{SERIAL}/report"), QoS::AtMostOnce, false, report.to_string()).await.unwrap();
}

/// Returns whether a file contains exactly these bytes.
pub fn is_whole(path: &Path, bytes: &[u8]) -> bool {
    std::fs::read(path).is_ok_and(|read| read == bytes)
}
