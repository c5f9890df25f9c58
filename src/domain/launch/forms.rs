//! Which formats of G-code each type of printer prints.

use std::collections::BTreeMap;

use crate::domain::file::GcodeForm;

/// The formats that each printer type prints, by the type's word. A type that is not listed prints plain text only.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct PrintableForms(BTreeMap<String, Vec<GcodeForm>>);

impl PrintableForms {
    /// The formats of these types.
    pub fn new<'a>(types: impl IntoIterator<Item = (&'a str, &'a [GcodeForm])>) -> Self {
        Self(types.into_iter().map(|(kind, forms)| (kind.to_owned(), forms.to_vec())).collect())
    }

    /// Whether printers of this type print such a file.
    pub fn prints(&self, kind: &str, form: GcodeForm) -> bool {
        self.0.get(kind).map_or(form == GcodeForm::Text, |forms| forms.contains(&form))
    }

    /// Whether any type prints such a file, whether or not a printer of it is registered.
    pub fn printable(&self, form: GcodeForm) -> bool {
        form == GcodeForm::Text || self.0.values().any(|forms| forms.contains(&form))
    }
}
