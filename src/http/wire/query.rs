//! Reads the parameters of a query string, whole and with all their faults.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Request, body};
use crate::domain::refusal::Faults;
use crate::http::error::ApiError;

/// What happens to query parameters that an operation does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownParameters {
    /// They are faults: a misspelt filter would list everything.
    Refuse,
    /// They are passed over, for clients of interfaces that always did so.
    Ignore,
}

/// Reads the parameters of a query, or refuses it with all its faults. The first of a repeated parameter counts.
pub fn read_query<T: Request>(pairs: Vec<(String, String)>, unknown: UnknownParameters) -> Result<T, ApiError> {
    // A text of PostgreSQL cannot hold NUL: such a parameter would look like a fault of the database.
    if pairs.iter().any(|(_, text)| text.contains('\0')) {
        return Err(ApiError::bad_request("malformed_query", "the query string holds a NUL character"));
    }
    let known: Vec<&str> = T::members().iter().map(|member| member.name).collect();
    let names: HashSet<&str> = known.iter().copied().collect();
    let (mut members, mut faults) = (Map::new(), Faults::default());
    for (name, text) in pairs {
        if names.contains(name.as_str()) {
            members.entry(name).or_insert(Value::String(text));
        } else if unknown == UnknownParameters::Refuse {
            faults.note(&name, format!("is not known; known are {}", known.join(", ")));
        }
    }
    body::read(Value::Object(members), true, faults)
}
