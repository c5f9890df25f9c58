//! Tests with fakes that respond with fixed bodies.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::Message;

use super::status;
use crate::adapter::{Adapter, Deleted, Operation, PrinterError, Source, Telemetry};
use crate::tests::{adapter, file, serve};
use domain::file::GcodeForm;
use domain::heaters::{Heat, Heaters};
use domain::printer_status::{Activity, Connection, PrintEnd};
use domain::testing::id;
use domain::time::Timestamp;

const AT: Timestamp = Timestamp(1_700_000_000_000);

fn printer_json(flags: &[&str]) -> Value {
    let flags: serde_json::Map<_, _> = flags.iter().map(|name| ((*name).to_owned(), json!(true))).collect();
    json!({
        "temperature": {"tool0": {"actual": 210.4, "target": 215.0, "offset": 0}, "bed": {"actual": 60.1, "target": 60.0, "offset": 0}},
        "state": {"text": "Printing", "error": "", "flags": flags},
    })
}

fn job_json(path: Option<&str>, completion: Option<f64>) -> Value {
    json!({
        "job": {"file": {"name": path, "path": path, "origin": "local"}, "filament": {"tool0": {"length": 1000.0}}},
        "progress": {"completion": completion, "printTime": 60, "printTimeLeft": 120},
        "state": "Operational",
    })
}

fn error(status: u16, words: &str) -> impl IntoResponse + use<> {
    (StatusCode::from_u16(status).unwrap(), axum::Json(json!({ "error": words })))
}

/// Starts a fake that returns the given printer, job and print record of a file.
async fn fake(printer: Value, job: Value, prints: Value) -> Arc<dyn Adapter> {
    let router = Router::new()
        .route("/api/printer", get(move || async move { axum::Json(printer) }))
        .route("/api/job", get(move || async move { axum::Json(job) }))
        .route(
            "/api/files/local/a.gcode",
            get(move || async move { axum::Json(json!({"path": "a.gcode", "prints": prints})) }),
        );
    adapter("server_rest", &serve(router).await)
}

#[test]
fn flags_are_read_in_their_order() {
    for (flags, state) in [
        (&["operational", "ready"][..], Activity::Idle),
        (&["operational", "printing"], Activity::Printing),
        (&["operational", "paused"], Activity::Paused),
        (&["operational", "printing", "pausing"], Activity::Printing),
        (&["operational", "printing", "cancelling"], Activity::Printing),
        (&["operational", "paused", "resuming"], Activity::Paused),
        (&["operational", "printing", "finishing"], Activity::Printing),
        (&["operational", "printing", "error"], Activity::Error),
        (&["closedOrError"], Activity::Error),
        (&[], Activity::Offline),
    ] {
        assert_eq!(
            status::read(&printer_json(flags), &job_json(Some("a.gcode"), Some(40.0)), AT).state,
            state,
            "{flags:?}"
        );
    }
    let status = status::read(&printer_json(&["operational", "printing"]), &job_json(Some("a.gcode"), Some(40.0)), AT);
    assert_eq!((status.file.as_deref(), status.progress, status.remaining_seconds), (Some("a.gcode"), 40.0, Some(120)));
    assert_eq!((status.nozzle, status.bed, status.homed, status.filament_mm), (210.4, 60.1, None, None));
}

#[tokio::test]
async fn the_end_of_a_print_is_told_by_completion_or_by_the_files_record() {
    let idle = || printer_json(&["operational", "ready"]);
    let failed = json!({"success": 0, "failure": 1, "last": {"date": 100.0, "success": false, "printTime": 40.0}});
    for (completion, prints, ended) in [
        (Some(100.0), Value::Null, Some(PrintEnd::Finished)),
        // Cancelled: no completion, and the record knows of a print that did not succeed.
        (None, failed.clone(), Some(PrintEnd::Cancelled)),
        // Selected, never printed.
        (None, Value::Null, None),
        (Some(0.0), Value::Null, None),
    ] {
        let printer = fake(idle(), job_json(Some("a.gcode"), completion), prints).await;
        assert_eq!(printer.status(AT).await.unwrap().ended, ended, "{completion:?}");
    }
    let past = fake(idle(), job_json(None, None), failed).await.history("a.gcode").await.unwrap();
    assert_eq!(
        (past[0].ended, past[0].started_at, past[0].ended_at),
        (Some(PrintEnd::Failed), Some(Timestamp(60_000)), Some(Timestamp(100_000)))
    );
    let never = fake(idle(), job_json(None, None), Value::Null).await;
    assert_eq!(never.history("a.gcode").await, Ok(vec![]));
}

