//! Tests of behaviour specific to this printer type, with the simulated printer over its real protocols. Behaviour
//! common to all types is tested elsewhere.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;
use std::time::Duration;

use simulator::bambu::Bambu;
use simulator::bambu::setup::{Ams, BambuModel, DeveloperMode, Tray};
use simulator::{Fleet, FleetOptions, PrinterKind, SimPrinter};
use tokio::time::Instant;

use super::REFUSAL_PROBE_TIMEOUT;
use crate::adapter::{Adapter, Deleted, Launch, PrinterError, Source};
use crate::adapter_parts::{PrinterAddress, Settings};
use crate::tests::{registry, settings};
use domain::amount::Amount;
use domain::launch::{FilamentSlot, ReportedSpool};
use domain::printer_status::{Activity, Connection, PrintEnd, Status};
use domain::testing::id;
use domain::time::Timestamp;

/// Adapter for a simulated printer, and its simulation.
struct Shop {
    _fleet: Fleet,
    sim: SimPrinter,
    bambu: Bambu,
}

impl Shop {
    async fn new(speed: f64) -> Self {
        let options = FleetOptions { speed, ..FleetOptions::of(PrinterKind::MqttLan, 1) };
        let fleet = Fleet::start(options).await.unwrap();
        let sim = fleet.printers[0].clone();
        let bambu = Bambu::of(&sim.handle).unwrap();
        Self { _fleet: fleet, sim, bambu }
    }

    fn adapter(&self) -> Arc<dyn Adapter> {
        self.reached(|_| {}, settings())
    }

    fn reached(&self, change: impl FnOnce(&mut PrinterAddress), settings: Settings) -> Arc<dyn Adapter> {
        let SimPrinter { base_url, api_key, serial, .. } = self.sim.clone();
        let mut address = PrinterAddress { base_url, api_key, serial, known_key: None };
        change(&mut address);
        registry(settings).make("mqtt_lan", address).unwrap()
    }
}

/// Creates a package whose print takes the given number of seconds.
fn package(seconds: u64) -> (tempfile::NamedTempFile, Source) {
    let local = tempfile::NamedTempFile::new().unwrap();
    let bytes = simulator::gcode::package("part", seconds, 10.0, 3300.0);
    std::fs::write(local.path(), &bytes).unwrap();
    let source = Source { path: local.path().into(), size: bytes.len() as u64, first_line: None };
    (local, source)
}

/// Polls the status until it meets the condition.
async fn until(printer: &dyn Adapter, what: &str, right: impl Fn(&Status) -> bool) -> Status {
    let looking = async {
        loop {
            let look = printer.look(Timestamp(0)).await;
            if right(&look) {
                return look;
            }
            let _ = tokio::time::timeout(Duration::from_millis(100), printer.changed()).await;
        }
    };
    let Ok(look) = tokio::time::timeout(Duration::from_mins(1), looking).await else {
        panic!("never {what}: {:?}", printer.look(Timestamp(0)).await)
    };
    look
}

fn launch(name: &str, slots: Vec<Option<FilamentSlot>>) -> Launch {
    Launch { name: name.to_owned(), print: id(5), plate: 1, slots }
}

#[tokio::test]
async fn a_wrong_code_is_told_with_the_reason_why_it_may_have_changed() {
    let shop = Shop::new(1.0).await;
    let stranger = shop.reached(|address| address.api_key = "00000000".into(), settings());
    let look = stranger.look(Timestamp(0)).await;
    assert_eq!(look.connection, Connection::WrongKey);
    assert!(look.message.unwrap().contains("It changes whenever LAN-only or Developer Mode is toggled"));
}

#[tokio::test]
async fn a_printer_of_another_serial_number_hears_no_code() {
    let shop = Shop::new(1.0).await;
    let other = shop.reached(|address| address.serial = "01S00A000000".into(), settings());
    let look = other.look(Timestamp(0)).await;
    assert_eq!(look.connection, Connection::Unreachable);
    let expected = format!("its certificate belongs to {}, not 01S00A000000", shop.sim.serial);
    assert!(look.message.as_ref().unwrap().contains(&expected), "{look:?}");
    assert_eq!(shop.bambu.clients(), 0);
}

