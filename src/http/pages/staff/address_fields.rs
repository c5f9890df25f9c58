//! Form fields for a postal address, named after the API fields.

use maud::{Markup, html};

use crate::form::{FieldControl, Form};
use domain::address::Address;
use words::Language;
use words::staff::common;

/// API field that contains the address.
pub(super) const ADDRESS_MEMBER: &str = "shippingAddress";
/// Address fields: name, label, maximum length in characters.
pub(super) const ADDRESS_PARTS: [(&str, FieldLabel, u32); 6] = [
    ("line1", common::address_line_1, 200),
    ("line2", common::address_line_2, 200),
    ("postalCode", common::postal_code, 20),
    ("city", common::city, 100),
    ("region", common::region, 100),
    ("country", common::country, 2),
];

/// Label of a field in the language of the page.
pub(super) type FieldLabel = fn(Language) -> String;

/// Returns the label of an address part.
pub(super) fn address_label(language: Language, part: &str) -> Option<String> {
    ADDRESS_PARTS.iter().find(|(name, ..)| *name == part).map(|(_, label, _)| label(language))
}

/// Renders the fields of an address.
pub(super) fn address_fields(language: Language, form: &Form, hint: &str) -> Markup {
    html! {
        p class="hint" { (hint) }
        div class="grid" {
            @for (part, label, most) in ADDRESS_PARTS {
                (form.field(&format!("{ADDRESS_MEMBER}.{part}"), &label(language), "", FieldControl::Line(most as usize)))
            }
        }
    }
}

/// Returns the field names and values for an existing address.
pub(super) fn address_known(address: &Address) -> Vec<(String, String)> {
    let Address { line1, line2, city, region, postal_code, country } = address.clone();
    let parts = [
        ("line1", Some(line1)),
        ("line2", line2),
        ("postalCode", Some(postal_code)),
        ("city", Some(city)),
        ("region", region),
        ("country", Some(country)),
    ];
    let fields = parts.into_iter().filter_map(|(part, text)| Some((format!("{ADDRESS_MEMBER}.{part}"), text?)));
    fields.collect()
}
