//! Tests with fakes that respond with fixed bodies.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Multipart, Query, Request};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{delete, get, post};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::Message;

use super::status::{self, FileFacts};
use crate::adapter::{Adapter, Deleted, Operation, PrinterError};
use crate::tests::{adapter, file, serve, settings, with_key};
use domain::file::GcodeForm;
use domain::printer_status::{Activity, Connection, PrintEnd, Status};
use domain::testing::id;
use domain::time::Timestamp;

const AT: Timestamp = Timestamp(1_700_000_000_000);

fn objects(firmware: &str, print: &str, file: &str, progress: f64) -> Value {
    json!({
        "webhooks": {"state": firmware, "state_message": "Shutdown due to webhooks request"},
        "print_stats": {"state": print, "filename": file, "print_duration": 300.0, "filament_used": 1234.5, "message": ""},
        "virtual_sdcard": {"progress": progress},
        "extruder": {"temperature": 210.4, "target": 215.0},
        "heater_bed": {"temperature": 60.1, "target": 60.0},
        "toolhead": {"homed_axes": "xyz"},
    })
}

/// Reads the status for a file without metadata.
fn read(objects: &Value, at: Timestamp) -> Status {
    status::read(objects, FileFacts::default(), at)
}

fn error(status: u16, message: &str) -> impl IntoResponse + use<> {
    let body = json!({"error": {"code": status, "message": message, "traceback": "…"}});
    (StatusCode::from_u16(status).unwrap(), axum::Json(body))
}

#[test]
fn states_of_a_print() {
    for (print, state, ended) in [
        ("standby", Activity::Idle, None),
        ("printing", Activity::Printing, None),
        ("paused", Activity::Paused, None),
        ("complete", Activity::Idle, Some(PrintEnd::Finished)),
        ("cancelled", Activity::Idle, Some(PrintEnd::Cancelled)),
        ("error", Activity::Idle, Some(PrintEnd::Failed)),
    ] {
        let status = read(&objects("ready", print, "a.gcode", 0.25), AT);
        assert_eq!((status.state, status.ended, status.connection), (state, ended, Connection::Connected), "{print}");
        assert_eq!(status.file.as_deref(), Some("a.gcode"));
    }
    let status = read(&objects("ready", "printing", "a.gcode", 0.25), AT);
    assert_eq!((status.progress, status.remaining_seconds, status.filament_mm), (25.0, Some(900), Some(1234.5)));
    assert_eq!((status.nozzle, status.bed, status.homed, status.updated_at), (210.4, 60.1, Some(true), AT));
    assert!(read(&objects("ready", "complete", "a.gcode", 0.99), AT).progress >= 100.0);
}

#[test]
fn progress_counts_from_the_first_to_the_last_line_of_gcode() {
    let facts =
        FileFacts::read(&json!({"gcode_start_byte": 40_000, "gcode_end_byte": 90_000, "estimated_time": 1000.0}));
    let at = |position: u32| {
        let mut objects = objects("ready", "printing", "a.gcode", f64::from(position) / 100_000.0);
        objects["virtual_sdcard"]["file_position"] = json!(position);
        let status = status::read(&objects, facts, AT);
        (status.progress, status.remaining_seconds)
    };
    assert_eq!(at(0), (0.0, Some(1000)), "thumbnails are no progress");
    assert_eq!(at(40_000), (0.0, Some(1000)));
    assert_eq!(at(65_000), (50.0, Some(500)));
    assert_eq!(at(95_000), (100.0, Some(0)), "nor are settings");
    let paused = status::read(&objects("ready", "standby", "", 0.5), facts, AT);
    assert_eq!(paused.remaining_seconds, None);
}

