//! Recognises printers in LAN mode: their broker presents a certificate issued for a serial number and requires the
//! access code, and they announce themselves with broadcast packets.

use std::net::Ipv4Addr;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{SinkExt, StreamExt};
use rumqttc::mqttbytes::v4::{Codec, Connect, Packet};
use rustls::ClientConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_util::codec::Framed;

use super::address::MQTT_PORT;
use super::certificate::Certificate;
use super::tls::any_printer;
use crate::probes::{Announcement, OwnProbe, PrinterIdentity};

/// Probe that tries to sign in to the broker without an access code.
pub(super) const PROBE: OwnProbe = OwnProbe { port: MQTT_PORT, ask: |stream| ask(stream), base_url };

/// Announcements that printers broadcast every few seconds.
pub(super) const ANNOUNCEMENT: Announcement =
    Announcement { port: 2021, read, base_url: |host| base_url(host, MQTT_PORT) };

/// Prefix that identifies the sender of an announcement as a Bambu Lab printer.
const KIND: &str = "urn:bambulab-com:device:3dprinter:";
/// Maximum size of the broker's response in bytes.
const MAX_ANSWER_BYTES: usize = 1024;
/// Valid serial number lengths, in characters.
const SERIAL_CHARS: std::ops::RangeInclusive<usize> = 10..=20;

fn base_url(host: Ipv4Addr, port: u16) -> String {
    if port == MQTT_PORT { format!("mqtts://{host}") } else { format!("mqtts://{host}:{port}") }
}

/// Returns whether a string can be a serial number, which consists of uppercase letters and many digits.
fn is_serial(text: &str) -> bool {
    let form = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    SERIAL_CHARS.contains(&text.len()) && text.bytes().all(form) && text.bytes().filter(u8::is_ascii_digit).count() >= 4
}

fn ask(stream: TcpStream) -> BoxFuture<'static, Option<PrinterIdentity>> {
    Box::pin(greet(stream))
}

/// Tries to sign in to the broker without an access code, which the broker rejects; the certificate presented before
/// the rejection identifies the printer.
async fn greet(stream: TcpStream) -> Option<PrinterIdentity> {
    let host = stream.peer_addr().ok()?.ip();
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().ok()?;
    let verifier = any_printer(provider);
    let config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(config));
    let tls = connector.connect(ServerName::IpAddress(host.into()), stream).await.ok()?;
    let serial = {
        let certificates = tls.get_ref().1.peer_certificates()?;
        Certificate::read(certificates.first()?)?.common_name.to_owned()
    };
    if !is_serial(&serial) {
        return None;
    }
    let codec = Codec { max_incoming_size: MAX_ANSWER_BYTES, max_outgoing_size: MAX_ANSWER_BYTES };
    let mut wire = Framed::new(tls, codec);
    wire.send(Packet::Connect(Connect::new("printfloor-search"))).await.ok()?;
    let Some(Ok(Packet::ConnAck(_))) = wire.next().await else { return None };
    let evidence = format!("its broker presents the certificate of the printer {serial}");
    Some(PrinterIdentity { name: None, serial: Some(serial), evidence })
}

/// Parses an announcement, which has the format of an HTTP request head.
pub(super) fn read(packet: &[u8]) -> Option<PrinterIdentity> {
    let text = std::str::from_utf8(packet).ok()?;
    let (first, rest) = text.split_once("\r\n")?;
    if !first.starts_with("NOTIFY ") && !first.starts_with("HTTP/1.1 200") {
        return None;
    }
    let header = |header_name: &str| {
        let pairs = rest.split("\r\n").filter_map(|line| line.split_once(':'));
        let mut of_name = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case(header_name));
        of_name.next().map(|(_, value)| value.trim())
    };
    header("NT").or_else(|| header("ST")).filter(|kind| kind.starts_with(KIND))?;
    let serial = header("USN").filter(|serial| is_serial(serial))?.to_owned();
    let name = header("DevName.bambu.com").filter(|name| !name.is_empty()).map(str::to_owned);
    let model: String =
        header("DevModel.bambu.com").unwrap_or_default().chars().filter(char::is_ascii_graphic).take(20).collect();
    let evidence = if model.is_empty() {
        format!("announces itself as printer {serial}")
    } else {
        format!("announces itself as printer {serial}, model {model}")
    };
    Some(PrinterIdentity { name, serial: Some(serial), evidence })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ANNOUNCEMENT: &str = "NOTIFY * HTTP/1.1\r\nHOST: 239.255.255.250:1990\r\nServer: UPnP/1.0\r\nLocation: 192.168.1.20\r\n\
        NT: urn:bambulab-com:device:3dprinter:1\r\nNTS: ssdp:alive\r\nUSN: 01S00A123456789\r\nCache-Control: max-age=1800\r\n\
        DevModel.bambu.com: C12\r\nDevName.bambu.com: left one\r\nDevConnect.bambu.com: lan\r\n\r\n";

    #[test]
    fn an_announcement_names_the_printer() {
        let recognised = read(ANNOUNCEMENT.as_bytes());
        let evidence = "announces itself as printer 01S00A123456789, model C12".to_owned();
        let serial = Some("01S00A123456789".to_owned());
        assert_eq!(recognised, Some(PrinterIdentity { name: Some("left one".to_owned()), serial, evidence }));
    }

    #[test]
    fn what_announces_something_else_is_no_printer() {
        for other in [
            ANNOUNCEMENT.replace("bambulab-com:device:3dprinter", "schemas-upnp-org:device:MediaRenderer"),
            ANNOUNCEMENT.replace("NOTIFY *", "M-SEARCH *"),
            ANNOUNCEMENT.replace("01S00A123456789", "uuid:some-television"),
            ANNOUNCEMENT.replace("USN:", "Location:"),
            String::new(),
        ] {
            assert_eq!(read(other.as_bytes()), None, "{other}");
        }
        for (name, serial) in
            [("01S00A123456", true), ("localhost", false), ("mosquitto.example", false), ("A1", false)]
        {
            assert_eq!(is_serial(name), serial, "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_packet_makes_it_panic(packet in prop::collection::vec(any::<u8>(), 0..300), cut in 0usize..400) {
            let _ = read(&packet);
            let _ = read(&ANNOUNCEMENT.as_bytes()[..cut.min(ANNOUNCEMENT.len())]);
        }
    }
}
