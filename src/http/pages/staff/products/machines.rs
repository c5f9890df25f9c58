//! Labels of machine types.

use crate::refused::capital;
use domain::sku::MachineType;
use http::openapi::words::words_of;
use words::Language;
use words::staff::products as texts;

/// Returns the machine types on which a SKU can be printed.
pub(super) fn machine_choices(language: Language) -> Vec<(String, String)> {
    let choice = |word: &str| (word.to_owned(), capital(&machine_label_of(language, word)));
    words_of::<MachineType>().into_iter().map(choice).collect()
}

/// Returns the label of a machine type.
pub(in crate::staff) fn machine_label(language: Language, machine_type: MachineType) -> String {
    machine_label_of(language, machine_type.word())
}

fn machine_label_of(language: Language, word: &str) -> String {
    let label = match word {
        "fdm_standard" => texts::fdm_standard,
        "fdm_large" => texts::fdm_large,
        "resin_standard" => texts::resin_standard,
        "resin_large" => texts::resin_large,
        "laser_cutter" => texts::laser_cutter,
        "laser_engraver" => texts::laser_engraver,
        other => return other.replace('_', " "),
    };
    label(language)
}
