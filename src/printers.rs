//! Printers of every brand behind one contract, [`adapter::Adapter`]; the types are listed in this file.
//!
//! Nothing outside this module knows a brand. Not for: jobs, attempts and what follows from a status
//! (`domain/printer`), or the loop that watches a printer.

pub mod adapter;
pub mod cameras;
pub mod connections;
pub mod discovery;
mod error;
pub mod farm_types;
pub mod print_host;
pub mod registry;

mod printer_type;
mod push;
mod slots_wanted;
mod telemetry;
mod temperatures;
mod unwatched;
mod upload;
mod wire;

pub use printer_type::{BUILT_IN, PrinterType};

/// Declares the module of each printer type and lists the `TYPE` that each module declares. `cargo fmt` does not look
/// into macros: `scripts/test` names these files to it.
macro_rules! printer_types {
    ($($module:ident)+) => {
        $(mod $module;)+
        /// The printer types of this program.
        pub const PRINTER_TYPES: &[PrinterType] = &[$($module::TYPE),+];
    };
}

// A new type is its folder and a line here.
printer_types! {
    fw_rest
    server_rest
    mqtt_lan
    prusa_link
    sdcp
}

#[cfg(test)]
pub(crate) mod tests;
