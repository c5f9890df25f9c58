//! Operations on printers: recorded in the audit log with operator and outcome, and refused if they would ruin a print.

use printfloor::printers::adapter::Operation;
use serde_json::{Value, json};
use simulator::faults::Delay;
use simulator::printer::PhysicalEvent;

use super::files::printable;
use super::{FAST, Floor, JUDGE_LATE, PrinterKind, SLOW, can, done_if, supported, words};

/// Lists action and outcome of the audit entries about the first printer, oldest first, except its registration.
async fn audited(floor: &Floor) -> Vec<(String, String)> {
    let query = format!("/api/audit-log?subject=printer:{}&limit=200", floor.printers[0]);
    let body = floor.app.get(&query).await.expect(200);
    let entries = body["entries"].as_array().unwrap().iter().rev();
    let entries = entries.filter(|entry| entry["action"] != "printer.create");
    entries.map(|entry| (words(entry, "action").to_owned(), words(entry, "outcome").to_owned())).collect()
}

each_kind! {
    #[drawn]
    async fn acts_are_audited_with_what_came_of_them_and_stand_on_the_timeline(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.app.act(&floor.path(0, "/pause")).await.expect(200);
        floor.app.job_is(&job, "PAUSED").await;
        floor.app.act(&format!("/api/jobs/{job}/resume")).await.expect(200);
        floor.app.job_is(&job, "PRINTING").await;
        let lines = json!({"commands": ["M104 S200"], "force": true});
        let (gcode, homes) = (can(kind, Operation::RunGcode), can(kind, Operation::Home));
        supported(gcode, floor.app.post(&floor.path(0, "/gcode"), &lines).await);
        floor.app.act(&floor.path(0, "/cancel")).await.expect(200);
        floor.app.job_is(&job, "FAILED").await;
        floor.free(0).await;
        supported(homes, floor.app.act(&floor.path(0, "/home")).await);
        let file = floor.file("vase", 60, 1.0).await;
        let put = floor.app.post(&floor.path(0, "/files"), &json!({"fileId": file})).await.expect(201);
        let path = floor.path(0, &format!("/files/{}", words(&put, "filename")));
        floor.app.delete(&path).await.expect(204);
        floor.faults(0, |faults| faults.wrong_key = true);
        if kind == PrinterKind::MqttLan {
            // Its session ends with the old code; before that is seen, a command is lost with it.
            floor.connection_is(0, "wrong_key").await;
        }
        let refused = floor.app.act(&floor.path(0, "/pause")).await;
        assert_eq!(refused.error(502), "printer_refused");
        let expected = [
            ("printer.pause", "done"), ("printer.resume", "done"), ("printer.gcode", done_if(gcode)), ("printer.cancel", "done"),
            ("printer.home", done_if(homes)), ("printer.put_file", "done"), ("printer.delete_file", "done"),
            ("printer.pause", "printer_refused"),
        ];
        let expected = expected.map(|(action, outcome)| (action.to_owned(), outcome.to_owned()));
        assert_eq!(audited(&floor).await, expected);
        let gcode = floor.app.get("/api/audit-log?action=printer.gcode").await.expect(200);
        assert_eq!(gcode["entries"][0]["detail"]["detail"], "M104 S200", "{gcode}");
        assert_eq!(gcode["entries"][0]["detail"]["jobId"], json!(job), "{gcode}");
        // Those during the print stand on the order's timeline, with who did it.
        let timeline = floor.app.get(&format!("/api/orders/{order}/timeline")).await.expect(200);
        let acts: Vec<&Value> =
            timeline["timeline"].as_array().unwrap().iter().filter(|one| one["event"] == "printer.commanded").collect();
        let commands: Vec<&str> = acts.iter().map(|one| words(&one["data"], "command")).collect();
        assert_eq!(commands, ["pause", "resume", "gcode", "cancel"], "{timeline}");
        assert!(acts.iter().all(|one| words(one, "actor") != "system" && one["data"]["jobId"] == json!(job)));
    }

    #[drawn]
    async fn gcode_and_homing_do_not_spoil_a_print_unless_forced(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        let gcode = floor.path(0, "/gcode");
        assert_eq!(floor.app.post(&gcode, &json!({"commands": ["G28"]})).await.error(409), "printing");
        assert_eq!(floor.app.act(&floor.path(0, "/home")).await.error(409), "printing");
        assert_eq!(floor.count(0, |what| matches!(what, PhysicalEvent::Gcode { .. })), 0, "nothing reached the machine");
        if !can(kind, Operation::RunGcode) {
            supported(false, floor.app.post(&gcode, &json!({"commands": ["M220 S90"], "force": true})).await);
            return;
        }
        floor.app.post(&gcode, &json!({"commands": ["M220 S90"], "force": true})).await.expect(200);
        floor.physically("the forced line", 0, |what| matches!(what, PhysicalEvent::Gcode { line } if line == "M220 S90")).await;
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        floor.free(0).await;
        floor.app.post(&gcode, &json!({"commands": ["M104 S0"]})).await.expect(200);
    }

    async fn a_persons_file_of_the_same_name_is_not_overwritten(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        let theirs = simulator::gcode::gcode("theirs", 60, 1.0, 300.0).into_bytes();
        let (name, _) = printable(kind, "vase", 60, 1.0);
        floor.sim(0).handle.put_file(&name, theirs.clone());
        let file = floor.file("vase", 60, 1.0).await;
        let stored = floor.app.get(&format!("/api/files/{file}")).await.expect(200);
        assert_eq!(stored["name"], name.as_str());
        let put = floor.app.post(&floor.path(0, "/files"), &json!({"fileId": file})).await.expect(201);
        let printed = floor.app.post(&floor.path(0, "/print"), &json!({"fileId": file})).await.expect(200);
        for answer in [&put, &printed] {
            assert_ne!(answer["filename"], name.as_str(), "{answer}");
        }
        let contents = floor.sim(0).handle.with(|machine| machine.files().get(&name).unwrap().bytes.clone());
        assert_eq!(contents, theirs);
    }
}

