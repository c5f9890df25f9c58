//! Parses the parameters in a query string as a whole and collects all errors.

use std::collections::HashSet;

use axum::http::Uri;
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::{Request, body};
use crate::error::ApiError;
use domain::refusal::Faults;

/// Parses the parameters in a query; if they are invalid, fails with all their errors. If a parameter is repeated, the
/// first occurrence is used. Unknown parameters are errors, because a misspelt filter would otherwise list everything.
pub fn read_query<T: Request>(pairs: Vec<(String, String)>) -> Result<T, ApiError> {
    // A text of PostgreSQL cannot hold NUL: such a parameter would look like a fault of the database.
    if pairs.iter().any(|(_, text)| text.contains('\0')) {
        return Err(ApiError::bad_request("malformed_query", "the query string contains a NUL character"));
    }
    let member_names: Vec<&str> = T::members().iter().map(|member| member.name).collect();
    let names: HashSet<&str> = member_names.iter().copied().collect();
    let (mut members, mut faults) = (Map::new(), Faults::default());
    for (name, text) in pairs {
        if names.contains(name.as_str()) {
            members.entry(name).or_insert(Value::String(text));
        } else {
            faults.note(&name, format!("is not a valid parameter; valid parameters are {}", member_names.join(", ")));
        }
    }
    body::read(Value::Object(members), true, faults)
}

/// Does the same as [`read_query`], but ignores unknown parameters.
pub fn read_open_query<T: Request>(mut pairs: Vec<(String, String)>) -> Result<T, ApiError> {
    let member_names: Vec<&str> = T::members().iter().map(|member| member.name).collect();
    pairs.retain(|(name, _)| member_names.contains(&name.as_str()));
    read_query(pairs)
}

/// Rejects any parameters, for operations that have none, because clients that send a parameter expect it to have an
/// effect.
pub fn refuse_query(uri: &Uri) -> Result<(), ApiError> {
    let mut faults = Faults::default();
    for (name, _) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
        faults.note(&name, "is not a valid parameter; this operation has no query parameters");
    }
    Ok(faults.refuse()?)
}
