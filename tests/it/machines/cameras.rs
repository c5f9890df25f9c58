//! Cameras: one picture shared by all viewers, nothing passed on but the picture, and a broken camera that slows no one
//! down.

use std::net::SocketAddr;

use futures::future::join_all;
use serde_json::{Value, json};
use simulator::peers::ResponseMode;
use simulator::peers::camera::{Camera, CameraContent};

use super::{FAST, Floor, JUDGE_LATE, PrinterKind, SLOW, words};
use crate::support::{Db, until};

/// Setting that makes requests to cameras time out after 2 s.
const IMPATIENT_CAMERAS: (&str, &str) = ("PRINTFLOOR_PRINTERS__CAMERA_TIMEOUT_SECONDS", "2");
/// Port of the camera of SDCP printers.
const SDCP_CAMERA_PORT: u16 = 3031;

/// Gives the printer a camera as usual for its type: reported by the printer, on its own port, or set by a person.
async fn camera_of(floor: &Floor, printer: usize) -> Camera {
    let sim = floor.sim(printer);
    if sim.kind == PrinterKind::Sdcp {
        let host = sim.base_url.trim_start_matches("http://").split(':').next().unwrap().parse().unwrap();
        // Another test may have the port at this moment.
        return until("the camera's port", || async {
            Camera::at(SocketAddr::new(host, SDCP_CAMERA_PORT), None).await.ok()
        })
        .await;
    }
    let host = sim.base_url.split("://").nth(1).unwrap().split(':').next().unwrap().parse().unwrap();
    let camera = Camera::at(SocketAddr::new(host, 0), None).await.unwrap();
    if sim.kind == PrinterKind::MqttLan {
        set(floor, printer, &json!({"snapshotUrl": camera.snapshot_url()})).await;
    } else {
        sim.handle.set_camera(Some(&camera.snapshot_url()));
    }
    camera
}

async fn set(floor: &Floor, printer: usize, camera: &Value) -> Value {
    floor.app.patch(&floor.path(printer, ""), &json!({"camera": camera})).await.expect(200)
}

/// Returns the picture and its media type.
async fn picture(floor: &Floor, printer: usize) -> (String, Vec<u8>) {
    let request = floor.app.request("GET", &floor.path(printer, "/camera"));
    let answer = floor.app.open(request).await;
    let status = answer.status().as_u16();
    let headers = answer.headers().clone();
    let bytes = answer.bytes().await.unwrap().to_vec();
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
    assert_eq!(headers["cache-control"], "no-store");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert!(headers.keys().all(|name| name != "server" && name != "www-authenticate"), "{headers:?}");
    (headers["content-type"].to_str().unwrap().to_owned(), bytes)
}

async fn refused(floor: &Floor, printer: usize, status: u16) -> String {
    floor.app.get(&floor.path(printer, "/camera")).await.error(status)
}

fn is_jpeg(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xFF, 0xD8, 0xFF]) && bytes.ends_with(&[0xFF, 0xD9])
}

