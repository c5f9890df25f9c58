//! Consent and tokens: authorization codes with a PKCE challenge, and rotating token pairs.

use axum::http::{HeaderMap, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;
use url::form_urlencoded;
use uuid::Uuid;

use super::{AccountingState, Consent, Refresh};

/// Parses a query or form into decoded names and values.
fn members(text: &str) -> Vec<(String, String)> {
    form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

fn member(all: &[(String, String)], name: &str) -> String {
    all.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()).unwrap_or_default()
}

fn secret(prefix: &str) -> String {
    format!("{prefix}-{}{}", Uuid::now_v7().simple(), Uuid::now_v7().simple())
}

/// Validates an authorization request; returns a description of the requested access, or an error message.
pub(super) fn requested_scope(inside: &AccountingState, query: &str) -> Result<String, String> {
    let all = members(query);
    let is = |name: &str, value: &str| member(&all, name) == value;
    if !is("client_id", &inside.client_id) {
        return Err("unauthorized_client: unknown client".to_owned());
    }
    if !is("response_type", "code")
        || !is("code_challenge_method", "S256")
        || member(&all, "code_challenge").len() != 43
    {
        return Err("invalid_request: only codes with an S256 challenge are supported".to_owned());
    }
    if member(&all, "redirect_uri").is_empty() || member(&all, "state").is_empty() {
        return Err("invalid_request: redirect_uri and state are missing".to_owned());
    }
    Ok(member(&all, "scope"))
}

/// Allows or denies an authorization request; returns the URL to which the browser is redirected.
pub(super) fn consent(inside: &mut AccountingState, query: &str, allow: bool) -> Result<String, String> {
    requested_scope(inside, query)?;
    let all = members(query);
    let (redirect, state) = (member(&all, "redirect_uri"), member(&all, "state"));
    if !allow {
        return Ok(format!("{redirect}?error=access_denied&state={state}"));
    }
    let code = secret("code");
    inside
        .consents
        .insert(code.clone(), Consent { challenge: member(&all, "code_challenge"), redirect: redirect.clone() });
    Ok(format!("{redirect}?code={code}&scope=offline_access&state={state}&session_state=x"))
}

fn is_known_client(inside: &AccountingState, headers: &HeaderMap) -> bool {
    let credentials = headers.get("authorization").and_then(|value| value.to_str().ok()?.strip_prefix("Basic "));
    let credentials =
        credentials.and_then(|text| String::from_utf8(STANDARD.decode(text).ok()?).ok()).unwrap_or_default();
    credentials == format!("{}:{}", inside.client_id, inside.client_secret)
}

fn no(word: &str) -> (StatusCode, Value) {
    (StatusCode::BAD_REQUEST, json!({"error": word}))
}

/// Issues tokens in exchange for an authorization code or a refresh token.
pub(super) fn give(inside: &mut AccountingState, headers: &HeaderMap, form: &str) -> (StatusCode, Value) {
    if !is_known_client(inside, headers) {
        return (StatusCode::UNAUTHORIZED, json!({"error": "invalid_client"}));
    }
    let all = members(form);
    match member(&all, "grant_type").as_str() {
        "authorization_code" => {
            // It works once, whatever comes of it.
            let Some(consent) = inside.consents.remove(&member(&all, "code")) else { return no("invalid_grant") };
            let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(member(&all, "code_verifier")));
            if digest != consent.challenge || member(&all, "redirect_uri") != consent.redirect {
                return no("invalid_grant");
            }
            inside.families += 1;
            let family = inside.families;
            pair(inside, family)
        }
        "refresh_token" => renew(inside, &member(&all, "refresh_token")),
        _ => no("unsupported_grant_type"),
    }
}

fn renew(inside: &mut AccountingState, token: &str) -> (StatusCode, Value) {
    let Some(Refresh { family, next }) = inside.refresh.get(token).cloned() else { return no("invalid_grant") };
    if inside.ended.contains(&family) {
        return no("invalid_grant");
    }
    match next {
        Some((access, refresh))
            if inside.lenient && !inside.presented.contains(&access) && !inside.presented.contains(&refresh) =>
        {
            (StatusCode::OK, shape(inside, &access, &refresh))
        }
        // Somebody else may have it: whoever has any of this connection has none any more.
        Some(_) => {
            inside.ended.insert(family);
            no("invalid_grant")
        }
        None => {
            inside.presented.insert(token.to_owned());
            inside.renewals += 1;
            let (status, body) = pair(inside, family);
            let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
            let successor = (text("access_token"), text("refresh_token"));
            inside.refresh.insert(token.to_owned(), Refresh { family, next: Some(successor) });
            (status, body)
        }
    }
}

fn pair(inside: &mut AccountingState, family: u64) -> (StatusCode, Value) {
    let (access, refresh) = (secret("access"), secret("refresh"));
    inside.access.insert(access.clone(), (family, Instant::now() + inside.life));
    inside.refresh.insert(refresh.clone(), Refresh { family, next: None });
    (StatusCode::OK, shape(inside, &access, &refresh))
}

fn shape(inside: &AccountingState, access: &str, refresh: &str) -> Value {
    json!({
        "access_token": access, "refresh_token": refresh, "expires_in": inside.life.as_secs(), "token_type": "Bearer",
        "scope": "offline_access accounting.transactions accounting.contacts",
    })
}

/// Returns whether a call carries a valid access token.
pub(super) fn accept_token(inside: &mut AccountingState, headers: &HeaderMap) -> bool {
    let bearer = headers.get("authorization").and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let Some(token) = bearer.map(str::to_owned) else { return false };
    let works =
        inside.access.get(&token).is_some_and(|(family, end)| !inside.ended.contains(family) && Instant::now() < *end);
    if works {
        inside.presented.insert(token);
    }
    works
}

/// Revokes the connection to which a refresh token belongs; an unknown token is not an error.
pub(super) fn revoke(inside: &mut AccountingState, headers: &HeaderMap, form: &str) -> StatusCode {
    if !is_known_client(inside, headers) {
        return StatusCode::UNAUTHORIZED;
    }
    if let Some(of) = inside.refresh.get(&member(&members(form), "token")) {
        inside.ended.insert(of.family);
    }
    StatusCode::OK
}
