//! Parses an object field by field.

use serde_json::{Map, Value};

use super::{Member, Rule, ToSchema};
use domain::refusal::Faults;

/// Location of a value: its dotted path (empty for the whole body), and whether it is a query parameter.
#[derive(Clone, Copy, Debug)]
pub struct ValuePath<'a> {
    /// Dotted path, such as `lines.0.quantity`.
    pub path: &'a str,
    /// `true` if the value is a query parameter: query parameters are texts, and empty ones are treated as absent
    /// ([`FromJson::EMPTY_IS_ABSENT`]).
    pub in_query: bool,
}

impl ValuePath<'_> {
    /// Records an error in the value.
    pub fn fault<T>(&self, faults: &mut Faults, message: impl Into<String>) -> Option<T> {
        faults.note(self.path, message);
        None
    }
}

/// Value that can be parsed from JSON.
pub trait FromJson: ToSchema + Sized {
    /// Type that rules validate: the type itself, or the inner type of an `Option` or [`super::Optional`].
    type Inner: ToSchema;

    /// `true` if null is accepted.
    const NULLABLE: bool = false;

    /// `true` if an empty query parameter is treated as absent, because forms send an empty parameter if nothing is
    /// selected. Number fields that have a default are omitted by forms rather than sent empty.
    const EMPTY_IS_ABSENT: bool = true;

    /// Parses a value. Returns `None` only after recording an error.
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self>;

    /// Returns the inner value; `None` if it is absent or null.
    fn inner(&self) -> Option<&Self::Inner>;

    /// Returns the value for an absent field; `None` if the field is required.
    fn absent() -> Option<Self> {
        None
    }

    /// Converts the value to JSON for the default in a schema; `None` if the default is not described.
    fn to_json(&self) -> Option<Value> {
        None
    }

    /// Converts the text of a query parameter to JSON.
    fn from_text(text: String) -> Value {
        Value::String(text)
    }
}

/// Struct that is parsed from an object; implemented by `#[derive(Request)]`.
pub trait Request: FromJson {
    /// Returns the descriptions of the struct's fields.
    fn members() -> Vec<Member>;

    /// Reads the struct's fields. Returns `None` only after recording an error.
    fn read(members: &mut Members<'_>) -> Option<Self>;
}

/// Fields of an object that have not been read yet.
pub struct Members<'a> {
    unread: Map<String, Value>,
    /// Path of the object followed by a dot; empty for the body itself.
    prefix: String,
    in_query: bool,
    faults: &'a mut Faults,
}

impl<'a> Members<'a> {
    /// Returns the fields of a value, which must be an object.
    pub fn of(value: Value, place: &ValuePath<'_>, faults: &'a mut Faults) -> Option<Self> {
        let Value::Object(unread) = value else { return place.fault(faults, "must be an object") };
        let prefix = if place.path.is_empty() { String::new() } else { format!("{}.", place.path) };
        Some(Self { unread, prefix, in_query: place.in_query, faults })
    }

    /// Removes a field and validates it with the given rules. Returns `None` only after recording an error.
    pub fn read<T: FromJson>(&mut self, name: &str, rules: &[&dyn Rule<T::Inner>], default: Option<T>) -> Option<T> {
        let path = format!("{}{name}", self.prefix);
        let place = ValuePath { path: &path, in_query: self.in_query };
        let value = match self.unread.remove(name) {
            Some(Value::String(text)) if self.in_query && text.is_empty() && T::EMPTY_IS_ABSENT => None,
            Some(Value::String(text)) if self.in_query => Some(T::from_text(text)),
            value => value,
        };
        let value = match value {
            None => return default.or_else(T::absent).or_else(|| place.fault(self.faults, "is required")),
            Some(Value::Null) if !T::NULLABLE => return place.fault(self.faults, "must not be null"),
            Some(value) => T::from_json(value, &place, self.faults)?,
        };
        let inner = value.inner();
        let mut valid = true;
        for (rule, inner) in inner.into_iter().flat_map(|inner| rules.iter().map(move |rule| (rule, inner))) {
            if let Err(message) = rule.judge(inner) {
                let part = rule.faulty_part(inner).map(|part| format!(".{part}")).unwrap_or_default();
                self.faults.note(&format!("{path}{part}"), message);
                valid = false;
            }
        }
        valid.then_some(value)
    }

    /// Returns the errors in the request, for checks across several fields.
    pub fn faults(&mut self) -> &mut Faults {
        self.faults
    }

    /// Records an error for each field that was not read and is therefore unknown.
    pub fn finish(self) {
        for name in self.unread.keys() {
            self.faults.note(&format!("{}{name}", self.prefix), "is not a valid field");
        }
    }
}

/// Parses a struct from an object, which must not contain any other fields.
pub fn read_object<T: Request>(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<T> {
    let mut members = Members::of(value, place, faults)?;
    let read = T::read(&mut members);
    members.finish();
    read
}

/// Parses a struct from an object and ignores other fields, for clients that send more than the server needs.
pub fn read_open_object<T: Request>(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<T> {
    T::read(&mut Members::of(value, place, faults)?)
}
