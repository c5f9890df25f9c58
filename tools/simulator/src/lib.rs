//! Virtual printers and simulated external services that speak the real protocols.
//!
//! The demo, the tests and the chaos runs communicate with them over loopback ports exactly as with real ones. A
//! virtual printer's physical actions are recorded in its [`log`](printer::log), separately from its reports: tests
//! check the log, whereas clients can see only the protocol.
//!
//! The crate acts as a client only to send the events of [`processor`] and the messages of [`shops`]. It does not
//! depend on Printfloor. Its program `chaos` (`src/chaos/`) starts the server's own program and uses its HTTP API.

#![expect(clippy::disallowed_methods, reason = "a simulated world has a clock and ids of its own")]
#![expect(clippy::disallowed_types, reason = "the crate does not depend on Printfloor, which has a channel of its own")]

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
pub mod serve_options;
pub mod shops;
pub mod sink;
pub mod stock;
pub mod wire;

pub use faults::PrinterFaults;
pub use fleet::{Fleet, FleetOptions, SimHandle, SimPrinter};
pub use printer::VirtualPrinter;
pub use protocol::Protocol;
pub use serve_options::ServeOptions;

/// Declares the module of each protocol and its printer kind; each module declares its `PROTOCOL`. `cargo fmt` does not
/// format files declared inside macros, so `scripts/test` passes them to it explicitly.
macro_rules! printer_kinds {
    ($($kind:ident $module:ident)+) => {
        $(pub mod $module;)+

        /// Kind of a virtual printer, which determines its protocol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum PrinterKind {
            $(
                #[doc = concat!("Speaks the protocol of [`", stringify!($module), "`].")]
                $kind
            ),+
        }

        impl PrinterKind {
            /// All kinds of simulated printers, in order of declaration.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// Returns the declaration of the kind's protocol.
            pub fn protocol(self) -> &'static Protocol {
                match self {
                    $(Self::$kind => &$module::PROTOCOL),+
                }
            }
        }
    };
}

// A new kind of printer is its directory and a line here.
printer_kinds! {
    FwRest moonraker
    ServerRest octoprint
    MqttLan bambu
    PrusaLink prusalink
    Sdcp sdcp
}
