use simulator::{faults::SlowUpload, gcode::package, printer::PhysicalEvent};

use super::lan::{CODE, Ftp, PART, lan, until};

const SLOW: f64 = 1.0;

#[tokio::test]
async fn a_data_connection_must_resume_the_session_of_its_control_connection() {
    let lan = lan(SLOW).await;
    let mut ftp = lan.ftp().await;
    ftp.resumes = false;
    assert_eq!(ftp.upload(PART, b"bytes").await, 522);
    ftp.resumes = true;
    assert_eq!(ftp.upload(PART, b"bytes").await, 226);
    assert_eq!(lan.count(|what| matches!(what, PhysicalEvent::Uploaded { .. })), 1);
}

#[tokio::test]
async fn files_are_listed_measured_fetched_and_deleted() {
    let lan = lan(SLOW).await;
    let mut ftp = lan.ftp().await;
    let bytes = package("part", 60, 1.0, 330.0);
    assert_eq!(ftp.upload(&format!("/cache/{PART}"), &bytes).await, 226);
    assert_eq!(ftp.upload("nowhere/a.3mf", &bytes).await, 553);
    let listing = ftp.list("LIST cache").await;
    let line = listing.lines().next().unwrap();
    assert!(line.starts_with("-rw") && line.ends_with(PART) && line.contains(&bytes.len().to_string()), "{line}");
    assert!(ftp.list("NLST").await.lines().any(|name| name == "cache"));
    assert_eq!(ftp.say("CWD cache").await.0, 250);
    assert_eq!(ftp.say("PWD").await.1, "\"/cache\" is the current directory");
    lan.printer.put_file("cache/note.gcode", "G28\n");
    assert_eq!(ftp.list("RETR note.gcode").await, "G28\n");
    assert_eq!(ftp.say(&format!("SIZE {PART}")).await, (213, bytes.len().to_string()));
    assert_eq!(ftp.say(&format!("DELE {PART}")).await.0, 250);
    assert_eq!(ftp.say(&format!("DELE {PART}")).await.0, 550);
    assert_eq!(ftp.say("MLSD").await.0, 500);
    assert_eq!(ftp.say("QUIT").await.0, 221);
}

#[tokio::test]
async fn uploads_fail_as_they_do_on_real_printers() {
    let lan = lan(SLOW).await;
    let bytes = vec![7; 200_000];
    let mut wrong = Ftp::connect(&lan).await;
    assert_eq!(wrong.say("STOR a.3mf").await.0, 530);
    assert_eq!(wrong.login("87654321").await, 530);
    lan.printer.update_faults(|faults| faults.wrong_key = true);
    assert_eq!(wrong.login(CODE).await, 530);
    lan.printer.update_faults(|faults| faults.wrong_key = false);

    let mut ftp = lan.ftp().await;
    lan.printer.update_faults(|faults| faults.disk_full = true);
    assert_eq!(ftp.upload(PART, &bytes).await, 553);
    lan.printer.update_faults(|faults| faults.disk_full = false);
    lan.setup(|setup| setup.cut_upload_after = Some(65_536));
    assert_eq!(ftp.upload(PART, &bytes).await, 426);
    assert_eq!(ftp.say(&format!("SIZE {PART}")).await, (213, "65536".to_owned()));
    lan.setup(|setup| (setup.cut_upload_after, setup.refuses_overwrite) = (None, true));
    assert_eq!(ftp.upload(PART, &bytes).await, 553);
    lan.setup(|setup| setup.refuses_overwrite = false);
    assert_eq!(ftp.upload(PART, &bytes).await, 226);
}

#[tokio::test]
async fn a_slow_upload_takes_its_time_and_ends_when_the_printer_is_gone() {
    let lan = lan(SLOW).await;
    let mut ftp = lan.ftp().await;
    lan.printer.update_faults(|faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 1_000 }));
    let printer = lan.printer.clone();
    let cut = tokio::spawn(async move {
        until("the upload to begin", || printer.uploads_begun() == 1).await;
        printer.update_faults(|faults| faults.disconnect = true);
    });
    let uploaded = tokio::spawn(async move { ftp.upload(PART, &vec![7; 500_000]).await });
    cut.await.unwrap();
    assert!(uploaded.await.is_err(), "the connection is reset");
    assert_eq!(lan.count(|what| matches!(what, PhysicalEvent::Uploaded { bytes: 500_000, .. })), 0);
}
