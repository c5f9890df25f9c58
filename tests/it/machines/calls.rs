//! Calls that go directly to the printer, and the printer's own message if it refuses.

use printfloor::domain::file::GcodeForm;
use printfloor::printers::adapter::Operation;
use serde_json::json;
use simulator::printer::PhysicalEvent;

use super::files::printable;
use super::{FAST, Floor, IMPATIENT, JUDGE_LATE, KEEP_FILES, PrinterKind, SLOW, can, prints, supported, words};

/// Sends commands to an idle printer, and checks that the machine carries them out.
async fn commands_reach(floor: &Floor, kind: PrinterKind) {
    let gcode = |body| {
        let path = floor.path(0, "/gcode");
        async { floor.app.post(&{ path }, &{ body }).await }
    };
    assert_eq!(gcode(json!({"commands": []})).await.error(400), "validation_failed");
    assert_eq!(gcode(json!({"commands": ["G28\nM112"]})).await.error(400), "validation_failed");
    let restart = async || floor.app.act(&floor.path(0, "/restart-firmware")).await;
    if !can(kind, Operation::RunGcode) {
        supported(false, gcode(json!({"commands": ["M104 S50"]})).await);
        supported(can(kind, Operation::Home), floor.app.act(&floor.path(0, "/home")).await);
        supported(can(kind, Operation::RestartFirmware), restart().await);
        return;
    }
    gcode(json!({"commands": ["M104 S50", "M106 S128"]})).await.expect(200);
    floor
        .physically(
            "the second command",
            0,
            |what| matches!(what, PhysicalEvent::Gcode { line } if line == "M106 S128"),
        )
        .await;
    // What it does not know it says on its console, where it has one; one is heard once its push connection is
    // open.
    if kind != PrinterKind::MqttLan {
        crate::support::until("the console to tell", || async {
            let answer = gcode(json!({"commands": ["DANCE"]})).await.expect(200);
            let lines = answer["console"].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
            let refuses = |line: &str| line.starts_with("Unknown command") && line.contains("DANCE");
            lines.into_iter().any(refuses).then_some(())
        })
        .await;
    }
    floor.app.act(&floor.path(0, "/home")).await.expect(200);
    floor.physically("it to be homed", 0, |what| matches!(what, PhysicalEvent::Homed { .. })).await;
    supported(can(kind, Operation::RestartFirmware), restart().await);
    if can(kind, Operation::RestartFirmware) {
        floor.physically("the restart", 0, |what| matches!(what, PhysicalEvent::Restarted)).await;
    }
}

