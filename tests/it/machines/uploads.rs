//! Uploads to printers: a printer stores exactly what was sent to it, and a stalled upload does not block its print.

use std::time::{Duration, Instant};

use reqwest::multipart::{Form, Part};
use simulator::FleetOptions;
use simulator::faults::SlowUpload;
use simulator::printer::PhysicalEvent;

use super::{FAST, Floor, JUDGE_LATE, KEEP_FILES, PrinterKind, SLOW};
use crate::support::client::http;
use crate::support::{Db, until};

/// Setting that makes a silent printer count as offline soon.
const OFFLINE_SOON: (&str, &str) = ("PRINTFLOOR_PRINTERS__OFFLINE_SECONDS", "3");

/// Uploads to two Moonraker servers on one computer, which name unfinished uploads by the second, so that concurrent
/// uploads get mixed up. Each part must still be printed from its own file, whose first line names the print.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_on_one_computer_store_what_was_sent_to_each() {
    let floor = Floor::on_one_computer(PrinterKind::FwRest, 2, SLOW, &[JUDGE_LATE]).await;
    for n in 0..2 {
        floor.faults(n, |faults| {
            faults.shared_upload_file = true;
            faults.slow_upload = Some(SlowUpload { bytes_per_second: 20_000 });
        });
    }
    floor.order(2).await;
    until("both to print", || async { (floor.started(0) == 1 && floor.started(1) == 1).then_some(()) }).await;
    for n in 0..2 {
        let files: Vec<(String, Vec<u8>)> = floor
            .sim(n)
            .handle
            .with(|machine| machine.files().iter().map(|(name, file)| (name.clone(), file.bytes.to_vec())).collect());
        let [(name, bytes)] = &files[..] else { panic!("one file each: {files:?}") };
        let attempt = name.trim_end_matches(".gcode").rsplit_once('_').unwrap().1;
        let text = String::from_utf8_lossy(bytes);
        assert_eq!(text.lines().next(), Some(&*format!("; printfloor print {attempt}")), "of printer {n}");
        let end = text.lines().last().unwrap_or_default();
        assert!(bytes.ends_with(b"\n") && end.starts_with(';'), "whole: {end}");
    }
}

