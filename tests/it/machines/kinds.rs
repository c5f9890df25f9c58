//! Capabilities of each type of printer, as declared.

use printfloor::domain::file::GcodeForm;
use printfloor::printers::PrinterType;
use printfloor::printers::adapter::Operation;

use super::{JUDGE_CALMLY, PrinterKind};

fn declared(kind: PrinterKind) -> &'static PrinterType {
    PrinterType::of_word(kind.as_str()).unwrap()
}

/// Returns whether printers of a kind support an operation, as their type declares.
pub fn can(kind: PrinterKind, operation: Operation) -> bool {
    !declared(kind).lacks.contains(&operation)
}

/// Returns whether printers of a type accept files in this format.
pub fn prints(kind: PrinterKind, form: GcodeForm) -> bool {
    declared(kind).prints(form)
}

/// Returns whether start commands for printers of a type specify the slot for each filament.
pub fn maps_slots(kind: PrinterKind) -> bool {
    declared(kind).maps_slots
}

/// Returns the label of a slot of printers of a kind, as their type declares.
pub fn slot_label(kind: PrinterKind, slot: u32) -> String {
    declared(kind).slot_labels.label(slot).to_string()
}

/// Returns whether printers of a kind require no key.
pub fn keyless(kind: PrinterKind) -> bool {
    declared(kind).keyless
}

/// Returns whether printers of a kind are only reached with their serial number.
pub fn needs_serial(kind: PrinterKind) -> bool {
    declared(kind).needs_serial
}

/// Returns an address for a printer of this type at which nothing listens.
pub fn elsewhere(kind: PrinterKind) -> &'static str {
    if kind == PrinterKind::MqttLan { "mqtts://127.0.0.1:9" } else { "http://127.0.0.1:9" }
}

/// Returns the setting equivalent to [`JUDGE_CALMLY`] for printers of this type: some types have three times the
/// timeout.
pub fn judge_calmly(kind: PrinterKind) -> (&'static str, &'static str) {
    if kind == PrinterKind::MqttLan { (JUDGE_CALMLY.0, "3") } else { JUDGE_CALMLY }
}

/// Returns the audited outcome of an operation that only some types support.
pub fn done_if(can: bool) -> &'static str {
    if can { "done" } else { "unsupported_by_printer" }
}

/// Checks that an operation succeeded if the type supports it, and was otherwise rejected as unsupported.
pub fn supported(can: bool, answer: crate::support::client::Answer) {
    if can {
        answer.expect(200);
    } else {
        assert_eq!(answer.error(409), "unsupported_by_printer");
    }
}
