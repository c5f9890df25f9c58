//! Printers of every brand behind one contract, [`adapter::Adapter`]; the types are found in [`registry::Registry`].
//!
//! Nothing outside this module knows a brand. Not for: jobs, attempts and what follows from a status (`domain/printer`), or the loop that watches a printer.

pub mod adapter;
pub mod connections;
pub mod error;
pub mod fw_rest;
pub mod registry;
pub mod server_rest;

mod push;
mod unwatched;
mod upload;
mod wire;

#[cfg(test)]
pub(crate) mod tests;
