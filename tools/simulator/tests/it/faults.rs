use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use simulator::{
    PrinterKind,
    faults::{Delay, Echo, FailAt, RebootAt, SlowUpload},
    gcode::gcode,
    printer::PhysicalEvent,
};

use crate::lab::{Lab, PATIENCE, fw, lab, octo};

const BOTH: [PrinterKind; 2] = [PrinterKind::FwRest, PrinterKind::ServerRest];

/// Returns the path of a call that every kind of printer answers quickly.
fn probe(lab: &Lab) -> &'static str {
    if lab.printer.kind == PrinterKind::FwRest { "/server/info" } else { "/api/job" }
}

/// Returns the state that the printer reports for the file: `printing`, `complete` or `neither`.
async fn says(lab: &Lab) -> &'static str {
    if lab.printer.kind == PrinterKind::FwRest {
        match lab.print_stats().await["state"].as_str().unwrap() {
            "printing" => "printing",
            "complete" => "complete",
            _ => "neither",
        }
    } else {
        let job = lab.job().await;
        match (job["state"].as_str().unwrap(), job["progress"]["completion"].as_f64()) {
            ("Printing", _) => "printing",
            ("Operational", Some(100.0)) => "complete",
            _ => "neither",
        }
    }
}

#[tokio::test]
async fn refused_starts_are_errors_and_nothing_moves() {
    for kind in BOTH {
        let lab = lab(kind, 1.0).await;
        lab.upload("a.gcode", 1000).await;
        lab.faults(|faults| faults.refuse_start = true);
        assert!(lab.start("a.gcode").await.0.is_client_error());
        assert_eq!((lab.starts("a.gcode"), says(&lab).await), (0, "neither"));
    }
}

#[tokio::test]
async fn accepted_starts_may_never_happen() {
    for kind in BOTH {
        let lab = lab(kind, 1.0).await;
        lab.upload("a.gcode", 1000).await;
        lab.faults(|faults| faults.accept_but_never_start = true);
        assert!(lab.start("a.gcode").await.0.is_success());
        assert_eq!((lab.starts("a.gcode"), says(&lab).await), (0, "neither"));
    }
}

#[tokio::test]
async fn late_starts_happen_late_unless_the_file_is_gone() {
    for kind in BOTH {
        let lab = lab(kind, 1.0).await;
        lab.upload("a.gcode", 1000).await;
        lab.upload("b.gcode", 1000).await;
        lab.faults(|faults| faults.start_late = Some(Delay { after_ms: 600 }));
        assert!(lab.start("b.gcode").await.0.is_success());
        assert_eq!((lab.starts("b.gcode"), says(&lab).await), (0, "neither"));
        assert!(lab.remove("b.gcode").await.is_success(), "an accepted start does not hold the file");
        lab.logged(|what| matches!(what, PhysicalEvent::LateStartFellThrough { filename } if filename == "b.gcode"))
            .await;
        assert!(lab.start("a.gcode").await.0.is_success());
        lab.logged(|what| matches!(what, PhysicalEvent::Started { filename } if filename == "a.gcode")).await;
        assert_eq!((lab.starts("b.gcode"), says(&lab).await), (0, "printing"));
    }
}

#[tokio::test]
async fn a_hanging_printer_accepts_and_never_answers_but_its_controls_do() {
    for kind in BOTH {
        let lab = lab(kind, 1.0).await;
        let (status, _) = lab.post_json("/_sim/faults", json!({"hang": true})).await;
        assert_eq!(status, StatusCode::OK);
        let outcome = lab.request(Method::GET, probe(&lab)).timeout(Duration::from_millis(150)).send().await;
        assert!(outcome.unwrap_err().is_timeout());
        assert_eq!(lab.get("/_sim/faults").await.1["hang"], true);
        lab.post_json("/_sim/faults", json!({"hang": null})).await;
        assert_eq!(lab.get(probe(&lab)).await.0, StatusCode::OK);
    }
}