each_kind! {
    async fn a_camera_is_shown_as_single_pictures(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        if kind != PrinterKind::Sdcp {
            assert_eq!(refused(&floor, 0, 404).await, "no_camera");
        }
        let camera = camera_of(&floor, 0).await;
        let (media, first) = picture(&floor, 0).await;
        if kind == PrinterKind::PrusaLink {
            // The printer's server takes it itself, and shows it only to who knows the key.
            assert!(media == "image/png" && first == simulator::gcode::sample_png(), "{media}");
            assert!(camera.requests().is_empty());
            return;
        }
        assert!(media == "image/jpeg" && is_jpeg(&first), "{media}");
        until("a newer picture", || async { (picture(&floor, 0).await.1 != first).then_some(()) }).await;
        let answer = floor.app.get(&floor.path(0, "")).await.expect(200);
        assert_eq!(answer["camera"].is_object(), kind == PrinterKind::MqttLan, "{answer}");
    }

    #[drawn]
    async fn the_end_of_a_print_is_photographed(kind: PrinterKind, db: Db) {
        let floor = Floor::on(db, kind, 1, FAST, &[JUDGE_LATE]).await;
        let _camera = camera_of(&floor, 0).await;
        let (order, job) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        let has_photo = |job: &Value| job["attempts"][0]["photoFileId"].is_string();
        let job = floor.job_until("the picture", &job, has_photo).await;
        let photo = words(&job["attempts"][0], "photoFileId").to_owned();
        let file = floor.app.get(&format!("/api/files/{photo}")).await.expect(200);
        assert_eq!(file["kind"], "image", "{file}");
        let ending = if kind == PrinterKind::PrusaLink { ".png" } else { ".jpg" };
        let name = words(&file, "name");
        assert!(name.ends_with(ending) && name.contains(words(&job["attempts"][0], "id")), "{name}");
        let content = floor.app.open(floor.app.request("GET", &format!("/api/files/{photo}/content"))).await;
        let content = content.bytes().await.unwrap();
        assert!(kind == PrinterKind::PrusaLink || is_jpeg(&content));
        // A failed print too.
        floor.sim(0).handle.set_speed(SLOW);
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
        floor.app.job_is(&job, "CANCELLED").await;
        floor.job_until("the picture of what was cancelled", &job, has_photo).await;
    }

    #[drawn]
    async fn temperatures_are_kept_for_a_day(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        let path = floor.path(0, "/temperatures");
        let of = |history: &Value, heater: &str| {
            let mut all = history["heaters"].as_array().unwrap().iter();
            all.find(|one| one["heater"] == heater).map(|one| one["points"].as_array().unwrap().clone())
        };
        let history = until("the nozzle to be hot", || async {
            let history = floor.app.get(&path).await.expect(200);
            let last = of(&history, "tool0")?.last()?.clone();
            (last["target"].as_f64()? > 100.0 && last["max"].as_f64()? > 30.0).then_some(history)
        })
        .await;
        assert!(of(&history, "bed").is_some_and(|points| !points.is_empty()), "{history}");
        assert!(of(&history, "tool1").is_none(), "{history}");
        let one = floor.app.get(&format!("{path}?points=1&since=2026-01-01T00:00:00Z")).await.expect(200);
        assert_eq!(of(&one, "tool0").unwrap().len(), 1, "{one}");
        for wrong in ["points=0", "points=1001", "since=yesterday", "heater=bed"] {
            assert_eq!(floor.app.get(&format!("{path}?{wrong}")).await.error(400), "validation_failed", "{wrong}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn however_many_look_on_the_camera_is_asked_by_one() {
    let floor = Floor::new(PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
    let camera = Camera::start(None).await.unwrap();
    set(&floor, 0, &json!({"snapshotUrl": camera.stream_url()})).await;
    let all = join_all((0..60).map(|_| picture(&floor, 0))).await;
    assert!(all.iter().all(|(media, bytes)| media == "image/jpeg" && is_jpeg(bytes)));
    // One a second at most; a crowded machine may take some seconds for all.
    assert!(camera.requests().len() < 10, "{}", camera.requests().len());
    let pictures: std::collections::BTreeSet<_> = all.into_iter().map(|(_, bytes)| bytes).collect();
    assert!(pictures.len() <= camera.requests().len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_camera_is_told_of_and_slows_nobody() {
    let no_photos = ("PRINTFLOOR_PRINTERS__FINISH_PHOTOS", "false");
    let floor = Floor::new(PrinterKind::FwRest, 2, FAST, &[JUDGE_LATE, IMPATIENT_CAMERAS, no_photos]).await;
    let (camera, other) = (Camera::start(None).await.unwrap(), Camera::start(None).await.unwrap());
    let elsewhere = Camera::start(None).await.unwrap();
    set(&floor, 1, &json!({"snapshotUrl": other.snapshot_url()})).await;
    let sights = [
        (CameraContent::Html, 502, "camera_refused"),
        (CameraContent::Svg, 502, "camera_refused"),
        (CameraContent::Huge, 502, "camera_refused"),
        (CameraContent::Redirect(elsewhere.snapshot_url()), 502, "camera_refused"),
        (CameraContent::Stalls, 504, "camera_timeout"),
    ];
    for (n, (sight, status, code)) in sights.into_iter().enumerate() {
        // Another place is another camera, of which nothing bad is known yet.
        set(&floor, 0, &json!({"snapshotUrl": format!("{}&n={n}", camera.snapshot_url())})).await;
        camera.show(sight.clone());
        let answer = floor.app.get(&floor.path(0, "/camera")).await;
        assert!(!answer.text.contains("127.0.0.1") && !answer.text.contains("alert"), "{}", answer.text);
        assert_eq!(answer.error(status), code, "{sight:?}");
    }
    assert!(elsewhere.requests().is_empty());
    camera.show(CameraContent::Picture);
    for (n, (mood, status, code)) in [
        (ResponseMode::Status(401), 502, "camera_refused"),
        (ResponseMode::Status(500), 502, "camera_refused"),
        (ResponseMode::Hanging, 504, "camera_timeout"),
    ]
    .into_iter()
    .enumerate()
    {
        set(&floor, 0, &json!({"snapshotUrl": format!("{}&m={n}", camera.snapshot_url())})).await;
        camera.set_mood(mood);
        assert_eq!(refused(&floor, 0, status).await, code, "{mood:?}");
    }
    set(&floor, 0, &json!({"snapshotUrl": "http://127.0.0.1:9/"})).await;
    assert_eq!(refused(&floor, 0, 504).await, "camera_timeout");

    // It hangs, is left alone after three times, and its printer prints on.
    set(&floor, 0, &json!({"snapshotUrl": format!("{}&hangs", camera.snapshot_url())})).await;
    let hangs = || camera.requests().iter().filter(|uri| uri.ends_with("hangs")).count();
    for _ in 0..12 {
        assert_eq!(refused(&floor, 0, 504).await, "camera_timeout");
    }
    assert!(hangs() <= 5, "{}", hangs());
    picture(&floor, 1).await;
    let order = floor.order(2).await;
    floor.app.order_is(&order, "ready").await;
    floor.truth().await;
    camera.set_mood(ResponseMode::Well);
    until("the camera to be asked again", || async {
        let answer = floor.app.open(floor.app.request("GET", &floor.path(0, "/camera"))).await;
        (answer.status() == 200).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credentials_of_cameras_are_kept_sealed_and_shown_to_one_server() {
    for db in [Some(Db::sqlite()), Db::postgres_with_shop().await].into_iter().flatten() {
        let floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
        let camera = Camera::start(Some("viewer:se:cret")).await.unwrap();
        let camera_is =
            |printer: &Value| (printer["camera"]["snapshotUrl"].clone(), printer["camera"]["hasCredentials"].clone());
        set(&floor, 0, &json!({"snapshotUrl": camera.snapshot_url()})).await;
        assert_eq!(refused(&floor, 0, 502).await, "camera_refused");
        let printer =
            set(&floor, 0, &json!({"snapshotUrl": camera.snapshot_url(), "credentials": "viewer:se:cret"})).await;
        assert_eq!(camera_is(&printer), (json!(camera.snapshot_url()), json!(true)));
        assert!(!printer.to_string().contains("cret"), "{printer}");
        assert!(is_jpeg(&picture(&floor, 0).await.1));
        assert!(floor.app.log().iter().all(|line| !line.contains("se:cret")));

        // Another path of the same server: they stay. Another server: they go.
        let printer = set(&floor, 0, &json!({"snapshotUrl": camera.stream_url()})).await;
        assert_eq!(camera_is(&printer), (json!(camera.stream_url()), json!(true)));
        assert!(is_jpeg(&picture(&floor, 0).await.1));
        let printer = set(&floor, 0, &json!({"snapshotUrl": "http://127.0.0.1:9/"})).await;
        assert_eq!(camera_is(&printer).1, json!(false));
        let printer = set(&floor, 0, &Value::Null).await;
        assert!(printer["camera"].is_null(), "{printer}");

        let path = floor.path(0, "");
        for wrong in [
            "ftp://127.0.0.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://viewer:secret@127.0.0.1/",
            "http://127.0.0.1/snap?password=secret",
            "",
        ] {
            let answer = floor.app.patch(&path, &json!({"camera": {"snapshotUrl": wrong}})).await.expect(400);
            assert_eq!(answer["errors"][0]["path"], "camera.snapshotUrl", "{answer}");
        }
        let bare = json!({"camera": {"snapshotUrl": camera.snapshot_url(), "credentials": "viewer"}});
        assert_eq!(floor.app.patch(&path, &bare).await.expect(400)["errors"][0]["path"], "camera.credentials");
    }
}

/// Checks that the server calls no other machine because of a printer's report, which can be forged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_printer_leads_the_server_to_no_other_machine() {
    let floor = Floor::new(PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
    let elsewhere = Camera::start(None).await.unwrap();
    floor.sim(0).handle.set_camera(Some(&elsewhere.snapshot_url()));
    let answer = floor.app.get(&floor.path(0, "/camera")).await;
    assert!(words(&answer.json(), "message").contains("a different host"), "{}", answer.text);
    assert_eq!(answer.error(404), "no_camera");
    assert!(elsewhere.requests().is_empty());
}

/// Kills the server while the camera hangs, and checks that the picture is still taken after the restart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_that_is_due_survives_a_crash_and_holds_nothing_up() {
    for db in [Some(Db::sqlite()), Db::postgres_with_shop().await].into_iter().flatten() {
        let mut floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE, IMPATIENT_CAMERAS]).await;
        let camera = Camera::start(None).await.unwrap();
        set(&floor, 0, &json!({"snapshotUrl": camera.snapshot_url()})).await;
        camera.set_mood(ResponseMode::Hanging);
        let (order, job) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        floor.free(0).await;
        until("the camera to be asked", || async { (!camera.requests().is_empty()).then_some(()) }).await;
        assert!(floor.job(&job).await["attempts"][0]["photoFileId"].is_null());
        floor.app.kill_9();
        camera.set_mood(ResponseMode::Well);
        floor.app.start().await;
        let has_photo = |job: &Value| job["attempts"][0]["photoFileId"].is_string();
        let photo = floor.job_until("the picture", &job, has_photo).await["attempts"][0]["photoFileId"].clone();
        let photos = floor.app.get("/api/files?kind=image").await.expect(200);
        assert_eq!(photos["pagination"]["total"], 1, "{photos}");

        // The next print does not wait for a picture of this one.
        camera.set_mood(ResponseMode::Hanging);
        let order = floor.order(2).await;
        floor.app.order_is(&order, "ready").await;

        // When their time is over, pictures go, and nothing names them any more.
        floor.app.kill_9();
        floor.app.set_env("PRINTFLOOR_PRINTERS__KEEP_FINISH_PHOTOS_DAYS", "0.000001");
        floor.app.start().await;
        let gone = |job: &Value| job["attempts"][0]["photoFileId"].is_null();
        floor.job_until("the picture to be deleted", &job, gone).await;
        let path = format!("/api/files/{}", photo.as_str().unwrap());
        until("the file to be gone", || async { (floor.app.get(&path).await.status == 404).then_some(()) }).await;
    }
}
