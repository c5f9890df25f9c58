//! Files to print, in a format that printers of a given type accept.

use std::fmt::Write as _;

use printfloor::domain::file::GcodeForm;

use super::{GRAMS, PrinterKind, SECONDS, prints};

/// Builds a file that printers of this type accept; returns its name and content.
pub fn printable(kind: PrinterKind, name: &str, seconds: u64, grams: f64) -> (String, Vec<u8>) {
    if prints(kind, GcodeForm::Text) {
        return (format!("{name}.gcode"), simulator::gcode::gcode(name, seconds, grams, grams * 330.0).into_bytes());
    }
    (format!("{name}.gcode.3mf"), simulator::gcode::package(name, seconds, grams, grams * 330.0))
}

/// Builds a file as [`printable`] does, with several filaments, given by weight in grams and colour.
pub fn printable_of_several(kind: PrinterKind, name: &str, filaments: &[(f64, &str)]) -> (String, Vec<u8>) {
    if prints(kind, GcodeForm::Text) {
        let code = simulator::gcode::tools::gcode_of_several(name, SECONDS, filaments);
        return (format!("{name}.gcode"), code.into_bytes());
    }
    (format!("{name}.gcode.3mf"), simulator::gcode::package::package_of_several(name, SECONDS, filaments))
}

/// Builds a file as [`printable`] does, with about this many bytes.
pub fn big(kind: PrinterKind, name: &str, bytes: usize) -> (String, Vec<u8>) {
    if prints(kind, GcodeForm::Text) {
        return (format!("{name}.gcode"), big_gcode(bytes));
    }
    // Chance cannot be packed.
    let mut rng = fastrand::Rng::with_seed(11);
    let mut code = String::new();
    while code.len() < bytes * 2 {
        writeln!(code, "; {:032x}{:032x}", rng.u128(..), rng.u128(..)).unwrap();
    }
    code.push_str(&simulator::gcode::orca_gcode(name, SECONDS, GRAMS, GRAMS * 330.0));
    (format!("{name}.gcode.3mf"), simulator::gcode::package_of(&[&code]))
}

/// Builds G-code of about this many bytes.
pub fn big_gcode(bytes: usize) -> Vec<u8> {
    let line = format!("; {}\n", "padding ".repeat(12));
    let mut code = line.repeat(bytes / line.len());
    code.push_str(&simulator::gcode::gcode("big", SECONDS, GRAMS, GRAMS * 330.0));
    code.into_bytes()
}
