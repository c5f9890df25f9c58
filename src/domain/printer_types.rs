//! Capabilities of each printer type that determine which jobs its printers can make.

use std::collections::BTreeMap;

use crate::gcode_form::GcodeForm;
use crate::slot_label::SlotLabels;

/// File formats and slot capabilities of one printer type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeFacts {
    /// G-code formats accepted by printers of the type.
    pub forms: Vec<GcodeForm>,
    /// `true` if a start specifies the slot for each filament. Otherwise, a printer with several slots takes filament n
    /// of a file (its tool number) from slot n.
    pub maps_slots: bool,
    /// Labels of the slots.
    pub labels: SlotLabels,
}

impl Default for TypeFacts {
    /// Returns the default capabilities: plain-text G-code, with slots that cannot be chosen.
    fn default() -> Self {
        Self { forms: vec![GcodeForm::Text], maps_slots: false, labels: SlotLabels::default() }
    }
}

/// Capabilities by printer type name. A type that is not listed is treated as [`TypeFacts::default`].
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct KnownTypes(BTreeMap<String, TypeFacts>);

impl KnownTypes {
    /// Builds the collection from the given types.
    pub fn new<'a>(types: impl IntoIterator<Item = (&'a str, TypeFacts)>) -> Self {
        Self(types.into_iter().map(|(kind, facts)| (kind.to_owned(), facts)).collect())
    }

    /// Returns the capabilities of the given type.
    pub fn of(&self, kind: &str) -> TypeFacts {
        self.0.get(kind).cloned().unwrap_or_default()
    }

    /// Returns whether any printer type accepts files in the given format.
    pub fn printable(&self, form: GcodeForm) -> bool {
        form == GcodeForm::Text || self.0.values().any(|facts| facts.forms.contains(&form))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_is_not_listed_takes_text_alone_and_cannot_map_slots() {
        let binary = TypeFacts { forms: vec![GcodeForm::Binary], maps_slots: true, labels: SlotLabels::Tools };
        let types = KnownTypes::new([("modern", binary.clone())]);
        assert_eq!(types.of("modern"), binary);
        let usual = TypeFacts { forms: vec![GcodeForm::Text], maps_slots: false, labels: SlotLabels::Numbers };
        assert_eq!((types.of("other"), TypeFacts::default()), (usual.clone(), usual));
        let forms = [GcodeForm::Text, GcodeForm::Binary, GcodeForm::Package];
        assert_eq!(forms.map(|form| types.printable(form)), [true, true, false]);
        assert_eq!(forms.map(|form| KnownTypes::default().printable(form)), [true, false, false]);
    }
}