/// Uploads a file with another program to a second server on the same computer during the shop's upload to the first:
/// the file stored for the shop is a mixture, and is not started.
async fn what_another_programs_upload_got_into_is_not_started(kind: PrinterKind, route: &str) {
    let options = FleetOptions { speed: SLOW, seed: 11, ..FleetOptions::of(kind, 2) };
    let mut floor = Floor::with(Db::sqlite(), options, &[JUDGE_LATE]).await;
    let ours = floor.app.printer(floor.sim(0)).await;
    floor.printers.push(ours);
    floor.connection_is(0, "connected").await;
    for n in 0..2 {
        floor.faults(n, |faults| {
            faults.shared_upload_file = true;
            faults.slow_upload = Some(SlowUpload { bytes_per_second: 30_000 });
        });
    }
    let file = floor.big_file("big", 150_000).await;
    let sku = floor.app.sku("BIG", &floor.material, file["id"].as_str().unwrap(), 900).await;
    let order = floor.app.paid_order(&sku, 1).await;
    let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
    floor.attempt_is(&job, "uploading").await;
    let theirs = Part::bytes("; theirs\n".repeat(10_000).into_bytes()).file_name("theirs.gcode");
    let upload = http().post(format!("{}{route}", floor.sim(1).base_url));
    let upload = upload.header("X-Api-Key", &floor.sim(1).api_key).multipart(Form::new().part("file", theirs));
    assert_eq!(upload.send().await.unwrap().status().as_u16(), 201);
    // What is mixed up is stored; the next upload need not last.
    floor.faults(0, |faults| faults.slow_upload = None);
    until("our print to begin", || async { (floor.started(0) == 1).then_some(()) }).await;
    let removals =
        floor.app.log().iter().filter(|line| line.contains("deleted an altered file from the printer")).count();
    assert!(removals > 0, "nothing was mixed up");
    let printing = floor.attempt_is(&job, "confirmed").await;
    let attempt = printing["attempts"].as_array().unwrap().last().unwrap()["id"].as_str().unwrap();
    let (name, bytes) = floor.sim(0).handle.with(|machine| {
        let entry = machine.files().iter().find(|(name, _)| name.contains(attempt));
        entry.map(|(name, file)| (name.clone(), file.bytes.to_vec())).expect("the file that prints")
    });
    let text = String::from_utf8_lossy(&bytes);
    assert!(!text.contains("; theirs") && text.starts_with(&format!("; printfloor print {attempt}")), "{name}");
    until("the mixture to be gone", || async { (files(&floor, 0).len() == 1).then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_another_programs_upload_got_into_is_not_started_by_fw_rest() {
    what_another_programs_upload_got_into_is_not_started(PrinterKind::FwRest, "/server/files/upload").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_another_programs_upload_got_into_is_not_started_by_server_rest() {
    what_another_programs_upload_got_into_is_not_started(PrinterKind::ServerRest, "/api/files/local").await;
}

/// Returns the names of the files on a printer.
fn files(floor: &Floor, printer: usize) -> Vec<String> {
    floor.sim(printer).handle.with(|machine| machine.files().iter().map(|(name, _)| name.clone()).collect())
}

each_kind! {
    #[drawn]
    async fn our_files_leave_the_printer_and_those_of_people_stay(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        // A person's, and one that another server put there.
        let theirs = ["JOB-000001_01890000-0000-7000-8000-00000000dead.gcode", "mine.gcode"];
        theirs.iter().for_each(|name| floor.sim(0).handle.put_file(name, simulator::gcode::gcode("theirs", 60, 1.0, 300.0)));
        let order = floor.order(2).await;
        floor.app.order_is(&order, "ready").await;
        until("our files to be gone", || async { (files(&floor, 0) == theirs).then_some(()) }).await;
        assert_eq!(floor.started(0), 2);

        // One that a crash left there is found when the printer comes back.
        let job = &floor.app.jobs(&order).await[0];
        let attempt = job["attempts"][0]["id"].as_str().unwrap();
        let left = format!("{}_{attempt}.gcode", job["number"].as_str().unwrap());
        floor.sim(0).handle.put_file(&left, simulator::gcode::gcode("left", 60, 1.0, 300.0));
        floor.faults(0, |faults| faults.disconnect = true);
        floor.connection_is(0, "unreachable").await;
        assert!(files(&floor, 0).contains(&left));
        floor.faults(0, |faults| faults.disconnect = false);
        until("it to be gone", || async { (files(&floor, 0) == theirs).then_some(()) }).await;
    }

    #[drawn]
    async fn files_stay_where_the_shop_wants_it(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE, KEEP_FILES]).await;
        let (first, _) = floor.one().await;
        floor.app.order_is(&first, "ready").await;
        let (second, _) = floor.one().await;
        floor.app.order_is(&second, "ready").await;
        assert_eq!(files(&floor, 0).len(), 2, "after two prints and all looks between them");
    }

    async fn a_printer_that_falls_silent_in_an_upload_gives_its_print_to_another(kind: PrinterKind) {
        let floor = Floor::new(kind, 2, FAST, &[JUDGE_LATE, OFFLINE_SOON]).await;
        let file = floor.big_file("big", 200_000).await;
        let sku = floor.app.sku("BIG", &floor.material, file["id"].as_str().unwrap(), 900).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 10_000 }));
        let order = floor.app.paid_order(&sku, 1).await;
        let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
        floor.attempt_is(&job, "uploading").await;
        let silent = Instant::now();
        floor.faults(0, |faults| faults.hang = true);
        floor.app.order_is(&order, "ready").await;
        assert!(silent.elapsed() < Duration::from_secs(30), "after {:?}", silent.elapsed());
        assert_eq!((floor.started(0), floor.finished(1)), (0, 1));
        assert_eq!(floor.count(0, |what| matches!(what, PhysicalEvent::Uploaded { .. })), 0);
        floor.faults(0, |faults| faults.hang = false);
        floor.truth().await;
    }
}
