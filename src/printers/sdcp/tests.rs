//! Tests of message parsing, and of the adapter against the virtual printer.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use simulator::printer::PhysicalEvent;
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::message::{self, PrinterMessage, PrinterRequest};
use super::status;
use crate::adapter::{Deleted, Operation, PrinterError};
use crate::adapter_parts::Settings;
use crate::tests::{file, settings, with_key};
use domain::printer_status::{Activity, Connection, PrintEnd};
use domain::time::Timestamp;

const AT: Timestamp = Timestamp(1_700_000_000_000);

fn status_json(number: i64, machine: &[i64], progress: i64, error: i64) -> Value {
    json!({
        "CurrentStatus": machine, "TempOfNozzle": 210.4, "TempOfHotbed": [60, 60.1],
        "PrintInfo": {
            "Status": number, "Filename": "/local/JOB-000001_x.gcode", "CurrentTicks": 60.0, "TotalTicks": 180, "Progress": progress,
            "ErrorNumber": error,
        },
    })
}

#[test]
fn numbers_are_read_and_one_that_is_not_known_proves_nothing() {
    let (printing, idle) = (Activity::Printing, Activity::Idle);
    for (number, machine, progress, error, state, ended, named) in [
        (0, &[0][..], 0, 0, idle, None, false),
        (13, &[1], 40, 0, printing, None, true),
        (16, &[1], 0, 0, printing, None, true),
        (1, &[1], 0, 0, printing, None, true),
        (18, &[1], 0, 0, printing, None, true),
        (21, &[1], 0, 0, printing, None, true),
        (5, &[1], 40, 0, printing, None, true),
        (6, &[1], 40, 0, Activity::Paused, None, true),
        (7, &[1], 40, 0, printing, None, true),
        (8, &[0], 40, 0, idle, Some(PrintEnd::Cancelled), true),
        (8, &[0], 40, 19, idle, Some(PrintEnd::Failed), true),
        (9, &[0], 99, 0, idle, Some(PrintEnd::Finished), true),
        // Over, and nobody says how.
        (3, &[0], 40, 0, idle, None, true),
        (4, &[0], 100, 0, idle, Some(PrintEnd::Finished), true),
        (14, &[0], 40, 19, Activity::Error, Some(PrintEnd::Failed), true),
        (77, &[0], 40, 0, printing, None, false),
        // It receives a file, and is free; it calibrates, tests itself, or begins something, and is not.
        (0, &[2], 0, 0, idle, None, false),
        (9, &[3], 100, 0, printing, None, false),
        (0, &[4], 0, 0, printing, None, false),
        (0, &[1], 0, 0, printing, None, false),
    ] {
        let status = status::read(&status_json(number, machine, progress, error), AT);
        let name = named.then_some("JOB-000001_x.gcode");
        assert_eq!((status.state, status.ended, status.file.as_deref()), (state, ended, name), "{number} {machine:?}");
    }
    let status = status::read(&status_json(13, &[1], 40, 0), AT);
    assert_eq!((status.progress, status.remaining_seconds, status.cancelling), (40.0, Some(120), false));
    assert_eq!((status.nozzle, status.bed, status.connection), (210.4, 60.1, Connection::Connected));
    assert!(status::read(&status_json(7, &[1], 40, 0), AT).cancelling);
    assert!(status::read(&status_json(14, &[0], 0, 19), AT).message.unwrap().contains("error 19"));
    assert!(status::read(&status_json(77, &[0], 0, 0), AT).message.unwrap().contains("77"));
}

#[test]
fn a_start_says_everything_that_the_firmware_reads() {
    let text = PrinterRequest::Start("a.gcode".into()).message("r1", "B0", 5);
    let message: Value = serde_json::from_str(&text).unwrap();
    let expected = json!({
        "Filename": "/local/a.gcode", "StartLayer": 0, "Calibration_switch": 0, "PrintPlatformType": 0, "Tlp_Switch": 0, "slot_map": [],
    });
    assert_eq!(message["Data"]["Data"], expected);
    assert_eq!((&message["Data"]["Cmd"], &message["Data"]["RequestID"]), (&json!(128), &json!("r1")));
    assert_eq!((&message["Topic"], &message["Data"]["MainboardID"]), (&json!("sdcp/request/B0"), &json!("B0")));
}

