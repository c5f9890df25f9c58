//! Reads the JSON bodies of requests, whole and with all their faults.

use std::marker::PhantomData;

use serde_json::{Map, Value};

use super::{FromJson, Request, ValuePath};
use crate::domain::refusal::Faults;
use crate::http::error::ApiError;

/// What the body of an operation is: a [`Request`], or an [`OptionalBody`] of one.
pub trait RequestBody {
    /// The struct that the body is read into.
    type Value: Request;
    /// Whether there may be no body at all, which is read as an empty object.
    const OPTIONAL: bool;
}

impl<T: Request> RequestBody for T {
    type Value = T;
    const OPTIONAL: bool = false;
}

/// A body that may be left out.
#[derive(Debug)]
pub struct OptionalBody<T>(PhantomData<T>);

impl<T: Request> RequestBody for OptionalBody<T> {
    type Value = T;
    const OPTIONAL: bool = true;
}

/// A body without members, of commands that need no words.
#[derive(api_derive::Request, Debug)]
#[api(example = serde_json::json!({}))]
pub struct EmptyBody {}

/// The object that these bytes are. Members that are there twice are noted as faults.
pub fn object(bytes: &[u8]) -> Result<(Map<String, Value>, Faults), ApiError> {
    let document = bounded_json::document(bytes, bounded_json::REQUEST)
        .map_err(|error| ApiError::bad_request("malformed_json", format!("the body is not JSON: {error}")))?;
    let Value::Object(members) = document.value else {
        return Err(ApiError::bad_request("malformed_json", "the body must be a JSON object"));
    };
    let mut faults = Faults::default();
    document.repeated.iter().for_each(|path| faults.note(path, "is there more than once"));
    Ok((members, faults))
}

/// Reads a body, or refuses it with all its faults.
pub fn read_body<B: RequestBody>(bytes: &[u8]) -> Result<B::Value, ApiError> {
    let bytes = if B::OPTIONAL && bytes.is_empty() { b"{}".as_slice() } else { bytes };
    let (members, faults) = object(bytes)?;
    read(Value::Object(members), false, faults)
}

/// Reads a whole request.
pub(super) fn read<T: FromJson>(value: Value, in_query: bool, mut faults: Faults) -> Result<T, ApiError> {
    let read = T::from_json(value, &ValuePath { path: "", in_query }, &mut faults);
    faults.refuse()?;
    read.ok_or_else(|| ApiError::internal("a request was not read, and nobody said why"))
}