each_kind! {
    async fn a_printer_tells_of_itself_and_its_files_and_commands_reach_it(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE, KEEP_FILES]).await;
        let (order, job) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        let attempt = floor.job(&job).await["attempts"][0]["id"].as_str().unwrap().to_owned();
        let get = |rest: &'static str| {
            let path = floor.path(0, rest);
            async { floor.app.get(&{ path }).await.expect(200) }
        };
        let info = get("/info").await;
        assert_eq!(info["server"].is_object(), can(kind, Operation::ServerInfo), "{info}");
        assert!(info["printer"].is_object(), "{info}");
        if can(kind, Operation::History) {
            let history = get("/history").await;
            let last = &history["history"][0];
            assert!(words(last, "file").contains(&attempt), "{history}");
            assert_eq!(last["ended"], "finished", "{history}");
        } else {
            supported(false, floor.app.get(&floor.path(0, "/history")).await);
        }
        if can(kind, Operation::Webcams) {
            assert!(get("/webcams").await["webcams"].is_array());
        }
        supported(can(kind, Operation::SystemInfo), floor.app.get(&floor.path(0, "/system-info")).await);
        let files = get("/files").await;
        assert_eq!(files["files"].as_array().unwrap().len(), 1, "{files}");

        // Printers of packages show only their root, and names without spaces.
        let theirs = if prints(kind, GcodeForm::Text) { "old/vase one.gcode" } else { "vase.gcode.3mf" };
        floor.sim(0).handle.put_file(theirs, simulator::gcode::gcode("vase", 60, 1.0, 300.0));
        assert_eq!(get("/files").await["files"].as_array().unwrap().len(), 2);
        let escaped = theirs.replace('/', "%2F").replace(' ', "%20");
        floor.app.delete(&floor.path(0, &format!("/files/{escaped}"))).await.expect(204);
        assert_eq!(get("/files").await["files"].as_array().unwrap().len(), 1);
        let gone = floor.app.delete(&floor.path(0, "/files/nothing.gcode")).await;
        assert_eq!(gone.status, 404, "{}", gone.text);
        floor.free(0).await;
        commands_reach(&floor, kind).await;
    }

    async fn a_file_that_is_no_job_is_printed_by_hand(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        let file = floor.file("handmade", 60, 1.0).await;
        let print = |body| {
            let path = floor.path(0, "/print");
            async { floor.app.post(&{ path }, &{ body }).await }
        };
        let print_answer = print(json!({"fileId": file})).await.expect(200);
        floor.physically("it to be done", 0, |what| matches!(what, PhysicalEvent::Finished { .. })).await;
        floor.status_until("it to be idle", 0, |status| status["state"] == "idle").await;
        floor.attention(0, "foreign_print", false).await;
        print(json!({"filename": print_answer["filename"]})).await.expect(200);
        crate::support::until("it to be done again", || async { (floor.finished(0) == 2).then_some(()) }).await;
        floor.status_until("it to be idle", 0, |status| status["state"] == "idle").await;
        floor.attention(0, "foreign_print", false).await;
        assert_eq!(print(json!({})).await.error(400), "validation_failed");
        let missing = print(json!({"filename": printable(kind, "missing", 60, 1.0).0})).await;
        assert!(matches!(missing.status, 404 | 502), "{}", missing.text);
    }

    async fn a_stored_file_is_put_on_the_printer_and_what_it_refuses_is_told_in_its_words(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        let file = floor.file("vase", 60, 1.0).await;
        let put = floor.app.post(&floor.path(0, "/files"), &json!({"fileId": file})).await.expect(201);
        let files = floor.app.get(&floor.path(0, "/files")).await.expect(200);
        assert_eq!(files["files"][0]["path"], put["filename"], "{files}");
        assert_eq!(floor.started(0), 0);
        assert_eq!(floor.app.post(&floor.path(0, "/files"), &json!({})).await.error(400), "validation_failed");
        let nothing = json!({"fileId": "01890000-0000-7000-8000-00000000dead"});
        assert_eq!(floor.app.post(&floor.path(0, "/files"), &nothing).await.error(400), "validation_failed");

        let refused = match kind {
            // Klipper takes a pause without a print; a start is refused with words.
            PrinterKind::FwRest => {
                floor.faults(0, |faults| faults.refuse_start = true);
                floor.sim(0).handle.put_file("a.gcode", simulator::gcode::gcode("a", 60, 1.0, 300.0));
                floor.app.post(&floor.path(0, "/print"), &json!({"filename": "a.gcode"})).await
            }
            _ => floor.app.act(&floor.path(0, "/pause")).await,
        };
        let body = refused.expect(502);
        assert_eq!(body["code"], "printer_refused");
        let expected = match kind {
            PrinterKind::FwRest => "Must home axis first",
            PrinterKind::MqttLan => "not possible in this state",
            PrinterKind::PrusaLink | PrinterKind::Sdcp => "no print is running",
            _ => "neither printing nor paused",
        };
        assert!(words(&body, "message").contains(expected), "{body}");
    }

    #[drawn]
    async fn a_printer_that_does_not_answer_is_a_timeout(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE, IMPATIENT]).await;
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.faults(0, |faults| faults.hang = true);
        let paths = [format!("/api/jobs/{job}/pause"), floor.path(0, "/pause"), floor.path(0, "/files")];
        let [of_job, of_printer, files] = &paths;
        // Side by side: the time of each is its own.
        let answers = tokio::join!(floor.app.act(of_job), floor.app.act(of_printer), floor.app.get(files));
        for (path, answer) in paths.iter().zip([answers.0, answers.1, answers.2]) {
            assert_eq!(answer.error(504), "printer_timeout", "{path}");
        }
        assert_eq!(floor.app.act(&floor.path(0, "/emergency-stop")).await.error(504), "printer_timeout");
        assert_eq!(floor.job(&job).await["state"], "PRINTING", "a stop that did not arrive has stopped nothing");
    }

    #[drawn]
    async fn the_file_of_a_print_is_not_deleted(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE, KEEP_FILES]).await;
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        let files = floor.app.get(&floor.path(0, "/files")).await.expect(200);
        let name = words(&files["files"][0], "path").to_owned();
        let refused = floor.app.delete(&floor.path(0, &format!("/files/{name}"))).await;
        assert_eq!(refused.error(409), "printer_in_use");
        // Nor one that someone prints there.
        floor.app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
        floor.app.job_is(&job, "CANCELLED").await;
        floor.status_until("it to be free", 0, |status| status["jobId"].is_null() && status["state"] == "idle").await;
        let sim = &floor.sim(0).handle;
        sim.put_file("vase.gcode", simulator::gcode::gcode("vase", 600, 1.0, 300.0));
        sim.with(|machine| machine.start("vase.gcode")).unwrap();
        if kind == PrinterKind::MqttLan {
            // Its file server says only that it cannot; why is known from its report.
            floor.attention(0, "foreign_print", true).await;
        }
        let refused = floor.app.delete(&floor.path(0, "/files/vase.gcode")).await;
        assert_eq!(refused.error(409), "printer_in_use");
        assert_eq!(floor.count(0, |what| matches!(what, PhysicalEvent::Deleted { .. })), 0);
    }
}
