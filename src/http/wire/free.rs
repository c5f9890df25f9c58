//! JSON whose members are not the server's to say.

use api_schema::shape::{Shape, anything, open_object};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{FromJson, ToSchema, ValuePath};
use crate::domain::refusal::Faults;

/// An object whose members another program chose: its members, or the borrowed value that holds them.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct JsonObject<V = Map<String, Value>>(pub V);

impl<V> ToSchema for JsonObject<V> {
    fn schema() -> Shape {
        open_object()
    }
}

impl FromJson for JsonObject {
    type Inner = Self;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        match value {
            Value::Object(members) => Some(Self(members)),
            _ => place.fault(faults, "must be an object"),
        }
    }
    fn inner(&self) -> Option<&Self> {
        Some(self)
    }
}

impl From<Value> for JsonObject {
    /// The members of an object; none of anything else.
    fn from(value: Value) -> Self {
        match value {
            Value::Object(members) => Self(members),
            _ => Self::default(),
        }
    }
}

/// Any JSON value, in answers.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct AnyJson(pub Value);

impl ToSchema for AnyJson {
    fn schema() -> Shape {
        anything()
    }
}
