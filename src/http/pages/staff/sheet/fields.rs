//! Forms of a page that has several of them. A [`FormSheet`] is another thing than the [`Form`] that was submitted: all
//! forms of a page are rendered from their current values, and only the one that has the name of the rejected form
//! shows the submitted values and the errors. The ids of its fields begin with its name, because ids are unique on a
//! page.

use maud::{Markup, html};

use crate::form::{Form, VERSION_FIELD, member_of};
use crate::staff::address_fields::ADDRESS_PARTS;
use crate::staff::shell::{hidden, once_field};
use domain::address::Address;
use words::Language;

/// Appearance and constraints of a form field.
#[derive(Clone, Copy)]
pub(in super::super) struct FieldAppearance<'a> {
    name: &'a str,
    label: &'a str,
    kind: &'static str,
    inputmode: Option<&'static str>,
    max_chars: u32,
    required: bool,
    hint: Option<&'a str>,
}

/// Describes a single-line text field with the given maximum length.
pub(in super::super) const fn line_field<'a>(name: &'a str, label: &'a str, max_chars: u32) -> FieldAppearance<'a> {
    FieldAppearance { name, label, kind: "text", inputmode: None, max_chars, required: false, hint: None }
}

/// Describes a field for an amount of money or any other decimal number.
pub(in super::super) const fn decimal_field<'a>(name: &'a str, label: &'a str) -> FieldAppearance<'a> {
    FieldAppearance { inputmode: Some("decimal"), ..line_field(name, label, 20) }
}

impl<'a> FieldAppearance<'a> {
    pub(in super::super) const fn of_kind(self, kind: &'static str) -> Self {
        Self { kind, ..self }
    }

    pub(in super::super) const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    pub(in super::super) const fn hint(self, hint: &'a str) -> Self {
        Self { hint: Some(hint), ..self }
    }
}

/// Form on a page. Its fields show the current values or, if the form was rejected, the submitted values.
#[derive(Clone, Copy)]
pub(in super::super) struct FormSheet<'a> {
    name: &'a str,
    refused: Option<&'a Form>,
}

impl<'a> FormSheet<'a> {
    /// Creates the form with the given name; `form` is the rejected form on the page, if any.
    pub(in super::super) fn new(name: &'a str, form: &'a Form) -> Self {
        Self { name, refused: Some(form).filter(|form| form.is_refusal_of(name)) }
    }

    /// Returns whether this form was rejected and is therefore shown expanded.
    pub(in super::super) fn is_refused(&self) -> bool {
        self.refused.is_some()
    }

    /// Renders the form's errors.
    pub(in super::super) fn faults(&self) -> Markup {
        html! { @if let Some(form) = self.refused { (form.alert()) } }
    }

    /// Renders the form's errors, its CSRF token, and the version for which it was rendered.
    pub(in super::super) fn head(&self, version: Option<i64>) -> Markup {
        html! {
            (self.faults())
            (hidden())
            @if let Some(version) = version { input type="hidden" name=(VERSION_FIELD) value=(version); }
        }
    }

    /// Renders the form's errors and its CSRF token, for a form that acts only once.
    pub(in super::super) fn once_head(&self) -> Markup {
        html! { (self.head(None)) (once_field()) }
    }

    /// Returns the value to be shown in a field: the submitted one if the form was rejected, otherwise the current one.
    pub(in super::super) fn value_of(&self, member: &str, current: &str) -> String {
        self.refused.map_or(current, |form| form.text(member)).to_owned()
    }

    pub(in super::super) fn field(&self, look: FieldAppearance<'_>, current: &str) -> Markup {
        let FieldAppearance { name, label, kind, inputmode, max_chars, required, hint } = look;
        let id = format!("{}-{name}", self.name);
        let about = hint.map(|_| format!("about-{id}"));
        html! {
            div class="field" {
                label for=(id) { (label) }
                input id=(id) name=(name) data-member=[member_of(name)] type=(kind) inputmode=[inputmode] maxlength=(max_chars) required[required]
                    value=(self.value_of(name, current)) aria-describedby=[about.as_deref()];
                @if let (Some(hint), Some(about)) = (hint, &about) { p class="hint" id=(about) { (hint) } }
            }
        }
    }

    /// Renders a field for an integer from 1 to `most`.
    pub(in super::super) fn count(&self, name: &str, label: &str, most: u32, current: u32) -> Markup {
        let id = format!("{}-{name}", self.name);
        html! {
            div class="field narrow" {
                label for=(id) { (label) }
                input id=(id) name=(name) type="number" min="1" max=(most) required value=(self.value_of(name, &current.to_string()));
            }
        }
    }

    pub(in super::super) fn area(&self, name: &str, label: &str, max_chars: u32, current: &str) -> Markup {
        let id = format!("{}-{name}", self.name);
        html! {
            div class="field wide-field" {
                label for=(id) { (label) }
                textarea id=(id) name=(name) rows="3" maxlength=(max_chars) { (self.value_of(name, current)) }
            }
        }
    }

    /// Renders a select field; the options are values and labels.
    pub(in super::super) fn choice(
        &self,
        name: &str,
        label: &str,
        current: &str,
        choices: &[(String, String)],
    ) -> Markup {
        let (id, chosen) = (format!("{}-{name}", self.name), self.value_of(name, current));
        html! {
            div class="field" {
                label for=(id) { (label) }
                select id=(id) name=(name) data-member=[member_of(name)] {
                    @for (value, words) in choices {
                        option value=(value) selected[*value == chosen] { (words) }
                    }
                }
            }
        }
    }

    /// Renders the fields for the address that is the API field `member`.
    pub(in super::super) fn address(
        &self,
        language: Language,
        (member, legend): (&str, &str),
        current: Option<&Address>,
    ) -> Markup {
        let part = |name: &str| match (current, name) {
            (None, _) => "",
            (Some(current), "line1") => current.line1.as_str(),
            (Some(current), "line2") => current.line2.as_deref().unwrap_or_default(),
            (Some(current), "postalCode") => current.postal_code.as_str(),
            (Some(current), "city") => current.city.as_str(),
            (Some(current), "region") => current.region.as_deref().unwrap_or_default(),
            (Some(current), _) => current.country.as_str(),
        };
        html! {
            fieldset class="sheet" {
                legend { (legend) }
                @for (name, label, max_chars) in ADDRESS_PARTS {
                    (self.field(line_field(&format!("{member}.{name}"), &label(language), max_chars), part(name)))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::refusal::Refusal;

    #[test]
    fn of_several_forms_the_refused_one_shows_what_was_typed() {
        let mut refused = Form::with_text("line-0", "unitPriceCents", "much");
        assert!(!refused.is_refusal_of("line-0"), "nothing is wrong with it yet");
        refused.refuse(Refusal::field("lines.0.unitPriceCents", "must be a whole number").into());
        let [first, second] = ["line-0", "line-1"].map(|name| {
            let sheet = FormSheet::new(name, &refused);
            html! { (sheet.faults()) (sheet.field(decimal_field("unitPriceCents", "Price"), "5.00")) }.into_string()
        });
        assert!(first.contains("must be an amount such as 2.50") && first.contains("value=\"much\""), "{first}");
        assert!(second.contains("value=\"5.00\"") && !second.contains("role=\"alert\""), "{second}");
    }
}