#[test]
fn after_a_shutdown_paused_is_a_lost_print() {
    for print in ["printing", "paused", "error"] {
        let status = read(&objects("shutdown", print, "a.gcode", 0.5), AT);
        assert_eq!((status.state, status.ended), (Activity::Error, Some(PrintEnd::Failed)), "{print}");
        assert_eq!(status.message.as_deref(), Some("Shutdown due to webhooks request"));
    }
    let finished = read(&objects("shutdown", "complete", "a.gcode", 1.0), AT);
    assert_eq!((finished.state, finished.ended), (Activity::Error, Some(PrintEnd::Finished)));
    let nothing = read(&objects("error", "standby", "", 0.0), AT);
    assert_eq!((nothing.state, nothing.ended, nothing.file), (Activity::Error, None, None));
}

#[test]
fn objects_the_printer_lacks_are_zero_or_unknown() {
    let status =
        read(&json!({"webhooks": {"state": "ready"}, "print_stats": {"state": "standby", "filename": ""}}), AT);
    assert_eq!(
        (status.state, status.file, status.nozzle, status.bed, status.homed),
        (Activity::Idle, None, 0.0, 0.0, None)
    );
    let startup = read(&objects("startup", "standby", "", 0.0), AT);
    assert_eq!((startup.state, startup.connection), (Activity::Offline, Connection::FirmwareDisconnected));
}

#[tokio::test]
async fn firmware_away_is_a_status_whether_it_ever_was_there() {
    for (status, words) in [(404, "Not Found"), (503, "Klippy Host not connected")] {
        let info = r#"{"result":{"klippy_connected":false,"klippy_state":"disconnected"}}"#;
        let router = Router::new()
            .route("/server/info", get(move || async move { info }))
            .fallback(move || async move { error(status, words) });
        let printer = adapter("fw_rest", &serve(router).await);
        let look = printer.status(AT).await.unwrap();
        assert_eq!((look.state, look.connection), (Activity::Offline, Connection::FirmwareDisconnected));
        assert!(!printer.is_connected().await);
        assert!(matches!(printer.connect().await, Err(PrinterError::FirmwareDisconnected(_))));
        assert!(matches!(printer.home().await, Err(PrinterError::FirmwareDisconnected(_))));
    }
}

#[tokio::test]
async fn the_key_goes_with_every_call_and_a_refused_one_is_told() {
    let router = Router::new().fallback(|headers: HeaderMap| async move {
        if headers.get("x-api-key").is_some_and(|key| key == "k3y") {
            r#"{"result":{"klippy_connected":true,"klippy_state":"ready"}}"#.into_response()
        } else {
            error(401, "Unauthorized").into_response()
        }
    });
    let url = serve(router).await;
    assert!(adapter("fw_rest", &url).is_connected().await);
    let stranger = with_key("fw_rest", &url, "", settings());
    assert_eq!(stranger.status(AT).await, Err(PrinterError::WrongKey("Unauthorized".into())));
    assert_eq!(stranger.look(AT).await.connection, Connection::WrongKey);
    assert!(stranger.start("a.gcode").await.unwrap_err().certainly_not_done());
}

#[tokio::test]
async fn a_refused_command_brings_the_printers_own_words() {
    let url = serve(Router::new().fallback(|| async { error(400, "SD busy") })).await;
    let refused = PrinterError::Refused { status: 400, message: "SD busy".into() };
    let printer = adapter("fw_rest", &url);
    assert_eq!(printer.start("a.gcode").await, Err(refused.clone()));
    assert_eq!(printer.pause().await, Err(refused.clone()));
    assert_eq!(printer.run_gcode(&["M105".into()]).await, Err(refused));
}

