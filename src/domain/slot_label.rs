//! Slot labels, as used by the printer's vendor on the machine and in its programs. The API numbers slots from 0 on
//! every printer; people read labels.

use std::fmt;

use serde::{Deserialize, Serialize};

use words::Language;
use words::staff::waiting;

/// Number of slots per filament changer.
const SLOTS_PER_CHANGER: u32 = 4;
/// Number of filament changers, one per label letter.
const CHANGER_LETTERS: u32 = 26;

/// Scheme for labelling the slots of a printer type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotLabels {
    /// Numbers, starting at 1.
    #[default]
    Numbers,
    /// Firmware tool numbers, starting at `T0`.
    Tools,
    /// Letter of the filament changer and position in it: `A1` to `A4`, `B1` to `B4`. A slot that does not belong to a
    /// changer is the external spool.
    Changers,
}

/// Label of a slot. [`fmt::Display`] writes only the label, as used in lists.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SlotLabel {
    /// Number, starting at 1.
    Number(u64),
    /// Tool number in the firmware, starting at 0.
    Tool(u32),
    /// Slot of a filament changer.
    Changer {
        /// Letter of the changer, starting at `A`.
        letter: char,
        /// Position in the changer, from 1 to 4.
        position: u32,
    },
    /// Spool outside of every filament changer.
    External,
}

impl SlotLabels {
    /// Returns whether the labels are numbers, which is the default.
    pub fn is_numbers(&self) -> bool {
        *self == Self::Numbers
    }

    /// Returns the label of the slot with the given number, which starts at 0.
    pub fn label(self, slot: u32) -> SlotLabel {
        match self {
            Self::Numbers => SlotLabel::Number(u64::from(slot) + 1),
            Self::Tools => SlotLabel::Tool(slot),
            Self::Changers => {
                let changer = u8::try_from(slot / SLOTS_PER_CHANGER).ok().filter(|at| u32::from(*at) < CHANGER_LETTERS);
                changer.map_or(SlotLabel::External, |at| SlotLabel::Changer {
                    letter: char::from(b'A' + at),
                    position: slot % SLOTS_PER_CHANGER + 1,
                })
            }
        }
    }
}

impl SlotLabel {
    /// Returns the slot as a noun for use in a sentence: "slot A1", "the external spool".
    pub fn noun(self) -> String {
        match self {
            Self::External => "the external spool".to_owned(),
            Self::Number(_) | Self::Tool(_) | Self::Changer { .. } => format!("slot {self}"),
        }
    }

    /// Does the same as [`Self::noun`] in the given language.
    pub fn noun_in(self, language: Language) -> String {
        match self {
            Self::External => waiting::external_spool(language),
            Self::Number(_) | Self::Tool(_) | Self::Changer { .. } => waiting::slot(language, &self.to_string()),
        }
    }

    /// Returns the location of a spool in the slot, as a phrase: "in slot A1", "on the external spool holder".
    pub fn place(self, language: Language) -> String {
        match self {
            Self::External => waiting::on_external_holder(language),
            Self::Number(_) | Self::Tool(_) | Self::Changer { .. } => waiting::in_slot(language, &self.to_string()),
        }
    }

    /// Returns the slot as a title: "Slot A1", "External spool".
    pub fn title(self, language: Language) -> String {
        match self {
            Self::External => waiting::external_spool_title(language),
            Self::Number(_) | Self::Tool(_) | Self::Changer { .. } => waiting::slot_title(language, &self.to_string()),
        }
    }
}

impl fmt::Display for SlotLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Tool(number) => write!(f, "T{number}"),
            Self::Changer { letter, position } => write!(f, "{letter}{position}"),
            Self::External => f.write_str("External"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn slots_are_labelled_as_on_the_machine() {
        let of = |labels: SlotLabels, slots: &[u32]| {
            slots.iter().map(|slot| labels.label(*slot).to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of(SlotLabels::Numbers, &[0, 1, 4]), "1 2 5");
        assert_eq!(of(SlotLabels::Tools, &[0, 1, 4]), "T0 T1 T4");
        assert_eq!(of(SlotLabels::Changers, &[0, 3, 4, 7, 8]), "A1 A4 B1 B4 C1");
        assert_eq!(of(SlotLabels::Changers, &[103, 104, 254, 255, u32::MAX]), "Z4 External External External External");
        assert_eq!(SlotLabels::Numbers.label(u32::MAX).to_string(), "4294967296");
    }

    #[test]
    fn no_two_slots_of_changers_have_one_label() {
        let labels: BTreeSet<String> = (0..104).map(|slot| SlotLabels::Changers.label(slot).to_string()).collect();
        assert_eq!(labels.len(), 104);
    }

    #[test]
    fn sentences_name_the_slot_or_the_external_spool() {
        let (slot, external, english) = (SlotLabels::Changers.label(5), SlotLabel::External, Language::English);
        assert_eq!(
            (slot.noun(), slot.place(english), slot.title(english)),
            ("slot B2".into(), "in slot B2".into(), "Slot B2".into())
        );
        assert_eq!(external.noun(), "the external spool");
        assert_eq!(
            (external.place(english), external.title(english)),
            ("on the external spool holder".into(), "External spool".into())
        );
    }

    #[test]
    fn labels_are_in_the_language_of_the_page() {
        for label in [SlotLabels::Changers.label(5), SlotLabels::Numbers.label(0), SlotLabel::External] {
            assert_eq!(label.noun_in(Language::English), label.noun());
        }
        let (slot, external) = (SlotLabels::Changers.label(5), SlotLabel::External);
        assert_eq!(
            (slot.place(Language::German), slot.title(Language::German)),
            ("in Fach B2".into(), "Fach B2".into())
        );
        assert_eq!(external.place(Language::German), "auf dem externen Spulenhalter");
    }

    #[test]
    fn stored_names_of_schemes_stay() {
        for (labels, name) in
            [(SlotLabels::Numbers, "numbers"), (SlotLabels::Tools, "tools"), (SlotLabels::Changers, "changers")]
        {
            assert_eq!(serde_json::to_value(labels).ok(), Some(serde_json::json!(name)));
        }
        assert!(SlotLabels::default().is_numbers());
    }
}
