//! The failure detection: it receives pictures of the shop's prints, and above a threshold the print is paused and
//! operators are notified.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::extract::Query;
use serde_json::json;
use simulator::faults::Delay;
use simulator::peers::camera::Camera;
use simulator::peers::detector::SimDetector;
use simulator::sink::Sink;
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::{degraded, quick};
use crate::support::app::Builder;
use crate::support::{App, Db, until};

fn watching(detector: &SimDetector) -> Builder {
    quick(Db::sqlite())
        .env("FAILURE_DETECTION_URL", detector.url())
        .env("FAILURE_DETECTION_TOKEN", "ml")
        .env("PRINTFLOOR_FAILURE_DETECTION__LOOK_INTERVAL_SECONDS", 0.05)
        .env("PRINTFLOOR_FAILURE_DETECTION__SAFE_FRAMES", 5)
}

/// Starts a print on a single printer with this camera; returns the fleet and the ID of the job.
async fn printing(app: &App, camera: Option<&str>) -> (Fleet, String) {
    let fleet = Fleet::start(FleetOptions { speed: 1.0, seed: 3, ..FleetOptions::of(PrinterKind::FwRest, 1) });
    let fleet = fleet.await.unwrap();
    fleet.printers[0].handle.set_camera(camera);
    let material = app.material("PLA black", 100.0).await;
    let file = app.gcode("part", 600, 10.0).await;
    let sku = app.sku("PART", &material, &file, 100).await;
    app.printer(&fleet.printers[0]).await;
    let order = app.paid_order(&sku, 1).await;
    let job = app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
    app.job_is(&job, "PRINTING").await;
    (fleet, job)
}

#[tokio::test]
async fn a_failing_print_is_paused_and_people_are_told_once() {
    let (detector, camera, sink) = (
        SimDetector::start(Some("ml")).await.unwrap(),
        Camera::start(None).await.unwrap(),
        Sink::start().await.unwrap(),
    );
    let app = watching(&detector).env("AGENT_URL", sink.url()).env("AGENT_TOKEN", "t").start().await;
    let (_fleet, job) = printing(&app, Some(&camera.snapshot_url())).await;
    until("pictures", || async { (detector.requests().len() > 10).then_some(()) }).await;
    assert!(detector.requests().iter().all(|url| *url == camera.snapshot_url()));
    detector.see(0.9);
    app.job_is(&job, "PAUSED").await;
    let alerts = || {
        let all = sink.received().into_iter().filter_map(|one| Some(one.json()["message"].as_str()?.to_owned()));
        all.filter(|message| message.contains("Possible print failure")).collect::<Vec<_>>()
    };
    until("the gateway to be told", || async { alerts().into_iter().find(|one| one.contains("The print was paused")) })
        .await;
    let events = app.get("/api/events?event=printer.failure_suspected&limit=50").await.expect(200);
    let paused = events["events"].as_array().unwrap().iter().filter(|event| event["data"]["paused"] == true).count();
    assert_eq!(paused, 1, "{events}");

    // A person looks, finds nothing, and goes on: it is not paused again for what was seen before.
    detector.see(0.0);
    app.act(&format!("/api/jobs/{job}/resume")).await.expect(200);
    app.job_is(&job, "PRINTING").await;
    let before = detector.requests().len();
    until("more pictures", || async { (detector.requests().len() > before + 20).then_some(()) }).await;
    app.job_is(&job, "PRINTING").await;
}

#[tokio::test]
async fn a_camera_that_comes_late_is_shown_within_the_same_print() {
    let (detector, camera) = (SimDetector::start(Some("ml")).await.unwrap(), Camera::start(None).await.unwrap());
    let app = watching(&detector).start().await;
    let (fleet, _) = printing(&app, None).await;
    until("words", || async { app.log().into_iter().find(|line| line.contains("no camera")) }).await;
    fleet.printers[0].handle.set_camera(Some(&camera.snapshot_url()));
    until("pictures", || async { (detector.requests().len() > 5).then_some(()) }).await;
}

