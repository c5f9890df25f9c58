//! Labels of machine types.

use crate::sentences::capital;
use domain::sku::MachineType;
use words::Language;
use words::staff::products as texts;

/// Returns the machine types on which a SKU can be printed.
pub(super) fn machine_choices(language: Language) -> Vec<(String, String)> {
    let choice = |machine: MachineType| (machine.word().to_owned(), capital(&machine_label(language, machine)));
    MachineType::ALL.map(choice).to_vec()
}

/// Returns the label of a machine type.
pub(in crate::staff) fn machine_label(language: Language, machine_type: MachineType) -> String {
    let label = match machine_type {
        MachineType::FdmStandard => texts::fdm_standard,
        MachineType::FdmLarge => texts::fdm_large,
        MachineType::ResinStandard => texts::resin_standard,
        MachineType::ResinLarge => texts::resin_large,
        MachineType::LaserCutter => texts::laser_cutter,
        MachineType::LaserEngraver => texts::laser_engraver,
    };
    label(language)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::openapi::words::words_of;

    #[test]
    fn each_machine_type_of_the_api_is_a_choice_with_a_label_of_its_own() {
        for language in Language::ALL {
            let choices = machine_choices(language);
            let values: Vec<&str> = choices.iter().map(|(value, _)| value.as_str()).collect();
            assert_eq!(values, words_of::<MachineType>());
            let mut labels: Vec<&str> = choices.iter().map(|(_, label)| label.as_str()).collect();
            labels.sort_unstable();
            labels.dedup();
            assert!(labels.len() == choices.len() && !labels.concat().contains('_'), "{labels:?}");
        }
    }
}
