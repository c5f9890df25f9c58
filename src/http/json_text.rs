//! JSON text of responses.

use axum::body::Bytes;
use serde::Serialize;

use crate::error::ApiError;

/// Initial buffer capacity, in bytes; enough for most responses.
const USUAL_BYTES: usize = 2048;

/// Serializes a body as JSON.
pub(super) fn to_json(body: &impl Serialize) -> Result<Bytes, ApiError> {
    let mut text = Vec::with_capacity(USUAL_BYTES);
    serde_json::to_writer(&mut text, body).map_err(ApiError::internal)?;
    Ok(text.into())
}
