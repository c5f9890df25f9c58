//! Parses the JSON body of a request as a whole and collects all errors.

use std::marker::PhantomData;

use serde_json::{Map, Value};

use super::{FromJson, Request, ValuePath};
use crate::error::ApiError;
use domain::refusal::Faults;

/// Body of an operation: a [`Request`] or an [`OptionalBody`].
pub trait RequestBody {
    /// Struct into which the body is parsed.
    type Value: Request;
    /// `true` if the body may be missing, in which case it is read as an empty object.
    const OPTIONAL: bool;
}

impl<T: Request> RequestBody for T {
    type Value = T;
    const OPTIONAL: bool = false;
}

/// Body that may be absent.
#[derive(Debug)]
pub struct OptionalBody<T>(PhantomData<T>);

impl<T: Request> RequestBody for OptionalBody<T> {
    type Value = T;
    const OPTIONAL: bool = true;
}

/// Empty object: the body of commands without parameters.
#[derive(api_derive::Request, Debug)]
#[api(example = serde_json::json!({}))]
pub struct EmptyBody {}

/// Parses the given bytes as an object. Duplicate fields are recorded as errors.
pub fn object(bytes: &[u8]) -> Result<(Map<String, Value>, Faults), ApiError> {
    let document = bounded_json::document(bytes, bounded_json::REQUEST)
        .map_err(|error| ApiError::bad_request("malformed_json", format!("the body is not JSON: {error}")))?;
    let Value::Object(members) = document.value else {
        return Err(ApiError::bad_request("malformed_json", "the body must be a JSON object"));
    };
    let mut faults = Faults::default();
    document.repeated.iter().for_each(|path| faults.note(path, "is present more than once"));
    Ok((members, faults))
}

/// Parses a body; if it is invalid, fails with all its errors.
pub fn read_body<B: RequestBody>(bytes: &[u8]) -> Result<B::Value, ApiError> {
    let bytes = if B::OPTIONAL && bytes.is_empty() { b"{}".as_slice() } else { bytes };
    let (members, faults) = object(bytes)?;
    read(Value::Object(members), false, faults)
}

/// Parses a complete request.
pub(super) fn read<T: FromJson>(value: Value, in_query: bool, mut faults: Faults) -> Result<T, ApiError> {
    let read = T::from_json(value, &ValuePath { path: "", in_query }, &mut faults);
    faults.refuse()?;
    read.ok_or_else(|| ApiError::internal("a request was rejected without an error"))
}
