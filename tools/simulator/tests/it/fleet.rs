use std::collections::HashSet;

use serde_json::Value;
use simulator::{Fleet, FleetOptions, PrinterKind};

async fn fleet(seed: u64) -> Fleet {
    Fleet::start(FleetOptions { speed: 60.0, seed, ..FleetOptions::of_each(2) }).await.unwrap()
}

#[tokio::test]
async fn the_same_seed_makes_the_same_fleet() {
    let keys = |fleet: &Fleet| {
        fleet
            .printers
            .iter()
            .map(|printer| (printer.kind, printer.api_key.clone(), printer.serial.clone()))
            .collect::<Vec<_>>()
    };
    let (first, again, other) = (fleet(3).await, fleet(3).await, fleet(4).await);
    assert_eq!(keys(&first), keys(&again));
    assert_ne!(keys(&first), keys(&other));
    assert_eq!(
        first.printers.iter().map(|printer| &printer.serial).collect::<HashSet<_>>().len(),
        first.printers.len()
    );
}

#[tokio::test]
async fn each_printer_has_its_line() {
    let fleet = fleet(3).await;
    let printer = fleet.first(PrinterKind::ServerRest).unwrap();
    let line: Value = serde_json::from_str(&printer.print_line()).unwrap();
    assert_eq!(line["type"], "server_rest");
    assert_eq!(line["baseUrl"], printer.base_url.as_str());
    assert_eq!(line.as_object().unwrap().len(), 4);
    assert!(!printer.print_line().contains('\n'));
}

#[tokio::test]
async fn ports_follow_the_base_port_and_are_given_back() {
    let fleet = fleet(3).await;
    let port = fleet.printers[0].base_url.rsplit(':').next().unwrap().parse::<u16>().unwrap();
    let options = FleetOptions { base_port: Some(port), ..FleetOptions::of(PrinterKind::FwRest, 1) };
    let error = Fleet::start(options.clone()).await.unwrap_err().to_string();
    assert!(error.contains(&port.to_string()), "{error}");
    let room = Fleet::start(FleetOptions { base_port: Some(65_535), ..FleetOptions::default() })
        .await
        .unwrap_err()
        .to_string();
    assert!(room.contains("65535"), "{room}");
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    client.get(format!("{}/_sim/log", fleet.printers[0].base_url)).send().await.unwrap();
    let url = format!("{}/_sim/log", fleet.printers[0].base_url);
    drop(fleet);
    client.get(url).send().await.unwrap_err();
}

#[tokio::test]
async fn a_keyless_fleet_trusts_every_caller() {
    let fleet = Fleet::start(FleetOptions { keyless: true, ..FleetOptions::of_each(1) }).await.unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (kind, path) in [(PrinterKind::FwRest, "/printer/info"), (PrinterKind::ServerRest, "/api/printer")] {
        let answer = client.get(format!("{}{path}", fleet.first(kind).unwrap().base_url)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
    }
}

// Some printers have a second port, which may be the one that is taken.
#[tokio::test]
async fn the_port_that_is_really_taken_is_named() {
    let start = |base_port| {
        Fleet::start(FleetOptions { base_port, speed: 60.0, seed: 3, ..FleetOptions::of(PrinterKind::MqttLan, 1) })
    };
    let free = start(None).await.unwrap();
    let url = free.printers[0].base_url.clone();
    let base = url.rsplit(':').next().unwrap().split('?').next().unwrap().parse::<u16>().unwrap();
    drop(free);
    // What was listened on is given back a moment later.
    let first = loop {
        match start(Some(base)).await {
            Ok(fleet) => break fleet,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let files = first.printers[0].base_url.rsplit('=').next().unwrap().parse::<u16>().unwrap();
    assert_ne!(files, base);
    drop(first);
    let holder = loop {
        if let Ok(holder) = tokio::net::TcpListener::bind(("127.0.0.1", files)).await {
            break holder;
        }
        tokio::task::yield_now().await;
    };
    let error = loop {
        match start(Some(base)).await.unwrap_err().to_string() {
            error if error.contains(&format!(":{base}:")) => tokio::task::yield_now().await,
            error => break error,
        }
    };
    assert!(error.contains(&format!(":{files}:")), "{error}");
    drop(holder);
}
