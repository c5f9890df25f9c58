//! `demo` and `simulate`, which start separate programs.

use std::process::Command;

use serde_json::{Value, json};

use super::process::{Place, tool};
use crate::support::waiting::until;

/// Checks that help, errors and exit codes are those of the program being run.
#[test]
fn demo_and_simulate_are_programs_of_their_own() {
    let place = Place::new();
    for (command, program) in [("demo", "printfloor-demo"), ("simulate", "printfloor-simulator")] {
        tool(program);
        let help = place.done(&format!("{command} --help"));
        assert!(help.contains(&format!("Usage: {program}")), "{help}");
        let wrong = place.run(&format!("{command} --dance"));
        assert_eq!(wrong.code, Some(2), "{wrong:?}");
        assert!(wrong.err.contains("'--dance'"), "{wrong:?}");
        assert!(place.done("--help").contains(&format!("  {command} ")), "the help lists it");
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "nothing was made");
}

/// Checks the message if only the server's binary is installed.
#[test]
fn a_missing_program_says_where_to_get_it() {
    let place = Place::new();
    let alone = place.path().join("printfloor");
    let server = env!("CARGO_BIN_EXE_printfloor");
    std::fs::hard_link(server, &alone).or_else(|_| std::fs::copy(server, &alone).map(drop)).unwrap();
    for (command, program) in [("demo", "printfloor-demo"), ("simulate", "printfloor-simulator")] {
        let ended = Command::new(&alone).arg(command).env_clear().output().unwrap();
        let words = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{words}");
        assert!(words.contains(&format!("could not find {program};")) && words.contains("Debian package"), "{words}");
    }
}

#[tokio::test]
async fn simulated_printers_answer_where_their_lines_say() {
    tool("printfloor-simulator");
    let place = Place::new();
    let mut fleet = place.start("simulate --fw-rest 1 --server-rest 1 --seed 7");
    let client = crate::support::client::http();
    let mut serials = Vec::new();
    for (kind, path) in [("fw_rest", "/server/info"), ("server_rest", "/api/version")] {
        let printer: Value = serde_json::from_str(&fleet.line(kind)).unwrap();
        let url = format!("{}{path}", printer["baseUrl"].as_str().unwrap());
        let ask = |key: &str| client.get(&url).header("X-Api-Key", key).send();
        assert_eq!(ask(printer["apiKey"].as_str().unwrap()).await.unwrap().status(), 200, "{printer}");
        assert!(ask("wrong").await.unwrap().status().is_client_error());
        serials.push(printer["serial"].clone());
    }
    fleet.signal("TERM");
    assert_eq!(fleet.end().0, Some(0));
    let mut again = place.start("simulate --fw-rest 1 --server-rest 1 --seed 7");
    let printer: Value = serde_json::from_str(&again.line("fw_rest")).unwrap();
    assert_eq!(printer["serial"], serials[0], "the same seed gives the same printers");
}

#[tokio::test]
async fn a_simulated_payment_processor_sends_held_and_repeated_events() {
    tool("printfloor-simulator");
    let place = Place::new();
    let sink = simulator::sink::Sink::start().await.unwrap();
    let mut process = place.start(&format!("simulate --payments --events-to {}/hook --seed 7", sink.url()));
    let line: Value = serde_json::from_str(&process.line("payments")).unwrap();
    let (base, key) = (line["baseUrl"].as_str().unwrap(), line["apiKey"].as_str().unwrap());
    let client = crate::support::client::http();
    let send = async |request: reqwest::RequestBuilder| {
        let answer = request.bearer_auth(key).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
    };
    let control = |path: &str| format!("{base}/control{path}");
    assert_eq!(client.get(control("")).bearer_auth("wrong").send().await.unwrap().status(), 401);
    let travel = json!({"hold": true, "repeat": 2});
    let (status, state) = send(client.put(control("/events")).json(&travel)).await;
    assert_eq!((status, &state["events"]["hold"], &state["events"]["repeat"]), (200, &json!(true), &json!(2)));
    assert_eq!(send(client.put(control("/events")).json(&json!({"repeat": 3}))).await.0, 400);
    let form = "mode=payment&success_url=http://shop/yes&line_items[0][quantity]=1&line_items[0][price_data][currency]=usd\
        &line_items[0][price_data][unit_amount]=500&line_items[0][price_data][product_data][name]=Vase";
    let (_, session) = send(client.post(format!("{base}/v1/checkout/sessions")).body(form)).await;
    let pay = control(&format!("/sessions/{}/pay", session["id"].as_str().unwrap()));
    let (status, session) = send(client.post(pay)).await;
    assert_eq!((status, &session["payment_status"]), (200, &json!("paid")));
    let dispute = control(&format!("/payments/{}/dispute", session["payment_intent"].as_str().unwrap()));
    assert_eq!(send(client.post(dispute)).await.0, 200);
    let (_, state) = send(client.get(control(""))).await;
    let waiting = state["events"]["waiting"].as_u64().unwrap();
    assert!(waiting >= 4 && sink.received().is_empty(), "held: {state}");
    assert_eq!(send(client.put(control("/events")).json(&json!({}))).await.0, 200);
    let events = until("the events", async || Some(sink.received()).filter(|events| events.len() as u64 >= waiting));
    let events = events.await;
    let secret = line["webhookSecret"].as_str().unwrap();
    for event in &events {
        let header = event.header("stripe-signature").unwrap();
        let at = header.split([',', '=']).nth(1).unwrap().parse().unwrap();
        assert_eq!(header, simulator::payments::signature(secret, at, &event.body));
        let id = event.json()["id"].clone();
        assert_eq!(events.iter().filter(|other| other.json()["id"] == id).count(), 2, "each comes twice");
    }
    assert!(events.iter().any(|event| event.json()["type"] == "charge.dispute.created"));
    process.signal("TERM");
    assert_eq!(process.end().0, Some(0));
    let refused = place.run("simulate --payments --events-to http://192.0.2.1/hook");
    assert!(refused.err.contains("on this machine"), "{refused:?}");
}
