//! Virtual printers and outside services on their real wire protocols.
//!
//! The demo, the tests and the chaos runs talk to these over loopback ports exactly as they would talk to the real things. What a virtual printer
//! *physically* did is in its [`log`](printer::log), apart from what it says it did: tests judge by the log, programs see the protocol.
//!
//! This crate is not a client of anything and knows nothing of Printfloor.

#![expect(clippy::disallowed_methods, reason = "a simulated world has a clock and ids of its own")]

pub mod faults;
pub mod fleet;
pub mod gcode;
pub mod moonraker;
pub mod octoprint;
pub mod payments;
pub mod printer;
pub mod sink;
pub mod wire;

pub use faults::Faults;
pub use fleet::{Fleet, FleetOptions, PrinterKind, SimHandle, SimPrinter};
pub use printer::VirtualPrinter;
