//! Virtual printers and simulated outside services that speak the real protocols.
//!
//! The demo, the tests and the chaos runs talk to them over loopback ports exactly as to the real ones. A virtual
//! printer's physical actions are in its [`log`](printer::log), separate from its reports: tests assert on the log,
//! clients see only the protocol.
//!
//! This crate is a client only for the events of [`processor`] and the messages of [`shops`], and does not depend on
//! Printfloor.

#![expect(clippy::disallowed_methods, reason = "a simulated world has a clock and ids of its own")]

pub mod accounting;
mod courier;
pub mod faults;
pub mod fleet;
pub mod gcode;
pub mod payments;
pub mod peers;
pub mod pictures;
pub mod printer;
pub mod processor;
pub mod protocol;
pub mod shops;
pub mod signals;
pub mod sink;
pub mod stock;
pub mod wire;

pub use faults::PrinterFaults;
pub use fleet::{Fleet, FleetOptions, SimHandle, SimPrinter};
pub use printer::VirtualPrinter;
pub use protocol::{Protocol, ServeOptions};

/// Declares the module of each protocol and its kind of printer; each module declares its `PROTOCOL`. `cargo fmt` does
/// not format inside macros: `scripts/test` passes these files to it.
macro_rules! printer_kinds {
    ($($kind:ident $module:ident)+) => {
        $(pub mod $module;)+

        /// Kind of a virtual printer, which decides its protocol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum PrinterKind {
            $(
                #[doc = concat!("Speaks the protocol of [`", stringify!($module), "`].")]
                $kind
            ),+
        }

        impl PrinterKind {
            /// All kinds of simulated printers, in the order of their declarations.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// Returns the declaration of its protocol.
            pub fn protocol(self) -> &'static Protocol {
                match self {
                    $(Self::$kind => &$module::PROTOCOL),+
                }
            }
        }
    };
}

// A new kind of printer is its folder and a line here.
printer_kinds! {
    FwRest moonraker
    ServerRest octoprint
    MqttLan bambu
    PrusaLink prusalink
    Sdcp sdcp
}