#[tokio::test]
async fn slow_uploads_take_their_bytes_time() {
    for kind in BOTH {
        let lab = lab(kind, 1.0).await;
        lab.faults(|faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 100_000 }));
        let before = std::time::Instant::now();
        let (status, _) = lab.send(lab.upload_request("a.gcode", vec![b'\n'; 40_000], &[])).await;
        assert_eq!(status, StatusCode::CREATED);
        assert!(before.elapsed() >= Duration::from_millis(390), "took {:?}", before.elapsed());
    }
}

#[tokio::test]
async fn dropped_uploads_are_stored_and_not_answered() {
    for kind in BOTH {
        let lab = lab(kind, 1.0).await;
        lab.faults(|faults| faults.drop_after_upload = true);
        let failed =
            lab.upload_request("a.gcode", gcode("a", 10, 1.0, 1.0).into_bytes(), &[]).send().await.unwrap_err();
        assert!(!failed.is_timeout() && failed.status().is_none());
        assert!(
            matches!(&lab.printer.handle.log()[0].what, PhysicalEvent::Uploaded { filename, .. } if filename == "a.gcode")
        );
        assert!(lab.start("a.gcode").await.0.is_success());
    }
}

#[tokio::test]
async fn as_many_uploads_are_cut_as_the_fault_says() {
    for kind in BOTH {
        let lab = lab(kind, 1.0).await;
        lab.faults(|faults| faults.cut_uploads = 1);
        let cut = lab.upload_request("a.gcode", vec![b'\n'; 1000], &[]).send().await.unwrap_err();
        assert!(!cut.is_timeout() && cut.status().is_none());
        assert!(lab.printer.handle.log().is_empty());
        let (status, _) = lab.send(lab.upload_request("a.gcode", vec![b'\n'; 1000], &[])).await;
        assert_eq!(status, StatusCode::CREATED);
    }
}

#[tokio::test]
async fn as_many_requests_are_lost_as_the_fault_says() {
    for kind in BOTH {
        let lab = lab(kind, 1.0).await;
        lab.faults(|faults| faults.lost_requests = 1);
        let answer = tokio::time::timeout(Duration::from_millis(200), lab.get(probe(&lab))).await;
        assert!(answer.is_err(), "{answer:?}");
        assert_eq!(lab.get(probe(&lab)).await.0, StatusCode::OK);
    }
}

#[tokio::test]
async fn queries_are_answered_late() {
    for kind in BOTH {
        let lab = lab(kind, 1.0).await;
        lab.faults(|faults| faults.queries_answer_late = Some(Delay { after_ms: 400 }));
        let before = std::time::Instant::now();
        assert_eq!(lab.get(probe(&lab)).await.0, StatusCode::OK);
        assert!(before.elapsed() >= Duration::from_millis(390), "took {:?}", before.elapsed());
    }
}

#[tokio::test]
async fn disconnecting_cuts_running_uploads_and_refuses_new_requests() {
    for kind in BOTH {
        let lab = lab(kind, 1.0).await;
        lab.faults(|faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 1 }));
        let upload = tokio::spawn(lab.upload_request("a.gcode", vec![b'\n'; 1000], &[]).send());
        lab.post_json("/_sim/faults", json!({"disconnect": true})).await;
        let cut = tokio::time::timeout(PATIENCE, upload).await.unwrap().unwrap();
        assert!(cut.unwrap_err().status().is_none());
        assert!(!lab.request(Method::GET, probe(&lab)).send().await.unwrap_err().is_timeout());
        assert_eq!(lab.get("/_sim/log").await.1["log"], json!([]));
        lab.post_json("/_sim/faults", json!({"disconnect": false})).await;
        assert_eq!(lab.get(probe(&lab)).await.0, StatusCode::OK);
    }
}

