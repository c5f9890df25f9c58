//! Declaration of the protocol of a printer kind.

use std::{io, net::SocketAddr};

use futures::future::BoxFuture;

use crate::{PrinterKind, VirtualPrinter, wire::SimServer};

/// Protocol of a printer kind. The fleet and the command line derive everything about the kind from it.
#[derive(Debug)]
pub struct Protocol {
    /// Printer type in Printfloor's API, such as `fw_rest`.
    pub word: &'static str,
    /// Description of such printers, for the help of a command line, such as `printers with the firmware web API
    /// (Moonraker)`.
    pub about: &'static str,
    /// Prefix of the serial numbers of its printers.
    pub serial_prefix: &'static str,
    /// Number of characters of its API keys.
    pub key_chars: usize,
    /// Set if its printers print packages (`.gcode.3mf`) instead of text G-code.
    pub prints_packages: bool,
    /// Set if a lost controller is found again without a command (Klipper does, a serial port does not).
    pub reconnects: bool,
    /// Serves a printer until the server is dropped.
    pub serve: fn(VirtualPrinter, ServeOptions) -> BoxFuture<'static, io::Result<SimServer>>,
}

/// Address, credentials and name of one served virtual printer.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Address to listen on; port 0 takes a free port.
    pub addr: SocketAddr,
    /// API key that every call needs; `None` trusts every caller.
    pub api_key: Option<String>,
    /// Name that the printer reports.
    pub name: String,
}

impl PrinterKind {
    /// Returns the printer type in Printfloor's API.
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
