//! Tests of the virtual printers and services through their ports.
#![expect(clippy::unwrap_used, clippy::float_cmp, clippy::disallowed_methods, reason = "tests")]

#[path = "it/agent.rs"]
mod agent;
#[path = "it/bambu.rs"]
mod bambu;
#[path = "it/faults.rs"]
mod faults;
#[path = "it/fleet.rs"]
mod fleet;
#[path = "it/ftps.rs"]
mod ftps;
#[path = "it/lab.rs"]
mod lab;
#[path = "it/lan.rs"]
mod lan;
#[path = "it/machine.rs"]
mod machine;
#[path = "it/moonraker.rs"]
mod moonraker;
#[path = "it/octoprint.rs"]
mod octoprint;
#[path = "it/sink.rs"]
mod sink;
#[path = "it/socket.rs"]
mod socket;
