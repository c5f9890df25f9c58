//! Printers in LAN mode and third-party programs: a real client with the simulated printer, and the server with a real
//! broker and a real FTPS server. Skipped if the programs are not installed and services are not required.

mod played;

use std::path::PathBuf;
use std::process::{Command, Output};

use rumqttc::QoS;
use serde_json::{Value, json};
use simulator::gcode::package;
use simulator::gcode::package::package_using;
use tempfile::TempDir;

use self::played::{Played, Servers, Start, is_whole};
use crate::support::db::SERVICES;
use crate::support::{App, Db, until};

/// Environment variable with the path of a Python environment that contains `bambulabs_api`.
const BAMBULABS_API: &str = "PRINTFLOOR_TEST_BAMBULABS_API";
/// Environment variable that is set if `vsftpd` and `mosquitto` are installed.
const LAN_SERVERS: &str = "PRINTFLOOR_TEST_LAN_SERVERS";
const SERIAL: &str = "01S00A123456";
const CODE: &str = "12345678";

/// Returns the value of a variable that names a program; `None` if it is not set and services are not required.
fn find_program(variable: &str) -> Option<String> {
    let program = std::env::var(variable).ok();
    assert!(program.is_some() || std::env::var_os(SERVICES).is_none(), "{SERVICES} is set and {variable} is not");
    if program.is_none() {
        eprintln!("left out: no {variable}");
    }
    program
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
    let Some(venv) = find_program(BAMBULABS_API) else { return };
    let dir = folder();
    let file = dir.path().join("part.gcode.3mf");
    std::fs::write(&file, package("part", 600, 4.0, 1320.0)).unwrap();
    let simulator = crate::cli::process::tool("printfloor-simulator");
    let done = script("bambulabs_api", &["drive", &venv, simulator.to_str().unwrap(), file.to_str().unwrap()]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let session: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(session["line"]["baseUrl"], "mqtts://127.0.0.1:8883?ftps=990");
    assert!(session["wrongCode"].as_str().unwrap().starts_with("530"), "{session}");
    assert_eq!(session["tray"], json!(["PLA", "FF7A1AFF", "GFA00"]));
    assert!(session["upload"].as_str().unwrap().starts_with("226"), "{session}");
    assert!(session["listed"].as_array().unwrap().contains(&json!("part.gcode.3mf")), "{session}");
    assert_eq!(
        (&session["layers"], &session["file"], &session["percent"]),
        (&json!(10), &json!("part.gcode.3mf"), &json!(100))
    );
    assert!(session["deleted"].as_str().unwrap().starts_with("250"), "{session}");
    let log: Vec<&str> = session["log"].as_array().unwrap().iter().map(|what| what.as_str().unwrap()).collect();
    let first = ["uploaded", "started", "fed", "paused", "gcode", "resumed", "finished"];
    let second = ["started", "fed", "cancelled", "deleted"];
    assert_eq!(log, [&first[..], &second[..]].concat());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_prints_through_a_real_broker_and_a_real_file_server() {
    let Some(servers) = Servers::start() else { return };
    let printer = Played::at(&servers, &["F4F1E6FF", "1B1B22FF"]);
    let app = App::new(Db::sqlite()).await;
    let body = json!({
        "name": "foreign", "type": "mqtt_lan", "machineType": "fdm_standard", "baseUrl": servers.url, "apiKey": CODE,
        "serial": SERIAL, "buildVolume": {"x": 220, "y": 220, "z": 250}, "autoClear": true,
    });
    let id = app.post("/api/printers", &body).await.expect(201)["id"].as_str().unwrap().to_owned();
    app.connected(&id).await;
    // Large enough for many records of TLS. The second plate is of two colours.
    let filling = "; filling\n".repeat(50_000);
    let code = simulator::gcode::orca_gcode("vase", 600, 1.0, 300.0) + &filling;
    let bytes = package_using(&[(&code, &[1]), (&code, &[1, 2])]);
    let file = app.upload("vase.gcode.3mf", bytes.clone()).await.expect(201)["id"].clone();
    let put = app.post(&format!("/api/printers/{id}/files"), &json!({"fileId": file})).await.expect(201);
    let name = put["filename"].as_str().unwrap().to_owned();
    assert!(is_whole(&servers.file(&name), &bytes), "{name} is on the storage as it was sent");
    let listed = app.get(&format!("/api/printers/{id}/files")).await.expect(200);
    assert_eq!(listed["files"][0]["path"], name.as_str(), "{listed}");

    let (black, white) = (app.material("PLA black", 1_000.0).await, app.material("PLA white", 1_000.0).await);
    for (slot, material) in [&white, &black].into_iter().enumerate() {
        app.bind_slot(&id, slot, &json!({"materialId": material})).await;
    }
    let sku = app.sku("VASE", &black, file.as_str().unwrap(), 500).await;
    let second = json!([{"materialId": white, "estimatedConsumption": 1, "filament": 1}]);
    app.patch(&format!("/api/skus/{sku}"), &json!({"plate": 2, "materials": second})).await.expect(200);
    for round in 1..=2 {
        let order = app.paid_order(&sku, 1).await;
        let job = app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
        app.job_is(&job, "PRINTING").await;
        let starts = printer.starts();
        assert_eq!(starts.len(), round, "each is started once: {starts:?}");
        let Start { qos, members } = starts.last().unwrap();
        assert_eq!(*qos, QoS::AtMostOnce, "a start that a broker delivers again makes a part twice");
        assert_eq!(
            (&members["param"], &members["use_ams"], &members["ams_mapping"]),
            (&json!("Metadata/plate_2.gcode"), &json!(true), &json!([1, 0]))
        );
        let sent = members["file"].as_str().unwrap();
        assert_eq!(members["url"], format!("ftp://{sent}"));
        assert!(
            is_whole(&servers.file(sent), &bytes),
            "what is started is there, as it was sent: {:?}",
            servers.files()
        );
        if round == 1 {
            // It hears the printer again on a broker that has forgotten it.
            let before = printer.requests();
            servers.restart_broker();
            until("the server to come back", || async { (printer.requests() > before).then_some(()) }).await;
        }
        printer.finish().await;
        app.order_is(&order, "ready").await;
        until("our file to be gone", || async { (servers.files() == [name.clone()]).then_some(()) }).await;
    }
    let numbers: Vec<Value> = printer.starts().iter().map(|start| start.members["subtask_id"].clone()).collect();
    assert!(
        numbers[0] != numbers[1] && !numbers.contains(&json!("0")),
        "reports tell prints apart by these: {numbers:?}"
    );
}
