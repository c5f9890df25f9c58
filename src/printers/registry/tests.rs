#![expect(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use axum::Router;
use axum::routing::get;

use super::*;
use crate::adapter::{Operation, PrinterError};
use crate::fw_rest;
use crate::tests::{registry, serve, settings};
use config::Config;
use domain::sku::MachineType;
use domain::testing::samples::{idle_printer, printer_fields};
use domain::time::Timestamp;

/// Printer type that only tests use: like `fw_rest`, but it requires a serial number.
static OTHER: [PrinterType; 1] = [PrinterType { needs_serial: true, ..PrinterType::of("mine", "Mine", 1) }];
/// Constructor of the adapters of [`OTHER`].
static OTHER_CONSTRUCTOR: [(&str, MakeAdapter); 1] = [("mine", fw_rest::make)];

#[test]
fn a_printer_is_given_time_as_long_as_the_slow_ones_need() {
    let shipped = Settings::from(&Config::default().printers);
    let [upload, handshake] = [20, 10].map(Duration::from_secs);
    assert_eq!((shipped.upload_wait, shipped.data_handshake_timeout), (upload, handshake));
}

#[test]
fn unknown_types_and_bad_addresses_are_refused() {
    let registry = registry(settings());
    let make = |kind: &str, url: &str, key: &str| {
        let address = PrinterAddress { base_url: url.into(), api_key: key.into(), ..PrinterAddress::default() };
        registry.make(kind, address).map(drop)
    };
    assert_eq!(make("teapot", "http://a", ""), Err(MakeError::UnknownType("teapot".into())));
    for bad in ["", "ftp://a", "http://", "mailto:a@b", "http://a:99999"] {
        assert!(matches!(make("fw_rest", bad, ""), Err(MakeError::BadAddress(_))), "{bad:?}");
    }
    assert!(matches!(make("fw_rest", "http://a", "two\nlines"), Err(MakeError::BadKey(_))));
    assert_eq!(make("fw_rest", "printer.local", "k"), Ok(()));
}

#[tokio::test]
async fn another_declared_type_is_used_like_any_other_and_asks_for_what_it_needs() {
    let url =
        serve(Router::new().route("/server/info", get(|| async { r#"{"result":{"klippy_connected":true}}"# }))).await;
    let registry = Registry { types: &OTHER, constructors: &OTHER_CONSTRUCTOR, ..registry(settings()) };
    let address = PrinterAddress { base_url: url, ..PrinterAddress::default() };
    let without = registry.make("mine", address.clone()).map(drop);
    let words = "is required to connect to printers of type mine";
    assert_eq!(without, Err(MakeError::BadSerial(words.into())));
    let printer = registry.make("mine", PrinterAddress { serial: "S1".into(), ..address }).unwrap();
    assert!(printer.is_connected().await);
    assert_eq!(printer.declared().word, "mine");
}

#[test]
fn a_key_of_another_server_is_told_apart_from_a_bad_address() {
    let cipher = SecretCipher::new("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").unwrap();
    let stored = StoredAddress {
        kind: "fw_rest".into(),
        base_url: "http://a".into(),
        encrypted_api_key: "nonsense".into(),
        serial: None,
        known_key: None,
    };
    let registry = registry(settings());
    assert!(matches!(registry.open(&stored, &cipher), Err(MakeError::Key(_))));
    let open = StoredAddress { encrypted_api_key: String::new(), ..stored };
    assert!(registry.open(&open, &cipher).is_ok());
}

#[test]
fn a_printer_that_showed_its_key_is_reached_by_that_key_alone() {
    let fields = PrinterFields { serial: Some("S1".into()), ..printer_fields("Left", MachineType::FdmStandard) };
    let mut printer = idle_printer(1, fields, Timestamp(0));
    assert_eq!(StoredAddress::from(&printer).known_key, None);
    printer.known_key = Some("ab".repeat(32));
    let stored = StoredAddress::from(&printer);
    assert_eq!((stored.known_key, stored.serial.as_deref()), (printer.known_key, Some("S1")));
}

/// Calls the method for an operation with valid arguments, and returns its result.
async fn answer(printer: &dyn Adapter, operation: Operation) -> Result<(), PrinterError> {
    match operation {
        Operation::History => printer.history("a.gcode").await.map(drop),
        Operation::DeleteFile => printer.delete_file("a.gcode").await.map(drop),
        Operation::ListFiles => printer.list_files().await.map(drop),
        Operation::RunGcode => printer.run_gcode(&["M105".into()]).await.map(drop),
        Operation::RestartFirmware => printer.restart_firmware().await,
        Operation::Home => printer.home().await,
        Operation::ServerInfo => printer.server_info().await.map(drop),
        Operation::PrinterInfo => printer.printer_info().await.map(drop),
        Operation::Webcams => printer.webcams().await.map(drop),
        Operation::SystemInfo => printer.system_info().await.map(drop),
        Operation::EmergencyStop => printer.emergency_stop().await,
    }
}

#[tokio::test]
async fn what_a_type_lacks_is_what_it_says_it_lacks() {
    let fleet = simulator::Fleet::start(simulator::FleetOptions::default()).await.unwrap();
    for sim in &fleet.printers {
        let address = PrinterAddress {
            base_url: sim.base_url.clone(),
            api_key: sim.api_key.clone(),
            serial: sim.serial.clone(),
            known_key: None,
        };
        let printer = registry(settings()).make(sim.kind.as_str(), address).unwrap();
        for operation in Operation::ALL {
            let unsupported = answer(printer.as_ref(), operation).await == Err(PrinterError::Unsupported(operation));
            assert_eq!(unsupported, !printer.supports(operation), "{} {operation}", sim.kind.as_str());
        }
    }
}