#[tokio::test]
async fn a_deleted_file_has_no_history_and_does_not_disturb_the_status() {
    let router = Router::new()
        .route("/api/printer", get(|| async { axum::Json(printer_json(&["operational"])) }))
        .route("/api/job", get(|| async { axum::Json(job_json(Some("a.gcode"), None)) }))
        .fallback(|| async { error(404, "File not found") });
    let printer = adapter("server_rest", &serve(router).await);
    assert_eq!(printer.status(AT).await.unwrap().ended, None);
    assert_eq!(printer.history("a.gcode").await, Ok(vec![]));
    assert_eq!(printer.delete_file("a.gcode").await, Ok(Deleted::NotFound));
    assert_eq!(printer.start("a.gcode").await, Err(PrinterError::NotFound("File not found".into())));
}

#[tokio::test]
async fn a_closed_port_is_a_status_with_the_reason() {
    let words = "Closing serial port due to emergency stop M112.";
    for (job, state, message) in [
        (json!({"state": "Offline", "job": {}, "progress": {}}), Activity::Offline, "Offline"),
        (json!({"state": "Offline after error", "error": words, "job": {}, "progress": {}}), Activity::Error, words),
    ] {
        let router = Router::new()
            .route("/api/printer", get(|| async { error(409, "Printer is not operational") }))
            .route("/api/job", get(move || async move { axum::Json(job) }));
        let printer = adapter("server_rest", &serve(router).await);
        let look = printer.status(AT).await.unwrap();
        assert_eq!(
            (look.state, look.connection, look.message.as_deref()),
            (state, Connection::FirmwareDisconnected, Some(message))
        );
        assert!(matches!(printer.temperatures().await, Err(PrinterError::FirmwareDisconnected(_))));
    }
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let forbidden = serve(Router::new().fallback(|| async { error(403, "You don't have the permission") })).await;
    let printer = adapter("server_rest", &forbidden);
    assert_eq!(printer.look(AT).await.connection, Connection::WrongKey);
    assert!(matches!(printer.start("a.gcode").await, Err(PrinterError::WrongKey(_))));
    let busy = serve(Router::new().fallback(|_: axum::body::Bytes| async { error(409, "Printer is busy") })).await;
    let printer = adapter("server_rest", &busy);
    let refused = PrinterError::Refused { status: 409, message: "Printer is busy".into() };
    assert_eq!(printer.start("a.gcode").await, Err(refused.clone()));
    assert_eq!(printer.pause().await, Err(refused));
    assert_eq!(printer.delete_file("a.gcode").await, Err(PrinterError::InUse("a.gcode".into())));
    let (_kept, source) = file(3);
    assert_eq!(printer.upload("a.gcode", &source).await, Err(PrinterError::InUse("a.gcode".into())));
    assert_eq!(printer.restart_firmware().await, Err(PrinterError::Unsupported(Operation::RestartFirmware)));
    assert!(!printer.supports(Operation::RestartFirmware));
}

