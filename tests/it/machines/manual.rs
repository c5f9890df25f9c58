//! Manual prints that do not belong to a job: started once, and never while a job is printing.

use printfloor::printers::adapter::Operation;
use serde_json::{Value, json};
use simulator::faults::{Delay, SlowUpload};
use simulator::printer::PhysicalEvent;

use super::{FAST, Floor, JUDGE_LATE, OWN, PrinterKind, SLOW, can, words};
use crate::support::until;

async fn big(floor: &Floor) -> String {
    let file = floor.big_file("by hand", 200_000).await;
    file["id"].as_str().unwrap().to_owned()
}

fn starting(status: &Value) -> bool {
    words(status, "state") == "idle" && status["manualPrint"].is_string()
}

each_kind! {
    #[drawn]
    async fn no_job_is_taken_while_a_manual_print_is_on_its_way(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let file = big(&floor).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 20_000 }));
        let path = floor.path(0, "/print");
        let body = json!({"fileId": file});
        let by_hand = floor.app.post(&path, &body);
        let meanwhile = async {
            floor.status_until("the upload", 0, starting).await;
            assert_eq!(floor.app.post(&path, &json!({"filename": "x.gcode"})).await.error(409), "printer_busy");
            for rest in ["/home", "/disconnect"] {
                assert_eq!(floor.app.act(&floor.path(0, rest)).await.error(409), "printer_busy", "{rest}");
            }
            let (order, job) = floor.one().await;
            let waits = |job: &Value| {
                job["waitingReason"].as_str().is_some_and(|why| why.contains("is starting a manual print"))
            };
            let job = floor.job_until("the job to wait for it", &job, waits).await;
            assert_eq!(job["state"], "SLICED", "{job}");
            floor.faults(0, |faults| faults.slow_upload = None);
            order
        };
        let (answer, order) = tokio::join!(by_hand, meanwhile);
        let answer = answer.expect(200);
        floor.attention(0, "foreign_print", true).await;
        let starts: Vec<PhysicalEvent> = floor.sim(0).handle.log().into_iter().map(|entry| entry.what)
            .filter(|what| matches!(what, PhysicalEvent::Started { .. })).collect();
        let name = words(&answer, "filename");
        assert!(matches!(&starts[..], [PhysicalEvent::Started { filename }] if filename == name), "{starts:?}");
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.started(0), 2, "then the job");
    }

    #[drawn]
    async fn a_job_and_a_manual_print_never_get_the_same_printer(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        let file = floor.file("by hand", 60, 1.0).await;
        let mut by_hand = 0;
        let (path, body) = (floor.path(0, "/print"), json!({"fileId": file}));
        for _ in 0..6 {
            let (order, printed) = tokio::join!(
                floor.order(1),
                floor.app.post(&path, &body)
            );
            match printed.status {
                200 => by_hand += 1,
                _ => assert_eq!(printed.error(409), "printer_busy"),
            }
            floor.app.order_is(&order, "ready").await;
            floor.free(0).await;
            floor.attention(0, "foreign_print", false).await;
        }
        assert_eq!(floor.started(0), 6 + by_hand, "each that was taken was started once");
        assert_eq!(floor.finished(0), 6 + by_hand);
    }

    #[drawn]
    async fn a_repeated_key_starts_nothing_twice(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let file = floor.file("by hand", 60, 1.0).await;
        let body = json!({"fileId": file});
        let first = floor.app.post_keyed(&floor.path(0, "/print"), "once", &body).await.expect(200);
        let again = floor.app.post_keyed(&floor.path(0, "/print"), "once", &body).await.expect(200);
        assert_eq!(first, again);
        assert_eq!(floor.started(0), 1);
    }

    async fn a_manual_print_survives_uploads_that_are_cut_off(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let file = floor.file("by hand", 600, 1.0).await;
        floor.faults(0, |faults| faults.cut_uploads = 2);
        floor.app.post(&floor.path(0, "/print"), &json!({"fileId": file})).await.expect(200);
        assert_eq!(floor.sim(0).handle.faults().cut_uploads, 0, "both uploads were cut off");
        floor.attention(0, "foreign_print", true).await;
        assert_eq!(floor.started(0), 1);
        let copies = floor.sim(0).handle.with(|machine| machine.files().iter().count());
        assert_eq!(copies, 1, "of the file");
    }

    #[drawn]
    async fn a_manual_print_survives_a_kill_and_an_emergency_stop_ends_it(kind: PrinterKind) {
        let mut floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let file = big(&floor).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 30_000 }));
        let (client, path) = ((*floor.app).clone(), floor.path(0, "/print"));
        let request = tokio::spawn(async move {
            client.try_send(client.request("POST", &path).json(&json!({"fileId": file}))).await
        });
        floor.status_until("the upload", 0, starting).await;
        floor.app.kill_9();
        let _ = request.await;
        floor.faults(0, |faults| faults.slow_upload = None);
        floor.app.start().await;
        floor.physically("the print to begin", 0, |what| matches!(what, PhysicalEvent::Started { .. })).await;
        floor.attention(0, "foreign_print", true).await;
        assert_eq!(floor.started(0), 1);
        floor.app.act(&floor.path(0, "/cancel")).await.expect(200);
        floor.attention(0, "foreign_print", false).await;
        floor.clear_bed(0).await;
        if !can(kind, Operation::EmergencyStop) {
            return;
        }

        let file = big(&floor).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 30_000 }));
        let path = floor.path(0, "/print");
        let body = json!({"fileId": file});
        let by_hand = floor.app.post(&path, &body);
        let stop = async {
            floor.status_until("the upload", 0, starting).await;
            floor.app.act(&floor.path(0, "/emergency-stop")).await.expect(200)
        };
        let (answer, _) = tokio::join!(by_hand, stop);
        assert_eq!(answer.error(409), "printer_busy");
        assert_eq!(floor.started(0), 1);
        floor.attention(0, "needs_home", true).await;
    }
}

