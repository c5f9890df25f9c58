//! Tests of a search for simulated printers on loopback, each on a free port that replaces the usual port of its type.
#![expect(clippy::unwrap_used, reason = "tests")]

use simulator::{Fleet, FleetOptions, PrinterKind};
use tokio::net::UdpSocket;

use super::*;
use platform::http::{LanSettings, searching};

/// Creates a search of this machine in which all usual ports are replaced by ports that nothing listens on.
fn search() -> Search {
    platform::tls::install_provider();
    let client = searching(&LanSettings::default()).unwrap();
    let mut search = Search::new(client, scanned(&[]), Duration::ZERO);
    for port in ports() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        search.moved_ports.insert(port, free);
    }
    search.moved_ports.insert(2021, 0);
    search
}

async fn result_of(search: Search) -> (Vec<FoundPrinter>, Vec<SearchStep>) {
    let (sender, mut steps) = mpsc::channel(1000);
    let printers = search.run(sender, &CancellationToken::new()).await;
    let mut all = Vec::new();
    while let Some(step) = steps.recv().await {
        all.push(step);
    }
    (printers, all)
}

#[tokio::test]
async fn simulated_printers_are_found_by_what_they_answer() {
    let fleet = Fleet::start(FleetOptions::of_each(1)).await.unwrap();
    let mut search = search();
    let usual = [
        (PrinterKind::FwRest, 7125),
        (PrinterKind::ServerRest, 5000),
        (PrinterKind::MqttLan, 8883),
        (PrinterKind::PrusaLink, 80),
    ];
    for (kind, port) in usual {
        let url = fleet.first(kind).unwrap().base_url.parse::<url::Url>().unwrap();
        search.moved_ports.insert(port, url.port().unwrap());
    }
    let (printers, steps) = result_of(search).await;
    let kinds: Vec<_> = printers.iter().map(|printer| printer.kind).collect();
    assert_eq!(kinds, ["fw_rest", "mqtt_lan", "prusa_link", "server_rest"], "{printers:#?}");
    let of = |kind: PrinterKind| {
        let sim = fleet.first(kind).unwrap();
        (printers.iter().find(|printer| printer.kind == kind.as_str()).unwrap(), sim)
    };
    for kind in [PrinterKind::FwRest, PrinterKind::ServerRest, PrinterKind::PrusaLink] {
        let (printer, sim) = of(kind);
        assert_eq!(printer.base_url, sim.base_url);
    }
    assert!(of(PrinterKind::FwRest).0.evidence.contains("Moonraker"), "{printers:#?}");
    let (bambu, sim) = of(PrinterKind::MqttLan);
    assert_eq!(bambu.serial.as_ref(), Some(&sim.serial));
    assert!(bambu.evidence.contains(&sim.serial), "{bambu:?}");
    assert_eq!(steps.iter().filter(|step| matches!(step, SearchStep::Found(_))).count(), 4);
    let total = ports().len();
    assert!(steps.contains(&SearchStep::Asked { done: total, total }), "{steps:?}");
}

#[tokio::test]
async fn a_search_that_is_cancelled_ends_with_what_it_has_found() {
    let fleet = Fleet::start(FleetOptions::of(PrinterKind::FwRest, 1)).await.unwrap();
    let mut search = search();
    let url = fleet.first(PrinterKind::FwRest).unwrap().base_url.parse::<url::Url>().unwrap();
    search.moved_ports.insert(7125, url.port().unwrap());
    // Nobody announces itself, and nobody waits for that: the search is cancelled as soon as the printer is found.
    search.listening = Duration::from_secs(3600);
    let (cancel, (sender, mut steps)) = (CancellationToken::new(), mpsc::channel(1000));
    let cancelling = async {
        while let Some(step) = steps.recv().await {
            if matches!(step, SearchStep::Found(_)) {
                cancel.cancel();
            }
            assert!(!matches!(step, SearchStep::Note(_)), "{step:?}");
        }
    };
    let (printers, ()) = join(search.run(sender, &cancel), cancelling).await;
    let urls: Vec<_> = printers.iter().map(|printer| &printer.base_url).collect();
    assert_eq!(urls, [&fleet.first(PrinterKind::FwRest).unwrap().base_url]);
}

