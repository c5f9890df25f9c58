//! TLS of the server's own connections: only current versions and suites are offered, and a system whose certificate no
//! authority has signed is not told the token.

use serde_json::json;
use simulator::{Fleet, FleetOptions, PrinterKind};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

use crate::api::fault_paths;
use crate::support::{App, Db};

/// Versions of TLS by their numbers: 1.2 and 1.3.
const VERSIONS: [u16; 2] = [0x0303, 0x0304];
/// Suites of TLS 1.3, and those of 1.2 with keys for one connection and authenticated encryption.
const SUITES: [u16; 9] = [0x1301, 0x1302, 0x1303, 0xc02b, 0xc02c, 0xc02f, 0xc030, 0xcca8, 0xcca9];
/// Number in the list of suites that is none: it announces safe renegotiation.
const NO_SUITE: u16 = 0x00ff;
/// Type of a record that is part of the handshake.
const HANDSHAKE_RECORD: u8 = 22;
/// Length of the type and the length of a message, in bytes.
const HEAD_BYTES: usize = 4;
/// Length of version and random number at the beginning of a client's first message, in bytes.
const RANDOM_BYTES: usize = 34;
/// Extension that lists the versions.
const SUPPORTED_VERSIONS: u16 = 43;

/// Versions and suites in the first message of a client.
struct Offer {
    versions: Vec<u16>,
    suites: Vec<u16>,
}

impl Offer {
    /// Reads the first message of a client.
    fn of(message: &[u8]) -> Self {
        let mut rest = &message[HEAD_BYTES + RANDOM_BYTES..];
        let _session = block(&mut rest, 1);
        let suites = numbers(block(&mut rest, 2));
        let _compression = block(&mut rest, 1);
        let mut extensions = block(&mut rest, 2);
        let mut versions = Vec::new();
        while !extensions.is_empty() {
            let (kind, behind) = extensions.split_at(2);
            extensions = behind;
            let mut content = block(&mut extensions, 2);
            if numbers(kind) == [SUPPORTED_VERSIONS] {
                versions = numbers(block(&mut content, 1));
            }
        }
        Self { versions, suites }
    }
}

/// Splits off a block that begins with its length, a number of this many bytes.
fn block<'a>(rest: &mut &'a [u8], length_bytes: usize) -> &'a [u8] {
    let all = *rest;
    let (length, behind) = all.split_at(length_bytes);
    let length = length.iter().fold(0, |sum, byte| (sum << 8) | usize::from(*byte));
    let (content, behind) = behind.split_at(length);
    *rest = behind;
    content
}

fn numbers(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect()
}

/// Reads what the next client offers, and closes the connection.
async fn read_offer(listener: TcpListener) -> Offer {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut head = [0; 5];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(head[0], HANDSHAKE_RECORD, "{head:?}");
    let mut message = vec![0; usize::from(u16::from_be_bytes([head[3], head[4]]))];
    stream.read_exact(&mut message).await.unwrap();
    Offer::of(&message)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_current_versions_and_suites_are_offered() {
    let app = App::new(Db::sqlite()).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let change = json!({"smartHome": {"url": url, "token": "t0k"}});
    let (mut offer, refused) = tokio::join!(read_offer(listener), app.patch("/api/integrations", &change));
    refused.expect(400);
    offer.versions.sort_unstable();
    assert_eq!(offer.versions, VERSIONS);
    offer.suites.retain(|suite| *suite != NO_SUITE);
    assert!(!offer.suites.is_empty());
    for suite in offer.suites {
        assert!(SUITES.contains(&suite), "{suite:#06x}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_that_no_authority_signed_is_refused() {
    let app = App::new(Db::sqlite()).await;
    // A printer that encrypts has a certificate of its own making.
    let fleet = Fleet::start(FleetOptions::of(PrinterKind::MqttLan, 1)).await.unwrap();
    let url = fleet.printers[0].base_url.replace("mqtts://", "https://");
    assert!(url.starts_with("https://"), "{url}");
    let change = json!({"smartHome": {"url": url, "token": "t0k"}});
    let refused = app.patch("/api/integrations", &change).await.expect(400);
    assert_eq!(fault_paths(&refused), ["smart_home"], "{refused}");
    assert!(refused.to_string().contains("the certificate may be invalid"), "{refused}");
    fleet.shutdown();
}