#[tokio::test]
async fn commands_reach_their_routes() {
    let (sender, mut calls) = tokio::sync::mpsc::unbounded_channel();
    let router = Router::new().fallback(move |request: Request| {
        let sender = sender.clone();
        async move {
            assert_eq!(request.headers()["x-api-key"], "k3y");
            let (parts, body) = request.into_parts();
            let body = axum::body::to_bytes(body, 10_000).await.unwrap();
            let body = serde_json::from_slice::<Value>(&body).unwrap();
            sender.send((format!("{} {}", parts.method, parts.uri), body)).unwrap();
            StatusCode::NO_CONTENT
        }
    });
    let printer = adapter("server_rest", &serve(router).await);
    printer.start("dir/a b.gcode").await.unwrap();
    printer.pause().await.unwrap();
    printer.resume().await.unwrap();
    printer.cancel().await.unwrap();
    printer.emergency_stop().await.unwrap();
    printer.home().await.unwrap();
    printer.run_gcode(&["G90".into(), "M105".into()]).await.unwrap();
    for (call, body) in [
        ("POST /api/files/local/dir/a%20b.gcode", json!({"command": "select", "print": true})),
        ("POST /api/job", json!({"command": "pause", "action": "pause"})),
        ("POST /api/job", json!({"command": "pause", "action": "resume"})),
        ("POST /api/job", json!({"command": "cancel"})),
        ("POST /api/printer/command", json!({"command": "M112"})),
        ("POST /api/printer/printhead", json!({"command": "home", "axes": ["x", "y", "z"]})),
        ("POST /api/printer/command", json!({"commands": ["G90", "M105"]})),
    ] {
        assert_eq!(calls.recv().await.unwrap(), (call.to_owned(), body));
    }
}

#[tokio::test]
async fn the_name_that_the_server_chose_is_used_in_both_versions() {
    let (_kept, source) = file(3);
    for answer in [
        r#"{"files":{"local":{"name":"a_b.gcode","path":"a_b.gcode","origin":"local"}},"done":true,"effectiveSelect":false,"effectivePrint":false}"#,
        r#"{"file":{"path":"a_b.gcode"},"done":true}"#,
    ] {
        // The whole body is read first: one that answers earlier may close while it is still being sent.
        let take = move |_: Bytes| async move { (StatusCode::CREATED, answer) };
        let url = serve(Router::new().route("/api/files/local", post(take))).await;
        assert_eq!(adapter("server_rest", &url).upload("a b.gcode", &source).await.unwrap(), "a_b.gcode");
    }
}

/// Starts a fake `OctoPrint` that stores `stored` regardless of the data sent to it; with `None`, it does not allow
/// reading files. Returns an adapter for it and the number of deletions.
async fn storing(stored: Option<Vec<u8>>) -> (Arc<dyn Adapter>, Arc<AtomicUsize>) {
    let deleted = Arc::new(AtomicUsize::new(0));
    let counted = deleted.clone();
    let response = json!({"files": {"local": {"name": "a b.gcode", "path": "x/a b.gcode"}}, "done": true});
    let send = move |headers: HeaderMap| async move {
        match stored {
            Some(stored) => simulator::wire::ranged(&headers, stored.into(), "text/plain"),
            None => StatusCode::FORBIDDEN.into_response(),
        }
    };
    let delete = move || async move {
        counted.fetch_add(1, Ordering::SeqCst);
        StatusCode::NO_CONTENT
    };
    let router = Router::new()
        .route("/api/files/local", post(move |_: Bytes| async move { (StatusCode::CREATED, axum::Json(response)) }))
        .route("/api/files/local/x/a%20b.gcode", axum::routing::delete(delete))
        .route("/downloads/files/local/x/a%20b.gcode", get(send));
    (adapter("server_rest", &serve(router).await), deleted)
}