#[test]
fn answers_are_told_from_what_is_pushed() {
    let answer = json!({"Data": {"Cmd": 128, "Data": {"Ack": 2}, "RequestID": "r1", "MainboardID": "B0"}, "Topic": "sdcp/response/B0"});
    let (parsed, board) = message::read(&answer.to_string());
    assert_eq!(parsed, PrinterMessage::Answer { id: "r1".into(), acknowledged: 2, data: json!({"Ack": 2}) });
    assert_eq!(board.as_deref(), Some("B0"));
    assert_eq!(
        message::read(r#"{"Status": {"CurrentStatus": [0]}}"#).0,
        PrinterMessage::Status(json!({"CurrentStatus": [0]}))
    );
    for other in ["pong", "{}", "[]", r#"{"Status": 7}"#] {
        assert_eq!(message::read(other).0, PrinterMessage::Other, "{other}");
    }
    assert_eq!(PrinterRequest::Start("a.gcode".into()).judge(2), Err(PrinterError::NotFound("a.gcode".into())));
    assert!(PrinterRequest::Start("a.gcode".into()).judge(1).unwrap_err().certainly_not_done());
    assert!(PrinterRequest::Stop.judge(1).is_err() && PrinterRequest::Stop.judge(0).is_ok());
}

async fn one(speed: f64) -> Fleet {
    Fleet::start(FleetOptions { speed, ..FleetOptions::of(PrinterKind::Sdcp, 1) }).await.unwrap()
}

#[tokio::test]
async fn everything_goes_over_one_socket() {
    let fleet = one(1.0).await;
    let sim = &fleet.printers[0];
    let printer = with_key("sdcp", &sim.base_url, "", settings());
    sim.handle.put_file("a.gcode", simulator::gcode::gcode("a", 600, 1.0, 300.0));
    let looks = (0..20).map(|_| printer.status(AT));
    assert!(futures::future::join_all(looks).await.iter().all(Result::is_ok));
    printer.start("a.gcode").await.unwrap();
    assert_eq!(printer.printer_info().await.unwrap()["BrandName"], "ELEGOO");
    assert_eq!(printer.list_files().await.unwrap().len(), 1);
    assert_eq!(sim.handle.most_sockets(), 1);
    // A broken one is followed by another. The printer may notice a moment later that it broke.
    for _ in 0..8 {
        sim.handle.update_faults(|faults| faults.disconnect = true);
        while printer.status(AT).await.is_ok() {
            tokio::task::yield_now().await;
        }
        sim.handle.update_faults(|faults| faults.disconnect = false);
        while printer.status(AT).await.is_err() {
            tokio::task::yield_now().await;
        }
    }
    assert!(sim.handle.most_sockets() <= 2, "{}", sim.handle.most_sockets());
    assert_eq!(sim.handle.starts_of("a.gcode"), 1);
}

#[tokio::test]
async fn a_printer_that_hangs_is_a_timeout_and_found_again() {
    let fleet = one(1.0).await;
    let sim = &fleet.printers[0];
    let limits = Settings { request_timeout: Duration::from_secs(1), ..settings() };
    let printer = with_key("sdcp", &sim.base_url, "", limits);
    printer.connect().await.unwrap();
    sim.handle.update_faults(|faults| faults.hang = true);
    let error = printer.start("a.gcode").await.unwrap_err();
    assert!(!error.certainly_not_done(), "it may still happen: {error:?}");
    sim.handle.update_faults(|faults| faults.hang = false);
    let began = Instant::now();
    while printer.status(AT).await.is_err() {
        assert!(began.elapsed() < Duration::from_mins(1));
    }
    assert!(printer.push().last_heard.is_some());
}

#[tokio::test]
async fn the_printer_is_left_alone_for_a_second_after_an_upload_in_pieces() {
    let fleet = one(1.0).await;
    let sim = &fleet.printers[0];
    let printer = with_key("sdcp", &sim.base_url, "", settings());
    let (_kept, source) = file(2_500_000);
    let began = Instant::now();
    assert_eq!(printer.upload("folder/a.gcode", &source).await, Ok("a.gcode".to_owned()), "in pieces, without folders");
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
    printer.start("a.gcode").await.unwrap();
    assert_eq!(printer.delete_file("a.gcode").await, Err(PrinterError::InUse("a.gcode".into())));
    assert_eq!(printer.delete_file("b.gcode").await, Ok(Deleted::NotFound));
    let bytes = sim.handle.log().into_iter().find_map(|entry| match entry.what {
        PhysicalEvent::Uploaded { bytes, .. } => Some(bytes),
        _ => None,
    });
    assert_eq!(bytes, Some(2_500_000));
}

#[tokio::test]
async fn without_an_emergency_stop_the_print_that_is_on_is_ended() {
    let fleet = one(1.0).await;
    let sim = &fleet.printers[0];
    let printer = with_key("sdcp", &sim.base_url, "", settings());
    assert_eq!(printer.emergency_stop().await, Err(PrinterError::Unsupported(Operation::EmergencyStop)));
    sim.handle.put_file("a.gcode", simulator::gcode::gcode("a", 600, 1.0, 300.0));
    sim.handle.with(|machine| machine.start("a.gcode")).unwrap();
    printer.emergency_stop().await.unwrap();
    assert_eq!(printer.status(AT).await.unwrap().ended, Some(PrintEnd::Cancelled));
}
