//! The integration tests, in a single binary: they use the real server over HTTP, with simulated printers and services
//! on their real wire protocols.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod api;
mod billing;
mod chaos;
mod cli;
mod clients;
mod demo;
mod deploy;
mod discovery;
mod edge;
mod integrations;
mod invariants;
mod kernel;
mod lan;
mod machines;
mod octoprint;
mod releases;
mod runner;
mod schemathesis;
mod slicing;
mod staff;
mod store;
mod stripe;
mod support;
mod whole;