#[tokio::test]
async fn commands_reach_their_routes() {
    let (sender, mut calls) = tokio::sync::mpsc::unbounded_channel();
    let router = Router::new().fallback(move |request: Request| {
        let sender = sender.clone();
        async move {
            let (parts, body) = request.into_parts();
            let body = axum::body::to_bytes(body, 10_000).await.unwrap();
            sender.send(format!("{} {} {}", parts.method, parts.uri, String::from_utf8_lossy(&body))).unwrap();
            r#"{"result":"ok"}"#
        }
    });
    let printer = adapter("fw_rest", &serve(router).await);
    printer.start("dir/a b.gcode").await.unwrap();
    printer.pause().await.unwrap();
    printer.resume().await.unwrap();
    printer.cancel().await.unwrap();
    printer.emergency_stop().await.unwrap();
    printer.restart_firmware().await.unwrap();
    printer.home().await.unwrap();
    printer.run_gcode(&["G90".into(), "M104 S0".into()]).await.unwrap();
    for expected in [
        "POST /printer/print/start?filename=dir%2Fa+b.gcode ",
        "POST /printer/print/pause ",
        "POST /printer/print/resume ",
        "POST /printer/print/cancel ",
        "POST /printer/emergency_stop ",
        "POST /printer/firmware_restart ",
        r#"POST /printer/gcode/script {"script":"G28"}"#,
        "GET /server/gcode_store?count=1 ",
        r#"POST /printer/gcode/script {"script":"G90\nM104 S0"}"#,
        "GET /server/gcode_store?count=200 ",
    ] {
        assert_eq!(calls.recv().await.unwrap(), expected);
    }
}

#[tokio::test]
async fn an_upload_is_checked_by_its_hash_and_never_started() {
    let take = |mut form: Multipart| async move {
        let mut fields = HashMap::new();
        while let Some(field) = form.next_field().await.unwrap() {
            let name = field.name().unwrap().to_owned();
            let file = field.file_name().map(str::to_owned);
            let text = field.text().await.unwrap();
            fields.insert(name, file.unwrap_or(text));
        }
        let field = |name: &str| fields[name].as_str();
        assert_eq!(
            (field("root"), field("path"), field("file"), field("print")),
            ("gcodes", "dir", "a.gcode", "false")
        );
        // SHA-256 of three `G`.
        assert_eq!(field("checksum"), hex::encode(<sha2::Sha256 as sha2::Digest>::digest(b"GGG")));
        let body = r#"{"item":{"path":"dir/a.gcode","root":"gcodes","modified":1.5,"size":3,"permissions":"rw"},"print_started":false,"print_queued":false,"action":"create_file"}"#;
        (StatusCode::CREATED, body)
    };
    let (_kept, source) = file(3);
    let url = serve(Router::new().route("/server/files/upload", post(take))).await;
    assert_eq!(adapter("fw_rest", &url).upload("dir/a.gcode", &source).await.unwrap(), "dir/a.gcode");
    for (status, expected) in [
        (403, PrinterError::InUse("a.gcode".into())),
        (422, PrinterError::Refused { status: 422, message: "Unprocessable Entity".into() }),
    ] {
        let words = expected_words(status);
        let url = serve(Router::new().fallback(move |_: Bytes| async move { error(status, words) })).await;
        assert_eq!(adapter("fw_rest", &url).upload("a.gcode", &source).await, Err(expected));
    }
}

/// Starts a fake Moonraker that stores the data it receives, reports the stored size as `size` bytes, and serves
/// `stored` as the stored file. Returns an adapter for it and the number of deletions.
async fn storing(size: usize, stored: Vec<u8>, processors: Value) -> (Arc<dyn Adapter>, Arc<AtomicUsize>) {
    let deleted = Arc::new(AtomicUsize::new(0));
    let counted = deleted.clone();
    let response = json!({"item": {"path": "a.gcode", "root": "gcodes", "modified": 1.5, "size": size}});
    let send = move |headers: HeaderMap| async move { simulator::wire::ranged(&headers, stored.into(), "text/plain") };
    let delete = move || async move {
        counted.fetch_add(1, Ordering::SeqCst);
        r#"{"result":{"item":{},"action":"delete_file"}}"#
    };
    let metadata = json!({"result": {"file_processors": processors}});
    let router = Router::new()
        .route("/server/files/upload", post(move |_: Bytes| async move { (StatusCode::CREATED, axum::Json(response)) }))
        .route("/server/files/gcodes/a.gcode", get(send).delete(delete))
        .route("/server/files/metadata", get(move || async move { axum::Json(metadata) }));
    (adapter("fw_rest", &serve(router).await), deleted)
}

