//! Support for printers of every brand behind one contract, [`adapter::Adapter`]. This file lists the printer types.
//!
//! No code outside this module depends on a brand. Jobs, attempts and the consequences of a status are handled in
//! `domain/printer`; the loop that watches a printer is also outside this module.

pub mod adapter;
pub mod cameras;
pub mod connections;
pub mod discovery;
mod error;
pub mod farm_types;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod print_host;
pub mod registry;
pub mod status_reading;

mod adapter_parts;
mod connection;
mod network;
mod operation;
mod pace;
mod printer_type;
mod probes;
mod push;
mod requested_slots;
mod run_count;
mod stored_copy;
mod telemetry;
mod temperatures;
mod unwatched;
mod upload;
mod upload_locks;
mod wire;

use registry::MakeAdapter;

pub use printer_type::{BUILT_IN, PrinterType, slot_label};

/// Declares the module of each printer type and collects the `TYPE` constants and the constructors (`make`) that they
/// define. `cargo fmt` does not format macros, so `scripts/test` passes these files to it by name.
macro_rules! printer_types {
    ($($module:ident)+) => {
        $(mod $module;)+
        /// Printer types supported by this program.
        pub const PRINTER_TYPES: &[PrinterType] = &[$($module::TYPE),+];

        /// Constructors of the types' adapters, by the name of the type.
        const CONSTRUCTORS: &[(&str, MakeAdapter)] = &[$(($module::TYPE.word, $module::make)),+];
    };
}

// A new type is its directory and a line here.
printer_types! {
    fw_rest
    server_rest
    mqtt_lan
    prusa_link
    sdcp
}

#[cfg(test)]
pub(crate) mod tests;