#[test]
fn of_many_endpoints_some_are_reported_and_always_the_last() {
    let reports = |total: usize| (1..=total).filter(|done| is_reported(*done, total)).collect::<Vec<_>>();
    assert_eq!(reports(5), [1, 2, 3, 4, 5]);
    let of_many = reports(1270);
    assert_eq!((of_many.len(), of_many.last()), (MAX_REPORTS, Some(&1270)));
    assert!(is_reported(0, 0), "nothing to probe");
}

#[tokio::test]
async fn what_answers_like_nothing_known_is_no_printer() {
    let mut search = search();
    let web = axum::Router::new().fallback(|| async { "a page about OctoPrint, Moonraker and PrusaLink" });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, web).await });
    let all: Vec<u16> = search.moved_ports.keys().copied().filter(|usual| *usual != 2021).collect();
    search.moved_ports.extend(all.into_iter().map(|usual| (usual, port)));
    assert_eq!(result_of(search).await.0, []);
}

#[tokio::test]
async fn announcements_of_this_machine_are_heard() {
    let mut search = search();
    // Free now, and nobody else is given it soon.
    let port = UdpSocket::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    search.moved_ports.insert(2021, port);
    search.listening = Duration::from_secs(5);
    let announcement = "NOTIFY * HTTP/1.1\r\nLocation: 10.1.2.3\r\nNT: urn:bambulab-com:device:3dprinter:1\r\n\
        USN: 01S00A123456789\r\nDevName.bambu.com: left one\r\n\r\n";
    let saying = async {
        let from = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        loop {
            let _ = from.send_to(announcement.as_bytes(), ("127.0.0.1", port)).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let (printers, steps) = tokio::select! {
        biased; // the search ends, the other does not
        result = result_of(search) => result,
        () = saying => unreachable!(),
    };
    assert_eq!(printers.len(), 1, "{printers:#?} {steps:?}");
    // Where it came from counts, not what it says.
    assert_eq!((printers[0].base_url.as_str(), printers[0].name.as_str()), ("mqtts://127.0.0.1", "left one"));
    assert_eq!(
        steps.iter().filter(|step| matches!(step, SearchStep::Found(_))).count(),
        1,
        "once, however often it is said"
    );
}

#[test]
fn several_doors_of_one_printer_are_one_find() {
    let door = |kind, host: [u8; 4], base_url: &str, usual_port| FoundPrinter {
        kind,
        base_url: base_url.to_owned(),
        name: String::new(),
        serial: None,
        evidence: base_url.to_owned(),
        host: host.into(),
        says_its_name: false,
        usual_port,
    };
    let one = [10, 0, 0, 1];
    let printers = once_each(vec![
        door("fw_rest", one, "http://10.0.0.1", false),
        door("server_rest", one, "http://10.0.0.1:5000", true),
        door("fw_rest", one, "http://10.0.0.1:7125", true),
        door("fw_rest", [10, 0, 0, 2], "http://10.0.0.2", false),
    ]);
    let urls: Vec<_> = printers.iter().map(|printer| printer.base_url.as_str()).collect();
    assert_eq!(urls, ["http://10.0.0.1:7125", "http://10.0.0.1:5000", "http://10.0.0.2"], "{printers:#?}");
    let serial = |printer: FoundPrinter, evidence: &str| FoundPrinter {
        serial: Some("01S00A123456789".to_owned()),
        evidence: evidence.to_owned(),
        ..printer
    };
    let probed = serial(door("mqtt_lan", one, "mqtts://10.0.0.1", true), "asked");
    let announced = serial(door("mqtt_lan", [10, 0, 0, 3], "mqtts://10.0.0.3", true), "told");
    let both = once_each(vec![probed, announced]);
    assert_eq!(both.len(), 1, "{both:?}");
    assert_eq!(both[0].evidence, "asked; told");
}
