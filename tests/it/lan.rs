//! Printers in LAN mode and foreign programs: a real client against the simulated printer, and the server against a
//! real broker and a real FTPS server. Left out only where nobody gave the programs and nobody asked for services.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use rumqttc::{AsyncClient, Event, MqttOptions, Packet, QoS};
use serde_json::{Value, json};
use simulator::gcode::package;
use tempfile::TempDir;

use crate::support::db::SERVICES;
use crate::support::{App, Db, until};

/// A Python environment with `bambulabs_api` in it.
const BAMBULABS_API: &str = "PRINTFLOOR_TEST_BAMBULABS_API";
/// Set where `vsftpd` and `mosquitto` are installed.
const LAN_SERVERS: &str = "PRINTFLOOR_TEST_LAN_SERVERS";
const SERIAL: &str = "01S00A123456";
const CODE: &str = "12345678";

/// The value of a variable that names a program; `None` where there is none and nobody asked for services.
fn given(variable: &str) -> Option<String> {
    let given = std::env::var(variable).ok();
    assert!(given.is_some() || std::env::var_os(SERVICES).is_none(), "{SERVICES} is set and {variable} is not");
    if given.is_none() {
        eprintln!("left out: no {variable}");
    }
    given
}

fn script(name: &str, args: &[&str]) -> Output {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/peers").join(name);
    Command::new("timeout").arg("120").arg(script).args(args).output().unwrap()
}

fn folder() -> TempDir {
    tempfile::Builder::new().prefix("printfloor-lan-").tempdir().unwrap()
}