#[tokio::test]
async fn what_was_stored_is_compared_with_what_was_sent() {
    let (_kept, source) = file(10_000);
    let source = source.marked(id(7), Some(GcodeForm::Text));
    let sent = [format!("; printfloor print {}\n", id(7)).into_bytes(), vec![b'G'; 10_000]].concat();
    let changed = |at: usize| {
        let mut bytes = sent.clone();
        bytes[at] = b'X';
        bytes
    };
    let none = json!([]);
    for (stored, altered) in [
        (sent.clone(), None),
        (changed(0), Some("the first bytes of the stored file differ")),
        (changed(sent.len() - 1), Some("the last bytes of the stored file differ")),
        ([sent.clone(), b"more".to_vec()].concat(), Some("10060 of 10056 bytes")),
    ] {
        let (printer, deleted) = storing(sent.len(), stored, none.clone()).await;
        let uploaded = printer.upload("a.gcode", &source).await;
        assert_eq!(uploaded, altered.map_or(Ok("a.gcode".into()), |words| Err(PrinterError::Altered(words.into()))));
        assert_eq!(deleted.load(Ordering::SeqCst), usize::from(altered.is_some()), "it must not be started by anybody");
    }
    let (printer, _) = storing(sent.len() - 1, sent.clone(), none).await;
    assert!(
        matches!(printer.upload("a.gcode", &source).await, Err(PrinterError::Altered(_))),
        "the size that it tells"
    );
    // It says that it rewrites files, so they cannot be compared.
    let (printer, deleted) = storing(12, changed(0), json!(["preprocess_cancellation"])).await;
    assert_eq!((printer.upload("a.gcode", &source).await, deleted.load(Ordering::SeqCst)), (Ok("a.gcode".into()), 0));
}

fn expected_words(status: u16) -> &'static str {
    if status == 403 { "Forbidden" } else { "Unprocessable Entity" }
}