#[tokio::test]
async fn an_accepted_start_may_be_the_last_that_a_printer_hears() {
    for kind in BOTH {
        let lab = lab(kind, 1.0).await;
        lab.upload("a.gcode", 1000).await;
        lab.faults(|faults| {
            faults.disconnect_at_start = true;
            faults.refuse_start = true;
        });
        assert!(lab.start("a.gcode").await.0.is_client_error(), "a rejected start cuts nothing");
        lab.faults(|faults| {
            faults.accept_but_never_start = true;
            faults.refuse_start = false;
        });
        let start = if kind == PrinterKind::FwRest {
            lab.request(Method::POST, "/printer/print/start?filename=a.gcode")
        } else {
            let select = json!({"command": "select", "print": true});
            lab.request(Method::POST, "/api/files/local/a.gcode").json(&select)
        };
        // The response may have been sent before the cut.
        let _ = start.send().await;
        assert_eq!(lab.printer.handle.with(|machine| machine.withheld_starts()), 1);
        assert!(!lab.request(Method::GET, probe(&lab)).send().await.unwrap_err().is_timeout());
        lab.faults(|faults| faults.disconnect = false);
        assert!(!lab.printer.handle.faults().disconnect_at_start, "once");
        assert_eq!(lab.get(probe(&lab)).await.0, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_reboot_loses_the_print_and_keeps_the_file() {
    for kind in BOTH {
        let lab = lab(kind, 1000.0).await;
        lab.upload("a.gcode", 200).await;
        lab.faults(|faults| faults.reboot_at = Some(RebootAt { progress: 0.5, forget: false }));
        lab.start("a.gcode").await;
        let log = lab.logged(|what| *what == PhysicalEvent::Restarted).await;
        let what: Vec<_> = log.into_iter().skip(1).map(|entry| entry.what).collect();
        let filename = || "a.gcode".to_owned();
        assert_eq!(
            what,
            [
                PhysicalEvent::Started { filename: filename() },
                PhysicalEvent::Rebooted,
                PhysicalEvent::Interrupted { filename: filename() },
                PhysicalEvent::Restarted
            ]
        );
        assert_eq!(says(&lab).await, "neither");
        if kind == PrinterKind::FwRest {
            assert_eq!(lab.print_stats().await["state"], "standby");
            assert_eq!(lab.get("/server/history/list").await.1["result"]["jobs"][0]["status"], "interrupted");
        } else {
            assert_eq!(lab.job().await["state"], "Operational");
        }
        assert!(lab.start("a.gcode").await.0.is_success(), "the file is still there, and the fault is used up");
        lab.finished().await;
    }
}

#[tokio::test]
async fn a_rebooting_printer_does_not_answer_and_may_forget() {
    let lab = fw(1.0).await;
    lab.upload("a.gcode", 200).await;
    lab.start("a.gcode").await;
    lab.post_json("/_sim/reboot", json!({"forget": true})).await;
    assert!(!lab.request(Method::GET, "/server/info").send().await.unwrap_err().is_timeout());
    // What is arranged keeps its real time; only what follows goes at the new speed. So the boot is cut short by
    // another one.
    lab.printer.handle.set_speed(10_000.0);
    lab.printer.handle.reboot(false);
    lab.logged(|what| *what == PhysicalEvent::Restarted).await;
    assert_eq!(lab.get("/server/history/list").await.1["result"]["count"], 0);
}

#[tokio::test]
async fn a_changed_key_refuses_the_old_one() {
    let lab = fw(1.0).await;
    lab.faults(|faults| faults.wrong_key = true);
    assert_eq!(lab.get("/server/info").await.0, StatusCode::UNAUTHORIZED);
    let lab = octo(1.0).await;
    lab.faults(|faults| faults.wrong_key = true);
    assert_eq!(lab.get("/api/version").await.0, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_duplicate_finish_is_reported_twice_and_happens_once() {
    for kind in BOTH {
        let lab = lab(kind, 1000.0).await;
        lab.upload("a.gcode", 100).await;
        lab.faults(|faults| faults.duplicate_finish = Some(Echo { after_ms: 800, for_ms: 800 }));
        lab.start("a.gcode").await;
        lab.finished().await;
        assert_eq!(says(&lab).await, "complete");
        lab.printer.handle.until(simulator::printer::Machine::echoes).await;
        assert_eq!(says(&lab).await, "printing");
        lab.printer.handle.until(|machine| !machine.echoes()).await;
        assert_eq!(says(&lab).await, "complete");
        let finishes = lab
            .printer
            .handle
            .log()
            .iter()
            .filter(|entry| matches!(entry.what, PhysicalEvent::Finished { .. }))
            .count();
        assert_eq!((lab.starts("a.gcode"), finishes), (1, 1));
    }
}

#[tokio::test]
async fn a_print_may_fail_by_itself() {
    let lab = fw(1000.0).await;
    lab.upload("a.gcode", 100).await;
    lab.faults(|faults| faults.fail_at = Some(FailAt { progress: 0.25 }));
    lab.start("a.gcode").await;
    lab.logged(|what| matches!(what, PhysicalEvent::Failed { .. })).await;
    let stats = lab.print_stats().await;
    assert_eq!((&stats["state"], &stats["message"]), (&json!("error"), &json!("Extrude below minimum temp")));
    assert!((stats["filament_used"].as_f64().unwrap() - 250.0).abs() < 1.0);
}

#[tokio::test]
async fn a_shut_down_board_stays_so_until_the_fault_is_mended_and_it_is_restarted() {
    let lab = fw(1000.0).await;
    lab.faults(|faults| faults.firmware_shutdown = true);
    assert_eq!(lab.get("/server/info").await.1["result"]["klippy_state"], "shutdown");
    lab.post("/printer/firmware_restart").await;
    let shutdowns = |log: &[simulator::printer::LogEntry]| {
        log.iter().filter(|entry| entry.what == PhysicalEvent::FirmwareShutdown).count() == 2
    };
    lab.printer.handle.wait_for_log(shutdowns, PATIENCE).await.unwrap();
    lab.faults(|faults| faults.firmware_shutdown = false);
    assert_eq!(lab.get("/server/info").await.1["result"]["klippy_state"], "shutdown");
    lab.post("/printer/firmware_restart").await;
    lab.logged(|what| *what == PhysicalEvent::Restarted).await;
    assert_eq!(lab.get("/server/info").await.1["result"]["klippy_state"], "ready");
}

#[tokio::test]
async fn every_second_answer_is_an_error_in_the_protocols_shape_and_some_of_them_lie() {
    for kind in BOTH {
        let lab = lab(kind, 1.0).await;
        lab.faults(|faults| faults.every_second_answer_an_error = true);
        let first = lab.get(probe(&lab)).await;
        let (second, shape) = lab.upload("not-done.gcode", 1).await;
        assert_eq!((first.0, second), (StatusCode::OK, StatusCode::INTERNAL_SERVER_ERROR));
        assert!(if kind == PrinterKind::FwRest { shape["error"]["code"] == 500 } else { shape["error"].is_string() });
        assert_eq!(lab.get(probe(&lab)).await.0, StatusCode::OK);
        assert_eq!(lab.upload("done.gcode", 1).await.0, StatusCode::INTERNAL_SERVER_ERROR);
        let stored: Vec<_> =
            lab.printer.handle.log().into_iter().filter_map(|entry| entry.what.filename().map(str::to_owned)).collect();
        assert_eq!(stored, ["done.gcode"]);
    }
}

#[tokio::test]
async fn the_log_is_readable_over_http_from_any_point() {
    let lab = fw(1.0).await;
    lab.upload("a.gcode", 1000).await;
    lab.start("a.gcode").await;
    let (_, body) = lab.get("/_sim/log?after=0").await;
    let entries = body["log"].as_array().unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(
        (&entries[0]["seq"], &entries[0]["what"], &entries[0]["filename"]),
        (&json!(1), &json!("started"), &json!("a.gcode"))
    );
    let entry: simulator::printer::LogEntry = serde_json::from_value(entries[0].clone()).unwrap();
    assert_eq!(entry.what, PhysicalEvent::Started { filename: "a.gcode".to_owned() });
    let (status, error) = lab.post_json("/_sim/faults", json!({"no_such_fault": true})).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(error["error"].as_str().unwrap().contains("no_such_fault"));
    assert_eq!(lab.get("/_sim/faults").await.1["start_late"], Value::Null);
}