#[test]
fn a_foreign_client_drives_the_simulated_printer() {
    let Some(venv) = given(BAMBULABS_API) else { return };
    let dir = folder();
    let file = dir.path().join("part.gcode.3mf");
    std::fs::write(&file, package("part", 600, 4.0, 1320.0)).unwrap();
    let done = script("bambulabs_api", &["drive", &venv, env!("CARGO_BIN_EXE_printfloor"), file.to_str().unwrap()]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let seen: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(seen["line"]["baseUrl"], "mqtts://127.0.0.1:8883?ftps=990");
    assert!(seen["wrongCode"].as_str().unwrap().starts_with("530"), "{seen}");
    assert_eq!(seen["tray"], json!(["PLA", "FF7A1AFF", "GFA00"]));
    assert!(seen["upload"].as_str().unwrap().starts_with("226"), "{seen}");
    assert!(seen["listed"].as_array().unwrap().contains(&json!("part.gcode.3mf")), "{seen}");
    assert_eq!((&seen["layers"], &seen["file"], &seen["percent"]), (&json!(10), &json!("part.gcode.3mf"), &json!(100)));
    assert!(seen["deleted"].as_str().unwrap().starts_with("250"), "{seen}");
    let log: Vec<&str> = seen["log"].as_array().unwrap().iter().map(|what| what.as_str().unwrap()).collect();
    let first = ["uploaded", "started", "fed", "paused", "gcode", "resumed", "finished"];
    let second = ["started", "fed", "cancelled", "deleted"];
    assert_eq!(log, [&first[..], &second[..]].concat());
}

/// A real broker and a real FTPS server, in which the test plays the printer.
struct Servers {
    broker: TempDir,
    storage: TempDir,
    url: String,
    plain: u16,
}

impl Servers {
    fn start() -> Option<Self> {
        given(LAN_SERVERS)?;
        let ports: Vec<TcpListener> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let [broker, plain, ftps] = [0, 1, 2].map(|n: usize| ports[n].local_addr().unwrap().port());
        drop(ports);
        let servers =
            Self { broker: folder(), storage: folder(), url: format!("mqtts://127.0.0.1:{broker}?ftps={ftps}"), plain };
        let (broker, plain, ftps) = (broker.to_string(), plain.to_string(), ftps.to_string());
        let dir = |dir: &TempDir| dir.path().to_str().unwrap().to_owned();
        let start = |name: &str, args: &[&str]| {
            let started = script(name, args);
            assert!(started.status.success(), "{name}: {}", String::from_utf8_lossy(&started.stderr));
        };
        start("mosquitto", &["start", &dir(&servers.broker), &broker, &plain, SERIAL, CODE]);
        // A printer shows the same certificate at both ports.
        for file in ["key.pem", "cert.pem"] {
            std::fs::copy(servers.broker.path().join(file), servers.storage.path().join(file)).unwrap();
        }
        start("vsftpd", &["start", &dir(&servers.storage), &ftps, SERIAL, CODE]);
        Some(servers)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.storage.path().join("root").join(name)
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        script("mosquitto", &["stop", self.broker.path().to_str().unwrap()]);
        script("vsftpd", &["stop", self.storage.path().to_str().unwrap()]);
    }
}

/// Plays a printer at a broker until it is dropped: answers everything, and prints what it is told at once and for
/// ever.
fn play(plain: u16) -> tokio::task::JoinHandle<()> {
    let mut options = MqttOptions::new("printer", "127.0.0.1", plain);
    options.set_credentials("bblp", CODE).set_keep_alive(Duration::from_secs(30));
    tokio::spawn(async move {
        let (client, mut events) = AsyncClient::new(options, 16);
        client.subscribe(format!("device/{SERIAL}/request"), QoS::AtLeastOnce).await.unwrap();
        let mut state = json!({
            "command": "push_status", "msg": 0, "gcode_state": "IDLE", "mc_percent": 0, "mc_remaining_time": 0, "print_error": 0,
            "nozzle_temper": 22.0, "bed_temper": 22.0, "subtask_id": "0", "gcode_file": "", "subtask_name": "", "hms": [],
            "ams": {"ams": []}, "vt_tray": {"id": "254", "tray_type": "PLA", "tray_color": "1B1B22FF", "remain": 100},
        });
        loop {
            let Ok(Event::Incoming(Packet::Publish(request))) = events.poll().await else { continue };
            let asked: Value = serde_json::from_slice(&request.payload).unwrap();
            let mut answers = Vec::new();
            if asked["info"].is_object() {
                answers.push(json!({"info": {
                    "command": "get_version", "sequence_id": asked["info"]["sequence_id"], "result": "success",
                    "module": [{"name": "ota", "sw_ver": "01.09.00.00", "sn": SERIAL}],
                }}));
            }
            if asked["print"].is_object() {
                let mut answer = asked["print"].clone();
                answer["result"] = "success".into();
                if answer["command"] == "project_file" {
                    state["gcode_state"] = "RUNNING".into();
                    state["subtask_id"] = answer["subtask_id"].clone();
                    state["subtask_name"] = answer["subtask_name"].clone();
                    state["gcode_file"] = answer["file"].clone();
                }
                answers.push(json!({"print": answer}));
            }
            answers.push(json!({"print": state}));
            for answer in answers {
                let topic = format!("device/{SERIAL}/report");
                client.publish(topic, QoS::AtMostOnce, false, answer.to_string()).await.unwrap();
            }
        }
    })
}

fn is_whole(path: &Path, bytes: &[u8]) -> bool {
    std::fs::read(path).is_ok_and(|read| read == bytes)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_prints_through_a_real_broker_and_a_real_file_server() {
    let Some(servers) = Servers::start() else { return };
    let printer = play(servers.plain);
    let app = App::new(Db::sqlite()).await;
    let body = json!({
        "name": "foreign", "type": "mqtt_lan", "machineType": "fdm_standard", "baseUrl": servers.url, "apiKey": CODE,
        "serial": SERIAL, "buildVolume": {"x": 220, "y": 220, "z": 250}, "autoClear": true,
    });
    let id = app.post("/api/printers", &body).await.expect(201)["id"].as_str().unwrap().to_owned();
    app.connected(&id).await;
    // Large enough for many records of TLS.
    let filling = "; filling\n".repeat(50_000);
    let bytes = simulator::gcode::package_of(&[&(simulator::gcode::orca_gcode("vase", 600, 1.0, 300.0) + &filling)]);
    let file = app.upload("vase.gcode.3mf", bytes.clone()).await.expect(201)["id"].clone();
    let put = app.post(&format!("/api/printers/{id}/files"), &json!({"fileId": file})).await.expect(201);
    let name = put["filename"].as_str().unwrap().to_owned();
    assert!(is_whole(&servers.file(&name), &bytes), "{name} is on the storage as it was sent");
    let listed = app.get(&format!("/api/printers/{id}/files")).await.expect(200);
    assert_eq!(listed["files"][0]["path"], name.as_str(), "{listed}");

    let material = app.material("PLA black", 1_000.0).await;
    let sku = app.sku("VASE", &material, file.as_str().unwrap(), 500).await;
    let order = app.paid_order(&sku, 1).await;
    let job = app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
    app.job_is(&job, "PRINTING").await;
    let sent = until("the package of the job", || async {
        let mut files = std::fs::read_dir(servers.file("")).unwrap().map(|entry| entry.unwrap().path());
        files.find(|path| path.file_name().unwrap() != name.as_str() && is_whole(path, &bytes))
    });
    sent.await;
    printer.abort();
}
