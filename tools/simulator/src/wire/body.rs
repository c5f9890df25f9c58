//! Size-limited JSON request bodies.

use axum::{
    body::to_bytes,
    extract::{FromRequest, Request},
    http::StatusCode,
};
use serde_json::Value;

/// Maximum size of a body that is not an upload, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// JSON request body. A body that is not JSON is rejected with 400, and one that is too large with 413.
#[derive(Debug)]
pub struct JsonBody(pub Value);

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = (StatusCode, String);
    async fn from_request(request: Request, _: &S) -> Result<Self, Self::Rejection> {
        let body = to_bytes(request.into_body(), MAX_BYTES).await;
        let body = body.map_err(|_| (StatusCode::PAYLOAD_TOO_LARGE, format!("more than {MAX_BYTES} bytes")))?;
        let value = bounded_json::read(&body, bounded_json::REQUEST);
        value.map(Self).map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))
    }
}
