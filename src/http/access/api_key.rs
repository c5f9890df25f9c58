//! Validation of API keys.

use std::sync::Arc;

use axum::http::{HeaderMap, header};

use super::checked_keys::CheckedKey;
use super::{AccessHandles, KEY_HEADER};
use crate::error::ApiError;
use config::Mode;
use domain::access::{Access, ApiKey, KeyRefusal};
use domain::id::Id;
use domain::principal::Principal;
use domain::time::Timestamp;
use platform::secrets::credentials;
use store::Unavailable;

const TEST_KEY_PREFIX: &str = "key_test_";

/// Returns the API key in a request, if any: the value of the key header or, failing that, the bearer token.
pub(super) fn shown_key(headers: &HeaderMap) -> Option<&str> {
    if let Some(value) = headers.get(KEY_HEADER) {
        // What is no text is no key either, and does not let the cookie count.
        return Some(value.to_str().unwrap_or_default());
    }
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Returns the principal of an API key, or the reason it is rejected.
pub(super) fn by_key(app: &AccessHandles, presented: &str) -> Result<Arc<Principal>, ApiError> {
    if app.config.mode == Mode::Production && presented.starts_with(TEST_KEY_PREFIX) {
        return Err(ApiError::unauthorized("test keys are not accepted in production"));
    }
    let now = app.environment.now();
    let state = app.access.resident(Id::ONLY).ok_or(Unavailable::Database)?.read();
    let digest = app.checked_keys.digest(presented);
    let checked = app.checked_keys.find(&digest, &state, now, |id| app.last_used.key(id, now));
    match (checked, &state.state) {
        (Some(principal), _) => Ok(principal),
        (None, Some(access)) => check_key(app, access, presented, now).map(|key| {
            let (name, customer_email) = (key.name.clone(), key.customer_email.clone());
            let principal = Arc::new(Principal::Key { id: key.id, name, role: key.role, customer_email });
            let key = CheckedKey {
                digest,
                expires_at: key.expires_at,
                id: key.id,
                principal: principal.clone(),
                noted_at: now.0.into(),
            };
            app.checked_keys.remember(&state, key);
            principal
        }),
        // Until the first key or user is made, the aggregate does not exist.
        (None, None) => Err(ApiError::unauthorized(KeyRefusal::Unknown.to_string())),
    }
}

/// Looks a key up by its HMAC, and records that it was used.
fn check_key<'a>(
    app: &AccessHandles,
    access: &'a Access,
    presented: &str,
    now: Timestamp,
) -> Result<&'a ApiKey, ApiError> {
    let hash = credentials::api_key_hash(app.config.auth.api_key_salt.expose(), presented);
    let key = access.key_by_hash(&hash, now).map_err(|why| ApiError::unauthorized(why.to_string()))?;
    app.last_used.key(key.id, now);
    Ok(key)
}