/// Checks commands to a printer that someone has just started to use: the server polls an idle printer so rarely that
/// it does not know yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_print_that_someone_has_just_begun_there_is_not_spoilt_before_it_was_seen() {
    let seldom = ("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "30");
    let commands = [
        ("/home", json!({}), "printing"),
        ("/gcode", json!({"commands": ["G28"]}), "printing"),
        ("/restart-firmware", json!({}), "printer_busy"),
    ];
    for kind in [PrinterKind::FwRest, PrinterKind::ServerRest] {
        let floor = Floor::new(kind, commands.len(), SLOW, &[JUDGE_LATE, seldom]).await;
        for (printer, (command, body, code)) in commands.iter().enumerate() {
            floor.own_print(printer);
            assert_eq!(floor.app.post(&floor.path(printer, command), body).await.error(409), *code, "{command}");
            let spoils = |what: &PhysicalEvent| {
                matches!(what, PhysicalEvent::Gcode { .. } | PhysicalEvent::Homed { .. } | PhysicalEvent::Restarted)
            };
            assert_eq!(floor.count(printer, spoils), 0, "{command} did not reach the machine");
            // The rules know of it at once, and not only at the next poll.
            floor.attention(printer, "foreign_print", true).await;
        }
    }
}

/// Checks that a printer that accepts commands but is slow to report its status may be printing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_sent_to_a_printer_that_does_not_say_that_it_is_idle() {
    let seldom = ("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "30");
    let floor = Floor::new(PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE, seldom]).await;
    floor.connection_is(0, "connected").await;
    floor.faults(0, |faults| faults.queries_answer_late = Some(Delay { after_ms: 60_000 }));
    for (command, body) in
        [("/home", json!({})), ("/gcode", json!({"commands": ["G28"]})), ("/restart-firmware", json!({}))]
    {
        let refused = floor.app.post(&floor.path(0, command), &body).await;
        let words = refused.json()["message"].clone();
        assert_eq!(refused.error(504), "printer_timeout", "{command}");
        assert_eq!(words, "the printer did not respond, so nothing was sent", "{command}");
    }
    let spoils = |what: &PhysicalEvent| {
        matches!(what, PhysicalEvent::Gcode { .. } | PhysicalEvent::Homed { .. } | PhysicalEvent::Restarted)
    };
    assert_eq!(floor.count(0, spoils), 0, "somebody may have begun a print");
    // Whoever forces it knows what the printer does. Homing takes no time.
    floor.hurry(0);
    floor.app.post(&floor.path(0, "/home"), &json!({"force": true})).await.expect(200);
    floor.physically("it to be homed", 0, |what| matches!(what, PhysicalEvent::Homed { .. })).await;
}
