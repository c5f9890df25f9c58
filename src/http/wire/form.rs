//! Reads the body of a request from the text values in an HTML form, guided by the shapes of the request's members. The
//! result is the JSON that [`super::read_body`] reads: a text that is not a value of its member's kind is passed on
//! unchanged, so that the errors of forms and of JSON are worded in one place.
//!
//! A field is named as its member. The fields of a nested object are dotted (`dimensions.x`), and items of a list are
//! numbered (`lines.0.quantity`). It does not read amounts of money, days or times, whose text depends on the currency
//! or on the shop's clock: pages convert these.

use std::collections::{BTreeMap, BTreeSet};

use api_schema::Components;
use api_schema::shape::{FieldShape, Shape, ValueKind};
use serde_json::{Map, Value, json};

use super::Request;

/// Texts of a form by the names of its fields.
pub type FieldTexts = BTreeMap<String, String>;

/// Text of a checked checkbox.
pub const TICKED_WORD: &str = "true";
/// Text for `false`, of a field with two choices.
const UNTICKED_WORD: &str = "false";

/// Meaning of a field left empty. A member whose field was not sent at all is always absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyField {
    /// The member is absent, so that its default applies. A required member is an empty text, which is rejected.
    Absent,
    /// The member is cleared, as in a PATCH: null or, if it cannot be null, an empty text.
    Clear,
}

/// Reads the members of a request that a form has fields for. Fields that are not members are ignored.
pub fn form_members<R: Request>(texts: &FieldTexts, empty: EmptyField) -> Map<String, Value> {
    let mut components = Components::default();
    components.add::<R>();
    let reader = FormReader { texts, components };
    let fields = R::members().into_iter().map(|member| FieldShape {
        name: member.name.to_owned(),
        shape: member.schema,
        required: member.required,
    });
    reader.fields("", &fields.collect::<Vec<_>>(), empty)
}

/// Replaces a decimal comma with a point. A comma before exactly three digits may be a thousands separator, as in
/// `1,000`, unless the number starts with a zero. Such a comma is kept, so that the text is not a valid number.
pub fn with_point(text: &str) -> String {
    let Some((whole, rest)) = text.split_once(',') else { return text.to_owned() };
    let counts = whole.trim_start_matches(['-', '+']).starts_with(|first: char| ('1'..='9').contains(&first));
    let thousands = counts && rest.len() == 3 && rest.bytes().all(|byte| byte.is_ascii_digit());
    if thousands || whole.contains('.') { text.to_owned() } else { format!("{whole}.{rest}") }
}

/// Converts a number with a decimal point or comma to JSON. Other text is passed on unchanged.
pub fn typed_number(text: &str) -> Value {
    let plain = with_point(text);
    if let Ok(whole) = plain.parse::<i64>() {
        return json!(whole);
    }
    plain.parse::<f64>().ok().filter(|number| number.is_finite()).map_or_else(|| json!(text), |number| json!(number))
}

/// Converts the text of a scalar of the given kind to JSON. Text of another kind is passed on unchanged.
fn typed_value(kind: &ValueKind, text: &str) -> Value {
    match (kind, text) {
        (ValueKind::Whole, _) => text.parse::<i64>().map_or_else(|_| json!(text), |number| json!(number)),
        (ValueKind::Number, _) => typed_number(text),
        (ValueKind::YesNo, TICKED_WORD) => json!(true),
        (ValueKind::YesNo, UNTICKED_WORD) => json!(false),
        _ => json!(text),
    }
}

/// Texts of a form with the named types to which the shapes of its members refer.
struct FormReader<'a> {
    texts: &'a FieldTexts,
    components: Components,
}

