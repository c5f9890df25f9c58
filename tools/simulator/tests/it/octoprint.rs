use reqwest::StatusCode;
use serde_json::{Value, json};
use simulator::{
    faults::{Delay, HostDisconnect},
    gcode::gcode,
    printer::PhysicalEvent,
};

use crate::lab::{Lab, octo};

fn flags(printer: &Value) -> Vec<&str> {
    printer["state"]["flags"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, on)| **on == json!(true))
        .map(|(name, _)| name.as_str())
        .collect()
}

async fn command(lab: &Lab, body: Value) -> StatusCode {
    lab.post_json("/api/job", body).await.0
}

#[tokio::test]
async fn wrong_or_missing_key_is_403() {
    let lab = octo(1.0).await;
    let (status, body) = lab.send(lab.client.get(format!("{}/api/version", lab.base))).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert!(body["error"].as_str().unwrap().starts_with("You don't have the permission"));
    let bearer = lab.client.get(format!("{}/api/version", lab.base)).bearer_auth(&lab.printer.api_key);
    assert_eq!(lab.send(bearer).await.1["text"], "OctoPrint 1.11.8");
    assert_eq!(lab.get("/api/server").await.1, json!({"version": "1.11.8", "safemode": null}));
}

#[tokio::test]
async fn uploads_say_what_they_did() {
    let lab = octo(1.0).await;
    let (status, body) = lab.upload("my part.gcode", 100).await;
    assert_eq!(status, StatusCode::CREATED);
    assert_eq!(body["files"]["local"]["path"], "my_part.gcode", "names are made harmless on the server");
    assert_eq!(
        (&body["done"], &body["effectivePrint"], &body["effectiveSelect"]),
        (&json!(true), &json!(false), &json!(false))
    );
    let (_, body) =
        lab.send(lab.upload_request("b.gcode", gcode("b", 1000, 1.0, 10.0).into_bytes(), &[("print", "true")])).await;
    assert_eq!((&body["effectivePrint"], &body["effectiveSelect"]), (&json!(true), &json!(false)));
    let (status, body) =
        lab.send(lab.upload_request("c.gcode", gcode("c", 1000, 1.0, 10.0).into_bytes(), &[("print", "true")])).await;
    assert_eq!((status, &body["effectivePrint"]), (StatusCode::CREATED, &json!(false)), "busy: stored, not printed");
    assert_eq!(lab.upload("b.gcode", 5).await.0, StatusCode::CONFLICT, "in print: not replaced");
    assert_eq!(
        lab.send(lab.upload_request("notes.txt", b"x".to_vec(), &[])).await.0,
        StatusCode::UNSUPPORTED_MEDIA_TYPE
    );
}

#[tokio::test]
async fn a_finished_print_is_operational_at_exactly_100() {
    let lab = octo(1000.0).await;
    lab.upload("a.gcode", 100).await;
    assert_eq!(lab.start("a.gcode").await.0, StatusCode::NO_CONTENT);
    lab.finished().await;
    let job = lab.job().await;
    assert_eq!((&job["state"], &job["progress"]["completion"]), (&json!("Operational"), &json!(100.0)));
    assert_eq!(
        (&job["job"]["file"]["path"], &job["job"]["filament"]["tool0"]["length"]),
        (&json!("a.gcode"), &json!(1000.0))
    );
    let file = lab.get("/api/files/local/a.gcode").await.1;
    assert_eq!(
        (&file["prints"]["success"], &file["prints"]["failure"], &file["prints"]["last"]["success"]),
        (&json!(1), &json!(0), &json!(true))
    );
    assert_eq!(file["gcodeAnalysis"]["estimatedPrintTime"], 100.0);
}

