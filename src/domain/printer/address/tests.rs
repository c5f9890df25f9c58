#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::super::tests::PrinterFixture;
use super::*;
use crate::printer::PrinterCommand;

fn fields(base_url: &str, serial: Option<&str>) -> PrinterFields {
    let serial = serial.map(str::to_owned);
    PrinterFields { base_url: base_url.to_owned(), serial, ..PrinterFixture::idle().p().fields.clone() }
}

#[test]
fn only_urls_of_possible_printers_are_taken() {
    for fine in [
        "http://192.168.1.20:7125",
        "https://octopi.local/a",
        "http://127.0.0.1:5000",
        "http://[fd00::7]:80/",
        "mqtts://192.168.1.20",
        "mqtts://127.0.0.1:18883?ftps=1990",
    ] {
        assert!(check_base_url(fine).is_ok(), "{fine}");
    }
    let not_http = ["", "192.168.1.20:7125", "octopi.local", "ftp://10.0.0.1", "http://", "file:///etc/passwd"];
    for text in not_http {
        assert!(check_base_url(text).unwrap_err().contains("https or mqtts URL"), "{text}");
    }
    for denied in [
        "http://169.254.169.254/latest",
        "http://2852039166/",
        "http://[fe80::1]:7125",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:a9fe:a9fe::]/",
        "http://100.100.100.200",
        "http://[fd00:ec2::254]/",
        "http://metadata.google.internal./",
        "http://METADATA/",
        "mqtts://169.254.169.254",
        "mqtts://2852039166:8883",
    ] {
        assert!(check_base_url(denied).unwrap_err().contains("must be the address of a printer"), "{denied}");
    }
}

#[test]
fn one_machine_is_known_however_its_address_is_written() {
    let same = |one: &str, other: &str| same_machine(&fields(one, None), &fields(other, None));
    for (one, other) in [
        ("http://octopi.local:5000", "http://OctoPi.local:5000/"),
        ("http://10.0.0.1", "https://10.0.0.1:80/"),
        ("http://localhost:7125", "http://127.0.0.1:7125"),
        ("http://localhost.:7125", "http://[::1]:7125"),
        ("http://octopi.local.:80/one/", "http://octopi.local/one"),
        ("mqtts://10.0.0.1", "mqtts://10.0.0.1:8883/?ftps=990"),
        ("mqtts://localhost:1", "mqtts://127.0.0.1:1"),
    ] {
        assert_eq!(same(one, other), Some("address"), "{one} {other}");
    }
    for (one, other) in [
        ("http://10.0.0.1:7125", "http://10.0.0.1:7126"),
        ("http://10.0.0.1/one", "http://10.0.0.1/two"),
        ("http://10.0.0.1", "http://10.0.0.2"),
        ("http://octopi.local", "http://shelf.local"),
        ("http://localhost", "http://octopi.local"),
        ("http://[::1]", "http://[fd00::1]"),
    ] {
        assert_eq!(same(one, other), None, "{one} {other}");
    }
    let serials = |one, other| same_machine(&fields("http://a", one), &fields("http://b", other));
    assert_eq!(serials(Some("SN-1"), Some(" sn-1")), Some("serial"));
    assert_eq!(serials(Some(""), Some("")), None);
    assert_eq!(serials(None, None), None);
}

#[test]
fn a_stored_key_does_not_follow_the_printer_to_another_address() {
    let moved = |to: &str, key: Option<&str>| {
        let mut shop = PrinterFixture::idle();
        let change = |shop: &mut PrinterFixture, fields| {
            shop.ask(PrinterCommand::Update { if_version: None, fields: Box::new(fields) }).unwrap();
        };
        let first = PrinterFields { encrypted_api_key: "sealed".into(), ..fields("http://10.0.0.1:7125", None) };
        change(&mut shop, first.clone());
        let key = key.map_or(first.encrypted_api_key, str::to_owned);
        change(&mut shop, PrinterFields { encrypted_api_key: key, ..fields(to, None) });
        shop.p().fields.encrypted_api_key.clone()
    };
    assert_eq!(moved("http://10.0.0.1:7125/", None), "sealed", "the same place");
    for elsewhere in ["http://10.0.0.2:7125", "http://10.0.0.1:7126", "http://10.0.0.1:7125/x", "https://10.0.0.1:7125"]
    {
        assert_eq!(moved(elsewhere, None), "", "{elsewhere}");
        assert_eq!(moved(elsewhere, Some("new")), "new", "{elsewhere}");
    }
}

proptest! {
    #[test]
    fn an_ipv4_address_is_judged_alike_in_ipv6_clothes(bits: u32) {
        let v4 = Ipv4Addr::from(bits);
        prop_assert_eq!(denied_address(IpAddr::V4(v4)), denied_address(IpAddr::V6(v4.to_ipv6_mapped())));
    }

    #[test]
    fn judging_a_text_never_panics(text in "\\PC{0,60}") {
        let _ = (check_base_url(&text), MachineAddress::of(&text), MachineAddress::same(&text, "http://a"));
    }
}
