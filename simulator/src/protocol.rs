//! What the protocol of a kind of printer declares about itself.

use std::{io, net::SocketAddr};

use futures::future::BoxFuture;

use crate::{PrinterKind, VirtualPrinter, wire::Server};

/// A protocol of printers. All that a fleet and the command line know of a kind of printer follows from it.
#[derive(Debug)]
pub struct Protocol {
    /// The printer type as Printfloor's API writes it, such as `fw_rest`.
    pub word: &'static str,
    /// What such a printer is, for the help of a command line, such as
    /// `printers with the firmware web API (Moonraker)`.
    pub about: &'static str,
    /// What the serial numbers of its printers begin with.
    pub serial_prefix: &'static str,
    /// How many characters its API keys have.
    pub key_chars: usize,
    /// Whether its printers print packages (`.gcode.3mf`) instead of G-code as text.
    pub prints_packages: bool,
    /// Whether a lost controller is found again without a command (Klipper does, a serial port does not).
    pub reconnects: bool,
    /// Serves a printer until the server is dropped.
    pub serve: fn(VirtualPrinter, ServeOptions) -> BoxFuture<'static, io::Result<Server>>,
}

/// Where and how one virtual printer is served.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The address to listen on; port 0 takes a free port.
    pub addr: SocketAddr,
    /// The API key that every call needs; `None` trusts every caller.
    pub api_key: Option<String>,
    /// The name that the printer reports.
    pub name: String,
}

impl PrinterKind {
    /// The printer type as Printfloor's API writes it.
    pub fn as_str(self) -> &'static str {
        self.protocol().word
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn kinds_differ_in_word_and_serial_numbers() {
        let kinds = PrinterKind::ALL;
        assert_eq!(kinds.iter().map(|kind| kind.as_str()).collect::<HashSet<_>>().len(), kinds.len());
        assert_eq!(kinds.iter().map(|kind| kind.protocol().serial_prefix).collect::<HashSet<_>>().len(), kinds.len());
    }
}