/// Starts a detector that reports a failure in the pictures from one camera; returns its address and the number of
/// pictures by camera.
async fn detector_of(failing: &'static str) -> (String, Arc<Mutex<BTreeMap<String, usize>>>) {
    let pictures: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
    let counts = pictures.clone();
    let look = move |Query(query): Query<BTreeMap<String, String>>| {
        let url = query["img"].clone();
        let confidence = if url.contains(failing) { 0.95 } else { 0.0 };
        *counts.lock().unwrap().entry(url).or_default() += 1;
        async move { axum::Json(json!({"detections": [["failure", confidence, [1.5, 1.5, 1.5, 1.5]]]})) }
    };
    let router = axum::Router::new().route("/p/", axum::routing::get(look));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, pictures)
}

#[tokio::test]
async fn a_printer_that_is_slow_to_pause_keeps_no_other_from_being_watched() {
    let (detector, pictures) = detector_of("bad").await;
    let app = quick(Db::sqlite())
        .env("FAILURE_DETECTION_URL", detector)
        .env("PRINTFLOOR_FAILURE_DETECTION__LOOK_INTERVAL_SECONDS", 0.05)
        .env("PRINTFLOOR_FAILURE_DETECTION__SAFE_FRAMES", 0)
        .start()
        .await;
    let fleet = Fleet::start(FleetOptions { speed: 1.0, seed: 3, ..FleetOptions::of(PrinterKind::FwRest, 2) });
    let fleet = fleet.await.unwrap();
    let [bad, good] = &fleet.printers[..] else { panic!("two printers") };
    bad.handle.set_camera(Some("http://127.0.0.1:9/bad"));
    good.handle.set_camera(Some("http://127.0.0.1:9/good"));
    bad.handle.update_faults(|faults| faults.slow_commands = Some(Delay { after_ms: 60_000 }));
    let material = app.material("PLA black", 100.0).await;
    let file = app.gcode("part", 600, 10.0).await;
    let sku = app.sku("PART", &material, &file, 100).await;
    for sim in &fleet.printers {
        app.printer(sim).await;
    }
    let order = app.paid_order(&sku, 2).await;
    for job in app.jobs(&order).await {
        app.job_is(job["id"].as_str().unwrap(), "PRINTING").await;
    }
    let count =
        |camera: &str| pictures.lock().unwrap().iter().find(|(url, _)| url.contains(camera)).map_or(0, |(_, n)| *n);
    // From the third picture on it is sure, and the printer is asked to pause, which it does not answer.
    until("pictures beyond the conclusion", || async { (count("bad") > 20).then_some(()) }).await;
    let before = count("good");
    until("more pictures of the other", || async { (count("good") > before + 10).then_some(()) }).await;
    let events = app.get("/api/events?event=printer.failure_suspected").await.expect(200);
    let paused = events["events"].as_array().unwrap().iter().filter(|event| !event["data"]["paused"].is_null());
    assert_eq!(paused.count(), 0, "{events}");
}

#[tokio::test]
async fn without_pausing_people_are_told_only() {
    let (detector, camera) = (SimDetector::start(Some("ml")).await.unwrap(), Camera::start(None).await.unwrap());
    let app = watching(&detector).env("PRINTFLOOR_FAILURE_DETECTION__PAUSE", false).start().await;
    let (_fleet, job) = printing(&app, Some(&camera.snapshot_url())).await;
    until("pictures", || async { (detector.requests().len() > 10).then_some(()) }).await;
    detector.see(0.95);
    let event = until("the event", || async {
        let events = app.get("/api/events?event=printer.failure_suspected").await.expect(200);
        events["events"].as_array().unwrap().first().cloned()
    })
    .await;
    assert_eq!(event["data"]["paused"], json!(null), "{event}");
    app.job_is(&job, "PRINTING").await;
}

