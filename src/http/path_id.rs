//! The identifier in a path.

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;

use crate::domain::id::Id;
use crate::http::error::{ApiError, no_such_path};

/// The `{id}` of a path. What is no identifier names nothing: 404.
#[derive(Clone, Copy, Debug)]
pub struct PathId(pub Id);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let id = params
            .ok()
            .and_then(|params| params.iter().find(|(name, _)| *name == "id").and_then(|(_, text)| text.parse().ok()));
        match id {
            Some(id) => Ok(Self(id)),
            None => Err(no_such_path().await),
        }
    }
}
