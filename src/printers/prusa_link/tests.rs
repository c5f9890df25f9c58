//! Tests with fakes that send fixed response bodies, and with the virtual printer.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::{files, status};
use crate::adapter::{Operation, PrinterError};
use crate::adapter_parts::Settings;
use crate::tests::{adapter, file, serve, serve_raw, settings, with_key};
use domain::printer_status::{Activity, Connection, PrintEnd};
use domain::time::Timestamp;

const AT: Timestamp = Timestamp(1_700_000_000_000);

fn status_json(state: &str) -> Value {
    json!({"printer": {"state": state, "temp_nozzle": 210.4, "temp_bed": 60.1}, "job": {"id": 7, "progress": 40.0, "time_remaining": 120}})
}

/// Builds a job in the form that printers show it.
fn job(state: &str) -> Value {
    json!({
        "id": 7, "state": state, "progress": 39.0,
        "file": {"name": "JOB-00~1.GCO", "display_name": "JOB-000001_x.gcode", "path": "/usb", "size": 100},
    })
}

#[test]
fn states_are_read_and_only_a_job_names_a_file() {
    let (printing, paused, idle) = (Activity::Printing, Activity::Paused, Activity::Idle);
    for (printer, of_job, state, ended, named) in [
        ("IDLE", None, idle, None, false),
        ("READY", None, idle, None, false),
        ("READY", Some("PRINTING"), printing, None, true),
        ("PRINTING", Some("PRINTING"), printing, None, true),
        ("PAUSED", Some("PAUSED"), paused, None, true),
        ("FINISHED", Some("FINISHED"), idle, Some(PrintEnd::Finished), true),
        ("STOPPED", Some("STOPPED"), idle, Some(PrintEnd::Cancelled), true),
        ("STOPPED", Some("ERROR"), idle, Some(PrintEnd::Failed), true),
        ("ERROR", Some("PRINTING"), Activity::Error, Some(PrintEnd::Failed), true),
        ("ERROR", None, Activity::Error, None, false),
        ("ATTENTION", Some("PRINTING"), paused, None, true),
        // Not free, and no evidence of anything.
        ("ATTENTION", None, paused, None, false),
        ("BUSY", None, printing, None, false),
        ("BUSY", Some("PRINTING"), printing, None, true),
        ("BUSY", Some("FINISHED"), printing, None, false),
        ("PRINTING", None, printing, None, false),
        ("DANCING", None, printing, None, false),
    ] {
        let of_job = of_job.map_or(Value::Null, job);
        let status = status::read(&status_json(printer), &of_job, None, AT);
        let name = named.then_some("JOB-000001_x.gcode");
        assert_eq!((status.state, status.ended, status.file.as_deref()), (state, ended, name), "{printer} {of_job}");
    }
    let status = status::read(&status_json("PRINTING"), &job("PRINTING"), Some(7), AT);
    assert_eq!((status.progress, status.remaining_seconds, status.cancelling), (40.0, Some(120), true));
    assert_eq!((status.nozzle, status.bed, status.homed), (210.4, 60.1, None));
    let other = json!({"id": 8, "state": "PRINTING", "progress": 3.0, "file": {"name": "A.GCO", "path": "/usb"}});
    let status = status::read(&status_json("PRINTING"), &other, Some(7), AT);
    assert_eq!((status.progress, status.cancelling), (3.0, false), "the numbers of another job do not count");
}

#[test]
fn names_are_the_given_ones_below_the_storage() {
    for (file, name) in [
        (json!({"name": "A.GCO", "path": "/usb"}), "A.GCO"),
        (
            json!({"name": "A~1.GCO", "display_name": "a long name.gcode", "path": "/usb/OLD~1", "display_path": "/usb/old ones"}),
            "old ones/a long name.gcode",
        ),
        (json!({"name": "a.gcode", "path": "/local/sub/a.gcode"}), "sub/a.gcode"),
    ] {
        assert_eq!(files::name_of(&file).as_deref(), Some(name));
    }
    assert_eq!(files::name_of(&json!({"path": "/usb"})), None);
}

#[test]
fn files_go_to_the_first_storage_that_takes_them() {
    let list = |storages: Value| files::storage(&json!({ "storage_list": storages }));
    let several = list(json!([
        {"path": "/sdcard", "available": true, "read_only": true},
        {"path": "/usb", "available": false, "read_only": false},
        {"path": "/local", "available": true, "read_only": false},
    ]));
    assert_eq!(several, Ok("local".to_owned()));
    let none = list(json!([{"path": "/usb", "available": false}])).unwrap_err();
    assert!(none.to_string().contains("USB drive") && none.certainly_not_done(), "{none}");
}