#[tokio::test]
async fn what_was_stored_is_compared_with_what_was_sent_unless_a_plug_in_rewrote_it() {
    let temp_file = tempfile::NamedTempFile::new().unwrap();
    let code = "G1 X1 Y1\n".repeat(2_000) + "; the end\n";
    std::fs::write(temp_file.path(), &code).unwrap();
    let source = Source { path: temp_file.path().into(), size: code.len() as u64, first_line: None };
    let source = source.marked(id(7), Some(GcodeForm::Text));
    let sent = format!("; printfloor print {}\n{code}", id(7));
    let other = sent.replace(&id(7).to_string(), &id(8).to_string());
    let first = Some("the first bytes of the stored file differ".to_owned());
    let size = |stored: usize| Some(format!("{stored} of {} bytes", sent.len()));
    for (stored, altered) in [
        (sent.clone(), None),
        (sent.replace("G1 X1", "M117 layer\nG1 X1"), None),
        (sent.replacen("Y1", "Y2", 1), first.clone()),
        (other.clone(), first),
        (other + "more\n", size(sent.len() + 5)),
        (sent[..sent.len() / 2].to_owned(), size(sent.len() / 2)),
        (String::new(), size(0)),
    ] {
        let (printer, deleted) = storing(Some(stored.into_bytes())).await;
        let uploaded = printer.upload("a b.gcode", &source).await;
        assert_eq!(deleted.load(Ordering::SeqCst), usize::from(altered.is_some()), "it must not be started by anybody");
        assert_eq!(uploaded, altered.map_or(Ok("x/a b.gcode".into()), |words| Err(PrinterError::Altered(words))));
    }
    // What cannot be read back is not doubted.
    let (printer, deleted) = storing(None).await;
    let uploaded = printer.upload("a b.gcode", &source).await;
    assert_eq!((uploaded, deleted.load(Ordering::SeqCst)), (Ok("x/a b.gcode".into()), 0));
    // A file shorter than the parts that are asked for is sent as a whole.
    std::fs::write(temp_file.path(), "G1 X1\nM84\n").unwrap();
    let short =
        Source { path: temp_file.path().into(), size: 10, first_line: None }.marked(id(7), Some(GcodeForm::Text));
    for (rest, is_accepted) in [("G1 X1\nM117 layer\nM84\n", true), ("G1 X1\nM117 layer\n", false)] {
        let stored = format!("; printfloor print {}\n{rest}", id(7));
        let (printer, _) = storing(Some(stored.into_bytes())).await;
        assert_eq!(printer.upload("a b.gcode", &short).await.is_ok(), is_accepted, "{rest}");
    }
}

#[tokio::test]
async fn files_are_listed_through_folders_and_the_webcam_is_made_absolute() {
    let list = r#"{"files":[{"type":"folder","path":"d","children":[{"type":"machinecode","path":"d/a.gcode","size":3,"date":5}]},{"type":"machinecode","path":"b.gcode"}]}"#;
    let router = Router::new().route("/api/files/local", get(move || async move { list })).route(
        "/api/settings",
        get(|| async {
            r#"{"webcam":{"webcamEnabled":true,"streamUrl":"/webcam/?action=stream","snapshotUrl":"http://c/s.jpg"}}"#
        }),
    );
    let url = serve(router).await;
    let printer = adapter("server_rest", &url);
    let files = printer.list_files().await.unwrap();
    assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["d/a.gcode", "b.gcode"]);
    assert_eq!((files[0].size, files[0].modified_at), (Some(3), Some(Timestamp(5000))));
    let cams = printer.webcams().await.unwrap();
    assert_eq!(cams[0].stream_url, Some(format!("{url}/webcam/?action=stream")));
    assert_eq!(cams[0].snapshot_url.as_deref(), Some("http://c/s.jpg"));
}

/// Starts a fake whose `/api/connection` reports the given states one after the other, and then keeps reporting the
/// last one. Returns an adapter for it and the number of commands.
async fn port(states: &'static [&'static str]) -> (Arc<dyn Adapter>, Arc<AtomicUsize>) {
    let (requests, commands) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counted = commands.clone();
    let show = move || async move {
        let state = states[requests.fetch_add(1, Ordering::SeqCst).min(states.len() - 1)];
        axum::Json(json!({"current": {"state": state, "port": null}, "options": {}}))
    };
    let command = move |axum::Json(body): axum::Json<Value>| async move {
        assert_eq!(body, json!({"command": "connect"}));
        counted.fetch_add(1, Ordering::SeqCst);
        StatusCode::NO_CONTENT
    };
    let url = serve(Router::new().route("/api/connection", get(show).post(command))).await;
    (adapter("server_rest", &url), commands)
}

