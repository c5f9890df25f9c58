//! Form fields for a postal address, named after the API fields.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::form::{FieldControl, Form};
use domain::address::Address;

/// API field that contains the address.
pub(super) const ADDRESS_MEMBER: &str = "shippingAddress";
/// Address fields: name, label, maximum length in characters.
const ADDRESS_PARTS: [(&str, &str, usize); 6] = [
    ("line1", "Street and number", 200),
    ("line2", "Address line 2", 200),
    ("postalCode", "Postcode", 20),
    ("city", "City", 100),
    ("region", "State or region", 100),
    ("country", "Country, two letters", 2),
];

/// Returns the label of a part of an address.
pub(super) fn address_label(part: &str) -> Option<&'static str> {
    ADDRESS_PARTS.iter().find(|(name, ..)| *name == part).map(|(_, label, _)| *label)
}

/// Renders the fields of an address.
pub(super) fn address_fields(form: &Form, hint: &str) -> Markup {
    html! {
        p class="hint" { (hint) }
        div class="grid" {
            @for (part, label, most) in ADDRESS_PARTS {
                (form.field(&format!("{ADDRESS_MEMBER}.{part}"), label, "", FieldControl::Line(most)))
            }
        }
    }
}

/// Converts the fields to a JSON address for the API; null if all of them are empty.
pub(super) fn address_said(form: &Form) -> Value {
    let parts =
        ADDRESS_PARTS.map(|(part, ..)| (part.to_owned(), form.json_or_null(&format!("{ADDRESS_MEMBER}.{part}"))));
    let filled: Map<String, Value> = parts.into_iter().filter(|(_, value)| !value.is_null()).collect();
    if filled.is_empty() { Value::Null } else { Value::Object(filled) }
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