fn version(by_put: bool) -> axum::Json<Value> {
    axum::Json(json!({"api": "2.0.0", "text": "PrusaLink", "capabilities": {"upload-by-put": by_put}}))
}

fn storage() -> axum::Json<Value> {
    axum::Json(json!({"storage_list": [{"path": "/usb", "available": true, "read_only": false}]}))
}

#[tokio::test]
async fn an_upload_prints_nothing_replaces_what_is_there_and_its_size_is_compared() {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let recorded = heads.clone();
    let put = move |request: Request| async move {
        recorded.lock().unwrap().push(request.headers().clone());
        StatusCode::CREATED
    };
    let entry =
        get(|| async { axum::Json(json!({"type": "PRINT_FILE", "size": 999})) }).put(put).delete(|| async { "" });
    let router = Router::new()
        .route("/api/version", get(|| async { version(true) }))
        .route("/api/v1/storage", get(|| async { storage() }))
        .route("/api/v1/files/usb/a.gcode", entry);
    let printer = adapter("prusa_link", &serve(router).await);
    let (_kept, source) = file(1000);
    assert_eq!(printer.upload("a.gcode", &source).await, Err(PrinterError::Altered("999 of 1000 bytes".into())));
    let (_kept, source) = file(999);
    assert_eq!(printer.upload("a.gcode", &source).await, Ok("a.gcode".to_owned()));
    let heads = heads.lock().unwrap();
    assert_eq!(heads[1]["overwrite"], "?1");
    assert_eq!((&heads[1]["content-length"], heads[1].get("print-after-upload")), (&"999".parse().unwrap(), None));
    assert_eq!(
        (&heads[1]["x-api-key"], &heads[1]["accept"]),
        (&"k3y".parse().unwrap(), &"application/json".parse().unwrap())
    );
}

#[tokio::test]
async fn what_was_stored_is_compared_with_what_was_sent() {
    let (_kept, source) = file(10_000);
    let sent = vec![b'G'; 10_000];
    let changed = [b"X".as_slice(), &sent[1..]].concat();
    for (stored, refs, altered) in [
        (sent, "/usb/A%20B~1.GCO", None),
        (changed.clone(), "/usb/A%20B~1.GCO", Some("the first bytes of the stored file differ")),
        // What cannot be read is not compared, and no key goes to another server.
        (changed.clone(), "/usb/gone", None),
        (changed, "//127.0.0.1:9/usb/A%20B~1.GCO", None),
    ] {
        let deleted = Arc::new(AtomicUsize::new(0));
        let counted = deleted.clone();
        let entry = json!({"type": "PRINT_FILE", "size": 10_000, "refs": {"download": refs}});
        let entry =
            get(move || async move { axum::Json(entry) }).put(|_: axum::body::Bytes| async { StatusCode::CREATED });
        let entry = entry.delete(move || async move {
            counted.fetch_add(1, Ordering::SeqCst);
            StatusCode::NO_CONTENT
        });
        let router = Router::new()
            .route("/api/version", get(|| async { version(true) }))
            .route("/api/v1/storage", get(|| async { storage() }))
            .route("/usb/A%20B~1.GCO", get(move || async move { stored }))
            .route("/api/v1/files/usb/a.gcode", entry);
        let uploaded = adapter("prusa_link", &serve(router).await).upload("a.gcode", &source).await;
        assert_eq!(deleted.load(Ordering::SeqCst), usize::from(altered.is_some()), "it must not be started by anybody");
        assert_eq!(uploaded, altered.map_or(Ok("a.gcode".into()), |words| Err(PrinterError::Altered(words.into()))));
    }
}

#[tokio::test]
async fn an_older_one_takes_uploads_as_forms() {
    let stored = post(|_: axum::body::Bytes| async { (StatusCode::CREATED, "{}") });
    let router = Router::new()
        .route("/api/version", get(|| async { version(false) }))
        .route("/api/v1/storage", get(|| async { storage() }))
        .route("/api/files/sdcard", stored)
        .route("/api/v1/files/usb/a.gcode", get(|| async { "{}" }));
    let (_kept, source) = file(10);
    let printer = adapter("prusa_link", &serve(router).await);
    assert_eq!(printer.upload("a.gcode", &source).await, Ok("a.gcode".to_owned()));
}