impl FormReader<'_> {
    /// Returns the kind of value of a shape; that of the component if the shape refers to one.
    fn kind(&self, shape: &Shape) -> ValueKind {
        match shape.kind() {
            ValueKind::Named(name) => {
                self.components.schema_named(&name).map_or(ValueKind::Other, |component| component.kind())
            }
            kind => kind,
        }
    }

    /// Reads the fields of an object; `prefix` is its path followed by a dot, or empty for the body itself.
    fn fields(&self, prefix: &str, fields: &[FieldShape], empty: EmptyField) -> Map<String, Value> {
        let read = |field: &FieldShape| Some((field.name.clone(), self.field(prefix, field, empty)?));
        fields.iter().filter_map(read).collect()
    }

    fn field(&self, prefix: &str, field: &FieldShape, empty: EmptyField) -> Option<Value> {
        let path = format!("{prefix}{}", field.name);
        match self.kind(&field.shape) {
            ValueKind::Object(parts) => self.object(&path, &parts, field, empty),
            ValueKind::List(item) => self.list(&path, &item, field, empty),
            kind => match self.texts.get(&path)?.as_str() {
                "" => empty_value(field, empty, || json!("")),
                text => Some(typed_value(&kind, text)),
            },
        }
    }

    /// Reads a nested object. It is empty if all of its fields are.
    fn object(&self, path: &str, parts: &[FieldShape], field: &FieldShape, empty: EmptyField) -> Option<Value> {
        let prefix = format!("{path}.");
        let mut texts = self.under(&prefix).map(|(_, text)| text).peekable();
        texts.peek()?;
        let read = || Value::Object(self.fields(&prefix, parts, EmptyField::Absent));
        if texts.all(String::is_empty) { empty_value(field, empty, read) } else { Some(read()) }
    }

    /// Reads the rows of a list in the order of their numbers, without the empty ones. A text under the name of the
    /// list itself is its only item.
    fn list(&self, path: &str, item: &Shape, field: &FieldShape, empty: EmptyField) -> Option<Value> {
        let (prefix, kind) = (format!("{path}."), self.kind(item));
        let only = self.texts.get(path);
        let filled: Vec<Value> = match only.filter(|text| !text.is_empty()) {
            Some(text) => vec![typed_value(&kind, text)],
            None => self.rows(&prefix).into_iter().map(|row| self.item(&format!("{prefix}{row}"), &kind)).collect(),
        };
        if !filled.is_empty() {
            return Some(Value::Array(filled));
        }
        let is_sent = only.is_some() || self.under(&prefix).next().is_some();
        if is_sent { empty_value(field, empty, || json!([])) } else { None }
    }

    /// Reads a row of a list that is not empty.
    fn item(&self, path: &str, kind: &ValueKind) -> Value {
        match kind {
            ValueKind::Object(parts) => Value::Object(self.fields(&format!("{path}."), parts, EmptyField::Absent)),
            kind => typed_value(kind, self.texts.get(path).map_or("", String::as_str)),
        }
    }

    /// Returns the numbers of the rows in which a field is filled in.
    fn rows(&self, prefix: &str) -> BTreeSet<usize> {
        let number = |name: &str| {
            let number = name.strip_prefix(prefix)?.split('.').next()?;
            number.parse::<usize>().ok().filter(|read| read.to_string() == number)
        };
        self.under(prefix).filter(|(_, text)| !text.is_empty()).filter_map(|(name, _)| number(name)).collect()
    }

    fn under<'b>(&'b self, prefix: &'b str) -> impl Iterator<Item = (&'b String, &'b String)> {
        self.texts.iter().filter(move |(name, _)| name.starts_with(prefix))
    }
}

/// Returns the value of a member whose fields are empty; `None` if it is absent.
fn empty_value(field: &FieldShape, empty: EmptyField, value: impl FnOnce() -> Value) -> Option<Value> {
    match empty {
        EmptyField::Absent if !field.required => None,
        EmptyField::Clear if field.shape.accepts_null() => Some(Value::Null),
        _ => Some(value()),
    }
}

#[cfg(test)]
mod tests;
