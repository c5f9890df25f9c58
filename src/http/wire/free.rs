//! Free-form JSON: another program defines the keys.

use api_schema::shape::{Shape, anything, open_object};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{FromJson, ToSchema, ValuePath};
use domain::refusal::Faults;

/// Object whose keys are defined by another program: either its own fields, or a borrowed value that contains them.
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
    /// Converts an object to its fields, and any other value to an empty object.
    fn from(value: Value) -> Self {
        match value {
            Value::Object(members) => Self(members),
            _ => Self::default(),
        }
    }
}

/// Any JSON value, for responses.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct AnyJson(pub Value);

impl ToSchema for AnyJson {
    fn schema() -> Shape {
        anything()
    }
}