#[tokio::test]
async fn a_changed_certificate_is_told_as_such() {
    let shop = Shop::new(1.0).await;
    let printer = shop.adapter();
    until(printer.as_ref(), "connected", |look| look.connection == Connection::Connected).await;
    shop.bambu.change(|setup| setup.other_certificate = true);
    shop.sim.handle.update_faults(|faults| faults.disconnect = true);
    until(printer.as_ref(), "gone", |look| look.connection == Connection::Unreachable).await;
    shop.sim.handle.update_faults(|faults| faults.disconnect = false);
    let changed =
        |look: &Status| look.message.as_ref().is_some_and(|words| words.contains("has changed since the first"));
    until(printer.as_ref(), "told of the certificate", changed).await;
    // Connected by an operator anew, it is accepted.
    let again = shop.adapter();
    until(again.as_ref(), "connected", |look| look.connection == Connection::Connected).await;
}

#[tokio::test]
async fn a_printer_without_developer_mode_is_read_only_and_given_no_start() {
    for mode in [DeveloperMode::Refused, DeveloperMode::Dropped] {
        let shop = Shop::new(1.0).await;
        shop.bambu.change(|setup| (setup.model, setup.developer_mode) = (BambuModel::X1, mode));
        let printer = shop.adapter();
        let look = until(printer.as_ref(), "read", |look| look.connection == Connection::ReadOnly).await;
        assert!(look.message.unwrap().contains("Developer Mode"));
        let (_kept, source) = package(600);
        let name = printer.upload("part.gcode.3mf", &source).await.unwrap();
        let refused = printer.launch(&launch(&name, vec![])).await.unwrap_err();
        assert!(refused.certainly_not_done() && refused.to_string().contains("read-only"), "{refused}");
        assert_eq!(shop.sim.handle.starts_of(&name), 0);
    }
}

#[tokio::test]
async fn an_older_model_is_found_to_be_read_only_by_its_refusal() {
    let shop = Shop::new(1.0).await;
    shop.bambu.change(|setup| (setup.model, setup.developer_mode) = (BambuModel::P1, DeveloperMode::Refused));
    let printer = shop.adapter();
    until(printer.as_ref(), "read", |look| look.state == Activity::Idle).await;
    let refused = printer.home().await.unwrap_err();
    assert!(refused.to_string().contains("read-only"), "{refused}");
    until(printer.as_ref(), "read only", |look| look.connection == Connection::ReadOnly).await;
}

#[tokio::test]
async fn a_printer_that_leaves_a_probe_unanswered_stays_read_only_and_holds_nothing_else() {
    let shop = Shop::new(1.0).await;
    shop.bambu.change(|setup| (setup.model, setup.developer_mode) = (BambuModel::P1, DeveloperMode::Refused));
    let request_timeout = REFUSAL_PROBE_TIMEOUT * 15;
    let printer = shop.reached(|_| {}, Settings { request_timeout, ..settings() });
    until(printer.as_ref(), "idle", |look| look.state == Activity::Idle).await;
    let refused = printer.home().await.unwrap_err();
    assert!(refused.to_string().contains("read-only"), "{refused}");
    shop.bambu.change(|setup| setup.developer_mode = DeveloperMode::Dropped);
    let began = Instant::now();
    let look = async {
        let status = printer.status(Timestamp(0)).await.unwrap();
        (status.connection, status.state, began.elapsed())
    };
    let info = async { printer.printer_info().await.map(|_| began.elapsed()).unwrap() };
    let ((connection, state, looked), answered) = tokio::join!(look, info);
    assert_eq!((connection, state), (Connection::ReadOnly, Activity::Idle));
    assert!((REFUSAL_PROBE_TIMEOUT..request_timeout).contains(&looked), "the bound is that of the probe: {looked:?}");
    assert!(answered < looked, "other questions do not wait for it: {answered:?}");
    let mut quickest = Duration::MAX;
    for _ in 0..3 {
        let again = Instant::now();
        printer.status(Timestamp(0)).await.unwrap();
        quickest = quickest.min(again.elapsed());
    }
    assert!(quickest < REFUSAL_PROBE_TIMEOUT, "and it is not probed at every poll: {quickest:?}");
}

#[tokio::test]
async fn a_file_that_is_printed_again_at_the_printer_is_another_print() {
    let shop = Shop::new(2_000.0).await;
    let printer = shop.adapter();
    let (_kept, source) = package(60);
    let name = printer.upload("part.gcode.3mf", &source).await.unwrap();
    printer.launch(&launch(&name, vec![])).await.unwrap();
    let done = until(printer.as_ref(), "done", |look| look.ended == Some(PrintEnd::Finished)).await;
    assert!(!done.prints_again(), "{done:?}");
    shop.sim.handle.set_speed(1.0);
    shop.sim.handle.with(|machine| machine.start(&name)).unwrap();
    let again = until(printer.as_ref(), "printing", |look| look.state == Activity::Printing).await;
    assert!(again.file.as_deref() == Some(name.as_str()) && again.prints_again(), "{again:?}");
}