#[tokio::test]
async fn connecting_opens_the_port_once_and_waits_for_it() {
    let (printer, commands) =
        port(&["Closed", "Closed", "Opening serial connection", "Connecting", "Operational"]).await;
    printer.connect().await.unwrap();
    assert_eq!(commands.load(Ordering::SeqCst), 1);
    assert!(printer.is_connected().await);
    let (printer, commands) = port(&["Printing"]).await;
    printer.connect().await.unwrap();
    assert_eq!(commands.load(Ordering::SeqCst), 0, "an open port is left alone");
    let (printer, _) = port(&["Offline after error", "Detecting serial connection", "Error: no port"]).await;
    assert_eq!(printer.connect().await, Err(PrinterError::FirmwareDisconnected("Error: no port".into())));
}

#[tokio::test]
async fn disconnecting_does_not_end_a_print() {
    let printer =
        fake(printer_json(&["operational", "paused"]), job_json(Some("a.gcode"), Some(40.0)), Value::Null).await;
    assert_eq!(printer.disconnect().await, Err(PrinterError::InUse("a.gcode".into())));
}

fn current(printing: bool) -> String {
    json!({"current": {"state": {"flags": {"printing": printing}}, "job": {"file": {"path": "a.gcode"}}}}).to_string()
}

#[test]
fn only_a_changed_state_wakes() {
    let mut news = super::push::StateFilter::default();
    let read = |text: &str| bounded_json::read(text.as_bytes(), bounded_json::ANSWER).unwrap_or_default();
    let mut wakes = |text: &str| news.read(&read(text)).wake;
    assert!(wakes(&current(false)));
    assert!(!wakes(&current(false)));
    assert!(wakes(&current(true)));
    assert!(wakes(r#"{"event":{"type":"PrintDone","payload":{}}}"#));
    assert!(!wakes(r#"{"event":{"type":"ZChange","payload":{}}}"#));
    assert!(!wakes("nonsense"));
    let pushed = json!({"current": {
        "state": {"flags": {"printing": true}}, "job": {"file": {"path": "a.gcode"}},
        "progress": {"completion": 41.5, "printTimeLeft": 90}, "temps": [{"tool0": {"actual": 200.0}}, {"tool0": {"actual": 214.5}}],
    }});
    let update = news.read(&pushed);
    let (progress, remaining_seconds, nozzle) = (Some(41.5), Some(90), Some(214.5));
    let heaters = Heaters::of(Heat::new(nozzle, None), Heat::default(), Heat::default());
    let expected = Telemetry { progress, remaining_seconds, nozzle, heaters, ..Telemetry::default() };
    assert_eq!((update.wake, update.subscribed, update.telemetry), (false, true, Some(expected)));
}

#[tokio::test]
async fn the_socket_is_opened_with_a_session_from_the_key() {
    // One port for both: a login by plain HTTP, then the socket.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let printer = adapter("server_rest", &format!("http://{}", listener.local_addr().unwrap()));
    let wait = tokio::spawn(async move { printer.changed().await });
    let (mut login, _) = listener.accept().await.unwrap();
    let mut request = String::new();
    while !request.ends_with(r#"{"passive":true}"#) {
        let mut part = [0; 1024];
        let read = login.read(&mut part).await.unwrap();
        assert_ne!(read, 0, "{request}");
        request.push_str(std::str::from_utf8(&part[..read]).unwrap());
    }
    assert!(request.starts_with("POST /api/login HTTP/1.1"), "{request}");
    let session = r#"{"name":"lab","session":"s3ss"}"#;
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{session}", session.len());
    login.write_all(answer.as_bytes()).await.unwrap();
    let mut socket = tokio_tungstenite::accept_async(listener.accept().await.unwrap().0).await.unwrap();
    let auth = socket.next().await.unwrap().unwrap().into_text().unwrap();
    assert_eq!(auth.as_str(), r#"{"auth":"lab:s3ss"}"#);
    socket.send(Message::text(current(false))).await.unwrap();
    wait.await.unwrap();
}
