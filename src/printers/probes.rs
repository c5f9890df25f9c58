//! Ways in which a search recognises printers of a type: a web page, an exchange in their own protocol, or what they
//! announce. Only the search itself sends or receives anything.

use std::net::Ipv4Addr;

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::net::TcpStream;

/// Probe for a printer type that is recognised by a protocol other than HTTP: a port, and an exchange of messages over
/// a connection to that port.
pub(super) struct OwnProbe {
    /// Port to probe.
    pub(super) port: u16,
    /// Carries out the exchange over the connection; returns `None` if something other than a printer of this type
    /// responds.
    pub(super) ask: fn(TcpStream) -> BoxFuture<'static, Option<PrinterIdentity>>,
    /// Builds the base URL for a printer at the given host and port.
    pub(super) base_url: fn(Ipv4Addr, u16) -> String,
}

/// Details by which a printer was recognised.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct PrinterIdentity {
    /// Printer name; `None` if the printer reports none.
    pub(super) name: Option<String>,
    /// Serial number; `None` if the printer reports none.
    pub(super) serial: Option<String>,
    /// Human-readable summary of the response that identified the printer.
    pub(super) evidence: String,
}

/// Probe for a printer type that is recognised by its server's response to a GET request without an API key.
pub(super) struct WebProbe {
    /// Ports to probe.
    pub(super) ports: &'static [u16],
    /// Path to request.
    pub(super) path: &'static str,
    /// Identifies the printer from the response; returns `None` if something else responded.
    pub(super) recognise: fn(&WebAnswer) -> Option<PrinterIdentity>,
}

/// Web server response.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct WebAnswer {
    /// HTTP status code.
    pub(super) status: u16,
    /// Value of the `WWW-Authenticate` header; empty if missing.
    pub(super) challenge: String,
    /// Body, if it is JSON; otherwise null.
    pub(super) json: Value,
    /// Beginning of the body, as text.
    pub(super) text: String,
}

impl WebAnswer {
    /// Returns the string at the given JSON pointer (such as `/result/version`) in the body.
    pub(super) fn text_at(&self, pointer: &str) -> Option<&str> {
        self.json.pointer(pointer)?.as_str()
    }

    /// Returns the name of the server program, as reported at the path that slicers query.
    pub(super) fn program(&self) -> Option<&str> {
        self.text_at("/text").filter(|_| self.status == 200)
    }
}

/// Announcement protocol of a printer type.
pub(super) struct Announcement {
    /// UDP port to which the printers send the packets.
    pub(super) port: u16,
    /// Parses a packet; returns `None` for packets from unrelated devices.
    pub(super) read: fn(&[u8]) -> Option<PrinterIdentity>,
    /// Builds the base URL of a printer at the given host.
    pub(super) base_url: fn(Ipv4Addr) -> String,
}
