//! `Idempotency-Key`: a retried request receives the first response again, no matter what happened in the meantime.
//!
//! The response is stored in the same commit as the changes of the aggregate that returned it. This module contains the
//! scope of a key, the lookup before the command enters the mailbox, and the rejection of a retry while the first
//! request is still running.

use std::sync::Arc;

use axum::http::{HeaderMap, Method, StatusCode};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD;
use dashmap::DashSet;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::access::Caller;
use crate::error::ApiError;
use domain::id::Id;
use domain::refusal::Refusal;
use domain::time::{DAY_MS, Timestamp};
use kernel::envelope::IdempotencyKey;
use store::queries::Queries;

const HEADER: &str = "idempotency-key";
/// Maximum length of a key, in characters.
const MAX_KEY_CHARS: usize = 255;
/// Minimum retention period of a stored response: 24 hours. Afterwards, the response is still returned until the next
/// hourly cleanup deletes it.
const RETENTION_MS: i64 = DAY_MS;

/// Stored response to the first request with a key.
pub struct StoredAnswer {
    /// ID of the aggregate that returned the response.
    pub id: Id,
    /// Version of the aggregate after the first request.
    pub version: i64,
    /// Response or error, as JSON.
    verdict: String,
}

impl StoredAnswer {
    /// Returns the response with the type that belongs to its command; fails with the stored error.
    pub fn read<A: DeserializeOwned>(&self) -> Result<A, ApiError> {
        let verdict: Result<A, Refusal> = serde_json::from_str(&self.verdict).map_err(ApiError::internal)?;
        verdict.map_err(|refusal| ApiError::from(refusal).replayed())
    }
}

/// Returns the scope of the request's key, if any ([`scope_of`]).
pub fn scope(who: &Caller, method: &Method, path: &str, headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get(HEADER) else { return Ok(None) };
    let key = value.to_str().ok().filter(|key| (1..=MAX_KEY_CHARS).contains(&key.len()));
    let key = key.ok_or_else(|| {
        let message = format!("Idempotency-Key must be 1 to {MAX_KEY_CHARS} visible ASCII characters");
        ApiError::bad_request("invalid_idempotency_key", message)
    })?;
    Ok(Some(scope_of(who, method, path, key)))
}

/// Returns the scope of a key: a hash of principal, method, path and key.
pub fn scope_of(who: &Caller, method: &Method, path: &str, key: &str) -> String {
    let mut hash = Sha256::new();
    for part in [&who.by.to_string(), method.as_str(), path, key] {
        // The length in front keeps the parts apart.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    short(&hash.finalize())
}

/// Truncates a hash to 128 bits: enough to rule out accidental collisions, and short enough for the index.
pub fn short(hash: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(&hash[..hash.len().min(16)])
}

/// Builds the key stored with the response.
pub fn key(scope: &str, body_hash: String, now: Timestamp) -> IdempotencyKey {
    IdempotencyKey { key: scope.to_owned(), body_hash, expires_at: now.plus_ms(RETENTION_MS) }
}

/// Returns the stored response from an aggregate of the given kind, if any. If the key was first used with a different
/// body, fails with 422.
///
/// A response remains valid for as long as its row exists: a row that has expired but has not been deleted would make
/// the commit of a new request with the same key fail.
pub(super) async fn look_up(
    queries: &Queries,
    kind: &str,
    key: &IdempotencyKey,
) -> Result<Option<StoredAnswer>, ApiError> {
    let Some(row) = queries.idempotency(&key.key).await? else { return Ok(None) };
    if row.body_hash != key.body_hash || row.kind != kind {
        return Err(ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "idempotency_key_reused",
            "this Idempotency-Key was already used for a different request",
        ));
    }
    Ok(Some(StoredAnswer { id: row.aggregate_id, version: row.version, verdict: row.answer }))
}

/// Scopes of keys whose first request is still running.
pub type RunningKeys = Arc<DashSet<String>>;

/// Guard that marks a request with a key as running until it is dropped.
pub struct RunningKey {
    all: RunningKeys,
    scope: String,
}

impl RunningKey {
    /// Marks the key as running; fails with 409 while an earlier request with the same key is still running.
    pub fn take(all: &RunningKeys, scope: &str) -> Result<Self, ApiError> {
        if all.insert(scope.to_owned()) {
            Ok(Self { all: all.clone(), scope: scope.to_owned() })
        } else {
            let message = "a request with this Idempotency-Key is still in progress";
            Err(ApiError::conflict("idempotency_key_in_use", message).retry_after(1))
        }
    }
}

impl Drop for RunningKey {
    fn drop(&mut self) {
        self.all.remove(&self.scope);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use domain::principal::Principal;

    fn who(by: Principal) -> Caller {
        Caller { by: Arc::new(by), session: None, request_id: None, language: words::Language::English }
    }

    #[test]
    fn a_key_expires_a_day_after_the_request() {
        let key = key("scope", "hash".to_owned(), Timestamp(1_000));
        assert_eq!(key.expires_at, Timestamp(1_000 + 24 * 3_600_000));
    }

    fn of(by: Principal, method: &Method, path: &str, key: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, key.parse().unwrap());
        scope(&who(by), method, path, &headers).unwrap()
    }

    #[test]
    fn the_same_key_of_another_caller_or_route_is_another_key() {
        let own = of(Principal::Machine, &Method::POST, "/api/orders", "k");
        assert_eq!(own, of(Principal::Machine, &Method::POST, "/api/orders", "k"));
        assert_ne!(own, of(Principal::Anonymous, &Method::POST, "/api/orders", "k"));
        assert_ne!(own, of(Principal::Machine, &Method::PATCH, "/api/orders", "k"));
        assert_ne!(own, of(Principal::Machine, &Method::POST, "/api/order", "sk"));
        assert_eq!(scope(&who(Principal::Machine), &Method::POST, "/", &HeaderMap::new()).unwrap(), None);
    }

    #[test]
    fn a_key_that_is_empty_or_too_long_is_refused() {
        for wrong in [String::new(), "x".repeat(256)] {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, wrong.parse().unwrap());
            assert_eq!(scope(&who(Principal::Machine), &Method::POST, "/", &headers).unwrap_err().status(), 400);
        }
    }

    #[test]
    fn one_request_at_a_time_holds_a_key() {
        let all = Arc::default();
        let first = RunningKey::take(&all, "a").unwrap();
        assert_eq!(RunningKey::take(&all, "a").err().unwrap().status(), 409);
        drop(first);
        assert!(RunningKey::take(&all, "a").is_ok());
    }
}
