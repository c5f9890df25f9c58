//! What printers of each kind can do, as their types declare it.

use printfloor::domain::file::GcodeForm;
use printfloor::printers::PrinterType;
use printfloor::printers::adapter::Operation;

use super::PrinterKind;

fn declared(kind: PrinterKind) -> &'static PrinterType {
    PrinterType::of_word(kind.as_str()).unwrap()
}

/// Whether printers of a kind can do it, as their type declares.
pub fn can(kind: PrinterKind, operation: Operation) -> bool {
    !declared(kind).lacks.contains(&operation)
}

/// Whether printers of a kind print files of this form.
pub fn prints(kind: PrinterKind, form: GcodeForm) -> bool {
    declared(kind).prints(form)
}

/// Whether printers of a kind are told which slot each filament comes from.
pub fn maps_slots(kind: PrinterKind) -> bool {
    declared(kind).maps_slots
}

/// Whether printers of a kind ask for no key.
pub fn keyless(kind: PrinterKind) -> bool {
    declared(kind).keyless
}

/// Whether printers of a kind are only reached with their serial number.
pub fn needs_serial(kind: PrinterKind) -> bool {
    declared(kind).needs_serial
}

/// An address of a printer of a kind, where nobody answers.
pub fn elsewhere(kind: PrinterKind) -> &'static str {
    if kind == PrinterKind::MqttLan { "mqtts://127.0.0.1:9" } else { "http://127.0.0.1:9" }
}

/// The outcome of an act that only some types can do.
pub fn done_if(can: bool) -> &'static str {
    if can { "done" } else { "unsupported_by_printer" }
}

/// Carried out by those who can, and told of the others as what their type cannot do.
pub fn supported(can: bool, answer: crate::support::client::Answer) {
    if can {
        answer.expect(200);
    } else {
        assert_eq!(answer.error(409), "unsupported_by_printer");
    }
}
