//! Reading an object member by member.

use serde_json::{Map, Value};

use super::{Member, Rule, ToSchema};
use crate::domain::refusal::Faults;

/// Where a value is: its dotted path (empty for the whole body), and whether it is a text of a query.
#[derive(Clone, Copy, Debug)]
pub struct ValuePath<'a> {
    /// The dotted path, such as `lines.0.quantity`.
    pub path: &'a str,
    /// Query parameters are texts, and an empty one counts as absent ([`FromJson::EMPTY_IS_ABSENT`]).
    pub in_query: bool,
}

impl ValuePath<'_> {
    /// Notes a fault of the value.
    pub fn fault<T>(&self, faults: &mut Faults, message: impl Into<String>) -> Option<T> {
        faults.note(self.path, message);
        None
    }
}

/// A value that can be read from JSON.
pub trait FromJson: ToSchema + Sized {
    /// What rules judge: the type itself, or what is inside an `Option` or [`super::Optional`].
    type Inner: ToSchema;

    /// Whether null is a value of it.
    const NULLABLE: bool = false;

    /// Whether an empty text of a query counts as absent, as forms send a choice that nobody made. A number that has a
    /// default is left out instead.
    const EMPTY_IS_ABSENT: bool = true;

    /// Reads it. `None` only after a fault was noted.
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self>;

    /// What is inside; `None` when it is absent or null.
    fn inner(&self) -> Option<&Self::Inner>;

    /// The value of an absent member; `None` when the member is required.
    fn absent() -> Option<Self> {
        None
    }

    /// How it is written as the default of a schema; `None` when that is not described.
    fn to_json(&self) -> Option<Value> {
        None
    }

    /// The JSON that the text of a query parameter stands for.
    fn from_text(text: String) -> Value {
        Value::String(text)
    }
}

/// A struct that is read from an object; made by `#[derive(Request)]`.
pub trait Request: FromJson {
    /// Its members as they are described.
    fn members() -> Vec<Member>;

    /// Takes its members out. `None` only after a fault was noted.
    fn read(members: &mut Members<'_>) -> Option<Self>;
}

/// The members of an object that are not read yet.
pub struct Members<'a> {
    unread: Map<String, Value>,
    /// The object's own path with a dot behind it; empty for the body itself.
    prefix: String,
    in_query: bool,
    faults: &'a mut Faults,
}

impl<'a> Members<'a> {
    /// The members of a value that must be an object.
    pub fn of(value: Value, place: &ValuePath<'_>, faults: &'a mut Faults) -> Option<Self> {
        let Value::Object(unread) = value else { return place.fault(faults, "must be an object") };
        let prefix = if place.path.is_empty() { String::new() } else { format!("{}.", place.path) };
        Some(Self { unread, prefix, in_query: place.in_query, faults })
    }

    /// Takes out one member and judges it by its rules. `None` only after a fault was noted.
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

    /// The faults of the request, for checks of several members together.
    pub fn faults(&mut self) -> &mut Faults {
        self.faults
    }

    /// What was not read is unknown, and a fault.
    pub fn finish(self) {
        for name in self.unread.keys() {
            self.faults.note(&format!("{}{name}", self.prefix), "is not known");
        }
    }
}

/// Reads a struct from an object that has no other members.
pub fn read_object<T: Request>(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<T> {
    let mut members = Members::of(value, place, faults)?;
    let read = T::read(&mut members);
    members.finish();
    read
}

/// Reads a struct from an object and ignores its other members: for programs that tell the server more than it needs.
pub fn read_open_object<T: Request>(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<T> {
    T::read(&mut Members::of(value, place, faults)?)
}