/// Checks a camera that requires credentials: the detector logs the addresses of pictures, so it fetches them through
/// this server.
#[tokio::test]
async fn a_camera_with_a_password_is_shown_by_a_signed_address_of_this_server() {
    for set_by_a_person in [false, true] {
        let detector = SimDetector::start(Some("ml")).await.unwrap();
        let camera = Camera::start(Some("admin:hunter2")).await.unwrap();
        let app = watching(&detector).start().await;
        let camera_url = camera.snapshot_url().replace("http://", "http://admin:hunter2@");
        let (_fleet, job) =
            printing(&app, Some(if set_by_a_person { "http://127.0.0.1:9/" } else { camera_url.as_str() })).await;
        let printer = app.get("/api/printers").await.expect(200)["printers"][0]["id"].as_str().unwrap().to_owned();
        if set_by_a_person {
            let set = json!({"camera": {"snapshotUrl": camera.stream_url(), "credentials": "admin:hunter2"}});
            app.patch(&format!("/api/printers/{printer}"), &set).await.expect(200);
            // The next print is looked at through it.
            app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
            app.job_is(&job, "CANCELLED").await;
            app.act(&format!("/api/printers/{printer}/bed-cleared")).await;
            app.act(&format!("/api/jobs/{job}/retry")).await.expect(200);
            app.job_is(&job, "PRINTING").await;
        }
        let path = format!("{}/api/printers/{printer}/camera/signed?", app.base);
        let ours = || detector.requests().into_iter().filter(|url| url.starts_with(&path)).collect::<Vec<_>>();
        until("pictures", || async { (ours().len() > 10).then_some(()) }).await;
        // A failure is seen, so the pictures arrived.
        detector.see(0.95);
        app.job_is(&job, "PAUSED").await;
        assert!(detector.requests().iter().chain(&app.log()).all(|text| !text.contains("hunter2")));
        let webcams = app.get(&format!("/api/printers/{printer}/webcams")).await.expect(200).to_string();
        assert!(!webcams.contains("hunter2"), "{webcams}");

        // The address is for everybody who has it, for this printer, and not to be made up.
        let signed = ours().pop().unwrap()[app.base.len()..].to_owned();
        let nobody = app.nobody();
        let answer = nobody.open(nobody.request("GET", &signed)).await;
        assert_eq!(answer.status().as_u16(), 200);
        assert_eq!(answer.headers()["content-type"], "image/jpeg");
        let other = signed.replace(&printer, "01890000-0000-7000-8000-00000000dead");
        let later = signed.replacen("until=1", "until=2", 1);
        for wrong in [other, later, signed.replace("signature=", "signature=00")] {
            assert_eq!(nobody.get(&wrong).await.error(404), "camera_link_not_found", "{wrong}");
        }
        assert_eq!(nobody.get(signed.split('?').next().unwrap()).await.error(400), "validation_failed");
        assert_eq!(nobody.get(&format!("/api/printers/{printer}/camera")).await.status, 401);
    }
}

#[tokio::test]
async fn a_picture_that_does_not_come_is_told_of_without_the_signature_of_its_address() {
    let detector = SimDetector::start(Some("ml")).await.unwrap();
    let app = watching(&detector).start().await;
    // Nobody answers there, and the detector repeats the address that it was given.
    let (_fleet, _) = printing(&app, Some("http://admin:hunter2@127.0.0.1:9/snapshot")).await;
    let body = until("the missing picture to be told of", || async {
        let body = app.get("/api/integrations").await.expect(200).to_string();
        body.contains("/camera/signed?").then_some(body)
    })
    .await;
    assert!(detector.requests().iter().any(|url| url.contains("signature=")), "{:?}", detector.requests());
    for text in app.log().iter().chain([&body]) {
        assert!(!text.contains("signature=") && !text.contains("until="), "{text}");
    }
}

#[tokio::test]
async fn a_wrong_token_is_said_in_words() {
    let (detector, camera) = (SimDetector::start(Some("other")).await.unwrap(), Camera::start(None).await.unwrap());
    let app = watching(&detector).start().await;
    let (_fleet, job) = printing(&app, Some(&camera.snapshot_url())).await;
    until("words", || async { degraded(&app).await.into_iter().find(|words| words.contains("rejects the token")) })
        .await;
    app.job_is(&job, "PRINTING").await;
}
