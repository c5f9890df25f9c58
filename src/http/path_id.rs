//! Identifiers in request paths.

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::StatusCode;
use axum::http::request::Parts;

use crate::error::ApiError;
use domain::id::Id;

/// Identifier from `{id}` in a path. A value that is not an identifier results in a 404 error.
#[derive(Clone, Copy, Debug)]
pub struct PathId(pub Id);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        // Bytes that are no text are no identifier either.
        let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| no_such_id(""))?;
        let text = params.iter().find(|(name, _)| *name == "id").map_or("", |(_, text)| text);
        text.parse().map(Self).map_err(|_| no_such_id(text))
    }
}

/// Identifier from the path parameter whose name ends with `Id`, such as `{orderId}`.
#[derive(Clone, Copy, Debug)]
pub struct NamedId(pub Id);

impl<S: Send + Sync> FromRequestParts<S> for NamedId {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| no_such_id(""))?;
        let text = params.iter().find(|(name, _)| name.ends_with("Id")).map_or("", |(_, text)| text);
        text.parse().map(Self).map_err(|_| no_such_id(text))
    }
}

/// Returns the 404 for a value that is not an identifier, with a hint if it is an order or job number, as people often
/// enter one.
fn no_such_id(text: &str) -> ApiError {
    let is_number = text.split_once('-').is_some_and(|(kind, number)| {
        kind.len() == 3 && kind.bytes().all(|byte| byte.is_ascii_alphabetic()) && number.parse::<u64>().is_ok()
    });
    let message = if is_number {
        "this is a number, not an ID; to search for the number, use ?q="
    } else {
        "this is not an ID (a UUID)"
    };
    ApiError::new(StatusCode::NOT_FOUND, "not_found", message)
}