/// Makes printers with full storage abort every upload: the server still reports the reason.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_storage_is_told_although_uploads_are_cut_off() {
    for kind in [PrinterKind::FwRest, PrinterKind::ServerRest, PrinterKind::PrusaLink] {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let file = floor.file("by hand", 60, 1.0).await;
        floor.faults(0, |faults| (faults.disk_full, faults.cut_uploads) = (true, 1_000));
        let refused = floor.app.post(&floor.path(0, "/print"), &json!({"fileId": file})).await.expect(502);
        assert_eq!(refused["code"], "printer_refused", "{refused}");
        assert!(words(&refused, "message").contains("No space left on device"), "{refused}");
        assert_eq!(floor.sim(0).handle.faults().cut_uploads, 999, "what will not pass is not tried again");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_emergency_stop_ends_the_retries_of_a_manual_print() {
    let floor = Floor::new(PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    let file = floor.file("by hand", 60, 1.0).await;
    floor.faults(0, |faults| faults.cut_uploads = 1_000);
    let (path, body) = (floor.path(0, "/print"), json!({"fileId": file}));
    let by_hand = floor.app.post(&path, &body);
    let stop = async {
        let is_retried = || floor.sim(0).handle.faults().cut_uploads < 999;
        until("a retry", || async { is_retried().then_some(()) }).await;
        floor.app.act(&floor.path(0, "/emergency-stop")).await.expect(200);
        floor.faults(0, |faults| faults.cut_uploads = 0);
    };
    let (answer, ()) = tokio::join!(by_hand, stop);
    assert_eq!(answer.error(409), "printer_busy");
    floor.attention(0, "needs_home", true).await;
    floor.wait_for_poll(0).await;
    let uploads = floor.count(0, |what| matches!(what, PhysicalEvent::Uploaded { .. }));
    assert_eq!((uploads, floor.started(0)), (0, 0));
    assert!(floor.status(0).await["manualPrint"].is_null());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_status_from_before_the_start_does_not_end_the_print() {
    // It pushes nothing, so another look at it is always on its way.
    let floor = Floor::new(PrinterKind::PrusaLink, 1, SLOW, &[JUDGE_LATE]).await;
    floor.sim(0).handle.put_file(OWN, simulator::gcode::gcode("vase", 600, 1.0, 300.0));
    // From then on its storage need not be asked for before the start.
    floor.app.get(&floor.path(0, "/files")).await.expect(200);
    floor.faults(0, |faults| faults.queries_answer_late = Some(Delay { after_ms: 700 }));
    floor.app.post(&floor.path(0, "/print"), &json!({"filename": OWN})).await.expect(200);
    floor.status_until("it to print", 0, |status| words(status, "state") == "printing").await;
    floor.attention(0, "foreign_print", true).await;
    let status = floor.status(0).await;
    let attention = status["attention"].as_array().unwrap();
    assert!(!attention.contains(&json!("bed_not_cleared")), "no print has ended yet: {status}");
}

#[tokio::test]
async fn a_printer_that_a_person_began_to_use_meanwhile_gets_no_file() {
    // It pushes nothing, and nobody looks at it until the print by hand does.
    let seldom = ("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "60");
    let floor = Floor::new(PrinterKind::PrusaLink, 1, SLOW, &[seldom]).await;
    let file = floor.file("by hand", 60, 1.0).await;
    floor.own_print(0);
    let uploads = || floor.count(0, |what| matches!(what, PhysicalEvent::Uploaded { .. }));
    let own = uploads();
    let refused = floor.app.post(&floor.path(0, "/print"), &json!({"fileId": file})).await;
    assert_eq!(refused.error(409), "printer_in_use");
    assert_eq!(uploads(), own, "nothing came after the person's own file");
    assert_eq!(floor.started(0), 1, "the person's own");
    floor.attention(0, "foreign_print", true).await;
}

/// Prints files with all kinds of names manually: Klipper treats file extensions as case-sensitive, and no file system
/// accepts names of unlimited length.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_printed_by_hand_whatever_its_name() {
    let floor = Floor::new(PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
    let code = simulator::gcode::gcode("vase", 60, 1.0, 330.0);
    let long = format!("{}.gcode", "\u{e4}".repeat(220));
    for name in ["Vase.GCODE", "vase", &long] {
        let form = reqwest::multipart::Form::new().text("kind", "gcode");
        let form = form.part("file", reqwest::multipart::Part::text(code.clone()).file_name(name.to_owned()));
        let upload = floor.app.request("POST", "/api/files").multipart(form);
        let file = floor.app.send(upload).await.expect(201)["id"].clone();
        let printed = floor.app.post(&floor.path(0, "/print"), &json!({"fileId": file})).await.expect(200);
        let on_printer = words(&printed, "filename");
        assert!(on_printer.strip_suffix(".gcode").is_some() && on_printer.len() <= 255, "{name}: {on_printer}");
        floor.free(0).await;
        floor.attention(0, "foreign_print", false).await;
    }
}