#[tokio::test]
async fn an_upload_that_another_one_stands_in_the_way_of_says_so() {
    let busy = || async {
        (StatusCode::CONFLICT, axum::Json(json!({"title": "Conflict", "text": "Already in transfer process"})))
            .into_response()
    };
    let transfer = json!({"display_name": "vase.gcode", "progress": 41.6});
    let router = Router::new()
        .route("/api/version", get(|| async { version(true) }))
        .route("/api/v1/storage", get(|| async { storage() }))
        .route("/api/v1/transfer", get(move || async move { axum::Json(transfer) }))
        .route("/api/v1/files/usb/a.gcode", axum::routing::put(busy));
    let (_kept, source) = file(10);
    // The other upload never ends: no wait is too short for it.
    let limits = Settings { upload_wait: Duration::from_millis(100), ..settings() };
    let printer = with_key("prusa_link", &serve(router).await, "k3y", limits);
    let refused = printer.upload("a.gcode", &source).await.unwrap_err();
    let words = "Already in transfer process (another upload is in progress: vase.gcode, 42%)";
    assert_eq!(refused, PrinterError::Refused { status: 409, message: words.into() });
}

#[tokio::test]
async fn an_upload_waits_until_the_other_one_has_ended() {
    // A printer that refuses an upload may close the connection before it can be read, so nothing is sent too early.
    let looks = Arc::new(AtomicUsize::new(0));
    let (count, looks_so_far) = (looks.clone(), looks.clone());
    let transfer = move || {
        let is_over = count.fetch_add(1, Ordering::Relaxed) > 0;
        let running = axum::Json(json!({"display_name": "vase.gcode", "progress": 99.0}));
        async move { if is_over { StatusCode::NO_CONTENT.into_response() } else { running.into_response() } }
    };
    let put = move || async move {
        let is_early = looks_so_far.load(Ordering::Relaxed) < 2;
        if is_early { StatusCode::CONFLICT } else { StatusCode::UNPROCESSABLE_ENTITY }
    };
    let router = Router::new()
        .route("/api/version", get(|| async { version(true) }))
        .route("/api/v1/storage", get(|| async { storage() }))
        .route("/api/v1/transfer", get(transfer))
        .route("/api/v1/files/usb/a.gcode", axum::routing::put(put));
    let (_kept, source) = file(10);
    let refused = adapter("prusa_link", &serve(router).await).upload("a.gcode", &source).await.unwrap_err();
    assert!(matches!(refused, PrinterError::Refused { status: 422, .. }), "{refused:?}");
    assert_eq!(looks.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn an_upload_is_tried_once_more_if_the_other_one_has_just_ended() {
    // The second try finds the printer free or, where something else is in the way, the same conflict.
    for (second, status) in [(StatusCode::UNPROCESSABLE_ENTITY, 422), (StatusCode::CONFLICT, 409)] {
        let tries = Arc::new(AtomicUsize::new(0));
        let count = tries.clone();
        let put = move || {
            let is_first = count.fetch_add(1, Ordering::Relaxed) == 0;
            let status = if is_first { StatusCode::CONFLICT } else { second };
            async move { (status, axum::Json(json!({"text": "no"}))).into_response() }
        };
        let router = Router::new()
            .route("/api/version", get(|| async { version(true) }))
            .route("/api/v1/storage", get(|| async { storage() }))
            .route("/api/v1/transfer", get(|| async { StatusCode::NO_CONTENT }))
            .route("/api/v1/files/usb/a.gcode", axum::routing::put(put));
        let (_kept, source) = file(10);
        let refused = adapter("prusa_link", &serve(router).await).upload("a.gcode", &source).await.unwrap_err();
        assert!(matches!(refused, PrinterError::Refused { status: actual, .. } if actual == status), "{refused:?}");
        assert_eq!(tries.load(Ordering::Relaxed), 2);
    }
}

#[tokio::test]
async fn an_upload_is_tried_once_more_if_another_one_cut_it_off() {
    // A printer that rejects an upload may close the connection before its response can be read.
    for (file_of_transfer, is_before) in [("vase.gcode", false), ("vase.gcode", true), ("a.gcode", false)] {
        let tries = Arc::new(AtomicUsize::new(0));
        let (count, looks) = (tries.clone(), AtomicUsize::new(0));
        let url = serve_raw(move |head| {
            let json = |json: Value| Some((200, json.to_string()));
            if head.starts_with("put ") {
                return (count.fetch_add(1, Ordering::SeqCst) > 0).then(|| (422, json!({"text": "no"}).to_string()));
            }
            if head.contains("/api/v1/transfer") {
                let is_due = is_before || count.load(Ordering::SeqCst) > 0;
                if is_due && looks.fetch_add(1, Ordering::SeqCst) == 0 {
                    return json(json!({"display_name": file_of_transfer, "progress": 41.6}));
                }
                return Some((404, "{}".to_owned()));
            }
            if head.contains("/api/v1/storage") { json(storage().0) } else { json(version(true).0) }
        })
        .await;
        let (_kept, source) = file(10);
        let refused = adapter("prusa_link", &url).upload("a.gcode", &source).await.unwrap_err();
        assert!(matches!(refused, PrinterError::Refused { status: 422, .. }), "{refused:?}");
        assert_eq!(tries.load(Ordering::SeqCst), 2);
    }
}

#[tokio::test]
async fn an_upload_is_tried_once_more_if_the_challenge_was_replaced_just_then() {
    for (second, is_wrong_key) in [(StatusCode::UNPROCESSABLE_ENTITY, false), (StatusCode::UNAUTHORIZED, true)] {
        let tries = Arc::new(AtomicUsize::new(0));
        let count = tries.clone();
        let put = move || {
            let is_first = count.fetch_add(1, Ordering::Relaxed) == 0;
            let status = if is_first { StatusCode::UNAUTHORIZED } else { second };
            async move { (status, axum::Json(json!({"text": "no"}))).into_response() }
        };
        let router = Router::new()
            .route("/api/version", get(|| async { version(true) }))
            .route("/api/v1/storage", get(|| async { storage() }))
            .route("/api/v1/transfer", get(|| async { StatusCode::NO_CONTENT }))
            .route("/api/v1/files/usb/a.gcode", axum::routing::put(put));
        let (_kept, source) = file(10);
        let refused = adapter("prusa_link", &serve(router).await).upload("a.gcode", &source).await.unwrap_err();
        assert_eq!(matches!(refused, PrinterError::WrongKey(_)), is_wrong_key, "{refused:?}");
        assert_eq!(tries.load(Ordering::Relaxed), 2);
    }
}

#[tokio::test]
async fn a_server_that_starts_up_and_one_without_its_printer_are_statuses() {
    for (answer, words) in [
        ((StatusCode::SERVICE_UNAVAILABLE, json!({"title": "Unavailable", "text": "starting"})), "starting"),
        (
            (
                StatusCode::OK,
                json!({"printer": {"state": "ERROR", "status_printer": {"ok": false, "message": "no serial"}}}),
            ),
            "no serial",
        ),
    ] {
        let (status, body) = answer;
        let router = Router::new().route("/api/v1/status", get(move || async move { (status, axum::Json(body)) }));
        let printer = adapter("prusa_link", &serve(router).await);
        let look = printer.status(AT).await.unwrap();
        assert_eq!((look.connection, look.message.as_deref()), (Connection::FirmwareDisconnected, Some(words)));
        assert!(!printer.is_connected().await);
    }
}

#[tokio::test]
async fn words_in_plain_text_are_the_printers_own() {
    let router = Router::new().fallback(|| async { (StatusCode::UNAUTHORIZED, "401: Unauthorized") });
    let printer = adapter("prusa_link", &serve(router).await);
    assert_eq!(printer.status(AT).await, Err(PrinterError::WrongKey("401: Unauthorized".into())));
}

#[tokio::test]
async fn a_user_with_a_password_gets_in_by_digest_and_a_wrong_password_does_not() {
    let fleet =
        simulator::Fleet::start(simulator::FleetOptions::of(simulator::PrinterKind::PrusaLink, 1)).await.unwrap();
    let sim = &fleet.printers[0];
    let as_maker = |password: &str| with_key("prusa_link", &sim.base_url, &format!("maker:{password}"), settings());
    let printer = as_maker(&sim.api_key);
    printer.connect().await.unwrap();
    let (_kept, source) = file(3_000);
    assert_eq!(printer.upload("a b.gcode", &source).await, Ok("a b.gcode".to_owned()), "also with a body");
    assert_eq!(printer.list_files().await.unwrap().len(), 1);
    assert!(matches!(as_maker("wrong").status(AT).await, Err(PrinterError::WrongKey(_))));
}

#[tokio::test]
async fn without_an_emergency_stop_the_print_that_is_on_is_ended() {
    let options =
        simulator::FleetOptions { speed: 1.0, ..simulator::FleetOptions::of(simulator::PrinterKind::PrusaLink, 1) };
    let fleet = simulator::Fleet::start(options).await.unwrap();
    let sim = &fleet.printers[0];
    let printer = with_key("prusa_link", &sim.base_url, &sim.api_key, settings());
    assert_eq!(printer.emergency_stop().await, Err(PrinterError::Unsupported(Operation::EmergencyStop)));
    for round in 1..=2 {
        sim.handle.put_file("a.gcode", simulator::gcode::gcode("a", 600, 1.0, 300.0));
        sim.handle.with(|machine| machine.start("a.gcode")).unwrap();
        // The first time it does not know which job is on, the second time it knows the one before.
        printer.emergency_stop().await.unwrap();
        assert_eq!(sim.handle.with(|machine| machine.cancels()), round);
        assert_eq!(printer.status(AT).await.unwrap().ended, Some(PrintEnd::Cancelled));
    }
}
