//! Virtual printers and simulated outside services that speak the real protocols.
//!
//! The demo, the tests and the chaos runs talk to them over loopback ports exactly as to the real ones. What a
//! virtual printer physically did is in its [`log`](printer::log), separate from what it reported: tests judge by the
//! log, clients see only the protocol.
//!
//! This crate is no client of anything and does not depend on Printfloor.

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
