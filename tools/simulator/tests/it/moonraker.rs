use reqwest::{Method, StatusCode};
use serde_json::json;
use simulator::{
    faults::HostDisconnect,
    gcode::gcode,
    printer::{PhysicalEvent, PrintPhase},
};

use crate::lab::fw;

#[tokio::test]
async fn wrong_or_missing_key_is_401_in_the_error_envelope() {
    let lab = fw(1.0).await;
    let bare = lab.client.get(format!("{}/server/info", lab.base));
    let (status, body) = lab.send(bare).await;
    assert_eq!(
        (status, &body["error"]["code"], &body["error"]["message"]),
        (StatusCode::UNAUTHORIZED, &json!(401), &json!("Unauthorized"))
    );
    let wrong = lab.client.get(format!("{}/server/info", lab.base)).header("X-Api-Key", "nope");
    assert_eq!(lab.send(wrong).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(lab.get("/server/info").await.1["result"]["klippy_state"], "ready");
}

#[tokio::test]
async fn one_shot_tokens_work_once() {
    let lab = fw(1.0).await;
    let token = lab.get("/access/oneshot_token").await.1["result"].as_str().unwrap().to_owned();
    let by_token = || lab.client.get(format!("{}/server/info?token={token}", lab.base));
    assert_eq!(lab.send(by_token()).await.0, StatusCode::OK);
    assert_eq!(lab.send(by_token()).await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn unknown_routes_and_wrong_verbs_keep_the_envelope() {
    let lab = fw(1.0).await;
    assert_eq!(lab.get("/server/nothing").await.1["error"]["code"], 404);
    assert_eq!(lab.get("/printer/print/pause").await.1["error"]["code"], 405);
}

#[tokio::test]
async fn uploads_answer_201_unwrapped_and_say_whether_they_started() {
    let lab = fw(1.0).await;
    let request = lab.upload_request(
        "a.gcode",
        gcode("a", 100, 5.0, 1000.0).into_bytes(),
        &[("path", "jobs"), ("print", "true")],
    );
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), StatusCode::CREATED);
    assert!(response.headers()["location"].to_str().unwrap().ends_with("/server/files/gcodes/jobs/a.gcode"));
    let body: serde_json::Value = response.json().await.unwrap();
    assert_eq!(
        (&body["item"]["path"], &body["item"]["root"], &body["action"]),
        (&json!("jobs/a.gcode"), &json!("gcodes"), &json!("create_file"))
    );
    assert_eq!((&body["print_started"], &body["print_queued"]), (&json!(true), &json!(false)));
    assert_eq!(lab.print_stats().await["filename"], "jobs/a.gcode");
    // A second one cannot start: 201 all the same.
    let (status, body) =
        lab.send(lab.upload_request("b.gcode", gcode("b", 100, 5.0, 1000.0).into_bytes(), &[("print", "true")])).await;
    assert_eq!((status, &body["print_started"]), (StatusCode::CREATED, &json!(false)));
    // The file in print cannot be replaced, and the error hides its words.
    let (status, body) = lab.send(lab.upload_request("jobs/a.gcode", b"G28\n".to_vec(), &[])).await;
    assert_eq!((status, &body["error"]["message"]), (StatusCode::FORBIDDEN, &json!("Forbidden")));
}

#[tokio::test]
async fn uploads_are_checked() {
    let lab = fw(1.0).await;
    let bad_sum = lab.upload_request("a.gcode", b"G28\n".to_vec(), &[("checksum", "00")]);
    assert_eq!(lab.send(bad_sum).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    let bad_root = lab.upload_request("a.gcode", b"G28\n".to_vec(), &[("root", "elsewhere")]);
    assert_eq!(lab.send(bad_root).await.0, StatusCode::BAD_REQUEST);
    let outside = lab.upload_request("a.gcode", b"G28\n".to_vec(), &[("path", "../..")]);
    assert_eq!(lab.send(outside).await.0, StatusCode::BAD_REQUEST);
    assert!(lab.printer.handle.log().is_empty());
}

#[tokio::test]
async fn files_are_listed_described_served_and_deleted() {
    let lab = fw(1.0).await;
    lab.upload("part.gcode", 3723).await;
    assert_eq!(lab.get("/server/files/list?root=gcodes").await.1["result"][0]["path"], "part.gcode");
    let metadata = lab.get("/server/files/metadata?filename=part.gcode").await.1["result"].clone();
    assert_eq!(
        (&metadata["estimated_time"], &metadata["filament_total"], &metadata["filament_weight_total"]),
        (&json!(3723.0), &json!(1000.0), &json!(5.0))
    );
    assert_eq!(metadata["slicer"], "PrusaSlicer");
    let picture = metadata["thumbnails"][0]["relative_path"].as_str().unwrap();
    let png = lab
        .request(Method::GET, &format!("/server/files/gcodes/{picture}"))
        .send()
        .await
        .unwrap()
        .bytes()
        .await
        .unwrap();
    assert_eq!(png, simulator::gcode::sample_png());
    let raw = lab.request(Method::GET, "/server/files/gcodes/part.gcode").send().await.unwrap().bytes().await.unwrap();
    assert_eq!(raw, gcode("part.gcode", 3723, 5.0, 1000.0).as_bytes());
    let (status, body) = lab.delete("/server/files/gcodes/part.gcode").await;
    assert_eq!((status, &body["result"]["action"]), (StatusCode::OK, &json!("delete_file")));
    // Not found is 400, not 404; metadata of it is 404.
    assert_eq!(lab.remove("part.gcode").await, StatusCode::BAD_REQUEST);
    assert_eq!(lab.get("/server/files/metadata?filename=part.gcode").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_print_runs_for_the_slicers_estimate_divided_by_the_speed() {
    let lab = fw(100.0).await;
    lab.upload("a.gcode", 50).await;
    let before = std::time::Instant::now();
    assert_eq!(lab.start("a.gcode").await.1, json!({"result": "ok"}));
    lab.finished().await;
    let took = before.elapsed().as_secs_f64();
    assert!((0.45..40.0).contains(&took), "took {took} s");
    let stats = lab.print_stats().await;
    assert_eq!((&stats["state"], &stats["filename"]), (&json!("complete"), &json!("a.gcode")));
    assert_eq!(stats["filament_used"], 1000.0);
    let log = lab.printer.handle.log();
    let lasted = log[2].at.duration_since(log[1].at).as_millis();
    assert!((499..=501).contains(&lasted), "lasted {lasted} ms");
}

#[tokio::test]
async fn a_speed_set_while_it_prints_acts_from_then_on() {
    let lab = fw(1.0).await;
    lab.upload("a.gcode", 10_000).await;
    lab.start("a.gcode").await;
    let (status, body) = lab.post_json("/_sim/speed", json!({"speed": 1_000_000})).await;
    assert_eq!((status, &body["speed"]), (StatusCode::OK, &json!(1_000_000.0)));
    lab.finished().await;
    assert_eq!(lab.post_json("/_sim/speed", json!({"speed": 0})).await.0, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn starts_are_refused_for_busy_printers_and_missing_files() {
    let lab = fw(1.0).await;
    lab.upload("a.gcode", 1000).await;
    assert_eq!(lab.start("none.gcode").await.1["error"]["message"], "Unable to open file");
    assert_eq!(lab.start("A.GCODE").await.0, StatusCode::OK, "names match without case as a last resort");
    let (status, body) = lab.start("a.gcode").await;
    assert_eq!((status, &body["error"]["message"]), (StatusCode::BAD_REQUEST, &json!("SD busy")));
    assert_eq!(lab.remove("a.gcode").await, StatusCode::FORBIDDEN);
    assert_eq!(lab.starts("a.gcode"), 1);
}

#[tokio::test]
async fn pause_resume_and_cancel_are_idempotent_and_show_in_print_stats() {
    let lab = fw(1.0).await;
    lab.upload("a.gcode", 1000).await;
    assert_eq!(lab.post("/printer/print/pause").await.0, StatusCode::OK, "nothing to pause is ok too");
    lab.start("a.gcode").await;
    assert_eq!(lab.print_stats().await["state"], "printing");
    lab.post("/printer/print/pause").await;
    assert_eq!(lab.print_stats().await["state"], "paused");
    assert_eq!(lab.remove("a.gcode").await, StatusCode::FORBIDDEN, "paused is in use");
    assert_eq!(lab.post("/printer/print/pause").await.0, StatusCode::OK);
    lab.post("/printer/print/resume").await;
    assert_eq!(lab.print_stats().await["state"], "printing");
    lab.post("/printer/print/cancel").await;
    assert_eq!(lab.print_stats().await["state"], "cancelled");
    assert_eq!(lab.post("/printer/print/cancel").await.0, StatusCode::OK);
    let what: Vec<_> = lab.printer.handle.log().into_iter().map(|entry| entry.what).collect();
    let filename = || "a.gcode".to_owned();
    assert_eq!(
        what[1..],
        [
            PhysicalEvent::Started { filename: filename() },
            PhysicalEvent::Paused { filename: filename() },
            PhysicalEvent::Resumed { filename: filename() },
            PhysicalEvent::Cancelled { filename: filename() }
        ]
    );
}

#[tokio::test]
async fn a_slow_pause_answers_only_when_it_is_done() {
    let lab = fw(1.0).await;
    lab.upload("a.gcode", 1000).await;
    lab.start("a.gcode").await;
    lab.faults(|faults| faults.slow_commands = Some(simulator::faults::Delay { after_ms: 1_000 }));
    let pause = lab.post("/printer/print/pause");
    tokio::pin!(pause);
    let pausing = lab.printer.handle.until(|machine| machine.job().unwrap().phase == PrintPhase::Pausing);
    tokio::select! {
        biased; // an answer before the end of the move is the fault
        _ = &mut pause => panic!("answered while still moving"),
        () = pausing => {}
    }
    assert_eq!(lab.print_stats().await["state"], "printing");
    assert_eq!(pause.await.0, StatusCode::OK);
    assert_eq!(lab.print_stats().await["state"], "paused");
}

#[tokio::test]
async fn history_remembers_how_prints_ended() {
    let lab = fw(1000.0).await;
    for name in ["a.gcode", "b.gcode"] {
        lab.upload(name, 100_000).await;
        lab.start(name).await;
        lab.post("/printer/print/cancel").await;
    }
    lab.upload("c.gcode", 10).await;
    lab.start("c.gcode").await;
    lab.finished().await;
    lab.start("a.gcode").await;
    let list = lab.get("/server/history/list").await.1["result"].clone();
    let statuses: Vec<_> = list["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| (job["filename"].as_str().unwrap(), job["status"].as_str().unwrap()))
        .collect();
    assert_eq!(
        statuses,
        [("a.gcode", "in_progress"), ("c.gcode", "completed"), ("b.gcode", "cancelled"), ("a.gcode", "cancelled")]
    );
    assert!(list["jobs"][0]["end_time"].is_null() && list["jobs"][1]["end_time"].is_number());
    let id = list["jobs"][1]["job_id"].as_str().unwrap();
    let job = lab.get(&format!("/server/history/job?uid={id}")).await.1["result"]["job"].clone();
    assert_eq!(
        (&job["filename"], &job["filament_used"], &job["exists"]),
        (&json!("c.gcode"), &json!(1000.0), &json!(true))
    );
    assert_eq!(lab.get("/server/history/job?uid=FFFFFF").await.0, StatusCode::NOT_FOUND);
    assert_eq!(lab.get("/server/history/list?limit=1&order=asc").await.1["result"]["jobs"][0]["status"], "cancelled");
}

#[tokio::test]
async fn emergency_stop_shuts_down_until_a_firmware_restart() {
    let lab = fw(100.0).await;
    lab.upload("a.gcode", 100_000).await;
    lab.start("a.gcode").await;
    assert_eq!(lab.post("/printer/emergency_stop").await.1, json!({"result": "ok"}));
    assert_eq!(lab.get("/server/info").await.1["result"]["klippy_state"], "shutdown");
    let (status, body) = lab
        .get("/printer/objects/query?webhooks&print_stats&toolhead=homed_axes&extruder=target,nonsense&nonsense")
        .await;
    let objects = &body["result"]["status"];
    assert_eq!((status, &objects["webhooks"]["state"]), (StatusCode::OK, &json!("shutdown")));
    assert!(objects["webhooks"]["state_message"].as_str().unwrap().starts_with("Shutdown due to webhooks request"));
    assert_eq!(objects["print_stats"]["state"], "paused");
    assert_eq!(objects["toolhead"], json!({"homed_axes": ""}));
    assert_eq!(objects["extruder"], json!({"target": 0.0, "nonsense": null}));
    assert!(objects.get("nonsense").is_none());
    let (status, body) = lab.start("a.gcode").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    // A reason phrase has one line: words of several lines stand in the traceback only.
    assert_eq!(body["error"]["message"], "Unknown");
    assert!(body["error"]["traceback"].as_str().unwrap().contains("ServerError: Shutdown due to webhooks request"));
    assert_eq!(lab.post("/printer/gcode/script?script=G28").await.0, StatusCode::BAD_REQUEST);
    assert_eq!(lab.post("/printer/firmware_restart").await.0, StatusCode::OK);
    lab.logged(|what| *what == PhysicalEvent::Restarted).await;
    let stats = lab.print_stats().await;
    assert_eq!((&stats["state"], &stats["filename"]), (&json!("standby"), &json!("")));
    assert_eq!(lab.get("/server/history/list").await.1["result"]["jobs"][0]["status"], "klippy_shutdown");
}

#[tokio::test]
async fn gcode_homes_and_heats_and_answers_when_done() {
    let lab = fw(1000.0).await;
    let homed = || async {
        lab.get("/printer/objects/query?toolhead=homed_axes").await.1["result"]["status"]["toolhead"]["homed_axes"]
            .clone()
    };
    assert_eq!(homed().await, "");
    assert_eq!(
        lab.post_json("/printer/gcode/script", json!({"script": "G28\nM104 S200"})).await.1,
        json!({"result": "ok"})
    );
    assert_eq!(homed().await, "xyz");
    let heater = lab.get("/printer/objects/query?extruder=target").await.1;
    assert_eq!(heater["result"]["status"]["extruder"]["target"], 200.0);
    lab.post("/printer/gcode/script?script=M84").await;
    assert_eq!(homed().await, "");
}

#[tokio::test]
async fn klipper_away_is_404_503_or_400_by_how_it_is_away() {
    let lab = fw(1000.0).await;
    let query = "/printer/objects/query?print_stats";
    lab.faults(|faults| faults.away = Some(HostDisconnect::NeverConnected));
    assert_eq!(lab.get(query).await.0, StatusCode::NOT_FOUND);
    assert_eq!(lab.post("/printer/print/pause").await.0, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(lab.get("/server/info").await.1["result"]["klippy_state"], "disconnected");
    lab.faults(|faults| faults.away = Some(HostDisconnect::Disconnected));
    assert_eq!(lab.get(query).await.1["error"]["message"], "Klippy Host not connected");
    assert_eq!(lab.get(query).await.0, StatusCode::SERVICE_UNAVAILABLE);
    lab.faults(|faults| faults.away = None);
    lab.logged(|what| *what == PhysicalEvent::Restarted).await;
    assert_eq!(lab.get(query).await.0, StatusCode::OK);
}

#[tokio::test]
async fn json_rpc_over_http_answers_errors_with_200() {
    let lab = fw(1.0).await;
    let (status, body) = lab
        .post_json(
            "/server/jsonrpc",
            json!({"jsonrpc": "2.0", "method": "printer.print.start", "params": {"filename": "x"}, "id": 4}),
        )
        .await;
    assert_eq!((status, &body["error"]["code"], &body["id"]), (StatusCode::OK, &json!(400), &json!(4)));
    let (_, body) = lab.post_json("/server/jsonrpc", json!({"jsonrpc": "2.0", "method": "no.such", "id": 5})).await;
    assert_eq!(body["error"]["code"], -32601);
    let (_, body) = lab.post_json("/server/jsonrpc", json!({"jsonrpc": "2.0", "method": "server.info", "id": 6})).await;
    assert_eq!(body["result"]["klippy_state"], "ready");
}

#[tokio::test]
async fn programs_that_upload_to_octoprint_find_a_version() {
    let lab = fw(1.0).await;
    let (status, body) = lab.get("/api/version").await;
    assert_eq!((status, &body["api"]), (StatusCode::OK, &json!("0.1")));
    assert!(body["text"].as_str().unwrap().starts_with("OctoPrint"));
}
