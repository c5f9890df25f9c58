//! What decides of each printer type which jobs its printers can make.

use std::collections::BTreeMap;

use crate::domain::gcode_form::GcodeForm;

/// What printers of one type print, and from where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeFacts {
    /// The formats of G-code that they print.
    pub forms: Vec<GcodeForm>,
    /// Whether a start tells them which slot each filament comes from. Otherwise a printer of several slots takes
    /// filament n of a file (its tool) from slot n.
    pub maps_slots: bool,
}

impl Default for TypeFacts {
    /// Plain text, and slots that nobody can choose.
    fn default() -> Self {
        Self { forms: vec![GcodeForm::Text], maps_slots: false }
    }
}

/// The printer types by their words. One that is not listed counts as [`TypeFacts::default`].
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct KnownTypes(BTreeMap<String, TypeFacts>);

impl KnownTypes {
    /// These types.
    pub fn new<'a>(types: impl IntoIterator<Item = (&'a str, TypeFacts)>) -> Self {
        Self(types.into_iter().map(|(kind, facts)| (kind.to_owned(), facts)).collect())
    }

    /// What is known of this type.
    pub fn of(&self, kind: &str) -> TypeFacts {
        self.0.get(kind).cloned().unwrap_or_default()
    }

    /// Whether printers of any type print such a file.
    pub fn printable(&self, form: GcodeForm) -> bool {
        form == GcodeForm::Text || self.0.values().any(|facts| facts.forms.contains(&form))
    }
}
