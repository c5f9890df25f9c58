//! The printer search in a network namespace, with simulated printers on their usual ports. Skipped unless services are
//! required.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::db::SERVICES;

/// Runs a search; returns its result as `discovery.py` prints it.
fn searched() -> Option<Value> {
    if std::env::var_os(SERVICES).is_none() {
        eprintln!("left out: no {SERVICES}");
        return None;
    }
    let dir = tempfile::Builder::new().prefix("printfloor-discovery-").tempdir().unwrap();
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/peers/discovery");
    let mut run = Command::new("timeout");
    run.arg("150").arg(script).arg("run").arg(env!("CARGO_BIN_EXE_printfloor"));
    run.arg(crate::cli::process::tool("printfloor-simulator")).arg(dir.path());
    let ran = run.output().unwrap();
    let output = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{output}\n{}", String::from_utf8_lossy(&ran.stderr));
    Some(serde_json::from_str(&output).unwrap())
}

#[test]
fn printers_of_the_local_network_are_found_and_nobody_else_is_asked() {
    let Some(findings) = searched() else { return };
    let printers = findings["printers"].as_array().unwrap();
    let serial = &findings["lines"][2]["serial"];
    let brief: Vec<_> =
        printers.iter().map(|printer| json!([printer["type"], printer["baseUrl"], printer["serial"]])).collect();
    let expected = [
        json!(["fw_rest", "http://10.77.5.7:7125", null]),
        json!(["mqtt_lan", "mqtts://10.77.5.9", "01P00A987654321"]),
        json!(["fw_rest", "http://127.0.0.1:7125", null]),
        // At 10.77.5.10 as well, with the same serial number.
        json!(["mqtt_lan", "mqtts://127.0.0.1", serial]),
        json!(["prusa_link", "http://127.0.0.1", null]),
        json!(["server_rest", "http://127.0.0.1:5000", null]),
    ];
    for one in &expected {
        assert!(brief.contains(one), "{one} is not among {brief:#?}");
    }
    assert_eq!(brief.len(), expected.len(), "{brief:#?}");
    let named = printers.iter().find(|printer| printer["serial"] == "01P00A987654321").unwrap();
    assert_eq!(named["name"], "left one");
    assert!(named["evidence"].as_str().unwrap().contains(", model C12"), "{named}");
    assert_eq!(findings["asked"], json!([]), "addresses and ports that are none of ours");
    assert_eq!(findings["reached"], json!(["10.77.5.11:80", "10.77.5.254:80"]), "the whole network");
    assert!(findings["seconds"].as_f64().unwrap() < 30.0, "{}", findings["seconds"]);
    let stream = findings["told"].as_str().unwrap();
    // This machine and the 253 others of its network, at five ports.
    assert!(stream.contains("data: {\"done\":1270,\"total\":1270}"), "{stream}");
    assert_eq!(stream.matches("event: result\n").count(), 1);
    assert!(stream.matches("event: found\n").count() >= expected.len(), "{stream}");
    let result: Value = serde_json::from_str(stream.rsplit_once("event: result\ndata: ").unwrap().1.trim()).unwrap();
    let registered = result["printers"].as_array().unwrap().iter().filter(|printer| printer["registered"] == true);
    let registered: Vec<_> = registered.map(|printer| &printer["baseUrl"]).collect();
    assert_eq!(registered, ["http://10.77.5.7:7125"], "{stream}");
}
