//! Life of a print on each printer type, over its real protocol.

use std::sync::Arc;
use std::time::Duration;

use super::{settings, with_serial};
use crate::adapter::{Adapter, Deleted, Operation, PrinterError, Source};
use domain::printer_status::{Activity, Connection, PrintEnd, Status};
use domain::time::Timestamp;

/// Waits until the status meets the condition; woken by pushes, with polling as a fallback.
async fn until(printer: &dyn Adapter, what: &str, right: impl Fn(&Status) -> bool) -> Status {
    let mut last = None;
    let looking = async {
        loop {
            let look = printer.look(Timestamp(0)).await;
            if right(&look) {
                return look;
            }
            last = Some(look);
            let _ = tokio::time::timeout(Duration::from_millis(100), printer.changed()).await;
        }
    };
    match tokio::time::timeout(Duration::from_mins(1), looking).await {
        Ok(look) => look,
        Err(tokio::time::error::Elapsed { .. }) => panic!("never {what}; last seen {last:?}"),
    }
}

#[tokio::test]
async fn a_life_of_each_type_over_its_real_protocol() {
    let fleet = simulator::Fleet::start(simulator::FleetOptions { speed: 20.0, ..Default::default() }).await.unwrap();
    for sim in &fleet.printers {
        let printer = connect(sim).await;
        let printer = printer.as_ref();
        let name = upload(sim, printer).await;
        print_until_cancelled(sim, printer, &name).await;
        delete_what_was_printed(sim, printer, &name).await;
        use_each_operation(sim, printer).await;
        printer.disconnect().await.unwrap();
        assert!(!printer.is_connected().await, "{}", sim.kind.as_str());
    }
}

/// Connects with the right key, after verifying that a wrong key is rejected.
async fn connect(sim: &simulator::SimPrinter) -> Arc<dyn Adapter> {
    let kind = sim.kind.as_str();
    let printer = with_serial(kind, &sim.base_url, &sim.api_key, &sim.serial, settings());
    let stranger = with_serial(kind, &sim.base_url, "wrong", &sim.serial, settings());
    let expected = if printer.declared().keyless { Connection::Connected } else { Connection::WrongKey };
    assert_eq!(stranger.look(Timestamp(0)).await.connection, expected, "{kind}");
    // Frees the place of its connection; whoever has a wrong key is refused this as well.
    let _ = stranger.disconnect().await;
    printer.connect().await.unwrap();
    until(printer.as_ref(), "idle", |look| look.state == Activity::Idle && look.connection == Connection::Connected)
        .await;
    printer
}

/// Uploads a file, verifies that this does not start it, and returns its name on the printer.
async fn upload(sim: &simulator::SimPrinter, printer: &dyn Adapter) -> String {
    let kind = sim.kind.as_str();
    let local = tempfile::NamedTempFile::new().unwrap();
    // Much longer than the test.
    let (file, content) = if sim.kind.protocol().prints_packages {
        ("ours.gcode.3mf", simulator::gcode::package("ours", 36_000, 5.0, 1700.0))
    } else {
        ("ours.gcode", simulator::gcode::gcode("ours", 36_000, 5.0, 1700.0).into_bytes())
    };
    std::fs::write(local.path(), &content).unwrap();
    let source = Source { path: local.path().into(), size: content.len() as u64, first_line: None };
    let name = printer.upload(file, &source).await.unwrap();
    assert_eq!(sim.handle.starts_of(&name), 0, "{kind}: stored, not started");
    assert!(printer.list_files().await.unwrap().iter().any(|file| file.path == name), "{kind}");
    let unsupported = Err(PrinterError::Unsupported(Operation::History));
    let history = if printer.supports(Operation::History) { Ok(vec![]) } else { unsupported };
    assert_eq!(printer.history(&name).await, history, "{kind}");
    name
}

/// Starts the file, pauses, resumes and cancels the print, and verifies that the file can neither be deleted nor
/// started again in the meantime.
async fn print_until_cancelled(sim: &simulator::SimPrinter, printer: &dyn Adapter, name: &str) {
    let kind = sim.kind.as_str();
    printer.start(name).await.unwrap();
    let ours = |look: &Status| look.file.as_deref() == Some(name);
    until(printer, "printing", |look| look.state == Activity::Printing && ours(look)).await;
    assert_eq!(printer.delete_file(name).await, Err(PrinterError::InUse(name.to_owned())), "{kind}");
    assert!(printer.start(name).await.unwrap_err().certainly_not_done(), "{kind}");
    printer.pause().await.unwrap();
    until(printer, "paused", |look| look.state == Activity::Paused && ours(look)).await;
    printer.resume().await.unwrap();
    until(printer, "printing again", |look| look.state == Activity::Printing).await;
    printer.cancel().await.unwrap();
    until(printer, "cancelled", |look| look.ended == Some(PrintEnd::Cancelled) && ours(look)).await;
}

/// Reads the past print, deletes its file, and verifies that the file is then unknown.
async fn delete_what_was_printed(sim: &simulator::SimPrinter, printer: &dyn Adapter, name: &str) {
    let kind = sim.kind.as_str();
    match printer.history(name).await {
        Ok(past) => {
            let ended = past[0].ended;
            assert!(matches!(ended, Some(PrintEnd::Cancelled | PrintEnd::Failed)), "{kind}: {past:?}");
        }
        error => assert_eq!(error, Err(PrinterError::Unsupported(Operation::History)), "{kind}"),
    }
    assert_eq!(sim.handle.starts_of(name), 1, "{kind}");
    assert_eq!(printer.delete_file(name).await, Ok(Deleted::Gone), "{kind}");
    assert_eq!(printer.delete_file(name).await, Ok(Deleted::NotFound), "{kind}");
    assert!(printer.start(name).await.unwrap_err().certainly_not_done(), "{kind}");
}

/// Calls every operation, and verifies that those that the type lacks fail as unsupported.
async fn use_each_operation(sim: &simulator::SimPrinter, printer: &dyn Adapter) {
    let kind = sim.kind.as_str();
    let unsupported = |operation| Err(PrinterError::Unsupported(operation));
    let supported = |operation: Operation, answer: Result<(), PrinterError>| {
        let expected = if printer.supports(operation) { Ok(()) } else { unsupported(operation) };
        assert_eq!(answer, expected, "{kind}");
    };
    supported(Operation::Home, printer.home().await);
    supported(Operation::RunGcode, printer.run_gcode(&["M105".into()]).await.map(drop));
    supported(Operation::ServerInfo, printer.server_info().await.map(|info| assert!(info.is_object())));
    supported(Operation::PrinterInfo, printer.printer_info().await.map(|info| assert!(info.is_object())));
    supported(Operation::SystemInfo, printer.system_info().await.map(|info| assert!(info.is_object())));
    supported(Operation::Webcams, printer.webcams().await.map(drop));
    printer.temperatures().await.unwrap();
    supported(Operation::EmergencyStop, printer.emergency_stop().await);
    if printer.supports(Operation::EmergencyStop) {
        until(printer, "stopped", |look| look.state == Activity::Error).await;
    }
    if printer.supports(Operation::RestartFirmware) {
        printer.restart_firmware().await.unwrap();
    } else {
        printer.connect().await.unwrap();
    }
    until(printer, "ready again", |look| look.state == Activity::Idle).await;
}