#[tokio::test]
async fn spools_in_the_changer_are_reported_and_printed_from() {
    let shop = Shop::new(20.0).await;
    let tray = |code: &str, color: &str| Tray {
        tray_info_idx: code.into(),
        tray_type: "PLA".into(),
        tray_color: color.into(),
        remain: 40,
        tag_uid: "A1B2C3D400000100".into(),
    };
    let trays = [Some(tray("GFA00", "FF0000FF")), Some(tray("GFA01", "00FF00FF")), None, None];
    shop.bambu.change(|setup| setup.ams = vec![Ams { trays }]);
    let printer = shop.adapter();
    let look = until(printer.as_ref(), "told of the spools", |look| look.slots.len() >= 2).await;
    let second = &look.slots[1];
    assert_eq!(
        (second.slot, second.vendor_code.as_deref(), second.color.as_deref()),
        (1, Some("GFA01"), Some("#00ff00"))
    );
    assert_eq!(second.remaining, Some(Amount::units(400)));
    let (_kept, source) = package(60);
    let name = printer.upload("part.gcode.3mf", &source).await.unwrap();
    let spool = ReportedSpool { vendor_code: Some("GFA01".into()), color: Some("#00ff00".into()) };
    let chosen = FilamentSlot { slot: 1, spool: Some(spool) };
    // Of a changer that is gone nothing is printed, and not from the spool beside it either.
    let fitted = shop.bambu.setup().ams;
    shop.bambu.change(|setup| setup.ams.clear());
    until(printer.as_ref(), "told that the changer is gone", |look| look.slots.is_empty()).await;
    let refused = printer.launch(&launch(&name, vec![Some(chosen.clone())])).await.unwrap_err();
    assert!(refused.certainly_not_done() && refused.to_string().contains("is gone"), "{refused}");
    assert_eq!(shop.sim.handle.starts_of(&name), 0);
    shop.bambu.change(|setup| setup.ams = fitted);
    until(printer.as_ref(), "told of the spools again", |look| look.slots.len() >= 2).await;
    printer.launch(&launch(&name, vec![Some(chosen)])).await.unwrap();
    until(printer.as_ref(), "printed", |look| look.ended == Some(PrintEnd::Finished)).await;
    assert_eq!(shop.sim.handle.starts_of(&name), 1);
}

#[tokio::test]
async fn the_state_of_the_last_print_is_not_that_of_the_next() {
    let shop = Shop::new(2_000.0).await;
    let printer = shop.adapter();
    let (_kept, source) = package(60);
    let first = printer.upload("first.gcode.3mf", &source).await.unwrap();
    printer.launch(&launch(&first, vec![])).await.unwrap();
    until(printer.as_ref(), "done", |look| look.ended == Some(PrintEnd::Finished)).await;
    shop.bambu.change(|setup| setup.old_state_ms = 1_500);
    shop.sim.handle.set_speed(20.0);
    let second = printer.upload("second.gcode.3mf", &source).await.unwrap();
    printer.start(&second).await.unwrap();
    let ours = |look: &Status| look.file.as_deref() == Some(second.as_str());
    let status = until(printer.as_ref(), "shown", ours).await;
    assert_eq!((status.ended, status.progress < 100.0), (None, true), "{status:?}");
    until(printer.as_ref(), "printing", |look| look.state == Activity::Printing && ours(look)).await;
    until(printer.as_ref(), "done", |look| look.ended == Some(PrintEnd::Finished) && ours(look)).await;
}

