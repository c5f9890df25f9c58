//! Declaration of a printer kind's protocol.

use std::io;

use futures::future::BoxFuture;

use crate::{PrinterKind, ServeOptions, VirtualPrinter, wire::SimServer};

/// Protocol of a printer kind, from which the fleet and the command line derive all properties of the kind.
#[derive(Debug)]
pub struct Protocol {
    /// Printer type in Printfloor's API, such as `fw_rest`.
    pub word: &'static str,
    /// Description of the printers for command-line help, such as `printers with the firmware web API (Moonraker)`.
    pub about: &'static str,
    /// Serial number prefix.
    pub serial_prefix: &'static str,
    /// Number of characters in the printers' API keys.
    pub key_chars: usize,
    /// `true` if the printers print packages (`.gcode.3mf`) instead of plain-text G-code.
    pub prints_packages: bool,
    /// `true` if the printer finds a lost controller again without a command, as Klipper does and a serial port does
    /// not.
    pub reconnects: bool,
    /// Serves a printer until the server is dropped.
    pub serve: fn(VirtualPrinter, ServeOptions) -> BoxFuture<'static, io::Result<SimServer>>,
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