#[tokio::test]
async fn deleting_tells_gone_missing_and_in_use_apart() {
    let router = Router::new()
        .route(
            "/server/files/gcodes/a%20b.gcode",
            delete(|| async { r#"{"result":{"item":{},"action":"delete_file"}}"# }),
        )
        .route("/server/files/gcodes/busy.gcode", delete(|| async { error(403, "Forbidden") }))
        .fallback(|| async { error(400, "Bad Request") });
    let printer = adapter("fw_rest", &serve(router).await);
    assert_eq!(printer.delete_file("busy.gcode").await, Err(PrinterError::InUse("busy.gcode".into())));
    assert_eq!(printer.delete_file("missing.gcode").await, Ok(Deleted::NotFound));
    assert_eq!(printer.delete_file("a b.gcode").await, Ok(Deleted::Gone));
}

#[tokio::test]
async fn history_is_read_page_by_page_until_our_file_is_found() {
    let list = |Query(query): Query<HashMap<String, String>>| async move {
        let start: usize = query["start"].parse().unwrap();
        let jobs: Vec<_> = (start..start + 100)
            .map(|n| {
                let (name, status) =
                    if n == 150 { ("ours.gcode", "klippy_shutdown") } else { ("other.gcode", "completed") };
                json!({"filename": name, "status": status, "start_time": 10.5, "end_time": 20.0, "filament_used": 7.5})
            })
            .take(if start == 200 { 3 } else { 100 })
            .collect();
        axum::Json(json!({"result": {"count": jobs.len(), "jobs": jobs}}))
    };
    let printer = adapter("fw_rest", &serve(Router::new().route("/server/history/list", get(list))).await);
    let past = printer.history("ours.gcode").await.unwrap();
    assert_eq!(past.len(), 1);
    assert_eq!(
        (past[0].ended, past[0].started_at, past[0].ended_at),
        (Some(PrintEnd::Failed), Some(Timestamp(10_500)), Some(Timestamp(20_000)))
    );
    assert_eq!(printer.history("never.gcode").await, Ok(vec![]));
}

#[tokio::test]
async fn a_printer_without_history_does_not_pass_for_one_that_forgot() {
    let printer = adapter("fw_rest", &serve(Router::new().fallback(|| async { error(404, "Not Found") })).await);
    assert_eq!(printer.history("a.gcode").await, Err(PrinterError::Unsupported(Operation::History)));
}

#[tokio::test]
async fn lists_and_infos_are_read() {
    let webcams = r#"{"result":{"webcams":[{"name":"bed","enabled":true,"stream_url":"/webcam/?action=stream","snapshot_url":""}]}}"#;
    let router = Router::new()
        .route(
            "/server/files/list",
            get(|| async { r#"{"result":[{"path":"a.gcode","modified":1.5,"size":3,"permissions":"rw"}]}"# }),
        )
        .route("/server/webcams/list", get(move || async move { webcams }))
        .route("/machine/system_info", get(|| async { r#"{"result":{"system_info":{"provider":"systemd_dbus"}}}"# }))
        .route("/printer/info", get(|| async { r#"{"result":{"state":"ready"}}"# }))
        .route(
            "/printer/objects/query",
            get(|| async {
                axum::Json(
                    json!({"result": {"eventtime": 1.0, "status": objects("ready", "printing", "a.gcode", 0.25)}}),
                )
            }),
        );
    let printer = adapter("fw_rest", &serve(router).await);
    let files = printer.list_files().await.unwrap();
    assert_eq!(
        (files[0].path.as_str(), files[0].size, files[0].modified_at),
        ("a.gcode", Some(3), Some(Timestamp(1500)))
    );
    let cams = printer.webcams().await.unwrap();
    assert_eq!(cams[0].stream_url.as_deref(), Some("http://127.0.0.1/webcam/?action=stream"));
    assert_eq!(cams[0].snapshot_url, None);
    assert_eq!(printer.system_info().await.unwrap()["provider"], "systemd_dbus");
    assert_eq!(printer.printer_info().await.unwrap()["state"], "ready");
    assert_eq!(printer.progress().await, Ok(25.0));
    let temperatures = printer.temperatures().await.unwrap();
    assert_eq!((temperatures.nozzle, temperatures.bed), (210.4, 60.1));
    assert_eq!(printer.status(AT).await.unwrap().state, Activity::Printing);
}

#[tokio::test]
async fn a_push_wakes_and_the_socket_is_opened_again_when_it_was_lost() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let printer = adapter("fw_rest", &format!("http://{}", listener.local_addr().unwrap()));
    let accept = async || {
        let mut socket = tokio_tungstenite::accept_async(listener.accept().await.unwrap().0).await.unwrap();
        let identify = socket.next().await.unwrap().unwrap().into_text().unwrap();
        let identify: Value = serde_json::from_str(&identify).unwrap();
        assert_eq!(
            (&identify["method"], &identify["params"]["api_key"]),
            (&json!("server.connection.identify"), &json!("k3y"))
        );
        let subscribe = socket.next().await.unwrap().unwrap().into_text().unwrap();
        assert!(subscribe.contains("printer.objects.subscribe"));
        socket
    };
    let waiter = printer.clone();
    let wait = tokio::spawn(async move { waiter.changed().await });
    let mut socket = accept().await;
    // Nothing that changes a state: must not wake.
    socket.send(Message::text(r#"{"jsonrpc":"2.0","method":"notify_proc_stat_update","params":[{}]}"#)).await.unwrap();
    // The firmware came back: wakes, and we subscribe again, which proves that the line before was read.
    assert!(!wait.is_finished());
    socket.send(Message::text(r#"{"jsonrpc":"2.0","method":"notify_klippy_ready"}"#)).await.unwrap();
    let again = socket.next().await.unwrap().unwrap().into_text().unwrap();
    assert!(again.contains("printer.objects.subscribe"));
    wait.await.unwrap();
    socket
        .send(Message::text(
            r#"{"jsonrpc":"2.0","method":"notify_status_update","params":[{"print_stats":{"state":"printing"}},1.0]}"#,
        ))
        .await
        .unwrap();
    printer.changed().await;
    drop(socket);
    // Losing it wakes too, since what was said meanwhile is missed.
    printer.changed().await;
    let _socket = accept().await;
}