#[tokio::test]
async fn a_busy_printer_is_given_neither_file_nor_start() {
    let shop = Shop::new(1.0).await;
    shop.bambu.change(|setup| setup.busy_start_cancels = true);
    let printer = shop.adapter();
    let (_kept, source) = package(600);
    let name = printer.upload("ours.gcode.3mf", &source).await.unwrap();
    printer.launch(&launch(&name, vec![])).await.unwrap();
    until(printer.as_ref(), "printing", |look| look.state == Activity::Printing).await;
    assert_eq!(printer.upload("next.gcode.3mf", &source).await, Err(PrinterError::InUse(name.clone())));
    let refused = printer.start("next.gcode.3mf").await;
    assert_eq!(refused, Err(PrinterError::InUse(name.clone())));
    assert_eq!(printer.look(Timestamp(0)).await.state, Activity::Printing, "and goes on");
    printer.emergency_stop().await.unwrap();
    until(printer.as_ref(), "cancelled", |look| look.ended == Some(PrintEnd::Cancelled)).await;
    assert_eq!(printer.delete_file(&name).await, Ok(Deleted::Gone));
    assert!(printer.list_files().await.unwrap().is_empty());
}

#[tokio::test]
async fn transfers_are_believed_only_as_far_as_the_file_is_there() {
    let shop = Shop::new(1.0).await;
    let limits = Settings { offline_after: Duration::from_secs(2), ..settings() };
    let printer = shop.reached(|_| {}, limits);
    let (_kept, source) = package(600);
    let upload = async |name: &str| printer.upload(name, &source).await;
    assert_eq!(upload("my vase.gcode.3mf").await.unwrap(), "my_vase.gcode.3mf", "no spaces");
    shop.bambu.change(|setup| setup.cut_upload_after = Some(100));
    let cut = upload("cut.gcode.3mf").await.unwrap_err();
    assert!(matches!(cut, PrinterError::Lost(_) | PrinterError::Altered(_)), "{cut:?}");
    shop.bambu.change(|setup| (setup.cut_upload_after, setup.refuses_overwrite) = (None, true));
    assert_eq!(upload("cut.gcode.3mf").await.unwrap(), "cut.gcode.3mf", "in the place of what is left of it");
    shop.bambu.change(|setup| setup.silent_after_upload = true);
    assert_eq!(upload("silent.gcode.3mf").await.unwrap(), "silent.gcode.3mf", "without the word that it is complete");
    shop.bambu.change(|setup| setup.silent_after_upload = false);
    shop.sim.handle.update_faults(|faults| faults.disk_full = true);
    let full = upload("full.gcode.3mf").await.unwrap_err();
    assert!(full.disk_full() && full.to_string().contains("memory card"), "{full}");
    shop.sim.handle.update_faults(|faults| faults.disk_full = false);
    let mut names: Vec<String> = printer.list_files().await.unwrap().into_iter().map(|file| file.path).collect();
    names.sort();
    assert_eq!(names, ["cut.gcode.3mf", "my_vase.gcode.3mf", "silent.gcode.3mf"]);
}

#[tokio::test]
async fn a_model_that_does_not_encrypt_its_data_connections_is_served_without() {
    let shop = Shop::new(1.0).await;
    shop.bambu.change(|setup| setup.hangs_encrypted_data = true);
    // The handshake is never answered: no wait is too short for it.
    let limits = Settings { data_handshake_timeout: Duration::from_millis(500), ..settings() };
    let printer = shop.reached(|_| {}, limits);
    let (_kept, source) = package(600);
    assert_eq!(printer.upload("a.gcode.3mf", &source).await.unwrap(), "a.gcode.3mf");
    assert_eq!(printer.list_files().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_connection_that_nobody_answers_on_is_not_taken_for_the_printer() {
    let shop = Shop::new(1.0).await;
    let printer = shop.reached(|_| {}, Settings { request_timeout: Duration::from_millis(500), ..settings() });
    until(printer.as_ref(), "idle", |look| look.state == Activity::Idle).await;
    shop.bambu.change(|setup| setup.deaf = true);
    until(printer.as_ref(), "silent", |look| look.connection == Connection::Unreachable).await;
    shop.bambu.change(|setup| setup.deaf = false);
    until(printer.as_ref(), "heard again", |look| look.state == Activity::Idle).await;
}

#[tokio::test]
async fn one_client_serves_one_printer_and_leaves_when_it_is_told_to() {
    let shop = Shop::new(1.0).await;
    let printer = shop.adapter();
    until(printer.as_ref(), "idle", |look| look.state == Activity::Idle).await;
    printer.printer_info().await.unwrap();
    assert_eq!(shop.bambu.clients(), 1);
    printer.disconnect().await.unwrap();
    assert!(!printer.is_connected().await);
    let gone = async {
        while shop.bambu.clients() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), gone).await.unwrap();
    until(printer.as_ref(), "asked for again", |look| look.connection == Connection::Connected).await;
}