#[tokio::test]
async fn a_cancelled_print_is_operational_at_null_and_stays_selected() {
    let lab = octo(1.0).await;
    lab.upload("a.gcode", 1000).await;
    lab.start("a.gcode").await;
    assert_eq!(lab.job().await["state"], "Printing");
    assert_eq!(command(&lab, json!({"command": "cancel"})).await, StatusCode::NO_CONTENT);
    let job = lab.job().await;
    assert_eq!(
        (&job["state"], &job["progress"]["completion"], &job["job"]["file"]["path"]),
        (&json!("Operational"), &Value::Null, &json!("a.gcode"))
    );
    assert_eq!(command(&lab, json!({"command": "cancel"})).await, StatusCode::CONFLICT);
}

#[tokio::test]
async fn wrong_states_are_409_and_unknown_files_404() {
    let lab = octo(1.0).await;
    lab.upload("a.gcode", 1000).await;
    assert_eq!(lab.start("none.gcode").await.0, StatusCode::NOT_FOUND);
    assert_eq!(command(&lab, json!({"command": "pause", "action": "pause"})).await, StatusCode::CONFLICT);
    lab.start("a.gcode").await;
    assert_eq!(command(&lab, json!({"command": "start"})).await, StatusCode::CONFLICT);
    assert_eq!(lab.start("a.gcode").await.0, StatusCode::CONFLICT);
    assert_eq!(lab.remove("a.gcode").await, StatusCode::CONFLICT);
    assert_eq!(command(&lab, json!({"command": "pause"})).await, StatusCode::NO_CONTENT, "no action toggles");
    assert_eq!(lab.job().await["state"], "Paused");
    assert_eq!(lab.remove("a.gcode").await, StatusCode::CONFLICT, "paused is in use");
    assert_eq!(lab.start("a.gcode").await.0, StatusCode::CONFLICT, "a paused print is not given up");
    assert_eq!(command(&lab, json!({"command": "pause", "action": "dance"})).await, StatusCode::BAD_REQUEST);
    assert_eq!(command(&lab, json!({"command": "restart"})).await, StatusCode::NO_CONTENT);
    assert_eq!(lab.starts("a.gcode"), 2);
    command(&lab, json!({"command": "cancel"})).await;
    assert_eq!(lab.remove("a.gcode").await, StatusCode::NO_CONTENT);
    assert_eq!(lab.remove("a.gcode").await, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn flags_overlap_while_pausing() {
    let lab = octo(1.0).await;
    lab.upload("a.gcode", 1000).await;
    assert_eq!(flags(&lab.get("/api/printer").await.1), ["operational", "ready"]);
    lab.start("a.gcode").await;
    lab.faults(|faults| faults.slow_commands = Some(Delay { after_ms: 1_500 }));
    command(&lab, json!({"command": "pause", "action": "pause"})).await;
    let printer = lab.get("/api/printer").await.1;
    assert_eq!(printer["state"]["text"], "Pausing");
    let mut on = flags(&printer);
    on.sort_unstable();
    assert_eq!(on, ["operational", "pausing", "printing"]);
    lab.logged(|what| matches!(what, PhysicalEvent::Paused { .. })).await;
    let mut on = flags(&lab.get("/api/printer?exclude=temperature,sd").await.1)
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    on.sort_unstable();
    assert_eq!(on, ["operational", "paused"]);
}

#[tokio::test]
async fn emergency_stop_closes_the_port_until_reconnected() {
    let lab = octo(100.0).await;
    lab.upload("a.gcode", 100_000).await;
    lab.start("a.gcode").await;
    assert_eq!(lab.post_json("/api/printer/command", json!({"command": "M112"})).await.0, StatusCode::NO_CONTENT);
    assert_eq!(lab.get("/api/printer").await.0, StatusCode::CONFLICT);
    let job = lab.job().await;
    assert_eq!(
        (&job["state"], &job["error"]),
        (&json!("Offline after error"), &json!("Closing serial port due to emergency stop M112."))
    );
    assert!(job["job"]["file"]["path"].is_null());
    assert_eq!(lab.start("a.gcode").await.0, StatusCode::CONFLICT);
    assert_eq!(
        lab.post_json("/api/connection", json!({"command": "connect", "port": "COM9"})).await.0,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(lab.post_json("/api/connection", json!({"command": "connect"})).await.0, StatusCode::NO_CONTENT);
    lab.logged(|what| *what == PhysicalEvent::Restarted).await;
    assert_eq!(lab.job().await["state"], "Operational");
    let log = lab.printer.handle.log();
    assert!(log.iter().any(|entry| entry.what == PhysicalEvent::EmergencyStop));
    assert!(
        log.iter().any(|entry| matches!(&entry.what, PhysicalEvent::Failed { filename, .. } if filename == "a.gcode"))
    );
}

#[tokio::test]
async fn a_closed_port_says_closed_here_and_offline_there() {
    let lab = octo(100.0).await;
    lab.post_json("/api/connection", json!({"command": "disconnect"})).await;
    assert_eq!(lab.get("/api/connection").await.1["current"]["state"], "Closed");
    assert_eq!(lab.job().await["state"], "Offline");
    let (status, body) = lab.upload("a.gcode", 10).await;
    assert_eq!(
        (status, &body["effectivePrint"]),
        (StatusCode::CREATED, &json!(false)),
        "files are stored all the same"
    );
}

#[tokio::test]
async fn homing_answers_at_once_and_happens_later() {
    let lab = octo(100.0).await;
    assert_eq!(
        lab.post_json("/api/printer/printhead", json!({"command": "home", "axes": ["x", "y"]})).await.0,
        StatusCode::NO_CONTENT
    );
    lab.logged(|what| matches!(what, PhysicalEvent::Homed { axes } if axes == "xy")).await;
    assert_eq!(
        lab.post_json("/api/printer/tool", json!({"command": "target", "targets": {"tool0": 215}})).await.0,
        StatusCode::NO_CONTENT
    );
    assert_eq!(lab.get("/api/printer").await.1["temperature"]["tool0"]["target"], 215.0);
}

#[tokio::test]
async fn folders_are_listed_with_their_files() {
    let lab = octo(1.0).await;
    lab.send(lab.upload_request("a.gcode", gcode("a", 10, 1.0, 1.0).into_bytes(), &[("path", "jobs/x")])).await;
    lab.upload("b.gcode", 10).await;
    let files = lab.get("/api/files?recursive=true").await.1["files"].clone();
    assert_eq!(files[0]["path"], "b.gcode");
    assert_eq!(files[1]["children"][0]["children"][0]["path"], "jobs/x/a.gcode");
    assert!(lab.get("/api/files").await.1["files"][1].get("children").is_none());
}

#[tokio::test]
async fn a_lost_port_stays_lost_until_it_is_back_and_connected() {
    let lab = octo(1000.0).await;
    lab.printer.handle.put_file("a.gcode", gcode("a", 100_000, 1.0, 1.0));
    lab.start("a.gcode").await;
    lab.faults(|faults| faults.away = Some(HostDisconnect::Disconnected));
    assert_eq!(lab.job().await["state"], "Offline after error");
    lab.logged(|what| matches!(what, PhysicalEvent::Interrupted { .. })).await;
    lab.faults(|faults| faults.away = None);
    assert_eq!(lab.job().await["state"], "Offline", "nobody reconnects by itself");
    lab.post_json("/api/connection", json!({"command": "connect"})).await;
    lab.logged(|what| *what == PhysicalEvent::Restarted).await;
    assert_eq!(flags(&lab.get("/api/printer").await.1), ["operational", "ready"]);
}

#[tokio::test]
async fn a_start_with_nothing_selected_does_nothing() {
    let lab = octo(1.0).await;
    assert_eq!(command(&lab, json!({"command": "start"})).await, StatusCode::NO_CONTENT);
    assert!(lab.printer.handle.log().is_empty());
}

#[tokio::test]
async fn the_owner_of_a_key_is_told() {
    let lab = octo(1.0).await;
    let (status, body) = lab.get("/api/currentuser").await;
    assert_eq!((status, &body["name"], &body["groups"]), (StatusCode::OK, &json!("lab"), &json!(["admins", "users"])));
    assert_eq!(
        lab.client.get(format!("{}/api/currentuser", lab.base)).send().await.unwrap().status(),
        StatusCode::FORBIDDEN
    );
}
